//! Two complementary binary trees: each reduces one half of the vector up and broadcasts it down.
//!
//! Source: Sanders, Speck, Traeff, "Two-tree algorithms for full bandwidth broadcast, reduction
//! and scan", Parallel Computing 35(12), 2009; the trees as in NCCL (`trees.cc`): the first by the
//! lowest set bit of the rank; the second is its mirror image for an even number of ranks and is
//! shifted by one for an odd number, so that (but for the ends) who is a leaf in one is none in
//! the other.

use super::schedule::{How, Schedule, Send};
use super::{Collective, Cost, Operation, Plan, wide};

/// The registry line.
pub(super) const DOUBLE_BINARY_TREE_ALL_REDUCE: Collective = Collective {
    name: "double-binary-tree-all-reduce",
    operation: Operation::AllReduce,
    summary: "all-reduce over two binary trees, half of the vector each, up and down",
    source: "Sanders, Speck, Traeff, Two-tree algorithms (2009), as in NCCL",
    cost,
    steps,
};

/// Along the path of a deepest leaf: a parent's children share its port both ways, each with a
/// half of the vector; exact where siblings are as deep, as for a power of two of ranks. With more
/// chunks each step of the chain is shorter, and they follow each other.
fn cost(plan: &Plan) -> Cost {
    let (ranks, bytes) = wide(plan);
    let count = plan.ranks.len();
    let children =
        |of: usize| (0..count).filter(|&rank| parent(rank, count) == Some(of)).count() as u64;
    let leaf = (0..count).max_by_key(|&rank| depth(rank, count)).unwrap_or(0);
    let parents = std::iter::successors(parent(leaf, count), |&up| parent(up, count));
    let up: Vec<u64> = parents.map(|parent| children(parent) * (bytes / 2) as u64).collect();
    let down = up.iter().rev().copied();
    Cost {
        messages: 4 * ranks.saturating_sub(1),
        bytes: 2 * bytes * ranks.saturating_sub(1),
        chain: up.iter().copied().chain(down).collect(),
        turns: 0,
    }
}

/// The parent of `rank` in the first tree; rank 0 has none.
fn parent(rank: usize, ranks: usize) -> Option<usize> {
    if rank == 0 {
        return None;
    }
    let lowest = rank & rank.wrapping_neg();
    let up = (rank ^ lowest) | (lowest << 1);
    Some(if up < ranks { up } else { rank ^ lowest })
}

/// How far `rank` is from the root of the first tree.
fn depth(rank: usize, ranks: usize) -> usize {
    std::iter::successors(parent(rank, ranks), |&up| parent(up, ranks)).count()
}

/// The rank that stands in the second tree where `rank` does in the first.
fn other(rank: usize, ranks: usize) -> usize {
    if ranks.is_multiple_of(2) { ranks - 1 - rank } else { (rank + 1) % ranks }
}

fn steps(schedule: &mut Schedule<'_>) {
    let ranks = schedule.ranks();
    schedule.cut(2);
    let mut edges: Vec<(usize, usize, usize)> = (0..ranks)
        .filter_map(|rank| Some((depth(rank, ranks), rank, parent(rank, ranks)?)))
        .collect();
    edges.sort_unstable();
    let deepest = edges.last().map_or(0, |edge| edge.0);
    let number = |step: usize| u32::try_from(step).expect("a tree is not so deep");
    for &(depth, child, parent) in edges.iter().rev() {
        for (tree, [child, parent]) in both(child, parent, ranks) {
            let step = number(deepest - depth);
            schedule.send(&Send { step, from: child, to: parent, how: How::Add }, tree..tree + 1);
        }
    }
    for &(depth, child, parent) in &edges {
        for (tree, [child, parent]) in both(child, parent, ranks) {
            let step = number(deepest + depth - 1);
            schedule.send(&Send { step, from: parent, to: child, how: How::Store }, tree..tree + 1);
        }
    }
}

/// An edge of the first tree and the one in its place in the second.
fn both(child: usize, parent: usize, ranks: usize) -> [(usize, [usize; 2]); 2] {
    [(0, [child, parent]), (1, [child, parent].map(|rank| other(rank, ranks)))]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_trees_of_eight_ranks() {
        let parents: Vec<Option<usize>> = (0..8).map(|rank| parent(rank, 8)).collect();
        let expected = [None, Some(2), Some(4), Some(2), Some(0), Some(6), Some(4), Some(6)];
        assert_eq!(parents, expected);
        // With five ranks, 6 is beyond the end: 4 hangs from 0, and 3 from 2.
        assert_eq!((parent(3, 5), parent(4, 5)), (Some(2), Some(0)));
    }

    #[test]
    fn nobody_has_children_in_both_trees_but_the_ends() {
        for ranks in 2..=64usize {
            let inner = |rank: usize| (0..ranks).any(|child| parent(child, ranks) == Some(rank));
            let both = (0..ranks).filter(|&rank| {
                let place = (0..ranks).find(|&place| other(place, ranks) == rank).unwrap();
                inner(rank) && inner(place)
            });
            assert!(both.count() <= 2, "{ranks} ranks");
        }
    }
}
