//! Events come out in order, wherever they wait.

use super::*;
use crate::ids::HostId;
use crate::rng::{Purpose, Stream};

fn at(ps: u64) -> Time {
    Time::from_ps(ps)
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
        let mut queue = EventQueue::new(5_000, 1_000);
        queue.push(at(5), Event::Start(PortId(9)));
        order.iter().for_each(|&event| queue.push(at(5), event));
        queue.push(at(5), Event::Free(PortId(2)));
        queue.push(at(5), probe);
        let (start, free) = (Event::Start(PortId(9)), Event::Free(PortId(2)));
        let expected = [control, probe, start, free, port, host];
        assert_eq!(all(&mut queue), expected.map(|event| (5, event)));
    }
}

#[test]
fn events_near_and_far_come_out_in_order() {
    // The more ports, the narrower the buckets.
    for ports in [5_000, 1 << 15, 1 << 20] {
        let mut random = Stream::new(1, Purpose::Test, 0);
        let mut queue = EventQueue::new(ports, 1_000_000);
        let (mut expected, mut got, mut now) = (Vec::new(), Vec::new(), 0);
        for n in 0..20_000 {
            let reach = [1, 100, 10_000, 1_000_000, 1_000_000_000][random.below(5) as usize];
            let time = now + u64::from(random.below(reach));
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
        expected.sort_by_key(|&(time, event)| (time, Word::of(event)));
        assert_eq!(got, expected, "{ports} ports");
    }
}

#[test]
fn an_event_may_precede_a_bucket_that_was_looked_up() {
    let mut queue = EventQueue::new(5_000, 1_000_000);
    queue.push(at(500_000), Event::Host(HostId(0)));
    assert_eq!(queue.next_time(), Some(at(500_000)));
    queue.push(at(400_000), Event::Host(HostId(2)));
    queue.push(at(100), Event::Host(HostId(1)));
    assert_eq!(queue.next_time(), Some(at(100)));
    let events = all(&mut queue);
    assert_eq!(events.iter().map(|it| it.0).collect::<Vec<_>>(), [100, 400_000, 500_000]);
}

#[test]
#[should_panic(expected = "lies in the past")]
fn scheduling_in_the_past_panics() {
    let mut queue = EventQueue::new(5_000, 1_000);
    queue.push(at(5_000_000), Event::Host(HostId(0)));
    queue.pop(Time::NEVER);
    queue.push(at(4_999_999), Event::Host(HostId(0)));
}

#[test]
#[should_panic(expected = "time goes back from 7 to 5 ps")]
fn time_that_goes_back_panics_where_assertions_are_on() {
    let mut queue = EventQueue::new(5_000, 1_000);
    queue.push(at(5), Event::Host(HostId(0)));
    queue.last = 7;
    queue.pop(Time::NEVER);
}

#[test]
fn arrivals_are_found_wherever_they_wait() {
    let mut queue = EventQueue::new(5_000, 1_000_000);
    let slots = || (0..4).map(SlotId);
    let times = [500_000, 2_000, 900_000_000_000, 500_001];
    for (slot, time) in slots().zip(times) {
        queue.push_arrival(at(time), PortId(slot.0), slot);
    }
    queue.push(at(3_000), Event::Host(HostId(0)));
    queue.push_crossing(at(4_000), PortId(4), SlotId(4));
    // The bucket that is looked up is the current one, and what precedes it is early.
    queue.pop(at(2_000));
    assert_eq!(queue.next_time(), Some(at(3_000)));
    queue.push_arrival(at(2_500), PortId(1), SlotId(1));
    let mut found: Vec<_> = queue.arrivals().map(|(port, slot)| (port.0, slot.0)).collect();
    found.sort_unstable();
    assert_eq!(found, [(0, 0), (1, 1), (2, 2), (3, 3), (4, 4)]);
}
