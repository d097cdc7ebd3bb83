//! Progressive filling of the links and flows that a change affects.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use super::{MARGIN, Service, Sharing};

/// Relative tolerance by which a flow that kept its rate may be faster than others on a link.
const FAIRNESS_TOLERANCE: f64 = 1e-6;

/// Minimum fraction of a link that is left for data if acknowledgements fill it \[inferred\].
const MIN_ROOM: f64 = 0.01;

/// State of a link in a computation.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Filling {
    /// Remaining capacity, and the minimum of it that data get.
    pub(super) room: f64,
    least: f64,
    /// Sum of the shares that still grow, and the number of flows with data among them.
    weight: f64,
    growing: u32,
    /// Number of affected members.
    affected: u32,
}

/// Treatment of acknowledgements in a computation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Acks {
    /// They grow with the rates of their flows.
    Grow,
    /// They have the known rates of their flows.
    Known,
}

impl Filling {
    /// Returns the rate at which the link is full if all growing flows have that rate.
    fn level(&self) -> f64 {
        self.room.max(self.least) / self.weight
    }
}

impl Sharing {
    /// Fills the affected links with the affected flows.
    pub(super) fn fill(&mut self, acks: Acks) {
        self.pass += 1;
        self.reset_links(acks);
        // Levels are not negative, so their bit patterns are ordered like the levels themselves.
        let key = |at: &Filling, link: u32| Reverse((at.level().to_bits(), link));
        let full = self.affected.iter().filter_map(|&link| {
            let at = &self.fillings[link as usize];
            (at.growing > 0).then(|| key(at, link))
        });
        let mut full: BinaryHeap<Reverse<(u64, u32)>> = full.collect();
        let mut left = self.affected_flows.len();
        while left > 0 {
            let Some(mut next) = full.peek_mut() else { return };
            let Reverse((_, link)) = *next;
            let at = &self.fillings[link as usize];
            if at.growing == 0 {
                PeekMut::pop(next);
                continue;
            }
            // Capacity left over by flows that were fixed at lower levels raises the level of a
            // link; it never falls.
            let (now, level) = (key(at, link), at.level());
            if now < *next {
                *next = now;
            } else {
                PeekMut::pop(next);
                left -= self.fix(link, level, acks);
            }
        }
    }

    /// Removes all affected flows from the affected links.
    fn reset_links(&mut self, acks: Acks) {
        let Self { links, fillings, flows, rates, seen, affected, affected_flows, .. } = self;
        for &link in &*affected {
            let capacity = links[link as usize].capacity;
            let least = MIN_ROOM * capacity;
            fillings[link as usize] = Filling { room: capacity, least, ..Filling::default() };
        }
        for &flow in &*affected_flows {
            for entry in &flows[flow as usize] {
                let at = &mut fillings[entry.link as usize];
                at.affected += 1;
                let is_data = entry.service == Service::Fair;
                if is_data || acks == Acks::Grow {
                    at.weight += entry.share;
                    at.growing += u32::from(is_data);
                } else {
                    at.room -= entry.share * rates[flow as usize].next;
                }
            }
        }
        for &link in &*affected {
            let (link, at) = (&links[link as usize], &mut fillings[link as usize]);
            // Unaffected flows keep their rates.
            if (at.affected as usize) < link.members.iter().map(Vec::len).sum() {
                let others = link.members.iter().flatten();
                let others =
                    others.filter(|it| seen[it.flow as usize].affected != self.computation);
                others.for_each(|it| at.room -= it.share * rates[it.flow as usize].now);
            }
        }
    }

    /// Fixes the rates of all flows whose data still grow on a link, and returns their number.
    fn fix(&mut self, link: u32, level: f64, acks: Acks) -> usize {
        let mut fixed = 0;
        let Self { links, fillings, flows, rates, seen, computation, pass, floor, .. } = self;
        for member in &links[link as usize].members[Service::Fair as usize] {
            let flow = member.flow as usize;
            if seen[flow].affected != *computation {
                // It was meant to keep its rate, but would now get more than the flows that share
                // the link.
                if rates[flow].now > level * (1.0 + FAIRNESS_TOLERANCE) {
                    *floor = floor.min(level * (1.0 - MARGIN));
                }
                continue;
            }
            if std::mem::replace(&mut seen[flow].fixed, *pass) == *pass {
                continue;
            }
            fixed += 1;
            let rate = &mut rates[flow];
            (rate.bottleneck, rate.next) = (link, level);
            for entry in &flows[flow] {
                let at = &mut fillings[entry.link as usize];
                let is_data = entry.service == Service::Fair;
                if is_data || acks == Acks::Grow {
                    at.room -= entry.share * level;
                    at.weight -= entry.share;
                    at.growing -= u32::from(is_data);
                }
            }
        }
        fixed
    }
}
