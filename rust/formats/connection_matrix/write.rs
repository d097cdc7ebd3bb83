//! Writes a workload as a connection matrix: host i is node i.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use super::{StartUnit, read};
use crate::ids::HostId;
use crate::normal_form::{Event, NormalForm, NormalMessage, NotWritten};
use crate::units::{Bytes, Time};
use crate::workload::Workload;

/// A written matrix and the unit of its starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenMatrix {
    /// The text of the file.
    pub text: String,
    /// Microseconds if all starts are multiples of one, else picoseconds.
    pub unit: StartUnit,
}

/// The triggers of a normal form.
#[derive(Debug, Default)]
struct Triggers {
    /// The trigger that starts the messages that wait for a set of events, from 1.
    by_events: BTreeMap<BTreeSet<Event>, usize>,
    /// The trigger that an event activates.
    of_event: BTreeMap<Event, usize>,
}

/// Writes a workload on `hosts` hosts as a matrix.
///
/// # Errors
/// Fails for everything that a matrix cannot express. These are computations, tasks that wait for
/// the first of several messages, and messages with both a start and dependencies. A message may
/// also not start others that wait for different sets of messages.
pub fn write(workload: &Workload, hosts: u32) -> Result<WrittenMatrix, NotWritten> {
    let form = NormalForm::of(workload)?;
    if let Some(computation) = form.computations.first() {
        return Err(NotWritten::Computation(computation.host));
    }
    let triggers = Triggers::of(&form)?;
    let in_us = |message: &NormalMessage| message.start.as_ps().is_multiple_of(1_000_000);
    let unit = match form.messages.iter().all(in_us) {
        true => StartUnit::Microseconds,
        false => StartUnit::Picoseconds,
    };
    let text = text(&form, &triggers, hosts, unit);
    // The written file is read back, so that a workload that the format distorts is an error.
    let read = read(&text, "matrix", unit).map_err(|_| NotWritten::RoundTripMismatch)?;
    match NormalForm::of(&read.workload)? == form {
        true => Ok(WrittenMatrix { text, unit }),
        false => Err(NotWritten::RoundTripMismatch),
    }
}

impl Triggers {
    fn of(form: &NormalForm) -> Result<Self, NotWritten> {
        let mut triggers = Self::default();
        for message in form.messages.iter().filter(|message| !message.after.is_empty()) {
            if message.start > Time::ZERO {
                return Err(NotWritten::StartAndTrigger(message.src));
            }
            let next = triggers.by_events.len() + 1;
            let id = *triggers.by_events.entry(message.after.clone()).or_insert(next);
            for &event in &message.after {
                if *triggers.of_event.entry(event).or_insert(id) != id {
                    return Err(NotWritten::TwoTriggers(sender(form, event)));
                }
            }
        }
        Ok(triggers)
    }
}

fn sender(form: &NormalForm, event: Event) -> HostId {
    match event {
        Event::Delivered(index) | Event::Completed(index) => form.messages[index].src,
        Event::Ended(index) => form.computations[index].host,
    }
}

/// Formats the lines of connections. Messages with the same pair of hosts and stream belong to one
/// connection, whose `id` is the number of its first message, from 1.
#[derive(Debug, Default)]
pub struct Connections {
    /// The `id` of each connection.
    ids: BTreeMap<(HostId, HostId, u32), u64>,
    messages: u64,
}

impl Connections {
    /// Formats the first lines of a matrix with `messages` messages.
    pub fn header(hosts: u32, messages: u64) -> String {
        format!("Nodes {hosts}\nConnections {messages}\n")
    }

    /// Formats the line of the next message, without a newline. `begins` is `start TIME` or
    /// `trigger ID`.
    pub fn line(
        &mut self,
        [src, dst]: [HostId; 2],
        stream: u32,
        begins: &str,
        bytes: Bytes,
    ) -> String {
        self.messages += 1;
        let id = *self.ids.entry((src, dst, stream)).or_insert(self.messages);
        let further = if id == self.messages { "" } else { " msg" };
        format!("{}->{} id {id}{further} {begins} size {}", src.0, dst.0, bytes.get())
    }
}

fn text(form: &NormalForm, triggers: &Triggers, hosts: u32, unit: StartUnit) -> String {
    let mut text = Connections::header(hosts, form.messages.len() as u64);
    if !triggers.by_events.is_empty() {
        let _ = writeln!(text, "Triggers {}", triggers.by_events.len());
    }
    let mut connections = Connections::default();
    for (index, message) in form.messages.iter().enumerate() {
        let &NormalMessage { src, dst, bytes, stream, start, .. } = message;
        let begins = match triggers.by_events.get(&message.after) {
            Some(id) => format!("trigger {id}"),
            None => format!("start {}", start.as_ps() / unit.picoseconds()),
        };
        text.push_str(&connections.line([src, dst], stream, &begins, bytes));
        let ends = [
            ("send_done_trigger", Event::Completed(index)),
            ("recv_done_trigger", Event::Delivered(index)),
        ];
        for (word, event) in ends {
            if let Some(id) = triggers.of_event.get(&event) {
                let _ = write!(text, " {word} {id}");
            }
        }
        text.push('\n');
    }
    let mut by_id: Vec<(usize, usize)> =
        triggers.by_events.iter().map(|(events, &id)| (id, events.len())).collect();
    by_id.sort_unstable();
    for (id, count) in by_id {
        let kind = if count == 1 { "oneshot".to_owned() } else { format!("barrier count {count}") };
        let _ = writeln!(text, "trigger id {id} {kind}");
    }
    text
}
