//! The splitter in isolation: batching, orders, path memory.

use super::super::ethereal::{EqualPieces, Ethereal};
use super::super::line_cut::FairCuts;
use super::*;
use crate::balance::sender::PathSpace;
use crate::ids::{HostId, MessageId};

fn requests(flows: u32, paths: u32, bytes: u64) -> Vec<Request> {
    let paths = PathSpace::SINGLE.with_tier(paths as usize).unwrap();
    (0..flows)
        .map(|n| Request {
            message: MessageId(n),
            dst: HostId(100 + n),
            edge: SwitchId(1),
            bytes: Bytes::new(bytes),
            paths,
        })
        .collect()
}

/// Returns all flows of a batch of requests posted at `now`.
fn split<D: Divide>(splitter: &mut Batch<D>, now: Time, requests: &[Request]) -> Vec<Flow> {
    for request in requests {
        splitter.handle_message(now, request);
    }
    let mut flows = Vec::new();
    while let Some(due) = splitter.poll_timeout() {
        splitter.handle_timeout(due);
        while let Some(flow) = splitter.poll_flow(due) {
            flows.push(flow);
        }
    }
    flows
}

/// The splitter of `host`, which cuts down to single bytes.
fn of_host<D: Divide>(config: Config, host: u32) -> Batch<D> {
    let config = Config { smallest_piece: SmallestPiece::Bytes(Bytes::new(1)), ..config };
    let context = SplitterContext { host: HostId(host), seed: 1, payload: Bytes::new(4_096) };
    Batch::new(&config, &context)
}

fn new() -> Ethereal {
    of_host(Config::default(), 0)
}

#[test]
fn a_batch_waits_100_ns_and_flows_start_within_50_ns_more() {
    let mut splitter = new();
    let at = Time::from_ps(5_000);
    for request in &requests(16, 16, 1_000) {
        splitter.handle_message(at, request);
    }
    let due = splitter.poll_timeout().unwrap();
    assert_eq!(due.since(at), Span::from_ns(100));
    assert_eq!(splitter.poll_flow(due), None, "nothing starts before the batch is split");
    splitter.handle_timeout(due);
    let starts: std::collections::BTreeSet<_> =
        splitter.pending.iter().map(|it| it.start).collect();
    assert!(starts.iter().all(|start| start.since(due) <= Span::from_ns(50)));
    assert!(starts.len() > 5, "delays are drawn, not one for all");
}

#[test]
fn a_failed_path_is_avoided_for_100_ms() {
    let mut splitter = new();
    splitter.handle_failed_path(Time::ZERO, SwitchId(1), 3);

    // 16 flows over the remaining 15 paths: 15 whole, one in 15 pieces.
    let flows = split(&mut splitter, Time::ZERO, &requests(16, 16, 15_000));
    assert_eq!(flows.len(), 30);
    assert!(flows.iter().all(|flow| flow.path != 3));
    assert_eq!(flows.iter().filter(|flow| flow.pieces == 15).count(), 15);

    let later = Time::ZERO + Span::from_ms(100);
    let flows = split(&mut splitter, later, &requests(16, 16, 15_000));
    assert_eq!(flows.len(), 16);
    assert!(flows.iter().any(|flow| flow.path == 3));
}

#[test]
fn each_failed_path_is_remembered_for_its_own_time() {
    let mut splitter = new();
    let ms = |ms| Time::ZERO + Span::from_ms(ms);
    splitter.handle_failed_path(ms(0), SwitchId(1), 3);
    splitter.handle_failed_path(ms(50), SwitchId(1), 5);
    let mut taken = |now| {
        let flows = split(&mut splitter, now, &requests(16, 16, 15_000));
        [3, 5].map(|path| flows.iter().any(|flow| flow.path == path))
    };
    assert_eq!(taken(ms(60)), [false, false]);
    assert_eq!(taken(ms(120)), [true, false]);
    assert_eq!(taken(ms(160)), [true, true]);
}

#[test]
fn a_failed_path_is_avoided_only_for_its_destination() {
    let mut splitter = new();
    splitter.handle_failed_path(Time::ZERO, SwitchId(2), 3);
    assert_eq!(split(&mut splitter, Time::ZERO, &requests(16, 16, 1_000)).len(), 16);
}

#[test]
fn a_message_within_the_rack_starts_immediately() {
    let mut splitter = new();
    splitter
        .handle_message(Time::ZERO, &Request { paths: PathSpace::SINGLE, ..requests(1, 16, 9)[0] });
    assert!(splitter.poll_flow(Time::ZERO).is_some());
    assert_eq!(splitter.poll_timeout(), None);
}

#[test]
fn flows_of_different_sizes_are_divided_separately() {
    let mut mixed = requests(16, 16, 1_000);
    mixed.extend(requests(1, 16, 16_000));
    let flows = split(&mut new(), Time::ZERO, &mixed);
    assert_eq!(flows.iter().filter(|flow| flow.pieces == 1).count(), 16);
    assert_eq!(flows.iter().filter(|flow| flow.bytes == Bytes::new(1_000)).count(), 32);
}

#[test]
fn flows_that_differ_by_a_byte_have_the_same_size() {
    let mut blocks = requests(15, 16, 1_000);
    blocks.iter_mut().step_by(3).for_each(|request| request.bytes = Bytes::new(1_001));
    let flows = split(&mut new(), Time::ZERO, &blocks);
    assert_eq!(flows.len(), 240);
    assert_eq!(flows.iter().map(|flow| flow.bytes.get()).sum::<u64>(), 15_005);
    let of = |bytes| requests(1, 16, bytes)[0];
    assert_eq!(sizes(&[1_002, 999, 1_000, 1_001].map(of)), [999, 1_001].map(Bytes::new));
}

#[test]
fn two_senders_visit_destinations_in_different_orders() {
    let order = |host| {
        let mut splitter = of_host::<EqualPieces>(Config::default(), host);
        let all: Vec<Request> = (0..16)
            .flat_map(|edge| {
                requests(1, 1 + 15, 100)
                    .into_iter()
                    .map(move |r| Request { edge: SwitchId(edge), ..r })
            })
            .collect();
        split(&mut splitter, Time::ZERO, &all).iter().map(|f| f.path).collect::<Vec<_>>()
    };
    assert_ne!(order(0), order(1));
    assert_eq!(order(0), order(0));
}

#[test]
fn a_start_jitter_of_minutes_is_drawn_over_minutes() {
    let config = Config { start_jitter: Span::from_ms(100_000), ..Config::default() };
    let mut splitter = of_host::<EqualPieces>(config, 0);
    let requests = requests(64, 4, 1_000);
    requests.iter().for_each(|request| splitter.handle_message(Time::ZERO, request));
    splitter.handle_timeout(splitter.poll_timeout().unwrap());
    let last = splitter.pending.back().unwrap().start;
    assert!(last > Time::ZERO + Span::from_ms(80_000), "{last}");
}

#[test]
fn every_division_keeps_all_bytes_and_gives_each_flow_an_idle_queue_pair() {
    fn check<D: Divide>(mut splitter: Batch<D>, pieces: usize) {
        let flows = split(&mut splitter, Time::ZERO, &requests(15 + 16, 16, 1_000_003));
        assert_eq!(flows.len(), 16 + pieces);
        let mut by_message = BTreeMap::new();
        for flow in &flows {
            *by_message.entry(flow.message).or_insert(0u64) += flow.bytes.get();
            assert_eq!(flow.queue_pair, QueuePairChoice::Idle);
            let siblings = flows.iter().filter(|other| other.message == flow.message);
            assert_eq!(siblings.count(), flow.pieces as usize);
        }
        assert_eq!(by_message.len(), 31);
        assert!(by_message.values().all(|&sum| sum == 1_000_003), "bytes lost or doubled");
    }
    check(new(), 240);
    check::<FairCuts>(of_host(Config::default(), 0), 30);
}

/// A second batch is split while flows of the first wait. Starts stay in order, equal ones in the
/// order of creation, and `next_flow` names the flow that starts.
#[test]
fn flows_of_two_batches_start_by_time_and_then_in_the_order_of_their_batches() {
    let config = Config { start_jitter: Span::from_ns(1_000), ..Config::default() };
    let mut splitter: Ethereal = of_host(config, 0);
    let at = |ns: u64| Time::from_ps(ns * 1_000);
    for (batch, requests) in requests(128, 16, 4_096).chunks(64).enumerate() {
        let start = 400 * batch as u64;
        requests.iter().for_each(|it| splitter.handle_message(at(start), it));
        splitter.handle_timeout(at(start + 100));
    }
    let mut flows = Vec::new();
    while let Some(due) = splitter.poll_timeout() {
        let named = splitter.next_flow().copied();
        let started = splitter.poll_flow(due).expect("a flow starts when it is due");
        assert_eq!(named, Some(started));
        flows.push((due, started.message.0 / 64));
    }
    let batches: Vec<u32> = flows.iter().map(|&(_, batch)| batch).collect();
    assert!(flows.is_sorted(), "by time, and the older batch first");
    assert_eq!((flows.len(), batches.iter().sum::<u32>()), (128, 64));
    assert!(!batches.is_sorted(), "they overlap");
    assert!(flows.windows(2).any(|two| two[0].0 == two[1].0 && two[0].1 < two[1].1));
}

#[test]
fn an_early_wake_up_changes_no_flow() {
    let run = |extra: &[u64]| {
        let mut splitter = new();
        splitter.handle_failed_path(Time::ZERO, SwitchId(1), 2);
        let early = |splitter: &mut Ethereal, from: u64| {
            for &ns in extra {
                splitter.handle_timeout(Time::from_ps((from + ns) * 1_000));
                assert!(splitter.poll_flow(Time::from_ps((from + ns) * 1_000)).is_none());
            }
        };
        let mut all = Vec::new();
        // Within path memory of 100 ms, and after it.
        for start in [0, 50_000_000, 150_000_000] {
            let at = Time::from_ps(start * 1_000);
            requests(9, 8, 4_096).iter().for_each(|it| splitter.handle_message(at, it));
            early(&mut splitter, start);
            all.extend(split(&mut splitter, at, &[]));
        }
        all
    };
    let asked = run(&[]);
    assert_eq!(asked, run(&[0, 1, 50, 50, 99]));
    let avoided = asked.iter().take_while(|flow| flow.path != 2).count();
    assert!(avoided > 18 && avoided < asked.len(), "avoided until it is forgotten: {avoided}");
}

/// Two edge switches with 8 flows each and a window of 10: the second waits for six flows of the
/// first.
#[test]
fn flows_beyond_the_window_wait_until_enough_have_completed() {
    let mut splitter: Ethereal = of_host(Config { qp_window: 10, ..Config::default() }, 0);
    let mut both = requests(8, 8, 1_000);
    both.extend(requests(8, 8, 1_000).iter().map(|it| Request { edge: SwitchId(2), ..*it }));
    assert_eq!(split(&mut splitter, Time::ZERO, &both).len(), 8);
    let later = Time::ZERO + Span::from_us(9);
    for _ in 0..5 {
        splitter.handle_completed_flow(later);
    }
    // Tried again after 100 ns, and still too many.
    assert_eq!(splitter.poll_timeout(), Some(later + Span::from_ns(100)));
    assert_eq!(split(&mut splitter, later, &[]).len(), 0);
    splitter.handle_completed_flow(later);
    assert_eq!(split(&mut splitter, later, &[]).len(), 8);
}

#[test]
fn more_flows_than_the_window_start_if_none_is_in_flight() {
    let mut splitter: Ethereal = of_host(Config { qp_window: 3, ..Config::default() }, 0);
    assert_eq!(split(&mut splitter, Time::ZERO, &requests(8, 8, 1_000)).len(), 8);
}

#[test]
fn a_failed_path_is_avoided_until_exactly_its_expiry() {
    let avoided = |batch_before: u64| {
        let mut splitter = new();
        splitter.handle_failed_path(Time::ZERO, SwitchId(1), 3);
        let now = Time::from_ps(Span::from_ms(100).as_ps() - batch_before);
        split(&mut splitter, now, &requests(16, 16, 15_000)).iter().all(|flow| flow.path != 3)
    };
    // The batch is split 100 ns after its first message.
    assert!(avoided(100_001));
    assert!(!avoided(100_000));
}

#[test]
fn each_of_three_sizes_is_divided_separately() {
    let mixed: Vec<Request> =
        [32_000, 16_000, 48_000].iter().flat_map(|&bytes| requests(1, 16, bytes)).collect();
    let flows = split(&mut new(), Time::ZERO, &mixed);
    let of = |bytes| flows.iter().filter(|flow| flow.bytes == Bytes::new(bytes)).count();
    assert_eq!([1_000, 2_000, 3_000].map(of), [16; 3]);
}

#[test]
fn start_delays_are_whole_nanoseconds_up_to_the_longest() {
    let delays = |start_jitter: Span| {
        let config = Config { start_jitter, ..Config::default() };
        let mut splitter: Ethereal = of_host(config, 0);
        requests(64, 4, 1_000).iter().for_each(|it| splitter.handle_message(Time::ZERO, it));
        let due = splitter.poll_timeout().unwrap();
        splitter.handle_timeout(due);
        let starts = splitter.pending.iter().map(|it| it.start.since(due).as_ps());
        Vec::from_iter(std::collections::BTreeSet::from_iter(starts))
    };
    assert_eq!(delays(Span::ZERO), [0]);
    assert_eq!(delays(Span::from_ps(2_999)), [0, 1_000, 2_000]);
}
