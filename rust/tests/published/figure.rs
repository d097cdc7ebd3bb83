//! The figure of the README, drawn from the committed tables.
//!
//! `INSTA_UPDATE=always cargo test --test integration figure` regenerates `docs/policies.svg`.

use std::fs;

use evenkeel::plot::{Axis, DotPlot, DotRow, dot_plots_svg};
use evenkeel::results::Dimension;

const REPS: &str = include_str!("../../../snapshots/published-reps.snap");
const LINK_FAILURE: &str = include_str!("../../../snapshots/published-link-failure.snap");
const FIGURE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/policies.svg");

/// Returns a row with a policy's time in nanoseconds and the published time, if any.
fn row(name: String, value: f64, reference: Option<f64>) -> DotRow {
    DotRow { name, value, interval: None, values: Vec::new(), reference }
}

/// Returns the rows of REPS's table: the slowest flow, ours and the artifact's.
fn slowest_flows() -> Vec<DotRow> {
    let shown = ["reps", "spray-rr", "spray (OPS)", "bitmap", "MPTCP-8", "plb", "flowlet", "ecmp"];
    let of = |policy: &&str| {
        let is_row =
            |line: &&str| line.strip_prefix(*policy).is_some_and(|it| it.starts_with("  "));
        let line = REPS.lines().find(is_row).expect("the table has the policy");
        let numbers: Vec<f64> =
            line[policy.len()..].split_whitespace().map(|it| it.parse().unwrap()).collect();
        let [_, _, artifact, _, _, ours, _] = numbers[..] else { panic!("{line}") };
        let policy = policy.split(' ').next().expect("a name").to_owned();
        row(policy, 1e3 * ours, Some(1e3 * artifact))
    };
    shown.iter().map(of).collect()
}

/// Returns the rows of the failed-link table: the completion time of the collective.
fn completion_times() -> Vec<DotRow> {
    let rows = LINK_FAILURE.lines().skip_while(|line| !line.starts_with("policy ")).skip(1);
    let mut times: Vec<DotRow> = rows
        .map(|line| {
            let mut words = line.split_whitespace();
            let (policy, time) = (words.next().unwrap(), words.next().unwrap());
            row(policy.to_owned(), 1e6 * time.parse::<f64>().unwrap(), None)
        })
        .collect();
    times.sort_by(|a, b| a.value.total_cmp(&b.value));
    times
}

fn plot(title: &str, note: &str, rows: Vec<DotRow>) -> DotPlot {
    let times = || rows.iter().flat_map(|row| [Some(row.value), row.reference]).flatten();
    let axis = Axis::new("completion time", Dimension::Time, times()).log_if_wide(times());
    let reference = "REPS's artifact".to_owned();
    DotPlot { title: title.to_owned(), note: note.to_owned(), axis, rows, reference }
}

fn figure() -> String {
    dot_plots_svg(&[
        plot(
            "No failure: slowest flow of a permutation",
            "128 hosts, 8 MiB, 400 Gbps; the lines mark REPS's artifact",
            slowest_flows(),
        ),
        plot(
            "One link fails: completion of an all-to-all",
            "256 hosts, timeout 1 ms, repair after 100 ms; logarithmic",
            completion_times(),
        ),
    ])
}

#[test]
fn the_figure_of_the_readme_is_drawn_from_the_committed_tables() {
    let figure = figure();
    if std::env::var("INSTA_UPDATE").is_ok_and(|update| update == "always") {
        fs::write(FIGURE, &figure).expect("docs/ is writable");
    }
    let committed = fs::read_to_string(FIGURE).unwrap_or_default();
    assert!(
        committed == figure,
        "docs/policies.svg is out of date: INSTA_UPDATE=always draws it again"
    );
}
