//! `evenkeel nccl-tests`.

use serde_json::Value;

use super::bench::Bench;

const CLUSTER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/clusters/h100.toml");

fn run(bench: &Bench, arguments: &[&str]) -> String {
    let left = bench.evenkeel(arguments);
    assert_eq!((left.status, left.err.as_str()), (0, ""), "{arguments:?}");
    left.out
}

#[test]
fn the_table_has_the_columns_of_nccl_tests_and_a_row_per_size() {
    let bench = Bench::new();
    let sizes = ["-b", "8", "-e", "64M", "-f", "8", "-g", "16", "--cluster", CLUSTER];
    let table = run(&bench, &[["nccl-tests", "all_reduce"].as_slice(), &sizes].concat());
    let rows: Vec<Vec<&str>> = table
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| line.split_whitespace().collect())
        .collect();
    let bytes: Vec<u64> = rows.iter().map(|row| row[0].parse().unwrap()).collect();
    assert_eq!(bytes, (1..=8).map(|power| 8u64.pow(power)).collect::<Vec<_>>());
    for row in &rows {
        let number = |column: usize| row[column].parse::<f64>().unwrap();
        assert_eq!((number(1) * 4.0, row[2], row[3], row[4]), (number(0), "float", "sum", "-1"));
        let (algbw, busbw) = (number(0) / number(5) / 1e3, number(7));
        assert!((number(6) - algbw).abs() <= 0.01 + 0.001 * algbw, "{row:?}");
        assert!((busbw - algbw * 30.0 / 16.0).abs() <= 0.02 + 0.001 * busbw, "{row:?}");
    }
    assert_eq!(&rows[0][8..], ["tree", "ll", "1"]);
    assert_eq!(&rows[6][8..10], ["tree", "ll128"]);
    // The name of the program is accepted too, and the number of threads does not matter.
    let again = [["nccl-tests", "all_reduce_perf", "-j", "1"].as_slice(), &sizes].concat();
    assert_eq!(run(&bench, &again), table);
}

#[test]
fn json_has_the_times_and_every_estimate() {
    let bench = Bench::new();
    let arguments = ["nccl-tests", "all_reduce", "-b", "1G", "-e", "1G", "-g", "8"];
    let out = run(&bench, &[arguments.as_slice(), &["--cluster", CLUSTER, "--json"]].concat());
    let table: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((&table["ranks"], &table["operation"]), (&8.into(), &"all-reduce".into()));
    let row = &table["rows"][0];
    assert_eq!((&row["algorithm"], &row["channels"]), (&"nvls".into(), &16.into()));
    let algbw = row["algbw_bytes_per_s"].as_f64().unwrap();
    assert!((algbw * row["time_ns"].as_f64().unwrap() / 1e9 - (1u64 << 30) as f64).abs() < 1.0);
    let estimates = row["estimates"].as_array().unwrap();
    let fastest = estimates
        .iter()
        .min_by(|a, b| a["time_ns"].as_f64().unwrap().total_cmp(&b["time_ns"].as_f64().unwrap()));
    assert_eq!(fastest.unwrap()["algorithm"], "nvls");
    // `--choice` prints the same for people.
    let choice = [arguments.as_slice(), &["--cluster", CLUSTER, "--choice"]].concat();
    let text = run(&bench, &choice);
    assert_eq!(text.lines().filter(|line| line.contains("model:")).count(), estimates.len());
    assert_eq!(text.lines().filter(|line| line.ends_with("chosen")).count(), 1);
}

#[test]
fn invalid_sizes_operations_and_clusters_are_explained() {
    let bench = Bench::new();
    bench.write("incast.toml", "[workload]\nkind = \"incast\"\nfan_in = 3\n");
    let cases = [
        (vec!["all_gater", "--cluster", CLUSTER], "expected one of all_reduce, all_gather"),
        (vec!["reduce", "-b", "8X", "--cluster", CLUSTER], "a number with K, M or G"),
        (vec!["reduce", "-b", "0", "--cluster", CLUSTER], "at least 1 byte"),
        (vec!["reduce", "-b", "2G", "-e", "1G", "--cluster", CLUSTER], "--maxbytes 1.07GB"),
        (vec!["reduce", "-b", "1", "-e", "1G", "-i", "1", "--cluster", CLUSTER], "use a larger"),
        (vec!["reduce", "-g", "12", "--cluster", CLUSTER], "servers equally full"),
        (vec!["reduce", "-g", "999", "--cluster", CLUSTER], "from 2 to the number of hosts, 256"),
        (vec!["reduce", "-e", "99999999999999G", "--cluster", CLUSTER], "less than 16E bytes"),
        (vec!["reduce", "--cluster", CLUSTER, "--set", "workload.bytes=1MiB"], "use -b and -e"),
        (
            vec!["reduce", "-g", "8", "--cluster", CLUSTER, "--set", "workload.hosts=\"0..8\""],
            "omit it",
        ),
        (vec!["reduce", "--cluster", "incast.toml"], "workload.fan_in does not apply"),
        (vec!["reduce", "--cluster", "none.toml"], "none.toml"),
    ];
    for (arguments, expected) in cases {
        let left = bench.evenkeel(&[["nccl-tests"].as_slice(), &arguments].concat());
        assert_eq!(left.status, 2, "{arguments:?}: {}", left.err);
        assert!(left.err.contains(expected), "{arguments:?}: {}", left.err);
        assert!(left.out.is_empty());
    }
}
