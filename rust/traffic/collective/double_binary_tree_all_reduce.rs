//! All-reduce over two complementary binary trees: each reduces half of the vector towards its
//! root, then broadcasts the result.
//!
//! Source: Sanders, Speck, Traeff, "Two-tree algorithms for full bandwidth broadcast, reduction and
//! scan", Parallel Computing 35(12), 2009. The trees are those of NCCL (`trees.cc`): the first
//! follows the lowest set bit of the rank. The second is its mirror image for an even number of
//! ranks, and shifted by one for an odd number. Except at the ends, a leaf of one tree is thus an
//! inner node of the other.

use super::schedule::{OnArrival, ScheduleBuilder, Send};
use super::{Collective, CollectiveKind, CostModel, Plan, ranks_and_bytes};

/// Name, source and cost of the algorithm.
pub(super) const DOUBLE_BINARY_TREE_ALL_REDUCE: Collective = Collective {
    name: "double-binary-tree-all-reduce",
    operation: CollectiveKind::AllReduce,
    summary: "all-reduce over two binary trees, half of the vector each, up and down",
    source: "Sanders, Speck, Traeff, Two-tree algorithms (2009), as in NCCL",
    cost,
    chain: None,
    steps,
};

/// Returns the closed forms. The chain is the path of a deepest leaf: the children of a parent
/// share its port in both directions, each with half of the vector. The form is exact if siblings
/// have the same depth, as for a power-of-two number of ranks. With more chunks, each step of the
/// chain is shorter and the chunks are pipelined.
fn cost(plan: &Plan) -> CostModel {
    let (ranks, bytes) = ranks_and_bytes(plan);
    let half = (bytes / 2) as u64;
    let up: Vec<u64> =
        children_on_chain(plan.ranks.len()).map(|children| children * half).collect();
    let down = up.iter().rev().copied();
    let edges = ranks.saturating_sub(1);
    CostModel::new(4 * edges, 2 * bytes * edges, up.iter().copied().chain(down).collect())
}

/// Returns the parent of `rank` in the first tree; `None` for rank 0.
fn parent(rank: usize, ranks: usize) -> Option<usize> {
    if rank == 0 {
        return None;
    }
    let lowest = rank & rank.wrapping_neg();
    let up = (rank ^ lowest) | (lowest << 1);
    Some(if up < ranks { up } else { rank ^ lowest })
}

/// Returns the distance of `rank` from the root of the first tree.
fn depth(rank: usize, ranks: usize) -> usize {
    std::iter::successors(parent(rank, ranks), |&up| parent(up, ranks)).count()
}

/// Returns the number of children of each rank above a deepest leaf of the first tree, upwards.
pub(super) fn children_on_chain(ranks: usize) -> impl Iterator<Item = u64> {
    let children =
        move |of: usize| (0..ranks).filter(|&rank| parent(rank, ranks) == Some(of)).count() as u64;
    let leaf = (0..ranks).max_by_key(|&rank| depth(rank, ranks)).unwrap_or(0);
    std::iter::successors(parent(leaf, ranks), move |&up| parent(up, ranks)).map(children)
}

/// A rank of the first tree with its parent and its depth (distance from the root).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Edge {
    pub depth: u32,
    pub child: usize,
    pub parent: usize,
}

/// Returns the edges of the first tree, starting at the root.
pub(super) fn edges(ranks: usize) -> Vec<Edge> {
    let edge = |child| {
        let depth = u32::try_from(depth(child, ranks)).expect("a tree is not so deep");
        Some(Edge { depth, child, parent: parent(child, ranks)? })
    };
    let mut edges: Vec<Edge> = (0..ranks).filter_map(edge).collect();
    edges.sort_unstable();
    edges
}

/// Returns the rank whose position in the second tree is that of `rank` in the first.
fn other(rank: usize, ranks: usize) -> usize {
    if ranks.is_multiple_of(2) { ranks - 1 - rank } else { (rank + 1) % ranks }
}

/// Returns the edges of the first or the second tree as pairs of child and parent, starting at the
/// root.
pub(crate) fn tree_edges(ranks: usize, second: bool) -> Vec<(usize, usize)> {
    let place = |rank| if second { other(rank, ranks) } else { rank };
    edges(ranks).into_iter().map(|edge| (place(edge.child), place(edge.parent))).collect()
}

fn steps(schedule: &mut ScheduleBuilder<'_>) {
    let ranks = schedule.ranks();
    schedule.divide(2);
    let edges = edges(ranks);
    let deepest = edges.last().map_or(0, |edge| edge.depth);
    for &Edge { depth, child, parent } in edges.iter().rev() {
        for (tree, [child, parent]) in both(child, parent, ranks) {
            schedule.send(
                &Send {
                    step: deepest - depth,
                    from: child,
                    to: parent,
                    on_arrival: OnArrival::Reduce,
                },
                &[tree..tree + 1],
            );
        }
    }
    for &Edge { depth, child, parent } in &edges {
        for (tree, [child, parent]) in both(child, parent, ranks) {
            let step = deepest + depth - 1;
            schedule.send(
                &Send { step, from: parent, to: child, on_arrival: OnArrival::Replace },
                &[tree..tree + 1],
            );
        }
    }
}

/// Returns an edge of the first tree and the corresponding edge of the second, each with its tree.
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
        // With five ranks, 6 does not exist: 4 is a child of 0, and 3 of 2.
        assert_eq!((parent(3, 5), parent(4, 5)), (Some(2), Some(0)));
    }

    #[test]
    fn no_rank_has_children_in_both_trees_except_at_the_ends() {
        for ranks in 2..=64usize {
            let inner = |rank: usize| (0..ranks).any(|child| parent(child, ranks) == Some(rank));
            let both = (0..ranks).filter(|&rank| {
                let mirrored = (0..ranks).find(|&it| other(it, ranks) == rank).unwrap();
                inner(rank) && inner(mirrored)
            });
            assert!(both.count() <= 2, "{ranks} ranks");
        }
    }
}
