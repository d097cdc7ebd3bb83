//! Sender policies: the choice of an entropy value for each packet of a queue pair.
//!
//! A policy sees what a NIC sees: its own packets, acknowledgements and timeouts. It does not see
//! queues or other hosts.

pub mod any_plane;
pub mod bitmap;
#[cfg(any(test, feature = "custom"))]
pub mod custom;
pub mod ecmp;
mod entropy_space;
pub mod flowlet;
pub mod host_dr;
pub mod mixed;
pub mod mp_rdma;
pub mod mrc;
pub mod pinned;
pub mod plane_jsq;
pub mod plb;
pub mod prime;
pub mod reps;
pub mod reps_ethereal;
pub mod reps_legacy;
pub mod source_port;
pub mod spray;
pub mod spray_rr;
pub mod whack_a_mole;
mod xor_rounds;

pub use super::path_space::PathSpace;
pub use super::qp_context::{NetworkParameters, QpContext, Trimming};
pub use entropy_space::EntropySpace;

use crate::packet::PlaneMask;
use crate::units::{Span, Time};

use super::Preset;

/// Dispatches to sender policies. To add one, write its file, a `mod` line and a line in the call
/// below.
macro_rules! registry {
    ($($(#[$only:meta])* $module:ident :: $policy:ident),* $(,)?) => {
        /// The sender policy of one queue pair.
        #[derive(Debug, Clone)]
        pub enum Sender {
            $($(#[$only])* #[doc = concat!("See [`", stringify!($module), "`].")]
            $policy($module::$policy),)*
        }

        /// A sender policy and its parameters.
        #[derive(Debug, Clone, PartialEq, serde::Serialize)]
        #[serde(untagged)]
        pub enum SenderConfig {
            $($(#[$only])* #[doc = concat!("See [`", stringify!($module), "`].")]
            $policy($module::Config),)*
        }

        impl SenderConfig {
            /// Creates the policy of a new queue pair.
            pub fn build(&self, qp: &QpContext) -> Sender {
                match self {
                    $($(#[$only])* Self::$policy(config) =>
                        Sender::$policy($module::$policy::new(config, qp)),)*
                }
            }

            /// True if a new queue pair needs its path space: [`SenderPolicy::NEEDS_PATHS`].
            pub(crate) const fn needs_paths(&self) -> bool {
                match self {
                    $($(#[$only])* Self::$policy(_) =>
                        <$module::$policy as SenderPolicy>::NEEDS_PATHS,)*
                }
            }
        }

        impl SenderConfig {
            /// True if all packets of a queue pair carry one value, except after timeouts:
            /// [`SenderPolicy::KEEPS_VALUE`].
            pub(crate) const fn pins_path(&self) -> bool {
                match self {
                    $($(#[$only])* Self::$policy(_) =>
                        <$module::$policy as SenderPolicy>::KEEPS_VALUE,)*
                }
            }
        }

        impl SenderConfig {
            /// True if the policy avoids paths whose packets were marked or late.
            pub const fn is_load_aware(&self) -> bool {
                matches!(
                    self,
                    Self::Reps(_)
                        | Self::RepsLegacy(_)
                        | Self::Bitmap(_)
                        | Self::Mixed(_)
                        | Self::Prime(_)
                        | Self::MpRdma(_)
                        | Self::Mrc(_)
                        | Self::PlaneJsq(_)
                        | Self::WhackAMole(_)
                )
            }

            /// True if a queue pair stays in one plane for at least a flowlet.
            pub const fn pins_plane(&self) -> bool {
                matches!(
                    self,
                    Self::Ecmp(_) | Self::SourcePort(_) | Self::Flowlet(_) | Self::Plb(_)
                )
            }
        }

        impl Sender {
            /// True if the NIC must store the entropy value of each packet in flight:
            /// [`SenderPolicy::NEEDS_PACKET_FEEDBACK`].
            pub(crate) const fn needs_packet_feedback(&self) -> bool {
                match self {
                    $($(#[$only])* Self::$policy(_) =>
                        <$module::$policy as SenderPolicy>::NEEDS_PACKET_FEEDBACK,)*
                }
            }

            /// True if all packets carry one value until a path fails:
            /// [`SenderPolicy::KEEPS_VALUE`].
            pub(crate) const fn keeps_value(&self) -> bool {
                match self {
                    $($(#[$only])* Self::$policy(_) =>
                        <$module::$policy as SenderPolicy>::KEEPS_VALUE,)*
                }
            }

            /// True if a packet takes another plane when its own plane's port is busy:
            /// [`SenderPolicy::TAKES_ANY_PLANE`].
            pub(crate) const fn takes_any_plane(&self) -> bool {
                match self {
                    $($(#[$only])* Self::$policy(_) =>
                        <$module::$policy as SenderPolicy>::TAKES_ANY_PLANE,)*
                }
            }
        }

        impl SenderPolicy for Sender {
            #[inline]
            fn entropy(&mut self, now: Time) -> u16 {
                match self { $($(#[$only])* Self::$policy(policy) =>
                    policy.entropy(now),)* }
            }
            #[inline]
            fn choose(&mut self, now: Time, free: PlaneMask) -> Option<u16> {
                match self { $($(#[$only])* Self::$policy(policy) =>
                    policy.choose(now, free),)* }
            }
            fn paths(&self) -> Option<u32> {
                match self { $($(#[$only])* Self::$policy(policy) => policy.paths(),)* }
            }
            #[inline]
            fn choose_path(&mut self, now: Time, open: PlaneMask) -> u16 {
                match self { $($(#[$only])* Self::$policy(policy) =>
                    policy.choose_path(now, open),)* }
            }
            fn handle_planes(&mut self, now: Time, usable: PlaneMask) {
                match self { $($(#[$only])* Self::$policy(policy) =>
                    policy.handle_planes(now, usable),)* }
            }
            #[inline]
            fn handle_feedback(&mut self, now: Time, feedback: Feedback) {
                match self { $($(#[$only])* Self::$policy(policy) =>
                    policy.handle_feedback(now, feedback),)* }
            }
            #[inline]
            fn handle_timeout(&mut self, now: Time, entropy: u16) -> Option<FailedPath> {
                match self { $($(#[$only])* Self::$policy(policy) =>
                    policy.handle_timeout(now, entropy),)* }
            }
            fn prober(&mut self) -> Option<&mut dyn Prober> {
                match self { $($(#[$only])* Self::$policy(policy) => policy.prober(),)* }
            }
            fn set_path(&mut self, path: u16) {
                match self { $($(#[$only])* Self::$policy(policy) =>
                    policy.set_path(path),)* }
            }
            fn handle_weights(&mut self, weights: &[u32]) {
                match self { $($(#[$only])* Self::$policy(policy) =>
                    policy.handle_weights(weights),)* }
            }
            fn state_bits(&self) -> u64 {
                match self { $($(#[$only])* Self::$policy(policy) =>
                    policy.state_bits(),)* }
            }
        }

        /// The presets of all sender policies.
        pub const PRESETS: &[&[Preset]] = &[$($(#[$only])* $module::PRESETS),*];
    };
}

registry! {
    ecmp::Ecmp,
    source_port::SourcePort,
    any_plane::AnyPlane,
    spray::Spray,
    spray_rr::SprayRr,
    reps::Reps,
    reps_legacy::RepsLegacy,
    reps_ethereal::RepsEthereal,
    bitmap::Bitmap,
    mixed::Mixed,
    prime::Prime,
    pinned::Pinned,
    flowlet::Flowlet,
    plb::Plb,
    host_dr::HostDr,
    mp_rdma::MpRdma,
    mrc::Mrc,
    plane_jsq::PlaneJsq,
    whack_a_mole::WhackAMole,
    #[cfg(any(test, feature = "custom"))]
    custom::Custom,
}

/// Path information in an acknowledgement, for packets that carried one entropy value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Feedback {
    /// Entropy value that the acknowledgement echoes.
    pub entropy: u16,
    /// Fate of the packet with that entropy value.
    pub signal: PathSignal,
    /// Number of newly acknowledged packets; 0 for a report of missing packets.
    pub packets: u32,
    /// Number of those packets that were ECN marked.
    pub marked: u32,
    /// Time since the echoed packet was sent, within 1 ns.
    pub rtt: Span,
}

/// Fate of a packet on its path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathSignal {
    /// The packet arrived unmarked.
    Good,
    /// The packet arrived ECN marked.
    Marked,
    /// The receiver reports a missing packet.
    Nack,
    /// A switch trimmed the packet to its header.
    Trimmed,
    /// The receiver's edge switch trimmed the packet: no path is at fault.
    TrimmedAtLastHop,
    /// The receiver asks to leave the path.
    Condemned,
}

/// A path that a policy has abandoned after a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FailedPath(pub u16);

/// Chooses the entropy value of each packet of a queue pair.
pub trait SenderPolicy {
    /// True if all packets of a queue pair carry one entropy value until a path fails.
    const KEEPS_VALUE: bool = false;
    /// True if the policy needs [`QpContext::paths`] even where switches choose the ports.
    const NEEDS_PATHS: bool = false;
    /// True if the policy needs feedback for every packet that an acknowledgement covers, with the
    /// entropy value that the packet carried. The NIC then stores these values.
    const NEEDS_PACKET_FEEDBACK: bool = false;

    /// True if a packet whose plane is busy takes the next free plane, with the value of the same
    /// row there. This is the rule of ultraethernet/uet-htsim's NIC, for policies whose values are
    /// not bound to planes.
    const TAKES_ANY_PLANE: bool = false;

    /// Returns the entropy value of the next packet.
    fn entropy(&mut self, now: Time) -> u16;

    /// Returns the entropy value of the next packet of a NIC with several ports, or `None` if the
    /// packet should wait for another port. `free` holds the planes whose ports are usable and idle
    /// now.
    ///
    /// The plane of a value is its remainder modulo the number of planes. By default the packet
    /// takes the next value and waits for the port of its plane.
    #[inline]
    fn choose(&mut self, now: Time, _free: PlaneMask) -> Option<u16> {
        Some(self.entropy(now))
    }

    /// Returns the number of its paths, at most [`PlaneMask::MAX`], if that is fixed. The path of a
    /// value is then its remainder modulo this number.
    fn paths(&self) -> Option<u32> {
        None
    }

    /// Returns the entropy value of the next packet where each path has its own window. `open`
    /// holds the paths that may take the packet, at least one.
    #[inline]
    fn choose_path(&mut self, now: Time, _open: PlaneMask) -> u16 {
        self.entropy(now)
    }

    /// Receives the set of planes by which packets reach the peer from now on.
    fn handle_planes(&mut self, _now: Time, _usable: PlaneMask) {}

    /// Processes the path information of an acknowledgement.
    fn handle_feedback(&mut self, _now: Time, _feedback: Feedback) {}

    /// Processes the timeout of a packet with this entropy value. Returns the path if the policy
    /// abandons it.
    fn handle_timeout(&mut self, _now: Time, _entropy: u16) -> Option<FailedPath> {
        None
    }

    /// Returns the part that probes paths; `None` for a policy that sends no probes.
    fn prober(&mut self) -> Option<&mut dyn Prober> {
        None
    }

    /// Moves the queue pair to the path that a splitter chose for its next message.
    fn set_path(&mut self, _path: u16) {}

    /// Processes the weights of the paths in [`QpContext::paths`] after routing has converged. A
    /// weight of 0 means that the path does not reach the destination. Called only under source
    /// routes.
    fn handle_weights(&mut self, _weights: &[u32]) {}

    /// Returns the state per queue pair in bits, without the configuration: the storage that a
    /// NIC's queue pair context would need.
    fn state_bits(&self) -> u64 {
        0
    }
}

/// The part of a sender policy that probes paths.
pub trait Prober {
    /// Returns the time when the next probe is due; `NEVER` if none is.
    fn next_probe(&self) -> Time;

    /// Returns the entropy value of a probe that is due at `now`, if one is.
    fn poll_probe(&mut self, now: Time) -> Option<u16>;

    /// Processes the reply to a probe with this entropy value; `signal` says whether it was marked.
    fn handle_probe(&mut self, now: Time, entropy: u16, signal: PathSignal);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_default_a_policy_has_no_probes_and_no_state() {
        let config = SenderConfig::Spray(spray::Config::default());
        let mut policy = config.build(&QpContext::for_test());
        assert!(policy.prober().is_none());
        assert_eq!(policy.state_bits(), 0);
    }
}
