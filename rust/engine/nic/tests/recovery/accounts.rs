//! The state of requesters and responders, for each loss recovery.

use super::*;
use crate::nic::Delivery;
use crate::nic::receive::receiver::ReceiveRecovery as _;

/// Returns all of them and MRC.
fn recoveries() -> impl Iterator<Item = Recovery> {
    all().into_iter().chain([Recovery::Mrc(mrc::Config::default())])
}

#[test]
fn receivers_count_messages_and_packets_that_have_arrived_in_order() {
    for recovery in recoveries() {
        let (mut a, mut b, qp) = wired(settings(recovery));
        [1, 2].into_iter().for_each(|id| a.post(qp, Bytes::new(2_000), id, 0));
        let packets = drain(&mut a, at(0));
        let state = |b: &Nic| {
            let receiving = b.responders[Slot(0)].receiving();
            (receiving.delivered(), receiving.arrived())
        };
        assert_eq!(state(&b), (0, 0), "{recovery:?}");
        // An erasure code sends packets beyond the message, without their own numbers.
        let coded = recovery == Recovery::ERASURE;
        let first = packets.len() / 2;
        packets[..first].iter().for_each(|packet| b.handle_packet(at(1), packet));
        assert_eq!(state(&b), (1, if coded { 0 } else { 2 }), "{recovery:?}");
        packets[first..].iter().for_each(|packet| b.handle_packet(at(2), packet));
        assert_eq!(state(&b), (2, if coded { 0 } else { 4 }), "{recovery:?}");
    }
}

#[test]
fn unordered_receivers_record_messages_delivered_early() {
    let mrc = Recovery::Mrc(mrc::Config::default());
    for recovery in [Recovery::PER_PACKET, Recovery::RUDI, mrc] {
        let mut config = settings(recovery);
        config.queue_pairs.delivery = Some(Delivery::Unordered);
        let (mut a, mut b, qp) = wired(config);
        [1, 2].into_iter().for_each(|id| a.post(qp, Bytes::new(2_000), id, 0));
        let packets = drain(&mut a, at(0));
        let (first, second) = packets.split_at(packets.len() / 2);
        let known = |b: &Nic| {
            let receiving = b.responders[Slot(0)].receiving();
            (receiving.delivered(), [0, 1, 2].map(|index| receiving.has_delivered(index)))
        };
        second.iter().for_each(|packet| b.handle_packet(at(1), packet));
        assert_eq!(known(&b), (0, [false, true, false]), "{recovery:?}");
        first.iter().for_each(|packet| b.handle_packet(at(2), packet));
        assert_eq!(known(&b), (2, [true, true, false]), "{recovery:?}");
    }
}

#[test]
fn senders_count_packets_in_flight_and_waiting_for_retransmission() {
    for recovery in recoveries() {
        let (mut a, mut b, qp) = wired(settings(recovery));
        a.post(qp, Bytes::new(4_000), 1, 0);
        let packets = drain(&mut a, at(0));
        // In flight and waiting for retransmission; left the network and sent.
        let state = |a: &Nic| {
            let sending = &a.requesters[Slot(0)].recovery;
            (sending.in_flight(), sending.pending_retransmissions(), sending.progress())
        };
        assert_eq!(state(&a), (4, 0, (0, 4)), "{recovery:?}");
        b.handle_packet(at(1), &packets[0]);
        drain(&mut b, at(1)).iter().for_each(|reply| a.handle_packet(at(2), reply));
        assert_eq!(state(&a), (3, 0, (1, 4)), "{recovery:?}");
        a.handle_timeout(at(20_000_000));
        // With an erasure code lost packets have left the network: others replace them.
        let left = if recovery == Recovery::ERASURE { 4 } else { 1 };
        assert_eq!(state(&a), (0, 3, (left, 4)), "{recovery:?}");
    }
}

#[test]
fn recovery_parameters_are_accepted_up_to_their_bounds() {
    let mrc = Recovery::Mrc(mrc::Config::default());
    let takes = |name: &str, text: &str| {
        let default = all().into_iter().chain([mrc]).find(|it| it.name() == name).unwrap();
        default.configured(&text.parse().expect("it is TOML")).is_ok()
    };
    for (name, right, wrong) in [
        ("mrc", "mpr = 1", "mpr = 0"),
        ("mrc", "exponential = 25", "exponential = 26"),
        ("mrc", "reordering = \"1ps\"", "reordering = \"0us\""),
        ("mrc", "timer = \"1ps\"", "timer = \"0us\""),
        ("sack", "flow_control = \"1B\"", "flow_control = \"0B\""),
        ("sack", "rto_low = \"1ps\"", "rto_low = \"0us\""),
    ] {
        assert!(takes(name, right), "{name}: {right}");
        assert!(!takes(name, wrong), "{name}: {wrong}");
    }
}

/// If the recovery has its own packet timer, that is the shortest.
#[test]
fn no_retransmission_timer_expires_before_the_shortest_timeout() {
    let timeout = Span::from_ms(1);
    for recovery in recoveries() {
        let shortest = match recovery {
            Recovery::Sack(_) => Span::from_us(100),
            // The least 1.024 us · 2^t that is at least as long.
            Recovery::Mrc(_) => Span::from_ps(1_048_576_000),
            _ => timeout,
        };
        assert_eq!(recovery.shortest_timeout(timeout), shortest, "{recovery:?}");
        let (mut a, _, qp) = wired(settings(recovery));
        a.post(qp, Bytes::new(1_000), 1, 0);
        assert_eq!(drain(&mut a, at(0)).len(), 1);
        assert!(a.poll_timeout() >= Some(Time::ZERO + shortest), "{recovery:?}");
    }
}
