//! The records that cross the language boundary, each with the same name on both sides.
//!
//! C++ defines them in the public headers `fabric-packet.h`, `fabric-records.h` and
//! `fabric-verbs.h` of `ns3-module/evenkeel-fabric/model/`, with the same field order; a
//! test compares them.
//!
//! Times are picoseconds; [`u64::MAX`] is a time that never comes. Hosts, switches, links and ports
//! are ids from 0.

use cxx::{ExternType, kind, type_id};
use evenkeel_engine::endpoint::QpCounts;
use evenkeel_engine::fabric::NetworkCounters;
use evenkeel_engine::nic::NicCounters;

use super::enumerations::{
    FabricCompletionStatus, FabricMessageEventKind, FabricOpcode, FabricOperation,
    FabricPacketKind, FabricPfcOrder, FabricRounding, FabricWitness,
};

/// A packet on the wire: the fields of [`evenkeel_engine::packet::Packet`]. The upper eight bits of
/// `ack` are the traffic class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(C)]
pub(crate) struct FabricPacket {
    pub src: u32,
    pub dst: u32,
    pub qp: u32,
    pub label: u32,
    pub psn: u32,
    pub ack: u32,
    pub sack: u64,
    pub marked: u32,
    pub stamp: u32,
    pub wire_bytes: u16,
    pub entropy: u16,
    pub route: u16,
    pub kind: FabricPacketKind,
    pub flags: u8,
}

// C++ reads the same 48 bytes, so there must be no padding.
const _: () = assert!(size_of::<FabricPacket>() == 48);

/// An end of a link: a host or a switch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(C)]
pub(crate) struct FabricEnd {
    pub number: u32,
    pub is_host: bool,
}

/// A link, with the same rate and delay in each direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(C)]
pub(crate) struct FabricLink {
    pub a: FabricEnd,
    pub b: FabricEnd,
    pub rate_bps: u64,
    pub delay_ps: u64,
}

/// The settings of every switch and link of a fabric.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(C)]
pub(crate) struct FabricSettings {
    pub pfc: bool,
    pub pfc_pause_time_ps: u64,
    pub gap_bytes: u32,
    pub forwarding_delay_ps: u64,
    pub rounding: FabricRounding,
    pub ack_priority: bool,
    pub looks_at_queues: bool,
    pub time_limit_ps: u64,
}

/// A step of a failure: a part of the fabric reacts to it. For the wire, `rate_bps` is the rate of
/// packets that start later.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(C)]
pub(crate) struct FabricStep {
    pub at_ps: u64,
    pub witness: FabricWitness,
    pub link: u32,
    pub rate_bps: u64,
}

/// A flow: a message, or the piece of it that a splitter put on a queue pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(C)]
pub(crate) struct FabricFlow {
    pub message: u32,
    pub piece: u32,
    pub src: u32,
    pub dst: u32,
    pub bytes: u64,
    pub start_ps: u64,
    pub delivered_ps: u64,
    pub completed_ps: u64,
    pub source_port: u16,
}

/// An event of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(C)]
pub(crate) struct FabricMessageEvent {
    pub kind: FabricMessageEventKind,
    pub message: u32,
    pub src: u32,
    pub dst: u32,
    pub bytes: u64,
    pub start_ps: u64,
    pub at_ps: u64,
}

/// The settings of the queue pairs of programs: the depths of their queues, a sender's wait after
/// an RNR NAK, and the retries after consecutive RNR NAKs and timeouts. The largest number of
/// retries stands for no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(C)]
pub(crate) struct FabricQpSettings {
    pub send_queue: u32,
    pub receive_queue: u32,
    pub rnr_timer_ps: u64,
    pub rnr_retries: u32,
    pub retries: u32,
}

/// A work request. If it is not `signaled`, it has a completion only on failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(C)]
pub(crate) struct FabricWork {
    pub work_id: u64,
    pub bytes: u64,
    pub immediate: u32,
    pub operation: FabricOperation,
    pub signaled: bool,
}

/// A completion of a work request at its sender, or of a receive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(C)]
pub(crate) struct FabricCompletion {
    pub work_id: u64,
    pub bytes: u64,
    pub at_ps: u64,
    pub host: u32,
    pub qp: u32,
    pub immediate: u32,
    pub has_immediate: bool,
    pub opcode: FabricOpcode,
    pub status: FabricCompletionStatus,
}

/// A frame of priority flow control (PFC) that took effect at a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(C)]
pub(crate) struct FabricPause {
    pub at_ps: u64,
    pub port: u32,
    pub traffic_class: u32,
    pub order: FabricPfcOrder,
}

/// The counters of the fabric between the NICs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(transparent)]
pub(crate) struct FabricCounters(pub(crate) NetworkCounters);

/// The counters of a NIC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(transparent)]
pub(crate) struct FabricNicCounters(pub(crate) NicCounters);

/// The counts of queue pairs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(transparent)]
pub(crate) struct FabricQpCounts(pub(crate) QpCounts);

/// Declares the C++ struct that has the layout of a record.
macro_rules! shared_with_cpp {
    ($($record:ident as $name:literal),* $(,)?) => {
        $(
            #[allow(unsafe_code, reason = "a test compares the fields with those of C++")]
            unsafe impl ExternType for $record {
                type Id = type_id!($name);
                type Kind = kind::Trivial;
            }
        )*
    };
}

shared_with_cpp! {
    FabricPacket as "ns3::FabricPacket",
    FabricEnd as "ns3::FabricEnd",
    FabricLink as "ns3::FabricLink",
    FabricSettings as "ns3::FabricSettings",
    FabricStep as "ns3::FabricStep",
    FabricFlow as "ns3::FabricFlow",
    FabricMessageEvent as "ns3::FabricMessageEvent",
    FabricQpSettings as "ns3::FabricQpSettings",
    FabricWork as "ns3::FabricWork",
    FabricCompletion as "ns3::FabricCompletion",
    FabricCounters as "ns3::FabricCounters",
    FabricPause as "ns3::FabricPause",
    FabricNicCounters as "ns3::FabricNicCounters",
    FabricQpCounts as "ns3::FabricQpCounts",
}
