//! Max-min fair rates of flows over links, kept up to date as flows come and go.
//!
//! Source: Bertsekas and Gallager, "Data Networks" (2nd edition, 1992), section 6.5.2: progressive
//! filling. All rates grow together; where a link is full, the flows on it keep their rate. A flow
//! may load a link with less than its own rate, or more: packets that are spread over several
//! links, acknowledgements on the way back.
//!
//! Rates are computed anew only where they may have changed. Up to the lowest rate of a flow that
//! came or left, progressive filling passes through the same states as before: flows with lower
//! rates keep them. Of the others those count that share links with a change, directly or through
//! other flows.
//!
//! Floating-point numbers are added, multiplied and divided in a fixed order, so that results are
//! the same bytes on every machine.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// Differences of rates below this part are rounding: a rate then stays as it was.
const ROUNDING: f64 = 1e-12;
/// A flow counts as unaffected if its rate is lower than that of any change by this part.
const MARGIN: f64 = 1e-9;
/// The rate of a flow that has none yet: above every other, so that it counts as affected.
const UNKNOWN: f64 = f64::INFINITY;

/// A flow's use of a link.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Use {
    /// The link.
    pub(super) link: u32,
    /// Bytes on the link for each byte of the flow; more than 0.
    pub(super) share: f64,
}

/// A flow's use of a link, and its place in the link's list of members.
#[derive(Debug, Clone, Copy)]
struct Entry {
    link: u32,
    place: u32,
    share: f64,
}

#[derive(Debug)]
struct Flow {
    entries: Box<[Entry]>,
    /// Bytes per picosecond; [`UNKNOWN`] until it is computed.
    rate: f64,
    /// The link that its rate was limited by.
    bottleneck: u32,
    /// The computation that it was last affected by, and the one that last fixed its rate.
    affected: u32,
    fixed: u32,
}

/// A flow on a link: its index, and that of the link among its uses.
#[derive(Debug, Clone, Copy)]
struct Member {
    flow: u32,
    nth: u32,
}

#[derive(Debug, Default)]
struct Link {
    /// Bytes per picosecond.
    capacity: f64,
    members: Vec<Member>,
    /// The sum of the shares of its members.
    load: f64,
    /// The computation that it was last affected by.
    affected: u32,
    /// In a computation: capacity that is left, and the number and shares of the flows that it is
    /// left for.
    room: f64,
    weight: f64,
    growing: u32,
}

impl Link {
    /// The rate at which it is full if all flows that still grow have that rate.
    fn level(&self) -> f64 {
        self.room.max(0.0) / self.weight
    }
}

/// The level at which a link is full.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Full {
    level: f64,
    link: u32,
}

impl Eq for Full {}

impl Ord for Full {
    fn cmp(&self, other: &Self) -> Ordering {
        self.level.total_cmp(&other.level).then(self.link.cmp(&other.link))
    }
}

impl PartialOrd for Full {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Links, flows and their rates.
#[derive(Debug, Default)]
pub(super) struct Sharing {
    links: Vec<Link>,
    flows: Vec<Flow>,
    free: Vec<u32>,
    /// Links on which something has changed since the last computation.
    changed_links: Vec<u32>,
    /// No rate below this has changed since then.
    floor: f64,
    computation: u32,
    /// Memory for computations: links that are affected, and flows whose rate has changed.
    affected: Vec<u32>,
    changed: Vec<u32>,
}

impl Sharing {
    /// Adds a link with a capacity in bytes per picosecond; its index.
    pub(super) fn add_link(&mut self, capacity: f64) -> u32 {
        self.links.push(Link { capacity, ..Link::default() });
        u32::try_from(self.links.len() - 1).expect("fewer than 2^32 links")
    }

    /// Changes the capacity of a link, in bytes per picosecond.
    pub(super) fn set_capacity(&mut self, link: u32, capacity: f64) {
        if self.links[link as usize].capacity != capacity {
            self.links[link as usize].capacity = capacity;
            self.changed_links.push(link);
            self.floor = 0.0;
        }
    }

    /// Adds a flow that uses each of these links once; its index. It has no rate before
    /// [`Self::compute`].
    pub(super) fn add(&mut self, uses: &[Use]) -> u32 {
        let index = self.free.pop().unwrap_or(self.flows.len() as u32);
        let mut least = UNKNOWN;
        let mut entries = Vec::with_capacity(uses.len());
        for (nth, &Use { link, share }) in (0u32..).zip(uses) {
            let at = &mut self.links[link as usize];
            entries.push(Entry { link, place: at.members.len() as u32, share });
            at.members.push(Member { flow: index, nth });
            at.load += share;
            least = least.min(at.capacity / at.load);
            self.changed_links.push(link);
        }
        // Its rate will be at least this: flows that get less leave more to the others.
        self.floor = self.floor.min(least * (1.0 - MARGIN));
        let entries = entries.into_boxed_slice();
        let flow = Flow { entries, rate: UNKNOWN, bottleneck: 0, affected: 0, fixed: 0 };
        match self.flows.get_mut(index as usize) {
            Some(place) => *place = flow,
            None => self.flows.push(flow),
        }
        index
    }

    /// Removes a flow.
    pub(super) fn remove(&mut self, index: u32) {
        let entries = std::mem::take(&mut self.flows[index as usize].entries);
        for entry in &entries {
            let link = &mut self.links[entry.link as usize];
            link.load -= entry.share;
            link.members.swap_remove(entry.place as usize);
            if let Some(moved) = link.members.get(entry.place as usize) {
                self.flows[moved.flow as usize].entries[moved.nth as usize].place = entry.place;
            } else if link.members.is_empty() {
                link.load = 0.0;
            }
            self.changed_links.push(entry.link);
        }
        self.floor = self.floor.min(self.flows[index as usize].rate * (1.0 - MARGIN));
        self.free.push(index);
    }

    /// The rate of a flow, in bytes per picosecond.
    pub(super) fn rate(&self, flow: u32) -> f64 {
        self.flows[flow as usize].rate
    }

    /// The link that limits the rate of a flow.
    pub(super) fn bottleneck(&self, flow: u32) -> u32 {
        self.flows[flow as usize].bottleneck
    }

    /// The rate of each flow on a link if nothing else limited any of them.
    pub(super) fn fair_rate(&self, link: u32) -> f64 {
        let at = &self.links[link as usize];
        at.capacity / at.load
    }

    /// The links that a flow uses.
    pub(super) fn uses(&self, flow: u32) -> impl Iterator<Item = Use> {
        let entries = self.flows[flow as usize].entries.iter();
        entries.map(|&Entry { link, share, .. }| Use { link, share })
    }

    /// True if rates may have changed since they were computed.
    pub(super) fn is_stale(&self) -> bool {
        !self.changed_links.is_empty()
    }

    /// Computes the rates; the flows whose rate is another than before.
    pub(super) fn compute(&mut self) -> Vec<u32> {
        self.computation += 1;
        self.find_affected();
        let full = self.affected.iter().filter_map(|&link| {
            let at = &self.links[link as usize];
            (at.growing > 0).then(|| Reverse(Full { level: at.level(), link }))
        });
        let mut full: BinaryHeap<Reverse<Full>> = full.collect();
        while let Some(Reverse(Full { level, link })) = full.pop() {
            let at = &self.links[link as usize];
            if at.growing == 0 {
                continue;
            }
            // What flows that were fixed at lower levels left over raises the level of a link; it
            // never falls.
            let now = at.level();
            if now > level {
                full.push(Reverse(Full { level: now, link }));
            } else {
                self.fix(link, now);
            }
        }
        self.changed_links.clear();
        self.floor = UNKNOWN;
        std::mem::take(&mut self.changed)
    }

    /// Collects the links that share affected flows with a change, and what is left of them for
    /// those flows.
    fn find_affected(&mut self) {
        let Self { links, flows, affected, changed_links, computation, floor, .. } = self;
        affected.clear();
        let add = |links: &mut [Link], link: u32, affected: &mut Vec<u32>| {
            if std::mem::replace(&mut links[link as usize].affected, *computation) != *computation {
                affected.push(link);
            }
        };
        changed_links.iter().for_each(|&link| add(links, link, affected));
        let mut next = 0;
        while let Some(&link) = affected.get(next) {
            next += 1;
            let members = std::mem::take(&mut links[link as usize].members);
            let (mut room, mut weight, mut growing) = (links[link as usize].capacity, 0.0, 0);
            for member in &members {
                let flow = &mut flows[member.flow as usize];
                let share = flow.entries[member.nth as usize].share;
                if flow.rate < *floor {
                    room -= share * flow.rate;
                    continue;
                }
                weight += share;
                growing += 1;
                if std::mem::replace(&mut flow.affected, *computation) != *computation {
                    flow.entries.iter().for_each(|entry| add(links, entry.link, affected));
                }
            }
            let at = &mut links[link as usize];
            (at.members, at.room, at.weight, at.growing) = (members, room, weight, growing);
        }
    }

    /// Fixes the rates of all flows that still grow on a link.
    fn fix(&mut self, link: u32, level: f64) {
        let Self { links, flows, changed, computation, .. } = self;
        let members = std::mem::take(&mut links[link as usize].members);
        for member in &members {
            let flow = &mut flows[member.flow as usize];
            if flow.affected != *computation || flow.fixed == *computation {
                continue;
            }
            flow.fixed = *computation;
            flow.bottleneck = link;
            for entry in &flow.entries {
                let at = &mut links[entry.link as usize];
                at.room -= entry.share * level;
                at.weight -= entry.share;
                at.growing -= 1;
            }
            if flow.rate == UNKNOWN || (flow.rate - level).abs() > ROUNDING * flow.rate {
                flow.rate = level;
                changed.push(member.flow);
            }
        }
        links[link as usize].members = members;
    }
}

#[cfg(test)]
mod tests;
