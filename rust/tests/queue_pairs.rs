//! Numbers of queue pairs, computed without a simulation: as snapshots for large clusters, and
//! compared with the counts of NICs in runs of small ones.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use evenkeel::collective::{ALL, Collective, Plan};
use evenkeel::fabric::{self, Setup, Verdict};
use evenkeel::ids::HostId;
use evenkeel::scenario::{Overrides, Scenario};
use evenkeel::study::queue_pairs;
use evenkeel::units::Bytes;
use evenkeel::workload::Shift;

use crate::support::{extent, snapshot};

const POLICIES: [&str; 6] = ["ecmp", "subflow-4", "subflow-8", "ethereal", "line-cut", "spray"];

/// The fabrics of Ethereal's evaluation, and the same shapes with few hosts.
const LEAF_SPINE_256: &str = "leaves = 16\nspines = 16\nhosts_per_leaf = 16";
const FAT_TREE_512: &str = "kind = \"fat-tree\"\nk = 8\nfabric_rate = \"1600Gbps\"";
const LEAF_SPINE_16: &str = "leaves = 4\nspines = 4\nhosts_per_leaf = 4";
const FAT_TREE_16: &str = "kind = \"fat-tree\"\nk = 4";

fn setup(topology: &str, policy: &str) -> Setup {
    let text = format!(
        "[topology]\n{topology}\n[transport]\ncongestion_control = \"line-rate\"\n\
         [policy]\nname = \"{policy}\"\n[workload]\nkind = \"shift\"\n"
    );
    let scenario = Scenario::parse(&text, "queue-pairs", Path::new(""), &Overrides::default());
    scenario.unwrap_or_else(|error| panic!("{error}")).setup()
}

fn with(setup: &Setup, collective: &Collective, group: u32) -> Setup {
    let ranks: Vec<HostId> = (0..setup.topology.host_count()).map(HostId).collect();
    let bytes = Bytes::new(ranks.len() as u64 * 65_536);
    let plan = Plan { group, ..Plan::new(ranks, bytes) };
    Setup { workload: Arc::new(collective.build(&plan).unwrap()), ..setup.clone() }
}

/// A table with a row per collective: for each policy the most queue pairs of a NIC, and how many
/// of those are extra.
fn table(title: &str, topology: &str) -> String {
    let mut text =
        format!("{title}\nqueue pairs that a NIC sends on at most, and of those extra\n");
    write!(text, "{:<30}", "collective").unwrap();
    let plain: Vec<Setup> = POLICIES.iter().map(|policy| setup(topology, policy)).collect();
    // Policies that split no messages have no column of extra queue pairs.
    let cuts = |policy: &str| policy != "ecmp" && policy != "spray";
    for policy in POLICIES {
        write!(text, "{policy:>width$}", width = if cuts(policy) { 12 } else { 6 }).unwrap();
    }
    text.push('\n');
    for collective in ALL {
        write!(text, "{:<30}", collective.name).unwrap();
        for (policy, plain) in POLICIES.iter().zip(&plain) {
            let counts = queue_pairs(&with(plain, collective, 8)).counts;
            let (all, extra) = (counts.per_nic_max, counts.extra_per_nic_max);
            let cell =
                if cuts(policy) { format!("{all:>6} {extra:>5}") } else { format!("{all:>6}") };
            text += &cell;
            assert!(cuts(policy) || extra == 0, "{policy} cuts nothing");
        }
        text.push('\n');
    }
    text
}

#[test]
fn queue_pairs_of_every_collective_on_the_leaf_spine_of_256() {
    let table = table("256 GPUs, 16 leaves, 16 spines", LEAF_SPINE_256) + &published();
    snapshot("qps-leaf-spine-256", &table);
}

/// The numbers that Ethereal (arXiv 2407.00550 v2) gives for the same fabric, from a reader's
/// notes: the paper's own counting rule was not seen.
fn published() -> String {
    let both_ends = |policy: &str, name: &str| {
        let collective = evenkeel::collective::find(name).unwrap();
        queue_pairs(&with(&setup(LEAF_SPINE_256, policy), collective, 8)).both_ends_max
    };
    let subflows = both_ends("subflow-8", "all-to-all");
    assert_eq!(subflows, 2 * 255 * 8);
    // A step of halving-doubling across racks: every rank exchanges with the one 16 further.
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
         ethereal, double-binary-tree-all-reduce   {tree:>5}  published: 64 at the most\n\
         The paper's rule was not seen. Here a queue pair once opened counts for the\n\
         whole run: of halving-doubling, four steps that leave the rack add up.\n"
    )
}

#[test]
fn queue_pairs_of_every_collective_on_the_fat_tree_of_512() {
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
    let is_short = |policy: &&str| ["subflow-4", "ethereal"].contains(policy);
    for policy in extent::cases(test, POLICIES.to_vec(), is_short) {
        let plain = setup(topology, policy);
        for collective in ALL {
            let setup = with(&plain, collective, 4);
            let outcome = fabric::run(&setup, &mut |_| {});
            assert_eq!(outcome.verdict, Verdict::Completed);
            let name = collective.name;
            let counted = queue_pairs(&setup);
            assert_eq!(counted.counts, outcome.qps, "{name} under {policy}, {topology}");
            let both_ends = outcome.qp_accounts.iter().map(|account| account.opened).max();
            assert_eq!(Some(counted.both_ends_max), both_ends, "{name} under {policy}");
        }
    }
}
