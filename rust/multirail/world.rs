//! Hosts with several rails at work: one clock over all planes.
//!
//! At the same time the hosts' own events come first, then the rails in order of their numbers.

use super::config::Setup;
use super::cpu::Cpu;
use super::numbers::{ELEMENT, Range};
use super::operation::{Operation, Stored};
use super::outcome::{OperationRecord, Outcome, RailRecord, TimelineEntry, Verdict};
use super::piece::News;
use super::plane::Plane;
use crate::ids::RailId;
use crate::rail::{self, Allocator, Cost, Division, Part};
use crate::units::{Bytes, Time};

/// Runs a setup to its end under an allocator.
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
    now: Time,
    operation: Option<Operation>,
    records: Vec<OperationRecord>,
    assigned: Vec<Bytes>,
    timeline: Vec<TimelineEntry>,
    late: u64,
    events: u64,
}

impl<'a> World<'a> {
    fn new(setup: &'a Setup, allocator: Allocator) -> Self {
        let rails = setup.rails.len();
        Self {
            setup,
            allocator,
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

    /// Starts the next operation, if there is one and a rail to do it on.
    fn begin_operation(&mut self) {
        let number = self.records.len();
        let Some(&bytes) = self.setup.operations.get(number) else { return };
        let asked = rail::Operation { bytes, element: ELEMENT };
        let Ok(division) = self.allocator.allocate(&asked) else { return };
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
        let chunks = chunks(&division, self.setup.chunks.elements());
        let begun = (number as u32, self.now);
        self.operation = Some(Operation::new(begun, run, &chunks, self.planes.len()));
        for rail in 0..self.planes.len() as u32 {
            (0..self.setup.ranks).for_each(|rank| self.begin_chunks(rail, rank));
        }
    }

    /// A rank begins what it may of the chunks of a rail.
    fn begin_chunks(&mut self, rail: u32, rank: u32) {
        let Some(operation) = &mut self.operation else { return };
        let window = self.setup.chunks.window;
        while let Some(piece) = operation.begin_next(rail, rank, window) {
            self.planes[rail as usize].begin(self.now, piece, rank, &mut self.cpus);
        }
    }

    fn handle_news(&mut self, rail: u32, news: News) {
        match news {
            News::Sums { piece, rank, range, numbers } => {
                let Some(operation) = &mut self.operation else { return };
                match operation.store(self.now, (piece, rank), (range, numbers)) {
                    Stored::Late => self.late += 1,
                    Stored::Early | Stored::Part => {}
                    Stored::Whole => self.whole(rail, rank),
                }
            }
            News::Control(_) => {}
        }
    }

    /// A rank has a chunk whole that was on that rail.
    fn whole(&mut self, rail: u32, rank: u32) {
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
            timeline: self.timeline,
            late: self.late,
            events: self.events,
        }
    }
}

/// The chunks of a division, one behind the other, with the rail of each.
fn chunks(division: &Division, most: u64) -> Vec<(u32, Range)> {
    let element = ELEMENT.get();
    let of_part = |part: Part| {
        let (start, end) = (part.range.start / element, part.range.end / element);
        let whole = Range { first: start, count: end - start };
        whole.cut(most).map(move |range| (part.rail.0, range))
    };
    division.parts().flat_map(of_part).collect()
}
