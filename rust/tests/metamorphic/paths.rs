//! Paths: all policies behave alike with a single path, more paths are never slower, and equal
//! senders get equal results.

use std::ops::RangeInclusive;

use evenkeel::balance;
use evenkeel::fabric::{self, Outcome, Setup};
use evenkeel::scenario::Scenario;
use evenkeel::units::Span;

use super::draft::Draft;
use super::outcome::equal;
use super::relation::{Case, CheckResult, Failure, Relation, defined, require, resolved, seen};
use super::statistics::{error_of_difference, mean, unequal};

pub(super) const RELATIONS: &[Relation] = &[
    Relation {
        name: "one-path",
        says: "Policies do not matter on a fabric of one path.",
        fault: "the fabric has a second spine",
        check: one_path,
    },
    Relation {
        name: "more-spines",
        says: "More spines, without a failure, are never slower on average.",
        fault: "they are slower spines",
        check: more_spines,
    },
    Relation {
        name: "shares-by-capacity",
        says: "With weights by capacity, links to the same switches carry bytes by their rates.",
        fault: "the weights are equal",
        check: |case| shares_by_capacity(case, &["leaf0-spine1"]),
    },
    Relation {
        name: "shares-by-capacity-of-paths",
        says: "With weights by capacity, a path of two slow links counts as its slowest link.",
        fault: "the weights are equal",
        check: |case| shares_by_capacity(case, &["leaf0-spine1", "leaf1-spine1"]),
    },
    Relation {
        name: "symmetric-incast",
        says: "Symmetric senders of an incast lose the same share of packets, over ten seeds.",
        fault: "one sender is ahead of the others",
        check: symmetric_incast,
    },
];

/// Returns true for policies that differ from `ecmp` only in their paths: no pieces, delays,
/// windows or headers of their own.
fn send_alike(name: &str) -> bool {
    let is_alone = ["mrc", "mp-rdma", "ethereal", "line-cut", "valiant", "ugal", "reps-legacy"];
    !is_alone.contains(&name) && !name.starts_with("subflow")
}

fn one_path(case: &Case) -> CheckResult {
    let mut draft = case.draft.clone();
    draft.leaf_spine().one_workload().remove("failure").short(50_000);
    draft.set("topology.spines", 1).set("topology.parallel_links", 1);
    draft.set("transport.recovery", "per-packet");
    draft.replace("policy", "name = 'ecmp'");
    // Queue pairs with a datacenter transport, trimming and marking: all alike.
    let base = seen(&resolved(&draft)?.setup());
    let names: Vec<&str> =
        balance::presets().map(|it| it.name).filter(|it| send_alike(it)).collect();
    let first = draft.count("seed", 1) as usize;
    for offset in 0..4 {
        let name = names[(first * 7 + offset * 11) % names.len()];
        let mut other = draft.clone();
        other.set("policy.name", name);
        if case.is_faulty {
            other.set("topology.spines", 3).set("topology.fabric_rate", "3Gbps");
        }
        let Some(scenario) = other.scenario() else { continue };
        equal(&base, &seen(&scenario.setup())).map_err(|failure| match failure {
            Failure::Broken(reason) => Failure::Broken(format!("{name}: {reason}")),
            undefined => undefined,
        })?;
    }
    Ok(())
}

/// Returns the completion times of ten seeds; the time limit for incomplete runs.
fn completion_times(draft: &Draft) -> Result<Vec<f64>, Failure> {
    let scenario = resolved(draft)?;
    let of_seed = |seed: u64| {
        let setup = defined(scenario.with_seed(seed).ok())?.setup();
        let outcome = fabric::run(&setup, &mut |_| {});
        let limit = Span::from_ps(setup.time_limit.as_ps());
        Ok(outcome.cct.unwrap_or(limit).as_ns_f64())
    };
    (1..=10).map(of_seed).collect()
}

fn more_spines(case: &Case) -> CheckResult {
    let mut draft = case.draft.clone();
    draft.leaf_spine().remove("failure").short(30_000);
    // With retransmission timers below the queueing delay, any comparison is a matter of luck.
    draft.calm().set("switch.trim", false).set("transport.recovery", "per-packet");
    draft.remove("switch.port_buffer").remove("switch.cbfc").set("switch.buffer", "64MB");
    draft.remove("switch.pfc");
    // With more spines, pinned pieces use more queue pairs, each of which waits for a grant of 16
    // KiB.
    require(draft.name("transport.congestion_control") != "rccc")?;
    let spines = draft.count("topology.spines", 2);
    let mut wider = draft.clone();
    wider.set("topology.spines", 2 * spines);
    if case.is_faulty {
        wider.set("topology.fabric_rate", "1Gbps");
    }
    let [few, many] = [completion_times(&draft)?, completion_times(&wider)?];
    let [a, b] = [mean(&few), mean(&many)];
    let error = error_of_difference(&few, &many);
    match b <= a * 1.05 + 5.0 * error {
        true => Ok(()),
        false => Err(Failure::Broken(format!(
            "{spines} spines take {a:.0} ns on average, twice as many {b:.0} ns (± {error:.0})"
        ))),
    }
}

/// Returns true for policies that choose next hops for packets or flows by weight.
fn takes_weights(name: &str) -> bool {
    // Policies that follow queues or feedback share the load by what they observe.
    let adaptive = ["jsq", "plane-jsq", "adaptive", "drill", "drill-by-destination"];
    send_alike(name) && !adaptive.contains(&name)
}

/// Returns a fabric of two spines; the links of the second have a third of the rate of the first.
fn two_spines(case: &Case, slow: &[&str]) -> Result<Draft, Failure> {
    let mut draft = case.draft.clone();
    let policy = draft.name("policy.name").to_owned();
    require(takes_weights(&policy) || ["ethereal", "line-cut"].contains(&policy.as_str()))?;
    draft.leaf_spine().remove("failure").one_workload();
    for (key, value) in [("leaves", 2), ("spines", 2), ("hosts_per_leaf", 8)] {
        draft.set(&format!("topology.{key}"), value);
    }
    draft.set("topology.parallel_links", 1).set("topology.host_rate", "25Gbps");
    draft.set("topology.fabric_rate", "400Gbps");
    let weights = if case.is_faulty { "equal" } else { "capacity" };
    draft.replace("policy", &format!("name = '{policy}'\nweights = '{weights}'"));
    draft.replace("workload", "kind = 'shift'\nshift = 8\nbytes = '40000B'");
    draft.set("switch.buffer", "64MB").remove("switch.port_buffer").remove("switch.pfc");
    draft.remove("switch.cbfc").set("transport.congestion_control", "line-rate");
    draft.remove("transport.parameters").set("transport.payload", "1000B");
    draft.calm().set("transport.recovery", "per-packet").set("switch.trim", false);
    for link in slow {
        let keys = "kind = 'degrade'\nfactor = '1/3'\nat = '0ps'\nconvergence = '0ps'";
        draft.push("failure", &format!("link = '{link}'\n{keys}"));
    }
    Ok(draft)
}

/// Number of seeds of a run with eight flows. A flow takes the slow spine with probability 1/4, so
/// five standard deviations of the share are 0.11.
const SEEDS: u64 = 48;
const DEVIATION: f64 = 0.11;

fn shares_by_capacity(case: &Case, slow: &[&str]) -> CheckResult {
    let scenario = resolved(&two_spines(case, slow)?)?;
    let (mut fast, mut behind) = (0, 0);
    for seed in 1..=SEEDS {
        let setup = defined(scenario.with_seed(seed).ok())?.setup();
        let carried = uplinks(&setup, &fabric::run(&setup, &mut |_| {}));
        (fast, behind) = (fast + carried[0], behind + carried[1]);
    }
    let share = behind as f64 / (fast + behind) as f64;
    match (share - 0.25).abs() < DEVIATION {
        true => Ok(()),
        false => Err(Failure::Broken(format!(
            "{}: a quarter of the capacity carries {share:.3} of the bytes",
            scenario.scheme.name
        ))),
    }
}

/// Returns the bytes that left the first leaf towards each spine.
fn uplinks(setup: &Setup, outcome: &Outcome) -> [u64; 2] {
    ["leaf0-spine0", "leaf0-spine1"].map(|name| {
        let names = setup.topology.link_names();
        let link = names.iter().position(|it| it == name).expect("the fabric has two spines");
        outcome.link_bytes[2 * link].get().max(outcome.link_bytes[2 * link + 1].get())
    })
}

/// Bytes per sender of an incast: 1,000 packets of 1,062 bytes on the wire.
const SENT: u64 = 1_062_000;
const PACKET: u64 = 1_062;

/// Maximum difference in the losses of equal senders, as a share of the packets.
const EQUAL: f64 = 0.02;

fn symmetric_incast(case: &Case) -> CheckResult {
    let mut draft = case.draft.clone();
    draft.leaf_spine().remove("failure").one_workload().set("time_limit", "100ms");
    let senders = 2 + draft.count("seed", 1) % 7;
    for (key, value) in [("leaves", 1), ("spines", 1), ("hosts_per_leaf", senders + 1)] {
        draft.set(&format!("topology.{key}"), value);
    }
    draft.set("topology.host_rate", "100Gbps").replace("policy", "name = 'ecmp'");
    draft.replace("switch", "port_buffer = '50KB'");
    draft.replace("workload", "kind = 'incast'\nbytes = '1000000B'");
    draft.set("workload.fan_in", senders);
    draft.replace("transport", "congestion_control = 'line-rate'\npayload = '1000B'");
    draft.set("transport.recovery", "per-packet");
    let scenario = defined(draft.scenario())?;
    let few = sent_again(case, &scenario, 1..=10)?;
    let mut senders: Vec<usize> = (0..few.len()).collect();
    senders.sort_by(|&a, &b| mean(&few[a]).total_cmp(&mean(&few[b])));
    let (least, most) = (senders[0], senders[senders.len() - 1]);
    if mean(&few[most]) - mean(&few[least]) <= EQUAL * mean(&few[most]) {
        return Ok(());
    }
    // The two senders are chosen before running these seeds.
    let many = sent_again(case, &scenario, 10_001..=10_040)?;
    match unequal(&many[most], &many[least], EQUAL) {
        None => Ok(()),
        Some(difference) => Err(Failure::Broken(format!(
            "packets retransmitted by two equal senders: {difference}"
        ))),
    }
}

/// Returns the number of retransmitted packets by sender and seed.
fn sent_again(
    case: &Case,
    scenario: &Scenario,
    seeds: RangeInclusive<u64>,
) -> Result<Vec<Vec<f64>>, Failure> {
    let mut by_sender = Vec::new();
    for seed in seeds {
        let mut setup = defined(scenario.with_seed(seed).ok())?.setup();
        if case.is_faulty {
            ahead(&mut setup);
        }
        let outcome = fabric::run(&setup, &mut |_| {});
        by_sender.resize(setup.workload.messages.len(), Vec::new());
        for (lost, message) in by_sender.iter_mut().zip(&setup.workload.messages) {
            let port = setup.topology.host_port(message.src);
            let bytes = outcome.link_bytes[port.index()].get().saturating_sub(SENT);
            lost.push((bytes / PACKET) as f64);
        }
    }
    Ok(by_sender)
}

/// Starts the first message before the others.
fn ahead(setup: &mut Setup) {
    let mut workload = (*setup.workload).clone();
    for message in workload.messages.iter_mut().skip(1) {
        message.start = message.start.saturating_add(Span::from_us(20));
    }
    setup.workload = workload.into();
}
