//! Observation of a run: packet events at traced nodes, and samples of queues and links at given
//! times. Observation changes no result.

use super::outcome::PauseRecord;
use super::trace_buffer::PacketRecord;
use crate::endpoint::Endpoints;
use crate::ids::PortId;
use crate::topology::Node;
use crate::units::Time;

/// An observer of packets and counters.
pub trait Watch {
    /// True if packet events at this node are recorded.
    fn traces(&self, node: Node) -> bool;

    /// Returns the ports whose counters are sampled exactly.
    fn sampled_ports(&self) -> &[PortId];

    /// Returns the time of the next sample; [`Time::NEVER`] after the last one.
    fn next_sample(&self) -> Time;

    /// Takes a sample. No event precedes `next_event`: while no packet is queued, all samples
    /// before it are equal.
    fn sample(&mut self, now: Time, next_event: Time, snapshot: &Snapshot<'_>);

    /// Takes packet records of traced nodes, in order of time.
    fn take_records(&mut self, records: &[PacketRecord]);
}

/// State of a run before any packet starts or arrives at the time of a sample. Counters of ports
/// other than [`Watch::sampled_ports`] may be stale.
#[derive(Debug, Clone, Copy)]
pub struct Snapshot<'a> {
    /// Queued bytes without priority at each port, by port id. Excludes the packet on the wire and
    /// data that NICs have not sent yet.
    pub waiting: &'a [u32],
    /// Bytes of packets that have started on each port's wire, by port id.
    pub carried: &'a [u64],
    /// Hosts, with their NICs and the ledger of messages.
    pub endpoints: &'a Endpoints,
    /// Every pause and resume so far (PFC), in order of time.
    pub pauses: &'a [PauseRecord],
}
