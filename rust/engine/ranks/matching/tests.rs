//! Matching in any order of sends, receives and arrivals.

use proptest::prelude::*;

use super::*;
use crate::ranks::tests::cases;

const KEY: Key = Key { src: 0, dst: 1, tag: 7, bytes: 64 };

#[test]
fn receives_before_and_after_their_messages_are_matched_in_order() {
    let mut matching = Matching::default();
    assert_eq!(matching.receive(KEY, Ticket(10)), None);
    assert_eq!(matching.receive(KEY, Ticket(11)), None);
    let numbers = [(); 3].map(|()| matching.send(KEY));
    assert_eq!(numbers, [0, 1, 2]);
    assert_eq!(matching.receives().collect::<Vec<_>>(), [(KEY, 2)]);
    assert_eq!(matching.arrive(KEY, 0), Some(Ticket(10)));
    assert_eq!(matching.arrive(KEY, 2), None, "its receive is not posted");
    assert_eq!(matching.unreceived().collect::<Vec<_>>(), [(KEY, 1)]);
    assert_eq!(matching.receive(KEY, Ticket(12)), Some(Ticket(12)));
    assert_eq!(matching.arrive(KEY, 1), Some(Ticket(11)));
    assert!(matching.queues.is_empty(), "what is done is forgotten");
    assert_eq!(matching.send(KEY), 0, "numbers begin anew");
}

#[test]
fn sizes_of_one_tag_are_matched_separately() {
    let mut matching = Matching::default();
    let other = Key { bytes: 65, ..KEY };
    matching.receive(KEY, Ticket(1));
    matching.receive(other, Ticket(2));
    let (second, first) = (matching.send(other), matching.send(KEY));
    assert_eq!(matching.arrive(other, second), Some(Ticket(2)));
    assert_eq!(matching.arrive(KEY, first), Some(Ticket(1)));
}

/// The next event of a key.
#[derive(Debug, Clone, Copy)]
enum Step {
    Send,
    Receive,
    /// The message at this position among those in flight arrives.
    Arrive(usize),
}

fn steps() -> impl Strategy<Value = Vec<(u8, Step)>> {
    let step =
        prop_oneof![Just(Step::Send), Just(Step::Receive), (0usize..8).prop_map(Step::Arrive),];
    prop::collection::vec((0u8..6, step), 0..200)
}

/// Keys that share tags, pairs and lengths.
fn key(index: u8) -> Key {
    let index = u32::from(index);
    Key { src: index / 4, dst: 2, tag: 7 + (index % 2) as i32, bytes: 64 << (index / 2 % 2) }
}

/// History of a key: its sends (true once arrived) and the tickets of its receives.
#[derive(Debug, Clone, Default)]
struct History {
    arrived: Vec<bool>,
    receives: Vec<Ticket>,
    in_flight: Vec<u64>,
    first: u64,
}

proptest! {
    #![proptest_config(cases(1_000))]

    /// A receive is called once, after both it and its own message have come. The n-th receive of a
    /// key gets the n-th message of that key.
    #[test]
    fn each_receive_is_called_once_with_its_own_message(steps in steps()) {
        let mut matching = Matching::default();
        let mut histories: Vec<History> = vec![History::default(); 6];
        let mut called: BTreeMap<Ticket, u32> = BTreeMap::new();
        let mut tickets = 0..;
        for (index, step) in steps {
            let (key, history) = (key(index), &mut histories[usize::from(index)]);
            let (number, ticket) = match step {
                Step::Send => {
                    let number = matching.send(key);
                    // Numbers restart whenever a key has nothing open.
                    if number == 0 {
                        history.first = history.arrived.len() as u64;
                    }
                    prop_assert_eq!(history.first + number, history.arrived.len() as u64);
                    history.in_flight.push(number);
                    history.arrived.push(false);
                    continue;
                }
                Step::Receive => {
                    let ticket = Ticket(tickets.next().expect("endless"));
                    history.receives.push(ticket);
                    (history.receives.len() - 1, matching.receive(key, ticket))
                }
                Step::Arrive(_) if history.in_flight.is_empty() => continue,
                Step::Arrive(at) => {
                    let at = at % history.in_flight.len();
                    let number = history.in_flight.remove(at);
                    let absolute = (history.first + number) as usize;
                    history.arrived[absolute] = true;
                    (absolute, matching.arrive(key, number))
                }
            };
            let has_arrived = history.arrived.get(number) == Some(&true);
            let expected = history.receives.get(number).filter(|_| has_arrived).copied();
            prop_assert_eq!(ticket, expected);
            if let Some(ticket) = ticket {
                *called.entry(ticket).or_default() += 1;
            }
        }
        prop_assert!(called.values().all(|count| *count == 1));
        let open = histories.iter().map(|it| {
            let matched = it.arrived.iter().zip(&it.receives).filter(|(arrived, _)| **arrived);
            it.receives.len() - matched.count()
        });
        let waiting: u64 = matching.receives().map(|(_, count)| count).sum();
        prop_assert_eq!(waiting, open.sum::<usize>() as u64);
    }
}
