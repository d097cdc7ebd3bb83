//! Detection of runs that cannot complete, because every open message is between hosts without a
//! path or depends on such a message.
//!
//! Such a run would retransmit until the time limit. Ending it early saves wall time and changes no
//! other result.

use std::collections::BTreeMap;

use super::setup::Setup;
use crate::endpoint::Endpoints;
use crate::ids::{HostId, LinkId, MessageId, TaskId};
use crate::switching::{Direction, Failure, FailureKind};
use crate::topology::{Routes, Topology};
use crate::units::{Span, Time};
use crate::workload::Task;

/// Time after the last permanent failure during which a packet that crossed the link before may
/// still be in flight \[inferred\]. Longer than any queue or pause of a fabric. With long wires,
/// this many round trips instead.
const GRACE: Span = Span::from_ms(10);
const GRACE_ROUND_TRIPS: u64 = 4;

/// Pairs of hosts that can no longer reach each other.
#[derive(Debug)]
pub(super) struct Reachability {
    /// Time from which all permanently failed links are down; `None` without such links.
    since: Option<Time>,
    /// Next hops over the other links, computed on first use.
    routes: Option<Routes>,
    /// Whether a sender has no path to a receiver, computed on first use.
    separated: BTreeMap<(HostId, HostId), bool>,
}

impl Reachability {
    pub(super) fn new(failures: &[Failure], base_rtt: Span) -> Self {
        let round_trips = base_rtt.as_ps().saturating_mul(GRACE_ROUND_TRIPS);
        let grace = GRACE.max(Span::from_ps(round_trips));
        let last = failures.iter().filter(|failure| stays_down(failure)).map(|it| it.at).max();
        let since = last.map(|at| at.saturating_add(grace));
        Self { since, routes: None, separated: BTreeMap::new() }
    }

    /// True if messages are open at `now` and none of them can complete.
    pub(super) fn only_unreachable_remain(
        &mut self,
        now: Time,
        topology: &Topology,
        failures: &[Failure],
        endpoints: &Endpoints,
    ) -> bool {
        // Nearly every run returns here. Routes and pairs are computed only once links stay down
        // permanently.
        if self.since.is_none_or(|since| now < since) {
            return false;
        }
        let routes = self.routes.get_or_insert_with(|| surviving_routes(topology, failures));
        let mut is_separated_pair = |id: MessageId| {
            let message = endpoints.message(id);
            let pair = (message.src, message.dst);
            // A message to its own host needs no path, and has no route.
            let compute = || is_separated(topology, routes, pair);
            *self.separated.entry(pair).or_insert_with(compute)
        };
        let open: Vec<MessageId> = endpoints.ledger().open_messages().collect();
        let separated: Vec<MessageId> =
            open.iter().copied().filter(|&id| is_separated_pair(id)).collect();
        !open.is_empty() && never_completing(endpoints, &separated) == open.len()
    }
}

/// Returns the number of messages that cannot complete: those between `separated` hosts, and their
/// dependents.
fn never_completing(endpoints: &Endpoints, separated: &[MessageId]) -> usize {
    let (workload, ledger) = (endpoints.workload(), endpoints.ledger());
    // No task depends on a posted message.
    let is_planned = |id: &&MessageId| id.index() < workload.messages.len();
    let mut count = separated.iter().filter(|id| !is_planned(id)).count();
    let mut next: Vec<TaskId> = separated.iter().filter(is_planned).map(|&id| id.into()).collect();
    let mut never = vec![false; workload.task_count()];
    while let Some(task) = next.pop() {
        // A task may wait for several others that never complete, but counts once.
        if std::mem::replace(&mut never[task.index()], true) {
            continue;
        }
        let waits_in_vain = |after: &&TaskId| match workload.task(task) {
            // Other tasks may meet its dependencies.
            _ if workload.starts_after.contains_key(*after) => false,
            // The sender waits for the completion, the receiver for the delivery.
            Task::Message(id, message) => {
                !ledger.is_delivered(id) || workload.host_of(**after) == message.src
            }
            Task::Delay(_) => true,
        };
        count += usize::from(workload.message(task).is_some());
        next.extend(workload.dependents_of(task).iter().filter(waits_in_vain));
    }
    count
}

/// True if links that stay down separate two hosts that exchange messages.
pub(super) fn separates(setup: &Setup) -> bool {
    let Setup { topology, fabric, workload, .. } = setup;
    if !fabric.failures.iter().any(stays_down) {
        return false;
    }
    let routes = surviving_routes(topology, &fabric.failures);
    let mut messages = workload.messages.iter();
    messages.any(|it| is_separated(topology, &routes, (it.src, it.dst)))
}

/// True if a message needs the fabric and has no path there.
fn is_separated(topology: &Topology, routes: &Routes, (src, dst): (HostId, HostId)) -> bool {
    let sender = topology.sender_over_fabric(src, dst);
    src != dst && sender.is_some_and(|sender| routes.path_count(sender, dst) == 0)
}

fn surviving_routes(topology: &Topology, failures: &[Failure]) -> Routes {
    let mut dead = vec![false; topology.links().len()];
    failures.iter().filter(|it| stays_down(it)).for_each(|it| dead[it.link.index()] = true);
    Routes::new(topology, &|link: LinkId| !dead[link.index()])
}

fn stays_down(failure: &Failure) -> bool {
    // A link that has failed in one direction may still be part of the only path in the other.
    let is_dead = failure.kind == FailureKind::Down && failure.direction == Direction::Both;
    is_dead && failure.until == Time::NEVER
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Fraction;

    #[test]
    fn only_permanent_failures_of_both_directions_stay_down() {
        let down = Failure {
            link: LinkId(0),
            direction: Direction::Both,
            at: Time::ZERO,
            until: Time::NEVER,
            kind: FailureKind::Down,
            detection: Span::ZERO,
            convergence: Span::ZERO,
        };
        assert!(stays_down(&down));
        assert!(!stays_down(&Failure { until: Time::from_ps(1), ..down }));
        assert!(!stays_down(&Failure { direction: Direction::From(LinkId(0).ports()[0]), ..down }));
        let kind = FailureKind::Loss { rate: Fraction::ONE };
        assert!(!stays_down(&Failure { kind, ..down }));
    }
}
