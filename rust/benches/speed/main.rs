//! The speed of a run compared with the yardstick: `cargo bench --bench speed [-- OPTIONS]`.
//!
//! | option | meaning |
//! |---|---|
//! | `--threads` | measures one run on several threads instead ([`threads`]) |
//! | `--sizes` | measures the curve over the number of hosts instead ([`sizes`]) |
//! | `--planes` | compares 4,096 hosts in 4 planes with as many ports in one plane ([`planes`]) |
//! | `--rounds N` | number of measured pairs per line: 5 |
//! | `--large` | adds 8,192 hosts |
//! | `--small` | only 16 hosts, in one second; 256 with `--planes` |
//! | `--write PAGE` | writes the table between its markers in that page, `docs/speed.md` |
//!
//! Each measurement runs in a separate process. evenkeel and the yardstick alternate, so both see
//! the same machine state. The table shows the pair with the median ratio. Figures are packet-hops
//! (one packet across one link) per CPU-second of one thread, and peak resident memory per host.
//! `cases.rs` defines the workload.

#[path = "../../cli/allocator.rs"]
mod allocator;
#[path = "../cases.rs"]
mod cases;
mod options;
#[path = "../page.rs"]
mod page;
mod planes;
mod sizes;
mod threads;
mod yardstick;

use std::process::Command;

use cases::{Case, LINES, Line};
use evenkeel::fabric::{Verdict, run};
use options::{Options, Target};
use page::{Table, thousands};

/// Argument of a process that measures the yardstick.
const YARDSTICK: &str = "yardstick";

/// The figures of one process.
struct Figures {
    hops: f64,
    cpu_s: f64,
    bytes: f64,
}

impl Figures {
    fn rate(&self) -> f64 {
        self.hops / self.cpu_s
    }
}

/// The pair with the median ratio.
struct Median {
    ratio: f64,
    ours: f64,
    yardstick: f64,
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|it| it != "--bench").collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    // The yardstick is a fixed reference: default allocator settings and 4 KiB pages (below).
    if words.get(1) != Some(&YARDSTICK) {
        allocator::keep_freed_memory();
    }
    if let ["child", what, k, kib, threads] = words[..] {
        let case = Case { k: k.parse().expect("a number"), kib: kib.parse().expect("a number") };
        // `None` selects the yardstick.
        let line = LINES.into_iter().find(|line| line.to_string() == what);
        return match (threads.parse().expect("a number"), line) {
            (0, line) => child(line, case),
            (threads, line) => threads::child(line.expect("a line"), case, threads),
        };
    }
    if let ["child", "planes", policy, rest @ ..] = &words[..] {
        let numbers: Vec<u32> = rest.iter().map(|it| it.parse().expect("a number")).collect();
        return planes::child(policy, numbers.try_into().expect("hosts, planes and KiB"));
    }
    let options = Options::parse(&words).unwrap_or_else(|fault| {
        eprintln!("error: {fault}");
        std::process::exit(2);
    });
    let (name, table) = match options.target {
        Target::Yardstick => ("yardstick", compare(&options)),
        Target::Threads => ("threads", threads::table(&options)),
        Target::Sizes => ("sizes", sizes::table(&options)),
        Target::Planes => ("planes", planes::table(&options)),
    };
    let Some(path) = options.write else { return };
    let page = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let page = page::replaced(&page, name, &table).unwrap_or_else(|it| panic!("{path}: {it}"));
    std::fs::write(&path, page).unwrap_or_else(|error| panic!("{path}: {error}"));
}

/// Compares every line of every case with the yardstick.
fn compare(options: &Options) -> Table {
    let mut table = Table::new(&[
        "hosts",
        "policy",
        "transport",
        "packet-hops per CPU-second",
        "yardstick",
        "ratio",
        "memory per host",
    ]);
    print!("{}", table.text());
    for &case in &options.cases {
        for line in LINES {
            let Median { ratio, ours, yardstick } = median(line, case, options.rounds);
            let kb = measure(Some(line), case).bytes / f64::from(hosts(case)) / 1e3;
            let (hosts, ours, yardstick) =
                (thousands(hosts(case).into()), millions(ours), millions(yardstick));
            let row = format!("{hosts} | {line} | {ours} | {yardstick} | {ratio:.2} | {kb:.0} kB");
            println!("{}", table.row(row));
        }
    }
    table
}

/// Returns the median pair of a line and the yardstick.
fn median(line: Line, case: Case, rounds: usize) -> Median {
    let pair = || {
        let [ours, yardstick] = [Some(line), None].map(|what| measure(what, case).rate());
        Median { ratio: ours / yardstick, ours, yardstick }
    };
    let mut pairs: Vec<Median> = std::iter::repeat_with(pair).take(rounds).collect();
    pairs.sort_by(|a, b| a.ratio.total_cmp(&b.ratio));
    pairs.swap_remove(rounds / 2)
}

/// Measures a line, or the yardstick, in a separate process.
fn measure(line: Option<Line>, case: Case) -> Figures {
    let what = line.map_or_else(|| YARDSTICK.to_owned(), |line| line.to_string());
    let numbers = in_a_process(&what, case, 0);
    let [hops, cpu_s, bytes] = numbers[..] else { panic!("not three numbers: {numbers:?}") };
    Figures { hops, cpu_s, bytes }
}

/// Returns the numbers that a separate process prints.
fn in_a_process(what: &str, case: Case, threads: usize) -> Vec<f64> {
    let [k, kib, threads] = [case.k.to_string(), case.kib.to_string(), threads.to_string()];
    in_a_process_with(&[what, &k, &kib, &threads])
}

/// Returns the numbers that a child process with these arguments prints.
fn in_a_process_with(arguments: &[&str]) -> Vec<f64> {
    let program = std::env::current_exe().expect("this program's path");
    let mut command = Command::new(program);
    if arguments[0] == YARDSTICK {
        // The yardstick is a fixed reference: it always uses 4 KiB pages.
        command.env("MIMALLOC_ALLOW_THP", "0");
    }
    let output = command.arg("child").args(arguments).output();
    let output = output.expect("a process of its own");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout);
    text.split_whitespace().map(|it| it.parse().expect("a number")).collect()
}

fn child(line: Option<Line>, case: Case) {
    let before = usage().0;
    let hops = match line {
        None => yardstick::hops(case.k, case.kib << 10),
        Some(line) => {
            let outcome = run(&line.setup(case), &mut |_| {});
            assert_eq!(outcome.verdict, Verdict::Completed);
            outcome.counters.packet_hops
        }
    };
    let (cpu, bytes) = usage();
    println!("{hops} {} {bytes}", cpu - before);
}

/// Returns the CPU seconds (user and system) and the peak resident memory so far.
#[cfg(unix)]
fn usage() -> (f64, f64) {
    use nix::sys::resource::{UsageWho, getrusage};
    use nix::sys::time::TimeValLike;
    let usage = getrusage(UsageWho::RUSAGE_SELF).expect("every Unix has it");
    let us = usage.user_time().num_microseconds() + usage.system_time().num_microseconds();
    // Linux counts in KiB.
    (us as f64 / 1e6, usage.max_rss() as f64 * 1024.0)
}

#[cfg(not(unix))]
fn usage() -> (f64, f64) {
    panic!("the benchmark reads getrusage, which this platform does not have")
}

/// Returns the number of hosts of a k-ary fat-tree.
fn hosts(case: Case) -> u32 {
    case.k.pow(3) / 4
}

fn millions(rate: f64) -> String {
    format!("{:.1} million", rate / 1e6)
}
