//! NIC verbs without a fabric: two NICs back to back.

use std::sync::Arc;

use divan::Bencher;
use divan::counter::ItemsCount;
use evenkeel::ids::{HostId, QpId};
use evenkeel::nic::verbs::{Operation, WorkRequest};
use evenkeel::nic::{Nic, PortFacts, QpAttributes, QpState, Recovery};
use evenkeel::units::{BitRate, Bytes, Span, Time};

use crate::cases::{self, Transport};

const PORT: PortFacts =
    PortFacts { line_rate: BitRate::from_gbps(400), base_rtt: Span::from_us(2) };
const MESSAGE: Bytes = Bytes::new(4 << 20);

/// Two NICs and the sending queue pair.
struct Pair {
    sender: Nic,
    receiver: Nic,
    qp: QpId,
}

impl Pair {
    fn new(transport: Transport, recovery: Recovery) -> Self {
        let config = Arc::new(cases::nic(transport, recovery));
        let [mut sender, mut receiver] =
            [0, 1].map(|host| Nic::new(HostId(host), PORT, config.clone()));
        let open = |nic: &mut Nic, at, peer| {
            nic.create_qp(QpAttributes::single_path(HostId(at), HostId(peer)))
                .expect("a queue pair")
        };
        let (qp, peer_qp) = (open(&mut sender, 0, 1), open(&mut receiver, 1, 0));
        for (nic, qp, peer_qp) in [(&mut sender, qp, peer_qp), (&mut receiver, peer_qp, qp)] {
            nic.modify_qp(qp, QpState::Init).expect("it is new");
            nic.set_peer_qp(qp, peer_qp).expect("it has no peer yet");
            nic.modify_qp(qp, QpState::ReadyToReceive).expect("it has a peer");
            nic.modify_qp(qp, QpState::ReadyToSend).expect("it is ready to receive");
        }
        Self { sender, receiver, qp }
    }

    /// Sends a message; returns the number of packets, including acknowledgements. The wire has no
    /// delay and carries one packet in each direction.
    fn send(&mut self) -> u64 {
        let Self { sender, receiver, qp } = self;
        let work = WorkRequest { id: 1, operation: Operation::Write, bytes: MESSAGE, path: 0 };
        sender.post_send(*qp, work).expect("room in the queue");
        let (mut now, mut count) = (Time::ZERO, 0);
        while sender.poll_completion().is_none() {
            let packets = [sender.poll_transmit(now), receiver.poll_transmit(now)];
            count += packets.iter().flatten().count() as u64;
            let longest = packets.iter().flatten().map(|packet| packet.wire_bytes).max();
            now = match longest {
                Some(bytes) => now + PORT.line_rate.time_for(Bytes::new(bytes.into())),
                None => sender.poll_timeout().expect("an open message has a timer"),
            };
            let [data, answer] = &packets;
            data.iter().for_each(|packet| receiver.handle_packet(now, packet));
            answer.iter().for_each(|packet| sender.handle_packet(now, packet));
            sender.handle_timeout(now);
            receiver.handle_timeout(now);
        }
        count
    }
}

fn measure(bencher: Bencher<'_, '_>, new: impl Fn() -> Pair) {
    let packets = new().send();
    bencher.counter(ItemsCount::new(packets)).with_inputs(new).bench_local_refs(Pair::send);
}

#[divan::bench(args = [Transport::LineRate, Transport::Window, Transport::Dcqcn])]
fn per_packet_recovery(bencher: Bencher<'_, '_>, transport: Transport) {
    measure(bencher, || Pair::new(transport, Recovery::PER_PACKET));
}

#[divan::bench]
fn go_back_n(bencher: Bencher<'_, '_>) {
    measure(bencher, || Pair::new(Transport::Dcqcn, Recovery::GO_BACK_N));
}
