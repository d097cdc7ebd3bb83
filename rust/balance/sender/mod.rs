//! Sender policies: which entropy value each packet of a queue pair gets.
//!
//! A policy sees what a NIC sees: its own packets, and what acknowledgements and timers tell. It
//! does not see queues or other hosts.

mod entropy_space;

pub use entropy_space::EntropySpace;

use crate::ids::HostId;
use crate::rng::{Purpose, Stream, mix64};
use crate::units::{Span, Time};

use super::Preset;

/// Makes sender policies real everywhere: a line here is all that a policy's file needs.
macro_rules! registry {
    ($($module:ident :: $policy:ident),* $(,)?) => {
        $(pub mod $module;)*

        /// The sender policy of one queue pair.
        #[derive(Debug, Clone)]
        pub enum Sender {
            $(#[doc = concat!("See [`", stringify!($module), "`].")] $policy($module::$policy),)*
        }

        /// A sender policy and its parameters.
        #[derive(Debug, Clone, PartialEq, serde::Serialize)]
        #[serde(untagged)]
        pub enum SenderConfig {
            $(#[doc = concat!("See [`", stringify!($module), "`].")] $policy($module::Config),)*
        }

        impl SenderConfig {
            /// The policy of a new queue pair.
            pub fn build(&self, qp: &QpContext) -> Sender {
                match self {
                    $(Self::$policy(config) =>
                        Sender::$policy($module::$policy::new(config, qp)),)*
                }
            }

            /// Whether the policy asks for the paths there are, where switches choose.
            pub const fn knows_paths(&self) -> bool {
                match self {
                    $(Self::$policy(_) => <$module::$policy as SenderPolicy>::KNOWS_PATHS,)*
                }
            }
        }

        impl Sender {
            /// See [`SenderPolicy::DEAGGREGATES`].
            pub const fn deaggregates(&self) -> bool {
                match self {
                    $(Self::$policy(_) => <$module::$policy as SenderPolicy>::DEAGGREGATES,)*
                }
            }
        }

        impl SenderPolicy for Sender {
            #[inline]
            fn entropy(&mut self, now: Time) -> u16 {
                match self { $(Self::$policy(policy) => policy.entropy(now),)* }
            }
            #[inline]
            fn handle_feedback(&mut self, now: Time, feedback: Feedback) {
                match self { $(Self::$policy(policy) => policy.handle_feedback(now, feedback),)* }
            }
            #[inline]
            fn handle_timeout(&mut self, now: Time, entropy: u16) -> Option<FailedPath> {
                match self { $(Self::$policy(policy) => policy.handle_timeout(now, entropy),)* }
            }
            fn move_to(&mut self, path: u16) {
                match self { $(Self::$policy(policy) => policy.move_to(path),)* }
            }
            fn handle_weights(&mut self, weights: &[u32]) {
                match self { $(Self::$policy(policy) => policy.handle_weights(weights),)* }
            }
            fn state_bits(&self) -> u64 {
                match self { $(Self::$policy(policy) => policy.state_bits(),)* }
            }
        }

        /// What the files of sender policies name.
        pub const PRESETS: &[&[Preset]] = &[$($module::PRESETS),*];
    };
}

registry! {
    ecmp::Ecmp,
    source_port::SourcePort,
    spray::Spray,
    spray_rr::SprayRr,
    reps::Reps,
    reps_legacy::RepsLegacy,
    bitmap::Bitmap,
    prime::Prime,
    pinned::Pinned,
    flowlet::Flowlet,
    plb::Plb,
    host_dr::HostDr,
}

/// What a policy may know of the queue pair it serves.
#[derive(Debug, Clone, Copy)]
pub struct QpContext {
    /// The run's seed.
    pub seed: u64,
    /// The sender.
    pub src: HostId,
    /// The receiver.
    pub dst: HostId,
    /// The message stream between them.
    pub stream: u32,
    /// Which of the stream's queue pairs.
    pub piece: u32,
    /// Equal-cost choices at each tier on the way, where the source routes or the policy asks for
    /// them ([`SenderPolicy::KNOWS_PATHS`]).
    pub paths: PathSpace,
    /// The path that a splitter gave it, where the source routes.
    pub path: u16,
    /// What the NIC was told of the network.
    pub facts: Facts,
}

/// What an operator tells a NIC of its network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Facts {
    /// Round-trip time of a full packet and its acknowledgement on the longest idle path.
    pub base_rtt: Span,
    /// Full packets that line rate sends in that time.
    pub bdp_packets: u32,
    /// How long a packet is waited for.
    pub retransmit_timeout: Span,
    /// Whether switches cut packets that they have no room for, rather than drop them.
    pub trimming: Trimming,
}

/// What switches do with packets that they have no room for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Trimming {
    /// They drop them.
    #[default]
    Off,
    /// They cut them to their headers, and the receiver says so.
    On,
}

impl Default for Facts {
    /// For where nobody says: 8 us at 400 Gbps and packets of 4 KiB, a timer of 1 ms, no trimming.
    fn default() -> Self {
        Self {
            base_rtt: Span::from_us(8),
            bdp_packets: 96,
            retransmit_timeout: Span::from_ms(1),
            trimming: Trimming::Off,
        }
    }
}

#[cfg(test)]
impl QpContext {
    /// A queue pair from host 0 to host 1 without a choice of paths.
    pub(crate) fn for_test() -> Self {
        Self {
            seed: 1,
            src: HostId(0),
            dst: HostId(1),
            stream: 0,
            piece: 0,
            paths: PathSpace::SINGLE,
            path: 0,
            facts: Facts::default(),
        }
    }
}

impl QpContext {
    /// A number for this queue pair that no other pair of hosts has any part in.
    pub fn key(&self) -> u64 {
        let pair = u64::from(self.src.0) << 32 | u64::from(self.dst.0);
        mix64(pair) ^ (u64::from(self.stream) << 32 | u64::from(self.piece))
    }

    /// Its own random stream for `purpose`.
    pub fn random(&self, purpose: Purpose) -> Stream {
        Stream::new(self.seed, purpose, self.key())
    }
}

/// The equal-cost choices on the way to a host, tier by tier: a path is a number in mixed radix,
/// the choice at the first switch in the lowest digit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PathSpace {
    radices: [u16; 4],
    tiers: u8,
}

impl PathSpace {
    /// One path, no choice.
    pub const SINGLE: Self = Self { radices: [1; 4], tiers: 0 };
    /// Where the choices are not known, or are more than a path can tell: 16 at each of two tiers
    /// \[inferred\]. Only for policies that ask where switches choose.
    pub const UNKNOWN: Self = Self { radices: [16, 16, 1, 1], tiers: 2 };

    /// Adds a switch with `choices` equal-cost ports; `None` beyond four tiers or 65,536 paths.
    pub fn with_tier(mut self, choices: usize) -> Option<Self> {
        if choices <= 1 {
            return Some(self);
        }
        *self.radices.get_mut(usize::from(self.tiers))? = u16::try_from(choices).ok()?;
        self.tiers += 1;
        let product: u64 = self.radices().iter().map(|&radix| u64::from(radix)).product();
        (product <= 1 << 16).then_some(self)
    }

    /// Choices by tier.
    pub fn radices(&self) -> &[u16] {
        &self.radices[..usize::from(self.tiers)]
    }

    /// How many paths there are, 1 to 65,536.
    pub fn count(&self) -> u32 {
        self.radices().iter().map(|&radix| u32::from(radix)).product()
    }
}

/// What an acknowledgement says of packets that carried an entropy value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Feedback {
    /// The entropy value that it echoes.
    pub entropy: u16,
    /// What happened to the packet that carried it.
    pub verdict: Verdict,
    /// How many packets it acknowledges; 0 for those that are missing.
    pub packets: u32,
    /// How many of them were ECN marked.
    pub marked: u32,
    /// From the sending of the packet that the acknowledgement echoes to now, within 1 ns.
    pub rtt: Span,
}

/// How a packet fared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Arrived, not marked.
    Good,
    /// Arrived, ECN marked.
    Marked,
    /// The receiver misses a packet.
    Nack,
    /// Cut to its header on the way.
    Trimmed,
    /// Cut by the switch that the receiver is attached to: no path is to blame.
    TrimmedAtLastHop,
}

/// A path that a policy gave up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FailedPath(pub u16);

/// Picks entropy values.
pub trait SenderPolicy {
    /// Whether it asks for [`QpContext::paths`] where switches choose.
    const KNOWS_PATHS: bool = false;
    /// Whether it wants to be told of each packet that an acknowledgement covers, with the
    /// entropy value that the packet was sent with: the NIC then remembers them.
    const DEAGGREGATES: bool = false;

    /// The entropy value of the next packet.
    fn entropy(&mut self, now: Time) -> u16;

    /// Learns from an acknowledgement.
    fn handle_feedback(&mut self, _now: Time, _feedback: Feedback) {}

    /// Learns that the retransmission timer of a packet with this entropy value ran out; names
    /// the path if it leaves it for good.
    fn handle_timeout(&mut self, _now: Time, _entropy: u16) -> Option<FailedPath> {
        None
    }

    /// A splitter moves the queue pair to another path before its next message.
    fn move_to(&mut self, _path: u16) {}

    /// Routing has converged: the share that each path of [`QpContext::paths`] is worth, 0 for one
    /// that leads nowhere. Only where the source routes.
    fn handle_weights(&mut self, _weights: &[u32]) {}

    /// What it keeps for a queue pair beyond its configuration, in bits: what a NIC's context
    /// would have to hold.
    fn state_bits(&self) -> u64 {
        0
    }
}
