//! Existing files at a command's destination are replaced only by the command that wrote them.

use std::fs;
use std::os::unix::fs::{FileTypeExt, symlink};
use std::process::{Command, Stdio};
use std::time::Duration;

use super::bench::{Bench, CommandOutput, SMALL};

/// A study of one run without claims.
const STUDY: &str = r#"
title = "A"
work = "B"
about = "C"

[scenario.topology]
leaves = 2
spines = 2
hosts_per_leaf = 2

[scenario.workload]
bytes = "4KB"

[[run]]
name = "a"
"#;

/// Creates a named pipe without a reader or writer.
fn make_pipe(bench: &Bench, name: &str) {
    let made = Command::new("mkfifo").arg(bench.path(name)).status();
    assert!(made.expect("mkfifo starts").success());
}

/// Runs the program, which must not block on the other end of a pipe.
fn within_a_minute(bench: &Bench, arguments: &[&str]) -> CommandOutput {
    let mut command = Command::new("timeout");
    command.args(["60", env!("CARGO_BIN_EXE_evenkeel")]).args(arguments);
    let output = command.current_dir(bench.path(".")).stdin(Stdio::null()).output();
    let output = output.expect("timeout starts");
    let text = |bytes| String::from_utf8(bytes).expect("it is UTF-8");
    let status = output.status.code().expect("it ends by itself");
    CommandOutput { status, out: text(output.stdout), err: text(output.stderr) }
}

#[test]
fn a_timeline_replaces_only_an_earlier_timeline() {
    let bench = Bench::with_small();
    let trace = |to: &str| bench.evenkeel(&["run", "small.toml", "--trace", to]);
    assert_eq!(trace("run.pftrace").status, 0);
    let before = fs::read(bench.path("run.pftrace")).unwrap();
    fs::write(bench.path("run.pftrace"), &before[..40]).unwrap();
    assert_eq!(trace("run.pftrace").status, 0, "a timeline is replaced");
    assert_eq!(fs::read(bench.path("run.pftrace")).unwrap(), before);
    for (name, text) in [("small.toml", SMALL), ("notes.txt", "mine\n")] {
        bench.write(name, text);
        let words = "the file exists and is not a timeline that evenkeel wrote";
        trace(name).expect_invalid(&[&format!("--trace {name}: {words}")]);
        assert_eq!(bench.read(name), text);
    }
    let to = ["run", "small.toml", "--out", "out", "--trace"];
    assert_eq!(bench.evenkeel(&to[..4]).status, 0);
    let names = bench.names("out");
    for name in ["out/summary.json", "./out/../out/flows.csv", "out/.evenkeel-a"] {
        let words = format!("--trace {name}: --out out has a result with this name");
        bench.evenkeel(&[&to[..], &[name]].concat()).expect_invalid(&[&words]);
        assert_eq!(bench.names("out"), names);
    }
    assert_eq!(bench.evenkeel(&[&to[..], &["out/a.pftrace"]].concat()).status, 0);
    bench.write("empty", "");
    assert_eq!(trace("empty").status, 0, "nothing is lost");
    assert_eq!(fs::read(bench.path("empty")).unwrap(), before);
}

#[test]
fn pages_and_figures_replace_only_earlier_ones() {
    let bench = Bench::with_small();
    assert_eq!(bench.evenkeel(&["run", "small.toml", "--out", "results"]).status, 0);
    let report = ["report", "results", "--out", "page.html"];
    let figure = ["plot", "results", "--figure", "completion-cdf", "--out", "a.svg"];
    let figures = ["plot", "results", "--out", "figures"];
    for (command, file, kind) in [
        (&report[..], "page.html", "a page"),
        (&figure, "a.svg", "a figure"),
        (&figures, "figures/link-load-small-ecmp.svg", "a figure"),
    ] {
        for _ in 0..2 {
            let left = bench.evenkeel(command);
            assert_eq!(left.status, 0, "{}", left.err);
        }
        bench.write(file, "<html>mine</html>\n");
        let words = format!("{file}: the file exists and is not {kind} that evenkeel wrote");
        bench.evenkeel(command).expect_invalid(&["--out ", &words]);
        assert_eq!(bench.read(file), "<html>mine</html>\n");
    }
}

#[test]
fn pipes_and_links_are_not_replaced_and_devices_are_written_to() {
    let bench = Bench::with_small();
    assert_eq!(bench.evenkeel(&["run", "small.toml", "--out", "results"]).status, 0);
    make_pipe(&bench, "pipe");
    make_pipe(&bench, "pipe.svg");
    fs::create_dir(bench.path("folder")).unwrap();
    symlink(bench.path("small.toml"), bench.path("link")).unwrap();
    // Links to devices, so that a bug cannot replace the devices themselves.
    symlink("/dev/null", bench.path("null")).unwrap();
    symlink("/dev/full", bench.path("full")).unwrap();
    let figure = ["plot", "results", "--figure", "completion-cdf", "--out", "pipe.svg"];
    for (command, words) in [
        (&["run", "small.toml", "--trace", "pipe"][..], "--trace pipe: this is a named pipe"),
        (&["run", "small.toml", "--trace", "link"], "--trace link: this is a link"),
        (&["run", "small.toml", "--trace", "folder"], "--trace folder: this is a folder"),
        (&["report", "results", "--out", "pipe"], "--out pipe: this is a named pipe"),
        (&figure, "--out pipe.svg: this is a named pipe"),
    ] {
        let left = within_a_minute(&bench, command);
        left.expect_invalid(&[words, "expected a regular file, which need not exist yet"]);
    }
    for name in ["pipe", "pipe.svg"] {
        assert!(bench.path(name).symlink_metadata().unwrap().file_type().is_fifo(), "{name}");
    }
    let left = bench.evenkeel(&["run", "small.toml", "--trace", "null"]);
    assert_eq!(left.status, 0, "{}", left.err);
    let left = bench.evenkeel(&["run", "small.toml", "--trace", "full"]);
    assert_eq!(left.status, 2, "{}", left.out);
    assert!(left.err.contains("--trace full: cannot write"), "{}", left.err);
    for name in ["null", "full"] {
        assert!(bench.path(name).symlink_metadata().unwrap().is_symlink(), "{name}");
    }
}

#[test]
fn exports_do_not_overwrite_pipes() {
    let bench = Bench::with_small();
    fs::create_dir(bench.path("files")).unwrap();
    for name in ["files/topology.txt", "files/small.3.et"] {
        make_pipe(&bench, name);
        let words = format!("--out: {name}: this is a named pipe");
        let command = match name.ends_with(".et") {
            true => &["trace", "small.toml", "--out", "files"][..],
            false => &["export", "small.toml", "--format", "hpcc", "--out", "files"],
        };
        within_a_minute(&bench, command).expect_invalid(&[&words]);
    }
}

#[test]
fn exports_do_not_overwrite_inputs_of_the_scenario() {
    let bench = Bench::with_small();
    let export = |scenario: &str, format: &str| {
        bench.evenkeel(&["export", scenario, "--format", format, "--out", "."])
    };
    for format in ["hpcc", "goal"] {
        assert_eq!(export("small.toml", format).status, 0);
        assert_eq!(export("small.toml", format).status, 0, "existing files are replaced");
    }
    let traced = bench.evenkeel(&["trace", "small.toml", "--out", "."]);
    assert_eq!(traced.status, 0, "{}", traced.err);
    let fabric = "[topology]\nkind = \"file\"\nformat = \"hpcc\"\npath = \"topology.txt\"\n";
    let workload = |kind: &str, file: &str| {
        format!("{fabric}[workload]\nkind = \"{kind}\"\nfile = \"{file}\"\n")
    };
    for (scenario, text, format, file) in [
        ("fabric.toml", fabric.to_owned(), "hpcc", "topology.txt"),
        ("small.toml", workload("goal", "small.goal"), "goal", "small.goal"),
        ("small.toml", workload("chakra", "small") + "ranks = 8\n", "chakra", "small.0.et"),
    ] {
        bench.write(scenario, &text);
        let before = fs::read(bench.path(file)).unwrap();
        export(scenario, format).expect_invalid(&[file, "the scenario reads this file"]);
        assert!(fs::read(bench.path(file)).unwrap() == before, "{file}");
    }
    let words = "--out: ./small.0.et: the scenario reads this file";
    bench.evenkeel(&["trace", "small.toml", "--out", "."]).expect_invalid(&[words]);
}

#[test]
fn a_pipe_in_place_of_a_result_is_rejected() {
    let bench = Bench::with_small();
    let run = ["run", "small.toml", "--out", "of_run"];
    let compare =
        ["compare", "small.toml", "--policies", "ecmp", "--seeds", "1", "--out", "of_comparison"];
    for (command, folder, names) in [
        (&run[..], "of_run", ["flows.csv", "summary.json", "pfc.txt", "cost.json"]),
        (&compare, "of_comparison", ["runs.json", "comparison.csv", "cost.json", ".evenkeel-a"]),
    ] {
        assert_eq!(bench.evenkeel(command).status, 0);
        for name in names {
            let path = bench.path(&format!("{folder}/{name}"));
            let before = fs::read(&path).ok();
            let _ = fs::remove_file(&path);
            make_pipe(&bench, &format!("{folder}/{name}"));
            let words = format!("--out {folder}: '{name}' in it is a named pipe");
            within_a_minute(&bench, command).expect_invalid(&[&words, "expected a regular file"]);
            assert!(path.symlink_metadata().unwrap().file_type().is_fifo(), "{name}");
            fs::remove_file(&path).unwrap();
            if let Some(before) = before {
                fs::write(&path, before).unwrap();
            }
        }
        assert_eq!(bench.evenkeel(command).status, 0, "as before");
    }
}

#[test]
fn a_pipe_in_place_of_a_study_result_is_rejected() {
    let bench = Bench::new();
    bench.write("study.toml", STUDY);
    for name in ["README.md", "study.json", "study.csv", "study.md", "study.runs.jsonl"] {
        fs::create_dir(bench.path("judged")).unwrap();
        make_pipe(&bench, &format!("judged/{name}"));
        let left = within_a_minute(&bench, &["reproduce", "study.toml", "--out", "judged"]);
        left.expect_invalid(&[&format!("--out judged: '{name}' in it is a named pipe")]);
        assert_eq!(bench.names("judged"), [name]);
        fs::remove_dir_all(bench.path("judged")).unwrap();
    }
}

#[test]
fn a_pipe_in_place_of_a_sweep_file_is_rejected() {
    let bench = Bench::new();
    bench.write("study.toml", STUDY);
    assert_eq!(bench.evenkeel(&["sweep", "study.toml", "--out", "shard"]).status, 0);
    let sweep = ["sweep", "study.toml", "--out", "swept"];
    for name in ["study.toml", "sweep.runs.jsonl", "results.csv"] {
        fs::create_dir(bench.path("swept")).unwrap();
        bench.write("swept/study.toml", STUDY);
        let path = bench.path(&format!("swept/{name}"));
        let _ = fs::remove_file(&path);
        make_pipe(&bench, &format!("swept/{name}"));
        within_a_minute(&bench, &sweep).expect_invalid(&["swept", "it is not a regular file"]);
        let merge = |from: &str, to: &str| {
            let left = within_a_minute(&bench, &["merge", "shard", from, "--out", to]);
            left.expect_invalid(&["swept", "it is not a regular file"]);
        };
        merge("shard", "swept");
        if name != "results.csv" {
            merge("swept", "merged");
        }
        assert!(path.symlink_metadata().unwrap().file_type().is_fifo(), "{name}");
        fs::remove_dir_all(bench.path("swept")).unwrap();
    }
}

/// Returns all files of a folder with their contents, as bytes because one may be a Parquet table.
fn content(bench: &Bench, folder: &str) -> Vec<(String, Vec<u8>)> {
    let read = |name: &String| fs::read(bench.path(folder).join(name)).expect("the file is there");
    bench.names(folder).into_iter().map(|name| (name.clone(), read(&name))).collect()
}

#[test]
fn commands_do_not_replace_results_of_other_commands() {
    let bench = Bench::with_small();
    bench.write("study.toml", STUDY);
    let run = ["run", "small.toml", "--out"];
    let compare = ["compare", "small.toml", "--policies", "ecmp,spray", "--seeds", "1", "--out"];
    let sweep = ["sweep", "study.toml", "--out"];
    let reproduce = ["reproduce", "study.toml", "--out"];
    let commands = [&run[..], &compare, &sweep, &reproduce];
    let kinds = ["a run", "a comparison", "a sweep", "studies"];
    for (wrote, kind) in commands.iter().zip(kinds) {
        let folder = format!("of_{}", wrote[0]);
        let left = bench.evenkeel(&[wrote, &[folder.as_str()][..]].concat());
        assert_eq!(left.status, 0, "{}", left.err);
        let before = content(&bench, &folder);
        for (command, own) in commands.iter().zip(kinds).take(2).filter(|(_, own)| *own != kind) {
            let left = bench.evenkeel(&[command, &[folder.as_str()][..]].concat());
            let words = format!("--out {folder}: the folder holds the results of {kind} (");
            left.expect_invalid(&[&words, &format!("earlier results of {own}")]);
            assert!(content(&bench, &folder) == before, "{kind} under {own}");
        }
    }
}

#[test]
fn a_comparison_rejects_foreign_folders_and_keeps_other_files() {
    let bench = Bench::with_small();
    let compare =
        ["compare", "small.toml", "--policies", "ecmp,spray", "--seeds", "1", "--out", "kept"];
    fs::create_dir(bench.path("kept")).unwrap();
    for name in ["notes.txt", "runs.json", "cost.json", "comparison.csv"] {
        bench.write(&format!("kept/{name}"), "{\"mine\": 1}\n");
        let words = format!("the folder holds '{name}', which is not a result of evenkeel");
        bench.evenkeel(&compare).expect_invalid(&["--out kept", &words]);
        assert_eq!(content(&bench, "kept"), [(name.to_owned(), b"{\"mine\": 1}\n".to_vec())]);
        fs::remove_file(bench.path(&format!("kept/{name}"))).unwrap();
    }
    assert_eq!(bench.evenkeel(&compare).err, "");
    bench.write("kept/notes.txt", "mine\n");
    let left = bench.evenkeel(&compare);
    assert_eq!(left.status, 0, "{}", left.err);
    assert!(
        left.err.contains("keeping files that are not results of a comparison: notes.txt"),
        "{}",
        left.err
    );
    assert_eq!(bench.read("kept/notes.txt"), "mine\n");
}

/// Returns true if the program handles this signal. Before that, the signal ends it immediately.
#[cfg(target_os = "linux")]
fn blocks(pid: u32, signal: u32) -> bool {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let blocked = status.lines().find_map(|line| line.strip_prefix("SigBlk:"));
    let mask = blocked.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

/// Starts a run of several hours with a timeline, once it writes the timeline and handles SIGTERM.
#[cfg(target_os = "linux")]
fn traced(bench: &Bench, signals: &str) -> std::process::Child {
    bench.write("long.toml", &SMALL.replace("256KB", "64GB"));
    let mut command = bench.command_with(signals, &["run", "long.toml", "--trace", "run.pftrace"]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    while bench.names(".").len() == 1 || !blocks(child.id(), 15) {
        std::thread::sleep(Duration::from_millis(20));
        assert!(child.try_wait().unwrap().is_none(), "it takes hours");
    }
    child
}

#[cfg(target_os = "linux")]
fn send(signal: &str, child: &std::process::Child) {
    let sent = Command::new("kill").args(["-s", signal, &child.id().to_string()]).status();
    assert!(sent.unwrap().success());
}

#[cfg(target_os = "linux")]
#[test]
fn an_interrupted_run_leaves_no_unfinished_timeline() {
    use std::os::unix::process::ExitStatusExt;
    let bench = Bench::new();
    for (signal, number) in [("INT", 2), ("TERM", 15), ("HUP", 1)] {
        let mut child = traced(&bench, "--default-signal=INT,TERM,HUP");
        assert!(blocks(child.id(), 2));
        send(signal, &child);
        assert_eq!(child.wait().unwrap().signal(), Some(number), "it ends as without --trace");
        assert_eq!(bench.names("."), ["long.toml"]);
    }
}

/// As in background jobs of a script.
#[cfg(target_os = "linux")]
#[test]
fn a_run_started_with_sigint_ignored_continues_its_timeline() {
    use std::os::unix::process::ExitStatusExt;
    let bench = Bench::new();
    let mut child = traced(&bench, "--ignore-signal=INT");
    assert!(!blocks(child.id(), 2));
    send("INT", &child);
    std::thread::sleep(Duration::from_millis(300));
    assert!(child.try_wait().unwrap().is_none(), "it takes hours");
    assert_eq!(bench.names(".").len(), 2);
    send("TERM", &child);
    assert_eq!(child.wait().unwrap().signal(), Some(15));
    assert_eq!(bench.names("."), ["long.toml"]);
}
