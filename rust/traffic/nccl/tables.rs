//! Constants of NCCL's cost model (`graph/tuning.cc`, `graph/topo.cc`, `graph/search.cc`).

use serde::{Deserialize, Serialize};

/// Generation of GPUs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Gpu {
    /// V100.
    Volta,
    /// A100.
    Ampere,
    /// H100, H200.
    #[default]
    Hopper,
    /// B200, GB200, GB300.
    Blackwell,
}

/// Vendor of CPUs, which decides ceilings of LL and the cost of posting to a NIC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cpu {
    /// x86 of Intel.
    #[default]
    Intel,
    /// x86 of AMD.
    Amd,
    /// Arm, such as Grace.
    Arm,
}

/// Algorithm of a collective.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Algorithm {
    /// Chains within servers, two binary trees between them.
    Tree,
    /// Rings over all ranks.
    Ring,
    /// Reduction in the NVSwitches of one server.
    Nvls,
    /// NVLS within servers, trees between them.
    NvlsTree,
}

impl Algorithm {
    /// Every algorithm, in NCCL's order.
    pub const ALL: [Self; 4] = [Self::Tree, Self::Ring, Self::Nvls, Self::NvlsTree];

    /// Returns the name in scenarios.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tree => "tree",
            Self::Ring => "ring",
            Self::Nvls => "nvls",
            Self::NvlsTree => "nvls-tree",
        }
    }
}

/// Protocol of a channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Protocol {
    /// 8 bytes with flags for each 8 bytes of data.
    Ll,
    /// 8 bytes of flags for each 120 bytes of data.
    Ll128,
    /// Chunks, then flags.
    Simple,
}

impl Protocol {
    /// Every protocol, in NCCL's order.
    pub const ALL: [Self; 3] = [Self::Ll, Self::Ll128, Self::Simple];

    /// Returns the name in scenarios.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ll => "ll",
            Self::Ll128 => "ll128",
            Self::Simple => "simple",
        }
    }

    /// Returns the bytes on the wire for these bytes of data.
    pub(super) fn wire_bytes(self, data: u64) -> u64 {
        match self {
            Self::Ll => data.saturating_mul(2),
            Self::Ll128 => data.div_ceil(120).saturating_mul(128),
            Self::Simple => data,
        }
    }

    /// Returns the bytes on the wire for each byte of data.
    pub(super) const fn inflation(self) -> f64 {
        match self {
            Self::Ll => 2.0,
            Self::Ll128 => 128.0 / 120.0,
            Self::Simple => 1.0,
        }
    }

    /// Returns the data of one step of a channel's buffer, in bytes (`init.cc`, 8 steps).
    pub(super) const fn step_bytes(self) -> u64 {
        match self {
            Self::Ll => 32_768,
            Self::Ll128 => 576_000,
            Self::Simple => 524_288,
        }
    }
}

impl Gpu {
    /// Rate of an x16 slot, in GB/s.
    pub(super) const fn pcie(self) -> f64 {
        match self {
            Self::Volta => 12.0,
            Self::Ampere => 24.0,
            Self::Hopper => 48.0,
            Self::Blackwell => 96.0,
        }
    }

    /// Rates of a channel that the search tries, in GB/s.
    pub(super) const fn speeds(self, one_server: bool) -> &'static [f64] {
        match (self, one_server) {
            (Self::Volta | Self::Ampere, true) => {
                &[40.0, 30.0, 20.0, 18.0, 15.0, 12.0, 10.0, 9.0, 7.0, 6.0, 5.0, 4.0, 3.0]
            }
            (Self::Volta | Self::Ampere, false) => &[
                48.0, 30.0, 28.0, 24.0, 20.0, 18.0, 15.0, 12.0, 10.0, 9.0, 7.0, 6.0, 5.0, 4.0, 3.0,
                2.4, 1.2, 0.24, 0.12,
            ],
            (Self::Hopper, true) => {
                &[60.0, 50.0, 40.0, 30.0, 24.0, 20.0, 15.0, 12.0, 11.0, 6.0, 3.0]
            }
            (Self::Hopper, false) => &[
                48.0, 45.0, 42.0, 40.0, 30.0, 24.0, 22.0, 20.0, 17.5, 15.0, 12.0, 6.0, 3.0, 2.4,
                1.2, 0.24, 0.12,
            ],
            (Self::Blackwell, true) => {
                &[90.0, 80.0, 70.0, 60.0, 50.0, 45.0, 40.0, 30.0, 24.0, 20.0, 19.0, 18.0]
            }
            (Self::Blackwell, false) => &[
                96.0, 86.0, 80.0, 48.0, 45.1, 42.0, 40.0, 30.0, 24.0, 22.0, 20.0, 17.5, 15.0, 12.0,
                6.0, 3.0, 2.4, 1.2, 0.24, 0.12,
            ],
        }
    }

    /// Efficiency of NVLS (`nvlsEfficiency`).
    pub(super) const fn nvls_efficiency(self) -> f64 {
        match self {
            Self::Volta | Self::Ampere => 0.0,
            Self::Hopper => 0.85,
            Self::Blackwell => 0.74,
        }
    }

    /// Ceilings by size class: row of the GPU in the tables below.
    const fn row(self) -> usize {
        self as usize
    }
}

/// `llMaxBws`, in GB/s.
pub(super) fn ll_ceiling(gpu: Gpu, cpu: Cpu, class: usize) -> f64 {
    const ROWS: [[f64; 3]; 4] =
        [[39.0, 39.0, 20.4], [87.7, 22.5, 19.0], [141.0, 45.0, 35.0], [282.0, 90.0, 70.0]];
    // Between servers the CPU decides.
    let row = match (class, cpu) {
        (0, _) => gpu.row(),
        (_, Cpu::Amd) => 1,
        (_, Cpu::Intel | Cpu::Arm) => 0,
    };
    ROWS[row][class]
}

/// `perChMaxRingLL128Bws`, in GB/s per channel.
pub(super) fn ring_ll128_ceiling(gpu: Gpu) -> f64 {
    [20.0, 20.0, 36.7, 40.0][gpu.row()]
}

/// `perChMaxTreeLL128Bws`, in GB/s per channel.
pub(super) fn tree_ll128_ceiling(gpu: Gpu, class: usize) -> f64 {
    const ROWS: [[f64; 3]; 4] = [[20.0; 3], [20.0; 3], [36.7, 36.7, 29.0], [55.6, 31.67, 20.0]];
    ROWS[gpu.row()][class]
}

/// `perChMaxTreeBws`, in GB/s per channel.
pub(super) fn tree_ceiling(gpu: Gpu, class: usize) -> f64 {
    const ROWS: [[f64; 3]; 4] =
        [[26.5, 18.5, 10.0], [24.0, 23.6, 17.8], [38.7, 41.4, 36.0], [70.0, 42.8, 24.0]];
    ROWS[gpu.row()][class]
}

/// `perChMaxNVLSTreeBws`, in GB/s per channel.
pub(super) fn nvls_tree_ceiling(gpu: Gpu, class: usize) -> f64 {
    const ROWS: [[f64; 3]; 4] =
        [[26.5, 18.5, 10.0], [24.0, 23.6, 17.8], [0.0, 57.7, 45.5], [0.0, 96.0, 80.0]];
    ROWS[gpu.row()][class]
}

/// Base latency of an algorithm and a protocol, in us. It includes the launch of the kernel.
pub(super) fn base_latency(algorithm: Algorithm, protocol: Protocol) -> f64 {
    match algorithm {
        Algorithm::Tree => [6.8, 14.0, 8.4][protocol as usize],
        Algorithm::Ring => [6.6, 14.0, 8.4][protocol as usize],
        Algorithm::Nvls | Algorithm::NvlsTree => 0.0,
    }
}

/// Latency of a step within a server, in us: NVLink, or PCIe.
pub(super) fn local_latency(algorithm: Algorithm, protocol: Protocol, nvlink: bool) -> f64 {
    let row = match (algorithm, nvlink) {
        (Algorithm::Tree, true) => [0.6, 1.25, 4.0],
        (Algorithm::Tree, false) => [1.0, 1.9, 4.0],
        (Algorithm::Ring, true) => [0.6, 1.9, 3.4],
        (Algorithm::Ring, false) => [1.0, 2.5, 5.7],
        (Algorithm::Nvls | Algorithm::NvlsTree, _) => [25.0; 3],
    };
    row[protocol as usize]
}

/// Latency of a step between servers, in us.
pub(super) fn network_latency(algorithm: Algorithm, protocol: Protocol) -> f64 {
    let row = match algorithm {
        Algorithm::Tree => [5.0, 8.5, 14.0],
        Algorithm::Ring => [2.7, 4.0, 14.0],
        Algorithm::Nvls => [18.0; 3],
        Algorithm::NvlsTree => [20.9; 3],
    };
    row[protocol as usize]
}

/// Time to post to a NIC, in us.
pub(super) fn posting(cpu: Cpu, protocol: Protocol) -> f64 {
    let post = if cpu == Cpu::Amd { 2.0 } else { 1.0 };
    if protocol == Protocol::Simple { 3.0 * post } else { post }
}

/// `treeCorrectionFactor`, by protocol and the binary logarithm of the size in units of 64 bytes;
/// 1 from `below` on.
pub(super) fn tree_correction(protocol: Protocol, bytes: u64, below: u32) -> f64 {
    const TENTHS: [[u8; 24]; 3] = [
        [10, 10, 10, 10, 9, 8, 7, 7, 7, 7, 6, 5, 4, 4, 5, 6, 7, 8, 9, 10, 10, 10, 10, 10],
        [10, 10, 10, 10, 10, 9, 8, 8, 8, 7, 6, 6, 6, 6, 6, 6, 8, 9, 9, 9, 9, 10, 10, 10],
        [9, 9, 9, 9, 9, 9, 9, 8, 7, 6, 6, 5, 5, 5, 5, 6, 7, 8, 7, 7, 8, 9, 9, 9],
    ];
    match (bytes / 64).checked_ilog2() {
        Some(step) if step < below => f64::from(TENTHS[protocol as usize][step as usize]) / 10.0,
        _ => 1.0,
    }
}
