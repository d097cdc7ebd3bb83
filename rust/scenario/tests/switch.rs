//! Switch settings: flow control, marking and trimming.

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
fn the_trimming_victim_can_be_set_except_on_lossless_links() {
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
fn ports_to_hosts_mark_by_default() {
    let fabric = |text: &str| parse(&format!("[switch]\n{text}\n")).unwrap().fabric;
    assert!(fabric("").ecn_at_hosts);
    let fabric = fabric("ecn_at_hosts = false");
    assert!(!fabric.ecn_at_hosts);
}

/// Card of Ultra Ethernet, section 5.4, form 7: nothing is ever sent with less credit than one
/// packet costs.
#[test]
fn credit_must_cover_at_least_one_packet() {
    let cbfc = |text: &str| parse(&format!("[switch]\ncbfc = {{ {text} }}\n"));
    // A full packet is 4,158 B: 17 credits of 256 B, 130 of 32 B, or 3 of 2 KiB. With 20 B of
    // overhead it is 4,178 B, or 131 credits of 32 B.
    for (others, least) in [
        ("", 17 * 256),
        ("credit = \"32B\"", 130 * 32),
        ("credit = \"2048B\"", 3 * 2_048),
        ("credit = \"32B\", overhead = 20", 131 * 32),
        ("credit = \"32B\", overhead = -16", 130 * 32),
    ] {
        let of = |memory: u64| cbfc(&format!("memory = \"{memory}B\", {others}"));
        let error = of(least - 1).unwrap_err().to_string();
        for part in ["switch.cbfc.memory", "a full packet, 4158B", "otherwise nothing can be sent"]
        {
            assert!(error.contains(part), "{others}: {error}");
        }
        let taken = of(least).unwrap().fabric.switch.cbfc.unwrap();
        assert_eq!(taken.memory, Bytes::new(least), "{others}");
        assert_eq!(taken.limit(), taken.cost(taken.packet), "{others}: one packet");
    }
}

#[test]
fn invalid_credit_settings_are_rejected_with_the_valid_values() {
    let error_of = |text: &str| parse(&format!("[switch]\n{text}\n")).unwrap_err().to_string();
    for (text, key, expected) in [
        ("cbfc = true\npfc = true", "switch.cbfc", "never both"),
        ("cbfc = true\nport_buffer = \"1MB\"", "switch.port_buffer", "set buffer instead"),
        ("cbfc = { credit = \"16B\" }", "switch.cbfc.credit", "32B, 64B, 128B"),
        ("cbfc = { credit = \"48B\" }", "switch.cbfc.credit", "32B, 64B, 128B"),
        ("cbfc = { credit = \"4096B\" }", "switch.cbfc.credit", "or 2048B"),
        ("cbfc = { overhead = -17 }", "switch.cbfc.overhead", "from -16 to 127"),
        ("cbfc = { correction = \"0s\" }", "switch.cbfc.correction", "longer than zero"),
        ("cbfc = { memory = \"9MB\" }", "switch.cbfc.memory", "at most 32767 credits"),
    ] {
        let error = error_of(text);
        assert!(error.contains(key) && error.contains(expected), "{text}: {error}");
    }
}

#[test]
fn the_overhead_of_credits_is_limited_to_its_range() {
    for value in ["-999999999", "-129", "-17", "128", "300"] {
        let said = parse(&format!("[switch]\ncbfc = {{ overhead = {value} }}\n")).unwrap_err();
        let said = said.to_string();
        assert!(said.contains(value) && said.contains("from -16 to 127"), "{said}");
    }
}
