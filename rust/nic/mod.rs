//! The RDMA NIC: queue pairs, loss recovery, congestion control, pacing, acknowledgements.
//!
//! It is sans-IO. It has no clock, no queue of the world's and no random state of its own: a
//! world (the fabric here, ns-3, a test) hands it packets and the time, and takes packets, a
//! wake-up time and events. The verbs:
//!
//! - [`Nic::post`] puts a message on a queue pair;
//! - [`Nic::handle_packet`] and [`Nic::handle_timeout`] are what goes in;
//! - [`Nic::poll_transmit`] gives the packet that starts on the wire now: to be called whenever
//!   the wire is free, at times that never go back;
//! - [`Nic::poll_timeout`] says when to call again although nothing came in;
//! - [`Nic::poll_event`] gives what happened to messages.
//!
//! It knows no topology and no other host but by name.

mod config;
pub mod congestion;
mod pacer;
mod recovery;
mod requester;
mod responder;

pub use config::{AckConfig, NicConfig, PortFacts, Recovery};

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use requester::{Place, Requester, RequesterParts};
use responder::{Outbox, Peer, Responder};

use crate::balance::sender::Sender;
use crate::ids::{HostId, QpId};
use crate::packet::{Flags, Packet, PacketKind};
use crate::rng::mix32;
use crate::units::{Bytes, Time};

/// What happened to messages and paths. The cookie is the one given when the half was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NicEvent {
    /// The receiving half has every byte of its `message`-th message, from 0.
    Delivered {
        /// Of the receiving half.
        cookie: u32,
        /// Which message of the queue pair.
        message: u32,
    },
    /// The sending half knows that the work of this id arrived.
    Completed {
        /// Of the sending half.
        cookie: u32,
        /// As given to [`Nic::post`].
        work: u64,
    },
    /// The sending half left a path for good.
    PathFailed {
        /// Of the sending half.
        cookie: u32,
        /// The path that it left.
        path: u16,
    },
}

/// What a NIC counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct NicCounters {
    /// Data packets put on the wire.
    pub data_sent: u64,
    /// ... of which not for the first time.
    pub retransmitted: u64,
    /// Acknowledgements, NACKs and CNPs put on the wire.
    pub control_sent: u64,
    /// Data packets received.
    pub data_received: u64,
    /// ... of which ECN marked.
    pub marked: u64,
    /// ... of which behind one of a higher PSN.
    pub out_of_order: u64,
    /// ... of which already there.
    pub duplicates: u64,
    /// ... of which thrown away because one before them is missing (go-back-N).
    pub refused: u64,
    /// Payload bytes accepted, each once.
    pub payload_received: u64,
    /// Acknowledgements, NACKs and CNPs received.
    pub control_received: u64,
    /// Packets of any kind dropped because no queue pair has the number that they are for.
    pub misdirected: u64,
}

/// What a new sending half is given.
#[derive(Debug, Clone)]
pub struct SendHalf {
    /// The receiver.
    pub peer: HostId,
    /// Hash of the 5-tuple without the entropy value.
    pub label: u32,
    /// Its name in events.
    pub cookie: u32,
    /// True for a queue pair that a splitter asked for beyond one a pair and stream.
    pub extra: bool,
    /// What picks its entropy values.
    pub policy: Sender,
}

/// A NIC with one port. A clone goes on from the same state on its own.
#[derive(Debug, Clone)]
pub struct Nic {
    host: HostId,
    port: PortFacts,
    config: std::sync::Arc<NicConfig>,
    requesters: Vec<Requester>,
    responders: Vec<Responder>,
    extra: u64,
    /// Answers that wait for the wire; they go before data.
    control: VecDeque<Packet>,
    /// Queue pairs that may send, in turn.
    ready: VecDeque<QpId>,
    /// Queue pairs that their rate keeps waiting, by time.
    paced: BinaryHeap<Reverse<(Time, QpId)>>,
    /// Retransmission timers; an entry that turns out to be early is put back.
    timers: BinaryHeap<Reverse<(Time, QpId)>>,
    events: VecDeque<NicEvent>,
    counters: NicCounters,
}

impl Nic {
    /// The NIC of `host`.
    pub fn new(host: HostId, port: PortFacts, config: std::sync::Arc<NicConfig>) -> Self {
        Self {
            host,
            port,
            config,
            requesters: Vec::new(),
            responders: Vec::new(),
            extra: 0,
            control: VecDeque::new(),
            ready: VecDeque::new(),
            paced: BinaryHeap::new(),
            timers: BinaryHeap::new(),
            events: VecDeque::new(),
            counters: NicCounters::default(),
        }
    }

    /// Makes the sending half of a queue pair; [`Nic::connect`] completes it.
    pub fn open_sender(&mut self, half: SendHalf) -> QpId {
        let parts = RequesterParts {
            host: self.host,
            peer: half.peer,
            label: half.label,
            cookie: half.cookie,
            port: self.port,
            policy: half.policy,
        };
        self.requesters.push(Requester::new(parts, &self.config));
        self.extra += u64::from(half.extra);
        last_id(self.requesters.len())
    }

    /// Makes the receiving half for the sender `peer_qp` at `peer`, whose label is given.
    pub fn open_receiver(&mut self, peer: HostId, peer_qp: QpId, label: u32, cookie: u32) -> QpId {
        // Answers are another flow to a hashing switch: ports and addresses change sides.
        let label = mix32(label ^ 0x5f35_6495);
        let peer = Peer { host: self.host, peer, peer_qp, label, cookie };
        self.responders.push(Responder::new(peer, self.config.recovery));
        last_id(self.responders.len())
    }

    /// Tells a sending half which receiving half at its peer it sends to.
    pub fn connect(&mut self, qp: QpId, peer_qp: QpId) {
        self.requesters[qp.index()].connect(peer_qp);
    }

    /// Puts a message of `bytes` on `qp`; `work` is its name in events, `path` where it is pinned
    /// if the policy pins and the queue pair is idle.
    pub fn post(&mut self, qp: QpId, bytes: Bytes, work: u64, path: u16) {
        let requester = &mut self.requesters[qp.index()];
        requester.post(bytes, work, path, &self.config);
        self.make_ready(qp);
    }

    /// Sending halves that exist.
    pub fn send_qps(&self) -> u64 {
        self.requesters.len() as u64
    }

    /// Sending halves that exist beyond one a pair and stream.
    pub fn extra_qps(&self) -> u64 {
        self.extra
    }

    /// What it counted so far.
    pub fn counters(&self) -> &NicCounters {
        &self.counters
    }

    /// True if a packet would go if the wire were free, now or after a pause of pacing.
    #[inline]
    pub fn has_packets(&self) -> bool {
        !self.control.is_empty() || !self.ready.is_empty() || !self.paced.is_empty()
    }

    /// A packet came in; one for a queue pair that does not exist is dropped and counted.
    pub fn handle_packet(&mut self, now: Time, packet: &Packet) {
        if packet.kind == PacketKind::Data {
            let mut out = Outbox {
                config: &self.config,
                control: &mut self.control,
                events: &mut self.events,
                counters: &mut self.counters,
            };
            let Some(responder) = self.responders.get_mut(packet.qp.index()) else {
                out.counters.misdirected += 1;
                return;
            };
            responder.handle_data(now, packet, &mut out);
            return;
        }
        let Some(requester) = self.requesters.get_mut(packet.qp.index()) else {
            self.counters.misdirected += 1;
            return;
        };
        self.counters.control_received += 1;
        requester.handle_control(now, packet, &mut self.events);
        self.make_ready(packet.qp);
        self.keep_timer(packet.qp);
    }

    /// Time has come to a deadline, or a moment that `poll_timeout` named; early is harmless.
    pub fn handle_timeout(&mut self, now: Time) {
        while let Some(&Reverse((due, qp))) = self.timers.peek() {
            if due > now {
                return;
            }
            self.timers.pop();
            let requester = &mut self.requesters[qp.index()];
            if requester.timer_entry != due {
                continue;
            }
            requester.timer_entry = Time::NEVER;
            requester.handle_timeout(now, &mut self.events);
            self.make_ready(qp);
            self.keep_timer(qp);
        }
    }

    /// The packet that starts on the wire at `now`, if there is one: answers first, then queue
    /// pairs in turn.
    pub fn poll_transmit(&mut self, now: Time) -> Option<Packet> {
        if let Some(packet) = self.control.pop_front() {
            self.counters.control_sent += 1;
            return Some(packet);
        }
        while let Some(&Reverse((start, qp))) = self.paced.peek() {
            if start > now {
                break;
            }
            self.paced.pop();
            self.requesters[qp.index()].place = Place::Ready;
            self.ready.push_back(qp);
        }
        while let Some(qp) = self.ready.pop_front() {
            let requester = &mut self.requesters[qp.index()];
            requester.place = Place::Idle;
            if !requester.has_packet() {
                continue;
            }
            let packet = requester.transmit(now, &self.config);
            self.counters.data_sent += 1;
            self.counters.retransmitted += u64::from(packet.flags.has(Flags::RETRANSMITTED));
            let wire = self.port.line_rate.time_for(Bytes::new(u64::from(packet.wire_bytes)));
            self.take_place(qp, now + wire);
            self.keep_timer(qp);
            return Some(packet);
        }
        None
    }

    /// When to call `handle_timeout` and `poll_transmit` next, if nothing comes in before. With
    /// the wire busy then, the call may wait until it is free.
    pub fn poll_timeout(&self) -> Option<Time> {
        [self.next_paced(), self.next_timer()].into_iter().flatten().min()
    }

    /// When the rate of a queue pair first lets a packet go that it keeps back now.
    #[inline]
    pub fn next_paced(&self) -> Option<Time> {
        self.paced.peek().map(|&Reverse((start, _))| start)
    }

    /// When a retransmission timer may run out; it may turn out to be early.
    #[inline]
    pub fn next_timer(&self) -> Option<Time> {
        self.timers.peek().map(|&Reverse((due, _))| due)
    }

    /// What happened, oldest first.
    #[inline]
    pub fn poll_event(&mut self) -> Option<NicEvent> {
        self.events.pop_front()
    }

    /// Puts a queue pair with something to send in line.
    fn make_ready(&mut self, qp: QpId) {
        if self.requesters[qp.index()].place == Place::Idle {
            self.take_place(qp, Time::ZERO);
        }
    }

    /// In line, if its rate lets it go by `soon`; else it waits for its time.
    fn take_place(&mut self, qp: QpId, soon: Time) {
        let requester = &mut self.requesters[qp.index()];
        if !requester.has_packet() {
            return;
        }
        let start = requester.next_start();
        if start <= soon {
            requester.place = Place::Ready;
            self.ready.push_back(qp);
        } else {
            requester.place = Place::Paced;
            self.paced.push(Reverse((start, qp)));
        }
    }

    /// Sees to it that a running retransmission timer has an entry that is early enough.
    fn keep_timer(&mut self, qp: QpId) {
        let requester = &mut self.requesters[qp.index()];
        let deadline = requester.deadline();
        if deadline < requester.timer_entry {
            requester.timer_entry = deadline;
            self.timers.push(Reverse((deadline, qp)));
        }
    }
}

fn last_id(count: usize) -> QpId {
    QpId(u32::try_from(count - 1).expect("fewer than 2^32 queue pairs"))
}

#[cfg(test)]
mod tests;
