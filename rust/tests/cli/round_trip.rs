//! Every example as a user takes it from a run to a page: run, plot, report, and the run of the
//! written scenario.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use super::bench::Bench;
use crate::support::extent;

/// Examples whose runs take minutes.
const VERY_LONG: [&str; 3] = ["fsdp-llama-3.toml", "gpt-step.toml", "moe-64.toml"];

/// Examples whose runs take more than half a second.
const LONG: [&str; 13] = [
    "all-to-all-256.toml",
    "conga-staggered.toml",
    "link-failure.toml",
    "ofan-all-to-all.toml",
    "parallelisms.toml",
    "permutation-1024.toml",
    "rails-rdma-tcp.toml",
    "rails-sizes.toml",
    "rails-tcp-in-network.toml",
    "reps-table.toml",
    "ring-all-reduce.toml",
    "slow-links.toml",
    "two-jobs.toml",
];

/// Returns the names of the examples, sorted.
fn examples() -> Vec<String> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("examples");
    let entries = fs::read_dir(folder).expect("the folder is there");
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.filter(|name| name.ends_with(".toml")).collect();
    names.sort();
    for name in VERY_LONG.iter().chain(&LONG) {
        assert!(names.iter().any(|it| it == name), "{name} is not an example");
    }
    names.retain(|name| !VERY_LONG.contains(&name.as_str()));
    extent::cases("cli::round_trip", names, |name| !LONG.contains(&name.as_str()))
}

/// Runs the part of the examples with these places modulo `parts`, so that parts run in parallel.
fn every_example(part: usize, parts: usize) {
    for example in examples().iter().skip(part).step_by(parts) {
        let bench = Bench::new();
        let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("examples").join(example);
        let run = |scenario: &str, out: &str| {
            let left = bench.evenkeel(&["run", scenario, "--out", out]);
            assert_eq!(left.status, 0, "{example}: {left:?}");
        };
        run(&path.display().to_string(), "run");
        let left = bench.evenkeel(&["plot", "run", "--out", "figures"]);
        assert_eq!((left.status, left.err.as_str()), (0, ""), "{example}");
        assert_eq!(left.out.lines().count(), bench.names("figures").len(), "{example}");
        let figures: String = bench
            .names("figures")
            .iter()
            .map(|name| bench.read(&format!("figures/{name}")))
            .collect();
        let left = bench.evenkeel(&["report", "run", "--out", "page.html"]);
        assert_eq!((left.status, left.err.as_str()), (0, ""), "{example}");
        let summary = summary(&bench, "run");
        let failures = summary["failures"].as_array().map_or(&[][..], Vec::as_slice);
        let links: Vec<&str> = failures.iter().map(|it| it["link"].as_str().unwrap()).collect();
        if let Some(first) = links.first() {
            assert!(bench.read("page.html").contains(&format!("<strong>{first}</strong>")));
        }
        // The matrices have the links between switches.
        let are_framed = links.iter().any(|link| !link.contains("host"));
        assert_eq!(figures.contains("framed links failed"), are_framed, "{example}");
        run("run/scenario.toml", "again");
        assert!(summary == self::summary(&bench, "again"), "{example}: the summary differs");
        assert_eq!(bench.names("run"), bench.names("again"), "{example}");
        for name in bench.names("run").iter().filter(|name| name.ends_with(".csv")) {
            let [first, again] = ["run", "again"].map(|it| bench.read(&format!("{it}/{name}")));
            assert!(first == again, "{example}: {name} differs");
        }
    }
}

/// Returns the summary of a run without the name of its scenario, and without the scenario itself:
/// its paths are relative to its file.
fn summary(bench: &Bench, folder: &str) -> Value {
    let text = bench.read(&format!("{folder}/summary.json"));
    let mut summary: Value = serde_json::from_str(&text).expect("it is JSON");
    for key in ["scenario", "resolved"] {
        summary[key] = Value::Null;
    }
    summary
}

#[test]
fn every_example_is_drawn_reported_and_run_again_first_half() {
    every_example(0, 2);
}

#[test]
fn every_example_is_drawn_reported_and_run_again_second_half() {
    every_example(1, 2);
}

/// A scale-up network and failures, with messages of two sizes: the slowdowns and the failures come
/// from the fabric of the scenario.
#[test]
fn a_run_with_a_scale_up_network_keeps_its_slowdowns_and_failures() {
    let bench = Bench::new();
    let text = "[topology]\nkind = \"rail-optimized\"\nrails = 2\nservers = 4\nunits = 2\n\
                spines = 2\nhost_latency = \"100ns\"\n[topology.scale_up]\ngpus = 2\n\
                [topology.llr]\nreplays = 2\n[policy]\nname = \"spray\"\n\
                [[job]]\nkind = \"permutation\"\nbytes = \"64KB\"\n\
                [[job]]\nkind = \"permutation\"\nbytes = \"256KB\"\n\
                [[failure]]\nlink = \"leaf0-spine0\"\nat = \"2us\"\nconvergence = \"1us\"\n";
    bench.write("a.toml", text);
    let left = bench.evenkeel(&["run", "a.toml", "--out", "run"]);
    assert_eq!(left.status, 0, "{left:?}");
    let left = bench.evenkeel(&["plot", "run", "--out", "figures"]);
    assert_eq!((left.status, left.err.as_str()), (0, ""), "{left:?}");
    assert!(bench.names("figures").contains(&"slowdown-by-size.svg".to_owned()), "{left:?}");
    assert!(bench.read("figures/link-load-a-spray.svg").contains("framed links failed"));
}

/// Its slowdowns need a scenario, which such an experiment does not have.
#[test]
fn an_experiment_with_messages_of_several_sizes_is_drawn_without_slowdowns() {
    let bench = Bench::new();
    bench.write("t.txt", "4 1 3\n3\n0 3 100Gbps 1us 0\n1 3 100Gbps 1us 0\n2 3 100Gbps 1us 0\n");
    bench.write("f.txt", "2\n0 2 3 100 100000 2.0\n1 2 3 100 50000 2.0\n");
    let config = "CC_MODE 1\nENABLE_QCN 0\nTOPOLOGY_FILE t.txt\nFLOW_FILE f.txt\n\
                  SIMULATOR_STOP_TIME 4.0\n";
    bench.write("config.txt", config);
    let left = bench.evenkeel(&["hpcc", "config.txt", "--out", "run"]);
    assert_eq!(left.status, 0, "{left:?}");
    for command in [["plot", "run", "--out", "figures"], ["report", "run", "--out", "page.html"]] {
        let left = bench.evenkeel(&command);
        assert_eq!(left.status, 0, "{left:?}");
        assert!(left.err.contains("slowdowns are not drawn"), "{left:?}");
    }
    assert_eq!(bench.names("figures").len(), 1);
}
