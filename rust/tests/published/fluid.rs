//! Fluid simulation compared with packets; `docs/reproduce/fluid.txt` has the table.
//!
//! `EVENKEEL_LONG_TESTS=1 INSTA_UPDATE=always cargo test --test integration published::fluid`
//! regenerates it.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use super::run::side_by_side;
use crate::support::extent;
use evenkeel::fabric::{self, Outcome, Verdict};
use evenkeel::fluid;
use evenkeel::scenario::{Overrides, Scenario};
use evenkeel::units::Span;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/reproduce/fluid.txt");
const BEGIN: &str = "<!-- Made by rust/tests/published/fluid.rs: -->\n";
const END: &str = "<!-- to here. -->\n";
/// Flows with fewer bytes are short: 8 packets.
const SHORT: u64 = 8 * 4_096;
/// Maximum error of a completion time without a stated reason, in per cent.
const TRUSTED: f64 = 3.0;

/// A name in the table, and sections of a scenario.
type Named = (&'static str, &'static str);

const FABRICS: [Named; 2] = [
    ("leaf-spine, 64", "kind = \"leaf-spine\"\nleaves = 8\nspines = 8\nhosts_per_leaf = 8"),
    ("fat-tree, 128", "kind = \"fat-tree\"\nk = 8"),
];

const WORKLOADS: [Named; 8] = [
    ("permutation, 1 MiB", "kind = \"permutation\"\nbytes = \"1MiB\""),
    ("permutation, 8 MiB", "kind = \"permutation\"\nbytes = \"8MiB\""),
    ("ring all-reduce, 16 MiB", "kind = \"ring-all-reduce\"\nbytes = \"16MiB\""),
    (
        "halving-doubling, 16 MiB",
        "kind = \"all-reduce\"\nalgorithm = \"halving-doubling\"\nbytes = \"16MiB\"",
    ),
    (
        "direct all-reduce, 16 MiB",
        "kind = \"all-reduce\"\nalgorithm = \"direct\"\nbytes = \"16MiB\"",
    ),
    ("all-to-all, 16 MiB", "kind = \"all-to-all\"\nbytes = \"16MiB\""),
    ("incast of 16, 1 MiB", "kind = \"incast\"\nfan_in = 16\nbytes = \"1MiB\""),
    (
        "training step",
        "kind = \"training\"\nmodel = { layers = 2, hidden = 1024, sequence = 1024 }\ntensor = 8",
    ),
];

const POLICIES: [&str; 7] = ["ethereal", "line-cut", "ofan", "spray", "reps", "subflow-8", "ecmp"];

/// A row of the table.
struct Case {
    fabric: Named,
    workload: Named,
    policy: &'static str,
}

impl Case {
    fn all() -> Vec<Self> {
        let rows = |fabric| {
            let of = move |workload| {
                POLICIES.iter().map(move |&policy| Self { fabric, workload, policy })
            };
            WORKLOADS.into_iter().flat_map(of)
        };
        FABRICS.into_iter().flat_map(rows).collect()
    }

    fn scenario(&self) -> Scenario {
        let text = format!(
            "[topology]\n{}\n[switch]\nbuffer = \"2GB\"\n[transport]\n\
             congestion_control = \"line-rate\"\n[policy]\nname = \"{}\"\n[workload]\n{}\n",
            self.fabric.1, self.policy, self.workload.1
        );
        let scenario = Scenario::parse(&text, "case", Path::new(""), &Overrides::default());
        scenario.unwrap_or_else(|error| panic!("{error}\n{text}"))
    }

    /// Returns the row, with the results of both worlds.
    fn row(&self) -> String {
        let setup = self.scenario().setup();
        let packets = fabric::run(&setup, &mut |_| {});
        let flows = fluid::run(&setup, &mut |_| {}).outcome;
        assert_eq!((packets.verdict, flows.verdict), (Verdict::Completed, Verdict::Completed));
        assert_eq!(packets.counters.dropped, 0, "buffers hold all");
        let cct = |outcome: &Outcome| outcome.cct.expect("it completed");
        let error = per_cent(cct(&packets), cct(&flows));
        let why = self.reason(error, &flows);
        let [mean, p99, max] = of_times(&packets, &flows);
        let each = of_messages(&packets, &flows);
        format!(
            "| {} | {} | `{}` | {:.2} | {:.2} | {error:+.1} | {mean:+.1} | {p99:+.1} | {max:+.1} \
             | {:.1} | {:.1} | {:.1} | {why} |\n",
            self.fabric.0,
            self.workload.0,
            self.policy,
            cct(&packets).as_ns_f64() / 1e3,
            cct(&flows).as_ns_f64() / 1e3,
            each[0],
            each[1],
            each[2],
        )
    }

    /// Returns the note that explains an error beyond [`TRUSTED`].
    fn reason(&self, error: f64, flows: &Outcome) -> &'static str {
        if error.abs() <= TRUSTED {
            return "";
        }
        let is_short = flows.flows.iter().any(|flow| flow.bytes.get() < SHORT);
        match self.policy {
            "spray" | "reps" => "a",
            "subflow-8" | "ecmp" => "b",
            _ if is_short => "c",
            policy => panic!("{policy} of {} is off by {error:.1} %", self.workload.0),
        }
    }
}

fn per_cent(packets: Span, flows: Span) -> f64 {
    (flows.as_ps() as f64 / packets.as_ps() as f64 - 1.0) * 100.0
}

/// Returns the errors of the mean, the 99th percentile and the maximum of message times.
fn of_times(packets: &Outcome, flows: &Outcome) -> [f64; 3] {
    let numbers = |outcome: &Outcome| {
        let mut times = outcome.message_fct.clone();
        times.sort_unstable();
        let sum: u64 = times.iter().map(|time| time.as_ps()).sum();
        let mean = Span::from_ps(sum / times.len() as u64);
        [mean, times[(times.len() * 99).div_ceil(100) - 1], times[times.len() - 1]]
    };
    let [packets, flows] = [numbers(packets), numbers(flows)];
    [0, 1, 2].map(|index| per_cent(packets[index], flows[index]))
}

/// Returns the mean, the 99th percentile and the maximum of the absolute errors of single messages.
fn of_messages(packets: &Outcome, flows: &Outcome) -> [f64; 3] {
    let pairs = packets.message_fct.iter().zip(&flows.message_fct);
    let mut errors: Vec<f64> = pairs.map(|(a, b)| per_cent(*a, *b).abs()).collect();
    errors.sort_by(f64::total_cmp);
    let mean = errors.iter().sum::<f64>() / errors.len() as f64;
    [mean, errors[(errors.len() * 99).div_ceil(100) - 1], errors[errors.len() - 1]]
}

#[test]
fn fluid_times_match_packet_times_except_as_noted_in_the_table() {
    // The quick cases are those of the small fabric that take less than a second.
    let quick = |case: &Case| {
        case.fabric.0 == FABRICS[0].0
            && ["permutation, 1 MiB", "incast of 16, 1 MiB"].contains(&case.workload.0)
    };
    let cases = extent::cases("the table of the fluid world", Case::all(), quick);
    let rows = side_by_side(&cases, Case::row);
    let page = fs::read_to_string(PAGE).expect("docs/reproduce/fluid.txt is there");
    let (before, rest) = page.split_once(BEGIN).expect("the page says where its table begins");
    let (committed, after) = rest.split_once(END).expect("the page says where its table ends");
    if extent::is_long() {
        let table = head() + &rows.concat();
        if std::env::var("INSTA_UPDATE").is_ok_and(|update| update == "always") {
            fs::write(PAGE, format!("{before}{BEGIN}{table}{END}{after}")).expect("it is writable");
            return;
        }
        assert!(committed == table, "docs/reproduce/fluid.txt is out of date:\n{table}");
    }
    for row in rows {
        assert!(committed.contains(&row), "not in docs/reproduce/fluid.txt:\n{row}");
    }
}

fn head() -> String {
    let columns = [
        "fabric, hosts",
        "workload",
        "policy",
        "packets: CCT, us",
        "fluid: CCT, us",
        "CCT, %",
        "mean FCT, %",
        "p99 FCT, %",
        "max FCT, %",
        "a message: mean, %",
        "p99, %",
        "largest, %",
        "why",
    ];
    let mut head = String::new();
    writeln!(head, "| {} |", columns.join(" | ")).expect("a string takes all");
    writeln!(head, "|{}", "---|".repeat(columns.len())).expect("a string takes all");
    head
}
