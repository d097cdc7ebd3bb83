//! Congestion control: its view of packets in flight and losses, and the packets that its windows
//! permit.

use super::policies::{LoggingPolicy, joined, nics};
use super::*;
use crate::nic::congestion::{Controller, Scope, new_reno, nscc};
use crate::nic::recovery::sack;
use crate::nic::{ControlPaths, FreePorts};
use crate::packet::PlaneMask;
use crate::units::Fraction;

/// NICs with that control and recovery, and a queue pair between them.
fn wired(congestion: CongestionControl, recovery: Recovery) -> (Nic, Nic, QpId) {
    let common = (*config(recovery, 1)).clone();
    let [mut a, mut b] = nics(NicConfig { congestion, ..common });
    let qp = joined(&mut a, &mut b, LoggingPolicy::default().policy());
    (a, b, qp)
}

fn deliver(a: &mut Nic, b: &mut Nic, now: Time, packets: &[Packet]) {
    packets.iter().for_each(|packet| b.handle_packet(now, packet));
    drain(b, now).iter().for_each(|reply| a.handle_packet(now, reply));
}

#[test]
fn a_gap_halves_the_packets_in_flight_at_the_last_acknowledgement() {
    let sack = sack::Config { reordering: 0, ..sack::Config::default() };
    let (mut a, mut b, qp) = wired(new_reno::Config::default().into(), sack.into());
    a.post(qp, Bytes::new(10_000), 1, 0);
    let packets = drain(&mut a, at(0));
    assert_eq!(packets.len(), 10);
    deliver(&mut a, &mut b, at(10_000), &packets[..1]);
    deliver(&mut a, &mut b, at(20_000), &packets[2..3]);
    assert_eq!(a.sending_state(at(20_000), qp).window_bytes, 9 * 1_062 / 2);
}

#[test]
fn a_window_below_one_packet_permits_one_packet() {
    let flow_control = sack::Window::Bytes(Bytes::new(1));
    let sack = sack::Config { flow_control, ..sack::Config::default() };
    let (mut a, mut b, qp) = wired(line_rate::Config::default().into(), sack.into());
    a.post(qp, Bytes::new(3_000), 1, 0);
    for round in 0..3 {
        let packets = drain(&mut a, at(round));
        assert_eq!(packets.len(), 1, "round {round}");
        deliver(&mut a, &mut b, at(round), &packets);
    }
    assert_eq!(events(&mut a).len(), 1);
}

/// The largest window is 1.5 bandwidth-delay products of the shortest round trip.
#[test]
fn the_round_trip_of_a_nack_lowers_the_largest_window() {
    for scope in [Scope::Qp, Scope::Destination] {
        for (base_rtt_of_nacks, largest) in [(false, 750_000), (true, 384_000)] {
            let (trims_call, trim_cut) = (false, Fraction::new(0, 1).unwrap());
            let own = nscc::Config::default();
            let nscc = nscc::Config { scope, base_rtt_of_nacks, trims_call, trim_cut, ..own };
            let (mut a, mut b, qp) = wired(nscc.into(), Recovery::PER_PACKET);
            a.post(qp, Bytes::new(1_000), 1, 0);
            let packet = a.poll_transmit(at(0)).unwrap();
            let flags = packet.flags.with(Flags::TRIMMED);
            let trimmed = Packet { wire_bytes: 64, flags, ..packet };
            // 5.12 us instead of 10: five units of the stamps in packets.
            deliver(&mut a, &mut b, at(5_120), &[trimmed]);
            let window = a.sending_state(at(5_120), qp).window_bytes;
            assert_eq!(window, largest, "{scope:?}");
        }
    }
}

/// Returns the packets in flight that the control of each window knows of.
fn in_flight<'a>(controls: impl Iterator<Item = &'a Controller>) -> Vec<f64> {
    let bytes = controls.map(|control| match control {
        Controller::Nscc(nscc) => nscc.in_flight(),
        _ => panic!("{control:?}"),
    });
    bytes.map(|bytes| bytes as f64 / 1_062.0).collect()
}

#[test]
fn an_acknowledgement_updates_the_packets_in_flight_of_each_plane() {
    let nscc = nscc::Config { scope: Scope::Plane, ..nscc::Config::default() };
    let common = (*config(Recovery::PER_PACKET, 1)).clone();
    let [mut a, mut b] = nics(NicConfig { congestion: nscc.into(), ..common });
    a.set_planes(2, ControlPaths::Echo, 1);
    let qp = joined(&mut a, &mut b, LoggingPolicy::default().policy());
    a.post(qp, Bytes::new(10_000), 1, 0);
    let free = FreePorts { data: PlaneMask::all(2), control: PlaneMask::all(2) };
    let sent = std::iter::from_fn(|| a.poll_transmit_on(at(0), free));
    let packets: Vec<_> = sent.map(|(packet, _)| packet).collect();
    // One packet of plane 0, two of plane 1.
    deliver(&mut a, &mut b, at(10_000), &[packets[0], packets[1], packets[3]]);
    let windows = a.requesters[Slot(0)].own_windows().unwrap();
    assert_eq!(in_flight(windows.controls()), [4.0, 3.0]);
}

#[test]
fn an_acknowledgement_updates_the_packets_in_flight_of_a_shared_window() {
    let nscc = nscc::Config { scope: Scope::Destination, ..nscc::Config::default() };
    let common = (*config(Recovery::PER_PACKET, 1)).clone();
    let [mut a, mut b] = nics(NicConfig { congestion: nscc.into(), ..common });
    let qps = [(); 2].map(|()| joined(&mut a, &mut b, LoggingPolicy::default().policy()));
    qps.into_iter().for_each(|qp| a.post(qp, Bytes::new(5_000), 1, 0));
    let packets = drain(&mut a, at(0));
    let of_first: Vec<_> = packets.into_iter().filter(|packet| packet.qp == qps[0]).collect();
    deliver(&mut a, &mut b, at(10_000), &of_first[..3]);
    assert_eq!(in_flight(a.requesters.windows_to(HostId(1)).controls()), [7.0]);
}

#[test]
fn an_acknowledgement_reports_the_arrivals_of_each_plane() {
    let start_window = Fraction::new(1, 1_000).unwrap();
    let nscc = nscc::Config { scope: Scope::Plane, start_window, ..nscc::Config::default() };
    let common = (*config(Recovery::PER_PACKET, 1)).clone();
    let [mut a, mut b] = nics(NicConfig { congestion: nscc.into(), ..common });
    a.set_planes(2, ControlPaths::Echo, 1);
    let qp = joined(&mut a, &mut b, LoggingPolicy::default().policy());
    a.post(qp, Bytes::new(4_000), 1, 0);
    let free = FreePorts { data: PlaneMask::all(2), control: PlaneMask::all(2) };
    for round in 0..2 {
        let (sent, arrived) = (at(10_000 * round), at(10_000 * (round + 1)));
        let packets = std::iter::from_fn(|| a.poll_transmit_on(sent, free));
        let packets: Vec<_> = packets.map(|(packet, _)| packet).collect();
        assert_eq!(packets.len(), 2, "the window of each is a packet");
        deliver(&mut a, &mut b, arrived, &packets);
    }
    // MTU · a, where a is 250,000 B / 150,000 B. The first packet adds to what waits for the
    // adjustment, 4 · a · MTU · 10/12 of its bytes. The second, which exceeds a window without a
    // queue, adds a quarter of its own times a. The adjustment adds 0.15 MTU · a.
    let unit = 1_062.0 * 250.0 / 150.0;
    let window = 1_062.0 + unit / 4.0;
    let window = window + unit * 1_062.0 * 40.0 / 12.0 / window + 0.15 * unit;
    assert_eq!(a.sending_state(at(20_000), qp).window_bytes, 2 * window as u64);
}
