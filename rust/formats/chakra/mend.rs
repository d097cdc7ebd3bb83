//! Adds missing stream order to traces: copies the files and adds the dependencies that they lack.

use std::collections::BTreeMap;
use std::io::{self, Write};

use prost::Message;

use super::error::{ChakraError, NodeFault};
use super::groups::RankGroups;
use super::schema::Node;
use super::stream::MessageReader;
use super::trace::RankTrace;
use super::{Options, TraceSource, open};

/// The reason why a trace cannot be mended.
#[derive(Debug, thiserror::Error)]
pub enum RepairError {
    /// The trace is invalid.
    #[error(transparent)]
    Trace(Box<ChakraError>),
    /// The recorded times of a trace contradict its dependencies.
    #[error("cannot order streams by their recorded times: {0}")]
    Times(Box<ChakraError>),
    /// The mended trace cannot be written.
    #[error("cannot write: {0}")]
    Write(#[from] io::Error),
}

impl From<ChakraError> for RepairError {
    fn from(error: ChakraError) -> Self {
        Self::Trace(Box::new(error))
    }
}

/// A trace together with the dependencies that order its streams.
#[derive(Debug)]
pub struct Repaired<'a> {
    source: &'a dyn TraceSource,
    rank: u32,
    /// The ids that each node is to depend on in addition, by the node's id.
    added: BTreeMap<u64, Vec<u64>>,
}

impl std::fmt::Debug for dyn TraceSource + '_ {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "traces such as {}", self.name(0))
    }
}

impl<'a> Repaired<'a> {
    /// Reads the trace of `rank` of `ranks` and finds the kernels that do not depend on their
    /// predecessor in the stream. They get that dependency if the trace has times.
    ///
    /// # Errors
    /// Fails for an invalid trace, and if the order by time contradicts its dependencies.
    pub fn read(
        source: &'a dyn TraceSource,
        rank: u32,
        ranks: u32,
        options: &Options,
    ) -> Result<Self, RepairError> {
        let in_file = |fault: NodeFault| fault.in_file(source.name(rank), rank);
        let from = open(source, rank).map_err(in_file)?;
        let trace = RankTrace::read(from, rank, ranks, options, &mut RankGroups::new());
        let trace = trace.map_err(in_file)?;
        let pairs = trace.unordered.iter().filter(|pair| pair.is_timed);
        let pairs: Vec<[u32; 2]> = pairs.map(|pair| [pair.before, pair.after]).collect();
        trace.with(&pairs).order().map_err(|fault| RepairError::Times(Box::new(in_file(fault))))?;
        let mut added: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
        for pair in pairs {
            let [before, after] = pair.map(|node| trace.nodes[node as usize].id);
            added.entry(after).or_default().push(before);
        }
        Ok(Self { source, rank, added })
    }

    /// Returns the number of kernels that get an additional dependency.
    pub fn kernels(&self) -> usize {
        self.added.len()
    }

    /// Writes the trace: a byte-by-byte copy with the dependencies added. They are data
    /// dependencies, because every reader follows those.
    ///
    /// # Errors
    /// Fails if the trace cannot be read again, or cannot be written.
    pub fn write(&self, to: &mut dyn Write) -> Result<(), RepairError> {
        let in_file = |fault: NodeFault| fault.in_file(self.source.name(self.rank), self.rank);
        let mut messages = MessageReader::new(open(self.source, self.rank).map_err(in_file)?);
        let mut is_node = false;
        while let Some((offset, bytes)) = messages.next_bytes().map_err(in_file)? {
            // The first message is the metadata of the file, not a node.
            let more = match std::mem::replace(&mut is_node, true) {
                true => self.more(offset, bytes).map_err(in_file)?,
                false => Vec::new(),
            };
            let mut length = Vec::new();
            prost::encoding::encode_varint((bytes.len() + more.len()) as u64, &mut length);
            for part in [&length, bytes, &more] {
                to.write_all(part)?;
            }
        }
        Ok(())
    }

    /// Returns the bytes to append to a node. Protobuf appends repeated fields to those already
    /// read.
    fn more(&self, offset: u64, bytes: &[u8]) -> Result<Vec<u8>, NodeFault> {
        let node: Node = MessageReader::<&[u8]>::decode(offset, bytes)?;
        let more = self
            .added
            .get(&node.id)
            .map(|ids| Node { data_dependencies: ids.clone(), ..Node::default() }.encode_to_vec());
        Ok(more.unwrap_or_default())
    }
}
