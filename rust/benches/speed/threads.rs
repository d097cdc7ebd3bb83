//! `cargo bench --bench speed -- --threads`: one run on several threads, against the same run on
//! one.
//!
//! Measured is wall time, one process a run, in turn; the speed-up is the median of the ratios.
//! Beside it stands a count that no machine changes: the events of all of 16 parts over those of
//! the part with the most, window by window. It is the speed-up of 16 cores if an event took the
//! same time everywhere and parts never waited for anything else.

use std::process::Command;
use std::time::Instant;

use evenkeel::fabric::{Cut, Division, run, run_divided};

use crate::{Case, LINES, Transport, setup};

/// The parts of the count.
const COUNTED: u16 = 16;

/// Prints the table.
pub(crate) fn table(cases: &[Case], rounds: usize) {
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
    println!(
        "{:>6}  {:<10} {:<16} {:>9} {:>11} {:>8} {:>10}",
        "hosts",
        "policy",
        "transport",
        "1 thread",
        format!("{cores} threads"),
        "speed-up",
        "16 (count)"
    );
    for &case in cases {
        for line in LINES {
            compare(line, case, cores, rounds);
        }
    }
}

fn compare(line: (&str, Transport), case: Case, cores: usize, rounds: usize) {
    let mut pairs: Vec<(f64, f64, f64)> = Vec::new();
    for _ in 0..rounds {
        let [one, several] = [1, cores].map(|threads| measure(line, case, threads));
        pairs.push((one / several, one, several));
    }
    pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (speed_up, one, several) = pairs[pairs.len() / 2];
    let setup = setup(line.0, line.1, case);
    let division = Division::new(&setup, COUNTED, Cut::default()).expect("a fat-tree");
    let counts = run_divided(&setup, &division, &mut |_| {}).1;
    let count = counts.events as f64 / counts.critical_events as f64;
    println!(
        "{:>6}  {:<10} {:<16} {one:>7.2} s {several:>9.2} s {speed_up:>8.2} {count:>10.1}",
        case.hosts(),
        line.0,
        line.1.name(),
    );
}

/// The wall time of a run in a process of its own, with its set-up, in seconds.
fn measure((policy, transport): (&str, Transport), case: Case, threads: usize) -> f64 {
    let program = std::env::current_exe().expect("this program's path");
    let (k, mib, threads) = (case.k.to_string(), case.mib.to_string(), threads.to_string());
    let output = Command::new(program)
        .args(["divided", policy, transport.name(), &k, &mib, &threads])
        .output()
        .expect("a process of its own");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout);
    text.trim().parse().unwrap_or_else(|_| panic!("not a number: {text}"))
}

/// One measurement: prints the wall time.
#[expect(clippy::disallowed_methods, reason = "wall time is what is measured")]
pub(crate) fn child((policy, transport): (&str, Transport), case: Case, threads: u16) {
    let setup = setup(policy, transport, case);
    let start = Instant::now();
    if threads == 1 {
        run(&setup, &mut |_| {});
    } else {
        let division = Division::new(&setup, threads, Cut::default()).expect("a fat-tree");
        run_divided(&setup, &division, &mut |_| {});
    }
    println!("{}", start.elapsed().as_secs_f64());
}
