//! Runs report what decided their result: timers, limits, failures, resolved `auto` values, and
//! incomplete messages.

use evenkeel::scenario::{Overrides, Scenario};
use serde_json::Value;

use super::bench::{Bench, SMALL};

fn summary(bench: &Bench, folder: &str) -> Value {
    serde_json::from_str(&bench.read(&format!("{folder}/summary.json"))).expect("it is JSON")
}

#[test]
fn resolved_auto_values_are_in_summary_table_and_scenario() {
    let bench = Bench::with_small();
    let left = bench.evenkeel(&["run", "small.toml", "--out", "ecmp"]);
    let row = "NIC       line-rate, go-back-n, ordered delivery; retransmission timer 1.290ms";
    assert!(left.out.lines().any(|line| line == row), "{}", left.out);
    let transport = &summary(&bench, "ecmp")["transport"];
    let expected = serde_json::json!({
        "congestion_control": "line-rate",
        "recovery": "go-back-n",
        "delivery": "ordered",
        "retransmit_timeout_ns": 1_290_000.0,
    });
    assert_eq!(transport, &expected);
    let resolved = bench.read("ecmp/scenario.toml");
    assert!(resolved.contains("recovery = \"auto\"  # default; here go-back-n\n"), "{resolved}");
    let timer = "retransmit_timeout = \"1290us\"  # default; here two base round trips of ";
    assert!(resolved.contains(timer), "{resolved}");
    assert!(resolved.contains("ns and 64MB at 400Gbps\n"), "{resolved}");
    // The file still says auto, so another policy gets its own defaults.
    let again = ["run", "ecmp/scenario.toml", "--policy", "spray", "--out", "spray"];
    assert_eq!(bench.evenkeel(&again).status, 0);
    let recovery = summary(&bench, "spray")["transport"]["recovery"].as_str().unwrap().to_owned();
    assert_ne!(recovery, "go-back-n");
    let explained = bench.evenkeel(&["check", "--explain", "spray/scenario.toml"]).out;
    assert!(explained.contains(&format!("; here {recovery}\n")), "{explained}");
}

#[test]
fn a_time_limit_below_the_bound_is_reported_everywhere() {
    let bench = Bench::new();
    bench.write("short.toml", &format!("time_limit = \"1us\"\n{SMALL}"));
    let expected = "the time limit of 1.000us is less than the lower bound of the completion time";
    let run = bench.evenkeel(&["run", "short.toml", "--out", "kept"]);
    assert_eq!(run.status, 1, "{run:?}");
    assert_eq!(run.err.matches(expected).count(), 1, "once: {}", run.err);
    let first = summary(&bench, "kept")["warnings"][0].as_str().unwrap().to_owned();
    assert!(first.starts_with(expected), "{first}");
    let check = bench.evenkeel(&["check", "short.toml"]);
    assert_eq!(check.status, 0, "{check:?}");
    assert!(check.err.contains(&format!("warning: short.toml: {expected}")), "{}", check.err);
    let compare = bench.evenkeel(&["compare", "short.toml", "--policies", "ecmp,spray"]);
    let said = compare.err.lines().filter(|line| line.starts_with("warning: ecmp: "));
    assert!(said.clone().count() == 1 && said.clone().all(|it| it.ends_with(" (5 of 5 seeds)")));
    assert!(compare.err.contains(&format!("warning: ecmp: {expected}")), "{}", compare.err);
    assert_eq!(bench.evenkeel(&["check", "short.toml", "--set", "time_limit=1s"]).err, "");
}

/// Each host sends seven eighths of 700 GB, which take 12 s at 400 Gbps. The default limit is 10 s.
#[test]
fn check_reports_an_explicit_time_limit_equal_to_the_default() {
    let bench = Bench::new();
    let long = SMALL.replace("256KB", "700GB");
    bench.write("long.toml", &long);
    let said = |options: &[&str]| {
        let left = bench.evenkeel(&[&["check", "long.toml"], options].concat());
        assert_eq!(left.status, 0, "{left:?}");
        left.err.contains("the time limit of 10.00s is less than the lower bound")
    };
    assert!(!said(&[]), "the bound of what nobody wrote is not computed");
    assert!(said(&["--set", "time_limit=10s"]));
    bench.write("long.toml", &format!("time_limit = \"10s\"\n{long}"));
    assert!(said(&[]));
}

/// Every host sends to the host three switches ahead on a ring; the switches pause each other in a
/// cycle.
#[test]
fn a_deadlock_is_an_error_that_names_its_cycle_of_ports() {
    let bench = Bench::new();
    let ring = "[topology]\nkind = \"torus\"\nx = 8\ny = 1\nhosts_per_switch = 4\n\
                fabric_rate = \"100Gbps\"\n[switch]\nbuffer = \"400KB\"\npfc = true\n\
                [transport]\ncongestion_control = \"line-rate\"\n\
                [policy]\nname = \"switch-random\"\n\
                [workload]\nkind = \"shift\"\nshift = 12\nbytes = \"4MiB\"\n";
    bench.write("ring.toml", &format!("time_limit = \"20ms\"\n{ring}"));
    let left = bench.evenkeel(&["run", "ring.toml"]);
    assert_eq!(left.status, 1, "{left:?}");
    let cycle = "priority flow control is deadlocked: each of these ports is paused until the next \
                 one sends, x0y0z0 > x1y0z0, x1y0z0 > x2y0z0, ";
    assert!(left.err.contains(cycle), "{}", left.err);
    assert!(left.err.contains("did not complete: it stalled"), "{}", left.err);
    assert!(left.err.contains("with 32 of 32 messages open:\n  message 0 from"), "{}", left.err);
}

/// A failure of a small fabric, without detection and convergence times.
#[test]
fn a_failure_that_routing_learns_of_too_late_is_reported() {
    let bench = Bench::new();
    let failure = "[[failure]]\nlink = \"leaf0-spine0\"\nat = \"1us\"\n";
    bench.write("failure.toml", &format!("{SMALL}{failure}"));
    let left = bench.evenkeel(&["run", "failure.toml"]);
    assert!(left.out.contains("CCT       100.7ms (10638."), "of the bound: {}", left.out);
    let expected = "the failure of leaf0-spine0 is detected immediately, and routing converges \
                    after 100.0ms, while the bound is";
    assert!(left.err.contains(expected), "{left:?}");
}

/// `ecmp` comes first in the list and does not complete. By its completed messages it would be
/// fastest.
#[test]
fn an_incomplete_policy_ranks_last_without_partial_results() {
    let bench = Bench::with_small();
    let compare = |options: &[&str]| {
        let arguments = ["compare", "small.toml", "--policies", "ecmp,ethereal", "--seeds", "1"];
        bench.evenkeel(&[&arguments, options].concat())
    };
    let runs = compare(&["--json"]).json();
    let time = |index: usize| runs["runs"][index]["cct_ns"].as_f64().unwrap();
    assert!(time(0) > time(1), "hashing takes longer: {} and {}", time(0), time(1));
    let limit = format!("time_limit={}ns", ((time(0) + time(1)) / 2.0) as u64);
    let left = compare(&["--set", &limit, "--format", "csv", "--out", "kept"]);
    assert_eq!((left.status, &left.out), (1, &bench.read("kept/comparison.csv")), "{left:?}");
    let rows: Vec<&str> = left.out.lines().collect();
    assert!(
        rows[1].starts_with("ethereal,cct_ns,1,") && rows[1].ends_with(",unranked"),
        "{rows:?}"
    );
    let of = |metric: &str| {
        let start = format!("ecmp,{metric},");
        let place = rows.iter().position(|row| row.starts_with(&start)).expect(metric);
        assert!(place > rows.len() / 2, "{metric} comes after the other policy: {rows:?}");
        rows[place]
    };
    assert_eq!(of("cct_ns"), "ecmp,cct_ns,0,,,,,ethereal,,,,,incomplete");
    assert_eq!(of("fct_ns.p99"), "ecmp,fct_ns.p99,0,,,,,ethereal,,,,,incomplete");
    assert!(of("packets.dropped").ends_with(",incomplete"));
    let table = compare(&["--set", &limit]).out;
    let places = ["\nethereal ", "\necmp "].map(|name| table.find(name).expect(name));
    assert!(places.is_sorted(), "{table}");
}

#[test]
fn a_scenario_with_rails_may_be_standard_input() {
    use std::io::Write as _;
    use std::process::Stdio;

    let bench = Bench::new();
    let rails = "[[rail]]\nname = \"a\"\n[[rail]]\nname = \"b\"\n\
                 [workload]\noperations = 2\nbytes = \"64KB\"\n";
    for arguments in
        [&["run", "-"][..], &["check", "-"], &["compare", "-", "--policies", "nezha,best-single"]]
    {
        let mut command = bench.command(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program starts");
        child.stdin.take().expect("it is a pipe").write_all(rails.as_bytes()).expect("it is read");
        let output = child.wait_with_output().expect("it ends");
        let err = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments:?}: {err}");
    }
}

#[test]
fn rails_that_do_not_complete_say_why_and_how_many_operations_did() {
    let bench = Bench::new();
    let rails = "[[rail]]\nname = \"a\"\n[workload]\noperations = 4\n";
    bench.write("limit.toml", &format!("time_limit = \"1us\"\n{rails}"));
    let left = bench.evenkeel(&["run", "limit.toml"]);
    assert_eq!(left.status, 1, "{left:?}");
    let expected = "error: limit under nezha did not complete: it reached its time limit \
                    (time_limit); 0 of 4 all-reduces completed";
    assert_eq!(left.err.trim_end(), expected);
    bench.write("down.toml", &format!("{rails}[[failure]]\nrail = \"a\"\nat = \"0s\"\n"));
    let left = bench.evenkeel(&["run", "down.toml"]);
    assert_eq!(left.status, 1, "{left:?}");
    assert!(left.err.contains("did not complete: it "), "{}", left.err);
    assert!(left.err.contains("; 0 of 4 all-reduces completed"), "{}", left.err);
}

#[test]
fn a_job_unsupported_by_traces_is_rejected_with_a_remedy() {
    let bench = Bench::with_small();
    let fabric = SMALL.split("[workload]").next().unwrap();
    let jobs = "[[job]]\nname = \"a\"\nkind = \"permutation\"\n[[job]]\nname = \"b\"\n\
                kind = \"permutation\"\nafter = \"a\"\nstart = \"1us\"\n";
    bench.write("jobs.toml", &format!("{fabric}{jobs}"));
    let left = bench.evenkeel(&["trace", "jobs.toml", "--out", "traces"]);
    left.expect_invalid(&["remove `start` from a [[job]] with `after`"]);
}

#[test]
fn the_copied_topology_file_is_the_one_the_run_read() {
    let bench = Bench::new();
    let topology = "4 1 3\n3\n0 3 100Gbps 1us 0\n1 3 100Gbps 1us 0\n2 3 100Gbps 1us 0\n";
    bench.write("fabric.txt", topology);
    let scenario = "[topology]\nkind = \"file\"\npath = \"fabric.txt\"\n[workload]\n\
                    kind = \"permutation\"\nbytes = \"64KB\"\n";
    bench.write("a.toml", scenario);
    let scenario = Scenario::load(&bench.path("a.toml"), &Overrides::default()).unwrap();
    let left = bench.evenkeel(&["run", "a.toml", "--out", "kept"]);
    assert_eq!(left.status, 0, "{left:?}");
    let copy = bench.names("kept").into_iter().find(|name| name.starts_with("topology"));
    assert_eq!(bench.read(&format!("kept/{}", copy.expect("there is a copy"))), topology);
    // The copy is taken when the file is read: the file may change before results are written.
    bench.write("fabric.txt", &topology.replace("100Gbps", "200Gbps"));
    assert_eq!(scenario.topology_text().map(|(text, _)| text), Some(topology));
}

#[test]
fn policies_with_different_headers_have_separate_lower_bounds() {
    let bench = Bench::with_small();
    let object = |arguments: &[&str]| -> Value {
        let left = bench.evenkeel(arguments);
        assert_eq!(left.status, 0, "{left:?}");
        serde_json::from_str(&left.out).expect("it is JSON")
    };
    let alone = ["ecmp", "mrc"].map(|policy| {
        object(&["run", "small.toml", "--policy", policy, "--json"])["bound_ns"].clone()
    });
    assert_ne!(alone[0], alone[1], "the headers of mrc are longer");
    for policies in ["ecmp,mrc", "mrc,ecmp"] {
        let compared =
            object(&["compare", "small.toml", "--policies", policies, "--seeds", "1", "--json"]);
        for run in compared["runs"].as_array().expect("it has its runs") {
            let index = usize::from(run["policy"] == "mrc");
            assert_eq!(run["bound_ns"], alone[index], "{policies}: {run}");
        }
    }
}
