//! Comparison of two runs.

use evenkeel::fabric::{Counters, FlowRecord, Outcome, Verdict};
use evenkeel::units::{Span, Time};

use super::relation::Failure;

/// The part of an outcome that does not depend on the numbers of hosts and ports.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ComparableOutcome {
    verdict: Verdict,
    cct: Option<Span>,
    message_fct: Vec<Span>,
    /// Start, delivery, completion, length and piece of each flow.
    flows: Vec<[u64; 5]>,
    counters: Counters,
    longest_queue: u64,
    busiest_link: u64,
}

/// Returns the times and the size of a flow.
fn flow(flow: &FlowRecord) -> [u64; 5] {
    let times = [flow.start, flow.delivered, flow.completed].map(Time::as_ps);
    [times[0], times[1], times[2], flow.bytes.get(), flow.piece.into()]
}

impl ComparableOutcome {
    pub(super) fn of(outcome: &Outcome) -> Self {
        // The number of events is an implementation detail.
        let counters = Counters { events: 0, ..outcome.counters };
        Self {
            verdict: outcome.verdict,
            cct: outcome.cct,
            message_fct: outcome.message_fct.clone(),
            flows: outcome.flows.iter().map(flow).collect(),
            counters,
            longest_queue: outcome.queue_bytes_max.get(),
            busiest_link: outcome.link_bytes_max.get(),
        }
    }

    /// Sorts messages by times and sizes, for relations in which their numbers do not matter.
    pub(super) fn sorted(mut self) -> Self {
        self.flows.sort_unstable();
        self.message_fct.sort_unstable();
        self
    }

    /// Multiplies each time by `factor`.
    pub(super) fn slower(mut self, factor: u64) -> Self {
        let scaled = |span: Span| Span::from_ps(span.as_ps() * factor);
        self.cct = self.cct.map(scaled);
        self.message_fct.iter_mut().for_each(|span| *span = scaled(*span));
        for flow in &mut self.flows {
            for time in &mut flow[..3] {
                *time = if *time == Time::NEVER.as_ps() { *time } else { *time * factor };
            }
        }
        self
    }

    /// Returns the numbers that a two-sample test compares, by name.
    pub(super) fn numbers(&self) -> Vec<(&'static str, f64)> {
        let counters = &self.counters;
        let fcts = self.message_fct.iter().map(|span| span.as_ps() as f64);
        let mean = fcts.clone().sum::<f64>() / fcts.len().max(1) as f64;
        let longest = fcts.clone().fold(0.0, f64::max);
        vec![
            ("messages that complete", self.message_fct.len() as f64),
            ("mean completion time", mean),
            ("longest completion time", longest),
            ("first message's completion time", fcts.clone().next().unwrap_or(0.0)),
            ("last message's completion time", fcts.clone().next_back().unwrap_or(0.0)),
            ("packets sent", counters.sent as f64),
            ("packets marked", counters.marked as f64),
            ("longest queue", self.longest_queue as f64),
        ]
    }
}

/// Fails with the first difference between two runs.
pub(super) fn equal(
    expected: &ComparableOutcome,
    found: &ComparableOutcome,
) -> Result<(), Failure> {
    if expected == found {
        return Ok(());
    }
    let [left, right] = [expected, found].map(|seen| format!("{seen:#?}"));
    let difference = left.lines().zip(right.lines()).find(|(a, b)| a != b);
    let (left, right) = difference.unwrap_or(("fewer lines", "more lines"));
    let [left, right] = [left, right].map(str::trim);
    let times = |seen: &ComparableOutcome| {
        seen.cct.map_or_else(|| "open".to_owned(), |cct| cct.to_string())
    };
    Err(Failure::Broken(format!(
        "expected {left}, found {right}; completion times: {} and {}",
        times(expected),
        times(found)
    )))
}
