//! Tests every algorithm against its closed forms, and executes it on real numbers.

use std::collections::{BTreeMap, BTreeSet};

use super::schedule::machine::{self, BlockKey, Memory};
use super::*;
use crate::extent;

fn plan(ranks: usize, bytes: u64) -> Plan {
    let ranks = (0..ranks as u32).map(HostId).collect();
    Plan { group: 0, ..Plan::new(ranks, Bytes::new(bytes)) }
}

/// Returns a plan for every group size; a single plan for algorithms without groups.
fn plans(collective: &Collective, ranks: usize, bytes: u64) -> Vec<Plan> {
    let plain = plan(ranks, bytes);
    if !collective.is_hierarchical() {
        return vec![plain];
    }
    let groups = (2..ranks as u32).filter(|group| (ranks as u32).is_multiple_of(*group));
    groups.map(|group| Plan { group, ..plain.clone() }).collect()
}

/// Returns the number that `rank` initially holds at `index` of a block.
fn number(rank: usize, block: BlockKey, index: usize) -> u64 {
    let (channel, chunk, block) = block;
    let block = (u64::from(channel) * 16 + u64::from(chunk)) * 2_000 + block as u64;
    1 + (rank as u64) * 1_000_003 + block * 101 + index as u64
}

/// Returns the rank that initially holds a block, or `None` if every rank does.
fn owner(operation: CollectiveKind, ranks: usize, block: usize) -> Option<usize> {
    match operation {
        CollectiveKind::AllGather => Some(block),
        CollectiveKind::Broadcast | CollectiveKind::Pipeline => Some(0),
        CollectiveKind::AllToAll => Some(block / ranks),
        CollectiveKind::AllReduce
        | CollectiveKind::ReduceScatter
        | CollectiveKind::Reduce
        | CollectiveKind::Barrier => None,
    }
}

/// Returns the blocks that the collective sends, with their lengths.
fn blocks(collective: &Collective, plan: &Plan) -> BTreeMap<BlockKey, u64> {
    let schedule = machine::schedule(collective, plan);
    let sent = schedule.record.iter().flat_map(|sent| {
        let segment = sent.segment;
        let key = move |block| (segment.channel, segment.chunk, block);
        sent.blocks.iter().map(move |&(block, length)| (key(block), length))
    });
    sent.collect()
}

fn initial(collective: &Collective, plan: &Plan) -> Memory {
    let ranks = plan.ranks.len();
    let blocks = blocks(collective, plan);
    let of_rank = |rank: usize| {
        let has = |block| owner(collective.operation, ranks, block).is_none_or(|it| it == rank);
        let mine = blocks.iter().filter(|((.., block), _)| has(*block));
        mine.map(|(&block, &length)| {
            (block, (0..length as usize).map(|index| number(rank, block, index)).collect())
        })
        .collect()
    };
    (0..ranks).map(of_rank).collect()
}

/// Returns the number that a rank must finally hold at `index` of a block, if it must hold the
/// block.
fn end(
    operation: CollectiveKind,
    ranks: usize,
    rank: usize,
    key: BlockKey,
    index: usize,
) -> Option<u64> {
    let block = key.2;
    let sum = || (0..ranks).map(|rank| number(rank, key, index)).sum();
    let from_owner = || owner(operation, ranks, block).map(|from| number(from, key, index));
    match operation {
        CollectiveKind::AllReduce => Some(sum()),
        CollectiveKind::ReduceScatter => (block == rank).then(sum),
        CollectiveKind::Reduce => (rank == 0).then(sum),
        CollectiveKind::AllGather | CollectiveKind::Broadcast | CollectiveKind::Pipeline => {
            from_owner()
        }
        CollectiveKind::AllToAll => (block % ranks == rank).then(from_owner).flatten(),
        CollectiveKind::Barrier => None,
    }
}

#[test]
fn every_algorithm_computes_the_right_result_at_every_rank() {
    for collective in ALL {
        let few = |ranks: &usize| *ranks <= 9 || [16, 25, 32, 33].contains(ranks);
        for ranks in extent::cases("collective::numbers", (2..=33).collect(), few) {
            for bytes in [ranks as u64 - 1, 2 * ranks as u64 + 1] {
                for mut plan in plans(collective, ranks, bytes) {
                    (plan.channels, plan.chunks) = if ranks % 5 == 0 { (2, 3) } else { (1, 1) };
                    check_numbers(collective, &plan);
                }
            }
        }
    }
}

fn check_numbers(collective: &Collective, plan: &Plan) {
    let ranks = plan.ranks.len();
    let memory = machine::run(collective, plan, initial(collective, plan), 5);
    for (&block, &length) in &blocks(collective, plan) {
        for (rank, held) in memory.iter().enumerate() {
            for index in 0..length as usize {
                let Some(right) = end(collective.operation, ranks, rank, block, index) else {
                    continue;
                };
                let name = collective.name;
                let held = held.get(&block).and_then(|numbers| numbers.get(index));
                assert_eq!(held, Some(&right), "{name}, {ranks} ranks: rank {rank}, {block:?}");
            }
        }
    }
}

#[test]
fn a_barrier_notifies_every_rank_of_all_others() {
    for ranks in 2..=33usize {
        let barrier = find("barrier").unwrap();
        let plan = plan(ranks, ranks as u64);
        let heard = |rank: usize| (0..ranks).map(|of| u64::from(of == rank)).collect();
        let memory = (0..ranks).map(|rank| BTreeMap::from([((0, 0, 0), heard(rank))])).collect();
        for (rank, held) in machine::run(barrier, &plan, memory, 3).iter().enumerate() {
            assert!(held[&(0, 0, 0)].iter().all(|&times| times > 0), "rank {rank} of {ranks}");
        }
    }
}

#[test]
fn messages_and_bytes_match_the_closed_forms() {
    for collective in ALL {
        for ranks in 2..=33usize {
            // Long enough that no block is empty, plus a remainder.
            for plan in plans(collective, ranks, 64 * 33 + 5) {
                let cost = (collective.cost)(&plan);
                let workload = collective.build(&plan).unwrap();
                let name = collective.name;
                assert_eq!(workload.messages.len() as u128, cost.messages, "{name}, {ranks}");
                let bytes = u128::from(workload.total_bytes().get());
                assert_eq!(bytes, cost.bytes, "{name}, {ranks} ranks");
            }
        }
    }
}

#[test]
fn balanced_algorithms_send_equally_from_every_rank() {
    let per_rank = |name: &str, ranks: usize, unit: u64| {
        let collective = find(name).unwrap();
        let workload = collective.build(&Plan { group: 4, ..plan(ranks, unit) }).unwrap();
        let mut sent = vec![0u64; ranks];
        for message in &workload.messages {
            sent[message.src.index()] += message.bytes.get();
        }
        assert!(sent.iter().all(|&bytes| bytes == sent[0]), "{name}: {sent:?}");
        sent[0]
    };
    for ranks in [8usize, 16, 32] {
        let (p, m) = (ranks as u64, 32 * ranks as u64);
        for name in ["ring", "halving-doubling", "direct"] {
            assert_eq!(per_rank(&format!("{name}-all-reduce"), ranks, m), 2 * (p - 1) * m / p);
        }
        let (group, groups) = (4, p / 4);
        let hierarchical = 2 * (group - 1) * m / group + 2 * (groups - 1) * m / group / groups;
        assert_eq!(per_rank("hierarchical-all-reduce", ranks, m), hierarchical);
        for name in ["ring-all-gather", "direct-all-gather", "bruck-all-gather"] {
            assert_eq!(per_rank(name, ranks, m), (p - 1) * m / p);
        }
        for name in ["ring-reduce-scatter", "direct-reduce-scatter", "all-to-all"] {
            assert_eq!(per_rank(name, ranks, m), (p - 1) * m / p);
        }
        assert_eq!(per_rank("recursive-doubling-all-reduce", ranks, m), p.ilog2() as u64 * m);
    }
}

#[test]
fn halving_doubling_sends_large_messages_to_near_ranks() {
    let workload = find("halving-doubling-all-reduce").unwrap().build(&plan(16, 1_600)).unwrap();
    let of_first: Vec<(u32, u64)> = workload
        .messages
        .iter()
        .filter(|message| message.src == HostId(0))
        .map(|message| (message.dst.0, message.bytes.get()))
        .collect();
    let there = [(1, 800), (2, 400), (4, 200), (8, 100)];
    let back = [(8, 100), (4, 200), (2, 400), (1, 800)];
    assert_eq!(of_first, [there, back].concat());
}

#[test]
fn collective_names_are_unique_and_found() {
    let mut names: Vec<&str> = ALL.iter().map(|collective| collective.name).collect();
    for name in &names {
        let collective = find(name).unwrap();
        let plan = Plan { group: 4, ..plan(8, 4_096) };
        assert!(collective.build(&plan).is_ok(), "{name}");
    }
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), ALL.len(), "two collectives of one name");
    let error = find("all2all").unwrap_err().to_string();
    assert!(error.starts_with("unknown collective 'all2all'; expected one of all-to-all, "));
}

#[test]
fn every_collective_rejects_invalid_plans() {
    for collective in ALL {
        let error = |plan: &Plan| collective.build(plan).unwrap_err().to_string();
        let two = "a collective needs at least 2 ranks, found 1";
        assert_eq!(error(&plan(1, 8)), two, "{}", collective.name);
        assert!(error(&plan(2, 0)).starts_with("0 bytes per rank"));
        assert!(error(&Plan { chunks: 0, ..plan(4, 8) }).starts_with("0 chunks"));
        let mut twice = plan(3, 8);
        twice.ranks[2] = HostId(0);
        assert!(error(&twice).starts_with("host0 is both rank 0 and rank 2"));
    }
    for name in ["all-to-all", "ring-all-reduce", "direct-all-reduce"] {
        let error = |plan: &Plan| find(name).unwrap().build(plan).unwrap_err().to_string();
        assert!(error(&plan(3, u64::MAX)).contains("exceed 2^64 bytes"), "{name}");
        assert!(error(&plan(20_000, 1 << 20)).contains("the limit is 268435456"), "{name}");
    }
    for (ranks, group) in [(8, 3), (8, 8), (8, 1), (6, 4)] {
        let plan = Plan { group, ..plan(ranks, 8) };
        let error = find("hierarchical-all-reduce").unwrap().build(&plan).unwrap_err();
        assert_eq!(error, CollectiveError::InvalidGroup { ranks, group: group as usize });
    }
}

#[test]
fn blocks_differ_by_at_most_one_byte() {
    for (count, bytes) in [(2usize, 1), (3, 10), (7, 6), (5, 5)] {
        let blocks = crate::workload::equal_blocks(Bytes::new(bytes), count);
        assert_eq!(blocks.iter().map(|block| block.get()).sum::<u64>(), bytes);
        assert!(blocks[0].get() - blocks[count - 1].get() <= 1, "{blocks:?}");
    }
}

#[test]
fn rotated_channels_leave_and_enter_each_server_at_every_rank_once() {
    let (servers, size) = (3, 4);
    let plan = Plan { channels: 4, rotation: size, ..plan(servers * size as usize, 1 << 20) };
    let workload = find("ring-all-reduce").unwrap().build(&plan).unwrap();
    for channel in 0..plan.channels {
        let own = workload.messages.iter().filter(|message| message.stream == channel);
        let next: BTreeMap<u32, u32> = own.map(|it| (it.src.0, it.dst.0)).collect();
        // Following the ring from rank 0 visits every rank.
        let ring = std::iter::successors(Some(0), |rank| Some(next[rank])).take(next.len());
        assert_eq!(ring.collect::<BTreeSet<_>>().len(), servers * size as usize);
        let crossing = next.iter().filter(|(src, dst)| *src / size != *dst / size);
        let expected = (channel + size - 1) % size;
        assert!(crossing.clone().all(|(src, dst)| (src % size, dst % size) == (expected, channel)));
        assert_eq!(crossing.count(), servers);
    }
    let same = Plan { rotation: 1, ..plan.clone() };
    assert_ne!(find("ring-all-reduce").unwrap().build(&same).unwrap(), workload);
    let (load, _) = find("ring-all-reduce").unwrap().tally(&plan).unwrap();
    let sent = |of: &[crate::workload::Message], src| -> u64 {
        of.iter().filter(|it| it.src == HostId(src)).map(|it| it.bytes.get()).sum()
    };
    assert!((0..12).all(|rank| sent(&load, rank) == sent(&workload.messages, rank)));
    let error = find("ring-all-reduce").unwrap().build(&Plan { rotation: 5, ..plan }).unwrap_err();
    assert!(error.to_string().contains("12 ranks cannot be divided into servers of 5"), "{error}");
}
