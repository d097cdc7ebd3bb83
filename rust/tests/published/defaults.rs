//! Every preset with a scenario's defaults on healthy fabrics. The tables are in
//! `docs/reproduce/defaults.txt`.
//!
//! `EVENKEEL_LONG_TESTS=1 INSTA_UPDATE=always cargo test --test integration published::defaults`
//! regenerates them.

use std::fs;
use std::path::Path;

use evenkeel::balance::{display_name, presets};
use evenkeel::fabric;
use evenkeel::scenario::{Overrides, Scenario};
use evenkeel::study::lower_bound;

use super::run::side_by_side;
use crate::support::extent;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/reproduce/defaults.txt");
const BEGIN: &str = "<!-- Made by rust/tests/published/defaults.rs: -->\n";
const END: &str = "<!-- to here. -->\n";

/// Number of hosts, and the number of leaves, spines and hosts per leaf.
const SIZES: [(u32, u32); 3] = [(16, 4), (64, 8), (256, 16)];
const PLANES: [u32; 2] = [1, 4];
const BYTES: [&str; 2] = ["1MB", "64MB"];
const PATTERNS: [&str; 5] = ["permutation", "shift", "all-to-all", "ring", "incast"];

/// Returns patterns and message lengths, as in the columns of a table.
fn columns() -> Vec<(&'static str, &'static str)> {
    PATTERNS.iter().flat_map(|pattern| BYTES.iter().map(|bytes| (*pattern, *bytes))).collect()
}

/// A cell of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Case {
    /// Number of hosts, and hosts per leaf.
    size: (u32, u32),
    planes: u32,
    policy: &'static str,
    pattern: &'static str,
    bytes: &'static str,
}

impl Case {
    fn all() -> Vec<Self> {
        let mut all = Vec::new();
        for (size, planes) in SIZES.iter().flat_map(|size| PLANES.map(|planes| (*size, planes))) {
            for policy in presets().map(|preset| preset.name) {
                for (pattern, bytes) in columns() {
                    all.push(Self { size, planes, policy, pattern, bytes });
                }
            }
        }
        all
    }

    /// Returns the scenario. Each host has 400 Gbps, at one port or divided among ports in several
    /// planes.
    fn scenario(self) -> Result<Scenario, String> {
        let Self { size: (hosts, of_leaf), planes, policy, pattern, bytes } = self;
        let (kind, rate) = match planes {
            1 => ("leaf-spine".to_owned(), 400),
            _ => (format!("multi-plane\"\nplanes = {planes}\n#\""), 400 / planes),
        };
        let workload = match pattern {
            "shift" => format!("kind = \"shift\"\nshift = {of_leaf}"),
            "ring" => "kind = \"all-reduce\"\nalgorithm = \"ring\"".to_owned(),
            "incast" => "kind = \"incast\"\nfan_in = 8".to_owned(),
            other => format!("kind = \"{other}\""),
        };
        let text = format!(
            "[topology]\nkind = \"{kind}\"\nleaves = {0}\nspines = {of_leaf}\n\
             hosts_per_leaf = {of_leaf}\nhost_rate = \"{rate}Gbps\"\nfabric_rate = \"{rate}Gbps\"\n\
             [policy]\nname = \"{policy}\"\n[workload]\n{workload}\nbytes = \"{bytes}\"\n",
            hosts / of_leaf
        );
        let scenario = Scenario::parse(&text, "a", Path::new(""), &Overrides::default());
        scenario.map_err(|error| error.to_string())
    }

    /// Returns the ratio of the completion time to its bound, `-` if the policy is rejected, and
    /// the fault of the run, if any.
    fn cell(&self) -> (String, Option<String>) {
        let Ok(scenario) = self.scenario() else { return ("-".to_owned(), None) };
        let setup = scenario.setup();
        let outcome = fabric::run(&setup, &mut |_| {});
        let Some(cct) = outcome.cct else { return (String::new(), Some(format!("{self:?}"))) };
        let counters = outcome.counters;
        let over = cct.as_ns_f64() / lower_bound(&setup).time.as_ns_f64();
        let is_explained = over <= MOST || self.bytes == "1MB" || self.has_note();
        let is_clean = (counters.dropped, counters.retransmitted) == (0, 0);
        let fault = (!is_explained || !is_clean).then(|| {
            let (lost, again) = (counters.dropped, counters.retransmitted);
            format!("{self:?}: {over:.3} times the bound, {lost} lost, {again} retransmitted\n")
        });
        let more = if is_clean { "" } else { "*" };
        (format!("{over:.3}{more}"), fault)
    }

    /// Returns true if the page explains why the policy is slower.
    fn has_note(&self) -> bool {
        let hashed = ["ecmp", "wcmp", "ecmp-murmur", "letflow", "conga", "flowlet", "plb"];
        let is_hashed = hashed.contains(&self.policy) || self.policy.starts_with("subflow");
        let is_confined = self.planes > 1 && self.policy == "mp-rdma";
        let is_pinned = self.planes > 1
            && ["all-to-all", "ring"].contains(&self.pattern)
            && ["ethereal", "line-cut"].contains(&self.policy);
        let others = ["reps-ethereal", "drill-by-destination", "bitmap", "mixed"];
        is_hashed || is_confined || is_pinned || others.contains(&self.policy)
    }
}

/// Maximum ratio without a note on the page.
const MOST: f64 = 1.25;

/// Returns the row of a policy with these cells.
fn row(case: &Case, cells: &[String]) -> String {
    let name = match display_name(case.policy).ends_with(')') {
        true => format!("`{}` (reconstructed)", case.policy),
        false => format!("`{}`", case.policy),
    };
    format!("| {name} | {} |\n", cells.join(" | "))
}

fn head(size: (u32, u32), planes: u32) -> String {
    let hosts = size.0;
    let planes = if planes == 1 { "one plane".to_owned() } else { format!("{planes} planes") };
    let columns: Vec<String> =
        columns().into_iter().map(|(pattern, it)| format!(" {pattern} {it} |")).collect();
    let rule = "---|".repeat(columns.len() + 1);
    format!("\n### {hosts} hosts, {planes}\n\n| policy |{}\n|{rule}\n", columns.concat())
}

#[test]
fn default_presets_are_near_the_bound_without_retransmissions() {
    let quick = |case: &Case| case.size == SIZES[0] && case.bytes == "1MB";
    let cases = extent::cases("the tables of defaults", Case::all(), quick);
    let (cells, faults): (Vec<String>, Vec<_>) =
        side_by_side(&cases, Case::cell).into_iter().unzip();
    let faults: String = faults.into_iter().flatten().collect();
    let page = fs::read_to_string(PAGE).expect("docs/reproduce/defaults.txt is there");
    let (before, rest) = page.split_once(BEGIN).expect("the page says where its tables begin");
    let (committed, after) = rest.split_once(END).expect("the page says where its tables end");
    if !extent::is_long() {
        let of = |policy: &str, planes: u32| -> Vec<&str> {
            let plane = if planes == 1 { "one plane" } else { "4 planes" };
            let table =
                committed.split("### ").find(|it| it.starts_with(&format!("16 hosts, {plane}")));
            let row = table
                .and_then(|it| it.lines().find(|line| line.starts_with(&format!("| `{policy}`"))));
            row.map_or_else(Vec::new, |row| row.split(" | ").skip(1).step_by(2).collect())
        };
        assert!(faults.is_empty(), "{faults}");
        for (cases, cells) in cases.chunks(PATTERNS.len()).zip(cells.chunks(PATTERNS.len())) {
            let case = cases[0];
            assert_eq!(of(case.policy, case.planes), cells, "{PAGE}: {case:?}");
        }
        return;
    }
    let mut tables = String::new();
    let mut at = 0;
    while let Some(case) = cases.get(at) {
        if presets().next().is_some_and(|first| first.name == case.policy) {
            tables += &head(case.size, case.planes);
        }
        let end = at + columns().len();
        tables += &row(case, &cells[at..end]);
        at = end;
    }
    if std::env::var("INSTA_UPDATE").is_ok_and(|update| update == "always") {
        fs::write(PAGE, format!("{before}{BEGIN}{tables}\n{END}{after}")).expect("it is writable");
        assert!(faults.is_empty(), "{faults}");
        return;
    }
    assert!(faults.is_empty(), "{faults}");
    assert!(committed == format!("{tables}\n"), "{PAGE} is out of date:\n{tables}");
}

/// Returns Jain's index of the mean rates of flows of equal length.
fn fairness(times: impl Iterator<Item = f64>) -> f64 {
    let rates: Vec<f64> = times.map(f64::recip).collect();
    let squares = rates.iter().map(|rate| rate * rate).sum::<f64>();
    rates.iter().sum::<f64>().powi(2) / (rates.len() as f64 * squares)
}

#[test]
fn the_default_control_fills_and_fairly_shares_an_incast() {
    let senders = [2, 4, 8, 32];
    let all = [25, 100, 400, 800].iter().flat_map(|rate| senders.map(|count| (*rate, count)));
    let quick = |&(rate, count): &(u32, u32)| rate == 400 && count < 32;
    let cases = extent::cases("fairness of the default control", all.collect(), quick);
    let runs = side_by_side(&cases, |(rate, count)| {
        let text = format!(
            "[topology]\nleaves = 5\nspines = 8\nhosts_per_leaf = 8\nhost_rate = \"{rate}Gbps\"\n\
             fabric_rate = \"{rate}Gbps\"\n[policy]\nname = \"spray\"\n[workload]\n\
             kind = \"incast\"\nfan_in = {count}\nbytes = \"64MB\"\n"
        );
        let scenario = Scenario::parse(&text, "a", Path::new(""), &Overrides::default()).unwrap();
        let setup = scenario.setup();
        let outcome = fabric::run(&setup, &mut |_| {});
        let cct = outcome.cct.expect("it completed").as_ns_f64();
        let over = cct / lower_bound(&setup).time.as_ns_f64();
        (over, fairness(outcome.message_fct.iter().map(|time| time.as_ns_f64())))
    });
    for (case, (over, fairness)) in cases.iter().zip(runs) {
        assert!(over <= 1.1 && fairness >= 0.95, "{case:?}: {over}, {fairness}");
    }
}
