//! Switch policies: which of the equal-cost ports a packet leaves by.
//!
//! A policy sees what a switch sees: headers, its own queues, its own ports, what routing told it
//! of weights. It does not see other switches or what senders intend.

mod weighted;

pub use super::state_size::StateSize;
use super::state_size::index_bits;
#[cfg(test)]
use super::test_view;
pub use super::view::{CandidateCount, Departure, SwitchContext, SwitchView};

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
        pub enum PortSelector {
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
            pub fn build(&self, switch: &SwitchContext) -> PortSelector {
                match self {
                    $(Self::$policy(config) =>
                        PortSelector::$policy($module::$policy::new(config, switch)),)*
                }
            }

            /// Whether the policy asks for queue lengths.
            pub const fn uses_queue_lengths(&self) -> bool {
                match self {
                    $(Self::$policy(_) => <$module::$policy as SwitchPolicy>::USES_QUEUE_LENGTHS,)*
                }
            }

            /// Whether the policy wants to see every packet that leaves.
            pub const fn tracks_departures(&self) -> bool {
                match self {
                    $(Self::$policy(_) => <$module::$policy as SwitchPolicy>::TRACKS_DEPARTURES,)*
                }
            }
        }

        impl PortSelector {
            /// Which of at least two candidates `packet` leaves by; weights that routing gave
            /// are kept also by policies that know none.
            #[inline]
            pub fn choose<V: SwitchView>(&mut self, now: Time, packet: &Packet, view: &mut V) -> u32 {
                match self {
                    $(Self::$policy(policy) => choose_by(policy, now, packet, view),)*
                }
            }

            /// See [`SwitchPolicy::handle_departure`].
            #[inline]
            pub fn handle_departure(&mut self, now: Time, packet: &mut Packet, departure: &Departure) {
                match self {
                    $(Self::$policy(policy) => policy.handle_departure(now, packet, departure),)*
                }
            }

            /// See [`SwitchPolicy::state_size`].
            pub fn state_size(&self) -> StateSize {
                match self { $(Self::$policy(policy) => policy.state_size(),)* }
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
    const USES_QUEUE_LENGTHS: bool = false;
    /// Whether [`Self::handle_departure`] does anything.
    const TRACKS_DEPARTURES: bool = false;
    /// Whether it heeds [`SwitchView::weight`] itself. For one that does not, each port is a candidate
    /// as many times as its weight says (what WCMP does to the tables of ECMP).
    const USES_WEIGHTS: bool = false;

    /// Which of the equal-cost candidates (at least 2) `packet` leaves by: a number below
    /// [`SwitchView::candidates`].
    fn choose<V: SwitchView>(&mut self, now: Time, packet: &Packet, view: &mut V) -> u32;

    /// A packet leaves by a port, chosen here or the only one: it may be read and its fields for
    /// load balancing written. Called before it joins the port's queue, if [`Self::TRACKS_DEPARTURES`].
    fn handle_departure(&mut self, _now: Time, _packet: &mut Packet, _departure: &Departure) {}

    /// What it keeps beyond its configuration.
    fn state_size(&self) -> StateSize {
        StateSize::default()
    }
}

/// The scheme of a policy that heeds no entropy value, under which packets overtake each other.
fn at_switches(name: &'static str, switch: SwitchConfig) -> Scheme {
    let sender = SenderConfig::Ecmp(ecmp::Config {});
    Scheme { switch, recovery: Recovery::PerPacket, ..Scheme::new(name, sender) }
}

#[inline]
fn choose_by<P: SwitchPolicy, V: SwitchView>(
    policy: &mut P,
    now: Time,
    packet: &Packet,
    view: &mut V,
) -> u32 {
    let entries = if P::USES_WEIGHTS { None } else { view.schedule_len() };
    let Some(entries) = entries else { return policy.choose(now, packet, view) };
    // Of several next hops only one may be worth anything.
    let entry = match entries {
        1 => 0,
        _ => policy.choose(now, packet, &mut Weighted::new(view, entries)),
    };
    view.schedule_entry(entry)
}
