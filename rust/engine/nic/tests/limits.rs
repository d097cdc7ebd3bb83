//! Limits of a sender: the window in addition to a rate, and the credit that it asks for.

use std::collections::VecDeque;

use super::policies::{joined, nics};
use super::*;
use crate::nic::QpState;
use crate::nic::congestion::{CREDIT_UNIT, FIRST_CREDIT, WindowRule, dcqcn_mlx, rccc};
use crate::nic::recovery::SendRecovery as _;
use crate::packet::View;
use crate::units::Fraction;

/// Delay from one NIC to the other.
const DELAY: Span = Span::from_us(5);

/// Returns the next packet that has arrived by `now`.
fn arrived(wire: &mut VecDeque<(Time, Packet)>, now: Time) -> Option<Packet> {
    wire.front().filter(|(due, _)| *due <= now)?;
    wire.pop_front().map(|(_, packet)| packet)
}

/// Card of HPCC, form 5. With `VAR_WIN` a packet starts only if the packets in flight, itself
/// included, are within W · R / R_max in whole packets, or nothing is in flight. With `HAS_WIN`
/// they must be within W.
#[test]
fn packets_in_flight_stay_within_the_window() {
    for rule in [WindowRule::Fixed, WindowRule::ByRate] {
        let control = dcqcn_mlx::Config { window: rule, ..dcqcn_mlx::Config::default() };
        let congestion = CongestionControl::DcqcnMlx(control);
        let config =
            Arc::new(NicConfig { congestion, ..(*config(Recovery::GO_BACK_N, 1)).clone() });
        let (mut a, mut b) =
            (Nic::new(HostId(0), PORT, config.clone()), Nic::new(HostId(1), PORT, config));
        let policy = SenderConfig::Ecmp(ecmp::Config {}).build(&QpContext::for_test());
        let half = SendHalf { peer: HostId(1), label: 7, cookie: 0, extra: false, policy };
        let qp = a.open_sender(half);
        let receiver = b.open_receiver(HostId(0), qp, 7, 0);
        a.connect(qp, receiver);
        a.post(qp, Bytes::new(20_000_000), 1, 0);
        let (mut ways, mut replies) = (VecDeque::new(), VecDeque::new());
        let (mut sent, mut least, mut most) = (0u64, u64::MAX, 0);
        for step in 0..20_000 {
            let now = at(100 * step);
            while let Some(packet) = arrived(&mut ways, now) {
                b.handle_packet(now, &packet);
                replies.extend(drain(&mut b, now).into_iter().map(|it| (now + DELAY, it)));
            }
            while let Some(reply) = arrived(&mut replies, now) {
                a.handle_packet(now, &reply);
            }
            a.handle_timeout(now);
            loop {
                // A cut that is due at this start takes effect at the next one.
                let (before, window) =
                    (a.requesters[Slot(0)].recovery.in_flight(), a.requesters[Slot(0)].window());
                let Some(packet) = a.poll_transmit(now) else { break };
                let out = (before + 1) * 1_062;
                assert!(out <= window || before == 0, "{rule:?}: {out} of {window}");
                (least, most) = (least.min(window), most.max(out));
                // Every packet is marked in a third of the steps.
                let marked = Flags::MARKED.when(step % 3_000 < 1_000);
                sent += 1;
                let marked = Packet { flags: packet.flags.with(marked), ..packet };
                ways.push_back((now + DELAY, marked));
            }
        }
        // The bandwidth-delay product is 500,000 B.
        let full = 500 * 1_062;
        assert!(sent > 1_000 && most > full / 2, "{rule:?}: {sent} packets, {most} B at most");
        match rule {
            WindowRule::ByRate => assert!(least < full / 4, "{least}"),
            _ => assert_eq!(least, full),
        }
    }
}

/// Card of Ultra Ethernet, form 4: a source with m destinations asks each for an m-th.
#[test]
fn a_source_divides_its_credit_requests_among_destinations() {
    for destinations in [1, 2, 4, 8] {
        let congestion = CongestionControl::Rccc(rccc::Config::default());
        let config =
            Arc::new(NicConfig { congestion, ..(*config(Recovery::PER_PACKET, 1)).clone() });
        let mut source = Nic::new(HostId(0), PORT, config.clone());
        for host in 1..=destinations {
            let policy = SenderConfig::Ecmp(ecmp::Config {}).build(&QpContext::for_test());
            let label = host;
            let half = SendHalf { peer: HostId(host), label, cookie: 0, extra: false, policy };
            let qp = source.open_sender(half);
            let mut peer = Nic::new(HostId(host), PORT, config.clone());
            let receiver = peer.open_receiver(HostId(0), qp, label, 0);
            source.connect(qp, receiver);
            source.post(qp, Bytes::new(10_000_000), 1, 0);
        }
        // The hundredth packet to each asks for the part of its first credit that is used up.
        let mut packets = std::iter::from_fn(|| source.poll_transmit(at(0)));
        let last = packets.by_ref().skip(99 * destinations as usize).take(destinations as usize);
        for packet in last {
            let asked = u64::from(packet.as_data().unwrap().credit_target().get()) - FIRST_CREDIT;
            let expected = (100 * 1_062 / u64::from(destinations)).div_ceil(CREDIT_UNIT);
            assert_eq!(asked, expected, "{destinations} destinations, {:?}", packet.dst);
        }
    }
}

/// Two requesters of a source that may have one packet each in flight. The first is out of credit,
/// and asks for it in a separate packet.
#[test]
fn a_separate_request_asks_for_a_share_while_another_requester_is_waiting() {
    for (other, units) in [(false, 5), (true, 3)] {
        let max_window = Fraction::new(1, 1_000).unwrap();
        let congestion = rccc::Config { max_window, ..rccc::Config::default() }.into();
        let common = (*config(Recovery::PER_PACKET, 1)).clone();
        let [mut a, mut b] = nics(NicConfig { congestion, ..common });
        let policy = || SenderConfig::Ecmp(ecmp::Config {}).build(&QpContext::for_test());
        let [first, second] = [(); 2].map(|()| joined(&mut a, &mut b, policy()));
        a.post(first, Bytes::new(10_000), 1, 0);
        assert_eq!(drain(&mut a, at(0)).len(), 1, "one packet, which is lost");
        if other {
            a.post(second, Bytes::new(1_000), 2, 0);
        }
        a.handle_timeout(at(1_000_000));
        let request = a.poll_transmit_control().unwrap();
        assert_eq!(request.kind, PacketKind::CreditRequest);
        // 1,062 B, or half of it, in units of 256 B.
        assert_eq!(u64::from(request.fields.raw().psn) - FIRST_CREDIT, units);
    }
}

#[test]
fn credit_requests_to_a_queue_pair_without_grants_are_counted_as_discarded() {
    let [mut a, mut b] = nics((*config(Recovery::PER_PACKET, 1)).clone());
    let policy = SenderConfig::Ecmp(ecmp::Config {}).build(&QpContext::for_test());
    let qp = joined(&mut a, &mut b, policy);
    for requests in 1..=3 {
        b.handle_packet(at(0), &Packet::credit_request(qp, Psn::on_wire(FIRST_CREDIT + 1)));
        assert_eq!((b.counters().discarded, b.has_packets()), (requests, false));
    }
}

#[test]
fn a_receiver_grants_to_data_and_to_requests() {
    let congestion = rccc::Config::default().into();
    let common = (*config(Recovery::PER_PACKET, 1)).clone();
    let [mut a, mut b] = nics(NicConfig { congestion, ..common });
    let policy = SenderConfig::Ecmp(ecmp::Config {}).build(&QpContext::for_test());
    let qp = joined(&mut a, &mut b, policy);
    a.post(qp, Bytes::new(2_000), 1, 0);
    let packet = drain(&mut a, at(0))[0];
    b.handle_packet(at(1_000), &packet);
    let kinds = |nic: &mut Nic, now| -> Vec<PacketKind> {
        drain(nic, now).into_iter().map(|reply| reply.kind).collect()
    };
    assert_eq!(kinds(&mut b, at(1_000)), [PacketKind::Ack, PacketKind::Credit]);
    let request = Packet::credit_request(qp, Psn::on_wire(FIRST_CREDIT + 100));
    b.handle_packet(at(9_000), &request);
    let granted = kinds(&mut b, at(9_000));
    assert!(!granted.is_empty() && granted.iter().all(|&kind| kind == PacketKind::Credit));
    assert_eq!(b.counters().discarded, 0);
    b.modify_qp(qp, QpState::Error).unwrap();
    b.handle_packet(at(99_000), &request);
    assert_eq!((kinds(&mut b, at(99_000)), b.counters().discarded), (vec![], 1));
}

/// Two NICs whose senders need credit, and a queue pair from the first to the second.
fn joined_by_credit(control: rccc::Config) -> ([Nic; 2], QpId) {
    let common = (*config(Recovery::PER_PACKET, 1)).clone();
    let [mut a, mut b] = nics(NicConfig { congestion: control.into(), ..common });
    let policy = SenderConfig::Ecmp(ecmp::Config {}).build(&QpContext::for_test());
    let qp = joined(&mut a, &mut b, policy);
    ([a, b], qp)
}

/// 64 units of 256 B take 331 ns at 396 Gbps.
#[test]
fn a_receiver_wakes_up_only_for_grants() {
    let ([_, mut b], qp) =
        joined_by_credit(rccc::Config { unasked: false, ..rccc::Config::default() });
    let request = Packet::credit_request(qp, Psn::on_wire(FIRST_CREDIT + 128));
    [(); 2].into_iter().for_each(|()| b.handle_packet(at(0), &request));
    let granted = |b: &mut Nic, now| -> Vec<u64> {
        let number = |packet: &Packet| match packet.view() {
            View::Credit(credit) => u64::from(credit.number().get()) - FIRST_CREDIT,
            _ => panic!("{packet:?}"),
        };
        drain(b, now).iter().map(number).collect()
    };
    assert_eq!(granted(&mut b, at(0)), [64]);
    let due = Time::from_ps(330_990);
    assert_eq!((b.poll_timeout(), b.schedule.ack_timers.len()), (Some(due), 1));
    b.handle_timeout(due);
    assert_eq!(granted(&mut b, due), [128]);
    assert_eq!((b.poll_timeout(), b.schedule.ack_timers.len()), (None, 0));
}

#[test]
fn a_sender_without_credit_asks_after_a_timeout() {
    let max_window = Fraction::new(1, 1_000).unwrap();
    let ([mut a, mut b], qp) =
        joined_by_credit(rccc::Config { max_window, ..rccc::Config::default() });
    a.post(qp, Bytes::new(10_000), 1, 0);
    let packet = a.poll_transmit(at(0)).unwrap();
    assert_eq!(a.poll_transmit(at(0)), None, "no credit is left");
    b.handle_packet(at(1_000), &packet);
    let replies = drain(&mut b, at(1_000)).into_iter();
    // All credit is lost, and the packet's timer entry remains.
    let acks = replies.filter(|reply| reply.kind == PacketKind::Ack);
    acks.for_each(|ack| a.handle_packet(at(500_000), &ack));
    let mut after = |now| {
        assert_eq!(a.poll_timeout(), Some(now));
        a.handle_timeout(now);
        drain(&mut a, now).iter().map(|packet| packet.kind).collect::<Vec<_>>()
    };
    assert_eq!(after(at(1_000_000)), []);
    assert_eq!(after(at(1_500_000)), [PacketKind::CreditRequest]);
}

#[test]
fn an_idle_sender_without_credit_does_not_ask() {
    let max_window = Fraction::new(1, 1_000).unwrap();
    let ([mut a, mut b], qp) =
        joined_by_credit(rccc::Config { max_window, ..rccc::Config::default() });
    a.post(qp, Bytes::new(1_000), 1, 0);
    b.handle_packet(at(1_000), &a.poll_transmit(at(0)).unwrap());
    let replies = drain(&mut b, at(1_000)).into_iter();
    let acks = replies.filter(|reply| reply.kind == PacketKind::Ack);
    acks.for_each(|ack| a.handle_packet(at(2_000), &ack));
    a.handle_timeout(at(1_000_000));
    assert_eq!((drain(&mut a, at(1_000_000)), a.poll_timeout()), (vec![], None));
}

#[test]
fn a_sender_asks_for_credit_to_retransmit() {
    // 10,620 B, the size of ten packets.
    let max_window = Fraction::new(1_062, 50_000).unwrap();
    let ([mut a, _], qp) = joined_by_credit(rccc::Config { max_window, ..rccc::Config::default() });
    a.post(qp, Bytes::new(10_000), 1, 0);
    assert_eq!(drain(&mut a, at(0)).len(), 10, "and all are lost");
    a.handle_timeout(at(1_000_000));
    let requests = drain(&mut a, at(1_000_000));
    let [request] = requests[..] else { panic!("{requests:?}") };
    assert_eq!(request.kind, PacketKind::CreditRequest);
    let units = u64::from(request.fields.raw().psn) - FIRST_CREDIT;
    assert_eq!(units, 10_620u64.div_ceil(CREDIT_UNIT));
}
