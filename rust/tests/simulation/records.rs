//! Tests of the check itself: it accepts the records of a run and detects every altered record.

use evenkeel::fabric::{
    self, FixedWorkload, Observers, Outcome, PacketEvent, PacketRecord, Setup, Snapshot, Watch,
    World,
};
use evenkeel::ids::PortId;
use evenkeel::invariants::{Invariants, Report};
use evenkeel::topology::Node;
use evenkeel::units::{Span, Time};

use crate::fabric_properties::parse;

const INCAST: &str = "time_limit = \"1ms\"\n\
     [topology]\nleaves = 2\nspines = 2\nhosts_per_leaf = 3\n\
     [switch]\nport_buffer = \"40KB\"\necn = { kmin = \"8KB\" }\n[policy]\nname = \"spray\"\n\
     [transport]\nretransmit_timeout = \"20us\"\n\
     [workload]\nkind = \"incast\"\nfan_in = 5\nbytes = \"60KB\"\n";

/// Stores the records of a run.
#[derive(Default)]
struct Kept(Vec<PacketRecord>);

impl Watch for Kept {
    fn traces(&self, _: Node) -> bool {
        true
    }

    fn sampled_ports(&self) -> &[PortId] {
        &[]
    }

    fn next_sample(&self) -> Time {
        Time::NEVER
    }

    fn sample(&mut self, _: Time, _: Time, _: &Snapshot<'_>) {}

    fn take_records(&mut self, records: &[PacketRecord]) {
        self.0.extend(records);
    }
}

fn recorded(setup: &Setup) -> (Vec<PacketRecord>, Outcome) {
    let mut kept = Kept::default();
    let observers = Observers { watch: Some(&mut kept), progress: &mut |_| {} };
    let outcome = fabric::drive(World::new(setup), &mut FixedWorkload, observers);
    (kept.0, outcome)
}

fn checked(setup: &Setup, records: &[PacketRecord], outcome: &Outcome) -> Report {
    let mut invariants = Invariants::new(setup);
    invariants.take_records(records);
    invariants.finish(outcome, Some(Span::ZERO))
}

/// Alters the record with the given index.
type Alter = fn(&mut Vec<PacketRecord>, usize);

/// The ways to alter one record of a run.
const ALTERATIONS: [(&str, Alter); 6] = [
    ("left out", |records, at| {
        records.remove(at);
    }),
    ("there twice", |records, at| records.insert(at, records[at])),
    ("of another packet", |records, at| records[at].packet.dst.0 ^= 1),
    ("of another length", |records, at| records[at].packet.wire_bytes += 1),
    ("at another port", |records, at| records[at].port = PortId(records[at].port.0 ^ 2)),
    ("later than what follows", |records, at| {
        records[at].at = records[at].at.saturating_add(Span::from_us(100));
    }),
];

#[test]
fn valid_records_pass_and_each_altered_one_is_detected() {
    let setup = parse(INCAST).setup();
    let (records, outcome) = recorded(&setup);
    assert_eq!(checked(&setup, &records, &outcome).violations, []);
    let events =
        [PacketEvent::Received, PacketEvent::Enqueued, PacketEvent::Dequeued, PacketEvent::Dropped];
    for event in events {
        assert!(records.iter().any(|record| record.event == event), "no {event:?}");
    }
    // Packets that wait in a NIC are not in a queue of the fabric.
    let node = |record: &PacketRecord| setup.topology.ends_of(record.port).0;
    let is_followed = |record: &PacketRecord| {
        record.event != PacketEvent::Enqueued || matches!(node(record), Node::Switch(_))
    };
    let indices: Vec<_> = (0..records.len()).filter(|&at| is_followed(&records[at])).collect();
    for (index, &at) in indices.iter().step_by(7).enumerate() {
        let (how, alter) = ALTERATIONS[index % ALTERATIONS.len()];
        let mut altered = records.clone();
        alter(&mut altered, at);
        let report = checked(&setup, &altered, &outcome);
        assert_ne!(report.count, 0, "record {at} {how}: {:?}", records[at]);
    }
}

/// A violation is reported with its time and place.
#[test]
fn a_violation_names_time_port_and_packet() {
    let setup = parse(INCAST).setup();
    let (mut records, outcome) = recorded(&setup);
    let at = records.iter().position(|record| record.event == PacketEvent::Dequeued).unwrap();
    let lost = records.remove(at);
    let report = checked(&setup, &records, &outcome);
    let first = report.violations[0].to_string();
    assert!(first.contains(" ps, "), "{first}");
    assert!(
        first.contains("but was not sent") || first.contains(" arrives instead of "),
        "{first}, {lost:?}"
    );
}
