//! Traffic classes: what a world asks of them.

use super::*;
use crate::bridge::world::contract::NicSettings;
use crate::bridge::world::records::FabricQpSettings;

const THREE: &str = "[[class]]\nname = \"a\"\nscheduling = \"strict\"\n\
                     [[class]]\nname = \"b\"\nweight = 2\n[[class]]\nname = \"c\"\n";

/// An experiment with three classes, whose workload is of the last one.
fn three(switch: &str) -> Box<Experiment> {
    let text = SPREAD.replace("ack_priority = false\n", "");
    let incast = "[workload]\nkind = \"incast\"\nfan_in = 1\nbytes = \"1KB\"\nclass = \"c\"\n";
    let policy = "[policy]\nname = \"ecmp\"\n";
    experiment(&format!("{text}[switch]\n{switch}\n{policy}{THREE}{incast}"))
}

#[test]
fn classes_are_described_with_their_memory() {
    let experiment = three("buffer = \"8MB\"\npfc = true");
    let names: Vec<_> = experiment.classes().into_iter().map(|it| (it.name, it.pfc)).collect();
    assert_eq!(names, [("a", true), ("b", true), ("c", true)].map(|(a, b)| (a.to_owned(), b)));
    let core = experiment.core();
    assert_eq!(core.ingress(0, 0), core.ingress(0, 2));
    assert!(core.ingress(0, 2).headroom > 0);
    assert_eq!(experiment.settings().pfc_pause_time_ps, u64::MAX);
    let expiring = three("buffer = \"8MB\"\npfc = { pause_time = \"3us\" }");
    assert_eq!(expiring.settings().pfc_pause_time_ps, 3_000_000);
    assert!(self::experiment(SPREAD).classes().is_empty());
}

#[test]
fn ports_have_turns_of_their_own() {
    let mut core = three("buffer = \"8MB\"").core();
    let mut starts = |port, waiting| {
        let class = core.choose_class(port, waiting);
        core.charge_class(port, class, 4_158, true);
        class
    };
    assert_eq!([0b111, 0b110, 0b110, 0b110, 0b110].map(|it| starts(1, it)), [0, 1, 1, 2, 1]);
    assert_eq!([0b110, 0b110, 0b110, 0b100].map(|it| starts(3, it)), [1, 1, 2, 2]);
}

/// The class of the first data packet that a host sends.
fn class_of_first(core: &mut Core, host: u32) -> u32 {
    let (mut free, mut packet) = (0, FabricPacket::default());
    core.handle_timeout(host, 0);
    assert!(core.poll_transmit(host, 0, &mut free, &mut packet));
    packet.ack >> 24
}

#[test]
fn streams_of_programs_have_a_class_and_those_of_the_workload_its_own() {
    let experiment = three("buffer = \"8MB\"");
    for (stream, class) in [(0, 2), (1 << 24, 0), (2 << 24, 1), ((3 << 24) + 9, 2), (4 << 24, 0)] {
        let mut core = experiment.core();
        let idle = core.endpoints.workload().messages[0].src.0 ^ 1;
        core.post(idle, idle ^ 2, 5_000, 0, 0, stream).unwrap();
        assert_eq!(class_of_first(&mut core, idle), class, "stream {stream:#x}");
    }
}

#[test]
fn others_take_turns_with_a_host_and_pauses_hold_back_a_class() {
    let experiment = three("buffer = \"8MB\"");
    let mut core = experiment.core();
    let idle = core.endpoints.workload().messages[0].src.0 ^ 1;
    core.post(idle, idle ^ 2, 8_000, 0, 0, 2 << 24).unwrap();
    core.handle_timeout(idle, 0);
    let (mut packet, mut class) = (FabricPacket::default(), 9);
    // Of class 1 two packets of the host, among those of others in classes 1 and 2.
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
fn a_nic_whose_acknowledgements_are_data_is_refused() {
    let queue_pairs = FabricQpSettings {
        send_queue: 1,
        receive_queue: 1,
        rnr_timer_ps: 1,
        rnr_retries: 1,
        retries: 1,
    };
    let settings = "[transport]\nack_priority = false\n".to_owned();
    let nic = NicSettings { hosts: vec![2], settings, queue_pairs };
    let said = three("buffer = \"8MB\"").set_own_nics(&[nic]).unwrap_err().to_string();
    assert!(said.starts_with("the NIC of host 2 has ack_priority = false"), "{said}");
}
