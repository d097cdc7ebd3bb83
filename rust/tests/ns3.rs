//! ns-3, where it is installed and the `ns3` feature asks for it: in this very process.

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
    use std::sync::{Mutex, PoisonError};

    use evenkeel::ns3::{VERSION, contract};

    /// ns-3 has one simulator a process.
    static SIMULATOR: Mutex<()> = Mutex::new(());

    /// A version that nobody has tried may differ in any of the ways that these differ from each
    /// other, so it is named before it is trusted.
    #[test]
    fn it_is_a_version_that_has_been_tried() {
        const KNOWN: [&str; 4] = ["3.37", "3.42", "3.44", "3.48"];
        assert!(
            KNOWN.contains(&VERSION),
            "ns-3 {VERSION} was found, which evenkeel has not been tried with; known are {}",
            KNOWN.join(", ")
        );
    }

    #[test]
    fn load_balanced_routing_passes_its_suite() {
        let _one = SIMULATOR.lock().unwrap_or_else(PoisonError::into_inner);
        assert_eq!(contract::run_test_suite("evenkeel-load-balanced-routing"), 0);
    }

    /// A class that is used by name alone is lost from a static library, unless it is taken whole.
    #[test]
    fn every_class_is_registered() {
        let _one = SIMULATOR.lock().unwrap_or_else(PoisonError::into_inner);
        let registered = contract::type_names("Evenkeel");
        let names: Vec<&str> = registered.lines().collect();
        assert!(names.contains(&"ns3::LoadBalancedRouting"), "{names:?}");
        // Classes of the HPCC family, into whose trees the module may be put.
        let theirs =
            ["QbbNetDevice", "QbbChannel", "RdmaHw", "RdmaDriver", "SwitchNode", "SwitchMmu"];
        for name in names {
            assert!(!theirs.iter().any(|their| name == format!("ns3::{their}")), "{name}");
        }
    }
}
