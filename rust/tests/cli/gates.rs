//! Conditions of continuous integration: `compare --assert` and `--junit`.

use serde_json::Value;

use super::bench::Bench;

#[test]
fn an_assertion_that_does_not_hold_ends_a_comparison_with_status_1() {
    let bench = Bench::with_small();
    let compare = |arguments: &[&str]| {
        let head = ["compare", "small.toml", "--policies", "ecmp,spray-rr", "--seeds", "3"];
        bench.evenkeel(&[&head, arguments].concat())
    };
    let good = ["--assert", "spray-rr.slowdown < 1.5", "--assert", "ecmp.packets.dropped == 0"];
    let left = compare(&good);
    assert_eq!((left.status, left.err.as_str()), (0, ""), "{left:?}");
    let rows = ["\nassertion ", "\nspray-rr.slowdown < 1.5 ", "\necmp.packets.dropped == 0 "];
    assert!(rows.iter().all(|row| left.out.contains(row)), "{}", left.out);
    assert!(left.out.lines().all(|line| line.chars().count() <= 80), "{}", left.out);

    let bad = ["--assert", "ecmp.jain_index > 1", "--junit", "results.xml", "--out", "both"];
    let left = compare(&[&bad[..], &good, &["--json"]].concat());
    assert_eq!(left.status, 1);
    let error = "error: --assert 'ecmp.jain_index > 1' does not hold: the median of 3 runs is 0.";
    assert!(left.err.starts_with(error), "{}", left.err);
    let assertions = &left.json()["assertions"];
    let verdicts: Vec<&Value> =
        assertions.as_array().unwrap().iter().map(|it| &it["holds"]).collect();
    assert_eq!(verdicts, [false, true, true]);
    let kept: Value = serde_json::from_str(&bench.read("both/runs.json")).unwrap();
    assert_eq!(&kept["assertions"], assertions);
    let file = bench.read("results.xml");
    assert!(file.contains("<testsuite name=\"small\" tests=\"5\" failures=\"1\""), "{file}");
    assert!(file.contains("name=\"ecmp: 3 runs completed\"></testcase>"), "{file}");

    let csv = compare(&["--assert", "ecmp.cct_us > 1", "--format", "csv"]).out;
    assert!(csv.starts_with("policy,") && !csv.contains("assertion"), "{csv}");
    let error = compare(&["--assert", "reps.slowdown < 1"]);
    error.expect_invalid(&["--assert 'reps.slowdown < 1'", "--policies: ecmp, spray-rr"]);
}

#[test]
fn assertions_of_an_incomplete_policy_do_not_hold() {
    let bench = Bench::with_small();
    let left = bench.evenkeel(&[
        "compare",
        "small.toml",
        "--policies",
        "ecmp",
        "--set",
        "time_limit=1us",
        "--assert",
        "ecmp.packets.dropped == 0",
        "--junit",
        "results.xml",
    ]);
    assert_eq!(left.status, 1, "{left:?}");
    let error = "--assert 'ecmp.packets.dropped == 0' does not hold: 5 of 5 runs did not complete";
    assert!(left.err.contains(error), "{}", left.err);
    let case = "name=\"ecmp: 5 runs completed\"><failure message=\"5 of 5 runs did not complete\">";
    assert!(bench.read("results.xml").contains(case));
}

#[test]
fn assertions_work_over_several_rails() {
    let bench = Bench::new();
    bench.write("rails.toml", include_str!("../../../examples/rails-failure.toml"));
    let left = bench.evenkeel(&[
        "compare",
        "rails.toml",
        "--policies",
        "nezha,even",
        "--assert",
        "nezha.cct_ms > 0",
        "--assert",
        "even.bytes_per_s < 1",
    ]);
    assert_eq!(left.status, 1, "{left:?}");
    assert!(left.err.contains("'even.bytes_per_s < 1' does not hold: the value is "), "{left:?}");
    assert!(left.out.contains("\nnezha.cct_ms > 0 "), "{}", left.out);
}
