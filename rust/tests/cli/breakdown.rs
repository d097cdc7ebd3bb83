//! The division of ranks' time, and the rates of collectives, in the results of `evenkeel run`.

use serde_json::Value;

use super::bench::Bench;

const TRAINING: &str = "
kind = \"training\"
model = { layers = 2, hidden = 256, ffn = 512, heads = 4, kv_heads = 4, family = \"gpt\" }
sequence = 128
tensor = 2
pipeline = 2
data = 4
microbatches = 3
iterations = 2
";

const FABRIC: &str = "
[topology]
kind = \"leaf-spine\"
leaves = 4
spines = 2
hosts_per_leaf = 4
";

/// Runs a scenario; returns its summary, and the cells of its `ranks.csv` if it has one.
fn run(bench: &Bench, text: &str) -> (Value, Vec<Vec<String>>) {
    bench.write("a.toml", text);
    let left = bench.evenkeel(&["run", "a.toml", "--out", "a"]);
    assert_eq!(left.status, 0, "{}", left.err);
    let summary = serde_json::from_str(&bench.read("a/summary.json")).unwrap();
    let has_ranks = bench.names("a").contains(&"ranks.csv".to_owned());
    let table = if has_ranks { bench.read("a/ranks.csv") } else { String::new() };
    let cells = |row: &str| row.split(',').map(str::to_owned).collect();
    (summary, table.lines().skip(1).map(cells).collect())
}

/// Returns a time of a table in picoseconds.
fn picoseconds(cell: &str) -> u64 {
    cell.replace('.', "").parse().unwrap()
}

#[test]
fn the_times_of_each_rank_add_up_to_the_completion_time() {
    let bench = Bench::new();
    let (summary, rows) = run(&bench, &format!("{FABRIC}[workload]{TRAINING}"));
    let cct = picoseconds(&format!("{:.3}", summary["cct_ns"].as_f64().unwrap()));
    assert_eq!(rows.len(), 16 * 3, "a row for each rank and phase");
    for rank in rows.chunks(3) {
        let phases: Vec<&str> = rank.iter().map(|row| row[2].as_str()).collect();
        assert_eq!(phases, ["forward", "backward", "update"]);
        let sum = |column: usize| rank.iter().map(|row| picoseconds(&row[column])).sum::<u64>();
        let [compute, exposed, overlapped, idle] = [3, 4, 5, 6].map(sum);
        assert_eq!(compute + exposed + idle, cct, "{}", rank[0][0]);
        assert!(overlapped <= compute);
        // The backward pass takes twice the operations of the forward pass.
        let [forward, backward] = [0, 1].map(|phase| picoseconds(&rank[phase][3]));
        assert!(forward > 0 && backward.abs_diff(2 * forward) <= 64, "{forward} {backward}");
    }
    let breakdown = &summary["breakdown"];
    assert_eq!(breakdown["ranks"], 16);
    assert_eq!(bench.evenkeel(&["report", "a", "--out", "a.html"]).status, 0);
    let [exposed, idle] = ["exposed_ns", "idle_ns"].map(|key| {
        let share = breakdown[key].as_f64().unwrap() / summary["cct_ns"].as_f64().unwrap();
        format!("{:.0} %", 100.0 * share)
    });
    let answer =
        format!("a rank only communicates for {exposed} of this time and idles for {idle}");
    assert!(bench.read("a.html").contains(&answer), "{answer}");
    let mean = rows.iter().map(|row| picoseconds(&row[4])).sum::<u64>() / 16;
    assert_eq!(breakdown["exposed_ns"].as_f64().unwrap(), mean as f64 / 1_000.0);
    let kinds = breakdown["parallelisms"].as_object().unwrap();
    assert_eq!(kinds.keys().collect::<Vec<_>>(), ["data", "pipeline", "tensor"]);
}

#[test]
fn the_time_of_a_job_begins_at_its_start() {
    let bench = Bench::new();
    let (alone, _) = run(&bench, &format!("{FABRIC}[workload]{TRAINING}"));
    let job = |start: &str| {
        let text = format!("{FABRIC}[[job]]\nname = \"one\"\nstart = \"{start}\"{TRAINING}");
        let (summary, rows) = run(&bench, &text);
        assert_eq!(summary["breakdown"], Value::Null);
        assert!(rows.len() == 16 * 3 && rows.iter().all(|row| row[1] == "one"));
        let job = &summary["jobs"][0];
        let breakdown = &job["breakdown"];
        let time = |key: &str| breakdown[key].as_f64().unwrap();
        assert_eq!(time("compute_ns"), alone["breakdown"]["compute_ns"].as_f64().unwrap());
        let whole = time("compute_ns") + time("exposed_ns") + time("idle_ns");
        assert!((whole - job["cct_ns"].as_f64().unwrap()).abs() < 0.01, "{start}: {job}");
        breakdown.clone()
    };
    assert_eq!(job("0ms"), alone["breakdown"]);
    job("1ms");
}

#[test]
fn a_host_that_only_waits_is_not_a_rank_that_computes() {
    let bench = Bench::new();
    let goal = "num_ranks 2\nrank 0 {\nl1: calc 5000\nl2: send 4096b to 1 tag 1\n\
                l2 requires l1\n}\n\
                rank 1 {\nl1: recv 4096b from 0 tag 1\n}\n";
    bench.write("a.goal", goal);
    for start in ["0ms", "1ms"] {
        let workload = format!("kind = \"goal\"\nfile = \"a.goal\"\nstart = \"{start}\"\n");
        let text = format!("{FABRIC}[workload]\n{workload}");
        let (summary, rows) = run(&bench, &text);
        assert_eq!(summary["breakdown"]["ranks"], 1, "{start}: {summary}");
        assert_eq!(summary["breakdown"]["compute_ns"], 5_000.0, "{start}");
        assert_eq!(rows.len(), 1);
    }
}

#[test]
fn a_collective_has_rates_and_no_breakdown() {
    let bench = Bench::new();
    let collective =
        |kind: &str| format!("{FABRIC}[workload]\nkind = \"{kind}\"\nbytes = \"8MB\"\n");
    for (kind, factor) in [("all-reduce", 2.0 * 15.0 / 16.0), ("all-gather", 15.0 / 16.0)] {
        let (summary, rows) = run(&bench, &collective(kind));
        let [rate, bus] =
            ["algbw_bytes_per_s", "busbw_bytes_per_s"].map(|key| summary[key].as_f64().unwrap());
        let cct = summary["cct_ns"].as_f64().unwrap();
        assert!((rate - 8e15 / cct).abs() < 1.0 && (bus - rate * factor).abs() < 1.0, "{kind}");
        // A link of 400 Gbit/s carries 50 GB/s, less headers and latencies.
        assert!((30e9..50e9).contains(&bus), "{kind}: {bus}");
        assert_eq!((&summary["breakdown"], rows.len()), (&Value::Null, 0));
    }
    let (barrier, _) = run(&bench, &format!("{FABRIC}[workload]\nkind = \"barrier\"\n"));
    assert_eq!(barrier["algbw_bytes_per_s"], Value::Null);
}
