//! The memory of runs, as the system measures it, against what they may take and what `check`
//! expects.

use std::path::Path;

use evenkeel::scenario::{Overrides, Scenario};
use evenkeel::study;

use super::bench::{Bench, SMALL};

/// A packet from each of 512 ranks to each other, 261,632 messages.
const EXCHANGE: &str = "
[topology]
kind = \"leaf-spine\"
leaves = 32
spines = 16
hosts_per_leaf = 16
[policy]
name = \"spray\"
[workload]
kind = \"all-to-all\"
bytes = \"512KB\"
outstanding = 8
streaming = true
";

fn peak(bench: &Bench, scenario: &str) -> Option<u64> {
    let left = bench.evenkeel(&["run", scenario, "--json"]);
    assert_eq!(left.status, 0, "{}", left.err);
    left.json()["peak_rss_bytes"].as_u64()
}

#[test]
fn an_all_to_all_takes_memory_for_its_hosts_and_live_messages_and_not_for_pairs() {
    let bench = Bench::with_small();
    bench.write("exchange.toml", EXCHANGE);
    // Where the system does not tell, there is nothing to compare.
    let (Some(program), Some(exchange)) =
        (peak(&bench, "small.toml"), peak(&bench, "exchange.toml"))
    else {
        return;
    };
    assert!(!SMALL.contains("streaming"), "the small one has all of its messages");
    let (hosts, live) = (512, 8 * 512);
    let budget = hosts * (64 << 10) + live * 200;
    assert!(exchange <= program + budget, "{exchange} B, of which the program takes {program} B");

    let scenario = Scenario::parse(EXCHANGE, "exchange", Path::new(""), &Overrides::default());
    let estimate = study::estimate_scenario(&scenario.unwrap()).unwrap();
    let (expected, taken) = (estimate.memory.get(), exchange - program.min(exchange) + (8 << 20));
    assert!(
        expected <= 2 * taken && taken <= 2 * expected,
        "{expected} B are expected and {taken} B taken"
    );
    assert_eq!(estimate.streams, 512 * 511);
}
