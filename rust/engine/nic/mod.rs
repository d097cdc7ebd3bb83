//! The RDMA NIC: queue pairs, loss recovery, congestion control, pacing, acknowledgements.
//!
//! It is sans-IO, with no clock, queue of the world's or random state of its own: a world (the
//! fabric, ns-3, a test) hands it packets and the time, and takes packets, a wake-up and events:
//!
//! - [`Nic::create_qp`], [`Nic::set_peer_qp`] and [`Nic::modify_qp`] make a queue pair and take it
//!   through its states;
//! - [`Nic::post_send`] and [`Nic::post_receive`] post work to it, and [`Nic::poll_completion`]
//!   returns completions ([`verbs`] has the rules); a world that needs no more than WRITEs and
//!   their delivery uses [`Nic::post`];
//! - [`Nic::handle_packet`] and [`Nic::handle_timeout`] take packets and the time;
//! - [`Nic::poll_transmit`], or [`Nic::poll_transmit_beside`] where others use the wire too,
//!   returns what starts now; the world calls it whenever the wire is free, in order of time;
//! - [`Nic::poll_timeout`] returns when to call again if no packet comes in before;
//! - [`Nic::poll_event`] returns what happened to messages and paths;
//! - [`Nic::account`] counts the queue pairs and their memory.
//!
//! The NIC sees no topology, and other hosts only as ids.
//!
//! The folders:
//!
//! - `qp`: the queue pair, its states and its account;
//! - `send`: requesters, their schedule, pacing and prefetches;
//! - `receive`: responders, acknowledgements and granted credit;
//! - `ports`: planes and the lines of traffic classes;
//! - [`recovery`], [`congestion`], [`verbs`] and `config`.
//!
//! `examples/two_nics.rs` joins two NICs back to back.

mod config;
pub mod congestion;
mod counters;
mod event;
pub mod parameters;
mod ports;
mod qp;
mod receive;
pub mod recovery;
mod send;
mod timer;
pub mod verbs;

pub use crate::sharing::{ClassSet, Discipline, Turns};
pub use config::round_trips::RoundTrips;
pub use config::{Mismatch, NicConfig, Peers, PortFacts};
pub use counters::NicCounters;
pub use event::{Backlog, NicEvent, Owner};
pub use ports::answer_planes::AnswerPlanes;
pub use ports::classes::{Others, Start};
pub use ports::planes::FreePorts;
pub use qp::accounting::{PeerAccount, QpAccount};
pub use qp::context_cache::{CacheConfig, CacheCounters};
pub use qp::delivery::Delivery;
pub use qp::event_qps::{ReceiveHalf, SendHalf};
pub use qp::settings::QpSettings;
pub use qp::{Origin, QpAttributes, QpState, Reporting, answer_label};
pub use receive::ack::{
    AckConfig, AckRange, AckSpan, Entropies, First, Marked, NackSignal, Resent,
};
pub use recovery::Recovery;
pub use send::sending_state::SendingState;
pub use timer::Timer;

use std::collections::{BTreeMap, VecDeque};

use congestion::new_controls::NewControls;
use ports::planes::Planes;
use qp::context_cache::ContextCache;
use qp::table::QpTable;
use qp::{FreeHalves, Setup, Slot, Turn};
use receive::credits::Credits;
use receive::receiver::{Outbox, ReceiverSettings};
use receive::responder::Responder;
use receive::telemetry::Relay;
use send::agenda::Agenda;
use send::destinations::Destinations;
use send::requester::Requester;
use verbs::{Completion, WorkQueues};

#[cfg(doc)]
use crate::balance::sender::SenderPolicy;
use crate::ids::{HostId, IdMap, QpId};
use crate::packet::{DataView, Packet};
use crate::units::{Span, Time};

/// A NIC with one port, or with one in each of several planes ([`Nic::set_planes`]). A clone goes
/// on from the same state on its own.
///
/// What each packet touches comes first, as far as the list of queue pairs: on large fabrics it is
/// fetched ahead.
#[derive(Debug, Clone)]
#[repr(C)]
pub struct Nic {
    /// Answers that wait for the wire; they go before data.
    control: VecDeque<Packet>,
    /// Sending halves that may send, in turn.
    ready: VecDeque<Slot>,
    /// Sending halves that wait for their rate, by time.
    paced: Agenda<Turn>,
    /// Retransmission timers; an entry that turns out to be early is put back.
    timers: Agenda<Turn>,
    /// Acknowledgement timers of receiving halves, in the same way; empty where `within` is off.
    ack_timers: Agenda<Slot>,
    events: VecDeque<NicEvent>,
    requesters: Vec<Requester>,
    responders: Vec<Responder>,
    config: std::sync::Arc<NicConfig>,
    cache: Option<Box<ContextCache>>,
    /// Telemetry of packets, where the congestion control asks for it.
    relay: Option<Box<Relay>>,
    /// What it grants to its senders, where the congestion control asks for credit.
    credits: Option<Box<Credits>>,
    /// With several ports.
    planes: Option<Box<Planes>>,
    /// The lines of sending halves with several classes; `ready` then has none.
    classes: Option<Box<ports::classes::ClassLines>>,
    /// The windows that queue pairs to the same host share, if they do.
    destinations: Option<Box<Destinations>>,
    port: PortFacts,
    /// What of `config` receiving halves need.
    receiving: ReceiverSettings,
    counters: NicCounters,
    /// Queue pairs by number.
    qps: QpTable,
    host: HostId,
    /// The queue pair of each sending half.
    requester_qps: Vec<QpId>,
    /// Halves of queue pairs that are gone, for new ones to take their places.
    free: Box<FreeHalves>,
    /// The work queues of queue pairs with completions.
    queues: Vec<WorkQueues>,
    /// What the halves of new queue pairs will be made of.
    setups: IdMap<QpId, Setup>,
    /// The congestion control of the next queue pair.
    controls: NewControls,
    /// The queue pairs that differ from `config`.
    own_settings: BTreeMap<QpId, QpSettings>,
    live_qps: u64,
    peak_qps: u64,
    /// Events of queue pairs with completions, which become completions.
    verb_events: VecDeque<NicEvent>,
    completions: VecDeque<Completion>,
}

impl Nic {
    /// The NIC of `host`.
    pub fn new(host: HostId, port: PortFacts, config: std::sync::Arc<NicConfig>) -> Self {
        let cache = config.queue_pairs.cache.map(|cache| Box::new(ContextCache::new(cache)));
        Self {
            host,
            port,
            relay: config.congestion.telemetry().map(|_| Box::default()),
            credits: Credits::of(host, port, &config),
            destinations: config.congestion.scope().is_of_destination().then(Box::default),
            receiving: config.receiving(),
            config,
            qps: QpTable::default(),
            requesters: Vec::new(),
            requester_qps: Vec::new(),
            responders: Vec::new(),
            free: Box::default(),
            queues: Vec::new(),
            setups: IdMap::default(),
            controls: NewControls::default(),
            own_settings: BTreeMap::new(),
            live_qps: 0,
            peak_qps: 0,
            cache,
            planes: None,
            classes: None,
            control: VecDeque::new(),
            ready: VecDeque::new(),
            paced: Agenda::default(),
            timers: Agenda::default(),
            ack_timers: Agenda::default(),
            events: VecDeque::new(),
            verb_events: VecDeque::new(),
            completions: VecDeque::new(),
            counters: NicCounters::default(),
        }
    }

    /// Routing informs `qp` of the share of traffic for each of its paths; see
    /// [`SenderPolicy::handle_weights`].
    pub fn handle_weights(&mut self, qp: QpId, weights: &[u32]) {
        let slot = self.qps[qp.index()].requester;
        if let Some(requester) = self.requesters.get_mut(slot.index()) {
            requester.handle_weights(weights);
        }
        if let Some(setup) = self.setups.get_mut(&qp) {
            setup.handle_weights(weights);
        }
    }

    /// What it has counted so far.
    pub fn counters(&self) -> &NicCounters {
        &self.counters
    }

    /// Answers that wait for the wire, the next one first.
    pub fn answers(&self) -> impl ExactSizeIterator<Item = &Packet> {
        self.control.iter()
    }

    /// True if a packet would go if the wire were free, now or after a pause of pacing.
    #[inline]
    pub fn has_packets(&self) -> bool {
        !self.control.is_empty()
            || !self.ready.is_empty()
            || self.paced.first() != Time::NEVER
            || self.has_class_in_line()
    }

    /// Takes a packet; one for a queue pair that does not exist is dropped and counted.
    pub fn handle_packet(&mut self, now: Time, packet: &Packet) {
        if self.planes.is_some() {
            return self.handle_packet_of_plane(now, packet);
        }
        self.handle_received(now, packet);
    }

    #[inline(always)]
    fn handle_received(&mut self, now: Time, packet: &Packet) {
        // Whatever the packet is for, its arrival loads the context of its queue pair.
        if let Some(cache) = &mut self.cache
            && packet.qp.index() < self.qps.len()
        {
            cache.receive(packet.qp);
        }
        // Nearly every packet of a simulation takes one of the first two branches.
        match (self.qps.get(packet.qp.index()), packet.as_data()) {
            (Some(qp), Some(data)) if qp.is_plain(qp.responder) => {
                self.handle_data(now, data, qp.responder);
            }
            (Some(qp), None) if qp.is_plain(qp.requester) => {
                self.handle_control(now, packet, qp.requester);
            }
            _ => self.handle_slow_path(now, packet),
        }
    }

    #[inline]
    fn handle_data(&mut self, now: Time, packet: DataView<'_>, slot: Slot) {
        let mut out = Outbox {
            settings: &self.receiving,
            control: &mut self.control,
            events: &mut self.events,
            counters: &mut self.counters,
        };
        self.responders[slot.index()].handle_data(now, packet, &mut out);
        // Without a limit on the wait no receiving half ever has a deadline, and the look-up is
        // spared for each data packet.
        if self.config.ack.within != Span::MAX {
            self.keep_ack_timer(slot);
        }
        if self.relay.is_some() {
            self.relay_to_answers();
        }
        if self.credits.is_some() {
            self.note_credit(now, packet, slot);
        }
    }

    #[inline]
    fn handle_control(&mut self, now: Time, packet: &Packet, slot: Slot) {
        self.counters.control_received += 1;
        if self.relay.is_some() {
            return self.handle_control_with_telemetry(now, packet, slot);
        }
        self.with_windows(slot, |nic| {
            nic.requesters[slot.index()].handle_control(now, packet, &mut nic.events);
        });
        self.make_sharers_ready(slot);
        self.keep_timer(slot);
    }

    /// Does what is due at `now`; an early call is harmless.
    pub fn handle_timeout(&mut self, now: Time) {
        self.handle_ack_timeouts(now);
        while let Some((due, Turn { slot, .. })) = self.timers.pop(now) {
            let requester = &mut self.requesters[slot.index()];
            // An earlier deadline has made a newer entry since; this one is left over.
            if requester.timer_entry != due {
                continue;
            }
            requester.timer_entry = Time::NEVER;
            // Acknowledgements may have put off the deadline since the entry was made.
            let ran_out = requester.deadline() <= now;
            let timed_out = requester.has_timed_out(now);
            self.with_windows(slot, |nic| {
                nic.requesters[slot.index()].handle_timeout(now, &mut nic.events);
            });
            self.push_probes(now, slot);
            let asks =
                |it: &Requester| ran_out || it.asks_at(self.config.retransmit_timeout) <= now;
            if self.credits.is_some() && asks(&self.requesters[slot.index()]) {
                self.push_credit_request(now, slot);
            }
            if timed_out && let Some(most) = self.retries_of(slot) {
                self.count_timeout(slot, most);
            }
            self.make_sharers_ready(slot);
            self.keep_timer(slot);
        }
    }

    /// The answer that starts on the wire now, if there is one: what a port may send while its
    /// data is paused.
    pub fn poll_transmit_control(&mut self) -> Option<Packet> {
        let mut packet = Packet::default();
        self.poll_transmit_control_to(&mut packet).then_some(packet)
    }

    /// The same, written to `place`; false if there is none.
    #[inline(always)]
    pub(crate) fn poll_transmit_control_to(&mut self, place: &mut Packet) -> bool {
        let Some(&packet) = self.control.front() else { return false };
        *place = packet;
        self.control.pop_front();
        self.counters.control_sent += 1;
        if self.relay.is_some() {
            self.relay_departing();
        }
        true
    }

    fn handle_ack_timeouts(&mut self, now: Time) {
        while let Some((_, slot)) = self.ack_timers.pop(now) {
            // The one entry that is for no receiving half.
            if slot.is_none() {
                self.handle_credit_timeout(now);
                continue;
            }
            let mut out = Outbox {
                settings: &self.receiving,
                control: &mut self.control,
                events: &mut self.events,
                counters: &mut self.counters,
            };
            let responder = &mut self.responders[slot.index()];
            // A deadline that has moved on finds nothing to do here, and gets a new entry below.
            responder.timer_entry = Time::NEVER;
            responder.handle_timeout(now, &mut out);
            self.keep_ack_timer(slot);
            self.relay_to_answers();
        }
    }

    /// When to call `handle_timeout` and `poll_transmit` next, if nothing comes in before. With
    /// the wire busy then, the call may wait until it is free.
    pub fn poll_timeout(&self) -> Option<Time> {
        [self.next_paced(), self.next_timer()].into_iter().flatten().min()
    }

    /// Whether [`Self::poll_event`] would return something.
    #[inline(always)]
    pub(crate) fn has_events(&self) -> bool {
        !self.events.is_empty()
    }

    /// What happened, oldest first.
    #[inline]
    pub fn poll_event(&mut self) -> Option<NicEvent> {
        self.events.pop_front()
    }
}

#[cfg(test)]
mod tests;
