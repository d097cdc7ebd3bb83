//! Tests of the contract's calls for the queues of switch ports.

use super::*;
use crate::world::contract::{Enqueued, QueueState};
use crate::world::enumerations::FabricPfcOrder;

/// Returns a full packet, which crosses the first leaf from host 1 to host 0.
fn full() -> FabricPacket {
    FabricPacket { src: 1, wire_bytes: 4_158, ..FabricPacket::default() }
}

/// The port of the leaf to host 0, and that of host 1 to the leaf.
const PORT: u32 = 1;
const INGRESS: u32 = 2;

fn with(switch: &str) -> Box<Core> {
    experiment(&format!("{SPREAD}[switch]\n{switch}\n")).core()
}

/// Returns the queue of the port with these bytes of one class.
fn queue(data: u32) -> QueueState {
    QueueState {
        port: PORT,
        ingress: INGRESS,
        priority: 0,
        data,
        of_class: data,
        is_settled: false,
    }
}

fn flags(packet: &FabricPacket) -> Flags {
    Flags::from_bits(packet.flags)
}

#[test]
fn a_packet_beyond_a_shared_buffer_is_dropped_once_the_switch_is_settled() {
    let mut core = with("buffer = \"10KB\"");
    let mut packet = full();
    let mut enqueue = |core: &mut Core, is_settled| {
        core.enqueue(&QueueState { is_settled, ..queue(0) }, &mut packet)
    };
    assert_eq!([(); 3].map(|()| enqueue(&mut core, false)), {
        [Enqueued::Queued, Enqueued::Queued, Enqueued::Unsettled]
    });
    assert_eq!(enqueue(&mut core, true), Enqueued::Dropped);
    let order = core.dequeue(PORT, INGRESS, 4_158, &mut full());
    assert_eq!(order, FabricPfcOrder::NOTHING);
    assert_eq!(enqueue(&mut core, false), Enqueued::Queued);
}

#[test]
fn data_is_trimmed_and_ip_is_dropped() {
    let mut core = with("port_buffer = \"10KB\"\ntrim = true");
    let mut packet = full();
    assert_eq!(core.enqueue(&queue(8_000), &mut packet), Enqueued::Trimmed);
    assert_eq!(packet.wire_bytes, 64);
    let expected = Flags::TRIMMED.with(Flags::PRIORITY).with(Flags::LAST_HOP);
    assert!(flags(&packet).has(expected), "{packet:?}");
    let mut ip = FabricPacket { kind: FabricPacketKind::IP, ..full() };
    assert_eq!(core.enqueue(&queue(8_000), &mut ip), Enqueued::Dropped);
    assert_eq!(core.enqueue(&queue(5_842), &mut ip), Enqueued::Queued);
    assert_eq!((ip.wire_bytes, ip.flags), (4_158, 0));
}

#[test]
fn packets_that_are_capable_of_marks_are_marked_above_the_threshold() {
    for (point, at_dequeue) in [("enqueue", false), ("dequeue", true)] {
        let mut core = with(&format!("ecn = {{ step = \"8000B\", at = \"{point}\" }}"));
        let capable = FabricPacket { kind: FabricPacketKind::IP, marked: 1, ..full() };
        let control = FabricPacket { kind: FabricPacketKind::ACK, ..full() };
        let incapable = FabricPacket { marked: 0, ..capable };
        for (packet, data, marks) in [
            (full(), 8_001, true),
            (full(), 8_000, false),
            (capable, 8_001, true),
            (incapable, 8_001, false),
            (control, 8_001, false),
        ] {
            let [mut queued, mut bypassing] = [packet; 2];
            core.enqueue(&queue(data), &mut queued);
            let at_enqueue = flags(&queued).has(Flags::MARKED);
            core.dequeue(PORT, INGRESS, data, &mut queued);
            core.bypass(PORT, data, &mut bypassing);
            assert_eq!(at_enqueue, marks && !at_dequeue, "{point}: {packet:?}");
            for packet in [queued, bypassing] {
                assert_eq!(flags(&packet).has(Flags::MARKED), marks, "{point}: {packet:?}");
            }
        }
    }
}

#[test]
fn an_ingress_link_is_paused_and_resumed() {
    let mut core = with("buffer = \"300KB\"\npfc = true");
    let mut packets = 0;
    loop {
        packets += 1;
        match core.enqueue(&queue(0), &mut full()) {
            Enqueued::Queued => {}
            Enqueued::Paused => break,
            other => panic!("packet {packets}: {other:?}"),
        }
    }
    let orders: Vec<FabricPfcOrder> =
        (0..packets).map(|_| core.dequeue(PORT, INGRESS, 0, &mut full())).collect();
    let resumes = orders.iter().filter(|&&order| order == FabricPfcOrder::RESUME).count();
    assert_eq!(resumes, 1, "{orders:?}");
    // A packet with priority is not counted at its link.
    let priority = FabricPacket { flags: Flags::PRIORITY.bits(), ..full() };
    for _ in 0..packets {
        assert_eq!(core.enqueue(&queue(0), &mut { priority }), Enqueued::Queued);
    }
}

#[test]
fn worst_case_headroom_is_exact() {
    let core = with("buffer = \"8MB\"\npfc = true");
    assert_eq!([4_158, 4_159].map(|bytes| core.has_headroom_for(bytes)), [true, false]);
    assert!(with("").has_headroom_for(9_000), "without PFC there is none");
}

#[test]
#[should_panic(expected = "port 0 is of host 0, not of a switch")]
fn a_port_of_a_host_has_no_queue_here() {
    with("").enqueue(&QueueState { port: 0, ..queue(0) }, &mut full());
}
