//! Deliveries by rank and block.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::ids::MessageId;

/// A message and its step.
pub(super) type Delivery = (u32, MessageId);

/// Consecutive blocks of a rank with the same deliveries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Run {
    end: u32,
    /// Last delivery.
    last: u32,
}

/// A delivery and the one before it, if there is one.
#[derive(Debug, Clone, Copy)]
struct Node {
    delivery: Delivery,
    before: u32,
}

/// Marks the first delivery of a list.
const NONE: u32 = u32::MAX;

/// The messages that delivered each block, by rank and block. Blocks with the same deliveries share
/// an entry, so memory grows with messages rather than blocks. Halving and doubling has log P
/// entries for each of P ranks. Entries that were split share the deliveries before the split.
#[derive(Debug, Default)]
pub(super) struct Deliveries {
    /// By rank, and by first block.
    runs: Vec<BTreeMap<u32, Run>>,
    nodes: Vec<Node>,
}

impl Deliveries {
    /// Removes all deliveries.
    pub(super) fn clear(&mut self) {
        self.runs.clear();
        self.nodes.clear();
    }

    /// Returns the messages that delivered any of these blocks to `rank`, possibly with duplicates.
    pub(super) fn of(&self, rank: usize, blocks: &Range<usize>) -> impl Iterator<Item = Delivery> {
        let Range { start, end } = narrow(blocks);
        let runs = self.runs.get(rank).filter(|_| start < end).map(|runs| {
            let before = runs.range(..start).next_back().filter(|(_, run)| start < run.end);
            before.into_iter().chain(runs.range(start..end))
        });
        runs.into_iter().flatten().flat_map(|(_, run)| self.list(run.last))
    }

    /// Iterates over a delivery and all before it.
    fn list(&self, last: u32) -> impl Iterator<Item = Delivery> {
        let node = |at: u32| self.nodes.get(at as usize);
        std::iter::successors(node(last), move |it| node(it.before)).map(|node| node.delivery)
    }

    /// Adds a delivery of these blocks to `rank`, keeping earlier ones.
    pub(super) fn add(&mut self, rank: usize, blocks: &Range<usize>, delivery: Delivery) {
        let Range { start, end } = narrow(blocks);
        self.split(rank, start);
        self.split(rank, end);
        let Self { runs, nodes } = self;
        let mut free = start;
        let mut gaps = Vec::new();
        // Neighbours with the same deliveries so far have the same ones afterwards.
        let mut alike: Option<(u32, u32)> = None;
        for (&start, run) in runs[rank].range_mut(start..end) {
            if free < start {
                gaps.push(free..start);
            }
            free = run.end;
            let last = match alike {
                Some((before, last)) if before == run.last => last,
                _ => push(nodes, Node { delivery, before: run.last }),
            };
            alike = Some((run.last, last));
            run.last = last;
        }
        if free < end {
            gaps.push(free..end);
        }
        for Range { start, end } in gaps {
            let last = push(nodes, Node { delivery, before: NONE });
            runs[rank].insert(start, Run { end, last });
        }
    }

    /// Replaces all earlier deliveries of these blocks to `rank`.
    pub(super) fn replace(&mut self, rank: usize, blocks: &Range<usize>, delivery: Delivery) {
        let Range { start, end } = narrow(blocks);
        self.split(rank, start);
        self.split(rank, end);
        if start == end {
            return;
        }
        let last = push(&mut self.nodes, Node { delivery, before: NONE });
        let runs = &mut self.runs[rank];
        let inner: Vec<u32> = runs.range(start + 1..end).map(|(&start, _)| start).collect();
        for start in inner {
            runs.remove(&start);
        }
        runs.insert(start, Run { end, last });
    }

    /// Splits the entry that contains block `at`, so that an entry starts there.
    fn split(&mut self, rank: usize, at: u32) {
        if self.runs.len() <= rank {
            self.runs.resize_with(rank + 1, BTreeMap::new);
        }
        let runs = &mut self.runs[rank];
        let Some((_, run)) = runs.range_mut(..at).next_back() else { return };
        if at < run.end {
            let right = *run;
            run.end = at;
            runs.insert(at, right);
        }
    }
}

fn push(nodes: &mut Vec<Node>, node: Node) -> u32 {
    nodes.push(node);
    u32::try_from(nodes.len() - 1).expect("2^28 messages at most")
}

fn narrow(blocks: &Range<usize>) -> Range<u32> {
    let narrow = |block| u32::try_from(block).expect("2^28 blocks at most");
    narrow(blocks.start)..narrow(blocks.end)
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
        assert_eq!(deliveries.runs[3].len(), 10);
        assert_eq!(of(&deliveries, 3, 600..1024), [0]);
        assert_eq!(of(&deliveries, 3, 0..1).len(), 10);
        deliveries.replace(3, &(0..1024), (10, MessageId(10)));
        assert_eq!((deliveries.runs[3].len(), of(&deliveries, 3, 5..6)), (1, vec![10]));
    }
}
