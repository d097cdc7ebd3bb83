//! The flow files of SimCCL, SimAI's model of NCCL: the traffic of NCCL's algorithms, without a
//! GPU.
//!
//! Source: SimAI 1.7 and SimCCL (aliyun), whose models of NCCL 2.20 and 2.30 write
//! `ncclFlowModel_detailed_flows.csv`:
//!
//! ```text
//! collective,op,data_size,algorithm,protocol,channel_id,flow_id,src,dest,flow_size,chunk_id,...
//! TP_0_0_0_3_1000000,3,1000000,1,0,0,0,0,1,250000,0,6,RING,,3
//! TP_0_0_0_3_1000000,3,1000000,1,0,0,5,1,2,250000,1,6,RING,0,0
//! ```
//!
//! Rank i is host i. A file lists each distinct collective once. It does not say how often or when
//! the collective runs, so a workload is one collective, by name, or all of them in sequence. A
//! flow starts when all of its `parent_flow_ids` have been delivered to its `src`. A flow without
//! parents starts immediately if its `chunk_id` is 0. Otherwise, it starts when the previous flow
//! of the same ranks and channel completes at the sender. Flows that have the same ranks and
//! channel share a queue pair. `prev_flow_ids` lists ranks, not dependencies, and is ignored.
//!
//! `NVLS` and `NVLS_TREE` are rejected, because their rows name switches inside servers as ranks.
//! `PAT` is read with a warning, because its rows lack the parents that the algorithm has.

mod error;

use std::collections::{BTreeMap, BTreeSet};

use csv::{ReaderBuilder, StringRecord};

use crate::ids::HostId;
use crate::units::{Bytes, Span, Time};
use crate::workload::graph::{GraphFault, GraphTask, TaskGraph};
use crate::workload::{Message, Workload};
pub use error::{SimcclError, SimcclFault};

/// The columns that are read, present in the files of both models; that of 2.30 has more.
const COLUMNS: [&str; 11] = [
    "collective",
    "op",
    "channel_id",
    "flow_id",
    "src",
    "dest",
    "flow_size",
    "chunk_id",
    "chunk_count",
    "conn_type",
    "parent_flow_ids",
];

/// The `op` values of the collectives that the models write.
const OPERATIONS: [u64; 5] = [1, 2, 3, 4, 7];

/// The connection types whose rows are read.
const CONNECTIONS: [&str; 8] =
    ["RING", "PXN_INIT", "PXN", "PTP", "PTP_PXN_START", "PTP_PXN_END", "TREE_INIT", "PAT"];

/// The connection types that have switches as ranks.
const WITH_SWITCHES: [&str; 2] = ["NVLS", "NVLS_TREE"];

/// The highest rank: 2^24 − 1, the last of 2^24 hosts.
const LAST_RANK: u64 = (1 << 24) - 1;

/// The largest flow in bytes. SimCCL stores the sizes of some algorithms in 32 bits, but others may
/// have larger flows.
const MAX_BYTES: u64 = i64::MAX as u64;

/// The selection of a file's collectives to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice<'a> {
    /// The only collective of the file.
    Only,
    /// The collective with this name.
    Named(&'a str),
    /// All collectives, in order of the file. A rank starts one when it has sent and received
    /// everything of the previous one.
    InTurn,
}

/// The flows of one or more collectives as a workload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CollectiveFlows {
    /// The names of the collectives.
    pub collectives: Vec<String>,
    /// Number of ranks: one more than the highest.
    pub ranks: u32,
    /// The flows, in order of the file.
    pub workload: Workload,
    /// Notes for the user about the file.
    pub warnings: Vec<String>,
}

/// Parses the text of a flow file; `file` is its name in errors.
///
/// # Errors
/// Fails with the first error and its line.
pub fn read(text: &str, file: &str, choice: Choice<'_>) -> Result<CollectiveFlows, SimcclError> {
    let at = |(line, fault)| SimcclError { file: file.to_owned(), line, fault };
    let rows = rows(text).map_err(at)?;
    let chosen = choose(&rows, choice).map_err(|fault| at((1, fault)))?;
    let rows = rows.into_iter();
    let flows: Vec<Row> = rows.filter(|row| chosen.contains(&row.collective)).collect();
    flows_of(chosen, flows).map_err(at)
}

/// An error with its line.
type LineFault = (usize, SimcclFault);

/// A row of a file, which describes one flow.
#[derive(Debug)]
struct Row {
    line: usize,
    collective: String,
    channel: u32,
    flow: u64,
    src: HostId,
    dst: HostId,
    bytes: Bytes,
    chunk: u64,
    is_pat: bool,
    parents: Vec<u64>,
}

fn rows(text: &str) -> Result<Vec<Row>, LineFault> {
    let mut reader =
        ReaderBuilder::new().has_headers(false).flexible(true).from_reader(text.as_bytes());
    let mut columns: Option<BTreeMap<&str, usize>> = None;
    let mut rows = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|error| {
            let line = error.position().map_or(1, |position| position.line() as usize);
            (line, SimcclFault::Csv(error.to_string()))
        })?;
        let line = record.position().map_or(1, |position| position.line() as usize);
        match &columns {
            None => columns = Some(header(&record).map_err(|fault| (line, fault))?),
            Some(columns) => {
                let fields = Fields { columns, record: &record };
                rows.push(fields.row(line).map_err(|fault| (line, fault))?);
            }
        }
    }
    if columns.is_none() {
        return Err((1, SimcclFault::Column(COLUMNS[0])));
    }
    Ok(rows)
}

/// Returns the index of each column.
fn header(record: &StringRecord) -> Result<BTreeMap<&'static str, usize>, SimcclFault> {
    let place = |name: &'static str| {
        let found = record.iter().position(|column| column.trim() == name);
        found.map(|index| (name, index)).ok_or(SimcclFault::Column(name))
    };
    COLUMNS.into_iter().map(place).collect()
}

/// The fields of a row.
struct Fields<'a> {
    columns: &'a BTreeMap<&'static str, usize>,
    record: &'a StringRecord,
}

impl Fields<'_> {
    fn text(&self, column: &'static str) -> Result<&str, SimcclFault> {
        let found = self.record.get(self.columns[column]).map(str::trim);
        found.ok_or(SimcclFault::Short { column, found: self.record.len() })
    }

    fn number(&self, column: &'static str, [min, max]: [u64; 2]) -> Result<u64, SimcclFault> {
        number(column, self.text(column)?, [min, max])
    }

    fn row(&self, line: usize) -> Result<Row, SimcclFault> {
        let operation = self.number("op", [0, u64::MAX])?;
        if !OPERATIONS.contains(&operation) {
            return Err(SimcclFault::Operation(operation));
        }
        let connection = self.text("conn_type")?;
        if WITH_SWITCHES.contains(&connection) {
            return Err(SimcclFault::Switches(connection.to_owned()));
        }
        if !CONNECTIONS.contains(&connection) {
            return Err(SimcclFault::Connection(connection.to_owned()));
        }
        let rank = |column| self.number(column, [0, LAST_RANK]).map(|rank| HostId(rank as u32));
        let (src, dst) = (rank("src")?, rank("dest")?);
        if src == dst {
            return Err(SimcclFault::ToItself(src.0));
        }
        let chunk = self.number("chunk_id", [0, u32::MAX.into()])?;
        let chunks = self.number("chunk_count", [1, u32::MAX.into()])?;
        if chunk >= chunks {
            return Err(SimcclFault::Chunk { chunk, chunks });
        }
        let parents = self.text("parent_flow_ids")?.split(';').filter(|id| !id.trim().is_empty());
        let parent = |id: &str| number("parent_flow_ids", id.trim(), [0, u64::MAX]);
        Ok(Row {
            line,
            collective: self.text("collective")?.to_owned(),
            channel: self.number("channel_id", [0, u32::MAX.into()])? as u32,
            flow: self.number("flow_id", [0, u64::MAX])?,
            src,
            dst,
            bytes: Bytes::new(self.number("flow_size", [1, MAX_BYTES])?),
            chunk,
            is_pat: connection == "PAT",
            parents: parents.map(parent).collect::<Result<_, _>>()?,
        })
    }
}

fn number(column: &'static str, text: &str, [min, max]: [u64; 2]) -> Result<u64, SimcclFault> {
    let number = text.parse().ok().filter(|number| (min..=max).contains(number));
    number.ok_or_else(|| SimcclFault::Number { column, found: text.to_owned(), min, max })
}

/// Returns the names of the selected collectives, in order of the file.
fn choose(rows: &[Row], choice: Choice<'_>) -> Result<Vec<String>, SimcclFault> {
    let mut known = BTreeSet::new();
    let names: Vec<&str> =
        rows.iter().map(|row| row.collective.as_str()).filter(|&name| known.insert(name)).collect();
    let wanted = match (choice, names.as_slice()) {
        (_, []) => return Err(SimcclFault::NoFlows),
        (Choice::Only, [only]) => return Ok(vec![(*only).to_owned()]),
        (Choice::InTurn, all) => return Ok(all.iter().map(|&name| name.to_owned()).collect()),
        (Choice::Named(wanted), all) if all.contains(&wanted) => {
            return Ok(vec![wanted.to_owned()]);
        }
        (Choice::Named(wanted), _) => Some(wanted.to_owned()),
        (Choice::Only, _) => None,
    };
    let known = known.into_iter().map(str::to_owned).collect();
    Err(SimcclFault::Collective { wanted, known })
}

/// Builds the flows of the collectives and their dependencies.
fn flows_of(collectives: Vec<String>, rows: Vec<Row>) -> Result<CollectiveFlows, LineFault> {
    let mut graph = TaskGraph::default();
    let mut by_id: BTreeMap<u64, usize> = BTreeMap::new();
    for (index, row) in rows.iter().enumerate() {
        if let Some(first) = by_id.insert(row.flow, index) {
            let first = rows[first].line;
            return Err((row.line, SimcclFault::FlowTwice { flow: row.flow, first }));
        }
        let &Row { src, dst, bytes, channel: stream, .. } = row;
        graph.message(Message { src, dst, bytes, stream, start: Time::ZERO });
    }
    let before = flows_before(&rows);
    for (index, row) in rows.iter().enumerate() {
        let own = TaskGraph::nth_message(index);
        for &parent in &row.parents {
            let fault = |fault| (row.line, fault);
            let found = by_id.get(&parent).ok_or(fault(SimcclFault::NoParent { parent }))?;
            let dst = rows[*found].dst;
            if dst != row.src {
                let (dst, src) = (dst.0, row.src.0);
                return Err(fault(SimcclFault::Parent { parent, dst, src }));
            }
            graph.wait(TaskGraph::nth_message(*found), own);
        }
        if let Some(&before) = before.get(&index) {
            graph.wait(TaskGraph::nth_message(before), own);
        }
    }
    add_order(&collectives, &rows, &mut graph);
    let last = rows.last().map_or(1, |row| row.line);
    let workload = graph.finish().map_err(|fault| match fault {
        GraphFault::TooManyTasks => (last, SimcclFault::TooMuch("2^28 flows")),
        GraphFault::TooManyBytes => (last, SimcclFault::TooMuch("2^64 bytes in all")),
        GraphFault::Cycle(stuck) => {
            let waits =
                |index: &usize| stuck.binary_search(&TaskGraph::nth_message(*index)).is_ok();
            let first: Option<usize> = (0..rows.len()).find(waits);
            (first.map_or(last, |index| rows[index].line), SimcclFault::Cycle)
        }
    })?;
    let highest = rows.iter().map(|row| row.src.max(row.dst).0).max().unwrap_or(0);
    let warnings = warnings(&collectives, &rows);
    Ok(CollectiveFlows { collectives, ranks: highest + 1, workload, warnings })
}

/// Makes each rank's flows in a collective wait until the rank has sent and received everything of
/// the previous collective.
fn add_order(collectives: &[String], rows: &[Row], graph: &mut TaskGraph) {
    let mut of: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (index, row) in rows.iter().enumerate() {
        of.entry(row.collective.as_str()).or_default().push(index);
    }
    // Per rank, the end of the last collective so far.
    let mut ends: BTreeMap<HostId, GraphTask> = BTreeMap::new();
    for (place, name) in (1..).zip(collectives) {
        let flows = of.get(name.as_str()).map_or(&[][..], Vec::as_slice);
        for &index in flows {
            if let Some(&end) = ends.get(&rows[index].src) {
                graph.wait(end, TaskGraph::nth_message(index));
            }
        }
        if place == collectives.len() {
            return;
        }
        let mut own = BTreeMap::new();
        for &index in flows {
            for host in [rows[index].src, rows[index].dst] {
                let end = *own.entry(host).or_insert_with(|| graph.delay(host, Span::ZERO));
                graph.wait(TaskGraph::nth_message(index), end);
            }
        }
        ends.extend(own);
    }
}

/// Returns the flow that each flow without parents waits for: the previous one of the same ranks
/// and channel.
fn flows_before(rows: &[Row]) -> BTreeMap<usize, usize> {
    let mut order: Vec<usize> = (0..rows.len()).collect();
    let lane = |index: usize| {
        let row = &rows[index];
        (row.collective.as_str(), row.src, row.dst, row.channel)
    };
    order.sort_by_key(|&index| (lane(index), rows[index].chunk, rows[index].flow));
    let mut before = BTreeMap::new();
    for pair in order.windows(2) {
        let (earlier, later) = (pair[0], pair[1]);
        let waits = rows[later].parents.is_empty() && rows[later].chunk > 0;
        if waits && lane(earlier) == lane(later) {
            before.insert(later, earlier);
        }
    }
    before
}

fn warnings(collectives: &[String], rows: &[Row]) -> Vec<String> {
    let pat = rows.iter().find(|row| row.is_pat);
    let warning = |row: &Row| {
        format!(
            "line {}: PAT flows have no parent_flow_ids though the algorithm has dependencies, so \
             they start too early",
            row.line
        )
    };
    let order = (collectives.len() > 1).then(|| {
        format!(
            "the {} collectives run once each, in file order; the file does not say how often or \
             in which order they run",
            collectives.len()
        )
    });
    pat.map(warning).into_iter().chain(order).collect()
}

#[cfg(test)]
mod tests;
