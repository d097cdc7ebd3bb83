//! Whole runs: closed forms first, then failures and the fabric of packets.

use std::path::Path;

use super::*;
use crate::fabric::FlowRecord;
use crate::scenario::{Overrides, Scenario};
use crate::units::{Span, Time};

/// 4,096 bytes with headers and gap at 400 Gbps, and an acknowledgement with its gap: picoseconds.
const PACKET: u64 = 4_178 * 20;
const GAP: u64 = 20 * 20;

fn setup(policy: &str, text: &str) -> Setup {
    let text = format!(
        "fidelity = \"fluid\"\n[policy]\nname = \"{policy}\"\n[transport]\n\
         congestion_control = \"line-rate\"\n{text}"
    );
    let scenario = Scenario::parse(&text, "test", Path::new(""), &Overrides::default());
    scenario.unwrap_or_else(|error| panic!("{error}\n{text}")).setup()
}

/// Two leaves, four spines and four hosts a leaf; flows as HPCC's files list them.
fn leaf_spine(policy: &str, workload: &str) -> Setup {
    let shape = "leaves = 2\nspines = 4\nhosts_per_leaf = 4";
    setup(policy, &format!("[topology]\n{shape}\n[workload]\n{workload}"))
}

fn complete(setup: &Setup) -> Outcome {
    let Estimate { outcome, .. } = run(setup, &mut |_| {});
    assert_eq!(outcome.verdict, Verdict::Completed);
    outcome
}

fn took(flow: &FlowRecord) -> u64 {
    flow.completed.since(flow.start).as_ps()
}

/// `n·(D + gap)/R − gap/R + (H−1)·D/R + H·p + H·A/R + H·p`, in picoseconds.
fn idle_ps(packets: u64, hops: u64) -> u64 {
    let (data, ack) = (4_158 * 20, 64 * 20);
    packets * PACKET - GAP + (hops - 1) * data + hops * ack + 2 * hops * 500_000
}

/// Messages with these senders, receivers and bytes, all at time zero.
fn with_messages(mut setup: Setup, messages: &[(u32, u32, u64)]) -> Setup {
    use crate::ids::HostId;
    use crate::units::Bytes;
    use crate::workload::{Message, Workload};
    let message = |(stream, &(src, dst, bytes)): (u32, &(u32, u32, u64))| Message {
        src: HostId(src),
        dst: HostId(dst),
        bytes: Bytes::new(bytes),
        stream,
        start: Time::ZERO,
    };
    let messages = (0u32..).zip(messages).map(message).collect();
    setup.workload = std::sync::Arc::new(Workload::independent(messages));
    setup
}

const INCAST: &str = "kind = \"incast\"\nfan_in = 3\nbytes = \"40960B\"";

#[test]
fn a_flow_alone_takes_as_long_as_the_closed_form_says() {
    for policy in ["ecmp", "spray", "ofan", "adaptive"] {
        for packets in [1, 2, 100, 4_096] {
            let bytes = packets * 4_096;
            let setup = with_messages(leaf_spine(policy, INCAST), &[(0, 4, bytes), (1, 2, bytes)]);
            let outcome = complete(&setup);
            assert_eq!(took(&outcome.flows[0]), idle_ps(packets, 4), "{policy}, {packets}");
            assert_eq!(took(&outcome.flows[1]), idle_ps(packets, 2), "{policy}, {packets}");
        }
    }
}

#[test]
fn an_incast_takes_as_long_as_the_bound_says() {
    let setup = with_messages(
        leaf_spine("spray", INCAST),
        &[(0, 4, 409_600), (1, 4, 409_600), (2, 4, 409_600)],
    );
    let outcome = complete(&setup);
    assert_eq!(outcome.cct.map(Span::as_ps), Some(idle_ps(300, 4)));
    assert!(outcome.flows.iter().all(|flow| took(flow) == idle_ps(300, 4)));
}

#[test]
fn a_short_flow_leaves_its_part_to_the_long_one_when_it_ends() {
    let setup = with_messages(leaf_spine("spray", INCAST), &[(0, 4, 409_600), (1, 4, 4_096_000)]);
    let [short, long] = complete(&setup).flows[..] else { panic!("two flows") };
    // Half the rate until the short flow has been sent: then 100 packets of each have been.
    assert_eq!(took(&short), idle_ps(200, 4));
    assert_eq!(took(&long), idle_ps(1_100, 4));
}

#[test]
fn flows_of_a_queue_pair_follow_each_other() {
    let mut setup = with_messages(leaf_spine("ecmp", INCAST), &[(0, 4, 409_600), (0, 4, 409_600)]);
    let workload = std::sync::Arc::make_mut(&mut setup.workload);
    workload.messages[1].stream = 0;
    let [first, second] = complete(&setup).flows[..] else { panic!("two flows") };
    assert_eq!((took(&first), took(&second)), (idle_ps(100, 4), idle_ps(200, 4)));
}

#[test]
fn acknowledgements_take_their_part_of_links_with_data() {
    let bytes = 4_096_000;
    let setup = with_messages(leaf_spine("spray", INCAST), &[(0, 4, bytes), (4, 0, bytes)]);
    let both = took(&complete(&setup).flows[0]);
    let work = 1_000 * (PACKET + 84 * 20);
    assert_eq!(both, work + idle_ps(1, 4) - PACKET);
}

#[test]
fn every_port_of_a_group_carries_its_part() {
    let setup = with_messages(leaf_spine("spray", INCAST), &[(0, 4, 409_600)]);
    let outcome = complete(&setup);
    let carried: Vec<u64> = outcome.link_bytes.iter().map(|bytes| bytes.get()).collect();
    let count = |bytes: u64| carried.iter().filter(|it| **it == bytes).count();
    // The hosts' links, and a quarter on four uplinks and four downlinks; back the same of 64 B.
    assert_eq!((count(415_800), count(103_950), count(6_400), count(1_600)), (2, 8, 2, 8));
}

#[test]
fn results_do_not_depend_on_grouping() {
    let setup = leaf_spine("spray", "kind = \"all-to-all\"\nbytes = \"1MB\"");
    let [grouped, apart] = [Grouping::Allowed, Grouping::Off]
        .map(|grouping| run_grouped(&setup, grouping, &mut |_| {}).unwrap().outcome);
    assert_eq!(grouped.flows, apart.flows);
    assert_eq!(grouped.link_bytes, apart.link_bytes);
}

#[test]
fn a_flow_off_the_group_of_others_ends_the_grouping() {
    let text = "[topology]\nleaves = 2\nspines = 4\nhosts_per_leaf = 4\n\
                [[job]]\nkind = \"permutation\"\n[[job]]\nkind = \"shift\"\nshift = 4\n\
                policy = \"ecmp\"";
    let setup = setup("adaptive", text);
    let refused = run_grouped(&setup, Grouping::Allowed, &mut |_| {});
    assert_eq!(refused.map(|it| it.outcome.verdict), Err(Ungrouped));
    complete(&setup);
}

#[test]
fn a_degraded_link_has_its_rate_while_it_lasts() {
    let text = "[topology]\nleaves = 2\nspines = 1\nhosts_per_leaf = 1\n[workload]\n\
                kind = \"permutation\"\n[[failure]]\nlink = \"leaf0-spine0\"\nkind = \"degrade\"\n\
                factor = \"1/4\"\nat = \"10us\"\nuntil = \"30us\"";
    let bytes = 4_096 * 1_000;
    let outcome = complete(&with_messages(setup("ecmp", text), &[(0, 1, bytes)]));
    // In 20 us at a quarter of the rate, 15 us are lost; the tail is that of the whole rate.
    assert_eq!(took(&outcome.flows[0]), idle_ps(1_000, 4) + 15_000_000);
}

#[test]
fn a_failed_link_is_avoided_when_that_is_known() {
    let failure = |detection: &str| {
        let text = format!(
            "[topology]\nleaves = 2\nspines = 2\nhosts_per_leaf = 1\n[workload]\n\
             kind = \"permutation\"\n[[failure]]\nswitch = \"spine0\"\nat = \"10us\"\n\
             detection = \"{detection}\"\nconvergence = \"{detection}\""
        );
        complete(&with_messages(setup("ecmp", &text), &[(0, 1, 4_096_000), (1, 0, 4_096_000)]))
    };
    let alone = failure("0s").cct.unwrap();
    let late = failure("50us").cct.unwrap();
    // A hashed flow crosses the spine and stands still for 50 us, in which it does not send
    // acknowledgements of it beside the data of the other.
    let lost = late.saturating_sub(alone);
    assert!((48_000_000..=50_000_000).contains(&lost.as_ps()), "{lost}");
}

#[test]
fn a_sender_with_paths_moves_a_flow_that_stands_still() {
    let text = "[topology]\nleaves = 2\nspines = 2\nhosts_per_leaf = 1\n[workload]\n\
                kind = \"permutation\"\n[[failure]]\nlink = \"leaf1-spine0\"\nat = \"10us\"\n\
                convergence = \"never\"";
    let outcome = complete(&with_messages(setup("ethereal", text), &[(0, 1, 40_960_000)]));
    let [stays, moves] = outcome.flows[..] else { panic!("two pieces") };
    let [first, second] = [took(&stays), took(&moves)];
    // The timeout of 1 ms, and all of both pieces on one path.
    assert!(first.max(second) > 1_000_000_000, "{first} {second}");
    assert!(first.max(second) < 1_000_000_000 + idle_ps(10_000, 4), "{first} {second}");
}

#[test]
fn a_workload_with_steps_takes_the_time_of_its_steps() {
    let setup = leaf_spine("spray", "kind = \"ring-all-reduce\"\nbytes = \"8MB\"");
    let outcome = complete(&setup);
    let packets = fabric_cct(&setup);
    let ratio = outcome.cct.unwrap().as_ps() as f64 / packets.as_ps() as f64;
    assert!((0.97..1.03).contains(&ratio), "{ratio}");
}

fn fabric_cct(setup: &Setup) -> Span {
    crate::fabric::run(setup, &mut |_| {}).cct.expect("it completes")
}

#[test]
fn the_outcome_depends_on_the_setup_and_the_seed_only() {
    for policy in ["ecmp", "ethereal", "subflow-4"] {
        let mut setup = leaf_spine(policy, "kind = \"permutation\"\nbytes = \"1MB\"");
        let first = run(&setup, &mut |_| {});
        assert_eq!(first, run(&setup, &mut |_| {}), "{policy}");
        setup.seed = 2;
        assert_ne!(first.outcome.flows, run(&setup, &mut |_| {}).outcome.flows, "{policy}");
    }
}
