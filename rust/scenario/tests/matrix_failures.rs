//! Failures in connection matrices.

use std::path::Path;

use super::super::{Overrides, Scenario, ScenarioError};
use crate::fabric::{self, FailureKind};
use crate::units::{Span, Time};

/// Loads a matrix with these lines after its connection, on a fat-tree of 16 hosts.
fn load(folder: &Path, lines: &str, rest: &str) -> Result<Scenario, ScenarioError> {
    let text = format!("Nodes 16\n0->15 start 0 size 400000\n{lines}\n");
    std::fs::write(folder.join("f.cm"), text).unwrap();
    let text = format!(
        "[topology]\nkind = \"fat-tree\"\nk = 4\n[workload]\nkind = \"connection-matrix\"\n\
         file = \"f.cm\"\n{rest}"
    );
    Scenario::parse(&text, "test", folder, &Overrides::default())
}

#[test]
fn a_failure_takes_the_uplink_of_an_aggregation_switch_down_from_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let lines = "failure switch_type AGG switch_id 3 link_id 1";
    let scenario = load(folder.path(), lines, "").unwrap();
    let [failure] = scenario.fabric.failures[..] else { panic!("{:?}", scenario.fabric.failures) };
    // Switch 3 is the second of the second pod. Its uplinks lead to cores 2 and 3.
    assert_eq!(scenario.topology.link_name(failure.link), "pod1-agg1-core3");
    assert_eq!(failure.kind, FailureKind::Down);
    assert_eq!((failure.at, failure.until), (Time::ZERO, Time::NEVER));
    assert_eq!((failure.detection, failure.convergence), (Span::ZERO, Span::ZERO));
    assert_eq!(scenario.with_seed(7).unwrap().fabric.failures, [failure]);
}

#[test]
fn a_matrix_failure_runs_like_the_same_failure_in_the_scenario() {
    let folder = tempfile::tempdir().unwrap();
    let lines = "Failures 1\nfailure switch_type AGG switch_id 0 link_id 0";
    let policy = "[policy]\nname = \"spray\"\n";
    let named = format!(
        "{policy}[[failure]]\nlink = \"pod0-agg0-core0\"\nkind = \"down\"\nat = \"0s\"\n\
         detection = \"0s\"\nconvergence = \"0s\"\n"
    );
    let run = |scenario: Scenario| fabric::run(&scenario.setup(), &mut |_| {});
    let of_matrix = run(load(folder.path(), lines, policy).unwrap());
    assert_eq!(of_matrix, run(load(folder.path(), "", &named).unwrap()));
    assert_eq!(of_matrix.counters.dropped, 0, "routing knows");
    let both = load(folder.path(), lines, &named).unwrap();
    assert_eq!(both.fabric.failures.len(), 1, "it is down once");
}

#[test]
fn a_failure_of_no_uplink_is_an_error_with_the_line_of_the_matrix() {
    let folder = tempfile::tempdir().unwrap();
    let error = |lines: &str| load(folder.path(), lines, "").unwrap_err().to_string();
    let said = error("failure switch_type AGG switch_id 0 link_id 2");
    assert!(said.contains("f.cm:3: unknown link_id 2; 'pod0-agg0' has 2 uplinks"), "{said}");
    let said = error("failure switch_type AGG switch_id 8 link_id 0");
    assert!(said.contains("f.cm:3: unknown aggregation switch 8; the topology has 8"), "{said}");
    let leaves = "[topology]\nleaves = 4\nspines = 2\nhosts_per_leaf = 4\n[workload]\n\
                  kind = \"connection-matrix\"\nfile = \"f.cm\"\n";
    let two_tiers = Scenario::parse(leaves, "test", folder.path(), &Overrides::default());
    let said = two_tiers.unwrap_err().to_string();
    assert!(said.contains("unknown aggregation switch 8; the topology has 0"), "{said}");
}
