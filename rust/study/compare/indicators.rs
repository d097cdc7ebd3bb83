//! Key performance indicators of a fabric, as defined by the IETF's benchmarking draft.
//!
//! Source: draft-calabria-bmwg-ai-fabric-training-bench (Benchmarking Methodology for AI Training
//! Network Fabrics, 2026), sections "KPI Framework and Metrics Taxonomy", "Packet Spray Efficacy
//! Under UET RUD" (the table) and "Jain's Fairness Index Measurement" (the formula), with the terms
//! of draft-calabria-bmwg-ai-fabric-terminology. Choices that the drafts leave open are marked
//! \[inferred\].

use std::collections::VecDeque;

use crate::fabric::{Outcome, Setup};
use crate::ids::{HostId, PortId};
use crate::scenario::{Scenario, TopologyKind};
use crate::topology::{Node, Topology};

/// Indicators of a run; `None` for those that do not apply.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Indicators {
    /// MMR: the load of the most loaded parallel uplink over their mean load. The largest of all
    /// groups of parallel uplinks (\[inferred\]).
    pub max_mean_ratio: Option<f64>,
    /// JFI: Jain's index of the loads of parallel uplinks. The least of all groups (\[inferred\]).
    pub jain_index: Option<f64>,
    /// Data packets that arrived out of order, per second of the completion time.
    pub out_of_order_per_s: Option<f64>,
    /// Data packets that NICs retransmitted, per second of the completion time.
    pub retransmitted_per_s: Option<f64>,
    /// Bytes of messages per second of the completion time, in percent of the line rates of the
    /// sending hosts (\[inferred\]: the draft says neither which hosts nor which bytes).
    pub goodput_percent: Option<f64>,
}

impl Indicators {
    /// Computes the indicators of a run of `setup`; `has_packets` is false for a fluid run.
    pub fn of(setup: &Setup, outcome: &Outcome, has_packets: bool) -> Self {
        let groups = loads_of_parallel_uplinks(&setup.topology, outcome);
        let seconds = outcome.cct.map(|cct| cct.as_ns_f64() * 1e-9).filter(|&it| it > 0.0);
        let rate = |count: u64| seconds.filter(|_| has_packets).map(|it| count as f64 / it);
        Self {
            max_mean_ratio: groups.iter().map(|it| max_mean_ratio(it)).reduce(f64::max),
            jain_index: groups.iter().map(|it| jain_index(it)).reduce(f64::min),
            out_of_order_per_s: rate(outcome.counters.out_of_order),
            retransmitted_per_s: rate(outcome.counters.retransmitted),
            goodput_percent: seconds.and_then(|seconds| goodput_percent(setup, seconds)),
        }
    }

    /// Returns the values in the order of [`INDICATORS`](crate::metrics::INDICATORS).
    pub fn numbers(&self) -> [Option<f64>; 5] {
        [
            self.max_mean_ratio,
            self.jain_index,
            self.out_of_order_per_s,
            self.retransmitted_per_s,
            self.goodput_percent,
        ]
    }
}

/// Returns the largest load over the mean load.
fn max_mean_ratio(loads: &[f64]) -> f64 {
    let sum: f64 = loads.iter().sum();
    loads.iter().copied().fold(0.0, f64::max) * loads.len() as f64 / sum
}

/// Returns Jain's index: the squared sum of the loads, over their number times the sum of their
/// squares.
fn jain_index(loads: &[f64]) -> f64 {
    let sum: f64 = loads.iter().sum();
    let squares: f64 = loads.iter().map(|load| load * load).sum();
    sum * sum / (loads.len() as f64 * squares)
}

/// Returns the bytes that each switch sent on each link to a higher tier. Switches without such
/// traffic are omitted.
fn loads_of_parallel_uplinks(topology: &Topology, outcome: &Outcome) -> Vec<Vec<f64>> {
    let tiers = tiers(topology);
    let mut groups = vec![Vec::new(); topology.switches().len()];
    for port in (0..2 * topology.links().len()).map(|port| PortId(port as u32)) {
        if let (Node::Switch(from), Node::Switch(onto)) = topology.ends_of(port)
            && tiers[from.index()] < tiers[onto.index()]
        {
            let bytes = outcome.link_bytes.get(port.index()).map_or(0, |bytes| bytes.get());
            groups[from.index()].push(bytes as f64);
        }
    }
    groups.retain(|loads: &Vec<f64>| loads.iter().sum::<f64>() > 0.0);
    groups
}

/// Returns the tier of each switch: 1 for those with hosts, otherwise one above the lowest
/// neighbour.
fn tiers(topology: &Topology) -> Vec<u32> {
    let mut tiers = vec![u32::MAX; topology.switches().len()];
    let mut waiting = VecDeque::new();
    let ports = topology.planes().all_ports().iter();
    for edge in ports.filter_map(|&port| topology.ends_of(port).1.switch()) {
        if tiers[edge.index()] == u32::MAX {
            tiers[edge.index()] = 1;
            waiting.push_back(edge);
        }
    }
    while let Some(switch) = waiting.pop_front() {
        for link in topology.links_of(switch) {
            for end in topology.link(link).ends {
                let Node::Switch(other) = end else { continue };
                if tiers[other.index()] == u32::MAX {
                    tiers[other.index()] = tiers[switch.index()] + 1;
                    waiting.push_back(other);
                }
            }
        }
    }
    tiers
}

/// Returns `None` if the messages are not known before the run.
fn goodput_percent(setup: &Setup, seconds: f64) -> Option<f64> {
    let messages = &setup.workload.messages;
    let mut senders = vec![false; setup.topology.host_count() as usize];
    messages.iter().for_each(|message| senders[message.src.index()] = true);
    let bytes: f64 = messages.iter().map(|message| message.bytes.get() as f64).sum();
    let hosts = (0..setup.topology.host_count()).map(HostId);
    let rates = hosts
        .filter(|host| senders[host.index()])
        .map(|host| setup.topology.host_rate(host).as_bps() as f64);
    let line: f64 = rates.sum();
    (line > 0.0).then(|| bytes * 8.0 / seconds / line * 100.0)
}

/// Returns the draft's reference topology that the scenario's fabric matches.
pub fn reference_topology(scenario: &Scenario) -> &'static str {
    let tiers = tiers(&scenario.topology).into_iter().max();
    match (*scenario.file.topology.kind, tiers) {
        (TopologyKind::RailOptimized, _) => "C (rail-optimized)",
        (_, Some(2)) => "A (2-tier Clos)",
        (_, Some(3)) => "B (3-tier Clos)",
        _ => "none of the draft's",
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::fabric;
    use crate::scenario::Overrides;

    fn scenario(text: &str) -> Scenario {
        Scenario::parse(text, "a", Path::new(""), &Overrides::default()).unwrap()
    }

    #[test]
    fn formulas_are_right_at_their_extremes() {
        let one_of_four = [8.0, 0.0, 0.0, 0.0];
        assert_eq!((max_mean_ratio(&one_of_four), jain_index(&one_of_four)), (4.0, 0.25));
        assert_eq!((max_mean_ratio(&[3.0; 5]), jain_index(&[3.0; 5])), (1.0, 1.0));
        assert_eq!((max_mean_ratio(&[1.0, 3.0]), jain_index(&[1.0, 3.0])), (1.5, 0.8));
    }

    #[test]
    fn round_robin_is_even_and_a_hashed_flow_loads_one_of_two_uplinks() {
        let of = |policy: &str, workload: &str| {
            let fabric = "leaves = 2\nspines = 2\nhosts_per_leaf = 2";
            let scenario = scenario(&format!(
                "[topology]\n{fabric}\n[policy]\nname = \"{policy}\"\n[workload]\n{workload}"
            ));
            let setup = scenario.setup();
            Indicators::of(&setup, &fabric::run(&setup, &mut |_| {}), true)
        };
        let incast = "kind = \"incast\"\nfan_in = 3\nbytes = \"1MB\"";
        let round_robin = of("switch-rr", incast);
        assert!(round_robin.max_mean_ratio.unwrap() < 1.01, "{round_robin:?}");
        assert!(round_robin.jain_index.unwrap() > 0.9999, "{round_robin:?}");
        let hashed = of("ecmp", incast);
        assert!(hashed.max_mean_ratio.unwrap() > 1.5, "{hashed:?}");
        assert_eq!(hashed.out_of_order_per_s, Some(0.0));
        let goodput = hashed.goodput_percent.unwrap();
        assert!((20.0..=34.0).contains(&goodput), "three senders share one host's link: {goodput}");
    }

    #[test]
    fn fabrics_match_the_reference_topologies_of_the_draft() {
        let class = |keys: &str| reference_topology(&scenario(&format!("[topology]\n{keys}")));
        assert_eq!(class("kind = \"leaf-spine\""), "A (2-tier Clos)");
        assert_eq!(class("kind = \"fat-tree\"\nk = 4\ntiers = 3"), "B (3-tier Clos)");
        assert_eq!(class("kind = \"rail-optimized\""), "C (rail-optimized)");
    }
}
