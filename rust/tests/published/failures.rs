//! Failures (arXiv 2507.21372 v2, figures 3 to 5; v1 for links that lose most of their rate). 1 %
//! of the links of a k = 8 fat-tree are down from the start. Routing converges immediately, after
//! some round trips, or never. Every sender limits itself to the rate that even splitting over the
//! remaining paths can carry (rho_max), like the paper's ideal congestion control.

use evenkeel::balance::Weights;
use evenkeel::fabric::{self, Outcome, Setup, Verdict};
use evenkeel::ids::LinkId;
use evenkeel::nic::congestion::{CongestionControl, line_rate};
use evenkeel::study::lower_bound;
use evenkeel::topology::Routes;
use evenkeel::units::{Bytes, Fraction, Span};

use super::run::{complete, setup, side_by_side};
use crate::support::{self, extent, screen};

const SEEDS: [u64; 4] = [1, 2, 3, 4];
/// Longer than every time limit: routing never converges.
const NEVER: Span = Span::MAX;

/// A policy and the weights of next hops.
type Row = (&'static str, Weights);

/// Returns the setup of an example with failures at rho_max, and the shortest time possible at this
/// rate.
fn at_rho_max(example: &str, (policy, weights): Row, seed: u64) -> (Setup, Span) {
    let mut setup = setup(example, policy, seed);
    setup.scheme.weights = weights;
    let share = rho_max(&setup);
    setup.nic.congestion = CongestionControl::LineRate(line_rate::Config { share });
    let one = lower_bound(&with_bytes(&setup, Bytes::new(4_096))).time;
    let packets = setup.workload.messages[0].bytes.get() / 4_096;
    let packet = setup.topology.links()[0].rate.scaled(share).time_for(Bytes::new(4_158));
    (setup, one + packet * (packets - 1))
}

fn with_bytes(setup: &Setup, bytes: Bytes) -> Setup {
    let mut setup = setup.clone();
    let workload = std::sync::Arc::make_mut(&mut setup.workload);
    workload.messages.iter_mut().for_each(|message| message.bytes = bytes);
    setup
}

/// Returns the largest common rate, as a fraction of line rate, if each message is divided evenly
/// over its remaining paths.
fn rho_max(setup: &Setup) -> Fraction {
    let routes = Routes::new(&setup.topology, &|_| true);
    let is_down = |link: LinkId| setup.fabric.failures.iter().any(|it| it.link == link);
    let mut load = vec![0.0f64; 2 * setup.topology.links().len()];
    for message in &setup.workload.messages {
        let (src, dst) = (message.src, message.dst);
        let paths = (0..routes.path_count(src, dst)).map(|it| routes.path_ports(src, dst, it));
        let alive = |path: &Vec<evenkeel::ids::PortId>| !path.iter().any(|it| is_down(it.link()));
        let paths: Vec<_> = paths.filter(alive).collect();
        for port in paths.iter().flatten() {
            load[port.index()] += 1.0 / paths.len() as f64;
        }
    }
    let most = load.into_iter().fold(0.0, f64::max);
    Fraction::new((1e6 / most) as u32, 1_000_000).expect("a million is not zero")
}

/// Returns the completion time in microseconds, its excess over the shortest time, and the number
/// of lost packets.
fn measured(example: &str, row: Row, seed: u64) -> Option<[f64; 3]> {
    let (setup, least) = at_rho_max(example, row, seed);
    let outcome: Outcome = fabric::run(&setup, &mut |_| {});
    let cct = outcome.cct.filter(|_| outcome.verdict == Verdict::Completed)?.as_ns_f64();
    assert!(cct >= least.as_ns_f64(), "{} beats the least: {cct}", row.0);
    Some([cct / 1e3, 100.0 * (cct / least.as_ns_f64() - 1.0), outcome.counters.dropped as f64])
}

/// Returns the means over the seeds; `None` if a run did not complete.
fn mean(runs: &[Option<[f64; 3]>]) -> Option<[f64; 3]> {
    let runs = runs.iter().copied().collect::<Option<Vec<_>>>()?;
    Some([0, 1, 2].map(|it| runs.iter().map(|run| run[it]).sum::<f64>() / runs.len() as f64))
}

fn label((policy, weights): Row) -> String {
    match weights {
        Weights::Capacity if policy != "wcmp" => format!("{policy}, weights"),
        _ => policy.to_owned(),
    }
}

/// Returns true for rows that run by default.
fn is_short(row: &Row) -> bool {
    row.0 == "reps"
}

/// Returns the table of an example and the means of its rows. `None` if only some rows ran; these
/// were already compared with the snapshot.
fn table(example: &str, all: &[Row], head: &str) -> Option<(String, Vec<Option<[f64; 3]>>)> {
    let snapshot = format!("published-{}", example.trim_end_matches(".toml"));
    let kept = extent::cases(&format!("published::{snapshot}"), all.to_vec(), is_short);
    let jobs: Vec<(Row, u64)> =
        kept.iter().flat_map(|&row| SEEDS.map(|seed| (row, seed))).collect();
    let runs = side_by_side(&jobs, |&(row, seed)| measured(example, row, seed));
    let means: Vec<_> = runs.chunks(SEEDS.len()).map(mean).collect();
    let mut text =
        format!("{head}\n{:<28}{:>9}{:>14}{:>10}\n", "policy", "CCT us", "over least", "lost");
    for (row, mean) in kept.iter().zip(&means) {
        text += &match mean {
            Some([cct, over, lost]) => {
                format!("{:<28}{cct:>9.1}{:>14}{lost:>10.0}\n", label(*row), format!("{over:.1} %"))
            }
            None => format!("{:<28}{:>9}{:>14}{:>10}\n", label(*row), "never", "-", "-"),
        };
    }
    if kept.len() < all.len() {
        support::rows(&snapshot, &text);
        return None;
    }
    Some((text, means))
}

/// Returns rows of policies with their default weights.
fn plain(policies: &[&'static str]) -> Vec<Row> {
    policies.iter().map(|&policy| (policy, Weights::Equal)).collect()
}

/// Figure 3: REPS is clearly the best. Spraying policies lose a fraction of their packets until the
/// end. A flow hashed onto a failed link stays on it.
#[test]
fn without_routing_reps_is_fastest_and_hashed_flows_never_complete() {
    let rows = plain(&[
        "reps",
        "spray",
        "spray-rr",
        "bitmap",
        "switch-rr-shuffled",
        "switch-random",
        "adaptive",
        "host-dr",
        "ofan",
        "plb",
        "ethereal",
        "line-cut",
        "subflow-4",
        "ecmp",
    ]);
    let head = "Permutation of 1 MiB, k = 8, 800 Gbps, 1 % of links down, no convergence";
    let Some((text, means)) = table("failures-never.toml", &rows, head) else { return };
    let [reps, others @ .., subflow, ecmp] = &means[..] else { panic!("more rows than that") };
    assert_eq!((subflow, ecmp), (&None, &None), "{text}");
    let [first, over, _] = reps.expect("it completes");
    for other in others {
        let [cct, over_of_other, _] = other.expect("they complete");
        assert!(first < 0.92 * cct && over < 0.8 * over_of_other, "{text}");
    }
    let note = "paper: REPS clearly best (v2, figure 3; values not available). Means of 4 seeds.\n";
    screen("published-failures-never", &(text + note));
}

/// Figure 5, at 1 %: host and switch spraying perform about equally.
#[test]
fn host_and_switch_spraying_are_equal_after_immediate_convergence() {
    let mut rows = plain(&["spray", "switch-random", "switch-rr-shuffled", "adaptive", "reps"]);
    let weighted = ["spray", "switch-random", "switch-rr-shuffled", "host-dr", "ofan", "wcmp"];
    rows.extend(weighted.map(|policy| (policy, Weights::Capacity)));
    rows.extend(plain(&["ethereal", "line-cut", "ecmp"]));
    let head = "Permutation of 1 MiB, k = 8, 800 Gbps, 1 % of links down, immediate convergence";
    let Some((text, means)) = table("failures-instant.toml", &rows, head) else { return };
    let cct: Vec<f64> = means.iter().map(|mean| mean.expect("all complete")[0]).collect();
    for [host, switch] in [[0, 1], [5, 6]] {
        assert!((cct[host] / cct[switch] - 1.0).abs() < 0.03, "{text}");
        assert_eq!(means[host].map(|it| it[2]), Some(0.0), "{text}");
    }
    // At rho_max, random sprays lose more than weights can compensate; rotations are exact.
    for rotation in [8, 9] {
        assert!(means[rotation].is_some_and(|[_, over, _]| over < 4.0), "{text}");
        assert!(cct[rotation] < cct[..8].iter().copied().fold(f64::MAX, f64::min), "{text}");
    }
    let note = "paper: host and switch spraying about equal (v2, figure 5). Means of 4 seeds.\n";
    screen("published-failures-instant", &(text + note));
}

#[test]
fn routing_helps_a_short_permutation_only_within_about_a_round_trip() {
    if extent::is_left_out("published::failures, routing") {
        return;
    }
    let us = |us: f64| Span::from_ns((us * 1e3) as u64);
    // One round trip of the longest path at 800 Gbps: six links of 500 ns each way and 4,222 bytes.
    let times = [Some(0.0), Some(6.3), Some(63.0), None];
    let mut rows = plain(&["spray"]);
    rows.extend([("spray", Weights::Capacity), ("ofan", Weights::Capacity)]);
    rows.extend(plain(&["reps"]));
    let count = rows.len();
    let rows = extent::cases("published::failures, convergence", rows, |row| row.0 == "ofan");
    let jobs: Vec<_> = rows
        .iter()
        .flat_map(|&row| times.map(|time| (row, time.map_or(NEVER, us))))
        .flat_map(|(row, time)| SEEDS.map(|seed| (row, time, seed)))
        .collect();
    let runs = side_by_side(&jobs, |&(row, time, seed)| {
        let (mut setup, _) = at_rho_max("failures-never.toml", row, seed);
        setup.fabric.failures.iter_mut().for_each(|it| it.convergence = time);
        let outcome = fabric::run(&setup, &mut |_| {});
        Some([outcome.cct?.as_ns_f64() / 1e3, 0.0, 0.0])
    });
    let means: Vec<_> = runs.chunks(SEEDS.len()).map(mean).collect();
    let mut text = "Permutation of 1 MiB, 1 % of links down: CCT in us by when routing converges\n\
                    policy             immediately   after 1 RTT  after 10 RTT         never\n"
        .to_owned();
    for (row, means) in rows.iter().zip(means.chunks(times.len())) {
        let cell =
            |mean: &Option<[f64; 3]>| mean.map_or("-".to_owned(), |it| format!("{:.1}", it[0]));
        let cells: Vec<String> = means.iter().map(|it| format!("{:>14}", cell(it))).collect();
        text += &format!("{:<16}{}\n", label(*row), cells.concat());
    }
    if rows.len() < count {
        return support::rows("published-failures-convergence", &text);
    }
    // REPS avoids failed paths with and without routing.
    for means in means.chunks(times.len()).take(3) {
        let [at_once, soon, late, never] =
            [0, 1, 2, 3].map(|it| means[it].expect("all complete")[0]);
        assert!(at_once < soon && soon < never && late > 0.97 * never, "{text}");
    }
    let note = "paper: routing within about 1 RTT helps (v2, figure 4). Means of 4 seeds.\n";
    screen("published-failures-convergence", &(text + note));
}

/// The figure of v1: with two links that lose 90 % of their rate, adaptive ECMP is 77 % better than
/// static ECMP. Its links, workload and transport are unknown; this test uses the all-to-all of the
/// paper's other figures.
#[test]
fn weights_recover_most_of_ecmps_loss_to_two_slow_links() {
    if extent::is_left_out("published::failures, weights") {
        return;
    }
    let cct = side_by_side(&["ecmp", "wcmp"], |policy| {
        let outcome = complete(&setup("slow-links.toml", policy, 1));
        outcome.cct.expect("it completed").as_ns_f64() / 1e3
    });
    let better = 100.0 * (1.0 - cct[1] / cct[0]);
    let text = format!(
        "All-to-all of 4 MiB per host, k = 8, two links at a tenth of their rate\n\
         static ECMP    {:>8.1} us\nadapted (wcmp) {:>8.1} us\n\
         better by      {better:>8.1} %   paper (v1): 77 %; one seed\n",
        cct[0], cct[1]
    );
    assert!((70.0..85.0).contains(&better), "{text}");
    screen("published-failures-slow-links", &text);
}
