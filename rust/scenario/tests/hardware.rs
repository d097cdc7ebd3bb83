//! Limits and costs of NICs, and the presets of adapters.

use super::parse;
use crate::nic::congestion::CongestionControl;
use crate::nic::{AckTimeout, HardwareConfig, Recovery};
use crate::units::{Bytes, Span};

#[test]
fn without_their_keys_nics_have_no_limits_and_the_resolved_file_names_none() {
    let scenario = parse("").unwrap();
    assert_eq!(scenario.nic.hardware, HardwareConfig::default());
    for key in ["receive", "message", "packet_rate", "qp_turns", "cnp_on", "ack_timeout"] {
        assert!(!scenario.render().contains(key), "{key}");
    }
}

#[test]
fn a_preset_fills_in_every_key_and_written_keys_win() {
    for preset in ["connectx-5", "connectx-6", "connectx-7"] {
        let text = format!("[transport]\npreset = \"{preset}\"\n");
        let scenario = parse(&text).unwrap();
        let again = parse(&scenario.render()).unwrap();
        assert_eq!((&again.nic, &again.file), (&scenario.nic, &scenario.file), "{preset}");
        assert_eq!(scenario.nic.recovery, Recovery::GO_BACK_N);
        assert_eq!(scenario.nic.cnp_interval, Span::from_us(4));
        let CongestionControl::DcqcnMlx(control) = scenario.nic.congestion else { panic!() };
        assert!(control.slow_restart && control.byte_counter > Bytes::ZERO);
        let own = parse(&format!("{text}message = {{ start = \"1us\" }}\n")).unwrap();
        let message = own.nic.hardware.message;
        assert_eq!((message.start, message.complete), (Span::from_us(1), Span::ZERO));
        assert_eq!(own.nic.hardware.packet_rate, scenario.nic.hardware.packet_rate);
    }
}

#[test]
fn the_adapters_differ_in_what_is_measured() {
    let of = |preset: &str| {
        let text = format!("[transport]\npreset = \"connectx-{preset}\"\n");
        parse(&text).unwrap().nic.hardware
    };
    let [five, six, seven] = ["5", "6", "7"].map(of);
    assert!(five.receive.is_some() && six.receive.is_none() && seven.receive.is_none());
    assert_eq!((six.packet_rate.qp, seven.packet_rate.qp), (Some(3_870_000), None));
    let timeout = AckTimeout { code: 14, floor: true, adaptive: true, retries: 7 };
    assert!([five, six, seven].iter().all(|it| it.ack_timeout == Some(timeout)));
}

#[test]
fn ack_timeout_replaces_the_retransmission_timeout() {
    let scenario =
        parse("[transport]\nrecovery = \"go-back-n\"\nack_timeout = { code = 8 }\n").unwrap();
    let timeout = scenario.nic.hardware.ack_timeout.unwrap();
    assert_eq!(scenario.nic.retransmit_timeout, timeout.first());
    assert!(scenario.file.transport.retransmit_timeout.is_none());
    let both = "[transport]\nrecovery = \"go-back-n\"\nack_timeout = {}\n\
                retransmit_timeout = \"1ms\"\n";
    let error = parse(both).unwrap_err().to_string();
    assert!(error.contains("ack_timeout replaces it"), "{error}");
    let preset = "[transport]\npreset = \"connectx-5\"\nretransmit_timeout = \"1ms\"\n";
    assert_eq!(parse(preset).unwrap().nic.hardware.ack_timeout, None);
}

#[test]
fn a_fluid_run_rejects_limits() {
    let keys = ["qp_turns = \"message\"", "cnp_on_nack = true", "cnp_on_discard = true"];
    for key in keys.into_iter().chain(["cnp_limiter = \"port\""]) {
        let text = format!("fidelity = \"fluid\"\n[transport]\n{key}\n");
        let error = parse(&text).unwrap_err().to_string();
        assert!(error.contains("fidelity") && error.contains(key), "{error}");
    }
}

#[test]
fn a_resolved_file_keeps_what_is_switched_off_in_a_preset() {
    let control = |parameters: &str, name: &str| {
        let text = format!(
            "[transport]\ncongestion_control = \"{name}\"\nparameters = {{ {parameters} }}\n"
        );
        let scenario = parse(&text).unwrap();
        let again = parse(&scenario.render()).unwrap();
        assert_eq!(again.nic, scenario.nic, "{parameters}");
        let is_false = |it: &&String| it.contains("a parameter of another");
        assert_eq!(scenario.warnings.iter().find(is_false), None);
    };
    let registers = "preset = \"connectx-registers\"";
    for key in ["byte_counter = \"0B\"", "signal = \"flag\"", "slow_restart = false", "rpg_gd = 11"]
    {
        control(&format!("{registers}, {key}"), "dcqcn-mlx");
        control(key, "dcqcn-mlx");
    }
    control("preset = \"median\", median = 1", "nscc");
}

#[test]
fn the_pool_holds_a_packet_of_the_nic() {
    let text = |pool: &str| {
        format!("[transport]\npayload = \"60000B\"\nreceive = {{ pool = \"{pool}\" }}\n")
    };
    let error = parse(&text("10000B")).unwrap_err().to_string();
    assert!(error.contains("60062B") && error.contains("transport.payload"), "{error}");
    assert!(parse(&text("60062B")).is_ok());
}

#[test]
fn a_preset_leaves_written_recoveries_and_their_timeouts() {
    let nic = |keys: &str| {
        let text = format!("[transport]\npreset = \"connectx-5\"\n{keys}\n");
        parse(&text).unwrap().nic
    };
    let sack = nic("recovery = \"sack\"");
    assert_eq!((sack.recovery.name(), sack.hardware.ack_timeout), ("sack", None));
    let auto = nic("recovery = \"auto\"\n[policy]\nname = \"mrc\"");
    assert_eq!((auto.recovery.name(), auto.hardware.ack_timeout), ("mrc", None));
    let none = nic("[policy]\nname = \"mrc\"");
    assert_eq!(none.recovery.name(), "go-back-n");
    assert!(none.hardware.ack_timeout.is_some());
}

#[test]
fn a_parameter_of_ones_own_keeps_the_registers_of_the_adapter() {
    let text = "[transport]\npreset = \"connectx-5\"\nparameters = { min_rate = \"10Mbps\" }\n";
    let CongestionControl::DcqcnMlx(control) = parse(text).unwrap().nic.congestion else {
        panic!()
    };
    assert!(control.slow_restart && control.byte_counter > Bytes::ZERO);
    assert_eq!(control.min_rate.as_bps(), 10_000_000);
}

/// Warnings about this transport in a fabric of 100 Gbps, unless the keys say otherwise.
fn warnings(keys: &str) -> Vec<String> {
    let rate = "[topology]\nhost_rate = \"100Gbps\"\nfabric_rate = \"100Gbps\"\n";
    parse(&format!("{rate}[transport]\n{keys}\n")).unwrap().warnings
}

#[test]
fn a_preset_of_100_gbe_warns_once_about_ports_of_another_rate() {
    let of_rate =
        |all: Vec<String>| all.iter().filter(|it| it.contains("100 Gbps adapter")).count();
    assert_eq!(of_rate(warnings("preset = \"connectx-5\"")), 0);
    let other = |preset: &str| {
        let text = format!("[topology]\nhost_rate = \"400Gbps\"\n[transport]\npreset = {preset}\n");
        of_rate(parse(&text).unwrap().warnings)
    };
    assert_eq!((other("\"connectx-6\""), other("\"connectx-7\"")), (1, 0));
}

#[test]
fn keys_that_cannot_act_have_a_warning_each() {
    let cnp = "recovery = \"go-back-n\"\ncongestion_control = \"dcqcn\"\n";
    let pool = "receive = { pool = \"100KB\" }";
    let stall = "receive = { pool = \"100KB\", stall_above = \"9Gbps\", stall_after = \"1MB\"";
    for (keys, key, expected) in [
        (format!("{cnp}cnp_on_nack = true"), "cnp_on_nack", 0),
        ("recovery = \"per-packet\"\ncnp_on_nack = true".to_owned(), "cnp_on_nack", 1),
        ("recovery = \"go-back-n\"\ncnp_on_nack = true".to_owned(), "cnp_on_nack", 1),
        (format!("{cnp}cnp_on_discard = true"), "cnp_on_discard", 1),
        (format!("{cnp}cnp_on_discard = true\n{pool}"), "cnp_on_discard", 0),
        ("cnp_limiter = \"port\"".to_owned(), "cnp_limiter", 1),
        (format!("{cnp}cnp_limiter = \"port\""), "cnp_limiter", 0),
        (format!("{stall} }}"), "receive.stall_above", 1),
        (format!("{stall} }}"), "receive.stall_after", 1),
        (format!("{stall}, stall = \"9us\" }}"), "receive.stall_a", 0),
    ] {
        let all = warnings(&keys);
        let of_key = |it: &&String| it.contains(&format!("transport.{key}"));
        assert_eq!(all.iter().filter(of_key).count(), expected, "{keys}: {all:?}");
    }
}
