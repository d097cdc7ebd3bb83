//! Small inputs for which the simulator silently gave a wrong answer, each with the right one.

use std::path::{Path, PathBuf};

use evenkeel::scenario::{Overrides, Scenario};
use evenkeel::{fabric, fluid};

mod inputs;
mod regressions;
mod running;
mod studies;

/// Returns an input of these folders, if it exists.
fn input(group: &str, name: &str) -> Option<PathBuf> {
    let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data");
    let input = shared.join(group).join(name);
    if !input.exists() {
        eprintln!("skipped: reported: {name} is not at ../shared/data/{group}");
        return None;
    }
    Some(input)
}

fn folder(name: &str) -> Option<PathBuf> {
    input("bugs", name)
}

fn load(path: &Path, set: &[&str]) -> Scenario {
    let settings = set.iter().map(|it| it.parse().expect("a setting")).collect();
    Scenario::load(path, &Overrides { settings, ..Overrides::default() })
        .unwrap_or_else(|error| panic!("{error}"))
}

/// Returns the completion time in microseconds.
fn cct(path: &Path, set: &[&str]) -> f64 {
    let outcome = fabric::run(&load(path, set).setup(), &mut |_| {});
    outcome.cct.expect("it completes").as_ns_f64() / 1e3
}

/// Two paths of unequal lengths: a pair's base round trip is that of its longest path, regardless
/// of switch numbers.
#[test]
fn switch_numbers_do_not_matter_for_paths_of_unequal_length() {
    let Some(folder) = folder("two-lengths") else { return };
    for control in ["nscc", "swift", "hpcc"] {
        for seed in ["seed=1", "seed=2"] {
            let set = [&*format!("transport.congestion_control={control}"), seed];
            let [a, b] = ["a.toml", "b.toml"].map(|file| cct(&folder.join(file), &set));
            assert!((a / b - 1.0).abs() < 0.03, "{control}, {seed}: {a} and {b}");
            assert!((844.6..1_200.0).contains(&a), "{control}, {seed}: {a}");
        }
    }
}

#[test]
fn a_distant_idle_host_does_not_matter() {
    let Some(folder) = folder("idle-distance") else { return };
    for control in ["dctcp-window", "swift", "mp-rdma"] {
        let set = [&*format!("transport.congestion_control={control}"), "workload.bytes=2MB"];
        let [near, far] = ["near.toml", "far.toml"].map(|file| cct(&folder.join(file), &set));
        assert!(near == far, "{control}: {near} and {far}");
    }
}

#[test]
fn weights_by_capacity_need_no_failure() {
    let Some(folder) = folder("equal-fabrics") else { return };
    for (policy, most) in [
        ("spray", 845.0),
        ("wcmp", 1_030.0),
        ("ofan", 845.0),
        ("host-dr", 845.0),
        ("switch-rr", 845.0),
    ] {
        let set = [&*format!("policy.name={policy}")];
        let [rates, degraded] =
            ["rates.toml", "degraded.toml"].map(|file| cct(&folder.join(file), &set));
        assert!((rates / degraded - 1.0).abs() < 0.003, "{policy}: {rates} and {degraded}");
        assert!((822.5..most).contains(&rates), "{policy}: {rates}");
    }
}

#[test]
fn unused_weights_are_a_warning() {
    let Some(folder) = folder("weights-unused") else { return };
    for policy in ["ethereal", "line-cut", "conga", "letflow"] {
        let set = [&*format!("policy.name={policy}")];
        let warnings = load(&folder.join("degraded.toml"), &set).warnings.join("\n");
        assert!(warnings.contains("ignores weights"), "{policy}: {warnings}");
    }
}

/// A fluid run of a load-aware policy takes about as long as the packet simulation.
#[test]
fn fluid_flows_fill_links_of_unequal_rates_where_the_policy_looks_at_load() {
    let Some(folder) = folder("fluid-parallel") else { return };
    for policy in ["reps", "jsq", "adaptive"] {
        let policy = format!("policy.name={policy}");
        let scenario = load(&folder.join("rates.toml"), &[&policy, "fidelity=fluid"]);
        let fluid = fluid::run(&scenario.setup(), &mut |_| {}).outcome.cct.expect("it completes");
        let packets = cct(&folder.join("rates.toml"), &[&policy]);
        let off = fluid.as_ns_f64() / 1e3 / packets - 1.0;
        assert!(off.abs() < 0.05, "{policy}: {off}");
    }
}

#[test]
fn marking_thresholds_above_the_buffer_are_a_warning() {
    let Some(file) = input("robust", "marks-above-buffer.toml") else { return };
    // By default, marking starts below it.
    assert!(load(&file, &[]).warnings.iter().all(|it| !it.contains("marking starts")));
    for late in ["switch.ecn.kmin=100KB", "switch.ecn.step=100KB"] {
        let warnings = load(&file, &[late]).warnings;
        let is_told = |it: &String| it.contains("marking starts at 100KB, but no port can hold");
        assert!(warnings.iter().any(is_told), "{late}: {warnings:?}");
    }
}

#[test]
fn mrc_uses_the_configured_retransmission_timer() {
    let Some(file) = input("robust", "ignored-timer.toml") else { return };
    let [short, long] = ["20us", "2ms"]
        .map(|timer| cct(&file, &[&*format!("transport.retransmit_timeout={timer}")]));
    assert!(long > 1.5 * short, "{short} and {long}");
}

/// Returns the completion time of a fluid run in microseconds, and its warnings.
fn estimate(path: &Path, set: &[&str]) -> (f64, Vec<String>) {
    let estimate = fluid::run(&load(path, set).setup(), &mut |_| {});
    (estimate.outcome.cct.expect("it completes").as_ns_f64() / 1e3, estimate.warnings)
}

#[test]
fn fluid_flows_are_paced_to_the_share_of_line_rate_and_a_slow_start_is_a_warning() {
    let Some(file) = input("robust", "fluid-control.toml") else { return };
    for share in ["1/2", "1/10"] {
        let share = format!("transport.parameters={{share='{share}'}}");
        let set = ["transport.congestion_control=line-rate", &share];
        let (fluid, warnings) = estimate(&file, &set);
        let packets = cct(&file, &[&set[..], &["fidelity=packet"]].concat());
        assert!((fluid / packets - 1.0).abs() < 0.001, "{share}: {fluid} and {packets}");
        assert!(warnings.is_empty(), "{share}: {warnings:?}");
    }
    let slow = "new-reno starts with 41580B per round trip, but the longest path holds 2016888B";
    assert!(estimate(&file, &[]).1.iter().any(|it| it.starts_with(slow)));
    let nscc = ["transport.congestion_control=nscc"];
    assert!(estimate(&file, &nscc).1.is_empty());
}

#[test]
fn credit_below_the_round_trip_of_a_link_is_a_warning_of_fluid_runs() {
    let Some(file) = input("robust", "fluid-credit.toml") else { return };
    let warns = |memory: &str| {
        let (_, warnings) = estimate(&file, &[&format!("switch.cbfc.memory={memory}")]);
        warnings.iter().any(|it| it.contains("508356B of credit to be full"))
    };
    assert!(warns("20KB") && warns("508KB") && !warns("509KB"));
    // The packet simulation shows what the link needs.
    let packets =
        |memory: &str| cct(&file, &["fidelity=packet", &format!("switch.cbfc.memory={memory}")]);
    assert!(packets("400KB") > 1.1 * packets("1MB"));
    assert!(packets("530KB") < 1.001 * packets("1MB"));
}
