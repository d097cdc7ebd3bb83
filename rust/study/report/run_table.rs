//! Table of one run.

use super::human;
use super::table::{finish, plain};
use super::{
    Breakdown, ClassSummary, JobSummary, Packets, Parallelisms, Phases, Rates, State, Summary,
    TimeShares, TransportSummary,
};
use crate::balance::display_name;
use crate::fluid::Fidelity;

/// Returns the summary as two columns, quantity and value. If there are several jobs, a row for
/// each follows.
pub fn run_table(summary: &Summary) -> String {
    let mut table = plain();
    for (quantity, value) in rows(summary) {
        table.add_row([quantity, &value]);
    }
    let mut text = finish(table, usize::MAX);
    text += &summary.breakdown.as_ref().map_or_else(String::new, breakdown);
    if !summary.jobs.is_empty() {
        text += &jobs(&summary.jobs);
    }
    for job in &summary.jobs {
        if let Some(division) = &job.breakdown {
            text += &format!("\njob {}\n{}", job.name, breakdown(division).trim_start());
        }
    }
    if !summary.classes.is_empty() {
        text += &classes(&summary.classes);
    }
    text
}

fn breakdown(breakdown: &Breakdown) -> String {
    let mut table = plain();
    let of = format!("mean of {}", human::plural(breakdown.ranks, "rank"));
    table.set_header([of.as_str(), "compute", "exposed", "overlapped", "idle"]);
    let time = human::nanoseconds;
    let shares = |name: &str, it: &TimeShares| {
        let times = [it.compute_ns, it.exposed_ns, it.overlapped_ns, it.idle_ns].map(time);
        std::iter::once(name.to_owned()).chain(times)
    };
    let all = &breakdown.time;
    let whole = (all.compute_ns + all.exposed_ns + all.idle_ns).max(f64::MIN_POSITIVE);
    let percent = |ns: f64| format!("{} ({:.0} %)", time(ns), 100.0 * ns / whole);
    let times = [all.compute_ns, all.exposed_ns, all.overlapped_ns, all.idle_ns].map(percent);
    table.add_row(std::iter::once("all".to_owned()).chain(times));
    for (phase, it) in breakdown.phases.iter().flat_map(Phases::each) {
        table.add_row(shares(phase, &it));
    }
    for (kind, it) in breakdown.parallelisms.iter().flat_map(Parallelisms::each) {
        let times = [it.exposed_ns, it.overlapped_ns].map(time);
        let [exposed, overlapped] = times;
        table.add_row([kind.to_owned(), "-".into(), exposed, overlapped, "-".into()]);
    }
    finish(table, 1)
}

fn jobs(jobs: &[JobSummary]) -> String {
    let mut table = plain();
    let header = ["job", "messages", "completed", "begins", "CCT", "policy"].map(str::to_owned);
    // The last column is shown only if a job has its own policy.
    let columns = if jobs.iter().any(|job| job.policy.is_some()) { 6 } else { 5 };
    table.set_header(header.into_iter().take(columns));
    let count = |number: u64| human::count(number as f64);
    let time = |ns: Option<f64>| ns.map_or_else(|| "-".to_owned(), human::nanoseconds);
    for job in jobs {
        let counts = [job.messages, job.messages_completed].map(count);
        let [messages, completed] = counts;
        let times = [time(job.start_ns), time(job.cct_ns)];
        let [begins, took] = times;
        let policy = job.policy.as_deref().map_or_else(|| "-".into(), display_name).into_owned();
        let row = [job.name.clone(), messages, completed, begins, took, policy];
        table.add_row(row.into_iter().take(columns));
    }
    finish(table, 1)
}

fn classes(classes: &[ClassSummary]) -> String {
    let mut table = plain();
    table.set_header(["class", "messages", "completed", "mean FCT", "p99 FCT", "dropped"]);
    let count = |number: u64| human::count(number as f64);
    let time = |ns: Option<f64>| ns.map_or_else(|| "-".to_owned(), human::nanoseconds);
    for class in classes {
        let [messages, completed] = [class.messages, class.messages_completed].map(count);
        let [mean, p99] = [class.fct_ns.mean, class.fct_ns.p99].map(time);
        let dropped = count(class.dropped);
        table.add_row([class.name.clone(), messages, completed, mean, p99, dropped]);
    }
    finish(table, 1)
}

fn rows(summary: &Summary) -> Vec<(&'static str, String)> {
    let mut rows = vec![
        ("scenario", format!("{} (seed {})", summary.scenario, summary.seed)),
        ("policy", display_name(&summary.policy).into_owned()),
        ("fabric", fabric(summary)),
    ];
    if summary.fidelity == Fidelity::Fluid {
        rows.push(("fidelity", "fluid: max-min fair rates, without packets and queues".to_owned()));
    }
    rows.extend([
        ("messages", format!("{} of {} completed", summary.messages_completed, summary.messages)),
        ("flows", format!("{} of {} completed", summary.flows_completed, summary.flows)),
        ("CCT", cct(summary)),
        ("FCT", fct(summary)),
    ]);
    rows.extend(summary.rates.map(|it| ("rates", rates(it))));
    rows.extend(summary.packets.iter().flat_map(packets));
    rows.extend(queues(summary).map(|queues| ("queues", queues)));
    rows.extend([("links", format!("{} at most", human::bytes(summary.link_bytes_max as f64)))]);
    rows.extend(summary.scale_up.as_ref().map(|it| ("scale-up", it.line())));
    rows.extend(summary.transport.as_ref().map(|it| ("NIC", transport(it))));
    rows.extend(summary.hardware.map(|it| ("NIC limits", it.line())));
    rows.extend([("QPs", qps(summary)), ("contexts", contexts(summary))]);
    rows.extend(summary.state.as_ref().map(|it| ("state", state(it))));
    rows.push(("work", work(summary)));
    rows
}

fn rates(rates: Rates) -> String {
    let shown = |rate: f64| format!("{}/s", human::bytes(rate));
    let [algorithm, bus] = [rates.algbw_bytes_per_s, rates.busbw_bytes_per_s].map(shown);
    format!("algbw {algorithm}, busbw {bus}")
}

fn packets(packets: &Packets) -> [(&'static str, String); 2] {
    let count = |number: u64| human::count(number as f64);
    let fates = format!(
        "{} sent, {} delivered, {} retransmitted, {} dropped",
        count(packets.sent),
        count(packets.delivered),
        count(packets.retransmitted),
        count(packets.dropped)
    );
    let others = format!(
        "{} trimmed, {} ECN marked, {} out of order",
        count(packets.trimmed),
        count(packets.marked),
        count(packets.out_of_order)
    );
    [("packets", fates), ("", others)]
}

fn transport(transport: &TransportSummary) -> String {
    format!(
        "{}, {}, {} delivery; retransmission timer {}",
        transport.congestion_control,
        transport.recovery,
        transport.delivery,
        human::nanoseconds(transport.retransmit_timeout_ns)
    )
}

fn queues(summary: &Summary) -> Option<String> {
    Some(format!(
        "{} per port at most, {} on average; PFC pauses: {}",
        human::bytes(summary.queue_bytes_max? as f64),
        human::bytes(summary.queue_bytes_mean?),
        human::count(summary.pfc_pauses? as f64)
    ))
}

/// Returns the size of the fabric: `256 hosts, 32 switches, 512 links`.
pub(super) fn fabric(summary: &Summary) -> String {
    [
        human::plural(summary.hosts as u64, "host"),
        plural_switches(summary.switches),
        human::plural(summary.links as u64, "link"),
    ]
    .join(", ")
}

fn plural_switches(count: usize) -> String {
    if count == 1 { "1 switch".to_owned() } else { format!("{count} switches") }
}

fn cct(summary: &Summary) -> String {
    let bound = human::nanoseconds(summary.bound_ns);
    match (summary.cct_ns, summary.slowdown) {
        (Some(cct), Some(slowdown)) => {
            format!("{} ({slowdown:.4} times the bound of {bound})", human::nanoseconds(cct))
        }
        (Some(cct), None) => human::nanoseconds(cct),
        (None, _) => format!("did not complete (bound: {bound})"),
    }
}

fn fct(summary: &Summary) -> String {
    let fct = &summary.fct_ns;
    let shown = |ns: Option<f64>| ns.map_or_else(|| "-".to_owned(), human::nanoseconds);
    // Messages that complete early are the quick ones, so the table says that some are missing.
    let of = match summary.messages - summary.messages_completed {
        0 => String::new(),
        _ => format!("; of the {} that completed", summary.messages_completed),
    };
    format!(
        "min {}, mean {}, p50 {}, p99 {}, max {}{of}",
        shown(fct.min),
        shown(fct.mean),
        shown(fct.p50),
        shown(fct.p99),
        shown(fct.max)
    )
}

fn qps(summary: &Summary) -> String {
    let qps = &summary.qps;
    format!(
        "{} per NIC at most, {} in total; extra: {} and {}; in concurrent use: {}",
        qps.per_nic_max,
        qps.total,
        qps.extra_per_nic_max,
        qps.extra_total,
        qps.in_use_per_nic_max.unwrap_or(0)
    )
}

fn contexts(summary: &Summary) -> String {
    let account = &summary.qp_account;
    let count = |number: u64| human::count(number as f64);
    let cache = account.cache;
    let missed = cache.send_misses + cache.receive_misses;
    let cache = match cache.hits + missed {
        0 => String::new(),
        all => format!("; {} of {} missed", count(missed), count(all)),
    };
    format!(
        "{} per NIC, {} per peer, {} of memory{cache}",
        count(account.peak),
        count(account.per_peer_max),
        human::bytes(account.context_bytes.get() as f64)
    )
}

/// Returns the state of the policy, other than queue pairs.
fn state(state: &State) -> String {
    let switches = match state.switch_bits_max {
        0 => "none in switches".to_owned(),
        bits => format!(
            "{} bits, {} entries per switch at most",
            human::count(bits as f64),
            human::count(state.switch_entries_max as f64)
        ),
    };
    format!("{} per QP at most; {switches}", human::plural(state.sender_bits_per_qp_max, "bit"))
}

fn work(summary: &Summary) -> String {
    let memory = summary
        .peak_rss_bytes
        .map_or_else(String::new, |bytes| format!(", {} of memory", human::bytes(bytes as f64)));
    let hops = summary
        .packet_hops
        .map_or_else(String::new, |hops| format!(", {} packet-hops", human::count(hops as f64)));
    format!(
        "{} events{hops} in {}{memory}",
        human::count(summary.events as f64),
        human::seconds(summary.wall_s)
    )
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    #[test]
    fn the_table_of_a_run_fits_on_one_screen() {
        let text = run_table(&sample::summary());
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        sample::snapshot("run-table", &text);
    }

    #[test]
    fn a_fluid_run_shows_neither_packets_nor_queues() {
        let text = run_table(&sample::summary().of_fluid(Vec::new()));
        assert!(text.contains("fidelity  fluid: max-min fair rates"), "{text}");
        assert!(!text.contains("retransmitted") && !text.contains("queues  "), "{text}");
        assert!(text.contains("123 events in 1.25ms"), "{text}");
    }

    #[test]
    fn several_jobs_have_a_table() {
        let mut summary = sample::summary();
        summary.jobs = vec![
            JobSummary {
                name: "a name of 24 characters.".to_owned(),
                messages: 1_046_529,
                messages_completed: 1_046_529,
                start_ns: Some(0.0),
                cct_ns: Some(123_456_789.012),
                policy: None,
                rates: None,
                breakdown: None,
            },
            JobSummary {
                name: "gradients".to_owned(),
                messages: 240,
                messages_completed: 17,
                start_ns: Some(123_456_789.012),
                cct_ns: None,
                policy: None,
                rates: None,
                breakdown: None,
            },
        ];
        let text = run_table(&summary);
        let jobs: Vec<&str> = text.lines().skip_while(|line| !line.starts_with("job")).collect();
        assert_eq!(
            jobs,
            [
                "job                       messages  completed   begins      CCT",
                "a name of 24 characters.     1.05M      1.05M      0ps  123.5ms",
                "gradients                      240         17  123.5ms        -",
            ]
        );
    }

    #[test]
    fn traffic_classes_have_a_table() {
        let mut summary = sample::summary();
        let class = |name: &str, dropped| ClassSummary {
            name: name.to_owned(),
            messages: 240,
            messages_completed: 17,
            bytes: 1,
            dropped,
            fct_ns: summary.fct_ns,
        };
        summary.classes = vec![class("latency", 0), class("bulk", 12)];
        let text = run_table(&summary);
        let classes: Vec<&str> =
            text.lines().skip_while(|line| !line.starts_with("class")).collect();
        assert_eq!(
            classes,
            [
                "class    messages  completed  mean FCT  p99 FCT  dropped",
                "latency       240         17   1.982us  2.600us        0",
                "bulk          240         17   1.982us  2.600us       12",
            ]
        );
    }

    #[test]
    fn the_table_marks_an_incomplete_run() {
        let text = run_table(&sample::stalled_summary());
        assert!(text.contains("CCT       did not complete (bound: 900.0ns)"), "{text}");
        assert!(text.contains("messages  1 of 3 completed"), "{text}");
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains("; of the 1 that completed"), "{text}");
        assert!(!run_table(&sample::summary()).contains("that completed"));
    }

    /// The table must show how `auto` was resolved, because that affects results.
    #[test]
    fn the_nic_row_shows_recovery_delivery_and_timer() {
        let transport = TransportSummary {
            congestion_control: "dcqcn",
            recovery: "per-packet",
            delivery: "unordered".to_owned(),
            retransmit_timeout_ns: 1e6,
        };
        let text = run_table(&sample::summary().with_transport(transport, Vec::new()));
        let expected =
            "NIC       dcqcn, per-packet, unordered delivery; retransmission timer 1.000ms";
        assert!(text.lines().any(|line| line == expected), "{text}");
    }
}
