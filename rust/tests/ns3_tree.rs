//! The ns-3 module in an ns-3 tree: a stand-in of a few lines that only needs CMake. The
//! tests of `rust/bridge` try the module with real ns-3, with its feature `ns3`.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::{env, fs};

/// The part of an ns-3 tree that the module needs: `build_lib` and `build_lib_example`, which only
/// print their arguments.
const TREE: &str = r#"
cmake_minimum_required(VERSION 3.13)
project(tree LANGUAGES NONE)
function(build_lib)
  message(STATUS "build_lib ${ARGN}")
endfunction()
function(build_lib_example)
endfunction()
add_subdirectory(contrib/evenkeel)
message(STATUS "the rest of the tree")
"#;

/// Configures such a tree with the module and these environment variables, and returns the output.
/// Without CMake, prints a message and returns `None`.
fn configured(test: &str, variables: &[(&str, &str)]) -> Option<String> {
    use std::io::Write as _;
    if Command::new("cmake").arg("--version").output().is_err() {
        // Written directly: the test harness would capture `eprintln!`.
        let _ = writeln!(std::io::stderr(), "skipped: {test}: there is no cmake");
        return None;
    }
    let tree = tempfile::tempdir().unwrap();
    fs::write(tree.path().join("CMakeLists.txt"), TREE).unwrap();
    fs::create_dir(tree.path().join("contrib")).unwrap();
    copy(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("ns3-module"),
        &tree.path().join("contrib/evenkeel"),
    );
    let output = Command::new("cmake")
        .arg("-S")
        .arg(tree.path())
        .arg("-B")
        .arg(tree.path().join("build"))
        .envs(variables.iter().copied())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    Some(said)
}

/// Copies a folder recursively.
fn copy(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

#[test]
fn a_tree_builds_the_module_with_the_rust_library_of_the_package() {
    let test = "a_tree_builds_the_module_with_the_rust_library_of_the_package";
    // The copy is outside the package, whose folder must therefore be named.
    let package = [("EVENKEEL_CRATE_DIR", env!("CARGO_MANIFEST_DIR"))];
    let Some(said) = configured(test, &package) else { return };
    assert!(said.contains("build_lib LIBNAME;evenkeel;SOURCE_FILES;"), "{said}");
    assert!(
        said.contains("model/load-balanced-routing.cc") && said.contains("libevenkeel_bridge.a")
    );
    assert!(said.contains("the rest of the tree"), "{said}");
}

#[test]
fn a_tree_without_the_package_or_cargo_builds_without_the_module() {
    let test = "a_tree_without_the_package_or_cargo_builds_without_the_module";
    let path = env::var("PATH").unwrap();
    let without_cargo: Vec<&str> =
        path.split(':').filter(|folder| !Path::new(folder).join("cargo").exists()).collect();
    let without_cargo = without_cargo.join(":");
    let package = ("EVENKEEL_CRATE_DIR", env!("CARGO_MANIFEST_DIR"));
    let nowhere = [("HOME", "/nowhere"), ("CARGO_HOME", "/nowhere"), ("PATH", &without_cargo)];
    let variables = [&nowhere[..], &[package]].concat();
    for (variables, missing) in [(&[][..], "the folder of its Cargo.toml"), (&variables, "cargo")] {
        let Some(said) = configured(test, variables) else { return };
        assert!(said.contains(&format!("Skipping evenkeel: it does not find {missing}")), "{said}");
        assert!(said.contains("the rest of the tree") && !said.contains("build_lib"), "{said}");
    }
}

/// `./ns3 configure --enable-modules=evenkeel` enables the modules whose libraries it finds by name
/// in the module's `CMakeLists.txt`, as `${libNAME}`.
#[test]
fn enabling_the_module_enables_the_modules_that_it_needs() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("ns3-module/CMakeLists.txt");
    let text = fs::read_to_string(path).unwrap();
    let names = text.split("${lib").skip(1).map(|rest| rest.split('}').next().unwrap());
    let named: BTreeSet<&str> = names.collect();
    let mut needed = BTreeSet::new();
    for start in ["set(_evenkeel_needs ", "set(_evenkeel_test_needs ", "APPEND _evenkeel_needs "] {
        let list = text.split(start).nth(1).unwrap_or_else(|| panic!("{start}"));
        needed.extend(list.split(')').next().unwrap().split_whitespace());
    }
    assert_eq!(named, needed);
}
