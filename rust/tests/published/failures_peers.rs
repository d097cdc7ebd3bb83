//! Failures compared with two other simulators, on the same cables at the same times: REPS's
//! artifact (tommasobo/REPS_EuroSys_Artifact at b7515887) and uet-htsim (ultraethernet/uet-htsim at
//! 40ccb052). Both were run for this comparison. `docs/reproduce/published.txt` has the command
//! lines and the additions to both.

use evenkeel::fabric::{Direction, Failure, FailureKind, Setup, TieOrder};
use evenkeel::ids::PortId;
use evenkeel::nic::AckRange;
use evenkeel::nic::congestion::{CongestionControl, dctcp_window, nscc};
use evenkeel::units::{Fraction, Span, Time};

use super::run::{complete, setup, side_by_side};
use crate::support::{extent, screen};

const EXAMPLE: &str = "failing-cables.toml";
const SEEDS: [u64; 3] = [1, 2, 3];
/// Maximum relative difference from either simulator: of the means, and of the slowest flows.
const AT_MOST: [f64; 2] = [0.05, 0.12];
const POLICIES: [&str; 2] = ["spray", "reps"];

/// The example's cables, and four others.
const TEN: &[&str] = &[
    "leaf0-spine3",
    "leaf1-spine6",
    "leaf3-spine1",
    "leaf4-spine4",
    "leaf6-spine0",
    "leaf8-spine7",
    "leaf9-spine2",
    "leaf11-spine5",
    "leaf13-spine3",
    "leaf14-spine6",
];
const FOUR: &[&str] = &["leaf0-spine1", "leaf5-spine3", "leaf9-spine6", "leaf12-spine4"];

/// Failure of the cables of a case.
#[derive(Debug, Clone, Copy)]
enum Fails {
    /// Dead from and until these times, in microseconds.
    Dead(u64, u64),
    /// At half their rate.
    Half,
    /// At half their rate from leaf to spine.
    HalfUp,
}

/// The other simulators.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Peer {
    Artifact,
    Uet,
}

/// Mean and largest flow completion time in microseconds: medians over three seeds.
type Times = [f64; 2];

struct Case {
    name: &'static str,
    cables: &'static [&'static str],
    fails: Fails,
    /// Times of the artifact and of uet-htsim, each for spray and reps.
    theirs: [[Times; 2]; 2],
}

const CASES: &[Case] = &[
    Case {
        name: "none",
        cables: &[],
        fails: Fails::Half,
        theirs: [[[186.8, 194.4], [183.4, 184.8]], [[186.5, 191.9], [183.4, 185.1]]],
    },
    Case {
        name: "1 dead",
        cables: &["leaf0-spine3"],
        fails: Fails::Dead(0, u64::MAX),
        theirs: [[[445.4, 2_630.0], [185.9, 216.0]], [[221.9, 601.4], [187.7, 227.7]]],
    },
    Case {
        name: "10 dead",
        cables: TEN,
        fails: Fails::Dead(0, u64::MAX),
        theirs: [[[4_239.5, 11_053.0], [197.3, 243.7]], [[465.2, 882.6], [197.8, 243.2]]],
    },
    Case {
        name: "4 dead for 50 us",
        cables: FOUR,
        fails: Fails::Dead(50, 100),
        theirs: [[[204.0, 374.6], [188.4, 229.6]], [[194.4, 251.8], [187.8, 230.7]]],
    },
    Case {
        name: "10 dead for 40 us",
        cables: TEN,
        fails: Fails::Dead(40, 80),
        theirs: [[[226.1, 330.1], [194.6, 228.6]], [[201.5, 240.0], [193.7, 226.4]]],
    },
    Case {
        name: "10 at half rate",
        cables: TEN,
        fails: Fails::Half,
        theirs: [[[264.6, 433.6], [189.2, 211.6]], [[217.1, 281.6], [190.6, 208.1]]],
    },
    Case {
        name: "10 uplinks halved",
        cables: TEN,
        fails: Fails::HalfUp,
        theirs: [[[229.3, 304.5], [188.2, 201.2]], [[198.6, 223.1], [189.2, 198.4]]],
    },
];

/// Applies the settings of a simulator.
fn like(peer: Peer, setup: &mut Setup) {
    setup.fabric.ties = TieOrder::Port;
    if peer == Peer::Uet {
        // The preset for trimming.
        let target = Fraction::new(3, 4).expect("not zero");
        setup.nic.congestion =
            CongestionControl::Nscc(nscc::Config { target, ..nscc::Config::default() });
        setup.nic.retransmit_timeout = Span::from_ns(64_800);
    }
}

/// Returns the example with the failures of a case.
fn with(case: &Case, policy: &str, seed: u64) -> Setup {
    let mut setup = setup(EXAMPLE, policy, seed);
    let model = setup.fabric.failures[0];
    let us = |us: u64| Time::ZERO + Span::from_us(us);
    let half = FailureKind::Degrade { factor: Fraction::new(1, 2).expect("not zero") };
    let link = |name: &str| setup.topology.link_named(name).expect("a cable");
    let failures = case.cables.iter().map(|name| {
        let on_link = Failure { link: link(name), at: us(0), ..model };
        match case.fails {
            Fails::Dead(from, until) => {
                let until = if until == u64::MAX { Time::NEVER } else { us(until) };
                Failure { at: us(from), until, ..on_link }
            }
            Fails::Half => Failure { kind: half, until: Time::NEVER, ..on_link },
            Fails::HalfUp => {
                let from = on_link.link.ports().into_iter().find(|port| is_up(&setup, *port));
                let direction = Direction::From(from.expect("one end is a leaf"));
                Failure { kind: half, until: Time::NEVER, direction, ..on_link }
            }
        }
    });
    setup.fabric.failures = failures.collect();
    setup
}

fn is_up(setup: &Setup, port: PortId) -> bool {
    setup.topology.node_name(setup.topology.ends_of(port).0).starts_with("leaf")
}

/// Returns the mean and largest flow completion time in microseconds.
fn times(setup: &Setup) -> Times {
    let outcome = complete(setup);
    let times: Vec<f64> = outcome.message_fct.iter().map(|fct| fct.as_ps() as f64 / 1e6).collect();
    [times.iter().sum::<f64>() / times.len() as f64, times.into_iter().fold(0.0, f64::max)]
}

/// Returns the medians of an odd number of runs.
fn median(runs: &[Times]) -> Times {
    [0, 1].map(|figure| {
        let mut figures: Vec<f64> = runs.iter().map(|run| run[figure]).collect();
        figures.sort_by(f64::total_cmp);
        figures[figures.len() / 2]
    })
}

const HEAD: &str = "\
Permutation of 128 hosts, 8 MiB, 400 Gbps, cables fail: flow completion times in
us, mean and largest; medians of seeds 20 to 22 there and of 1 to 3 here

                         REPS's artifact,                  uet-htsim,
                                 run here           ours     run here       ours
cables            policy    mean      max   mean     max   mean   max  mean  max
";

const NOTES: &str = "\
A row is 128 flows, three runs per simulator; failures are not announced. A
cable is dead or at half its rate in both directions, an uplink in one. There,
a slow port's buffer and ECN thresholds shrink with its rate, here not; without
that, spray at half rate takes 223.3 / 293.1 in uet-htsim (seeds 20, 21). After
a timeout with a closed window, both send a header that requests an
acknowledgement; without it, 10 dead under spray take 5201.9 / 14309.8 in the
artifact, and 1 dead takes 220.1 / 539.8 in uet-htsim (seed 20).
";

#[test]
fn flows_over_failed_cables_match_two_other_simulators() {
    if extent::is_left_out("published::failures_peers") {
        return;
    }
    let peers = [Peer::Artifact, Peer::Uet];
    let jobs: Vec<_> = CASES
        .iter()
        .flat_map(|case| POLICIES.map(|policy| (case, policy)))
        .flat_map(|(case, policy)| peers.map(|peer| (case, policy, peer)))
        .flat_map(|job| SEEDS.map(|seed| (job, seed)))
        .collect();
    let runs = side_by_side(&jobs, |&((case, policy, peer), seed)| {
        let mut setup = with(case, policy, seed);
        like(peer, &mut setup);
        times(&setup)
    });
    let mut table = String::new();
    let mut ours = runs.chunks(SEEDS.len()).map(median);
    for case in CASES {
        for (place, policy) in POLICIES.iter().enumerate() {
            let [artifact, uet] = [0, 1].map(|peer| case.theirs[peer][place]);
            let [like_artifact, like_uet] = [(); 2].map(|()| ours.next().expect("a run each"));
            table += &format!(
                "{:<18}{policy:<6}{:>8.1}{:>9.1}{:>7.1}{:>8.1}{:>7.1}{:>6.0}{:>6.1}{:>5.0}\n",
                case.name,
                artifact[0],
                artifact[1],
                like_artifact[0],
                like_artifact[1],
                uet[0],
                uet[1],
                like_uet[0],
                like_uet[1],
            );
            for (theirs, ours) in [(artifact, like_artifact), (uet, like_uet)] {
                // Wider limit for the artifact's probes after timeouts; see the notes of the table.
                if theirs[0] > 1_000.0 {
                    assert!(ours[0] / theirs[0] < 1.3, "{}:\n{table}", case.name);
                    continue;
                }
                for figure in [0, 1] {
                    let off = ours[figure] / theirs[figure] - 1.0;
                    assert!(off.abs() < AT_MOST[figure], "{} {policy}:\n{table}", case.name);
                }
            }
        }
    }
    screen("published-failures-peers", &(HEAD.to_owned() + &table + NOTES));
}

/// A rule of the artifact, applied one at a time as in `reps-table.toml`.
type Rule = (&'static str, fn(&mut Setup));

const RULES: &[Rule] = &[
    ("as in the artifact", |_| {}),
    ("cumulative ranges", |setup| setup.nic.ack.range = AckRange::Cumulative),
    ("last packet inside", inside),
    ("timeout 70 us", |setup| setup.nic.retransmit_timeout = Span::from_us(70)),
    ("all three", |setup| {
        setup.nic.ack.range = AckRange::Cumulative;
        inside(setup);
        setup.nic.retransmit_timeout = Span::from_us(70);
    }),
];

fn inside(setup: &mut Setup) {
    let inside = dctcp_window::Config::default();
    setup.nic.congestion = CongestionControl::DctcpWindow(inside);
}

#[test]
fn each_rule_that_differs_makes_failures_cost_more() {
    if extent::is_left_out("published::failures_peers, one rule at a time") {
        return;
    }
    let cases = [("1 dead", "spray"), ("4 dead for 50 us", "spray"), ("10 dead", "reps")];
    let cases = cases.map(|(name, policy)| {
        (CASES.iter().find(|case| case.name == name).expect("a case"), policy)
    });
    let jobs: Vec<_> = RULES
        .iter()
        .flat_map(|rule| cases.map(|case| (rule.1, case)))
        .flat_map(|job| SEEDS.map(|seed| (job, seed)))
        .collect();
    let runs = side_by_side(&jobs, |&((rule, (case, policy)), seed)| {
        let mut setup = with(case, policy, seed);
        rule(&mut setup);
        times(&setup)
    });
    let mut table = String::from(
        "The same with one rule changed: flow completion times in us, mean and largest\n",
    );
    table += &format!("{:<26}", "");
    cases.iter().for_each(|(case, _)| table += &format!("{:>17}", case.name));
    table += &format!("\n{:<26}{:>17}{:>17}{:>17}\n", "", "spray", "spray", "reps");
    let cell = |[mean, max]: Times| format!("{:>17}", format!("{mean:.1} / {max:.1}"));
    table += &format!("{:<26}", "REPS's artifact, run here");
    for (case, policy) in cases {
        table += &cell(case.theirs[0][usize::from(policy == "reps")]);
    }
    let medians: Vec<Times> = runs.chunks(SEEDS.len()).map(median).collect();
    for ((name, _), of_rule) in RULES.iter().zip(medians.chunks(cases.len())) {
        let cells: String = of_rule.iter().map(|times| cell(*times)).collect();
        table += &format!("\n{:<26}{cells}", format!("ours, {name}"));
    }
    let [like, .., all] = medians.chunks(cases.len()).collect::<Vec<_>>()[..] else {
        panic!("five rules")
    };
    assert!(all[0][0] > 2.0 * like[0][0] && all[2][1] > 1.05 * like[2][1], "{table}");
    screen("published-failures-peers-rules", &(table + "\n"));
}
