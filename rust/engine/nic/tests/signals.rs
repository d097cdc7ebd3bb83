//! Signals of acknowledgements and NACKs other than arrivals, and when the first one is sent.

use super::policies::{joined, nics};
use super::*;
use crate::nic::congestion::{dcqcn, dcqcn_mlx, nscc};
use crate::nic::{AckRange, AckSpan, First, NackSignal, Resent};
use crate::units::Fraction;

/// A sender and a receiver with these acknowledgements, with the DCQCN of ConnectX NICs.
fn wired(recovery: Recovery, ack: AckConfig) -> (Nic, Nic, QpId) {
    let congestion = CongestionControl::DcqcnMlx(dcqcn_mlx::Config::default());
    let plain = config(recovery, 1);
    let config = Arc::new(NicConfig { ack, congestion, ..(*plain).clone() });
    let (mut a, mut b) =
        (Nic::new(HostId(0), PORT, config.clone()), Nic::new(HostId(1), PORT, config));
    let policy = SenderConfig::Ecmp(ecmp::Config {}).build(&QpContext::for_test());
    let qp = a.open_sender(SendHalf { peer: HostId(1), label: 7, cookie: 0, extra: false, policy });
    let receiver = b.open_receiver(HostId(0), qp, 7, 0);
    a.connect(qp, receiver);
    (a, b, qp)
}

fn replies_to(b: &mut Nic, packets: &[Packet], order: &[usize]) -> Vec<Packet> {
    order.iter().for_each(|&index| b.handle_packet(at(1_000), &packets[index]));
    drain(b, at(1_000))
}

/// Returns how many of 40 packets a sender starts immediately, 8 us after these control packets.
fn sent_after(a: &mut Nic, qp: QpId, replies: &[Packet]) -> usize {
    replies.iter().for_each(|reply| a.handle_packet(at(2_000), reply));
    drain(a, at(9_000));
    a.post(qp, Bytes::new(40_000), 2, 0);
    drain(a, at(10_000)).len()
}

#[test]
fn a_gap_nack_slows_the_sender_if_it_signals_congestion() {
    for recovery in
        [Recovery::GO_BACK_N, Recovery::from(crate::nic::recovery::sack::Config::default())]
    {
        for (nacks, marked) in
            [(NackSignal::None, false), (NackSignal::Mark, false), (NackSignal::Congestion, true)]
        {
            let (mut a, mut b, qp) = wired(recovery, AckConfig { nacks, ..AckConfig::default() });
            a.post(qp, Bytes::new(3_000), 1, 0);
            let packets = drain(&mut a, at(0));
            let replies = replies_to(&mut b, &packets, &[0, 2]);
            assert_eq!(replies[1].kind, PacketKind::Nack, "{recovery:?}");
            assert_eq!(replies[1].flags.has(Flags::MARKED), marked, "{recovery:?}, {nacks:?}");
            assert!(!replies[0].flags.has(Flags::MARKED));
            let sent = sent_after(&mut a, qp, &replies);
            assert_eq!(sent < 40, marked, "{sent} of 40 immediately: {recovery:?}, {nacks:?}");
        }
    }
}

#[test]
fn a_gap_nack_echoes_the_mark_if_configured() {
    for (nacks, slows) in [(NackSignal::None, false), (NackSignal::Mark, true)] {
        let ack = AckConfig { nacks, ..AckConfig::default() };
        let (mut a, mut b, qp) = wired(Recovery::GO_BACK_N, ack);
        a.post(qp, Bytes::new(3_000), 1, 0);
        let mut packets = drain(&mut a, at(0));
        packets[2].flags = packets[2].flags.with(Flags::MARKED);
        let replies = replies_to(&mut b, &packets, &[0, 2]);
        assert_eq!(sent_after(&mut a, qp, &replies) < 40, slows, "{nacks:?}");
    }
}

#[test]
fn the_first_packet_is_acknowledged_immediately_if_configured() {
    for (first, expected) in [(First::Wait, vec![4, 4]), (First::AtOnce, vec![1, 4, 3])] {
        let ack = AckConfig { every: 4, first, ..AckConfig::default() };
        let (mut a, mut b, qp) = wired(Recovery::PER_PACKET, ack);
        a.post(qp, Bytes::new(8_000), 1, 0);
        let packets = drain(&mut a, at(0));
        let replies = replies_to(&mut b, &packets, &[0, 1, 2, 3, 4, 5, 6, 7]);
        let covered: Vec<u32> =
            replies.iter().map(|reply| reply.fields.raw().sack.count_ones()).collect();
        assert_eq!(covered, expected);
    }
}

#[test]
fn a_retransmission_is_acknowledged_immediately_if_configured() {
    for (resent, expected) in [(Resent::Wait, vec![4, 4]), (Resent::AtOnce, vec![3, 4, 1])] {
        let ack = AckConfig { every: 4, resent, ..AckConfig::default() };
        let (mut a, mut b, qp) = wired(Recovery::PER_PACKET, ack);
        a.post(qp, Bytes::new(8_000), 1, 0);
        let mut packets = drain(&mut a, at(0));
        packets[2].flags = packets[2].flags.with(Flags::RETRANSMITTED);
        let replies = replies_to(&mut b, &packets, &[0, 1, 2, 3, 4, 5, 6, 7]);
        let covered: Vec<u32> =
            replies.iter().map(|reply| reply.fields.raw().sack.count_ones()).collect();
        assert_eq!(covered, expected);
    }
}

#[test]
fn distant_arrivals_share_an_acknowledgement_of_unlimited_span() {
    for (span, expected) in [(AckSpan::Bitmap, 2), (AckSpan::Unlimited, 1)] {
        let ack = AckConfig { every: 4, range: AckRange::Last64, span, ..AckConfig::default() };
        let (mut a, mut b, qp) = wired(Recovery::PER_PACKET, ack);
        a.post(qp, Bytes::new(200_000), 1, 0);
        let packets = drain(&mut a, at(0));
        let replies = replies_to(&mut b, &packets, &[5, 60, 130, 131]);
        assert_eq!(replies.len(), expected, "{span:?}");
        // The last one reports arrivals within 64 PSNs of its end; 5 is left to the cumulative
        // number.
        if span == AckSpan::Unlimited {
            let report = replies[0].as_ack().unwrap().report();
            let bits = |psn: u32| report.arrived >> (psn - report.base.get()) & 1;
            assert_eq!([130, 131].map(bits), [1, 1]);
            assert_eq!(report.base.get() + 63, 131);
        }
    }
}

/// A sender whose window is full requests an acknowledgement and waits for it. Even if the packet
/// with the request is trimmed, earlier arrivals are reported.
#[test]
fn a_trimmed_packet_with_a_request_gets_earlier_arrivals_acknowledged() {
    let replies = |flags: Flags| {
        let ack = AckConfig { every: 16, ..AckConfig::default() };
        let (mut a, mut b, qp) = wired(Recovery::PER_PACKET, ack);
        a.post(qp, Bytes::new(40_000), 1, 0);
        let mut packets = drain(&mut a, at(0));
        packets[3].flags = packets[3].flags.with(Flags::TRIMMED).with(flags);
        let kinds = replies_to(&mut b, &packets, &[0, 1, 2, 3]).into_iter();
        kinds.map(|reply| (reply.kind, reply.fields.raw().ack)).collect::<Vec<_>>()
    };
    let (ack, nack) = (PacketKind::Ack, PacketKind::Nack);
    assert_eq!(replies(Flags::NONE).iter().map(|it| it.0).collect::<Vec<_>>(), [nack]);
    let asked = replies(Flags::ACK_REQUEST);
    assert_eq!(asked.iter().map(|it| it.0).collect::<Vec<_>>(), [nack, ack]);
    assert_eq!(asked[1].1, 3, "all three");
}

#[test]
fn a_trim_cuts_the_window_by_the_amount_for_trims() {
    let three = Fraction::new(3, 1).unwrap();
    let congestion = nscc::Config {
        trims_call: false,
        trim_cut: three,
        base_rtt_of_nacks: false,
        ..nscc::Config::default()
    };
    for flags in [Flags::TRIMMED, Flags::TRIMMED.with(Flags::LAST_HOP)] {
        let common = (*config(Recovery::PER_PACKET, 1)).clone();
        let [mut a, mut b] = nics(NicConfig { congestion: congestion.into(), ..common });
        let policy = SenderConfig::Ecmp(ecmp::Config {}).build(&QpContext::for_test());
        let qp = joined(&mut a, &mut b, policy);
        a.post(qp, Bytes::new(2_000), 1, 0);
        let packet = drain(&mut a, at(0))[0];
        let before = a.sending_state(at(0), qp).window_bytes;
        let flags = packet.flags.with(flags);
        b.handle_packet(at(10_000), &Packet { wire_bytes: 64, flags, ..packet });
        drain(&mut b, at(10_000)).iter().for_each(|reply| a.handle_packet(at(20_000), reply));
        assert_eq!(before - a.sending_state(at(20_000), qp).window_bytes, 3 * 1_062);
    }
}

#[test]
fn prioritized_control_packets_pass_pauses() {
    for priority in [true, false] {
        let ack = AckConfig { priority, ..AckConfig::default() };
        let (mut a, mut b, qp) = wired(Recovery::GO_BACK_N, ack);
        assert_eq!(b.control_has_priority(), priority);
        a.post(qp, Bytes::new(1_000), 1, 0);
        let packets = drain(&mut a, at(0));
        assert_eq!(replies_to(&mut b, &packets, &[0])[0].flags.has(Flags::PRIORITY), priority);
    }
}

/// A copy of an unreported packet triggers its report, which counts it once and with its mark.
#[test]
fn a_copy_of_an_unreported_packet_is_counted_once() {
    let ack = AckConfig { every: 8, ..AckConfig::default() };
    let (mut a, mut b, qp) = wired(Recovery::PER_PACKET, ack);
    a.post(qp, Bytes::new(8_000), 1, 0);
    let mut packets = drain(&mut a, at(0));
    packets[1].flags = packets[1].flags.with(Flags::MARKED);
    let replies = replies_to(&mut b, &packets, &[1, 1]);
    let report = replies[0].as_ack().unwrap().report();
    assert_eq!((replies.len(), report.base.get()), (1, 1));
    assert_eq!((report.arrived, report.marks()), (1, 1));
}

#[test]
fn a_congestion_nack_cuts_the_dcqcn_rate_like_a_cnp() {
    for (nacks, gbps) in [(NackSignal::Mark, 400), (NackSignal::Congestion, 200)] {
        let congestion = dcqcn::Config { initial_alpha: Fraction::ONE, ..dcqcn::Config::default() };
        let ack = AckConfig { nacks, ..AckConfig::default() };
        let common = (*config(Recovery::GO_BACK_N, 1)).clone();
        let [mut a, mut b] = nics(NicConfig { congestion: congestion.into(), ack, ..common });
        let policy = SenderConfig::Ecmp(ecmp::Config {}).build(&QpContext::for_test());
        let qp = joined(&mut a, &mut b, policy);
        a.post(qp, Bytes::new(3_000), 1, 0);
        let packets = drain(&mut a, at(0));
        let replies = replies_to(&mut b, &packets, &[0, 2]);
        replies.iter().for_each(|reply| a.handle_packet(at(2_000), reply));
        // An alpha of 1 halves the rate.
        assert_eq!(a.sending_state(at(2_000), qp).rate, BitRate::from_gbps(gbps), "{nacks:?}");
    }
}

/// Controls that read the marks of acknowledgements also read those of a NACK that reports
/// arrivals. They do not count the NACK as a second mark.
#[test]
fn the_mark_of_a_nack_that_reports_arrivals_counts_once() {
    let g = Fraction::new(1, 4).unwrap();
    let initial_alpha = Fraction::new(1, 2).unwrap();
    let congestion = dcqcn_mlx::Config { g, initial_alpha, ..dcqcn_mlx::Config::default() };
    let ack = AckConfig { nacks: NackSignal::Mark, ..AckConfig::default() };
    let sack = crate::nic::recovery::sack::Config::default();
    let common = (*config(sack.into(), 1)).clone();
    let [mut a, mut b] = nics(NicConfig { congestion: congestion.into(), ack, ..common });
    let policy = SenderConfig::Ecmp(ecmp::Config {}).build(&QpContext::for_test());
    let qp = joined(&mut a, &mut b, policy);
    a.post(qp, Bytes::new(3_000), 1, 0);
    let mut packets = drain(&mut a, at(0));
    packets[2].flags = packets[2].flags.with(Flags::MARKED);
    let replies = replies_to(&mut b, &packets, &[0, 2]);
    assert_eq!(replies[1].kind, PacketKind::Nack);
    replies.iter().for_each(|reply| a.handle_packet(at(2_000), reply));
    // Four ticks before the cut, all without a mark.
    let alpha = 0.5 * 0.75f64.powi(4);
    let rate = a.sending_state(at(7_000), qp).rate.as_bps() as f64;
    assert!((rate / 400e9 - (1.0 - alpha / 2.0)).abs() < 1e-9, "{rate}");
}

/// DCQCN, section 3.1: at most one per flow and interval, the first one immediately.
#[test]
fn marked_packets_trigger_one_cnp_per_interval() {
    let common = (*config(Recovery::GO_BACK_N, 100)).clone();
    let congestion = dcqcn::Config::default().into();
    let [mut a, mut b] = nics(NicConfig { congestion, ..common });
    let policy = SenderConfig::Ecmp(ecmp::Config {}).build(&QpContext::for_test());
    let qp = joined(&mut a, &mut b, policy);
    a.post(qp, Bytes::new(10_000), 1, 0);
    let mut packets = drain(&mut a, at(0)).into_iter();
    let mut sent_for = |now, flags| {
        let packet = packets.next().unwrap();
        b.handle_packet(now, &Packet { flags: packet.flags.with(flags), ..packet });
        drain(&mut b, now).iter().map(|reply| reply.kind).collect::<Vec<_>>()
    };
    assert_eq!(sent_for(at(0), Flags::NONE), []);
    assert_eq!(sent_for(at(1_000), Flags::MARKED), [PacketKind::Cnp]);
    assert_eq!(sent_for(at(2_000), Flags::MARKED), []);
    assert_eq!(sent_for(Time::from_ps(50_999_999), Flags::MARKED), []);
    assert_eq!(sent_for(at(51_000), Flags::MARKED), [PacketKind::Cnp]);
    assert_eq!(sent_for(at(200_000), Flags::NONE), []);
}

#[test]
fn a_nack_for_a_packet_that_fills_a_gap_does_not_signal_congestion() {
    let ack = AckConfig { nacks: NackSignal::Congestion, ..AckConfig::default() };
    let sack = Recovery::from(crate::nic::recovery::sack::Config::default());
    let (mut a, mut b, qp) = wired(sack, ack);
    a.post(qp, Bytes::new(6_000), 1, 0);
    let packets = drain(&mut a, at(0));
    let replies = replies_to(&mut b, &packets, &[0, 2, 4, 1]);
    let seen: Vec<_> = replies.iter().map(|it| (it.kind, it.flags.has(Flags::MARKED))).collect();
    let (ack, nack) = (PacketKind::Ack, PacketKind::Nack);
    assert_eq!(seen, [(ack, false), (nack, true), (nack, true), (nack, false)]);
}
