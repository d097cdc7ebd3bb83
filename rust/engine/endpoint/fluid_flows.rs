//! Flows that the world carries whole, instead of packets of their NIC.
//!
//! A world without packets takes each flow here, and reports its delivery and its completion.
//! Messages, splitters, queue pairs and dependencies do not differ.

use std::collections::VecDeque;

use super::Endpoints;
use super::connections::ConnectionKey;
use super::sending::Put;
use crate::balance::sender::{Sender, SenderPolicy as _};
use crate::ids::HostId;
use crate::packet::{Flags, Packet, PacketKind};
use crate::split::Split as _;
use crate::units::{Bytes, Time};

/// The number of packets that a sender policy is asked for, to learn whether it spreads them.
const ASKED: usize = 8;

/// A flow that the world carries.
#[derive(Debug, Clone, Copy)]
pub struct FluidFlow {
    /// Its sender, receiver, label, entropy value and route, as in each of its data packets.
    pub packet: Packet,
    /// Its length.
    pub bytes: Bytes,
    /// The index of its queue pair, which carries its flows one after the other.
    pub connection: u32,
    /// Whether its sender gives its packets several entropy values.
    pub entropies: EntropyValues,
    /// Its record in the ledger, and its index among those of its queue pair.
    record: u32,
    index: u32,
}

/// The entropy values of a flow's packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntropyValues {
    /// All packets have the same.
    One,
    /// They differ.
    Several,
}

/// Flows that the world has not taken yet, in the order in which they were put on queue pairs.
pub(super) type FluidFlows = VecDeque<FluidFlow>;

impl Endpoints {
    /// Passes all later flows to the world: NICs send nothing.
    ///
    /// # Panics
    /// If a flow has been put on a queue pair already.
    pub fn hand_over_flows(&mut self) {
        assert!(self.ledger.flow_records() == 0, "no NIC has anything to send yet");
        self.fluid_flows.get_or_insert_default();
    }

    /// The next flow that the world is to carry, in the order of their starts.
    pub fn poll_fluid_flow(&mut self) -> Option<FluidFlow> {
        self.fluid_flows.as_mut()?.pop_front()
    }

    /// The receiver of a flow has all of it.
    pub fn deliver_flow(&mut self, now: Time, flow: &FluidFlow) {
        self.handle_delivered(now, flow.packet.dst, flow.connection, flow.index);
    }

    /// The sender of a flow has its last acknowledgement.
    pub fn complete_flow(&mut self, now: Time, flow: &FluidFlow) {
        self.handle_completed(now, flow.packet.src, flow.connection, flow.record);
    }

    /// A flow has waited for an acknowledgement in vain. If its sender moves it to another path,
    /// its splitter learns of that.
    pub fn handle_flow_timeout(&mut self, now: Time, flow: &mut FluidFlow) {
        let key = self.ledger.connections.as_slice()[flow.connection as usize].key();
        let mut policy = self.sender_policy(&key, flow.packet.entropy);
        let Some(failed) = policy.handle_timeout(now, flow.packet.entropy) else { return };
        let entropy = policy.entropy(now);
        (flow.packet.entropy, flow.packet.route) = (entropy, entropy);
        self.handle_failed_path(now, &key, failed.0);
    }

    /// Notes a flow for the world.
    pub(super) fn hand_over(&mut self, now: Time, put: Put) {
        let Put { record, connection, path, bytes } = put;
        let of_connection = &self.ledger.connections.as_slice()[connection as usize];
        let (key, index) = (of_connection.key(), of_connection.last_index());
        let flags = self.policies.of(key.stream).flags();
        let mut policy = self.sender_policy(&key, path);
        let values = [(); ASKED].map(|()| policy.entropy(now));
        let entropies = match values.iter().all(|value| *value == values[0]) {
            true => EntropyValues::One,
            false => EntropyValues::Several,
        };
        let packet = data_packet(&key, values[0], flags);
        let flow = FluidFlow { packet, bytes, connection, entropies, record, index };
        self.fluid_flows.as_mut().expect("flows are handed over").push_back(flow);
    }

    /// The policy of a queue pair as it is at first, on a path.
    fn sender_policy(&mut self, key: &ConnectionKey, path: u16) -> Sender {
        let context = self.context(key, path);
        let mut policy = self.policies.of(key.stream).scheme.sender.build(&context);
        self.inform_new(&mut policy, key);
        policy
    }

    /// The sender of a connection has left a path, which has failed.
    pub(super) fn handle_failed_path(&mut self, now: Time, key: &ConnectionKey, path: u16) {
        let edge = self.site.routes.edge_of(key.dst);
        let policy = self.policies.index_of(key.stream);
        let splitter = self.hosts[key.src.index()].splitters.of(policy);
        splitter.handle_failed_path(now, edge, path);
    }
}

/// What the data packets of a flow have in common.
fn data_packet(key: &ConnectionKey, entropy: u16, flags: Flags) -> Packet {
    let [src, dst]: [HostId; 2] = [key.src, key.dst];
    let (label, kind) = (key.label(), PacketKind::Data);
    Packet { src, dst, label, entropy, route: entropy, kind, flags, ..Packet::default() }
}
