//! Loss recovery: which packet a sending half sends next and when it gives up waiting, and which
//! packets a receiving half accepts. A recovery is one file and one line of the registry: its
//! `Config` with defaults and check, the sending side, the choice of a receiving side among those
//! of `nic::receiver`, and its tests.
//!
//! Sequence numbers never wrap here; only the wire has 24 bits.

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
pub(super) use report::{Expired, Lost, LostPosition, Missed, PlaneUse, Why};

use super::congestion::PathFacts;
use super::parameters::{Configuration, Configured, ParameterError, overridden};
use super::qp::delivery::Delivery;
use super::receive::ack::AckRange;
use super::receive::receiver::Receiving;
use crate::balance::Parameters;
use crate::packet::{AckView, DataFields};
use crate::units::{Bytes, Span, Time};

/// Makes loss recoveries real everywhere: a line here is all that a recovery's file needs.
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

            /// The same recovery with `given` parameters in place of its own.
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

            /// The orders of delivery that are possible with it, the default first.
            pub(crate) const fn deliveries(self) -> &'static [Delivery] {
                match self { $(Self::$recovery(_) => $module::Config::DELIVERIES,)* }
            }

            /// The ranges of acknowledgements that it can do with.
            const fn ack_ranges(self) -> &'static [AckRange] {
                match self { $(Self::$recovery(_) => $module::Config::ACK_RANGES,)* }
            }

            /// What sequence numbers of packets count along.
            pub const fn numbering(self) -> Numbering {
                match self { $(Self::$recovery(_) => $module::Config::NUMBERING,)* }
            }

            /// Whether all packets of a queue pair have one entropy value, and its policy gets no
            /// feedback.
            pub(super) const fn keeps_path(self) -> bool {
                match self { $(Self::$recovery(_) => $module::Config::KEEPS_PATH,)* }
            }

            /// Whether a receiver may execute a packet more than once, so that operations must be
            /// repeatable.
            const fn repeats(self) -> bool {
                match self { $(Self::$recovery(_) => $module::Config::REPEATS,)* }
            }

            /// Whether it counts packets by planes, so that each plane may have a window of its
            /// own.
            pub const fn counts_planes(self) -> bool {
                match self { $(Self::$recovery(_) => $module::Config::COUNTS_PLANES,)* }
            }

            /// The longest message that it can send, if it has a limit.
            pub const fn longest_message(self) -> Option<Bytes> {
                match self { $(Self::$recovery(_) => $module::Config::LONGEST_MESSAGE,)* }
            }

            /// How soon after a packet was sent a retransmission timer may expire, where senders
            /// wait `timeout` for an acknowledgement.
            pub fn shortest_timeout(self, timeout: Span) -> Span {
                match self { $(Self::$recovery(config) => config.shortest_timeout(timeout),)* }
            }

            /// How many time-outs in a row do not end a queue pair, if it has a limit of its own.
            pub(super) fn retries(self) -> Option<u32> {
                match self { $(Self::$recovery(config) => config.retries(),)* }
            }

            /// How long a packet waits for an acknowledgement before it is sent again for the first
            /// time, where senders wait `timeout` or by the round trip of the longest idle path.
            pub fn first_timeout(self, timeout: Span, base_rtt: impl FnOnce() -> Span) -> Span {
                match self {
                    $(Self::$recovery(config) => config.first_timeout(timeout, base_rtt),)*
                }
            }

            /// Bytes on the wire that it allows in flight at once.
            pub(super) fn window(self, path: &PathFacts) -> u64 {
                match self { $(Self::$recovery(config) => config.window(path),)* }
            }

            /// The sending side of a new queue pair.
            pub(super) fn sender(self, facts: &SenderFacts) -> Sending {
                match self { $(Self::$recovery(it) => Sending::$recovery(it.sender(facts)),)* }
            }

            /// The receiving side of a new queue pair.
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
            fn window_end(&self, most: u64) -> u64 {
                match self { $(Self::$recovery(it) => it.window_end(most),)* }
            }
            #[inline(always)]
            fn in_flight(&self) -> u64 {
                match self { $(Self::$recovery(it) => it.in_flight(),)* }
            }
            fn waiting_again(&self) -> u64 {
                match self { $(Self::$recovery(it) => it.waiting_again(),)* }
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
            fn reads_gap_nacks_as_acks(&self) -> bool {
                match self { $(Self::$recovery(it) => it.reads_gap_nacks_as_acks(),)* }
            }
            fn handle_nack(&mut self, now: Time, missed: Missed) -> bool {
                match self { $(Self::$recovery(it) => it.handle_nack(now, missed),)* }
            }
            fn series(&self) -> u32 {
                match self { $(Self::$recovery(it) => it.series(),)* }
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
            fn has_run_out(&self, now: Time) -> bool {
                match self { $(Self::$recovery(it) => it.has_run_out(now),)* }
            }
            fn handle_timeout(&mut self, now: Time) -> Option<Expired> {
                match self { $(Self::$recovery(it) => it.handle_timeout(now),)* }
            }
        }

        /// All recoveries, by the names that scenarios use.
        pub const RECOVERIES: &[RecoveryEntry] = &[$(RecoveryEntry::of::<$module::Config>()),*];

        /// The names of all recoveries, after that of the policy's own.
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

/// What sequence numbers of packets count along.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Numbering {
    /// All packets of a queue pair, as the PSNs of InfiniBand do.
    QueuePair,
    /// The packets of each message. Such packets have no room for the headers of other verbs than
    /// WRITE, and an acknowledgement does not say which packets of the queue pair it is about.
    Message,
}

/// The facts that the sending side of a new queue pair is made for.
#[derive(Debug, Clone, Copy)]
pub(super) struct SenderFacts {
    /// The time that it waits for an acknowledgement.
    pub timeout: Span,
    /// The packets that an acknowledgement reports; one of [`RecoveryConfig::ACK_RANGES`].
    pub ack_range: AckRange,
    /// The round-trip time of the longest idle path.
    pub base_rtt: Span,
    /// The number of planes, if it counts packets by the plane of their entropy value
    /// ([`RecoveryConfig::COUNTS_PLANES`]).
    pub planes: Option<u32>,
}

#[cfg(test)]
impl SenderFacts {
    /// Cumulative acknowledgements, and no planes.
    fn for_test(timeout: Span, base_rtt: Span) -> Self {
        Self { timeout, ack_range: AckRange::default(), base_rtt, planes: None }
    }
}

/// The configuration of a loss recovery, and the sides of queue pairs that it makes.
pub(super) trait RecoveryConfig: Configuration + Into<Recovery> {
    /// The sending side, a [`SendRecovery`]; in a box if it is large, so that a run with a million
    /// queue pairs of another recovery does not pay for it.
    type Sender;

    /// The orders of delivery that are possible with it, the default first.
    const DELIVERIES: &'static [Delivery] = &[Delivery::Ordered, Delivery::Unordered];
    /// The ranges of acknowledgements that suffice, the default first.
    const ACK_RANGES: &'static [AckRange] = &[AckRange::Cumulative];
    /// What sequence numbers of packets count along.
    const NUMBERING: Numbering = Numbering::QueuePair;
    /// Whether all packets of a queue pair have one entropy value, and its policy gets no feedback.
    const KEEPS_PATH: bool = false;
    /// Whether a receiver may execute a packet more than once.
    const REPEATS: bool = false;
    /// Whether the sender counts packets by planes.
    const COUNTS_PLANES: bool = false;
    /// The longest message that it can send, if it has a limit.
    const LONGEST_MESSAGE: Option<Bytes> = None;

    /// Returns the sending side of a new queue pair.
    fn sender(&self, facts: &SenderFacts) -> Self::Sender;

    /// The receiving side of a new queue pair.
    fn receiver(&self, delivery: Delivery) -> Receiving;

    /// Bytes on the wire that it allows in flight at once.
    fn window(&self, _path: &PathFacts) -> u64 {
        u64::MAX
    }

    /// How many time-outs in a row do not end a queue pair, if it has a limit of its own.
    fn retries(&self) -> Option<u32> {
        None
    }

    /// How long the first wait for an acknowledgement is.
    fn first_timeout(&self, timeout: Span, _base_rtt: impl FnOnce() -> Span) -> Span {
        timeout
    }

    /// How soon after a packet was sent a retransmission timer may expire.
    fn shortest_timeout(&self, timeout: Span) -> Span {
        timeout
    }
}

/// The arrivals that an acknowledgement reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Arrived {
    /// Every packet before this one; with an erasure code, the message that it is about.
    pub ack: u64,
    /// ... and of the 64 from `base` on, those whose bit is set.
    pub base: u64,
    /// The bits, lowest first.
    pub sack: u64,
    /// With an erasure code: that message needs no more.
    pub complete: bool,
}

impl Arrived {
    /// What an acknowledgement reports of packets that are numbered along the queue pair, the
    /// oldest of which not yet acknowledged is `known`.
    #[inline]
    fn near(known: u64, ack: AckView<'_>) -> Self {
        // At most `MOST_OUTSTANDING` packets are in flight, so that every number on the wire is
        // within 2^23 of the oldest of them.
        let report = ack.report();
        Self {
            ack: ack.cumulative().near(known),
            base: report.base.near(known),
            sack: report.arrived,
            complete: false,
        }
    }
}

/// The sending side of a loss recovery.
pub(super) trait SendRecovery {
    /// A message of `packets` packets is to be sent after all others.
    fn handle_posted(&mut self, _packets: u64) {}

    /// The packet to send next, if there is one before `end`.
    fn next(&self, end: u64) -> Option<u64>;

    /// The oldest packet not yet acknowledged.
    fn unacknowledged(&self) -> u64;

    /// The first packet that was never sent.
    fn never_sent(&self) -> u64;

    /// The first packet whose message can be withdrawn, since nothing of it was sent.
    fn first_withdrawable(&self) -> u64 {
        self.never_sent()
    }

    /// One past the last packet that may be sent for the first time, if at most `most` may be in
    /// flight.
    fn window_end(&self, most: u64) -> u64 {
        self.unacknowledged() + most
    }

    /// Packets sent that are neither acknowledged nor given up.
    fn in_flight(&self) -> u64;

    /// Packets that wait to be sent again.
    fn waiting_again(&self) -> u64;

    /// The packet named by `next` went out.
    fn handle_sent(&mut self, now: Time, entropy: u16);

    /// Completes the header of the packet named by `next`, if packets are not numbered along the
    /// queue pair; `message_bytes` is the length of its message.
    #[inline]
    fn label(&self, _data: &mut DataFields, _message_bytes: u64) {}

    /// What an acknowledgement reports, in full sequence numbers.
    #[inline]
    fn read(&self, ack: AckView<'_>) -> Arrived {
        Arrived::near(self.unacknowledged(), ack)
    }

    /// Packets arrived; returns how many of them were not known to have arrived.
    fn handle_ack(&mut self, now: Time, arrived: Arrived) -> u64;

    /// Whether a NACK for a gap means no more than an acknowledgement, since the sender itself
    /// finds what is lost.
    fn reads_gap_nacks_as_acks(&self) -> bool {
        false
    }

    /// The receiver misses a packet; true if anything is sent again for it.
    fn handle_nack(&mut self, now: Time, missed: Missed) -> bool;

    /// Time-outs and NACKs in a row, where NACKs count towards the limit of retries; else 0.
    fn series(&self) -> u32 {
        0
    }

    /// A packet that acknowledgements showed to be lost, each once.
    fn poll_lost(&mut self) -> Option<Lost> {
        None
    }

    /// What it has counted in a plane.
    fn plane(&self, _plane: u32) -> PlaneUse {
        PlaneUse::default()
    }

    /// How many packets were sent and have left the network, and how many were sent: congestion
    /// controls count round trips by them.
    fn progress(&self) -> (u64, u64) {
        (self.unacknowledged(), self.never_sent())
    }

    /// When the retransmission timer runs out; `NEVER` if it does not run.
    fn deadline(&self) -> Time;

    /// Whether packets have been without an acknowledgement for a time-out.
    fn has_run_out(&self, now: Time) -> bool {
        self.deadline() <= now
    }

    /// The retransmission timer ran out.
    fn handle_timeout(&mut self, now: Time) -> Option<Expired>;
}
