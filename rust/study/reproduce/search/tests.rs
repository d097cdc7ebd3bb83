//! Tests of the search on a study of two hosts.

use std::path::Path;

use super::super::{Scale, TrialResult};
use super::*;
use crate::ComparisonRun;
use crate::report::Identity;

struct Unobserved;

impl Observer for Unobserved {
    fn started(&self, _: ComparisonRun, _: &Identity) {}
    fn progress(&self, _: ComparisonRun, _: &crate::fabric::Progress) {}
    fn finished(&self, _: ComparisonRun) {}
}

/// A message between two hosts, which takes twice as long if it is twice as long.
const STUDY: &str = r#"
        [scenario]
        topology = { leaves = 2, spines = 1, hosts_per_leaf = 1 }
        workload = { kind = "permutation", bytes = "64KiB" }
        transport = { congestion_control = "line-rate" }

        [[run]]
        name = "two"
        [run.over]
        policy = ["ecmp", "spray"]
        "transport.ack_every" = [1, 2]

        [[why]]
        label = "twice as long"
        set = { "workload.bytes" = "128KiB" }
        [[why]]
        set = { "transport.ack_every" = 8 }
        [[why]]
        set = { "workload.bites" = "128KiB" }

        [[claim]]
        text = "the claim that holds"
        origin = "expectation"
        run = "two"
        metric = "cct_us"
        of = { policy = "ecmp", ack_every = 1 }
        at_least = 1

        [[claim]]
        text = "the claim that the length turns"
        origin = "expectation"
        run = "two"
        metric = "link_bytes_max"
        of = { policy = "ecmp", ack_every = 1 }
        at_least = 100_000

        [[claim]]
        text = "the claim that nothing turns"
        origin = "expectation"
        run = "two"
        metric = "cct_us"
        of = { policy = "ecmp", ack_every = 1 }
        against = { policy = "spray" }
        at_least = 3
    "#;

fn found(text: &str, threads: usize) -> AlternativeResults {
    let threads = NonZeroUsize::new(threads).unwrap();
    let study = Study::parse(text, Path::new("two.toml"), Scale::Quick).unwrap();
    let results = study.results(threads, &Unobserved, None).unwrap();
    let search = study.alternatives(&results, threads).unwrap();
    let runs = search.runs();
    let found = search.run(threads, &Unobserved, None).unwrap();
    assert_eq!(found.runs, runs);
    found
}

#[test]
fn a_failing_claim_has_the_alternatives_that_turn_it_or_none() {
    let found = found(STUDY, 2);
    let claims: Vec<usize> = found.claims.iter().map(|it| it.claim).collect();
    assert_eq!(claims, [1, 2], "a claim that holds needs no alternative");
    let turning = |claim: &TriedClaim| {
        let holds = claim.tried.iter().filter(|it| it.result == TrialResult::Holds);
        holds.map(|it| it.alternative.clone()).collect::<Vec<String>>()
    };
    assert_eq!(turning(&found.claims[0]), ["twice as long"]);
    assert_eq!(turning(&found.claims[1]), [""; 0]);
}

#[test]
fn settings_that_cannot_change_a_verdict_are_not_run_and_say_why() {
    let found = found(STUDY, 1);
    let of = |alternative: &str| {
        found.claims[1].tried.iter().find(|it| it.alternative == alternative).unwrap()
    };
    for (alternative, result) in [
        ("switch.ties = \"drawn\"", TrialResult::Unchanged),
        ("switch.slow_ports = \"scale\"", TrialResult::Unchanged),
        ("transport.congestion_control = \"line-rate\"", TrialResult::Unchanged),
        ("transport.ack_every = 4", TrialResult::Varied),
        ("transport.ack_every = 8", TrialResult::DoesNotHold),
        ("workload.bites = \"128KiB\"", TrialResult::Rejected),
        ("switch.ties = \"port\"", TrialResult::DoesNotHold),
    ] {
        assert_eq!(of(alternative).result, result, "{alternative}");
    }
    let reason = &of("workload.bites = \"128KiB\"").reason;
    assert!(reason.contains("did you mean 'bytes'?"), "{reason}");
    assert!(of("switch.ties = \"port\"").ours.ends_with(" x"));
}

#[test]
fn keys_without_an_effect_hide_neither_other_keys_of_their_section_nor_the_run_s_name() {
    // Warnings name `transport.cnp_interval`, `two seed.toml` and `switch.slow_ports`.
    let text = STUDY.replacen("\"line-rate\" }", "\"line-rate\", cnp_interval = \"4us\" }", 1);
    let text = text.replace("\"two\"", "\"two seed\"").replacen(
        "[[claim]]",
        "[[why]]\nset = { transport = { payload = \"64B\" } }\n\
         [[why]]\nset = { \"transport.cnp_interval\" = \"8us\", \
         \"switch.slow_ports\" = \"scale\" }\n\
         [[claim]]",
        1,
    );
    let found = found(&text, 2);
    let result = |part: &str| {
        let tried = found.claims[0].tried.iter();
        tried.clone().find(|it| it.alternative.contains(part)).unwrap().result
    };
    assert_eq!(result("payload"), TrialResult::Holds);
    assert_eq!(result("seed = 1001"), TrialResult::DoesNotHold);
    assert_eq!(result("cnp_interval"), TrialResult::Unchanged);
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    assert_eq!(found(STUDY, 1), found(STUDY, 3));
}

#[test]
fn a_run_that_several_claims_need_is_simulated_once_for_each_alternative() {
    let again = STUDY.rsplit_once("[[claim]]").unwrap().1;
    let twice = format!("{STUDY}\n[[claim]]{again}");
    assert_eq!(found(STUDY, 2).runs, found(&twice, 2).runs);
}

#[test]
fn errors_of_the_study_s_alternatives_name_line_and_key() {
    let error = |why: &str| {
        let text = format!("[[run]]\nname = \"a\"\n[[why]]\n{why}\n");
        Study::parse(&text, Path::new("s.toml"), Scale::Quick).unwrap_err().to_string()
    };
    let empty = error("set = {}");
    assert!(empty.starts_with("s.toml:4:7: why[0].set: expected a key of a sc"), "{empty}");
    let missing = error("label = \"a\"");
    assert!(missing.contains("why[0].set is missing"), "{missing}");
    let twice = error("set = { seed = 2 }\n[[why]]\nset = { seed = 2 }");
    assert!(twice.contains("6:7: why[1].set: another [[why]] has the name 'seed = 2'"), "{twice}");
}

#[test]
fn settings_that_make_compared_runs_the_same_are_not_run() {
    let study = |over: &str, whys: &[&str], of: &str, against: &str| {
        let head = STUDY.split_once("[run.over]").unwrap().0;
        let whys: String = whys.iter().map(|it| format!("[[why]]\nset = {{ {it} }}\n")).collect();
        format!(
            "{head}[run.over]\n{over}\n{whys}[[claim]]\ntext = \"a\"\norigin = \"expectation\"\n\
             run = \"two\"\nmetric = \"cct_us\"\nof = {{ {of} }}\nagainst = {{ {against} }}\n\
             at_least = 1\nat_most = 1\n[[claim]]\ntext = \"b\"\norigin = \"expectation\"\n\
             run = \"two\"\nmetric = \"cct_us\"\nof = {{ {of} }}\nat_most = 1"
        )
    };
    for (over, whys, of, against) in [
        (
            "\"workload.bytes\" = [\"64KiB\", \"128KiB\"]",
            [
                "workload = { bytes = \"32KiB\" }",
                "\"workload.bytes\" = \"128KiB\"",
                "\"transport.payload\" = \"1KiB\"",
            ],
            "bytes = \"64KiB\"",
            "bytes = \"128KiB\"",
        ),
        (
            "policy = [\"ecmp\", \"spray\"]\n\"transport.payload\" = [\"1KiB\", \"4KiB\"]",
            [
                "policy = { name = \"ecmp\" }, transport = { payload = \"2KiB\" }",
                "\"policy.name\" = \"spray\", \"transport.payload\" = \"2KiB\"",
                "\"transport.ack_every\" = 2",
            ],
            "policy = \"ecmp\", payload = \"1KiB\"",
            "policy = \"spray\", payload = \"4KiB\"",
        ),
    ] {
        let found = found(&study(over, &whys, of, against), 2);
        let results: Vec<TrialResult> =
            found.claims[0].tried[..3].iter().map(|it| it.result).collect();
        let same = TrialResult::Varied;
        assert_eq!(results, [same, same, TrialResult::DoesNotHold]);
        let alone = found.claims.last().unwrap().tried[0].result;
        assert_eq!(alone, TrialResult::DoesNotHold, "a value that nothing is compared with");
    }
}

#[test]
fn a_control_that_removes_the_parameters_of_an_axis_is_not_run() {
    let text = STUDY
        .replacen("\"line-rate\" }", "\"swift\" }", 1)
        .replace(
            "\"transport.ack_every\" = [1, 2]",
            "\"transport.parameters.beta\" = [\"1/2\", \"1/4\"]",
        )
        .replace(", ack_every = 1 }", ", beta = \"1/2\" }")
        .replace("{ policy = \"spray\" }", "{ beta = \"1/4\" }");
    let found = found(&text, 2);
    let tried = found.claims.last().unwrap().tried.iter();
    let control = tried.clone().find(|it| it.alternative.contains("congestion_control")).unwrap();
    assert_eq!(control.result, TrialResult::Varied);
}
