//! A world that is a part of a divided run: it handles the events of its own hosts and switches,
//! window by window ([`crate::fabric::divided`]).

use std::collections::BTreeMap;

use super::World;
use crate::endpoint::{Endpoints, Note};
use crate::fabric::divided::Division;
use crate::fabric::final_checks::Ending;
use crate::fabric::network::Crossing;
use crate::fabric::outcome::{Measured, Outcome, PauseRecord, Progress, Verdict};
use crate::fabric::setup::Setup;
use crate::ids::{ClassId, PortId};
use crate::packet::PauseOrder;
use crate::switching::Ties;
use crate::topology::Node;
use crate::units::{Span, Time};

/// What a part passes on to another one at the end of a window.
#[derive(Debug, Default)]
pub(in crate::fabric) struct Mail {
    crossings: Vec<Crossing>,
    notes: Vec<Note>,
}

impl World {
    /// The part of that index of a divided run, before its first event.
    pub(in crate::fabric) fn of_part(setup: &Setup, division: &Division, index: u16) -> Self {
        let share = division.share(index);
        let mut part = Self::with_hosts(setup, |site| Endpoints::of_part(site, share));
        part.counts_common = index == 0;
        part.network.set_borders(division.borders(index));
        part
    }

    /// The time before which nothing happens in this part.
    pub(in crate::fabric) fn next_window(&mut self) -> Option<Time> {
        let times = [self.network.next_time(), self.network.next_border_start()];
        times.into_iter().flatten().min()
    }

    /// The time and the rank of the next event.
    pub(in crate::fabric) fn peek(&mut self) -> Option<(Time, u32)> {
        self.network.peek()
    }

    /// Handles at most `most` events before `end`; how many it has handled, those of packets that
    /// leave for other parts included.
    pub(in crate::fabric) fn run_window(&mut self, end: Time, most: u64) -> u64 {
        let Some(by) = end.as_ps().checked_sub(1).map(Time::from_ps) else { return 0 };
        for handled in 0..most {
            let Some((now, word)) = self.network.pop_event(by, &self.endpoints) else {
                return handled;
            };
            self.now = now;
            self.events += 1;
            if self.handle(now, word) {
                self.endpoints.stamp(now, self.network.rank(now, word));
            }
        }
        most
    }

    /// Ends a window: adds what is for other parts to their `mail`, by part.
    pub(in crate::fabric) fn end_window(
        &mut self,
        end: Time,
        division: &Division,
        mail: &mut [Mail],
    ) {
        self.network.take_crossings(end, &mut |crossing| {
            mail[division.receiver_of(crossing.port)].crossings.push(crossing);
        });
        for note in self.endpoints.take_notes() {
            mail[usize::from(note.to)].notes.push(note);
        }
    }

    /// Begins a window with what other parts have passed on.
    pub(in crate::fabric) fn receive(&mut self, mail: impl Iterator<Item = Mail>) {
        let mut notes = Vec::new();
        for mut part in mail {
            part.crossings.drain(..).for_each(|crossing| self.network.receive(crossing));
            notes.append(&mut part.notes);
        }
        if !notes.is_empty() {
            self.endpoints.handle_notes(notes);
        }
    }

    /// Messages delivered to hosts of this part.
    pub(in crate::fabric) fn delivered_messages(&self) -> u64 {
        self.endpoints.delivered_messages()
    }

    /// Messages and delays of this part that have ended.
    pub(in crate::fabric) fn ended_tasks(&self) -> u64 {
        let tasks = self.setup.workload.task_count() as u64;
        tasks - self.endpoints.ledger().open
    }
}

/// The outcome of a divided run whose parts have ended; `division` says who has what.
///
/// # Panics
/// If it is one that no run can have.
pub(in crate::fabric) fn merge(
    mut parts: Vec<World>,
    division: &Division,
    verdict: Verdict,
    limit: Time,
) -> Outcome {
    let ended = match verdict {
        Verdict::TimeLimit => limit,
        _ => parts.iter().map(|part| part.now).max().unwrap_or(Time::ZERO),
    };
    parts.iter_mut().for_each(|part| part.stop(ended));
    let mut measured = parts[0].measured(verdict);
    let mut remainder = parts[0].network.remainder();
    let mut states = parts[0].network.switching().states();
    for (index, part) in parts.iter_mut().enumerate().skip(1) {
        let owns = |node: Node| division.part_of(node) == index;
        let topology = part.setup.topology.clone();
        let owns_port = |port: PortId| owns(topology.ends_of(port).0);
        absorb(&mut measured, part.measured(verdict), &owns_port);
        remainder.absorb(&part.network.remainder());
        let theirs = (0u32..).zip(part.network.switching().states());
        for (switch, state) in theirs {
            if owns(Node::Switch(crate::ids::SwitchId(switch))) {
                states[switch as usize] = state;
            }
        }
    }
    measured.held_back.sort_unstable();
    let setup = parts[0].setup.clone();
    let pause_time = setup.fabric.switch.pfc.and_then(|pfc| pfc.pause_time);
    let ties = parts[0].network.switching().ties();
    measured.pauses = in_order(measured.pauses, pause_time, ties);
    let endpoints = Endpoints::merge(parts.into_iter().map(|part| part.endpoints).collect());
    let outcome = Outcome::of(measured, states, &endpoints);
    Ending::new(outcome, remainder, &endpoints).checked(&setup)
}

/// The pauses of all ports in the order in which one thread records them; those of each port are in
/// order. At the same time the pauses that expire come first, in order of their ports, then frames
/// that arrive, in the order of the ports by which they come: the reverse directions of those that
/// they are for.
fn in_order(pauses: Vec<PauseRecord>, pause_time: Option<Span>, ties: Ties) -> Vec<PauseRecord> {
    let mut ends: BTreeMap<(PortId, ClassId), Time> = BTreeMap::new();
    let place = |pause: PauseRecord| {
        let end = ends.entry((pause.port, pause.class)).or_insert(Time::NEVER);
        let expires = *end == pause.at;
        *end = match (pause.order, pause_time) {
            (PauseOrder::Pause, Some(time)) => pause.at.saturating_add(time),
            _ => Time::NEVER,
        };
        let arrival = || ties.place_of(pause.at.as_ps(), pause.port.reverse().0);
        let rank = if expires { pause.port.0 } else { arrival() };
        ((pause.at, !expires, rank), pause)
    };
    let mut placed: Vec<_> = pauses.into_iter().map(place).collect();
    placed.sort_by_key(|(place, _)| *place);
    placed.into_iter().map(|(_, pause)| pause).collect()
}

/// Adds the measurements of another part, which has the ports for which `owns` is true.
fn absorb(all: &mut Measured, part: Measured, owns: &dyn Fn(PortId) -> bool) {
    all.counters.add(&part.counters);
    all.events += part.events;
    all.in_flight += part.in_flight;
    for (id, port) in (0u32..).map(PortId).zip(0..all.link_bytes.len()) {
        if owns(id) {
            all.queue_bytes_max_by_port[port] = part.queue_bytes_max_by_port[port];
            all.link_bytes[port] = part.link_bytes[port];
        }
    }
    let marked = all.marked_by_port.iter_mut().zip(part.marked_by_port);
    for (_, (ours, theirs)) in (0u32..).zip(marked).filter(|(id, _)| owns(PortId(*id))) {
        *ours = theirs;
    }
    for (ours, theirs) in all.probes.iter_mut().zip(part.probes) {
        for (id, (ours, theirs)) in (0u32..).zip(ours.queues.iter_mut().zip(theirs.queues)) {
            if owns(PortId(id)) {
                *ours = theirs;
            }
        }
    }
    all.pauses.extend(part.pauses);
    all.held_back.extend(part.held_back);
    let dropped = all.dropped_by_class.iter_mut().zip(part.dropped_by_class);
    dropped.for_each(|(ours, theirs)| *ours += theirs);
}

/// The progress of a divided run, from that of its parts.
pub(in crate::fabric) fn add_progress(all: Progress, part: Progress) -> Progress {
    Progress {
        now: all.now.max(part.now),
        completed: all.completed + part.completed,
        delivered_bytes: all.delivered_bytes + part.delivered_bytes,
        packet_hops: all.packet_hops + part.packet_hops,
        ..all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::switching::TieOrder;

    #[test]
    fn the_progress_of_parts_is_the_sum_of_theirs_at_the_latest_time() {
        let of = |now, completed, delivered_bytes, packet_hops| Progress {
            now: Time::from_ps(now),
            completed,
            messages: 9,
            delivered_bytes,
            total_bytes: 900,
            packet_hops,
        };
        assert_eq!(add_progress(of(7, 1, 100, 40), of(5, 3, 200, 2)), of(7, 4, 300, 42));
    }

    /// Both directions of a link are paused until 300 ns; at that time a frame for the first one
    /// arrives by the other.
    #[test]
    fn pauses_expire_in_order_of_their_ports_before_frames_arrive() {
        let record = |ns: u64, port, order| PauseRecord {
            at: Time::ZERO + Span::from_ns(ns),
            port: PortId(port),
            order,
            class: ClassId::default(),
        };
        let (pause, resume) = (PauseOrder::Pause, PauseOrder::Resume);
        let of_two = [record(0, 2, pause), record(300, 2, resume), record(300, 2, pause)];
        let of_three = [record(0, 3, pause), record(300, 3, resume)];
        let ordered = [of_three[0], of_two[0], of_two[1], of_three[1], of_two[2]];
        let time = Some(Span::from_ns(300));
        // A seed for which the frame by port 2 is the first one at both times.
        let is_first = |it: &Ties, at| it.place_of(at, 2) < it.place_of(at, 3);
        let mut all = (0..).map(|seed| Ties::new(TieOrder::Drawn, seed, 4));
        let ties = all.find(|it| is_first(it, 0) && is_first(it, 300_000)).unwrap();
        for given in [[&of_two[..], &of_three[..]].concat(), [&of_three[..], &of_two[..]].concat()]
        {
            assert_eq!(in_order(given, time, ties), ordered);
        }
        // Without that time all of them are frames.
        let frames = [of_three[0], of_two[0], of_three[1], of_two[1], of_two[2]];
        assert_eq!(in_order([&of_two[..], &of_three[..]].concat(), None, ties), frames);
    }
}
