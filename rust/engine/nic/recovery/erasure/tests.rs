//! Scenarios for the ideal erasure code.

use super::*;

const END: u64 = 1_000;

fn posted(messages: &[u64]) -> Erasure {
    let mut code = Erasure::new(Span::from_ns(100));
    messages.iter().for_each(|&packets| code.handle_posted(packets));
    code
}

/// Sends every packet that may be sent; returns the message and coded number of each.
fn send(code: &mut Erasure, now: u64) -> Vec<(u32, u32)> {
    let mut sent = Vec::new();
    while code.next(END.min(code.posted)).is_some() {
        let mut data = DataFields::default();
        code.label(&mut data, 1);
        sent.push((data.message.index.get(), data.psn.get()));
        code.handle_sent(Time::from_ps(now), sent.len() as u16);
    }
    sent
}

fn arrive(code: &mut Erasure, ack: u64, index: u64) -> u64 {
    let complete = false;
    code.handle_ack(Time::ZERO, Arrived { ack, base: index, sack: 1, complete })
}

fn complete(code: &mut Erasure, ack: u64, index: u64) -> u64 {
    let complete = true;
    code.handle_ack(Time::ZERO, Arrived { ack, base: index, sack: 1, complete })
}

#[test]
fn without_losses_a_message_is_sent_once() {
    let mut code = posted(&[3, 2]);
    assert_eq!(send(&mut code, 0), [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1)]);
    assert_eq!(code.in_flight(), 5);
    assert_eq!(arrive(&mut code, 0, 2) + arrive(&mut code, 0, 0), 2);
    assert_eq!(complete(&mut code, 0, 1), 1);
    assert_eq!((code.unacknowledged(), code.in_flight(), code.progress()), (3, 2, (3, 5)));
    arrive(&mut code, 1, 0);
    complete(&mut code, 1, 1);
    assert_eq!((code.unacknowledged(), code.deadline()), (5, Time::NEVER));
    assert!(send(&mut code, 1).is_empty());
}

#[test]
fn each_known_loss_costs_one_more_packet() {
    let mut code = posted(&[4, 1]);
    send(&mut code, 0);
    let trimmed = |psn| NackReport { missing: 0, psn, reason: MissReason::Trimmed };
    assert!(code.handle_nack(Time::ZERO, trimmed(1)));
    assert!(!code.handle_nack(Time::ZERO, trimmed(1)), "once");
    assert!(!code.handle_nack(Time::ZERO, trimmed(77)), "never sent");
    assert_eq!(send(&mut code, 5), [(0, 4)]);
    arrive(&mut code, 0, 0);
    // The others are never acknowledged: the timers of 2, 3 and of message 1 expire.
    let due = Time::from_ps(100_000);
    assert_eq!(code.deadline(), due);
    assert_eq!(std::iter::from_fn(|| code.handle_timeout(due)).count(), 3);
    assert_eq!(send(&mut code, 6), [(0, 5), (0, 6), (1, 1)]);
}

#[test]
fn a_packet_that_was_given_up_counts_if_it_arrives_late() {
    let mut code = posted(&[2]);
    send(&mut code, 0);
    let due = Time::from_ps(100_000);
    while code.handle_timeout(due).is_some() {}
    assert_eq!((code.in_flight(), code.next(2)), (0, Some(0)));
    assert_eq!(arrive(&mut code, 0, 1), 1);
    assert_eq!(send(&mut code, 7), [(0, 2)], "one is enough now");
    assert_eq!(complete(&mut code, 0, 0), 2, "and the receiver needed none");
    assert_eq!((code.in_flight(), code.unacknowledged()), (0, 2));
}

#[test]
fn a_message_that_completes_early_sends_no_more_packets() {
    let mut code = posted(&[3, 1]);
    code.label(&mut DataFields::default(), 1);
    code.handle_sent(Time::ZERO, 0);
    complete(&mut code, 0, 0);
    assert_eq!(send(&mut code, 1), [(1, 0)]);
}

#[test]
fn messages_complete_in_order() {
    let mut code = posted(&[1, 1]);
    send(&mut code, 0);
    complete(&mut code, 1, 0);
    assert_eq!(code.unacknowledged(), 0);
    complete(&mut code, 0, 0);
    assert_eq!(code.unacknowledged(), 2);
    assert_eq!(complete(&mut code, 9, 0), 0, "never posted");
}

#[test]
fn the_window_limits_both_packets_and_messages() {
    let mut code = posted(&[1; 9]);
    // Six messages were started and two are complete: four messages and packets are in flight.
    (0..6).for_each(|_| code.handle_sent(Time::ZERO, 0));
    assert_eq!([0, 1].map(|message| complete(&mut code, message, 0)), [1, 1]);
    assert_eq!((code.window_end(4), code.window_end(7)), (6, 6 + 3));
    // A message of many packets.
    let mut code = posted(&[9, 1]);
    (0..5).for_each(|_| code.handle_sent(Time::ZERO, 0));
    assert_eq!((code.window_end(5), code.window_end(7)), (5, 5 + 2));
}
