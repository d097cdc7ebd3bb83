//! CONTRIBUTING.md shows a whole policy, as one file and one line. Here exactly that text is put
//! into a copy of the sources, compiled, and its tests are run.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const CONTRIBUTING: &str = include_str!("../../CONTRIBUTING.md");
const REGISTRY: &str = "rust/balance/sender/mod.rs";

/// What the next fenced block after `heading` holds.
fn block_after(heading: &str) -> &'static str {
    let (_, rest) = CONTRIBUTING.split_once(heading).unwrap_or_else(|| panic!("no '{heading}'"));
    let (_, rest) = rest.split_once("```rust\n").expect("a block of Rust follows");
    rest.split_once("```").expect("the block ends").0
}

/// Every file that the library is made of.
fn sources(root: &Path) -> Vec<PathBuf> {
    let mut found = ["Cargo.toml", "Cargo.lock", "build.rs"].map(PathBuf::from).to_vec();
    let mut folders = ["rust", "examples"].map(PathBuf::from).to_vec();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(root.join(&folder)).expect("the folder can be read") {
            let entry = entry.expect("it can be read");
            let path = folder.join(entry.file_name());
            if path == Path::new("rust/fuzz") {
                continue;
            }
            if entry.path().is_dir() {
                folders.push(path);
            } else {
                found.push(path);
            }
        }
    }
    found
}

/// Writes what is new: what has not changed needs no compilation either.
fn keep(path: &Path, text: &[u8]) {
    if fs::read(path).is_ok_and(|old| old == text) {
        return;
    }
    fs::create_dir_all(path.parent().expect("it lies in a folder")).expect("it can be made");
    fs::write(path, text).expect("the copy can be written");
}

/// A copy of the sources with the policy of CONTRIBUTING.md.
fn copy(root: &Path, to: &Path, (file, line): (&str, &str)) {
    let name = PathBuf::from(format!("rust/balance/sender/{file}.rs"));
    assert!(!root.join(&name).exists(), "{} is in the project", name.display());
    let mut kept = BTreeSet::from([to.join(&name)]);
    keep(&to.join(&name), block_after("## A whole policy").as_bytes());
    for source in sources(root) {
        let mut text = fs::read(root.join(&source)).expect("a source can be read");
        if source == Path::new(REGISTRY) {
            let registry = String::from_utf8(text).expect("sources are UTF-8");
            let start = registry.find("\nregistry! {\n").expect("it has one");
            let (before, after) = registry.split_at(start + 1);
            let (lines, after) = after.split_once("}\n").expect("it ends");
            text = format!("{before}{lines}{line}}}\n{after}").into_bytes();
        }
        keep(&to.join(&source), &text);
        kept.insert(to.join(&source));
    }
    for old in sources(to).into_iter().map(|path| to.join(path)) {
        if !kept.contains(&old) {
            fs::remove_file(&old).expect("what is no source any more can be removed");
        }
    }
}

#[test]
fn the_policy_in_the_text_is_all_that_it_takes() {
    let line = block_after("And the line, in `registry!`");
    let file = line.trim().split("::").next().expect("a module comes first");
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let to = Path::new(env!("CARGO_TARGET_TMPDIR")).join("contributing");
    copy(root, &to, (file, line));
    // The program lies in `debug` of the target folder, where its dependencies are built already.
    let program = Path::new(env!("CARGO_BIN_EXE_evenkeel"));
    let target = program.ancestors().nth(2).expect("it lies two folders below");
    let output = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["test", "--locked", "--offline", "--lib", "--no-default-features", "--target-dir"])
        .arg(target)
        // As fast to compile as can be: only a few tests are run.
        .args(["--config", "profile.dev.package.evenkeel.opt-level=0"])
        .args(["--config", "profile.dev.package.evenkeel.debug=false"])
        .args(["--", &format!("balance::sender::{file}"), "balance::preset"])
        .env("CARGO_INCREMENTAL", "0")
        .current_dir(&to)
        .output()
        .expect("cargo can be run");
    let out = String::from_utf8_lossy(&output.stdout);
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{out}\n{err}");
    assert!(!err.contains("warning"), "{err}");
    let ran = out.lines().filter(|line| line.starts_with("test balance::") && line.ends_with("ok"));
    let ran: Vec<&str> = ran.collect();
    let own = ran.iter().filter(|line| line.contains(&format!("::{file}::"))).count();
    assert!(own > 0 && own < ran.len(), "its own tests and those of all presets ran:\n{out}");
}
