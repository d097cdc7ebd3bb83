//! Tests of the contract's calls for traffic classes.

use evenkeel_engine::ids::{ClassId, HostId};
use evenkeel_engine::switching::{TrimConfig, TrimVictim};
use evenkeel_engine::units::Bytes;

use super::*;
use crate::world::classes::{STREAMS, assign_class_streams};
use crate::world::contract::NicSettings;
use crate::world::experiment::expect_supported_by_ns3;
use crate::world::records::FabricQpSettings;

const THREE: &str = "[[class]]\nname = \"a\"\nscheduling = \"strict\"\n\
                     [[class]]\nname = \"b\"\nweight = 2\n[[class]]\nname = \"c\"\n";

/// Builds an experiment with three classes, whose workload belongs to the last one.
fn three(switch: &str) -> Box<Experiment> {
    let text = SPREAD.replace("ack_priority = false\n", "");
    let incast = "[workload]\nkind = \"incast\"\nfan_in = 1\nbytes = \"1KB\"\nclass = \"c\"\n";
    let policy = "[policy]\nname = \"ecmp\"\n";
    experiment(&format!("{text}[switch]\n{switch}\n{policy}{THREE}{incast}"))
}

#[test]
fn classes_are_described() {
    let core = three("buffer = \"8MB\"\npfc = true").core();
    let names: Vec<_> = core.classes().into_iter().map(|it| (it.name, it.pfc)).collect();
    assert_eq!(names, [("a", true), ("b", true), ("c", true)].map(|(a, b)| (a.to_owned(), b)));
    assert_eq!(core.settings().pfc_pause_time_ps, u64::MAX);
    let expiring = three("buffer = \"8MB\"\npfc = { pause_time = \"3us\" }").core();
    assert_eq!(expiring.settings().pfc_pause_time_ps, 3_000_000);
    assert!(experiment(SPREAD).core().classes().is_empty());
}

#[test]
fn ports_schedule_classes_independently() {
    let mut core = three("buffer = \"8MB\"").core();
    let mut starts = |port, waiting| {
        let class = core.choose_class(port, waiting);
        core.charge_class(port, class, 4_158, true);
        class
    };
    assert_eq!([0b111, 0b110, 0b110, 0b110, 0b110].map(|it| starts(1, it)), [0, 1, 1, 2, 1]);
    assert_eq!([0b110, 0b110, 0b110, 0b100].map(|it| starts(3, it)), [1, 1, 2, 2]);
}

/// Returns the class of the first data packet that a host sends.
fn class_of_first(core: &mut Core, host: u32) -> u32 {
    let (mut free, mut packet) = (0, FabricPacket::default());
    core.handle_timeout(host, 0);
    assert!(core.poll_transmit(host, 0, &mut free, &mut packet));
    packet.ack >> 24
}

#[test]
fn streams_of_programs_determine_the_class() {
    let experiment = three("buffer = \"8MB\"");
    for (stream, class) in [(0, 2), (1 << 24, 0), (2 << 24, 1), ((3 << 24) + 9, 2), (4 << 24, 0)] {
        let mut core = experiment.core();
        let idle = core.endpoints.workload().messages[0].src.0 ^ 1;
        core.post(idle, idle ^ 2, 5_000, 0, 0, stream).unwrap();
        assert_eq!(class_of_first(&mut core, idle), class, "stream {stream:#x}");
    }
}

#[test]
fn a_host_shares_its_wire_by_class_and_pauses_stop_a_class() {
    let experiment = three("buffer = \"8MB\"");
    let mut core = experiment.core();
    let idle = core.endpoints.workload().messages[0].src.0 ^ 1;
    core.post(idle, idle ^ 2, 8_000, 0, 0, 2 << 24).unwrap();
    core.handle_timeout(idle, 0);
    let (mut packet, mut class) = (FabricPacket::default(), 9);
    // The host has two packets in class 1, and others have packets in classes 1 and 2.
    let mut own = Vec::new();
    for first in [0b000, 0b010, 0b000, 0b000] {
        let is_own = core.poll_transmit_beside(idle, 0, 0b110, first, &mut packet, &mut class);
        own.push((is_own, if is_own { packet.ack >> 24 } else { class }));
        if !is_own {
            core.charge_beside(idle, class, 4_158, true);
        }
    }
    assert_eq!(own, [(true, 1), (false, 1), (false, 2), (true, 1)]);
    core.post(idle, idle ^ 2, 8_000, 0, 0, 1 << 24).unwrap();
    core.handle_timeout(idle, 0);
    core.pause_class(idle, 0, true);
    assert!(!core.has_packets(idle));
    core.pause_class(idle, 0, false);
    assert!(core.has_packets(idle));
}

#[test]
fn a_nic_with_acknowledgements_as_data_is_rejected() {
    let queue_pairs = FabricQpSettings {
        send_queue: 1,
        receive_queue: 1,
        rnr_timer_ps: 1,
        rnr_retries: 1,
        retries: 1,
    };
    let settings = "[transport]\nack_priority = false\n".to_owned();
    let nic = NicSettings { hosts: vec![2], settings, queue_pairs };
    let said = three("buffer = \"8MB\"").set_host_nics(&[nic]).unwrap_err().to_string();
    assert!(said.starts_with("the NIC of host 2 has ack_priority = false"), "{said}");
}

/// Scenarios cannot express this, but a program's setup can.
#[test]
fn setups_with_classes_require_priority_of_acknowledgements() {
    let mut setup = three("buffer = \"8MB\"").setup;
    expect_supported_by_ns3(&setup).unwrap();
    let mut nic = setup.nic.clone();
    nic.ack.priority = false;
    setup.own_nics.insert(HostId(2), nic.clone());
    let said = expect_supported_by_ns3(&setup).unwrap_err().to_string();
    assert!(said.starts_with("the NIC of host 2 has ack_priority = false"), "{said}");
    setup.nic = nic;
    let said = expect_supported_by_ns3(&setup).unwrap_err().to_string();
    assert!(said.starts_with("the NIC of host 0 has ack_priority = false"), "{said}");
    setup.fabric.classes.clear();
    setup.job_classes.clear();
    expect_supported_by_ns3(&setup).unwrap();
}

#[test]
#[should_panic(expected = "traffic classes cannot be combined with trimming")]
fn setups_with_classes_and_trimming_do_not_run_in_ns3() {
    let mut setup = three("buffer = \"8MB\"").setup;
    let (size, limit) = (Bytes::new(64), Bytes::new(6_400));
    setup.fabric.switch.trim = Some(TrimConfig { size, limit, victim: TrimVictim::Arriving });
    let _ = expect_supported_by_ns3(&setup);
}

#[test]
#[should_panic(expected = "but there are 3 traffic classes")]
fn setups_with_a_job_of_an_unknown_class_do_not_run_in_ns3() {
    let mut setup = three("buffer = \"8MB\"").setup;
    setup.job_classes[0].class = ClassId(3);
    let _ = expect_supported_by_ns3(&setup);
}

#[test]
fn a_workload_must_not_use_streams_of_programs() {
    let mut setup = three("buffer = \"8MB\"").setup;
    let workload = std::sync::Arc::make_mut(&mut setup.workload);
    workload.messages[0].stream = STREAMS - 1;
    assign_class_streams(&mut setup.clone()).unwrap();
    let workload = std::sync::Arc::make_mut(&mut setup.workload);
    workload.messages[0].stream = STREAMS;
    let said = assign_class_streams(&mut setup).unwrap_err().to_string();
    assert!(said.starts_with("the workload uses message stream 16777216"), "{said}");
    setup.fabric.classes.clear();
    assign_class_streams(&mut setup).unwrap();
}

#[test]
fn programs_get_streams_of_their_class_by_name() {
    let core = three("buffer = \"8MB\"").core();
    let said = |name: &str, stream, of_qp| {
        core.stream_in(name, stream, of_qp).map_err(|error| error.to_string())
    };
    let first = said("", 0, true).unwrap();
    let classes = core.classes();
    for (number, class) in (0_u32..).zip(&classes) {
        let own = said(&class.name, 0, true).unwrap();
        assert_eq!(own, first + number * STREAMS, "{}", class.name);
        assert_eq!(said(&class.name, 3, true), Ok(own + 3));
        // Messages have the other half.
        assert_eq!(said(&class.name, 3, false), Ok(own + STREAMS / 2 + 3));
    }
    let most = STREAMS / 2;
    assert!(said("", most - 1, false).is_ok() && said("", most - 1, true).is_ok());
    assert!(said("", most, false).unwrap_err().contains("use one below 8388608"));
    assert!(said("", most, true).unwrap_err().ends_with("(ENOMEM)"));
    let named = said("other", 0, false).unwrap_err();
    assert!(named.starts_with("there is no traffic class 'other': the fabric has '"), "{named}");
}
