//! Hosts with several rails at work: one clock over all planes.
//!
//! All ranks start an operation together, once every rank has the sums of the one before and all
//! agree on the rails that are up \[inferred\]: a step of training ends so. At the same time failures
//! come first, then the ranks' timers, then the rails, in order of their numbers.

use std::collections::BTreeMap;

use super::config::{RailFailure, RailFailureKind, Setup};
use super::cpu::Cpu;
use super::numbers::{ELEMENT, Range};
use super::operation::{Chunk, Operation, Stored};
use super::outcome::{Happening, OperationRecord, Outcome, RailRecord, Verdict};
use super::piece::{Control, News, PieceId};
use super::plane::Plane;
use super::timeline::Timeline;
use crate::ids::{RailId, RankId};
use crate::rail::handler::{self, Action, ChunkIssue, Epoch, Handler, Key, Message, OperationId};
use crate::rail::{self, Allocator, Cost, Division, RailSet};
use crate::units::{Bytes, Span, Time};

/// Runs a setup to its end under an allocator of as many rails.
///
/// # Panics
/// If the setup has fewer than two ranks, no rails, or a timer of zero, or a promise between ranks
/// was broken.
pub fn run(setup: &Setup, allocator: Allocator) -> Outcome {
    let mut world = World::new(setup, allocator);
    world.begin_operation();
    let verdict = world.run();
    world.outcome(verdict)
}

struct World<'a> {
    setup: &'a Setup,
    allocator: Allocator,
    planes: Vec<Plane>,
    cpus: Vec<Cpu>,
    handlers: Vec<Handler>,
    /// When each handler wants to be called.
    wakes: Vec<Time>,
    /// What small messages say that are under way.
    messages: BTreeMap<u64, Message>,
    next_message: u64,
    /// Beginnings and ends of failures, last first.
    failures: Vec<(Time, Happening, RailFailure)>,
    /// What ranks agreed on last.
    agreed: (Epoch, RailSet),
    now: Time,
    operation: Option<Operation>,
    records: Vec<OperationRecord>,
    assigned: Vec<Bytes>,
    timeline: Timeline,
    late: u64,
    events: u64,
}

/// Who is next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Next {
    Failure,
    Rank(usize),
    Rail(usize),
}

impl<'a> World<'a> {
    fn new(setup: &'a Setup, allocator: Allocator) -> Self {
        let rails = setup.rails.len();
        let handler = |rank| {
            let rank = (RankId(rank), setup.ranks);
            let made = Handler::new(Time::ZERO, &setup.handler, rank, rails);
            made.expect("the setup has ranks, rails and timers")
        };
        let ends = setup.failures.iter().flat_map(|&failure| {
            [(failure.at, Happening::Fails, failure), (failure.until, Happening::Mended, failure)]
        });
        let mut failures: Vec<_> = ends.filter(|(at, ..)| *at < Time::NEVER).collect();
        failures.sort_by_key(|(at, ..)| std::cmp::Reverse(*at));
        Self {
            setup,
            allocator,
            planes: (0..rails as u32).map(|rail| Plane::new(setup, rail)).collect(),
            cpus: vec![Cpu::default(); setup.ranks as usize],
            handlers: (0..setup.ranks).map(handler).collect(),
            wakes: vec![Time::ZERO; setup.ranks as usize],
            messages: BTreeMap::new(),
            next_message: 0,
            failures,
            agreed: (Epoch(0), RailSet::first(rails)),
            now: Time::ZERO,
            operation: None,
            records: Vec::new(),
            assigned: vec![Bytes::ZERO; rails],
            timeline: Timeline::new(rails),
            late: 0,
            events: 0,
        }
    }

    fn run(&mut self) -> Verdict {
        while self.operation.is_some() || self.records.len() < self.setup.operations.len() {
            let Some((at, next)) = self.next() else { return Verdict::Stalled };
            if at > self.setup.time_limit {
                self.now = self.setup.time_limit;
                return Verdict::Stalled;
            }
            self.now = at;
            self.events += 1;
            match next {
                Next::Failure => self.fail(),
                Next::Rank(rank) => {
                    self.handlers[rank].handle_timeout(at);
                    self.act(rank);
                }
                Next::Rail(rail) => {
                    self.planes[rail].step(&mut self.cpus);
                    while let Some(news) = self.planes[rail].poll_news() {
                        self.handle_news(rail as u32, news);
                    }
                }
            }
        }
        Verdict::Completed
    }

    fn next(&mut self) -> Option<(Time, Next)> {
        let failure = self.failures.last().map(|&(at, ..)| (at, Next::Failure));
        let ranks = self.wakes.iter().enumerate().map(|(rank, &at)| (at, Next::Rank(rank))).min();
        let rails = self.planes.iter_mut().map(Plane::next_time).enumerate();
        let rails = rails.filter_map(|(rail, at)| Some((at?, Next::Rail(rail)))).min();
        [failure, ranks, rails].into_iter().flatten().min()
    }

    /// A failure begins or ends; one that an adapter can see is told to its host.
    fn fail(&mut self) {
        let Some((_, what, RailFailure { rail, kind, .. })) = self.failures.pop() else { return };
        self.timeline.note(self.now, rail, what);
        if let (Happening::Fails, RailFailureKind::Error { host }) = (what, kind) {
            self.handlers[host as usize].handle_link_down(self.now, RailId(rail));
            self.act(host as usize);
        }
    }

    /// Does what a rank's handler wants done.
    fn act(&mut self, rank: usize) {
        while let Some(action) = self.handlers[rank].poll_action() {
            match action {
                Action::Send { to, over, message } => self.send(rank, (to, over), message),
                // What an operation begins with is taken where it begins.
                Action::Issue(_) | Action::Complete(_) | Action::Release(_) => {}
                Action::Reissue(issues) => self.reissue(rank as u32, &issues),
                Action::Rails { up, epoch } => self.agree(up, epoch),
                Action::Moved { rail, state, cause } => {
                    self.timeline.moved(self.now, (rail.0, rank as u32), (state, cause));
                }
            }
        }
        self.wakes[rank] = self.handlers[rank].poll_timeout();
        if self.operation.is_none() {
            self.begin_operation();
        }
    }

    fn send(&mut self, rank: usize, (to, over): (RankId, RailId), message: Message) {
        let cookie = self.next_message;
        self.next_message += 1;
        let control = Control { from: rank as u32, to: to.0, bytes: message.bytes(), cookie };
        self.messages.insert(cookie, message);
        self.planes[over.index()].send_control(self.now, control, &mut self.cpus);
    }

    /// The first rank knows that all agree. Whatever was under way on a rail that was given up, or
    /// that comes back, is of no use any more.
    fn agree(&mut self, up: RailSet, epoch: Epoch) {
        let (known, was_up) = self.agreed;
        if epoch <= known {
            return;
        }
        self.agreed = (epoch, up);
        for rail in (0..self.planes.len() as u32).map(RailId) {
            if up.contains(rail) != was_up.contains(rail) {
                self.planes[rail.index()].abandon();
                let returned = up.contains(rail);
                let what = if returned { Happening::Returned } else { Happening::Agreed };
                self.timeline.note(self.now, rail.0, what);
            }
        }
    }

    /// A rank does chunks again.
    fn reissue(&mut self, rank: u32, issues: &[ChunkIssue]) {
        let Some(operation) = &mut self.operation else { return };
        let of_this = |issue: &&ChunkIssue| issue.key.operation.0 == u64::from(operation.number);
        let issues: Vec<&ChunkIssue> = issues.iter().filter(of_this).collect();
        let Some(first) = issues.first() else { return };
        let record = self.records.last_mut().expect("an operation has a record");
        if self.timeline.is_first(first.key.epoch.0) {
            record.reissued += issues.len() as u64;
            let chunks = issues.len() as u64;
            let lost = operation.rail_of(rank, first.key.chunk);
            self.timeline.note(self.now, lost, Happening::Reissued { chunks });
        }
        let mut whole = Vec::new();
        for issue in issues {
            let place = (issue.rail.0, issue.key.epoch.0);
            if operation.issue(self.now, rank, issue.key.chunk, place) == Stored::Whole {
                whole.push((issue.rail.0, issue.key));
            }
        }
        for (rail, key) in whole {
            self.whole(rail, rank, &key);
        }
        for rail in 0..self.planes.len() as u32 {
            self.begin_chunks(rail, rank);
        }
    }

    /// Starts the next operation, if there is one and all ranks agree on the rails for it.
    fn begin_operation(&mut self) {
        let number = self.records.len();
        let Some(&bytes) = self.setup.operations.get(number) else { return };
        let up = self.handlers[0].up();
        if self.handlers.iter().any(|handler| handler.is_agreeing() || handler.up() != up) {
            return;
        }
        self.allocator.handle_rails(up);
        let asked = rail::Operation { bytes, element: ELEMENT };
        let Ok(division) = self.allocator.allocate(&asked) else { return };
        let chunks = self.issue(number as u64, &asked, &division);
        for (assigned, &share) in self.assigned.iter_mut().zip(division.shares()) {
            *assigned += share;
        }
        self.records.push(OperationRecord {
            bytes,
            started: self.now,
            took: None,
            times: vec![None; self.planes.len()],
            shares: division.shares().to_vec(),
            reissued: 0,
            wrong: 0,
        });
        let run = (self.setup.seed, self.setup.ranks);
        let begun = (number as u32, self.now);
        self.operation = Some(Operation::new(begun, run, &chunks, self.planes.len()));
        for rail in 0..self.planes.len() as u32 {
            (0..self.setup.ranks).for_each(|rank| self.begin_chunks(rail, rank));
        }
        // Whatever else the ranks had to say waits no longer than this.
        (0..self.handlers.len()).for_each(|rank| self.act(rank));
    }

    /// Tells every rank of an operation; the chunks that they say it has.
    fn issue(&mut self, number: u64, asked: &rail::Operation, division: &Division) -> Vec<Chunk> {
        let expected = self.expected(asked, division);
        let rails = (0..self.planes.len() as u32).map(RailId);
        let rates: Vec<_> = rails.map(|rail| self.allocator.rate(asked, rail)).collect();
        let mut chunks = Vec::new();
        for rank in 0..self.handlers.len() {
            // What it has to say so far comes before the chunks.
            self.wakes[rank] = self.now;
            let handler = &mut self.handlers[rank];
            handler.handle_rates(&rates);
            handler
                .handle_operation(self.now, OperationId(number), division, &expected)
                .expect("all ranks agree on the rails that it is for");
            let mut others = Vec::new();
            while let Some(action) = handler.poll_action() {
                match action {
                    Action::Issue(issues) => chunks = issues.iter().map(chunk).collect(),
                    Action::Send { to, over, message } => others.push(((to, over), message)),
                    _ => {}
                }
            }
            others.into_iter().for_each(|(to, message)| self.send(rank, to, message));
        }
        chunks
    }

    /// By rail, how long it should be from one completed chunk to the next: as long as all chunks
    /// that are under way at a time take, since they may end together.
    fn expected(&self, asked: &rail::Operation, division: &Division) -> Vec<Option<Span>> {
        let of_rail = |rail: RailId| {
            let bytes = division.of(rail);
            // Before anything was measured, a ring sends all twice, and half as fast as its links.
            let by_name = self.allocator.rate(asked, rail).time_for(bytes) * 4;
            let all = self.allocator.expected(asked, rail, bytes).unwrap_or(by_name);
            let chunks = bytes.get().div_ceil(self.setup.handler.chunk.get().max(1)).max(1);
            let rounds = (chunks / u64::from(self.setup.window)).max(1);
            Some(Span::from_ps(all.as_ps() / rounds))
        };
        (0..self.planes.len() as u32).map(|rail| of_rail(RailId(rail))).collect()
    }

    /// A rank begins what it may of the chunks of a rail.
    fn begin_chunks(&mut self, rail: u32, rank: u32) {
        let Some(operation) = &mut self.operation else { return };
        while let Some(piece) = operation.begin_next(rail, rank, self.setup.window) {
            self.planes[rail as usize].begin(self.now, piece, rank, &mut self.cpus);
        }
    }

    fn handle_news(&mut self, rail: u32, news: News) {
        match news {
            News::Sums { piece, rank, range, numbers } => {
                self.handle_sums(rail, (piece, rank), (range, numbers));
            }
            News::Control(Control { from, to, cookie, .. }) => {
                let Some(message) = self.messages.remove(&cookie) else { return };
                let handler = &mut self.handlers[to as usize];
                handler.handle_message(self.now, RankId(from), RailId(rail), &message);
                self.act(to as usize);
            }
        }
    }

    fn handle_sums(
        &mut self,
        rail: u32,
        (piece, rank): (PieceId, u32),
        (range, numbers): (Range, Vec<i64>),
    ) {
        let key = key(piece);
        let Some(operation) = &mut self.operation else {
            self.late += 1;
            return;
        };
        // Others were told that the rank has not got what comes after it gave the rail up.
        if self.handlers[rank as usize].admits(&key) == handler::Verdict::Stale {
            self.late += 1;
            return;
        }
        match operation.store(self.now, (piece, rank), (range, numbers)) {
            Stored::Late => self.late += 1,
            Stored::Early | Stored::Part => {}
            Stored::Whole => self.whole(rail, rank, &key),
        }
    }

    /// A rank has a chunk whole that was on that rail.
    fn whole(&mut self, rail: u32, rank: u32, key: &Key) {
        self.timeline.whole(self.now, key.epoch.0);
        self.handlers[rank as usize].handle_chunk(self.now, key);
        self.act(rank as usize);
        if self.operation.as_ref().is_some_and(Operation::is_complete) {
            self.end_operation();
        } else {
            self.begin_chunks(rail, rank);
        }
    }

    fn end_operation(&mut self) {
        let (Some(operation), Some(record)) = (self.operation.take(), self.records.last_mut())
        else {
            return;
        };
        record.took = Some(self.now.since(operation.started));
        record.times = (0..self.planes.len() as u32).map(|rail| operation.duration(rail)).collect();
        record.wrong = operation.wrong();
        // What was done again says nothing of what an operation costs.
        if record.reissued == 0 {
            let of_rail = (0..).map(RailId).zip(&record.shares).zip(&record.times);
            let costs: Vec<Cost> = of_rail
                .filter_map(|((rail, &bytes), &time)| Some(Cost { rail, bytes, duration: time? }))
                .collect();
            let asked = rail::Operation { bytes: record.bytes, element: ELEMENT };
            self.allocator.handle_costs(&asked, &costs);
        }
        self.begin_operation();
    }

    fn outcome(self, verdict: Verdict) -> Outcome {
        let rails = self.setup.rails.iter().zip(&self.planes).zip(&self.assigned);
        Outcome {
            verdict,
            ended: self.now,
            operations: self.records,
            rails: rails
                .map(|((rail, plane), &assigned)| RailRecord {
                    name: rail.name.clone(),
                    kind: rail.kind.name(),
                    assigned,
                    carried: plane.bytes(),
                })
                .collect(),
            cpu_busy: self.cpus.iter().map(Cpu::busy).collect(),
            timeline: self.timeline.into_entries(),
            late: self.late,
            events: self.events,
        }
    }
}

fn key(piece: PieceId) -> Key {
    Key {
        operation: OperationId(u64::from(piece.operation)),
        chunk: piece.chunk,
        epoch: Epoch(piece.epoch),
    }
}

/// A chunk as handlers have it, in elements.
fn chunk(issue: &ChunkIssue) -> Chunk {
    let element = ELEMENT.get();
    let (start, end) = (issue.range.start / element, issue.range.end / element);
    let range = Range { first: start, count: end - start };
    Chunk { rail: issue.rail.0, epoch: issue.key.epoch.0, range }
}
