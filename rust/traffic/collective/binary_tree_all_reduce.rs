//! All-reduce over one binary tree: reduces the whole vector towards the root, then broadcasts the
//! result.
//!
//! Source: ASTRA-sim, `DoubleBinaryTreeAllReduce.cc` and `BinaryTree.cc`. Its double binary tree,
//! also used by Ethereal's simulator, assigns each chunk to one of two trees. With one chunk, a
//! single tree therefore carries the whole vector. It is the first tree of
//! [`super::double_binary_tree_all_reduce`], which counts from the last rank there. A rank sends to
//! both of its children at the same time.

use super::double_binary_tree_all_reduce::{children_on_chain, edges};
use super::schedule::{OnArrival, ScheduleBuilder, Send};
use super::{Collective, CollectiveKind, CostModel, Plan, ranks_and_bytes};

/// Name, source and cost of the algorithm.
pub(super) const BINARY_TREE_ALL_REDUCE: Collective = Collective {
    name: "binary-tree-all-reduce",
    operation: CollectiveKind::AllReduce,
    summary: "all-reduce over one binary tree, the whole vector up and down",
    source: "ASTRA-sim, DoubleBinaryTreeAllReduce.cc, with one chunk; the tree as in NCCL",
    cost,
    chain: None,
    steps,
};

/// Returns the closed forms. The chain is the path of a deepest leaf: the children of a parent
/// share its port in both directions. The form is exact if siblings have the same depth, as for a
/// power-of-two number of ranks. With more chunks, each step of the chain is shorter and the chunks
/// are pipelined.
fn cost(plan: &Plan) -> CostModel {
    let (ranks, bytes) = ranks_and_bytes(plan);
    let up: Vec<u64> =
        children_on_chain(plan.ranks.len()).map(|children| children * bytes as u64).collect();
    let down = up.iter().rev().copied();
    let messages = 2 * ranks.saturating_sub(1);
    CostModel::new(messages, messages * bytes, up.iter().copied().chain(down).collect())
}

fn steps(schedule: &mut ScheduleBuilder<'_>) {
    schedule.divide(1);
    let edges = edges(schedule.ranks());
    let deepest = edges.last().map_or(0, |edge| edge.depth);
    for edge in edges.iter().rev() {
        let (step, on_arrival) = (deepest - edge.depth, OnArrival::Reduce);
        schedule.send(&Send { step, from: edge.child, to: edge.parent, on_arrival }, &[0..1]);
    }
    for edge in &edges {
        let (step, on_arrival) = (deepest + edge.depth - 1, OnArrival::Replace);
        schedule.send(&Send { step, from: edge.parent, to: edge.child, on_arrival }, &[0..1]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::HostId;
    use crate::units::Bytes;

    #[test]
    fn a_tree_of_eight_ranks_reduces_up_and_broadcasts_down() {
        let plan = Plan::new((0..8).map(HostId).collect(), Bytes::new(100));
        let workload = BINARY_TREE_ALL_REDUCE.build(&plan).unwrap();
        let sent: Vec<(u32, u32)> =
            workload.messages.iter().map(|message| (message.src.0, message.dst.0)).collect();
        let up = [(7, 6), (5, 6), (3, 2), (1, 2), (6, 4), (2, 4), (4, 0)];
        let down = up.iter().rev().map(|&(child, parent)| (parent, child));
        assert_eq!(sent, up.iter().copied().chain(down).collect::<Vec<_>>());
        assert!(workload.messages.iter().all(|message| message.bytes == Bytes::new(100)));
        // Leaves wait for nothing, inner ranks for two children, the root for one.
        assert_eq!(workload.waits_for[..8], [0, 0, 0, 0, 2, 2, 2, 1]);
        let cost = cost(&plan);
        assert_eq!(cost.chain, [200, 200, 100, 100, 200, 200]);
    }
}
