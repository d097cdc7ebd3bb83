//! Telemetry on its way from data into acknowledgements, and its effect on the sender's next
//! packet.

use super::policies::{joined, nics};
use super::*;
use crate::nic::congestion::hpcc_pint;
use crate::packet::Telemetry;

fn of_power(power: u16) -> Telemetry {
    let mut telemetry = Telemetry::default();
    telemetry.raise_power(power);
    telemetry
}

/// Two NICs with HPCC-PINT and a queue pair between them.
fn pint() -> (Nic, Nic, QpId) {
    let congestion = hpcc_pint::Config::default().into();
    let common = (*config(Recovery::GO_BACK_N, 1)).clone();
    let [mut a, mut b] = nics(NicConfig { congestion, ..common });
    let policy = SenderConfig::Ecmp(ecmp::Config {}).build(&QpContext::for_test());
    let qp = joined(&mut a, &mut b, policy);
    (a, b, qp)
}

/// Delivers a packet with that telemetry, and its acknowledgement without delay.
fn reply(a: &mut Nic, b: &mut Nic, now: Time, packet: &Packet, power: u16) {
    b.handle_telemetry(&of_power(power));
    b.handle_packet(now, packet);
    let ack = b.poll_transmit(now).unwrap();
    a.handle_telemetry(&b.take_telemetry());
    a.handle_packet(now, &ack);
}

#[test]
fn control_packets_carry_the_telemetry_of_their_data_packet() {
    let (mut a, mut b, qp) = pint();
    a.post(qp, Bytes::new(3_000), 1, 0);
    let packets = drain(&mut a, at(0));
    assert_eq!(a.take_telemetry(), Telemetry::default());
    for (packet, power) in packets.iter().zip([5, 9, 7]) {
        b.handle_telemetry(&of_power(power));
        b.handle_packet(at(1_000), packet);
    }
    let carried = [(); 3].map(|()| {
        assert!(b.poll_transmit(at(2_000)).is_some());
        b.take_telemetry()
    });
    assert_eq!(carried, [5, 9, 7].map(of_power));
    assert_eq!(b.take_telemetry(), Telemetry::default(), "it is taken");
}

/// Powers of 697, 767 and 837 are loads of 2, 4 and 8.
#[test]
fn a_rate_change_moves_the_start_of_a_paced_packet() {
    let (mut a, mut b, qp) = pint();
    a.post(qp, Bytes::new(20_000), 1, 0);
    let first = [(); 3].map(|()| a.poll_transmit(at(0)).unwrap());
    // The first acknowledgement changes nothing.
    first[..2].iter().for_each(|packet| reply(&mut a, &mut b, at(2_000), packet, 697));
    let after = |packet: Time, power: i32| {
        let gbps = 0.95 * 400.0 / (1.01f64.powi(power) / 512.0) + 0.16;
        (packet.as_ps() as f64 + 1_062.0 * 8_000.0 / gbps).floor()
    };
    let is = |time: Time, expected: f64| (time.as_ps() as f64 - expected).abs() < 2.0;
    let fourth = a.poll_transmit(at(2_000)).unwrap();
    let planned = a.next_paced().unwrap();
    assert!(is(planned, after(at(2_000), 697)), "{planned}");
    // The start moves later: the planned one passes.
    reply(&mut a, &mut b, at(2_010), &first[2], 767);
    assert_eq!(a.poll_transmit(planned), None);
    let later = a.next_paced().unwrap();
    assert!(is(later, after(at(2_000), 767)), "{later}");
    assert!(a.poll_transmit(later).is_some());
    // The start moves earlier: the packet does not wait for the planned one.
    let planned = a.next_paced().unwrap();
    reply(&mut a, &mut b, later + Span::from_ns(5), &fourth, 697);
    let earlier = a.next_paced().unwrap();
    assert!(earlier < planned && is(earlier, after(later, 697)), "{earlier}");
    assert!(a.poll_transmit(earlier).is_some());
    assert_eq!(a.poll_transmit(earlier + Span::from_ns(30)), None);
}

#[test]
fn a_stale_start_gives_no_second_turn() {
    let (mut a, mut b, first) = pint();
    a.post(first, Bytes::new(20_000), 1, 0);
    let packets = [(); 3].map(|()| a.poll_transmit(at(0)).unwrap());
    packets[..2].iter().for_each(|packet| reply(&mut a, &mut b, at(2_000), packet, 697));
    assert!(a.poll_transmit(at(2_000)).is_some());
    let planned = a.next_paced().unwrap();
    // All links are idle now: the rate is the line rate, and the start is earlier.
    reply(&mut a, &mut b, at(2_010), &packets[2], 0);
    assert!(a.next_paced() < Some(planned));
    let policy = SenderConfig::Ecmp(ecmp::Config {}).build(&QpContext::for_test());
    let second = joined(&mut a, &mut b, policy);
    a.post(second, Bytes::new(20_000), 2, 0);
    let turns = [2_030, 2_060, 2_090, 2_120, 2_150, 2_180].map(|now| {
        let packet = a.poll_transmit(at(now)).unwrap();
        packet.qp
    });
    assert!(planned > at(2_030) && planned < at(2_060), "{planned}");
    assert_eq!(turns, [second, first, second, first, second, first]);
}
