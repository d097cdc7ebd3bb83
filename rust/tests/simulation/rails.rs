//! Random scenarios with several rails.

use std::path::Path;

use evenkeel::fabric::Verdict;
use evenkeel::rail;
use evenkeel::scenario::{Overrides, RailScenario};
use evenkeel::study;
use proptest::prelude::*;
use proptest::sample::select;

use super::drawn::Drawn;

fn one_rail() -> impl Strategy<Value = String> {
    let rate = select(vec!["1Gbps", "10Gbps", "100Gbps"]);
    let kind = select(vec!["tcp", "rdma", "in-network"]);
    (kind, rate).prop_map(|(kind, rate)| format!("kind = \"{kind}\"\nrate = \"{rate}\"\n"))
}

fn failure(rails: usize) -> impl Strategy<Value = String> {
    // Every scenario has at least two hosts.
    let kinds = ["link\"\nhost = 1", "error\"\nhost = 0", "crawl\"\nhost = 1", "switch\""];
    (0..rails, select(kinds.to_vec()), 0u64..30, 1u64..200).prop_map(|(rail, kind, at, lasts)| {
        let until = at + lasts;
        format!(
            "[[failure]]\nrail = \"r{rail}\"\nkind = \"{kind}\nat = \"{at}ms\"\n\
             until = \"{until}ms\"\n"
        )
    })
}

/// Generates scenarios of two or three rails.
pub(super) fn scenario() -> impl Strategy<Value = Drawn> {
    let allocators: Vec<_> = rail::PRESETS.iter().map(|it| it.name).collect();
    let general = (0u32..1_000, select(allocators), 2u32..6, 1u32..8, 1u64..2_000_000);
    let rails = prop::collection::vec(one_rail(), 2..4);
    let failures = prop::collection::vec(failure(2), 0..3).prop_map(|all| all.concat());
    (general, rails, failures).prop_map(
        |((seed, allocator, hosts, operations, bytes), rails, failures)| {
            let rails: String = (0..)
                .zip(rails)
                .map(|(index, rail): (u32, String)| {
                    format!("[[rail]]\nname = \"r{index}\"\n{rail}")
                })
                .collect();
            Drawn(format!(
                "seed = {seed}\ntime_limit = \"5s\"\n[hosts]\ncount = {hosts}\n{rails}\
                 [policy]\nname = \"{allocator}\"\n[workload]\nkind = \"all-reduce\"\n\
                 operations = {operations}\nbytes = \"{bytes}B\"\n{failures}"
            ))
        },
    )
}

/// Runs the scenario; returns the first problem as an error.
pub(super) fn check(text: &str) -> Result<(), String> {
    let parsed =
        RailScenario::parse(text.to_owned(), Path::new("drawn.toml"), &Overrides::default());
    let Ok(scenario) = parsed else { return Ok(()) };
    let run = || study::run_rails(&scenario, &mut |_| {});
    let Ok((summary, outcome)) = run() else { return Ok(()) };
    let (_, again) = run().expect("it ran before");
    if outcome != again {
        return Err("the same scenario gives another outcome".to_owned());
    }
    let is_complete = outcome.verdict == Verdict::Completed;
    if is_complete && !summary.exact {
        return Err("it completes with other sums than those of the hosts".to_owned());
    }
    let all_took = outcome.operations.iter().all(|operation| operation.took.is_some());
    match is_complete == all_took {
        true => Ok(()),
        false => Err(format!("{:?} with {:?}", outcome.verdict, outcome.operations)),
    }
}
