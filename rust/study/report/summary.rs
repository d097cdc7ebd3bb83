//! `summary.json`: the results of a run as a JSON object. Its keys, their order and their units are
//! a contract that other programs may rely on.

use std::collections::BTreeMap;
use std::io::{self, Write};

use schemars::JsonSchema;
use serde::Serialize;

use super::cost::{CostSummary, write_without_costs};
use super::{
    Breakdown, ClassSummary, Cost, FailureSummary, HardwareSummary, Identity, JobSummary, Qps,
    Rates, ScaleUpSummary, State, TransportSummary, VERSION,
};
use crate::endpoint::Spans;
use crate::fabric::{Counters, Outcome};
use crate::fluid::Fidelity;
use crate::nic::QpAccount;
use crate::record::RunProfiles;
use crate::topology::Topology;
use crate::units::{Span, Time};
use crate::workload::Operation;

/// Results of a run. Times are nanoseconds with picoseconds as decimals.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Summary {
    /// Name of the scenario: the stem of its file's name.
    pub scenario: String,
    /// Name of the load-balancing policy.
    pub policy: String,
    /// Seed of every random draw.
    pub seed: u64,
    /// Version of this program.
    pub version: &'static str,
    /// Whether the run simulated packets or fluid flows; absent for packets.
    #[serde(skip_serializing_if = "is_packet")]
    pub fidelity: Fidelity,
    /// Limits of a fluid run's validity, and causes such as a timer that dominated the result;
    /// absent without warnings.
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
    /// Time from the first start to the last completion; `None` unless every message completed.
    pub cct_ns: Option<f64>,
    /// Lower bound of `cct_ns`, which no scheme can beat.
    pub bound_ns: f64,
    /// `cct_ns / bound_ns`, at least 1; `None` without a completion time or with a bound of zero.
    pub slowdown: Option<f64>,
    /// Completion times of the messages that completed, each from the message's start.
    pub fct_ns: Fct,
    /// Counts of data packets, without acknowledgements and other control packets; `None` for a
    /// fluid run.
    pub packets: Option<Packets>,
    /// Pause frames of priority flow control that were sent; `None` for a fluid run.
    pub pfc_pauses: Option<u64>,
    /// Maximum bytes queued at one switch port; `None` for a fluid run.
    pub queue_bytes_max: Option<u64>,
    /// Mean queue that data packets found when they arrived at switch ports, in bytes; `None` for a
    /// fluid run.
    pub queue_bytes_mean: Option<f64>,
    /// Maximum bytes in one direction of a link.
    pub link_bytes_max: u64,
    /// Traffic on the scale-up networks of servers; absent without such networks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scale_up: Option<ScaleUpSummary>,
    /// Transport, with `auto` resolved; absent for a fluid run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transport: Option<TransportSummary>,
    /// Counters of NICs with limits of hardware; absent without such limits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hardware: Option<HardwareSummary>,
    /// Time at which the first queue pair exceeded its retries; absent without such an error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub qp_error_ns: Option<f64>,
    /// Queue pairs of the NICs, and those that splitters added.
    pub qps: Qps,
    /// State that policies keep; `None` for a fluid run.
    pub state: Option<State>,
    /// Rates of the workload's collective operation; absent for other workloads, and unless it
    /// completed.
    #[serde(flatten)]
    pub rates: Option<Rates>,
    /// Division of the time of hosts that compute; absent if none does, and with `[[job]]`, where
    /// each job has its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub breakdown: Option<Breakdown>,
    /// Results of each job; absent unless the scenario has `[[job]]`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub jobs: Vec<JobSummary>,
    /// Results of each traffic class; absent unless the scenario has `[[class]]`, and for messages
    /// that are read or generated during the run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub classes: Vec<ClassSummary>,
    /// Link failures including random ones, in order of their starts, at most 1,000; absent without
    /// failures.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<FailureSummary>,
    /// Recorded time series; absent unless the scenario has `[record]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "super::time_series_schema")]
    pub record: Option<RunProfiles>,
    /// Scenario with every default, as in `scenario.toml`, but with the paths of the scenario's
    /// file; only in `summary.json`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "BTreeMap<String, serde_json::Value>")]
    pub resolved: Option<toml::Table>,
    /// Maximum of each queue pair account over all NICs; not part of the JSON object.
    #[serde(skip)]
    pub qp_account: QpAccount,
    /// Events of the simulation.
    pub events: u64,
    /// Packets that crossed a link; `None` for a fluid run.
    pub packet_hops: Option<u64>,
    /// Wall time of the simulation, seconds; a results folder has it in `cost.json`.
    pub wall_s: f64,
    /// Peak memory of the process; `None` if the system does not report it. A results folder has it
    /// in `cost.json`.
    pub peak_rss_bytes: Option<u64>,
}

/// Distribution of completion times, in nanoseconds; `None` if nothing completed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Fct {
    /// Shortest completion time.
    pub min: Option<f64>,
    /// Arithmetic mean, rounded to the nearest picosecond.
    pub mean: Option<f64>,
    /// Median, by nearest rank.
    pub p50: Option<f64>,
    /// 99th percentile, by nearest rank.
    pub p99: Option<f64>,
    /// Longest completion time.
    pub max: Option<f64>,
}

/// Counts of data packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Packets {
    /// Packets transmitted by NICs, including retransmissions.
    pub sent: u64,
    /// Packets that arrived at their hosts.
    pub delivered: u64,
    /// Data packets that NICs retransmitted.
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

impl Summary {
    /// Summarizes a run on `topology`; `bound` is the lower bound of its workload.
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
        let counters = QpAccount::maxima(&outcome.qp_accounts).hardware;
        let nanoseconds = |time: Time| time.since(Time::ZERO).as_ns_f64();
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
            rates: None,
            breakdown: None,
            jobs: Vec::new(),
            classes: Vec::new(),
            failures: Vec::new(),
            record: None,
            resolved: None,
            hardware: counters.map(HardwareSummary::of),
            qp_error_ns: counters.and_then(|it| it.first_error).map(nanoseconds),
            qp_account: QpAccount::maxima(&outcome.qp_accounts),
            events: count.events,
            packet_hops: Some(count.packet_hops),
            wall_s: cost.wall.as_secs_f64(),
            peak_rss_bytes: cost.peak_rss_bytes,
        }
    }

    /// Adds the transport of the run, and remarks on what dominated its result.
    pub fn with_transport(self, transport: TransportSummary, remarks: Vec<String>) -> Self {
        Self { transport: Some(transport), warnings: [self.warnings, remarks].concat(), ..self }
    }

    /// Adds the rates of the collective operation that took `cct`.
    pub(crate) fn with_rates(self, operation: Option<&Operation>, cct: Option<Span>) -> Self {
        Self { rates: Rates::of(operation, cct), ..self }
    }

    /// Adds the division of the time of hosts that compute.
    pub(crate) fn with_breakdown(self, breakdown: Option<Breakdown>) -> Self {
        Self { breakdown, ..self }
    }

    /// Returns true if the hosts of the workload, or of one of its jobs, compute.
    pub(crate) fn has_breakdown(&self) -> bool {
        self.breakdown.is_some() || self.jobs.iter().any(|job| job.breakdown.is_some())
    }

    /// Adds the failures of the run.
    pub(crate) fn with_failures(self, failures: Vec<FailureSummary>) -> Self {
        Self { failures, ..self }
    }

    /// Adds the jobs and the traffic classes of the run's workload.
    pub(crate) fn with_parts(self, jobs: Vec<JobSummary>, classes: Vec<ClassSummary>) -> Self {
        Self { jobs, classes, ..self }
    }

    /// Converts to the summary of a fluid run, which has no packets, queues or policy state.
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

    /// Returns the cost of the run, for `cost.json`.
    pub fn cost(&self) -> CostSummary {
        CostSummary { wall_s: self.wall_s, peak_rss_bytes: self.peak_rss_bytes }
    }

    /// Returns the identity of the run.
    pub fn identity(&self) -> Identity {
        Identity { scenario: self.scenario.clone(), policy: self.policy.clone(), seed: self.seed }
    }
}

fn is_packet(fidelity: &Fidelity) -> bool {
    *fidelity == Fidelity::Packet
}

/// Writes `summary.json`, indented. The costs of the run are left to `cost.json`, so that two runs
/// of a scenario write the same bytes.
///
/// # Errors
/// Fails if writing to `to` fails.
pub fn write_summary(to: &mut dyn Write, summary: &Summary) -> io::Result<()> {
    write_without_costs(to, summary)
}

/// Returns `cct` over `bound`, at least 1 even for truncated times; `None` for an empty workload.
fn slowdown(cct: Option<Span>, bound: Span) -> Option<f64> {
    let cct = cct.filter(|_| bound > Span::ZERO)?.max(bound);
    Some(cct.as_ps() as f64 / bound.as_ps() as f64)
}

impl Fct {
    /// Returns the distribution of `times`, which may be in any order.
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

    /// Returns the distribution of completion times that were not kept individually.
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

/// Returns the nearest-rank percentile of `sorted`; `None` if it is empty.
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
    fn a_fluid_run_is_marked_and_has_no_packet_counts() {
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
    fn times_keep_picosecond_precision() {
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
    fn slowdown_is_at_least_1_and_missing_for_an_empty_workload() {
        assert_eq!(slowdown(Some(Span::ZERO), Span::ZERO), None);
        let over_two = |ns| slowdown(Some(Span::from_ns(ns)), Span::from_ns(2));
        assert_eq!([3, 1].map(over_two), [Some(1.5), Some(1.0)]);
    }
}
