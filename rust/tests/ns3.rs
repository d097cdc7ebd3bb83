//! ns-3, where it is installed and the `ns3` feature asks for it.

#[cfg(not(feature = "ns3"))]
#[test]
fn ns3_probe() {
    use std::io::Write as _;
    // Written past the test harness, which would keep it to itself.
    let _ = writeln!(
        std::io::stderr(),
        "skipped: ns3_probe: built without the ns3 feature; where ns-3 is installed, \
         cargo test --features ns3 runs it"
    );
}

/// A version that nobody has tried may differ in any of the ways that these differ from each
/// other, so it is named before it is trusted.
#[cfg(feature = "ns3")]
#[test]
fn ns3_probe() {
    const KNOWN: [&str; 4] = ["3.37", "3.42", "3.44", "3.48"];
    let found = env!("EVENKEEL_NS3_VERSION");
    assert!(
        KNOWN.contains(&found),
        "ns-3 {found} was found, which evenkeel has not been tried with; known are {}",
        KNOWN.join(", ")
    );
}
