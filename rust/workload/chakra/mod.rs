//! Chakra execution traces: reading them as a workload, and writing any workload as traces.
//!
//! Source: Sridharan et al., "Chakra: Advancing Performance Benchmarking and Co-design using
//! Standardized Execution Traces", arXiv 2305.14516 (2023), and the schema of MLCommons Chakra;
//! versions 0.0.4 and 1.0.
//!
//! A trace is a file a rank: a graph of nodes. What they mean here:
//!
//! - *compute, memory and metadata nodes* take their recorded duration at their host. Only
//!   dependencies order them; what waits for nothing runs side by side. \[inferred: a trace of a
//!   run holds its order in its dependencies\]
//! - *sends* are messages. They are over when the sender knows that they have arrived.
//! - *receives* are matched with sends by sender, receiver and tag, in order of the files, and
//!   are over when the message is there and what they wait for is. A receive that waits for a
//!   send of its own rank is posted when that send begins and not when it is over: buffers are
//!   ready before, as with NCCL's and with RDMA writes. \[inferred\]
//! - *collectives* of a group (`pg_name`; all ranks if there is none) are matched by their order
//!   in the files and laid out by the algorithm that is chosen for their operation. `comm_size` is
//!   what a rank puts in, as in ASTRA-sim: an all-gather ends with as many times that as there are
//!   ranks. A rank's node is over when all that is for it has been delivered and all that it sends
//!   is complete. Among a single rank, it takes the time that was recorded. Roots are the group's
//!   first rank. \[inferred\] A collective node without `comm_type` is the host's call of it,
//!   which takes its duration.
//!
//! Files are read node by node, packed ones (gzip) as they are unpacked. What is held is the
//! graph: some 50 bytes a node and 8 a dependency, and the workload that is made of it. Pulling
//! nodes from the files while a run goes on is not there, so this graph has to fit into memory.

mod error;
mod expand;
mod lay_out;
mod schema;
mod stream;
mod trace;
mod write;

#[cfg(test)]
mod tests;

use std::io::{BufRead, BufReader, Read};

pub use error::{ChakraError, ChakraFault, Dependency};
pub use expand::Algorithms;
pub use write::{NotATrace, Traces};

use super::Workload;
use trace::{Groups, Placed, Trace};

/// Which dependencies of nodes count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Dependencies {
    /// Control and data dependencies.
    #[default]
    All,
    /// Data dependencies alone.
    Data,
}

/// Where traces are.
pub trait Source {
    /// What the file of a rank is called.
    fn name(&self, rank: u32) -> String;

    /// Opens the file of a rank.
    ///
    /// # Errors
    /// As the system says it.
    fn open(&self, rank: u32) -> std::io::Result<Box<dyn Read + '_>>;
}

/// What traces come to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChakraWorkload {
    /// Rank i is host i.
    pub workload: Workload,
    /// What is not as the traces have it.
    pub warnings: Vec<String>,
}

/// Reads the traces of `ranks` ranks.
///
/// # Errors
/// The first fault, with its rank, and its node and place where it has one.
pub fn read(
    source: &dyn Source,
    ranks: u32,
    (dependencies, algorithms): (Dependencies, &Algorithms),
) -> Result<ChakraWorkload, ChakraError> {
    let mut groups = Groups::new();
    let mut traces: Vec<Trace> = Vec::new();
    for rank in 0..ranks {
        let of_first = traces.first().filter(|_| source.name(rank) == source.name(0));
        let trace = match of_first {
            Some(first) => first.clone(),
            None => read_rank(source, (rank, ranks), (dependencies, &mut groups))
                .map_err(|placed| placed_in(source, rank, placed))?,
        };
        traces.push(trace);
    }
    let workload = lay_out::lay_out(&traces, &groups, algorithms)
        .map_err(|(rank, placed)| placed_in(source, rank, placed))?;
    Ok(ChakraWorkload { workload, warnings: warnings(&traces) })
}

fn read_rank(
    source: &dyn Source,
    (rank, ranks): (u32, u32),
    (dependencies, groups): (Dependencies, &mut Groups),
) -> Result<Trace, Placed> {
    let unreadable = |error: std::io::Error| match error.kind() {
        std::io::ErrorKind::NotFound => (None, None, ChakraFault::MissingRank),
        _ => (None, None, ChakraFault::Unreadable(error)),
    };
    let mut from = BufReader::new(source.open(rank).map_err(unreadable)?);
    let start = from.fill_buf().map_err(unreadable)?;
    // No trace begins so: it would be a message of 31 bytes, whose first field has no such number.
    if start.starts_with(&[0x1f, 0x8b]) {
        let unpacked = BufReader::new(flate2::bufread::MultiGzDecoder::new(from));
        return Trace::read(unpacked, ranks, (dependencies, groups));
    }
    Trace::read(from, ranks, (dependencies, groups))
}

fn placed_in(source: &dyn Source, rank: u32, (node, offset, fault): Placed) -> ChakraError {
    ChakraError { file: source.name(rank), rank, node, offset, fault }
}

fn warnings(traces: &[Trace]) -> Vec<String> {
    let mut warnings = Vec::new();
    let timeless: usize = traces.iter().map(|trace| trace.timeless).sum();
    if timeless > 0 {
        warnings.push(format!(
            "{timeless} compute nodes give their operations (num_ops) and no duration; they take \
             no time"
        ));
    }
    let empty: usize = traces.iter().map(|trace| trace.empty_sends).sum();
    if empty > 0 {
        warnings.push(format!("{empty} sends of 0 bytes are sent as 1 byte"));
    }
    warnings
}
