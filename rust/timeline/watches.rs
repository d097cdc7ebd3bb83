//! Two observers of one run, each of which sees what it would see alone.

use crate::fabric::{PacketRecord, Snapshot, Watch};
use crate::ids::PortId;
use crate::topology::{Node, Topology};
use crate::units::Time;

/// Two observers as one.
pub struct Watches<'a> {
    topology: &'a Topology,
    pair: [&'a mut dyn Watch; 2],
    ports: Vec<PortId>,
}

impl<'a> Watches<'a> {
    /// Both observers of a run in a topology.
    pub fn new(topology: &'a Topology, pair: [&'a mut dyn Watch; 2]) -> Self {
        let mut ports: Vec<PortId> =
            pair.iter().flat_map(|watch| watch.sampled_ports().iter().copied()).collect();
        ports.sort_unstable();
        ports.dedup();
        Self { topology, pair, ports }
    }
}

impl Watch for Watches<'_> {
    fn traces(&self, node: Node) -> bool {
        self.pair.iter().any(|watch| watch.traces(node))
    }

    fn sampled_ports(&self) -> &[PortId] {
        &self.ports
    }

    fn next_sample(&self) -> Time {
        self.pair.iter().map(|watch| watch.next_sample()).min().unwrap_or(Time::NEVER)
    }

    fn sample(&mut self, now: Time, next_event: Time, snapshot: &Snapshot<'_>) {
        for watch in &mut self.pair {
            if watch.next_sample() == now {
                watch.sample(now, next_event, snapshot);
            }
        }
    }

    fn take_records(&mut self, records: &[PacketRecord]) {
        for watch in &mut self.pair {
            let is_traced =
                |record: &&PacketRecord| watch.traces(self.topology.ends_of(record.port).0);
            let own: Vec<PacketRecord> = records.iter().filter(is_traced).copied().collect();
            watch.take_records(&own);
        }
    }
}
