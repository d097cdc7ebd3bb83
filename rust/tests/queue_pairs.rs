//! Numbers of queue pairs, as snapshots for large clusters. Where they follow from the messages
//! alone, small clusters compare them with the NICs' counts in runs.

use std::fmt::Write as _;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;

use evenkeel::collective::{ALL, Collective, Plan};
use evenkeel::fabric::{self, QpCounts, Setup, Verdict};
use evenkeel::ids::HostId;
use evenkeel::pattern::Shift;
use evenkeel::scenario::{Overrides, Scenario};
use evenkeel::study::{self, CountMethod, QueuePairs};
use evenkeel::units::Bytes;

use crate::support::{extent, snapshot};

const POLICIES: [&str; 6] = ["ecmp", "subflow-4", "subflow-8", "ethereal", "line-cut", "spray"];

/// The fabrics of Ethereal's evaluation, and the same shapes with few hosts.
const LEAF_SPINE_256: &str = "leaves = 16\nspines = 16\nhosts_per_leaf = 16";
const FAT_TREE_512: &str = "kind = \"fat-tree\"\nk = 8\nfabric_rate = \"1600Gbps\"";
const LEAF_SPINE_16: &str = "leaves = 4\nspines = 4\nhosts_per_leaf = 4";
const FAT_TREE_16: &str = "kind = \"fat-tree\"\nk = 4";

fn queue_pairs(setup: &Setup) -> QueuePairs {
    study::queue_pairs(setup, &mut |_| {})
}

/// Returns true for policies whose flows use idle queue pairs: only a simulation can count them.
fn is_pinned(policy: &str) -> bool {
    ["ethereal", "line-cut"].contains(&policy)
}

fn setup(topology: &str, policy: &str) -> Setup {
    // The pieces of a one-packet block are shorter than a packet.
    let smallest = if is_pinned(policy) { "smallest_piece = \"1B\"\n" } else { "" };
    let text = format!(
        "[topology]\n{topology}\n[transport]\ncongestion_control = \"line-rate\"\n\
         [policy]\nname = \"{policy}\"\n{smallest}[workload]\nkind = \"shift\"\n"
    );
    let scenario = Scenario::parse(&text, "queue-pairs", Path::new(""), &Overrides::default());
    scenario.unwrap_or_else(|error| panic!("{error}")).setup()
}

/// Division of a collective.
#[derive(Clone, Copy)]
struct Division {
    group: u32,
    channels: u32,
    chunks: u32,
}

const WHOLE: Division = Division { group: 8, channels: 1, chunks: 1 };

/// Returns the collective with a block of `block` bytes per rank.
fn with(setup: &Setup, collective: &Collective, block: u64, division: Division) -> Setup {
    let ranks: Vec<HostId> = (0..setup.topology.host_count()).map(HostId).collect();
    let bytes = Bytes::new(ranks.len() as u64 * block);
    let Division { group, channels, chunks } = division;
    let plan = Plan { group, channels, chunks, ..Plan::new(ranks, bytes) };
    Setup { workload: Arc::new(collective.build(&plan).unwrap()), ..setup.clone() }
}

/// Returns the counts of a collective on a large cluster. Blocks of one packet keep simulations
/// short.
fn of_collective(plain: &Setup, policy: &str, collective: &Collective) -> QueuePairs {
    let block = if is_pinned(policy) { 4_096 } else { 65_536 };
    queue_pairs(&with(plain, collective, block, WHOLE))
}

/// Returns a table with one row per collective: for each policy, the maximum number of queue pairs
/// of a NIC and how many of those are extra.
fn table(title: &str, topology: &str) -> String {
    let mut text =
        format!("{title}\nmost sending queue pairs of a NIC, and how many of them are extra\n");
    write!(text, "{:<30}", "collective").unwrap();
    let plain: Vec<Setup> = POLICIES.iter().map(|policy| setup(topology, policy)).collect();
    // Policies that do not split messages have no column for extra queue pairs.
    let cuts = |policy: &str| policy != "ecmp" && policy != "spray";
    for policy in POLICIES {
        write!(text, "{policy:>width$}", width = if cuts(policy) { 12 } else { 6 }).unwrap();
    }
    text.push('\n');
    let count = ALL.len() * POLICIES.len();
    let threads = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    let cells = study::map_in_order(count, threads, |index| {
        let (collective, which) = (&ALL[index / POLICIES.len()], index % POLICIES.len());
        let policy = POLICIES[which];
        let counts = of_collective(&plain[which], policy, collective).counts;
        let (all, extra) = (counts.per_nic_max, counts.extra_per_nic_max);
        assert!(cuts(policy) || extra == 0, "{policy} cuts nothing");
        if cuts(policy) { format!("{all:>6} {extra:>5}") } else { format!("{all:>6}") }
    });
    for (collective, row) in ALL.iter().zip(cells.chunks(POLICIES.len())) {
        writeln!(text, "{:<30}{}", collective.name, row.concat()).unwrap();
    }
    text
}

#[test]
fn queue_pairs_of_every_collective_on_the_leaf_spine_of_256() {
    if extent::is_left_out("queue_pairs::on_the_leaf_spine_of_256") {
        return;
    }
    let table = table("256 GPUs, 16 leaves, 16 spines", LEAF_SPINE_256) + &published();
    snapshot("qps-leaf-spine-256", &table);
}

/// Returns the numbers that Ethereal (arXiv 2407.00550 v2) gives for the same fabric, from a
/// reader's notes; the paper's own counting rule was not available.
fn published() -> String {
    let both_ends = |policy: &str, name: &str| {
        let collective = evenkeel::collective::find(name).unwrap();
        of_collective(&setup(LEAF_SPINE_256, policy), policy, collective).both_ends_max
    };
    let subflows = both_ends("subflow-8", "all-to-all");
    assert_eq!(subflows, 2 * 255 * 8);
    // A step of halving-doubling across racks: every rank exchanges with the rank 16 further.
    let shift = Shift { hosts: 256, shift: 16, bytes: Bytes::new(65_536) };
    let workload = Arc::new(shift.build().unwrap());
    let step = Setup { workload, ..setup(LEAF_SPINE_256, "ethereal") };
    let step = queue_pairs(&step).both_ends_max;
    assert_eq!(step, 2 * 16);
    let tree = both_ends("ethereal", "double-binary-tree-all-reduce");
    format!(
        "both ends of a queue pair counted, each at its own NIC:\n\
         subflow-8, all-to-all                     {subflows:>5}  published: more than 4,000\n\
         ethereal, a step to the next rack         {step:>5}  published: at most 32\n\
         ethereal, double-binary-tree-all-reduce   {tree:>5}  published: at most 64\n\
         The paper's counting rule is not published. Here a queue pair, once opened,\n\
         counts for the whole run: four steps of halving-doubling leave the rack.\n"
    )
}

#[test]
fn queue_pairs_of_every_collective_on_the_fat_tree_of_512() {
    if extent::is_left_out("queue_pairs::on_the_fat_tree_of_512") {
        return;
    }
    snapshot("qps-fat-tree-512", &table("512 GPUs, fat-tree of k = 8", FAT_TREE_512));
}

#[test]
fn runs_on_a_leaf_spine_count_the_same_queue_pairs() {
    runs_count_the_same("queue_pairs::runs_on_a_leaf_spine", LEAF_SPINE_16);
}

#[test]
fn runs_on_a_fat_tree_count_the_same_queue_pairs() {
    runs_count_the_same("queue_pairs::runs_on_a_fat_tree", FAT_TREE_16);
}

fn runs_count_the_same(test: &str, topology: &str) {
    let counted = POLICIES.iter().filter(|policy| !is_pinned(policy));
    let divisions = [(1, 1), (2, 3), (3, 1), (1, 4)];
    let cases = counted.flat_map(|policy| divisions.map(|division| (*policy, division)));
    let is_short = |case: &(&str, (u32, u32))| ["subflow-4", "ecmp"].contains(&case.0);
    for (policy, (channels, chunks)) in extent::cases(test, cases.collect(), is_short) {
        let plain = setup(topology, policy);
        for collective in ALL {
            let division = Division { group: 4, channels, chunks };
            let setup = with(&plain, collective, 20_000, division);
            let outcome = fabric::run(&setup, &mut |_| {});
            assert_eq!(outcome.verdict, Verdict::Completed);
            let case = format!(
                "{}, {channels} channels, {chunks} chunks under {policy}, {topology}",
                collective.name
            );
            let counted = queue_pairs(&setup);
            assert_eq!(counted.method, CountMethod::Messages, "{case}");
            let in_use_per_nic_max = outcome.qps.in_use_per_nic_max;
            let in_use_per_peer_max = outcome.qps.in_use_per_peer_max;
            assert!(0 < in_use_per_nic_max && in_use_per_nic_max <= outcome.qps.per_nic_max);
            let in_run = QpCounts { in_use_per_nic_max, in_use_per_peer_max, ..counted.counts };
            assert_eq!(in_run, outcome.qps, "{case}");
            let both_ends = outcome.qp_accounts.iter().map(|account| account.opened).max();
            assert_eq!(Some(counted.both_ends_max), both_ends, "{case}");
        }
    }
}

/// A direct exchange of 64 hosts with the window of later versions of Ethereal's simulator: 8 flows
/// to each of 7 other racks, and 7 within the rack, which do not wait.
#[test]
fn a_window_bounds_the_queue_pairs_in_use() {
    let in_use = |window: u32| {
        let text = format!(
            "[topology]\nleaves = 8\nspines = 8\nhosts_per_leaf = 8\n\
             [transport]\ncongestion_control = \"line-rate\"\n\
             [policy]\nname = \"ethereal\"\nqp_window = {window}\n\
             [workload]\nkind = \"all-to-all\"\nbytes = \"512KiB\"\n"
        );
        let scenario = Scenario::parse(&text, "window", Path::new(""), &Overrides::default());
        let outcome = fabric::run(&scenario.unwrap().setup(), &mut |_| {});
        assert_eq!(outcome.verdict, Verdict::Completed);
        outcome.qps.in_use_per_nic_max
    };
    assert_eq!(in_use(0), 63);
    assert!((8..=16 + 7).contains(&in_use(16)), "{}", in_use(16));
    assert!((24..=32 + 7).contains(&in_use(32)), "{}", in_use(32));
}
