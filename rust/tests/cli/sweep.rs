//! `evenkeel sweep` and `evenkeel merge`.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use evenkeel::rng::{Purpose, Stream};
use evenkeel::study::reproduce::{Scale, Study};
use serde_json::{Value, json};

use super::bench::{Bench, CommandOutput};
use crate::support::extent;

/// Six points, each with two seeds.
const STUDY: &str = r#"
[scenario.topology]
leaves = 2
spines = 2
hosts_per_leaf = 4
[scenario.transport]
congestion_control = "line-rate"
[scenario.workload]
kind = "all-to-all"
[[run]]
name = "small"
seeds = 2
[run.over]
policy = ["ecmp", "spray"]
"workload.bytes" = { from = "64KB", to = "256KB", times = 2 }
"#;

fn with_study() -> Bench {
    let bench = Bench::new();
    bench.write("study.toml", STUDY);
    bench
}

/// Runs the sweep into a folder, outside any cluster.
fn sweep(bench: &Bench, folder: &str, options: &[&str]) -> CommandOutput {
    bench.evenkeel(&[&["sweep", "study.toml", "--out", folder], options].concat())
}

#[test]
fn the_study_in_the_documentation_is_valid() {
    let page = include_str!("../../../docs/sweeps.md");
    let text = page.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let study = Study::parse(text, Path::new("page.toml"), Scale::Paper).unwrap();
    study.check().unwrap();
    assert_eq!(study.runs(), 3 * 3 * 2 * 5);
}

#[test]
fn results_have_one_row_per_point_and_seed_in_study_order() {
    let bench = with_study();
    let left = sweep(&bench, "one", &["--jobs", "1"]);
    let out = "12 runs of 6 points, 0 with an error\nresults   one/results.csv";
    assert_eq!((left.status, left.err.as_str()), (0, ""));
    assert!(left.out.starts_with(out), "{}", left.out);
    let results = bench.read("one/results.csv");
    let lines: Vec<&str> = results.lines().collect();
    assert_eq!(lines.len(), 1 + 12);
    assert!(lines[0].starts_with("point,policy,workload.bytes,seed,cct_ns,bound_ns,"), "{results}");
    assert!(lines[0].ends_with(",events,error"), "{results}");
    for (line, start) in [(1, "1,ecmp,64KB,1,"), (2, "1,ecmp,64KB,2,"), (12, "6,spray,256KB,2,")] {
        assert!(lines[line].starts_with(start), "{results}");
    }
    assert_eq!(bench.read("one/study.toml"), STUDY);
    assert_eq!(sweep(&bench, "three", &["--jobs", "3"]).status, 0);
    assert_eq!(bench.read("three/results.csv"), results);
    let again = sweep(&bench, "one", &[]);
    assert!(again.err.contains("12 of 12 runs are already finished"), "{}", again.err);
    assert_eq!(bench.read("one/results.csv"), results);
}

#[test]
fn points_run_one_by_one_and_merge_into_the_whole_sweep() {
    let bench = with_study();
    let list = bench.evenkeel(&["sweep", "study.toml", "--list"]);
    assert_eq!((list.status, list.err.as_str()), (0, ""));
    let points: Vec<Value> =
        list.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let third = json!({
        "point": 3, "run": "small", "seeds": [1, 2],
        "keys": { "policy": "ecmp", "workload.bytes": "256KB" },
    });
    assert_eq!((points.len(), &points[2]), (6, &third));
    let mut merge = vec!["merge".to_owned()];
    for point in &points {
        let number = point["point"].to_string();
        let left = sweep(&bench, &number, &["--point", &number]);
        assert!(left.out.starts_with("2 runs of 1 point, 0 with an error\n"), "{left:?}");
        merge.push(number);
    }
    merge.extend(["--out".to_owned(), "merged".to_owned()]);
    let merge: Vec<&str> = merge.iter().map(String::as_str).collect();
    assert_eq!(bench.evenkeel(&merge).status, 0);
    assert_eq!(sweep(&bench, "whole", &[]).status, 0);
    assert_eq!(bench.read("merged/results.csv"), bench.read("whole/results.csv"));
    for wrong in ["0", "7"] {
        let left = sweep(&bench, "none", &["--point", wrong]);
        left.expect_invalid(&["study.toml", &format!("point {wrong} does not exist"), "1 to 6"]);
    }
}

#[test]
fn a_failed_point_is_a_row_with_its_error() {
    let bench = Bench::new();
    let zip =
        "[run.zip]\n\"topology.spines\" = [2, 0, 2]\ntime_limit = [\"1s\", \"1s\", \"1us\"]\n";
    let [head, _] = STUDY.split("[run.over]").collect::<Vec<_>>()[..] else { panic!("two parts") };
    bench.write("study.toml", &format!("{head}{zip}"));
    let left = sweep(&bench, "results", &[]);
    assert_eq!(left.status, 1, "{left:?}");
    assert!(left.out.starts_with("6 runs of 3 points, 4 with an error\n"), "{}", left.out);
    let first =
        "point 2 (topology.spines 0, time_limit 1s), seed 1: topology.spines = 0 is invalid: ";
    assert!(left.err.contains(first), "{}", left.err);
    let results = bench.read("results/results.csv");
    let lines: Vec<&str> = results.lines().collect();
    assert!(lines[0].starts_with("point,topology.spines,time_limit,seed,cct_ns"), "{results}");
    assert!(lines[1].ends_with(',') && lines[3].contains("topology.spines = 0"), "{results}");
    assert!(lines[6].ends_with("did not complete: 0 of 56 messages at its end"), "{results}");
    bench.write("study.toml", &STUDY.replace("leaves = 2", "leafs = 2"));
    let left = sweep(&bench, "invalid", &[]);
    assert_eq!(left.status, 2, "{left:?}");
    assert!(left.err.contains("leafs") && left.err.contains("leaves"), "{}", left.err);
    bench.write("study.toml", STUDY);
    let corrected = sweep(&bench, "invalid", &[]);
    assert_eq!(corrected.status, 0, "{corrected:?}");
}

#[test]
fn merged_shards_are_byte_identical_to_a_whole_sweep() {
    let bench = with_study();
    assert_eq!(sweep(&bench, "whole", &[]).status, 0);
    for shard in ["1/3", "2/3"] {
        let folder = format!("shard-{}", &shard[..1]);
        assert_eq!(sweep(&bench, &folder, &["--shard", shard]).status, 0);
        assert_eq!(bench.read(&format!("{folder}/results.csv")).lines().count(), 1 + 4);
    }
    let merge =
        |folders: &[&str]| bench.evenkeel(&[&["merge"], folders, &["--out", "merged"]].concat());
    merge(&["shard-1", "shard-2"]).expect_invalid(&[
        "4 of 12 runs have no result, the first is point 2 (policy ecmp, bytes 128KB), seed 1",
    ]);
    let job = [("JOB_COMPLETION_INDEX", "2")];
    let mut third = bench.command(&["sweep", "study.toml", "--out", "shard-3", "--shards", "3"]);
    let third = third.envs(job).output().expect("the program starts");
    let note = String::from_utf8_lossy(&third.stderr);
    assert_eq!(note, "note: shard 3 of 3, by JOB_COMPLETION_INDEX\n");
    let alone = sweep(&bench, "alone", &["--shards", "3"]);
    let said = "--shards 3 has no effect: no task index is set";
    assert!(alone.status == 0 && alone.err.contains(said), "{}", alone.err);
    let left = merge(&["shard-3", "shard-1", "shard-2", "shard-1"]);
    assert_eq!(left.status, 0, "{left:?}");
    for file in ["results.csv", "study.toml"] {
        assert_eq!(bench.read(&format!("merged/{file}")), bench.read(&format!("whole/{file}")));
    }
    // The merged log is a sweep log: a later start finds all runs, and the folder can be merged
    // again.
    assert_eq!(log_lines(&bench, "merged"), 12);
    let again = sweep(&bench, "merged", &[]);
    assert!(again.err.contains("merged: 12 of 12 runs are already finished"), "{}", again.err);
    let left = bench.evenkeel(&["merge", "merged", "--out", "once-more"]);
    assert_eq!(left.status, 0, "{left:?}");
    assert_eq!(bench.read("once-more/results.csv"), bench.read("whole/results.csv"));
    let log = bench.read("once-more/sweep.runs.jsonl");
    assert_eq!(log, bench.read("merged/sweep.runs.jsonl"));
    let left = bench.evenkeel(&["merge", "merged", "--out", "shard-1"]);
    assert_eq!(left.status, 0, "its runs are among those of the merged folder: {left:?}");
    bench.write("other.toml", &STUDY.replace("hosts_per_leaf = 4", "hosts_per_leaf = 2"));
    let left = bench.evenkeel(&["sweep", "other.toml", "--out", "other", "--shard", "1/12"]);
    assert_eq!(left.status, 0, "{left:?}");
    let other = bench.read("other/sweep.runs.jsonl");
    let left = bench.evenkeel(&["merge", "merged", "--out", "other"]);
    left.expect_invalid(&["other: its sweep.runs.jsonl has 1 run that none of the folders has"]);
    assert_eq!(bench.read("other/sweep.runs.jsonl"), other);
    assert!(bench.read("other/study.toml").contains("hosts_per_leaf = 2"));
    let mut alone = bench.command(&["sweep", "study.toml", "--out", "alone"]);
    let alone = alone.envs(job).output().expect("the program starts");
    assert!(String::from_utf8_lossy(&alone.stderr).contains("use --shards N"));
}

#[test]
fn foreign_folders_and_shards_of_other_studies_are_errors() {
    let bench = with_study();
    fs::create_dir(bench.path("mine")).unwrap();
    bench.write("mine/notes.txt", "mine");
    sweep(&bench, "mine", &[]).expect_invalid(&["mine: the folder holds 'notes.txt'"]);
    assert_eq!(bench.names("mine"), ["notes.txt"]);
    assert_eq!(sweep(&bench, "a", &["--shard", "1/2"]).status, 0);
    bench.write("study.toml", &STUDY.replace("64KB", "32KB"));
    assert_eq!(sweep(&bench, "b", &["--shard", "2/2"]).status, 0);
    let left = bench.evenkeel(&["merge", "a", "b", "--out", "c"]);
    left.expect_invalid(&["a and b: their study.toml files differ"]);
    bench.write("column.toml", &STUDY.replace("policy = [", "events = ["));
    let column = bench.evenkeel(&["sweep", "column.toml", "--out", "d"]);
    column.expect_invalid(&["run[0].over.events: the results have a column of this name"]);
    bench.evenkeel(&["merge", "a", "none", "--out", "c"]).expect_invalid(&["none/study.toml"]);
    sweep(&bench, "a", &["--shard", "3/2"]).expect_invalid(&["'3/2' is not a shard"]);
}

/// Returns the number of lines in the log of finished runs.
fn log_lines(bench: &Bench, folder: &str) -> usize {
    let log = fs::read_to_string(bench.path(folder).join("sweep.runs.jsonl")).unwrap_or_default();
    log.matches('\n').count()
}

/// Returns the length of that log in bytes.
fn log_bytes(bench: &Bench, folder: &str) -> u64 {
    let log = bench.path(folder).join("sweep.runs.jsonl");
    fs::metadata(log).map_or(0, |file| file.len())
}

/// Runs the sweep with files limited to `kilobytes` more than their current size, and waits for its
/// end.
#[cfg(unix)]
fn with_full_disk(bench: &Bench, folder: &str, kilobytes: u64) -> CommandOutput {
    let size = log_bytes(bench, folder);
    // With the signal ignored, a write beyond the limit fails as on a full disk. Blocks are 512 B.
    let blocks = size / 512 + 2 * kilobytes;
    let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$@\"");
    let program = env!("CARGO_BIN_EXE_evenkeel");
    let arguments = ["-c", &script, "sh", program, "sweep", "study.toml", "--out", folder];
    let output = Command::new("sh")
        .args(arguments)
        .current_dir(bench.path(""))
        .stdin(Stdio::null())
        .output()
        .expect("the shell starts");
    CommandOutput {
        status: output.status.code().expect("it ends by itself"),
        out: String::from_utf8(output.stdout).expect("it is UTF-8"),
        err: String::from_utf8(output.stderr).expect("it is UTF-8"),
    }
}

#[cfg(unix)]
#[test]
fn a_repeatedly_killed_sweep_is_byte_identical_to_an_undisturbed_one() {
    let bench = Bench::new();
    let study = STUDY.replace("seeds = 2", "seeds = 40").replace("256KB", "1024KB");
    bench.write("study.toml", &study);
    assert_eq!(sweep(&bench, "whole", &[]).status, 0);
    let seed = 16;
    let mut random = Stream::new(seed, Purpose::Test, 0);
    let mut torn = 0;
    let kills = if extent::is_long() { 20 } else { 5 };
    for kill in 0..kills {
        if kill % 5 == 2 {
            let left = with_full_disk(&bench, "killed", 4 + u64::from(random.below(9)));
            assert_eq!(left.status, 2, "kill {kill}: {left:?}");
            assert!(left.err.contains("cannot write"), "kill {kill}: {left:?}");
        }
        let mut command = bench.command(&["sweep", "study.toml", "--out", "killed"]);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        // Kills by progress, not time: slow and fast machines get equally far.
        let target = log_bytes(&bench, "killed") + u64::from(random.below(25_000));
        while log_bytes(&bench, "killed") < target && child.try_wait().unwrap().is_none() {
            thread::sleep(Duration::from_micros(200));
        }
        thread::sleep(Duration::from_micros(u64::from(random.below(3_000))));
        assert!(child.try_wait().unwrap().is_none(), "kill {kill}: it has ended by itself");
        child.kill().expect("a signal can be sent");
        child.wait().expect("it ends");
        // Simulates a kill in the middle of a write, which rarely happens on its own.
        let log = bench.path("killed").join("sweep.runs.jsonl");
        let bytes = fs::read(&log).unwrap_or_default();
        if kill % 3 == 1 && bytes.len() > 100 {
            fs::write(&log, &bytes[..bytes.len() - 1 - random.below(99) as usize]).unwrap();
            torn += 1;
        }
    }
    let known = log_lines(&bench, "killed");
    let left = sweep(&bench, "killed", &[]);
    assert_eq!(left.status, 0, "seed {seed}: {left:?}");
    for file in ["results.csv", "study.toml"] {
        let of = |folder: &str| bench.read(&format!("{folder}/{file}"));
        assert_eq!(of("killed"), of("whole"), "seed {seed}, {torn} torn, {known} known");
    }
    let lines = bench.read("whole/results.csv").lines().count() - 1;
    assert_eq!(log_lines(&bench, "killed"), lines, "nothing is simulated twice");
    assert!(torn > 0 && known > 0, "{torn} torn lines, {known} known: nothing was resumed");
}

#[cfg(unix)]
#[test]
fn results_of_an_edited_study_do_not_stay_while_it_runs() {
    let bench = with_study();
    assert_eq!(sweep(&bench, "one", &[]).status, 0);
    // Every point and seed is in the log, but for another number of hosts.
    bench.write("study.toml", &STUDY.replace("hosts_per_leaf = 4", "hosts_per_leaf = 2"));
    assert_ne!(with_full_disk(&bench, "one", 0).status, 0);
    assert!(!bench.path("one/results.csv").exists(), "those of the former study");
}

#[test]
fn a_study_that_is_not_a_file_is_reported_as_such() {
    let bench = Bench::new();
    let sweep = |study: &str| bench.evenkeel(&["sweep", study, "--out", "results"]);
    sweep("nope.toml").expect_invalid(&["nope.toml: it does not exist; expected a study"]);
    sweep(".").expect_invalid(&[".: it is a folder; expected a study"]);
}
