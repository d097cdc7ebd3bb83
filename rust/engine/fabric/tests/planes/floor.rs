//! The floor of MRC: values that stay in use regardless of losses.

use std::collections::BTreeMap;

use super::*;
use crate::packet::PacketKind;
use crate::topology::Node;

/// Entropy values of the data that a host sends, in order.
struct Sends(HostId, Vec<u16>);

impl Watch for Sends {
    fn traces(&self, node: Node) -> bool {
        node == Node::Host(self.0)
    }

    fn sampled_ports(&self) -> &[PortId] {
        &[]
    }

    fn next_sample(&self) -> Time {
        Time::NEVER
    }

    fn sample(&mut self, _now: Time, _next_event: Time, _snapshot: &Snapshot<'_>) {}

    fn take_records(&mut self, records: &[PacketRecord]) {
        let is_sent = |it: &&PacketRecord| {
            it.event == PacketEvent::Dequeued && it.packet.kind == PacketKind::Data
        };
        self.1.extend(records.iter().filter(is_sent).map(|it| it.packet.entropy));
    }
}

/// Values that a lone sender uses under `mrc` with these parameters. There are two planes with four
/// spines each, and every link between switches loses a tenth of the packets in both directions.
fn values_used(parameters: &str) -> Vec<u16> {
    let plane = LeafSpine { spines: 4, ..PLANE };
    let one = messages(&[(0, 3)], 4_000 * PAYLOAD);
    let mut setup = setup(planes(2, plane), "mrc", one);
    // Condemned values stay out: probes would come after the run.
    let all =
        format!("{parameters}\nencoding = \"ecmp\"\ncondemn = \"hole\"\nprobe_every = \"10ms\"");
    setup.scheme = build_scheme("mrc", &all.parse().unwrap()).unwrap();
    setup.nic.recovery = crate::nic::recovery::mrc::Config::by_round_trip().into();
    let kind = FailureKind::Loss { rate: Fraction::new(1, 10).unwrap() };
    let links = (0..).map(LinkId).take(setup.topology.links().len());
    let links: Vec<LinkId> = links.filter(|&it| setup.topology.is_fabric_link(it)).collect();
    let failures = down(links.into_iter(), Time::ZERO, Span::MAX);
    setup.fabric.failures =
        failures.into_iter().map(|failure| Failure { kind, ..failure }).collect();
    let mut sends = Sends(HostId(0), Vec::new());
    let observers = Observers { watch: Some(&mut sends), progress: &mut |_| {} };
    let outcome = drive(World::new(&setup), &mut FixedWorkload, observers);
    assert_eq!(outcome.verdict, Verdict::Completed, "{parameters}");
    assert!(outcome.counters.dropped > 400, "{parameters}");
    assert_eq!(sends.1.len() as u64, outcome.counters.sent, "{parameters}");
    sends.1
}

/// Number of uses of each value.
fn uses(values: &[u16]) -> BTreeMap<u16, u32> {
    let mut uses = BTreeMap::new();
    values.iter().for_each(|value| *uses.entry(*value).or_default() += 1);
    uses
}

/// Card of MRC, test 7.
#[test]
fn the_floor_stays_in_use_if_everything_is_lossy() {
    for floor in [1, 4, 16, 32] {
        let values = values_used(&format!("evs = 64\nactive = 48\nmin_active = {floor}"));
        // In each stretch of several rounds of the floor, at least that many values are used.
        let stretch = 4 * floor as usize;
        let least = values.chunks_exact(stretch).map(|chunk| uses(chunk).len()).min();
        assert!(least >= Some(floor as usize), "{floor}: {least:?}");
    }
}

/// Card of MRC, test 7.
#[test]
fn a_denied_value_is_never_used_whatever_the_others_lose() {
    let of = |denied: &str| {
        let values = format!("evs = 64\nactive = 48\nmin_active = 8\ndenied = {denied}");
        uses(&values_used(&values))
    };
    let (all, fewer) = (of("[]"), of("[0, 1, 2, 3, 4, 60, 61, 62]"));
    assert_eq!((all.len(), fewer.len()), (64, 56));
    // The remaining values are the same.
    assert!(fewer.keys().all(|value| all.contains_key(value)));
}

/// Card of MRC, test 7.
#[test]
fn a_floor_of_every_value_is_a_plain_rotation() {
    let values = values_used("evs = 64\nactive = 64\nmin_active = 64");
    let uses = uses(&values);
    let (least, most) = (uses.values().min().unwrap(), uses.values().max().unwrap());
    assert_eq!(uses.len(), 64);
    assert!(most - least <= 1, "{least} to {most}");
}
