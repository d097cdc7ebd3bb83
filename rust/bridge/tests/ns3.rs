//! The ns-3 module in a test process. A process has only one ns-3 simulator, so this is a separate
//! program.

use std::fs;
use std::sync::{Mutex, PoisonError};

use evenkeel_bridge::ns3::{VERSION, contract};

/// Serialises the tests: a process has only one ns-3 simulator.
static SIMULATOR: Mutex<()> = Mutex::new(());

/// Untested versions may differ like the known ones do, so they must be tested before they are
/// listed.
#[test]
fn the_version_is_a_tested_one() {
    const KNOWN: [&str; 4] = ["3.37", "3.39", "3.44", "3.48"];
    assert!(
        KNOWN.contains(&VERSION),
        "ns-3 {VERSION} was found, which evenkeel has not been tried with; known are {}",
        KNOWN.join(", ")
    );
}

/// Runs every suite of the sources with ns-3's own test runner.
#[test]
fn every_suite_passes() {
    let _one = SIMULATOR.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../ns3-module");
    let mut files: Vec<_> = ["evenkeel-lb", "evenkeel-fabric"]
        .iter()
        .flat_map(|module| fs::read_dir(format!("{folder}/{module}/test")).unwrap())
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

/// A static library drops classes that are used only by name unless it is linked whole.
#[test]
fn every_class_is_registered() {
    let _one = SIMULATOR.lock().unwrap_or_else(PoisonError::into_inner);
    let registered = contract::type_names("Evenkeel");
    let names: Vec<&str> = registered.lines().collect();
    for ours in
        ["ns3::LoadBalancedRouting", "ns3::Ipv6LoadBalancedRouting", "ns3::RdmaNic", "ns3::RdmaQp"]
    {
        assert!(names.contains(&ours), "{ours} is not among {names:?}");
    }
    // Classes of the HPCC family, whose trees may contain the module.
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
