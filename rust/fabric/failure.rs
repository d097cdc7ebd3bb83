//! The plan of failures: what changes when, and who knows of it when.
//!
//! Nothing learns of a failure by any other way than this plan says: the link itself stops
//! carrying at once, the switches at its ends know after their detection delay, routing
//! everywhere after the convergence time. What is left of a degraded link matters to routing only
//! where it weighs next hops by capacity. Senders are told nothing, but for the weights of paths
//! that they choose themselves.

use std::collections::BTreeMap;

use super::config::{Failure, FailureKind};
use super::event::Event;
use super::fault::link_ports;
use super::network::Network;
use crate::balance::Weights;
use crate::ids::LinkId;
use crate::topology::{Capacities, Node, Routes, Topology};
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
enum Witness {
    /// The wire itself: its rate changes.
    Wire,
    /// The switches at the ends of the link.
    Ends,
    /// Routing everywhere.
    Routing,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Step {
    at: Time,
    witness: Witness,
    link: LinkId,
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

/// Whether routing is another than before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Routing {
    Same,
    Converged,
}

/// Steps in order of time.
#[derive(Debug, Default)]
pub(super) struct Plan {
    steps: Vec<Step>,
    /// How many failures each witness knows of, by link: failures of one link may overlap.
    known: BTreeMap<(Witness, LinkId), u32>,
    /// In order of links.
    degraded: Vec<Slow>,
    /// True while routing knows of links that came or went since its tables were made.
    stale: bool,
}

impl Plan {
    /// Makes the plan and puts its outages and events into the network.
    pub fn new(failures: &[Failure], network: &mut Network) -> Self {
        let mut plan = Self::default();
        for failure in failures {
            for port in link_ports(failure.link) {
                network.ports[port.index()].faulty = true;
            }
            plan.add(failure, network);
        }
        network.faults.sort();
        plan.degraded.sort_by_key(|slow| slow.link);
        plan.steps.sort_unstable();
        for (place, step) in (0u32..).zip(&plan.steps) {
            network.queue.push(step.at, Event::Control(place));
        }
        plan
    }

    fn add(&mut self, failure: &Failure, network: &mut Network) {
        let (link, from, until) = (failure.link, failure.at, failure.until);
        match failure.kind {
            FailureKind::Down => {
                network.faults.add_outage(link, from, until);
                for (when, change) in [(from, Change::Down), (until, Change::Up)] {
                    let ends = when.saturating_add(failure.detection);
                    let routing = when.saturating_add(failure.convergence);
                    self.add_step(ends, Witness::Ends, link, change);
                    self.add_step(routing, Witness::Routing, link, change);
                }
            }
            FailureKind::Degrade { factor } => {
                self.slow_down(Slow { witness: Witness::Wire, link, from, until, factor });
                if network.weights == Weights::Capacity {
                    let from = from.saturating_add(failure.convergence);
                    let until = until.saturating_add(failure.convergence);
                    self.slow_down(Slow { witness: Witness::Routing, link, from, until, factor });
                }
            }
            FailureKind::Loss { rate } => network.faults.add_loss(link, (from, until), rate),
        }
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

    /// Carries out step `place`.
    pub fn carry_out(&mut self, place: u32, topology: &Topology, network: &mut Network) -> Routing {
        let step = self.steps[place as usize];
        match step.change {
            Change::Down => *self.known.entry((step.witness, step.link)).or_insert(0) += 1,
            Change::Up => *self.known.entry((step.witness, step.link)).or_insert(0) -= 1,
            Change::Rate => {}
        }
        match step.witness {
            Witness::Wire => {
                let rate = self.rate(step.witness, step.at, topology, step.link);
                for id in link_ports(step.link) {
                    network.faults.change_rate(id, &mut network.ports[id.index()], rate);
                }
                Routing::Same
            }
            Witness::Ends => {
                tell_ends(step.link, !self.up(step.witness, step.link), network);
                Routing::Same
            }
            Witness::Routing => {
                self.stale |= step.change != Change::Rate;
                let next = self.steps.get(place as usize + 1);
                let more =
                    next.is_some_and(|next| (next.at, next.witness) == (step.at, Witness::Routing));
                // Links that routing learns of together cost one computation.
                if more {
                    return Routing::Same;
                }
                self.converge(step.at, topology, network);
                Routing::Converged
            }
        }
    }

    fn converge(&mut self, now: Time, topology: &Topology, network: &mut Network) {
        if std::mem::take(&mut self.stale) {
            network.routes = Routes::new(topology, &|link| self.up(Witness::Routing, link));
            network.rerouted = true;
        }
        network.capacities = None;
        if network.weights == Weights::Capacity && self.routing_knows_of_a_failure(now) {
            let routes = (&network.routes, &*network.intact);
            let left = |link| self.left(now, topology, link);
            network.capacities = Some(Box::new(Capacities::new(topology, routes, &left)));
        }
        network.switches.iter_mut().for_each(|switch| switch.epoch += 1);
    }

    fn routing_knows_of_a_failure(&self, now: Time) -> bool {
        let mut of_routing = self.known.iter().filter(|((it, _), _)| *it == Witness::Routing);
        of_routing.any(|(_, &failures)| failures > 0)
            || self.degraded.iter().any(|slow| slow.holds(Witness::Routing, now))
    }

    /// What routing knows to be left of the rate of a link at `now`; nothing if it is down.
    pub fn left(&self, now: Time, topology: &Topology, link: LinkId) -> BitRate {
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

fn tell_ends(link: LinkId, dead: bool, network: &mut Network) {
    for id in link_ports(link) {
        let Node::Switch(switch) = network.ports[id.index()].start.node() else { continue };
        let state = &mut network.switches[switch.index()];
        state.dead.retain(|&port| port != id);
        if dead {
            state.dead.push(id);
        }
        state.epoch += 1;
    }
}
