//! Completion times of Ultra Ethernet's simulator with receiver credit and of this project;
//! `rccc_simulator/README.md` says how the former were made.
//!
//! An uncontended flow agrees up to the rounding of the simulator's output. Incasts differ by
//! random draws: the simulator trims the arriving packet or the newest queued one, our fabric the
//! arriving one.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use evenkeel::scenario::{Overrides, Scenario};

use super::run::{complete, side_by_side};
use crate::support::screen;

/// Maximum relative differences: of uncontended flows, and in the mean over seeds.
const ALONE: f64 = 0.01;
const CONTENDED: f64 = 0.02;

/// A run: senders, bytes of each flow, seed.
type Run = (u64, u64, u64);

/// Mean and largest completion time of a run in nanoseconds, and the number of retransmitted
/// packets.
type Figures = [f64; 3];

/// Returns the simulator's runs in the order of its file.
fn reference() -> Vec<(Run, Figures)> {
    let text = include_str!("rccc_simulator/completion-times.csv");
    let row = |line: &str| {
        let fields: Vec<u64> = line.split(',').map(|field| field.parse().unwrap()).collect();
        let [senders, bytes, seed, mean, largest, again] = fields[..] else {
            panic!("{line}: six columns");
        };
        ((senders, bytes, seed), [mean, largest, again].map(|number| number as f64))
    };
    text.lines().skip(1).map(row).collect()
}

/// The fabric and the NICs of the reference.
const SCENARIO: &str = r#"
[topology]
leaves = 3
spines = 32
hosts_per_leaf = 32
host_rate = "100Gbps"
fabric_rate = "100Gbps"
delay = "1us"
gap = "0B"

[switch]
port_buffer = "120350B"
trim = true

[transport]
payload = "4086B"
header = "64B"
ack_every = 4
congestion_control = "rccc"
recovery = "per-packet"
retransmit_timeout = "72768ns"

[policy]
name = "spray"

[workload]
kind = "connection-matrix"
file = "flows.cm"
"#;

/// Returns flows to host 0. With seed 0 all start simultaneously, otherwise within four
/// microseconds.
fn matrix((senders, bytes, seed): Run) -> String {
    let mut text = format!("Nodes 96\nConnections {senders}\n");
    for index in 0..senders {
        let start = if seed == 0 { 0 } else { (seed * 7_919 + index * 104_729) % 4 };
        let (host, id) = (32 + index, index + 1);
        writeln!(text, "{host}->0 id {id} start {start} size {bytes}").unwrap();
    }
    text
}

fn run(folder: &Path, case: Run) -> Figures {
    let (senders, bytes, seed) = case;
    let folder = folder.join(format!("{senders}-{bytes}-{seed}"));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("flows.cm"), matrix(case)).unwrap();
    let overrides = Overrides { seed: Some(seed + 1), ..Overrides::default() };
    let scenario = Scenario::parse(SCENARIO, "rccc", &folder, &overrides);
    let setup = scenario.unwrap_or_else(|error| panic!("{error}")).setup();
    let outcome = complete(&setup);
    let times: Vec<f64> = outcome.message_fct.iter().map(|fct| fct.as_ps() as f64 / 1e3).collect();
    let mean = times.iter().sum::<f64>() / times.len() as f64;
    let largest = times.iter().copied().fold(0.0, f64::max);
    [mean, largest, outcome.counters.retransmitted as f64]
}

#[test]
fn flows_match_ultra_ethernets_simulator() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("rccc-simulator");
    let reference = reference();
    let runs: Vec<Run> = reference.iter().map(|(run, _)| *run).collect();
    let ours = side_by_side(&runs, |&case| run(&folder, case));
    let mut cases: BTreeMap<(u64, u64), (Figures, Figures, f64)> = BTreeMap::new();
    for (((senders, bytes, _), theirs), ours) in reference.iter().zip(ours) {
        let (sum, sum_of_ours, runs) = cases.entry((*senders, *bytes)).or_default();
        for figure in 0..3 {
            sum[figure] += theirs[figure];
            sum_of_ours[figure] += ours[figure];
        }
        *runs += 1.0;
    }
    let mut table = String::from(
        "Flows to one host at 100 Gbps under receiver credit, Ultra Ethernet's simulator\n\
         and ours: us, mean over seeds.\n\n\
         to 1    bytes   theirs     ours     off     most     ours     off  again  ours\n",
    );
    for ((senders, bytes), (theirs, ours, runs)) in &cases {
        let off = [0, 1].map(|figure| ours[figure] / theirs[figure] - 1.0);
        let us = |sums: &Figures, figure: usize| sums[figure] / runs / 1e3;
        let row = format!(
            "{senders:>4}{bytes:>9}{:>9.2}{:>9.2}{:>+7.2}%{:>9.2}{:>9.2}{:>+7.2}%\
             {:>7.0}{:>6.0}\n",
            us(theirs, 0),
            us(ours, 0),
            100.0 * off[0],
            us(theirs, 1),
            us(ours, 1),
            100.0 * off[1],
            theirs[2] / runs,
            ours[2] / runs,
        );
        let bound = if *senders == 1 { ALONE } else { CONTENDED };
        assert!(off.iter().all(|off| off.abs() <= bound), "{table}{row}");
        table += &row;
    }
    screen("published-rccc-simulator", &table);
}
