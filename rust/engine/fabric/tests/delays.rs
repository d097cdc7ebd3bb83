//! Delays: hosts compute between messages, and delays send no packets.

use super::*;
use crate::ids::TaskId;
use crate::workload::{Delay, Lane};

/// Times from the start of a message of `packets` to its delivery and to its completion.
const fn alone(packets: u64) -> (u64, u64) {
    // Two leaves and a spine: four links at 20 ps per byte.
    let data = (packets * (PAYLOAD + HEADER + GAP) - GAP + 3 * (PAYLOAD + HEADER)) * 20 + 2_000_000;
    (data, data + 4 * ACK * 20 + 2_000_000)
}

fn delay(host: u32, us: u64) -> Delay {
    Delay { host: HostId(host), span: Span::from_us(us) }
}

fn with(workload: Workload) -> Setup {
    let mut setup = setup(leaf_spine(2, 1, 1, 400), "ecmp", Vec::new());
    setup.workload = Arc::new(workload);
    setup
}

fn pairs(waits: &[(u32, u32)]) -> Vec<(TaskId, TaskId)> {
    waits.iter().map(|&(before, after)| (TaskId(before), TaskId(after))).collect()
}

#[test]
fn a_chain_of_computation_and_messages_adds_up() {
    // Compute 7 us, send, compute 3 us on delivery, send back, compute 5 us on delivery.
    let both = messages(&[(0, 1), (1, 0)], 10 * PAYLOAD);
    let delays = vec![delay(0, 7), delay(1, 3), delay(0, 5)];
    let waits = pairs(&[(2, 0), (0, 3), (3, 1), (1, 4)]);
    let outcome = complete(&with(Workload::with_delays(both, delays, &waits)));
    let (delivered, _) = alone(10);
    assert_eq!(outcome.cct, Some(Span::from_ps(2 * delivered + 15_000_000)));
    assert_eq!(outcome.messages, 2);
}

#[test]
fn a_delay_of_the_sender_waits_for_the_acknowledgement() {
    let sent = messages(&[(0, 1)], 10 * PAYLOAD);
    let workload = Workload::with_delays(sent, vec![delay(0, 5)], &pairs(&[(0, 1)]));
    let outcome = complete(&with(workload));
    assert_eq!(outcome.cct, Some(Span::from_ps(alone(10).1 + 5_000_000)));
}

#[test]
fn long_chains_of_delays_without_messages_complete() {
    // Parallel delays take as long as the longest of them.
    let workload = Workload::with_delays(Vec::new(), vec![delay(0, 5), delay(0, 9)], &[]);
    assert_eq!(complete(&with(workload)).cct, Some(Span::from_us(9)));
    let count = 100_000;
    let delays = vec![delay(1, 0); count as usize];
    let waits: Vec<(u32, u32)> = (1..count).map(|task| (task - 1, task)).collect();
    let workload = Workload::with_delays(Vec::new(), delays, &pairs(&waits));
    assert_eq!(complete(&with(workload)).cct, Some(Span::ZERO));
}

#[test]
fn a_delay_releases_tasks_of_other_hosts_immediately() {
    // The receiver's delay releases a message of the other host the moment the first is delivered.
    let both = messages(&[(0, 1), (0, 1)], 10 * PAYLOAD);
    let waits = pairs(&[(0, 2), (2, 1)]);
    let outcome = complete(&with(Workload::with_delays(both, vec![delay(1, 0)], &waits)));
    let (delivered, completed) = alone(10);
    assert_eq!(outcome.cct, Some(Span::from_ps(delivered + completed)));
}

#[test]
fn a_run_stalls_if_a_computation_depends_on_an_unreachable_host() {
    // Host 0 is unreachable; host 1 would reply to it after computing.
    let both = messages(&[(0, 1), (1, 0)], 10 * PAYLOAD);
    let workload = Workload::with_delays(both, vec![delay(1, 3)], &pairs(&[(0, 2), (2, 1)]));
    let mut setup = with(workload);
    setup.nic.retransmit_timeout = Span::from_us(1);
    setup.time_limit = Time::ZERO + Span::from_ms(4_000);
    let link = setup.topology.host_port(HostId(0)).link();
    setup.fabric.failures = vec![Failure {
        link,
        direction: Direction::Both,
        kind: FailureKind::Down,
        at: Time::ZERO,
        until: Time::NEVER,
        detection: Span::ZERO,
        convergence: Span::ZERO,
    }];
    let outcome = run(&setup, &mut |_| {});
    assert_eq!(outcome.verdict, Verdict::Stalled);
    assert!(outcome.ended < Time::ZERO + Span::from_ms(1_000), "{}", outcome.ended);
}

#[test]
fn delays_of_a_lane_run_one_at_a_time_in_order_of_readiness_and_id() {
    // Delays 0, 1 and 3 share the lane, and delay 2 is outside of it.
    let delays = vec![delay(0, 7), delay(0, 5), delay(0, 9), delay(0, 4)];
    let waits = pairs(&[(2, 1), (2, 3)]);
    let mut workload = Workload::with_delays(Vec::new(), delays.clone(), &waits);
    let lane = Some(Lane(3));
    workload.lanes = vec![lane, lane, None, lane];
    // 0 until 7 us, 2 until 9 us, then 1 until 14 us and 3 until 18 us.
    assert_eq!(complete(&with(workload)).cct, Some(Span::from_us(18)));
    let mut one_at_a_time = Workload::with_delays(Vec::new(), delays.clone(), &[]);
    one_at_a_time.lanes = vec![lane; 4];
    assert_eq!(complete(&with(one_at_a_time)).cct, Some(Span::from_us(25)));
    let side_by_side = Workload::with_delays(Vec::new(), delays, &[]);
    assert_eq!(complete(&with(side_by_side)).cct, Some(Span::from_us(9)));
}

#[test]
fn lanes_of_different_hosts_are_independent() {
    let delays = vec![delay(0, 7), delay(1, 5), delay(0, 1)];
    let mut workload = Workload::with_delays(Vec::new(), delays, &pairs(&[(1, 2)]));
    workload.lanes = vec![Some(Lane(0)); 3];
    // The third is ready at 5 us and starts at 7 us, when the first is complete.
    assert_eq!(complete(&with(workload)).cct, Some(Span::from_us(8)));
}
