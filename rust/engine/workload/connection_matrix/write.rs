//! Writing a workload as a connection matrix: host i is node i.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use super::{StartUnit, read};
use crate::ids::HostId;
use crate::units::Time;
use crate::workload::normal_form::{Event, NormalForm, NormalMessage};
use crate::workload::{NotWritten, Workload};

/// A matrix, and the unit of its starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenMatrix {
    /// The text of the file.
    pub text: String,
    /// Microseconds if all starts are whole ones, else picoseconds.
    pub unit: StartUnit,
}

/// The triggers of a form.
#[derive(Debug, Default)]
struct Triggers {
    /// The trigger that starts the messages which wait for these events, from 1.
    by_events: BTreeMap<BTreeSet<Event>, usize>,
    /// The trigger that an event activates.
    of_event: BTreeMap<Event, usize>,
}

/// The matrix of a workload on `hosts` hosts.
///
/// # Errors
/// Fails for what a matrix does not hold: computation, tasks that wait for whichever message
/// arrives first, messages with both a start and dependencies, and messages whose end starts others
/// that wait for different sets of messages.
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
    let read = read(&text, "matrix", unit).map_err(|_| NotWritten::ReadsOtherwise)?;
    match NormalForm::of(&read.workload)? == form {
        true => Ok(WrittenMatrix { text, unit }),
        false => Err(NotWritten::ReadsOtherwise),
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

fn text(form: &NormalForm, triggers: &Triggers, hosts: u32, unit: StartUnit) -> String {
    let mut text = format!("Nodes {hosts}\nConnections {}\n", form.messages.len());
    if !triggers.by_events.is_empty() {
        let _ = writeln!(text, "Triggers {}", triggers.by_events.len());
    }
    let mut streams: BTreeMap<(HostId, HostId, u32), usize> = BTreeMap::new();
    for (index, message) in form.messages.iter().enumerate() {
        let &NormalMessage { src, dst, bytes, stream, start, .. } = message;
        let first = *streams.entry((src, dst, stream)).or_insert(index);
        let further = if first == index { "" } else { " msg" };
        let start = match triggers.by_events.get(&message.after) {
            Some(id) => format!("trigger {id}"),
            None => format!("start {}", start.as_ps() / unit.picoseconds()),
        };
        let (src, dst, bytes) = (src.0, dst.0, bytes.get());
        let _ = write!(text, "{src}->{dst} id {}{further} {start} size {bytes}", first + 1);
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
