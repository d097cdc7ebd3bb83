//! A toy world of a few ranks: an all-reduce in which each rank sends its numbers to all others.
//!
//! Delays are random, so that all orders of failure, agreement and late completion occur. The world
//! checks that sums are exact, that each chunk's sum is written once at each rank, that no rank
//! contributes twice to an attempt, and that no released inputs are needed.

use std::collections::{BTreeMap, BTreeSet};

use super::super::*;
use crate::rng::{Purpose, Stream, mix64};
use crate::units::Bytes;

/// The parameters of a run and its faults.
#[derive(Debug, Clone)]
pub(super) struct ToyScenario {
    pub(super) ranks: u32,
    pub(super) rails: usize,
    pub(super) operations: u64,
    /// Bytes of each operation; each byte is an element, whose sum has 64 bits.
    pub(super) bytes: u64,
    /// The number of operations that may be in progress at a rank.
    pub(super) overlap: u64,
    /// The longest random delays of data and of messages, in microseconds.
    pub(super) data_us: u32,
    pub(super) message_us: u32,
    /// One of this many reports is lost although its rail is up; 0 for no loss.
    pub(super) lost: u32,
    pub(super) seed: u64,
    pub(super) faults: Vec<(Time, Fault)>,
}

/// A fault, or the end of faults.
#[derive(Debug, Clone, Copy)]
pub(super) enum Fault {
    /// A rail carries nothing any more; half of what is in flight arrives, late.
    RailDies(RailId),
    /// The same, and this rank's NIC reports it.
    RailDiesWithError(RailId, RankId),
    /// One rank's port on a rail fails.
    PortDies(RailId, RankId),
    /// A rail carries messages but delays data by minutes.
    Crawls(RailId),
    /// A rail works again.
    Heals(RailId),
    /// A rank computes, and starts no operation for this number of milliseconds.
    Computes(RankId, u32),
}

#[derive(Debug, Clone)]
enum Event {
    RankMessage { to: RankId, from: RankId, over: RailId, message: RankMessage },
    Data { to: RankId, from: RankId, key: ChunkKey, values: Vec<i64>, rail: RailId },
    Fault(Fault),
    Wake,
}

#[derive(Default)]
struct Member {
    inputs: BTreeMap<OperationId, Vec<i64>>,
    sums: BTreeMap<OperationId, Vec<Option<i64>>>,
    /// By attempt: the ranks that have contributed, and the sums so far.
    under_way: BTreeMap<ChunkKey, (BTreeSet<RankId>, Vec<i64>)>,
    ranges: BTreeMap<ChunkKey, Range<u64>>,
    next: u64,
    completed: u64,
    computes_until: Time,
}

/// Handlers of all ranks, the messages between them, and the checks of their sums.
pub(super) struct Toy {
    scenario: ToyScenario,
    pub(super) now: Time,
    pub(super) handlers: Vec<Handler>,
    members: Vec<Member>,
    events: BTreeMap<(Time, u64), Event>,
    count: u64,
    random: Stream,
    dead_ports: BTreeSet<(RailId, RankId)>,
    crawling: BTreeSet<RailId>,
    divisions: BTreeMap<OperationId, Division>,
    /// All actions but messages, with their times.
    pub(super) log: Vec<(Time, RankId, Action)>,
    pub(super) released: u64,
}

fn input(rank: RankId, operation: OperationId, byte: u64) -> i64 {
    mix64(u64::from(rank.0) << 48 | operation.0 << 32 | byte) as i64
}

impl Toy {
    pub(super) fn new(scenario: &ToyScenario, config: &Config) -> Self {
        let &ToyScenario { ranks, rails, .. } = scenario;
        let handler = |rank| {
            let member = Membership { rank: RankId(rank), ranks, rails };
            Handler::new(Time::ZERO, config, &member)
        };
        let mut toy = Self {
            scenario: scenario.clone(),
            now: Time::ZERO,
            handlers: (0..scenario.ranks).map(|rank| handler(rank).unwrap()).collect(),
            members: (0..scenario.ranks).map(|_| Member::default()).collect(),
            events: BTreeMap::new(),
            count: 0,
            random: Stream::new(scenario.seed, Purpose::Test, 17),
            dead_ports: BTreeSet::new(),
            crawling: BTreeSet::new(),
            divisions: BTreeMap::new(),
            log: Vec::new(),
            released: 0,
        };
        for &(at, fault) in &scenario.faults {
            toy.at(at, Event::Fault(fault));
        }
        toy
    }

    fn at(&mut self, time: Time, event: Event) {
        self.count += 1;
        self.events.insert((time, self.count), event);
    }

    fn drawn(&mut self, most_us: u32) -> Span {
        Span::from_us(u64::from(1 + self.random.below(most_us.max(1))))
    }

    pub(super) fn is_done(&self) -> bool {
        self.members.iter().all(|member| member.completed == self.scenario.operations)
    }

    /// Runs until every rank has every operation, or until `until`.
    pub(super) fn run(&mut self, until: Time) {
        while !self.is_done() && self.now < until {
            self.step(until);
        }
    }

    /// Handles the next event or timer.
    pub(super) fn step(&mut self, until: Time) {
        self.start_operations();
        self.act();
        let event = self.events.first_key_value().map_or(Time::NEVER, |(&(at, _), _)| at);
        let timer = self.handlers.iter().map(Handler::poll_timeout).min().unwrap();
        self.now = event.min(timer).min(until).max(self.now);
        for rank in 0..self.handlers.len() {
            if self.handlers[rank].poll_timeout() <= self.now {
                let before = self.handlers[rank].poll_timeout();
                self.handlers[rank].handle_timeout(self.now);
                let after = self.handlers[rank].poll_timeout();
                assert!(after > self.now, "due at {before}, done at {}, due at {after}", self.now);
            }
        }
        if event <= self.now
            && let Some((_, event)) = self.events.pop_first()
        {
            self.happen(event);
        }
        self.act();
    }

    fn happen(&mut self, event: Event) {
        match event {
            Event::RankMessage { to, from, over, message } => {
                self.handlers[to.index()].handle_message(self.now, from, over, &message);
            }
            Event::Data { to, from, key, values, rail: _ } => {
                self.contribute(to, from, key, &values)
            }
            Event::Fault(fault) => self.apply_fault(fault),
            Event::Wake => {}
        }
    }

    fn apply_fault(&mut self, fault: Fault) {
        let all: Vec<RankId> = (0..self.scenario.ranks).map(RankId).collect();
        match fault {
            Fault::RailDies(rail) => all.iter().for_each(|&rank| self.kill(rail, rank)),
            Fault::RailDiesWithError(rail, rank) => {
                all.iter().for_each(|&rank| self.kill(rail, rank));
                self.handlers[rank.index()].handle_link_down(self.now, rail);
            }
            Fault::PortDies(rail, rank) => self.kill(rail, rank),
            Fault::Crawls(rail) => {
                self.crawling.insert(rail);
            }
            Fault::Heals(rail) => {
                self.dead_ports.retain(|&(dead, _)| dead != rail);
                self.crawling.remove(&rail);
            }
            Fault::Computes(rank, ms) => {
                let until = self.now + Span::from_ms(ms.into());
                self.members[rank.index()].computes_until = until;
                self.at(until, Event::Wake);
            }
        }
    }

    /// Of what is in flight through a failed port, half is lost and half arrives late.
    fn kill(&mut self, rail: RailId, rank: RankId) {
        self.dead_ports.insert((rail, rank));
        let hit = |event: &Event| match event {
            Event::RankMessage { to, from, over, .. } => {
                *over == rail && (*to == rank || *from == rank)
            }
            Event::Data { to, from, rail: on, .. } => *on == rail && (*to == rank || *from == rank),
            _ => false,
        };
        let keys: Vec<_> =
            self.events.iter().filter(|(_, event)| hit(event)).map(|(&key, _)| key).collect();
        for key in keys {
            let event = self.events.remove(&key).unwrap();
            if self.random.chance(1, 2) {
                let late = key.0 + self.drawn(300_000);
                self.at(late, event);
            }
        }
    }

    fn carries(&self, rail: RailId, one: RankId, other: RankId) -> bool {
        !self.dead_ports.contains(&(rail, one)) && !self.dead_ports.contains(&(rail, other))
    }

    fn start_operations(&mut self) {
        for rank in (0..self.scenario.ranks).map(RankId) {
            let member = &self.members[rank.index()];
            let id = OperationId(member.next);
            let room = member.next
                < (member.completed + self.scenario.overlap).min(self.scenario.operations);
            if !room
                || member.computes_until > self.now
                || self.handlers[rank.index()].is_agreeing()
            {
                continue;
            }
            let up = self.handlers[rank.index()].up();
            if up.is_empty() {
                continue;
            }
            let (bytes, rails) = (Bytes::new(self.scenario.bytes), self.scenario.rails);
            // One allocator serves all ranks: the first to start an operation divides it.
            let division = self.divisions.entry(id).or_insert_with(|| {
                let weight = |rail| if up.contains(RailId(rail)) { 1.0 } else { 0.0 };
                let weights: Vec<f64> = (0..rails as u32).map(weight).collect();
                Division::by_weights(bytes, Bytes::new(1), &weights)
            });
            let member = &mut self.members[rank.index()];
            let values = (0..self.scenario.bytes).map(|byte| input(rank, id, byte)).collect();
            member.inputs.insert(id, values);
            member.sums.insert(id, vec![None; self.scenario.bytes as usize]);
            member.next += 1;
            let expected = vec![Some(Span::from_us(self.scenario.data_us.into())); rails];
            let division = division.clone();
            self.handlers[rank.index()]
                .handle_operation(self.now, id, &division, &expected)
                .expect("an operation may start outside of agreements");
        }
    }

    fn act(&mut self) {
        for rank in (0..self.scenario.ranks).map(RankId) {
            while let Some(action) = self.handlers[rank.index()].poll_action() {
                match &action {
                    Action::Send { to, over, message } => self.send(rank, *to, *over, message),
                    Action::Issue(chunks) | Action::Reissue(chunks) => {
                        chunks.iter().for_each(|chunk| self.issue(rank, chunk));
                    }
                    Action::Complete(id) => self.complete(rank, *id),
                    Action::Release(id) => {
                        self.released += 1;
                        let member = &mut self.members[rank.index()];
                        member.inputs.remove(id).expect("inputs are released once");
                    }
                    Action::Rails { .. } | Action::StateChange { .. } => {}
                }
                if !matches!(action, Action::Send { .. }) {
                    self.log.push((self.now, rank, action));
                }
            }
        }
    }

    fn send(&mut self, from: RankId, to: RankId, over: RailId, message: &RankMessage) {
        assert_ne!(from, to);
        let report = matches!(message, RankMessage::Report { .. });
        let lost = report && self.scenario.lost > 0 && self.random.chance(1, self.scenario.lost);
        if self.carries(over, from, to) && !lost {
            let at = self.now + self.drawn(self.scenario.message_us);
            self.at(at, Event::RankMessage { to, from, over, message: message.clone() });
        }
    }

    fn issue(&mut self, rank: RankId, chunk: &ChunkIssue) {
        let range = chunk.range.start as usize..chunk.range.end as usize;
        let member = &mut self.members[rank.index()];
        let input = &member.inputs.get(&chunk.key.operation).expect("inputs are kept")[range];
        let values = input.to_vec();
        let twice = member.ranges.insert(chunk.key, chunk.range.clone());
        assert_eq!(twice, None, "a doing is issued once");
        for to in (0..self.scenario.ranks).map(RankId).filter(|&to| to != rank) {
            if self.carries(chunk.rail, rank, to) {
                let most = match self.crawling.contains(&chunk.rail) {
                    true => 1_000_000_000,
                    false => self.scenario.data_us,
                };
                let at = self.now + self.drawn(most);
                let (key, rail, values) = (chunk.key, chunk.rail, values.clone());
                self.at(at, Event::Data { to, from: rank, key, values, rail });
            }
        }
        self.contribute(rank, rank, chunk.key, &values);
    }

    fn contribute(&mut self, to: RankId, from: RankId, key: ChunkKey, values: &[i64]) {
        if self.handlers[to.index()].admission(&key) == ChunkAdmission::Stale {
            return;
        }
        let member = &mut self.members[to.index()];
        let (ranks, sums) =
            member.under_way.entry(key).or_insert_with(|| (BTreeSet::new(), vec![0; values.len()]));
        assert!(ranks.insert(from), "{from} contributed twice to {key:?}");
        for (sum, value) in sums.iter_mut().zip(values) {
            *sum = sum.wrapping_add(*value);
        }
        if ranks.len() < self.scenario.ranks as usize {
            return;
        }
        let verdict = self.handlers[to.index()].handle_chunk(self.now, &key);
        let member = &mut self.members[to.index()];
        let (_, sums) = member.under_way.remove(&key).unwrap();
        if verdict == ChunkAdmission::Accepted {
            let range = member.ranges[&key].clone();
            let written = member.sums.get_mut(&key.operation).unwrap();
            for (byte, sum) in range.zip(sums) {
                let before = written[byte as usize].replace(sum);
                assert_eq!(before, None, "{to} reduced {key:?} twice");
            }
        }
    }

    fn complete(&mut self, rank: RankId, id: OperationId) {
        self.members[rank.index()].completed += 1;
        for byte in 0..self.scenario.bytes {
            let inputs = (0..self.scenario.ranks).map(|other| input(RankId(other), id, byte));
            let exact = inputs.fold(0i64, i64::wrapping_add);
            let sum = self.members[rank.index()].sums[&id][byte as usize];
            assert_eq!(sum, Some(exact), "{rank}, operation {}, byte {byte}", id.0);
        }
    }

    /// The time of the last action that `which` selects.
    pub(super) fn last(&self, which: impl Fn(&Action) -> bool) -> Option<Time> {
        self.log.iter().filter(|(_, _, action)| which(action)).map(|entry| entry.0).max()
    }
}
