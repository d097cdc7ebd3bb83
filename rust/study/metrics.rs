//! Table of the numbers of a run's results: names, units, directions and descriptions.
//!
//! A name is the path of the number in the run's JSON object. Columns of `results.csv`, claims of
//! studies, tables, axes, pages and `evenkeel explain` are views of this table.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::report::human;
use crate::results::Dimension;

/// A number of a run's results.
#[derive(Debug, Clone, Copy)]
pub struct Metric {
    /// Path in the JSON object: `packets.dropped`.
    pub name: &'static str,
    /// Unit of the number; empty for a count or a ratio.
    pub unit: &'static str,
    /// Dimension, for axes.
    pub dimension: Dimension,
    /// The better direction.
    pub better: Better,
    /// Title of a column.
    pub title: &'static str,
    /// Description, also the label of an axis.
    pub description: &'static str,
    /// Formats a value for people.
    pub show: fn(f64) -> String,
    get: Get,
}

/// The better direction of a metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Better {
    /// Less is better.
    Less,
    /// More is better.
    More,
    /// Neither: the number describes the run.
    Neither,
}

/// Source of a value in the JSON object.
#[derive(Debug, Clone, Copy)]
enum Get {
    /// Read from the path that the name gives.
    Path,
    /// Computed from other numbers.
    Derived(fn(&Value) -> Option<f64>),
}

impl Metric {
    const fn new(
        name: &'static str,
        kind: Kind,
        better: Better,
        title: &'static str,
        description: &'static str,
    ) -> Self {
        let (unit, dimension, show): (_, _, fn(f64) -> String) = match kind {
            Kind::Time => ("ns", Dimension::Time, human::nanoseconds),
            Kind::Bytes => ("B", Dimension::Size, human::bytes),
            Kind::ByteRate => ("B/s", Dimension::Size, bytes_per_second),
            Kind::BitRate => ("Gbit/s", Dimension::Number, human::count),
            Kind::Packets => ("", Dimension::Packets, human::count),
            Kind::Count => ("", Dimension::Number, human::count),
            Kind::Ratio => ("", Dimension::Number, three_decimals),
            Kind::Index => ("", Dimension::Number, four_decimals),
            Kind::Percent => ("%", Dimension::Number, percent),
        };
        Self { name, unit, dimension, better, title, description, show, get: Get::Path }
    }

    const fn derived(self, get: fn(&Value) -> Option<f64>) -> Self {
        Self { get: Get::Derived(get), ..self }
    }

    /// Returns all metrics.
    pub fn all() -> impl Iterator<Item = &'static Self> {
        METRICS.iter().chain(&RATES).chain(&INDICATORS)
    }

    /// Returns the metric of the given name.
    pub fn find(name: &str) -> Option<&'static Self> {
        Self::all().find(|metric| metric.name == name)
    }

    /// Returns the value in the JSON object of a run, or `None` if the object has no such number. A
    /// time that the run did not reach is infinite.
    pub fn of(&self, run: &Value) -> Option<f64> {
        match self.get {
            Get::Derived(get) => get(run),
            Get::Path => number(self.name.split('.').fold(run, |value, key| &value[key])),
        }
    }
}

/// Quantity that a metric measures.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Time,
    Bytes,
    ByteRate,
    BitRate,
    Packets,
    Count,
    Ratio,
    Index,
    Percent,
}

use Better::{Less, More, Neither};
use Kind::{BitRate, ByteRate, Bytes, Count, Index, Packets, Percent, Ratio, Time};

/// Metrics with a column in `results.csv`, in the order of the columns.
pub static METRICS: [Metric; 46] = [
    Metric::new("cct_ns", Time, Less, "CCT", "completion time"),
    Metric::new("bound_ns", Time, Neither, "bound", "lower bound of the completion time"),
    Metric::new("slowdown", Ratio, Less, "over the bound", "completion time over its lower bound"),
    Metric::new(
        "increase_percent",
        Percent,
        Less,
        "above the bound",
        "completion time above its lower bound (%)",
    )
    .derived(increase_percent),
    Metric::new("fct_ns.min", Time, Less, "shortest FCT", "shortest message completion time"),
    Metric::new("fct_ns.mean", Time, Less, "mean FCT", "mean message completion time"),
    Metric::new("fct_ns.p50", Time, Less, "p50 FCT", "median message completion time"),
    Metric::new("fct_ns.p99", Time, Less, "p99 FCT", "99th percentile of message completion times"),
    Metric::new("fct_ns.max", Time, Less, "longest FCT", "longest message completion time"),
    Metric::new("messages", Count, Neither, "messages", "messages of the workload"),
    Metric::new("messages_completed", Count, More, "completed", "messages that completed"),
    Metric::new("flows", Count, Neither, "flows", "messages and pieces that were posted to NICs"),
    Metric::new("flows_completed", Count, More, "flows completed", "flows that completed"),
    Metric::new("packets.sent", Packets, Neither, "sent", "data packets that NICs sent"),
    Metric::new(
        "packets.delivered",
        Packets,
        Neither,
        "delivered",
        "data packets that arrived at their hosts",
    ),
    Metric::new("packets.retransmitted", Packets, Less, "retransmitted", "retransmitted packets"),
    Metric::new(
        "packets.dropped",
        Packets,
        Less,
        "dropped",
        "packets lost in buffers and on links",
    ),
    Metric::new("packets.trimmed", Packets, Less, "trimmed", "packets trimmed to their headers"),
    Metric::new("packets.marked", Packets, Neither, "marked", "packets that arrived with a mark"),
    Metric::new(
        "packets.out_of_order",
        Packets,
        Less,
        "out of order",
        "packets that arrived after a later one",
    ),
    Metric::new("pfc_pauses", Count, Less, "PFC pauses", "pause frames of priority flow control"),
    Metric::new("queue_bytes_max", Bytes, Less, "longest queue", "longest queue"),
    Metric::new("queue_bytes_mean", Bytes, Less, "mean queue", "mean queue"),
    Metric::new("link_bytes_max", Bytes, Less, "busiest link", "bytes of the busiest link"),
    Metric::new("qps.per_nic_max", Count, Less, "QPs", "maximum queue pairs per NIC"),
    Metric::new("qps.total", Count, Less, "all QPs", "queue pairs of all NICs"),
    Metric::new(
        "qps.extra_per_nic_max",
        Count,
        Less,
        "extra QPs",
        "maximum queue pairs per NIC that splitters added",
    ),
    Metric::new(
        "qps.extra_total",
        Count,
        Less,
        "all extra QPs",
        "queue pairs that splitters added",
    ),
    Metric::new(
        "qps.in_use_per_nic_max",
        Count,
        Less,
        "QPs in use",
        "maximum queue pairs in concurrent use per NIC",
    ),
    Metric::new(
        "qps.in_use_per_peer_max",
        Count,
        Less,
        "QPs per peer",
        "maximum queue pairs in concurrent use per peer",
    ),
    Metric::new(
        "state.switch_entries_max",
        Count,
        Less,
        "switch entries",
        "maximum policy entries per switch",
    ),
    Metric::new(
        "state.switch_bits_max",
        Count,
        Less,
        "switch bits",
        "maximum policy bits per switch",
    ),
    Metric::new(
        "state.sender_bits_per_qp_max",
        Count,
        Less,
        "sender bits",
        "maximum policy bits per queue pair",
    ),
    Metric::new("algbw_bytes_per_s", ByteRate, More, "algbw", "algorithm bandwidth (nccl-tests)"),
    Metric::new("busbw_bytes_per_s", ByteRate, More, "busbw", "bus bandwidth (nccl-tests)"),
    Metric::new("breakdown.compute_ns", Time, Neither, "compute", "mean computing time of ranks"),
    Metric::new(
        "breakdown.exposed_ns",
        Time,
        Less,
        "exposed",
        "mean time that ranks communicate without computing",
    ),
    Metric::new(
        "breakdown.overlapped_ns",
        Time,
        More,
        "overlapped",
        "mean time that ranks communicate while computing",
    ),
    Metric::new(
        "breakdown.idle_ns",
        Time,
        Less,
        "idle",
        "mean time that ranks neither compute nor communicate",
    ),
    Metric::new("bytes_per_s", ByteRate, More, "throughput", "bytes of operations per second"),
    Metric::new("cpu_busy_ns_max", Time, Less, "CPU", "longest busy time of a host's processor"),
    Metric::new("operation_ns.first", Time, Less, "first", "time of the first operation")
        .derived(|run| operations(run)?.next()),
    Metric::new("operation_ns.last", Time, Less, "last", "time of the last operation")
        .derived(|run| operations(run)?.next_back()),
    Metric::new("operation_ns.max", Time, Less, "longest", "time of the longest operation")
        .derived(|run| operations(run)?.max_by(f64::total_cmp)),
    Metric::new(
        "resume_ns",
        Time,
        Less,
        "resumed",
        "time from a rail's failure until the first reissued chunk is complete",
    )
    .derived(resume_ns),
    Metric::new("events", Count, Neither, "events", "events of the simulation"),
];

/// Rates of messages and counters of NICs, for claims and tables of studies; not columns of
/// `results.csv`.
pub(crate) static RATES: [Metric; 14] = [
    Metric::new("rate_gbps.min", BitRate, More, "lowest rate", "lowest rate of a message"),
    Metric::new("rate_gbps.p01", BitRate, More, "p01 rate", "1st percentile of message rates"),
    Metric::new("rate_gbps.p50", BitRate, More, "p50 rate", "median rate of messages"),
    Metric::new("rate_gbps.mean", BitRate, More, "mean rate", "mean rate of messages"),
    Metric::new("rate_gbps.max", BitRate, More, "highest rate", "highest rate of a message"),
    Metric::new("hardware.rx_discards", Packets, Less, "discards", "packets dropped in NICs"),
    Metric::new("hardware.nacks_received", Count, Less, "NACKs", "NACKs that senders received"),
    Metric::new("hardware.cnps_sent", Count, Less, "CNPs sent", "CNPs that receivers sent"),
    Metric::new("hardware.cnps_received", Count, Less, "CNPs", "CNPs that senders received"),
    Metric::new("hardware.timeouts", Count, Less, "timeouts", "timeouts before a retransmission"),
    Metric::new("hardware.qp_errors", Count, Less, "QP errors", "queue pairs that failed"),
    Metric::new("qp_error_ns", Time, Neither, "QP error at", "time of the first QP error"),
    Metric::new(
        "hardware.cnps_per_s",
        Count,
        Less,
        "CNPs/s",
        "CNPs that receivers sent per second",
    )
    .derived(cnps_per_second),
    Metric::new(
        "hardware.discards_per_nack",
        Ratio,
        Less,
        "discards/NACK",
        "packets dropped in NICs per NACK",
    )
    .derived(discards_per_nack),
];

/// Indicators of the IETF's benchmarking draft, in the order of
/// [`Indicators::numbers`](super::Indicators::numbers); not in the JSON object.
pub static INDICATORS: [Metric; 5] = [
    Metric::new("max_mean_ratio", Ratio, Less, "MMR", "largest over mean load of parallel uplinks"),
    Metric::new("jain_index", Index, More, "JFI", "Jain's index of the loads of parallel uplinks"),
    Metric::new("out_of_order_per_s", Count, Less, "OOO/s", "packets out of order per second"),
    Metric::new("retransmitted_per_s", Count, Less, "retx/s", "retransmitted packets per second"),
    Metric::new("goodput_percent", Percent, More, "goodput", "goodput in percent of line rate"),
];

/// Returns a number; `null` marks an event that the run did not reach, and is infinite.
pub(crate) fn number(value: &Value) -> Option<f64> {
    if value.is_null() { Some(f64::INFINITY) } else { value.as_f64() }
}

fn cnps_per_second(run: &Value) -> Option<f64> {
    Some(number(&run["hardware"]["cnps_sent"])? * 1e9 / number(&run["cct_ns"])?)
}

/// Returns the packets dropped in NICs per NACK; `None` without a NACK.
fn discards_per_nack(run: &Value) -> Option<f64> {
    let nacks = number(&run["hardware"]["nacks_received"]).filter(|nacks| *nacks > 0.0)?;
    Some(number(&run["hardware"]["rx_discards"])? / nacks)
}

fn increase_percent(run: &Value) -> Option<f64> {
    Some((number(&run["slowdown"])? - 1.0) * 100.0)
}

/// Returns the times of the operations of rails, in order.
fn operations(run: &Value) -> Option<impl DoubleEndedIterator<Item = f64>> {
    let operations = run["operations"].as_array()?;
    Some(operations.iter().filter_map(|operation| number(&operation["took_ns"])))
}

/// Returns the time from the first failure of a rail until the first reissued chunk is complete;
/// infinite if there is no such chunk.
fn resume_ns(run: &Value) -> Option<f64> {
    let events = run["timeline"].as_array()?;
    let at = |what: &str| {
        let event = events.iter().find(|event| event["what"].as_str() == Some(what));
        event.and_then(|event| event["at_ns"].as_f64())
    };
    Some(
        at("the first reissued chunk is complete at a rank").unwrap_or(f64::INFINITY)
            - at("fails")?,
    )
}

fn bytes_per_second(value: f64) -> String {
    human::bytes(value) + "/s"
}

fn three_decimals(value: f64) -> String {
    format!("{value:.3}")
}

fn four_decimals(value: f64) -> String {
    format!("{value:.4}")
}

fn percent(value: f64) -> String {
    format!("{value:.1}%")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::report::sample;

    #[test]
    fn names_and_titles_are_unique_and_each_number_of_a_summary_has_a_metric() {
        let distinct =
            |of: fn(&Metric) -> &'static str| Metric::all().map(of).collect::<BTreeSet<_>>().len();
        assert_eq!(distinct(|it| it.name), Metric::all().count());
        assert_eq!(distinct(|it| it.title), Metric::all().count());
        let summary = serde_json::to_value(sample::summary()).unwrap();
        let missing: Vec<String> = leaves("", &summary)
            .into_iter()
            .filter(|name| Metric::find(name).is_none())
            .filter(|name| !OUTSIDE.contains(&name.split('.').next().unwrap_or(name)))
            .collect();
        assert_eq!(missing, [] as [&str; 0]);
    }

    #[test]
    fn counters_of_limits_are_also_rates() {
        let of = |name: &str, nacks: u64| {
            let hardware = serde_json::json!({
                "cnps_sent": 100, "rx_discards": 840, "nacks_received": nacks
            });
            let run = serde_json::json!({ "cct_ns": 500_000_000, "hardware": hardware });
            Metric::find(name).unwrap().of(&run)
        };
        assert_eq!(of("hardware.cnps_per_s", 12), Some(200.0));
        assert_eq!(of("hardware.discards_per_nack", 12), Some(70.0));
        assert_eq!(of("hardware.discards_per_nack", 0), None);
    }

    /// Numbers outside the table: those that identify a run or its cost, and objects with their own
    /// schemas.
    const OUTSIDE: [&str; 10] = [
        "seed",
        "hosts",
        "switches",
        "links",
        "packet_hops",
        "wall_s",
        "peak_rss_bytes",
        "transport",
        "record",
        "resolved",
    ];

    fn leaves(path: &str, value: &Value) -> Vec<String> {
        match value {
            Value::Object(object) => {
                let below = object.iter().flat_map(|(key, value)| {
                    leaves(
                        &if path.is_empty() { key.clone() } else { format!("{path}.{key}") },
                        value,
                    )
                });
                below.collect()
            }
            Value::Number(_) => vec![path.to_owned()],
            _ => Vec::new(),
        }
    }
}
