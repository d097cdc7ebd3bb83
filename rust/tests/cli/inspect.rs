//! `evenkeel check`, `bound`, `qps`, `trace` and `list`.

use serde_json::Value;

use super::bench::{Bench, SMALL};

#[test]
fn check_prints_one_line_per_valid_file_and_one_error_per_invalid_file() {
    let bench = Bench::with_small();
    let ok = "small.toml: ok (8 hosts, 4 switches, 12 links, 56 messages, policy ecmp, about \
              21.2MB and 341us)\n";
    let left = bench.evenkeel(&["check", "small.toml"]);
    assert_eq!((left.status, left.out.as_str(), left.err.as_str()), (0, ok, ""));
    bench.write("bad.toml", "[topology]\nhost_rate = \"400\"\n");
    bench.write("config.txt", "CC_MODE 1\n");
    let left = bench.evenkeel(&["check", "bad.toml", "small.toml", "config.txt"]);
    assert_eq!((left.status, left.out.as_str()), (2, ok));
    assert!(left.err.contains("bad.toml:2"), "{}", left.err);
    assert!(left.err.contains("'400' has no unit"), "{}", left.err);
    assert!(left.err.contains("evenkeel hpcc config.txt"), "{}", left.err);
}

#[test]
fn results_given_as_a_scenario_are_rejected_with_a_hint() {
    let bench = Bench::with_small();
    assert_eq!(bench.evenkeel(&["run", "small.toml", "--out", "results"]).status, 0);
    let summary = bench.evenkeel(&["run", "results/summary.json"]);
    let expected = "it is JSON, not TOML; the scenario is in scenario.toml next to summary.json";
    summary.expect_invalid(&["results/summary.json:1:1: invalid TOML: ", expected]);
    let expected = "results: it is a folder; expected a scenario file";
    bench.evenkeel(&["run", "results"]).expect_invalid(&[expected, "scenario.toml"]);
}

#[test]
fn an_explained_scenario_is_valid_and_names_the_origins_of_values() {
    let bench = Bench::with_small();
    let left = bench.evenkeel(&["check", "--explain", "small.toml"]);
    assert_eq!((left.status, left.err.as_str()), (0, ""));
    assert!(left.out.starts_with("# small.toml: ok ("), "{}", left.out);
    assert!(left.out.contains("leaves = 2  # line 3\n"), "{}", left.out);
    assert!(left.out.contains("# default\n"), "{}", left.out);
    bench.write("explained.toml", &left.out);
    assert_eq!(bench.evenkeel(&["check", "explained.toml"]).status, 0);
}

#[test]
fn bound_prints_four_keys_or_three_lines() {
    let bench = Bench::with_small();
    let left = bench.evenkeel(&["bound", "small.toml", "--json"]);
    assert_eq!((left.status, left.err.as_str()), (0, ""));
    assert!(left.out.starts_with("{\"scenario\":\"small\",\"bound_ns\":"), "{}", left.out);
    let bound = left.json();
    assert_eq!(bound.as_object().unwrap().len(), 4);
    assert_eq!(bound["bound_by"], "edge uplinks");
    let run = bench.evenkeel(&["run", "small.toml", "--json"]).json();
    assert_eq!(bound["bound_ns"], run["bound_ns"]);
    let lines = bench.evenkeel(&["bound", "small.toml"]).out;
    assert_eq!(lines.lines().count(), 3, "{lines}");
    assert!(lines.contains("by edge uplinks"), "{lines}");
}

/// The packets of the first scenario take exactly the bound, to the picosecond. Messages of 100
/// bytes are below the resolution of a fluid run.
#[test]
fn a_run_has_a_slowdown_of_at_least_1() {
    let bench = Bench::new();
    let permutation = |keys: &str, bytes: &str| {
        let text = format!("{keys}\n[workload]\nkind = \"permutation\"\nbytes = \"{bytes}\"\n");
        bench.write("a.toml", &text);
        let left = bench.evenkeel(&["run", "a.toml", "--json"]);
        assert_eq!(left.status, 0, "{left:?}");
        (left.json()["slowdown"].as_f64().unwrap(), left.err)
    };
    let packets = "[topology]\nkind = \"fat-tree\"\nk = 2\n[transport]\n\
                   congestion_control = \"line-rate\"\n[policy]\nname = \"spray\"";
    assert_eq!(permutation(packets, "1MiB"), (1.0, String::new()));
    let fluid = "fidelity = \"fluid\"\n[topology]\nkind = \"fat-tree\"\ntiers = 2\n\
                 host_rate = \"25Gbps\"\n[policy]\nname = \"reps\"";
    let (slowdown, said) = permutation(fluid, "100B");
    assert_eq!(slowdown, 1.0);
    assert!(said.contains("is below the lower bound: the bound is used as the CCT"), "{said}");
}

#[test]
fn qps_prints_the_counts_of_a_run() {
    let bench = Bench::with_small();
    for policy in ["ecmp", "subflow-4", "ethereal", "line-cut"] {
        let left = bench.evenkeel(&["qps", "small.toml", "--policy", policy, "--json"]);
        assert_eq!((left.status, left.err.as_str()), (0, ""));
        let counted = left.json();
        assert_eq!(counted.as_object().unwrap().len(), 3);
        assert_eq!((&counted["scenario"], &counted["policy"]), (&"small".into(), &policy.into()));
        let run = bench.evenkeel(&["run", "small.toml", "--policy", policy, "--json"]).json();
        for (key, count) in counted["qps"].as_object().unwrap() {
            assert_eq!(count, &run["qps"][key], "{key} of {policy}");
        }
        // If flows use idle queue pairs, a simulation also counts those in use.
        let keys = if ["ethereal", "line-cut"].contains(&policy) { 6 } else { 4 };
        assert_eq!(counted["qps"].as_object().unwrap().len(), keys, "{policy}");
    }
    let lines = bench.evenkeel(&["qps", "small.toml"]).out;
    assert!(lines.contains("7 at most per NIC, 7.0 on average, 56 in total"), "{lines}");
    assert!(lines.lines().all(|line| line.len() <= 80), "{lines}");
    bench
        .evenkeel(&["qps", "small.toml", "--policy", "sprey"])
        .expect_invalid(&["did you mean 'spray'"]);
}

#[test]
fn a_written_trace_is_equivalent_to_its_scenario() {
    let bench = Bench::with_small();
    let left = bench.evenkeel(&["trace", "small.toml", "--out", "traces"]);
    assert_eq!((left.status, left.err.as_str()), (0, ""));
    assert_eq!(left.out, "traces/small.RANK.et: 8 ranks, 56 messages\n");
    let head = super::bench::SMALL.split("[workload]").next().unwrap();
    let workload = "[workload]\nkind = \"chakra\"\nfile = \"traces/small\"\n";
    bench.write("replayed.toml", &format!("{head}{workload}"));
    let [own, replayed] = ["small.toml", "replayed.toml"]
        .map(|scenario| bench.evenkeel(&["run", scenario, "--json"]).json());
    assert_eq!(own["cct_ns"], replayed["cct_ns"]);
    assert_eq!(own["messages"], replayed["messages"]);
}

#[test]
fn list_prints_the_names_that_scenarios_accept() {
    let bench = Bench::new();
    for (what, names) in [
        ("policies", &["ecmp", "spray", "reps", "ofan", "prime", "line-cut", "ethereal"][..]),
        ("collectives", &["all-to-all", "ring-all-reduce", "barrier"]),
        ("topologies", &["leaf-spine", "fat-tree", "file"]),
        ("allocators", &["nezha", "even", "best-single", "proportional"]),
    ] {
        let left = bench.evenkeel(&["list", what]);
        assert_eq!((left.status, left.err.as_str()), (0, ""), "{what}");
        for name in names {
            assert!(left.out.contains(&format!("\n{name}  ")), "{name}: {}", left.out);
        }
        assert!(left.out.lines().all(|line| line.chars().count() <= 80), "{}", left.out);
    }
}

#[test]
fn the_readme_names_every_policy() {
    let readme = include_str!("../../../README.md");
    let names = evenkeel::balance::presets().map(|preset| preset.name);
    let in_readme = |name: &&str| readme.contains(&format!("`{name}`"));
    // The README gives only the range of the policies with a fixed number of pieces.
    let in_full = |name: &&str| !name.starts_with("subflow-");
    let missing: Vec<_> = names.filter(in_full).filter(|name| !in_readme(name)).collect();
    assert!(missing.is_empty(), "README.md lacks {missing:?}");
}

#[test]
fn a_streamed_trace_gives_the_same_results() {
    let bench = Bench::with_small();
    bench.evenkeel(&["trace", "small.toml", "--out", "traces"]);
    let head = super::bench::SMALL.split("[workload]").next().unwrap();
    let workload = "[workload]\nkind = \"chakra\"\nfile = \"traces/small\"\nstreaming = ";
    bench.write("whole.toml", &format!("{head}{workload}\"auto\"\n"));
    bench.write("streamed.toml", &format!("{head}{workload}true\nwindow = 20\n"));
    let mut results = ["whole", "streamed"].map(|name| {
        let (scenario, out) = (format!("{name}.toml"), format!("out-{name}"));
        bench.evenkeel(&["run", &scenario, "--out", &out, "--json"]).json()
    });
    for result in &mut results {
        let keys = result.as_object_mut().unwrap();
        // Streaming changes the number of events and the cost of the simulation, and its lower
        // bound has fewer terms.
        for key in ["scenario", "events", "wall_s", "peak_rss_bytes", "bound_ns", "slowdown"] {
            assert!(keys.remove(key).is_some(), "{key}");
        }
    }
    assert_eq!(results[0], results[1]);
    let flows = ["whole", "streamed"].map(|name| {
        let text = bench.read(&format!("out-{name}/flows.csv"));
        // Streamed messages are numbered as they are sent and have no step. Otherwise the rows are
        // equal, in a different order.
        let of_line = |line: &str| {
            let (rest, _step) = line.split_once(',')?.1.rsplit_once(',')?;
            Some(rest.to_owned())
        };
        let mut lines: Vec<_> = text.lines().skip(1).filter_map(of_line).collect();
        lines.sort_unstable();
        lines
    });
    assert_eq!((flows[0].len(), &flows[0]), (56, &flows[1]));
    let left = bench.evenkeel(&["check", "streamed.toml"]);
    assert!(left.out.contains("56 messages"), "{left:?}");
    bench
        .evenkeel(&["qps", "streamed.toml"])
        .expect_invalid(&["workload.streaming = true", "with false"]);
    let left = bench.evenkeel(&["compare", "streamed.toml", "--policies", "ecmp,spray", "--json"]);
    assert_eq!(left.json()["runs"][0]["cct_ns"], results[0]["cct_ns"]);
    bench.write("odd.toml", &format!("{head}{workload}\"often\"\n"));
    bench.evenkeel(&["check", "odd.toml"]).expect_invalid(&["true, false or \"auto\""]);
}

#[test]
fn list_prints_the_open_points_of_the_mrc_sources() {
    let bench = Bench::new();
    let left = bench.evenkeel(&["list", "policies", "--guesses"]);
    assert_eq!((left.status, left.err.as_str()), (0, ""));
    for part in ["\nG1 ", "\nG21 ", "reshuffle = 16", "switch.ecn_at_hosts = true"] {
        assert!(left.out.contains(part), "{part}: {}", left.out);
    }
    let left = bench.evenkeel(&["list", "collectives", "--guesses"]);
    assert_eq!((left.status, left.out.as_str()), (2, ""));
    assert!(left.err.contains("--guesses applies only to policies"), "{}", left.err);
}

#[test]
fn check_prints_one_object_with_the_place_of_each_error() {
    let bench = Bench::with_small();
    bench.write("bad.toml", "[topology]\nleaves = 2\nspinse = 2\n");
    bench.write("fluid.toml", &format!("fidelity = \"fluid\"\n{SMALL}"));
    let left = bench.evenkeel(&["check", "small.toml", "bad.toml", "fluid.toml", "--json"]);
    assert_eq!(left.status, 2);
    let json = left.json();
    let [small, bad, fluid] = &json["files"].as_array().unwrap()[..] else { panic!("{json}") };
    assert_eq!([&small["valid"], &bad["valid"]], [true, false]);
    assert_eq!(small["scenario"]["messages"], 56);
    let cost = |file: &Value| file["forecast"]["cpu_s"].as_f64().unwrap();
    assert!(cost(small) > cost(fluid) && cost(fluid) > 0.0, "{json}");
    let error = &bad["errors"][0];
    assert_eq!(["line", "column"].map(|key| error[key].as_u64()), [Some(3), Some(1)]);
    assert_eq!(error["key"], "topology.spinse");
    assert!(error["message"].as_str().unwrap().contains("did you mean 'spines'?"), "{error}");
}

#[test]
fn check_forecasts_a_study_and_lists_the_points_that_cannot_run() {
    let bench = Bench::new();
    let study = |ranks: &str| {
        let text = format!(
            "[scenario.topology]\nleaves = 4\nspines = 4\nhosts_per_leaf = 4\n[[run]]\n\
             name = \"a\"\nseeds = 5\n[run.over]\n\"workload.ranks\" = {ranks}\n"
        );
        bench.write("study.toml", &text);
    };
    study("[4, 8, 16]");
    let left = bench.evenkeel(&["check", "study.toml"]);
    assert_eq!((left.status, left.err.as_str()), (0, ""));
    assert!(left.out.starts_with("study.toml: ok (study, 3 points, 15 runs, about "), "{left:?}");
    assert!(left.out.ends_with(" for all on one core)\n"), "{left:?}");
    study("[4, 8, 17, 18]");
    let left = bench.evenkeel(&["check", "study.toml"]);
    let line = "study.toml: 2 of its points cannot run (study, 4 points, 20 runs, about ";
    assert_eq!(left.status, 2);
    assert!(left.out.starts_with(line), "{left:?}");
    assert!(left.err.starts_with("error: point 3: study.toml:9:"), "{left:?}");
    let json = bench.evenkeel(&["check", "study.toml", "--json"]).json();
    let file = &json["files"][0];
    assert_eq!(file["study"]["points_invalid"], 2);
    assert_eq!(file["errors"][1]["point"], 4);
}
