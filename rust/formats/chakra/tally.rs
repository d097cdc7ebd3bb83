//! Counts of nodes whose traces lack a value, for warnings.

use std::ops::AddAssign;

use super::groups::Call;
use super::node::{NodeAction, ParsedNode};

/// `comm_type` of a barrier, the only collective without bytes.
const BARRIER: u8 = 9;

/// Counts of nodes that are not simulated as the trace gives them.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Tally {
    without_duration: [usize; 2],
    empty_sends: usize,
    empty_collectives: usize,
    /// Communication kernels that the trace has as computations.
    unsimulated_kernels: usize,
    pub unordered: Unordered,
}

/// Counts of kernels whose stream order is missing in one or more ranks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Unordered {
    /// Kernels that follow another one in their stream.
    pub followers: usize,
    /// Followers that do not depend on their predecessor.
    pub independent: usize,
    /// Independent followers that communicate.
    pub communication: usize,
    /// Independent followers whose stream has no times to order them by.
    pub untimed: usize,
}

impl Tally {
    /// Counts a node.
    pub(super) fn count(&mut self, node: &ParsedNode) {
        if let Some(lack) = node.lack {
            self.without_duration[lack as usize] += 1;
        }
        self.empty_sends += usize::from(matches!(node.action, NodeAction::Send { bytes: 0, .. }));
        let is_empty = |call: &Call| call.bytes == 0 && call.operation != BARRIER;
        let is_empty = matches!(&node.action, NodeAction::Collective(call) if is_empty(call));
        self.empty_collectives += usize::from(is_empty);
        self.unsimulated_kernels += usize::from(node.is_unsimulated);
    }

    /// Returns a warning for each count above 0.
    pub(super) fn warnings(&self) -> Vec<String> {
        let [compute, memory] = self.without_duration;
        let all = [
            (compute, "compute nodes have operations (num_ops) but no duration; they take no time"),
            (memory, "memory nodes without a duration take no time; give duration_micros"),
            (self.empty_sends, "sends of 0 bytes are sent as 1 byte"),
            (self.empty_collectives, "collectives of 0 bytes send nothing"),
            (
                self.unsimulated_kernels,
                "communication kernels have neither type nor size, or are computations in the \
                 traces; they send nothing and take their recorded durations",
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
        self.empty_collectives += other.empty_collectives;
        self.unsimulated_kernels += other.unsimulated_kernels;
        self.unordered += other.unordered;
    }
}

impl Unordered {
    /// Returns the warning, if any kernel lacks an order.
    pub(super) fn warning(&self) -> Option<String> {
        let Self { followers, independent, communication, untimed } = *self;
        if independent == 0 {
            return None;
        }
        let of_them = match communication {
            0 => String::new(),
            count => format!(", including {count} that communicate,"),
        };
        let mend = match untimed {
            0 => "evenkeel check --mend DIR orders them by their recorded times".to_owned(),
            all if all == independent => "the traces have no times to order them by".to_owned(),
            some => format!(
                "evenkeel check --mend DIR orders them by their recorded times, except {some} \
                 without times"
            ),
        };
        Some(format!(
            "{independent} of {followers} kernels that follow another in their stream{of_them} do \
             not depend on it and may start before it ends: {mend}"
        ))
    }
}

impl AddAssign for Unordered {
    fn add_assign(&mut self, other: Self) {
        self.followers += other.followers;
        self.independent += other.independent;
        self.communication += other.communication;
        self.untimed += other.untimed;
    }
}
