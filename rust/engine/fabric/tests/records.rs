//! Packet records: the queue that each packet finds or leaves behind.

use super::*;
use crate::ids::SwitchId;
use crate::packet::Flags;
use crate::topology::Node;

/// The records of a switch.
#[derive(Default)]
struct Recorder(Vec<PacketRecord>);

impl Watch for Recorder {
    fn traces(&self, node: Node) -> bool {
        node == Node::Switch(SwitchId(0))
    }

    fn sampled_ports(&self) -> &[PortId] {
        &[]
    }

    fn next_sample(&self) -> Time {
        Time::NEVER
    }

    fn sample(&mut self, _now: Time, _next_event: Time, _snapshot: &Snapshot<'_>) {}

    fn take_records(&mut self, records: &[PacketRecord]) {
        self.0.extend_from_slice(records);
    }
}

/// Records of a switch in a run.
fn records(setup: &Setup) -> Vec<PacketRecord> {
    let mut recorder = Recorder::default();
    let observers = Observers { watch: Some(&mut recorder), progress: &mut |_| {} };
    drive(World::new(setup), &mut FixedWorkload, observers);
    recorder.0
}

/// Two others send to a host whose link loses what it sends. A lost packet is recorded with the
/// queue for the host at exactly that time.
#[test]
fn a_loss_on_the_wire_is_recorded_with_the_queue_of_the_other_direction() {
    let (packet, slot) = ((PAYLOAD + HEADER) * 20, (PAYLOAD + HEADER + GAP) * 20);
    let first = packet + 500_000;
    // Each has 50 packets. 40 ns after the last start, all have arrived and 56 have started.
    let lost = first + 55 * slot + 40_000;
    let mut pairs = messages(&[(1, 0), (2, 0), (0, 1)], 50 * PAYLOAD);
    (pairs[2].bytes, pairs[2].start) = (Bytes::new(PAYLOAD), Time::from_ps(lost - first));
    let mut setup = setup(leaf_spine(1, 1, 3, 400), "ecmp", pairs);
    let port = setup.topology.host_port(HostId(0));
    let kind = FailureKind::Loss { rate: Fraction::ONE };
    let (direction, never) = (Direction::From(port), failure(port.link(), Time::NEVER, Span::MAX));
    setup.fabric.failures = vec![Failure { kind, direction, at: Time::ZERO, ..never }];
    setup.time_limit = Time::from_ps(lost + 1_000);
    let records = records(&setup);
    let is_lost = |it: &&PacketRecord| it.event == PacketEvent::Dropped && !it.packet.is_control();
    let lost_data: Vec<&PacketRecord> = records.iter().filter(is_lost).collect();
    let [record] = lost_data[..] else { panic!("{lost_data:?}") };
    assert_eq!((record.at, record.port), (Time::from_ps(lost), port.reverse()));
    assert_eq!(u64::from(record.waiting), (100 - 56) * (PAYLOAD + HEADER));
}

/// Two classes share the wire to a host, and acknowledgements of another message precede both.
#[test]
fn a_record_has_the_length_of_the_queue_of_its_class() {
    let pairs = messages(&[(0, 2), (1, 2), (2, 0)], 40 * PAYLOAD);
    let mut setup = setup(leaf_spine(1, 1, 3, 400), "ecmp", pairs);
    setup.nic.ack.every = 1;
    let setup = super::classes::with(setup, &[Scheduling::Weighted(1); 2], &[0, 1, 0]);
    let port = setup.topology.host_port(HostId(2)).reverse();
    // By class, followed by packets with priority.
    let (mut queues, mut most) = ([0; 3], [0; 3]);
    for record in records(&setup).iter().filter(|it| it.port == port) {
        let queue = match record.packet.flags.has(Flags::PRIORITY) {
            true => 2,
            false => record.packet.class().index(),
        };
        let bytes = u32::from(record.packet.wire_bytes);
        match record.event {
            // A packet received over a port's link is recorded with only the port's
            // acknowledgements.
            PacketEvent::Received => {
                assert!(u64::from(record.waiting) < PAYLOAD, "{record:?}");
                continue;
            }
            PacketEvent::Enqueued => {
                assert_eq!(record.waiting, queues[queue], "{record:?}");
                queues[queue] += bytes;
            }
            PacketEvent::Dequeued => {
                queues[queue] -= bytes;
                assert_eq!(record.waiting, queues[queue], "{record:?}");
            }
            PacketEvent::Dropped => panic!("there is room: {record:?}"),
        }
        most[queue] = most[queue].max(queues[queue]);
    }
    assert_eq!(queues, [0; 3]);
    assert!(most[0] > 50_000 && most[1] > 50_000 && most[2] > 0, "{most:?}");
}

#[test]
fn losses_at_other_nodes_are_not_recorded() {
    let mut setup = setup(leaf_spine(2, 1, 1, 400), "ecmp", messages(&[(0, 1)], 3 * PAYLOAD));
    let port = setup.topology.host_port(HostId(1)).reverse();
    let kind = FailureKind::Loss { rate: Fraction::ONE };
    let (direction, never) = (Direction::From(port), failure(port.link(), Time::NEVER, Span::MAX));
    setup.fabric.failures = vec![Failure { kind, direction, at: Time::ZERO, ..never }];
    setup.time_limit = Time::ZERO + Span::from_us(10);
    assert_eq!(run(&setup, &mut |_| {}).counters.dropped, 3);
    let records = records(&setup);
    let events: Vec<PacketEvent> = records.iter().map(|it| it.event).collect();
    let received = events.iter().filter(|&&it| it == PacketEvent::Received).count();
    assert_eq!((received, events.contains(&PacketEvent::Dropped)), (3, false), "{records:?}");
}
