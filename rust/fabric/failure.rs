//! The plan of failures: what changes when, and who knows of it when.
//!
//! Nothing learns of a failure by any other way than this plan says: the link itself stops
//! carrying at once, the switches at its ends know after their detection delay, routing
//! everywhere after the convergence time. Senders are told nothing.

use std::collections::BTreeSet;

use super::config::{Failure, FailureKind};
use super::event::Event;
use super::network::Network;
use crate::ids::{LinkId, PortId};
use crate::topology::{Node, Routes, Topology};
use crate::units::Time;

/// Whether a link works.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum State {
    Down,
    Up,
}

/// Who learns of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Witness {
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
    routed_around: BTreeSet<LinkId>,
}

impl Plan {
    /// Makes the plan and puts its outages and events into the network.
    pub fn new(failures: &[Failure], network: &mut Network) -> Self {
        let mut steps = Vec::new();
        for failure in failures {
            let FailureKind::Down = failure.kind;
            network.outages.push((failure.link, failure.at, failure.until));
            for port in ports_of(failure.link) {
                network.ports[port.index()].faulty = true;
            }
            for (change, state) in [(failure.at, State::Down), (failure.until, State::Up)] {
                let delays =
                    [(Witness::Ends, failure.detection), (Witness::Routing, failure.convergence)];
                let known = delays.map(|(witness, delay)| Step {
                    at: change.saturating_add(delay),
                    witness,
                    link: failure.link,
                    state,
                });
                steps.extend(known.into_iter().filter(|step| step.at < Time::NEVER));
            }
        }
        steps.sort_unstable();
        for (place, step) in (0u32..).zip(&steps) {
            network.queue.push(step.at, Event::Control(place));
        }
        Self { steps, routed_around: BTreeSet::new() }
    }

    /// Carries out step `place`.
    pub fn carry_out(&mut self, place: u32, topology: &Topology, network: &mut Network) {
        let step = self.steps[place as usize];
        match step.witness {
            Witness::Ends => tell_ends(step, network),
            Witness::Routing => {
                match step.state {
                    State::Down => self.routed_around.insert(step.link),
                    State::Up => self.routed_around.remove(&step.link),
                };
                let next = self.steps.get(place as usize + 1);
                let more =
                    next.is_some_and(|next| (next.at, next.witness) == (step.at, Witness::Routing));
                // Links that routing learns of together cost one computation.
                if !more {
                    let usable = |link| !self.routed_around.contains(&link);
                    network.routes = Routes::new(topology, &usable);
                }
            }
        }
    }
}

fn tell_ends(step: Step, network: &mut Network) {
    for id in ports_of(step.link) {
        let Node::Switch(switch) = network.ports[id.index()].start.node() else { continue };
        let dead = &mut network.switches[switch.index()].dead;
        dead.retain(|&port| port != id);
        if step.state == State::Down {
            dead.push(id);
        }
    }
}

/// Both directions of a link.
fn ports_of(link: LinkId) -> [PortId; 2] {
    [PortId(2 * link.0), PortId(2 * link.0 + 1)]
}
