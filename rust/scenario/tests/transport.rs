//! Congestion controls, loss recoveries and acknowledgements.

use super::parse;
use crate::ValueOrigin;
use crate::balance::Parameters;
use crate::balance::sender::Trimming;
use crate::nic::congestion::{CONTROLS, CongestionControl, Scope, dcqcn};
use crate::nic::parameters::ParameterError;
use crate::nic::recovery::sack::{Config, Window};
use crate::nic::{AckRange, Delivery, Entropies, Marked, Recovery, Resent};
use crate::units::{Bytes, Span};

#[test]
fn explicit_keys_override_the_preset() {
    let dcqcn = |parameters: &str| {
        let scenario = parse(&format!(
            "[transport]\ncongestion_control = \"dcqcn\"\nparameters = {{ {parameters} }}"
        ))
        .unwrap();
        let again = parse(&scenario.render()).unwrap();
        assert_eq!((&again.nic, &again.file), (&scenario.nic, &scenario.file));
        match scenario.nic.congestion {
            CongestionControl::Dcqcn(config) => config,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(dcqcn(""), dcqcn::Config::default());
    assert_eq!(dcqcn("preset = \"authors\""), dcqcn::Config::default());
    let paper = dcqcn("preset = \"paper\"");
    assert_eq!(paper.byte_counter, Bytes::new(10_000_000));
    let mine = dcqcn("rate_timer = \"70us\", preset = \"paper\"");
    assert_eq!(mine, dcqcn::Config { rate_timer: Span::from_us(70), ..paper });
}

#[test]
fn each_congestion_control_and_each_preset_is_valid() {
    for control in CONTROLS {
        let name = control.name;
        let unnamed = Parameters::from_iter([("preset".to_owned(), "".into())]);
        let presets = match control.configure(&unnamed, Trimming::Off) {
            Err(ParameterError::UnknownPreset { known, .. }) => known,
            _ => Vec::new(),
        };
        let section = format!("[transport]\ncongestion_control = \"{name}\"\n");
        let scenario = parse(&section).unwrap();
        let shown = scenario.file.transport.parameters.get("preset").and_then(|it| it.as_str());
        assert_eq!(shown, presets.first().copied(), "{name}");
        for preset in presets {
            let text = format!("{section}parameters = {{ preset = \"{preset}\" }}");
            let scenario = parse(&text).unwrap();
            let again = parse(&scenario.render()).unwrap();
            assert_eq!(again.nic, scenario.nic, "{name}, {preset}");
        }
    }
}

#[test]
fn the_default_preset_of_nscc_depends_on_trimming() {
    let preset = |switch: &str, parameters: &str| {
        let text = format!(
            "[switch]\n{switch}\n[transport]\ncongestion_control = \"nscc\"\n{parameters}\n"
        );
        let scenario = parse(&text).unwrap();
        let again = scenario.with_policy("ecmp").unwrap();
        assert_eq!(again.nic.congestion, scenario.nic.congestion);
        let key = "transport.parameters.preset";
        let shown = scenario.explain().into_iter().find(|it| it.key == key).unwrap();
        (shown.value, shown.from)
    };
    let trimming = "\"trimming\"".to_owned();
    assert_eq!(preset("trim = true", ""), (trimming, ValueOrigin::Default));
    assert_eq!(preset("trim = false", "").0, "\"no-trimming\"");
    let chosen = "parameters = { preset = \"no-trimming\" }";
    assert_eq!(preset("trim = true", chosen), ("\"no-trimming\"".to_owned(), ValueOrigin::Line(5)));
    let gamma = preset("trim = { size = \"64B\" }", "parameters = { gamma = \"1/2\" }");
    assert_eq!(gamma.0, "\"trimming\"");
}

#[test]
fn recoveries_and_acknowledgements_are_selected_by_name() {
    let nic = |keys: &str| parse(&format!("[transport]\n{keys}")).unwrap().nic;
    let recovery = |keys: &str| nic(keys).recovery;
    assert_eq!(recovery("recovery = 'sack'"), Recovery::Sack(Config::default()));
    let given = "recovery = 'sack'\nrecovery_parameters = { reordering = 6, flow_control = 'off' }";
    let flow_control = Window::Off;
    let expected = Config { reordering: 6, flow_control, ..Config::default() };
    assert_eq!(recovery(given), Recovery::Sack(expected));
    assert_eq!(recovery("recovery = 'erasure'"), Recovery::ERASURE);
    // The default policy is designed for go-back-N.
    assert_eq!(
        recovery("recovery_parameters = { back_to = 'message' }"),
        Recovery::GO_BACK_TO_ZERO
    );

    // Delivery is the recovery's default, unless it is set.
    use crate::nic::Delivery::{Ordered, Unordered};
    let delivery = |keys: &str| nic(keys).delivery();
    assert_eq!(delivery(""), Ordered);
    assert_eq!(delivery("recovery = 'erasure'"), Unordered);
    assert_eq!(delivery("recovery = 'erasure'\ndelivery = 'ordered'"), Ordered);
    assert_eq!(delivery("recovery = 'per-packet'\ndelivery = 'unordered'"), Unordered);
    assert_eq!(delivery("recovery = 'go-back-n'\ndelivery = 'ordered'"), Ordered);

    let keys = "ack_every = 16\nack_bytes = '16KiB'\nack_time = '5us'\nack_entropies = 'carry'\n\
                ack_marked = 'at-once'";
    let ack = nic(keys).ack;
    assert_eq!(
        (ack.every, ack.every_bytes, ack.within),
        (16, Bytes::new(16_384), Span::from_us(5))
    );
    assert_eq!((ack.entropies, ack.marked), (Entropies::Carry, Marked::AtOnce));
}

#[test]
fn ultra_ethernet_acknowledges_retransmitted_packets_immediately() {
    let resent = |keys: &str| parse(&format!("[transport]\n{keys}\n")).unwrap().nic.ack.resent;
    assert_eq!(resent(""), Resent::Wait);
    let uet = "congestion_control = 'nscc'\nrecovery = 'per-packet'";
    assert_eq!(resent(uet), Resent::AtOnce);
    assert_eq!(resent(&format!("{uet}\nack_resent = 'wait'")), Resent::Wait);
    // With another recovery, the defaults are not those of Ultra Ethernet's simulator.
    assert_eq!(resent("congestion_control = 'nscc'\nrecovery = 'sack'"), Resent::Wait);
    assert_eq!(resent("ack_resent = 'at-once'"), Resent::AtOnce);
}

#[test]
fn per_packet_acknowledgements_need_per_packet_timers() {
    let keys = "[policy]\nname = \"spray\"\n[transport]\nack_range = \"packet\"\n";
    assert_eq!(parse(keys).unwrap().nic.ack.range, AckRange::Packet);
    assert_eq!(parse("").unwrap().nic.ack.range, AckRange::Cumulative);
    let repeated = keys.replace("packet", "last-64");
    assert_eq!(parse(&repeated).unwrap().nic.ack.range, AckRange::Last64);
    let error = parse(&format!("{repeated}recovery = \"sack\"\n")).unwrap_err();
    assert!(error.to_string().contains("last-64"), "{error}");
    for recovery in ["go-back-n", "sack", "erasure"] {
        let error = parse(&format!("{keys}recovery = \"{recovery}\"\n")).unwrap_err();
        let expected = format!("{recovery} uses only the cumulative number");
        assert!(error.to_string().contains(&expected), "{error}");
        assert!(error.to_string().contains("test.toml:4:13: transport.ack_range"), "{error}");
    }
    let error = parse(&format!("{keys}ack_every = 4\n")).unwrap_err().to_string();
    assert!(error.contains("needs transport.ack_every = 1"), "{error}");
}

#[test]
fn ultra_ethernet_modes_set_delivery_order_and_acknowledgements() {
    let nic = |keys: &str| parse(&format!("[transport]\n{keys}")).map(|scenario| scenario.nic);
    let rudi = nic("recovery = 'rudi'\ncongestion_control = 'nscc'").unwrap();
    assert_eq!((rudi.recovery, rudi.delivery()), (Recovery::RUDI, Delivery::Unordered));
    assert_eq!(rudi.ack.range, AckRange::Packet);
    let rod = nic("recovery = 'rod'").unwrap();
    assert_eq!((rod.recovery, rod.delivery()), (Recovery::ROD, Delivery::Ordered));
    assert_eq!(rod.ack.range, AckRange::Cumulative);
    let error_of = |keys: &str| nic(keys).unwrap_err().to_string();
    for (keys, said) in [
        ("recovery = 'rudi'\nack_range = 'cumulative'", "responds to each packet"),
        ("recovery = 'rudi'\nack_every = 4", "needs transport.ack_every = 1"),
        ("recovery = 'rudi'\ndelivery = 'ordered'", "rudi supports only unordered delivery"),
        ("recovery = 'rod'\ndelivery = 'unordered'", "rod supports only ordered delivery"),
        ("recovery = 'rudi'\ncongestion_control = 'rccc'", "use another recovery"),
        (
            "recovery = 'rod'\ncongestion_control = 'nscc'\nparameters = { scope = 'plane' }",
            "rod does not count packets by planes",
        ),
        (
            "recovery = 'rod'\ncongestion_control = 'nscc'\nparameters = { scope = 'path' }",
            "rod does not count packets by paths",
        ),
    ] {
        assert!(error_of(keys).contains(said), "{keys}: {}", error_of(keys));
    }
    let scope = "congestion_control = 'nscc'\nparameters = { scope = 'plane' }";
    for recovery in ["mrc", "sack", "per-packet", "rudi"] {
        assert!(nic(&format!("recovery = '{recovery}'\n{scope}")).is_ok(), "{recovery}");
    }
}

#[test]
fn a_message_limit_makes_messages_writes_with_immediate_data() {
    let scenario = |keys: &str| parse(&format!("[transport]\n{keys}\n"));
    let most = |keys: &str| scenario(keys).unwrap().nic.queue_pairs.immediate_messages;
    assert_eq!(most(""), None);
    assert_eq!(most("max_wimm = 128"), Some(128));
    assert_eq!(most("max_wimm = 1\nrecovery = 'mrc'"), Some(1));
    let error_of = |text: &str| parse(text).unwrap_err().to_string();
    for (keys, said) in [
        ("max_wimm = 0", "at least 1"),
        ("max_wimm = 8\nrecovery = 'rudi'", "need ordered delivery"),
        ("max_wimm = 8\nrecovery = 'erasure'", "need ordered delivery"),
        ("max_wimm = 8\nrecovery = 'sack'\ndelivery = 'unordered'", "need ordered delivery"),
    ] {
        let error = error_of(&format!("[transport]\n{keys}\n"));
        assert!(error.contains("transport.max_wimm") && error.contains(said), "{error}");
    }
    let error = error_of("fidelity = 'fluid'\n[transport]\nmax_wimm = 8\n");
    assert!(error.contains("transport.max_wimm") && error.contains("fidelity"), "{error}");
}

#[test]
fn a_window_for_each_path_needs_equally_many_paths_in_each_plane() {
    let of = |policy: &str, topology: &str| {
        let nscc = "congestion_control = 'nscc'\nparameters = { scope = 'path' }";
        let sections = format!("recovery = 'per-packet'\n{nscc}\n[topology]\n{topology}");
        parse(&format!("[policy]\n{policy}\n[transport]\n{sections}"))
    };
    let (one, three) = ("kind = 'leaf-spine'", "kind = 'multi-plane'\nplanes = 3");
    let four = "kind = 'multi-plane'\nplanes = 4";
    let rotation = |entropies: u32| format!("name = 'spray-rr'\nentropies = {entropies}");
    for (policy, topology) in [(rotation(16), one), (rotation(2), one), (rotation(16), four)] {
        let scenario = of(&policy, topology).unwrap();
        assert_eq!(scenario.nic.congestion.scope(), Scope::Path);
        // A comparison resolves the transport anew.
        let error = scenario.with_policy("spray").unwrap_err().to_string();
        assert!(error.contains("a fixed number of paths"), "{error}");
    }
    let ecmp = "name = 'ecmp'\n";
    for (policy, topology) in [
        (rotation(6), one),
        (rotation(64), one),
        (rotation(16), three),
        (rotation(2), four),
        (ecmp.to_owned(), one),
    ] {
        let error = of(&policy, topology).unwrap_err().to_string();
        assert!(error.contains("test.toml:2:8: policy.name"), "{error}");
        assert!(error.contains("2, 4, 8, 16 or 32"), "{error}");
    }
}
