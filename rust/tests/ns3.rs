//! The ns-3 module: how it behaves in an ns-3 tree (a stand-in of a few lines, which needs CMake
//! alone), and, where ns-3 is installed and the `ns3` feature asks for it, in this very process.

use std::path::Path;
use std::process::Command;
use std::{env, fs};

/// What the module needs to know of an ns-3 tree: `build_lib` and `build_lib_example`, here of no
/// effect but to say what they were given.
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

/// Configures such a tree with the module in it, with these environment variables; what it said.
/// None, and a line that says so, where there is no CMake.
fn configured(test: &str, variables: &[(&str, &str)]) -> Option<String> {
    use std::io::Write as _;
    if Command::new("cmake").arg("--version").output().is_err() {
        // Written past the test harness, which would keep it to itself.
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

/// Copies a folder with all that is in it.
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
    // The copy does not lie in the package, whose folder has to be named.
    let package = [("EVENKEEL_CRATE_DIR", env!("CARGO_MANIFEST_DIR"))];
    let Some(said) = configured(test, &package) else { return };
    assert!(said.contains("build_lib LIBNAME;evenkeel;SOURCE_FILES;"), "{said}");
    assert!(said.contains("model/load-balanced-routing.cc") && said.contains("libevenkeel.a"));
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

#[cfg(not(feature = "ns3"))]
#[test]
fn ns3_module() {
    use std::io::Write as _;
    // Written past the test harness, which would keep it to itself.
    let _ = writeln!(
        std::io::stderr(),
        "skipped: ns3_module: built without the ns3 feature; where ns-3 is installed, \
         cargo test --features ns3 runs it"
    );
}

#[cfg(feature = "ns3")]
mod with_ns3 {
    use std::fs;
    use std::sync::{Mutex, PoisonError};

    use evenkeel::ns3::{VERSION, contract};

    /// ns-3 has one simulator a process.
    static SIMULATOR: Mutex<()> = Mutex::new(());

    /// A version that nobody has tried may differ in any of the ways that these differ from each
    /// other, so it is named before it is trusted.
    #[test]
    fn it_is_a_version_that_has_been_tried() {
        const KNOWN: [&str; 2] = ["3.37", "3.44"];
        assert!(
            KNOWN.contains(&VERSION),
            "ns-3 {VERSION} was found, which evenkeel has not been tried with; known are {}",
            KNOWN.join(", ")
        );
    }

    /// By ns-3's own test runner; a suite that is added is found here by its name.
    #[test]
    fn every_suite_passes() {
        let _one = SIMULATOR.lock().unwrap_or_else(PoisonError::into_inner);
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/ns3-module/test");
        let mut files: Vec<_> = fs::read_dir(folder)
            .unwrap()
            .map(|file| file.unwrap().path())
            .filter(|path| path.extension().is_some_and(|ending| ending == "cc"))
            .collect();
        files.sort();
        let mut suites = 0;
        for file in files {
            let text = fs::read_to_string(&file).unwrap();
            for rest in text.split(": TestSuite(\"").skip(1) {
                let suite = rest.split('"').next().unwrap();
                assert_eq!(contract::run_test_suite(suite), 0, "{suite}");
                suites += 1;
            }
        }
        assert!(suites >= 4, "{suites} suites found in {folder}");
    }

    /// A class that is used by name alone is lost from a static library, unless it is taken whole.
    #[test]
    fn every_class_is_registered() {
        let _one = SIMULATOR.lock().unwrap_or_else(PoisonError::into_inner);
        let registered = contract::type_names("Evenkeel");
        let names: Vec<&str> = registered.lines().collect();
        for ours in ["ns3::LoadBalancedRouting", "ns3::RdmaNic", "ns3::RdmaQp"] {
            assert!(names.contains(&ours), "{ours} is not among {names:?}");
        }
        // Classes of the HPCC family, into whose trees the module may be put.
        let theirs = [
            "QbbNetDevice",
            "QbbChannel",
            "RdmaHw",
            "RdmaDriver",
            "RdmaClient",
            "RdmaQueuePair",
            "RdmaRxQueuePair",
            "RdmaQueuePairGroup",
            "RdmaEgressQueue",
            "SwitchNode",
            "SwitchMmu",
        ];
        for name in names {
            assert!(!theirs.iter().any(|their| name == format!("ns3::{their}")), "{name}");
        }
    }
}
