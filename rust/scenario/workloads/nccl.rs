//! Collectives as NCCL runs them.

use serde::{Deserialize, Serialize};

use super::pattern::DEFAULT_BYTES;
use super::{
    Bytes, Located, ResolvedWorkload, ScenarioError, Span, Work, WorkloadInputs, WorkloadKeys,
    section,
};
use crate::Scenario;
use crate::ids::{HostId, LinkId};
use crate::input::error::Fault;
use crate::input::section::named;
use crate::nccl::{Algorithm, Cpu, Gpu, NcclError, NcclOperation, Protocol, Run, System, build};
use crate::topology::{CrossRail, Routes, ScaleUp, Topology};
use crate::units::BitRate;

/// `algorithm` as written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AlgorithmName {
    /// The fastest by NCCL's cost model.
    Auto,
    /// [`Algorithm::Ring`].
    Ring,
    /// [`Algorithm::Tree`].
    Tree,
    /// [`Algorithm::Nvls`].
    Nvls,
    /// [`Algorithm::NvlsTree`].
    NvlsTree,
}

/// `protocol` as written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProtocolName {
    /// The fastest by NCCL's cost model.
    Auto,
    /// [`Protocol::Ll`].
    Ll,
    /// [`Protocol::Ll128`].
    Ll128,
    /// [`Protocol::Simple`].
    Simple,
}

named! { NcclOperation, AlgorithmName, ProtocolName, Gpu, Cpu }

section! {
    /// `kind = "nccl"`.
    pub struct NcclSection {
        /// Operation.
        operation?: NcclOperation = "all-reduce",
        /// Size as nccl-tests counts it: data of a rank; for all-gather, reduce-scatter and
        /// all-to-all, of all ranks.
        bytes: Bytes = DEFAULT_BYTES,
        /// Number of ranks (the first of `hosts`).
        ranks?: u32 = "all",
        /// Algorithm; `auto` is the fastest by NCCL's cost model.
        algorithm?: AlgorithmName = "auto",
        /// Protocol; `auto` is the fastest by NCCL's cost model.
        protocol?: ProtocolName = "auto",
        /// Channels, each with its own queue pairs.
        channels?: u32 = "NCCL's number for the size",
        /// Generation of the GPUs, which selects latencies and ceilings.
        gpu: Gpu = Gpu::default(),
        /// Vendor of the CPUs, which selects ceilings of LL and the cost of posting.
        cpu: Cpu = Cpu::default(),
        /// NVSwitches reduce (NVLS), from Hopper on.
        nvls: bool = true,
    }
}

impl Work for NcclSection {
    const NAME: &'static str = "nccl";
    const SUMMARY: &'static str = "A collective as NCCL runs it: its algorithm, protocol, \
                                   channels and latencies";
    const SOURCE: &'static str = "NCCL 2.30.7, graph/tuning.cc, graph/search.cc, enqueue.cc";

    fn resolve(&mut self, inputs: &WorkloadInputs<'_>) -> Result<ResolvedWorkload, ScenarioError> {
        let operation = self.operation.fill(NcclOperation::AllReduce);
        let system = self.system(inputs)?;
        let fault = |section: &Self, error: NcclError| {
            let key = match error {
                NcclError::NoBytes => section.bytes.key(),
                NcclError::NotOffered { .. } if section.algorithm.is_some() => {
                    section.algorithm.key()
                }
                NcclError::NotOffered { .. } => section.protocol.key(),
                NcclError::TooManyMessages { .. } if section.channels.is_some() => {
                    section.channels.key()
                }
                _ => section.ranks.key(),
            };
            inputs.context.fault(key, Fault::Nccl { key: key.to_string(), error })
        };
        self.check_keys(inputs, *operation)?;
        let chosen = Run::choose(
            &system,
            (*operation, *self.bytes),
            self.algorithm.and_then(algorithm),
            self.protocol.and_then(protocol),
            *self.channels,
        );
        let run = chosen.map_err(|error| fault(self, error))?;
        let workload = build(&system, &run).map_err(|error| fault(self, error))?;
        if !operation.is_point_to_point() {
            self.channels.fill(run.channels);
            self.algorithm.stand_for(name_of(run.algorithm));
            self.protocol.stand_for(name_of_protocol(run.protocol));
        }
        Ok(workload.into())
    }

    fn size(&self) -> Option<Located<String>> {
        Some(self.bytes.with(self.bytes.to_string()))
    }
}

impl NcclSection {
    /// Rejects channels of zero, and keys of a choice that sends and receives do not have.
    fn check_keys(
        &self,
        inputs: &WorkloadInputs<'_>,
        operation: NcclOperation,
    ) -> Result<(), ScenarioError> {
        if let Some(channels) = self.channels.given() {
            inputs.context.positive(&channels)?;
        }
        let given = [
            (self.algorithm.and_then(algorithm).is_some(), self.algorithm.key()),
            (self.protocol.and_then(protocol).is_some(), self.protocol.key()),
            (self.channels.is_some(), self.channels.key()),
        ];
        let given = given.into_iter().find(|(is_given, _)| *is_given);
        match given.filter(|_| operation.is_point_to_point()) {
            None => Ok(()),
            Some((_, key)) => {
                let because =
                    format!("{} sends and receives: NCCL chooses nothing", operation.name());
                Err(inputs.context.misplaced(key, because))
            }
        }
    }

    /// Returns the hardware that NCCL sees.
    fn system(&mut self, inputs: &WorkloadInputs<'_>) -> Result<System, ScenarioError> {
        let topology = inputs.shared.topology;
        let count = inputs.count();
        let ranks = *self.ranks.fill(count);
        if !(2..=count).contains(&ranks) {
            let expected = format!("it must be from 2 to the number of hosts, {count}");
            return Err(inputs.context.invalid(&self.ranks.with(ranks), expected));
        }
        let host = |rank: u32| match &inputs.hosts {
            Some(hosts) => hosts[rank as usize],
            None => HostId(rank),
        };
        self.system_on(topology, ranks, host).ok_or_else(|| {
            let expected = "a server's ranks must be consecutive, and servers equally full";
            match inputs.common.hosts.given() {
                Some(hosts) => inputs.context.invalid_as(hosts.key(), hosts.as_str(), expected),
                None => inputs.context.invalid_as(self.ranks.key(), ranks.to_string(), expected),
            }
        })
    }

    /// Returns the hardware of ranks on these hosts; `None` if servers are not equally full.
    fn system_on(
        &self,
        topology: &Topology,
        ranks: u32,
        host: impl Fn(u32) -> HostId,
    ) -> Option<System> {
        let scale_up = topology.scale_up();
        let server = scale_up.map_or(Some(1), |it| server_size(it, ranks, &host))?;
        let delay = match ranks > server {
            true => {
                let routes = Routes::new(topology, &|_: LinkId| true);
                routes.delay(host(0), host(server))
            }
            false => Span::ZERO,
        };
        Some(System {
            ranks,
            server,
            scale_up: scale_up.map_or(BitRate::from_bps(0), |it| it.rate),
            nic: topology.host_rate(host(0)),
            delay,
            gpu: *self.gpu,
            cpu: *self.cpu,
            nvls: *self.nvls,
            relay: scale_up.is_some_and(|it| it.cross_rail == CrossRail::Relay),
        })
    }
}

/// Returns the number of consecutive ranks per server; `None` if servers differ.
fn server_size(scale_up: &ScaleUp, ranks: u32, host: impl Fn(u32) -> HostId) -> Option<u32> {
    let server = |rank| scale_up.server_of(host(rank));
    let size = (0..ranks).take_while(|&rank| server(rank) == server(0)).count() as u32;
    let starts: Vec<u32> = (0..ranks).step_by(size as usize).map(server).collect();
    let is_full = (0..ranks).all(|rank| server(rank) == starts[(rank / size) as usize]);
    let mut distinct = starts.clone();
    distinct.sort_unstable();
    distinct.dedup();
    (is_full && ranks.is_multiple_of(size) && distinct.len() == starts.len()).then_some(size)
}

fn algorithm(name: AlgorithmName) -> Option<Algorithm> {
    match name {
        AlgorithmName::Auto => None,
        AlgorithmName::Ring => Some(Algorithm::Ring),
        AlgorithmName::Tree => Some(Algorithm::Tree),
        AlgorithmName::Nvls => Some(Algorithm::Nvls),
        AlgorithmName::NvlsTree => Some(Algorithm::NvlsTree),
    }
}

fn protocol(name: ProtocolName) -> Option<Protocol> {
    match name {
        ProtocolName::Auto => None,
        ProtocolName::Ll => Some(Protocol::Ll),
        ProtocolName::Ll128 => Some(Protocol::Ll128),
        ProtocolName::Simple => Some(Protocol::Simple),
    }
}

fn name_of(algorithm: Algorithm) -> AlgorithmName {
    match algorithm {
        Algorithm::Ring => AlgorithmName::Ring,
        Algorithm::Tree => AlgorithmName::Tree,
        Algorithm::Nvls => AlgorithmName::Nvls,
        Algorithm::NvlsTree => AlgorithmName::NvlsTree,
    }
}

fn name_of_protocol(protocol: Protocol) -> ProtocolName {
    match protocol {
        Protocol::Ll => ProtocolName::Ll,
        Protocol::Ll128 => ProtocolName::Ll128,
        Protocol::Simple => ProtocolName::Simple,
    }
}

impl Scenario {
    /// Returns the hardware and the run of a workload of kind `nccl`; `None` for other kinds, and
    /// if `hosts` places its ranks.
    pub fn nccl(&self) -> Option<(System, Run)> {
        let workload = self.file.workload.as_ref()?;
        let WorkloadKeys::Nccl(keys) = &workload.work else { return None };
        if workload.common.hosts.is_some() {
            return None;
        }
        let operation = keys.operation.unwrap_or(NcclOperation::AllReduce);
        let system = keys.system_on(&self.topology, (*keys.ranks)?, HostId)?;
        let chosen = (keys.algorithm.and_then(algorithm), keys.protocol.and_then(protocol));
        let run =
            Run::choose(&system, (operation, *keys.bytes), chosen.0, chosen.1, *keys.channels);
        Some((system, run.ok()?))
    }
}
