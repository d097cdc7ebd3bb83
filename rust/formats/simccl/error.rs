//! Errors of SimCCL's flow files.

use thiserror::Error;

/// An error in a flow file, with its position.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{file}:{line}: {fault}")]
pub struct SimcclError {
    /// Name of the file.
    pub file: String,
    /// Line of the error, from 1.
    pub line: usize,
    /// The error, and what is expected instead.
    pub fault: SimcclFault,
}

/// An error in a flow file, and what is expected instead.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SimcclFault {
    /// The file is not CSV.
    #[error("not a table of comma-separated values: {0}")]
    Csv(String),
    /// The header lacks a column.
    #[error(
        "the header has no column {0}; expected SimCCL's ncclFlowModel_detailed_flows.csv, whose \
         first line is collective,op,data_size,..."
    )]
    Column(&'static str),
    /// A row ends early.
    #[error("the row ends before the column {column}, after {found} values")]
    Short {
        /// The first column that is missing.
        column: &'static str,
        /// Number of values in the row.
        found: usize,
    },
    /// A value is not a whole number, or is out of range.
    #[error("{column} '{found}' is not a whole number from {min} to {max}")]
    Number {
        /// Name of the column.
        column: &'static str,
        /// The value as given.
        found: String,
        /// The smallest allowed value.
        min: u64,
        /// The largest allowed value.
        max: u64,
    },
    /// The kind of the collective is unknown.
    #[error(
        "unknown op {0}; expected 1 (reduce-scatter), 2 (all-gather), 3 (all-reduce), 4 \
         (all-to-all) or 7 (broadcast)"
    )]
    Operation(u64),
    /// The kind of the connection is unknown.
    #[error(
        "unknown conn_type '{0}'; expected RING, PXN_INIT, PXN, PTP, PTP_PXN_START, PTP_PXN_END, \
         TREE_INIT or PAT"
    )]
    Connection(String),
    /// The flows of this kind begin or end at switches.
    #[error(
        "conn_type {0} names switches inside servers as ranks, but these are not hosts; write the \
         file without NVLS"
    )]
    Switches(String),
    /// Both ends of a flow are the same rank.
    #[error("a flow from rank {0} to itself; its ranks must differ")]
    ToItself(u32),
    /// The step is beyond the last one.
    #[error("chunk_id {chunk}, but chunk_count is {chunks}; chunks are 0 to {}", chunks - 1)]
    Chunk {
        /// The step as given.
        chunk: u64,
        /// The number of steps.
        chunks: u64,
    },
    /// The file has no flows.
    #[error("no flows; SimCCL writes no flows for a collective smaller than its number of parts")]
    NoFlows,
    /// The file has several collectives, or lacks the requested one.
    #[error("{}the file has {}", wanted_text(.wanted), some_of(.known))]
    Collective {
        /// The requested name.
        wanted: Option<String>,
        /// The names of the file's collectives.
        known: Vec<String>,
    },
    /// Two flows of a collective have the same id.
    #[error("duplicate flow_id {flow}; the first is in line {first}")]
    FlowTwice {
        /// The id that both flows have.
        flow: u64,
        /// Line of the first flow.
        first: usize,
    },
    /// A parent flow does not exist.
    #[error("unknown parent flow {parent}; parents are flows of the same collective")]
    NoParent {
        /// The id as given.
        parent: u64,
    },
    /// A parent flow arrives at another rank.
    #[error("parent flow {parent} goes to rank {dst}, but this flow starts at rank {src}")]
    Parent {
        /// The id of the parent.
        parent: u64,
        /// The rank where the parent arrives.
        dst: u32,
        /// The rank where this flow starts.
        src: u32,
    },
    /// The dependencies have a cycle.
    #[error("this flow never starts: it depends on itself through others")]
    Cycle,
    /// A limit is exceeded.
    #[error("the file exceeds the limit of {0}")]
    TooMuch(&'static str),
}

fn wanted_text(wanted: &Option<String>) -> String {
    match wanted {
        Some(wanted) => format!("unknown collective '{wanted}'; "),
        None => "several collectives; select one with collective = \"NAME\"; ".to_owned(),
    }
}

/// Lists the first few names.
fn some_of(names: &[String]) -> String {
    const SHOWN: usize = 8;
    let shown = names.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(SHOWN) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}
