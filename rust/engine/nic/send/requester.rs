//! The requester, the sending half of a queue pair: work in, packets out, acknowledgements in,
//! completions out.

mod credit;
mod feedback;
mod parts;
mod path;
mod quiet;
mod timed;
mod verbs;
mod windows;
mod work;

use std::collections::VecDeque;
use std::mem::offset_of;

use feedback::missing;
pub(in crate::nic) use parts::RequesterParts;
use path::Path;
pub(in crate::nic) use windows::PlaneWindows;
use work::{Work, WorkList};

use crate::balance::sender::{PathSignal, Sender, SenderPolicy};
use crate::ids::{HostId, QpId};
use crate::nic::config::NicConfig;
use crate::nic::congestion::new_controls::NewControls;
use crate::nic::congestion::{CongestionController, Controller, Loss, PathFacts};
use crate::nic::event::{Backlog, NicEvent, Owner};
use crate::nic::qp::delivery::Delivery;
use crate::nic::qp::settings::QpSettings;
use crate::nic::receive::ack::{Entropies, NackSignal};
use crate::nic::recovery::{MissReason, NackReport};
use crate::nic::recovery::{Numbering, SendRecovery, SenderFacts, Sending};
use crate::nic::send::pacer::Pacer;
use crate::nic::send::sent_entropies::SentEntropies;
use crate::packet::{AckView, DataFields, Flags, MessageLabel, NackView, Packet, Psn, Stamp, View};
use crate::units::{BitRate, Bytes, Span, Time};

/// Most packets in flight: PSNs at a distance of 2^23 or more would compare in the wrong order
/// (InfiniBand specification, volume 1, 9.7.2).
const MAX_IN_FLIGHT: u64 = Psn::MODULUS / 2 - 1;

/// Context of a packet that starts: the time, the rate of its wire and the configuration.
#[derive(Debug, Clone, Copy)]
pub(in crate::nic) struct Departure<'a> {
    pub(in crate::nic) now: Time,
    pub(in crate::nic) line_rate: BitRate,
    pub(in crate::nic) config: &'a NicConfig,
}

/// The next packet of a requester.
#[derive(Debug, Clone, Copy)]
pub(in crate::nic) struct Next {
    pub(in crate::nic) sequence: u64,
    /// Its entropy value, if it is already chosen.
    pub(in crate::nic) entropy: Option<u16>,
}

/// The state of a requester in the schedule of its NIC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::nic) enum SendState {
    /// It has nothing to send.
    Idle,
    /// It waits in the queue of those that may send.
    Ready,
    /// It waits for its rate, or for its context.
    Paced,
}

/// The sending half of a queue pair.
///
/// The fields that each packet touches come first, in five cache lines with go-back-N. With
/// thousands of queue pairs they are prefetched (`nic::send::prefetch`).
#[derive(Debug, Clone)]
#[repr(C, align(64))]
pub(in crate::nic) struct Requester {
    pub send_state: SendState,
    /// True once it has retransmitted a packet.
    has_retransmitted: bool,
    /// True if its policy sends probes, or it may have to ask for credit.
    may_wake: bool,
    /// True if the responder coalesces acknowledgements unless asked.
    requests_acks: bool,
    /// True if packets name their message, because it may be delivered before others.
    names_messages: bool,
    /// True if `max_messages` is a limit.
    limits_messages: bool,
    numbering: Numbering,
    flags: Flags,
    label: u32,
    host: HostId,
    peer: HostId,
    peer_qp: QpId,
    /// Bytes of a full packet on the wire.
    packet_bytes: u32,
    path: Path,
    /// Due time of its entry among the NIC's timers; `NEVER` without one.
    pub timer_entry: Time,
    /// One past the last packet of the last message.
    end: u64,
    /// Bytes on the wire that the recovery permits in flight.
    recovery_window: u64,
    /// Present if acknowledgements carry the entropy values of every packet that they cover.
    entropies: Option<Box<SentEntropies>>,
    /// The controls of the planes if each has its own, or those that queue pairs to a host share.
    /// `congestion` is then unused.
    planes: Option<Box<PlaneWindows>>,
    pub(in crate::nic) pacer: Pacer,
    pub(in crate::nic) congestion: Controller,
    pub(in crate::nic) policy: Sender,
    work: WorkList,
    pub(in crate::nic) recovery: Sending,
    /// Bytes on the wire that were never sent; exact only where receivers grant credit.
    unsent: u64,
    owner: Owner,
    /// Number of requesters that the NIC created before this one.
    pub age: u32,
    /// Low bits of the number of complete messages.
    completed: u32,
    /// Most messages that may have packets in flight.
    max_messages: u32,
    /// Index of the traffic class of its packets.
    class: u8,
    /// Congestion signal of NACKs for a gap.
    nacks: NackSignal,
}

// A run may have a million requesters: seven cache lines each. Go-back-N packets touch five.
#[cfg(target_pointer_width = "64")]
const _: () = {
    assert!(size_of::<Requester>() == 7 * 64);
    assert!(Requester::TOUCHED_BY_GO_BACK_N == 5 * 64);
};

impl Requester {
    /// Bytes that each packet and acknowledgement touches: from the start to the recovery,
    /// inclusive.
    pub(in crate::nic) const TOUCHED: usize = offset_of!(Self, recovery) + size_of::<Sending>();

    /// Bytes touched with go-back-N, which has 48 bytes after the discriminant of [`Sending`].
    pub(in crate::nic) const TOUCHED_BY_GO_BACK_N: usize = offset_of!(Self, recovery) + 56;

    pub(in crate::nic) fn new(
        mut parts: RequesterParts,
        config: &NicConfig,
        controls: &mut NewControls,
    ) -> Self {
        let facts = PathFacts { has_equal_paths: parts.has_equal_paths, ..config.path(parts.port) };
        let QpSettings { recovery: kind, flags, class } = parts.settings;
        let ack = parts.ack;
        let path = Path::new(kind, &parts.policy);
        let max_messages = windows::max_messages(config, parts.owner);
        let planes = PlaneWindows::of(config, parts.port, parts.planes, &parts.policy);
        let recovery = kind.sender(&SenderFacts {
            timeout: config.retransmit_timeout,
            ack_range: ack.range,
            base_rtt: facts.base_rtt,
            planes: planes.as_ref().map(|windows| windows.count()).filter(|&count| count > 1),
        });
        Self {
            send_state: SendState::Idle,
            timer_entry: Time::NEVER,
            age: 0,
            has_retransmitted: false,
            host: parts.host,
            peer: parts.peer,
            peer_qp: QpId::default(),
            label: parts.label,
            flags,
            class: u8::try_from(class.0).unwrap_or(u8::MAX),
            owner: parts.owner,
            completed: 0,
            packet_bytes: u32::try_from(facts.packet.get()).unwrap_or(u32::MAX),
            may_wake: parts.policy.prober().is_some() && path.is_chosen()
                || config.congestion.credit().is_some(),
            unsent: 0,
            requests_acks: ack.every > 1,
            nacks: ack.nacks,
            recovery_window: kind.window(&facts),
            entropies: match (ack.entropies, kind.numbering()) {
                // An erasure code has no numbers along the queue pair to look values up by.
                (_, Numbering::Message) => None,
                _ if !path.is_chosen() => None,
                (Entropies::Last, _) if !parts.policy.needs_packet_feedback() => None,
                (_, Numbering::QueuePair) => Some(Box::new(SentEntropies::new(ack.range))),
            },
            numbering: kind.numbering(),
            names_messages: kind.numbering() == Numbering::QueuePair
                && config.delivery_with(kind) == Delivery::Unordered,
            path,
            end: 0,
            limits_messages: max_messages.is_some(),
            max_messages: max_messages.unwrap_or(u32::MAX),
            recovery,
            policy: parts.policy,
            pacer: Pacer::default(),
            congestion: controls.next(config, facts),
            planes,
            work: WorkList::new(),
        }
    }

    /// Sets the number of the peer's queue pair.
    pub(in crate::nic) fn connect(&mut self, peer_qp: QpId) {
        self.peer_qp = peer_qp;
    }

    /// Passes the share of traffic of each path to the policy.
    pub(in crate::nic) fn handle_weights(&mut self, weights: &[u32]) {
        self.policy.handle_weights(weights);
    }

    /// Returns the size of its policy's state, in bits.
    pub(in crate::nic) fn policy_bits(&self) -> u64 {
        self.policy.state_bits()
    }

    /// Accepts a message and pins it to `path` if the policy pins.
    pub(in crate::nic) fn post(&mut self, bytes: Bytes, id: u64, path: u16, config: &NicConfig) {
        // An empty message still takes one packet.
        let packets = bytes.get().div_ceil(config.payload.get()).max(1);
        self.work.push(Work { first: self.end, packets, bytes: bytes.get(), id, verb: 0 });
        // With work in progress the path stays: a change would let packets of one message overtake
        // those of another.
        if self.work.is_single() {
            self.policy.set_path(path);
        }
        self.end += packets;
        self.unsent += bytes.get() + packets * config.header.get();
        self.recovery.handle_posted(packets);
    }

    /// Returns the oldest packet that is not acknowledged.
    pub(in crate::nic) fn unacknowledged(&self) -> u64 {
        self.recovery.unacknowledged()
    }

    /// True if all of its messages are complete.
    pub(in crate::nic) fn is_done(&self) -> bool {
        self.work.is_empty()
    }

    /// Returns the progress of its work, regardless of window and rate.
    pub(in crate::nic) fn backlog(&self) -> Backlog {
        if self.work.is_empty() {
            return Backlog::Nothing;
        }
        match self.recovery.next(self.end) {
            Some(_) => Backlog::Unsent,
            None => Backlog::Unacknowledged,
        }
    }

    /// True if the window permits a packet, regardless of the rate.
    #[inline]
    pub(in crate::nic) fn has_packet(&self) -> bool {
        self.next_sequence().is_some()
    }

    /// Returns the next packet to send, if any, regardless of the rate.
    #[inline(always)]
    pub(in crate::nic) fn next_packet(&self) -> Option<Next> {
        Some(Next { sequence: self.next_sequence()?, entropy: None })
    }

    /// Returns the number of that packet. A separate call keeps the result in registers.
    fn next_sequence(&self) -> Option<u64> {
        let sequence = self.recovery.next(self.window_end())?;
        self.window_is_open().then_some(sequence)
    }

    /// Returns when the rate permits the next packet.
    pub(in crate::nic) fn next_start(&self) -> Time {
        self.pacer.next()
    }

    /// Returns when the retransmission timer expires.
    #[inline(always)]
    pub(in crate::nic) fn deadline(&self) -> Time {
        self.recovery.deadline()
    }

    /// Writes the packet that [`Self::next_packet`] has just returned to `buffer`.
    #[inline]
    pub(in crate::nic) fn transmit(&mut self, at: Departure<'_>, next: Next, buffer: &mut Packet) {
        let Departure { now, config, .. } = at;
        let Next { sequence, entropy: chosen } = next;
        let work = self.work.of(sequence);
        let index = sequence - work.first;
        let last = index + 1 == work.packets;
        let payload =
            if last { work.bytes - index * config.payload.get() } else { config.payload.get() };
        let wire_bytes = u16::try_from(payload + config.header.get()).expect("checked by config");
        // Read before `handle_sent`, which counts this packet as sent.
        let again = sequence < self.recovery.never_sent();
        self.has_retransmitted |= again;
        // Called once for each packet, retransmissions included: policies rely on that.
        let entropy = chosen.unwrap_or_else(|| self.entropy(now));
        let mut data = DataFields {
            psn: Psn::on_wire(sequence),
            sent: Stamp::at(now),
            verb: work.verb,
            message: MessageLabel::default(),
        };
        if self.names_messages {
            data.message = self.message_label(&work);
        }
        // An erasure code numbers packets in its own way, whatever the order of delivery.
        self.recovery.label(&mut data, work.bytes);
        *buffer = Packet {
            src: self.host,
            dst: self.peer,
            qp: self.peer_qp,
            label: self.label,
            wire_bytes,
            entropy,
            route: entropy,
            flags: self.flags.with(Flags::LAST.when(last)).with(Flags::RETRANSMITTED.when(again)),
            ..Packet::data(data)
        };
        if let Some(entropies) = &mut self.entropies {
            entropies.handle_sent(sequence, entropy);
        }
        self.recovery.handle_sent(now, entropy);
        // After the recovery: the window check below needs this packet to be in flight.
        self.notify_sent(now, entropy, wire_bytes);
        // After congestion control, whose rate may depend on this packet.
        self.pace(at, wire_bytes);
        if self.requests_acks && self.window_is_full(entropy) {
            // No later packet would make its acknowledgement due.
            buffer.flags = buffer.flags.with(Flags::ACK_REQUEST);
        }
    }

    /// Returns the label that unordered delivery needs: the index of the packet's message, and its
    /// number of packets.
    fn message_label(&self, work: &Work) -> MessageLabel {
        let before = self.work.before(work.first) as u64;
        MessageLabel {
            index: Psn::on_wire(u64::from(self.completed) + before),
            length: u32::try_from(work.packets).unwrap_or(u32::MAX),
        }
    }

    /// Delays the next packet if the rate is below line rate.
    fn pace(&mut self, at: Departure<'_>, wire_bytes: u16) {
        let Departure { now, line_rate, config } = at;
        let rate = self.congestion.rate(now);
        // At line rate the wire itself paces: the requester takes its turns without wake-ups.
        if rate < line_rate {
            self.pacer.handle_sent(now, u32::from(wire_bytes), rate, config.pace_unit);
        }
    }

    /// Handles an acknowledgement, NACK or CNP.
    #[inline(always)]
    pub(in crate::nic) fn handle_control(
        &mut self,
        now: Time,
        packet: &Packet,
        events: &mut VecDeque<NicEvent>,
    ) {
        // The common case, before the match over all kinds.
        if let Some(ack) = packet.as_ack() {
            return self.handle_ack(now, ack, events);
        }
        match packet.view() {
            View::Ack(ack) => self.handle_ack(now, ack, events),
            View::Nack(nack) => self.handle_nack(now, nack, events),
            View::Cnp => self.congestion.handle_cnp(now),
            View::Credit(credit) => {
                if let Some(controller) = self.congestion.credit() {
                    controller.handle_credit(now, credit.number());
                }
            }
            // Only queue pairs with completions act on refusals; see `Nic::handle_refusal`.
            View::Refusal(_) | View::Pause(_) | View::LinkCredit(_) | View::Endpoint(_) => {}
            View::Data(_) => unreachable!("data goes to the responder"),
        }
    }

    /// Informs the recovery first: the policy and congestion control see what is in flight after
    /// it. Completions come last.
    fn handle_ack(&mut self, now: Time, ack: AckView<'_>, events: &mut VecDeque<NicEvent>) {
        let new = self.recovery.handle_ack(now, self.recovery.read(ack));
        self.notify_policy_of_ack(now, ack, new);
        while let Some(lost) = self.recovery.poll_lost() {
            let rtt = Span::from_ps(ack.echo().ps_until(now));
            self.handle_hole(now, lost, rtt, events);
        }
        self.notify_arrivals(now, ack, new);
        self.complete(events);
    }

    fn handle_nack(&mut self, now: Time, nack: NackView<'_>, events: &mut VecDeque<NicEvent>) {
        let is_gap = !nack.is_for_trimmed();
        let reason = if is_gap { MissReason::Gap } else { MissReason::Trimmed };
        let is_ack = is_gap && self.recovery.treats_gap_nacks_as_acks();
        if is_gap && self.nacks != NackSignal::None && nack.as_ack().echoes_mark() {
            match is_ack && nack.as_ack().report().marked_packets() > 0 {
                // Controls that read marks in acknowledgements see this one in `handle_ack`.
                true => self.congestion.handle_cnp(now),
                false => self.congestion.handle_marked_nack(now),
            }
        }
        if is_ack {
            self.handle_ack(now, nack.as_ack(), events);
            return;
        }
        let report = self.recovery.read(nack.as_ack());
        let nacked = NackReport { missing: report.ack, psn: report.base, reason };
        // A NACK for a packet before the oldest incomplete message is late.
        let late = self.work.oldest().is_none_or(|work| nacked.missing < work.first);
        // An erasure code numbers packets within their message, so these cannot be compared.
        let late = late && self.numbering == Numbering::QueuePair;
        if late || !self.recovery.handle_nack(now, nacked) {
            return;
        }
        let signal = match reason {
            MissReason::Gap => PathSignal::Nack,
            MissReason::Trimmed if nack.was_trimmed_at_last_hop() => PathSignal::TrimmedAtLastHop,
            MissReason::Trimmed => PathSignal::Trimmed,
        };
        self.notify_policy(now, missing(now, nack.as_ack(), nack.entropy, signal));
        let loss = match signal {
            PathSignal::Trimmed => Loss::Trimmed,
            PathSignal::TrimmedAtLastHop => Loss::TrimmedAtLastHop,
            _ => Loss::Nack,
        };
        let rtt = Span::from_ps(nack.as_ack().echo().ps_until(now));
        self.notify_nack_rtt(nack.entropy, rtt);
        self.notify_loss(now, nack.entropy, loss);
        // A NACK may acknowledge everything before the missing packet.
        self.complete(events);
    }

    #[inline(always)]
    fn complete(&mut self, events: &mut VecDeque<NicEvent>) {
        let acknowledged = self.recovery.unacknowledged();
        while let Some(work) = self.work.oldest() {
            if work.end() > acknowledged {
                return;
            }
            events.push_back(NicEvent::Completed { owner: self.owner, work: work.id });
            self.work.pop_oldest();
            // It may wrap: 2^32 is a multiple of the range of numbers on the wire.
            self.completed = self.completed.wrapping_add(1);
        }
    }
}
