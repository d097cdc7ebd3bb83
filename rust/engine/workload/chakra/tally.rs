//! Counts of nodes whose traces lack a value, for warnings.

use std::ops::AddAssign;

use super::kernels::Unordered;
use super::node::{NodeAction, ParsedNode};

/// Numbers of nodes that are not taken as they are.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Tally {
    without_duration: [usize; 2],
    empty_sends: usize,
    /// Kernels of communication that the trace has as computations.
    lost: usize,
    pub unordered: Unordered,
}

impl Tally {
    /// Counts a node.
    pub(super) fn count(&mut self, node: &ParsedNode) {
        if let Some(lack) = node.lack {
            self.without_duration[lack as usize] += 1;
        }
        self.empty_sends += usize::from(matches!(node.action, NodeAction::Send { bytes: 0, .. }));
        self.lost += usize::from(node.is_lost);
    }

    /// A warning for each count above 0.
    pub(super) fn warnings(&self) -> Vec<String> {
        let [compute, memory] = self.without_duration;
        let all = [
            (
                compute,
                "compute nodes give their operations (num_ops) but no duration; they take no time",
            ),
            (
                memory,
                "memory nodes have no duration: their time is unknown, and they take none; \
                 duration_micros gives it",
            ),
            (self.empty_sends, "sends of 0 bytes are sent as 1 byte"),
            (
                self.lost,
                "kernels of communication have neither type nor size, or are computations in the \
                 traces: they send nothing, and take their durations",
            ),
        ];
        let some = all.into_iter().filter(|(count, _)| *count > 0);
        let counted = some.map(|(count, what)| format!("{count} {what}"));
        counted.chain(self.unordered.warning()).collect()
    }
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        for (sum, more) in self.without_duration.iter_mut().zip(other.without_duration) {
            *sum += more;
        }
        self.empty_sends += other.empty_sends;
        self.lost += other.lost;
        self.unordered += other.unordered;
    }
}
