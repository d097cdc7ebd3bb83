//! Triggers: the connections that activate them and the ones that they start.

use super::error::MatrixFault;
use super::{id, set_once, value};
use crate::ids::HostId;
use crate::units::Span;
use crate::workload::graph::{GraphTask, TaskGraph};

/// Maximum number of dependencies from all multishot triggers together: 2^24.
const MAX_MULTISHOT: usize = 1 << 24;

/// A trigger, with its line in the file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Trigger {
    pub line: usize,
    kind: TriggerKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TriggerKind {
    /// Starts all connections at this activation, which is the last one.
    Once(u64),
    /// Starts one connection at each activation.
    Multishot,
}

/// A connection that a trigger starts, or the event by which one activates the trigger.
#[derive(Debug, Clone, Copy)]
pub(super) struct TriggerEnd {
    pub task: GraphTask,
    pub host: HostId,
}

/// Number of dependencies of all multishot triggers so far.
#[derive(Debug, Default)]
pub(super) struct Multishot(usize);

impl Trigger {
    /// Parses `trigger id N oneshot`, `multishot` or `barrier count M` into an id and a trigger.
    pub(super) fn read(line: usize, tokens: &[&str]) -> Result<(u64, Self), MatrixFault> {
        let (mut trigger_id, mut count, mut kind) = (None, None, None);
        let mut index = 1;
        while index < tokens.len() {
            match tokens[index] {
                "id" => set_once("id", &mut trigger_id, id(tokens, index)?)?,
                "count" => set_once("count", &mut count, value(tokens, index, u64::MAX)?)?,
                word @ ("oneshot" | "multishot" | "barrier") => {
                    if kind.replace(word).is_some() {
                        return Err(MatrixFault::Trigger);
                    }
                    index += 1;
                    continue;
                }
                other => return Err(MatrixFault::Word(other.to_owned())),
            }
            index += 2;
        }
        let trigger_id = trigger_id.ok_or(MatrixFault::Trigger)?;
        let kind = match kind.ok_or(MatrixFault::Trigger)? {
            "oneshot" | "multishot" if count.is_some() => return Err(MatrixFault::Trigger),
            "barrier" => TriggerKind::Once(count.ok_or(MatrixFault::Trigger)?),
            "multishot" => TriggerKind::Multishot,
            _ => TriggerKind::Once(1),
        };
        Ok((trigger_id, Self { line, kind }))
    }

    /// Makes the connections that the trigger starts (`starts`) depend on those that activate it
    /// (`by`).
    pub(super) fn add(
        self,
        id: u64,
        [by, starts]: [&[TriggerEnd]; 2],
        graph: &mut TaskGraph,
        multishot: &mut Multishot,
    ) -> Result<(), MatrixFault> {
        self.check(id, by.len(), starts.len())?;
        // A message can depend only on tasks of its own host. The trigger is therefore a
        // zero-length delay at the started host, and so is each activation at the host of its
        // connection.
        if let TriggerKind::Once(_) = self.kind {
            let gate = graph.delay(starts[0].host, Span::ZERO);
            for end in by {
                let activation = activation(graph, end);
                graph.wait(activation, gate);
            }
            starts.iter().for_each(|end| graph.wait(gate, end.task));
            return Ok(());
        }
        multishot.0 = multishot.0.saturating_add(by.len().saturating_mul(starts.len()));
        if multishot.0 > MAX_MULTISHOT {
            let limit = "2^24 activations times connections of multishot triggers";
            return Err(MatrixFault::TooMuch(limit));
        }
        let activations: Vec<GraphTask> = by.iter().map(|end| activation(graph, end)).collect();
        for (count, start) in (1..).zip(starts) {
            let gate = graph.delay(start.host, Span::ZERO);
            activations.iter().for_each(|&activation| graph.wait(activation, gate));
            graph.start_after(gate, count);
            graph.wait(gate, start.task);
        }
        Ok(())
    }

    /// Fails if there are too few activations to start every connection, or a wrong number of them.
    fn check(self, id: u64, found: usize, starts: usize) -> Result<(), MatrixFault> {
        match self.kind {
            TriggerKind::Once(count) if found as u64 != count => {
                Err(MatrixFault::Activations { id, count, found })
            }
            TriggerKind::Multishot if found < starts => {
                Err(MatrixFault::NeverStarted { id, starts, found })
            }
            _ => Ok(()),
        }
    }
}

/// Adds a delay that ends when a connection activates a trigger.
fn activation(graph: &mut TaskGraph, end: &TriggerEnd) -> GraphTask {
    let activation = graph.delay(end.host, Span::ZERO);
    graph.wait(end.task, activation);
    activation
}
