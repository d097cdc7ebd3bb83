//! `evenkeel run`.

use std::fs;
use std::fs::OpenOptions;
use std::process::Stdio;

use super::bench::{Bench, SMALL};

/// Keys of the output contract, in order.
const KEYS: [&str; 26] = [
    "scenario",
    "policy",
    "seed",
    "version",
    "hosts",
    "switches",
    "links",
    "messages",
    "messages_completed",
    "flows",
    "flows_completed",
    "cct_ns",
    "bound_ns",
    "slowdown",
    "fct_ns",
    "packets",
    "pfc_pauses",
    "queue_bytes_max",
    "queue_bytes_mean",
    "link_bytes_max",
    "qps",
    "state",
    "events",
    "packet_hops",
    "wall_s",
    "peak_rss_bytes",
];

#[test]
fn json_is_one_object_with_the_documented_keys() {
    let left = Bench::with_small().evenkeel(&["run", "small.toml", "--json"]);
    assert_eq!((left.status, left.err.as_str()), (0, ""));
    let summary = left.json();
    assert_eq!(summary["scenario"], "small");
    assert_eq!(summary["policy"], "ecmp");
    assert_eq!((summary["hosts"].as_u64(), summary["messages"].as_u64()), (Some(8), Some(56)));
    assert!(summary["slowdown"].as_f64().unwrap() >= 1.0, "{summary}");
    assert!(summary["peak_rss_bytes"].is_u64() || summary["peak_rss_bytes"].is_null());
    let places = KEYS.map(|key| left.out.find(&format!("\"{key}\":")).expect(key));
    assert!(places.is_sorted(), "{}", left.out);
}

#[test]
fn a_fluid_run_has_null_for_packet_level_keys() {
    let bench = Bench::new();
    bench.write("fluid.toml", &format!("fidelity = \"fluid\"\n{SMALL}"));
    let left = bench.evenkeel(&["run", "fluid.toml", "--json"]);
    assert_eq!(left.status, 0, "{}", left.err);
    let summary = left.json();
    assert_eq!(summary["fidelity"], "fluid");
    assert_eq!(summary["messages_completed"], 56);
    assert!(summary["packets"].is_null() && summary["slowdown"].as_f64().unwrap() >= 1.0);
    KEYS.iter().for_each(|key| assert!(summary.get(key).is_some(), "{key}"));
    for warning in summary["warnings"].as_array().into_iter().flatten() {
        assert!(left.err.contains(warning.as_str().unwrap()), "{}", left.err);
    }
    let table = bench.evenkeel(&["run", "fluid.toml", "--out", "kept"]);
    assert!(table.out.contains("fidelity  fluid"), "{}", table.out);
    assert!(table.out.lines().all(|line| line.chars().count() <= 80), "{}", table.out);
    assert!(bench.read("kept/scenario.toml").contains("fidelity = \"fluid\"  # line 1"));
    let compared =
        bench.evenkeel(&["compare", "fluid.toml", "--policies", "ecmp,spray", "--seeds", "1"]);
    assert!(compared.out.contains("messages, fluid\n"), "{}", compared.out);
}

#[test]
fn packet_level_commands_reject_fluid_scenarios() {
    let bench = Bench::new();
    bench.write("fluid.toml", &format!("fidelity = \"fluid\"\n{SMALL}"));
    for command in [&["trace", "fluid.toml", "--out", "traces"][..], &["twin", "fluid.toml"]] {
        let left = bench.evenkeel(command);
        assert_eq!(left.status, 2, "{}", left.err);
        assert!(left.err.contains("fluid.toml:1:12: fidelity = fluid"), "{}", left.err);
    }
    bench.write("rails.toml", "fidelity = \"fluid\"\n[[rail]]\nkind = \"tcp\"\n");
    let left = bench.evenkeel(&["run", "rails.toml"]);
    assert_eq!(left.status, 2, "{}", left.err);
    assert!(left.err.contains("simulated by packets"), "{}", left.err);
}

#[test]
fn each_of_several_jobs_is_reported_with_its_times() {
    let bench = Bench::new();
    let jobs = "[[job]]\nname = \"a\"\nkind = \"shift\"\nbytes = \"64KB\"\n\
                [[job]]\nname = \"b\"\nhosts = \"0..8/2\"\nafter = \"a\"\nbytes = \"64KB\"\n";
    let fabric = SMALL.split("[workload]").next().unwrap();
    bench.write("jobs.toml", &format!("{fabric}\n{jobs}"));
    let left = bench.evenkeel(&["run", "jobs.toml", "--json"]);
    assert_eq!((left.status, left.err.as_str()), (0, ""));
    let summary = left.json();
    let of = |job: usize, key: &str| summary["jobs"][job][key].clone();
    assert_eq!((of(0, "name"), of(1, "name")), ("a".into(), "b".into()));
    assert_eq!((of(0, "messages"), of(1, "messages_completed")), (8.into(), 12.into()));
    assert_eq!(of(1, "start_ns"), of(0, "cct_ns"));
    let whole = of(1, "start_ns").as_f64().unwrap() + of(1, "cct_ns").as_f64().unwrap();
    assert!((whole - summary["cct_ns"].as_f64().unwrap()).abs() < 0.001, "{summary}");
    let table = bench.evenkeel(&["run", "jobs.toml"]);
    assert!(table.out.contains("job  messages  completed"), "{}", table.out);
    assert!(table.out.lines().all(|line| line.chars().count() <= 80), "{}", table.out);
    let checked = bench.evenkeel(&["check", "jobs.toml"]);
    assert!(checked.out.contains("20 messages in 2 jobs"), "{}", checked.out);
}

#[test]
fn hosts_behind_a_failed_leaf_are_unreachable_and_reported() {
    let bench = Bench::new();
    let dead = "[[failure]]\nswitch = \"leaf1\"\nat = \"0s\"\n";
    for (name, convergence) in [("at_once.toml", "0s"), ("never.toml", "never")] {
        let text =
            format!("time_limit = \"3ms\"\n{SMALL}\n{dead}convergence = \"{convergence}\"\n");
        bench.write(name, &text);
        let left = bench.evenkeel(&["run", name]);
        assert_eq!(left.status, 1, "{left:?}");
        assert!(left.out.contains("\nmessages  12 of 56 completed\n"), "{}", left.out);
        assert!(left.out.contains("CCT       did not complete"), "{}", left.out);
        assert!(!left.err.is_empty(), "standard error has the reason");
    }
}

#[test]
fn without_a_terminal_the_output_is_a_table_without_progress() {
    let left = Bench::with_small().evenkeel(&["run", "small.toml", "--policy", "spray"]);
    assert_eq!((left.status, left.err.as_str()), (0, ""));
    assert!(left.out.contains("\npolicy    spray\n"), "{}", left.out);
    assert!(left.out.contains("\nmessages  56 of 56 completed\n"), "{}", left.out);
    assert!(left.out.ends_with("\nresults   not kept; --out DIR keeps them\n"), "{}", left.out);
}

#[test]
fn the_same_seed_gives_an_identical_results_folder() {
    let bench = Bench::with_small();
    let run = |out: &str, seed: &str| {
        let left = bench.evenkeel(&[
            "run",
            "small.toml",
            "--out",
            out,
            "--seed",
            seed,
            "--policy",
            "spray",
        ]);
        assert_eq!(left.status, 0, "{left:?}");
        assert!(left.out.ends_with(&format!("\nresults   {out}\n")), "{}", left.out);
    };
    for (out, seed) in [("one/a", "7"), ("one/b", "7"), ("one/c", "8")] {
        run(out, seed);
        let names = ["cost.json", "flows.csv", "links.csv", "scenario.toml", "summary.json"];
        assert_eq!(bench.names(out), names);
    }
    let toml = bench.read("one/a/scenario.toml");
    assert!(toml.starts_with("# evenkeel ") && toml.contains("policy=spray seed=7\n"), "{toml}");
    for file in ["flows.csv", "links.csv", "scenario.toml", "summary.json"] {
        let same = bench.read(&format!("one/a/{file}"));
        assert_eq!(same, bench.read(&format!("one/b/{file}")), "{file}");
        assert_ne!(same, bench.read(&format!("one/c/{file}")), "{file}");
    }
    // Earlier results are replaced by identical ones.
    let before = bench.read("one/c/flows.csv");
    run("one/c", "7");
    assert_ne!(bench.read("one/c/flows.csv"), before);
    assert_eq!(bench.read("one/c/flows.csv"), bench.read("one/a/flows.csv"));
}

#[test]
fn the_resolved_scenario_runs_like_the_original() {
    let bench = Bench::with_small();
    let run = |scenario: &str, out: &str| {
        assert_eq!(bench.evenkeel(&["run", scenario, "--out", out]).status, 0, "{scenario}");
        let flows = bench.read(&format!("{out}/flows.csv"));
        flows.lines().skip(1).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(run("small.toml", "a"), run("a/scenario.toml", "b"));
    // Relative paths resolve from the scenario's folder, and again from the written copy.
    for folder in ["in", "in/traces", "out"] {
        fs::create_dir(bench.path(folder)).unwrap();
    }
    let matrix =
        "Nodes 8\nConnections 2\n0->4 id 1 start 0 size 40000\n3->5 id 2 start 0 size 90000\n";
    bench.write("in/traces/two.cm", matrix);
    let workload = "kind = \"connection-matrix\"\nfile = \"traces/../traces/two.cm\"\n";
    let (fabric, _) = SMALL.split_once("kind = \"all-to-all\"").unwrap();
    bench.write("in/matrix.toml", &format!("{fabric}{workload}"));
    let first = run("in/matrix.toml", "out/c");
    assert!(bench.read("out/c/scenario.toml").contains("file = \"../../in/traces/two.cm\""));
    assert_eq!(run("out/c/scenario.toml", "d"), first);
    assert!(bench.read("d/scenario.toml").contains("file = \"../in/traces/two.cm\""));
    assert_eq!(run("d/scenario.toml", "out/e"), first);
}

#[test]
fn a_run_that_does_not_complete_is_an_error_and_keeps_its_results() {
    let bench = Bench::new();
    bench.write("short.toml", &format!("time_limit = \"4us\"\n{SMALL}"));
    let left = bench.evenkeel(&["run", "short.toml", "--json", "--out", "short"]);
    assert_eq!(left.status, 1, "{left:?}");
    let summary = left.json();
    assert!(summary["cct_ns"].is_null() && summary["slowdown"].is_null(), "{summary}");
    assert!(left.err.contains("did not complete: it reached its time limit"), "{left:?}");
    assert!(left.err.contains("\n  message 0 from host0 to host1, 32KB: not delivered\n"));
    assert!(left.err.contains("\n  ... and 51 more\n"), "{}", left.err);
    assert_eq!(bench.names("short").len(), 5);
    let table = bench.evenkeel(&["run", "short.toml"]);
    assert!(table.out.contains("CCT       did not complete"), "{}", table.out);
}

#[test]
fn bad_input_writes_nothing() {
    let bench = Bench::with_small();
    bench.write("bad.toml", "[topology]\nleaves = 2\nspynes = 2\n");
    let invalid = |arguments: &[&str], words: &[&str]| {
        bench.evenkeel(&[arguments, &["--out", "results"]].concat()).expect_invalid(words);
        assert_eq!(bench.names("."), ["bad.toml", "config.txt", "small.toml"], "{arguments:?}");
    };
    bench.write("config.txt", "CC_MODE 1\n");
    invalid(&["run", "bad.toml"], &["bad.toml:3", "spynes", "spines"]);
    invalid(&["run", "none.toml"], &["none.toml"]);
    invalid(&["run", "small.toml", "--policy", "sprey"], &["'sprey'", "ecmp", "spray"]);
    invalid(&["run", "config.txt"], &["config.txt", "evenkeel hpcc config.txt"]);
}

#[test]
fn a_folder_with_other_files_is_an_error_before_the_run() {
    let bench = Bench::with_small();
    let left = bench.evenkeel(&["run", "small.toml", "--out", "."]);
    left.expect_invalid(&["--out .", "'small.toml'", "expected a new folder"]);
    bench
        .evenkeel(&["run", "small.toml", "--out", "small.toml"])
        .expect_invalid(&["this is a file"]);
    assert_eq!(bench.names("."), ["small.toml"]);
}

#[test]
fn a_closed_pipe_is_not_an_error() {
    let bench = Bench::with_small();
    for arguments in [&["run", "small.toml"][..], &["list", "policies"], &["--help"]] {
        let (reader, writer) = std::io::pipe().expect("a pipe can be made");
        drop(reader);
        let output = bench.command(arguments).stdout(writer).output().expect("it starts");
        let err = String::from_utf8(output.stderr).expect("it is UTF-8");
        assert_eq!((output.status.code(), err.as_str()), (Some(0), ""), "{arguments:?}");
    }
}

#[test]
fn results_that_cannot_be_written_are_an_error() {
    let Ok(full) = OpenOptions::new().write(true).open("/dev/full") else {
        println!("skipped: results_that_cannot_be_written_are_an_error: there is no /dev/full");
        return;
    };
    let bench = Bench::with_small();
    let output = bench.command(&["run", "small.toml"]).stdout(Stdio::from(full)).output();
    let output = output.expect("it starts");
    let err = String::from_utf8(output.stderr).expect("it is UTF-8");
    assert_eq!(output.status.code(), Some(2));
    assert!(err.starts_with("error: standard output: cannot write: "), "{err}");
}

#[test]
fn sums_of_recorded_tables_match_the_run() {
    let bench = Bench::with_small();
    let text = format!("{SMALL}\n[record]\nevery = \"1us\"\nqueue_pairs = \"0..2\"\n");
    bench.write("recorded.toml", &text);
    // Twice: the second run replaces the tables of the first.
    for _ in 0..2 {
        let left = bench.evenkeel(&["run", "recorded.toml", "--out", "results"]);
        assert_eq!((left.status, left.err.as_str()), (0, ""));
    }
    let table = |name: &str| {
        let text = bench.read(&format!("results/{name}"));
        let rows = text.lines().map(|line| line.split(',').map(str::to_owned).collect());
        rows.collect::<Vec<Vec<String>>>()
    };
    let sum = |rows: &[Vec<String>], name: &str| {
        let column = rows[0].iter().position(|it| it == name).expect(name);
        rows[1..].iter().map(|row| row[column].parse::<u64>().unwrap()).sum::<u64>()
    };
    let plain = bench.evenkeel(&["run", "small.toml", "--json"]).json();
    let recorded = bench.evenkeel(&["run", "recorded.toml", "--json"]).json();
    let paths = table("paths.csv");
    assert_eq!(Some(sum(&paths, "packets")), plain["packets"]["sent"].as_u64());
    let windows = recorded["record"]["packets"].as_array().unwrap();
    let packets: u64 = windows.iter().filter_map(serde_json::Value::as_u64).sum();
    assert_eq!(Some(packets), plain["packets"]["sent"].as_u64());
    assert!(plain.get("record").is_none());
    assert_eq!(recorded["cct_ns"], plain["cct_ns"]);
    let senders = table("queue_pairs.csv");
    assert!(senders[1..].iter().all(|row| row[1] == "host0" || row[1] == "host1"));
    // All packets except those that started in the interval cut short by the end of the run.
    let (ports, links) = (table("ports.csv"), table("links.csv"));
    let (carried, all) = (sum(&ports, "carried_bytes"), sum(&links, "bytes"));
    assert!(carried <= all && carried * 10 > all * 9, "{carried} of {all}");
}

#[test]
fn keys_are_set_on_the_command_line() {
    let bench = Bench::with_small();
    let set = ["--set", "topology.hosts_per_leaf=2", "--set", "workload.bytes = 64KB"];
    let left = bench.evenkeel(&[&["run", "small.toml", "--json"][..], &set].concat());
    assert_eq!((left.status, &left.json()["hosts"]), (0, &4.into()), "{left:?}");
    let bytes = bench.evenkeel(&["run", "small.toml", "--out", "a", set[2], set[3]]);
    assert_eq!(bytes.status, 0, "{bytes:?}");
    assert!(bench.read("a/scenario.toml").contains("bytes = \"64KB\"  # command line"));
    // A failure in the list, a section missing from the file, and a policy as text.
    bench.write("down.toml", &format!("{SMALL}\n[[failure]]\nlink = \"leaf0-spine0\"\n"));
    let explain =
        |setting: &str| bench.evenkeel(&["check", "down.toml", "--explain", "--set", setting]);
    assert!(explain("failure[0].at=7us").out.contains("at = \"7us\"  # command line"));
    assert!(explain("failure.0.at=7us").out.contains("at = \"7us\"  # command line"));
    assert!(explain("record.ports=none").out.contains("[record]\n"));
    assert!(
        explain("switch.ecn={ step = \"90KB\" }")
            .out
            .contains("ecn.step = \"90KB\"  # command line")
    );
    for (setting, words) in [
        ("topology.leafs=3", vec!["--set topology.leafs=3: ", "did you mean 'leaves'"]),
        ("topology.leaves=many", vec!["--set topology.leaves=many: ", "topology.leaves"]),
        ("topology.leaves=0", vec!["--set topology.leaves=0: ", "at least 1"]),
        ("failure[3].at=7us", vec!["--set failure[3].at=7us: ", "there is no element 3"]),
        ("topology", vec!["expected KEY=VALUE"]),
    ] {
        bench.evenkeel(&["run", "down.toml", "--set", setting]).expect_invalid(&words);
    }
    let compared = ["compare", "small.toml", "--policies", "ecmp, spray", "--seeds", "1", "--json"];
    let compared = bench.evenkeel(&[&compared, &set[..]].concat());
    assert_eq!(compared.json()["runs"][1]["policy"], "spray", "{compared:?}");
}

#[test]
fn check_tracks_every_packet_and_is_rejected_for_fluid_runs() {
    let bench = Bench::with_small();
    let alone = bench.evenkeel(&["run", "small.toml", "--json"]).json();
    let checked = bench.evenkeel(&["run", "small.toml", "--json", "--check"]);
    assert_eq!(checked.status, 0);
    let said = "packet events, no invariant is violated";
    assert!(checked.err.contains(said), "{}", checked.err);
    assert_eq!(checked.json()["cct_ns"], alone["cct_ns"]);
    bench
        .evenkeel(&["run", "small.toml", "--check", "--set", "fidelity=fluid"])
        .expect_invalid(&["--check: it checks packets", "omit one of them"]);
}

#[test]
fn a_scenario_may_come_from_standard_input() {
    use std::io::Write;
    use std::process::Stdio;

    let bench = Bench::with_small();
    let of_file = bench.evenkeel(&["run", "small.toml", "--json"]).json();
    let mut command = bench.command(&["run", "-", "--json"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(bench.read("small.toml").as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&json["scenario"], &json["cct_ns"]), (&"stdin".into(), &of_file["cct_ns"]));
}

#[test]
fn random_failures_and_a_single_job_are_in_the_results() {
    let bench = Bench::with_small();
    let jobs = bench.read("small.toml").replace("[workload]", "[[job]]\nname = \"only\"");
    let failure = "[[failure]]\nprobability = \"1/3\"\nat = \"0s\"\nuntil = \"5us\"\n\
                   convergence = \"0s\"\n";
    bench.write("one.toml", &format!("{jobs}\n{failure}"));
    let mut drawn = Vec::new();
    for seed in ["1", "2", "3", "4"] {
        let json = bench.evenkeel(&["run", "one.toml", "--json", "--seed", seed]).json();
        assert_eq!(json["jobs"][0]["name"], "only");
        assert_eq!(json["jobs"][0]["cct_ns"], json["cct_ns"]);
        let failures = json.get("failures").and_then(|list| list.as_array()).cloned();
        for failure in failures.iter().flatten() {
            assert_eq!((&failure["kind"], &failure["until_ns"]), (&"down".into(), &5000.0.into()));
            assert!(failure["link"].as_str().unwrap().contains("-spine"), "{failure}");
        }
        drawn.push(failures.unwrap_or_default().len());
    }
    assert!(drawn.iter().any(|count| *count != drawn[0]), "{drawn:?}");
}

#[test]
fn an_incomplete_rail_run_says_why_and_how_far_it_got() {
    let bench = Bench::new();
    let rails = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/rails-sizes.toml");
    let left = bench.evenkeel(&["run", rails, "--set", "time_limit=1us", "--seed", "9"]);
    assert_eq!(left.status, 1, "{left:?}");
    assert!(left.out.contains("72 all-reduces\n0 of 72 completed"), "{left:?}");
    for said in [
        "warning: --seed: a scenario with rails is not random",
        "error: rails-sizes under nezha did not complete: it reached its time limit (time_limit); \
         0 of 72 all-reduces completed",
    ] {
        assert!(left.err.contains(said), "{left:?}");
    }
}
