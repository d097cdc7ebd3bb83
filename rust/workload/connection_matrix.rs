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
//! Node i is host i; every connection has its own stream. `start` is in picoseconds, truncated to
//! a whole number. A connection activates its `send_done_trigger` when it completes at the sender,
//! and its `recv_done_trigger` when it is delivered. Connections that a trigger starts begin at
//! once, at any host. A `barrier` starts them after `count` activations, other triggers after one.
//! A trigger with more activations, which would start connections by whichever activation comes
//! first or several times, is refused: here every connection is sent exactly once, after all of
//! its dependencies. `prio` is read and ignored.

mod error;

use std::collections::BTreeMap;

use super::graph::{GraphFault, GraphTask, TaskGraph};
use super::{Message, Workload};
use crate::ids::HostId;
use crate::units::{Bytes, Span, Time};
pub use error::{MatrixError, MatrixFault};

/// Maximum number of nodes of a matrix: 2^24.
const MAX_NODES: u64 = 1 << 24;

/// The latest start, in picoseconds: 100,000 s, the longest span of a scenario.
const LATEST_START: u64 = 100_000_000_000_000_000;

/// A connection matrix as a workload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Matrix {
    /// Number of nodes that the file announces.
    pub nodes: u32,
    /// The connections, in order of the file.
    pub workload: Workload,
    /// Differences from the behaviour of htsim, a sentence each.
    pub warnings: Vec<String>,
}

/// Parses the text of a connection matrix; `file` is its name in errors.
///
/// # Errors
/// Fails with the first fault and its line.
pub fn read(text: &str, file: &str) -> Result<Matrix, MatrixError> {
    let at = |line, fault| MatrixError { file: file.to_owned(), line, fault };
    let mut reader = MatrixReader::default();
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

/// A fault with its line.
type LineFault = (usize, MatrixFault);

/// The contents of the lines read so far.
#[derive(Debug, Default)]
struct MatrixReader {
    nodes: Option<u32>,
    announced: Option<u64>,
    connections: Vec<ConnectionLine>,
    /// Lines of connections by their ids.
    ids: BTreeMap<u64, usize>,
    triggers: BTreeMap<u64, Trigger>,
}

#[derive(Debug)]
struct ConnectionLine {
    line: usize,
    message: Message,
    /// The trigger that starts it.
    started_by: Option<u64>,
    send_done: Option<u64>,
    receive_done: Option<u64>,
}

/// A trigger, with its line in the file.
#[derive(Debug, Clone, Copy)]
struct Trigger {
    line: usize,
    /// Number of activations before it starts connections.
    count: u64,
}

/// The end of a connection that a trigger starts or that activates it.
#[derive(Debug, Clone, Copy)]
struct TriggerEnd {
    task: GraphTask,
    host: HostId,
}

impl MatrixReader {
    fn read_line(&mut self, line: usize, tokens: &[&str]) -> Result<(), MatrixFault> {
        match tokens[0] {
            "Nodes" => match (value(tokens, 0, MAX_NODES)? as u32, self.nodes) {
                (0, _) => return Err(MatrixFault::ZeroNodes),
                (nodes, None) => self.nodes = Some(nodes),
                (_, Some(first)) => return Err(MatrixFault::NodesTwice(first)),
            },
            "Connections" => self.announced = Some(value(tokens, 0, u64::MAX)?),
            "Triggers" => drop(value(tokens, 0, u64::MAX)?),
            "Failures" if value(tokens, 0, u64::MAX)? == 0 => {}
            "Failures" | "failure" => return Err(MatrixFault::Failures),
            "trigger" => {
                let (id, trigger) = trigger(line, tokens)?;
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
        let (mut start, mut size) = (None, None);
        let (mut started_by, mut send_done, mut receive_done) = (None, None, None);
        let mut index = 1;
        while index < tokens.len() {
            match tokens[index] {
                "start" => start = Some(picoseconds(tokens, index)?),
                "size" => size = Some(value(tokens, index, u64::MAX)?),
                "id" => {
                    let id = id(tokens, index)?;
                    if let Some(first) = self.ids.insert(id, line) {
                        return Err(MatrixFault::IdTwice { id, first });
                    }
                }
                "trigger" => started_by = Some(id(tokens, index)?),
                "send_done_trigger" => send_done = Some(id(tokens, index)?),
                "recv_done_trigger" => receive_done = Some(id(tokens, index)?),
                "prio" => drop(value(tokens, index, u64::MAX)?),
                other => return Err(MatrixFault::Word(other.to_owned())),
            }
            index += 2;
        }
        if start.is_some() == started_by.is_some() {
            return Err(MatrixFault::Start);
        }
        let message = Message {
            src: HostId(src),
            dst: HostId(dst),
            bytes: match size.ok_or(MatrixFault::NoSize)? {
                0 => return Err(MatrixFault::Unbounded),
                size => Bytes::new(size),
            },
            stream: self.connections.len() as u32,
            start: Time::from_ps(start.unwrap_or(0)),
        };
        let connection = ConnectionLine { line, message, started_by, send_done, receive_done };
        self.connections.push(connection);
        Ok(())
    }

    fn node(&self, text: &str) -> Result<u32, MatrixFault> {
        let nodes = self.nodes.ok_or(MatrixFault::NoNodes)?;
        let node = text.parse().ok().filter(|&node: &u32| node < nodes);
        node.ok_or_else(|| MatrixFault::Node { node: text.to_owned(), nodes })
    }

    /// Builds the matrix after the `last` line.
    fn finish(self, last: usize) -> Result<Matrix, LineFault> {
        let nodes = self.nodes.ok_or((last, MatrixFault::NoNodes))?;
        let found = self.connections.len() as u64;
        if let Some(announced) = self.announced.filter(|&announced| announced != found) {
            return Err((last, MatrixFault::Count { announced, found }));
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
        Ok(Matrix { nodes, workload, warnings: Vec::new() })
    }

    /// Makes the connections that a trigger starts depend on those that activate it.
    fn add_trigger_dependencies(
        &self,
        graph: &mut TaskGraph,
        tasks: &[GraphTask],
    ) -> Result<(), LineFault> {
        let mut activations: BTreeMap<u64, Vec<TriggerEnd>> = BTreeMap::new();
        let mut started: BTreeMap<u64, Vec<TriggerEnd>> = BTreeMap::new();
        for (connection, &task) in self.connections.iter().zip(tasks) {
            let Message { src, dst, .. } = connection.message;
            let ends = [(connection.send_done, src), (connection.receive_done, dst)];
            for (id, host) in ends {
                if let Some(id) = id {
                    self.check_trigger(id, connection.line)?;
                    activations.entry(id).or_default().push(TriggerEnd { task, host });
                }
            }
            if let Some(id) = connection.started_by {
                self.check_trigger(id, connection.line)?;
                started.entry(id).or_default().push(TriggerEnd { task, host: src });
            }
        }
        for (id, starts) in started {
            let trigger = self.triggers[&id];
            let by = activations.get(&id).map_or(&[][..], Vec::as_slice);
            if by.len() as u64 != trigger.count {
                let (count, found) = (trigger.count, by.len());
                return Err((trigger.line, MatrixFault::Activations { id, count, found }));
            }
            // A message may only depend on tasks of its own host, so the trigger is a delay of
            // zero length there, and so is each activation at the host of its connection.
            let gate = graph.delay(starts[0].host, Span::ZERO);
            for end in by {
                let activation = graph.delay(end.host, Span::ZERO);
                graph.wait(end.task, activation);
                graph.wait(activation, gate);
            }
            starts.iter().for_each(|end| graph.wait(gate, end.task));
        }
        Ok(())
    }

    fn check_trigger(&self, id: u64, line: usize) -> Result<(), LineFault> {
        let known = self.triggers.contains_key(&id);
        if known { Ok(()) } else { Err((line, MatrixFault::NoTrigger(id))) }
    }
}

/// Parses `trigger id N oneshot`, `multishot`, or `barrier count M` into an id and the trigger.
fn trigger(line: usize, tokens: &[&str]) -> Result<(u64, Trigger), MatrixFault> {
    let (mut trigger_id, mut count, mut kind) = (None, None, None);
    let mut index = 1;
    while index < tokens.len() {
        match tokens[index] {
            "id" => trigger_id = Some(id(tokens, index)?),
            "count" => count = Some(value(tokens, index, u64::MAX)?),
            word @ ("oneshot" | "multishot" | "barrier") => {
                kind = Some(word);
                index += 1;
                continue;
            }
            other => return Err(MatrixFault::Word(other.to_owned())),
        }
        index += 2;
    }
    let trigger_id = trigger_id.ok_or(MatrixFault::Trigger)?;
    let count = match (kind.ok_or(MatrixFault::Trigger)?, count) {
        ("barrier", count) => count.ok_or(MatrixFault::Trigger)?,
        _ => 1,
    };
    Ok((trigger_id, Trigger { line, count }))
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

/// Parses a start time; its decimals are truncated.
fn picoseconds(tokens: &[&str], index: usize) -> Result<u64, MatrixFault> {
    let text = tokens.get(index + 1).copied().unwrap_or("");
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    if !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return value(tokens, index, LATEST_START);
    }
    let whole = if whole.is_empty() && !fraction.is_empty() { "0" } else { whole };
    value(&[tokens[index], whole], 0, LATEST_START)
}

#[cfg(test)]
mod tests;
