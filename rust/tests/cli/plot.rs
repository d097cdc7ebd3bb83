//! `evenkeel plot`: figures of what runs and studies wrote.

use std::fs;

use super::bench::Bench;

/// The committed example of figures, with its results in `results`.
fn recorded() -> Bench {
    let bench = Bench::with_small();
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/recording.toml");
    let left = bench.evenkeel(&["run", example, "--out", "results"]);
    assert_eq!(left.status, 0, "{}", left.err);
    bench
}

#[test]
fn a_recorded_run_has_six_figures_with_units_and_the_same_bytes_each_time() {
    let bench = recorded();
    let left = bench.evenkeel(&["plot", "results", "--out", "figures"]);
    assert_eq!((left.status, left.err.as_str()), (0, ""));
    let svg = |name: &str| fs::read_to_string(bench.path(&format!("figures/{name}.svg"))).unwrap();
    for (name, texts) in [
        ("completion-cdf", &["message completion time (us)", "share of messages"][..]),
        ("link-load-recording-reps", &["carried", "(MB)", "leaf1", "spine3"]),
        ("queues-recording-reps", &["queue (KB)", "time (us)", "leaf0-spine0 restored"]),
        ("utilisation-recording-reps", &["utilisation", "time (us)", "leaf0 to spine3"]),
        ("send-rates-recording-reps", &["rate sent (Gbps)", "host3 to host7"]),
        ("allowed-rates-recording-reps", &["rate allowed (Gbps)"]),
    ] {
        let svg = svg(name);
        assert!(svg.starts_with("<svg xmlns") && svg.trim_end().ends_with("</svg>"), "{name}");
        for text in texts {
            assert!(svg.contains(&format!("\n{text}\n")), "{name} has no text '{text}'");
        }
        assert!(left.out.contains(&format!("{name}.svg: ")), "{}", left.out);
    }
    assert_eq!(left.out.lines().count(), 6, "{}", left.out);
    bench.evenkeel(&["plot", "results", "--out", "again"]);
    let again = fs::read_to_string(bench.path("again/queues-recording-reps.svg")).unwrap();
    assert_eq!(svg("queues-recording-reps"), again);
}

#[test]
fn a_file_takes_one_figure() {
    let bench = recorded();
    let left = bench.evenkeel(&["plot", "results", "--out", "a.svg"]);
    assert_eq!(left.status, 2);
    assert!(left.err.contains("choose one with --figure: completion-cdf, "), "{}", left.err);
    let only = ["plot", "results", "--out", "a.svg", "--figure", "queues"];
    assert_eq!(bench.evenkeel(&only).status, 0);
    assert!(bench.path("a.svg").is_file());
    let left = bench.evenkeel(&["plot", "results", "--out", "a.svg", "--figure", "cdf"]);
    assert!(left.err.contains("--figure cdf: the results have no such figure"), "{}", left.err);
}

#[test]
fn policies_with_seeds_are_compared() {
    let bench = Bench::with_small();
    let mut folders = Vec::new();
    for (policy, seed) in [("ecmp", "1"), ("ecmp", "2"), ("spray", "1"), ("spray", "2")] {
        let folder = format!("{policy}-{seed}");
        let run = ["run", "small.toml", "--policy", policy, "--seed", seed, "--out", &folder];
        assert_eq!(bench.evenkeel(&run).status, 0);
        folders.push(folder);
    }
    let folders: Vec<&str> = folders.iter().map(String::as_str).collect();
    let plot = [&["plot", "--out", "figures"][..], &folders].concat();
    assert_eq!(bench.evenkeel(&plot).status, 0);
    let svg = fs::read_to_string(bench.path("figures/by-policy.svg")).unwrap();
    assert!(svg.contains("means of up to 2 seeds with 95 % intervals"), "{svg}");
    let metric = [&["plot", "--out", "figures", "--metric", "no_such"][..], &folders].concat();
    let left = bench.evenkeel(&metric);
    assert_eq!(left.status, 0, "the other figures are drawn: {}", left.err);
    assert!(!left.out.contains("by-policy"), "{}", left.out);
}

#[test]
fn faults_of_files_name_the_place_and_what_would_be_right() {
    let bench = recorded();
    let fault = |name: &str, from: &str, to: &str| {
        let path = bench.path(&format!("results/{name}"));
        let before = fs::read_to_string(&path).unwrap();
        fs::write(&path, before.replacen(from, to, 1)).unwrap();
        let left = bench.evenkeel(&["plot", "results", "--out", "figures"]);
        fs::write(&path, before).unwrap();
        assert_eq!(left.status, 2, "{}", left.err);
        left.err
    };
    let err = fault("flows.csv", "8000000", "eight");
    assert!(err.contains("flows.csv:3: column 5 (bytes): 'eight' is not a number"), "{err}");
    let err = fault("links.csv", "link,from", "wire,from");
    assert!(err.contains("links.csv:2: no column is called 'link'; the columns are wire"), "{err}");
    let err = fault("summary.json", "\"seed\": 1", "\"seed\": x");
    assert!(err.contains("summary.json:4:"), "{err}");
    let err = fault("ports.csv", "5000,leaf0", "5000,extra,leaf0");
    assert!(err.contains("ports.csv:3: the line has 7 values; expected a line of 6"), "{err}");
    fs::remove_file(bench.path("results/flows.csv")).unwrap();
    let err = bench.evenkeel(&["plot", "results", "--out", "figures"]).err;
    assert!(err.contains("flows.csv: cannot be read") && err.contains("run --out writes it"));
    let err = bench.evenkeel(&["plot", ".", "--out", "figures"]).err;
    assert!(err.contains("no results are here; expected a folder with summary.json"), "{err}");
}

#[test]
fn the_table_of_a_committed_study_is_drawn_over_its_keys() {
    let bench = Bench::with_small();
    let table = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/reproduce/ofan-sweeps.csv");
    let left = bench.evenkeel(&["plot", table, "--out", "figures"]);
    assert_eq!((left.status, left.err.as_str()), (0, ""));
    let name = "figures/over-hosts-ofan-sweeps-network.svg";
    let svg = fs::read_to_string(bench.path(name)).unwrap();
    assert!(svg.contains("\nhosts\n") && svg.contains("95 % intervals"), "{svg}");
}

#[test]
fn sweeps_and_comparisons_are_drawn_with_their_intervals() {
    let bench = Bench::with_small();
    let study = "[scenario.topology]\nleaves = 2\nspines = 2\nhosts_per_leaf = 4\n\
                 [scenario.workload]\nkind = \"permutation\"\n[[run]]\nname = \"sizes\"\n\
                 seeds = 2\n[run.over]\npolicy = [\"ecmp\", \"spray\"]\n\
                 \"workload.bytes\" = [\"16KB\", \"64KB\"]\n";
    bench.write("study.toml", study);
    let sweep = bench.evenkeel(&["sweep", "study.toml", "--out", "swept"]);
    assert_eq!(sweep.status, 0, "{}", sweep.err);
    let left = bench.evenkeel(&["plot", "swept", "--out", "sweep.svg"]);
    assert_eq!((left.status, left.err.as_str()), (0, ""));
    let svg = bench.read("sweep.svg");
    assert!(svg.contains("\nworkload.bytes (KB)\n") && svg.contains("\necmp\n"), "{svg}");
    assert!(svg.contains("95 % intervals"), "{svg}");
    let report = ["report", "swept", "--out", "sweep.html"];
    assert_eq!(bench.evenkeel(&report).status, 0);
    assert!(bench.read("sweep.html").contains("evenkeel sweep swept/study.toml --out swept"));
    let policies = ["--policies", "ecmp,spray", "--seeds", "3", "--format", "csv"];
    let csv = bench.evenkeel(&[&["compare", "small.toml"][..], &policies].concat());
    assert_eq!(csv.status, 0, "{}", csv.err);
    bench.write("compare.csv", &csv.out);
    let left = bench.evenkeel(&["plot", "compare.csv", "--out", "compare.svg"]);
    assert_eq!((left.status, left.err.as_str()), (0, ""));
    assert!(bench.read("compare.svg").contains("means of up to 3 seeds with 95 % intervals"));
}

#[cfg(not(feature = "png"))]
#[test]
fn png_without_the_feature_says_how_to_have_it() {
    let bench = recorded();
    let left = bench.evenkeel(&["plot", "results", "--out", "figures", "--format", "png"]);
    assert!(left.status == 2 && left.err.contains("--features png"), "{}", left.err);
}
