//! A rail whose switches add up: an aggregation tree, in the manner of SHARP.
//!
//! Source: Graham et al., "Scalable Hierarchical Aggregation Protocol (SHARP): A Hardware
//! Architecture for Efficient Data Reduction" (COMHPC 2016), sections III and IV, for the tree,
//! its segments and its result's multicast. \[inferred\]: the sizes, the credits, and that a link
//! sends again by itself what an outage took.
//!
//! Hosts are the leaves; each switch has up to `radix` children. A chunk goes in segments: a host
//! sends its numbers up, a switch adds those of all its children in one of its slots and sends the
//! sum up, the root sends the sum down, and each switch to all its children. A slot is free again
//! when the sum has left; a child may have no more segments on their way than there are slots.
//!
//! Alone, and with slots enough, n segments of s bytes take through h tiers
//! `overhead + 2h·(s/β + p) + (2h − 1)·l + (n − 1)·s/β`: the textbook's `2αh + x/β` with
//! `α = s/β + p + l`, less what the first segment and the root have of it twice.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use super::config::{RailConfig, RailFailure, TreeConfig};
use super::cpu::Cpu;
use super::numbers::{ELEMENT, Inputs, Range};
use super::outage::Wires;
use super::piece::{Control, News, Piece, PieceId};
use crate::units::{Bytes, Span, Time};

/// Numbers on their way down, the same for everybody.
type Sums = Arc<[i64]>;

/// Something that happens in the tree.
#[derive(Debug, Clone)]
enum Event {
    /// A host has begun a chunk.
    Begun { rank: u32, piece: Piece },
    /// A segment of a child is at its parent.
    Up { child: u32, numbers: Vec<i64> },
    /// A switch has the sum of its children.
    Summed { switch: u32 },
    /// A wire upward is free.
    Free { child: u32 },
    /// A child hears that its parent has a slot more.
    Credit { child: u32 },
    /// A sum is at a child.
    Down { child: u32, segment: u64, numbers: Sums },
    /// A switch passes a sum down.
    Pass { switch: u32, segment: u64, numbers: Sums },
    /// A small message has come.
    Control(Control),
}

/// A host or a switch, by number: hosts first, the root last.
#[derive(Debug, Default)]
struct Place {
    parent: Option<u32>,
    children: Vec<u32>,
    /// When the wire to its parent is free, and that from its parent.
    up_free: Time,
    down_free: Time,
    /// Segments that it has sent up, and that its parent has had done with.
    sent: u64,
    credited: u64,
    /// A switch: sums in the making, in order, with how many children have added theirs.
    sums: VecDeque<(u32, Vec<i64>)>,
    /// A switch: how many segments each child has sent.
    received: Vec<u64>,
    /// A switch: sums that it has made.
    summed: u64,
    /// What may be sent up: a switch's sums; a host has its numbers at hand.
    ready: VecDeque<Vec<i64>>,
    /// A host: segments of chunks that it has begun.
    begun: u64,
}

/// The rail.
#[derive(Debug)]
pub struct TreeRail {
    config: TreeConfig,
    seed: u64,
    ranks: u32,
    delay: Span,
    wires: Wires,
    places: Vec<Place>,
    /// What each segment is, in order.
    segments: Vec<(PieceId, Range)>,
    events: BTreeMap<(Time, u64), Event>,
    next_event: u64,
    news: Vec<News>,
    bytes: Bytes,
}

impl TreeRail {
    /// The rail, before anything has happened.
    pub(super) fn new(
        (rail, config): (&RailConfig, &TreeConfig),
        (ranks, seed): (u32, u64),
        failures: &[RailFailure],
    ) -> Self {
        let places = places(ranks, config.radix);
        Self {
            config: *config,
            seed,
            ranks,
            delay: rail.delay,
            wires: Wires::new(rail.rate, failures),
            places,
            segments: Vec::new(),
            events: BTreeMap::new(),
            next_event: 0,
            news: Vec::new(),
            bytes: Bytes::ZERO,
        }
    }

    /// Tiers of switches.
    pub(super) fn height(&self) -> u32 {
        let parent = |place: u32| self.places[place as usize].parent;
        (std::iter::successors(Some(0), |&place| parent(place)).count() - 1) as u32
    }

    /// When it has to be stepped next.
    pub(super) fn next_time(&self) -> Option<Time> {
        self.events.first_key_value().map(|(&(at, _), _)| at)
    }

    /// Goes through its next event.
    pub(super) fn step(&mut self) {
        let Some(((now, _), event)) = self.events.pop_first() else { return };
        match event {
            Event::Begun { rank, piece } => self.begun(now, rank, piece),
            Event::Up { child, numbers } => self.receive(now, child, &numbers),
            Event::Summed { switch } => self.pass_up(now, switch),
            Event::Free { child } => self.pump(now, child),
            Event::Credit { child } => {
                self.places[child as usize].credited += 1;
                self.pump(now, child);
            }
            Event::Down { child, segment, numbers } => self.arrive(now, child, segment, numbers),
            Event::Pass { switch, segment, numbers } => {
                self.multicast(now, switch, segment, &numbers);
            }
            Event::Control(control) => self.news.push(News::Control(control)),
        }
    }

    /// What it has to tell.
    pub(super) fn poll_news(&mut self) -> Option<News> {
        self.news.pop()
    }

    /// `rank` starts its part in a piece; all ranks do so with all pieces in the same order.
    pub(super) fn begin(&mut self, now: Time, piece: Piece, rank: u32, cpus: &mut [Cpu]) {
        let done = cpus[rank as usize].run(now, self.config.chunk_overhead);
        self.push(done, Event::Begun { rank, piece });
    }

    /// Nobody wants what is under way any more: the tree is set up anew.
    pub(super) fn abandon(&mut self) {
        let controls = |event: &mut Event| matches!(event, Event::Control(_));
        self.events.retain(|_, event| controls(event));
        self.places = places(self.ranks, self.config.radix);
        self.segments.clear();
    }

    /// Sends a small message, up to the root and down again.
    pub(super) fn send_control(&mut self, now: Time, control: Control) {
        let Control { from, to, bytes, .. } = control;
        let bytes = bytes + self.config.header;
        let hop = |at: Time, wire: Option<u32>| {
            self.wires.end(wire, at, bytes).map(|end| end.saturating_add(self.delay))
        };
        let tiers = self.height();
        let wires = std::iter::once(Some(from))
            .chain((1..2 * tiers - 1).map(|_| None))
            .chain(std::iter::once(Some(to)));
        let latency = self.config.switch_latency;
        let arrival = wires.enumerate().try_fold(now, |at, (hops, wire)| {
            hop(if hops == 0 { at } else { at.saturating_add(latency) }, wire)
        });
        if let Some(at) = arrival {
            self.push(at, Event::Control(control));
        }
    }

    /// Bytes that ranks handed to it.
    pub(super) fn bytes(&self) -> Bytes {
        self.bytes
    }

    fn push(&mut self, at: Time, event: Event) {
        self.events.insert((at, self.next_event), event);
        self.next_event += 1;
    }

    fn begun(&mut self, now: Time, rank: u32, piece: Piece) {
        let place = &mut self.places[rank as usize];
        for range in piece.range.cut(self.config.segment.get() / ELEMENT.get()) {
            if place.begun == self.segments.len() as u64 {
                self.segments.push((piece.id, range));
            }
            debug_assert_eq!(self.segments[place.begun as usize], (piece.id, range));
            place.begun += 1;
            self.bytes += range.bytes();
        }
        self.pump(now, rank);
    }

    /// The wire that a place sends up by, if it may fail.
    fn wire(&self, place: u32) -> Option<u32> {
        let parent = self.places[place as usize].parent;
        // What happens to a switch happens to all links of the root.
        let below_root = parent.is_some_and(|parent| parent as usize == self.places.len() - 1);
        match (place < self.ranks, below_root) {
            (true, _) => Some(place),
            (false, true) => Some(Wires::ROOT),
            (false, false) => None,
        }
    }

    fn wire_bytes(&self, numbers: usize) -> Bytes {
        ELEMENT * numbers as u64 + self.config.header
    }

    /// Sends up what a place has and may send.
    fn pump(&mut self, now: Time, child: u32) {
        let wire = self.wire(child);
        let place = &mut self.places[child as usize];
        let credit = place.sent < place.credited + u64::from(self.config.slots);
        if place.up_free > now || !credit || place.parent.is_none() {
            return;
        }
        let numbers = if child < self.ranks {
            if place.sent == place.begun {
                return;
            }
            let (piece, range) = self.segments[place.sent as usize];
            Inputs::new(self.seed, piece.operation).of(child, range).collect()
        } else {
            match place.ready.pop_front() {
                Some(sums) => sums,
                None => return,
            }
        };
        place.sent += 1;
        let bytes = self.wire_bytes(numbers.len());
        let end = self.wires.end(wire, now, bytes);
        self.places[child as usize].up_free = end.unwrap_or(Time::NEVER);
        let Some(end) = end else { return };
        self.push(end.saturating_add(self.delay), Event::Up { child, numbers });
        self.push(end, Event::Free { child });
        if child >= self.ranks {
            self.free_slot(end, child);
        }
    }

    /// A sum has left a switch: its children hear of it.
    fn free_slot(&mut self, at: Time, switch: u32) {
        for child in self.places[switch as usize].children.clone() {
            self.push(at.saturating_add(self.delay), Event::Credit { child });
        }
    }

    /// A segment of `child` is at its parent, which adds it to those of the others.
    fn receive(&mut self, now: Time, child: u32, numbers: &[i64]) {
        let Some(switch) = self.places[child as usize].parent else { return };
        let place = &mut self.places[switch as usize];
        let children = place.children.len() as u32;
        let Some(which) = place.children.iter().position(|&other| other == child) else { return };
        let slot = (place.received[which] - place.summed) as usize;
        place.received[which] += 1;
        if slot == place.sums.len() {
            place.sums.push_back((0, vec![0; numbers.len()]));
        }
        let (added, sums) = &mut place.sums[slot];
        *added += 1;
        sums.iter_mut().zip(numbers).for_each(|(sum, number)| *sum = sum.wrapping_add(*number));
        if *added == children {
            debug_assert_eq!(slot, 0, "children send in order");
            let Some((_, sums)) = place.sums.pop_front() else { return };
            place.summed += 1;
            place.ready.push_back(sums);
            self.push(now.saturating_add(self.config.switch_latency), Event::Summed { switch });
        }
    }

    fn pass_up(&mut self, now: Time, switch: u32) {
        let place = &mut self.places[switch as usize];
        if place.parent.is_some() {
            self.pump(now, switch);
            return;
        }
        let Some(numbers) = place.ready.pop_front() else { return };
        let segment = place.sent;
        place.sent += 1;
        let end = self.multicast(now, switch, segment, &numbers.into());
        if let Some(end) = end {
            self.free_slot(end, switch);
        }
    }

    /// Sends a sum to all children; when the last of them has left, if it does.
    fn multicast(&mut self, now: Time, switch: u32, segment: u64, numbers: &Sums) -> Option<Time> {
        let bytes = self.wire_bytes(numbers.len());
        let mut last = Some(now);
        for child in self.places[switch as usize].children.clone() {
            let start = now.max(self.places[child as usize].down_free);
            let end = self.wires.end(self.wire(child), start, bytes);
            self.places[child as usize].down_free = end.unwrap_or(Time::NEVER);
            last = last.zip(end).map(|(last, end)| last.max(end));
            if let Some(end) = end {
                let numbers = numbers.clone();
                self.push(end.saturating_add(self.delay), Event::Down { child, segment, numbers });
            }
        }
        last
    }

    fn arrive(&mut self, now: Time, child: u32, segment: u64, numbers: Sums) {
        if child >= self.ranks {
            let at = now.saturating_add(self.config.switch_latency);
            self.push(at, Event::Pass { switch: child, segment, numbers });
            return;
        }
        let (piece, range) = self.segments[segment as usize];
        self.news.push(News::Sums { piece, rank: child, range, numbers: numbers.to_vec() });
    }
}

/// The tree: hosts, then switches tier by tier, each with as many children as there are.
fn places(ranks: u32, radix: u32) -> Vec<Place> {
    let mut places: Vec<Place> = (0..ranks).map(|_| Place::default()).collect();
    let mut tier: Vec<u32> = (0..ranks).collect();
    while tier.len() > 1 || tier[0] < ranks {
        let mut above = Vec::new();
        for children in tier.chunks(radix.max(2) as usize) {
            let switch = places.len() as u32;
            children.iter().for_each(|&child| places[child as usize].parent = Some(switch));
            let received = vec![0; children.len()];
            places.push(Place { children: children.to_vec(), received, ..Place::default() });
            above.push(switch);
        }
        tier = above;
    }
    places
}
