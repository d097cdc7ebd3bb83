//! `[[job]] policy`: reads and runs jobs with their own policy.

use super::parse;
use crate::balance::{Eligibility, Weights};
use crate::fabric::{self, Outcome, Verdict};
use crate::nic::Recovery;
use crate::topology::Node;
use crate::{Overrides, Scenario};

/// Returns a scenario with four leaves and four spines. Job `a` has a flow from leaf 0 to leaf 1,
/// and job `b` one from leaf 2 to leaf 3.
fn text(policy: &str, a: &str, b: &str) -> String {
    format!(
        "[topology]\nkind = \"leaf-spine\"\nleaves = 4\nspines = 4\nhosts_per_leaf = 2\n\
         [transport]\ncongestion_control = \"line-rate\"\n[policy]\nname = \"{policy}\"\n\
         [[job]]\nname = \"a\"\nkind = \"shift\"\nhosts = \"0,2\"\nbytes = \"1MB\"\n{a}\n\
         [[job]]\nname = \"b\"\nkind = \"shift\"\nhosts = \"4,6\"\nbytes = \"1MB\"\n{b}\n"
    )
}

fn scenario(policy: &str, a: &str, b: &str) -> Scenario {
    parse(&text(policy, a, b)).unwrap_or_else(|error| panic!("{error}"))
}

fn run(scenario: &Scenario) -> Outcome {
    let outcome = fabric::run(&scenario.setup(), &mut |_| {});
    assert_eq!(outcome.verdict, Verdict::Completed);
    outcome
}

/// Returns the bytes that each of the first three leaves sends to each spine.
fn uplinks(scenario: &Scenario) -> [Vec<u64>; 3] {
    let (topology, outcome) = (&scenario.topology, run(scenario));
    [0, 1, 2].map(|leaf| {
        let ports = topology.ports_of(crate::ids::SwitchId(leaf));
        let up = ports.iter().filter(|port| matches!(topology.ends_of(**port).1, Node::Switch(_)));
        up.map(|port| outcome.link_bytes[port.index()].get()).collect()
    })
}

/// Returns the number of spines that get data, not only acknowledgements.
fn paths(bytes: &[u64]) -> usize {
    bytes.iter().filter(|&&bytes| bytes > 100_000).count()
}

#[test]
fn an_ordered_job_keeps_one_path_next_to_a_sprayed_job() {
    let hashed = uplinks(&scenario("ecmp", "", ""));
    assert_eq!(hashed.each_ref().map(|bytes| paths(bytes)), [1; 3]);
    for sprayed in ["reps", "spray", "spray-rr", "adaptive", "switch-rr", "prime"] {
        // Data and acknowledgements of job `a` take the same ports as next to a hashed job.
        let found = uplinks(&scenario("ecmp", "", &format!("policy = \"{sprayed}\"")));
        assert_eq!(found[..2], hashed[..2], "{sprayed}");
        // Round-robin alternates between data and acknowledgements.
        let expected = if sprayed == "switch-rr" { 2 } else { 4 };
        assert_eq!(paths(&found[2]), expected, "{sprayed}");
        // The reverse: `[policy]` sprays, and the job is ordered.
        let other = uplinks(&scenario(sprayed, "policy = \"ecmp\"", ""));
        assert_eq!(other, found, "{sprayed}");
    }
}

#[test]
fn a_hashed_job_stays_hashed_next_to_a_source_routed_job() {
    let hashed = uplinks(&scenario("ecmp", "", ""));
    for routed in ["ethereal", "line-cut", "host-dr"] {
        let alone = uplinks(&scenario(routed, "", ""));
        let own = format!("policy = {{ name = \"{routed}\", weights = \"equal\" }}");
        let found = uplinks(&scenario("ecmp", "", &own));
        assert_eq!((&found[..2], paths(&found[2])), (&hashed[..2], paths(&alone[2])), "{routed}");
        // Packets without an explicit path are still distinguished after a failure.
        let failures = "[[failure]]\nlink = \"leaf2-spine0\"\nat = \"5us\"\n\
                        convergence = \"20us\"\n[[failure]]\nlink = \"leaf0-spine1\"\n\
                        at = \"5us\"\nconvergence = \"20us\"\n";
        run(&scenario("ecmp", "", &format!("{own}\n{failures}")));
    }
}

#[test]
fn a_job_policy_equal_to_the_files_changes_nothing() {
    for policy in ["ecmp", "reps", "ethereal", "adaptive", "ofan", "conga", "subflow-4"] {
        let own = format!("policy = \"{policy}\"");
        let without = run(&scenario(policy, "", ""));
        for (a, b) in [(own.as_str(), ""), ("", own.as_str()), (&own, &own)] {
            assert_eq!(run(&scenario(policy, a, b)), without, "{policy}");
        }
        // The file's policy does not matter if every job has its own.
        assert_eq!(run(&scenario("plb", &own, &own)), without, "{policy}");
    }
}

#[test]
fn a_job_uses_its_policys_loss_recovery_unless_the_file_names_one() {
    let own = "policy = { name = \"reps\", buffer = 16 }";
    let auto = scenario("ecmp", own, "");
    assert_eq!(auto.nic.recovery, Recovery::GO_BACK_N);
    assert_eq!(auto.job_policies[0].recovery, Recovery::PER_PACKET);
    assert_eq!((auto.job_policies.len(), auto.job_policies[0].streams.clone()), (1, 0..2));
    let buffer = auto.job_policies[0].scheme.parameters()["buffer"].as_integer();
    assert_eq!(buffer, Some(16));
    let named = text("ecmp", own, "").replace("[policy]", "recovery = \"sack\"\n[policy]");
    let named = parse(&named).unwrap();
    assert_eq!(named.job_policies[0].recovery, named.nic.recovery);
    assert_eq!(named.nic.recovery.name(), "sack");
}

#[test]
fn go_back_n_and_per_packet_timers_work_side_by_side_in_a_nic() {
    // Both jobs use the same hosts and lose packets.
    let jobs = text("ecmp", "", "policy = \"spray\"").replace("\"4,6\"", "\"0,2\"");
    let lossy = format!(
        "{jobs}[[failure]]\nlink = \"leaf0-spine0\"\nkind = \"loss\"\nrate = \"1/20\"\n\
         [[failure]]\nlink = \"leaf0-spine1\"\nkind = \"loss\"\nrate = \"1/20\"\n\
         [[failure]]\nlink = \"leaf0-spine2\"\nkind = \"loss\"\nrate = \"1/20\"\n\
         [[failure]]\nlink = \"leaf0-spine3\"\nkind = \"loss\"\nrate = \"1/20\"\n"
    );
    let outcome = run(&parse(&lossy).unwrap());
    let lost = outcome.counters.dropped;
    assert!(lost > 0 && outcome.counters.retransmitted > lost, "{:?}", outcome.counters);
}

#[test]
fn a_policy_on_the_command_line_replaces_the_files_but_not_those_of_jobs() {
    let own = "policy = \"reps\"";
    let overrides = Overrides { policy: Some("spray".into()), ..Overrides::default() };
    let text = text("ecmp", "", own);
    let spray = Scenario::parse(&text, "test", std::path::Path::new(""), &overrides).unwrap();
    let again = parse(&text).unwrap().with_policy("spray").unwrap();
    for scenario in [&spray, &again] {
        assert_eq!(scenario.scheme.name, "spray");
        assert_eq!(scenario.job_policies[0].scheme.name, "reps");
    }
    assert_eq!(run(&spray), run(&again));
    let adaptive = parse(&text).unwrap().with_policy("adaptive").unwrap();
    let switches = adaptive.setup().policies().for_switches();
    assert_eq!((switches.name, switches.eligibility), ("adaptive", Eligibility::Unflagged));
    let conflict = scenario("ecmp", "", "policy = \"drill\"").with_policy("adaptive");
    assert!(conflict.unwrap_err().to_string().contains("job[1].policy.name = drill"));
}

#[test]
fn a_single_job_may_have_a_policy() {
    let one = "[[job]]\nname = \"only\"\nkind = \"shift\"\nbytes = \"64KB\"\npolicy = \"spray\"\n";
    let scenario = parse(one).unwrap();
    assert_eq!(scenario.workload.jobs.len(), 1);
    assert_eq!(scenario.setup().policies().for_switches().name, "spray");
    let plain = one.replace("policy = \"spray\"", "[policy]\nname = \"spray\"");
    assert_eq!(run(&scenario), run(&parse(&plain).unwrap()));
}

#[test]
fn a_resolved_job_shows_its_policy_and_parses_back() {
    let scenario = scenario("ecmp", "policy = { name = \"reps\", buffer = 4 }", "policy = \"plb\"");
    let rendered = scenario.render();
    for line in ["policy.name = \"reps\"  # line 15", "policy.buffer = 4  # line 15"] {
        assert!(rendered.contains(line), "{line} is not in\n{rendered}");
    }
    assert!(rendered.contains("policy.name = \"plb\"  # line 21"), "{rendered}");
    let again = parse(&rendered).unwrap();
    assert_eq!(again.job_policies, scenario.job_policies);
}

#[test]
fn weights_are_those_of_all_policies() {
    let own = "policy = { name = \"ecmp\", weights = \"capacity\" }";
    let scenario = scenario("ofan", own, "");
    assert_eq!(scenario.setup().policies().for_switches().weights, Weights::Capacity);
    run(&scenario);
}
