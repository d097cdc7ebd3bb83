//! Max-min fair rates of flows over links, updated as flows come and go; and the scheduling of
//! traffic classes on a wire (`turns`).
//!
//! Source: Bertsekas and Gallager, "Data Networks" (2nd edition, 1992), section 6.5.2: progressive
//! filling. All rates grow together; when a link is full, the flows on it keep their rate. A flow
//! may load a link with less or more than its own rate: its packets may be spread over several
//! links, and some may be lost.
//!
//! Acknowledgements on a flow's reverse path are served before data. A link gives its flows
//! whatever acknowledgements leave, and does not limit the flows of those acknowledgements.
//! Acknowledgements are a few per cent of the data and depend on its rates. Rates are therefore
//! computed twice if necessary: first acknowledgements grow with their flows, then they have the
//! rates of the first result.
//!
//! Rates are recomputed only if they may have changed. Up to the lowest rate of a flow that came or
//! left, progressive filling passes through the same states as before, so flows with lower rates
//! keep them. Among the others, only those are affected that share links with a change, directly or
//! through other flows.
//!
//! Floating-point numbers are added, multiplied and divided in a fixed order, so results are
//! byte-identical on every machine.

mod filling;
mod turns;

pub use turns::{ClassSet, Discipline, MOST_CLASSES, Scheduling, Turns};

use filling::{Acks, Filling};

/// Relative differences of rates below this are rounding: the rate then stays as it was.
const ROUNDING: f64 = 1e-12;
/// A flow is unaffected if its rate is below that of every change by this relative margin.
const MARGIN: f64 = 1e-9;
/// Rate of a new flow: above every other, so that the flow counts as affected.
const UNKNOWN: f64 = f64::INFINITY;

/// A flow's use of a link.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Use {
    /// The link.
    pub link: u32,
    /// Bytes on the link per byte of the flow; above 0.
    pub share: f64,
    /// Service that the link gives to it.
    pub service: Service,
}

/// Service that a link gives to a flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Service {
    /// The flow's data, which share the link fairly.
    Fair,
    /// The flow's acknowledgements, which precede the data of any flow.
    First,
}

/// A flow's use of a link, and its position in the link's list of such members.
#[derive(Debug, Clone, Copy)]
struct Entry {
    link: u32,
    position: u32,
    share: f64,
    service: Service,
}

/// Rate of a flow.
#[derive(Debug, Clone, Copy)]
struct Rate {
    /// Bytes per picosecond; [`UNKNOWN`] until it is computed.
    now: f64,
    /// Result of the computation in progress.
    next: f64,
    /// The link that limits the rate.
    bottleneck: u32,
}

impl Rate {
    /// The rate of a flow before its first computation.
    const NONE: Self = Self { now: UNKNOWN, next: 0.0, bottleneck: 0 };
}

/// The computation that last affected a flow, and the pass that last fixed its rate. Separate from
/// [`Rate`], because a computation reads it once for each use of each link.
#[derive(Debug, Clone, Copy, Default)]
struct Seen {
    affected: u32,
    fixed: u32,
}

/// A member of a link: the flow, the index of the link among the flow's uses, and its share.
#[derive(Debug, Clone, Copy)]
struct Member {
    flow: u32,
    nth: u32,
    share: f64,
}

#[derive(Debug, Default)]
struct Link {
    /// Bytes per picosecond.
    capacity: f64,
    /// Flows with data on the link, and flows with acknowledgements on it.
    members: [Vec<Member>; 2],
    /// Sum of the shares of all members.
    load: f64,
    /// The computation that last affected the link.
    affected: u32,
}

/// Links, flows and their rates.
#[derive(Debug, Default)]
pub struct Sharing {
    links: Vec<Link>,
    /// By link.
    fillings: Vec<Filling>,
    /// By flow: its uses of links, its rate, and its state in computations.
    flows: Vec<Box<[Entry]>>,
    rates: Vec<Rate>,
    seen: Vec<Seen>,
    free: Vec<u32>,
    /// Links on which something has changed since the last computation.
    changed_links: Vec<u32>,
    /// No rate below this has changed since the last computation.
    floor: f64,
    computation: u32,
    pass: u32,
    /// Scratch memory for computations: affected links and flows.
    affected: Vec<u32>,
    affected_flows: Vec<u32>,
}

impl Sharing {
    /// Adds a link with a capacity in bytes per picosecond and returns its index.
    pub fn add_link(&mut self, capacity: f64) -> u32 {
        self.links.push(Link { capacity, ..Link::default() });
        self.fillings.push(Filling::default());
        u32::try_from(self.links.len() - 1).expect("fewer than 2^32 links")
    }

    /// Changes the capacity of a link, in bytes per picosecond.
    pub fn set_capacity(&mut self, link: u32, capacity: f64) {
        if self.links[link as usize].capacity != capacity {
            self.links[link as usize].capacity = capacity;
            self.changed_links.push(link);
            // Any rate may change.
            self.floor = 0.0;
        }
    }

    /// Adds a flow that uses each of these links once, and returns its index. It has no rate before
    /// [`Self::compute`].
    pub fn add(&mut self, uses: &[Use]) -> u32 {
        let index = self.free.pop().unwrap_or(self.flows.len() as u32);
        let mut least = UNKNOWN;
        let mut entries = Vec::with_capacity(uses.len());
        for (nth, &Use { link, share, service }) in (0u32..).zip(uses) {
            let at = &mut self.links[link as usize];
            let members = &mut at.members[service as usize];
            entries.push(Entry { link, position: members.len() as u32, share, service });
            members.push(Member { flow: index, nth, share });
            at.load += share;
            least = least.min(at.capacity / at.load);
            self.changed_links.push(link);
        }
        // A lower bound of its rate: flows that get less leave more to the others.
        self.floor = self.floor.min(least * (1.0 - MARGIN));
        if index as usize == self.flows.len() {
            self.flows.push(Box::default());
            self.rates.push(Rate::NONE);
            self.seen.push(Seen::default());
        }
        self.flows[index as usize] = entries.into_boxed_slice();
        self.rates[index as usize] = Rate::NONE;
        self.seen[index as usize] = Seen::default();
        index
    }

    /// Removes a flow.
    pub fn remove(&mut self, index: u32) {
        let entries = std::mem::take(&mut self.flows[index as usize]);
        let mut least = self.rate(index);
        for entry in &entries {
            let link = &mut self.links[entry.link as usize];
            if entry.service == Service::First {
                least = least.min(link.capacity / link.load);
            }
            link.load -= entry.share;
            let members = &mut link.members[entry.service as usize];
            members.swap_remove(entry.position as usize);
            // `swap_remove` has moved the last member here: update its position.
            if let Some(moved) = members.get(entry.position as usize) {
                self.flows[moved.flow as usize][moved.nth as usize].position = entry.position;
            } else if link.members.iter().all(Vec::is_empty) {
                // Discard accumulated rounding errors.
                link.load = 0.0;
            }
            self.changed_links.push(entry.link);
        }
        self.floor = self.floor.min(least * (1.0 - MARGIN));
        self.free.push(index);
    }

    /// Returns the rate of a flow in bytes per picosecond.
    pub fn rate(&self, flow: u32) -> f64 {
        self.rates[flow as usize].now
    }

    /// Returns the link that limits the rate of a flow.
    pub fn bottleneck(&self, flow: u32) -> u32 {
        self.rates[flow as usize].bottleneck
    }

    /// Returns the rate that each flow on a link would have if no other link limited it.
    pub fn fair_rate(&self, link: u32) -> f64 {
        let at = &self.links[link as usize];
        at.capacity / at.load
    }

    /// Returns the minimum of [`Self::fair_rate`] over the links that a flow uses.
    pub fn least_fair_rate(&self, flow: u32) -> f64 {
        let uses = self.flows[flow as usize].iter();
        uses.map(|entry| self.fair_rate(entry.link)).fold(UNKNOWN, f64::min)
    }

    /// Iterates over the links that a flow uses.
    pub fn uses(&self, flow: u32) -> impl Iterator<Item = Use> {
        let entries = self.flows[flow as usize].iter();
        entries.map(|&Entry { link, share, service, .. }| Use { link, share, service })
    }

    /// Returns true if rates may have changed since they were computed.
    pub fn is_stale(&self) -> bool {
        !self.changed_links.is_empty()
    }

    /// Computes the rates and returns the flows whose rates have changed.
    pub fn compute(&mut self) -> Vec<u32> {
        loop {
            let floor = self.floor;
            self.find_affected();
            self.fill(Acks::Grow);
            // Second pass only if acknowledgements have grown beyond a link that was already full.
            let Self { links, fillings, .. } = &*self;
            let beyond = |link: usize| fillings[link].room < -MARGIN * links[link].capacity;
            if self.affected.iter().any(|&link| beyond(link as usize)) {
                self.fill(Acks::Known);
            }
            // `fill` lowers the floor if a link has less room for data than assumed; then start
            // over.
            if self.floor == floor {
                break;
            }
        }
        self.changed_links.clear();
        self.floor = UNKNOWN;
        let Self { rates, affected_flows, .. } = self;
        let changed = affected_flows.iter().copied().filter(|&index| {
            let rate = &mut rates[index as usize];
            let is_new = rate.now == UNKNOWN;
            let differs = is_new || (rate.next - rate.now).abs() > ROUNDING * rate.now;
            rate.now = if differs { rate.next } else { rate.now };
            differs
        });
        changed.collect()
    }

    /// Collects the flows whose rates may have changed, and the links that they use.
    fn find_affected(&mut self) {
        self.computation += 1;
        let Self { links, flows, rates, seen, affected, affected_flows, changed_links, .. } = self;
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
                let flow = member.flow as usize;
                if seen[flow].affected == computation {
                    continue;
                }
                // A slower flow is affected only through its bottleneck, where acknowledgements may
                // leave it another rate.
                if rates[flow].now < floor && rates[flow].bottleneck != link {
                    continue;
                }
                seen[flow].affected = computation;
                affected_flows.push(member.flow);
                flows[flow].iter().for_each(|entry| add(links, entry.link, affected));
            }
            links[link as usize].members = members;
        }
    }
}

#[cfg(test)]
mod tests;
