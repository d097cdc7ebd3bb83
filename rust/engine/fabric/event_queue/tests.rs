//! Events are popped in order, regardless of where they are stored.

use super::*;
use crate::ids::HostId;
use crate::rng::{Purpose, Stream};
use crate::switching::TieOrder;

fn at(ps: u64) -> Time {
    Time::from_ps(ps)
}

fn queue_for(ports: usize, horizon_ps: u64) -> EventQueue {
    EventQueue::new(Ties::new(TieOrder::Drawn, 1, ports), ports, horizon_ps)
}

fn all(queue: &mut EventQueue) -> Vec<(u64, Event)> {
    std::iter::from_fn(|| queue.pop(Time::NEVER))
        .map(|(time, word)| (time.as_ps(), word.event()))
        .collect()
}

#[test]
fn events_at_equal_times_are_ordered_by_kind_then_id() {
    let (control, probe) = (Event::Control(3), Event::Probe(0));
    let (port, host) = (Event::Arrival(PortId(9), SlotId(1)), Event::Host(HostId(0)));
    for order in [[control, port, host], [host, port, control], [port, host, control]] {
        let mut queue = queue_for(5_000, 1_000);
        queue.push(at(5), Event::Start(PortId(9)));
        order.iter().for_each(|&event| queue.push(at(5), event));
        queue.push(at(5), probe);
        let start = Event::Start(PortId(9));
        let expected = [control, probe, start, port, host];
        assert_eq!(all(&mut queue), expected.map(|event| (5, event)));
    }
}

#[test]
fn near_and_far_events_are_popped_in_order() {
    // The more ports, the narrower the buckets.
    for ports in [5_000, 1 << 15, 1 << 20] {
        let mut random = Stream::new(1, Purpose::Test, 0);
        let mut queue = queue_for(ports, 1_000_000);
        let (mut expected, mut got, mut now) = (Vec::new(), Vec::new(), 0);
        for n in 0..20_000 {
            let reach = [1, 100, 10_000, 1_000_000, 1_000_000_000][random.below(5) as usize];
            let time = now + 1 + u64::from(random.below(reach));
            let event = Event::Arrival(PortId(n), SlotId(n ^ 5));
            queue.push(at(time), event);
            expected.push((time, event));
            if random.below(3) == 0 {
                let (time, word) = queue.pop(Time::NEVER).unwrap();
                now = time.as_ps();
                got.push((now, word.event()));
            }
        }
        got.extend(all(&mut queue));
        let ties = queue.ties;
        expected.sort_by_key(|&(time, event)| (time, Word::of(event).with_tie_rank(time, ties)));
        assert!(got == expected, "{ports} ports");
    }
}

/// Start time of a bucket, in a queue for few ports.
fn bucket(number: u64) -> u64 {
    number << TIME_BITS
}

#[test]
fn an_event_more_than_a_turn_ahead_keeps_its_time() {
    for ahead in [62, 63, 64, 65, 66] {
        let mut queue = queue_for(4, 0);
        assert_eq!(queue.buckets.len(), 64);
        let event = Event::Arrival(PortId(1), SlotId(2));
        queue.push(at(bucket(ahead)), event);
        assert_eq!(all(&mut queue), [(bucket(ahead), event)]);
    }
}

#[test]
fn a_bucket_nearly_a_turn_ahead_comes_after_those_between() {
    let mut queue = queue_for(4, bucket(64));
    assert_eq!(queue.buckets.len(), 128);
    let event = Event::Arrival(PortId(1), SlotId(2));
    queue.push(at(bucket(19)), event);
    assert_eq!(queue.pop(Time::NEVER).unwrap().0, at(bucket(19)));
    // Its index precedes that of bucket 19, in the same word of the occupancy map.
    for number in [138, 100] {
        queue.push(at(bucket(number)), event);
    }
    assert_eq!(all(&mut queue), [100, 138].map(|number| (bucket(number), event)));
}

#[test]
fn an_event_may_precede_a_bucket_that_was_looked_up() {
    let mut queue = queue_for(5_000, 1_000_000);
    queue.push(at(500_000), Event::Host(HostId(0)));
    assert_eq!(queue.next_time(), Some(at(500_000)));
    queue.push(at(400_000), Event::Host(HostId(2)));
    queue.push(at(100), Event::Host(HostId(1)));
    assert_eq!(queue.next_time(), Some(at(100)));
    let events = all(&mut queue);
    assert_eq!(events.iter().map(|it| it.0).collect::<Vec<_>>(), [100, 400_000, 500_000]);
}

#[test]
#[should_panic(expected = "is in the past")]
fn scheduling_in_the_past_panics() {
    let mut queue = queue_for(5_000, 1_000);
    queue.push(at(5_000_000), Event::Host(HostId(0)));
    queue.pop(Time::NEVER);
    queue.push(at(4_999_999), Event::Host(HostId(0)));
}

#[test]
#[should_panic(expected = "time goes backward from 7 to 5 ps")]
fn time_that_goes_back_panics_in_debug_builds() {
    let mut queue = queue_for(5_000, 1_000);
    queue.push(at(5), Event::Host(HostId(0)));
    queue.last = 7;
    queue.pop(Time::NEVER);
}

#[test]
fn arrivals_lists_events_in_every_storage() {
    let mut queue = queue_for(5_000, 1_000_000);
    let slots = || (0..4).map(SlotId);
    let times = [500_000, 2_000, 900_000_000_000, 500_001];
    for (slot, time) in slots().zip(times) {
        queue.push_arrival(at(time), PortId(slot.0), slot);
    }
    queue.push(at(3_000), Event::Host(HostId(0)));
    queue.push_handoff(at(4_000), PortId(4), SlotId(4));
    // Looking a bucket up makes it the current one. Events before it are then early.
    queue.pop(at(2_000));
    assert_eq!(queue.next_time(), Some(at(3_000)));
    queue.push_arrival(at(2_500), PortId(1), SlotId(1));
    let mut found: Vec<_> = queue.arrivals().map(|(port, slot)| (port.0, slot.0)).collect();
    found.sort_unstable();
    assert_eq!(found, [(0, 0), (1, 1), (2, 2), (3, 3), (4, 4)]);
}

/// From every position of the calendar: one event in a bucket and one in another, up to a turn and
/// more ahead. The farther one is added first.
#[test]
fn events_of_any_two_buckets_are_popped_in_order() {
    let all: Vec<u64> = (1..=66).collect();
    let of_four_words = [1, 62, 63, 64, 65, 127, 128, 191, 193, 254, 255, 256, 257];
    // Buckets of 1,024 ps, or of 128 ps with more ports.
    for (ports, horizon, buckets, width, steps) in [
        (5_000, 1_000, 64, 1_024, &all[..]),
        (5_000, 100_000, 256, 1_024, &of_four_words),
        (1 << 16, 10_000, 256, 128, &of_four_words),
    ] {
        let mut queue = queue_for(ports, horizon);
        assert_eq!(queue.buckets.len(), buckets);
        let mut now = 0;
        for (one, other) in steps.iter().flat_map(|one| steps.iter().map(move |it| (*one, *it))) {
            for _ in 0..9 {
                let [first, second] = [one.min(other), one.max(other)].map(|it| now + it * width);
                queue.push(at(second + 1), Event::Host(HostId(2)));
                queue.push(at(first), Event::Host(HostId(1)));
                let popped = [(); 2].map(|()| queue.pop(Time::NEVER).map(|(time, _)| time));
                let case = format!("{ports} ports, {one} and {other} buckets after {now} ps");
                assert_eq!(popped, [Some(at(first)), Some(at(second + 1))], "{case}");
                now = second + 1;
            }
        }
    }
}

#[test]
fn an_event_is_popped_at_its_time_and_not_earlier() {
    let mut queue = queue_for(5_000, 1_000_000);
    queue.push(at(500_000), Event::Host(HostId(0)));
    // Looking a bucket up makes it the current one. Events before it are then early.
    assert_eq!(queue.next_time(), Some(at(500_000)));
    queue.push(at(100), Event::Host(HostId(1)));
    for (time, host) in [(100, 1), (500_000, 0)] {
        assert_eq!(queue.pop(at(time - 1)), None);
        let (popped, word) = queue.pop(at(time)).unwrap();
        assert_eq!((popped, word.event()), (at(time), Event::Host(HostId(host))));
    }
}

/// Partitions of a parallel run are compared by their next events.
#[test]
fn peeking_returns_time_and_rank_of_the_next_event() {
    let mut queue = queue_for(5_000, 1_000_000);
    assert_eq!(queue.peek(), None);
    let (host, port) = (Event::Host(HostId(3)), Event::Free(PortId(8)));
    for (time, event) in [(500_000, host), (500_000, port), (2_000_000_000, host)] {
        queue.push(at(time), event);
    }
    let ties = queue.ties;
    let rank = |time, event| Word::of(event).with_tie_rank(time, ties).rank();
    assert_eq!(queue.peek(), Some((at(500_000), rank(500_000, port))));
    queue.push(at(100), host);
    for (time, event) in [(100, host), (500_000, port), (500_000, host), (2_000_000_000, host)] {
        assert_eq!(queue.peek(), Some((at(time), rank(time, event))));
        queue.pop(Time::NEVER);
    }
    assert_eq!(queue.peek(), None);
}

/// Their memory is prefetched.
#[test]
fn next_bucket_arrivals_lists_the_next_bucket() {
    let mut queue = queue_for(5_000, 1_000_000);
    let bucket = 1_024;
    for (port, time) in [(1, 10 * bucket), (2, 70 * bucket + 5), (3, 70 * bucket), (4, 80 * bucket)]
    {
        queue.push_arrival(at(time), PortId(port), SlotId(port));
    }
    queue.push(at(70 * bucket + 9), Event::Host(HostId(0)));
    let next_bucket_arrivals = |queue: &EventQueue| {
        let mut ports: Vec<u32> = queue.next_bucket_arrivals().map(|(port, _)| port.0).collect();
        ports.sort_unstable();
        ports
    };
    assert_eq!(queue.next_time(), Some(at(10 * bucket)));
    assert_eq!(next_bucket_arrivals(&queue), [2, 3]);
    queue.pop(Time::NEVER);
    assert_eq!(queue.next_time(), Some(at(70 * bucket)));
    assert_eq!(next_bucket_arrivals(&queue), [4]);
    all(&mut queue);
    assert_eq!(next_bucket_arrivals(&queue), [0; 0]);
}

#[test]
fn peeks_return_arrivals_of_this_and_the_next_bucket() {
    let mut queue = queue_for(5_000, 1_000_000);
    for port in 0..4 {
        queue.push(at(bucket(1) + 9 - u64::from(port)), Event::Arrival(PortId(port), SlotId(port)));
    }
    queue.push(at(bucket(1)), Event::Free(PortId(7)));
    for (time, port) in [(bucket(2) + 9, 8), (bucket(2), 9), (bucket(3), 10)] {
        queue.push(at(time), Event::Arrival(PortId(port), SlotId(port)));
    }
    let of = |found: Option<(PortId, SlotId)>| found.map(|(port, _)| port.0);
    let mut found = Vec::new();
    while queue.pop(Time::NEVER).is_some() {
        found.push((
            queue.taken(),
            of(queue.peek_arrival(0)),
            of(queue.peek_arrival(2)),
            of(queue.next_bucket_peer()),
        ));
    }
    let expected = [
        (1, Some(3), Some(1), Some(9)),
        (2, Some(2), Some(0), None),
        (3, Some(1), None, None),
        (4, Some(0), None, None),
        (5, None, None, None),
        (1, Some(8), None, None),
        (2, None, None, None),
        (1, None, None, None),
    ];
    assert_eq!(found, expected);
}
