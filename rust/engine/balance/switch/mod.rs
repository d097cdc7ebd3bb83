//! Switch policies: the choice of an equal-cost port for each packet.
//!
//! A policy sees what a switch sees: headers, its own queues and ports, and the weights from
//! routing. It does not see other switches or the state of senders.

pub mod adaptive;
pub mod conga;
#[cfg(any(test, feature = "custom"))]
pub mod custom;
pub mod drill;
pub mod drill_by_destination;
mod flowlet_table;
pub mod hash;
pub mod hash_by_part;
pub mod jsq;
pub mod letflow;
pub mod murmur;
pub mod ofan;
pub mod random;
pub mod round_robin;
pub mod round_robin_by_destination;
pub mod ugal;
pub mod valiant;
mod weighted;

pub use super::detour::{DetourView, RouteLoad};
pub use super::state_size::StateSize;
use super::state_size::index_bits;
#[cfg(test)]
use super::test_view;
pub use super::view::{CandidateCount, Departure, SwitchContext, SwitchView};

use super::sender::{SenderConfig, any_plane, ecmp};
use super::{Eligibility, Preset, Scheme};
use crate::nic::Recovery;
use crate::packet::{Flags, Packet};
use crate::units::Time;
use weighted::Weighted;

/// Dispatches to switch policies. To add one, write its file, a `mod` line and a line in the call
/// below.
macro_rules! registry {
    ($($(#[$only:meta])* $module:ident :: $policy:ident),* $(,)?) => {
        /// The policy of one switch.
        #[derive(Debug, Clone)]
        pub enum PortSelector {
            $($(#[$only])* #[doc = concat!("See [`", stringify!($module), "`].")]
            $policy($module::$policy),)*
            /// One of the others for eligible packets, and the hash of ECMP for the rest.
            Eligible(Box<Eligible>),
        }

        /// A switch policy and its parameters.
        #[derive(Debug, Clone, PartialEq, serde::Serialize)]
        #[serde(untagged)]
        pub enum SwitchConfig {
            $($(#[$only])* #[doc = concat!("See [`", stringify!($module), "`].")]
            $policy($module::Config),)*
        }

        impl SwitchConfig {
            /// Creates the policy of a new switch.
            pub fn build(&self, switch: &SwitchContext) -> PortSelector {
                match self {
                    $($(#[$only])* Self::$policy(config) =>
                        PortSelector::$policy($module::$policy::new(config, switch)),)*
                }
            }

            /// True if the fabric must settle queues before each choice:
            /// [`SwitchPolicy::USES_QUEUE_LENGTHS`].
            pub const fn uses_queue_lengths(&self) -> bool {
                match self {
                    $($(#[$only])* Self::$policy(_) =>
                        <$module::$policy as SwitchPolicy>::USES_QUEUE_LENGTHS,)*
                }
            }

            /// True if packets with equal headers take the same port:
            /// [`SwitchPolicy::PINS_PATH`].
            pub const fn pins_path(&self) -> bool {
                match self {
                    $($(#[$only])* Self::$policy(_) =>
                        <$module::$policy as SwitchPolicy>::PINS_PATH,)*
                }
            }

            /// True if packets may detour through other groups: [`SwitchPolicy::TAKES_DETOURS`].
            pub const fn uses_detours(&self) -> bool {
                match self {
                    $($(#[$only])* Self::$policy(_) =>
                        <$module::$policy as SwitchPolicy>::TAKES_DETOURS,)*
                }
            }

            /// True if the policy must see every packet that leaves the switch:
            /// [`SwitchPolicy::tracks_departures`].
            pub fn tracks_departures(&self) -> bool {
                match self {
                    $($(#[$only])* Self::$policy(_) =>
                        <$module::$policy as SwitchPolicy>::tracks_departures(self),)*
                }
            }
        }

        impl PortSelector {
            /// Chooses one of at least two candidates for `packet`. Routing weights apply to every
            /// policy, even to those that do not use weights themselves.
            #[inline]
            pub fn choose<V: SwitchView>(
                &mut self,
                now: Time,
                packet: &Packet,
                view: &mut V,
            ) -> u32 {
                match self {
                    $($(#[$only])* Self::$policy(policy) => choose_by(policy, now, packet, view),)*
                    Self::Eligible(policy) => policy.choose(now, packet, view),
                }
            }

            /// Notifies the policy of a packet that leaves by a port:
            /// [`SwitchPolicy::handle_departure`].
            #[inline]
            pub fn handle_departure(
                &mut self,
                now: Time,
                packet: &mut Packet,
                departure: &Departure,
            ) {
                match self {
                    $($(#[$only])* Self::$policy(policy) =>
                        policy.handle_departure(now, packet, departure),)*
                    Self::Eligible(policy) => {
                        policy.eligible.handle_departure(now, packet, departure);
                    }
                }
            }

            /// Returns the detour of a packet from one of the switch's hosts:
            /// [`SwitchPolicy::detour`].
            pub fn detour(&mut self, view: &impl DetourView) -> Option<u32> {
                match self {
                    $($(#[$only])* Self::$policy(policy) => policy.detour(view),)*
                    Self::Eligible(policy) => policy.eligible.detour(view),
                }
            }

            /// Returns the current size of the policy's state: [`SwitchPolicy::state_size`].
            pub fn state_size(&self) -> StateSize {
                match self {
                    $($(#[$only])* Self::$policy(policy) => policy.state_size(),)*
                    Self::Eligible(policy) => policy.eligible.state_size(),
                }
            }
        }

        /// The presets of all switch policies.
        pub const PRESETS: &[&[Preset]] = &[$($(#[$only])* $module::PRESETS),*];
    };
}

registry! {
    hash::Hash,
    hash_by_part::HashByPart,
    murmur::Murmur,
    round_robin::RoundRobin,
    round_robin_by_destination::RoundRobinByDestination,
    random::Random,
    jsq::Jsq,
    adaptive::Adaptive,
    drill::Drill,
    drill_by_destination::DrillByDestination,
    letflow::LetFlow,
    conga::Conga,
    ofan::Ofan,
    valiant::Valiant,
    ugal::Ugal,
    #[cfg(any(test, feature = "custom"))]
    custom::Custom,
}

/// A switch policy for eligible packets, and the hash of ECMP for those with the flag `HASHED`.
#[derive(Debug, Clone)]
pub struct Eligible {
    eligible: PortSelector,
    hash: hash::Hash,
}

impl Eligible {
    fn choose<V: SwitchView>(&mut self, now: Time, packet: &Packet, view: &mut V) -> u32 {
        match packet.flags.has(Flags::HASHED) {
            true => choose_by(&mut self.hash, now, packet, view),
            false => self.eligible.choose(now, packet, view),
        }
    }
}

impl SwitchConfig {
    /// Creates the policy of a new switch, which applies only to packets of this eligibility.
    pub fn build_for(&self, eligibility: Eligibility, switch: &SwitchContext) -> PortSelector {
        let eligible = self.build(switch);
        match eligibility {
            Eligibility::All => eligible,
            Eligibility::Unflagged => {
                let hash = hash::Hash::new(&hash::Config {}, switch);
                PortSelector::Eligible(Box::new(Eligible { eligible, hash }))
            }
        }
    }
}

/// Chooses the output port of each packet.
pub trait SwitchPolicy {
    /// True if packets with equal headers leave by the same port until a link fails.
    const PINS_PATH: bool = false;
    /// True if the policy reads queue lengths, which its caller then has to keep up to date.
    const USES_QUEUE_LENGTHS: bool = false;
    /// True if the policy uses [`SwitchView::weight`] itself. For other policies, each port appears
    /// among the candidates as often as its weight (as WCMP replicates entries in ECMP tables).
    const USES_WEIGHTS: bool = false;

    /// True if packets may pass through another group of a direct network first. [`Self::detour`]
    /// is called for each packet at its sender's switch.
    const TAKES_DETOURS: bool = false;

    /// Returns true if the policy with this configuration needs [`Self::handle_departure`].
    fn tracks_departures(_config: &SwitchConfig) -> bool {
        false
    }

    /// Chooses one of at least two equal-cost candidates for `packet`. Returns its index, which is
    /// below [`SwitchView::candidates`].
    fn choose<V: SwitchView>(&mut self, now: Time, packet: &Packet, view: &mut V) -> u32;

    /// Returns the intermediate switch of a packet, below [`DetourView::candidates`], or `None` for
    /// its minimal route. Called only for policies with [`Self::TAKES_DETOURS`].
    fn detour<V: DetourView>(&mut self, _view: &V) -> Option<u32> {
        None
    }

    /// Processes a packet that leaves by a port, whether the policy chose the port or it was the
    /// only one. The policy may write the packet's load-balancing fields. Called before the packet
    /// joins the port's queue, and only if [`Self::tracks_departures`] returns true.
    fn handle_departure(&mut self, _now: Time, _packet: &mut Packet, _departure: &Departure) {}

    /// Returns the size of the state that the policy keeps in addition to its configuration.
    fn state_size(&self) -> StateSize {
        StateSize::default()
    }
}

/// Creates the scheme of a switch policy that ignores entropy values and reorders packets.
fn at_switches(name: &'static str, switch: SwitchConfig) -> Scheme {
    let sender = SenderConfig::AnyPlane(any_plane::Config {});
    Scheme { switch, recovery: Recovery::PER_PACKET, ..Scheme::new(name, sender) }
}

/// Creates a scheme whose switches keep the packets of a burst in order. A queue pair therefore
/// stays in one plane.
fn in_bursts(name: &'static str, switch: SwitchConfig) -> Scheme {
    Scheme { switch, ..Scheme::new(name, SenderConfig::Ecmp(ecmp::Config {})) }
}

/// Calls a policy, and applies weights on its behalf if it does not use them.
#[inline]
fn choose_by<P: SwitchPolicy, V: SwitchView>(
    policy: &mut P,
    now: Time,
    packet: &Packet,
    view: &mut V,
) -> u32 {
    // `USES_WEIGHTS` is resolved at compile time. Without weights there is no schedule, and a
    // choice costs one more comparison.
    let entries = if P::USES_WEIGHTS { None } else { view.schedule_len() };
    let Some(entries) = entries else { return policy.choose(now, packet, view) };
    // If only one of several next hops has a weight above 0, the policy, which expects two
    // candidates, is not called.
    let entry = match entries {
        1 => 0,
        _ => policy.choose(now, packet, &mut Weighted::new(view, entries)),
    };
    view.schedule_entry(entry)
}
