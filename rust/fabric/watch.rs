//! Watching a run as it goes on: what happens to each packet at chosen nodes, and samples of
//! queues and links at chosen times. It changes nothing that happens.

use super::trace_buffer::PacketRecord;
use crate::endpoint::Endpoints;
use crate::ids::PortId;
use crate::topology::Node;
use crate::units::Time;

/// Someone who watches a run.
pub trait Watch {
    /// True if what happens to packets at this node is to be recorded.
    fn traces(&self, node: Node) -> bool;

    /// The ports whose counters it samples.
    fn sampled_ports(&self) -> &[PortId];

    /// When its next sample is due; [`Time::NEVER`] if it takes no more.
    fn next_sample(&self) -> Time;

    /// A sample is due. Nothing happens before `next_event`: samples up to then see the same, as
    /// long as nothing waits.
    fn sample(&mut self, now: Time, next_event: Time, snapshot: &Snapshot<'_>);

    /// What happened to packets at traced nodes, in order of time.
    fn take_records(&mut self, records: &[PacketRecord]);
}

/// The state of a run before anything starts or arrives at the time of a sample. Counters of ports
/// that the watch does not sample may lag behind.
#[derive(Debug, Clone, Copy)]
pub struct Snapshot<'a> {
    /// Bytes without priority that wait at each port, by port id. The packet on the wire does not
    /// wait, nor does what hosts have to send.
    pub waiting: &'a [u32],
    /// Bytes of packets that have started on each port's wire, by port id.
    pub carried: &'a [u64],
    /// The hosts, with their NICs and the ledger of messages.
    pub endpoints: &'a Endpoints,
}
