//! Final checks of a run: each detects an outcome that was tampered with.

use super::lossless::lossless;
use super::*;
use crate::fabric::final_checks::UncheckedOutcome;

/// Seven hosts send to one at another leaf. 10 us are a third of the run.
fn incast() -> Setup {
    let pairs: Vec<(u32, u32)> = (1..8).map(|src| (src, 0)).collect();
    let mut setup = setup(leaf_spine(2, 2, 4, 400), "spray", messages(&pairs, 200_000));
    setup.time_limit = Time::ZERO + Span::from_us(10);
    setup
}

/// The unchecked of a run, at its time limit if it has not completed.
pub(super) fn unchecked(setup: &Setup) -> UncheckedOutcome {
    let mut world = World::new(setup);
    while !world.is_idle() && world.next_time().is_some_and(|next| next <= setup.time_limit) {
        world.step();
    }
    if world.is_idle() {
        return world.unchecked_outcome(Verdict::Completed);
    }
    world.stop(setup.time_limit);
    world.unchecked_outcome(Verdict::TimeLimit)
}

/// Faults that the checks report for a tampered unchecked.
fn failed_checks(setup: &Setup, tamper: &dyn Fn(&mut UncheckedOutcome)) -> String {
    let mut unchecked = unchecked(setup);
    assert_eq!(unchecked.failed_checks(setup), [""; 0]);
    tamper(&mut unchecked);
    unchecked.failed_checks(setup).join("; ")
}

fn completing(mut setup: Setup) -> Setup {
    setup.time_limit = Time::ZERO + Span::from_ms(10);
    setup
}

fn bytes(more: u64) -> impl Fn(&mut Bytes) {
    move |bytes| *bytes += Bytes::new(more)
}

#[test]
fn missing_packets_are_detected() {
    let setup = incast();
    let counters = unchecked(&setup).outcome.counters;
    assert!(unchecked(&setup).remainder.data > 0 && unchecked(&setup).remainder.control > 0);
    let sent = failed_checks(&setup, &|it| it.outcome.counters.sent += 1);
    let (is, was) = (counters.sent + 1, counters.sent);
    assert_eq!(sent, format!("data packets: {is} sent, but {was} delivered, dropped or in flight"));
    let control = failed_checks(&setup, &|it| it.outcome.counters.control_dropped += 1);
    assert!(control.starts_with("control packets: "), "{control}");
    let leaked = failed_checks(&setup, &|it| it.remainder.in_pool += 1);
    assert!(leaked.contains(" in the network, but "), "{leaked}");
    let marked = failed_checks(&setup, &|it| it.outcome.counters.marked = u64::MAX);
    assert!(
        marked.starts_with("data packets: ") && marked.contains(" marked, but only "),
        "{marked}"
    );
}

#[test]
fn leaked_buffer_memory_is_detected() {
    let setup = incast();
    let busiest = |it: &UncheckedOutcome| {
        let ports = (0..it.remainder.ports.len()).max_by_key(|&id| it.remainder.ports[id].waiting);
        ports.expect("there are ports")
    };
    assert!(unchecked(&setup).remainder.ports[busiest(&unchecked(&setup))].waiting > 100_000);
    let of_switch = failed_checks(&setup, &|it| it.remainder.accounted[0] += 64);
    assert!(of_switch.contains(" B are queued in leaf0, but its memory holds "), "{of_switch}");
    let of_port = failed_checks(&setup, &|it| {
        let port = busiest(it);
        it.remainder.ports[port].counted -= 1;
    });
    assert!(of_port.contains(" B are queued at leaf0 > host0, but it counts "), "{of_port}");
}

#[test]
fn bytes_created_or_lost_by_a_switch_are_detected() {
    for setup in [incast(), completing(incast())] {
        let leaf = crate::ids::SwitchId(0);
        let up = setup.topology.ports_of(leaf)[0];
        let more = failed_checks(&setup, &|it| bytes(1)(&mut it.outcome.link_bytes[up.index()]));
        assert!(more.contains(" B reached leaf0, but "), "{more}");
        let less =
            failed_checks(&setup, &|it| bytes(1)(&mut it.outcome.link_bytes[up.reverse().index()]));
        assert!(less.contains(" B reached leaf0, but "), "{less}");
    }
}

/// With flow control, frames of switches are excluded from the account.
#[test]
fn bytes_created_by_a_switch_with_pauses_are_detected() {
    let mut setup = incast();
    lossless(&mut setup, Headroom::Hpcc, 100_000);
    let unchecked = unchecked(&setup);
    assert!(unchecked.outcome.pauses.len() > 10);
    let up = setup.topology.ports_of(crate::ids::SwitchId(0))[0];
    for setup in [setup.clone(), completing(setup)] {
        let more = failed_checks(&setup, &|it| bytes(1)(&mut it.outcome.link_bytes[up.index()]));
        assert!(more.contains(" B reached leaf0, but "), "{more}");
        let lost = failed_checks(&setup, &|it| assert!(it.outcome.pauses.pop().is_some()));
        assert!(lost.contains(" but "), "{lost}");
    }
}

#[test]
fn queues_beyond_their_buffers_are_detected() {
    let trim =
        TrimConfig { size: Bytes::new(64), limit: Bytes::new(6_400), victim: TrimVictim::Arriving };
    let buffers = [
        (Buffer::Shared(Bytes::new(100_000)), None, 100_000),
        (Buffer::PerPort(Bytes::new(50_000)), None, 100_000),
        (Buffer::Shared(Bytes::new(100_000)), Some(trim), 106_400),
        (Buffer::PerPort(Bytes::new(50_000)), Some(trim), 56_400),
    ];
    for (buffer, trim, capacity) in buffers {
        let mut setup = incast();
        (setup.fabric.switch.buffer, setup.fabric.switch.trim) = (buffer, trim);
        let longest = |bytes: u64| {
            failed_checks(&setup, &|it| {
                let port = setup.topology.host_port(HostId(0)).reverse();
                it.outcome.queue_bytes_max_by_port[port.index()] = Bytes::new(bytes);
            })
        };
        assert_eq!(longest(capacity), "");
        let fault = longest(capacity + 1);
        assert!(fault.contains("the queue of leaf0 > host0 reached "), "{fault}");
        assert!(fault.contains(&format!("but its buffer holds {capacity} B")), "{fault}");
    }
}

/// Flow control counts per link, so queues with priority or of one link may exceed the limit.
#[test]
fn flow_control_does_not_limit_single_queues() {
    let mut paused = incast();
    lossless(&mut paused, Headroom::Hpcc, 100_000);
    let mut credited = incast();
    super::credit::credit(&mut credited, 100_000);
    for setup in [paused, credited] {
        let longer = failed_checks(&setup, &|it| {
            let port = setup.topology.host_port(HostId(0)).reverse();
            it.outcome.queue_bytes_max_by_port[port.index()] = Bytes::new(1 << 40);
        });
        assert_eq!(longer, "");
    }
}

#[test]
fn losses_despite_flow_control_are_detected() {
    let packet = Bytes::new(PAYLOAD + HEADER);
    let tamper = |it: &mut UncheckedOutcome| {
        it.outcome.counters.dropped += 1;
        it.outcome.counters.sent += 1;
    };
    let mut setup = incast();
    lossless(&mut setup, Headroom::Hpcc, 100_000);
    assert_eq!(failed_checks(&setup, &tamper), "", "HPCC's headroom is not for the worst case");
    lossless(&mut setup, Headroom::WorstCase { packet }, 100_000);
    let expected = "1 data packets were dropped despite flow control";
    assert_eq!(failed_checks(&setup, &tamper), expected);
}

#[test]
fn duplicate_and_missing_deliveries_are_detected() {
    for setup in [incast(), completing(incast())] {
        let twice = failed_checks(&setup, &|it| it.hosts.accepted[0] += 1_400_001);
        assert!(twice.contains("host0 accepted "), "{twice}");
        assert!(twice.contains(" B, but 1400000 B were posted to it and "), "{twice}");
        assert!(twice.contains(", but its links carried "), "{twice}");
    }
    let never = failed_checks(&completing(incast()), &|it| it.hosts.accepted[0] -= 1);
    let expected =
        "host0 accepted 1399999 B, but 1400000 B were posted to it and 1400000 B delivered";
    assert_eq!(never, expected);
}

/// Bytes still on the wire to a host have not reached it.
#[test]
fn deliveries_that_no_link_carried_are_detected() {
    let setup = incast();
    let port = setup.topology.host_port(HostId(0)).reverse();
    let unchecked = unchecked(&setup);
    let on_wire = unchecked.remainder.ports[port.index()].on_wire;
    assert!(on_wire > 0);
    let carried = unchecked.outcome.link_bytes[port.index()].get() - on_wire;
    let accepted = |bytes| failed_checks(&setup, &|it| it.hosts.accepted[0] = bytes);
    assert_eq!(accepted(carried), "");
    let more = carried + 1;
    assert_eq!(
        accepted(more),
        format!("host0 accepted {more} B, but its links carried {carried} B")
    );
    // Frames on the wire have not arrived either.
    let with_frame = failed_checks(&setup, &|it| {
        it.hosts.accepted[0] = carried;
        it.outcome.link_bytes[port.index()] += Bytes::new(64);
        it.remainder.ports[port.index()].frames_on_wire = 65;
    });
    let expected = format!("host0 accepted {carried} B, but its links carried {} B", carried - 1);
    assert!(with_frame.ends_with(&expected), "{with_frame}");
}

#[test]
fn flow_times_out_of_order_are_detected() {
    let setup = completing(incast());
    let tampered: [&dyn Fn(&mut UncheckedOutcome); 4] = [
        &|it| it.outcome.flows[3].start = it.outcome.flows[3].delivered + Span::from_ps(1),
        &|it| it.outcome.flows[3].delivered = it.outcome.flows[3].completed + Span::from_ps(1),
        &|it| it.outcome.flows[3].completed = it.outcome.ended + Span::from_ps(1),
        &|it| it.outcome.flows[3].completed = Time::NEVER,
    ];
    for tamper in tampered {
        let fault = failed_checks(&setup, tamper);
        assert!(fault.starts_with("the times of a flow are out of order"), "{fault}");
    }
}

#[test]
fn open_work_of_a_completed_run_is_detected() {
    let setup = completing(incast());
    let open = failed_checks(&setup, &|it| it.hosts.open = 1);
    let expected = "the run completed with 1 open messages and unfinished work on 0 queue pairs";
    assert_eq!(open, expected);
    let unfinished = failed_checks(&setup, &|it| it.hosts.unfinished[5] = 2);
    assert!(
        unfinished.ends_with(" 0 open messages and unfinished work on 2 queue pairs"),
        "{unfinished}"
    );
    assert!(
        unchecked(&incast()).hosts.unfinished.iter().sum::<u64>() > 0,
        "at a time limit it may"
    );
}

#[test]
#[should_panic(expected = "this is an internal error (a bug in evenkeel): please report it")]
fn a_run_that_fails_a_check_panics() {
    let setup = incast();
    let mut unchecked = unchecked(&setup);
    unchecked.hosts.accepted[0] = u64::MAX;
    unchecked.checked(&setup);
}
