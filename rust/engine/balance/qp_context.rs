//! A sender policy's knowledge of its queue pair and of the network.

use super::path_space::PathSpace;
use crate::ids::HostId;
use crate::rng::{Purpose, Stream, mix64};
use crate::units::Span;

/// Information that a policy receives when its queue pair is created.
#[derive(Debug, Clone, Copy)]
pub struct QpContext {
    /// Seed of the run.
    pub seed: u64,
    /// Id of the sending host.
    pub src: HostId,
    /// Id of the receiving host.
    pub dst: HostId,
    /// Index of the message stream between the two hosts.
    pub stream: u32,
    /// Index of the queue pair within the stream.
    pub qp_index: u32,
    /// Equal-cost choices at each tier on the way. Filled in under source routes and for policies
    /// that need them ([`super::sender::SenderPolicy::NEEDS_PATHS`]).
    pub paths: PathSpace,
    /// Path that the splitter assigned, under source routes.
    pub path: u16,
    /// Network parameters configured on the NIC.
    pub network: NetworkParameters,
}

/// Network parameters that an operator configures on a NIC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NetworkParameters {
    /// Round-trip time of a full packet and its acknowledgement on the longest idle path.
    pub base_rtt: Span,
    /// Number of full packets that line rate sends in `base_rtt`, rounded up.
    pub bdp_packets: u32,
    /// Time after which an unacknowledged packet is retransmitted.
    pub retransmit_timeout: Span,
    /// Whether switches trim packets to their headers instead of dropping them.
    pub trimming: Trimming,
    /// Number of ports of the NIC, each in its own plane. The plane of an entropy value is its
    /// remainder modulo this number; under source routes it is the lowest digit of the path.
    pub planes: u32,
}

/// Treatment of packets that do not fit into a switch's buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Trimming {
    /// The packet is dropped.
    #[default]
    Off,
    /// The packet is trimmed to its header, and the receiver reports it.
    On,
}

impl Default for NetworkParameters {
    /// A base round-trip time of 8 us at 400 Gbps with packets of 4 KiB, a retransmission timeout
    /// of 1 ms, and no trimming.
    fn default() -> Self {
        Self {
            base_rtt: Span::from_us(8),
            bdp_packets: 96,
            retransmit_timeout: Span::from_ms(1),
            trimming: Trimming::Off,
            planes: 1,
        }
    }
}

#[cfg(test)]
impl QpContext {
    /// Returns the context of a queue pair from host 0 to host 1 with a single path.
    pub(crate) fn for_test() -> Self {
        Self {
            seed: 1,
            src: HostId(0),
            dst: HostId(1),
            stream: 0,
            qp_index: 0,
            paths: PathSpace::SINGLE,
            path: 0,
            network: NetworkParameters::default(),
        }
    }
}

impl QpContext {
    /// Returns a key that identifies this queue pair among all others, for random streams.
    pub fn key(&self) -> u64 {
        let pair = u64::from(self.src.0) << 32 | u64::from(self.dst.0);
        // Mixing keeps host ids and stream indices from cancelling out.
        mix64(pair) ^ (u64::from(self.stream) << 32 | u64::from(self.qp_index))
    }

    /// Returns the queue pair's random stream for `purpose`.
    pub fn random(&self, purpose: Purpose) -> Stream {
        Stream::new(self.seed, purpose, self.key())
    }
}
