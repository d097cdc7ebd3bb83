//! The failure plan: when links change, when switches detect it, and when routing converges.
//!
//! Failures become known only through this plan. A link immediately stops carrying packets or
//! changes its rate. The switches at its ends detect that after the detection delay. Routing has
//! converged everywhere after the convergence time. The remaining rate of a degraded link affects
//! routing only if routing weights next hops by capacity. Senders learn nothing, except the weights
//! of paths that they choose themselves.

use std::collections::BTreeMap;

use super::config::{Direction, Failure, FailureKind};
use super::forwarding_table::ForwardingTable;
use super::switch::PortState;
use crate::balance::Weights;
use crate::ids::{LinkId, PortId};
use crate::topology::{KnownFailures, LinkState, Topology};
use crate::units::{BitRate, Fraction, Time};

/// Effect of a step on a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Change {
    Down,
    Up,
    Rate,
}

/// The kind of a step. Steps at the same time are applied in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum StepKind {
    /// The link rate changes for packets that start from now on.
    RateChange,
    /// The switches at the ends of the link detect its failure or recovery.
    Detection,
    /// Routing takes the state of the link into account everywhere.
    Convergence,
}

/// A step of the plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Step {
    /// The time of the step.
    pub at: Time,
    /// Whether the step concerns wires, switches or routing.
    pub kind: StepKind,
    /// The affected link.
    pub link: LinkId,
    change: Change,
}

/// A period in which a link is degraded.
#[derive(Debug, Clone, Copy)]
struct Degradation {
    /// Whether it applies to the wire (`RateChange`) or to routing (`Convergence`).
    kind: StepKind,
    link: LinkId,
    direction: Direction,
    from: Time,
    until: Time,
    factor: Fraction,
}

/// Changes of a step outside the forwarding table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Effect {
    /// The step changed at most the forwarding table.
    None,
    /// The rates of the link's two ports for packets that start from now on.
    Rate(LinkId, [BitRate; 2]),
    /// The switches at the ends of the link detect this state.
    Detected(LinkId, PortState),
    /// Routing has converged everywhere to this state.
    Converged(LinkState),
}

/// All steps, and the state after the steps applied so far.
#[derive(Debug, Default)]
pub(super) struct FailurePlan {
    /// The planned failures as configured; later additions to one link are sorted by start.
    failures: Vec<Failure>,
    /// Weights that routing distributes.
    weights: Weights,
    /// Ordered by time.
    steps: Vec<Step>,
    /// Number of failures of a link that were detected or converged to. Failures of one link may
    /// overlap.
    known: BTreeMap<(StepKind, LinkId), u32>,
    /// Ordered by link.
    degraded: Vec<Degradation>,
    /// True if links known to routing went down or up since the tables were computed.
    stale: bool,
}

impl FailurePlan {
    /// Creates the plan of `failures`, where routing distributes `weights`.
    pub(super) fn new(failures: &[Failure], weights: Weights) -> Self {
        let mut plan = Self { failures: failures.to_vec(), weights, ..Self::default() };
        failures.iter().for_each(|failure| plan.add(failure, weights));
        // A stable sort: factors of one link are multiplied in configured order because each
        // product is rounded.
        plan.degraded.sort_by_key(|degradation| degradation.link);
        // By time, then by kind: at the same time, wires change before switches detect, and
        // switches detect before routing converges.
        plan.steps.sort_unstable();
        plan
    }

    fn add(&mut self, failure: &Failure, weights: Weights) {
        let &Failure { link, direction, kind, at: from, until, detection, convergence } = failure;
        match kind {
            FailureKind::Down => {
                for (when, change) in [(from, Change::Down), (until, Change::Up)] {
                    let detected = when.saturating_add(detection);
                    let converged = when.saturating_add(convergence);
                    self.add_step(Step { at: detected, kind: StepKind::Detection, link, change });
                    let kind = StepKind::Convergence;
                    self.add_step(Step { at: converged, kind, link, change });
                }
            }
            FailureKind::Degrade { factor } => {
                let kind = StepKind::RateChange;
                self.degrade(Degradation { kind, link, direction, from, until, factor });
                if weights == Weights::Capacity {
                    let kind = StepKind::Convergence;
                    let from = from.saturating_add(convergence);
                    let until = until.saturating_add(convergence);
                    self.degrade(Degradation { kind, link, direction, from, until, factor });
                }
            }
            // Losses are never detected, so the plan has no steps for them.
            FailureKind::Loss { .. } => {}
        }
    }

    /// Returns the steps in the order in which they are applied, by time.
    pub(super) fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Returns the planned failures.
    pub(super) fn failures(&self) -> &[Failure] {
        &self.failures
    }

    /// Adds a failure after `applied` steps have been applied; none of the failure's steps is in
    /// the past. The plan is then as if the failure had been configured from the start.
    pub(super) fn add_during_run(&mut self, applied: usize, failure: Failure) {
        let joined = merged_outage(&self.failures, failure);
        // Applied steps cannot be undone: an outage that ended just now is not extended; the new
        // one is separate.
        if !joined.is_some_and(|failures| self.replace(applied, failures)) {
            let added = self.replace(applied, inserted(&self.failures, failure));
            debug_assert!(added, "no step was taken away");
        }
    }

    /// Ends the failures of these links that are active at `at`, after `applied` steps up to `at`
    /// have been applied. Returns false if there are none.
    pub(super) fn end_during_run(&mut self, applied: usize, links: &[LinkId], at: Time) -> bool {
        let mut failures = self.failures.clone();
        let mut has_ended = false;
        for failure in &mut failures {
            if links.contains(&failure.link) && failure.at < at && at < failure.until {
                failure.until = at;
                has_ended = true;
            }
        }
        has_ended && self.replace(applied, failures)
    }

    /// Replaces the planned failures from the first unapplied step on. Returns false and changes
    /// nothing if a step was applied that the new plan does not contain.
    fn replace(&mut self, applied: usize, failures: Vec<Failure>) -> bool {
        let next = Self::new(&failures, self.weights);
        let applied = &self.steps[..applied.min(self.steps.len())];
        let mut counts: BTreeMap<Step, u32> = BTreeMap::new();
        applied.iter().for_each(|step| *counts.entry(*step).or_default() += 1);
        let mut steps = applied.to_vec();
        for step in next.steps {
            match counts.get_mut(&step).filter(|count| **count > 0) {
                Some(count) => *count -= 1,
                None => steps.push(step),
            }
        }
        // A step was applied that the new plan lacks, and steps cannot be undone.
        if counts.into_values().any(|left| left > 0) {
            return false;
        }
        (self.failures, self.steps, self.degraded) = (failures, steps, next.degraded);
        true
    }

    fn degrade(&mut self, degradation: Degradation) {
        self.degraded.push(degradation);
        let Degradation { kind, link, from, until, .. } = degradation;
        for at in [from, until] {
            self.add_step(Step { at, kind, link, change: Change::Rate });
        }
    }

    /// Adds a step unless it never happens.
    fn add_step(&mut self, step: Step) {
        if step.at < Time::NEVER {
            self.steps.push(step);
        }
    }

    /// Applies a step by index: updates `table` and returns the other changes.
    pub(super) fn apply(
        &mut self,
        index: u32,
        topology: &Topology,
        table: &mut ForwardingTable,
    ) -> Effect {
        let step = self.steps[index as usize];
        match step.change {
            Change::Down => *self.known.entry((step.kind, step.link)).or_insert(0) += 1,
            // Cannot underflow: the same failure counted up earlier, since `at` precedes `until`
            // and both have the same delays.
            Change::Up => *self.known.entry((step.kind, step.link)).or_insert(0) -= 1,
            Change::Rate => {}
        }
        match step.kind {
            StepKind::RateChange => Effect::Rate(step.link, self.rates_after(&step, topology)),
            // The resulting state counts, not this change: another failure may keep the link down.
            StepKind::Detection if self.is_up(step.kind, step.link) => {
                Effect::Detected(step.link, PortState::Alive)
            }
            StepKind::Detection => Effect::Detected(step.link, PortState::Dead),
            StepKind::Convergence => {
                self.stale |= step.change != Change::Rate;
                let next = self.steps.get(index as usize + 1);
                let more = next
                    .is_some_and(|next| (next.at, next.kind) == (step.at, StepKind::Convergence));
                // Links whose state becomes known at the same time share one computation.
                if more {
                    return Effect::None;
                }
                Effect::Converged(self.converge(step.at, topology, table))
            }
        }
    }

    /// Returns the rates of both ports of the step's link after the step.
    pub(super) fn rates_after(&self, step: &Step, topology: &Topology) -> [BitRate; 2] {
        let ports = step.link.ports();
        ports.map(|port| self.rate(StepKind::RateChange, step.at, topology, port))
    }

    fn converge(
        &mut self,
        now: Time,
        topology: &Topology,
        table: &mut ForwardingTable,
    ) -> LinkState {
        // A rate change moves no next hop: tables are recomputed only after links went down or up.
        if std::mem::take(&mut self.stale) {
            table.reroute(topology, &|link| self.is_up(StepKind::Convergence, link));
        }
        let remaining_rate = |link| self.remaining_rate(now, topology, link);
        let is_weighted = table.uses_capacity_weights()
            && (topology.is_uneven() || self.routing_knows_of_a_failure(now));
        match is_weighted {
            true => table.apply_weights(topology, &remaining_rate),
            false => table.clear_weights(),
        }
        let links = (0u32..).take(topology.links().len()).map(LinkId);
        LinkState {
            rates: links.map(remaining_rate).collect(),
            failures: if is_weighted { KnownFailures::Some } else { KnownFailures::None },
        }
    }

    fn routing_knows_of_a_failure(&self, now: Time) -> bool {
        let mut converged = self.known.iter().filter(|((it, _), _)| *it == StepKind::Convergence);
        converged.any(|(_, &failures)| failures > 0)
            || self.degraded.iter().any(|it| it.is_active(StepKind::Convergence, now))
    }

    /// Returns the rate of a link at `now` as known to routing: the lower of both directions, or 0
    /// if it is down.
    fn remaining_rate(&self, now: Time, topology: &Topology, link: LinkId) -> BitRate {
        if self.is_up(StepKind::Convergence, link) {
            let rate = |port| self.rate(StepKind::Convergence, now, topology, port);
            let [there, back] = link.ports().map(rate);
            there.min(back)
        } else {
            BitRate::from_bps(0)
        }
    }

    /// Returns the rate of a port at a time, as seen by the wire (`RateChange`) or by routing
    /// (`Convergence`).
    fn rate(&self, kind: StepKind, at: Time, topology: &Topology, port: PortId) -> BitRate {
        let link = port.link();
        let first = self.degraded.partition_point(|it| it.link < link);
        let of_link = self.degraded[first..].iter().take_while(|it| it.link == link);
        // Active factors are multiplied afresh at each step, so the end of a failure restores the
        // exact rate.
        let active = of_link.filter(|it| it.is_active(kind, at) && it.affects(port));
        let whole = topology.link(link).rate;
        let rate = active.fold(whole, |rate, it| rate.scaled(it.factor));
        // At least 1 bit/s: a rate of 0 would never send anything. Scenarios keep rates far above
        // this.
        rate.max(BitRate::from_bps(1))
    }

    fn is_up(&self, kind: StepKind, link: LinkId) -> bool {
        self.known.get(&(kind, link)).is_none_or(|&failures| failures == 0)
    }
}

/// Inserts `new` after the failures of its link that begin no later.
fn inserted(failures: &[Failure], new: Failure) -> Vec<Failure> {
    let is_before = |it: &Failure| it.link == new.link && it.at <= new.at;
    let before = failures.iter().rposition(is_before).map(|index| index + 1);
    let of_link = || failures.iter().position(|it| it.link == new.link);
    let place = before.or_else(of_link).unwrap_or(failures.len());
    let mut all = failures.to_vec();
    all.insert(place, new);
    all
}

/// Merges an outage with overlapping outages of equal delays, as scenarios do. Returns `None` if
/// there are none.
fn merged_outage(failures: &[Failure], new: Failure) -> Option<Vec<Failure>> {
    let known = |it: &Failure| (it.link, it.direction, it.kind, it.detection, it.convergence);
    let overlaps =
        |it: &Failure| known(it) == known(&new) && it.at <= new.until && new.at <= it.until;
    let mut joined = new;
    let mut others = Vec::new();
    for it in failures {
        if new.kind == FailureKind::Down && overlaps(it) {
            joined.at = joined.at.min(it.at);
            joined.until = joined.until.max(it.until);
        } else {
            others.push(*it);
        }
    }
    (others.len() < failures.len()).then(|| inserted(&others, joined))
}

impl Degradation {
    fn affects(&self, port: PortId) -> bool {
        matches!(self.direction, Direction::Both) || self.direction == Direction::From(port)
    }

    fn is_active(&self, kind: StepKind, now: Time) -> bool {
        self.kind == kind && self.from <= now && now < self.until
    }
}
