//! Flows that the driver carries whole instead of packets that NICs send.
//!
//! A driver without packets polls each flow here, and reports its delivery and its completion.
//! Messages, splitters, queue pairs and dependencies work as in a run with packets.

use std::collections::VecDeque;

use super::Endpoints;
use super::connections::ConnectionKey;
use super::sending::AssignedFlow;
use crate::balance::sender::{Sender, SenderPolicy as _};
use crate::ids::HostId;
use crate::packet::{Flags, Packet, PacketKind};
use crate::split::Split as _;
use crate::units::{Bytes, Time};

/// Number of packets for which a sender policy is probed, to learn whether it spreads them.
const PROBED_PACKETS: usize = 8;

/// A flow that the driver carries.
#[derive(Debug, Clone, Copy)]
pub struct FluidFlow {
    /// Sender, receiver, label, entropy value and route, as in each of the flow's data packets.
    pub packet: Packet,
    /// Length of the flow.
    pub bytes: Bytes,
    /// Index of the queue pair, which carries its flows one at a time.
    pub connection: u32,
    /// Whether the sender gives the packets different entropy values.
    pub entropies: EntropyValues,
    /// Index of its record in the ledger, and its index among the flows of its queue pair.
    record: u32,
    index: u32,
}

/// The entropy values of a flow's packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntropyValues {
    /// All packets have the same value.
    One,
    /// Packets have different values.
    Several,
}

/// Flows that the driver has not polled yet, in the order in which they were posted.
pub(super) type FluidFlows = VecDeque<FluidFlow>;

impl Endpoints {
    /// Passes all later flows to the driver. NICs then send nothing.
    ///
    /// # Panics
    /// If a flow has already been posted.
    pub fn hand_over_flows(&mut self) {
        assert!(
            self.ledger.flow_records() == 0,
            "flows must be handed over before the first one is posted"
        );
        self.fluid_flows.get_or_insert_default();
    }

    /// Returns the next flow for the driver to carry, in order of starts.
    pub fn poll_fluid_flow(&mut self) -> Option<FluidFlow> {
        self.fluid_flows.as_mut()?.pop_front()
    }

    /// Marks a flow as delivered: the receiver has all of it.
    pub fn deliver_flow(&mut self, now: Time, flow: &FluidFlow) {
        self.handle_delivered(now, flow.packet.dst, flow.connection, flow.index);
    }

    /// Marks a flow as completed: the sender has the last acknowledgement.
    pub fn complete_flow(&mut self, now: Time, flow: &FluidFlow) {
        self.handle_completed(now, flow.packet.src, flow.connection, flow.record);
    }

    /// Handles a retransmission timeout of a flow. If the sender moves it to another path, its
    /// splitter is notified of the failed one.
    pub fn handle_flow_timeout(&mut self, now: Time, flow: &mut FluidFlow) {
        let key = self.ledger.connections.as_slice()[flow.connection as usize].key();
        // A fluid flow keeps no policy state, so the policy is built anew on the current path.
        let mut policy = self.sender_policy(&key, flow.packet.entropy);
        let Some(failed) = policy.handle_timeout(now, flow.packet.entropy) else { return };
        let entropy = policy.entropy(now);
        (flow.packet.entropy, flow.packet.route) = (entropy, entropy);
        self.handle_failed_path(now, &key, failed.0);
    }

    /// Queues a flow for the driver.
    pub(super) fn queue_for_driver(&mut self, now: Time, flow: AssignedFlow) {
        let AssignedFlow { record, connection, path, bytes } = flow;
        let owner = &self.ledger.connections.as_slice()[connection as usize];
        let (key, index) = (owner.key(), owner.last_index());
        let flags = self.policies.of(key.stream).flags();
        let mut policy = self.sender_policy(&key, path);
        // A policy that returns one value for several packets in a row is taken to keep it.
        let values = [(); PROBED_PACKETS].map(|()| policy.entropy(now));
        let entropies = match values.iter().all(|value| *value == values[0]) {
            true => EntropyValues::One,
            false => EntropyValues::Several,
        };
        let packet = data_packet(&key, values[0], flags);
        let flow = FluidFlow { packet, bytes, connection, entropies, record, index };
        self.fluid_flows.as_mut().expect("flows are handed over").push_back(flow);
    }

    /// Builds the sender policy of a queue pair in its initial state, on `path`.
    fn sender_policy(&mut self, key: &ConnectionKey, path: u16) -> Sender {
        let context = self.context(key, path);
        let mut policy = self.policies.of(key.stream).scheme.sender.build(&context);
        self.notify_new_policy(&mut policy, key);
        policy
    }

    /// Notifies the splitter that the sender has left `path` because it failed.
    pub(super) fn handle_failed_path(&mut self, now: Time, key: &ConnectionKey, path: u16) {
        let edge = self.site.routes.edge_of(key.dst);
        let policy = self.policies.index_of(key.stream);
        let splitter = self.hosts[key.src.index()].splitters.of(policy);
        splitter.handle_failed_path(now, edge, path);
    }
}

/// Returns a packet with the fields that all data packets of a flow share.
fn data_packet(key: &ConnectionKey, entropy: u16, flags: Flags) -> Packet {
    let [src, dst]: [HostId; 2] = [key.src, key.dst];
    let (label, kind) = (key.label(), PacketKind::Data);
    Packet { src, dst, label, entropy, route: entropy, kind, flags, ..Packet::default() }
}
