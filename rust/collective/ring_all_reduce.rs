//! All-reduce on a ring: reduce-scatter, then all-gather.
//!
//! Source: Patarasuk and Yuan, "Bandwidth Optimal All-reduce Algorithms for Clusters of
//! Workstations", Journal of Parallel and Distributed Computing 69(2), 2009.

use super::{Collective, CollectiveError, Plan};
use crate::ids::MessageId;
use crate::units::{Bytes, Time};
use crate::workload::{Message, Workload};

/// The registry line.
pub(super) const RING_ALL_REDUCE: Collective = Collective {
    name: "ring-all-reduce",
    summary: "all-reduce in 2(P-1) steps round a ring: reduce-scatter, then all-gather",
    source: "Patarasuk and Yuan, Bandwidth Optimal All-reduce Algorithms (2009)",
    build,
};

/// The messages, step by step and within a step rank by rank, each to its right neighbour.
///
/// The message of step s waits for the one of step s - 1 from the left neighbour, which brought
/// the chunk that it carries on. All messages of a rank are one stream. An empty chunk (there
/// are fewer bytes than ranks) never moves, and is no message in any step.
fn build(plan: &Plan) -> Result<Workload, CollectiveError> {
    let ranks = plan.ranks.len();
    let steps = ranks.saturating_sub(1) as u128 * 2;
    plan.check(steps * ranks as u128, steps * u128::from(plan.bytes.get()))?;
    let steps = 2 * (ranks - 1);
    let mut messages = Vec::with_capacity(steps * ranks);
    let mut dependencies = Vec::with_capacity((steps - 1) * ranks);
    // What brought each chunk to where it is.
    let mut brought: Vec<Option<MessageId>> = vec![None; ranks];
    for step in 0..steps {
        for rank in 0..ranks {
            let chunk = chunk_at(rank, step, ranks);
            let bytes = plan.block(chunk);
            if bytes == Bytes::ZERO {
                continue;
            }
            let id = MessageId(u32::try_from(messages.len()).expect("2^28 messages at most"));
            dependencies.extend(brought[chunk].replace(id).map(|before| (before, id)));
            messages.push(Message {
                src: plan.ranks[rank],
                dst: plan.ranks[(rank + 1) % ranks],
                bytes,
                stream: 0,
                start: Time::ZERO,
            });
        }
    }
    Ok(Workload::with_dependencies(messages, &dependencies))
}

/// The chunk that `rank` sends in `step`: its own number at first, then what it got last.
fn chunk_at(rank: usize, step: usize, ranks: usize) -> usize {
    (rank + 2 * ranks - step) % ranks
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::HostId;
    use crate::rng::{Purpose, Stream};

    fn run(ranks: usize, bytes: u64) -> Workload {
        let ranks = (0..ranks as u32).map(HostId).collect();
        build(&Plan { ranks, bytes: Bytes::new(bytes) }).unwrap()
    }

    #[test]
    fn each_rank_sends_the_closed_form() {
        for ranks in 2..=33usize {
            // A multiple of the ranks: every rank sends 2(P-1)/P of its vector.
            let bytes = 24 * ranks as u64;
            let workload = run(ranks, bytes);
            assert_eq!(workload.messages.len(), 2 * (ranks - 1) * ranks);
            for rank in 0..ranks as u32 {
                let sent = workload.messages.iter().filter(|m| m.src == HostId(rank));
                assert_eq!(sent.map(|m| m.bytes.get()).sum::<u64>(), 2 * (ranks as u64 - 1) * 24);
            }
            // And of all of them together whatever the remainder.
            let odd = run(ranks, bytes + 5).total_bytes().get();
            assert_eq!(odd, 2 * (ranks as u64 - 1) * (bytes + 5));
        }
    }

    /// A vector a rank, one number a byte; what a message carries is read when it starts and
    /// added (or, when the sums are known, stored) when it is delivered.
    struct Machine {
        ranks: usize,
        vectors: Vec<Vec<u64>>,
        step_of: Vec<usize>,
    }

    impl Machine {
        fn new(ranks: usize, length: usize, workload: &Workload) -> Self {
            let vectors = (0..ranks)
                .map(|rank| (0..length).map(|place| (rank * 1_000 + place) as u64).collect())
                .collect();
            let mut step_of = vec![0; workload.messages.len()];
            for before in 0..step_of.len() {
                for after in workload.dependents_of(MessageId(before as u32)) {
                    step_of[after.index()] = step_of[before] + 1;
                }
            }
            Self { ranks, vectors, step_of }
        }

        fn range(&self, workload: &Workload, message: usize) -> std::ops::Range<usize> {
            let sender = workload.messages[message].src.index();
            let chunk = chunk_at(sender, self.step_of[message], self.ranks);
            let (length, ranks) = (self.vectors[0].len(), self.ranks);
            let start = |chunk: usize| chunk * (length / ranks) + chunk.min(length % ranks);
            start(chunk)..start(chunk + 1)
        }

        fn deliver(&mut self, workload: &Workload, message: usize, carried: &[u64]) {
            let range = self.range(workload, message);
            assert_eq!(range.len() as u64, workload.messages[message].bytes.get());
            let adds = self.step_of[message] < self.ranks - 1;
            let receiver = workload.messages[message].dst.index();
            for (mine, &theirs) in self.vectors[receiver][range].iter_mut().zip(carried) {
                *mine = if adds { *mine + theirs } else { theirs };
            }
        }
    }

    /// Runs the dependency graph, delivering in random order whatever may be under way.
    fn sums_after(ranks: usize, length: usize, seed: u64) -> Vec<Vec<u64>> {
        let workload = run(ranks, length as u64);
        let mut machine = Machine::new(ranks, length, &workload);
        let mut waits_for = workload.waits_for.clone();
        let mut draws = Stream::new(seed, Purpose::Test, ranks as u64);
        let mut under_way: Vec<(usize, Vec<u64>)> = Vec::new();
        let start = |machine: &Machine, message: usize| {
            let from = workload.messages[message].src.index();
            let range = machine.range(&workload, message);
            (message, machine.vectors[from][range].to_vec())
        };
        under_way.extend(
            (0..waits_for.len()).filter(|&m| waits_for[m] == 0).map(|m| start(&machine, m)),
        );
        let mut delivered = 0;
        while !under_way.is_empty() {
            let next = draws.below(under_way.len() as u32) as usize;
            let (message, carried) = under_way.swap_remove(next);
            machine.deliver(&workload, message, &carried);
            delivered += 1;
            for after in workload.dependents_of(MessageId(message as u32)) {
                waits_for[after.index()] -= 1;
                if waits_for[after.index()] == 0 {
                    under_way.push(start(&machine, after.index()));
                }
            }
        }
        assert_eq!(delivered, workload.messages.len(), "{ranks} ranks: some never start");
        machine.vectors
    }

    #[test]
    fn every_rank_ends_with_the_sum() {
        for ranks in 2..=33 {
            for length in [ranks - 1, ranks, 2 * ranks + 1] {
                let sum: Vec<u64> = (0..length)
                    .map(|place| (0..ranks).map(|rank| (rank * 1_000 + place) as u64).sum())
                    .collect();
                for (rank, vector) in sums_after(ranks, length, 5).iter().enumerate() {
                    assert_eq!(vector, &sum, "rank {rank} of {ranks}, {length} numbers");
                }
            }
        }
    }
}
