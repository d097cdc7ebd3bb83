//! The crates that this one is built from: their licences, duplicates and sources, by the rules of
//! `deny.toml`, and the least version of Rust that they compile with.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use serde_json::Value;

/// What cargo resolves with every feature, on every platform.
fn metadata() -> Value {
    let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
    let arguments = ["metadata", "--locked", "--all-features", "--format-version", "1"];
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let output = Command::new(cargo).args(arguments).args(["--manifest-path", manifest]).output();
    let output = output.expect("cargo runs the tests");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    serde_json::from_slice(&output.stdout).expect("it is JSON")
}

fn rules() -> toml::Table {
    include_str!("../../deny.toml").parse().expect("deny.toml is TOML")
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

/// True if a licence expression can be fulfilled with the allowed licences: `OR` needs one side,
/// `AND` both; `/` is what crates wrote for `OR` before SPDX.
fn is_allowed(expression: &str, allowed: &BTreeSet<&str>) -> bool {
    let inner = expression.replace('/', " OR ").replace(" or ", " OR ");
    // One level of brackets, which are about an `OR`: no crate has more.
    if let Some((open, rest)) = inner.split_once('(') {
        let (choice, after) = rest.split_once(')').expect("brackets are closed");
        let first = choice.split(" OR ").map(str::trim).find(|it| is_allowed(it, allowed));
        return first.is_some_and(|it| is_allowed(&format!("{open}{it}{after}"), allowed));
    }
    let fulfilled = |all: &str| all.split(" AND ").all(|it| allowed.contains(it.trim()));
    inner.split(" OR ").any(fulfilled)
}

#[test]
fn licences_are_among_those_that_are_allowed() {
    let (metadata, rules) = (metadata(), rules());
    let allowed = rules["licenses"]["allow"].as_array().expect("it is a list");
    let allowed: BTreeSet<&str> = allowed.iter().filter_map(toml::Value::as_str).collect();
    let packages = metadata["packages"].as_array().expect("it is a list");
    assert!(packages.len() > 200, "{} crates", packages.len());
    let refused: Vec<String> = packages
        .iter()
        .filter(|package| !is_allowed(text(package, "license"), &allowed))
        .map(|package| format!("{}: '{}'", text(package, "name"), text(package, "license")))
        .collect();
    assert!(refused.is_empty(), "add the licence to deny.toml or drop the crate: {refused:?}");
    let expressions = packages.iter().map(|package| text(package, "license"));
    let words = expressions.flat_map(|it| it.split(['/', '(', ')'])).collect::<String>();
    let unused: Vec<&&str> = allowed.iter().filter(|licence| !words.contains(**licence)).collect();
    assert!(unused.is_empty(), "deny.toml allows what no crate has: {unused:?}");
}

#[test]
fn a_licence_that_is_not_allowed_is_found_in_an_expression() {
    let allowed = BTreeSet::from(["MIT", "Unicode-3.0", "Apache-2.0 WITH LLVM-exception"]);
    for good in [
        "MIT",
        "GPL-2.0-only OR MIT",
        "Unlicense/MIT",
        "(GPL-2.0-only OR MIT) AND Unicode-3.0",
        "Apache-2.0 WITH LLVM-exception OR Apache-2.0",
    ] {
        assert!(is_allowed(good, &allowed), "{good}");
    }
    for bad in ["", "GPL-2.0-only", "MIT AND GPL-2.0-only", "(MIT OR Zlib) AND Zlib", "Zlib"] {
        assert!(!is_allowed(bad, &allowed), "{bad}");
    }
}

#[test]
fn a_crate_has_one_version_or_a_reason_for_two() {
    let (metadata, rules) = (metadata(), rules());
    let mut versions: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for package in metadata["packages"].as_array().expect("it is a list") {
        versions.entry(text(package, "name")).or_default().push(text(package, "version"));
    }
    let skipped = rules["bans"]["skip"].as_array().expect("it is a list");
    let mut unused: Vec<&str> = Vec::new();
    for skip in skipped {
        let (name, version) = skip["crate"].as_str().and_then(|it| it.split_once('@')).unwrap();
        assert!(skip["reason"].as_str().is_some_and(|reason| reason.len() > 10), "{name}");
        let known = versions.get_mut(name).map(|known| {
            let before = known.len();
            known.retain(|it| !it.starts_with(&format!("{version}.")));
            before - known.len()
        });
        unused.extend(known.is_none_or(|removed| removed == 0).then_some(name));
    }
    versions.retain(|_, known| known.len() > 1);
    assert!(versions.is_empty(), "give them a reason in deny.toml: {versions:?}");
    assert!(unused.is_empty(), "deny.toml skips what is not there: {unused:?}");
}

#[test]
fn crates_are_of_the_registry_and_compile_with_the_least_version_of_rust() {
    let metadata = metadata();
    let number = |version: &str| -> Vec<u32> {
        version.split('.').map(|part| part.parse().expect("it is a number")).collect()
    };
    let least = number(env!("CARGO_PKG_RUST_VERSION"));
    for package in metadata["packages"].as_array().expect("it is a list") {
        let name = text(package, "name");
        let source = package["source"].as_str();
        let registry = "registry+https://github.com/rust-lang/crates.io-index";
        assert!(source.map_or(name.starts_with("evenkeel"), |source| source == registry), "{name}");
        let needed = package["rust_version"].as_str().map(number).unwrap_or_default();
        let needed = &needed[..needed.len().min(2)];
        assert!(needed <= &least[..], "{name} needs Rust {needed:?}, not {least:?}");
    }
}
