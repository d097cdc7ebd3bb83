//! A world as a partition of a parallel run. It handles the events of its own hosts and switches,
//! window by window ([`crate::fabric::parallel`]).

use std::collections::BTreeMap;

use super::World;
use crate::endpoint::{Endpoints, Note};
use crate::fabric::final_checks::UncheckedOutcome;
use crate::fabric::network::Handoff;
use crate::fabric::outcome::{Measured, Outcome, PauseRecord, Progress, Verdict};
use crate::fabric::parallel::Partitioning;
use crate::fabric::setup::Setup;
use crate::ids::{ClassId, PortId};
use crate::packet::PauseOrder;
use crate::switching::Ties;
use crate::topology::Node;
use crate::units::{Span, Time};

/// Packets and notes that a partition passes to another at the end of a window.
#[derive(Debug, Default)]
pub(in crate::fabric) struct Mail {
    handoffs: Vec<Handoff>,
    notes: Vec<Note>,
}

impl World {
    /// Creates the partition with this index, before its first event.
    pub(in crate::fabric) fn of_partition(
        setup: &Setup,
        partitioning: &Partitioning,
        index: u16,
    ) -> Self {
        let share = partitioning.share(index);
        let mut partition = Self::with_hosts(setup, |site| Endpoints::of_partition(site, share));
        partition.counts_common = index == 0;
        partition.network.set_boundaries(partitioning.boundaries(index));
        partition
    }

    /// Returns the time before which this partition has no event.
    pub(in crate::fabric) fn next_window(&mut self) -> Option<Time> {
        let times = [self.network.next_time(), self.network.next_boundary_start()];
        times.into_iter().flatten().min()
    }

    /// Returns time and rank of the next event.
    pub(in crate::fabric) fn peek(&mut self) -> Option<(Time, u32)> {
        self.network.peek()
    }

    /// Handles up to `max_events` events before `end`. Returns their number, including packets that
    /// leave for other partitions.
    pub(in crate::fabric) fn run_window(&mut self, end: Time, max_events: u64) -> u64 {
        let Some(by) = end.as_ps().checked_sub(1).map(Time::from_ps) else { return 0 };
        for handled in 0..max_events {
            let Some((now, word)) = self.network.pop_event(by, &self.endpoints) else {
                return handled;
            };
            self.now = now;
            self.events += 1;
            // Only events at hosts create notes.
            if self.handle(now, word) {
                self.endpoints.stamp(now, self.network.rank(now, word));
            }
        }
        max_events
    }

    /// Ends a window: adds handoffs and notes to `mail`, by receiving partition.
    pub(in crate::fabric) fn end_window(
        &mut self,
        end: Time,
        partitioning: &Partitioning,
        mail: &mut [Mail],
    ) {
        self.network.take_handoffs(end, &mut |handoff| {
            mail[partitioning.receiver_of(handoff.port)].handoffs.push(handoff);
        });
        for note in self.endpoints.take_notes() {
            mail[usize::from(note.to)].notes.push(note);
        }
    }

    /// Begins a window with the mail of other partitions.
    pub(in crate::fabric) fn receive(&mut self, mail: impl Iterator<Item = Mail>) {
        let mut notes = Vec::new();
        for mut partition in mail {
            partition.handoffs.drain(..).for_each(|handoff| self.network.receive(handoff));
            notes.append(&mut partition.notes);
        }
        // Notes are sorted together, across all senders.
        if !notes.is_empty() {
            self.endpoints.handle_notes(notes);
        }
    }

    /// Returns the number of messages delivered to hosts of this partition.
    pub(in crate::fabric) fn delivered_messages(&self) -> u64 {
        self.endpoints.delivered_messages()
    }

    /// Returns the number of messages and delays of this partition that have ended.
    pub(in crate::fabric) fn ended_tasks(&self) -> u64 {
        let tasks = self.setup.workload.task_count() as u64;
        tasks - self.endpoints.ledger().open
    }
}

/// Merges the partitions of a run that has ended into its outcome.
///
/// # Panics
/// If a final check fails.
pub(in crate::fabric) fn merge(
    mut partitions: Vec<World>,
    partitioning: &Partitioning,
    verdict: Verdict,
    limit: Time,
) -> Outcome {
    let ended = match verdict {
        Verdict::TimeLimit => limit,
        _ => partitions.iter().map(|partition| partition.now).max().unwrap_or(Time::ZERO),
    };
    partitions.iter_mut().for_each(|partition| partition.stop(ended));
    // Every partition has all ports, but only the owner's measurements count.
    let mut measured = partitions[0].measured(verdict);
    let mut remainder = partitions[0].network.remainder();
    let mut states = partitions[0].network.switching().states();
    for (index, partition) in partitions.iter_mut().enumerate().skip(1) {
        let owns = |node: Node| partitioning.partition_of(node) == index;
        let topology = partition.setup.topology.clone();
        let owns_port = |port: PortId| owns(topology.ends_of(port).0);
        absorb(&mut measured, partition.measured(verdict), &owns_port);
        remainder.absorb(&partition.network.remainder());
        let theirs = (0u32..).zip(partition.network.switching().states());
        for (switch, state) in theirs {
            if owns(Node::Switch(crate::ids::SwitchId(switch))) {
                states[switch as usize] = state;
            }
        }
    }
    // A single-threaded run lists them in this order.
    measured.held_back.sort_unstable();
    let setup = partitions[0].setup.clone();
    let pause_time = setup.fabric.switch.pfc.and_then(|pfc| pfc.pause_time);
    let ties = partitions[0].network.switching().ties();
    measured.pauses = in_order(measured.pauses, pause_time, ties);
    let endpoints =
        Endpoints::merge(partitions.into_iter().map(|partition| partition.endpoints).collect());
    let outcome = Outcome::of(measured, states, &endpoints);
    UncheckedOutcome::new(outcome, remainder, &endpoints).checked(&setup)
}

/// Returns the pauses of all ports in the order in which a single-threaded run records them. The
/// pauses of each port are already in order. At the same time, expired pauses come first, by port.
/// Then come frames, in the tie order of the ports by which they arrive: the reverse directions of
/// the ports that they pause.
fn in_order(pauses: Vec<PauseRecord>, pause_time: Option<Span>, ties: Ties) -> Vec<PauseRecord> {
    let mut ends: BTreeMap<(PortId, ClassId), Time> = BTreeMap::new();
    let rank = |pause: PauseRecord| {
        let end = ends.entry((pause.port, pause.class)).or_insert(Time::NEVER);
        let expires = *end == pause.at;
        *end = match (pause.order, pause_time) {
            (PauseOrder::Pause, Some(time)) => pause.at.saturating_add(time),
            _ => Time::NEVER,
        };
        let arrival = || ties.rank_of(pause.at.as_ps(), pause.port.reverse().0);
        let order = if expires { pause.port.0 } else { arrival() };
        ((pause.at, !expires, order), pause)
    };
    let mut ranked: Vec<_> = pauses.into_iter().map(rank).collect();
    ranked.sort_by_key(|(rank, _)| *rank);
    ranked.into_iter().map(|(_, pause)| pause).collect()
}

/// Adds the measurements of another partition. `owns` is true for its ports.
fn absorb(all: &mut Measured, partition: Measured, owns: &dyn Fn(PortId) -> bool) {
    all.counters.add(&partition.counters);
    all.events += partition.events;
    all.in_flight += partition.in_flight;
    for (id, port) in (0u32..).map(PortId).zip(0..all.link_bytes.len()) {
        if owns(id) {
            all.queue_bytes_max_by_port[port] = partition.queue_bytes_max_by_port[port];
            all.link_bytes[port] = partition.link_bytes[port];
        }
    }
    let marked = all.marked_by_port.iter_mut().zip(partition.marked_by_port);
    for (_, (ours, theirs)) in (0u32..).zip(marked).filter(|(id, _)| owns(PortId(*id))) {
        *ours = theirs;
    }
    for (ours, theirs) in all.probes.iter_mut().zip(partition.probes) {
        for (id, (ours, theirs)) in (0u32..).zip(ours.queues.iter_mut().zip(theirs.queues)) {
            if owns(PortId(id)) {
                *ours = theirs;
            }
        }
    }
    all.pauses.extend(partition.pauses);
    all.held_back.extend(partition.held_back);
    let dropped = all.dropped_by_class.iter_mut().zip(partition.dropped_by_class);
    dropped.for_each(|(ours, theirs)| *ours += theirs);
}

/// Adds the progress of a partition to that of the run.
pub(in crate::fabric) fn add_progress(all: Progress, partition: Progress) -> Progress {
    Progress {
        now: all.now.max(partition.now),
        completed: all.completed + partition.completed,
        delivered_bytes: all.delivered_bytes + partition.delivered_bytes,
        packet_hops: all.packet_hops + partition.packet_hops,
        ..all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::switching::TieOrder;

    #[test]
    fn progress_of_partitions_adds_up() {
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

    /// Both directions of a link are paused until 300 ns. At that time a frame for the first one
    /// arrives over the other.
    #[test]
    fn expired_pauses_precede_frames_at_the_same_time() {
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
        // A seed for which the frame by port 2 comes first at both times.
        let is_first = |it: &Ties, at| it.rank_of(at, 2) < it.rank_of(at, 3);
        let mut all = (0..).map(|seed| Ties::new(TieOrder::Drawn, seed, 4));
        let ties = all.find(|it| is_first(it, 0) && is_first(it, 300_000)).unwrap();
        for given in [[&of_two[..], &of_three[..]].concat(), [&of_three[..], &of_two[..]].concat()]
        {
            assert_eq!(in_order(given, time, ties), ordered);
        }
        // Without a pause time all of them are frames.
        let frames = [of_three[0], of_two[0], of_three[1], of_two[1], of_two[2]];
        assert_eq!(in_order([&of_two[..], &of_three[..]].concat(), None, ties), frames);
    }
}
