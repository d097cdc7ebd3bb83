//! The differences between other simulators and this one, from the tables in `snapshots/`.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::page::Table;

/// A case of a comparison.
struct Case {
    name: String,
    /// The mean, and the largest value: theirs and ours.
    mean: [f64; 2],
    most: [f64; 2],
}

/// The subject of a comparison, and the source of its numbers.
struct Comparison {
    with: &'static str,
    what: &'static str,
    snapshot: &'static str,
    /// Reads the case on a line of the table, if the line has one.
    read: fn(&str) -> Option<Case>,
}

const COMPARISONS: [Comparison; 9] = [
    Comparison {
        with: "REPS's artifact",
        what: "a permutation, policies that choose for each packet",
        snapshot: "published-reps",
        read: |line| reps(line).filter(|case| !is_hashed(case)),
    },
    Comparison {
        with: "REPS's artifact",
        what: "the same, policies that hash flows or flowlets",
        snapshot: "published-reps",
        read: |line| reps(line).filter(is_hashed),
    },
    Comparison {
        with: "REPS's artifact",
        what: "cables that fail or are slow",
        snapshot: "published-failures-peers",
        read: |line| columns(line, 8, [0, 2, 1, 3]),
    },
    Comparison {
        with: "uet-htsim",
        what: "cables that fail or are slow",
        snapshot: "published-failures-peers",
        read: |line| columns(line, 8, [4, 6, 5, 7]),
    },
    Comparison {
        with: "uet-htsim",
        what: "receiver credit: flows alone and incasts",
        snapshot: "published-rccc-simulator",
        read: |line| columns(line, 8, [0, 1, 3, 4]),
    },
    Comparison {
        with: "ConWeave's simulator and uet-htsim",
        what: "one rule at a time, where queues are full",
        snapshot: "published-agreement",
        read: |line| {
            let case = columns(&line.replace('*', ""), 8, [0, 2, 1, 4])?;
            // The rule that precedes the name differs in each line.
            let name = case.name.rsplit(' ').next().unwrap_or_default().to_owned();
            Some(Case { name, ..case })
        },
    },
    Comparison {
        with: "ConWeave's simulator",
        what: "incasts and a permutation (means alone)",
        snapshot: "published-hpcc-family",
        read: |line| {
            let is_mean = line.split_whitespace().nth(1) == Some("mean");
            is_mean.then(|| columns(line, 7, [2, 4, 2, 4])).flatten()
        },
    },
    Comparison {
        with: "HPCC's simulator",
        what: "flows alone and incasts at one switch, 14 controls",
        snapshot: "published-hpcc-simulator-star",
        read: hpcc,
    },
    Comparison {
        with: "HPCC's simulator",
        what: "the same over three tiers",
        snapshot: "published-hpcc-simulator-tiers",
        read: hpcc,
    },
];

/// Reads the case on a line that ends with `count` numbers. `places` are the indices of their mean,
/// our mean, their largest value and ours.
fn columns(line: &str, count: usize, places: [usize; 4]) -> Option<Case> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let first = words.len().checked_sub(count)?;
    let number = |word: &&str| word.trim_end_matches('%').parse::<f64>().ok();
    let numbers: Vec<f64> = words[first..].iter().map(number).collect::<Option<_>>()?;
    let [mean, our_mean, most, our_most] = places.map(|place| numbers[place]);
    Some(Case { name: words[..first].join(" "), mean: [mean, our_mean], most: [most, our_most] })
}

fn reps(line: &str) -> Option<Case> {
    columns(line, 7, [0, 3, 2, 5])
}

/// The table has the deviation of our largest time instead of the time itself.
fn hpcc(line: &str) -> Option<Case> {
    let mut case = columns(line, 5, [0, 1, 3, 4])?;
    case.most[1] = case.most[0] * (1.0 + case.most[1] / 100.0);
    Some(case)
}

/// True for cases of REPS's table in which a flow or a flowlet keeps its path.
fn is_hashed(case: &Case) -> bool {
    ["MPTCP", "flowlet", "plb", "ecmp"].iter().any(|name| case.name.starts_with(name))
}

/// Returns the difference in percent.
fn difference([theirs, ours]: [f64; 2]) -> f64 {
    100.0 * (ours - theirs) / theirs
}

/// Returns the largest deviation with its case, as `+1.2 % (name)`.
fn furthest(cases: &[Case], of: fn(&Case) -> [f64; 2]) -> String {
    let off = |case: &&Case| difference(of(case)).abs();
    let case = cases.iter().max_by(|a, b| off(a).total_cmp(&off(b))).expect("there are cases");
    format!("{:+.1} % ({})", difference(of(case)), case.name)
}

/// Returns a table with one row per comparison.
pub(super) fn table() -> Table {
    let mut table = Table::new(&[
        "simulator",
        "what",
        "cases",
        "mean, half of all within",
        "mean, furthest off",
        "largest time, furthest off",
        "numbers",
    ]);
    for Comparison { with, what, snapshot, read } in COMPARISONS {
        let path = format!("{}/snapshots/{snapshot}.snap", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(&path).unwrap_or_else(|it| panic!("{path}: {it}"));
        // A case that is on several lines, for several rules, counts once.
        let cases: BTreeMap<String, Case> =
            text.lines().filter_map(read).map(|case| (case.name.clone(), case)).collect();
        let mut cases: Vec<Case> = cases.into_values().collect();
        cases.sort_by(|a, b| difference(a.mean).abs().total_cmp(&difference(b.mean).abs()));
        let half = difference(cases[(cases.len() - 1) / 2].mean).abs();
        let mut row = String::new();
        let _ = write!(row, "{with} | {what} | {} | {half:.2} % | ", cases.len());
        let _ = write!(row, "{} | ", furthest(&cases, |case| case.mean));
        let _ = match snapshot {
            "published-hpcc-family" => write!(row, "- | "),
            _ => write!(row, "{} | ", furthest(&cases, |case| case.most)),
        };
        table.row(format!("{row}`snapshots/{snapshot}.snap`"));
    }
    table
}
