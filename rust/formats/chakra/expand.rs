//! Expands a collective node into messages: the algorithm and the bytes of each operation.

use crate::collective::{Algorithms, CollectiveError, CollectiveKind, Plan};
use crate::ids::HostId;
use crate::units::{Bytes, Time};
use crate::workload::{Message, Workload};

/// Operations, by their number in the schema (`comm_type`), with their kind in the registry of
/// collectives. An operation without a kind is sent directly.
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

/// Size of a barrier's message in bytes: a counter. \[inferred\]
const BARRIER_BYTES: Bytes = Bytes::new(8);

/// Returns the default algorithms of the operations that occur in traces.
pub fn algorithms() -> Algorithms {
    let mut kinds: Vec<CollectiveKind> = OPERATIONS.iter().filter_map(|(_, kind)| *kind).collect();
    kinds.dedup();
    Algorithms::new(&kinds)
}

/// Returns the name of an operation by its number, which is at most 9.
pub(super) fn name(operation: u8) -> &'static str {
    OPERATIONS[usize::from(operation)].0
}

/// Returns the messages of a collective of `ranks` (at least two) with `bytes` each; `operation` is
/// its number in the schema.
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
        Some(kind) => algorithms.get(kind).build(&Plan::new(ranks.to_vec(), bytes)),
        None if bytes.get().checked_mul(count as u64).is_none() => Err(too_many),
        None => Ok(direct(name, ranks, bytes)),
    }
}

/// Gathers to the first rank, or scatters from it: one message per other rank.
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
        let workload = expand(operation, bytes, &ranks, &algorithms()).unwrap();
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
    fn algorithms_can_be_selected_for_seven_operations() {
        assert_eq!(algorithms().operations().count(), 7);
        assert_eq!(algorithms().names("gather"), [""; 0]);
    }
}
