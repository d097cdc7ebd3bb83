//! Studies with meaningless claims or axes.

use std::path::Path;

use evenkeel::study::Sweep;
use evenkeel::study::reproduce::{Scale, Study};

use super::input;

/// Returns the error of a study with this claim; empty if it is valid.
fn refused(claim: &str) -> String {
    let text = format!(
        "title = \"T\"\nwork = \"W\"\nabout = \"A\"\n\
         [scenario.topology]\nleaves = 2\n[scenario.workload]\nkind = \"permutation\"\n\
         [[run]]\nname = \"r\"\n[run.over]\npolicy = [\"ecmp\", \"spray\"]\n\
         [[claim]]\ntext = \"C\"\norigin = \"expectation\"\nrun = \"r\"\nmetric = \"cct_us\"\n\
         {claim}\n"
    );
    let study = Study::parse(&text, Path::new("s.toml"), Scale::Quick);
    study.err().map_or_else(String::new, |error| error.to_string())
}

#[test]
fn claims_that_judge_nothing_are_errors_with_a_position() {
    let of = "of = { policy = \"ecmp\" }\n";
    for (claim, place) in [
        ("published = inf\nwithin = \"2 %\"", "claim[0].published: inf: expected a finite number"),
        ("at_least = -inf", "claim[0].at_least: -inf: expected a finite number"),
        ("at_least = 0\nwithin = \"2 %\"", "claim[0].within: '2 %': `within` needs a number"),
        (
            "published = \"more\"\nwithin = \"2 %\"",
            "claim[0].within: '2 %': `within` needs a number",
        ),
        ("at_least = 2\nat_most = 1", "claim[0].at_most: 1: expected `at_least` = 2 or more"),
        ("at_least = 0\nas = \"ratio\"", "claim[0].as: `as` needs `against`"),
        ("at_least = 0\nslack = \"2 %\"", "claim[0].slack: `slack` needs `order`"),
        ("cells = [{ published = nan, within = \"1 %\" }]", "cells[0].published: NaN"),
    ] {
        let said = refused(&format!("{of}{claim}"));
        assert!(said.contains(place), "{claim}: {said}");
    }
    let order = |labels: &str| refused(&format!("along = \"policy\"\norder = [{labels}]"));
    assert!(order("\"ecmp\", \"ecmp\"").contains("claim[0].order[1]: \"ecmp\": expected each"));
    assert!(order("\"ecmp\"").contains("claim[0].order: expected two values"));
    assert_eq!(order("\"spray\", \"ecmp\""), "");
    assert_eq!(refused(&format!("{of}published = 3\nwithin = \"2 %\"")), "");
}

#[test]
fn a_study_with_such_claims_is_rejected() {
    let Some(file) = input("robust", "study-claims.toml") else { return };
    let text = std::fs::read_to_string(&file).expect("it is readable");
    let error = Study::parse(&text, &file, Scale::Quick).expect_err("its claims judge nothing");
    assert!(error.to_string().contains("claim[0].published"), "{error}");
}

#[test]
fn two_axes_that_set_the_same_key_are_rejected() {
    let sweep = |over: &str| {
        let text = format!(
            "[scenario.topology]\nleaves = 2\n[scenario.workload]\nkind = \"permutation\"\n\
             [[run]]\nname = \"r\"\n[run.over]\n{over}\n"
        );
        Sweep::parse(text, Path::new("s.toml")).err().map(|error| error.to_string())
    };
    for (over, place) in [
        ("policy = [\"ecmp\"]\n\"policy.name\" = [\"reps\"]", "it sets policy.name, which policy"),
        (
            "\"workload.bytes\" = [\"1MB\"]\n\
             size = [{ label = \"small\", set = { workload = { bytes = \"4KB\" } } }]",
            "it sets workload.bytes, which workload.bytes also sets",
        ),
        (
            "\"transport.parameters.share\" = [\"1/2\"]\n\
             rate = [{ label = \"a\", set = { \"transport.parameters\" = {} } }]",
            "it sets transport.parameters",
        ),
    ] {
        let said = sweep(over).expect("it is refused");
        assert!(said.contains(place), "{over}: {said}");
    }
    assert_eq!(sweep("policy = [\"ecmp\"]\n\"workload.bytes\" = [\"4KB\", \"1MB\"]"), None);
    let Some(file) = input("robust", "sweep-two-axes-one-key.toml") else { return };
    assert!(Sweep::load(&file).is_err());
}

#[test]
fn ineffective_keys_and_duplicate_seeds_are_rejected() {
    let refused = |run: &str| {
        let text =
            format!("[scenario.workload]\nkind = \"permutation\"\n[[run]]\nname = \"r\"\n{run}");
        Sweep::parse(text, Path::new("s.toml")).expect_err("it is refused").to_string()
    };
    let clash = "set = { \"workload.bytes\" = \"3KB\" }\n[run.over]\n\
                 \"workload.bytes\" = [\"1KB\", \"2KB\"]\n";
    assert!(refused(clash).contains("sets it in every run"), "{}", refused(clash));
    let seeds = "seeds = 2\n[run.over]\nseed = [5, 6]\n";
    assert!(refused(seeds).contains("seeds = 2 also sets"), "{}", refused(seeds));
}
