//! The event queue: a calendar of narrow buckets, and a heap for events beyond the calendar.
//!
//! Events at the same time have a designed order: failures and routing first, then probes, then
//! starts, then arrivals by the port they come from, then hosts by their id. The order does not
//! depend on the order in which events were scheduled. No event is cancelled: an event that is
//! early has no effect. Each port has at most one event of a kind, so the order is total where it
//! matters.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

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
    /// The packet at the head of this port's wire arrives, or the port's wire is free.
    Port(PortId),
    /// A timeout of this host.
    Host(HostId),
}

// A rank is the kind in two bits and the id in thirty: the order of events at the same time is one
// comparison of numbers. Ids of ports and hosts are shorter.
const KIND_SHIFT: u32 = 30;
/// Set in the ranks of probes, which share their kind with failures.
const PROBE: u32 = 1 << (KIND_SHIFT - 1);
const ID_MASK: u32 = (1 << KIND_SHIFT) - 1;

impl Event {
    /// The rank among events at the same time.
    const fn rank(self) -> u32 {
        match self {
            Self::Control(index) => index,
            Self::Probe(index) => PROBE | index,
            Self::Start(port) => 1 << KIND_SHIFT | port.0,
            Self::Port(port) => 2 << KIND_SHIFT | port.0,
            Self::Host(host) => 3 << KIND_SHIFT | host.0,
        }
    }

    const fn of_rank(rank: u32) -> Self {
        match rank >> KIND_SHIFT {
            0 if rank & PROBE != 0 => Self::Probe(rank & !PROBE),
            0 => Self::Control(rank),
            1 => Self::Start(PortId(rank & ID_MASK)),
            2 => Self::Port(PortId(rank & ID_MASK)),
            _ => Self::Host(HostId(rank & ID_MASK)),
        }
    }
}

/// An event in the calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    time: u64,
    rank: u32,
}

const SLOTS: usize = 1 << 12;
const WORDS: usize = SLOTS / 64;

/// Pending events, by time and rank.
#[derive(Debug)]
pub(super) struct EventQueue {
    /// Bucket `b` of `2^shift` picoseconds is `buckets[b % SLOTS]`, not sorted.
    buckets: Vec<Vec<Entry>>,
    /// A bit for each bucket that is not empty.
    occupied: [u64; WORDS],
    shift: u32,
    /// The number of the bucket whose events are in `current`.
    bucket: u64,
    /// The events of that bucket, sorted; those before `cursor` have been taken.
    current: Vec<Entry>,
    cursor: usize,
    /// Events later than the calendar's last bucket.
    far: BinaryHeap<Reverse<Entry>>,
    /// How many events all `buckets` hold, so that an empty calendar is not searched.
    near: usize,
    last: u64,
}

impl EventQueue {
    /// A queue for events that are mostly less than `horizon_ps` ahead.
    pub(super) fn new(horizon_ps: u64) -> Self {
        // A bucket spans about a nanosecond, or more if the horizon requires it.
        let mut shift = 10;
        while (SLOTS as u64) << shift < horizon_ps.saturating_mul(2) && shift < 40 {
            shift += 1;
        }
        Self {
            buckets: vec![Vec::new(); SLOTS],
            occupied: [0; WORDS],
            shift,
            bucket: 0,
            current: Vec::new(),
            cursor: 0,
            far: BinaryHeap::new(),
            near: 0,
            last: 0,
        }
    }

    /// Adds an event; panics if it lies in the past.
    #[inline]
    pub(super) fn push(&mut self, time: Time, event: Event) {
        let entry = Entry { time: time.as_ps(), rank: event.rank() };
        assert!(entry.time >= self.last, "{event:?} at {time} lies in the past");
        let bucket = entry.time >> self.shift;
        // The bucket being taken is sorted, and stays sorted: the insertion moves what is left of
        // one bucket at most. The event may even belong before that bucket, since `next_time`
        // advances to a bucket whose time has not come.
        if bucket <= self.bucket {
            let at = self.current[self.cursor..].partition_point(|other| *other < entry);
            self.current.insert(self.cursor + at, entry);
        } else if bucket - self.bucket < SLOTS as u64 {
            // Within one turn of the calendar no two buckets share a slot.
            let slot = bucket as usize % SLOTS;
            self.buckets[slot].push(entry);
            self.occupied[slot / 64] |= 1 << (slot % 64);
            self.near += 1;
        } else {
            self.far.push(Reverse(entry));
        }
    }

    /// Takes the earliest event.
    #[inline]
    pub(super) fn pop(&mut self) -> Option<(Time, Event)> {
        if self.cursor == self.current.len() && !self.advance() {
            return None;
        }
        let entry = self.current[self.cursor];
        self.cursor += 1;
        // Time moves here alone, and not where `next_time` looks ahead.
        self.last = entry.time;
        Some((Time::from_ps(entry.time), Event::of_rank(entry.rank)))
    }

    /// The time of the earliest event.
    #[inline]
    pub(super) fn next_time(&mut self) -> Option<Time> {
        if self.cursor == self.current.len() && !self.advance() {
            return None;
        }
        Some(Time::from_ps(self.current[self.cursor].time))
    }

    /// The port of the event `ahead` places after the next one, if that is in the current bucket
    /// and an event of a port.
    #[inline]
    pub(super) fn port_ahead(&self, ahead: usize) -> Option<PortId> {
        let entry = self.current.get(self.cursor + ahead)?;
        match Event::of_rank(entry.rank) {
            Event::Port(port) | Event::Start(port) => Some(port),
            Event::Control(_) | Event::Probe(_) | Event::Host(_) => None,
        }
    }

    /// Makes the next bucket that is not empty the current one; false if all are empty.
    fn advance(&mut self) -> bool {
        self.current.clear();
        self.cursor = 0;
        let near = self.next_occupied();
        // Only the bucket that comes next is taken from the heap: a far event moves once, and never
        // into a slot.
        let far = self.far.peek().map(|Reverse(entry)| entry.time >> self.shift);
        let Some(bucket) = [near, far].into_iter().flatten().min() else { return false };
        self.bucket = bucket;
        if near == Some(bucket) {
            let slot = bucket as usize % SLOTS;
            // The slot gets the memory of the old bucket: buckets rarely allocate once they have
            // grown.
            std::mem::swap(&mut self.current, &mut self.buckets[slot]);
            self.occupied[slot / 64] &= !(1 << (slot % 64));
            self.near -= self.current.len();
        }
        while let Some(&Reverse(entry)) = self.far.peek() {
            if entry.time >> self.shift != bucket {
                break;
            }
            self.far.pop();
            self.current.push(entry);
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
        let start = (self.bucket + 1) as usize % SLOTS;
        // The word of `start` is read twice: its upper part first, its lower part last.
        for step in 0..=WORDS {
            let word = (start / 64 + step) % WORDS;
            let mask = match step {
                0 => u64::MAX << (start % 64),
                WORDS => !(u64::MAX << (start % 64)),
                _ => u64::MAX,
            };
            let bits = self.occupied[word] & mask;
            if bits != 0 {
                let slot = word * 64 + bits.trailing_zeros() as usize;
                let distance = (slot + SLOTS - start) % SLOTS;
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
        std::iter::from_fn(|| queue.pop()).map(|(time, event)| (time.as_ps(), event)).collect()
    }

    #[test]
    fn events_at_equal_times_are_ordered_by_kind_then_id() {
        let (control, port, host) =
            (Event::Control(3), Event::Port(PortId(9)), Event::Host(HostId(0)));
        for order in [[control, port, host], [host, port, control], [port, host, control]] {
            let mut queue = EventQueue::new(1_000);
            queue.push(at(5), Event::Start(PortId(9)));
            order.iter().for_each(|&event| queue.push(at(5), event));
            queue.push(at(5), Event::Port(PortId(2)));
            let start = Event::Start(PortId(9));
            let expected = [control, start, Event::Port(PortId(2)), port, host];
            assert_eq!(all(&mut queue), expected.map(|event| (5, event)));
        }
    }

    #[test]
    fn events_near_and_far_come_out_in_order() {
        let mut random = Stream::new(1, Purpose::Test, 0);
        let mut queue = EventQueue::new(1_000_000);
        let mut expected = Vec::new();
        let mut got = Vec::new();
        let mut now = 0;
        for n in 0..20_000 {
            let reach = [1, 100, 10_000, 1_000_000, 1_000_000_000][random.below(5) as usize];
            let time = now + u64::from(random.below(reach));
            queue.push(at(time), Event::Port(PortId(n)));
            expected.push((time, Event::Port(PortId(n))));
            if random.below(3) == 0 {
                let (time, event) = queue.pop().unwrap();
                now = time.as_ps();
                got.push((now, event));
            }
        }
        got.extend(all(&mut queue));
        expected.sort_by_key(|&(time, event)| (time, event.rank()));
        assert_eq!(got, expected);
    }

    #[test]
    #[should_panic(expected = "lies in the past")]
    fn scheduling_in_the_past_panics() {
        let mut queue = EventQueue::new(1_000);
        queue.push(at(5_000_000), Event::Host(HostId(0)));
        queue.pop();
        queue.push(at(4_999_999), Event::Host(HostId(0)));
    }
}
