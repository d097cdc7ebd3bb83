//! `cargo bench --bench speed -- --threads`: one run on several threads compared with one thread.
//!
//! Times are wall time. Each run is a separate process, and both kinds alternate. The speed-up is
//! the median ratio. The last column is a machine-independent count: the events of all 16
//! partitions divided by those of the busiest one, window by window. It is the speed-up on 16 cores
//! if all events take equally long and partitions wait only at the ends of windows.

use std::time::Instant;

use evenkeel::fabric::{Cut, Partitioning, run, run_parallel};

use super::cases::{Case, LINES, Line};
use super::options::Options;
use super::page::{Table, thousands};
use super::{hosts, in_a_process};

/// Number of partitions for the count.
const COUNTED: u16 = 16;

/// Prints the table.
pub(crate) fn table(options: &Options) -> Table {
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
    let several = format!("{cores} threads");
    let columns = ["hosts", "policy", "transport", "1 thread", &several, "speed-up"];
    let mut table = Table::new(&[&columns[..], &["16 parts (count)"]].concat());
    print!("{}", table.text());
    for &case in &options.cases {
        for line in LINES {
            println!("{}", table.row(row(line, case, cores, options.rounds)));
        }
    }
    table
}

fn row(line: Line, case: Case, cores: usize, rounds: usize) -> String {
    let mut pairs: Vec<(f64, f64, f64)> = Vec::new();
    for _ in 0..rounds {
        let [one, several] =
            [1, cores].map(|threads| in_a_process(&line.to_string(), case, threads)[0]);
        pairs.push((one / several, one, several));
    }
    pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (speed_up, one, several) = pairs[pairs.len() / 2];
    let setup = line.setup(case);
    let partitioning = Partitioning::new(&setup, COUNTED, Cut::default()).expect("a fat-tree");
    let counts = run_parallel(&setup, &partitioning, &mut |_| {}).1;
    let count = counts.events as f64 / counts.critical_events as f64;
    let hosts = thousands(hosts(case).into());
    format!("{hosts} | {line} | {one:.2} s | {several:.2} s | {speed_up:.2} | {count:.1}")
}

/// Prints the wall time of one run including set-up, in seconds.
#[expect(clippy::disallowed_methods, reason = "wall time is what is measured")]
pub(crate) fn child(line: Line, case: Case, threads: u16) {
    let setup = line.setup(case);
    let start = Instant::now();
    if threads == 1 {
        run(&setup, &mut |_| {});
    } else {
        let partitioning = Partitioning::new(&setup, threads, Cut::default()).expect("a fat-tree");
        run_parallel(&setup, &partitioning, &mut |_| {});
    }
    println!("{}", start.elapsed().as_secs_f64());
}
