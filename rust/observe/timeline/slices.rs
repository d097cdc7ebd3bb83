//! Slices of messages and computations, and the arrows between them.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

use super::causes::Causes;
use super::tracks::{Arrows, Label, Track};
use super::{Timeline, label};
use crate::fabric::{FlowRecord, Outcome, Setup};
use crate::ids::TaskId;
use crate::units::{Span, Time};
use crate::workload::{DelayKind, Phase};

/// Tracks on which slices do not overlap. Slices begin in order of time.
#[derive(Debug, Default)]
struct Lanes {
    tracks: Vec<Track>,
    /// Tracks with a slice, by its end.
    busy: BinaryHeap<Reverse<(Time, usize)>>,
    free: BTreeSet<usize>,
}

impl Lanes {
    /// Returns the first track that is free at `start`, and occupies it until `end`.
    fn take(&mut self, start: Time, end: Time, add: impl FnOnce() -> Track) -> Track {
        while let Some(&Reverse((until, lane))) = self.busy.peek()
            && until <= start
        {
            self.busy.pop();
            self.free.insert(lane);
        }
        let lane = self.free.pop_first().unwrap_or_else(|| {
            self.tracks.push(add());
            self.tracks.len() - 1
        });
        self.busy.push(Reverse((end, lane)));
        self.tracks[lane]
    }
}

impl Timeline {
    /// Writes a slice for each flow and for each computation that ended.
    pub(super) fn write_slices(&mut self, setup: &Setup, outcome: &Outcome) {
        let causes = Causes::of(setup, outcome);
        self.write_messages(setup, outcome, &causes);
        self.write_computations(setup, outcome, &causes);
    }

    fn write_messages(&mut self, setup: &Setup, outcome: &Outcome, causes: &Causes) {
        let mut lanes: BTreeMap<Track, Lanes> = BTreeMap::new();
        let mut flows: Vec<&FlowRecord> = outcome.flows.iter().collect();
        flows.sort_by_key(|flow| (flow.start, flow.message, flow.piece));
        let mut last = vec![(Time::ZERO, 0); setup.workload.messages.len()];
        for flow in &flows {
            let known = &mut last[flow.message.index()];
            *known = (*known).max((flow.completed, flow.piece));
        }
        for flow in flows {
            let pair = self.pair((flow.src, flow.dst, label(setup, flow)));
            let end = if flow.completed == Time::NEVER { outcome.ended } else { flow.completed };
            let end = end.max(flow.start);
            let add = || self.tracks.add("messages".to_owned(), Some(pair), None);
            let track = lanes.entry(pair).or_default().take(flow.start, end, add);
            // Arrows end at a message's first piece, and begin at the piece that completes last.
            let task = TaskId(flow.message.0);
            let is_last = last[flow.message.index()] == (flow.completed, flow.piece);
            let arrows = Arrows {
                to: causes.arrow_to(task).filter(|_| flow.piece == 0),
                from: if is_last { causes.arrows_from(task).to_vec() } else { Vec::new() },
            };
            self.message(flow, track, end, arrows);
        }
    }

    fn write_computations(&mut self, setup: &Setup, outcome: &Outcome, causes: &Causes) {
        let workload = &setup.workload;
        let labels = workload.labels.as_ref();
        let ended = workload.delays.iter().zip(&outcome.delay_ends).enumerate();
        let mut slices: Vec<(Time, Time, usize)> = ended
            .filter(|(_, (delay, end))| delay.span > Span::ZERO && **end != Time::NEVER)
            .map(|(index, (delay, end))| {
                let start = Time::from_ps(end.as_ps().saturating_sub(delay.span.as_ps()));
                (start, *end, index)
            })
            .collect();
        slices.sort_unstable();
        let mut lanes: BTreeMap<Track, Lanes> = BTreeMap::new();
        for (start, end, index) in slices {
            let host = self.nodes[workload.delays[index].host.index()];
            let add = || self.tracks.add("computation".to_owned(), Some(host), None);
            let track = lanes.entry(host).or_default().take(start, end, add);
            let task = TaskId((workload.messages.len() + index) as u32);
            let arrows =
                Arrows { to: causes.arrow_to(task), from: causes.arrows_from(task).to_vec() };
            let (category, name) =
                match labels.map_or(DelayKind::Waiting, |labels| labels.kind(index)) {
                    DelayKind::Computation(phase) => {
                        ("computation", phase.map_or("computation", Phase::name))
                    }
                    DelayKind::Communication => ("communication", "recorded communication"),
                    DelayKind::Waiting => ("waiting", "waiting"),
                };
            let name = name.to_owned();
            let facts = &[("start_ps", start.as_ps()), ("end_ps", end.as_ps())];
            let label = Label { category, name, facts };
            self.tracks.begin(start, track, label, arrows);
            self.tracks.end(end, track);
        }
    }

    fn message(&mut self, flow: &FlowRecord, track: Track, end: Time, arrows: Arrows) {
        let mut facts = vec![
            ("message", u64::from(flow.message.0)),
            ("piece", flow.piece.into()),
            ("bytes", flow.bytes.get()),
            ("source_port", flow.source_port.into()),
            ("start_ps", flow.start.as_ps()),
        ];
        for (name, at) in [("delivered_ps", flow.delivered), ("completed_ps", flow.completed)] {
            facts.extend((at != Time::NEVER).then(|| (name, at.as_ps())));
        }
        let state = if flow.completed == Time::NEVER { ", not completed" } else { "" };
        let name = format!("message {}{state}", flow.message.0);
        let label = Label { category: "message", name, facts: &facts };
        self.tracks.begin(flow.start, track, label, arrows);
        if flow.delivered != Time::NEVER {
            let name = "delivered".to_owned();
            let label = Label { category: "message", name, facts: &[] };
            self.tracks.instant(flow.delivered, track, label);
        }
        self.tracks.end(end, track);
    }
}
