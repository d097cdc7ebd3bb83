//! Memory of runs, as measured by the system, compared with its limit and with the estimate of
//! `check`. Also runs that do not fit, and the run time with many failures.

use std::path::Path;

use evenkeel::scenario::{Overrides, Scenario};
use evenkeel::study;

use super::bench::{Bench, SMALL};
use crate::support::{alone, extent};

/// One packet from each of 512 ranks to every other: 261,632 messages.
const EXCHANGE: &str = "
[topology]
kind = \"leaf-spine\"
leaves = 32
spines = 16
hosts_per_leaf = 16
[policy]
name = \"spray\"
[workload]
kind = \"all-to-all\"
bytes = \"512KB\"
outstanding = 8
streaming = true
";

fn peak(bench: &Bench, scenario: &str) -> Option<u64> {
    let left = bench.evenkeel(&["run", scenario, "--json"]);
    assert_eq!(left.status, 0, "{}", left.err);
    left.json()["peak_rss_bytes"].as_u64()
}

#[test]
fn all_to_all_memory_grows_with_live_messages_not_pairs() {
    if extent::is_left_out("cli::memory::all_to_all") {
        return;
    }
    let bench = Bench::with_small();
    bench.write("exchange.toml", EXCHANGE);
    // Skipped where the system does not report memory.
    let (Some(program), Some(exchange)) =
        (peak(&bench, "small.toml"), peak(&bench, "exchange.toml"))
    else {
        return;
    };
    assert!(!SMALL.contains("streaming"), "the small one has all of its messages");
    let (hosts, live) = (512, 8 * 512);
    let budget = hosts * (64 << 10) + live * 200;
    assert!(exchange <= program + budget, "{exchange} B, of which the program takes {program} B");

    let scenario = Scenario::parse(EXCHANGE, "exchange", Path::new(""), &Overrides::default());
    let estimate = study::estimate_scenario(&scenario.unwrap()).unwrap();
    let (expected, taken) = (estimate.memory.get(), exchange - program.min(exchange) + (20 << 20));
    assert!(
        expected <= 2 * taken && taken <= 2 * expected,
        "{expected} B are expected and {taken} B taken"
    );
    assert_eq!(estimate.streams, 512 * 511);
}

/// Nearly all packets of 62 senders are queued before one receiver.
const INCAST: &str = "
[topology]
leaves = 8
spines = 4
hosts_per_leaf = 8
[switch]
buffer = \"2GB\"
ecn = { step = \"1GB\" }
[transport]
congestion_control = \"line-rate\"
payload = \"256B\"
retransmit_timeout = \"1s\"
[policy]
name = \"spray\"
[workload]
kind = \"incast\"
fan_in = 62
bytes = \"1MB\"
";

#[test]
fn queued_packets_take_the_estimated_memory() {
    let bench = Bench::with_small();
    bench.write("incast.toml", INCAST);
    let (Some(program), Some(taken)) = (peak(&bench, "small.toml"), peak(&bench, "incast.toml"))
    else {
        return;
    };
    let scenario = Scenario::parse(INCAST, "incast", Path::new(""), &Overrides::default());
    let estimate = study::estimate_scenario(&scenario.unwrap()).unwrap();
    // The test build of the program differs in size from the estimated one.
    let (expected, taken) = (estimate.memory.get() - (20 << 20), taken - program.min(taken));
    assert!(
        expected <= 2 * taken && taken <= 2 * expected,
        "{expected} B are expected and {taken} B taken"
    );
}

#[cfg(target_os = "linux")]
#[test]
fn the_memory_limit_of_the_process_applies() {
    let bench = Bench::new();
    bench.write(
        "a.toml",
        "[topology]\nleaves = 16\nspines = 16\nhosts_per_leaf = 64\n\
                           [workload]\nkind = \"all-to-all\"\nbytes = \"4MB\"\nchannels = 4\n",
    );
    let left = bench.evenkeel_within(3_000_000, &["run", "a.toml"]);
    left.expect_invalid(&[
        "1024 hosts is too large",
        "the limit is 3 GB",
        "use --force to run anyway",
    ]);
}

/// An exchange of 16,384 hosts with 268 million messages outstanding simultaneously. All messages
/// are generated during the run.
const BIG: &str = "
[topology]
leaves = 128
spines = 16
hosts_per_leaf = 128
[workload]
kind = \"all-to-all\"
bytes = \"64MB\"
outstanding = 16383
streaming = true
";

/// Returns true if the machine has less memory than [`BIG`] needs, about 445 GB.
fn is_too_big() -> bool {
    study::available_memory().is_some_and(|available| available.get() < 400_000_000_000)
}

#[test]
fn runs_that_do_not_fit_are_rejected_unless_forced() {
    let bench = Bench::new();
    bench.write("big.toml", BIG);
    if !is_too_big() {
        return;
    }
    for arguments in [
        &["check", "big.toml"][..],
        &["run", "big.toml"],
        &["compare", "big.toml", "--policies", "ecmp"],
    ] {
        let left = bench.evenkeel(arguments);
        left.expect_invalid(&[
            "big.toml: the run needs about 4",
            "GB of memory (",
            "use --force to run anyway",
        ]);
        assert!(left.err.contains(" is available: use fewer hosts"), "{}", left.err);
    }
    let left = bench.evenkeel(&["check", "big.toml", "--force"]);
    assert_eq!((left.status, left.err.as_str()), (0, ""), "{left:?}");
    assert!(left.out.starts_with("big.toml: ok (16384 hosts"), "{}", left.out);
}

/// Returns a study of [`BIG`].
fn big_study() -> String {
    let scenario = BIG.replace("[topology]", "[scenario.topology]");
    let scenario = scenario.replace("[workload]", "[scenario.workload]");
    format!("title = \"a\"\nwork = \"b\"\n{scenario}[[run]]\nname = \"a\"\n")
}

#[test]
fn studies_reject_runs_that_do_not_fit() {
    let bench = Bench::new();
    bench.write("study.toml", &big_study());
    if !is_too_big() {
        return;
    }
    let left = bench.evenkeel(&["sweep", "study.toml", "--out", "swept"]);
    assert_eq!(left.status, 2, "{left:?}");
    assert!(left.out.starts_with("1 run of 1 point, 1 with an error"), "{}", left.out);
    assert!(left.err.contains("the run needs about 4"), "{}", left.err);
    assert!(bench.read("swept/results.csv").contains("use --force to run anyway"));
    let left = bench.evenkeel(&["reproduce", "study.toml"]);
    left.expect_invalid(&[
        "study.toml:13:1: run 'a'",
        "the run needs about 4",
        "use --force to run anyway",
    ]);
}

#[test]
fn runs_that_fit_also_run_with_force() {
    let bench = Bench::with_small();
    let run = |options: &[&str]| {
        let left = bench.evenkeel(&[&["run", "small.toml"], options].concat());
        assert_eq!(left.status, 0, "{left:?}");
        left.out.lines().filter(|line| !line.starts_with("work")).map(str::to_owned).collect()
    };
    let [plain, forced]: [Vec<String>; 2] = [run(&[]), run(&["--force"])];
    assert_eq!(plain, forced);
    let study = "[scenario.topology]\nleaves = 2\nspines = 2\nhosts_per_leaf = 2\n[[run]]\n\
                 name = \"a\"\n";
    bench.write("study.toml", study);
    let left = bench.evenkeel(&["sweep", "study.toml", "--out", "swept", "--force"]);
    assert_eq!(left.status, 0, "{left:?}");
}

/// Returns the CPU time of this thread in seconds.
#[cfg(target_os = "linux")]
fn of_this_thread(act: impl FnOnce()) -> f64 {
    use nix::sys::resource::{UsageWho, getrusage};
    let seconds = || {
        let usage = getrusage(UsageWho::RUSAGE_THREAD).expect("the system counts it");
        let [user, system] = [usage.user_time(), usage.system_time()];
        (user.tv_sec() + system.tv_sec()) as f64 + (user.tv_usec() + system.tv_usec()) as f64 * 1e-6
    };
    let before = seconds();
    act();
    seconds() - before
}

/// Four times as many failures take four times as long, not sixteen times.
#[cfg(target_os = "linux")]
#[test]
fn run_time_is_not_quadratic_in_the_number_of_failures() {
    if extent::is_left_out("cli::memory::eight_thousand_failures") {
        return;
    }
    let time = |count: u64| {
        let failures = (0..count).map(|index| {
            let (link, at) = (index % 4, 10 * index);
            format!(
                "[[failure]]\nlink = \"leaf{}-spine{}\"\nat = \"{at}us\"\nuntil = \"{}us\"\n",
                link / 2,
                link % 2,
                at + 5
            )
        });
        let text = super::bench::SMALL.to_owned() + &failures.collect::<String>();
        let once = || {
            of_this_thread(|| {
                let overrides = Overrides::default();
                let scenario = Scenario::parse(&text, "many", Path::new(""), &overrides).unwrap();
                assert_eq!(scenario.fabric.failures.len() as u64, count);
                alone(&scenario, &mut |_| {});
            })
        };
        (0..3).map(|_| once()).fold(f64::INFINITY, f64::min)
    };
    let (some, many) = (time(2_000), time(8_000));
    assert!(many < 9.0 * some, "{some} s for 2,000 and {many} s for 8,000");
}
