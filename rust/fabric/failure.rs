//! The plan of failures: what changes when, and who knows of it when.
//!
//! Nothing learns of a failure by any other way than this plan says: the link itself stops
//! carrying at once, the switches at its ends know after their detection delay, routing
//! everywhere after the convergence time. Senders are told nothing.

use std::collections::BTreeMap;

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
    /// How many failures each witness knows of, by link: failures of one link may overlap.
    known: BTreeMap<(Witness, LinkId), u32>,
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
        network.outages.sort_unstable();
        steps.sort_unstable();
        for (place, step) in (0u32..).zip(&steps) {
            network.queue.push(step.at, Event::Control(place));
        }
        Self { steps, known: BTreeMap::new() }
    }

    /// Carries out step `place`.
    pub fn carry_out(&mut self, place: u32, topology: &Topology, network: &mut Network) {
        let step = self.steps[place as usize];
        let known = self.known.entry((step.witness, step.link)).or_insert(0);
        match step.state {
            State::Down => *known += 1,
            State::Up => *known -= 1,
        }
        match step.witness {
            Witness::Ends => tell_ends(step.link, *known > 0, network),
            Witness::Routing => {
                let next = self.steps.get(place as usize + 1);
                let more =
                    next.is_some_and(|next| (next.at, next.witness) == (step.at, Witness::Routing));
                // Links that routing learns of together cost one computation.
                if !more {
                    network.routes = Routes::new(topology, &|link| self.routed_over(link));
                }
            }
        }
    }

    fn routed_over(&self, link: LinkId) -> bool {
        self.known.get(&(Witness::Routing, link)).is_none_or(|&failures| failures == 0)
    }
}

fn tell_ends(link: LinkId, dead: bool, network: &mut Network) {
    for id in ports_of(link) {
        let Node::Switch(switch) = network.ports[id.index()].start.node() else { continue };
        let known = &mut network.switches[switch.index()].dead;
        known.retain(|&port| port != id);
        if dead {
            known.push(id);
        }
    }
}

/// Both directions of a link.
fn ports_of(link: LinkId) -> [PortId; 2] {
    [PortId(2 * link.0), PortId(2 * link.0 + 1)]
}
