//! Deliveries by rank and block.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::ids::MessageId;

/// A message and its step.
pub(super) type Delivery = (u32, MessageId);

/// Consecutive blocks of a rank with the same deliveries.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Run {
    end: usize,
    by: Vec<Delivery>,
}

/// The messages that delivered each block, by rank and block. Blocks with the same deliveries share
/// an entry, so memory grows with messages rather than blocks. Halving and doubling has log P
/// entries for each of P ranks.
#[derive(Debug, Default)]
pub(super) struct Deliveries {
    /// By rank and first block.
    runs: BTreeMap<(usize, usize), Run>,
}

impl Deliveries {
    /// Removes all deliveries.
    pub(super) fn clear(&mut self) {
        self.runs.clear();
    }

    /// Returns the messages that delivered any of these blocks to `rank`, possibly with duplicates.
    pub(super) fn of(&self, rank: usize, blocks: &Range<usize>) -> impl Iterator<Item = Delivery> {
        let Range { start, end } = *blocks;
        let before = self.runs.range((rank, 0)..(rank, start)).next_back();
        let before = before.filter(|(_, run)| start < end && start < run.end);
        let runs = before.into_iter().chain(self.runs.range((rank, start)..(rank, end)));
        runs.flat_map(|(_, run)| run.by.iter().copied())
    }

    /// Adds a delivery of these blocks to `rank`, keeping earlier ones.
    pub(super) fn add(&mut self, rank: usize, blocks: &Range<usize>, delivery: Delivery) {
        self.split(rank, blocks.start);
        self.split(rank, blocks.end);
        let mut free = blocks.start;
        let mut gaps = Vec::new();
        for (&(_, start), run) in self.runs.range_mut((rank, blocks.start)..(rank, blocks.end)) {
            if free < start {
                gaps.push(free..start);
            }
            run.by.push(delivery);
            free = run.end;
        }
        if free < blocks.end {
            gaps.push(free..blocks.end);
        }
        for Range { start, end } in gaps {
            self.runs.insert((rank, start), Run { end, by: vec![delivery] });
        }
    }

    /// Replaces all earlier deliveries of these blocks to `rank`.
    pub(super) fn replace(&mut self, rank: usize, blocks: &Range<usize>, delivery: Delivery) {
        self.split(rank, blocks.start);
        self.split(rank, blocks.end);
        let within = self.runs.range((rank, blocks.start)..(rank, blocks.end));
        let old: Vec<(usize, usize)> = within.map(|(&key, _)| key).collect();
        for key in old {
            self.runs.remove(&key);
        }
        if !blocks.is_empty() {
            self.runs.insert((rank, blocks.start), Run { end: blocks.end, by: vec![delivery] });
        }
    }

    /// Splits the entry that contains block `at`, so that an entry starts there.
    fn split(&mut self, rank: usize, at: usize) {
        let Some((&(_, start), run)) = self.runs.range_mut((rank, 0)..(rank, at)).next_back()
        else {
            return;
        };
        if start < at && at < run.end {
            let right = Run { end: run.end, by: run.by.clone() };
            run.end = at;
            self.runs.insert((rank, at), right);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, Stream};

    fn of(deliveries: &Deliveries, rank: usize, blocks: Range<usize>) -> Vec<u32> {
        let mut ids: Vec<u32> = deliveries.of(rank, &blocks).map(|(_, id)| id.0).collect();
        ids.sort_unstable();
        ids.dedup();
        ids
    }

    #[test]
    fn deliveries_match_a_plain_table_by_block() {
        const BLOCKS: u32 = 24;
        let mut draws = Stream::new(1, Purpose::Test, 0);
        let mut deliveries = Deliveries::default();
        let mut table = vec![vec![Vec::<u32>::new(); BLOCKS as usize]; 2];
        for id in 0..2_000 {
            let (rank, start) = (draws.below(2) as usize, draws.below(BLOCKS) as usize);
            let end = start + draws.below(BLOCKS + 1 - start as u32) as usize;
            let (blocks, delivery) = (start..end, (0, MessageId(id)));
            if draws.below(2) == 0 {
                deliveries.replace(rank, &blocks, delivery);
                table[rank][blocks].iter_mut().for_each(|by| *by = vec![id]);
            } else {
                deliveries.add(rank, &blocks, delivery);
                table[rank][blocks].iter_mut().for_each(|by| by.push(id));
            }
            let (from, rank) = (draws.below(BLOCKS) as usize, draws.below(2) as usize);
            let to = from + draws.below(BLOCKS + 1 - from as u32) as usize;
            let mut expected = table[rank][from..to].concat();
            expected.sort_unstable();
            expected.dedup();
            assert_eq!(of(&deliveries, rank, from..to), expected, "{from}..{to} after {id}");
        }
    }

    #[test]
    fn blocks_that_arrive_together_are_one_entry() {
        let mut deliveries = Deliveries::default();
        for step in 0..10u32 {
            deliveries.add(3, &(0..1024 >> step), (step, MessageId(step)));
        }
        assert_eq!(deliveries.runs.len(), 10);
        assert_eq!(of(&deliveries, 3, 600..1024), [0]);
        assert_eq!(of(&deliveries, 3, 0..1).len(), 10);
        deliveries.replace(3, &(0..1024), (10, MessageId(10)));
        assert_eq!((deliveries.runs.len(), of(&deliveries, 3, 5..6)), (1, vec![10]));
    }
}
