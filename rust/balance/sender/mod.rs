//! Sender policies: which entropy value each packet of a queue pair gets.
//!
//! A policy sees what a NIC sees: its own packets, and what acknowledgements and timers tell. It
//! does not see queues or other hosts.

use crate::ids::HostId;
use crate::rng::{Purpose, Stream, mix64};
use crate::units::Time;

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
        }

        /// What the files of sender policies name.
        pub const PRESETS: &[&[Preset]] = &[$($module::PRESETS),*];
    };
}

registry! {
    ecmp::Ecmp,
    spray::Spray,
    pinned::Pinned,
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
    /// Equal-cost choices at each tier on the way, where the source routes.
    pub paths: PathSpace,
    /// The path that a splitter gave it, where the source routes.
    pub path: u16,
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

/// What an acknowledgement says of the packets that carried an entropy value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Feedback {
    /// The entropy value that it echoes.
    pub entropy: u16,
    /// What happened to them.
    pub verdict: Verdict,
}

/// How packets fared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Arrived, not marked.
    Good,
    /// Arrived, ECN marked.
    Marked,
    /// The receiver misses a packet.
    Nack,
}

/// A path that a policy gave up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FailedPath(pub u16);

/// Picks entropy values.
pub trait SenderPolicy {
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
}
