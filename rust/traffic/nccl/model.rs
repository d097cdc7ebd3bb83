//! NCCL's cost model (`ncclTopoTuneModel`, `ncclTopoGetAlgoTime`), in us and GB/s.

use super::layout::MAX_HEADS;
use super::tables::{
    self, Algorithm, Cpu, Gpu, Protocol, base_latency, local_latency, network_latency, posting,
};
use super::{Layout, NcclOperation, System};
use crate::units::Bytes;

/// Time of an operation by NCCL's cost model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// The algorithm.
    pub algorithm: Algorithm,
    /// The protocol.
    pub protocol: Protocol,
    /// Latency, in us.
    pub latency: f64,
    /// Algorithm bandwidth, in GB/s.
    pub bandwidth: f64,
    /// Latency and transmission, in us.
    pub time: f64,
}

/// Returns the estimates of every algorithm and protocol that NCCL considers, in its order. The
/// fastest, the first among equals, is its choice. Empty for operations that send and receive.
pub fn estimates(system: &System, operation: NcclOperation, bytes: Bytes) -> Vec<Estimate> {
    let layout = Layout::of(system);
    let pairs = Algorithm::ALL
        .into_iter()
        .flat_map(|algorithm| Protocol::ALL.into_iter().map(move |protocol| (algorithm, protocol)));
    let offered = pairs.filter(|&(algorithm, protocol)| {
        is_offered(system, operation, algorithm) && is_usable(system, algorithm, protocol)
    });
    offered
        .map(|(algorithm, protocol)| {
            estimate(system, &layout, operation, (algorithm, protocol), bytes.get())
        })
        .collect()
}

/// Returns true if NCCL has this algorithm for the operation on this system.
pub(super) fn is_offered(system: &System, operation: NcclOperation, algorithm: Algorithm) -> bool {
    let reduces = operation == NcclOperation::AllReduce;
    let switches = system.nvls
        && system.gpu >= Gpu::Hopper
        && system.server > 1
        && Layout::of(system).head_speed > 0.0;
    let alone = system.servers() == 1;
    match algorithm {
        Algorithm::Ring => !operation.is_point_to_point(),
        Algorithm::Tree => reduces,
        Algorithm::Nvls => {
            let gathers =
                matches!(operation, NcclOperation::AllGather | NcclOperation::ReduceScatter);
            // A server with more ranks than heads reduces only whole vectors.
            switches && alone && (reduces || gathers && system.server <= MAX_HEADS)
        }
        Algorithm::NvlsTree => switches && !alone && reduces,
    }
}

/// Returns true if NCCL enables the protocol by default.
pub(super) fn is_usable(system: &System, algorithm: Algorithm, protocol: Protocol) -> bool {
    match (algorithm, protocol) {
        (_, Protocol::Simple) => true,
        (Algorithm::Nvls | Algorithm::NvlsTree, _) => false,
        (_, Protocol::Ll) => true,
        // Before Hopper, paths through other GPUs (PXN) disable it.
        (_, Protocol::Ll128) => {
            let through_peers = system.servers() > 1 && system.server > 1 && system.relay;
            system.gpu >= Gpu::Hopper || !through_peers
        }
    }
}

fn estimate(
    system: &System,
    layout: &Layout,
    operation: NcclOperation,
    (algorithm, protocol): (Algorithm, Protocol),
    bytes: u64,
) -> Estimate {
    let bus = bus_bandwidth(system, layout, operation, algorithm, protocol);
    let ranks = f64::from(system.ranks);
    let mut bandwidth = match algorithm {
        Algorithm::Tree => bus * 0.5,
        _ => bus * ranks / f64::from(operation.ring_steps(system.ranks)),
    };
    let is_x86 = matches!(system.cpu, Cpu::Intel | Cpu::Amd);
    match algorithm {
        Algorithm::Tree => bandwidth *= tables::tree_correction(protocol, bytes, 23),
        Algorithm::NvlsTree if system.gpu >= Gpu::Blackwell && is_x86 => {
            bandwidth *= tables::tree_correction(protocol, bytes, 24);
        }
        _ => {}
    }
    let latency = base(algorithm, protocol)
        + steps_latency(system, operation, algorithm, protocol)
            * plateau(system, layout, operation, (algorithm, protocol), bytes);
    let time = latency + bytes as f64 / (1_000.0 * bandwidth);
    Estimate { algorithm, protocol, latency, bandwidth, time }
}

/// Returns the bus bandwidth of all channels, in GB/s.
pub(super) fn bus_bandwidth(
    system: &System,
    layout: &Layout,
    operation: NcclOperation,
    algorithm: Algorithm,
    protocol: Protocol,
) -> f64 {
    let (class, gpu) = (system.size_class(), system.gpu);
    let found = f64::from(layout.found);
    let bus = found * layout.speed;
    let ll = tables::ll_ceiling(gpu, system.cpu, class);
    match (algorithm, protocol) {
        (Algorithm::Ring, Protocol::Ll) => ll.min(0.5 * bus),
        (Algorithm::Ring, Protocol::Ll128) => {
            (0.92 * bus).min(found * tables::ring_ll128_ceiling(gpu))
        }
        (Algorithm::Ring, Protocol::Simple) => bus,
        (Algorithm::Tree, _) => {
            let bus = (0.92 * bus).min(found * tables::tree_ceiling(gpu, class));
            match protocol {
                Protocol::Ll => (bus / 3.8).min(ll),
                Protocol::Ll128 => {
                    let data = if class == 0 { 7.0 / 9.0 } else { 120.0 / 128.0 };
                    (bus * data).min(found * tables::tree_ll128_ceiling(gpu, class))
                }
                Protocol::Simple => bus,
            }
        }
        (Algorithm::Nvls | Algorithm::NvlsTree, _) => {
            nvls_bandwidth(system, layout, operation, algorithm)
        }
    }
}

fn nvls_bandwidth(
    system: &System,
    layout: &Layout,
    operation: NcclOperation,
    algorithm: Algorithm,
) -> f64 {
    let heads = f64::from(layout.heads);
    let within = nvls_within(system, layout, operation);
    if algorithm == Algorithm::Nvls {
        return heads * within;
    }
    // Two servers reach each other in both directions at once.
    let both = if system.servers() <= 2 { 2.0 } else { 1.0 };
    let between = both * system.nic_gbytes().min(2.0 * layout.head_speed);
    let ceiling = tables::nvls_tree_ceiling(system.gpu, system.size_class());
    heads * within.min(between).min(ceiling)
}

/// Returns the bus bandwidth of a head of NVLS within its server, in GB/s.
fn nvls_within(system: &System, layout: &Layout, operation: NcclOperation) -> f64 {
    let heads = f64::from(layout.heads);
    let share = layout.head_speed * system.gpu.nvls_efficiency() * (heads - 1.0) / heads;
    let server = f64::from(system.server);
    match operation {
        NcclOperation::AllReduce => share * 2.0,
        _ => share * (server - 1.0) / server,
    }
}

/// Returns the algorithm bandwidth of NVLS within servers, in GB/s.
pub(super) fn nvls_algorithm_bandwidth(
    system: &System,
    layout: &Layout,
    operation: NcclOperation,
) -> f64 {
    let bus = f64::from(layout.heads) * nvls_within(system, layout, operation);
    bus * f64::from(system.ranks) / f64::from(operation.ring_steps(system.ranks))
}

/// Returns the latency that does not depend on the number of steps, in us.
pub(super) fn base(algorithm: Algorithm, protocol: Protocol) -> f64 {
    match algorithm {
        Algorithm::Nvls | Algorithm::NvlsTree => local_latency(algorithm, protocol, true),
        _ => base_latency(algorithm, protocol),
    }
}

/// Returns the latency of a step within a server and of one between servers, in us.
pub(super) fn step_latencies(
    system: &System,
    algorithm: Algorithm,
    protocol: Protocol,
) -> (f64, f64) {
    let local = local_latency(algorithm, protocol, system.scale_up.as_bps() > 0);
    // With one GPU a server, rings take the latency of trees.
    let network = match (algorithm, system.server) {
        (Algorithm::Ring, 1) => network_latency(Algorithm::Tree, protocol),
        _ => network_latency(algorithm, protocol),
    };
    let overhead = if system.servers() == 1 { 0.0 } else { posting(system.cpu, protocol) };
    match algorithm {
        Algorithm::Ring => (local.max(overhead), network),
        _ => (local, network),
    }
}

/// Returns the latency of all steps, in us.
fn steps_latency(
    system: &System,
    operation: NcclOperation,
    algorithm: Algorithm,
    protocol: Protocol,
) -> f64 {
    let (local, network) = step_latencies(system, algorithm, protocol);
    let servers = system.servers();
    let depth = f64::from(servers.ilog2());
    match algorithm {
        // Rings of one server are the same in every channel: one step is counted.
        Algorithm::Ring
            if matches!(operation, NcclOperation::Broadcast | NcclOperation::Reduce) =>
        {
            let step = if servers == 1 { local } else { network };
            match (servers, protocol) {
                (1, _) => step,
                (_, Protocol::Simple) => {
                    f64::from(system.ranks) * network_latency(Algorithm::Tree, protocol)
                }
                _ => f64::from(system.ranks) * step,
            }
        }
        Algorithm::Ring => {
            let steps = operation.ring_steps(system.ranks);
            let between = match operation {
                _ if servers == 1 => 0,
                NcclOperation::AllReduce => 2 * (servers - 1),
                _ => servers - 1,
            };
            f64::from(steps - between) * local + f64::from(between) * network
        }
        Algorithm::Tree => 2.0 * (f64::from(system.server - 1) * local + depth * network),
        Algorithm::Nvls => 0.0,
        Algorithm::NvlsTree => 2.0 * depth * network,
    }
}

/// Returns the factor of a ring's latency where large chunks fill the buffers (`Plateau effect`).
pub(super) fn plateau(
    system: &System,
    layout: &Layout,
    operation: NcclOperation,
    (algorithm, protocol): (Algorithm, Protocol),
    bytes: u64,
) -> f64 {
    let rings = u64::from(layout.channels) * u64::from(system.ranks);
    let applies = algorithm == Algorithm::Ring
        && protocol == Protocol::Simple
        && operation == NcclOperation::AllReduce
        && system.servers() > 1
        && bytes / rings >= 64;
    match (applies, system.gpu) {
        (false, _) => 1.0,
        (true, Gpu::Volta) => 1.9,
        (true, _) => 1.4,
    }
}
