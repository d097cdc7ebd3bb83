//! Sorting of the events of a bucket.
//!
//! Most buckets have ten or twenty events. For these, the index of each event is the number of
//! events that precede it, which is counted without branches. The library's sort mispredicts about
//! one branch per event at this size.

use crate::fabric::event::Word;
use crate::switching::Ties;

/// Minimum number of events to sort by counting.
const MIN_COUNTED: usize = 2;
/// Maximum number of events to sort by counting. The time per event grows with their number.
const MAX_COUNTED: usize = 64;
/// Number of events whose predecessors are counted together.
const BATCH: usize = 8;

/// Sorts the events of buckets.
#[derive(Debug)]
pub(super) struct Sorter {
    /// Sort keys of the events; unused entries are left over from earlier buckets.
    keys: [i32; MAX_COUNTED],
    /// The events in order, with the same kind of leftovers.
    sorted: [Word; MAX_COUNTED],
}

impl Default for Sorter {
    fn default() -> Self {
        Self { keys: [0; MAX_COUNTED], sorted: [Word::default(); MAX_COUNTED] }
    }
}

impl Sorter {
    /// Sorts the events of a bucket, whose times share the high bits `base`.
    #[inline(always)]
    pub(super) fn sort(&mut self, events: &mut [Word], base: u64, ties: Ties) {
        let is_counted = (MIN_COUNTED..=MAX_COUNTED).contains(&events.len());
        if !is_counted || !self.sort_by_counting(events, base, ties) {
            sort_by_library(events, base, ties);
        }
    }

    /// Sorts at most [`MAX_COUNTED`] events. Returns false and leaves them as they are if two
    /// events have equal keys.
    #[inline(always)]
    fn sort_by_counting(&mut self, events: &mut [Word], base: u64, ties: Ties) -> bool {
        let count = events.len();
        let mut has_long_key = false;
        for (key, event) in self.keys.iter_mut().zip(events.iter()) {
            let event = event.with_tie_rank(base | event.low_time(), ties);
            has_long_key |= event.has_long_key();
            *key = event.short_key();
        }
        let mut sum = 0;
        let places = self.keys.chunks_exact(BATCH).zip(events.chunks(BATCH));
        // A fixed number of counters per pass, so that the inner loop is vectorized.
        for (keys, events) in places {
            let mut before = [0i32; BATCH];
            for &other in &self.keys[..count] {
                for (before, &key) in before.iter_mut().zip(keys) {
                    *before += i32::from(other < key);
                }
            }
            for (&event, &before) in events.iter().zip(&before) {
                sum += before as usize;
                // The remainder only removes the bounds check: the count is below it.
                self.sorted[before as usize % MAX_COUNTED] = event;
            }
        }
        // Equal keys have equally many predecessors, so the sum is smaller than that of a
        // permutation.
        if has_long_key || sum != count * count.saturating_sub(1) / 2 {
            return false;
        }
        events.copy_from_slice(&self.sorted[..count]);
        true
    }
}

/// Sorts with the library. Meanwhile events hold their tie ranks as ids.
fn sort_by_library(events: &mut [Word], base: u64, ties: Ties) {
    for event in &mut *events {
        *event = event.with_tie_rank(base | event.low_time(), ties);
    }
    events.sort_unstable();
    for event in events {
        *event = event.with_port(base | event.low_time(), ties);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fabric::event::Event;
    use crate::fabric::network::SlotId;
    use crate::ids::{HostId, PortId};
    use crate::rng::{Purpose, Stream};
    use crate::switching::TieOrder;

    #[test]
    fn counting_sort_agrees_with_the_library_sort() {
        let mut random = Stream::new(3, Purpose::Test, 0);
        let (mut sorter, mut counted) = (Sorter::default(), 0);
        for round in 0..4_000u64 {
            // Few distinct times and ports, so that some are equal; ids of all sizes.
            let (ports, times) = (1 << (1 + random.below(24)), 1 + random.below(1_024));
            let (base, ties) = (round << 10, Ties::new(TieOrder::Drawn, round, ports as usize));
            let event = |random: &mut Stream| {
                let port = PortId(random.below(ports));
                let word = Word::of(match random.below(12) {
                    0 => Event::Free(port),
                    1 => Event::Host(HostId(port.0)),
                    2 => Event::Start(port),
                    3 => Event::Probe(random.below(4)),
                    4 => Event::Control(random.below(4)),
                    _ => Event::Arrival(port, SlotId(random.below(1 << 20))),
                });
                word.at(u64::from(random.below(times)))
            };
            let events: Vec<Word> = (0..round % 80).map(|_| event(&mut random)).collect();
            let [mut ours, mut by_library] = [events.clone(), events];
            sort_by_library(&mut by_library, base, ties);
            counted += u32::from(
                ours.len() <= MAX_COUNTED && sorter.sort_by_counting(&mut ours.clone(), base, ties),
            );
            sorter.sort(&mut ours, base, ties);
            assert_eq!(ours, by_library, "round {round}");
        }
        assert!((500..3_500).contains(&counted), "{counted} were counted");
    }
}
