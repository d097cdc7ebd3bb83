//! What was once taken in silence, or said of a key that nobody wrote.

use std::path::Path;

use super::parse;
use crate::scenario::{Overrides, RailScenario, Scenario};
use crate::units::Bytes;

fn fault(text: &str) -> String {
    parse(text).expect_err(text).to_string()
}

#[test]
fn a_collective_of_one_host_is_a_fault_of_the_topology() {
    let text = "[topology]\nleaves = 1\nspines = 1\nhosts_per_leaf = 1\n[workload]\n\
                kind = \"all-to-all\"\n";
    let said = fault(text);
    assert!(said.contains("topology = 1 host is invalid: a collective needs 2 hosts"), "{said}");
    assert!(!said.contains("workload.ranks"), "nobody wrote it: {said}");
}

#[test]
fn a_job_that_starts_after_the_time_limit_is_a_fault_of_its_start() {
    let said = fault("[[job]]\nkind = \"permutation\"\nstart = \"11s\"\n");
    let expected = "job[0].start = 11s is invalid: it must be earlier than time_limit = 10s";
    assert!(said.starts_with("test.toml:3:9:") && said.contains(expected), "{said}");
}

#[test]
fn a_failure_of_no_rail_is_a_missing_key() {
    let text = "[[rail]]\nname = \"a\"\n[[failure]]\nat = \"1ms\"\n".to_owned();
    let path = Path::new("test.toml");
    let said = RailScenario::parse(text, path, &Overrides::default()).unwrap_err().to_string();
    assert!(said.contains("failure[0].rail is missing: a failure needs the name"), "{said}");
    assert!(said.contains("write for example rail = \"rail0\""), "{said}");
    assert!(said.contains("\n 3 ") || said.contains(":3:"), "its own [[failure]]: {said}");
}

#[test]
fn a_file_without_keys_is_a_warning() {
    for text in ["", "# nothing\n\n"] {
        let warnings = parse(text).unwrap().warnings;
        assert_eq!(warnings, ["test.toml: the file has no keys: all are defaults"]);
    }
    assert_eq!(parse("seed = 1\n").unwrap().warnings, [""; 0]);
}

/// 8,192 hosts of which each sends to each other: 67 million messages and queue pairs.
#[test]
fn what_does_not_fit_is_refused_before_its_messages_are_made() {
    let text = "[topology]\nleaves = 256\nspines = 32\nhosts_per_leaf = 32\n[workload]\n\
                kind = \"all-to-all\"\n";
    let most_memory = Some(Bytes::new(24_000_000_000));
    let overrides = Overrides { most_memory, ..Overrides::default() };
    let said = Scenario::parse(text, "test", Path::new(""), &overrides).unwrap_err().to_string();
    let expected = "67100672 messages with 67100672 queue pairs take 112 GB of memory; the limit \
                    is 24 GB, which is available; --force tries it";
    assert!(said.contains(expected), "{said}");
    let ring = text.replace("\"all-to-all\"", "\"ring-all-reduce\"\nstreaming = false");
    let said = Scenario::parse(&ring, "test", Path::new(""), &overrides).unwrap_err().to_string();
    assert!(said.contains("134201344 messages take 35 GB of memory"), "{said}");
}

#[test]
fn what_auto_became_is_beside_it_and_the_file_runs_under_another_policy() {
    let lines = |text: &str| {
        let rendered = parse(text).unwrap().render();
        let is_auto = |line: &&str| line.contains("= \"auto\"");
        rendered.lines().filter(is_auto).map(str::to_owned).collect::<Vec<_>>()
    };
    let ethereal = "[policy]\nname = \"ethereal\"\n";
    assert_eq!(
        lines(ethereal),
        [
            "recovery = \"auto\"  # default; here go-back-n",
            "delivery = \"auto\"  # default; here ordered",
        ]
    );
    let resolved = parse(ethereal).unwrap().render();
    let spray = parse(&resolved).unwrap().with_policy("spray").unwrap();
    assert_eq!(spray.nic.recovery, parse("[policy]\nname = \"spray\"\n").unwrap().nic.recovery);
    let recovery = format!("recovery = \"auto\"  # line 1; here {}", spray.nic.recovery.name());
    let typed = spray.render();
    let line = typed.lines().find(|line| line.starts_with("recovery = ")).unwrap();
    assert_eq!(line.split("; ").last(), recovery.split("; ").last(), "{line}");
    let own = "[policy]\nname = \"ecmp\"\n[[job]]\nname = \"a\"\nkind = \"permutation\"\n\
               policy = \"spray\"\n";
    let expected = format!("; here go-back-n, {} for a", spray.nic.recovery.name());
    assert!(lines(own)[0].ends_with(&expected), "{:?}", lines(own));
    let typed = "[transport]\nrecovery = \"sack\"\ndelivery = \"ordered\"\n";
    assert_eq!(lines(typed), [""; 0]);
}

#[test]
fn a_date_is_called_one_wherever_it_stands() {
    let refused = |key: &str| {
        let setting = format!("{key}=2026-11-22").parse().unwrap();
        let overrides = Overrides { settings: vec![setting], ..Overrides::default() };
        Scenario::parse("", "test", Path::new(""), &overrides).unwrap_err().to_string()
    };
    let expected = "--set topology.leaves=2026-11-22: topology.leaves: invalid type: date, \
                    expected a whole number from 0 to 4294967295";
    assert_eq!(refused("topology.leaves"), expected);
    let expected = "--set topology=2026-11-22: topology: invalid type: date, expected a table: \
                    write [topology] and its keys below it";
    assert_eq!(refused("topology"), expected);
    let expected = "invalid type: date, expected a text in quotes; `evenkeel list policies` lists";
    assert!(refused("policy.name").contains(expected));
    let table = fault("[topology]\nleaves = { other = 1 }\n");
    assert!(table.contains("invalid type: table, expected a whole number"), "{table}");
}
