//! Connection matrices of htsim (`.cm`): flows that start at a given time or by a trigger.
//!
//! Source: htsim (csg-htsim), `sim/datacenter/connection_matrix.cpp`, and the files in its folder:
//!
//! ```text
//! Nodes 16
//! Connections 2
//! Triggers 1
//! 0->1 id 1 start 0 size 2000000 send_done_trigger 1
//! 0->2 id 2 trigger 1 size 2000000
//! trigger id 1 oneshot
//! ```
//!
//! Node i is host i; every connection has its own stream. [`StartUnit`] is the unit of `start`.
//! Decimals of a start are truncated, as in htsim. A line with `msg` and the `id` of an earlier
//! line is another message of that connection, in the same stream (uet-htsim with `-conn_reuse`).
//!
//! A connection activates its `send_done_trigger` when it completes at the sender, and its
//! `recv_done_trigger` when it is delivered. Connections that a trigger starts begin immediately,
//! at any host. A `oneshot` starts all of its connections at its only activation. A `barrier`
//! starts them after `count` activations. A `multishot` starts one of them at each activation, in
//! order of the file. A trigger with the wrong number of activations is rejected: htsim would stop
//! at it or never start some of its connections. `prio` has no effect; a warning says so if
//! connections differ in it. [`MatrixFailure`] describes links that fail.

mod error;
mod failure;
mod trigger;
mod write;

use serde::{Deserialize, Serialize};

use std::collections::BTreeMap;

use crate::ids::HostId;
use crate::units::{Bytes, Time};
use crate::workload::graph::{GraphFault, GraphTask, TaskGraph};
use crate::workload::{Message, Workload};
pub use error::{MatrixError, MatrixFault};
pub use failure::MatrixFailure;
use trigger::{Multishot, Trigger, TriggerEnd};
pub use write::{Connections, WrittenMatrix, write};

/// Maximum number of nodes of a matrix: 2^24.
const MAX_NODES: u64 = 1 << 24;

/// The latest start, in picoseconds: 100,000 s, the longest span of a scenario.
const LATEST_START: u64 = 100_000_000_000_000_000;

/// Starts in microseconds from this value on are suspected to be in picoseconds: 1 s, because
/// htsim's experiments are shorter. \[inferred\]
const SUSPECT_START: Time = Time::from_ps(1_000_000_000_000);

/// The unit of start times. A matrix does not state it, and htsim's programs differ.
///
/// Source: uet-htsim 40ccb05 and csg-htsim 841d9e7. `connection_matrix.cpp` reads a number, and the
/// transport of each program interprets it in its own unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StartUnit {
    /// Microseconds: `htsim_uec`, `htsim_eqds` and `htsim_roce` of uet-htsim, `htsim_swift` of both
    /// trees, and the matrices with starts in uet-htsim's tree.
    #[default]
    #[serde(rename = "us")]
    Microseconds,
    /// Picoseconds: `htsim_ndp` of both trees, `htsim_eqds` of csg-htsim, and the output of the
    /// scripts `gen_*.py` of both trees. (`htsim_hpcc` of both trees and `htsim_roce` of csg-htsim
    /// start every connection at time zero.)
    #[serde(rename = "ps")]
    Picoseconds,
}

impl StartUnit {
    const fn picoseconds(self) -> u64 {
        match self {
            Self::Microseconds => 1_000_000,
            Self::Picoseconds => 1,
        }
    }
}

/// A connection matrix as a workload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Matrix {
    /// Number of nodes that the file announces.
    pub nodes: u32,
    /// The connections, in order of the file.
    pub workload: Workload,
    /// Links that are down from the start.
    pub failures: Vec<MatrixFailure>,
    /// Differences from htsim's behaviour, one sentence each.
    pub warnings: Vec<String>,
}

/// Parses the text of a connection matrix; `file` is its name in errors.
///
/// # Errors
/// Fails with the first error and its line.
pub fn read(text: &str, file: &str, unit: StartUnit) -> Result<Matrix, MatrixError> {
    let at = |line, fault| MatrixError { file: file.to_owned(), line, fault };
    let mut reader = MatrixReader { unit, ..MatrixReader::default() };
    let mut last = 1;
    for (line, text) in (1..).zip(text.lines()) {
        let tokens: Vec<&str> = text.split_whitespace().collect();
        if tokens.is_empty() || tokens[0].starts_with('#') {
            continue;
        }
        reader.read_line(line, &tokens).map_err(|fault| at(line, fault))?;
        last = line;
    }
    reader.finish(last).map_err(|(line, fault)| at(line, fault))
}

/// An error with its line.
type LineFault = (usize, MatrixFault);

/// A reader that accumulates the contents of the lines read so far.
#[derive(Debug, Default)]
struct MatrixReader {
    unit: StartUnit,
    nodes: Option<u32>,
    announced: Option<u64>,
    connections: Vec<ConnectionLine>,
    /// The first message of each connection with an id, as an index into `connections`.
    ids: BTreeMap<u64, usize>,
    triggers: BTreeMap<u64, Trigger>,
    announced_triggers: Option<u64>,
    announced_failures: Option<u64>,
    failures: Vec<MatrixFailure>,
    /// The first line with a start that has non-zero decimals.
    cut: Option<usize>,
}

#[derive(Debug)]
struct ConnectionLine {
    line: usize,
    message: Message,
    words: ConnectionWords,
}

/// The words that follow the nodes on a connection's line.
#[derive(Debug, Clone, Copy, Default)]
struct ConnectionWords {
    /// The start in picoseconds.
    start: Option<u64>,
    /// True if the start has non-zero decimals.
    is_cut: bool,
    size: Option<u64>,
    id: Option<u64>,
    prio: Option<u64>,
    /// True if the line has the word `msg`.
    is_message: bool,
    /// The trigger that starts the connection.
    started_by: Option<u64>,
    send_done: Option<u64>,
    receive_done: Option<u64>,
}

impl ConnectionWords {
    /// Reads the word at `index` with its value and returns the number of tokens consumed.
    fn read(
        &mut self,
        tokens: &[&str],
        index: usize,
        unit: StartUnit,
    ) -> Result<usize, MatrixFault> {
        match tokens[index] {
            "start" => {
                set_once(tokens[index], &mut self.start, start(tokens, index, unit)?)?;
                let decimals =
                    tokens[index + 1].split_once('.').map_or("", |(_, decimals)| decimals);
                self.is_cut = decimals.bytes().any(|digit| digit != b'0');
            }
            "size" => parse_once(tokens, index, u64::MAX, &mut self.size)?,
            "id" => set_once(tokens[index], &mut self.id, id(tokens, index)?)?,
            "msg" => {
                // The optional number after `msg` has no effect.
                self.is_message = true;
                let number = tokens.get(index + 1).is_some_and(|it| it.parse::<i64>().is_ok());
                return if number { id(tokens, index).map(|_| 2) } else { Ok(1) };
            }
            "trigger" => set_once(tokens[index], &mut self.started_by, id(tokens, index)?)?,
            "send_done_trigger" => {
                set_once(tokens[index], &mut self.send_done, id(tokens, index)?)?
            }
            "recv_done_trigger" => {
                set_once(tokens[index], &mut self.receive_done, id(tokens, index)?)?;
            }
            "prio" => parse_once(tokens, index, u64::MAX, &mut self.prio)?,
            other => return Err(MatrixFault::Word(other.to_owned())),
        }
        Ok(2)
    }
}

impl MatrixReader {
    fn read_line(&mut self, line: usize, tokens: &[&str]) -> Result<(), MatrixFault> {
        if let ("Nodes" | "Connections" | "Triggers" | "Failures", Some(rest)) =
            (tokens[0], tokens.get(2))
        {
            let (word, rest) = (tokens[0].to_owned(), (*rest).to_owned());
            return Err(MatrixFault::Rest { word, rest });
        }
        match tokens[0] {
            "Nodes" => match (value(tokens, 0, MAX_NODES)? as u32, self.nodes) {
                (0, _) => return Err(MatrixFault::ZeroNodes),
                (nodes, None) => self.nodes = Some(nodes),
                (_, Some(first)) => return Err(MatrixFault::NodesTwice(first)),
            },
            "Connections" => parse_once(tokens, 0, u64::MAX, &mut self.announced)?,
            "Triggers" => parse_once(tokens, 0, u64::MAX, &mut self.announced_triggers)?,
            "Failures" => parse_once(tokens, 0, u64::MAX, &mut self.announced_failures)?,
            "failure" => self.failures.push(MatrixFailure::read(line, tokens)?),
            "trigger" => {
                let (id, trigger) = Trigger::read(line, tokens)?;
                if let Some(first) = self.triggers.insert(id, trigger) {
                    return Err(MatrixFault::TriggerTwice { id, first: first.line });
                }
            }
            pair if pair.contains("->") => self.connection(line, tokens)?,
            other => return Err(MatrixFault::Line(other.to_owned())),
        }
        Ok(())
    }

    fn connection(&mut self, line: usize, tokens: &[&str]) -> Result<(), MatrixFault> {
        let (src, dst) = tokens[0].split_once("->").unwrap_or((tokens[0], ""));
        let [src, dst] = [self.node(src)?, self.node(dst)?];
        if src == dst {
            return Err(MatrixFault::ToItself(src));
        }
        let mut words = ConnectionWords::default();
        let mut index = 1;
        while index < tokens.len() {
            index += words.read(tokens, index, self.unit)?;
        }
        let ConnectionWords { start, size, id, is_message, .. } = words;
        if start.is_some() == words.started_by.is_some() {
            return Err(MatrixFault::Start);
        }
        let bytes = match size.ok_or(MatrixFault::NoSize)? {
            0 => return Err(MatrixFault::Unbounded),
            size => Bytes::new(size),
        };
        if words.is_cut {
            self.cut = self.cut.or(Some(line));
        }
        let (src, dst) = (HostId(src), HostId(dst));
        let stream = self.stream(id, is_message, [src, dst])?;
        let start = Time::from_ps(start.unwrap_or(0));
        let message = Message { src, dst, bytes, stream, start };
        self.connections.push(ConnectionLine { line, message, words });
        Ok(())
    }

    /// Returns the stream of a message, which is that of its connection.
    fn stream(
        &mut self,
        id: Option<u64>,
        is_message: bool,
        ends: [HostId; 2],
    ) -> Result<u32, MatrixFault> {
        let own = self.connections.len();
        let first = match (id, is_message) {
            (None, false) => own,
            (None, true) => return Err(MatrixFault::MessageWithoutId),
            (Some(id), _) => *self.ids.entry(id).or_insert(own),
        };
        let Some(connection) = self.connections.get(first) else { return Ok(own as u32) };
        let ConnectionLine { line: first, message, .. } = connection;
        let id = id.unwrap_or_default();
        if !is_message {
            return Err(MatrixFault::IdTwice { id, first: *first });
        }
        if [message.src, message.dst] != ends {
            let [src, dst] = [message.src.0, message.dst.0];
            return Err(MatrixFault::OtherEnds { id, first: *first, src, dst });
        }
        Ok(message.stream)
    }

    fn node(&self, text: &str) -> Result<u32, MatrixFault> {
        let nodes = self.nodes.ok_or(MatrixFault::NoNodes)?;
        let node = text.parse().ok().filter(|&node: &u32| node < nodes);
        node.ok_or_else(|| MatrixFault::Node { node: text.to_owned(), nodes })
    }

    /// Builds the matrix once the `last` line has been read.
    fn finish(self, last: usize) -> Result<Matrix, LineFault> {
        let nodes = self.nodes.ok_or((last, MatrixFault::NoNodes))?;
        let found = self.connections.len() as u64;
        if let Some(announced) = self.announced.filter(|&announced| announced != found) {
            return Err((last, MatrixFault::Count { announced, found }));
        }
        let found = self.triggers.len() as u64;
        if let Some(announced) = self.announced_triggers.filter(|&announced| announced != found) {
            return Err((last, MatrixFault::TriggerCount { announced, found }));
        }
        let failures = self.failures.len() as u64;
        if let Some(announced) = self.announced_failures.filter(|&it| it != failures) {
            return Err((last, MatrixFault::FailureCount { announced, found: failures }));
        }
        let mut graph = TaskGraph::default();
        let tasks: Vec<GraphTask> =
            self.connections.iter().map(|it| graph.message(it.message)).collect();
        self.add_trigger_dependencies(&mut graph, &tasks)?;
        let workload = graph.finish().map_err(|fault| match fault {
            GraphFault::TooManyTasks => (last, MatrixFault::TooMuch("2^28 connections")),
            GraphFault::TooManyBytes => (last, MatrixFault::TooMuch("2^64 bytes in all")),
            GraphFault::Cycle(stuck) => {
                let first = tasks.iter().position(|task| stuck.binary_search(task).is_ok());
                let line = first.map_or(last, |index| self.connections[index].line);
                (line, MatrixFault::Cycle)
            }
        })?;
        let warnings = self.warnings();
        Ok(Matrix { nodes, workload, failures: self.failures, warnings })
    }

    fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        if let Some(line) = self.cut {
            warnings.push(format!(
                "line {line} has a start with decimals, which are truncated, as in htsim"
            ));
        }
        if let Some(failure) = self.failures.first() {
            warnings.push(format!(
                "line {} has a link that is down from the start, which routing avoids; htsim \
                 stops at the first packet that would take it",
                failure.line
            ));
        }
        let first = self.connections.first();
        let prio = first.and_then(|first| first.words.prio);
        if let Some(other) = self.connections.iter().find(|it| it.words.prio != prio) {
            warnings.push(format!(
                "line {} has a different prio than earlier connections; prio is ignored and all \
                 connections are served alike, unlike in htsim's NDP (use the priority of a \
                 [[class]])",
                other.line
            ));
        }
        let late = |it: &&ConnectionLine| it.message.start >= SUSPECT_START;
        if self.unit == StartUnit::Microseconds
            && let Some(late) = self.connections.iter().find(late)
        {
            warnings.push(format!(
                "line {} starts after {} us; if its start is in picoseconds, as htsim's gen_*.py \
                 write it, set start_unit = \"ps\"",
                late.line,
                late.message.start.as_ps() / self.unit.picoseconds()
            ));
        }
        warnings
    }

    /// Makes the connections that a trigger starts depend on the connections that activate it.
    fn add_trigger_dependencies(
        &self,
        graph: &mut TaskGraph,
        tasks: &[GraphTask],
    ) -> Result<(), LineFault> {
        let mut activations: BTreeMap<u64, Vec<TriggerEnd>> = BTreeMap::new();
        let mut started: BTreeMap<u64, Vec<TriggerEnd>> = BTreeMap::new();
        for (connection, &task) in self.connections.iter().zip(tasks) {
            let Message { src, dst, .. } = connection.message;
            let ConnectionWords { send_done, receive_done, started_by, .. } = connection.words;
            let ends = [(send_done, src), (receive_done, dst)];
            for (id, host) in ends {
                if let Some(id) = id {
                    self.check_trigger(id, connection.line)?;
                    activations.entry(id).or_default().push(TriggerEnd { task, host });
                }
            }
            if let Some(id) = started_by {
                self.check_trigger(id, connection.line)?;
                started.entry(id).or_default().push(TriggerEnd { task, host: src });
            }
        }
        let mut multishot = Multishot::default();
        for (id, starts) in started {
            let trigger = self.triggers[&id];
            let by = activations.get(&id).map_or(&[][..], Vec::as_slice);
            let added = trigger.add(id, [by, starts.as_slice()], graph, &mut multishot);
            added.map_err(|fault| (trigger.line, fault))?;
        }
        Ok(())
    }

    fn check_trigger(&self, id: u64, line: usize) -> Result<(), LineFault> {
        let known = self.triggers.contains_key(&id);
        if known { Ok(()) } else { Err((line, MatrixFault::NoTrigger(id))) }
    }
}

/// Sets the value of a word that may occur only once.
fn set_once(word: &str, place: &mut Option<u64>, value: u64) -> Result<(), MatrixFault> {
    match place.replace(value) {
        None => Ok(()),
        Some(_) => Err(MatrixFault::Twice(word.to_owned())),
    }
}

/// Sets the number after the word at `index`; fails like [`set_once`] if it is already set.
fn parse_once(
    tokens: &[&str],
    index: usize,
    max: u64,
    place: &mut Option<u64>,
) -> Result<(), MatrixFault> {
    set_once(tokens[index], place, value(tokens, index, max)?)
}

/// Parses the number after the word at `index`, which must be at most `max`.
fn value(tokens: &[&str], index: usize, max: u64) -> Result<u64, MatrixFault> {
    let found = tokens.get(index + 1).copied().unwrap_or("");
    let number = found.parse().ok().filter(|&number| number <= max);
    number.ok_or_else(|| MatrixFault::Number {
        word: tokens[index].to_owned(),
        found: found.to_owned(),
        max,
    })
}

/// Parses an id, which must not be 0: htsim uses 0 for "no trigger".
fn id(tokens: &[&str], index: usize) -> Result<u64, MatrixFault> {
    let id = value(tokens, index, u64::MAX)?;
    if id == 0 { Err(MatrixFault::Zero(tokens[index].to_owned())) } else { Ok(id) }
}

/// Parses a start time and returns picoseconds; decimals of the unit are truncated.
fn start(tokens: &[&str], index: usize, unit: StartUnit) -> Result<u64, MatrixFault> {
    let latest = LATEST_START / unit.picoseconds();
    let text = tokens.get(index + 1).copied().unwrap_or("");
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    if !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return value(tokens, index, latest);
    }
    let whole = if whole.is_empty() && !fraction.is_empty() { "0" } else { whole };
    Ok(value(&[tokens[index], whole], 0, latest)? * unit.picoseconds())
}

#[cfg(test)]
mod tests;
