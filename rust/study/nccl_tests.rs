//! Tables of nccl-tests: an operation at many sizes on a cluster, simulated.

use std::num::NonZeroUsize;

use schemars::JsonSchema;
use serde::Serialize;

use super::{Run, RunObservers, identity, lower_bound, map_in_order, run};
use crate::fabric::Verdict;
use crate::report::Rates;
use crate::scenario::{Scenario, ScenarioError};
use crate::units::{Bytes, Span};
use evenkeel_traffic::nccl::{Estimate, estimates};

/// The sizes of a table, from the smallest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NcclSizes {
    /// The first size.
    pub from: Bytes,
    /// The largest size.
    pub to: Bytes,
    /// The step from a size to the next.
    pub step: NcclStep,
}

/// The step between sizes of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NcclStep {
    /// Multiplies by this factor, at least 2.
    Factor(u64),
    /// Adds these bytes, at least 1.
    Add(Bytes),
}

impl NcclSizes {
    /// Returns every size.
    pub fn list(&self) -> Vec<Bytes> {
        let next = |bytes: &Bytes| match self.step {
            NcclStep::Factor(factor) => bytes.get().checked_mul(factor.max(2)).map(Bytes::new),
            NcclStep::Add(step) => bytes.get().checked_add(step.get().max(1)).map(Bytes::new),
        };
        std::iter::successors(Some(self.from), next).take_while(|bytes| *bytes <= self.to).collect()
    }
}

/// A row of a table.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct NcclRow {
    /// Size, as nccl-tests counts it.
    pub bytes: u64,
    /// Time of the operation; `null` if the run did not complete.
    pub time_ns: Option<f64>,
    /// Rates; `null` if the run did not complete.
    #[serde(flatten)]
    pub rates: Option<Rates>,
    /// Algorithm; `null` for operations that send and receive.
    pub algorithm: Option<String>,
    /// Protocol; `null` for operations that send and receive.
    pub protocol: Option<String>,
    /// Number of channels.
    pub channels: u32,
    /// Estimates of NCCL's cost model. The fastest is its choice.
    pub estimates: Vec<NcclEstimate>,
}

/// Time of an operation by NCCL's cost model.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct NcclEstimate {
    /// Algorithm.
    pub algorithm: &'static str,
    /// Protocol.
    pub protocol: &'static str,
    /// Part of the time that does not depend on the size.
    pub latency_ns: f64,
    /// Bandwidth of the rest.
    pub algbw_bytes_per_s: f64,
    /// Time of the operation.
    pub time_ns: f64,
}

impl From<Estimate> for NcclEstimate {
    fn from(estimate: Estimate) -> Self {
        Self {
            algorithm: estimate.algorithm.name(),
            protocol: estimate.protocol.name(),
            latency_ns: estimate.latency * 1e3,
            algbw_bytes_per_s: estimate.bandwidth * 1e9,
            time_ns: estimate.time * 1e3,
        }
    }
}

/// The table of an operation.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct NcclTable {
    /// Name of the cluster's scenario.
    pub cluster: String,
    /// Operation.
    pub operation: &'static str,
    /// Number of ranks, one per GPU.
    pub ranks: u32,
    /// Ranks per server.
    pub ranks_per_server: u32,
    /// One row per size.
    pub rows: Vec<NcclRow>,
    /// Mean of the bus bandwidths; `null` if no run completed.
    pub mean_busbw_bytes_per_s: Option<f64>,
}

/// Simulates the sizes of a table on at most `threads` threads. `at` reads the cluster's scenario
/// with a size: [`Scenario::nccl`] must not be `None`.
///
/// # Errors
/// Returns the error of the first size whose scenario is invalid.
///
/// # Panics
/// If there are no sizes, or the scenario is not of kind `nccl`.
pub fn nccl_tests(
    sizes: &[Bytes],
    threads: NonZeroUsize,
    at: &(dyn Fn(Bytes) -> Result<Scenario, ScenarioError> + Sync),
) -> Result<NcclTable, ScenarioError> {
    let rows = map_in_order(sizes.len(), threads, |index| at(sizes[index]).map(|it| row(&it)));
    let rows = rows.into_iter().collect::<Result<Vec<_>, _>>()?;
    let (cluster, operation, ranks, ranks_per_server) = rows[0].0.clone();
    let rows: Vec<NcclRow> = rows.into_iter().map(|(_, row)| row).collect();
    let rates: Vec<f64> =
        rows.iter().filter_map(|row| Some(row.rates.as_ref()?.busbw_bytes_per_s)).collect();
    let mean = rates.iter().sum::<f64>() / rates.len() as f64;
    let mean_busbw_bytes_per_s = (!rates.is_empty()).then_some(mean);
    let table =
        NcclTable { cluster, operation, ranks, ranks_per_server, rows, mean_busbw_bytes_per_s };
    Ok(table)
}

/// Name of the cluster, operation, ranks and ranks per server.
type Heading = (String, &'static str, u32, u32);

/// Simulates a size.
fn row(scenario: &Scenario) -> (Heading, NcclRow) {
    let (system, chosen) = scenario.nccl().expect("the caller gives scenarios of kind nccl");
    let setup = scenario.setup();
    let identity = identity(scenario);
    let input = Run {
        identity: &identity,
        setup: &setup,
        bound: lower_bound(&setup).time,
        fidelity: scenario.fidelity,
        threads: 1,
        traces: None,
    };
    let observers = RunObservers { watch: None, flows: &mut |_| {}, progress: &mut |_| {} };
    let (finished, outcome) = run(&input, observers).expect("no traces are read");
    let time = (finished.verdict == Verdict::Completed).then_some(outcome.cct).flatten();
    let chooses = !chosen.operation.is_point_to_point();
    let row = NcclRow {
        bytes: chosen.bytes.get(),
        time_ns: time.map(Span::as_ns_f64),
        rates: Rates::of(setup.workload.operation.as_ref(), time),
        algorithm: chooses.then(|| chosen.algorithm.name().to_owned()),
        protocol: chooses.then(|| chosen.protocol.name().to_owned()),
        channels: chosen.channels,
        estimates: estimates(&system, chosen.operation, chosen.bytes)
            .into_iter()
            .map(NcclEstimate::from)
            .collect(),
    };
    let heading = (scenario.name.clone(), chosen.operation.name(), system.ranks, system.server);
    (heading, row)
}
