//! From a collective node to messages: the algorithm and the bytes of each operation.

use crate::collective::{self, Collective, CollectiveError, CollectiveKind, Plan};
use crate::ids::HostId;
use crate::units::{Bytes, Time};
use crate::workload::{Message, Workload};

/// The operations by their numbers in the schema (`comm_type`), with their kinds in the registry
/// of collectives. Operations without one are sent directly.
const OPERATIONS: [(&str, Option<CollectiveKind>); 10] = [
    ("all-reduce", Some(CollectiveKind::AllReduce)),
    ("reduce", Some(CollectiveKind::Reduce)),
    ("all-gather", Some(CollectiveKind::AllGather)),
    ("gather", None),
    ("scatter", None),
    ("broadcast", Some(CollectiveKind::Broadcast)),
    ("all-to-all", Some(CollectiveKind::AllToAll)),
    ("reduce-scatter", Some(CollectiveKind::ReduceScatter)),
    ("reduce-scatter", Some(CollectiveKind::ReduceScatter)),
    ("barrier", Some(CollectiveKind::Barrier)),
];

/// Bytes of a barrier's message: a counter. \[inferred\]
const BARRIER_BYTES: Bytes = Bytes::new(8);

/// The algorithm of each operation: by default the first of the registry.
#[derive(Debug, Clone, Default)]
pub struct Algorithms {
    chosen: Vec<(CollectiveKind, &'static Collective)>,
}

impl Algorithms {
    /// The names of the operations that have algorithms.
    pub fn operations() -> impl Iterator<Item = &'static str> {
        let mut names: Vec<_> =
            OPERATIONS.iter().filter(|(_, operation)| operation.is_some()).collect();
        names.dedup();
        names.into_iter().map(|(name, _)| *name)
    }

    /// The names of an operation's algorithms; empty for an unknown operation. An algorithm that
    /// has only the operation's name is called `direct`.
    pub fn names(operation: &str) -> Vec<&'static str> {
        let kind = OPERATIONS.iter().find(|(name, _)| *name == operation).and_then(|it| it.1);
        let of_kind = collective::ALL.iter().filter(|it| Some(it.operation) == kind);
        of_kind.map(|it| short(it, operation)).collect()
    }

    /// Selects `algorithm` for `operation`; returns false if the operation has no such algorithm.
    #[must_use]
    pub fn choose(&mut self, operation: &str, algorithm: &str) -> bool {
        let kind = OPERATIONS.iter().find(|(name, _)| *name == operation).and_then(|it| it.1);
        let found = collective::ALL
            .iter()
            .find(|it| Some(it.operation) == kind && short(it, operation) == algorithm);
        let chosen = kind.zip(found);
        self.chosen.extend(chosen);
        chosen.is_some()
    }

    fn of(&self, operation: CollectiveKind) -> &'static Collective {
        let chosen = self.chosen.iter().rev().find(|(kind, _)| *kind == operation);
        let first = || collective::ALL.iter().find(|it| it.operation == operation);
        chosen.map(|(_, collective)| *collective).or_else(first).expect("each has an algorithm")
    }
}

fn short(collective: &'static Collective, operation: &str) -> &'static str {
    let name = collective.name.strip_suffix(operation).map(|name| name.trim_end_matches('-'));
    name.filter(|name| !name.is_empty()).unwrap_or("direct")
}

/// The name of an operation by its number, which is at most 9.
pub(super) fn name(operation: u8) -> &'static str {
    OPERATIONS[usize::from(operation)].0
}

/// The messages of a collective of `ranks` (at least two) with `bytes` each; `operation` is a
/// number of the schema.
pub(super) fn expand(
    operation: u8,
    bytes: u64,
    ranks: &[HostId],
    algorithms: &Algorithms,
) -> Result<Workload, CollectiveError> {
    let (name, kind) = OPERATIONS[usize::from(operation)];
    let count = ranks.len();
    let too_many = CollectiveError::TooManyBytes { ranks: count, bytes: Bytes::new(bytes) };
    let bytes = match kind {
        Some(CollectiveKind::Barrier) => BARRIER_BYTES,
        Some(CollectiveKind::AllGather) => match bytes.checked_mul(count as u64) {
            Some(bytes) => Bytes::new(bytes),
            None => return Err(too_many),
        },
        _ => Bytes::new(bytes),
    };
    if bytes == Bytes::ZERO {
        return Ok(Workload::default());
    }
    match kind {
        Some(kind) => algorithms.of(kind).build(&Plan::new(ranks.to_vec(), bytes)),
        None if bytes.get().checked_mul(count as u64).is_none() => Err(too_many),
        None => Ok(direct(name, ranks, bytes)),
    }
}

/// Gather and scatter: a message from each other rank to the first, or from the first to each.
fn direct(name: &str, ranks: &[HostId], bytes: Bytes) -> Workload {
    let root = ranks[0];
    let others = ranks[1..].iter().map(|&rank| {
        let (src, dst, bytes) = match name {
            "gather" => (rank, root, bytes),
            _ => (root, rank, Bytes::new(bytes.get().div_ceil(ranks.len() as u64))),
        };
        Message { src, dst, bytes, stream: 0, start: Time::ZERO }
    });
    Workload::independent(others.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn total(operation: u8, bytes: u64) -> u64 {
        let ranks: Vec<HostId> = (0..4).map(HostId).collect();
        let workload = expand(operation, bytes, &ranks, &Algorithms::default()).unwrap();
        workload.total_bytes().get()
    }

    #[test]
    fn each_operation_sends_the_bytes_of_its_algorithm() {
        // All-reduce by a ring, reduce by a tree, all-gather, gather, scatter, broadcast by a
        // tree, all-to-all, reduce-scatter twice.
        let totals = [6 * 4_000, 3 * 4_000, 3 * 4 * 4_000, 3 * 4_000, 3 * 1_000];
        let others = [3 * 4_000, 3 * 4_000, 3 * 4_000, 3 * 4_000];
        for (operation, expected) in (0..).zip(totals.into_iter().chain(others)) {
            assert_eq!(total(operation, 4_000), expected, "{}", name(operation));
        }
        // Each of four ranks sends a counter in each of two steps.
        assert_eq!(total(9, 0), 2 * 4 * 8);
        assert_eq!(total(0, 0), 0);
    }

    #[test]
    fn algorithms_are_selected_by_operation_and_name() {
        let mut algorithms = Algorithms::default();
        assert!(algorithms.choose("all-reduce", "halving-doubling"));
        assert!(!algorithms.choose("all-reduce", "all-gather"));
        assert!(!algorithms.choose("gather", "ring"));
        assert_eq!(algorithms.of(CollectiveKind::AllReduce).name, "halving-doubling-all-reduce");
        assert_eq!(algorithms.of(CollectiveKind::AllGather).name, "ring-all-gather");
        assert_eq!(Algorithms::names("all-to-all"), ["direct", "hierarchical"]);
        assert_eq!(Algorithms::names("scatter"), [""; 0]);
        assert_eq!(Algorithms::operations().count(), 7);
    }
}
