//! Small fabrics and workloads for the tests of the bounds.

use super::{Cuts, Wire};
use crate::ids::HostId;
use crate::topology::{FatTree, LeafSpine, Topology, fixtures};
use crate::units::{BitRate, Bytes, Span, Time};
use crate::workload::{Message, Workload};

/// The packet sizes and the gap of arXiv 2507.21372.
pub(super) const OFAN: Wire = Wire {
    payload: Bytes::new(4_096),
    header: Bytes::new(62),
    ack: Bytes::new(64),
    ack_every: 1,
    ack_priority: true,
    gap: Bytes::new(20),
    forwarding_delay: Span::ZERO,
    cuts: Cuts::Never,
    takes_detours: false,
};

pub(super) fn fat_tree(k: u32, rate: BitRate) -> Topology {
    FatTree { host_rate: rate, fabric_rate: rate, ..fixtures::fat_tree(k) }.build().unwrap()
}

pub(super) fn leaf_spine(leaves: u32, spines: u32, hosts_per_leaf: u32, rate: BitRate) -> Topology {
    let shape = fixtures::leaf_spine(leaves, spines, hosts_per_leaf);
    LeafSpine { host_rate: rate, fabric_rate: rate, ..shape }.build().unwrap()
}

pub(super) fn flow(src: u32, dst: u32, bytes: u64) -> Message {
    let [src, dst] = [src, dst].map(HostId);
    Message { src, dst, bytes: Bytes::new(bytes), stream: 0, start: Time::ZERO }
}

pub(super) fn flows(messages: impl Iterator<Item = Message>) -> Workload {
    Workload::independent(messages.collect())
}
