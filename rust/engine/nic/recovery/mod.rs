//! Loss recovery: which packet a requester sends next, when it gives up waiting, and which packets
//! a responder accepts. A recovery is one file and one line of the registry: its `Config`, sending
//! side, choice of a receiving side from `nic::receiver`, and tests. Sequence numbers never wrap
//! here; only on the wire do they have 24 bits.

mod by_plane;
mod entry;
pub mod erasure;
mod facts;
mod flights;
pub mod go_back_n;
pub mod mrc;
pub mod per_packet;
mod report;
pub mod rod;
pub mod rudi;
pub mod sack;
mod selective;

pub use entry::{RecoveryEntry, RecoveryName};
pub(super) use report::{Lost, LostPosition, MissReason, NackReport, PlaneUse, TimedOut};

use super::congestion::PathFacts;
use super::parameters::{Configuration, Configured, ParameterError, overridden};
use super::qp::delivery::Delivery;
use super::receive::ack::AckRange;
use super::receive::receiver::Receiving;
use crate::balance::Parameters;
use crate::packet::{AckView, DataFields};
use crate::units::{Bytes, Span, Time};

/// Registers loss recoveries: a line here is all that the file of a recovery needs.
macro_rules! registry {
    ($($module:ident :: $recovery:ident),* $(,)?) => {
        /// A loss recovery and its parameters.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Recovery {
            $(#[doc = concat!("See [`", stringify!($module), "`].")] $recovery($module::Config),)*
        }

        $(impl From<$module::Config> for Recovery {
            fn from(config: $module::Config) -> Self {
                Self::$recovery(config)
            }
        })*

        // An enum instead of a trait object: calls on the packet path are direct and can be
        // inlined.
        /// The sending side of one queue pair.
        #[derive(Debug, Clone)]
        pub(super) enum Sending {
            $($recovery(<$module::Config as RecoveryConfig>::Sender),)*
        }

        impl Recovery {
            /// The name that scenarios use.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$recovery(_) => $module::Config::NAME,)* }
            }

            /// Returns the same recovery with the `given` parameters; omitted keys keep their
            /// values.
            ///
            /// # Errors
            /// An unknown key, or a value of the wrong type or out of range.
            pub fn configured(
                self,
                given: &Parameters,
            ) -> Result<Configured<Self>, ParameterError> {
                match self {
                    $(Self::$recovery(config) =>
                        Ok(overridden(&config, given, &[])?.map(Self::$recovery)),)*
                }
            }

            /// The delivery orders that it supports, the default first.
            pub(crate) const fn deliveries(self) -> &'static [Delivery] {
                match self { $(Self::$recovery(_) => $module::Config::DELIVERIES,)* }
            }

            /// The acknowledgement ranges that it supports.
            const fn ack_ranges(self) -> &'static [AckRange] {
                match self { $(Self::$recovery(_) => $module::Config::ACK_RANGES,)* }
            }

            /// The scope of packet sequence numbers.
            pub const fn numbering(self) -> Numbering {
                match self { $(Self::$recovery(_) => $module::Config::NUMBERING,)* }
            }

            /// True if all packets of a queue pair share one entropy value. Its policy then gets no
            /// feedback.
            pub(super) const fn uses_single_path(self) -> bool {
                match self { $(Self::$recovery(_) => $module::Config::SINGLE_PATH,)* }
            }

            /// True if a receiver may execute a packet more than once. Operations must then be
            /// idempotent.
            const fn requires_idempotence(self) -> bool {
                match self { $(Self::$recovery(_) => $module::Config::REQUIRES_IDEMPOTENCE,)* }
            }

            /// True if it counts packets by plane, so that each plane may have its own window.
            pub const fn counts_planes(self) -> bool {
                match self { $(Self::$recovery(_) => $module::Config::COUNTS_PLANES,)* }
            }

            /// The longest message that it can send; `None` if there is no limit.
            pub const fn longest_message(self) -> Option<Bytes> {
                match self { $(Self::$recovery(_) => $module::Config::LONGEST_MESSAGE,)* }
            }

            /// The shortest time from sending a packet to the expiry of a retransmission timer,
            /// given the acknowledgement `timeout` of senders.
            pub fn shortest_timeout(self, timeout: Span) -> Span {
                match self { $(Self::$recovery(config) => config.shortest_timeout(timeout),)* }
            }

            /// Consecutive timeouts that a queue pair survives; `None` if the setting of the NIC
            /// applies.
            pub(super) fn retries(self) -> Option<u32> {
                match self { $(Self::$recovery(config) => config.retries(),)* }
            }

            /// How long a packet waits for an acknowledgement before it is first retransmitted. It
            /// depends on the `timeout` of senders or on the round-trip time of the longest idle
            /// path.
            pub fn first_timeout(self, timeout: Span, base_rtt: impl FnOnce() -> Span) -> Span {
                match self {
                    $(Self::$recovery(config) => config.first_timeout(timeout, base_rtt),)*
                }
            }

            /// The most bytes on the wire that it permits in flight.
            pub(super) fn window(self, path: &PathFacts) -> u64 {
                match self { $(Self::$recovery(config) => config.window(path),)* }
            }

            /// Creates the sending side of a new queue pair.
            pub(super) fn sender(self, facts: &SenderFacts) -> Sending {
                match self { $(Self::$recovery(it) => Sending::$recovery(it.sender(facts)),)* }
            }

            /// Creates the receiving side of a new queue pair.
            pub(super) fn receiver(self, delivery: Delivery) -> Receiving {
                match self { $(Self::$recovery(it) => it.receiver(delivery),)* }
            }
        }

        impl SendRecovery for Sending {
            fn handle_posted(&mut self, packets: u64) {
                match self { $(Self::$recovery(it) => it.handle_posted(packets),)* }
            }
            #[inline(always)]
            fn next(&self, end: u64) -> Option<u64> {
                match self { $(Self::$recovery(it) => it.next(end),)* }
            }
            #[inline(always)]
            fn unacknowledged(&self) -> u64 {
                match self { $(Self::$recovery(it) => it.unacknowledged(),)* }
            }
            #[inline]
            fn never_sent(&self) -> u64 {
                match self { $(Self::$recovery(it) => it.never_sent(),)* }
            }
            fn first_withdrawable(&self) -> u64 {
                match self { $(Self::$recovery(it) => it.first_withdrawable(),)* }
            }
            #[inline(always)]
            fn window_end(&self, max_in_flight: u64) -> u64 {
                match self { $(Self::$recovery(it) => it.window_end(max_in_flight),)* }
            }
            #[inline(always)]
            fn in_flight(&self) -> u64 {
                match self { $(Self::$recovery(it) => it.in_flight(),)* }
            }
            fn pending_retransmissions(&self) -> u64 {
                match self { $(Self::$recovery(it) => it.pending_retransmissions(),)* }
            }
            #[inline]
            fn handle_sent(&mut self, now: Time, entropy: u16) {
                match self { $(Self::$recovery(it) => it.handle_sent(now, entropy),)* }
            }
            #[inline]
            fn label(&self, data: &mut DataFields, message_bytes: u64) {
                match self { $(Self::$recovery(it) => it.label(data, message_bytes),)* }
            }
            #[inline(always)]
            fn read(&self, ack: AckView<'_>) -> Arrived {
                match self { $(Self::$recovery(it) => it.read(ack),)* }
            }
            #[inline]
            fn handle_ack(&mut self, now: Time, arrived: Arrived) -> u64 {
                match self { $(Self::$recovery(it) => it.handle_ack(now, arrived),)* }
            }
            fn treats_gap_nacks_as_acks(&self) -> bool {
                match self { $(Self::$recovery(it) => it.treats_gap_nacks_as_acks(),)* }
            }
            fn handle_nack(&mut self, now: Time, nack: NackReport) -> bool {
                match self { $(Self::$recovery(it) => it.handle_nack(now, nack),)* }
            }
            fn consecutive_failures(&self) -> u32 {
                match self { $(Self::$recovery(it) => it.consecutive_failures(),)* }
            }
            #[inline(always)]
            fn poll_lost(&mut self) -> Option<Lost> {
                match self { $(Self::$recovery(it) => it.poll_lost(),)* }
            }
            fn plane(&self, plane: u32) -> PlaneUse {
                match self { $(Self::$recovery(it) => it.plane(plane),)* }
            }
            #[inline]
            fn progress(&self) -> (u64, u64) {
                match self { $(Self::$recovery(it) => it.progress(),)* }
            }
            #[inline(always)]
            fn deadline(&self) -> Time {
                match self { $(Self::$recovery(it) => it.deadline(),)* }
            }
            fn has_timed_out(&self, now: Time) -> bool {
                match self { $(Self::$recovery(it) => it.has_timed_out(now),)* }
            }
            fn set_timeout(&mut self, now: Time, timeout: Span) {
                match self { $(Self::$recovery(it) => it.set_timeout(now, timeout),)* }
            }
            fn handle_timeout(&mut self, now: Time) -> Option<TimedOut> {
                match self { $(Self::$recovery(it) => it.handle_timeout(now),)* }
            }
        }

        /// All recoveries, by the names that scenarios use.
        pub const RECOVERIES: &[RecoveryEntry] = &[$(RecoveryEntry::of::<$module::Config>()),*];

        /// The names of all recoveries, after `auto`.
        const NAMES: &[&str] = &[entry::AUTO, $($module::Config::NAME),*];
    };
}

registry! {
    go_back_n::GoBackN,
    sack::Sack,
    per_packet::PerPacket,
    erasure::Erasure,
    mrc::Mrc,
    rod::Rod,
    rudi::Rudi,
}

/// The scope of packet sequence numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Numbering {
    /// All packets of a queue pair, like the PSNs of InfiniBand.
    QueuePair,
    /// The packets of each message. Their headers have no room for other verbs than WRITE, and an
    /// acknowledgement does not identify packets of the queue pair.
    Message,
}

/// The properties that the sending side of a new queue pair is created with.
#[derive(Debug, Clone, Copy)]
pub(super) struct SenderFacts {
    /// How long it waits for an acknowledgement.
    pub timeout: Span,
    /// The packets that an acknowledgement reports; one of [`RecoveryConfig::ACK_RANGES`].
    pub ack_range: AckRange,
    /// The round-trip time of the longest idle path.
    pub base_rtt: Span,
    /// Number of planes, if it counts packets by the plane of their entropy value
    /// ([`RecoveryConfig::COUNTS_PLANES`]).
    pub planes: Option<u32>,
}

#[cfg(test)]
impl SenderFacts {
    /// Facts with cumulative acknowledgements and no planes.
    fn for_test(timeout: Span, base_rtt: Span) -> Self {
        Self { timeout, ack_range: AckRange::default(), base_rtt, planes: None }
    }
}

/// The configuration of a loss recovery. It creates the sides of queue pairs.
pub(super) trait RecoveryConfig: Configuration + Into<Recovery> {
    /// The sending side, a [`SendRecovery`]. Boxed if it is large: otherwise a run with a million
    /// queue pairs would pay for it under every recovery.
    type Sender;

    /// The delivery orders that it supports, the default first.
    const DELIVERIES: &'static [Delivery] = &[Delivery::Ordered, Delivery::Unordered];
    /// The acknowledgement ranges that suffice, the default first.
    const ACK_RANGES: &'static [AckRange] = &[AckRange::Cumulative];
    /// The scope of packet sequence numbers.
    const NUMBERING: Numbering = Numbering::QueuePair;
    /// True if all packets of a queue pair share one entropy value. Its policy then gets no
    /// feedback.
    const SINGLE_PATH: bool = false;
    /// True if a receiver may execute a packet more than once.
    const REQUIRES_IDEMPOTENCE: bool = false;
    /// True if the sender counts packets by plane.
    const COUNTS_PLANES: bool = false;
    /// The longest message that it can send; `None` if there is no limit.
    const LONGEST_MESSAGE: Option<Bytes> = None;

    /// Creates the sending side of a new queue pair.
    fn sender(&self, facts: &SenderFacts) -> Self::Sender;

    /// Creates the receiving side of a new queue pair.
    fn receiver(&self, delivery: Delivery) -> Receiving;

    /// The most bytes on the wire that it permits in flight.
    fn window(&self, _path: &PathFacts) -> u64 {
        u64::MAX
    }

    /// Consecutive timeouts that a queue pair survives; `None` if the setting of the NIC applies.
    fn retries(&self) -> Option<u32> {
        None
    }

    /// How long a packet first waits for an acknowledgement.
    fn first_timeout(&self, timeout: Span, _base_rtt: impl FnOnce() -> Span) -> Span {
        timeout
    }

    /// The shortest time from sending a packet to the expiry of a retransmission timer.
    fn shortest_timeout(&self, timeout: Span) -> Span {
        timeout
    }
}

/// The arrivals that an acknowledgement reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Arrived {
    /// Every packet before this one has arrived. With an erasure code, the message that it reports.
    pub ack: u64,
    /// The number of the first bit of `sack`.
    pub base: u64,
    /// One bit per arrived packet, lowest number first.
    pub sack: u64,
    /// With an erasure code: the message needs no more packets.
    pub complete: bool,
}

impl Arrived {
    /// Reads an acknowledgement of packets numbered along the queue pair. `known` is the oldest
    /// packet that is not yet acknowledged.
    #[inline]
    fn near(known: u64, ack: AckView<'_>) -> Self {
        // At most `MAX_IN_FLIGHT` packets are in flight, so every number on the wire is within
        // 2^23 of the oldest.
        let report = ack.report();
        Self {
            ack: ack.cumulative().unwrap_near(known),
            base: report.base.unwrap_near(known),
            sack: report.arrived,
            complete: false,
        }
    }
}

/// The sending side of a loss recovery.
pub(super) trait SendRecovery {
    /// A message of `packets` packets was posted behind all others.
    fn handle_posted(&mut self, _packets: u64) {}

    /// Returns the packet to send next; `None` if no packet before `end` remains.
    fn next(&self, end: u64) -> Option<u64>;

    /// The oldest packet not yet acknowledged.
    fn unacknowledged(&self) -> u64;

    /// The first packet that was never sent.
    fn never_sent(&self) -> u64;

    /// The first packet whose message can be withdrawn, because none of it was sent.
    fn first_withdrawable(&self) -> u64 {
        self.never_sent()
    }

    /// One past the last packet that may be sent for the first time, with at most
    /// `max_in_flight` packets in flight.
    fn window_end(&self, max_in_flight: u64) -> u64 {
        self.unacknowledged() + max_in_flight
    }

    /// Packets sent that are neither acknowledged nor given up.
    fn in_flight(&self) -> u64;

    /// Packets that wait for retransmission.
    fn pending_retransmissions(&self) -> u64;

    /// The packet returned by `next` was sent.
    fn handle_sent(&mut self, now: Time, entropy: u16);

    /// Completes the header of the packet returned by `next`, if packets are not numbered along the
    /// queue pair. `message_bytes` is the length of its message.
    #[inline]
    fn label(&self, _data: &mut DataFields, _message_bytes: u64) {}

    /// Reads an acknowledgement and widens its numbers to full sequence numbers.
    #[inline]
    fn read(&self, ack: AckView<'_>) -> Arrived {
        Arrived::near(self.unacknowledged(), ack)
    }

    /// Handles arrivals; returns the number of packets that were not known to have arrived.
    fn handle_ack(&mut self, now: Time, arrived: Arrived) -> u64;

    /// True if a NACK for a gap is only read as an acknowledgement, because the sender detects
    /// losses.
    fn treats_gap_nacks_as_acks(&self) -> bool {
        false
    }

    /// The receiver misses a packet; returns true if a retransmission follows.
    fn handle_nack(&mut self, now: Time, nack: NackReport) -> bool;

    /// Consecutive timeouts and NACKs, if NACKs count towards the retry limit; otherwise 0.
    fn consecutive_failures(&self) -> u32 {
        0
    }

    /// Returns a packet that acknowledgements showed to be lost. Each one is returned once.
    fn poll_lost(&mut self) -> Option<Lost> {
        None
    }

    /// The use of one plane; zero if it does not count by plane.
    fn plane(&self, _plane: u32) -> PlaneUse {
        PlaneUse::default()
    }

    /// Packets that were sent and have left the network, and packets sent. Congestion controls
    /// count round trips by them.
    fn progress(&self) -> (u64, u64) {
        (self.unacknowledged(), self.never_sent())
    }

    /// When the retransmission timer expires; `NEVER` if it is stopped.
    fn deadline(&self) -> Time;

    /// True if packets went without an acknowledgement for a full timeout.
    fn has_timed_out(&self, now: Time) -> bool {
        self.deadline() <= now
    }

    /// Sets the timeout, and restarts the timer if packets are in flight (go-back-N).
    fn set_timeout(&mut self, _now: Time, _timeout: Span) {}
    /// Handles the expiry of the retransmission timer.
    fn handle_timeout(&mut self, now: Time) -> Option<TimedOut>;
}
