//! Replays of small traces in a world where every message takes the same time.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::*;

/// Time from a message's start to its delivery, and from there to its completion.
const FLIGHT: Span = Span::from_us(2);

fn streaming(files: Vec<Vec<u8>>, window: usize) -> Result<Streaming, ChakraError> {
    let ranks = files.len() as u32;
    Streaming::open(Arc::new(MemoryFiles(files)), ranks, Options::default(), window)
}

/// The messages of a replay with their starts, and the end of the replay.
struct Replayed {
    sent: Vec<(Time, Message)>,
    end: Time,
    most_held: u64,
}

fn replay(files: Vec<Vec<u8>>, window: usize) -> Result<Replayed, ChakraError> {
    let streaming = streaming(files, window)?;
    let mut player = streaming.player();
    let mut sent = Vec::new();
    // Events by time: a message is delivered (false) or complete (true).
    let mut events: BTreeMap<(Time, u32), (MessageOrigin, bool)> = BTreeMap::new();
    let (mut end, mut number) = (Time::ZERO, 0);
    loop {
        let of_player = player.next_time();
        let of_world = events.first_key_value().map(|((at, _), _)| *at);
        let Some(now) = of_player.into_iter().chain(of_world).min() else { break };
        if of_world == Some(now) {
            match events.pop_first().expect("it is not empty").1 {
                (origin, true) => player.handle_complete(now, origin),
                (origin, false) => player.handle_delivered(now, origin),
            }
        } else {
            player.handle_time(now);
        }
        end = now;
        while let Some((origin, message)) = player.poll_send() {
            sent.push((now, message));
            events.insert((now + FLIGHT, number), (origin, false));
            events.insert((now + FLIGHT + FLIGHT, number + 1), (origin, true));
            number += 2;
        }
    }
    assert!(player.is_done() != player.fault().is_some(), "it completes, or has a fault");
    let most_held = player.most_held();
    match player.into_fault() {
        Some(error) => Err(error),
        None => Ok(Replayed { sent, end, most_held }),
    }
}

#[test]
fn replays_and_whole_reads_report_the_same_errors() {
    for (files, expected) in faults() {
        for window in [1, 100] {
            let text = match replay(files.clone(), window) {
                Ok(_) => panic!("no fault where there should be '{expected}'"),
                Err(error) => error.to_string(),
            };
            // A survey stores no offsets.
            let expected = expected.strip_suffix("; the first is at byte 8");
            let expected = expected.map_or_else(|| text.clone(), str::to_owned);
            assert!(text.starts_with(&expected), "'{text}' should be '{expected}'");
        }
    }
}

#[test]
fn a_replay_alternates_between_messages_and_times() {
    let first = file(&[compute(0, 5, &[]), send(1, 1, &[0]), compute(2, 1, &[1])]);
    let second = file(&[receive(9, 0, &[]), compute(10, 3, &[9])]);
    let streaming = streaming(vec![first, second], 1).unwrap();
    let mut player = streaming.player();
    assert_eq!(player.next_time(), Some(Time::ZERO));
    player.handle_time(Time::ZERO);
    assert_eq!(player.next_time(), Some(Time::ZERO + Span::from_us(5)));
    assert_eq!(player.poll_send(), None);
    let now = Time::ZERO + Span::from_us(5);
    player.handle_time(now);
    let (origin, message) = player.poll_send().unwrap();
    assert_eq!((message.src, message.dst, message.stream), (HostId(0), HostId(1), 7));
    assert_eq!((player.poll_send(), player.next_time()), (None, None));
    let now = now + FLIGHT;
    player.handle_delivered(now, origin);
    assert_eq!(player.next_time(), Some(now + Span::from_us(3)));
    player.handle_complete(now, origin);
    assert_eq!(player.next_time(), Some(now + Span::from_us(1)));
    player.handle_time(now + Span::from_us(1));
    assert!(!player.is_done());
    player.handle_time(now + Span::from_us(3));
    assert!(player.is_done());
    assert_eq!((player.most_held(), player.next_time()), (2, None));
}

#[test]
fn a_chain_is_held_within_the_window() {
    let nodes: Vec<Node> = (0..10_000u64)
        .map(|id| compute(id, 1, &if id == 0 { vec![] } else { vec![id - 1] }))
        .collect();
    for window in [1, 64] {
        let replayed = replay(vec![file(&nodes)], window).unwrap();
        assert_eq!(replayed.end, Time::ZERO + Span::from_us(10_000));
        assert_eq!(replayed.most_held, window as u64);
    }
}

#[test]
fn dependencies_ahead_are_read_up_to_a_limit() {
    // The first node depends on one that is 300 nodes ahead.
    let mut nodes = vec![compute(1_000, 1, &[300])];
    nodes.extend((0..=300).map(|id| compute(id, 1, &[])));
    assert!(replay(vec![file(&nodes)], 8).is_ok());
    let error = replay(vec![file(&nodes)], 4).map(|_| ()).unwrap_err().to_string();
    let expected = "t.0.et: rank 0, node 1000, byte 8: depends on node 300, which is beyond the \
                    256 nodes that are read ahead";
    assert!(error.starts_with(expected), "{error}");
}

#[test]
fn distant_dependencies_between_ranks_extend_the_window() {
    // A rank receives in the order of the other's sends, except for one message with another tag,
    // which is sent last and received first.
    let tagged = |mut node: Node, tag: i64| {
        node.attributes.retain(|it| it.name != "comm_tag");
        with(node, &[("comm_tag", tag)])
    };
    let files = |count: i64| {
        let ids = 0..count as u64;
        let mut sends: Vec<Node> = ids.clone().map(|id| send(id, 1, &[])).collect();
        sends.push(tagged(send(ids.end, 1, &[]), 9));
        let mut receives = vec![tagged(receive(ids.end, 0, &[]), 9)];
        receives.extend(ids.map(|id| {
            let before = if id == 0 { count as u64 } else { id - 1 };
            receive(id, 0, &[before])
        }));
        vec![file(&sends), file(&receives)]
    };
    for window in [1, 2, 1_000] {
        let replayed = replay(files(100), window).unwrap();
        assert_eq!(replayed.sent.len(), 101);
    }
    // Holding 64 sends of one rank and 64 receives of the other is not enough.
    let text = replay(files(200), 1).map(|_| ()).unwrap_err().to_string();
    let expected = "t.0.et: rank 0: waits for nodes of other ranks beyond the 64 nodes";
    assert!(text.starts_with(expected), "{text}");
}

#[test]
fn compute_nodes_run_one_at_a_time_in_order_of_the_file() {
    let gpu = |node: Node| with(node, &[("is_cpu_op", 0)]);
    // Two nodes of the processor and three of the accelerator, whose first becomes ready last.
    let nodes = [
        compute(7, 4, &[]),
        compute(8, 6, &[]),
        gpu(compute(9, 1, &[7])),
        gpu(compute(5, 10, &[])),
        gpu(compute(2, 2, &[])),
    ];
    // Node 5 runs until 10 us. Then node 9 runs, ready since 4 us and first in the file; then 2.
    let replayed = replay(vec![file(&nodes)], 100).unwrap();
    assert_eq!(replayed.end, Time::ZERO + Span::from_us(13));
    let parallel = Options { compute: Compute::Parallel, ..Options::default() };
    let files = MemoryFiles(vec![file(&nodes)]);
    let whole = |options: &Options| read(&files, 1, options).unwrap().workload;
    assert!(whole(&parallel).lanes.is_empty());
    let [cpu, gpu] = [Some(Lane(0)), Some(Lane(1))];
    assert_eq!(whole(&Options::default()).lanes, [cpu, cpu, gpu, gpu, gpu]);
}

#[test]
fn groups_along_dimensions_share_all_other_coordinates() {
    let along = |involved: [bool; 2]| {
        let mut call = call(1, 6, &[]);
        let value =
            Some(AttributeValue::Bools(super::super::schema::Bools { values: involved.to_vec() }));
        call.attributes.push(Attribute { name: "involved_dim".to_owned(), value });
        let options = Options { dimensions: vec![2, 3], ..Options::default() };
        let files = MemoryFiles((0..6).map(|_| file(&[call.clone()])).collect());
        let pairs = |messages: Vec<(u32, u32)>| {
            let mut pairs = messages;
            pairs.sort_unstable();
            pairs
        };
        let whole = read(&files, 6, &options).unwrap().workload;
        let whole = pairs(whole.messages.iter().map(|it| (it.src.0, it.dst.0)).collect());
        let streaming = Streaming::open(Arc::new(files), 6, options, 10).unwrap();
        let load = streaming.load().messages.iter().map(|it| (it.src.0, it.dst.0)).collect();
        assert_eq!(whole, pairs(load));
        whole
    };
    // Rank 0 is (0, 0), rank 1 is (1, 0), rank 2 is (0, 1).
    assert_eq!(along([true, false]), [(0, 1), (1, 0), (2, 3), (3, 2), (4, 5), (5, 4)]);
    assert_eq!(along([false, true])[..2], [(0, 2), (0, 4)]);
    assert_eq!(along([true, true]).len(), 30);
    assert_eq!(along([false, false]).len(), 0);
}
