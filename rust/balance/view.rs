//! What a switch policy is given.

use crate::ids::SwitchId;
use crate::rng::{Purpose, Stream};
use crate::units::{BitRate, Bytes};

/// What a policy may know of the switch it serves from the day that it is installed.
#[derive(Debug, Clone, Copy)]
pub struct SwitchContext {
    /// The run's seed.
    pub seed: u64,
    /// The switch: tells those of one run apart.
    pub id: SwitchId,
    /// Switch tiers between it and the hosts: 0 at the edge.
    pub tier: u8,
    /// How many ports it has.
    pub ports: u32,
    /// The rate of its fastest port.
    pub port_rate: BitRate,
    /// What waits at one port at most, of which thresholds are parts: the port's own buffer, or
    /// its share of a common one.
    pub port_buffer: Bytes,
}

impl SwitchContext {
    /// The stream that the policy draws from.
    pub(super) fn random(&self) -> Stream {
        Stream::new(self.seed, Purpose::SwitchPolicy, u64::from(self.id.0))
    }
}

#[cfg(test)]
impl SwitchContext {
    /// Edge switch 0 with 8 ports of 400 Gbps and 800 KB each.
    pub(crate) fn for_test() -> Self {
        Self {
            seed: 1,
            id: SwitchId(0),
            tier: 0,
            ports: 8,
            port_rate: BitRate::from_gbps(400),
            port_buffer: Bytes::new(800_000),
        }
    }
}

/// What a switch sees at the moment of a choice. Candidates are numbered from 0, in the order of
/// its routing table.
pub trait View {
    /// How many equal-cost ports there are to choose from: those that it does not know to be dead.
    fn candidates(&self) -> u32;

    /// The port behind a candidate, numbered from 0 over the switch: the same in all groups.
    fn port(&self, candidate: u32) -> u32;

    /// Bytes that wait at a candidate, and the packet that its wire is busy with. Only for policies with
    /// `LOOKS_AT_QUEUES`; 0 for others.
    fn bytes(&mut self, candidate: u32) -> u64;

    /// The edge switch of the packet's destination.
    fn edge(&self) -> SwitchId;

    /// The pod of the packet's destination: switches that hang together below the top tier.
    fn pod(&self) -> u32;

    /// Changes whenever routing, weights or the switch's own ports may have changed: tables that
    /// were made from candidates hold as long as it is the same.
    fn epoch(&self) -> u32 {
        0
    }

    /// The share that routing gives to a candidate; all are 1 while nothing has failed.
    fn weight(&self, _candidate: u32) -> u32 {
        1
    }

    /// How many entries the weighted schedule has, if weights differ: each candidate stands in it
    /// as many times as its weight, turn by turn.
    fn entries(&self) -> Option<u32> {
        None
    }

    /// The candidate at a place of that schedule.
    fn entry(&self, place: u32) -> u32 {
        place
    }
}

/// The view of one who knows no more than how many candidates there are: policies that decide by
/// headers alone need no more.
#[derive(Debug, Clone, Copy)]
pub struct Headers(
    /// Candidates.
    pub u32,
);

impl View for Headers {
    fn candidates(&self) -> u32 {
        self.0
    }

    fn port(&self, candidate: u32) -> u32 {
        candidate
    }

    fn bytes(&mut self, _candidate: u32) -> u64 {
        0
    }

    fn edge(&self) -> SwitchId {
        SwitchId(0)
    }

    fn pod(&self) -> u32 {
        0
    }
}

/// How a packet crosses a switch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Passage {
    /// The port that it leaves by, numbered from 0 over the switch.
    pub port: u32,
    /// The edge switch that it came into the fabric by.
    pub source_edge: SwitchId,
    /// The edge switch that it leaves the fabric by.
    pub edge: SwitchId,
}

/// What a policy keeps at run time, in one switch: what hardware would have to hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SwitchState {
    /// Entries: pointers of rotations, remembered ports, table cells.
    pub entries: u64,
    /// All of them, in bits.
    pub bits: u64,
}
