//! The program that carries out the ranks' requests.

use std::collections::BTreeMap;

use super::ending::Ending;
use super::fault::Fault;
use super::matching::{Key, Matching};
use super::{Ranks, Request, Ticket, Transfer};
use crate::endpoint::{FlowRecord, MessageEvent, MessageEventKind};
use crate::fabric::{self, Observers, Outcome, Program, Setup, World};
use crate::ids::{HostId, MessageId};
use crate::units::{Bytes, Time};
use crate::workload::Message;

/// An action that becomes due at a given time.
#[derive(Debug, Clone, Copy)]
enum Due {
    /// The start of every rank.
    Start,
    /// A call of the program.
    Call(Ticket),
    /// The arrival of a message that does not cross the network, and its number within its key.
    Arrival(Key, u64),
    /// The end of all activity while some ranks have not finished.
    Idle,
}

/// A message whose last acknowledgement has not reached its sender.
#[derive(Debug, Clone, Copy)]
struct Flight {
    key: Key,
    /// Number of the message within its key.
    number: u64,
    delivered: bool,
    ticket: Ticket,
}

/// Carries out the ranks' requests. A run may have millions of messages: call
/// [`World::discard_completed`] to free completed ones.
pub struct Exchange<'f, R> {
    ranks: R,
    setup: Setup,
    matching: Matching,
    in_flight: BTreeMap<MessageId, Flight>,
    /// By time, then in the order of insertion.
    due: BTreeMap<(Time, u64), Due>,
    due_count: u64,
    finished: Vec<bool>,
    unfinished: u32,
    requests: Vec<Request>,
    fault: Option<Fault>,
    flows: &'f mut dyn FnMut(&FlowRecord),
}

/// Runs the ranks 0 to `count` − 1, each on the host of its number. Calls `flows` with each flow
/// when it completes.
///
/// # Panics
/// If there are more ranks than hosts, or if the setup has messages of its own.
pub fn run<R: Ranks>(
    setup: &Setup,
    ranks: R,
    count: u32,
    flows: &mut dyn FnMut(&FlowRecord),
) -> (Outcome, Ending) {
    let mut world = World::new(setup);
    world.discard_completed();
    let mut exchange = Exchange::new(setup, ranks, count, flows);
    let observers = Observers { watch: None, progress: &mut |_| () };
    let outcome = fabric::drive(world, &mut exchange, observers);
    (outcome, exchange.into_ending())
}

impl<'f, R: Ranks> Exchange<'f, R> {
    /// Creates the program of `count` ranks in a world of `setup`.
    ///
    /// # Panics
    /// If there are more ranks than hosts.
    pub fn new(setup: &Setup, ranks: R, count: u32, flows: &'f mut dyn FnMut(&FlowRecord)) -> Self {
        assert!(count <= setup.topology.host_count(), "a rank is a host");
        Self {
            ranks,
            setup: setup.clone(),
            matching: Matching::default(),
            in_flight: BTreeMap::new(),
            due: BTreeMap::from([((Time::ZERO, 0), Due::Start)]),
            due_count: 1,
            finished: vec![false; count as usize],
            unfinished: count,
            requests: Vec::new(),
            fault: None,
            flows,
        }
    }

    /// Returns the unfinished work at the end of the run.
    pub fn into_ending(self) -> Ending {
        let ranks = (0u32..).zip(&self.finished);
        let undelivered = self.in_flight.values().filter(|flight| !flight.delivered);
        let mut messages: BTreeMap<Key, u64> = BTreeMap::new();
        for flight in undelivered {
            *messages.entry(flight.key).or_default() += 1;
        }
        Ending {
            unfinished: ranks.filter(|(_, done)| !**done).map(|(rank, _)| rank).collect(),
            receives: self.matching.receives().map(Into::into).collect(),
            messages: messages.into_iter().map(Into::into).collect(),
            unreceived: self.matching.unreceived().map(Into::into).collect(),
            fault: self.fault,
        }
    }

    fn schedule(&mut self, at: Time, due: Due) {
        self.due.insert((at, self.due_count), due);
        self.due_count += 1;
    }

    /// Calls the ranks' program by `callback`, then carries out the resulting requests.
    fn call_program(
        &mut self,
        now: Time,
        world: &mut World,
        callback: impl FnOnce(&mut R, &mut Vec<Request>) -> Result<(), String>,
    ) {
        if self.fault.is_some() {
            return;
        }
        // Reuses the allocation of the previous call.
        let mut requests = std::mem::take(&mut self.requests);
        let called = callback(&mut self.ranks, &mut requests).map_err(Fault::Program);
        let mut carried_out = called;
        for request in requests.drain(..) {
            // After the first fault, the remaining requests are dropped.
            carried_out = carried_out.and_then(|()| self.carry_out(now, world, request));
        }
        self.fault = carried_out.err();
        self.requests = requests;
    }

    /// Returns true if ranks are unfinished while nothing is pending or in flight.
    fn is_idle(&self) -> bool {
        self.unfinished > 0 && self.due.is_empty() && self.in_flight.is_empty()
    }

    /// Schedules the idle call if all activity has ended.
    fn schedule_idle(&mut self, now: Time) {
        if self.is_idle() {
            self.schedule(now, Due::Idle);
        }
    }

    fn call(&mut self, now: Time, world: &mut World, ticket: Ticket) {
        self.call_program(now, world, |ranks, requests| ranks.call(now, ticket, requests));
    }

    fn carry_out(&mut self, now: Time, world: &mut World, request: Request) -> Result<(), Fault> {
        match request {
            Request::Send(transfer) => self.send(now, world, &transfer)?,
            Request::Receive(transfer) => {
                let peer = self.checked_peer(&transfer, "receives from")?;
                let Transfer { rank, tag, bytes, ticket, .. } = transfer;
                let key = Key { src: peer, dst: rank, tag, bytes };
                if let Some(ticket) = self.matching.receive(key, ticket) {
                    self.schedule(now, Due::Call(ticket));
                }
            }
            Request::Schedule { delay, ticket } => {
                self.schedule(now.saturating_add(delay), Due::Call(ticket));
            }
            Request::Finish { rank } => {
                let finished = &mut self.finished[rank as usize];
                self.unfinished -= u32::from(!*finished);
                *finished = true;
            }
        }
        Ok(())
    }

    fn send(&mut self, now: Time, world: &mut World, transfer: &Transfer) -> Result<(), Fault> {
        let peer = self.checked_peer(transfer, "sends to")?;
        let &Transfer { rank, tag, bytes, ticket, .. } = transfer;
        let key = Key { src: rank, dst: peer, tag, bytes };
        self.check_length(key)?;
        let number = self.matching.send(key);
        // Nothing crosses the network, so both ends are called at the current time.
        if bytes == 0 || peer == rank {
            self.schedule(now, Due::Call(ticket));
            self.schedule(now, Due::Arrival(key, number));
            return Ok(());
        }
        let [src, dst] = [rank, peer].map(HostId);
        let bytes = Bytes::new(bytes);
        // All messages of a pair use one stream, so they share queue pairs as those of a
        // communicator do. A stream per tag would create queue pairs without limit.
        let id = world.post(now, Message { src, dst, bytes, stream: 0, start: now });
        self.in_flight.insert(id, Flight { key, number, delivered: false, ticket });
        Ok(())
    }

    /// Returns the rank at the other end, after checking it and the length.
    fn checked_peer(&self, transfer: &Transfer, verb: &'static str) -> Result<u32, Fault> {
        let &Transfer { rank, peer, tag, bytes, .. } = transfer;
        if i64::try_from(bytes).is_err() {
            return Err(Fault::Negative { rank, verb, peer, tag, bytes });
        }
        match u32::try_from(peer) {
            Ok(number) if (number as usize) < self.finished.len() => Ok(number),
            _ => {
                let last = self.finished.len().saturating_sub(1) as u32;
                Err(Fault::NoRank { rank, verb, peer, tag, bytes, last })
            }
        }
    }

    fn check_length(&self, key: Key) -> Result<(), Fault> {
        let Setup { nic, topology, time_limit, .. } = &self.setup;
        let longest = nic.recovery.longest_message();
        if let Some(limit) = longest.filter(|limit| key.bytes > limit.get()) {
            return Err(Fault::TooLong { key, recovery: nic.recovery.name(), limit });
        }
        let rate = topology.host_rate(HostId(key.src));
        // A lower bound at the host's rate, so that no feasible message is rejected.
        let seconds = u128::from(key.bytes) * 8 / u128::from(rate.as_bps().max(1));
        if seconds * 1_000_000_000_000 > u128::from(time_limit.as_ps()) {
            return Err(Fault::NoTime { key, limit: *time_limit });
        }
        Ok(())
    }
}

impl<R: Ranks> Program for Exchange<'_, R> {
    fn next_time(&mut self) -> Option<Time> {
        self.due.first_key_value().map(|(&(at, _), _)| at)
    }

    /// Handles one call at a time: what it sends is posted before the next call of the same time.
    fn handle_time(&mut self, now: Time, world: &mut World) {
        let Some((_, due)) = self.due.pop_first() else { return };
        world.record_end(now);
        match due {
            Due::Start => self.call_program(now, world, |ranks, requests| ranks.start(requests)),
            Due::Call(ticket) => self.call(now, world, ticket),
            Due::Arrival(key, number) => {
                if let Some(ticket) = self.matching.arrive(key, number) {
                    self.call(now, world, ticket);
                }
            }
            // No `schedule_idle` afterwards: a rank that does not finish now never does.
            Due::Idle => return self.call_program(now, world, R::idle),
        }
        self.schedule_idle(now);
    }

    fn handle_message(&mut self, event: MessageEvent, world: &mut World) {
        let MessageEvent { message, at, kind } = event;
        match kind {
            MessageEventKind::Delivered => {
                let flight = self.in_flight.get_mut(&message).expect("it was posted");
                flight.delivered = true;
                let Flight { key, number, .. } = *flight;
                if let Some(ticket) = self.matching.arrive(key, number) {
                    self.call(at, world, ticket);
                }
            }
            MessageEventKind::Completed => {
                let flight = self.in_flight.remove(&message).expect("it was posted");
                self.call(at, world, flight.ticket);
            }
        }
        self.schedule_idle(at);
    }

    fn is_done(&self) -> bool {
        self.unfinished == 0 && self.due.is_empty()
    }

    fn handle_flow(&mut self, flow: &FlowRecord) {
        (self.flows)(flow);
    }

    /// True after a fault, or if ranks are unfinished while nothing is pending or in flight.
    fn has_failed(&self) -> bool {
        self.is_idle() || self.fault.is_some()
    }
}
