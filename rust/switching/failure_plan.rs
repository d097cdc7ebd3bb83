//! The plan of failures: what changes when, and who knows of it when.
//!
//! Nothing learns of a failure by any other way than this plan says: the link itself stops
//! carrying at once, the switches at its ends know after their detection delay, routing
//! everywhere after the convergence time. What is left of a degraded link matters to routing only
//! where it weighs next hops by capacity. Senders are told nothing, but for the weights of paths
//! that they choose themselves.

use std::collections::BTreeMap;

use super::config::{Failure, FailureKind};
use super::switch::PortState;
use super::ways::Ways;
use crate::balance::Weights;
use crate::endpoint::{Endpoints, RoutingKnows};
use crate::ids::LinkId;
use crate::topology::{Capacities, Routes, Topology};
use crate::units::{BitRate, Fraction, Time};

/// What happens to a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Change {
    Down,
    Up,
    Rate,
}

/// Who learns of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Witness {
    /// The wire itself: its rate changes.
    Wire,
    /// The switches at the ends of the link.
    Ends,
    /// Routing everywhere.
    Routing,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Step {
    pub at: Time,
    pub witness: Witness,
    pub link: LinkId,
    change: Change,
}

/// A link that is degraded, as one witness has it.
#[derive(Debug, Clone, Copy)]
struct Slow {
    witness: Witness,
    link: LinkId,
    from: Time,
    until: Time,
    factor: Fraction,
}

/// What a step changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Nothing yet.
    None,
    /// From now on packets start on the link at this rate.
    Rate(LinkId, BitRate),
    /// The switches at the ends of the link know what it is now.
    Ends(LinkId, PortState),
    /// Routing is another than before, everywhere.
    Converged,
}

/// Steps in order of time.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    steps: Vec<Step>,
    /// How many failures each witness knows of, by link: failures of one link may overlap.
    known: BTreeMap<(Witness, LinkId), u32>,
    /// In order of links.
    degraded: Vec<Slow>,
    /// True while routing knows of links that came or went since its tables were made.
    stale: bool,
}

impl Plan {
    /// The plan of `failures`, where routing tells `weights`.
    pub fn new(failures: &[Failure], weights: Weights) -> Self {
        let mut plan = Self::default();
        failures.iter().for_each(|failure| plan.add(failure, weights));
        plan.degraded.sort_by_key(|slow| slow.link);
        plan.steps.sort_unstable();
        plan
    }

    fn add(&mut self, failure: &Failure, weights: Weights) {
        let (link, from, until) = (failure.link, failure.at, failure.until);
        match failure.kind {
            FailureKind::Down => {
                for (when, change) in [(from, Change::Down), (until, Change::Up)] {
                    let ends = when.saturating_add(failure.detection);
                    let routing = when.saturating_add(failure.convergence);
                    self.add_step(ends, Witness::Ends, link, change);
                    self.add_step(routing, Witness::Routing, link, change);
                }
            }
            FailureKind::Degrade { factor } => {
                self.slow_down(Slow { witness: Witness::Wire, link, from, until, factor });
                if weights == Weights::Capacity {
                    let from = from.saturating_add(failure.convergence);
                    let until = until.saturating_add(failure.convergence);
                    self.slow_down(Slow { witness: Witness::Routing, link, from, until, factor });
                }
            }
            FailureKind::Loss { .. } => {}
        }
    }

    /// Its steps, in order of time; those of one time in their order.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    fn slow_down(&mut self, slow: Slow) {
        self.degraded.push(slow);
        for at in [slow.from, slow.until] {
            self.add_step(at, slow.witness, slow.link, Change::Rate);
        }
    }

    fn add_step(&mut self, at: Time, witness: Witness, link: LinkId, change: Change) {
        if at < Time::NEVER {
            self.steps.push(Step { at, witness, link, change });
        }
    }

    /// The link whose rate step `place` changes, if it changes one: what started on it before
    /// must have started by then.
    pub fn changes_rate(&self, place: u32) -> Option<LinkId> {
        let step = self.steps[place as usize];
        (step.witness == Witness::Wire).then_some(step.link)
    }

    /// Carries out step `place`: sees to `ways`, and says what else changes.
    pub fn carry_out(&mut self, place: u32, topology: &Topology, ways: &mut Ways) -> Effect {
        let step = self.steps[place as usize];
        match step.change {
            Change::Down => *self.known.entry((step.witness, step.link)).or_insert(0) += 1,
            Change::Up => *self.known.entry((step.witness, step.link)).or_insert(0) -= 1,
            Change::Rate => {}
        }
        match step.witness {
            Witness::Wire => Effect::Rate(step.link, self.rate_after(&step, topology)),
            Witness::Ends if self.up(step.witness, step.link) => {
                Effect::Ends(step.link, PortState::Alive)
            }
            Witness::Ends => Effect::Ends(step.link, PortState::Dead),
            Witness::Routing => {
                self.stale |= step.change != Change::Rate;
                let next = self.steps.get(place as usize + 1);
                let more =
                    next.is_some_and(|next| (next.at, next.witness) == (step.at, Witness::Routing));
                // Links that routing learns of together cost one computation.
                if more {
                    return Effect::None;
                }
                self.converge(step.at, topology, ways);
                Effect::Converged
            }
        }
    }

    /// The rate of a link once its wire has made a step.
    pub fn rate_after(&self, step: &Step, topology: &Topology) -> BitRate {
        self.rate(Witness::Wire, step.at, topology, step.link)
    }

    fn converge(&mut self, now: Time, topology: &Topology, ways: &mut Ways) {
        if std::mem::take(&mut self.stale) {
            ways.routes = Routes::new(topology, &|link| self.up(Witness::Routing, link));
            ways.rerouted = true;
        }
        ways.capacities = None;
        if ways.weights == Weights::Capacity && self.routing_knows_of_a_failure(now) {
            let (routes, intact) = (&ways.routes, &*ways.intact);
            let left = |link| self.left(now, topology, link);
            ways.capacities = Some(Box::new(Capacities::new(topology, routes, intact, &left)));
        }
    }

    /// Tells hosts that route themselves what routing knows now, after it converged.
    pub fn tell_hosts(
        &self,
        now: Time,
        topology: &Topology,
        ways: &Ways,
        endpoints: &mut Endpoints,
    ) {
        let links = (0u32..).take(topology.links().len()).map(LinkId);
        let left = links.map(|link| self.left(now, topology, link)).collect();
        let knows = match ways.capacities {
            Some(_) => RoutingKnows::Failures,
            None => RoutingKnows::Nothing,
        };
        endpoints.handle_routing(left, knows);
    }

    fn routing_knows_of_a_failure(&self, now: Time) -> bool {
        let mut of_routing = self.known.iter().filter(|((it, _), _)| *it == Witness::Routing);
        of_routing.any(|(_, &failures)| failures > 0)
            || self.degraded.iter().any(|slow| slow.holds(Witness::Routing, now))
    }

    /// What routing knows to be left of the rate of a link at `now`; nothing if it is down.
    fn left(&self, now: Time, topology: &Topology, link: LinkId) -> BitRate {
        if self.up(Witness::Routing, link) {
            self.rate(Witness::Routing, now, topology, link)
        } else {
            BitRate::from_bps(0)
        }
    }

    /// What is left of the rate of a link at `now`, as a witness has it.
    fn rate(&self, witness: Witness, now: Time, topology: &Topology, link: LinkId) -> BitRate {
        let first = self.degraded.partition_point(|slow| slow.link < link);
        let of_link = self.degraded[first..].iter().take_while(|slow| slow.link == link);
        let holds = of_link.filter(|slow| slow.holds(witness, now));
        let whole = topology.link(link).rate;
        let rate = holds.fold(whole, |rate, slow| rate.scaled(slow.factor));
        // Scenarios keep rates well above this; a rate of nothing would never send anything.
        rate.max(BitRate::from_bps(1))
    }

    fn up(&self, witness: Witness, link: LinkId) -> bool {
        self.known.get(&(witness, link)).is_none_or(|&failures| failures == 0)
    }
}

impl Slow {
    fn holds(&self, witness: Witness, now: Time) -> bool {
        self.witness == witness && self.from <= now && now < self.until
    }
}
