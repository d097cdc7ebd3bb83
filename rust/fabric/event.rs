//! The event queue: a calendar of narrow buckets, and a heap for events beyond the calendar.
//!
//! Events at the same time have a designed order: failures and routing first, then probes, then
//! starts, then arrivals by the port they come from, then hosts by their id. The order does not
//! depend on the order in which events were scheduled. No event is cancelled: an event that is
//! early has no effect. Each port has at most one event of a kind at a time, so the order is total
//! where it matters.
//!
//! An event in the calendar is one word: the time within its bucket, the kind and the id, and the
//! slot of the packet that arrives. Words are compared as numbers. Half the memory of a pair of
//! time and event counts for more than the shifts: a bucket is written once, sorted when its turn
//! comes, and read once.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use super::network::SlotId;
use crate::ids::{HostId, PortId};
use crate::units::Time;

/// What is due at a port, at a host or in the fabric as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Event {
    /// A change of links or routing: a step of the failure plan, by its index.
    Control(u32),
    /// A measurement of the queues: a probe of the setup, by its index.
    Probe(u32),
    /// The wire of this port is free for the next packet in its queues (with PFC only).
    Start(PortId),
    /// A packet arrives at the end of the wire of this port.
    Arrival(PortId, SlotId),
    /// The wire of this port is free, and no packet is on it.
    Free(PortId),
    /// A timeout of this host.
    Host(HostId),
}

// The parts of a word from the top: the time within the bucket, the kind, the id, the slot. They
// stand at fixed places, since each event is made and read once.
const SLOT_BITS: u32 = 30;
const ID_BITS: u32 = 22;
const KIND_BITS: u32 = 2;
/// A word has these many bits of a time in picoseconds, and a bucket no more.
const TIME_BITS: u32 = u64::BITS - KIND_BITS - ID_BITS - SLOT_BITS;

/// The slot of an event without a packet.
const NO_SLOT: u64 = (1 << SLOT_BITS) - 1;
/// Set in the ids of probes, which share their kind with failures.
const PROBE: u32 = 1 << (ID_BITS - 1);
const ARRIVAL: u64 = 2;

/// The greatest number of ports, of hosts, and of packets in the fabric.
pub(super) const MOST_PORTS: u32 = 1 << ID_BITS;
pub(super) const MOST_PACKETS: u32 = NO_SLOT as u32;

/// The word of an event without its time.
#[inline]
const fn word(kind: u64, id: u32, slot: u64) -> u64 {
    (kind << ID_BITS | id as u64) << SLOT_BITS | slot
}

/// A word with the low bits of its time.
#[inline]
const fn at(time: u64, word: u64) -> u64 {
    time << (u64::BITS - TIME_BITS) | word
}

impl Event {
    const fn word(self) -> u64 {
        match self {
            Self::Control(index) => word(0, index, NO_SLOT),
            Self::Probe(index) => word(0, PROBE | index, NO_SLOT),
            Self::Start(port) => word(1, port.0, NO_SLOT),
            Self::Arrival(port, slot) => word(ARRIVAL, port.0, slot.0 as u64),
            Self::Free(port) => word(ARRIVAL, port.0, NO_SLOT),
            Self::Host(host) => word(3, host.0, NO_SLOT),
        }
    }

    /// The event of a word, whatever its time.
    #[inline(always)]
    pub(super) const fn of_word(word: Word) -> Self {
        if let Some((port, slot)) = word.arrival() {
            return Self::Arrival(port, slot);
        }
        let id = word.id();
        match word.0 >> (SLOT_BITS + ID_BITS) & ((1 << KIND_BITS) - 1) {
            ARRIVAL => Self::Free(PortId(id)),
            3 => Self::Host(HostId(id)),
            1 => Self::Start(PortId(id)),
            _ if id & PROBE != 0 => Self::Probe(id & !PROBE),
            _ => Self::Control(id),
        }
    }
}

/// An event as a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Word(u64);

impl Word {
    #[inline(always)]
    const fn id(self) -> u32 {
        (self.0 >> SLOT_BITS) as u32 & (MOST_PORTS - 1)
    }

    /// The port and the packet of an arrival, as nearly all events are: nothing else has a slot.
    #[inline(always)]
    pub(super) const fn arrival(self) -> Option<(PortId, SlotId)> {
        let slot = self.0 & NO_SLOT;
        if slot == NO_SLOT { None } else { Some((PortId(self.id()), SlotId(slot as u32))) }
    }
}

/// An event that is not in the calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    time: u64,
    /// The word without a time.
    word: u64,
}

/// How much narrower than a word allows a bucket may be, as a power of two.
const MOST_NARROW: u32 = 3;
/// The most buckets, for fabrics with long links.
const MOST_BUCKETS: u64 = 1 << 16;

/// Pending events, by time and rank.
#[derive(Debug)]
pub(super) struct EventQueue {
    /// A bucket has `2^shift` picoseconds.
    shift: u32,
    /// Bucket `b` is `buckets[b % buckets.len()]`, not sorted; their number is a power of two.
    buckets: Vec<Vec<u64>>,
    /// A bit for each bucket that is not empty.
    occupied: Vec<u64>,
    /// Memory of buckets that are empty, the one used last on top.
    spare: Vec<Vec<u64>>,
    /// The number of the bucket whose events are in `current`.
    bucket: u64,
    /// The events of that bucket, sorted; those before `cursor` have been taken.
    current: Vec<u64>,
    cursor: usize,
    /// Events before that bucket: time advances to a bucket when it is looked up, and an event may
    /// be scheduled before it.
    early: BinaryHeap<Reverse<Entry>>,
    /// Events later than the calendar's last bucket.
    far: BinaryHeap<Reverse<Entry>>,
    /// How many `buckets` are not empty, so that an empty calendar is not searched.
    near: usize,
    last: u64,
}

impl EventQueue {
    /// A queue for events of so many `ports` that are mostly less than `horizon_ps` ahead.
    pub(super) fn new(ports: usize, horizon_ps: u64) -> Self {
        // The more ports, the narrower the buckets: the memory of a bucket's events is fetched ahead
        // while the bucket before is handled, and has to fit a cache that is near.
        let shift = TIME_BITS - (ports / 8_192).checked_ilog2().unwrap_or(0).min(MOST_NARROW);
        let buckets = (horizon_ps.saturating_mul(2) >> shift).clamp(64, MOST_BUCKETS);
        let buckets = buckets.next_power_of_two() as usize;
        Self {
            shift,
            buckets: vec![Vec::new(); buckets],
            occupied: vec![0; buckets / 64],
            spare: Vec::new(),
            bucket: 0,
            current: Vec::new(),
            cursor: 0,
            early: BinaryHeap::new(),
            far: BinaryHeap::new(),
            near: 0,
            last: 0,
        }
    }

    /// Adds an event; panics if it lies in the past.
    pub(super) fn push(&mut self, time: Time, event: Event) {
        self.push_word(time.as_ps(), event.word());
    }

    /// Adds the arrival of a packet at the end of the wire of `port`.
    #[inline(always)]
    pub(super) fn push_arrival(&mut self, time: Time, port: PortId, slot: SlotId) {
        self.push_word(time.as_ps(), word(ARRIVAL, port.0, u64::from(slot.0)));
    }

    #[inline(always)]
    fn push_word(&mut self, time: u64, word: u64) {
        assert!(time >= self.last, "an event at {time} ps lies in the past");
        let bucket = time >> self.shift;
        // Within one turn of the calendar no two buckets share a place. A bucket that is not ahead
        // wraps to a large number.
        if bucket.wrapping_sub(self.bucket + 1) >= self.buckets.len() as u64 - 1 {
            return self.push_outside(time, word);
        }
        let place = bucket as usize & (self.buckets.len() - 1);
        let events = &mut self.buckets[place];
        if events.len() == events.capacity() {
            self.make_room(place);
        }
        self.buckets[place].push(at(time, word));
    }

    /// Gives a bucket more memory: that of one that was emptied, if it has none, since a bucket
    /// that is empty has none.
    #[inline(never)]
    fn make_room(&mut self, place: usize) {
        let events = &mut self.buckets[place];
        if events.capacity() == 0 {
            *events = self.spare.pop().unwrap_or_default();
            self.occupied[place / 64] |= 1 << (place % 64);
            self.near += 1;
        }
        if events.len() == events.capacity() {
            events.reserve(16);
        }
    }

    /// Adds an event to the current bucket, or one that is not in the calendar.
    #[inline(never)]
    fn push_outside(&mut self, time: u64, word: u64) {
        let bucket = time >> self.shift;
        match bucket.cmp(&self.bucket) {
            // What is being taken is sorted, and stays sorted: the insertion moves what is left of
            // one bucket at most.
            Ordering::Equal => {
                let word = at(time, word);
                let place = self.current[self.cursor..].partition_point(|&other| other < word);
                self.current.insert(self.cursor + place, word);
            }
            Ordering::Less => self.early.push(Reverse(Entry { time, word })),
            Ordering::Greater => self.far.push(Reverse(Entry { time, word })),
        }
    }

    /// True if the events of the current bucket have been taken, and none precedes the next one.
    #[inline(always)]
    pub(super) fn is_bucket_done(&self) -> bool {
        self.cursor == self.current.len() && self.early.is_empty()
    }

    /// Takes the earliest event, if it is not later than `by`.
    #[inline(always)]
    pub(super) fn pop(&mut self, by: Time) -> Option<(Time, Word)> {
        if !self.early.is_empty() {
            return self.pop_early(by);
        }
        if self.cursor == self.current.len() && !self.advance() {
            return None;
        }
        let word = self.current[self.cursor];
        let time = self.time_of(word);
        if time > by.as_ps() {
            return None;
        }
        self.cursor += 1;
        // Time moves here alone, and not where `next_time` looks ahead.
        self.last = time;
        Some((Time::from_ps(time), Word(word)))
    }

    #[cold]
    fn pop_early(&mut self, by: Time) -> Option<(Time, Word)> {
        if self.early.peek()?.0.time > by.as_ps() {
            return None;
        }
        let Reverse(Entry { time, word }) = self.early.pop()?;
        self.last = time;
        Some((Time::from_ps(time), Word(word)))
    }

    /// The time of the earliest event.
    #[inline]
    pub(super) fn next_time(&mut self) -> Option<Time> {
        if let Some(Reverse(entry)) = self.early.peek() {
            return Some(Time::from_ps(entry.time));
        }
        if self.cursor == self.current.len() && !self.advance() {
            return None;
        }
        Some(Time::from_ps(self.time_of(self.current[self.cursor])))
    }

    /// The time of an event in the current bucket.
    #[inline]
    fn time_of(&self, word: u64) -> u64 {
        // The low bits of the bucket's number are among those of the time in the word.
        (self.bucket << self.shift) & !((1 << TIME_BITS) - 1) | word >> (u64::BITS - TIME_BITS)
    }

    /// The arrivals of the bucket after the current one, as far as it is known, in no order.
    pub(super) fn upcoming(&self) -> impl Iterator<Item = (PortId, SlotId)> + '_ {
        let place = self.next_occupied().map(|bucket| bucket as usize & (self.buckets.len() - 1));
        let events = place.map_or(&[][..], |place| &self.buckets[place]);
        events.iter().filter_map(|&word| Word(word).arrival())
    }

    /// Makes the next bucket that is not empty the current one; false if all are empty.
    #[inline(never)]
    pub(super) fn advance(&mut self) -> bool {
        self.current.clear();
        self.cursor = 0;
        let near = self.next_occupied();
        // Only the bucket that comes next is taken from the heap: a far event moves once, and never
        // into a slot.
        let far = self.far.peek().map(|Reverse(entry)| entry.time >> self.shift);
        let Some(bucket) = [near, far].into_iter().flatten().min() else { return false };
        self.bucket = bucket;
        if near == Some(bucket) {
            let place = bucket as usize & (self.buckets.len() - 1);
            // The next bucket that gets an event takes over the memory of the old one, which is
            // still cached.
            let events = std::mem::take(&mut self.buckets[place]);
            let empty = std::mem::replace(&mut self.current, events);
            if empty.capacity() > 0 {
                self.spare.push(empty);
            }
            self.occupied[place / 64] &= !(1 << (place % 64));
            self.near -= 1;
        }
        while let Some(&Reverse(Entry { time, word })) = self.far.peek() {
            if time >> self.shift != bucket {
                break;
            }
            self.far.pop();
            self.current.push(at(time, word));
        }
        // Time and rank order every two events that are not the same one, so that an unstable sort
        // always gives the same order.
        self.current.sort_unstable();
        true
    }

    /// The first bucket after the current one that is not empty.
    fn next_occupied(&self) -> Option<u64> {
        if self.near == 0 {
            return None;
        }
        let (buckets, words) = (self.buckets.len(), self.occupied.len());
        let start = (self.bucket + 1) as usize & (buckets - 1);
        // The word of `start` is read twice: its upper part first, its lower part last.
        for step in 0..=words {
            let word = (start / 64 + step) & (words - 1);
            let mask = match step {
                0 => u64::MAX << (start % 64),
                _ if step == words => !(u64::MAX << (start % 64)),
                _ => u64::MAX,
            };
            let bits = self.occupied[word] & mask;
            if bits != 0 {
                let place = word * 64 + bits.trailing_zeros() as usize;
                let distance = (place + buckets - start) & (buckets - 1);
                return Some(self.bucket + 1 + distance as u64);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, Stream};

    fn at(ps: u64) -> Time {
        Time::from_ps(ps)
    }

    fn all(queue: &mut EventQueue) -> Vec<(u64, Event)> {
        std::iter::from_fn(|| queue.pop(Time::NEVER))
            .map(|(time, word)| (time.as_ps(), Event::of_word(word)))
            .collect()
    }

    #[test]
    fn events_at_equal_times_are_ordered_by_kind_then_id() {
        let (control, probe) = (Event::Control(3), Event::Probe(0));
        let (port, host) = (Event::Arrival(PortId(9), SlotId(1)), Event::Host(HostId(0)));
        for order in [[control, port, host], [host, port, control], [port, host, control]] {
            let mut queue = EventQueue::new(5_000, 1_000);
            queue.push(at(5), Event::Start(PortId(9)));
            order.iter().for_each(|&event| queue.push(at(5), event));
            queue.push(at(5), Event::Free(PortId(2)));
            queue.push(at(5), probe);
            let (start, free) = (Event::Start(PortId(9)), Event::Free(PortId(2)));
            let expected = [control, probe, start, free, port, host];
            assert_eq!(all(&mut queue), expected.map(|event| (5, event)));
        }
    }

    #[test]
    fn events_near_and_far_come_out_in_order() {
        let mut random = Stream::new(1, Purpose::Test, 0);
        let mut queue = EventQueue::new(5_000, 1_000_000);
        let mut expected = Vec::new();
        let mut got = Vec::new();
        let mut now = 0;
        for n in 0..20_000 {
            let reach = [1, 100, 10_000, 1_000_000, 1_000_000_000][random.below(5) as usize];
            let time = now + u64::from(random.below(reach));
            let event = Event::Arrival(PortId(n), SlotId(n ^ 5));
            queue.push(at(time), event);
            expected.push((time, event));
            if random.below(3) == 0 {
                let (time, word) = queue.pop(Time::NEVER).unwrap();
                now = time.as_ps();
                got.push((now, Event::of_word(word)));
            }
        }
        got.extend(all(&mut queue));
        expected.sort_by_key(|&(time, event)| (time, event.word()));
        assert_eq!(got, expected);
    }

    #[test]
    fn an_event_may_precede_a_bucket_that_was_looked_up() {
        let mut queue = EventQueue::new(5_000, 1_000_000);
        queue.push(at(500_000), Event::Host(HostId(0)));
        assert_eq!(queue.next_time(), Some(at(500_000)));
        queue.push(at(400_000), Event::Host(HostId(2)));
        queue.push(at(100), Event::Host(HostId(1)));
        assert_eq!(queue.next_time(), Some(at(100)));
        let events = all(&mut queue);
        assert_eq!(events.iter().map(|it| it.0).collect::<Vec<_>>(), [100, 400_000, 500_000]);
    }

    #[test]
    fn every_event_survives_its_word() {
        let port = PortId(MOST_PORTS - 1);
        for event in [
            Event::Control(3),
            Event::Probe(1),
            Event::Start(port),
            Event::Arrival(port, SlotId(MOST_PACKETS - 1)),
            Event::Free(port),
            Event::Host(HostId(9_999)),
        ] {
            assert_eq!(Event::of_word(Word(super::at(1_023, event.word()))), event);
        }
    }

    #[test]
    #[should_panic(expected = "lies in the past")]
    fn scheduling_in_the_past_panics() {
        let mut queue = EventQueue::new(5_000, 1_000);
        queue.push(at(5_000_000), Event::Host(HostId(0)));
        queue.pop(Time::NEVER);
        queue.push(at(4_999_999), Event::Host(HostId(0)));
    }
}
