//! The RDMA NIC: queue pairs, loss recovery, congestion control, pacing and acknowledgements.
//!
//! It is sans-IO: it has no clock, no event queue and no random state of its own. A driver (the
//! fabric, ns-3 or a test) passes in packets and the time, and takes out packets, the time of the
//! next wake-up and events:
//!
//! - [`Nic::create_qp`], [`Nic::set_peer_qp`] and [`Nic::modify_qp`] create a queue pair and move
//!   it through its states.
//! - [`Nic::post_send`] and [`Nic::post_receive`] post work, and [`Nic::poll_completion`] returns
//!   completions ([`verbs`] has the rules). A driver that needs only WRITEs and their delivery uses
//!   [`Nic::post`].
//! - [`Nic::handle_packet`] and [`Nic::handle_timeout`] pass in packets and the time.
//! - [`Nic::poll_transmit`], or [`Nic::poll_transmit_shared`] where the NIC shares the wire,
//!   returns the packet that starts now. The driver calls it whenever the wire is free, in order of
//!   time.
//! - [`Nic::poll_timeout`] returns when to call again if no packet arrives before.
//! - [`Nic::poll_event`] returns events of messages and paths.
//! - [`Nic::account`] counts the queue pairs and their memory.
//!
//! The NIC sees no topology, and knows other hosts only by their ids.
//!
//! The folders:
//!
//! - `qp`: the queue pair, its states and its accounting;
//! - `send`: requesters, their schedule, pacing and prefetches;
//! - `receive`: responders, acknowledgements and granted credit;
//! - `ports`: planes and the queues of traffic classes;
//! - [`recovery`], [`congestion`], [`verbs`] and `config`.
//!
//! `examples/two_nics.rs` connects two NICs back to back.

mod config;
pub mod congestion;
mod counters;
mod event;
mod hardware;
mod output;
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
pub use hardware::{
    AckTimeout, CnpLimiter, CnpSources, HardwareConfig, HardwareCounters, MessageCost, PacketRate,
    QpTurns, ReceivePool,
};
pub use ports::classes::{ExternalTraffic, Start};
pub use ports::control_paths::ControlPaths;
pub use ports::planes::FreePorts;
pub use qp::accounting::{PeerAccount, QpAccount};
pub use qp::context_cache::{CacheConfig, CacheCounters};
pub use qp::delivery::Delivery;
pub use qp::event_qps::{ReceiveHalf, SendHalf, Write};
pub use qp::settings::QpSettings;
pub use qp::{Origin, QpAttributes, QpState, Reporting, reverse_label};
pub use receive::ack::{
    AckConfig, AckRange, AckSpan, Entropies, First, Marked, NackSignal, Resent,
};
pub use recovery::Recovery;
pub use send::sending_state::SendingState;
pub use timer::Timer;

use hardware::Hardware;
use output::Output;
use ports::planes::Planes;
use qp::context_cache::ContextCache;
use qp::lifecycle::QpSetup;
use qp::table::QpTable;
use qp::{Slot, Turn};
use receive::responders::Responders;
use send::requester::Requester;
use send::requesters::Requesters;
use send::schedule::Schedule;
use verbs::Verbs;

use crate::ids::HostId;
use crate::packet::{DataView, Packet};
use crate::units::{Span, Time};

/// A NIC with one port, or with one in each of several planes ([`Nic::set_planes`]). A clone
/// continues from the same state independently.
///
/// # Examples
/// A SEND of 64 KiB between two NICs on a wire without delay:
///
/// ```
/// use std::sync::Arc;
///
/// use evenkeel_engine::ids::HostId;
/// use evenkeel_engine::nic::verbs::{CompletionStatus, Operation, WorkRequest};
/// use evenkeel_engine::nic::{Nic, NicConfig, PortFacts, QpAttributes, QpState};
/// use evenkeel_engine::units::{BitRate, Bytes, Span, Time};
///
/// let port = PortFacts { line_rate: BitRate::from_gbps(400), base_rtt: Span::from_us(2) };
/// let config = Arc::new(NicConfig::default());
/// let [mut a, mut b] = [0, 1].map(|host| Nic::new(HostId(host), port, config.clone()));
/// let at_a = a.create_qp(QpAttributes::single_path(HostId(0), HostId(1)))?;
/// let at_b = b.create_qp(QpAttributes::single_path(HostId(1), HostId(0)))?;
/// for (nic, qp, peer_qp) in [(&mut a, at_a, at_b), (&mut b, at_b, at_a)] {
///     nic.modify_qp(qp, QpState::Init)?;
///     nic.set_peer_qp(qp, peer_qp)?;
///     nic.modify_qp(qp, QpState::ReadyToReceive)?;
///     nic.modify_qp(qp, QpState::ReadyToSend)?;
/// }
/// b.post_receive(at_b, 7)?;
/// let (operation, bytes) = (Operation::Send, Bytes::new(64 << 10));
/// a.post_send(at_a, WorkRequest { id: 42, operation, bytes, path: 0 })?;
///
/// let mut now = Time::ZERO;
/// let sent = loop {
///     let (to_b, to_a) = (a.poll_transmit(now), b.poll_transmit(now));
///     now = match to_b.iter().chain(&to_a).map(|packet| packet.wire_bytes).max() {
///         Some(bytes) => now + port.line_rate.time_for(Bytes::new(bytes.into())),
///         None => a.poll_timeout().expect("the requester waits for a timer"),
///     };
///     to_b.iter().for_each(|packet| b.handle_packet(now, packet));
///     to_a.iter().for_each(|packet| a.handle_packet(now, packet));
///     a.handle_timeout(now);
///     if let Some(completion) = a.poll_completion() {
///         break completion;
///     }
/// };
/// assert_eq!((sent.id, sent.status), (42, CompletionStatus::Success));
/// assert_eq!(b.poll_completion().map(|received| received.id), Some(7));
/// # Ok::<(), evenkeel_engine::nic::verbs::VerbsError>(())
/// ```
///
/// # Layout
/// The fields that every packet touches come first, up to the table of queue pairs, because large
/// fabrics prefetch them.
#[derive(Debug, Clone)]
#[repr(C)]
pub struct Nic {
    schedule: Schedule,
    out: Output,
    requesters: Requesters,
    responders: Responders,
    config: std::sync::Arc<NicConfig>,
    cache: Option<Box<ContextCache>>,
    /// Present with limits or costs of hardware.
    hardware: Option<Box<Hardware>>,
    /// Present with several ports.
    planes: Option<Box<Planes>>,
    port: PortFacts,
    qps: QpTable,
    host: HostId,
    qp_setup: QpSetup,
    verbs: Verbs,
}

impl Nic {
    /// Returns the NIC of `host`, without queue pairs.
    pub fn new(host: HostId, port: PortFacts, config: std::sync::Arc<NicConfig>) -> Self {
        let cache = config.queue_pairs.cache.map(|cache| Box::new(ContextCache::new(cache)));
        Self {
            schedule: Schedule::default(),
            out: Output::new(&config.hardware),
            requesters: Requesters::new(&config),
            responders: Responders::new(host, port, &config),
            hardware: Hardware::of(&config.hardware),
            config,
            cache,
            planes: None,
            port,
            host,
            qps: QpTable::default(),
            qp_setup: QpSetup::default(),
            verbs: Verbs::default(),
        }
    }

    /// Returns the NIC's counters.
    pub fn counters(&self) -> &NicCounters {
        &self.out.counters
    }

    /// Returns the control packets that wait for the wire, in the order in which they leave.
    pub fn control_packets(&self) -> impl ExactSizeIterator<Item = &Packet> {
        self.out.control.iter()
    }

    /// True if a packet would start on a free wire, now or once pacing permits.
    #[inline]
    pub fn has_packets(&self) -> bool {
        !self.out.control.is_empty() || self.schedule.has_requesters()
    }

    /// Handles a received packet. A packet for a queue pair that does not exist is dropped and
    /// counted.
    pub fn handle_packet(&mut self, now: Time, packet: &Packet) {
        if self.hardware.is_some() {
            return self.handle_limited(now, packet);
        }
        self.handle_admitted(now, packet);
    }

    #[inline(always)]
    fn handle_admitted(&mut self, now: Time, packet: &Packet) {
        if self.planes.is_some() {
            return self.handle_packet_from_plane(now, packet);
        }
        self.handle_received(now, packet);
    }

    #[inline(always)]
    fn handle_received(&mut self, now: Time, packet: &Packet) {
        // Every arrival loads the context of its queue pair, whatever the packet is. A number that
        // no queue pair ever had must not grow the cache's table.
        if let Some(cache) = &mut self.cache
            && packet.qp.index() < self.qps.len()
        {
            cache.receive(packet.qp);
        }
        // Nearly every packet of a simulation takes one of the first two branches.
        match (self.qps.get(packet.qp), packet.as_data()) {
            (Some(qp), Some(data)) if qp.takes_fast_path(qp.responder) => {
                self.handle_data(now, data, qp.responder);
            }
            (Some(qp), None) if qp.takes_fast_path(qp.requester) => {
                self.handle_control(now, packet, qp.requester);
            }
            _ => self.handle_slow_path(now, packet),
        }
    }

    #[inline]
    fn handle_data(&mut self, now: Time, packet: DataView<'_>, slot: Slot) {
        self.responders.handle_data(now, packet, slot, &mut self.out);
        // Without a limit on the wait, no responder ever has a deadline: skips a lookup per packet.
        if self.config.ack.within != Span::MAX {
            self.update_ack_timer(slot);
        }
        // After the responder: the control packets that it has just queued get the packet's
        // telemetry.
        if self.responders.relay.is_some() {
            self.relay_to_control();
        }
        if self.responders.credits.is_some() {
            self.handle_credit_fields(now, packet, slot);
        }
    }

    #[inline]
    fn handle_control(&mut self, now: Time, packet: &Packet, slot: Slot) {
        self.out.counters.control_received += 1;
        // Telemetry may move the next start, which needs extra steps.
        if self.responders.relay.is_some() {
            return self.handle_control_with_telemetry(now, packet, slot);
        }
        self.with_windows(slot, |nic| {
            nic.requesters[slot].handle_control(now, packet, &mut nic.out.events);
        });
        // The acknowledgement may have opened a window for every requester that shares it.
        self.make_sharers_ready(slot);
        self.update_timer(slot);
    }

    /// Handles everything that is due at `now`. An early call is harmless.
    pub fn handle_timeout(&mut self, now: Time) {
        if self.hardware.is_some() {
            self.handle_message_costs(now);
        }
        self.handle_ack_timeouts(now);
        while let Some((due, Turn { slot, .. })) = self.schedule.timers.pop(now) {
            let requester = &mut self.requesters[slot];
            // Stale: an earlier deadline has replaced this entry since.
            if requester.timer_entry != due {
                continue;
            }
            requester.timer_entry = Time::NEVER;
            // Acknowledgements may have postponed the deadline since the entry was pushed. Both
            // checks come before `handle_timeout`, which restarts the timer.
            let timer_expired = requester.deadline() <= now;
            let timed_out = requester.has_timed_out(now);
            self.with_windows(slot, |nic| {
                nic.requesters[slot].handle_timeout(now, &mut nic.out.events);
            });
            self.push_probes(now, slot);
            let may_request = |it: &mut Requester| {
                timer_expired || it.next_request(self.config.retransmit_timeout) <= now
            };
            if self.responders.credits.is_some() && may_request(&mut self.requesters[slot]) {
                self.push_credit_request(now, slot);
            }
            if timed_out && let Some(max_retries) = self.retries_of(slot) {
                self.count_timeout(slot, max_retries);
            }
            if timed_out && self.hardware.is_some() {
                self.count_attempt(now, slot);
            }
            self.make_sharers_ready(slot);
            self.update_timer(slot);
        }
    }

    /// Returns the control packet that starts on the wire now, if any. A port sends these even
    /// while its data is paused.
    pub fn poll_transmit_control(&mut self) -> Option<Packet> {
        let mut packet = Packet::default();
        self.poll_transmit_control_to(&mut packet).then_some(packet)
    }

    /// Writes the packet of [`Self::poll_transmit_control`] to `buffer`. Returns false without one.
    #[inline(always)]
    pub(crate) fn poll_transmit_control_to(&mut self, buffer: &mut Packet) -> bool {
        let Some(&packet) = self.out.control.front() else { return false };
        *buffer = packet;
        self.out.control.pop_front();
        self.out.counters.control_sent += 1;
        // Telemetry travels alongside the packet: the driver takes it right after this call.
        if self.responders.relay.is_some() {
            self.relay_departing();
        }
        true
    }

    fn handle_ack_timeouts(&mut self, now: Time) {
        while let Some((_, slot)) = self.schedule.ack_timers.pop(now) {
            // The only entry without a responder is that of the credit pacer.
            if slot.is_none() {
                self.handle_credit_timeout(now);
                continue;
            }
            self.responders.handle_timeout(now, slot, &mut self.out);
            // The entry is consumed: arrivals that are still unreported need a new one.
            self.update_ack_timer(slot);
            self.relay_to_control();
        }
    }

    /// Returns when to call `handle_timeout` and `poll_transmit` next if nothing arrives before. If
    /// the wire is busy then, the call may wait until it is free.
    pub fn poll_timeout(&self) -> Option<Time> {
        [self.next_paced(), self.next_timer()].into_iter().flatten().min()
    }

    /// True if [`Self::poll_event`] would return an event.
    #[inline(always)]
    pub(crate) fn has_events(&self) -> bool {
        !self.out.events.is_empty()
    }

    /// Removes and returns the oldest event.
    #[inline]
    pub fn poll_event(&mut self) -> Option<NicEvent> {
        self.out.events.pop_front()
    }
}

#[cfg(test)]
mod tests;
