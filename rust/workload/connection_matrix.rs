//! Connection matrices of htsim (`.cm`): flows that start by the clock or by a trigger.
//!
//! Source: htsim (csg-htsim), `sim/datacenter/connection_matrix.cpp`, and the files beside it:
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
//! Node i is host i; every connection is a stream of its own. `start` is in picoseconds, a
//! fraction of one is cut off. A connection pulls its `send_done_trigger` when its sender knows
//! that all has arrived, its `recv_done_trigger` when all has. What a trigger starts begins at
//! once, wherever it is. A `barrier` is pulled `count` times before it starts anything, the
//! others once. What would start something by whichever of several connections is over first,
//! or more than once, is refused: here everything is sent exactly once and waits for all of what
//! it waits for. `prio` is read and changes nothing.

mod error;

use std::collections::BTreeMap;

use super::graph::{Graph, GraphFault, Task, at_least_a_byte};
use super::{Message, Workload};
use crate::ids::HostId;
use crate::units::{Span, Time};
pub use error::{MatrixError, MatrixFault};

/// Most nodes of a matrix: 2^24.
const MAX_NODES: u64 = 1 << 24;

/// The latest start, in picoseconds: 100,000 s, the longest span of a scenario.
const LATEST_START: u64 = 100_000_000_000_000_000;

/// A connection matrix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Matrix {
    /// How many nodes it is for.
    pub nodes: u32,
    /// Its connections, in order of the file.
    pub workload: Workload,
    /// What is not as the file has it.
    pub warnings: Vec<String>,
}

/// Reads a connection matrix; `file` is what errors call it.
///
/// # Errors
/// The first fault, with its line.
pub fn read(text: &str, file: &str) -> Result<Matrix, MatrixError> {
    let at = |(line, fault)| MatrixError { file: file.to_owned(), line, fault };
    let mut reader = Reader::default();
    let mut last = 1;
    for (line, text) in (1..).zip(text.lines()) {
        let tokens: Vec<&str> = text.split_whitespace().collect();
        if tokens.is_empty() || tokens[0].starts_with('#') {
            continue;
        }
        reader.take(line, &tokens).map_err(|fault| at((line, fault)))?;
        last = line;
    }
    reader.finish(last).map_err(at)
}

/// A fault and its line.
type Placed = (usize, MatrixFault);

/// A matrix in the making.
#[derive(Debug, Default)]
struct Reader {
    nodes: Option<u32>,
    announced: Option<u64>,
    connections: Vec<Connection>,
    /// Lines of connections by their ids.
    ids: BTreeMap<u64, usize>,
    triggers: BTreeMap<u64, Trigger>,
}

#[derive(Debug)]
struct Connection {
    line: usize,
    message: Message,
    starts_by: Option<u64>,
    pulls_sent: Option<u64>,
    pulls_received: Option<u64>,
}

/// A trigger, and where it stands.
#[derive(Debug, Clone, Copy)]
struct Trigger {
    line: usize,
    /// How often it is pulled before it starts anything.
    count: u64,
}

impl Reader {
    fn take(&mut self, line: usize, tokens: &[&str]) -> Result<(), MatrixFault> {
        match tokens[0] {
            "Nodes" => match self.nodes.replace(value(tokens, 0, MAX_NODES)? as u32) {
                None => {}
                Some(first) => return Err(MatrixFault::NodesTwice(first)),
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
        let (mut starts_by, mut pulls_sent, mut pulls_received) = (None, None, None);
        let mut place = 1;
        while place < tokens.len() {
            match tokens[place] {
                "start" => start = Some(picoseconds(tokens, place)?),
                "size" => size = Some(value(tokens, place, u64::MAX)?),
                "id" => {
                    let id = id(tokens, place)?;
                    if let Some(first) = self.ids.insert(id, line) {
                        return Err(MatrixFault::IdTwice { id, first });
                    }
                }
                "trigger" => starts_by = Some(id(tokens, place)?),
                "send_done_trigger" => pulls_sent = Some(id(tokens, place)?),
                "recv_done_trigger" => pulls_received = Some(id(tokens, place)?),
                "prio" => drop(value(tokens, place, u64::MAX)?),
                other => return Err(MatrixFault::Word(other.to_owned())),
            }
            place += 2;
        }
        if start.is_some() == starts_by.is_some() {
            return Err(MatrixFault::Start);
        }
        let message = Message {
            src: HostId(src),
            dst: HostId(dst),
            bytes: at_least_a_byte(size.ok_or(MatrixFault::NoSize)?),
            stream: self.connections.len() as u32,
            start: Time::from_ps(start.unwrap_or(0)),
        };
        let connection = Connection { line, message, starts_by, pulls_sent, pulls_received };
        self.connections.push(connection);
        Ok(())
    }

    fn node(&self, text: &str) -> Result<u32, MatrixFault> {
        let nodes = self.nodes.ok_or(MatrixFault::NoNodes)?;
        let node = text.parse().ok().filter(|&node: &u32| node < nodes);
        node.ok_or_else(|| MatrixFault::Node { node: text.to_owned(), nodes })
    }

    fn finish(self, last: usize) -> Result<Matrix, Placed> {
        let nodes = self.nodes.ok_or((last, MatrixFault::NoNodes))?;
        let found = self.connections.len() as u64;
        if let Some(announced) = self.announced.filter(|&announced| announced != found) {
            return Err((last, MatrixFault::Count { announced, found }));
        }
        let mut graph = Graph::default();
        let tasks: Vec<Task> =
            self.connections.iter().map(|it| graph.message(it.message)).collect();
        self.pull(&mut graph, &tasks)?;
        let workload = graph.finish().map_err(|fault| match fault {
            GraphFault::TooManyTasks => (last, MatrixFault::TooMuch("2^28 connections")),
            GraphFault::TooManyBytes => (last, MatrixFault::TooMuch("2^64 bytes in all")),
            GraphFault::Circle(stuck) => {
                let first = tasks.iter().position(|task| stuck.binary_search(task).is_ok());
                let line = first.map_or(last, |place| self.connections[place].line);
                (line, MatrixFault::Circle)
            }
        })?;
        Ok(Matrix { nodes, workload, warnings: Vec::new() })
    }

    /// Makes what triggers start wait for those who pull them.
    fn pull(&self, graph: &mut Graph, tasks: &[Task]) -> Result<(), Placed> {
        let mut pulled: BTreeMap<u64, Vec<(Task, HostId, usize)>> = BTreeMap::new();
        let mut started: BTreeMap<u64, Vec<(Task, HostId, usize)>> = BTreeMap::new();
        for (connection, &task) in self.connections.iter().zip(tasks) {
            let Message { src, dst, .. } = connection.message;
            let line = connection.line;
            let pulls = [(connection.pulls_sent, src), (connection.pulls_received, dst)];
            for (id, host) in pulls {
                if let Some(id) = id {
                    self.trigger(id, line)?;
                    pulled.entry(id).or_default().push((task, host, line));
                }
            }
            if let Some(id) = connection.starts_by {
                self.trigger(id, line)?;
                started.entry(id).or_default().push((task, src, line));
            }
        }
        for (id, starts) in started {
            let trigger = self.triggers[&id];
            let pulls = pulled.get(&id).map_or(&[][..], Vec::as_slice);
            if pulls.len() as u64 != trigger.count {
                let (count, pulls) = (trigger.count, pulls.len());
                return Err((trigger.line, MatrixFault::Pulls { id, count, pulls }));
            }
            let gate = graph.delay(starts[0].1, Span::ZERO);
            for &(task, host, _) in pulls {
                let news = graph.delay(host, Span::ZERO);
                graph.wait(task, news);
                graph.wait(news, gate);
            }
            starts.iter().for_each(|&(task, _, _)| graph.wait(gate, task));
        }
        Ok(())
    }

    fn trigger(&self, id: u64, line: usize) -> Result<(), Placed> {
        let known = self.triggers.contains_key(&id);
        if known { Ok(()) } else { Err((line, MatrixFault::NoTrigger(id))) }
    }
}

/// `trigger id N oneshot`, `multishot`, or `barrier count M`.
fn trigger(line: usize, tokens: &[&str]) -> Result<(u64, Trigger), MatrixFault> {
    let (mut number, mut count, mut kind) = (None, None, None);
    let mut place = 1;
    while place < tokens.len() {
        match tokens[place] {
            "id" => number = Some(id(tokens, place)?),
            "count" => count = Some(value(tokens, place, u64::MAX)?),
            word @ ("oneshot" | "multishot" | "barrier") => {
                kind = Some(word);
                place += 1;
                continue;
            }
            other => return Err(MatrixFault::Word(other.to_owned())),
        }
        place += 2;
    }
    let number = number.ok_or(MatrixFault::Trigger)?;
    let count = match (kind.ok_or(MatrixFault::Trigger)?, count) {
        ("barrier", count) => count.ok_or(MatrixFault::Trigger)?,
        _ => 1,
    };
    Ok((number, Trigger { line, count }))
}

/// The number after the word at `place`.
fn value(tokens: &[&str], place: usize, most: u64) -> Result<u64, MatrixFault> {
    let found = tokens.get(place + 1).copied().unwrap_or("");
    let number = found.parse().ok().filter(|&number| number <= most);
    number.ok_or_else(|| MatrixFault::Number {
        word: tokens[place].to_owned(),
        found: found.to_owned(),
        most,
    })
}

/// An id: not 0, which means none.
fn id(tokens: &[&str], place: usize) -> Result<u64, MatrixFault> {
    let id = value(tokens, place, u64::MAX)?;
    if id == 0 { Err(MatrixFault::Zero(tokens[place].to_owned())) } else { Ok(id) }
}

/// A start; what is behind the point is cut off.
fn picoseconds(tokens: &[&str], place: usize) -> Result<u64, MatrixFault> {
    let text = tokens.get(place + 1).copied().unwrap_or("");
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    if !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return value(tokens, place, LATEST_START);
    }
    let whole = if whole.is_empty() && !fraction.is_empty() { "0" } else { whole };
    value(&[tokens[place], whole], 0, LATEST_START)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::MessageId;
    use crate::units::Bytes;

    #[test]
    fn starts_by_the_clock_and_by_triggers() {
        let text = "Nodes 4\nConnections 3\nTriggers 1\n# a comment\n\
                    0->1 id 1 start 500.75 size 2000 send_done_trigger 1\n\
                    1->2 id 2 start 0 size 3000 prio 7 recv_done_trigger 1\n\
                    3->0 id 3 trigger 1 size 4000\ntrigger id 1 barrier count 2\n";
        let matrix = read(text, "f.cm").unwrap();
        let workload = matrix.workload;
        assert_eq!((matrix.nodes, workload.messages.len()), (4, 3));
        assert_eq!(workload.messages[0].start, Time::from_ps(500));
        assert_eq!(workload.messages[2].bytes, Bytes::new(4_000));
        let hosts: Vec<u32> = workload.delays.iter().map(|delay| delay.host.0).collect();
        // The gate where the third starts, the sender of the first, the receiver of the second.
        assert_eq!(hosts, [3, 0, 2]);
        assert_eq!(workload.dependents_of(MessageId(3)), [MessageId(2)]);
        assert_eq!(workload.waits_for, [0, 0, 1, 2, 1, 1]);
    }

    #[test]
    fn each_fault_names_its_line_and_what_would_be_right() {
        let one = "Nodes 2\n0->1 id 1 ";
        for (text, expected) in [
            (String::new(), "f.cm:1: Nodes is missing"),
            ("0->1 start 0 size 5\n".into(), "f.cm:1: Nodes is missing"),
            ("Nodes two\n".into(), "f.cm:1: Nodes 'two'"),
            ("Nodes 8\n1->7 start 0 size 5\nNodes 2\n".into(), "f.cm:3: Nodes stands here a"),
            ("Nodes 2\nNode 3\n".into(), "f.cm:2: 'Node' begins no line"),
            ("Nodes 2\n0->2 start 0 size 5\n".into(), "f.cm:2: '2' is no node; there are 0 to 1"),
            ("Nodes 2\n1->1 start 0 size 5\n".into(), "f.cm:2: from node 1 to itself"),
            (format!("{one}size 5\n"), "f.cm:2: a connection has either 'start"),
            (format!("{one}start 0 size 5 trigger 1\n"), "f.cm:2: a connection has either 'start"),
            (format!("{one}start 0\n"), "f.cm:2: size is missing"),
            (format!("{one}start -1 size 5\n"), "f.cm:2: start '-1'"),
            (format!("{one}start 0 size 5 rate 7\n"), "f.cm:2: 'rate' is no word"),
            (format!("{one}trigger 4 size 5\n"), "f.cm:2: there is no trigger 4"),
            (format!("{one}trigger 0 size 5\n"), "f.cm:2: trigger 0"),
            (format!("{one}trigger 4 size 5\ntrigger id 4 oneshot\n"), "f.cm:3: trigger 4 starts"),
            ("Nodes 2\ntrigger id 4\n".into(), "f.cm:2: a trigger is"),
            ("Nodes 2\nFailures 1\n".into(), "f.cm:2: failures"),
            ("Nodes 2\nConnections 1\n".into(), "f.cm:2: 1 connections are announced, but 0"),
            (
                format!("{one}trigger 4 size 5 send_done_trigger 4\ntrigger id 4 oneshot\n"),
                "f.cm:2: never starts",
            ),
            (
                format!("{one}start 0 size 5\n1->0 id 1 start 0 size 5\n"),
                "f.cm:3: a second connection of id 1",
            ),
        ] {
            let text = read(&text, "f.cm").unwrap_err().to_string();
            assert!(text.starts_with(expected), "'{text}' should be '{expected}'");
        }
    }
}
