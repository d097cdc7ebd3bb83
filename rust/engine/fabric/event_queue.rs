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

/// An event outside the calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    time: u64,
    /// Word without a time. For early events the id is the tie rank (`Word::with_tie_rank`).
    word: Word,
}

/// Base-2 logarithm of how much narrower a bucket may be than a word permits.
const MAX_NARROWING: u32 = 3;
/// Maximum number of buckets, which fabrics with long links reach.
const MAX_BUCKETS: u64 = 1 << 16;

/// Pending events, ordered by time and rank.
#[derive(Debug)]
pub(super) struct EventQueue {
    /// Base-2 logarithm of the picoseconds per bucket.
    shift: u32,
    /// Bucket `b` is `buckets[b % buckets.len()]`, unsorted. The length is a power of two.
    buckets: Vec<Vec<Word>>,
    /// One bit per bucket, set if it is not empty.
    occupied: Vec<u64>,
    /// Memory of emptied buckets, most recently used on top.
    spare: Vec<Vec<Word>>,
    /// Number of the bucket whose events are in `current`.
    bucket: u64,
    /// Events of that bucket, sorted.
    current: Vec<Word>,
    /// Number of events taken from `current`.
    taken: usize,
    /// Index in `buckets` of the first nonempty bucket when `current` was taken; out of range if
    /// there was no other.
    next_index: usize,
    /// High bits of the times in `current`.
    base: u64,
    /// Events before `bucket`. Looking ahead advances the calendar to a bucket, and an event may be
    /// scheduled before it afterwards.
    early: BinaryHeap<Reverse<Entry>>,
    /// Events beyond the calendar's last bucket.
    far: BinaryHeap<Reverse<Entry>>,
    /// Packets that arrive in another partition of a parallel run, in order of their starts:
    /// arrival time, port and slot.
    handoffs: Vec<(Time, PortId, SlotId)>,
    /// Number of nonempty `buckets`. An empty calendar is not searched.
    near: usize,
    last: u64,
    sorter: Sorter,
    /// Order of arrivals at the same time.
    ties: Ties,
}

impl EventQueue {
    /// Creates a queue for events of `ports` ports, most of them less than `horizon_ps` ahead.
    pub(super) fn new(ties: Ties, ports: usize, horizon_ps: u64) -> Self {
        // The more ports, the narrower the buckets: the memory that a bucket's events need is
        // prefetched while the previous bucket is handled, and must fit a fast cache.
        let shift = TIME_BITS - (ports / 8_192).checked_ilog2().unwrap_or(0).min(MAX_NARROWING);
        // Twice the horizon, so that few events land in the heap beyond the calendar.
        let buckets = (horizon_ps.saturating_mul(2) >> shift).clamp(64, MAX_BUCKETS);
        let buckets = buckets.next_power_of_two() as usize;
        Self {
            shift,
            buckets: vec![Vec::new(); buckets],
            occupied: vec![0; buckets / 64],
            spare: Vec::new(),
            bucket: 0,
            current: Vec::new(),
            taken: 0,
            next_index: usize::MAX,
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

    /// Adds an event.
    ///
    /// # Panics
    /// If it is in the past.
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
        // The packet itself is passed on at the end of the window.
        self.handoffs.push((time, port, slot));
    }

    /// Takes the handoffs since the last call.
    pub(super) fn take_handoffs(&mut self) -> std::vec::Drain<'_, (Time, PortId, SlotId)> {
        self.handoffs.drain(..)
    }

    #[inline(always)]
    fn push_word(&mut self, time: u64, word: Word) {
        let bucket = time >> self.shift;
        // Within one turn of the calendar no two buckets share an index. For a bucket that is not
        // ahead the subtraction wraps to a large number. A bucket that is ahead cannot be in the
        // past.
        if bucket.wrapping_sub(self.bucket + 1) >= self.buckets.len() as u64 - 1 {
            return self.push_outside(time, word);
        }
        let index = self.bucket_index(bucket);
        let events = &mut self.buckets[index];
        // Checked here, so that the fast path contains no call into the allocator.
        if events.len() == events.capacity() {
            return self.push_growing(index, word.at(time));
        }
        events.push(word.at(time));
    }

    /// Returns the index of a bucket in `buckets`.
    #[inline(always)]
    fn bucket_index(&self, bucket: u64) -> usize {
        bucket as usize & (self.buckets.len() - 1)
    }

    /// Adds an event to a bucket without free memory. An empty bucket has no memory of its own, and
    /// takes over that of an emptied one.
    #[cold]
    fn push_growing(&mut self, index: usize, word: Word) {
        let events = &mut self.buckets[index];
        if events.capacity() == 0 {
            // Without memory the bucket was empty, so it becomes occupied now.
            self.occupied[index / 64] |= 1 << (index % 64);
            self.near += 1;
            if let Some(mut spare) = self.spare.pop() {
                spare.push(word);
                *events = spare;
                return;
            }
        }
        grow(events, word);
    }

    /// Adds an event to the current bucket or outside the calendar.
    #[cold]
    fn push_outside(&mut self, time: u64, word: Word) {
        assert!(time >= self.last, "an event at {time} ps is in the past");
        let bucket = time >> self.shift;
        match bucket.cmp(&self.bucket) {
            // The current bucket stays sorted. The insertion moves at most the rest of one bucket.
            Ordering::Equal => {
                let word = word.at(time);
                let with_tie_rank = |it: Word| it.with_tie_rank(self.time_of(it), self.ties);
                let (left, new) = (&self.current[self.taken..], with_tie_rank(word));
                let index = self.taken + left.partition_point(|&other| with_tie_rank(other) < new);
                self.current.insert(index, word);
            }
            Ordering::Less => {
                let word = word.with_tie_rank(time, self.ties);
                self.early.push(Reverse(Entry { time, word }));
            }
            Ordering::Greater => self.far.push(Reverse(Entry { time, word })),
        }
    }

    /// True if every event of the current bucket has been taken and none precedes the next bucket.
    #[inline(always)]
    pub(super) fn is_bucket_done(&self) -> bool {
        self.taken >= self.current.len() && self.early.is_empty()
    }

    /// Takes the earliest event that is not later than `by`.
    #[inline(always)]
    pub(super) fn pop(&mut self, by: Time) -> Option<(Time, Word)> {
        if self.is_bucket_done() {
            self.advance();
        }
        self.pop_of_bucket(by)
    }

    /// Like [`Self::pop`], but only among the current bucket and the events before it.
    #[inline(always)]
    pub(super) fn pop_of_bucket(&mut self, by: Time) -> Option<(Time, Word)> {
        // Early events precede the whole current bucket.
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
        debug_assert!(time >= self.last, "time goes backward from {} to {time} ps", self.last);
        // Only here does time advance. `next_time` looks ahead without moving it.
        self.last = time;
        Some((Time::from_ps(time), word))
    }

    /// Takes the earliest event before the current bucket, and sets `last` to its time.
    #[cold]
    fn pop_early(&mut self, by: Time) -> Option<Word> {
        if self.early.peek()?.0.time > by.as_ps() {
            return None;
        }
        let Reverse(Entry { time, word }) = self.early.pop()?;
        debug_assert!(time >= self.last, "time goes backward from {} to {time} ps", self.last);
        self.last = time;
        Some(word.with_port(time, self.ties))
    }

    /// Returns time and rank of the earliest event.
    pub(super) fn peek(&mut self) -> Option<(Time, u32)> {
        if let Some(Reverse(entry)) = self.early.peek() {
            return Some((Time::from_ps(entry.time), entry.word.rank()));
        }
        let at = self.next_time()?;
        Some((at, self.rank(at, *self.current.get(self.taken)?)))
    }

    /// Returns the rank of an event among those of the same time.
    pub(super) fn rank(&self, at: Time, word: Word) -> u32 {
        word.with_tie_rank(at.as_ps(), self.ties).rank()
    }

    /// Returns the time of the earliest event.
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

    /// Returns the time of an event in the current bucket.
    #[inline]
    fn time_of(&self, word: Word) -> u64 {
        self.base | word.low_time()
    }

    /// Iterates over the known arrivals of the next nonempty bucket, in no particular order.
    pub(super) fn next_bucket_arrivals(&self) -> impl Iterator<Item = (PortId, SlotId)> + '_ {
        let bucket = self.next_occupied();
        let events = bucket.map_or(&[][..], |bucket| &self.buckets[self.bucket_index(bucket)]);
        events.iter().filter_map(|word| word.arrival())
    }

    /// Returns the arrival in the next bucket that has the same index as the event that will be
    /// taken next. `None` if it is another kind of event, or if that bucket was empty when the
    /// current one was taken.
    #[inline(always)]
    pub(super) fn next_bucket_peer(&self) -> Option<(PortId, SlotId)> {
        self.buckets.get(self.next_index)?.get(self.taken)?.arrival()
    }

    /// Returns the event of the current bucket `distance` events ahead, if it is an arrival.
    #[inline(always)]
    pub(super) fn peek_arrival(&self, distance: usize) -> Option<(PortId, SlotId)> {
        self.current.get(self.taken + distance)?.arrival()
    }

    /// Returns the host of the event `distance` events ahead in the current bucket, if it is a
    /// timeout.
    pub(super) fn peek_timeout(&self, distance: usize) -> Option<HostId> {
        self.current.get(self.taken + distance)?.timeout()
    }

    /// Returns the number of events taken from the current bucket.
    pub(super) fn taken(&self) -> usize {
        self.taken
    }

    /// Iterates over all pending arrivals, including those in other partitions, in no particular
    /// order.
    pub(super) fn arrivals(&self) -> impl Iterator<Item = (PortId, SlotId)> + '_ {
        let current = &self.current[self.taken..];
        let near = self.buckets.iter().flatten().chain(current).copied();
        let early = self.early.iter().map(|Reverse(it)| it.word.with_port(it.time, self.ties));
        let others = early.chain(self.far.iter().map(|Reverse(entry)| entry.word));
        let handoffs = self.handoffs.iter().map(|&(_, port, slot)| (port, slot));
        near.chain(others).filter_map(Word::arrival).chain(handoffs)
    }

    /// Makes the next nonempty bucket the current one. False if every bucket is empty.
    #[inline(never)]
    pub(super) fn advance(&mut self) -> bool {
        let near = self.next_occupied().unwrap_or(u64::MAX);
        // Only the next bucket is taken from the heap, so a far event moves once and never into the
        // calendar.
        let far = self.far.peek().map_or(u64::MAX, |Reverse(entry)| entry.time >> self.shift);
        let bucket = near.min(far);
        if bucket == u64::MAX {
            return false;
        }
        self.bucket = bucket;
        // The low bits of the bucket's number are part of the time in the word.
        self.base = (bucket << self.shift) & !((1 << TIME_BITS) - 1);
        if near == bucket {
            let index = self.bucket_index(bucket);
            // The next bucket that receives an event reuses the memory of the old one, which is
            // still cached.
            let events = std::mem::take(&mut self.buckets[index]);
            let mut empty = std::mem::replace(&mut self.current, events);
            if empty.capacity() > 0 {
                empty.clear();
                self.spare.push(empty);
            }
            self.occupied[index / 64] &= !(1 << (index % 64));
            self.near -= 1;
        } else {
            self.current.clear();
        }
        self.taken = 0;
        if far == bucket {
            self.take_far(bucket);
        }
        // Time and rank order every two distinct events, so an unstable sort is deterministic.
        self.sorter.sort(&mut self.current, self.base, self.ties);
        self.next_index =
            self.next_occupied().map_or(usize::MAX, |bucket| self.bucket_index(bucket));
        true
    }

    /// Moves the events of a bucket from the heap of far events to the current bucket.
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

    /// Returns the first nonempty bucket after the current one.
    #[inline]
    fn next_occupied(&self) -> Option<u64> {
        let start = (self.bucket + 1) as usize & (self.buckets.len() - 1);
        // Usually it is one of the next few, in the same word.
        match self.occupied[start / 64] >> (start % 64) {
            0 => self.search_occupied(start),
            bits => Some(self.bucket + 1 + u64::from(bits.trailing_zeros())),
        }
    }

    #[cold]
    fn search_occupied(&self, start: usize) -> Option<u64> {
        // An empty calendar would otherwise be searched completely.
        if self.near == 0 {
            return None;
        }
        let (buckets, words) = (self.buckets.len(), self.occupied.len());
        // The word of `start` is searched twice: its upper part first, its lower part last.
        for step in 0..=words {
            let word = (start / 64 + step) & (words - 1);
            let mask = match step {
                0 => u64::MAX << (start % 64),
                _ if step == words => !(u64::MAX << (start % 64)),
                _ => u64::MAX,
            };
            let bits = self.occupied[word] & mask;
            if bits != 0 {
                let index = word * 64 + bits.trailing_zeros() as usize;
                let distance = (index + buckets - start) & (buckets - 1);
                return Some(self.bucket + 1 + distance as u64);
            }
        }
        None
    }
}

/// Adds an event to a bucket whose memory is full.
#[cold]
fn grow(events: &mut Vec<Word>, word: Word) {
    // At least 16: growing from one event up would reallocate at every doubling.
    events.reserve(16);
    events.push(word);
}

#[cfg(test)]
mod tests;
