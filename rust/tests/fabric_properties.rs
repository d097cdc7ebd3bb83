//! Properties of every run of every scenario. It completes or reports that it did not, and every
//! loss is counted. The same seed gives the same bytes, and no run beats the lower bound. The
//! random scenarios are small and adverse: tiny buffers, short timeouts, flapping links.
//!
//! The random scenarios are the same in every run of the tests; `PROPTEST_RNG_SEED` and
//! `PROPTEST_CASES` select others and more of them.

use std::path::Path;

use evenkeel::fabric::{self, Buffer, Headroom, Outcome, Setup, Verdict};
use evenkeel::fluid;
use evenkeel::scenario::{Overrides, Scenario};
use evenkeel::study::lower_bound;
use evenkeel::units::{Bytes, Span, Time};
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, RngSeed};

pub(crate) use crate::simulation::Drawn;
use crate::support::extent;

/// The random draws of a failure: link index, start, duration (0 for the rest of the run), and the
/// delays of detection and convergence, all in nanoseconds; then the kind.
type FailureDraw = (prop::sample::Index, u64, u64, (u64, u64), &'static str);

pub(crate) fn config() -> Config {
    let mut config = Config { failure_persistence: None, ..Config::default() };
    if config.rng_seed == RngSeed::Random {
        config.rng_seed = RngSeed::Fixed(1);
    }
    if std::env::var_os("PROPTEST_CASES").is_none() {
        // Few cases by default: there are two properties, and one runs each scenario twice.
        config.cases = if extent::is_long() { 160 } else { 6 };
    }
    config
}

fn topology() -> impl Strategy<Value = String> {
    let rate = || select(vec![100, 200, 400, 3]);
    let links = (rate(), rate(), select(vec!["0s", "500ns", "7us"]), 1u32..3).prop_map(
        |(host, fabric, delay, parallel)| {
            format!(
                "host_rate = \"{host}Gbps\"\nfabric_rate = \"{fabric}Gbps\"\ndelay = \"{delay}\"\n\
                 parallel_links = {parallel}\n"
            )
        },
    );
    let leaf_spine =
        (1u32..4, 1u32..5, 1u32..4, links).prop_map(|(leaves, spines, hosts, links)| {
            let hosts = if leaves == 1 { hosts + 1 } else { hosts };
            format!(
                "kind = \"leaf-spine\"\nleaves = {leaves}\nspines = {spines}\n\
             hosts_per_leaf = {hosts}\n{links}"
            )
        });
    let fat_tree = (2u32..4, select(vec!["1", "2"]), select(vec!["0s", "500ns"])).prop_map(
        |(tiers, oversubscription, delay)| {
            format!(
                "kind = \"fat-tree\"\nk = 4\ntiers = {tiers}\ndelay = \"{delay}\"\n\
                 oversubscription = \"{oversubscription}\"\n"
            )
        },
    );
    let wire = (select(vec!["0B", "20B"]), select(vec!["0s", "300ns"]))
        .prop_map(|(gap, delay)| format!("gap = \"{gap}\"\nforwarding_delay = \"{delay}\"\n"));
    (prop_oneof![3 => leaf_spine, 1 => fat_tree], wire)
        .prop_map(|(shape, wire)| format!("[topology]\n{shape}{wire}"))
}

fn switch() -> impl Strategy<Value = String> {
    // 1/8,000 of 64 MB is about two packets: links are paused all the time.
    let buffer = select(vec![
        "buffer = \"64MB\"",
        "port_buffer = \"5KB\"",
        "buffer = \"30KB\"",
        "buffer = \"64MB\"\npfc = { alpha = \"1/8000\" }",
        "buffer = \"64MB\"\npfc = { alpha = \"1/4000\", headroom = \"0B\" }",
    ]);
    let trim = select(vec!["false", "true", "{ limit = \"200B\" }"]);
    let ecn = select(vec!["{ step = \"0B\" }", "{ step = \"800KB\" }", "{ kmin = \"5KB\" }"]);
    let at = select(vec!["enqueue", "dequeue"]);
    (buffer, ecn, at, trim).prop_map(|(buffer, ecn, at, trim)| {
        let ecn = ecn.replace(" }", &format!(", at = \"{at}\" }}"));
        format!("[switch]\n{buffer}\necn = {ecn}\ntrim = {trim}\n")
    })
}

fn transport() -> impl Strategy<Value = String> {
    let acks = (select(vec![1u32, 2, 3, 7, 32]), any::<bool>());
    let control = select(vec!["line-rate", "dcqcn", "dcqcn-mlx", "dctcp-rate"]);
    let recovery = select(vec!["auto", "go-back-n", "sack", "per-packet", "erasure", "rod"]);
    let timeout = select(vec!["1ns", "4us", "50us", "1ms"]);
    (select(vec![1_000u32, 4_096]), acks, control, recovery, timeout).prop_map(
        |(payload, (every, priority), control, recovery, timeout)| {
            format!(
                "[transport]\npayload = \"{payload}B\"\nack_every = {every}\n\
                 ack_priority = {priority}\ncongestion_control = \"{control}\"\n\
                 recovery = \"{recovery}\"\nretransmit_timeout = \"{timeout}\"\n\
                 nack_interval = \"5us\"\n"
            )
        },
    )
}

fn workload() -> impl Strategy<Value = String> {
    let kinds = vec!["all-to-all", "ring-all-reduce", "permutation", "shift", "incast"];
    (select(kinds), 1u64..300_000).prop_map(|(kind, bytes)| {
        let fan_in = if kind == "incast" { "fan_in = 1\n" } else { "" };
        format!("[workload]\nkind = \"{kind}\"\nbytes = \"{bytes}B\"\n{fan_in}")
    })
}

/// Returns the failures as TOML tables. Overlapping failures of one link have the same delays.
fn failures(draws: &[FailureDraw], links: &[String]) -> String {
    let mut text = String::new();
    let mut taken = Vec::new();
    for (link, at, lasts, (detection, convergence), kind) in draws {
        let link = link.get(links);
        if taken.contains(&link) {
            continue;
        }
        taken.push(link);
        let until = if *lasts == 0 { "never".to_owned() } else { format!("{}ns", at + lasts) };
        text += &format!(
            "[[failure]]\nlink = \"{link}\"\nat = \"{at}ns\"\nuntil = \"{until}\"\n\
             detection = \"{detection}ns\"\nconvergence = \"{convergence}ns\"\n{kind}\n"
        );
    }
    text
}

fn failure_draws() -> impl Strategy<Value = Vec<FailureDraw>> {
    let lasts = prop_oneof![1 => Just(0u64), 3 => 1u64..200_000];
    let kind = select(vec![
        "kind = \"down\"",
        "kind = \"degrade\"\nfactor = \"1/7\"",
        "kind = \"loss\"\nrate = \"1/10\"",
    ]);
    let known = (0u64..9_000, 0u64..30_000);
    let draw = (any::<prop::sample::Index>(), 0u64..20_000, lasts, known, kind);
    prop_oneof![1 => Just(Vec::new()), 1 => prop::collection::vec(draw, 1..4)]
}

pub(crate) fn scenario() -> impl Strategy<Value = Drawn> {
    let own = |parameters: &str| parameters.replace('\'', "\"");
    let policy = select(vec![
        own("'ecmp'"),
        own("'spray'"),
        own("'reps'"),
        own("'bitmap'"),
        own("'prime'"),
        own("'flowlet'"),
        own("'plb'"),
        own("'host-dr'"),
        own("'subflow-4'"),
        own("'subflow-16'"),
        own("'subflow-k'\nk = 3\nsmallest_piece = '1B'"),
        own("'ethereal'"),
        own("'ethereal'\nsmallest_piece = '1B'"),
        own("'ethereal'\nsmallest_piece = '500B'\nbatch_timer = '0s'\nstart_jitter = '0s'"),
        own("'line-cut'"),
        own("'line-cut'\nsmallest_piece = '1B'"),
    ]);
    let general = (any::<u32>(), policy);
    (general, topology(), switch(), transport(), workload(), failure_draws()).prop_map(
        |((seed, policy), topology, switch, transport, workload, draws)| {
            let text = format!(
                "seed = {seed}\ntime_limit = \"3ms\"\n{topology}{switch}{transport}\
                 [policy]\nname = {policy}\n{workload}"
            );
            let links = parse(&text).topology.link_names().to_vec();
            Drawn(format!("{text}{}", failures(&draws, &links)))
        },
    )
}

pub(crate) fn parse(text: &str) -> Scenario {
    Scenario::parse(text, "drawn", Path::new(""), &Overrides::default())
        .unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn run(setup: &Setup) -> Outcome {
    fabric::run(setup, &mut |_| {})
}

/// Checks the counters. The fabric itself asserts packet conservation at the end of every run.
fn check_counts(outcome: &Outcome) {
    let counters = &outcome.counters;
    assert_eq!(counters.sent, counters.delivered + counters.dropped + outcome.in_flight);
    assert!(counters.control_delivered + counters.control_dropped <= counters.control_sent);
    assert!(counters.retransmitted <= counters.sent);
    assert!(counters.marked <= counters.delivered && counters.out_of_order <= counters.delivered);
    let crossed = counters.delivered + counters.control_delivered;
    assert!(counters.packet_hops >= crossed, "delivered packets have crossed links");
}

fn check_verdict(outcome: &Outcome) {
    let complete = outcome.verdict == Verdict::Completed;
    assert_eq!(complete, outcome.message_fct.len() as u64 == outcome.messages);
    assert_eq!(complete, outcome.cct.is_some());
    let open = |flow: &fabric::FlowRecord| flow.completed == Time::NEVER;
    assert!(!complete || !outcome.flows.iter().any(open), "an open flow of a complete run");
    for flow in &outcome.flows {
        assert!(flow.start <= flow.delivered && flow.delivered <= flow.completed, "{flow:?}");
    }
}

/// Factor to within which the rates of a fluid run include acknowledgements served before data.
const LINK_WORK: f64 = 1.01;

fn check_bound(setup: &Setup, cct: Span) {
    let bound = lower_bound(setup).time;
    assert!(cct >= bound, "{cct} beats the bound {bound}");
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn every_run_is_conserving_repeatable_and_above_its_bound(drawn in scenario()) {
        let scenario = parse(&drawn.0);
        let setup = scenario.setup();
        let outcome = run(&setup);
        check_counts(&outcome);
        check_verdict(&outcome);
        if let Some(cct) = outcome.cct {
            check_bound(&setup, cct);
        }
        prop_assert!(outcome == run(&setup), "the same setup gave another outcome");
    }

    #[test]
    fn large_buffers_and_timeouts_complete_every_run_without_loss(drawn in scenario()) {
        let scenario = parse(&drawn.0);
        let mut setup = scenario.setup();
        setup.fabric.failures.clear();
        // Lossless flow control keeps its small pool.
        let lossless = |headroom| !matches!(headroom, Headroom::Fixed(_));
        setup.fabric.switch.pfc = setup.fabric.switch.pfc.filter(|pfc| lossless(pfc.headroom));
        if setup.fabric.switch.pfc.is_none() {
            setup.fabric.switch.buffer = Buffer::Shared(Bytes::new(1_000_000_000));
        }
        if let Some(trim) = &mut setup.fabric.switch.trim {
            // Packets with priority, including acknowledgements, share the limit for headers.
            trim.limit = Bytes::new(1_000_000_000);
        }
        setup.nic.retransmit_timeout = Span::from_ms(1_000);
        setup.time_limit = Time::ZERO + Span::from_ms(10_000);
        let outcome = run(&setup);
        prop_assert_eq!(outcome.verdict, Verdict::Completed);
        prop_assert_eq!(outcome.counters.dropped, 0);
        // Packets that overtake others on a new path look like losses to go-back-N.
        let may_overtake = matches!(scenario.scheme.name, "flowlet" | "plb");
        let as_made_for = setup.nic.recovery == setup.scheme.recovery && !may_overtake;
        prop_assert!(outcome.counters.retransmitted == 0 || !as_made_for);
        check_bound(&setup, outcome.cct.expect("it completed"));
    }

    #[test]
    fn a_fluid_run_is_repeatable_and_above_its_bounds(
        drawn in scenario(),
    ) {
        let scenario = parse(&drawn.0);
        let mut setup = scenario.setup();
        let failing = fluid::run(&setup, &mut |_| {});
        check_verdict(&failing.outcome);
        prop_assert!(failing == fluid::run(&setup, &mut |_| {}), "another outcome");
        setup.fabric.failures.clear();
        setup.time_limit = Time::ZERO + Span::from_ms(10_000);
        let outcome = fluid::run(&setup, &mut |_| {}).outcome;
        prop_assert_eq!(outcome.verdict, Verdict::Completed);
        check_bound(&setup, outcome.cct.expect("it completed"));
        for (port, bytes) in outcome.link_bytes.iter().enumerate() {
            let took = setup.topology.links()[port / 2].rate.time_for(*bytes);
            prop_assert!(took.as_ps() as f64 <= outcome.ended.as_ps() as f64 * LINK_WORK);
        }
    }
}
