//! Hosts with several rails at work: one clock over all planes.
//!
//! At the same time the hosts' own events come first, then the rails in order of their numbers.

use super::allocation::Allocation;
use super::config::Setup;
use super::cpu::Cpu;
use super::numbers::ELEMENT;
use super::operation::{Operation, Stored};
use super::outcome::{OperationRecord, Outcome, RailRecord, TimelineEntry, Verdict};
use super::piece::News;
use super::plane::Plane;
use crate::units::{Bytes, Span, Time};

/// Runs a setup to its end under an allocator.
pub fn run(setup: &Setup, allocation: &mut dyn Allocation) -> Outcome {
    let mut world = World::new(setup, allocation);
    world.begin_operation();
    let verdict = world.run();
    world.outcome(verdict)
}

struct World<'a> {
    setup: &'a Setup,
    allocation: &'a mut dyn Allocation,
    planes: Vec<Plane>,
    cpus: Vec<Cpu>,
    now: Time,
    operation: Option<Operation>,
    records: Vec<OperationRecord>,
    assigned: Vec<Bytes>,
    timeline: Vec<TimelineEntry>,
    late: u64,
    events: u64,
}

impl<'a> World<'a> {
    fn new(setup: &'a Setup, allocation: &'a mut dyn Allocation) -> Self {
        let rails = setup.rails.len();
        Self {
            setup,
            allocation,
            planes: (0..rails as u32).map(|rail| Plane::new(setup, rail)).collect(),
            cpus: vec![Cpu::default(); setup.ranks as usize],
            now: Time::ZERO,
            operation: None,
            records: Vec::new(),
            assigned: vec![Bytes::ZERO; rails],
            timeline: Vec::new(),
            late: 0,
            events: 0,
        }
    }

    fn run(&mut self) -> Verdict {
        while self.operation.is_some() {
            let next = self.planes.iter_mut().map(Plane::next_time).enumerate();
            let next = next.filter_map(|(rail, at)| Some((at?, rail))).min();
            let Some((at, rail)) = next else { return Verdict::Stalled };
            if at > self.setup.time_limit {
                self.now = self.setup.time_limit;
                return Verdict::Stalled;
            }
            self.now = at;
            self.events += 1;
            self.planes[rail].step(&mut self.cpus);
            while let Some(news) = self.planes[rail].poll_news() {
                self.handle_news(rail as u32, news);
            }
        }
        Verdict::Completed
    }

    /// Starts the next operation, if there is one.
    fn begin_operation(&mut self) {
        let number = self.records.len();
        let Some(&bytes) = self.setup.operations.get(number) else {
            self.operation = None;
            return;
        };
        let shares = self.allocation.divide(bytes);
        let elements: Vec<u64> = shares.iter().map(|share| share.get() / ELEMENT.get()).collect();
        for (assigned, &share) in self.assigned.iter_mut().zip(&shares) {
            *assigned += share;
        }
        self.records.push(OperationRecord {
            bytes,
            started: self.now,
            took: None,
            times: vec![None; shares.len()],
            shares,
            reissued: 0,
            wrong: 0,
        });
        let most = self.setup.chunks.elements();
        let run = (self.setup.seed, self.setup.ranks);
        self.operation = Some(Operation::new((number as u32, self.now), run, &elements, most));
        for rail in 0..self.planes.len() as u32 {
            self.begin_chunks(rail);
        }
    }

    /// Every rank begins what it may of the chunks of a rail.
    fn begin_chunks(&mut self, rail: u32) {
        (0..self.setup.ranks).for_each(|rank| self.begin_chunks_of(rail, rank));
    }

    fn begin_chunks_of(&mut self, rail: u32, rank: u32) {
        let Some(operation) = &mut self.operation else { return };
        let window = self.setup.chunks.window;
        while let Some(piece) = operation.begin_next(rail, rank, window) {
            self.planes[rail as usize].begin(self.now, piece, rank, &mut self.cpus);
        }
    }

    fn handle_news(&mut self, rail: u32, news: News) {
        let News::Sums { piece, rank, range, numbers } = news else { return };
        let Some(operation) = &mut self.operation else { return };
        match operation.store(self.now, (piece, rank), (range, &numbers)) {
            Stored::Late => self.late += 1,
            Stored::Part => {}
            Stored::Whole if operation.is_complete() => self.end_operation(),
            Stored::Whole => self.begin_chunks_of(rail, rank),
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
        let times: Vec<(Bytes, Option<Span>)> =
            record.shares.iter().copied().zip(record.times.iter().copied()).collect();
        self.allocation.handle_times(record.bytes, &times);
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
            timeline: self.timeline,
            late: self.late,
            events: self.events,
        }
    }
}
