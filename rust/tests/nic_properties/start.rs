//! The initial state of a case: new queue pairs, or one just before its sequence numbers wrap.

use std::sync::Arc;

use evenkeel::balance::sender::{NetworkParameters, PathSpace, QpContext};
use evenkeel::ids::{HostId, QpId};
use evenkeel::nic::recovery::Numbering;
use evenkeel::nic::{Nic, NicCounters, SendHalf};
use evenkeel::packet::Psn;
use evenkeel::units::{Bytes, Span, Time};

use super::case::Case;
use super::settings::{PAYLOAD, PORT, Settings};

/// Two NICs whose queue pairs are connected and idle.
#[derive(Debug, Clone)]
pub(crate) struct Start {
    pub(crate) nics: [Nic; 2],
    /// Queue pair numbers of the requesters.
    pub(crate) senders: Vec<QpId>,
    /// Counters of both NICs so far.
    pub(crate) counted: [NicCounters; 2],
    /// Number of packets that each queue pair has sent.
    pub(crate) packets: u64,
    /// Number of messages that each queue pair has sent.
    pub(crate) messages: u32,
}

impl Start {
    /// Creates new queue pairs for a case.
    pub(crate) fn fresh(settings: &Settings, case: &Case) -> Self {
        let mut config = settings.nic.clone();
        config.ack.every = u32::from(case.ack_every);
        config.nack_interval = Span::from_us(u64::from(case.nack_interval_us));
        let config = Arc::new(config);
        let mut nics = [0, 1].map(|host| Nic::new(HostId(host), PORT, Arc::clone(&config)));
        for nic in &mut nics {
            nic.set_planes(u32::from(case.planes.max(1)), settings.answers, case.seed.into());
        }
        let senders = (0..u32::from(case.qps)).map(|n| connect(&mut nics, settings, n, case));
        let senders = senders.collect();
        let counted = [NicCounters::default(); 2];
        Self { nics, senders, counted, packets: 0, messages: 0 }
    }

    /// Creates the queue pair of the case shortly before its sequence numbers wrap. It has sent one
    /// long message without loss. With an erasure code, which counts packets by message, it has
    /// sent many short ones instead. Settings must not pace.
    pub(crate) fn before_the_wrap(settings: &Settings, case: &Case) -> Self {
        let mut start = Self::fresh(settings, case);
        let (messages, packets) = match settings.nic.recovery.numbering() {
            Numbering::Message => (Psn::MODULUS - 3, 1),
            Numbering::QueuePair => (1, Psn::MODULUS - 30),
        };
        start.packets = messages * packets;
        start.messages = u32::try_from(messages).expect("below 2^24");
        for _ in 0..messages {
            start.send(Bytes::new(packets * PAYLOAD));
        }
        start.counted = [*start.nics[0].counters(), *start.nics[1].counters()];
        start
    }

    /// Sends a message without advancing time.
    fn send(&mut self, bytes: Bytes) {
        let [left, right] = &mut self.nics;
        left.post(self.senders[0], bytes, 0, 0);
        while let Some(packet) = left.poll_transmit(Time::ZERO) {
            right.handle_packet(Time::ZERO, &packet);
            while let Some(answer) = right.poll_transmit(Time::ZERO) {
                left.handle_packet(Time::ZERO, &answer);
            }
        }
        for nic in &mut self.nics {
            assert!(nic.poll_event().is_some(), "the message is delivered and complete");
        }
    }
}

/// Connects queue pair `number`: even ones send from the left, odd ones from the right.
fn connect(nics: &mut [Nic; 2], settings: &Settings, number: u32, case: &Case) -> QpId {
    let from = (number % 2) as usize;
    let [src, dst] = [from, 1 - from].map(|side| HostId(side as u32));
    let context = QpContext {
        seed: u64::from(case.seed),
        src,
        dst,
        stream: number,
        qp_index: 0,
        paths: PathSpace::SINGLE,
        path: 0,
        network: NetworkParameters {
            planes: u32::from(case.planes.max(1)),
            ..NetworkParameters::default()
        },
    };
    let policy = settings.sender.build(&context);
    let half = SendHalf { peer: dst, label: number, cookie: number, extra: false, policy };
    let sender = nics[from].open_sender(half);
    let receiver = nics[1 - from].open_receiver(src, sender, number, number);
    nics[from].connect(sender, receiver);
    sender
}
