//! `evenkeel hpcc`.

use std::path::Path;

use super::bench::Bench;

const TOPOLOGY: &str = "4 1 3\n3\n0 3 100Gbps 1us 0\n1 3 100Gbps 1us 0\n2 3 100Gbps 1us 0\n";
const FLOWS: &str = "2\n0 2 3 100 100000 2.0\n1 2 3 100 50000 2.0\n";
const CONFIG: &str = "\
CC_MODE 1
HAS_WIN 0
TOPOLOGY_FILE mix/topology.txt
FLOW_FILE mix/flow.txt
KMIN_MAP 1 100000000000 400
KMAX_MAP 1 100000000000 1600
PMAX_MAP 1 100000000000 0.2
SIMULATOR_STOP_TIME 4.0
";

fn bench() -> Bench {
    let bench = Bench::new();
    for (name, text) in [("topology.txt", TOPOLOGY), ("flow.txt", FLOWS), ("config.txt", CONFIG)] {
        bench.write(name, text);
    }
    bench
}

#[test]
fn an_experiment_writes_the_familys_table_and_our_results() {
    let bench = bench();
    let left = bench.evenkeel(&["hpcc", "config.txt", "--out", "results", "--truncate-ns"]);
    assert_eq!(left.status, 0, "{left:?}");
    assert!(left.out.contains("messages  2 of 2 completed"), "{}", left.out);
    let names = ["cost.json", "fct.txt", "flows.csv", "links.csv", "pfc.txt", "summary.json"];
    assert_eq!(bench.names("results"), names);
    let fct = bench.read("results/fct.txt");
    assert_eq!(fct.lines().count(), 2, "{fct}");
    assert!(fct.lines().all(|line| line.split_whitespace().count() == 8), "{fct}");
    assert_eq!(bench.read("results/pfc.txt"), "", "nothing was paused");
}

#[test]
fn recorded_files_are_named_by_the_configuration() {
    let bench = bench();
    let more = "TRACE_FILE mix/trace.txt\nTRACE_OUTPUT_FILE mix/mine.tr\nENABLE_TRACE 1\n\
                FCT_OUTPUT_FILE mix/mine_fct.txt\nQLEN_MON_FILE mix/mine_qlen.txt\n\
                QLEN_MON_START 2000000000\nQLEN_MON_END 2000001000\n";
    bench.write("config.txt", &format!("{CONFIG}{more}"));
    bench.write("trace.txt", "1 3");
    for _again in 0..2 {
        let left = bench.evenkeel(&["hpcc", "config.txt", "--out", "results", "--truncate-ns"]);
        assert_eq!((left.status, left.err.as_str()), (0, ""), "{left:?}");
        let names = bench.names("results");
        let of_the_file = ["mine.tr", "mine_fct.txt", "mine_qlen.txt"];
        assert!(of_the_file.iter().all(|name| names.iter().any(|it| it == name)), "{names:?}");
        assert_eq!(names.len(), 6 + of_the_file.len(), "{names:?}");
    }
    assert_eq!(bench.read("results/mine_fct.txt"), bench.read("results/fct.txt"));
    // Eleven samples, 100 ns apart, before the first packet arrives.
    let queues = bench.read("results/mine_qlen.txt");
    assert!(queues.starts_with("time: 2000000000\n3 1 1\n3 2 1\n3 3 1\ntime: "), "{queues}");
    assert!(queues.ends_with("\n3 1 11\n3 2 11\n3 3 11\n"), "{queues}");
    // The header holds the interfaces and the window. Each of 150 packets, acknowledgements
    // included, has three 56-byte records.
    let trace = std::fs::read(bench.path("results/mine.tr")).expect("it is there");
    assert_eq!(trace.len(), 4 + 6 * 11 + 4 + 2 * 150 * 3 * 56);
    bench.write("config.txt", &format!("{CONFIG}{more}ENABLE_TRACE 0\n"));
    // The trace file is from an earlier run; this configuration does not request one.
    let left = bench.evenkeel(&["hpcc", "config.txt", "--out", "results"]);
    assert!(left.err.contains("ENABLE_TRACE is repeated"), "{left:?}");
    assert_eq!(left.status, 0, "{left:?}");
    assert!(!bench.names("results").iter().any(|name| name == "mine.tr"));
}

#[test]
fn pauses_use_the_node_numbers_of_the_topology_file() {
    let bench = Bench::new();
    // Node 0 is the switch. About 880 KB of its 1 MB buffer are shared. Each of two links may take
    // an eighth of the free memory, in equilibrium a tenth of the pool. It fills that at 50 Gbps
    // within about 15 us; the first packet and the pause take 1 us each. The last resumes are sent
    // when the flows end.
    let topology = "4 1 3\n0\n2 0 100Gbps 1us 0\n1 0 100Gbps 1us 0\n3 0 100Gbps 1us 0\n";
    bench.write("topology.txt", topology);
    bench.write("flow.txt", "2\n1 3 3 100 250000 2.0\n2 3 3 100 250000 2.0\n");
    bench.write("config.txt", &format!("{CONFIG}BUFFER_SIZE 1\n"));
    let left = bench.evenkeel(&["hpcc", "config.txt", "--out", "results", "--truncate-ns"]);
    assert_eq!(left.status, 0, "{left:?}");
    let expected = "\
2000017360 1 0 1 1
2000017443 2 0 1 1
2000022091 1 0 1 0
2000022174 2 0 1 0
2000026672 1 0 1 1
2000026755 2 0 1 1
2000028648 2 0 1 0
2000028731 1 0 1 0
";
    assert_eq!(bench.read("results/pfc.txt"), expected);
}

#[test]
fn warnings_are_not_on_standard_output() {
    let bench = bench();
    bench.write("config.txt", &format!("{CONFIG}ENABLE_IRN 1\n"));
    let left = bench.evenkeel(&["hpcc", "config.txt", "--json", "--lb", "spray", "--seed", "9"]);
    assert_eq!(left.status, 0, "{left:?}");
    let summary = left.json();
    assert_eq!((&summary["scenario"], &summary["policy"]), (&"config".into(), &"spray".into()));
    assert_eq!(summary["seed"], 9);
    assert!(left.err.starts_with("warning: "), "{}", left.err);
}

/// Deviations from the requested configuration are recorded in the results for later readers.
#[test]
fn warnings_are_kept_in_the_summary() {
    let bench = bench();
    bench.write("config.txt", &format!("{CONFIG}ENABLE_IRN 1\n"));
    let left = bench.evenkeel(&["hpcc", "config.txt", "--lb", "spray", "--out", "kept"]);
    assert_eq!(left.status, 0, "{left:?}");
    let summary: serde_json::Value =
        serde_json::from_str(&bench.read("kept/summary.json")).expect("it is JSON");
    let kept = summary["warnings"].as_array().expect("there are some");
    let said: Vec<&str> =
        left.err.lines().filter_map(|line| line.strip_prefix("warning: ")).collect();
    assert!(!said.is_empty(), "{left:?}");
    assert_eq!(kept, &said, "the same on standard error and in the file");
}

#[test]
fn a_time_limit_error_names_the_key_that_sets_it() {
    let bench = bench();
    bench.write("late.txt", "1\n0 2 3 100 100000 50.0\n");
    let said = |config: &str| {
        bench.write("config.txt", config);
        let left = bench.evenkeel(&["hpcc", "config.txt", "--flows", "late.txt"]);
        assert_eq!(left.status, 1, "{left:?}");
        left.err
    };
    let hpcc = said(CONFIG);
    assert!(hpcc.contains("it reached its time limit (SIMULATOR_STOP_TIME)"), "{hpcc}");
    let flowgen = "FLOWGEN_START_TIME 2.0\nFLOWGEN_STOP_TIME 2.01\n";
    let conweave = said(&CONFIG.replace("SIMULATOR_STOP_TIME 4.0\n", flowgen));
    let expected = "it reached its time limit (10 s after FLOWGEN_STOP_TIME) at 12.01s";
    assert!(conweave.contains(expected), "{conweave}");
}

#[test]
fn invalid_input_is_an_error() {
    let bench = bench();
    let invalid = |arguments: &[&str], words: &[&str]| {
        bench.evenkeel(&[&["hpcc", "config.txt"], arguments].concat()).expect_invalid(words);
    };
    invalid(&["--flows", "none.txt"], &["none.txt"]);
    invalid(&["--topology", "."], &["--topology: '.' is a folder; expected a file"]);
    let absent = bench.evenkeel(&["hpcc", "nope.txt"]);
    absent.expect_invalid(&["the configuration: file 'nope.txt' does not exist\n"]);
    invalid(&["--lb", "conweave"], &["'conweave'", "ecmp"]);
    bench.write("short.txt", "3\n0 2 3 100 100000 2.0\n");
    invalid(&["--flows", "short.txt"], &["short.txt"]);
    bench.write("config.txt", &CONFIG.replace("CC_MODE 1", "CC_MODE 99"));
    invalid(&[], &["config.txt:", "CC_MODE 99", "3 (HPCC)", "10 (HPCC-PINT)"]);
    bench.write("config.txt", &CONFIG.replace("CC_MODE 1", "CC_MODE 3"));
    invalid(&["--lb", "spray"], &["CC_MODE 3 (hpcc)", "several paths", "'spray'", "ecmp"]);
}

#[test]
fn the_family_s_own_files_run_as_they_are() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data/hpcc");
    let config = data.join("hpcc/config.txt");
    if !config.is_file() {
        println!(
            "skipped: the_family_s_own_files_run_as_they_are: {} is not there",
            config.display()
        );
        return;
    }
    let left = Bench::new().evenkeel(&["hpcc", config.to_str().expect("UTF-8"), "--json"]);
    assert_eq!(left.status, 0, "{left:?}");
    let summary = left.json();
    assert_eq!(summary["messages_completed"], summary["messages"]);
    assert!(!left.err.contains("CC_MODE") && !left.err.contains("HAS_WIN"), "{}", left.err);
}
