//! Remarks on causes that dominate a result and are easily overlooked: timers and convergence times
//! that are out of proportion to the run, and failures that no packet met.

use std::collections::BTreeSet;

use super::human;
use crate::endpoint::base_rtt;
use crate::fabric::{Failure, FailureKind, Outcome, Rounding, Setup};
use crate::ids::{ClassId, HostId, LinkId, PortId};
use crate::lower_bound;
use crate::nic::congestion::CongestionControl;
use crate::short_time_limit;
use crate::topology::{Routes, Topology};
use crate::units::{Bytes, Span, Time};

/// A run above this multiple of its lower bound is dominated by more than its load.
const OUT_OF_PROPORTION: u64 = 4;

/// A time above one `LARGE_PART`-th of the completion time is a large part of it.
const LARGE_PART: u64 = 10;

/// Returns the remarks on a run whose workload has the lower bound `bound`, for its summary.
pub(crate) fn remarks(setup: &Setup, outcome: &Outcome, bound: Span) -> Vec<String> {
    let mut remarks = Vec::from_iter(short_time_limit(setup, bound));
    remarks.extend(below_bound(setup, outcome, bound));
    remarks.extend(deadlock(setup, outcome));
    remarks.extend(lossy_flow_control(setup, outcome));
    remarks.extend(short_timer(setup, outcome));
    remarks.extend(high_min_rate(setup));
    remarks.extend(unmet_failures(setup, outcome));
    remarks.extend(long_timer(setup, outcome, bound));
    if outcome.cct.is_none_or(|cct| cct > bound * OUT_OF_PROPORTION) {
        remarks.extend(unknown_failure(setup, outcome, bound));
    }
    remarks
}

/// Returns the remarks on a run whose messages were not known in advance. The bound is that of the
/// load in `setup`.
pub fn remarks_on_load(setup: &Setup, outcome: &Outcome) -> Vec<String> {
    remarks(setup, outcome, lower_bound(setup).time)
}

/// Remarks on an impossible completion time. The bound assumes exact rates, so times that are
/// truncated to nanoseconds may be below it.
pub(crate) fn below_bound(setup: &Setup, outcome: &Outcome, bound: Span) -> Option<String> {
    if setup.fabric.rounding != Rounding::Exact {
        return None;
    }
    let cct = outcome.cct.filter(|cct| *cct < bound)?;
    Some(format!(
        "the completion time of {} is below its lower bound of {}, which is an internal error \
         (a bug in evenkeel): please report it with the scenario's file",
        human::span(cct),
        human::span(bound)
    ))
}

/// Remarks on a cycle of ports that wait for each other.
fn deadlock(setup: &Setup, outcome: &Outcome) -> Option<String> {
    let topology = &setup.topology;
    let name = |port: &PortId| {
        let (from, to) = topology.ends_of(*port);
        format!("{} > {}", topology.node_name(from), topology.node_name(to))
    };
    let names: Vec<String> = outcome.deadlock.iter().map(name).collect();
    let first = names.first()?;
    let (control, waits) = match setup.fabric.switch.cbfc {
        None => ("priority", "is paused"),
        Some(_) => ("credit-based", "has no credit"),
    };
    Some(format!(
        "{control} flow control is deadlocked: each of these ports {waits} until the next one \
         sends, {}, {first}",
        names.join(", ")
    ))
}

/// Remarks on data of classes with priority flow control that switches dropped regardless. If links
/// fail, the loss count does not say which losses are those of switches.
fn lossy_flow_control(setup: &Setup, outcome: &Outcome) -> Option<String> {
    let is_degrade = |it: &Failure| matches!(it.kind, FailureKind::Degrade { .. });
    setup.fabric.switch.pfc.filter(|_| setup.fabric.failures.iter().all(is_degrade))?;
    let protected = |class: u32| setup.fabric.is_protected(ClassId(class));
    let of_classes = (0u32..).zip(&outcome.dropped_by_class).filter(|&(it, _)| protected(it));
    let dropped: u64 = match outcome.dropped_by_class.is_empty() {
        true => outcome.counters.dropped,
        false => of_classes.map(|(_, dropped)| dropped).sum(),
    };
    (dropped > 0).then(|| {
        format!(
            "switches drop {dropped} data packets despite priority flow control: their buffer \
             or headroom is too small for the data in flight when a link is paused"
        )
    })
}

/// Remarks on a timer that expires before an acknowledgement can return behind the run's longest
/// queue.
fn short_timer(setup: &Setup, outcome: &Outcome) -> Option<String> {
    if outcome.counters.retransmitted == 0 {
        return None;
    }
    let Setup { topology, nic, fabric, .. } = setup;
    let routes = topology.routes();
    let round_trip = base_rtt(topology, routes, nic, fabric.forwarding_delay, &setup.workload);
    let timer = nic.recovery.first_timeout(nic.retransmit_timeout, || round_trip);
    let ports = (0..).map(PortId).zip(&outcome.queue_bytes_max_by_port);
    let delays = ports.map(|(port, &bytes)| topology.link(port.link()).rate.time_for(bytes));
    let queue = delays.max().unwrap_or_default();
    (timer < round_trip + queue).then(|| {
        format!(
            "the retransmission timer of {} is shorter than an idle round trip of {} and the \
             longest queue, {}: packets that are not lost are retransmitted",
            human::span(timer),
            human::span(round_trip),
            human::span(queue)
        )
    })
}

/// Remarks on a minimum rate above the rate of a host's link, at which nothing slows a sender.
fn high_min_rate(setup: &Setup) -> Option<String> {
    let control = &setup.nic.congestion;
    let (least, signals) = match control {
        CongestionControl::Dcqcn(config) => (config.min_rate, "marks"),
        CongestionControl::DcqcnMlx(config) => (config.min_rate, "marks"),
        CongestionControl::DctcpRate(config) => (config.min_rate, "marks"),
        CongestionControl::Hpcc(config) => (config.min_rate, "full links"),
        CongestionControl::HpccPint(config) => (config.min_rate, "full links"),
        CongestionControl::Timely(config) => (config.min_rate, "long round trips"),
        _ => return None,
    };
    let topology = &setup.topology;
    let links = (0..topology.host_count()).map(|host| topology.host_port(HostId(host)).link());
    let slowest = links.min_by_key(|&link| topology.link(link).rate)?;
    let rate = topology.link(slowest).rate;
    (least > rate).then(|| {
        format!(
            "min_rate = {least} of {} is above the rate of {}, {rate}: {signals} do not slow \
             its sender",
            control.name(),
            topology.link_name(slowest)
        )
    })
}

/// Remarks on a timer whose expiry takes a large part of the completion time.
fn long_timer(setup: &Setup, outcome: &Outcome, bound: Span) -> Option<String> {
    let Setup { topology, nic, fabric, .. } = setup;
    let lost = outcome.counters.dropped + outcome.counters.control_dropped;
    let cct = outcome.cct.filter(|_| lost > 0)?;
    let round_trip = || {
        let routes = topology.routes();
        base_rtt(topology, routes, nic, fabric.forwarding_delay, &setup.workload)
    };
    let timer = nic.recovery.first_timeout(nic.retransmit_timeout, round_trip);
    // Many short timeouts in a row add up.
    let is_repeated = timer > bound && cct > bound * OUT_OF_PROPORTION;
    (timer < cct && (timer * LARGE_PART > cct || is_repeated)).then(|| {
        format!(
            "the retransmission timer of {} is {:.1} % of the completion time: it is dominated by \
             losses that only the timer detects",
            human::span(timer),
            timer.as_ps() as f64 / cct.as_ps() as f64 * 100.0
        )
    })
}

/// Remarks on failures that no packet met, although switches did not know of them immediately. Such
/// a run does not measure the policy under failure.
fn unmet_failures(setup: &Setup, outcome: &Outcome) -> Option<String> {
    let has_begun = |it: &&Failure| it.at < outcome.ended;
    let failures = &setup.fabric.failures;
    if let Some(first) = failures.first().filter(|_| !failures.iter().any(|it| has_begun(&it))) {
        return Some(format!(
            "the run ended before the failure of {}, which begins at {}",
            setup.topology.link_name(first.link),
            human::span(first.at.since(Time::ZERO))
        ));
    }
    let begun: Vec<&Failure> = failures.iter().filter(has_begun).collect();
    let has_lost = outcome.counters.dropped + outcome.counters.control_dropped > 0;
    let is_unmet = |failure: &&Failure| {
        let known_after = failure.detection.min(failure.convergence);
        let is_down = failure.kind == FailureKind::Down;
        let sent = |port: PortId| outcome.link_bytes.get(port.index());
        let is_unused = failure.ports().all(|port| sent(port) == Some(&Bytes::ZERO));
        // A link that is down loses every packet sent into it.
        let is_met_by_none =
            is_down && !has_lost && failure.at.saturating_add(known_after) >= outcome.ended;
        (is_unused || is_met_by_none) && !(is_down && known_after == Span::ZERO)
    };
    let first = begun.first().filter(|_| begun.iter().all(is_unmet))?;
    let links: BTreeSet<LinkId> = begun.iter().map(|failure| failure.link).collect();
    let what = match links.len() {
        1 => format!("the failure of {}", setup.topology.link_name(first.link)),
        failed => format!("any failure of the {failed} links"),
    };
    Some(format!("no packet met {what}: the completion time is the same as without it"))
}

/// Remarks on a failure that loses packets for longer than the run should take.
fn unknown_failure(setup: &Setup, outcome: &Outcome, bound: Span) -> Option<String> {
    let topology = &setup.topology;
    let may_be = |it: &&Failure| {
        let lasts = it.until.since(it.at).min(it.convergence);
        it.kind == FailureKind::Down && it.at < outcome.ended && lasts > bound
    };
    let down: Vec<&Failure> = setup.fabric.failures.iter().filter(may_be).collect();
    if outcome.counters.dropped == 0 || down.is_empty() {
        return None;
    }
    let routes = topology.routes();
    let known_after = |failure: &&Failure| match has_detours(topology, routes, failure.link) {
        true => failure.detection.min(failure.convergence),
        false => failure.convergence,
    };
    let known = down.into_iter().map(|failure| (known_after(&failure), failure));
    let late = known.filter(|&(after, _)| after > bound);
    let (_, latest) = late.max_by_key(|&(after, _)| after)?;
    let after = |[never, verb]: [&str; 2], span: Span| match span {
        Span::MAX => never.to_owned(),
        Span::ZERO => format!("{verb} immediately"),
        span => format!("{verb} after {}", human::span(span)),
    };
    Some(format!(
        "the failure of {} {}, and routing {}, while the bound is {}: until then packets are lost \
         there",
        topology.link_name(latest.link),
        after(["is never detected", "is detected"], latest.detection),
        after(["never converges", "converges"], latest.convergence),
        human::span(bound)
    ))
}

/// Returns true if the switches at both ends of a link have an alternative path for all traffic on
/// it once they detect the failure. A spine has no detour to a leaf.
fn has_detours(topology: &Topology, routes: &Routes, link: LinkId) -> bool {
    link.ports().into_iter().all(|port| {
        let Some(switch) = topology.ends_of(port).0.switch() else { return true };
        let hosts = (0..topology.host_count()).map(HostId);
        hosts.map(|host| routes.next_hops(switch, host)).all(|ports| ports != [port])
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::fabric;
    use crate::lower_bound;
    use crate::scenario::{Overrides, Scenario};

    /// Returns the remarks on a permutation among eight hosts with these sections.
    fn remarks_on(sections: &str) -> Vec<String> {
        let text = format!(
            "[topology]\nleaves = 2\nspines = 2\nhosts_per_leaf = 4\n[policy]\nname = \"ecmp\"\n\
             [workload]\nkind = \"permutation\"\nbytes = \"64KB\"\n{sections}"
        );
        let scenario = Scenario::parse(&text, "a", Path::new(""), &Overrides::default()).unwrap();
        let setup = scenario.setup();
        remarks(&setup, &fabric::run(&setup, &mut |_| {}), lower_bound(&setup).time)
    }

    #[test]
    fn an_undisturbed_run_has_no_remarks() {
        assert_eq!(remarks_on(""), [""; 0]);
    }

    #[test]
    fn a_failure_after_the_end_is_reported() {
        let late = remarks_on("[[failure]]\nlink = \"host0-leaf0\"\nat = \"1s\"\n");
        let expected = "the run ended before the failure of host0-leaf0, which begins at 1.000s";
        assert_eq!(late, [expected]);
    }

    #[test]
    fn timers_below_the_round_trip_or_far_above_the_bound_are_reported() {
        let short = remarks_on("[transport]\nretransmit_timeout = \"1us\"\n");
        assert!(
            short[0].starts_with("the retransmission timer of 1.000us is shorter"),
            "{short:?}"
        );
        let lossy = "[[failure]]\nlink = \"host0-leaf0\"\nkind = \"loss\"\nrate = \"1/2\"\n\
                     [transport]\nretransmit_timeout = \"1ms\"\n";
        let long = remarks_on(lossy);
        assert!(long[0].starts_with("the retransmission timer of 1.000ms is"), "{long:?}");
        assert!(long[0].contains("% of the completion time: it is dominated by"), "{long:?}");
    }

    /// Seven senders at line rate fill a queue of 3.5 MB, which takes 70 us to drain at 400 Gbps.
    #[test]
    fn a_timer_below_the_queueing_delay_is_reported() {
        let incast = |timer: &str| {
            let text = format!(
                "[topology]\nleaves = 1\nspines = 1\nhosts_per_leaf = 8\n[transport]\n\
                 congestion_control = \"line-rate\"\nretransmit_timeout = \"{timer}\"\n\
                 [policy]\nname = \"spray\"\n[workload]\nkind = \"incast\"\nfan_in = 7\n\
                 bytes = \"500KB\"\n"
            );
            let scenario = Scenario::parse(&text, "a", Path::new(""), &Overrides::default());
            let setup = scenario.unwrap().setup();
            remarks(&setup, &fabric::run(&setup, &mut |_| {}), lower_bound(&setup).time)
        };
        let remarks = incast("30us");
        assert!(
            remarks[0].starts_with("the retransmission timer of 30.00us is shorter"),
            "{remarks:?}"
        );
        assert_eq!(incast("100us"), [""; 0]);
    }

    #[test]
    fn flow_control_that_loses_data_is_reported() {
        let incast = |headroom| {
            let text = format!(
                "[topology]\nleaves = 1\nspines = 1\nhosts_per_leaf = 8\n[switch]\n\
                 buffer = \"2MB\"\npfc = {{ headroom = \"{headroom}\" }}\n[transport]\n\
                 congestion_control = \"line-rate\"\n[policy]\nname = \"ecmp\"\n\
                 [workload]\nkind = \"incast\"\nfan_in = 7\nbytes = \"1MB\"\n"
            );
            let scenario = Scenario::parse(&text, "a", Path::new(""), &Overrides::default());
            let setup = scenario.unwrap().setup();
            remarks(&setup, &fabric::run(&setup, &mut |_| {}), lower_bound(&setup).time)
        };
        assert!(incast("0B")[0].contains("despite priority flow control"));
        let enough = incast("worst-case");
        assert!(enough.iter().all(|remark| !remark.contains("flow control")), "{enough:?}");
    }

    #[test]
    fn a_minimum_rate_above_the_link_rate_is_reported() {
        let high = "[transport]\nparameters = { min_rate = \"401Gbps\" }\n";
        let of_dcqcn = format!("{high}congestion_control = \"dcqcn\"\n");
        let expected = "min_rate = 401Gbps of dcqcn is above the rate of host0-leaf0, 400Gbps: \
                        marks do not slow its sender";
        assert_eq!(remarks_on(&of_dcqcn), [expected]);
        assert_eq!(remarks_on(&of_dcqcn.replace("401Gbps", "400Gbps")), [""; 0]);
        for (control, signals) in [
            ("dcqcn-mlx", "marks"),
            ("dctcp-rate", "marks"),
            ("hpcc", "full links"),
            ("hpcc-pint", "full links"),
            ("timely", "long round trips"),
        ] {
            let text = format!("{high}congestion_control = \"{control}\"\n");
            let expected = format!(
                "min_rate = 401Gbps of {control} is above the rate of host0-leaf0, 400Gbps: \
                 {signals} do not slow its sender"
            );
            assert!(remarks_on(&text).contains(&expected), "{control}: {:?}", remarks_on(&text));
        }
    }

    #[test]
    fn a_failure_detected_too_late_is_named() {
        let down = "[[failure]]\nlink = \"leaf0-spine0\"\ndetection = \"never\"\n\
                    [transport]\nretransmit_timeout = \"10us\"\n";
        let remarks = remarks_on(down);
        let expected = "the failure of leaf0-spine0 is never detected, and routing converges after \
                        100.0ms, while the bound is";
        assert!(remarks.iter().any(|remark| remark.starts_with(expected)), "{remarks:?}");
    }

    /// A spine has one link to a leaf, so immediate detection at the leaf is not enough.
    #[test]
    fn an_immediately_detected_failure_without_a_detour_is_named() {
        let down = "[[failure]]\nlink = \"leaf0-spine0\"\n[transport]\n\
                    retransmit_timeout = \"10us\"\n";
        let expected = "the failure of leaf0-spine0 is detected immediately, and routing converges \
                        after 100.0ms, while the bound is";
        let is_named =
            |remarks: &[String]| remarks.iter().any(|remark| remark.starts_with(expected));
        let remarks = remarks_on(down);
        assert!(is_named(&remarks), "{remarks:?}");
        let soon = down.replace("[transport]", "convergence = \"1us\"\n[transport]");
        let remarks = remarks_on(&soon);
        assert!(!remarks.iter().any(|remark| remark.contains("converges")), "{remarks:?}");
        let short = down.replace("[transport]", "until = \"3us\"\n[transport]");
        assert!(!is_named(&remarks_on(&short)), "it is over before it matters");
    }

    /// Each leaf has one flow and two spines: ecmp avoids the first spine under some seeds.
    #[test]
    fn a_failure_that_no_packet_meets_is_reported() {
        let text = |policy: &str, at: &str, detection: &str| {
            format!(
                "[topology]\nleaves = 2\nspines = 2\nhosts_per_leaf = 1\n[policy]\n\
                 name = \"{policy}\"\n[workload]\nkind = \"shift\"\nbytes = \"64KB\"\n\
                 [[failure]]\nlink = \"leaf0-spine0\"\nat = \"{at}\"\n\
                 detection = \"{detection}\"\n[transport]\nretransmit_timeout = \"20us\"\n"
            )
        };
        let remarks = |text: &str, seed| {
            let scenario = Scenario::parse(text, "a", Path::new(""), &Overrides::default());
            let setup = scenario.unwrap().with_seed(seed).unwrap().setup();
            let outcome = fabric::run(&setup, &mut |_| {});
            let remarks = remarks(&setup, &outcome, lower_bound(&setup).time);
            let is_reported =
                remarks.iter().any(|it| it.starts_with("no packet met the failure of leaf0"));
            (is_reported, outcome.counters.dropped + outcome.counters.control_dropped > 0)
        };
        for at in ["0s", "3us"] {
            let of_ecmp: Vec<(bool, bool)> =
                (1..=8).map(|seed| remarks(&text("ecmp", at, "1ms"), seed)).collect();
            assert!(
                of_ecmp.iter().all(|(is_reported, has_lost)| is_reported != has_lost),
                "{of_ecmp:?}"
            );
            assert!(of_ecmp.contains(&(true, false)) && of_ecmp.contains(&(false, true)));
        }
        let avoided = text("ecmp", "0s", "0s");
        assert!((1..=8).all(|seed| !remarks(&avoided, seed).0), "switches know of it immediately");
        assert_eq!(remarks(&text("spray", "0s", "1ms"), 1), (false, true));
    }

    #[test]
    fn a_link_with_a_parallel_link_has_a_detour() {
        let fabric = |keys: &str| Scenario::topology(keys, "a", Path::new("")).unwrap();
        let has = |topology: &Topology, link: &str| {
            let routes = Routes::new(topology, &|_| true);
            has_detours(topology, &routes, topology.link_named(link).expect("it is there"))
        };
        let one = fabric("leaves = 2\nspines = 2\nhosts_per_leaf = 2");
        assert!(!has(&one, "leaf0-spine0") && !has(&one, "host0-leaf0"));
        let tree = fabric("kind = \"fat-tree\"\nk = 4\nparallel_links = 2");
        let of_switches = |link: &&String| !link.contains("host");
        let links: Vec<&String> = tree.link_names().iter().filter(of_switches).collect();
        assert!(links.iter().any(|link| has(&tree, link)), "{links:?}");
    }
}
