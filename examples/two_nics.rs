//! Two NICs wired back to back: a minimal world that uses the verbs without a fabric.

use std::sync::Arc;

use evenkeel::ids::HostId;
use evenkeel::nic::verbs::{CompletionStatus, Operation, WorkRequest};
use evenkeel::nic::{Nic, NicConfig, PortFacts, QpAttributes, QpState};
use evenkeel::units::{BitRate, Bytes, Span, Time};

fn main() {
    let config = Arc::new(NicConfig::default());
    let port = PortFacts { line_rate: BitRate::from_gbps(400), base_rtt: Span::from_us(2) };
    let [mut a, mut b] = [0, 1].map(|host| Nic::new(HostId(host), port, config.clone()));

    // A queue pair at each end, taken through its states.
    let at_a = a.create_qp(QpAttributes::single_path(HostId(0), HostId(1))).unwrap();
    let at_b = b.create_qp(QpAttributes::single_path(HostId(1), HostId(0))).unwrap();
    for (nic, qp, peer_qp) in [(&mut a, at_a, at_b), (&mut b, at_b, at_a)] {
        nic.modify_qp(qp, QpState::Init).unwrap();
        nic.set_peer_qp(qp, peer_qp).unwrap();
        nic.modify_qp(qp, QpState::ReadyToReceive).unwrap();
        nic.modify_qp(qp, QpState::ReadyToSend).unwrap();
    }

    // A message of 1 MiB, and a receive that takes it.
    b.post_receive(at_b, 7).unwrap();
    let (operation, bytes) = (Operation::Send, Bytes::new(1 << 20));
    a.post_send(at_a, WorkRequest { id: 42, operation, bytes, path: 0 }).unwrap();

    // The world moves packets and time. Its wire has no length, and carries a packet each way.
    let mut now = Time::ZERO;
    let sent = loop {
        let packets = [a.poll_transmit(now), b.poll_transmit(now)];
        let longest = packets.iter().flatten().map(|packet| packet.wire_bytes).max();
        let wakes = [a.poll_timeout(), b.poll_timeout()].into_iter().flatten().min();
        now = match longest {
            Some(bytes) => now + port.line_rate.time_for(Bytes::new(bytes.into())),
            None => wakes.expect("a NIC with work to do waits for something"),
        };
        for (packet, to) in packets.iter().zip([&mut b, &mut a]) {
            packet.iter().for_each(|packet| to.handle_packet(now, packet));
            to.handle_timeout(now);
        }
        if let Some(completion) = a.poll_completion() {
            break completion;
        }
    };
    let received = b.poll_completion().unwrap();
    assert_eq!((sent.id, sent.status), (42, CompletionStatus::Success));
    assert_eq!((received.id, received.bytes), (7, bytes));
    println!("{bytes} sent and acknowledged after {} ns: {}", now.as_ps() / 1_000, sent.status);
}

#[cfg(test)]
mod tests {
    #[test]
    fn it_runs() {
        super::main();
    }
}
