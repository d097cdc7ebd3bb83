//! Settings of switches: priority flow control and trimming.

use super::parse;
use crate::fabric::{Headroom, PfcConfig, TrimConfig, TrimVictim};
use crate::units::Bytes;

#[test]
fn priority_flow_control_and_trimming_are_on_or_off_or_tables() {
    let switch = |text: &str| parse(&format!("[switch]\n{text}\n")).unwrap().fabric.switch;
    assert_eq!((switch("").pfc, switch("").trim), (None, None));
    assert_eq!((switch("pfc = false").pfc, switch("trim = false").trim), (None, None));
    let packet = Bytes::new(4096 + 62);
    let default = PfcConfig { headroom: Headroom::WorstCase { packet }, ..PfcConfig::HPCC };
    assert_eq!(switch("pfc = true").pfc, Some(default));
    assert_eq!(switch("pfc = {}").pfc, Some(default));
    assert_eq!(switch("pfc = { headroom = \"hpcc\" }").pfc, Some(PfcConfig::HPCC));
    let fixed = PfcConfig { headroom: Headroom::Fixed(Bytes::new(75_000)), ..PfcConfig::HPCC };
    assert_eq!(switch("pfc = { headroom = \"75KB\" }").pfc, Some(fixed));
    let twice = TrimConfig {
        size: Bytes::new(64),
        limit: Bytes::new(128_000_000),
        victim: TrimVictim::Arriving,
    };
    assert_eq!(switch("trim = true").trim, Some(twice));
    let trim = switch("port_buffer = \"1MB\"\ntrim = { size = \"80B\" }").trim;
    assert_eq!(
        trim,
        Some(TrimConfig {
            size: Bytes::new(80),
            limit: Bytes::new(2_000_000),
            victim: TrimVictim::Arriving
        })
    );
}

#[test]
fn which_packet_is_trimmed_is_said_and_not_with_lossless_links() {
    let victim = |text: &str| {
        parse(&format!("[switch]\n{text}\n")).map(|it| it.fabric.switch.trim.unwrap().victim)
    };
    assert_eq!(victim("trim = true").unwrap(), TrimVictim::Arriving);
    let either = "trim = { victim = \"arriving-or-last\" }";
    assert_eq!(victim(either).unwrap(), TrimVictim::ArrivingOrLast);
    for lossless in ["pfc = true", "cbfc = true"] {
        let error = victim(&format!("{either}\n{lossless}")).unwrap_err().to_string();
        assert!(error.contains("switch.trim.victim = arriving-or-last"), "{error}");
    }
}

#[test]
fn ports_to_hosts_mark_unless_a_scenario_says_otherwise() {
    let fabric = |text: &str| parse(&format!("[switch]\n{text}\n")).unwrap().fabric;
    assert!(fabric("").ecn_at_hosts);
    let fabric = fabric("ecn_at_hosts = false");
    assert!(!fabric.ecn_at_hosts);
}
