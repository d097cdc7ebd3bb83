//! Reasons: the measured facts that explain why a policy is slower than another.
//!
//! A decision list over counters of the runs. The first fact that differs is the reason. Nothing is
//! estimated, so a difference that no counter shows is reported as such.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::indicators::Indicators;
use super::statistics::{EQUAL_WITHIN, Statistics};
use crate::fabric::{FailureKind, Outcome, Setup};
use crate::ids::PortId;
use crate::report::human;
use crate::topology::Node;
use crate::units::Span;

/// A count counts as larger from this ratio on.
const CLEARLY_MORE: f64 = 1.5;

/// The load of the hottest uplink counts as larger from this ratio on.
const HOTTER: f64 = 1.1;

/// Packets below this share of the packets sent explain nothing.
const FEW: f64 = 1e-4;

/// Share of the bytes below which the links between switches decide little.
const LITTLE_CROSSES: f64 = 0.25;

/// Facts of a run that may explain its completion time.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Facts {
    /// Completion time in nanoseconds; `None` if the run did not complete.
    pub cct_ns: Option<f64>,
    /// Lower bound of the completion time, in nanoseconds.
    pub bound_ns: f64,
    /// First timeout of a packet, in nanoseconds.
    pub timer_ns: f64,
    /// Data and control packets lost.
    pub lost: f64,
    /// Data packets sent, retransmissions included.
    pub sent: f64,
    /// Data packets retransmitted.
    pub retransmitted: f64,
    /// Data packets that arrived out of order.
    pub out_of_order: f64,
    /// Data packets trimmed to their header.
    pub trimmed: f64,
    /// Data packets that were ECN marked.
    pub marked: f64,
    /// Pause frames.
    pub pauses: f64,
    /// Load of the hottest parallel uplink over the mean.
    pub hottest: f64,
    /// Bytes of the longest queue of a port to a switch.
    pub core_queue: f64,
    /// Bytes of the longest queue of a port to a host.
    pub host_queue: f64,
    /// Bytes that switches send to switches, over the bytes that hosts send. `None` without any.
    pub crossing: Option<f64>,
    /// Name of the first link that is down during the run.
    pub down: Option<String>,
}

/// The reason for the difference between a policy and the reference.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Reason {
    /// Name of the policy.
    pub policy: String,
    /// Name of the policy that it is compared with.
    pub reference: String,
    /// The fact that explains the difference. Values of the reference are in brackets.
    pub reason: String,
}

impl Facts {
    /// Reads the facts of a run of `setup`.
    pub(crate) fn of(setup: &Setup, outcome: &Outcome, bound: Span) -> Self {
        let indicators = Indicators::of(setup, outcome, true);
        let topology = &setup.topology;
        let ports = (0..2 * topology.links().len()).map(|port| PortId(port as u32));
        let ends: Vec<_> = ports.map(|port| (port.index(), topology.ends_of(port))).collect();
        let longest = |is: fn(Node) -> bool| {
            let queues = ends.iter().filter(|(_, (_, to))| is(*to));
            let bytes = queues.filter_map(|(port, _)| outcome.queue_bytes_max_by_port.get(*port));
            bytes.max().map_or(0.0, |bytes| bytes.get() as f64)
        };
        let carried = |is: fn(Node, Node) -> bool| {
            let ports = ends.iter().filter(|(_, (from, to))| is(*from, *to));
            let bytes = ports.filter_map(|(port, _)| outcome.link_bytes.get(*port));
            bytes.map(|bytes| bytes.get() as f64).sum::<f64>()
        };
        let from_hosts = carried(|from, _| from.switch().is_none());
        let between = carried(|from, to| from.switch().is_some() && to.switch().is_some());
        let counters = &outcome.counters;
        let mut failures = setup.fabric.failures.iter();
        let down = failures.find(|it| it.kind == FailureKind::Down && it.at <= outcome.ended);
        Self {
            cct_ns: outcome.cct.map(Span::as_ns_f64),
            bound_ns: bound.as_ns_f64(),
            timer_ns: setup.nic.retransmit_timeout.as_ns_f64(),
            lost: (counters.dropped + counters.control_dropped) as f64,
            sent: counters.sent as f64,
            retransmitted: counters.retransmitted as f64,
            out_of_order: counters.out_of_order as f64,
            trimmed: counters.trimmed as f64,
            marked: counters.marked as f64,
            pauses: counters.pfc_pauses as f64,
            hottest: indicators.max_mean_ratio.unwrap_or(1.0),
            core_queue: longest(|to| to.switch().is_some()),
            host_queue: longest(|to| to.switch().is_none()),
            crossing: (from_hosts > 0.0).then(|| between / from_hosts),
            down: down.map(|failure| topology.link_name(failure.link).to_owned()),
        }
    }

    /// Returns the median of each fact over runs of one policy.
    fn median(runs: &[&Self]) -> Self {
        let of = |fact: fn(&Self) -> f64| median(runs.iter().map(|run| fact(run)).collect());
        let all = |fact: fn(&Self) -> Option<f64>| -> Option<f64> {
            Some(median(runs.iter().map(|run| fact(run)).collect::<Option<Vec<f64>>>()?))
        };
        Self {
            cct_ns: all(|run| run.cct_ns),
            bound_ns: of(|run| run.bound_ns),
            timer_ns: of(|run| run.timer_ns),
            lost: of(|run| run.lost),
            sent: of(|run| run.sent),
            retransmitted: of(|run| run.retransmitted),
            out_of_order: of(|run| run.out_of_order),
            trimmed: of(|run| run.trimmed),
            marked: of(|run| run.marked),
            pauses: of(|run| run.pauses),
            hottest: of(|run| run.hottest),
            core_queue: of(|run| run.core_queue),
            host_queue: of(|run| run.host_queue),
            crossing: all(|run| run.crossing),
            down: runs.iter().find_map(|run| run.down.clone()),
        }
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}

/// Returns the reason for each policy but the reference, in the order of `statistics`. Policies
/// with an incomplete run and comparisons without a reference have no reasons.
pub(super) fn reasons(statistics: &Statistics, runs: &[(&str, &Facts)]) -> Vec<Reason> {
    let facts = |policy: &str| {
        let runs: Vec<&Facts> =
            runs.iter().filter(|(name, _)| *name == policy).map(|(_, facts)| *facts).collect();
        let median = Facts::median(&runs);
        (!runs.is_empty() && median.cct_ns.is_some()).then_some(median)
    };
    let Some(reference) = &statistics.reference else { return Vec::new() };
    let Some(of_reference) = facts(reference) else { return Vec::new() };
    let others = statistics.policies.iter().filter(|it| it.policy != *reference);
    let reason = |policy: &str| {
        let reason = explain(&facts(policy)?, &of_reference)?;
        Some(Reason { policy: policy.to_owned(), reference: reference.clone(), reason })
    };
    others.filter_map(|it| reason(&it.policy)).collect()
}

/// Explains the completion time of a policy by facts in which it differs from the reference.
fn explain(it: &Facts, reference: &Facts) -> Option<String> {
    let ratio = it.cct_ns? / reference.cct_ns?;
    if (ratio - 1.0).abs() <= EQUAL_WITHIN {
        return Some(format!("at most {} % apart, {}", EQUAL_WITHIN * 100.0, why_equal(it)));
    }
    if ratio > 1.0 {
        return Some(format!("slower, {}", why_slower(it, reference)));
    }
    // From the side of the slower policy, whose values then are those in brackets.
    Some(format!("faster, and the reference has: {}", why_slower(reference, it)))
}

/// Returns the limit that both of two policies with equal times meet.
fn why_equal(it: &Facts) -> String {
    let slowdown = it.cct_ns.unwrap_or_default() / it.bound_ns.max(1.0);
    match it.crossing {
        Some(share) if share < LITTLE_CROSSES => {
            format!("{:.0} % of the bytes cross links between switches", share * 100.0)
        }
        _ if slowdown <= 1.05 => {
            format!("both are within {:.1} % of the lower bound", (slowdown - 1.0) * 100.0)
        }
        _ if it.host_queue > it.core_queue * CLEARLY_MORE => format!(
            "the queues are at receivers, up to {}, and up to {} between switches",
            human::bytes(it.host_queue),
            human::bytes(it.core_queue)
        ),
        _ => "no counter tells the two apart".to_owned(),
    }
}

/// Returns the first fact that explains why one policy is slower than another, with the value of
/// the faster one in brackets.
fn why_slower(slow: &Facts, fast: &Facts) -> String {
    let more = |fact: fn(&Facts) -> f64| fact(slow) > fact(fast) * CLEARLY_MORE;
    let matters = |fact: fn(&Facts) -> f64| more(fact) && fact(slow) > slow.sent * FEW;
    let packets = |fact: fn(&Facts) -> f64, what: &str| {
        format!("{} packets {what} ({})", human::count(fact(slow)), human::count(fact(fast)))
    };
    let queue = |fact: fn(&Facts) -> f64, place: &str| {
        format!("queue {place} of {} ({})", human::bytes(fact(slow)), human::bytes(fact(fast)))
    };
    let excess = slow.cct_ns.unwrap_or_default() - fast.cct_ns.unwrap_or_default();
    let waits = excess > slow.timer_ns / 2.0;
    if matters(|it| it.lost) || slow.lost > fast.lost && waits {
        let mut text = lost(slow, fast) + &down(slow);
        if waits {
            text += &format!(", retransmission timer {}", human::nanoseconds(slow.timer_ns));
        }
        return text;
    }
    if matters(|it| it.trimmed) {
        return packets(|it| it.trimmed, "trimmed");
    }
    if matters(|it| it.retransmitted) {
        let resent = packets(|it| it.retransmitted, "retransmitted");
        let cause = match slow.lost > slow.sent * FEW {
            true => lost(slow, fast),
            false => format!("nearly none lost, {}", packets(|it| it.out_of_order, "out of order")),
        };
        return format!("{resent}, {cause}{}", down(slow));
    }
    if slow.hottest > fast.hottest * HOTTER {
        let (own, other) = (human::ratio(slow.hottest), human::ratio(fast.hottest));
        return format!("hottest uplink at {own}× the mean load ({other}×)");
    }
    if more(|it| it.pauses) {
        return format!("{} pauses ({})", human::count(slow.pauses), human::count(fast.pauses));
    }
    if more(|it| it.core_queue) {
        return queue(|it| it.core_queue, "between switches");
    }
    if more(|it| it.host_queue) {
        return queue(|it| it.host_queue, "at a receiver");
    }
    if matters(|it| it.marked) {
        return packets(|it| it.marked, "marked, which slows their senders");
    }
    if matters(|it| it.out_of_order) {
        return packets(|it| it.out_of_order, "out of order");
    }
    "no counter differs clearly".to_owned()
}

/// Counts lost packets, with those of the faster policy in brackets.
fn lost(slow: &Facts, fast: &Facts) -> String {
    let (own, other) = (human::count(slow.lost), human::count(fast.lost));
    format!("{own} data and control packets lost ({other})")
}

/// Names the link that is down during a run, if there is one.
fn down(run: &Facts) -> String {
    run.down.as_ref().map_or_else(String::new, |link| format!(", {link} is down"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Facts of a run of 2 ms with a bound of 1 ms and a timer of 1 ms.
    fn slow() -> Facts {
        let (cct_ns, sent) = (Some(2e6), 100_000.0);
        Facts { cct_ns, bound_ns: 1e6, timer_ns: 1e6, sent, hottest: 1.0, ..Facts::default() }
    }

    /// Returns the reason for `it` against a run of 1.2 ms without any events.
    fn of(it: Facts) -> String {
        explain(&it, &Facts { cct_ns: Some(1.2e6), ..slow() }).unwrap()
    }

    #[test]
    fn the_first_fact_that_differs_is_the_reason() {
        let lost = Facts { lost: 20.0, down: Some("a-b".to_owned()), hottest: 3.0, ..slow() };
        assert_eq!(
            of(lost),
            "slower, 20 data and control packets lost (0), a-b is down, retransmission timer \
             1.000ms"
        );
        let resent = Facts { retransmitted: 500.0, out_of_order: 900.0, hottest: 3.0, ..slow() };
        assert_eq!(
            of(resent),
            "slower, 500 packets retransmitted (0), nearly none lost, 900 packets out of order (0)"
        );
        let lossy = Facts { lost: 20.0, ..slow() };
        let resent = Facts { retransmitted: 500.0, lost: 20.0, cct_ns: Some(3e6), ..slow() };
        let expected =
            "slower, 500 packets retransmitted (0), 20 data and control packets lost (20)";
        assert_eq!(explain(&resent, &lossy).unwrap(), expected);
        let hot = Facts { hottest: 3.0, core_queue: 1e6, ..slow() };
        assert_eq!(of(hot), "slower, hottest uplink at 3.000× the mean load (1.000×)");
        let queue = Facts { core_queue: 1e6, marked: 1e4, ..slow() };
        assert_eq!(of(queue), "slower, queue between switches of 1.00MB (0B)");
        assert_eq!(of(Facts { marked: 5.0, ..slow() }), "slower, no counter differs clearly");
    }

    #[test]
    fn few_packets_are_a_reason_only_if_a_timer_waits_for_them() {
        let few = Facts { lost: 1.0, ..slow() };
        assert!(
            of(few.clone())
                .starts_with("slower, 1 data and control packets lost (0), retransmission")
        );
        let quick = Facts { cct_ns: Some(1.3e6), ..few };
        assert_eq!(of(quick), "slower, no counter differs clearly");
    }

    #[test]
    fn equal_times_are_explained_by_what_limits_both() {
        let equal = |it: Facts| explain(&it, &it).unwrap();
        let little = Facts { crossing: Some(0.04), ..slow() };
        let expected = "at most 1 % apart, 4 % of the bytes cross links between switches";
        assert_eq!(equal(little), expected);
        let near = Facts { cct_ns: Some(1.02e6), crossing: Some(0.9), ..slow() };
        assert_eq!(equal(near), "at most 1 % apart, both are within 2.0 % of the lower bound");
        let incast = Facts { host_queue: 9e6, core_queue: 1e6, ..slow() };
        let expected = "at most 1 % apart, the queues are at receivers, up to 9.00MB, and up to \
                        1.00MB between switches";
        assert_eq!(equal(incast), expected);
        assert_eq!(equal(slow()), "at most 1 % apart, no counter tells the two apart");
    }

    #[test]
    fn a_faster_policy_has_the_reason_of_the_reference() {
        let reference = Facts { hottest: 2.0, ..slow() };
        let fast = Facts { cct_ns: Some(1.2e6), ..slow() };
        let expected = "faster, and the reference has: hottest uplink at 2.000× the mean load \
                        (1.000×)";
        assert_eq!(explain(&fast, &reference).unwrap(), expected);
        assert_eq!(explain(&Facts { cct_ns: None, ..slow() }, &reference), None);
    }
}
