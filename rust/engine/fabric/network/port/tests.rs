//! Wire times, priority, and dequeueing.

use super::*;
use crate::ids::ClassId;
use crate::packet::Packet;
use crate::sharing::{Discipline, Scheduling};

fn port(gbps: u64, rounding: Rounding) -> Port {
    Port::new(&PortParts {
        start: Node::Host(HostId(0)),
        end: Node::Switch(SwitchId(0)),
        rate: BitRate::from_gbps(gbps),
        delay: Span::from_ns(500),
        gap: Bytes::new(20),
        rounding,
    })
}

#[test]
fn the_gap_keeps_the_wire_busy_but_does_not_delay_the_arrival() {
    let mut port = port(400, Rounding::Exact);
    let arrives = port.transmit(4_158, Time::from_ps(7));
    assert_eq!(arrives, Time::from_ps(7 + 4_158 * 20 + 500_000));
    assert_eq!(port.free, Time::from_ps(7 + 4_178 * 20));
}

#[test]
fn times_are_truncated_to_nanoseconds() {
    assert_eq!(port(100, Rounding::TruncateNs).time_for(1_048), Span::from_ns(83));
    assert_eq!(port(100, Rounding::Exact).time_for(1_048), Span::from_ps(83_840));
    assert_eq!(port(3, Rounding::Exact).time_for(1), Span::from_ps(2_667));
}

#[test]
fn priority_goes_first() {
    let mut port = port(400, Rounding::Exact);
    let packets = [(100, Flags::NONE), (64, Flags::PRIORITY), (200, Flags::NONE)];
    for (id, (bytes, flags)) in (0..).zip(packets) {
        let packet = Packet { wire_bytes: bytes, flags, ..Packet::default() };
        port.enqueue(Queued::of(SlotId(id), &packet));
    }
    assert_eq!((port.data_waiting(), port.waiting_max), (300, 364));
    let order: Vec<u16> =
        std::iter::from_fn(|| port.dequeue()).map(|queued| queued.bytes()).collect();
    assert_eq!(order, [64, 100, 200]);
    assert!(!port.has_waiting());
}

#[test]
fn a_paused_port_holds_packets_without_priority() {
    let mut port = port(400, Rounding::Exact);
    let packet = |flags| Packet { flags, ..Packet::default() };
    let (data, control) = (SlotId(0), SlotId(1));
    port.pause(true);
    port.enqueue(Queued::of(data, &packet(Flags::NONE)));
    assert!(!port.has_waiting() && port.dequeue().is_none());
    assert!(port.is_clear(Time::ZERO, Flags::PRIORITY));
    assert!(!port.is_clear(Time::ZERO, Flags::NONE));
    port.enqueue(Queued::of(control, &packet(Flags::PRIORITY)));
    assert_eq!(port.dequeue().map(|queued| queued.slot()), Some(control));
    port.pause(false);
    assert_eq!(port.dequeue().map(|queued| queued.slot()), Some(data));
}

#[test]
fn only_the_last_data_packet_is_removed() {
    let mut port = port(400, Rounding::Exact);
    let queued = |id, bytes, flags| {
        Queued::of(SlotId(id), &Packet { wire_bytes: bytes, flags, ..Packet::default() })
    };
    port.enqueue(queued(0, 64, Flags::PRIORITY));
    port.enqueue(queued(1, 100, Flags::NONE));
    port.enqueue(queued(2, 200, Flags::NONE));
    assert_eq!(port.last_data().map(Queued::slot), Some(SlotId(2)));
    port.remove_last_data();
    assert_eq!((port.data_waiting(), port.all_waiting()), (100, 164));
    port.remove_last_data();
    assert_eq!((port.last_data(), port.all_waiting()), (None, 64));
    port.pause(true);
    assert!(port.has_waiting(), "the packet with priority");
    assert_eq!(port.dequeue().map(Queued::slot), Some(SlotId(0)));
    port.pause(false);
    assert!(!port.has_waiting());
}

/// Policies that compare queues read this load. The packet counts until its last bit is sent, to
/// the picosecond. During the gap it counts only while it is in flight.
#[test]
fn the_load_counts_the_packet_on_the_wire_until_it_is_free() {
    let mut port = port(400, Rounding::Exact);
    let packet = Packet { wire_bytes: 300, ..Packet::default() };
    assert_eq!(port.load(Time::ZERO), 0);
    port.transmit(1_000, Time::ZERO);
    let free = Time::from_ps(1_020 * 20);
    assert_eq!(port.free, free);
    port.enqueue(Queued::of(SlotId(0), &packet));
    let before = Time::from_ps(free.as_ps() - 1);
    let load = |port: &Port, now| (port.load(now), port.packets_loaded(now));
    assert_eq!([before, free].map(|now| load(&port, now)), [(1_300, 2), (300, 1)]);
    assert!(!port.is_due(before) && port.is_due(free));
    port.handle_arrival();
    assert_eq!(load(&port, before), (300, 1), "only the gap keeps the wire busy");
}

/// A flow-control frame passes every packet except earlier frames.
#[test]
fn frames_precede_all_other_packets_in_order() {
    let mut port = port(400, Rounding::Exact);
    let queued = |id, bytes, flags| {
        Queued::of(SlotId(id), &Packet { wire_bytes: bytes, flags, ..Packet::default() })
    };
    port.enqueue(queued(0, 1_000, Flags::NONE));
    port.enqueue_frame(queued(1, 64, Flags::PRIORITY), 0);
    assert!(port.has_waiting());
    port.pause(true);
    assert!(port.has_waiting(), "a pause does not hold frames");
    port.enqueue(queued(2, 84, Flags::PRIORITY));
    port.enqueue_frame(queued(3, 65, Flags::PRIORITY), 1);
    port.pause(false);
    assert_eq!((port.all_waiting(), port.data_waiting()), (1_213, 1_000));
    let order: Vec<u32> = std::iter::from_fn(|| port.dequeue()).map(|it| it.slot().0).collect();
    assert_eq!((order, port.all_waiting()), (vec![1, 3, 2, 0], 0));
}

#[test]
fn a_packet_that_finds_a_free_wire_is_charged_to_its_class() {
    let weights = [1; 2].map(Scheduling::Weighted);
    let discipline = Discipline::new(weights, Bytes::new(1_000));
    let (mut port, mut queues) = (port(400, Rounding::Exact), ClassQueues::default());
    queues.charge_bypass(&discipline, ClassId(0), 1_000);
    for (id, class) in [(0, 0), (1, 1), (2, 0)] {
        let packet = Packet { wire_bytes: 1_000, ..Packet::default() };
        let queued = Queued::of(SlotId(id), &packet);
        port.enqueue_in_class(&mut queues, ClassId(class), queued);
    }
    let next = || port.dequeue_by_class(&mut queues, &discipline);
    let order: Vec<u32> = std::iter::from_fn(next).map(|it| it.slot().0).collect();
    assert_eq!(order, [1, 0, 2], "the second class is next");
}
