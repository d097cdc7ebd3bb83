//! The plan of failures: what changes when, and who knows of it when.
//!
//! Nothing learns of a failure by any other way than this plan says: the link itself stops
//! carrying at once, the switches at its ends know after their detection delay, routing
//! everywhere after the convergence time. Senders are told nothing.

use std::collections::BTreeMap;

use super::config::{Failure, FailureKind};
use super::event::Event;
use super::fault::link_ports;
use super::network::Network;
use crate::ids::LinkId;
use crate::topology::{Node, Routes, Topology};
use crate::units::{BitRate, Fraction, Time};

/// Whether a link works.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum State {
    Down,
    Up,
}

/// Who learns of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Witness {
    /// The wire alone: its rate changes.
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
    state: State,
}

/// Steps in order of time.
#[derive(Debug, Default)]
pub(super) struct Plan {
    steps: Vec<Step>,
    /// How many failures each witness knows of, by link: failures of one link may overlap.
    known: BTreeMap<(Witness, LinkId), u32>,
    /// Degraded links: from, until, what is left of the rate.
    degraded: Vec<(LinkId, Time, Time, Fraction)>,
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
                for (change, state) in [(from, State::Down), (until, State::Up)] {
                    let ends = change.saturating_add(failure.detection);
                    let routing = change.saturating_add(failure.convergence);
                    self.add_step(ends, Witness::Ends, link, state);
                    self.add_step(routing, Witness::Routing, link, state);
                }
            }
            FailureKind::Degrade { factor } => {
                self.degraded.push((link, from, until, factor));
                self.add_step(from, Witness::Wire, link, State::Down);
                self.add_step(until, Witness::Wire, link, State::Up);
            }
            FailureKind::Loss { rate } => network.faults.add_loss(link, (from, until), rate),
        }
    }

    fn add_step(&mut self, at: Time, witness: Witness, link: LinkId, state: State) {
        if at < Time::NEVER {
            self.steps.push(Step { at, witness, link, state });
        }
    }

    /// The link whose rate step `place` changes, if it changes one: what started on it before
    /// must have started by then.
    pub fn changes_rate(&self, place: u32) -> Option<LinkId> {
        let step = self.steps[place as usize];
        (step.witness == Witness::Wire).then_some(step.link)
    }

    /// Carries out step `place`.
    pub fn carry_out(&mut self, place: u32, topology: &Topology, network: &mut Network) {
        let step = self.steps[place as usize];
        if step.witness == Witness::Wire {
            let rate = self.rate(step.at, step.link, topology.link(step.link).rate);
            for id in link_ports(step.link) {
                network.faults.change_rate(id, &mut network.ports[id.index()], rate);
            }
            return;
        }
        let known = self.known.entry((step.witness, step.link)).or_insert(0);
        match step.state {
            State::Down => *known += 1,
            State::Up => *known -= 1,
        }
        match step.witness {
            Witness::Wire => {}
            Witness::Ends => tell_ends(step.link, *known > 0, network),
            Witness::Routing => {
                let next = self.steps.get(place as usize + 1);
                let more =
                    next.is_some_and(|next| (next.at, next.witness) == (step.at, Witness::Routing));
                // Links that routing learns of together cost one computation.
                if !more {
                    network.routes = Routes::new(topology, &|link| self.routed_over(link));
                    network.switches.iter_mut().for_each(|switch| switch.epoch += 1);
                }
            }
        }
    }

    /// What is left of the `whole` rate of a link at `now`.
    fn rate(&self, now: Time, link: LinkId, whole: BitRate) -> BitRate {
        let holds = |&&(of, from, until, _): &&(LinkId, Time, Time, Fraction)| {
            of == link && from <= now && now < until
        };
        let left = self.degraded.iter().filter(holds);
        let rate = left.fold(whole, |rate, &(_, _, _, factor)| rate.scaled(factor));
        // Scenarios keep rates well above this; a rate of nothing would never send anything.
        rate.max(BitRate::from_bps(1))
    }

    fn routed_over(&self, link: LinkId) -> bool {
        self.known.get(&(Witness::Routing, link)).is_none_or(|&failures| failures == 0)
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
