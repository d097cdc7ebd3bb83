//! Switch policies: which of the equal-cost ports a packet leaves by.
//!
//! A policy sees what a switch sees: headers, its own queues, its own ports, what routing told it
//! of weights. It does not see other switches or what senders intend.

mod weighted;

#[cfg(test)]
use super::test_view;
pub use super::view::{Headers, Passage, SwitchContext, SwitchState, View};

use super::sender::{SenderConfig, ecmp};
use super::{Preset, Scheme};
use crate::nic::Recovery;
use crate::packet::Packet;
use crate::units::Time;
use weighted::Weighted;

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
            /// The policy of a new switch.
            pub fn build(&self, switch: &SwitchContext) -> Chooser {
                match self {
                    $(Self::$policy(config) =>
                        Chooser::$policy($module::$policy::new(config, switch)),)*
                }
            }

            /// Whether the policy asks for queue lengths.
            pub const fn looks_at_queues(&self) -> bool {
                match self {
                    $(Self::$policy(_) => <$module::$policy as SwitchPolicy>::LOOKS_AT_QUEUES,)*
                }
            }

            /// Whether the policy wants to see every packet that leaves.
            pub const fn watches(&self) -> bool {
                match self {
                    $(Self::$policy(_) => <$module::$policy as SwitchPolicy>::WATCHES,)*
                }
            }
        }

        impl Chooser {
            /// Which of at least two candidates `packet` leaves by; weights that routing gave
            /// are kept also by policies that know none.
            #[inline]
            pub fn choose<V: View>(&mut self, now: Time, packet: &Packet, view: &mut V) -> u32 {
                match self {
                    $(Self::$policy(policy) => choose_by(policy, now, packet, view),)*
                }
            }

            /// See [`SwitchPolicy::handle_passage`].
            #[inline]
            pub fn handle_passage(&mut self, now: Time, packet: &mut Packet, passage: &Passage) {
                match self {
                    $(Self::$policy(policy) => policy.handle_passage(now, packet, passage),)*
                }
            }

            /// See [`SwitchPolicy::state`].
            pub fn state(&self) -> SwitchState {
                match self { $(Self::$policy(policy) => policy.state(),)* }
            }
        }

        /// What the files of switch policies name.
        pub const PRESETS: &[&[Preset]] = &[$($module::PRESETS),*];
    };
}

registry! {
    hash::Hash,
    hash_by_part::HashByPart,
    murmur::Murmur,
    round_robin::RoundRobin,
    random::Random,
    jsq::Jsq,
    adaptive::Adaptive,
    drill::Drill,
    conga::Conga,
    ofan::Ofan,
}

/// Picks ports.
pub trait SwitchPolicy {
    /// Whether it asks for queue lengths, which the world then has to have at hand.
    const LOOKS_AT_QUEUES: bool = false;
    /// Whether [`Self::handle_passage`] does anything.
    const WATCHES: bool = false;
    /// Whether it heeds [`View::weight`] itself. For one that does not, each port is a candidate
    /// as many times as its weight says (what WCMP does to the tables of ECMP).
    const WEIGHS: bool = false;

    /// Which of the equal-cost candidates (at least 2) `packet` leaves by: a number below
    /// [`View::candidates`].
    fn choose<V: View>(&mut self, now: Time, packet: &Packet, view: &mut V) -> u32;

    /// A packet leaves by a port, chosen here or the only one: it may be read and its fields for
    /// load balancing written. Called before it joins the port's queue, if [`Self::WATCHES`].
    fn handle_passage(&mut self, _now: Time, _packet: &mut Packet, _passage: &Passage) {}

    /// What it keeps beyond its configuration.
    fn state(&self) -> SwitchState {
        SwitchState::default()
    }
}

/// The scheme of a policy that heeds no entropy value, under which packets overtake each other.
fn at_switches(name: &'static str, switch: SwitchConfig) -> Scheme {
    let sender = SenderConfig::Ecmp(ecmp::Config {});
    Scheme { switch, recovery: Recovery::PerPacket, ..Scheme::new(name, sender) }
}

/// How many bits tell so many things apart; 0 for one or none.
fn bits_to_number(things: u64) -> u64 {
    things.max(1).next_power_of_two().trailing_zeros().into()
}

#[inline]
fn choose_by<P: SwitchPolicy, V: View>(
    policy: &mut P,
    now: Time,
    packet: &Packet,
    view: &mut V,
) -> u32 {
    let entries = if P::WEIGHS { None } else { view.entries() };
    let Some(entries) = entries else { return policy.choose(now, packet, view) };
    // Of several next hops only one may be worth anything.
    let entry = match entries {
        1 => 0,
        _ => policy.choose(now, packet, &mut Weighted::new(view, entries)),
    };
    view.entry(entry)
}
