//! Chakra execution traces: reading them as a workload, and writing any workload as traces.
//!
//! Source: Sridharan et al., "Chakra: Advancing Performance Benchmarking and Co-design using
//! Standardized Execution Traces", arXiv 2305.14516 (2023), and the schema of MLCommons Chakra;
//! versions 0.0.4 and 1.0.
//!
//! A trace is one file per rank: a graph of nodes. Nodes have the following meaning:
//!
//! - *Compute, memory and metadata nodes* take their recorded duration at their host. A rank runs
//!   one compute node at a time on its processor (`is_cpu_op`, by default true), one on its
//!   accelerator, and one memory node at a time. ASTRA-sim, the first simulator to replay Chakra
//!   traces, does the same (`HardwareResource.cc`): a trace records the data that a node depends
//!   on, but not whether the unit is busy. The first ready node in the file runs first; ASTRA-sim
//!   orders them by id, which mostly ascends. ASTRA-sim also runs one send and one collective of a
//!   rank at a time; here they run in parallel, as on NICs and communicators. With
//!   [`Compute::Parallel`], only dependencies order nodes.
//! - *Sends* are messages. They complete when the delivery is acknowledged.
//! - *Receives* are matched with sends by sender, receiver and tag, in order of the files. They
//!   complete when the message is delivered and their dependencies are complete. A receive that
//!   depends on a send of its own rank is posted when that send starts, not when it completes:
//!   buffers are ready earlier, as with NCCL and with RDMA writes. \[inferred\]
//! - *Collectives* of a group (`pg_name`, else `comm_group`, by default all ranks) are matched by
//!   their order in the files, and sent by the algorithm selected for their operation. `comm_size`
//!   is the input of a rank, as in ASTRA-sim: the result of an all-gather is that size times the
//!   number of ranks. A rank's node completes when all messages to the rank are delivered and all
//!   of its own are complete. In a group of one rank it takes the recorded duration. The root is
//!   the first rank of the group. \[inferred\] A collective node with neither `comm_type` nor
//!   `comm_size` is the host's call of the collective and takes its duration.
//!
//! Files are read node by node, and gzip files are unpacked while they are read. [`read`] builds a
//! workload, which takes about 50 bytes per node, 8 per dependency, and all messages. Traces larger
//! than memory are replayed while they are read: [`Streaming`] surveys the files once for group
//! members and errors, and its [`Player`] holds a window of nodes of each rank. Sends of each tag
//! have their own queue pairs, so a trace with a different tag for each send needs as many queue
//! pairs as it has sends.

mod assemble;
mod error;
mod expand;
mod groups;
mod id_set;
mod kernels;
mod mend;
mod node;
mod player;
mod replay;
mod schema;
mod stream;
mod streaming;
mod survey;
mod tally;
mod trace;
mod write;

#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

use std::io::{BufRead, BufReader, Read};

pub use error::{ChakraError, ChakraFault, Dependency};
pub use expand::algorithms;
pub use mend::{RepairError, Repaired};
pub use player::{MessageOrigin, Player};
pub use replay::Replay;
pub use streaming::{Streaming, WINDOW};
pub use write::{NotATrace, Traces};

use crate::collective::Algorithms;
use crate::workload::{Compute, StepAfter, Workload};
use error::{NodeFault, RankFault};
use groups::{Call, RankGroups};
use node::NodeAction;
use tally::Tally;
use trace::RankTrace;

/// The dependencies of nodes that are followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Dependencies {
    /// Control and data dependencies.
    #[default]
    All,
    /// Data dependencies only.
    Data,
}

/// Options for interpreting traces.
#[derive(Debug, Clone)]
pub struct Options {
    /// The dependencies that are followed.
    pub dependencies: Dependencies,
    /// The collective algorithm of each operation in [`algorithms`].
    pub algorithms: Algorithms,
    /// Whether compute nodes on the same unit run one at a time.
    pub compute: Compute,
    /// Sizes of the dimensions of the logical topology that `involved_dim` refers to,
    /// fastest-varying first; empty if unknown.
    pub dimensions: Vec<u32>,
    /// The event that meets a dependency on a message from another host.
    pub step_after: StepAfter,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            dependencies: Dependencies::default(),
            algorithms: algorithms(),
            compute: Compute::default(),
            dimensions: Vec::new(),
            step_after: StepAfter::default(),
        }
    }
}

/// A source of trace files, one per rank.
pub trait TraceSource {
    /// Returns the name of a rank's file, for errors. Ranks with the same name share a file.
    fn name(&self, rank: u32) -> String;

    /// Opens the file of a rank.
    ///
    /// # Errors
    /// Fails if the file does not exist or cannot be opened.
    fn open(&self, rank: u32) -> std::io::Result<Box<dyn Read + '_>>;
}

/// The contents of traces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChakraWorkload {
    /// The workload; rank i is host i.
    pub workload: Workload,
    /// Differences from the traces as recorded.
    pub warnings: Vec<String>,
}

/// Reads the traces of `ranks` ranks.
///
/// # Errors
/// Fails with the first error and its position.
pub fn read(
    source: &dyn TraceSource,
    ranks: u32,
    options: &Options,
) -> Result<ChakraWorkload, ChakraError> {
    let mut groups = RankGroups::new();
    let mut traces: Vec<RankTrace> = Vec::new();
    for rank in 0..ranks {
        // With dimensions, the groups of ranks differ even where ranks share a file.
        let may_share = options.dimensions.is_empty() && source.name(rank) == source.name(0);
        let of_first = traces.first().filter(|_| may_share);
        let trace = match of_first {
            Some(first) => first.clone(),
            None => open(source, rank)
                .and_then(|from| RankTrace::read(from, rank, ranks, options, &mut groups))
                .map_err(|fault| fault.in_file(source.name(rank), rank))?,
        };
        traces.push(trace);
    }
    let workload = assemble::assemble(&traces, &groups, &options.algorithms)
        .map_err(|RankFault { rank, fault }| fault.in_file(source.name(rank), rank))?;
    let mut tally = Tally::default();
    traces.iter().for_each(|trace| tally += trace.tally);
    let workload = options.step_after.apply(workload);
    let single_rank_warning = groups.single_rank_warning(&members(&traces), ranks);
    let warnings = tally.warnings().into_iter().chain(single_rank_warning).collect();
    Ok(ChakraWorkload { workload, warnings })
}

/// Returns the number of ranks of each group that call collectives.
fn members(traces: &[RankTrace]) -> Vec<usize> {
    let mut ranks: Vec<(u32, u32)> = Vec::new();
    for (rank, trace) in (0u32..).zip(traces) {
        let groups = trace.nodes.iter().filter_map(|node| match node.action {
            NodeAction::Collective(Call { group, .. }) => Some(group),
            _ => None,
        });
        ranks.extend(groups.map(|group| (group, rank)));
        ranks.sort_unstable();
        ranks.dedup();
    }
    let groups = ranks.last().map_or(0, |&(last, _)| last as usize + 1);
    let mut members = vec![0; groups];
    ranks.iter().for_each(|&(group, _)| members[group as usize] += 1);
    members
}

/// Size of a file's read buffer in bytes.
const BUFFER: usize = 1 << 16;

/// Opens the file of a rank and unpacks it if it is compressed.
fn open(source: &dyn TraceSource, rank: u32) -> Result<Box<dyn BufRead + '_>, NodeFault> {
    let unreadable = |error: std::io::Error| {
        NodeFault::of_file(match error.kind() {
            std::io::ErrorKind::NotFound => ChakraFault::MissingRank,
            _ => ChakraFault::Unreadable(error),
        })
    };
    let mut from = BufReader::with_capacity(BUFFER, source.open(rank).map_err(unreadable)?);
    let start = from.fill_buf().map_err(unreadable)?;
    // No trace starts with the magic number of gzip: it would be a message of 31 bytes whose first
    // field has a number that is not in the schema.
    if start.starts_with(&[0x1f, 0x8b]) {
        return Ok(Box::new(BufReader::new(flate2::bufread::MultiGzDecoder::new(from))));
    }
    Ok(Box::new(from))
}
