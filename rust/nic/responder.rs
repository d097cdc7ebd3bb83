//! The receiving half of a queue pair: what it accepts, and what it answers.
//!
//! Source: InfiniBand Architecture Specification, volume 1, section 9.7.5.2 (responder, NAK
//! generation: one for each missing PSN, duplicates are acknowledged again), with the interval
//! after which HPCC-family NICs repeat a NACK; for selective repeat, the acknowledgements of
//! Ultra Ethernet 1.0 with a cumulative number and a bitmap of 64 PSNs.

use std::collections::VecDeque;

use super::{NicConfig, NicCounters, NicEvent, Recovery};
use crate::ids::{HostId, QpId};
use crate::packet::{Flags, Packet, PacketKind, Psn};
use crate::units::Time;

/// Where a responder's packets and news go.
pub(super) struct Outbox<'a> {
    pub config: &'a NicConfig,
    pub control: &'a mut VecDeque<Packet>,
    pub events: &'a mut VecDeque<NicEvent>,
    pub counters: &'a mut NicCounters,
}

/// A NACK that was sent.
#[derive(Debug, Clone, Copy)]
struct Nacked {
    missing: u64,
    at: Time,
}

/// Arrivals that were not yet acknowledged.
#[derive(Debug, Clone, Copy, Default)]
struct Unreported {
    packets: u32,
    marked: u8,
    /// First PSN of the block of 64 that `sack` covers.
    base: u64,
    sack: u64,
}

/// The receiving half.
#[derive(Debug, Clone)]
pub(super) struct Responder {
    host: HostId,
    peer: HostId,
    peer_qp: QpId,
    /// Hash of the 5-tuple of its answers.
    label: u32,
    cookie: u32,
    recovery: Recovery,
    /// Every packet before this one has arrived.
    expected: u64,
    /// One past the highest that has arrived.
    highest: u64,
    /// Messages delivered (the MSN of the specification).
    messages: u32,
    unreported: Unreported,
    nacked: Option<Nacked>,
    /// Arrivals beyond `expected`, from `expected / 64 * 64` on, 64 a word (selective repeat).
    arrived: VecDeque<u64>,
    /// Last packets of messages not yet delivered, in order (selective repeat).
    ends: VecDeque<u64>,
    next_cnp: Time,
}

/// Who the two halves of a queue pair are.
#[derive(Debug, Clone, Copy)]
pub(super) struct Peer {
    pub host: HostId,
    pub peer: HostId,
    pub peer_qp: QpId,
    pub label: u32,
    pub cookie: u32,
}

impl Responder {
    pub fn new(peer: Peer, recovery: Recovery) -> Self {
        Self {
            host: peer.host,
            peer: peer.peer,
            peer_qp: peer.peer_qp,
            label: peer.label,
            cookie: peer.cookie,
            recovery,
            expected: 0,
            highest: 0,
            messages: 0,
            unreported: Unreported::default(),
            nacked: None,
            arrived: VecDeque::new(),
            ends: VecDeque::new(),
            next_cnp: Time::ZERO,
        }
    }

    /// Who it is.
    pub fn as_peer(&self) -> Peer {
        let &Self { host, peer, peer_qp, label, cookie, .. } = self;
        Peer { host, peer, peer_qp, label, cookie }
    }

    /// Every packet before this one has arrived.
    pub fn expected(&self) -> u64 {
        self.expected
    }

    /// Messages delivered.
    pub fn messages(&self) -> u32 {
        self.messages
    }

    /// A data packet came in.
    pub fn handle_data(&mut self, now: Time, packet: &Packet, out: &mut Outbox) {
        out.counters.data_received += 1;
        if packet.flags.has(Flags::TRIMMED) {
            // Its payload is gone; the sender's timer brings it back.
            return;
        }
        let sequence = packet.psn.near(self.expected);
        if sequence < self.highest {
            out.counters.out_of_order += 1;
        }
        self.highest = self.highest.max(sequence + 1);
        if packet.flags.has(Flags::MARKED) {
            out.counters.marked += 1;
            self.notify_congestion(now, packet, out);
        }
        match self.recovery {
            Recovery::GoBackN => self.take_in_order(now, sequence, packet, out),
            Recovery::PerPacket => self.take_any_order(sequence, packet, out),
        }
    }

    fn take_in_order(&mut self, now: Time, sequence: u64, packet: &Packet, out: &mut Outbox) {
        if sequence > self.expected {
            self.refuse(now, packet, out);
            return;
        }
        if sequence < self.expected {
            out.counters.duplicates += 1;
            self.report(packet, out);
            return;
        }
        self.expected += 1;
        self.nacked = None;
        out.counters.payload_received += payload(packet, out.config);
        let last = packet.flags.has(Flags::LAST);
        if last {
            self.deliver(out);
        }
        self.note(sequence, packet);
        if last || asked(packet) || self.unreported.packets >= out.config.ack.every {
            self.report(packet, out);
        }
    }

    /// A gap: the packet is thrown away, and the sender told what is missing, once an interval.
    fn refuse(&mut self, now: Time, packet: &Packet, out: &mut Outbox) {
        out.counters.refused += 1;
        let told = self.nacked.is_some_and(|nack| {
            nack.missing == self.expected && now < nack.at.saturating_add(out.config.nack_interval)
        });
        if told {
            return;
        }
        self.nacked = Some(Nacked { missing: self.expected, at: now });
        let nack = self.answer(PacketKind::Nack, packet, out.config);
        out.control.push_back(nack);
    }

    fn take_any_order(&mut self, sequence: u64, packet: &Packet, out: &mut Outbox) {
        if self.unreported.packets > 0 && self.unreported.base != sequence / 64 * 64 {
            // One acknowledgement covers one block of 64.
            self.report(packet, out);
        }
        if self.has_arrived(sequence) {
            out.counters.duplicates += 1;
            self.note(sequence, packet);
            self.report(packet, out);
            return;
        }
        out.counters.payload_received += payload(packet, out.config);
        let last = packet.flags.has(Flags::LAST);
        if last {
            let place = self.ends.partition_point(|&end| end < sequence);
            self.ends.insert(place, sequence);
        }
        self.accept(sequence);
        let mut delivered = false;
        while self.ends.front().is_some_and(|&end| end < self.expected) {
            self.ends.pop_front();
            self.deliver(out);
            delivered = true;
        }
        self.note(sequence, packet);
        if last || delivered || asked(packet) || self.unreported.packets >= out.config.ack.every {
            self.report(packet, out);
        }
    }

    fn has_arrived(&self, sequence: u64) -> bool {
        if sequence < self.expected {
            return true;
        }
        let word = sequence / 64 - self.expected / 64;
        self.arrived.get(word as usize).is_some_and(|bits| bits >> (sequence % 64) & 1 == 1)
    }

    fn accept(&mut self, sequence: u64) {
        let first = self.expected / 64;
        let word = (sequence / 64 - first) as usize;
        if self.arrived.len() <= word {
            self.arrived.resize(word + 1, 0);
        }
        self.arrived[word] |= 1 << (sequence % 64);
        while let Some(&bits) = self.arrived.front() {
            let run = u64::from((bits >> (self.expected % 64)).trailing_ones());
            self.expected += run;
            if run == 0 || !self.expected.is_multiple_of(64) {
                break;
            }
            self.arrived.pop_front();
        }
    }

    fn deliver(&mut self, out: &mut Outbox) {
        out.events.push_back(NicEvent::Delivered { cookie: self.cookie, message: self.messages });
        self.messages += 1;
    }

    fn note(&mut self, sequence: u64, packet: &Packet) {
        self.unreported.packets += 1;
        self.unreported.base = sequence / 64 * 64;
        self.unreported.sack |= 1 << (sequence % 64);
        let marked = u8::from(packet.flags.has(Flags::MARKED));
        self.unreported.marked = self.unreported.marked.saturating_add(marked);
    }

    fn report(&mut self, packet: &Packet, out: &mut Outbox) {
        let ack = self.answer(PacketKind::Ack, packet, out.config);
        self.unreported = Unreported::default();
        out.control.push_back(ack);
    }

    fn notify_congestion(&mut self, now: Time, packet: &Packet, out: &mut Outbox) {
        if out.config.congestion.wants_cnp() && now >= self.next_cnp {
            self.next_cnp = now.saturating_add(out.config.cnp_interval);
            let cnp = self.answer(PacketKind::Cnp, packet, out.config);
            out.control.push_back(cnp);
        }
    }

    pub fn answer(&self, kind: PacketKind, packet: &Packet, config: &NicConfig) -> Packet {
        let marked = self.unreported.marked;
        Packet {
            src: self.host,
            dst: self.peer,
            qp: self.peer_qp,
            label: self.label,
            psn: Psn::on_wire(self.unreported.base),
            ack: Psn::on_wire(self.expected),
            sack: self.unreported.sack,
            stamp: packet.stamp,
            wire_bytes: config.ack_wire_bytes(),
            entropy: packet.entropy,
            route: packet.entropy,
            kind,
            flags: Flags::PRIORITY
                .when(config.ack.priority)
                .with(Flags::MARKED.when(packet.flags.has(Flags::MARKED))),
            marked,
        }
    }
}

/// Whether the sender waits for the acknowledgement.
fn asked(packet: &Packet) -> bool {
    packet.flags.has(Flags::ACK_REQUEST)
}

/// What a packet carries; one shorter than its header carries nothing.
fn payload(packet: &Packet, config: &NicConfig) -> u64 {
    u64::from(packet.wire_bytes).saturating_sub(config.header.get())
}
