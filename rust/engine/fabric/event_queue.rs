//! The event queue: a calendar of narrow buckets, and a heap for events beyond the calendar.

mod sorting;

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use sorting::Sorter;

use super::event::{Event, TIME_BITS, Word};
use super::network::SlotId;
use crate::ids::{HostId, PortId};
use crate::switching::Ties;
use crate::units::Time;

/// An event that is not in the calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    time: u64,
    /// Without its time; of early events, with their places (`Word::placed`).
    word: Word,
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
    buckets: Vec<Vec<Word>>,
    /// A bit for each bucket that is not empty.
    occupied: Vec<u64>,
    /// Memory of buckets that are empty, the one used last on top.
    spare: Vec<Vec<Word>>,
    /// The number of the bucket whose events are in `current`.
    bucket: u64,
    /// The events of that bucket, in order.
    current: Vec<Word>,
    /// How many of them are taken.
    taken: usize,
    /// Where the next bucket that was not empty at that time is; beyond the end if all were.
    next_place: usize,
    /// What the times of these events have in common.
    base: u64,
    /// Events before that bucket: time advances to a bucket when it is looked up, and an event may
    /// be scheduled before it.
    early: BinaryHeap<Reverse<Entry>>,
    /// Events later than the calendar's last bucket.
    far: BinaryHeap<Reverse<Entry>>,
    /// Packets that arrive in another partition of a parallel run, in the order of their starts:
    /// the time of the arrival, the port and the packet.
    handoffs: Vec<(Time, PortId, SlotId)>,
    /// How many `buckets` are not empty, so that an empty calendar is not searched.
    near: usize,
    last: u64,
    sorter: Sorter,
    /// The order of arrivals at one time.
    ties: Ties,
}

impl EventQueue {
    /// A queue for events of so many `ports` that are mostly less than `horizon_ps` ahead.
    pub(super) fn new(ties: Ties, ports: usize, horizon_ps: u64) -> Self {
        // The more ports, the narrower the buckets: what the events of a bucket need is fetched
        // ahead while the bucket before is handled, and has to fit a cache that is near.
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
            taken: 0,
            next_place: usize::MAX,
            base: 0,
            early: BinaryHeap::new(),
            far: BinaryHeap::new(),
            handoffs: Vec::new(),
            near: 0,
            last: 0,
            sorter: Sorter::default(),
            ties,
        }
    }

    /// Adds an event; panics if it lies in the past.
    pub(super) fn push(&mut self, time: Time, event: Event) {
        self.push_word(time.as_ps(), Word::of(event));
    }

    /// Adds the arrival of a packet at the end of the wire of `port`.
    #[inline(always)]
    pub(super) fn push_arrival(&mut self, time: Time, port: PortId, slot: SlotId) {
        self.push_word(time.as_ps(), Word::of_arrival(port, slot));
    }

    /// Adds the start of a queued packet at `port`.
    #[inline(always)]
    pub(super) fn push_start(&mut self, time: Time, port: PortId) {
        self.push_word(time.as_ps(), Word::of(Event::Start(port)));
    }

    /// Adds the arrival of a packet in another partition of a parallel run.
    pub(super) fn push_handoff(&mut self, time: Time, port: PortId, slot: SlotId) {
        self.push(time, Event::Handoff(port));
        self.handoffs.push((time, port, slot));
    }

    /// Takes the handoffs since the last call.
    pub(super) fn take_handoffs(&mut self) -> std::vec::Drain<'_, (Time, PortId, SlotId)> {
        self.handoffs.drain(..)
    }

    #[inline(always)]
    fn push_word(&mut self, time: u64, word: Word) {
        let bucket = time >> self.shift;
        // Within one turn of the calendar no two buckets share a place. A bucket that is not ahead
        // wraps to a large number. One that is ahead is not in the past.
        if bucket.wrapping_sub(self.bucket + 1) >= self.buckets.len() as u64 - 1 {
            return self.push_outside(time, word);
        }
        let place = self.place_of(bucket);
        let events = &mut self.buckets[place];
        if events.len() == events.capacity() {
            return self.push_growing(place, word.at(time));
        }
        events.push(word.at(time));
    }

    /// The place of a bucket among `buckets`.
    #[inline(always)]
    fn place_of(&self, bucket: u64) -> usize {
        bucket as usize & (self.buckets.len() - 1)
    }

    /// Adds an event to a bucket that is given more memory for it: that of one that was emptied, if
    /// it has none, since a bucket that is empty has none.
    #[cold]
    fn push_growing(&mut self, place: usize, word: Word) {
        let events = &mut self.buckets[place];
        if events.capacity() == 0 {
            self.occupied[place / 64] |= 1 << (place % 64);
            self.near += 1;
            if let Some(mut spare) = self.spare.pop() {
                spare.push(word);
                *events = spare;
                return;
            }
        }
        grow(events, word);
    }

    /// Adds an event to the current bucket, or one that is not in the calendar.
    #[cold]
    fn push_outside(&mut self, time: u64, word: Word) {
        assert!(time >= self.last, "an event at {time} ps lies in the past");
        let bucket = time >> self.shift;
        match bucket.cmp(&self.bucket) {
            // What is being taken is sorted, and stays sorted: the insertion moves what is left of
            // one bucket at most.
            Ordering::Equal => {
                let word = word.at(time);
                let placed = |it: Word| it.placed(self.time_of(it), self.ties);
                let (left, own) = (&self.current[self.taken..], placed(word));
                let place = self.taken + left.partition_point(|&other| placed(other) < own);
                self.current.insert(place, word);
            }
            Ordering::Less => {
                let word = word.placed(time, self.ties);
                self.early.push(Reverse(Entry { time, word }));
            }
            Ordering::Greater => self.far.push(Reverse(Entry { time, word })),
        }
    }

    /// True if the events of the current bucket have been taken, and none precedes the next one.
    #[inline(always)]
    pub(super) fn is_bucket_done(&self) -> bool {
        self.taken >= self.current.len() && self.early.is_empty()
    }

    /// Takes the earliest event, if it is not later than `by`.
    #[inline(always)]
    pub(super) fn pop(&mut self, by: Time) -> Option<(Time, Word)> {
        if self.is_bucket_done() {
            self.advance();
        }
        self.pop_of_bucket(by)
    }

    /// The same among the events of the current bucket and what precedes it.
    #[inline(always)]
    pub(super) fn pop_of_bucket(&mut self, by: Time) -> Option<(Time, Word)> {
        if !self.early.is_empty() {
            let word = self.pop_early(by)?;
            return Some((Time::from_ps(self.last), word));
        }
        let &word = self.current.get(self.taken)?;
        let time = self.time_of(word);
        if time > by.as_ps() {
            return None;
        }
        self.taken += 1;
        debug_assert!(time >= self.last, "time goes back from {} to {time} ps", self.last);
        // Time moves here alone, and not where `next_time` looks ahead.
        self.last = time;
        Some((Time::from_ps(time), word))
    }

    /// Takes the earliest event of those before the current bucket; its time is `last` then.
    #[cold]
    fn pop_early(&mut self, by: Time) -> Option<Word> {
        if self.early.peek()?.0.time > by.as_ps() {
            return None;
        }
        let Reverse(Entry { time, word }) = self.early.pop()?;
        debug_assert!(time >= self.last, "time goes back from {} to {time} ps", self.last);
        self.last = time;
        Some(word.restored(time, self.ties))
    }

    /// The time and the rank of the earliest event.
    pub(super) fn peek(&mut self) -> Option<(Time, u32)> {
        if let Some(Reverse(entry)) = self.early.peek() {
            return Some((Time::from_ps(entry.time), entry.word.rank()));
        }
        let at = self.next_time()?;
        Some((at, self.rank(at, *self.current.get(self.taken)?)))
    }

    /// The rank of an event among those at the same time.
    pub(super) fn rank(&self, at: Time, word: Word) -> u32 {
        word.placed(at.as_ps(), self.ties).rank()
    }

    /// The time of the earliest event.
    #[inline]
    pub(super) fn next_time(&mut self) -> Option<Time> {
        if let Some(Reverse(entry)) = self.early.peek() {
            return Some(Time::from_ps(entry.time));
        }
        if self.is_bucket_done() {
            self.advance();
        }
        self.current.get(self.taken).map(|&word| Time::from_ps(self.time_of(word)))
    }

    /// The time of an event in the current bucket.
    #[inline]
    fn time_of(&self, word: Word) -> u64 {
        self.base | word.low_time()
    }

    /// The arrivals of the bucket after the current one, as far as it is known, in no order.
    pub(super) fn upcoming(&self) -> impl Iterator<Item = (PortId, SlotId)> + '_ {
        let bucket = self.next_occupied();
        let events = bucket.map_or(&[][..], |bucket| &self.buckets[self.place_of(bucket)]);
        events.iter().filter_map(|word| word.arrival())
    }

    /// The event of the bucket after the current one that has the index, among those of its
    /// bucket, of the event that is taken next, if it is an arrival and the bucket was not empty
    /// when the current one was taken.
    #[inline(always)]
    pub(super) fn beside(&self) -> Option<(PortId, SlotId)> {
        self.buckets.get(self.next_place)?.get(self.taken)?.arrival()
    }

    /// The event of the current bucket that comes after `distance` others, if it is an arrival.
    #[inline(always)]
    pub(super) fn coming(&self, distance: usize) -> Option<(PortId, SlotId)> {
        self.current.get(self.taken + distance)?.arrival()
    }

    /// The host of the event of the current bucket that comes after `distance` others, if it is a
    /// timeout.
    pub(super) fn coming_timeout(&self, distance: usize) -> Option<HostId> {
        self.current.get(self.taken + distance)?.timeout()
    }

    /// How many events of the current bucket have been taken.
    pub(super) fn taken(&self) -> usize {
        self.taken
    }

    /// All arrivals to come, those in other partitions of a parallel run included, in no order.
    pub(super) fn arrivals(&self) -> impl Iterator<Item = (PortId, SlotId)> + '_ {
        let current = &self.current[self.taken..];
        let near = self.buckets.iter().flatten().chain(current).copied();
        let early = self.early.iter().map(|Reverse(it)| it.word.restored(it.time, self.ties));
        let others = early.chain(self.far.iter().map(|Reverse(entry)| entry.word));
        let handoffs = self.handoffs.iter().map(|&(_, port, slot)| (port, slot));
        near.chain(others).filter_map(Word::arrival).chain(handoffs)
    }

    /// Makes the next bucket that is not empty the current one; false if all are empty.
    #[inline(never)]
    pub(super) fn advance(&mut self) -> bool {
        let near = self.next_occupied().unwrap_or(u64::MAX);
        // Only the bucket that comes next is taken from the heap: a far event moves once, and never
        // into a slot.
        let far = self.far.peek().map_or(u64::MAX, |Reverse(entry)| entry.time >> self.shift);
        let bucket = near.min(far);
        if bucket == u64::MAX {
            return false;
        }
        self.bucket = bucket;
        // The low bits of the bucket's number are among those of the time in the word.
        self.base = (bucket << self.shift) & !((1 << TIME_BITS) - 1);
        if near == bucket {
            let place = self.place_of(bucket);
            // The next bucket that gets an event takes over the memory of the old one, which is
            // still cached.
            let events = std::mem::take(&mut self.buckets[place]);
            let mut empty = std::mem::replace(&mut self.current, events);
            if empty.capacity() > 0 {
                empty.clear();
                self.spare.push(empty);
            }
            self.occupied[place / 64] &= !(1 << (place % 64));
            self.near -= 1;
        } else {
            self.current.clear();
        }
        self.taken = 0;
        if far == bucket {
            self.take_far(bucket);
        }
        // Time and rank order every two events that are not the same one, so that an unstable sort
        // always gives the same order.
        self.sorter.sort(&mut self.current, self.base, self.ties);
        self.next_place = self.next_occupied().map_or(usize::MAX, |bucket| self.place_of(bucket));
        true
    }

    /// Moves the events of a bucket that are later than the calendar was to the current one.
    #[cold]
    fn take_far(&mut self, bucket: u64) {
        while let Some(&Reverse(Entry { time, word })) = self.far.peek() {
            if time >> self.shift != bucket {
                break;
            }
            self.far.pop();
            self.current.push(word.at(time));
        }
    }

    /// The first bucket after the current one that is not empty.
    #[inline]
    fn next_occupied(&self) -> Option<u64> {
        let start = (self.bucket + 1) as usize & (self.buckets.len() - 1);
        // Mostly it is one of the next few.
        match self.occupied[start / 64] >> (start % 64) {
            0 => self.search_occupied(start),
            bits => Some(self.bucket + 1 + u64::from(bits.trailing_zeros())),
        }
    }

    #[cold]
    fn search_occupied(&self, start: usize) -> Option<u64> {
        if self.near == 0 {
            return None;
        }
        let (buckets, words) = (self.buckets.len(), self.occupied.len());
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

/// Adds an event to a bucket whose memory is full.
#[cold]
fn grow(events: &mut Vec<Word>, word: Word) {
    events.reserve(16);
    events.push(word);
}

#[cfg(test)]
mod tests;
