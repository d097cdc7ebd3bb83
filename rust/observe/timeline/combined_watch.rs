//! Several observers of one run; each sees the same as it would see alone.

use crate::fabric::{PacketRecord, Snapshot, Watch};
use crate::ids::PortId;
use crate::topology::{Node, Topology};
use crate::units::Time;

/// Combines several observers into one.
pub struct CombinedWatch<'a> {
    topology: &'a Topology,
    all: Vec<&'a mut dyn Watch>,
    ports: Vec<PortId>,
}

impl<'a> CombinedWatch<'a> {
    /// Combines the observers of a run in a topology.
    pub fn new(topology: &'a Topology, all: Vec<&'a mut dyn Watch>) -> Self {
        let mut ports: Vec<PortId> =
            all.iter().flat_map(|watch| watch.sampled_ports().iter().copied()).collect();
        ports.sort_unstable();
        ports.dedup();
        Self { topology, all, ports }
    }
}

impl Watch for CombinedWatch<'_> {
    fn traces(&self, node: Node) -> bool {
        self.all.iter().any(|watch| watch.traces(node))
    }

    fn sampled_ports(&self) -> &[PortId] {
        &self.ports
    }

    fn next_sample(&self) -> Time {
        self.all.iter().map(|watch| watch.next_sample()).min().unwrap_or(Time::NEVER)
    }

    fn sample(&mut self, now: Time, next_event: Time, snapshot: &Snapshot<'_>) {
        for watch in &mut self.all {
            if watch.next_sample() == now {
                watch.sample(now, next_event, snapshot);
            }
        }
    }

    fn take_records(&mut self, records: &[PacketRecord]) {
        for watch in &mut self.all {
            let is_traced =
                |record: &&PacketRecord| watch.traces(self.topology.ends_of(record.port).0);
            let own: Vec<PacketRecord> = records.iter().filter(is_traced).copied().collect();
            watch.take_records(&own);
        }
    }
}
