//! The ASTRA-sim network without ASTRA-sim: compiles a C++ program with a stand-in for its system
//! layer against `cpp-bridge/astra-sim/`, links it with the static library and runs it. Each test
//! runs a case of `cases.cc`, by name.

#[path = "../archive.rs"]
mod archive;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::{env, fs};

use evenkeel::fabric::{self, Outcome};
use evenkeel::report;
use evenkeel::scenario::{Overrides, Scenario};

use archive::archive;

/// The output and exit status of a case.
struct Ended {
    status: i32,
    lines: Vec<String>,
    errors: String,
}

impl Ended {
    /// Returns the time on the line that begins with `name`, in picoseconds.
    fn ps(&self, name: &str) -> u64 {
        let mut lines = self.lines.iter().filter_map(|line| line.rsplit_once(' '));
        let line = lines.find(|(of, _)| *of == name);
        let (_, ps) = line.unwrap_or_else(|| panic!("no line {name}: {:?}", self.lines));
        ps.parse().unwrap()
    }

    /// Returns the names of the lines in order, without the last line, which reports the rate.
    fn names(&self) -> Vec<&str> {
        let names = self.lines.iter().filter_map(|line| line.rsplit_once(' '));
        names.map(|(name, _)| name).filter(|name| *name != "rate").collect()
    }
}

/// Writes a scenario of `hosts` hosts on one leaf switch, with additional lines.
fn scenario(name: &str, hosts: u32, more: &str) -> PathBuf {
    let text = format!(
        "[topology]\nkind = \"leaf-spine\"\nleaves = 1\nspines = 1\nhosts_per_leaf = {hosts}\n\
         host_rate = \"400Gbps\"\nfabric_rate = \"400Gbps\"\ndelay = \"500ns\"\n\
         [policy]\nname = \"ecmp\"\n{more}"
    );
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("astra-sim-{name}.toml"));
    fs::write(&path, text).unwrap();
    path
}

/// Runs a case on two hosts.
fn ended(case: &str) -> Option<Ended> {
    ended_on(case, &scenario(case, 2, ""), None)
}

fn ended_on(case: &str, scenario: &Path, results: Option<&Path>) -> Option<Ended> {
    let program = program()?;
    let output =
        Command::new(program).arg(case).arg(scenario).args(results).output().expect("it runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Some(Ended {
        status: output.status.code().expect("it ends by itself"),
        lines: text(&output.stdout).lines().map(str::to_owned).collect(),
        errors: text(&output.stderr),
    })
}

/// Returns the program, compiled once; prints a message and returns `None` without a C++ compiler.
fn program() -> Option<&'static Path> {
    static PROGRAM: OnceLock<Option<PathBuf>> = OnceLock::new();
    PROGRAM.get_or_init(compile).as_deref()
}

fn compile() -> Option<PathBuf> {
    let compiler = env::var("CXX").unwrap_or_else(|_| "c++".to_owned());
    if Command::new(&compiler).arg("--version").output().is_err() {
        let _ = writeln!(std::io::stderr(), "skipped: astra_sim: there is no '{compiler}'");
        return None;
    }
    let bridge = Path::new(env!("CARGO_MANIFEST_DIR"));
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join("astra-sim-cases");
    let (network, cases) =
        (bridge.join("../../cpp-bridge/astra-sim"), bridge.join("tests/astra_sim"));
    let output = Command::new(compiler)
        .args(["-std=c++17", "-Wall", "-Wextra", "-Werror", "-pedantic", "-I"])
        .args([&network, Path::new("-I"), &cases, Path::new("-I"), &cases.join("stand-in")])
        .args(["-I", concat!(env!("OUT_DIR"), "/cxxbridge/include"), "-o"])
        .args([&program, &cases.join("cases.cc"), &network.join("rank-network.cc")])
        .args([archive(), Path::new("-lpthread")])
        .args(["-ldl", "-lm"])
        .output()
        .expect("it runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    Some(program)
}

#[test]
fn receives_of_one_tag_are_called_in_order() {
    let Some(ended) = ended("in-order") else { return };
    assert_eq!((ended.status, ended.names()), (0, vec!["first", "second"]), "{}", ended.errors);
    assert!(ended.ps("first") < ended.ps("second"));
    let rate = ended.lines.last().unwrap();
    assert_eq!(rate, "rate 50", "standard output has only what the ranks print");
}

#[test]
fn messages_of_one_tag_are_matched_by_length() {
    let Some(ended) = ended("sizes") else { return };
    assert_eq!((ended.status, ended.names()), (0, vec!["long", "short"]), "{}", ended.errors);
}

#[test]
fn three_gibibytes_arrive_in_one_message() {
    let Some(ended) = ended("large") else { return };
    assert_eq!((ended.status, ended.names()), (0, vec!["received", "sent"]), "{}", ended.errors);
    let at_full_rate = 3_221_225_472 * 20;
    assert!(ended.ps("received") > at_full_rate && ended.ps("received") < at_full_rate * 11 / 10);
}

/// With `preferred-dataset-splits` 1, each step of an all-gather of 3 GiB is one message. Packets
/// of 60 KiB keep their number small.
#[test]
fn an_all_gather_of_three_gibibytes_prints_a_line_for_every_rank() {
    let path = scenario("all-gather", 4, "[transport]\npayload = \"60KiB\"\n");
    let Some(ended) = ended_on("all-gather", &path, None) else { return };
    assert_eq!(ended.status, 0, "{}", ended.errors);
    let mut names = ended.names();
    names.sort_unstable();
    let expected: Vec<String> = (0..4).map(|rank| format!("sys[{rank}] finished")).collect();
    assert_eq!(names, expected, "also that of the last one, whose end ends the run");
    let at_full_rate = 3 * 3_221_225_472 * 20;
    for name in names {
        let took = ended.ps(name);
        assert!(took > at_full_rate && took < at_full_rate * 101 / 100, "{name}: {took}");
    }
}

#[test]
fn a_rank_that_waits_forever_ends_the_run_with_status_1() {
    let Some(ended) = ended("waits-for-ever") else { return };
    assert_eq!(ended.status, 1);
    let said = "1 rank did not finish; at 0ps, no pending event can unblock them:\n  \
                rank 1 waits to receive 1 of 64 B from rank 0, tag 500000000";
    assert!(ended.errors.contains(said), "{}", ended.errors);
}

/// This happens for traces whose statistics fail in ASTRA-sim.
#[test]
fn unfinished_ranks_are_checked_when_no_event_is_left() {
    let Some(ended) = ended("silent") else { return };
    assert_eq!((ended.status, ended.names()), (0, vec!["received"]), "{}", ended.errors);
    let ended = ended_on("half-silent", &scenario("half", 2, ""), None).unwrap();
    let said = "1 rank did not finish";
    assert!(ended.status == 1 && ended.errors.contains(said), "{}", ended.errors);
    let said = "rank 0 waits for nothing in the network and has not reported completion";
    assert!(ended.errors.contains(said), "{}", ended.errors);
}

#[test]
fn settings_that_decide_a_result_give_the_warnings_of_a_run() {
    let outage = "[[failure]]\nlink = \"host1-leaf0\"\nat = \"1ns\"\nuntil = \"10ms\"\n";
    let Some(ended) = ended_on("ping-pong", &scenario("outage", 2, outage), None) else { return };
    assert_eq!(ended.status, 0, "{}", ended.errors);
    let said = "warning: the failure of host1-leaf0 is detected immediately, and routing converges";
    assert!(ended.errors.contains(said), "{}", ended.errors);
}

#[test]
fn a_message_without_a_receive_gives_a_warning() {
    let Some(ended) = ended("never-received") else { return };
    assert_eq!(ended.status, 0);
    let said = "warning: messages: 1 of 64 B from rank 0 to rank 1, tag 500000000: delivered";
    assert!(ended.errors.contains(said), "{}", ended.errors);
}

#[test]
fn a_cut_link_ends_the_run_with_status_1_and_names_the_ranks() {
    let cut = "[[failure]]\nlink = \"host1-leaf0\"\nat = \"1ns\"\n";
    let Some(ended) = ended_on("one-message", &scenario("cut", 2, cut), None) else { return };
    assert_eq!(ended.status, 1, "{}", ended.errors);
    for said in ["2 ranks did not finish", "rank 0 waits for 1 of", "rank 1 waits to receive 1 of"]
    {
        assert!(ended.errors.contains(said), "{}", ended.errors);
    }
}

#[test]
fn the_time_limit_of_the_scenario_ends_the_run_with_status_1() {
    let path = scenario("limit", 2, "");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, format!("time_limit = \"3us\"\n{text}")).unwrap();
    let Some(ended) = ended_on("one-message", &path, None) else { return };
    assert_eq!(ended.status, 1);
    assert!(ended.errors.contains("(time_limit) is reached"), "{}", ended.errors);
}

/// Two links of 500 ns each way: a receiver is called after one way, without the way back.
#[test]
fn a_receiver_is_called_when_the_message_arrives() {
    let Some(ended) = ended("ping-pong") else { return };
    assert_eq!(ended.status, 0, "{}", ended.errors);
    let wire = 2 * (500_000 + (64 + 62) * 20);
    // The acknowledgement of the ping, with its gap, leaves before the pong.
    let acknowledgement = (64 + 20) * 20;
    assert_eq!([ended.ps("ping"), ended.ps("pong")], [wire, 2 * wire + acknowledgement]);
}

#[test]
fn a_late_receive_is_called_at_its_own_time_but_not_reentrantly() {
    let Some(ended) = ended("early") else { return };
    // Like ASTRA-sim, the stand-in handles all events of a nanosecond at its first callback.
    let names = vec!["before", "after", "received"];
    assert_eq!((ended.status, ended.names()), (0, names), "{}", ended.errors);
    assert_eq!(ended.ps("received"), 9_000_000);
}

#[test]
fn ten_thousand_events_at_fractions_of_a_nanosecond_are_all_found() {
    let Some(ended) = ended("fractions") else { return };
    assert_eq!((ended.status, ended.names()), (0, vec!["received", "lost"]), "{}", ended.errors);
    assert_eq!(ended.ps("lost"), 0);
    assert_ne!(ended.ps("received") % 1_000, 0, "it must be a fraction");
}

#[test]
fn messages_that_need_no_network_complete_immediately() {
    let Some(ended) = ended("local") else { return };
    let names = vec!["to oneself", "from oneself", "nothing"];
    assert_eq!((ended.status, ended.names()), (0, names), "{}", ended.errors);
    assert!(ended.errors.contains(": 0 messages"), "{}", ended.errors);
}

#[test]
fn impossible_requests_end_the_run_with_status_2() {
    for (case, said) in [
        ("no-host", "rank 0 sends to rank 99 (tag 500000000, 64 B), which does not exist"),
        (
            "negative",
            "--rendezvous-protocol=true, ASTRA-sim keeps lengths in 32 bits and supports only",
        ),
        ("throws", "at 5.000ns of simulated time, the trace has a node of no type"),
    ] {
        let Some(ended) = ended(case) else { return };
        assert_eq!(ended.status, 2, "{case}: {}", ended.errors);
        assert!(ended.errors.contains(said), "{case}: {}", ended.errors);
    }
}

#[test]
fn an_invalid_scenario_ends_with_status_2_and_an_unused_workload_is_a_warning() {
    let wrong = scenario("wrong", 2, "");
    fs::write(&wrong, "[policy]\nname = \"sprey\"\n").unwrap();
    let Some(ended) = ended_on("in-order", &wrong, None) else { return };
    assert_eq!(ended.status, 2);
    assert!(ended.errors.contains("did you mean 'spray'?"), "{}", ended.errors);
    let unused = scenario("unused", 2, "[workload]\nkind = \"shift\"\n");
    let ended = ended_on("in-order", &unused, None).unwrap();
    assert_eq!(ended.status, 0);
    assert!(ended.errors.contains("[workload] is not used"), "{}", ended.errors);
}

/// Compares with the same messages as a scenario's workload, in the fabric without ASTRA-sim.
#[test]
fn a_shift_takes_the_same_time_as_its_workload_to_the_picosecond() {
    let shift = "[workload]\nkind = \"shift\"\nshift = 1\nbytes = \"100KB\"\n";
    for policy in ["ecmp", "spray", "ethereal"] {
        let path = scenario(&format!("shift-{policy}"), 4, shift);
        let text = fs::read_to_string(&path).unwrap().replace("\"ecmp\"", &format!("\"{policy}\""));
        let text = text.replace("leaves = 1", "leaves = 2").replace("spines = 1", "spines = 3");
        fs::write(&path, text).unwrap();
        let Some(ended) = ended_on("shift", &path, None) else { return };
        assert_eq!(ended.status, 0, "{}", ended.errors);
        let Outcome { flows, .. } = fabric::run(&by_itself(&path).setup(), &mut |_| ());
        assert!(flows.len() >= 8);
        for rank in 0..8 {
            let own = || flows.iter().filter(|flow| flow.src.0 == rank);
            let delivered = own().map(|flow| flow.delivered.as_ps()).max().unwrap();
            let completed = own().map(|flow| flow.completed.as_ps()).max().unwrap();
            let seen = ["delivered", "completed"].map(|what| ended.ps(&format!("{what} {rank}")));
            assert_eq!(seen, [delivered, completed], "{policy}, rank {rank}");
        }
    }
}

fn by_itself(path: &Path) -> Scenario {
    Scenario::load(path, &Overrides::default()).unwrap()
}

#[test]
fn two_runs_of_a_ring_write_the_same_results() {
    let path = scenario("ring", 8, "");
    let folder = |run: u32| Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("astra-{run}"));
    let mut all = Vec::new();
    for run in 0..2 {
        let _ = fs::remove_dir_all(folder(run));
        let Some(ended) = ended_on("ring", &path, Some(&folder(run))) else { return };
        assert_eq!(ended.status, 0, "{}", ended.errors);
        let read = |file: &str| fs::read_to_string(folder(run).join(file)).unwrap();
        let files = ["flows.csv", "links.csv", "scenario.toml", "workload.cm"].map(read);
        assert_eq!(files[0].lines().count(), 1 + 8 * 40, "names, and every message");
        let summary: serde_json::Value = serde_json::from_str(&read("summary.json")).unwrap();
        assert_eq!(summary["messages_completed"], 320);
        let again = by_itself(&folder(run).join("scenario.toml"));
        let setup = again.setup();
        let mut flows = Vec::new();
        let outcome = fabric::run(&setup, &mut |_| ());
        report::write_flows_csv(&mut flows, &setup, &outcome).unwrap();
        // The connections of a matrix have different source ports, and therefore different hashes.
        let times = |text: &str| {
            let columns = |line: &str| {
                let columns: Vec<&str> = line.split(',').collect();
                [&columns[..5], &columns[6..10]].concat().join(",")
            };
            let mut lines: Vec<String> = text.lines().map(columns).collect();
            lines.sort_unstable();
            lines
        };
        let flows = String::from_utf8(flows).unwrap();
        assert!(times(&flows) == times(&files[0]), "the same messages by themselves");
        all.push(files);
    }
    assert_eq!(all[0], all[1]);
}
