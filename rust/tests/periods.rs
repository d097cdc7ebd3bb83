//! Tests whether collectives repeat exactly; `docs/reproduce/periods.txt` has the table.
//!
//! `EVENKEEL_LONG_TESTS=1 INSTA_UPDATE=always cargo test --test integration periods` regenerates
//! it.

use std::fs;
use std::path::Path;

use evenkeel::fabric::{self, FlowRecord, Outcome, Verdict};
use evenkeel::scenario::{Overrides, Scenario};
use evenkeel::units::{Span, Time};

use crate::support::extent;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/reproduce/periods.txt");
const BEGIN: &str = "<!-- Made by rust/tests/periods.rs: -->\n";
const END: &str = "<!-- to here. -->\n";

const POLICIES: [&str; 8] =
    ["ethereal", "ecmp", "subflow-4", "ofan", "switch-rr", "jsq", "spray", "reps"];
/// Names in the table, with lines of `[transport]`.
const TRANSPORTS: [(&str, &str); 5] = [
    ("line-rate", "congestion_control = \"line-rate\""),
    (
        "line-rate, acknowledgements of 1 B for 32 packets",
        "congestion_control = \"line-rate\"\nack = \"1B\"\nack_every = 32",
    ),
    ("dcqcn", "congestion_control = \"dcqcn\""),
    ("dctcp-window", "congestion_control = \"dctcp-window\""),
    ("swift", "congestion_control = \"swift\""),
];

/// Hosts of the ring: four leaves of eight, so that every eighth message crosses a spine.
const RANKS: usize = 32;
const PER_LEAF: usize = 8;
const STEPS: usize = 2 * (RANKS - 1);

/// When the message of a step was posted, delivered and completed, and its number of flows.
type Step = ([Time; 3], usize);

/// A case of the table.
struct Case {
    policy: &'static str,
    transport: (&'static str, &'static str),
}

/// A period of a ring: from step `from` on, every step repeats `steps` later, after `time`, at
/// every rank and exactly to the picosecond.
#[derive(Debug, PartialEq)]
struct Period {
    from: usize,
    steps: usize,
    time: Span,
}

impl Case {
    fn all() -> Vec<Self> {
        let all = POLICIES.iter().flat_map(|&policy| {
            TRANSPORTS.iter().map(move |&transport| Self { policy, transport })
        });
        all.collect()
    }

    fn run(&self) -> Outcome {
        let Self { policy, transport: (name, lines) } = self;
        let text = format!(
            "[topology]\nkind = \"leaf-spine\"\nleaves = 4\nspines = 4\nhosts_per_leaf = 8\n\
             [transport]\n{lines}\n[policy]\nname = \"{policy}\"\n\
             [workload]\nkind = \"ring-all-reduce\"\nbytes = \"4MiB\"\n"
        );
        let parsed = Scenario::parse(&text, "ring", Path::new(""), &Overrides::default());
        let scenario = parsed.unwrap_or_else(|error| panic!("{error}"));
        let outcome = fabric::run(&scenario.setup(), &mut |_| {});
        assert_eq!(outcome.verdict, Verdict::Completed, "{policy} {name}");
        outcome
    }

    fn row(&self) -> String {
        let times = times(&self.run().flows);
        let period = period(&times).map_or_else(
            || "none".to_owned(),
            |Period { from, steps, time }| {
                format!("{steps} steps from step {from} on, {} ns", time.as_ns_f64())
            },
        );
        let [least, most] = round(&times).map(Span::as_ns_f64);
        format!("| {} | {} | {period} | {least} | {most} |\n", self.policy, self.transport.0)
    }
}

/// Returns the minimum and maximum time of a rank for as many steps as a leaf has ranks, in the
/// middle third of the steps.
fn round(times: &[Vec<Step>]) -> [Span; 2] {
    let middle = STEPS / 3..2 * STEPS / 3;
    let of_rank = |rank: &Vec<Step>| {
        let start = |step: usize| rank[step].0[0];
        middle.clone().map(|step| start(step + PER_LEAF).since(start(step))).collect::<Vec<_>>()
    };
    let all: Vec<Span> = times.iter().flat_map(of_rank).collect();
    let extreme = |it: Option<&Span>| *it.expect("there are ranks");
    [extreme(all.iter().min()), extreme(all.iter().max())]
}

/// Returns, by rank and step, when the last flow of its message was posted, delivered and
/// completed, and the number of flows.
fn times(flows: &[FlowRecord]) -> Vec<Vec<Step>> {
    let mut times = vec![vec![([Time::ZERO; 3], 0); STEPS]; RANKS];
    for flow in flows {
        let message = flow.message.index();
        let (all, count) = &mut times[message % RANKS][message / RANKS];
        let of_flow = [flow.start, flow.delivered, flow.completed];
        all.iter_mut().zip(of_flow).for_each(|(last, time)| *last = (*last).max(time));
        *count += 1;
    }
    times
}

/// Returns the shortest period that begins in the first third of the steps and holds for the rest.
/// The last two steps are exempt, since nothing is sent after them.
fn period(times: &[Vec<Step>]) -> Option<Period> {
    let holds = |from: usize, steps: usize| {
        let time = times[0][from + steps].0[0].since(times[0][from].0[0]);
        let repeats = |(now, later): (&Step, &Step)| {
            let after = |a: Time, b: Time| b >= a && b.since(a) == time;
            now.1 == later.1 && now.0.iter().zip(later.0).all(|(&a, b)| after(a, b))
        };
        let of_rank =
            |rank: &Vec<_>| rank[from..].iter().zip(&rank[from + steps..STEPS - 2]).all(repeats);
        times.iter().all(of_rank).then_some(Period { from, steps, time })
    };
    let third = STEPS / 3;
    (1..=third).find_map(|steps| (0..=third).find_map(|from| holds(from, steps)))
}

#[test]
fn rings_repeat_exactly_where_the_table_says_so() {
    let quick = |case: &Case| case.transport.0 == "line-rate";
    let cases = extent::cases("the table of periods", Case::all(), quick);
    let rows: Vec<String> = cases.iter().map(Case::row).collect();
    let page = fs::read_to_string(PAGE).expect("docs/reproduce/periods.txt is there");
    let (before, rest) = page.split_once(BEGIN).expect("the page says where its table begins");
    let (committed, after) = rest.split_once(END).expect("the page says where its table ends");
    if extent::is_long() {
        let mut table = String::new();
        table += "| policy | transport | period | 8 steps: least, ns | most, ns |\n";
        table += "|---|---|---|---|---|\n";
        let table = table + &rows.concat();
        if std::env::var("INSTA_UPDATE").is_ok_and(|update| update == "always") {
            fs::write(PAGE, format!("{before}{BEGIN}{table}{END}{after}")).expect("it is writable");
            return;
        }
        assert!(committed == table, "docs/reproduce/periods.txt is out of date:\n{table}");
    }
    for row in rows {
        assert!(committed.contains(&row), "not in docs/reproduce/periods.txt:\n{row}");
    }
}

#[test]
fn periods_are_found_only_in_periodic_times() {
    let at = |rank: u64, step: u64| {
        // Every third step takes longer; the first five steps belong to no period.
        let odd = if step < 5 { step * step } else { 25 };
        let ps = 100 * step + 7 * (step / 3) + odd + rank;
        ([0, 10, 20].map(|later| Time::from_ps(ps + later)), 1)
    };
    let times = |at: &dyn Fn(u64, u64) -> Step| -> Vec<Vec<_>> {
        let steps = |rank| (0..STEPS as u64).map(|step| at(rank, step)).collect();
        (0..RANKS as u64).map(steps).collect()
    };
    let found = Period { from: 5, steps: 3, time: Span::from_ps(307) };
    assert_eq!(period(&times(&at)), Some(found));
    let late = |rank, step| match (rank, step) {
        (9, 58) => at(9, 59),
        _ => at(rank, step),
    };
    assert_eq!(period(&times(&late)), None);
}
