//! Comparison of one run in Rust and in ns-3: what is equal, and each difference.

use schemars::JsonSchema;
use serde::Serialize;

use super::identity::{Identity, VERSION};
use crate::fabric::{FlowRecord, Outcome, Verdict};
use crate::ids::PortId;
use crate::topology::{Node, Topology};
use crate::units::Time;

/// Maximum relative difference of completion times at which the two worlds agree. They may process
/// simultaneous events in a different order. All counts must be equal.
pub const TOLERANCE: f64 = 0.001;

/// Maximum number of differing flows that are listed, those with the largest difference first.
const MAX_LISTED: usize = 20;

/// Results of one run in both worlds. Times are nanoseconds with picoseconds as decimals.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Twin {
    /// Name of the scenario: the stem of its file's name.
    pub scenario: String,
    /// Name of the load-balancing policy.
    pub policy: String,
    /// Seed of all random draws.
    pub seed: u64,
    /// Version of this program.
    pub version: &'static str,
    /// True if the two runs agree. Both must end alike (completed, or at the time limit), no
    /// completion time may differ by more than 0.1 %, and all counts and link bytes must be equal.
    pub agrees: bool,
    /// Number of flows in both runs.
    pub flows: u64,
    /// Flows whose start, delivery and completion are equal to the picosecond.
    pub flows_equal: u64,
    /// Largest relative difference of a flow's completion time.
    pub worst_difference: f64,
    /// Number of link directions; their bytes are compared.
    pub ports: u64,
    /// Number of link directions that carried equal bytes.
    pub ports_equal: u64,
    /// Link directions that differ, those with the largest difference first; at most 20.
    pub link_differences: Vec<LinkDifference>,
    /// Compared counts, by their names in `evenkeel run --json`.
    pub counts: Vec<Count>,
    /// Flows that differ, those with the largest difference first; at most 20.
    pub differences: Vec<Difference>,
    /// Wall time of the run in Rust, in seconds.
    pub rust_wall_s: f64,
    /// Wall time of the run in ns-3, in seconds.
    pub ns3_wall_s: f64,
    /// Wall time in ns-3 over that in Rust.
    pub speed_ratio: f64,
}

/// A count in both worlds.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Count {
    /// Name of the count, as in `evenkeel run --json`.
    pub what: &'static str,
    /// Value in Rust.
    pub rust: u64,
    /// Value in ns-3.
    pub ns3: u64,
}

/// A flow that differs between the two worlds.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Difference {
    /// Message of the flow.
    pub message: u32,
    /// Index of the message's piece, from 0.
    pub piece: u32,
    /// Name of the sending host.
    pub src: String,
    /// Name of the receiving host.
    pub dst: String,
    /// Completion time in Rust; `None` if it did not complete.
    pub rust_fct_ns: Option<f64>,
    /// Completion time in ns-3; `None` if it did not complete.
    pub ns3_fct_ns: Option<f64>,
}

/// A direction of a link that differs between the two worlds.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct LinkDifference {
    /// Name of the link.
    pub link: String,
    /// Name of the host or switch that sends in this direction.
    pub from: String,
    /// Bytes in this direction in Rust.
    pub rust_bytes: u64,
    /// Bytes in this direction in ns-3.
    pub ns3_bytes: u64,
}

/// A run in one of the two worlds.
#[derive(Debug, Clone, Copy)]
pub struct Side<'a> {
    /// Outcome of the run.
    pub outcome: &'a Outcome,
    /// Wall time, in seconds.
    pub wall_s: f64,
}

/// A flow that differs between the two worlds.
struct UnequalFlow<'a> {
    /// Relative difference of the completion times.
    size: f64,
    ours: &'a FlowRecord,
    theirs: &'a FlowRecord,
}

impl Twin {
    /// Compares the run in Rust with that in ns-3.
    pub fn new(identity: &Identity, topology: &Topology, rust: Side<'_>, ns3: Side<'_>) -> Self {
        let (ours, theirs) = (rust.outcome, ns3.outcome);
        let counts = counts(ours, theirs);
        let pairs = || ours.flows.iter().zip(&theirs.flows);
        let mut unequal: Vec<UnequalFlow<'_>> = pairs()
            .filter(|(ours, theirs)| ours != theirs)
            .map(|(ours, theirs)| UnequalFlow { size: difference(ours, theirs), ours, theirs })
            .collect();
        unequal.sort_by(|a, b| b.size.total_cmp(&a.size));
        let worst = unequal.first().map_or(0.0, |flow| flow.size);
        let mut links = link_differences(topology, ours, theirs);
        let ports_equal = ours.link_bytes.len() - links.len();
        links.truncate(MAX_LISTED);
        let ended = (ours.verdict, ours.ended) == (theirs.verdict, theirs.ended)
            && ours.verdict != Verdict::Stalled;
        let counted = counts.iter().all(|count| count.rust == count.ns3);
        Self {
            scenario: identity.scenario.clone(),
            policy: identity.policy.clone(),
            seed: identity.seed,
            version: VERSION,
            agrees: ended && counted && worst <= TOLERANCE && links.is_empty(),
            flows: pairs().count() as u64,
            flows_equal: (pairs().count() - unequal.len()) as u64,
            worst_difference: worst,
            ports: ours.link_bytes.len() as u64,
            ports_equal: ports_equal as u64,
            link_differences: links,
            counts,
            differences: unequal
                .iter()
                .take(MAX_LISTED)
                .map(|flow| listed(topology, flow))
                .collect(),
            rust_wall_s: rust.wall_s,
            ns3_wall_s: ns3.wall_s,
            speed_ratio: ns3.wall_s / rust.wall_s.max(1e-9),
        }
    }
}

/// Returns the link directions whose bytes differ, those with the largest difference first.
fn link_differences(topology: &Topology, rust: &Outcome, ns3: &Outcome) -> Vec<LinkDifference> {
    let name = |node| match node {
        Node::Host(host) => topology.host_names()[host.index()].clone(),
        Node::Switch(switch) => topology.switches()[switch.index()].name.clone(),
    };
    let ports = (0..).map(PortId).zip(rust.link_bytes.iter().zip(&ns3.link_bytes));
    let unequal = ports.filter(|(_, (ours, theirs))| ours != theirs);
    let mut differences: Vec<LinkDifference> = unequal
        .map(|(port, (ours, theirs))| LinkDifference {
            link: topology.link_names()[port.link().index()].clone(),
            from: name(topology.ends_of(port).0),
            rust_bytes: ours.get(),
            ns3_bytes: theirs.get(),
        })
        .collect();
    differences.sort_by_key(|it| std::cmp::Reverse(it.rust_bytes.abs_diff(it.ns3_bytes)));
    differences
}

/// Returns the counts of both runs.
fn counts(rust: &Outcome, ns3: &Outcome) -> Vec<Count> {
    let of =
        |what, count: &dyn Fn(&Outcome) -> u64| Count { what, rust: count(rust), ns3: count(ns3) };
    vec![
        of("messages_completed", &|it| it.message_fct.len() as u64),
        of("flows", &|it| it.flows.len() as u64),
        of("sent", &|it| it.counters.sent),
        of("delivered", &|it| it.counters.delivered),
        of("retransmitted", &|it| it.counters.retransmitted),
        of("dropped", &|it| it.counters.dropped),
        of("trimmed", &|it| it.counters.trimmed),
        of("marked", &|it| it.counters.marked),
        of("out_of_order", &|it| it.counters.out_of_order),
        of("control_sent", &|it| it.counters.control_sent),
        of("control_dropped", &|it| it.counters.control_dropped),
        of("pfc_pauses", &|it| it.counters.pfc_pauses),
        of("packet_hops", &|it| it.counters.packet_hops),
        of("queue_bytes_max", &|it| it.queue_bytes_max.get()),
        of("link_bytes_max", &|it| it.link_bytes_max.get()),
        of("qps.per_nic_max", &|it| it.qps.per_nic_max),
        of("qps.total", &|it| it.qps.total),
        of("qps.extra_per_nic_max", &|it| it.qps.extra_per_nic_max),
        of("qps.extra_total", &|it| it.qps.extra_total),
        of("qps.in_use_per_nic_max", &|it| it.qps.in_use_per_nic_max),
        of("qps.in_use_per_peer_max", &|it| it.qps.in_use_per_peer_max),
    ]
}

/// Returns the relative difference of a flow's completion times; 1 if it completed in only one
/// world.
fn difference(ours: &FlowRecord, theirs: &FlowRecord) -> f64 {
    match (ours.completed, theirs.completed) {
        (Time::NEVER, Time::NEVER) => 0.0,
        (Time::NEVER, _) | (_, Time::NEVER) => 1.0,
        _ => {
            let [ours, theirs] = [ours, theirs].map(|flow| fct_ns(flow).unwrap_or_default());
            (ours - theirs).abs() / ours.max(theirs).max(1e-3)
        }
    }
}

fn fct_ns(flow: &FlowRecord) -> Option<f64> {
    (flow.completed < Time::NEVER).then(|| flow.completed.since(flow.start).as_ns_f64())
}

fn listed(topology: &Topology, flow: &UnequalFlow<'_>) -> Difference {
    let UnequalFlow { ours, theirs, .. } = flow;
    Difference {
        message: ours.message.0,
        piece: ours.piece,
        src: topology.host_names()[ours.src.index()].clone(),
        dst: topology.host_names()[ours.dst.index()].clone(),
        rust_fct_ns: fct_ns(ours),
        ns3_fct_ns: fct_ns(theirs),
    }
}
