//! Switch policies: which of the equal-cost ports a packet leaves by.
//!
//! A policy sees what a switch sees: headers, its own queues, its own ports. It does not see
//! other switches or what senders intend.

use super::Preset;
use crate::packet::Packet;

/// Makes switch policies real everywhere: a line here is all that a policy's file needs.
macro_rules! registry {
    ($($module:ident :: $policy:ident),* $(,)?) => {
        $(pub mod $module;)*

        /// The policy of one switch.
        #[derive(Debug, Clone)]
        pub enum Chooser {
            $(#[doc = concat!("See [`", stringify!($module), "`].")] $policy($module::$policy),)*
        }

        /// A switch policy and its parameters.
        #[derive(Debug, Clone, PartialEq, serde::Serialize)]
        #[serde(untagged)]
        pub enum SwitchConfig {
            $(#[doc = concat!("See [`", stringify!($module), "`].")] $policy($module::Config),)*
        }

        impl SwitchConfig {
            /// The policy of a new switch; `id` tells switches of one run apart.
            pub fn build(&self, seed: u64, id: u32) -> Chooser {
                match self {
                    $(Self::$policy(config) =>
                        Chooser::$policy($module::$policy::new(config, seed, id)),)*
                }
            }
        }

        impl Chooser {
            /// Whether its policy asks for queue lengths.
            #[inline]
            pub fn looks_at_queues(&self) -> bool {
                match self {
                    $(Self::$policy(_) => <$module::$policy as SwitchPolicy>::LOOKS_AT_QUEUES,)*
                }
            }

            /// See [`SwitchPolicy::choose`].
            #[inline]
            pub fn choose<Q: Queues>(&mut self, packet: &Packet, ports: u32, queues: &mut Q) -> u32 {
                match self { $(Self::$policy(policy) => policy.choose(packet, ports, queues),)* }
            }
        }

        /// What the files of switch policies name.
        pub const PRESETS: &[&[Preset]] = &[$($module::PRESETS),*];
    };
}

registry! {
    hash::Hash,
}

/// The queues behind the candidate ports of one choice.
pub trait Queues {
    /// Bytes that wait at candidate `port`, the packet on the wire not counted.
    fn bytes(&mut self, port: u32) -> u64;
}

/// Queues for where there is nothing to look at.
#[derive(Debug, Clone, Copy)]
pub struct NoQueues;

impl Queues for NoQueues {
    fn bytes(&mut self, _port: u32) -> u64 {
        0
    }
}

/// Picks ports.
pub trait SwitchPolicy {
    /// Whether it asks for queue lengths, which the world then has to have at hand.
    const LOOKS_AT_QUEUES: bool = false;

    /// Which of `ports` equal-cost candidates (at least 2) `packet` leaves by: a number below it.
    fn choose<Q: Queues>(&mut self, packet: &Packet, ports: u32, queues: &mut Q) -> u32;
}
