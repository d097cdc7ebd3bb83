//! NICs with a port in each of several planes: by which of them packets and answers leave, and the
//! window that each plane has.

use super::policies::{Told, joined, nics};
use super::*;
use crate::nic::congestion::{Scope, nscc};
use crate::nic::{AnswerPlanes, FreePorts};
use crate::packet::PlaneMask;
use crate::units::Fraction;

/// All ports of that many are free.
fn free(planes: u32) -> FreePorts {
    FreePorts { data: PlaneMask::all(planes), answers: PlaneMask::all(planes) }
}

fn drain_on(nic: &mut Nic, now: Time, free: FreePorts) -> Vec<(Packet, u32)> {
    std::iter::from_fn(|| nic.poll_transmit_on(now, free)).collect()
}

/// A receiver with four ports and the answers to packets of the entropy values 0, 5, 2, 7, 9.
fn with_answers(answers: AnswerPlanes) -> Nic {
    let [mut a, mut b] = nics((*config(Recovery::PER_PACKET, 1)).clone());
    b.set_planes(4, answers, 1);
    let qp = joined(&mut a, &mut b, Told::default().policy());
    a.post(qp, Bytes::new(10_000), 1, 0);
    let packets = drain(&mut a, at(0));
    [0, 5, 2, 7, 9].into_iter().for_each(|index: usize| b.handle_packet(at(1), &packets[index]));
    b
}

#[test]
fn answers_leave_by_the_plane_of_the_packet_or_by_each_in_turn() {
    let planes = |answers| -> Vec<u32> {
        let sent = drain_on(&mut with_answers(answers), at(1), free(4));
        assert_eq!(sent.iter().map(|it| it.0.entropy).collect::<Vec<_>>(), [0, 5, 2, 7, 9]);
        assert!(sent.iter().all(|(packet, _)| packet.route == packet.entropy / 4));
        sent.into_iter().map(|(_, plane)| plane).collect()
    };
    assert_eq!(planes(AnswerPlanes::Echo), [0, 1, 2, 3, 1]);
    assert_eq!(planes(AnswerPlanes::Rotate), [0, 1, 2, 3, 0]);
}

#[test]
fn an_answer_whose_port_is_busy_lets_others_pass() {
    let mut b = with_answers(AnswerPlanes::Echo);
    let some = FreePorts { data: PlaneMask::NONE, answers: PlaneMask::of_bits(0b0110) };
    let entropies = |sent: Vec<(Packet, u32)>| -> Vec<u16> {
        sent.into_iter().map(|(packet, _)| packet.entropy).collect()
    };
    assert_eq!(entropies(drain_on(&mut b, at(1), some)), [5, 2, 9]);
    assert_eq!(entropies(drain_on(&mut b, at(1), free(4))), [0, 7]);
}

#[test]
fn a_mark_cuts_the_window_of_the_plane_that_its_packet_came_by() {
    // Each plane has 200 Gbps, and a window of one and a half times 250,000 B.
    let start = 375_000;
    let congestion =
        nscc::Config { scope: Scope::Plane, delay_gain: Fraction::ONE, ..nscc::Config::default() };
    for every in [1, 2] {
        let common = (*config(Recovery::PER_PACKET, every)).clone();
        let [mut a, mut b] = nics(NicConfig { congestion: congestion.into(), ..common });
        a.set_planes(2, AnswerPlanes::Echo, 1);
        let qp = joined(&mut a, &mut b, Told::default().policy());
        assert_eq!(a.sending_state(at(0), qp).window_bytes, 2 * start);
        a.post(qp, Bytes::new(10_000), 1, 0);
        let mut packets: Vec<_> = drain_on(&mut a, at(0), free(2)).into_iter().take(2).collect();
        assert_eq!(packets.iter().map(|it| it.1).collect::<Vec<_>>(), [0, 1]);
        packets[1].0.flags = packets[1].0.flags.with(Flags::MARKED);
        packets.iter().for_each(|(packet, _)| b.handle_packet(at(15_000), packet));
        let answers = drain(&mut b, at(15_000));
        assert_eq!(answers.len(), 2 / every as usize);
        answers.iter().for_each(|answer| a.handle_packet(at(30_000), answer));
        // A delay of two targets takes 4/5 of a half; an adjustment adds 0.15 MTU · a, where a is
        // 250,000 B of 150,000 B. The other plane's window is the largest already.
        let cut = 375_000.0 * 0.6 + 0.15 * 1_062.0 * 250.0 / 150.0;
        let window = a.sending_state(at(30_000), qp).window_bytes;
        assert_eq!(window, start + cut as u64, "an acknowledgement for each {every}");
    }
}
