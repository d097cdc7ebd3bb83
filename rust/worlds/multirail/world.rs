//! The simulation of hosts with several rails: one clock over all planes.
//!
//! All ranks start an operation together, once every rank has the sums of the previous one and all
//! agree on the rails that are up \[inferred\], as at the end of a training step. At equal times
//! failures come first, then the timers of ranks, then the rails by index.

use super::config::{RailFailure, RailFailureKind, RailKind, RailSetup};
use super::cpu::Cpu;
use super::host_rail::HostRail;
use super::numbers::ELEMENT;
use super::operation::{RankOperation, Stored};
use super::outcome::{OperationRecord, RailEvent, RailOutcome, RailRecord};
use super::plane::{ControlMessage, Plane, RailDelivery, Sums};
use super::timeline::Timeline;
use super::tree_rail::TreeRail;
use crate::fabric::Verdict;
use crate::ids::{RailId, RankId};
use crate::rail::handler::{
    Action, ChunkAdmission, ChunkIssue, ChunkKey, Epoch, Handler, Membership, OperationId,
    RankMessage,
};
use crate::rail::{Allocator, Division, RailCost, RailOperation, RailSet};
use crate::units::{Bytes, Span, Time};

/// Number of events between two progress reports.
const PROGRESS_EVERY: u64 = 1 << 8;

/// Runs a setup to its end with an allocator for the same number of rails.
///
/// # Panics
/// If the setup has fewer than two ranks, no rails or a timer of zero, or if a chunk is summed
/// twice.
pub fn run(setup: &RailSetup, allocator: Allocator) -> RailOutcome {
    run_observed(setup, allocator, &mut |_| {})
}

/// Like [`run`], but calls `progress` with the number of completed operations every
/// `PROGRESS_EVERY` events.
///
/// # Panics
/// As [`run`].
pub fn run_observed(
    setup: &RailSetup,
    allocator: Allocator,
    progress: &mut dyn FnMut(usize),
) -> RailOutcome {
    let mut world = RailWorld::new(setup, allocator);
    world.begin_operation();
    let verdict = world.run(progress);
    world.outcome(verdict)
}

struct RailWorld<'a> {
    setup: &'a RailSetup,
    allocator: Allocator,
    planes: Vec<Box<dyn Plane>>,
    cpus: Vec<Cpu>,
    handlers: Vec<Handler>,
    /// The next deadline of each handler.
    wakes: Vec<Time>,
    /// Starts and ends of failures, latest first, so that the next one is popped from the end.
    failures: Vec<(Time, RailEvent, RailFailure)>,
    /// The last agreement of all ranks.
    agreed: (Epoch, RailSet),
    now: Time,
    operation: Option<RankOperation>,
    records: Vec<OperationRecord>,
    timeline: Timeline,
    late: u64,
    events: u64,
}

/// The component with the next event; the order breaks ties.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum NextEvent {
    Failure,
    Rank(usize),
    Rail(usize),
}

impl<'a> RailWorld<'a> {
    fn new(setup: &'a RailSetup, allocator: Allocator) -> Self {
        let rails = setup.rails.len();
        let handler = |rank| {
            let member = Membership { rank: RankId(rank), ranks: setup.ranks, rails };
            let handler = Handler::new(Time::ZERO, &setup.handler, &member);
            handler.expect("the setup has ranks, rails and timers")
        };
        let times = setup.failures.iter().flat_map(|&failure| {
            [
                (failure.at, RailEvent::Failed, failure),
                (failure.until, RailEvent::Repaired, failure),
            ]
        });
        let mut failures: Vec<_> = times.filter(|(at, ..)| *at < Time::NEVER).collect();
        failures.sort_by_key(|(at, ..)| std::cmp::Reverse(*at));
        Self {
            setup,
            allocator,
            planes: (0..rails as u32).map(|rail| plane(setup, rail)).collect(),
            cpus: vec![Cpu::default(); setup.ranks as usize],
            handlers: (0..setup.ranks).map(handler).collect(),
            wakes: vec![Time::ZERO; setup.ranks as usize],
            failures,
            agreed: (Epoch(0), RailSet::first(rails)),
            now: Time::ZERO,
            operation: None,
            records: Vec::new(),
            timeline: Timeline::new(rails),
            late: 0,
            events: 0,
        }
    }

    fn run(&mut self, progress: &mut dyn FnMut(usize)) -> Verdict {
        while self.operation.is_some() || self.records.len() < self.setup.operations.len() {
            let Some((at, next)) = self.next() else { return Verdict::Stalled };
            // An event exactly at the limit is still handled.
            if at > self.setup.time_limit {
                self.now = self.setup.time_limit;
                return Verdict::TimeLimit;
            }
            self.now = at;
            self.events += 1;
            if self.events.is_multiple_of(PROGRESS_EVERY) {
                progress(self.records.len());
            }
            match next {
                NextEvent::Failure => self.handle_failure(),
                NextEvent::Rank(rank) => {
                    self.handlers[rank].handle_timeout(at);
                    self.act(rank);
                }
                NextEvent::Rail(rail) => {
                    if let Some(delivery) = self.planes[rail].step(&mut self.cpus) {
                        self.handle_delivery(rail as u32, delivery);
                    }
                }
            }
        }
        Verdict::Completed
    }

    fn next(&mut self) -> Option<(Time, NextEvent)> {
        let failure = self.failures.last().map(|&(at, ..)| (at, NextEvent::Failure));
        let ranks = self.wakes.iter().enumerate();
        let rank = ranks.map(|(rank, &at)| (at, NextEvent::Rank(rank))).min();
        let rails = self.planes.iter_mut().map(|plane| plane.next_time()).enumerate();
        let rail = rails.filter_map(|(rail, at)| Some((at?, NextEvent::Rail(rail)))).min();
        [failure, rank, rail].into_iter().flatten().min()
    }

    /// Records the start or end of a failure. If an adapter detects the start, its host is
    /// notified.
    fn handle_failure(&mut self) {
        let Some((_, event, RailFailure { rail, kind, .. })) = self.failures.pop() else { return };
        self.timeline.record(self.now, rail, event);
        if let (RailEvent::Failed, RailFailureKind::Error { host }) = (event, kind) {
            self.handlers[host as usize].handle_link_down(self.now, RailId(rail));
            self.act(host as usize);
        }
    }

    /// Performs the pending actions of a rank's handler.
    fn act(&mut self, rank: usize) {
        while let Some(action) = self.handlers[rank].poll_action() {
            match action {
                Action::Send { to, over, message } => self.send(rank, to, over, message),
                // `issue` collects the chunks of a new operation; results are checked at the end.
                Action::Issue(_) | Action::Complete(_) | Action::Release(_) => {}
                Action::Reissue(issues) => self.reissue(rank as u32, &issues),
                Action::Rails { up, epoch } => self.agree(up, epoch),
                Action::StateChange { rail, state, cause } => {
                    let event = RailEvent::StateChange { rank: rank as u32, state, cause };
                    self.timeline.record(self.now, rail.0, event);
                }
            }
        }
        self.wakes[rank] = self.handlers[rank].poll_timeout();
        if self.operation.is_none() {
            self.begin_operation();
        }
    }

    fn send(&mut self, rank: usize, to: RankId, over: RailId, message: RankMessage) {
        let control = ControlMessage { from: rank as u32, to: to.0, message };
        self.planes[over.index()].send_control(self.now, control, &mut self.cpus);
    }

    /// Applies an agreement when the first rank concludes it. In-flight data on a rail that goes
    /// down or returns is discarded.
    fn agree(&mut self, up: RailSet, epoch: Epoch) {
        let (known, was_up) = self.agreed;
        if epoch <= known {
            return;
        }
        self.agreed = (epoch, up);
        for rail in (0..self.planes.len() as u32).map(RailId) {
            if up.contains(rail) != was_up.contains(rail) {
                self.planes[rail.index()].discard();
                let returned = up.contains(rail);
                let event = if returned { RailEvent::Returned } else { RailEvent::Agreed };
                self.timeline.record(self.now, rail.0, event);
            }
        }
    }

    /// Issues chunks again at one rank.
    fn reissue(&mut self, rank: u32, issues: &[ChunkIssue]) {
        let Some(operation) = &mut self.operation else { return };
        let of_this = |issue: &&ChunkIssue| issue.key.operation == operation.id;
        let issues: Vec<&ChunkIssue> = issues.iter().filter(of_this).collect();
        let Some(first) = issues.first() else { return };
        let record = self.records.last_mut().expect("an operation has a record");
        let (chunks, lost) = (issues.len() as u64, operation.rail_of(rank, first.key.chunk));
        if self.timeline.record_reissue(self.now, first.key.epoch, lost, chunks) {
            record.reissued += chunks;
        }
        let repeat =
            |issue: &&ChunkIssue| operation.repeat(self.now, rank, issue) == Stored::Complete;
        let complete: Vec<&ChunkIssue> = issues.into_iter().filter(repeat).collect();
        for issue in complete {
            self.handle_complete(issue.rail.0, rank, &issue.key);
        }
        for rail in 0..self.planes.len() as u32 {
            self.begin_chunks(rail, rank);
        }
    }

    /// Starts the next operation, if there is one and all ranks agree on the rails that are up.
    fn begin_operation(&mut self) {
        let index = self.records.len();
        let Some(&bytes) = self.setup.operations.get(index) else { return };
        let up = self.handlers[0].up();
        if self.handlers.iter().any(|handler| handler.is_agreeing() || handler.up() != up) {
            return;
        }
        self.allocator.handle_rails(up);
        let operation = RailOperation { bytes, element: ELEMENT };
        let Ok(division) = self.allocator.allocate(&operation) else { return };
        let id = OperationId(index as u64);
        let chunks = self.issue(id, &operation, &division);
        self.records.push(OperationRecord {
            bytes,
            started: self.now,
            took: None,
            times: vec![None; self.planes.len()],
            shares: division.shares().to_vec(),
            reissued: 0,
            wrong: 0,
        });
        self.operation = Some(RankOperation::new(self.setup, id, self.now, &chunks));
        for rail in 0..self.planes.len() as u32 {
            (0..self.setup.ranks).for_each(|rank| self.begin_chunks(rail, rank));
        }
    }

    /// Starts an operation at every rank. Returns its chunks, which are the same at all ranks.
    fn issue(
        &mut self,
        id: OperationId,
        operation: &RailOperation,
        division: &Division,
    ) -> Vec<ChunkIssue> {
        let expected = self.expected(operation, division);
        let rails = (0..self.planes.len() as u32).map(RailId);
        let rates: Vec<_> = rails.map(|rail| self.allocator.rate(operation, rail)).collect();
        let mut chunks = Vec::new();
        for (handler, wake) in self.handlers.iter_mut().zip(&mut self.wakes) {
            handler.handle_rates(&rates);
            handler
                .handle_operation(self.now, id, division, &expected)
                .expect("all ranks agree on the rails of the division");
            while let Some(action) = handler.poll_action() {
                if let Action::Issue(issues) = action {
                    chunks = issues;
                }
            }
            *wake = handler.poll_timeout();
        }
        chunks
    }

    /// Returns the expected time between completed chunks, by rail. It covers all chunks in
    /// progress at the same time, because they may complete together.
    fn expected(&self, operation: &RailOperation, division: &Division) -> Vec<Option<Span>> {
        let of_rail = |rail: RailId| {
            let bytes = division.of(rail);
            // Before the first measurement: a ring sends everything twice, at half its line rate.
            let nominal = self.allocator.rate(operation, rail).time_for(bytes) * 4;
            let all = self.allocator.expected(operation, rail, bytes).unwrap_or(nominal);
            let chunks = bytes.get().div_ceil(self.setup.handler.chunk.get().max(1)).max(1);
            let rounds = (chunks / u64::from(self.setup.window)).max(1);
            Some(Span::from_ps(all.as_ps() / rounds))
        };
        (0..self.planes.len() as u32).map(|rail| of_rail(RailId(rail))).collect()
    }

    /// Starts as many chunks of a rail at a rank as the window permits.
    fn begin_chunks(&mut self, rail: u32, rank: u32) {
        let Some(operation) = &mut self.operation else { return };
        while let Some(attempt) = operation.begin_next(rail, rank, self.setup.window) {
            self.planes[rail as usize].begin(self.now, attempt, rank, &mut self.cpus);
        }
    }

    fn handle_delivery(&mut self, rail: u32, delivery: RailDelivery) {
        match delivery {
            RailDelivery::Sums(sums) => self.handle_sums(rail, sums),
            RailDelivery::Control(ControlMessage { from, to, message }) => {
                let handler = &mut self.handlers[to as usize];
                handler.handle_message(self.now, RankId(from), RailId(rail), &message);
                self.act(to as usize);
            }
        }
    }

    fn handle_sums(&mut self, rail: u32, sums: Sums) {
        let (rank, key) = (sums.rank, sums.key);
        let Some(operation) = &mut self.operation else {
            self.late += 1;
            return;
        };
        // The rank reported these sums as missing when it took the rail out of use.
        if self.handlers[rank as usize].admission(&key) == ChunkAdmission::Stale {
            self.late += 1;
            return;
        }
        match operation.store(self.now, sums) {
            Stored::Late => self.late += 1,
            Stored::Early | Stored::Partial => {}
            Stored::Complete => self.handle_complete(rail, rank, &key),
        }
    }

    /// Processes the completion of a chunk of a rail at a rank.
    fn handle_complete(&mut self, rail: u32, rank: u32, key: &ChunkKey) {
        self.timeline.record_complete(self.now, key.epoch);
        self.handlers[rank as usize].handle_chunk(self.now, key);
        self.act(rank as usize);
        if self.operation.as_ref().is_some_and(RankOperation::is_complete) {
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
        record.wrong = operation.wrong;
        // The duration of an operation with repeated chunks does not represent the rails' cost.
        if record.reissued == 0 {
            let of_rail = (0..).map(RailId).zip(&record.shares).zip(&record.times);
            let costs: Vec<RailCost> = of_rail
                .filter_map(|((rail, &bytes), &time)| {
                    Some(RailCost { rail, bytes, duration: time? })
                })
                .collect();
            let operation = RailOperation { bytes: record.bytes, element: ELEMENT };
            self.allocator.handle_costs(&operation, &costs);
        }
        self.begin_operation();
    }

    fn outcome(self, verdict: Verdict) -> RailOutcome {
        let record = |rail: usize| RailRecord {
            assigned: self.records.iter().fold(Bytes::ZERO, |sum, it| sum + it.shares[rail]),
            carried: self.planes[rail].bytes(),
        };
        RailOutcome {
            verdict,
            ended: self.now,
            rails: (0..self.planes.len()).map(record).collect(),
            operations: self.records,
            cpu_busy: self.cpus.iter().map(Cpu::busy).collect(),
            timeline: self.timeline.into_entries(),
            late: self.late,
            events: self.events,
        }
    }
}

/// Creates the rail at `index` of a setup.
fn plane(setup: &RailSetup, index: u32) -> Box<dyn Plane> {
    match &setup.rails[index as usize].kind {
        RailKind::Tcp(transport) | RailKind::Rdma(transport) => {
            Box::new(HostRail::new(setup, index, transport))
        }
        RailKind::InNetwork(tree) => Box::new(TreeRail::new(setup, index, tree)),
    }
}
