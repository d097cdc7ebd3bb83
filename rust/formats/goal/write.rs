//! Writes a workload as a GOAL schedule of GPUs: rank i is host i.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use super::Layout;
use crate::ids::HostId;
use crate::normal_form::{Event, NormalForm, NotWritten};
use crate::workload::{Compute, Lane, Workload};

/// Writes a workload on `hosts` hosts as a schedule.
///
/// # Errors
/// Fails for everything that a schedule cannot express: tasks that wait for the first of several
/// messages or for another host, several streams between two hosts, and times that are not whole
/// nanoseconds.
pub fn write(workload: &Workload, hosts: u32) -> Result<String, NotWritten> {
    let form = NormalForm::of(workload)?.with_starts_as_computations().by_host();
    form.expect_one_stream()?;
    form.expect_local()?;
    let text = text(&form, hosts)?;
    let options = super::Options { compute: Compute::Serial, layout: Some(Layout::Gpu) };
    // The written file is read back, so that a workload that the format distorts is an error.
    let read =
        super::read(&text, "schedule", options).map_err(|_| NotWritten::RoundTripMismatch)?;
    match NormalForm::of(&read.workload)?.by_host() == form {
        true => Ok(text),
        false => Err(NotWritten::RoundTripMismatch),
    }
}

/// Formats the operations of every rank.
fn text(form: &NormalForm, hosts: u32) -> Result<String, NotWritten> {
    let mut ranks: Vec<String> = vec![String::new(); hosts as usize];
    let mut line = |host: HostId, text: String| {
        let rank = &mut ranks[host.index()];
        // Writing into a string cannot fail.
        let _ = writeln!(rank, "{text}");
    };
    for ((index, computation), processor) in (0..).zip(&form.computations).zip(processors(form)) {
        let (host, span) = (computation.host, computation.span);
        if !span.as_ps().is_multiple_of(1_000) {
            return Err(NotWritten::TooFine { host, span, unit: "nanoseconds" });
        }
        line(host, format!("c{index}: calc {} cpu {processor}", span.as_ps() / 1_000));
    }
    // The tag of a message is its index among the messages of its pair of hosts.
    let mut tags: BTreeMap<(HostId, HostId), u32> = BTreeMap::new();
    for (index, message) in form.messages.iter().enumerate() {
        let tag = tags.entry((message.src, message.dst)).or_default();
        let bytes = message.bytes.get();
        line(message.src, format!("s{index}: send {bytes}b to {} tag {tag}", message.dst.0));
        line(message.dst, format!("r{index}: recv {bytes}b from {} tag {tag}", message.src.0));
        *tag += 1;
    }
    for (index, computation) in form.computations.iter().enumerate() {
        for before in labels(&computation.after) {
            line(computation.host, format!("c{index} requires {before}"));
        }
    }
    for (index, message) in form.messages.iter().enumerate() {
        for before in labels(&message.after) {
            line(message.src, format!("s{index} requires {before}"));
        }
    }
    let mut text = format!("num_ranks {hosts}\n");
    for (rank, lines) in ranks.iter().enumerate() {
        let _ = write!(text, "\nrank {rank} {{\n{lines}}}\n");
    }
    Ok(text)
}

fn labels(after: &BTreeSet<Event>) -> impl Iterator<Item = String> {
    after.iter().map(|event| match event {
        Event::Delivered(index) => format!("r{index}"),
        Event::Completed(index) => format!("s{index}"),
        Event::Ended(index) => format!("c{index}"),
    })
}

/// Returns the processor of each computation. It is the computation's lane; a computation without a
/// lane gets an unused processor, so that it runs in parallel with the others.
fn processors(form: &NormalForm) -> Vec<u32> {
    let mut free: BTreeMap<HostId, u32> = BTreeMap::new();
    for computation in &form.computations {
        let next = free.entry(computation.host).or_default();
        *next = computation.lane.map_or(*next, |Lane(lane)| (*next).max(lane.saturating_add(1)));
    }
    let mut processor = |host, lane: Option<Lane>| {
        let next = free.entry(host).or_default();
        lane.map_or_else(|| std::mem::replace(next, next.saturating_add(1)), |Lane(lane)| lane)
    };
    form.computations.iter().map(|it| processor(it.host, it.lane)).collect()
}
