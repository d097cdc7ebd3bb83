//! `summary.json`: the results of a run as a JSON object. Its keys, their order and their units are
//! a contract that other programs may rely on.

use std::collections::BTreeMap;
use std::io::{self, Write};

use schemars::JsonSchema;
use serde::Serialize;

use super::cost::{CostSummary, write_without_costs};
use super::{
    ClassSummary, Cost, FailureSummary, Identity, JobSummary, ScaleUpSummary, TransportSummary,
    VERSION,
};
use crate::endpoint::Spans;
use crate::fabric::{Counters, Outcome, QpCounts};
use crate::fluid::Fidelity;
use crate::nic::QpAccount;
use crate::record::Courses;
use crate::topology::Topology;
use crate::units::{Span, Time};

/// The results of a run. Times are nanoseconds with picoseconds as decimals.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Summary {
    /// Name of the scenario: the stem of its file's name.
    pub scenario: String,
    /// Name of the load-balancing policy.
    pub policy: String,
    /// Seed of every random draw.
    pub seed: u64,
    /// The version of this program.
    pub version: &'static str,
    /// Whether the run moved packets or flows of bytes; absent if packets.
    #[serde(skip_serializing_if = "is_packet")]
    pub fidelity: Fidelity,
    /// Where a fluid run is not meant to be trusted, and what out of proportion decided the result
    /// of a run, such as a timer; absent if there is nothing to say.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// Hosts of the topology.
    pub hosts: usize,
    /// Switches of the topology.
    pub switches: usize,
    /// Full-duplex links of the topology.
    pub links: usize,
    /// Messages of the workload.
    pub messages: u64,
    /// Messages whose sender received the last acknowledgement.
    pub messages_completed: u64,
    /// Messages and pieces of messages that were posted to NICs.
    pub flows: usize,
    /// Flows whose sender received the last acknowledgement.
    pub flows_completed: usize,
    /// The time from the first start to the last completion; `None` unless every message completed.
    pub cct_ns: Option<f64>,
    /// The lower bound of `cct_ns`, which no scheme can beat.
    pub bound_ns: f64,
    /// `cct_ns / bound_ns`, at least 1; `None` without a completion time or with a bound of zero.
    pub slowdown: Option<f64>,
    /// Completion times of the messages that completed, each from the message's start.
    pub fct_ns: Fct,
    /// Counts of data packets, without acknowledgements and other control packets; `None` of a
    /// fluid run.
    pub packets: Option<Packets>,
    /// Pause frames of priority flow control that were sent; `None` of a fluid run.
    pub pfc_pauses: Option<u64>,
    /// The most bytes that waited at one switch port; `None` of a fluid run.
    pub queue_bytes_max: Option<u64>,
    /// The mean of the bytes that data packets found in the queue when they arrived at switch
    /// ports; `None` of a fluid run.
    pub queue_bytes_mean: Option<f64>,
    /// The most bytes that one direction of a link carried.
    pub link_bytes_max: u64,
    /// What the scale-up networks of servers carried; absent without any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scale_up: Option<ScaleUpSummary>,
    /// The transport, with what `auto` became; absent of a fluid run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transport: Option<TransportSummary>,
    /// Queue pairs of the NICs, and those that splitters added.
    pub qps: Qps,
    /// State that policies keep; `None` of a fluid run.
    pub state: Option<State>,
    /// The jobs; absent unless the scenario has `[[job]]`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub jobs: Vec<JobSummary>,
    /// The traffic classes; absent unless the scenario has `[[class]]`, and of messages that are
    /// read or generated during the run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub classes: Vec<ClassSummary>,
    /// The failures of links, with those that were drawn, in order of their starts, 1,000 at
    /// most; absent without any.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<FailureSummary>,
    /// The course of the run; absent unless the scenario has `[record]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "super::courses")]
    pub record: Option<Courses>,
    /// The scenario with every default, as `scenario.toml` beside it has it, but with the paths of
    /// the scenario's file; in `summary.json` alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "BTreeMap<String, serde_json::Value>")]
    pub resolved: Option<toml::Table>,
    /// The maxima over all NICs of their accounts of queue pairs; not part of the JSON object.
    #[serde(skip)]
    pub qp_account: QpAccount,
    /// Events of the simulation.
    pub events: u64,
    /// Packets that crossed a link; `None` of a fluid run.
    pub packet_hops: Option<u64>,
    /// Wall time of the simulation, seconds; a results folder has it in `cost.json`.
    pub wall_s: f64,
    /// Peak memory of the process; `None` where the system does not report it. A results folder
    /// has it in `cost.json`.
    pub peak_rss_bytes: Option<u64>,
}

/// The distribution of completion times, in nanoseconds; `None` if nothing completed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Fct {
    /// The shortest completion time.
    pub min: Option<f64>,
    /// The arithmetic mean, to the nearest picosecond.
    pub mean: Option<f64>,
    /// The median, by nearest rank.
    pub p50: Option<f64>,
    /// The 99th percentile, by nearest rank.
    pub p99: Option<f64>,
    /// The longest completion time.
    pub max: Option<f64>,
}

/// Counts of data packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Packets {
    /// Packets transmitted by NICs, including retransmissions.
    pub sent: u64,
    /// Packets that arrived at their hosts.
    pub delivered: u64,
    /// Data packets sent again by NICs.
    pub retransmitted: u64,
    /// Packets lost in buffers and on links.
    pub dropped: u64,
    /// Packets trimmed to their headers.
    pub trimmed: u64,
    /// Packets that arrived with an ECN mark.
    pub marked: u64,
    /// Packets that arrived after one with a higher packet sequence number.
    pub out_of_order: u64,
}

impl Packets {
    fn of(count: &Counters) -> Self {
        Self {
            sent: count.sent,
            delivered: count.delivered,
            retransmitted: count.retransmitted,
            dropped: count.dropped,
            trimmed: count.trimmed,
            marked: count.marked,
            out_of_order: count.out_of_order,
        }
    }
}

/// Counts of queue pairs at the NICs that send on them. A queue pair is extra if a splitter opened
/// it beyond the first for its pair of peers and message stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Qps {
    /// The most queue pairs at one NIC.
    pub per_nic_max: u64,
    /// Queue pairs of all NICs together.
    pub total: u64,
    /// The most extra queue pairs at one NIC.
    pub extra_per_nic_max: u64,
    /// All extra queue pairs.
    pub extra_total: u64,
    /// The most queue pairs at one NIC that had incomplete work at the same time; `None` if nothing
    /// was simulated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_use_per_nic_max: Option<u64>,
    /// The most queue pairs from one NIC to one peer that had incomplete work at the same time;
    /// `None` if nothing was simulated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_use_per_peer_max: Option<u64>,
}

impl Qps {
    /// The queue pairs that were opened, without those in use at once.
    pub fn opened(counts: QpCounts) -> Self {
        Self { in_use_per_nic_max: None, in_use_per_peer_max: None, ..counts.into() }
    }
}

/// The state that policies keep at run time, which hardware would have to store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct State {
    /// The most entries (pointers, remembered ports, table cells) in one switch.
    pub switch_entries_max: u64,
    /// The most bits in one switch.
    pub switch_bits_max: u64,
    /// The most bits that a sender policy keeps for one queue pair.
    pub sender_bits_per_qp_max: u64,
}

impl State {
    fn of(outcome: &Outcome) -> Self {
        let switches = || outcome.switch_states.iter();
        Self {
            switch_entries_max: switches().map(|it| it.entries).max().unwrap_or(0),
            switch_bits_max: switches().map(|it| it.bits).max().unwrap_or(0),
            sender_bits_per_qp_max: outcome.sender_bits_per_qp_max,
        }
    }
}

impl From<QpCounts> for Qps {
    fn from(counts: QpCounts) -> Self {
        Self {
            per_nic_max: counts.per_nic_max,
            total: counts.total,
            extra_per_nic_max: counts.extra_per_nic_max,
            extra_total: counts.extra_total,
            in_use_per_nic_max: Some(counts.in_use_per_nic_max),
            in_use_per_peer_max: Some(counts.in_use_per_peer_max),
        }
    }
}

impl Summary {
    /// The summary of a run on `topology`; `bound` is the lower bound of its workload.
    pub fn new(
        identity: &Identity,
        topology: &Topology,
        outcome: &Outcome,
        bound: Span,
        cost: Cost,
    ) -> Self {
        let count = &outcome.counters;
        let completed = outcome.flows.iter().filter(|flow| flow.completed != Time::NEVER).count();
        let discarded = outcome.discarded.as_ref();
        let discarded_flows = discarded.map_or(0, |it| it.flows as usize);
        Self {
            scenario: identity.scenario.clone(),
            policy: identity.policy.clone(),
            seed: identity.seed,
            version: VERSION,
            fidelity: Fidelity::Packet,
            warnings: Vec::new(),
            hosts: topology.host_names().len(),
            switches: topology.switches().len(),
            links: topology.links().len(),
            messages: outcome.messages,
            messages_completed: outcome.message_fct.len() as u64
                + discarded.map_or(0, |it| it.message_fct.count()),
            flows: outcome.flows.len() + discarded_flows,
            flows_completed: completed + discarded_flows,
            cct_ns: outcome.cct.map(Span::as_ns_f64),
            bound_ns: bound.as_ns_f64(),
            slowdown: slowdown(outcome.cct, bound),
            fct_ns: match discarded {
                Some(discarded) => Fct::of_discarded(&discarded.message_fct),
                None => Fct::of(&outcome.message_fct),
            },
            packets: Some(Packets::of(count)),
            pfc_pauses: Some(count.pfc_pauses),
            queue_bytes_max: Some(outcome.queue_bytes_max.get()),
            queue_bytes_mean: Some(outcome.queue_bytes_mean),
            link_bytes_max: outcome.link_bytes_max.get(),
            scale_up: outcome.scale_up.as_ref().map(ScaleUpSummary::of),
            transport: None,
            qps: outcome.qps.into(),
            state: Some(State::of(outcome)),
            jobs: Vec::new(),
            classes: Vec::new(),
            failures: Vec::new(),
            record: None,
            resolved: None,
            qp_account: QpAccount::most(&outcome.qp_accounts),
            events: count.events,
            packet_hops: Some(count.packet_hops),
            wall_s: cost.wall.as_secs_f64(),
            peak_rss_bytes: cost.peak_rss_bytes,
        }
    }

    /// Adds the transport of the run, and remarks on what decided its result.
    pub fn with_transport(self, transport: TransportSummary, remarks: Vec<String>) -> Self {
        Self { transport: Some(transport), warnings: [self.warnings, remarks].concat(), ..self }
    }

    /// Adds the failures of the run.
    pub(crate) fn with_failures(self, failures: Vec<FailureSummary>) -> Self {
        Self { failures, ..self }
    }

    /// Adds the jobs and the traffic classes of the run's workload.
    pub(crate) fn with_parts(self, jobs: Vec<JobSummary>, classes: Vec<ClassSummary>) -> Self {
        Self { jobs, classes, ..self }
    }

    /// The same of a fluid run, which has no packets, no queues and no state of policies.
    pub(crate) fn of_fluid(self, warnings: Vec<String>) -> Self {
        Self {
            fidelity: Fidelity::Fluid,
            warnings,
            packets: None,
            pfc_pauses: None,
            queue_bytes_max: None,
            queue_bytes_mean: None,
            transport: None,
            state: None,
            packet_hops: None,
            ..self
        }
    }

    /// What the run cost, for `cost.json`.
    pub fn cost(&self) -> CostSummary {
        CostSummary { wall_s: self.wall_s, peak_rss_bytes: self.peak_rss_bytes }
    }

    /// The identity of the run.
    pub fn identity(&self) -> Identity {
        Identity { scenario: self.scenario.clone(), policy: self.policy.clone(), seed: self.seed }
    }
}

fn is_packet(fidelity: &Fidelity) -> bool {
    *fidelity == Fidelity::Packet
}

/// Writes `summary.json`, indented: the object without the costs of the run, which `cost.json`
/// has, so that two runs of a scenario write the same bytes.
///
/// # Errors
/// Those of writing to `to`.
pub fn write_summary(to: &mut dyn Write, summary: &Summary) -> io::Result<()> {
    write_without_costs(to, summary)
}

/// `cct` over `bound`, at least 1 also for truncated times; `None` for an empty workload.
fn slowdown(cct: Option<Span>, bound: Span) -> Option<f64> {
    let cct = cct.filter(|_| bound > Span::ZERO)?.max(bound);
    Some(cct.as_ps() as f64 / bound.as_ps() as f64)
}

impl Fct {
    /// The distribution of `times`, which may be in any order.
    pub fn of(times: &[Span]) -> Self {
        let mut sorted = times.to_vec();
        sorted.sort_unstable();
        Self {
            min: sorted.first().copied().map(Span::as_ns_f64),
            mean: mean(&sorted).map(Span::as_ns_f64),
            p50: nearest_rank(&sorted, 50).map(Span::as_ns_f64),
            p99: nearest_rank(&sorted, 99).map(Span::as_ns_f64),
            max: sorted.last().copied().map(Span::as_ns_f64),
        }
    }

    /// The distribution of completion times that were not kept one by one.
    fn of_discarded(times: &Spans) -> Self {
        Self {
            min: times.shortest().map(Span::as_ns_f64),
            mean: times.mean().map(Span::as_ns_f64),
            p50: times.percentile(50).map(Span::as_ns_f64),
            p99: times.percentile(99).map(Span::as_ns_f64),
            max: times.longest().map(Span::as_ns_f64),
        }
    }
}

/// The smallest element of `sorted` that at least `percent` per cent of the elements do not exceed.
fn nearest_rank(sorted: &[Span], percent: usize) -> Option<Span> {
    let rank = (sorted.len() * percent).div_ceil(100).max(1);
    sorted.get(rank - 1).copied()
}

fn mean(times: &[Span]) -> Option<Span> {
    let count = times.len() as u128;
    let sum: u128 = times.iter().map(|time| u128::from(time.as_ps())).sum();
    let nearest = (sum + count / 2).checked_div(count)?;
    Some(Span::from_ps(u64::try_from(nearest).expect("a mean is no larger than the largest")))
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    #[test]
    fn keys_and_their_order_are_the_contract() {
        let mut json = Vec::new();
        serde_json::to_writer_pretty(&mut json, &sample::summary()).unwrap();
        sample::snapshot("summary-json", &(String::from_utf8(json).unwrap() + "\n"));
    }

    #[test]
    fn a_fluid_run_says_so_and_has_no_counts_of_packets() {
        let summary = sample::summary().of_fluid(vec!["packets would be lost".to_owned()]);
        let json = serde_json::to_value(&summary).unwrap();
        assert_eq!(json["fidelity"], "fluid");
        assert_eq!(json["warnings"], serde_json::json!(["packets would be lost"]));
        for key in ["packets", "pfc_pauses", "queue_bytes_max", "state", "packet_hops"] {
            assert!(json.as_object().unwrap()[key].is_null(), "{key}");
        }
        let packet = serde_json::to_value(sample::summary()).unwrap();
        assert!(packet.get("fidelity").is_none() && packet.get("warnings").is_none());
    }

    #[test]
    fn a_run_that_did_not_complete_has_no_completion_time() {
        let summary = sample::stalled_summary();
        assert_eq!((summary.cct_ns, summary.slowdown), (None, None));
        assert_eq!((summary.messages, summary.messages_completed), (3, 1));
        assert_eq!((summary.flows, summary.flows_completed), (4, 2));
        let empty = serde_json::to_string(&Fct::of(&[])).unwrap();
        assert_eq!(empty, r#"{"min":null,"mean":null,"p50":null,"p99":null,"max":null}"#);
    }

    #[test]
    fn times_keep_their_picoseconds() {
        let ns = |ps: u64| serde_json::to_string(&Span::from_ps(ps).as_ns_f64()).unwrap();
        assert_eq!(ns(17_056_941), "17056.941");
        assert_eq!(ns(1_000), "1.0");
        // An hour and a picosecond.
        assert_eq!(ns(3_600_000_000_000_001), "3600000000000.001");
    }

    #[test]
    fn percentiles_are_by_nearest_rank() {
        let times: Vec<Span> = (1..=200).map(Span::from_ns).collect();
        let fct = Fct::of(&times);
        assert_eq!((fct.min, fct.p50, fct.p99, fct.max), {
            (Some(1.0), Some(100.0), Some(198.0), Some(200.0))
        });
        assert_eq!(fct.mean, Some(100.5));
        let one = Fct::of(&[Span::from_ps(7)]);
        assert_eq!((one.min, one.p50, one.p99), (Some(0.007), Some(0.007), Some(0.007)));
    }

    #[test]
    fn a_slowdown_is_at_least_1_and_an_empty_workload_has_none() {
        assert_eq!(slowdown(Some(Span::ZERO), Span::ZERO), None);
        let over_two = |ns| slowdown(Some(Span::from_ns(ns)), Span::from_ns(2));
        assert_eq!([3, 1].map(over_two), [Some(1.5), Some(1.0)]);
    }
}
