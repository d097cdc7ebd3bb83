//! Collectives as NCCL runs them: its choice of algorithm, protocol and channels, and what each
//! step costs.
//!
//! Source: NVIDIA, NCCL 2.30.7 (github.com/NVIDIA/nccl): `graph/tuning.cc` for latencies, bandwidth
//! ceilings and the cost model, `graph/search.cc` and `graph/connect.cc` for rings, trees and
//! channels, `enqueue.cc` for channels and chunks of a size.
//!
//! [`Estimate`]s are NCCL's own cost model; the fastest is its choice. [`build`] turns a choice
//! into messages and delays, which the fabric simulates: latencies and ceilings come from the
//! model, transmission times from the fabric. Simplifications: consecutive GPUs of a server form
//! each ring and chain; NVLS loads every GPU's port with the model's bandwidth, without the switch;
//! reductions in the network (CollNet, SHARP) and PAT are not modelled.

mod build;
mod exchange;
mod layout;
mod model;
mod nvls;
mod ring;
mod tables;
#[cfg(test)]
mod tests;
mod tree;

pub use build::{NcclError, Run, build};
pub use layout::Layout;
pub use model::{Estimate, estimates};
pub use tables::{Algorithm, Cpu, Gpu, Protocol};

use crate::units::{BitRate, Bytes, Span};
use crate::workload::Operation;

/// An operation of NCCL, with the size that nccl-tests prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NcclOperation {
    /// Every rank has the sum of all vectors.
    AllReduce,
    /// Every rank has the blocks of all ranks.
    AllGather,
    /// Rank i has block i of the sum of all vectors.
    ReduceScatter,
    /// Every rank has the vector of rank 0.
    Broadcast,
    /// Rank 0 has the sum of all vectors.
    Reduce,
    /// Rank i has block i of every rank.
    AllToAll,
    /// Every rank sends its vector to the next rank.
    SendRecv,
}

impl NcclOperation {
    /// Every operation.
    pub const ALL: [Self; 7] = [
        Self::AllReduce,
        Self::AllGather,
        Self::ReduceScatter,
        Self::Broadcast,
        Self::Reduce,
        Self::AllToAll,
        Self::SendRecv,
    ];

    /// Returns the name in scenarios and results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::AllReduce => "all-reduce",
            Self::AllGather => "all-gather",
            Self::ReduceScatter => "reduce-scatter",
            Self::Broadcast => "broadcast",
            Self::Reduce => "reduce",
            Self::AllToAll => "all-to-all",
            Self::SendRecv => "send-recv",
        }
    }

    /// Returns the name of its nccl-tests program, without `_perf`.
    pub const fn test_name(self) -> &'static str {
        match self {
            Self::AllReduce => "all_reduce",
            Self::AllGather => "all_gather",
            Self::ReduceScatter => "reduce_scatter",
            Self::Broadcast => "broadcast",
            Self::Reduce => "reduce",
            Self::AllToAll => "alltoall",
            Self::SendRecv => "sendrecv",
        }
    }

    /// Returns true if NCCL sends and receives instead of choosing an algorithm.
    pub const fn is_point_to_point(self) -> bool {
        matches!(self, Self::AllToAll | Self::SendRecv)
    }

    /// Returns the steps of a ring.
    const fn ring_steps(self, ranks: u32) -> u32 {
        match self {
            Self::AllReduce => 2 * (ranks - 1),
            Self::AllGather | Self::ReduceScatter => ranks - 1,
            _ => ranks,
        }
    }

    /// Returns what nccl-tests' rates are computed from (`doc/PERFORMANCE.md`).
    pub fn rated(self, ranks: u32, bytes: Bytes) -> Operation {
        let bus_factor = match self {
            Self::AllReduce => (2 * (ranks - 1), ranks),
            Self::AllGather | Self::ReduceScatter | Self::AllToAll => (ranks - 1, ranks),
            Self::Broadcast | Self::Reduce | Self::SendRecv => (1, 1),
        };
        Operation { name: self.name(), ranks, bytes, bus_factor }
    }
}

/// The hardware that NCCL sees.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct System {
    /// Number of ranks, one per GPU.
    pub ranks: u32,
    /// Consecutive ranks that share a server, or a rack with NVLink; divides `ranks`.
    pub server: u32,
    /// Rate of a GPU's NVLink port in each direction; zero without NVLink.
    pub scale_up: BitRate,
    /// Rate of a GPU's NICs.
    pub nic: BitRate,
    /// One-way delay of the fabric, which NCCL's network latencies include.
    pub delay: Span,
    /// Generation of the GPUs.
    pub gpu: Gpu,
    /// Vendor of the CPUs.
    pub cpu: Cpu,
    /// True if NVSwitches reduce (NVLS).
    pub nvls: bool,
    /// True if messages cross rails within the server (PXN).
    pub relay: bool,
}

impl System {
    /// Returns the number of servers.
    pub const fn servers(&self) -> u32 {
        self.ranks / self.server
    }

    /// Returns the GPU's NVLink rate in GB/s.
    fn scale_up_gbytes(&self) -> f64 {
        self.scale_up.as_bps() as f64 / 8e9
    }

    /// Returns the rate at which a GPU reaches its NIC, in GB/s.
    fn nic_gbytes(&self) -> f64 {
        (self.nic.as_bps() as f64 / 8e9).min(self.gpu.pcie())
    }

    /// Returns the index of ceilings by number of servers: one, two, more.
    fn size_class(&self) -> usize {
        (self.servers() as usize - 1).min(2)
    }
}
