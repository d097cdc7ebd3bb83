//! Chakra execution traces: reading them as a workload, and writing any workload as traces.
//!
//! Source: Sridharan et al., "Chakra: Advancing Performance Benchmarking and Co-design using
//! Standardized Execution Traces", arXiv 2305.14516 (2023), and the schema of MLCommons Chakra;
//! versions 0.0.4 and 1.0.
//!
//! A trace is a file a rank: a graph of nodes. What they mean here:
//!
//! - *compute, memory and metadata nodes* take their recorded duration at their host. Of compute
//!   nodes, one at a time runs on a rank's processor (`is_cpu_op`, which is taken for true where
//!   it is missing), one on its accelerator, and one memory node at a time: as ASTRA-sim has it
//!   (`HardwareResource.cc`), which replays Chakra traces since there are any. A trace holds the
//!   data that a node waits for, not that the unit is busy. Of those that are ready the first in
//!   the file goes first; ASTRA-sim goes by ids, which mostly ascend. That no two sends or
//!   collectives of a rank are under way at once, as there, is not followed: NICs and
//!   communicators do them side by side. With [`Compute::Parallel`], only dependencies order
//!   nodes.
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
//! Files are read node by node, packed ones (gzip) as they are unpacked. [`read`] makes a workload
//! of them, which holds some 50 bytes a node and 8 a dependency, and all messages. Traces larger
//! than memory are replayed while they are read: [`Streaming`] looks through them once, for who is
//! in which group and for what is wrong with them, and its [`Player`] holds a window of nodes of
//! each rank. Sends of each tag have queue pairs of their own, so that a trace that never uses a
//! tag twice needs as many as it has sends, however it is read.

mod error;
mod expand;
mod id_set;
mod assemble;
mod node;
mod player;
mod schema;
mod stream;
mod streaming;
mod survey;
mod trace;
mod write;

#[cfg(test)]
mod tests;

use std::io::{BufRead, BufReader, Read};

pub use error::{ChakraError, ChakraFault, Dependency};
pub use expand::Algorithms;
pub use player::{AHEAD, Player, Ticket};
pub use streaming::{Streaming, WINDOW};
pub use write::{NotATrace, Traces};

use super::{Compute, Workload};
use node::{Groups, Placed};
use trace::Trace;

/// Which dependencies of nodes count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Dependencies {
    /// Control and data dependencies.
    #[default]
    All,
    /// Data dependencies alone.
    Data,
}

/// What traces are taken for.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Which dependencies count.
    pub dependencies: Dependencies,
    /// How collectives are laid out.
    pub algorithms: Algorithms,
    /// Whether nodes that compute take turns.
    pub compute: Compute,
    /// Sizes of the dimensions of the logical topology that `involved_dim` is about, the one that
    /// varies fastest first; none if it is not known.
    pub dimensions: Vec<u32>,
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
    options: &Options,
) -> Result<ChakraWorkload, ChakraError> {
    let mut groups = Groups::new();
    let mut traces: Vec<Trace> = Vec::new();
    for rank in 0..ranks {
        // With dimensions, a rank's groups are its own.
        let may_share = options.dimensions.is_empty() && source.name(rank) == source.name(0);
        let of_first = traces.first().filter(|_| may_share);
        let trace = match of_first {
            Some(first) => first.clone(),
            None => read_rank(source, (rank, ranks), (options, &mut groups))
                .map_err(|placed| placed_in(source, rank, placed))?,
        };
        traces.push(trace);
    }
    let workload = assemble::lay_out(&traces, &groups, &options.algorithms)
        .map_err(|(rank, placed)| placed_in(source, rank, placed))?;
    Ok(ChakraWorkload { workload, warnings: warnings(&traces) })
}

fn read_rank(
    source: &dyn Source,
    place: (u32, u32),
    (options, groups): (&Options, &mut Groups),
) -> Result<Trace, Placed> {
    Trace::read(open(source, place.0)?, place, (options, groups))
}

/// Bytes that are read at once.
const AT_ONCE: usize = 1 << 16;

/// The file of a rank, unpacked.
fn open(source: &dyn Source, rank: u32) -> Result<Box<dyn BufRead + '_>, Placed> {
    let unreadable = |error: std::io::Error| match error.kind() {
        std::io::ErrorKind::NotFound => (None, None, ChakraFault::MissingRank),
        _ => (None, None, ChakraFault::Unreadable(error)),
    };
    let mut from = BufReader::with_capacity(AT_ONCE, source.open(rank).map_err(unreadable)?);
    let start = from.fill_buf().map_err(unreadable)?;
    // No trace begins so: it would be a message of 31 bytes, whose first field has no such number.
    if start.starts_with(&[0x1f, 0x8b]) {
        return Ok(Box::new(BufReader::new(flate2::bufread::MultiGzDecoder::new(from))));
    }
    Ok(Box::new(from))
}

fn placed_in(source: &dyn Source, rank: u32, (node, offset, fault): Placed) -> ChakraError {
    ChakraError { file: source.name(rank), rank, node, offset, fault }
}

fn warnings(traces: &[Trace]) -> Vec<String> {
    let timeless = traces.iter().map(|trace| trace.timeless).sum();
    warned(timeless, traces.iter().map(|trace| trace.empty_sends).sum())
}

/// The warnings for so many nodes without a duration, and sends without a byte.
fn warned(timeless: usize, empty: usize) -> Vec<String> {
    let mut warnings = Vec::new();
    if timeless > 0 {
        warnings.push(format!(
            "{timeless} compute nodes give their operations (num_ops) and no duration; they take \
             no time"
        ));
    }
    if empty > 0 {
        warnings.push(format!("{empty} sends of 0 bytes are sent as 1 byte"));
    }
    warnings
}
