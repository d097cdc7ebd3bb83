//! The ns-3 modules in an ns-3 tree: a stand-in of a few lines that only needs CMake. The tests of
//! `rust/bridge` try them with an installed ns-3, and `.ci/full ns3_trees` in real trees.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::{env, fs};

/// The part of an ns-3 tree that the modules need: `contrib_libs_to_build`, and `build_lib`, which
/// only prints its arguments.
const TREE: &str = r#"
cmake_minimum_required(VERSION 3.13)
project(tree LANGUAGES NONE)
function(build_lib)
  message(STATUS "build_lib ${ARGN}")
endfunction()
file(GLOB contrib_libs_to_build RELATIVE "${CMAKE_SOURCE_DIR}/contrib" contrib/*)
foreach(library ${contrib_libs_to_build})
  add_subdirectory(contrib/${library})
endforeach()
message(STATUS "the rest of the tree")
"#;

/// Configures such a tree with modules and these environment variables. Returns the output, and the
/// rule by which cargo builds the Rust library if there is one. Without CMake, prints a message and
/// returns `None`.
fn configured(
    test: &str,
    modules: &[&str],
    variables: &[(&str, &str)],
) -> Option<(String, String)> {
    use std::io::Write as _;
    if Command::new("cmake").arg("--version").output().is_err() {
        // Written directly: the test harness would capture `eprintln!`.
        let _ = writeln!(std::io::stderr(), "skipped: {test}: there is no cmake");
        return None;
    }
    let tree = tempfile::tempdir().unwrap();
    fs::write(tree.path().join("CMakeLists.txt"), TREE).unwrap();
    fs::create_dir(tree.path().join("contrib")).unwrap();
    for module in modules {
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("ns3-module").join(module);
        copy(&from, &tree.path().join("contrib").join(module));
    }
    let output = Command::new("cmake")
        .arg("-S")
        .arg(tree.path())
        .arg("-B")
        .arg(tree.path().join("build"))
        .args(["-G", "Unix Makefiles"])
        .envs(variables.iter().copied())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    let rule = "build/contrib/evenkeel-lb/CMakeFiles/evenkeel-cargo.dir/build.make";
    Some((said, fs::read_to_string(tree.path().join(rule)).unwrap_or_default()))
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

const BOTH: [&str; 2] = ["evenkeel-fabric", "evenkeel-lb"];

#[test]
fn a_tree_builds_the_modules_with_the_rust_library_of_the_package() {
    let test = "a_tree_builds_the_modules_with_the_rust_library_of_the_package";
    // The copies are outside the package, whose folder must therefore be named.
    let package = [("EVENKEEL_CRATE_DIR", env!("CARGO_MANIFEST_DIR"))];
    let Some((said, _)) = configured(test, &BOTH, &package) else { return };
    assert!(said.contains("build_lib LIBNAME;evenkeel-fabric;SOURCE_FILES;"), "{said}");
    assert!(said.contains("model/rdma-nic.cc") && said.contains("libevenkeel_bridge.a"), "{said}");
    assert!(said.contains("the rest of the tree"), "{said}");

    let Some((said, rule)) = configured(test, &["evenkeel-lb"], &package) else { return };
    assert!(said.contains("build_lib LIBNAME;evenkeel-lb;SOURCE_FILES;"), "{said}");
    assert!(said.contains("model/load-balanced-routing.cc") && !said.contains("fabric"), "{said}");
    assert!(rule.contains("--features chooser "), "{rule}");
}

#[test]
fn a_tree_builds_without_a_module_that_lacks_something() {
    let test = "a_tree_builds_without_a_module_that_lacks_something";
    let path = env::var("PATH").unwrap();
    let without_cargo: Vec<&str> =
        path.split(':').filter(|folder| !Path::new(folder).join("cargo").exists()).collect();
    let without_cargo = without_cargo.join(":");
    let package = ("EVENKEEL_CRATE_DIR", env!("CARGO_MANIFEST_DIR"));
    let nowhere = [("HOME", "/nowhere"), ("CARGO_HOME", "/nowhere"), ("PATH", &without_cargo)];
    let variables = [&nowhere[..], &[package]].concat();
    for (modules, variables, missing) in [
        (&BOTH[..], &[][..], "evenkeel-lb: it does not find the folder of its Cargo.toml"),
        (&BOTH[..], &variables, "evenkeel-fabric: it does not find cargo"),
        (&BOTH[..1], &variables, "evenkeel-fabric: it needs contrib/evenkeel-lb"),
    ] {
        let Some((said, _)) = configured(test, modules, variables) else { return };
        assert!(said.contains(&format!("Skipping {missing}")), "{said}");
        assert!(said.contains("the rest of the tree") && !said.contains("build_lib"), "{said}");
    }
}

/// `./ns3 configure --enable-modules=NAME` enables the modules whose libraries it finds by name in
/// the `CMakeLists.txt` of a module, as `${libNAME}`.
#[test]
fn enabling_a_module_enables_the_modules_that_it_needs() {
    for module in BOTH {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("ns3-module").join(module);
        let text = fs::read_to_string(path.join("CMakeLists.txt")).unwrap();
        let names = text.split("${lib").skip(1).map(|rest| rest.split('}').next().unwrap());
        let named: BTreeSet<&str> = names.map(|name| name.trim_end_matches(';')).collect();
        let mut needed = BTreeSet::new();
        for start in ["  NEEDS ", "  TEST_NEEDS ", "set(_needs ", "APPEND _needs "] {
            for list in text.split(start).skip(1) {
                let list = list.split([')', '\n']).next().unwrap();
                needed.extend(list.split_whitespace().filter(|name| *name != "${_needs}"));
            }
        }
        assert_eq!(named, needed, "{module}");
    }
}
