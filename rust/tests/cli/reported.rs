//! Small inputs that gave wrong results or were accepted silently, as seen by a user of the
//! command.

use std::fs;
use std::path::{Path, PathBuf};

use super::bench::{Bench, CommandOutput};

/// Returns a folder with a copy of these inputs; `None`, with a message, if they do not exist.
fn with(names: &[&str]) -> Option<Bench> {
    let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data/robust");
    let bench = Bench::new();
    for name in names {
        let from: PathBuf = shared.join(name);
        if !from.exists() {
            eprintln!("skipped: reported: {name} is not at ../shared/data/robust");
            return None;
        }
        fs::copy(from, bench.path(name)).expect("there is room");
    }
    Some(bench)
}

fn cct_ns(left: &CommandOutput) -> f64 {
    left.json()["cct_ns"].as_f64().unwrap_or_else(|| panic!("it completes: {left:?}"))
}

#[test]
fn no_run_is_below_its_bound() {
    for name in ["bound-one-gap.toml", "fluid-below-bound.toml"] {
        let Some(bench) = with(&[name]) else { return };
        let left = bench.evenkeel(&["run", "--json", name]);
        let slowdown = left.json()["slowdown"].as_f64();
        assert!(left.status == 0 && slowdown.is_some_and(|it| it >= 1.0), "{name}: {left:?}");
    }
}

#[test]
fn exports_report_what_the_format_leaves_out() {
    let Some(bench) = with(&["export-planes.toml", "export-drops.toml"]) else { return };
    let left = bench.evenkeel(&["export", "export-planes.toml", "--format", "hpcc", "--out", "p"]);
    assert_eq!(left.status, 2, "{left:?}");
    for format in ["hpcc", "infragraph"] {
        let export = ["export", "export-drops.toml", "--format", format, "--out", format];
        let left = bench.evenkeel(&export);
        assert_eq!(left.status, 0, "{left:?}");
        for dropped in ["scale-up", "forwarding_delay = 1us", "failures"] {
            assert!(left.err.contains(dropped), "{format}: {dropped} is not in {}", left.err);
        }
    }
}

/// The start offset counts in no completion time here. Formats that turn it into a computation say
/// so.
#[test]
fn formats_that_turn_a_start_into_a_computation_say_so() {
    let name = "start-round-trip.toml";
    let Some(bench) = with(&[name]) else { return };
    let own = cct_ns(&bench.evenkeel(&["run", "--json", name]));
    let left = bench.evenkeel(&["export", name, "--format", "goal", "--out", "e"]);
    let said = "starts are computations in this format";
    assert!(left.status == 0 && left.err.contains(said), "{left:?}");
    bench.write(
        "again.toml",
        &bench
            .read(name)
            .replace("all-to-all", "goal")
            .replace("bytes = \"1MB\"\nstart = \"5us\"", "file = \"e/start-round-trip.goal\""),
    );
    let again = cct_ns(&bench.evenkeel(&["run", "--json", "again.toml"]));
    assert!((again - own - 5_000.0).abs() < 1.0, "{own} and {again}");
}

#[cfg(target_os = "linux")]
#[test]
fn the_memory_check_uses_the_runs_need_and_the_process_limit() {
    let names = ["memory-limit.toml", "memory-estimate.toml", "memory-long-delay.toml"];
    let Some(bench) = with(&names) else { return };
    let left = bench.evenkeel_within(3_000_000, &["run", names[0]]);
    assert!(left.status == 2 && left.err.contains("memory"), "{left:?}");
    // They take 574 to 799 MB, 22 MB, and 1,037 MB if packets are retransmitted every millisecond.
    let again = ["--set", "transport.retransmit_timeout=1ms"];
    for (name, more, least, most) in [
        (names[1], &[][..], 400.0, 1_600.0),
        (names[2], &[], 11.0, 44.0),
        (names[2], &again, 500.0, 2_100.0),
    ] {
        let left = bench.evenkeel(&[&["check", name], more].concat());
        let told = left.out.split("about ").nth(1).and_then(|rest| rest.split(' ').next());
        let megabytes = told.map(|told| match told.strip_suffix("GB") {
            Some(gigabytes) => gigabytes.parse::<f64>().unwrap() * 1_000.0,
            None => told.trim_end_matches("MB").parse().unwrap(),
        });
        let is_near = megabytes.is_some_and(|it| (least..most).contains(&it));
        assert!(left.status == 0 && is_near, "{name}: {left:?}");
    }
}

#[test]
fn a_study_without_runs_at_a_scale_succeeds() {
    let name = "study-all-skipped.toml";
    let Some(bench) = with(&[name]) else { return };
    let left = bench.evenkeel(&["reproduce", name, "--scale", "quick", "--out", "o"]);
    assert_eq!(left.status, 0, "{left:?}");
}
