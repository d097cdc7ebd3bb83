//! Malicious files: deeply nested, absurdly large, endless, or with names that escape the results
//! folder. Each yields one error and status 2 in bounded memory and time. Nothing is written
//! outside the folder.

use std::fs;
use std::io::Write as _;
use std::process::{Command, Stdio};
use std::time::Duration;

use evenkeel::report::Stopwatch;

use super::bench::{Bench, CommandOutput, SMALL};
use crate::support::extent;

/// Address space limit of a command in KiB, beyond which allocations fail: 1 GiB.
const MOST_KIB: u32 = 1 << 20;

/// Maximum time until an input is rejected, on a machine that is busy with other tests.
const LONGEST: Duration = Duration::from_secs(30);

/// Nesting depth of the files.
const DEPTH: usize = 100_000;

/// Runs the program with limited memory.
fn limited(bench: &Bench, arguments: &[&str]) -> CommandOutput {
    let started = Stopwatch::start();
    let mut command = Command::new("sh");
    let limit = format!("ulimit -v {MOST_KIB} && exec \"$@\"");
    command.args(["-c", &limit, "sh", env!("CARGO_BIN_EXE_evenkeel")]).args(arguments);
    let output = command.current_dir(bench.path(".")).stdin(Stdio::null()).output();
    let output = output.expect("sh starts");
    let took = started.stop().wall;
    assert!(took < LONGEST, "{arguments:?} took {took:?}");
    let text = |bytes| String::from_utf8(bytes).expect("it is UTF-8");
    let status = output.status.code().unwrap_or_else(|| panic!("{arguments:?} was killed"));
    CommandOutput { status, out: text(output.stdout), err: text(output.stderr) }
}

/// Checks that `check` rejects a scenario with one short error.
fn refuses(bench: &Bench, scenario: &str, words: &[&str]) {
    let left = limited(bench, &["check", scenario]);
    left.expect_invalid(words);
    assert_eq!(left.err.matches("error: ").count(), 1, "{}", left.err);
    assert!(left.err.len() < 8_000, "{} bytes of error", left.err.len());
}

#[test]
fn deeply_nested_and_too_long_scenarios_are_rejected() {
    let bench = Bench::new();
    let dotted = vec!["a"; DEPTH].join(".");
    let long = if extent::is_left_out("cli::hostile, ten megabytes") { 1 << 20 } else { 10 << 20 };
    for (text, words) in [
        (format!("a = {}", "[".repeat(DEPTH)), "recursion"),
        (format!("a = {}1{}", "{a=".repeat(DEPTH), "}".repeat(DEPTH)), "recursion"),
        (format!("{dotted} = 1\n"), "recursion"),
        (format!("[{dotted}]\nb = 1\n"), "recursion"),
        (format!("# {}\n", "x".repeat(17 << 20)), "it exceeds the limit of 16 MiB"),
        (format!("seed = \"{}\"\n", "x".repeat(long)), "seed"),
        ("[topology]\nleaves = 4294967295\n".to_owned(), "too many hosts"),
        ("[workload]\nchannels = 4294967295\n".to_owned(), "channels"),
    ] {
        bench.write("hostile.toml", &text);
        refuses(&bench, "hostile.toml", &["hostile.toml", words]);
    }
    if !extent::is_left_out("cli::hostile, a million items") {
        bench.write("hostile.toml", &format!("a = [{}]\n", "1,".repeat(1_000_001)));
        refuses(&bench, "hostile.toml", &["more than 1000000 keys and list items"]);
    }
    bench.write("study.toml", &format!("# {}\n", "x".repeat(17 << 20)));
    for command in [&["sweep", "study.toml", "--out", "out"][..], &["reproduce", "study.toml"]] {
        limited(&bench, command).expect_invalid(&["study.toml", "it exceeds the limit of 16 MiB"]);
    }
    assert_eq!(bench.names("."), ["hostile.toml", "study.toml"]);
}

#[test]
fn hostile_files_of_other_projects_are_rejected() {
    let bench = Bench::new();
    let fabric = "[topology]\nleaves = 2\nspines = 2\nhosts_per_leaf = 4\n";
    let workload = |kind: &str| format!("{fabric}[workload]\nkind = \"{kind}\"\nfile = \"f\"\n");
    let topology = |format: &str| {
        format!("[topology]\nkind = \"file\"\nformat = \"{format}\"\npath = \"f\"\n")
    };
    let aliases: String = (1..12)
        .map(|i| format!("a{i}: &a{i} [{}]\n", vec![format!("*a{}", i - 1); 10].join(",")))
        .collect();
    let brackets = "nested brackets";
    for (scenario, text, words) in [
        (topology("infragraph"), "[".repeat(DEPTH), brackets),
        (topology("infragraph"), format!("devices: {}", "{a: ".repeat(DEPTH)), brackets),
        (topology("infragraph"), format!("devices:\n- {}\n", "- ".repeat(DEPTH)), "devices[0]"),
        (topology("infragraph"), format!("a0: &a0 [x]\n{aliases}devices: *a11\n"), "devices[0]"),
        (topology("hpcc"), "4294967295 1 1\n0\n0 1 1Gbps 1us 0\n".to_owned(), "too many"),
        (workload("flows"), "4294967295\n0 1 3 100 100 2\n".to_owned(), "are announced"),
        (workload("goal"), "num_ranks 4294967295\nrank 0 {\n}\n".to_owned(), "num_ranks"),
        (workload("goal"), "num_ranks 1\n".to_owned() + &"{".repeat(DEPTH), "f:2"),
        (workload("connection-matrix"), "Nodes 4294967295\nConnections 0\n".to_owned(), "Nodes"),
        (workload("simccl"), "[".repeat(DEPTH), "f:1"),
    ] {
        bench.write("hostile.toml", &scenario);
        bench.write("f", &text);
        refuses(&bench, "hostile.toml", &[words]);
    }
}

/// Encodes a protobuf varint.
fn varint(mut value: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value > 0x7f {
        bytes.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
    bytes
}

#[test]
fn hostile_chakra_traces_are_rejected() {
    let bench = Bench::new();
    let scenario = "[topology]\nleaves = 2\nspines = 2\nhosts_per_leaf = 1\n\
                    [workload]\nkind = \"chakra\"\nfile = \"f\"\nranks = 2\n";
    bench.write("hostile.toml", scenario);
    // Groups within groups, which prost skips recursively, and a length without its bytes.
    let groups = [varint(DEPTH), vec![0x53; DEPTH]].concat();
    let length = [varint(1 << 28), b"x".to_vec()].concat();
    let beyond = vec![0xff; 16];
    for (bytes, words) in [
        (groups, "recursion limit"),
        (length, "the file is truncated: expected 268435456 more bytes"),
        (beyond, "corrupt: the length"),
    ] {
        for rank in 0..2 {
            fs::write(bench.path(&format!("f.{rank}.et")), &bytes).expect("it can be written");
        }
        refuses(&bench, "hostile.toml", &["f.0.et", words]);
    }
}

/// Returns the start of the Chakra trace node with this number, a computation. It ends before the
/// `zeros` bytes of a field that no version defines.
fn padded_node(number: usize, zeros: usize) -> Vec<u8> {
    let unknown = [varint(2_047 << 3 | 2), varint(zeros)].concat();
    let node = [vec![0x08], varint(number), vec![0x18, 4], unknown].concat();
    [varint(node.len() + zeros), node].concat()
}

/// Returns a gzip member.
fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(bytes).expect("it can be written");
    packed.finish().expect("it can be written")
}

#[test]
fn decompression_bombs_are_read_in_bounded_memory() {
    let bench = Bench::new();
    bench.write(
        "hostile.toml",
        "[topology]\nleaves = 2\nspines = 2\nhosts_per_leaf = 1\n\
         [workload]\nkind = \"chakra\"\nfile = \"f.et.gz\"\nranks = 2\n",
    );
    // One compressed MiB of zeros, repeated: compressing gigabytes takes longer than reading them.
    let mebibyte = packed(&vec![0; 1 << 20]);
    let pack = |pieces: &[(Vec<u8>, usize)]| {
        let mut file = packed(b"\x07\x0a\x050.0.4");
        for (head, mebibytes) in pieces {
            file.extend(packed(head));
            file.extend(mebibyte.repeat(*mebibytes));
        }
        assert!(file.len() < 16 << 20, "{} bytes", file.len());
        fs::write(bench.path("f.et.gz"), file).expect("it can be written");
    };
    // More than the memory in total, though each node fits.
    pack(&[1, 2, 3, 4, 5].map(|number| (padded_node(number, 250 << 20), 250)));
    let left = limited(&bench, &["check", "hostile.toml"]);
    assert_eq!((left.status, left.err.as_str()), (0, ""), "{}", left.out);
    // Endless zeros are nodes of zero bytes.
    pack(&[(Vec::new(), 512)]);
    refuses(&bench, "hostile.toml", &["f.et.gz", "unknown type 0"]);
    // A node longer than the limit.
    let head = [vec![0x08, 1, 0x12], varint(900 << 20)].concat();
    let long = [varint(head.len() + (900 << 20)), head].concat();
    pack(&[(long, 900)]);
    refuses(&bench, "hostile.toml", &["f.et.gz", "at most 2^28"]);
}

#[test]
fn deeply_nested_results_are_rejected() {
    let bench = Bench::with_small();
    assert_eq!(bench.evenkeel(&["run", "small.toml", "--out", "results"]).status, 0);
    for name in ["summary.json", "scenario.toml"] {
        let before = bench.read(&format!("results/{name}"));
        bench.write(&format!("results/{name}"), &format!("a = {}", "[".repeat(DEPTH)));
        let left = limited(&bench, &["report", "results", "--out", "page.html"]);
        assert!(left.status == 2 || name == "scenario.toml", "{name}: {left:?}");
        bench.write(&format!("results/{name}"), &before);
    }
    bench.write("results/summary.json", &"[".repeat(DEPTH));
    limited(&bench, &["plot", "results", "--out", "figures"]).expect_invalid(&["summary.json"]);
}

#[cfg(unix)]
#[test]
fn endless_results_are_rejected() {
    let bench = Bench::with_small();
    assert_eq!(bench.evenkeel(&["run", "small.toml", "--out", "results"]).status, 0);
    fs::remove_file(bench.path("results/flows.csv")).unwrap();
    std::os::unix::fs::symlink("/dev/zero", bench.path("results/flows.csv")).unwrap();
    let left = limited(&bench, &["plot", "results", "--out", "figures"]);
    left.expect_invalid(&["flows.csv", "it is not a regular file"]);
    fs::remove_file(bench.path("results/summary.json")).unwrap();
    std::os::unix::fs::symlink("/dev/null", bench.path("results/summary.json")).unwrap();
    let left = limited(&bench, &["plot", "results", "--out", "figures"]);
    left.expect_invalid(&["summary.json", "it is not a regular file"]);
}

#[test]
fn endless_inputs_are_rejected() {
    let bench = Bench::new();
    refuses(&bench, "/dev/zero", &["/dev/zero cannot be read: it exceeds the limit of 16 MiB"]);
    let endless = "cat /dev/zero | \"$0\" check -";
    let program = env!("CARGO_BIN_EXE_evenkeel");
    let output = Command::new("sh").args(["-c", endless, program]).output().expect("sh starts");
    let err = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{err}");
    assert!(err.contains("stdin cannot be read: it exceeds the limit of 16 MiB"), "{err}");
}

#[test]
fn a_scenario_from_a_pipe_is_read_only_once() {
    let bench = Bench::with_small();
    let file = bench.evenkeel(&["check", "small.toml"]);
    let mut command = bench.command(&["check", "/dev/stdin"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program starts");
    child.stdin.take().expect("it is a pipe").write_all(SMALL.as_bytes()).expect("it is read");
    let output = child.wait_with_output().expect("it ends");
    let printed = String::from_utf8(output.stdout).expect("it is UTF-8");
    assert_eq!(printed.replace("/dev/stdin", "small.toml"), file.out);
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn names_in_files_cannot_escape_the_results_folder() {
    let bench = Bench::new();
    fs::create_dir_all(bench.path("in/deep")).expect("it can be made");
    let fabric = "[topology]\nleaves = 2\nspines = 2\nhosts_per_leaf = 2\n";
    let evil = "name = \"../../evil\"\n";
    bench.write("in/deep/record.toml", &format!("{fabric}[[record]]\nevery = \"1us\"\n{evil}"));
    let left = bench.evenkeel(&["run", "in/deep/record.toml", "--out", "in/deep/out"]);
    left.expect_invalid(&["record[0].name", "../../evil", "letters, digits"]);
    // Names of jobs, policies and scenarios appear in tables; their slashes must not reach file
    // names.
    bench.write("in/deep/job.toml", &format!("{fabric}[[job]]\nbytes = \"4KB\"\n{evil}"));
    assert_eq!(bench.evenkeel(&["run", "in/deep/job.toml", "--out", "in/deep/out"]).status, 0);
    let summary = bench.read("in/deep/out/summary.json");
    let named = summary.replace("\"job\"", "\"../../evil\"").replace("\"ethereal\"", "\"../evil\"");
    assert_ne!(named, summary);
    bench.write("in/deep/out/summary.json", &named);
    let scenario = bench.read("in/deep/out/scenario.toml");
    let scenario = scenario.replace("policy=ethereal", "policy=../evil");
    bench.write("in/deep/out/scenario.toml", &scenario);
    assert_eq!(bench.evenkeel(&["plot", "in/deep/out", "--out", "in/deep/figures"]).status, 0);
    let traced = bench.evenkeel(&["trace", "in/deep/job.toml", "--out", "in/deep/traces"]);
    assert_eq!(traced.status, 0, "{}", traced.err);
    assert_eq!(bench.names("."), ["in"]);
    assert_eq!(bench.names("in"), ["deep"]);
    let deep = ["figures", "job.toml", "out", "record.toml", "traces"];
    assert_eq!(bench.names("in/deep"), deep);
}

#[test]
fn symlinks_in_the_results_folder_are_replaced_not_followed() {
    let bench = Bench::with_small();
    bench.write("precious", "mine\n");
    assert_eq!(bench.evenkeel(&["run", "small.toml", "--out", "results"]).status, 0);
    for name in ["flows.csv", "cost.json", "summary.json"] {
        let path = bench.path(&format!("results/{name}"));
        // A summary must be valid, or the folder is not evenkeel's.
        if name == "summary.json" {
            fs::rename(&path, bench.path("precious")).unwrap();
        } else {
            fs::remove_file(&path).unwrap();
        }
        let before = bench.read("precious");
        std::os::unix::fs::symlink(bench.path("precious"), &path).unwrap();
        let left = bench.evenkeel(&["run", "small.toml", "--out", "results", "--seed", "2"]);
        assert_eq!(left.status, 0, "{name}: {}", left.err);
        assert!(path.symlink_metadata().unwrap().is_file(), "{name} is a file of its own");
        assert_eq!(bench.read("precious"), before, "{name}");
    }
}

/// File names with a terminal colour sequence and with a text direction override.
#[test]
fn file_names_are_escaped_when_printed() {
    let bench = Bench::new();
    for (name, said) in [("a\u{1b}[31m", "a\\u{1b}[31m"), ("b\u{202e}lmot", "b\\u{202e}lmot")] {
        let (file, absent) = (format!("{name}.toml"), format!("{name}-absent.toml"));
        bench.write(&file, SMALL);
        let rails = format!("{name}-rails.toml");
        bench.write(&rails, "[[rail]]\n[workload]\noperations = 1\n");
        for arguments in [
            &["check", &file] as &[&str],
            &["check", "--explain", &file],
            &["run", &file, "--out", name],
            &["run", &rails],
            &["bound", &file],
            &["qps", &file],
            &["compare", &file, "--policies", "ecmp,spray"],
            &["check", &absent],
            &["hpcc", &absent],
            &["sweep", &absent, "--out", "sweep"],
        ] {
            let left = bench.evenkeel(arguments);
            let all = format!("{}{}", left.out, left.err);
            assert!(!all.contains(['\u{1b}', '\u{202e}']), "{arguments:?}: {all:?}");
            assert!(all.contains(said), "{arguments:?}: {all:?}");
        }
    }
    bench.write("turned.toml", "[policy]\nname = \"\u{202e}pmce\"\n");
    refuses(&bench, "turned.toml", &["unknown policy '\\u{202e}pmce'"]);
}

#[test]
fn arguments_are_escaped_when_printed() {
    let bench = Bench::with_small();
    for hostile in ["\u{202e}x", "\u{1b}[31mx", "x\u{7}"] {
        let option = format!("--{hostile}");
        for arguments in [
            &["run", "small.toml", &option] as &[&str],
            &["run", "small.toml", "--seed", hostile],
            &["list", hostile],
            &[hostile],
        ] {
            let left = bench.evenkeel(arguments);
            assert_eq!((left.status, left.out.as_str()), (2, ""), "{arguments:?}");
            let harms = |it: char| it.is_control() && it != '\n' || it == '\u{202e}';
            assert!(!left.err.contains(harms), "{arguments:?}: {:?}", left.err);
            assert!(left.err.starts_with("error: ") && left.err.contains("--help"), "{}", left.err);
        }
    }
    let long = "y".repeat(100_000);
    let left = bench.evenkeel(&["list", &long]);
    assert!(left.err.len() < 5_000 && left.err.contains("characters more"), "{}", left.err.len());
}
