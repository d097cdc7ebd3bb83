//! Max-min fair rates of flows over links, kept up to date as flows come and go.
//!
//! Source: Bertsekas and Gallager, "Data Networks" (2nd edition, 1992), section 6.5.2: progressive
//! filling. All rates grow together; where a link is full, the flows on it keep their rate. A flow
//! may load a link with less than its own rate, or more, if its packets are spread over several
//! links, or if some are lost.
//!
//! Acknowledgements on the way back of a flow are served before data: a link gives its flows what
//! they leave of it, and does not limit theirs. They are a few per cent of the data, and depend on
//! its rates. Rates are therefore computed twice, unless once is enough: first acknowledgements
//! grow with their flows, and then they have the rates of the first result.
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
/// A flow that kept its rate is faster than others on a link by at most this part.
const UNFAIR: f64 = 1e-6;
/// The rate of a flow that has none yet: above every other, so that it counts as affected.
const UNKNOWN: f64 = f64::INFINITY;

/// What is left of a link for data at least, if acknowledgements fill it \[inferred\].
const LEAST_ROOM: f64 = 0.01;

/// A flow's use of a link.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Use {
    /// The link.
    pub(super) link: u32,
    /// Bytes on the link for each byte of the flow; more than 0.
    pub(super) share: f64,
    pub(super) service: Service,
}

/// How a link serves a flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Service {
    /// Its data, as those of the others.
    Fair,
    /// Its acknowledgements, before the data of any flow.
    First,
}

/// A flow's use of a link, and its place in the link's list of such members.
#[derive(Debug, Clone, Copy)]
struct Entry {
    link: u32,
    place: u32,
    share: f64,
    service: Service,
}

#[derive(Debug)]
struct Flow {
    entries: Box<[Entry]>,
    /// Bytes per picosecond; [`UNKNOWN`] until it is computed.
    rate: f64,
    /// The rate that a computation has found.
    next: f64,
    /// The link that its rate was limited by.
    bottleneck: u32,
    /// The computation that it was last affected by, and the pass that last fixed its rate.
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
    /// Flows with data on it, and flows with acknowledgements on it.
    members: [Vec<Member>; 2],
    /// The sum of the shares of its members.
    load: f64,
    /// The computation that it was last affected by.
    affected: u32,
    /// In a computation: capacity that is left, the shares of what still grows, and the number of
    /// flows with data among it.
    room: f64,
    weight: f64,
    growing: u32,
}

/// How acknowledgements count in a computation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Acks {
    /// They grow with the rates of their flows.
    Grow,
    /// They have the rates of their flows that are known.
    Known,
}

impl Link {
    /// The rate at which it is full if all flows that still grow have that rate.
    fn level(&self) -> f64 {
        self.room.max(LEAST_ROOM * self.capacity) / self.weight
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
    pass: u32,
    /// Memory for computations: links and flows that are affected.
    affected: Vec<u32>,
    affected_flows: Vec<u32>,
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
        for (nth, &Use { link, share, service }) in (0u32..).zip(uses) {
            let at = &mut self.links[link as usize];
            let members = &mut at.members[service as usize];
            entries.push(Entry { link, place: members.len() as u32, share, service });
            members.push(Member { flow: index, nth });
            at.load += share;
            least = least.min(at.capacity / at.load);
            self.changed_links.push(link);
        }
        // Its rate will be at least this: flows that get less leave more to the others.
        self.floor = self.floor.min(least * (1.0 - MARGIN));
        let entries = entries.into_boxed_slice();
        let [affected, fixed, bottleneck] = [0; 3];
        let flow = Flow { entries, rate: UNKNOWN, next: 0.0, bottleneck, affected, fixed };
        match self.flows.get_mut(index as usize) {
            Some(place) => *place = flow,
            None => self.flows.push(flow),
        }
        index
    }

    /// Removes a flow.
    pub(super) fn remove(&mut self, index: u32) {
        let entries = std::mem::take(&mut self.flows[index as usize].entries);
        let mut least = self.flows[index as usize].rate;
        for entry in &entries {
            let link = &mut self.links[entry.link as usize];
            if entry.service == Service::First {
                least = least.min(link.capacity / link.load);
            }
            link.load -= entry.share;
            let members = &mut link.members[entry.service as usize];
            members.swap_remove(entry.place as usize);
            if let Some(moved) = members.get(entry.place as usize) {
                self.flows[moved.flow as usize].entries[moved.nth as usize].place = entry.place;
            } else if link.members.iter().all(Vec::is_empty) {
                link.load = 0.0;
            }
            self.changed_links.push(entry.link);
        }
        self.floor = self.floor.min(least * (1.0 - MARGIN));
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
        entries.map(|&Entry { link, share, service, .. }| Use { link, share, service })
    }

    /// True if rates may have changed since they were computed.
    pub(super) fn is_stale(&self) -> bool {
        !self.changed_links.is_empty()
    }

    /// Computes the rates; the flows whose rate is another than before.
    pub(super) fn compute(&mut self) -> Vec<u32> {
        loop {
            let floor = self.floor;
            self.find_affected();
            self.fill(Acks::Grow);
            // Only where acknowledgements have grown beyond a link that was full already.
            let beyond = |link: &Link| link.room < -MARGIN * link.capacity;
            if self.affected.iter().any(|&link| beyond(&self.links[link as usize])) {
                self.fill(Acks::Known);
            }
            // Where acknowledgements leave less of a link than was foreseen, a lower floor has been
            // found on the way.
            if self.floor == floor {
                break;
            }
        }
        self.changed_links.clear();
        self.floor = UNKNOWN;
        let Self { flows, affected_flows, .. } = self;
        let changed = affected_flows.iter().copied().filter(|&index| {
            let flow = &mut flows[index as usize];
            let is_new = flow.rate == UNKNOWN;
            let differs = is_new || (flow.next - flow.rate).abs() > ROUNDING * flow.rate;
            flow.rate = if differs { flow.next } else { flow.rate };
            differs
        });
        changed.collect()
    }

    /// Collects the flows whose rates may have changed, and the links that they use.
    fn find_affected(&mut self) {
        self.computation += 1;
        let Self { links, flows, affected, affected_flows, changed_links, .. } = self;
        let (computation, floor) = (self.computation, self.floor);
        affected.clear();
        affected_flows.clear();
        let add = |links: &mut [Link], link: u32, affected: &mut Vec<u32>| {
            if std::mem::replace(&mut links[link as usize].affected, computation) != computation {
                affected.push(link);
            }
        };
        changed_links.iter().for_each(|&link| add(links, link, affected));
        let mut next = 0;
        while let Some(&link) = affected.get(next) {
            next += 1;
            let members = std::mem::take(&mut links[link as usize].members);
            for member in members.iter().flatten() {
                let flow = &mut flows[member.flow as usize];
                // A slower flow that this link limits gets what acknowledgements leave of it.
                let keeps_rate = flow.rate < floor && flow.bottleneck != link;
                if keeps_rate || flow.affected == computation {
                    continue;
                }
                flow.affected = computation;
                affected_flows.push(member.flow);
                flow.entries.iter().for_each(|entry| add(links, entry.link, affected));
            }
            links[link as usize].members = members;
        }
    }

    /// Fills the affected links with the affected flows.
    fn fill(&mut self, acks: Acks) {
        self.pass += 1;
        for index in 0..self.affected.len() {
            self.empty(self.affected[index], acks);
        }
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
                self.fix(link, now, acks);
            }
        }
    }

    /// Takes all affected flows off a link.
    fn empty(&mut self, link: u32, acks: Acks) {
        let Self { links, flows, computation, .. } = self;
        let at = &mut links[link as usize];
        let (mut room, mut weight, mut growing) = (at.capacity, 0.0, 0);
        for (of_acks, member) in [false, true]
            .into_iter()
            .zip(&at.members)
            .flat_map(|(of_acks, members)| members.iter().map(move |member| (of_acks, member)))
        {
            let flow = &flows[member.flow as usize];
            let share = flow.entries[member.nth as usize].share;
            if flow.affected != *computation {
                room -= share * flow.rate;
            } else if of_acks && acks == Acks::Known {
                room -= share * flow.next;
            } else {
                weight += share;
                growing += u32::from(!of_acks);
            }
        }
        (at.room, at.weight, at.growing) = (room, weight, growing);
    }

    /// Fixes the rates of all flows whose data still grow on a link.
    fn fix(&mut self, link: u32, level: f64, acks: Acks) {
        let Self { links, flows, computation, pass, floor, .. } = self;
        let members = std::mem::take(&mut links[link as usize].members);
        for member in &members[Service::Fair as usize] {
            let flow = &mut flows[member.flow as usize];
            if flow.affected != *computation {
                // It was to keep its rate, and would get more than those that share the link now.
                if flow.rate > level * (1.0 + UNFAIR) {
                    *floor = floor.min(level * (1.0 - MARGIN));
                }
                continue;
            }
            if flow.fixed == *pass {
                continue;
            }
            (flow.fixed, flow.bottleneck, flow.next) = (*pass, link, level);
            for entry in &flow.entries {
                let at = &mut links[entry.link as usize];
                let is_data = entry.service == Service::Fair;
                if is_data || acks == Acks::Grow {
                    at.room -= entry.share * level;
                    at.weight -= entry.share;
                    at.growing -= u32::from(is_data);
                }
            }
        }
        links[link as usize].members = members;
    }
}

#[cfg(test)]
mod tests;
