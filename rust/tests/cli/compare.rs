//! `evenkeel compare`.

use serde_json::Value;

use super::bench::{Bench, CommandOutput, SMALL};

/// Returns the runs without wall time and memory, which vary.
fn determined(json: &Value) -> Vec<Value> {
    let mut runs = json["runs"].as_array().expect("it is an array").clone();
    for run in &mut runs {
        let run = run.as_object_mut().expect("it is an object");
        run.remove("wall_s").expect("it is there");
        run.remove("peak_rss_bytes").expect("it is there");
    }
    runs
}

#[test]
fn runs_are_ordered_for_any_number_of_threads() {
    let bench = Bench::with_small();
    let compare = |jobs: &str| {
        let left = bench.evenkeel(&[
            "compare",
            "small.toml",
            "--policies",
            "spray,ecmp,ethereal",
            "--seeds",
            "2",
            "--jobs",
            jobs,
            "--json",
        ]);
        assert_eq!((left.status, left.err.as_str()), (0, ""));
        determined(&left.json())
    };
    let runs = compare("1");
    let which: Vec<(&str, u64)> = runs
        .iter()
        .map(|run| (run["policy"].as_str().unwrap(), run["seed"].as_u64().unwrap()))
        .collect();
    let expected =
        [("spray", 1), ("spray", 2), ("ecmp", 1), ("ecmp", 2), ("ethereal", 1), ("ethereal", 2)];
    assert_eq!(which, expected);
    assert_eq!(runs, compare("4"));
}

#[test]
fn a_run_in_a_comparison_equals_the_run_alone() {
    let bench = Bench::with_small();
    let both = bench.evenkeel(&[
        "compare",
        "small.toml",
        "--policies",
        "ethereal,spray",
        "--seeds",
        "1",
        "--json",
    ]);
    let alone = bench.evenkeel(&["run", "small.toml", "--policy", "spray", "--json"]).json();
    let alone = determined(&serde_json::json!({ "runs": [alone] }));
    assert_eq!(determined(&both.json())[1..], alone);
}

/// Packets of `valiant` take longer paths than the shortest one, so its bound is lower.
#[test]
fn a_run_in_a_comparison_has_the_same_bound_as_alone() {
    let bench = Bench::new();
    let text = "[topology]\nkind = \"torus\"\nx = 3\ny = 1\nz = 1\nhosts_per_switch = 1\n\
                host_rate = \"100Gbps\"\nfabric_rate = \"3Gbps\"\n\
                [policy]\nname = \"ecmp\"\n\
                [workload]\nkind = \"permutation\"\nbytes = \"20KB\"\n";
    bench.write("ring.toml", text);
    let both = bench.evenkeel(&[
        "compare",
        "ring.toml",
        "--policies",
        "ecmp,valiant",
        "--seeds",
        "1",
        "--json",
    ]);
    let bounds = both.json()["runs"].as_array().unwrap().clone();
    let alone = ["ecmp", "valiant"]
        .map(|policy| bench.evenkeel(&["run", "ring.toml", "--policy", policy, "--json"]).json());
    let bound = |run: &Value| run["bound_ns"].as_f64().unwrap();
    assert!(bounds.iter().map(bound).eq(alone.iter().map(bound)), "{}", both.out);
    assert!(bound(&alone[1]) < bound(&alone[0]));
}

#[test]
fn an_unused_policy_parameter_is_warned_about_once() {
    let bench = Bench::with_small();
    let own = "name = \"ethereal\"\nbatch_timer = \"1us\"";
    bench.write("own.toml", &bench.read("small.toml").replace("name = \"ecmp\"", own));
    let compare = |policies: &str| {
        bench.evenkeel(&["compare", "own.toml", "--policies", policies, "--seeds", "2"])
    };
    let left = compare("ethereal,spray");
    let warning = "policy.batch_timer: a parameter of 'ethereal', not used by 'spray'";
    assert!(left.err.starts_with("warning: own.toml:"), "{}", left.err);
    assert!(
        left.err.trim_end().ends_with(warning) && left.err.lines().count() == 1,
        "{}",
        left.err
    );
    assert_eq!(compare("ethereal").err, "");
    let left = bench.evenkeel(&["run", "own.toml", "--policy", "ecmp", "--json"]);
    assert!(left.err.contains("not used by 'ecmp'"), "{}", left.err);
    assert_eq!(bench.evenkeel(&["run", "own.toml", "--seed", "3", "--json"]).err, "");
}

#[test]
fn the_table_for_people_fits_80_columns() {
    let left = Bench::with_small().evenkeel(&["compare", "small.toml", "--policies", "spray,ecmp"]);
    assert_eq!((left.status, left.err.as_str()), (0, ""));
    assert!(left.out.lines().all(|line| line.chars().count() <= 80), "{}", left.out);
    assert!(left.out.contains("seeds 1 to 5 (medians)"), "{}", left.out);
    let rows = |name: &str| left.out.lines().filter(|line| line.starts_with(name)).count();
    assert_eq!(["spray ", "ecmp "].map(rows), [2, 2], "{}", left.out);
    assert!(left.out.contains(" 3 of 5  unclear\n"), "{}", left.out);
    assert!(
        left.out.ends_with("\nbest CCT: spray, not distinguishable from ecmp\n"),
        "{}",
        left.out
    );
}

/// With one path per pair of hosts and a fixed arrival order, no random draw has an effect.
#[test]
fn a_comparison_has_five_seeds_if_anything_is_random_and_one_otherwise() {
    let bench = Bench::with_small();
    let fixed = SMALL.replace("spines = 2", "spines = 1").replace("256KB", "16KB");
    let fixed = format!("{fixed}\n[switch]\nties = \"port\"\necn.step = \"800KB\"\n");
    bench.write("fixed.toml", &fixed);
    let compare = |file: &str, options: &[&str]| {
        let arguments = ["compare", file, "--policies", "ecmp,spray"];
        let left = bench.evenkeel(&[&arguments, options].concat());
        assert_eq!((left.status, left.err.as_str()), (0, ""));
        left
    };
    let runs = |file| compare(file, &["--json"]).json()["runs"].as_array().map(Vec::len);
    assert_eq!([runs("small.toml"), runs("fixed.toml")], [Some(10), Some(2)]);
    let last = |file, options: &[&str]| {
        compare(file, options).out.lines().last().unwrap_or_default().to_owned()
    };
    assert_eq!(last("fixed.toml", &[]), "best CCT: ecmp, tied with spray");
    let one = "best CCT: none, one seed is too few to rank policies; use --seeds 5";
    assert_eq!(last("small.toml", &["--seeds", "1"]), one);
    let two = "best CCT: none, 2 seeds are too few to rank policies; use --seeds 5";
    assert_eq!(last("small.toml", &["--seeds", "2"]), two);
}

/// Each host of a leaf has a path via one of two spines. Under some seeds, `ecmp` sends nothing
/// over the failed spine, which makes the policy look faster.
#[test]
fn policies_that_miss_the_failure_are_named_with_their_seeds() {
    let bench = Bench::new();
    let text = "[topology]\nleaves = 2\nspines = 2\nhosts_per_leaf = 1\n[policy]\n\
                name = \"ecmp\"\n[workload]\nkind = \"shift\"\nbytes = \"64KB\"\n\
                [[failure]]\nlink = \"leaf0-spine0\"\nat = \"0s\"\ndetection = \"1ms\"\n\
                [transport]\nretransmit_timeout = \"20us\"\n";
    bench.write("cut.toml", text);
    let arguments = ["compare", "cut.toml", "--policies", "ecmp,spray", "--seeds", "8"];
    let left = bench.evenkeel(&arguments);
    let told = "no packet met the failure of leaf0-spine0";
    let told: Vec<&str> = left.err.lines().filter(|line| line.contains(told)).collect();
    assert_eq!(told.len(), 1, "{}", left.err);
    assert!(
        told[0].starts_with("warning: ecmp: ") && told[0].ends_with(" of 8 seeds)"),
        "{told:?}"
    );
}

/// Compares three policies under five seeds with these options.
fn of_five_seeds(bench: &Bench, options: &[&str]) -> CommandOutput {
    let arguments = ["compare", "small.toml", "--policies", "ecmp,spray,ethereal", "--seeds", "5"];
    let left = bench.evenkeel(&[&arguments, options].concat());
    assert_eq!((left.status, left.err.as_str()), (0, ""));
    left
}

#[test]
fn every_format_pairs_ratios_by_seed() {
    let bench = Bench::with_small();
    let runs = of_five_seeds(&bench, &["--json"]).json();
    let time = |policy: &str, seed: u64| {
        let mut runs = runs["runs"].as_array().unwrap().iter();
        let run = runs.find(|run| run["policy"] == policy && run["seed"] == seed);
        run.unwrap()["cct_ns"].as_f64().unwrap()
    };
    let mut ratios: Vec<f64> =
        (1..=5).map(|seed| time("ecmp", seed) / time("spray", seed)).collect();
    ratios.sort_by(f64::total_cmp);
    let lines = of_five_seeds(&bench, &["--format", "jsonl", "--baseline", "spray"]).out;
    let first: Value = serde_json::from_str(lines.lines().next().unwrap()).unwrap();
    assert_eq!((&first["policy"], &first["metric"]), (&"ecmp".into(), &"cct_ns".into()));
    for (key, expected) in [("ratio", 2), ("ratio_low", 0), ("ratio_high", 4)] {
        assert!((first[key].as_f64().unwrap() - ratios[expected]).abs() < 1e-9, "{first}");
    }
    let bound = runs["runs"][0]["bound_ns"].as_f64();
    assert!(first["low"].as_f64() >= bound && first["high"].as_f64() > first["median"].as_f64());
    let csv = of_five_seeds(&bench, &["--format", "csv", "--baseline", "spray"]).out;
    assert_eq!(csv.lines().count(), 1 + lines.lines().count());
    let ratio = first["ratio"].as_f64().unwrap();
    assert!(csv.lines().nth(1).unwrap().contains(&format!(",0.9375,spray,{ratio},")), "{csv}");
    let table = of_five_seeds(&bench, &["--baseline", "spray"]).out;
    assert!(table.lines().all(|line| line.chars().count() <= 80), "{table}");
    assert!(table.contains(" over spray ") && table.contains("best"), "{table}");
    let page = of_five_seeds(&bench, &["--format", "markdown", "--baseline", "spray"]).out;
    assert!(page.starts_with("| policy | verdict | `cct_ns` |"), "{page}");
}

#[test]
fn the_drafts_indicators_fit_80_columns() {
    let bench = Bench::with_small();
    let table = of_five_seeds(&bench, &["--kpi", "bmwg"]).out;
    assert!(table.lines().all(|line| line.chars().count() <= 80), "{table}");
    for words in ["topology A (2-tier Clos)", "load balancing", "MMR", "JFI", "goodput"] {
        assert!(table.contains(words), "{words}: {table}");
    }
    let csv = of_five_seeds(&bench, &["--kpi", "bmwg", "--format", "csv"]).out;
    assert!(csv.contains("\nethereal,jain_index,5,"), "{csv}");
}

#[test]
fn rails_are_compared_on_any_number_of_threads_in_every_format() {
    let bench = Bench::new();
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/rails-tcp-tcp.toml");
    let example = std::fs::read_to_string(example).expect("the example is there");
    bench.write("rails.toml", &example.replace("16MB", "1MB"));
    let compare = |options: &[&str]| {
        let arguments = ["compare", "rails.toml", "--policies", "nezha,best-single"];
        let left = bench.evenkeel(&[&arguments, options].concat());
        assert_eq!((left.status, left.err.as_str()), (0, ""));
        left.out
    };
    let lines = compare(&["--format", "jsonl", "--jobs", "1"]);
    assert_eq!(compare(&["--format", "jsonl", "--jobs", "2"]), lines);
    assert!(lines.contains("{\"policy\":\"best-single\",\"metric\":\"bytes_per_s\""), "{lines}");
    let table = compare(&[]);
    assert!(table.ends_with("\n\nbest CCT: nezha\n"), "nothing is drawn: {table}");
    let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let rows: Vec<Vec<String>> = table.lines().map(words).collect();
    assert_eq!(rows[rows.len() - 3], ["best-single", "1.216×", "behind"], "{table}");
}

#[test]
fn the_baseline_must_be_one_of_the_policies() {
    let arguments = ["compare", "small.toml", "--policies", "ecmp,spray", "--baseline", "reps"];
    let left = Bench::with_small().evenkeel(&arguments);
    left.expect_invalid(&["--baseline: 'reps' is not compared; expected one of --policies: ecmp"]);
}

#[test]
fn all_arguments_are_checked_before_the_first_run() {
    let bench = Bench::with_small();
    let invalid = |arguments: &[&str], words: &[&str]| {
        bench.evenkeel(&[&["compare", "small.toml"], arguments].concat()).expect_invalid(words);
    };
    invalid(&["--policies", "ecmp,sprey"], &["'sprey'", "ecmp"]);
    invalid(&["--policies", "ecmp,"], &["a name is missing in 'ecmp,'", "for example ecmp,spray"]);
    invalid(&["--policies", ","], &["a name is missing in ','"]);
    invalid(&["--policies", "ecmp,spray,ecmp"], &["'ecmp' is repeated"]);
    invalid(&["--policies", "ecmp", "--seeds", "0"], &["'0'", "--seeds"]);
    invalid(&["--policies", "ecmp", "--jobs", "0"], &["'0'", "--jobs"]);
    let last = u64::MAX.to_string();
    invalid(&["--policies", "ecmp", "--seeds", "2", "--seed", &last], &["seed", &last]);
}

#[test]
fn a_run_that_does_not_complete_is_reported_with_the_table() {
    let bench = Bench::new();
    bench.write("short.toml", &format!("time_limit = \"4us\"\n{SMALL}"));
    let left = bench.evenkeel(&["compare", "short.toml", "--policies", "ecmp,spray"]);
    assert_eq!(left.status, 1, "{left:?}");
    let none = "\nbest CCT: none, each policy has a run that did not complete\n";
    assert!(left.out.ends_with(none), "{}", left.out);
    for policy in ["ecmp", "spray"] {
        let message = format!("the run of short (policy {policy}, seed 1) did not complete");
        assert!(left.err.contains(&message), "{}", left.err);
    }
    assert_eq!(left.out.matches(" open ").count(), 2, "{}", left.out);
}

#[test]
fn results_are_kept_and_read_again() {
    let bench = Bench::with_small();
    let arguments = ["compare", "small.toml", "--policies", "ecmp,ethereal", "--out", "kept"];
    let left = bench.evenkeel(&arguments);
    assert_eq!(left.status, 0, "{left:?}");
    assert_eq!(bench.names("kept"), ["comparison.csv", "cost.json", "runs.json"]);
    let runs: Value = serde_json::from_str(&bench.read("kept/runs.json")).unwrap();
    assert_eq!(runs["runs"].as_array().map(Vec::len), Some(10));
    let figures = bench.evenkeel(&["plot", "kept", "--out", "figures"]);
    assert_eq!(figures.status, 0, "{figures:?}");
    assert_eq!(bench.evenkeel(&arguments).status, 0, "results are replaced");
}

/// Returns the CPU time of a process in seconds.
#[cfg(target_os = "linux")]
fn processor_seconds(process: u32) -> f64 {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).expect("it runs");
    // The program name, in parentheses, may contain spaces. Times are in hundredths of a second.
    let (_, fields) = stat.rsplit_once(')').expect("it has a name");
    let fields = fields.split_whitespace().skip(11).take(2);
    fields.map(|ticks| ticks.parse::<f64>().expect("a number") / 100.0).sum()
}

/// Starts a comparison, interrupts it after this much CPU time, and returns its output.
#[cfg(target_os = "linux")]
fn interrupted(bench: &Bench, arguments: &[&str], signal: &str, seconds: f64) -> CommandOutput {
    use std::io::Read;
    use std::process::{Command, Stdio};

    let mut command = bench.command_with("--default-signal=INT,TERM,HUP", arguments);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    while child.try_wait().unwrap().is_none() && processor_seconds(child.id()) < seconds {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    // Twice, like an impatient user or a closing terminal.
    for _ in 0..2 {
        let sent = Command::new("kill").args(["-s", signal, &child.id().to_string()]).status();
        assert!(sent.unwrap().success());
    }
    let (mut out, mut err) = (String::new(), String::new());
    child.stdout.take().unwrap().read_to_string(&mut out).unwrap();
    child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
    CommandOutput { status: child.wait().unwrap().code().expect("it ends by itself"), out, err }
}

/// `spray` would only start after a hundred thousand runs of `ecmp`.
#[cfg(target_os = "linux")]
#[test]
fn an_interrupted_comparison_keeps_finished_runs_and_names_missing_ones() {
    let bench = Bench::with_small();
    let compare = ["compare", "small.toml", "--policies", "ecmp,spray", "--seeds", "100000"];
    let left = interrupted(&bench, &[&compare, &["--out", "kept"][..]].concat(), "INT", 1.0);
    assert_eq!(left.status, 1, "{}", left.err);
    let all: Value = serde_json::from_str(&bench.read("kept/runs.json")).unwrap();
    let finished = all["runs"].as_array().unwrap().len();
    assert!(finished > 0);
    let said = format!("interrupted: {finished} of 200000 runs finished; the rest is missing");
    assert!(left.err.contains(&said), "{}", left.err);
    let missing = 100_000 - finished;
    let expected = serde_json::json!({
        "runs_planned": 200_000, "runs_missing": missing + 100_000, "policies": [
            { "policy": "ecmp", "runs_missing": missing },
            { "policy": "spray", "runs_missing": 100_000 },
        ]
    });
    assert_eq!(all["interrupted"], expected);
    let costs: Value = serde_json::from_str(&bench.read("kept/cost.json")).unwrap();
    assert_eq!(costs["interrupted"], expected);
    let statistics = bench.read("kept/comparison.csv");
    let rows = || statistics.lines().skip(1);
    assert!(rows().all(|row| row.ends_with(",interrupted")), "{statistics}");
    assert!(rows().any(|row| row.starts_with("spray,cct_ns,0,")), "{statistics}");
    assert_eq!(left.out.matches(&format!(" {finished} of 100000")).count(), 2, "{}", left.out);
    assert_eq!(left.out.matches(" 0 of 100000").count(), 2, "{}", left.out);
    assert!(left.out.contains("\nspray "), "{}", left.out);
    assert!(left.out.ends_with("best CCT: none, the comparison was interrupted\n"), "{}", left.out);
    let figures = bench.evenkeel(&["plot", "kept", "--out", "figures"]);
    assert_eq!(figures.status, 0, "{figures:?}");
    let left = bench.evenkeel(&["compare", "small.toml", "--policies", "ecmp", "--out", "kept"]);
    assert_eq!(left.status, 0, "it is replaced: {}", left.err);
    assert!(!bench.read("kept/runs.json").contains("interrupted"));
}

/// A partial comparison must not replace a complete one.
#[cfg(target_os = "linux")]
#[test]
fn an_interrupted_comparison_does_not_replace_a_complete_one() {
    let bench = Bench::with_small();
    let compare = ["compare", "small.toml", "--policies", "ecmp", "--out", "kept"];
    assert_eq!(bench.evenkeel(&compare).status, 0);
    let before = read(&bench, "runs.json");
    let more = [&compare[..], &["--seeds", "100000"]].concat();
    let left = interrupted(&bench, &more, "HUP", 1.0);
    assert_eq!(left.status, 1, "{}", left.err);
    assert!(
        left.err.contains("--out keeps the earlier comparison because it is complete"),
        "{left:?}"
    );
    assert!(left.out.contains("best CCT: none, the comparison was interrupted"), "{}", left.out);
    assert!(read(&bench, "runs.json") == before);
}

/// The first run takes hours.
#[cfg(target_os = "linux")]
#[test]
fn a_comparison_interrupted_in_its_first_run_keeps_earlier_results() {
    let bench = Bench::with_small();
    let compare =
        |scenario| ["compare", scenario, "--policies", "ecmp", "--seeds", "1", "--out", "kept"];
    assert_eq!(bench.evenkeel(&compare("small.toml")).status, 0);
    let content = || ["runs.json", "comparison.csv", "cost.json"].map(|it| read(&bench, it));
    let before = content();
    bench.write("long.toml", &SMALL.replace("256KB", "64GB"));
    for signal in ["TERM", "INT", "HUP"] {
        let left = interrupted(&bench, &compare("long.toml"), signal, 0.1);
        assert_eq!((left.status, left.out.as_str()), (1, ""), "{}", left.err);
        assert!(left.err.contains("interrupted: 0 of 1 runs finished"), "{}", left.err);
        assert!(content() == before, "nothing is finished, so that nothing is written");
    }
}

#[cfg(target_os = "linux")]
fn read(bench: &Bench, name: &str) -> String {
    bench.read(&format!("kept/{name}"))
}
