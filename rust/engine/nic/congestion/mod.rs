//! Congestion control: how fast a queue pair may send. A control is one file and one line of the
//! registry. The file has its `Config` with defaults, presets and check, the type, and tests.
//!
//! The timers of controls schedule no events. When the rate is next needed, the actions that are
//! due by then are applied in order. Every packet gets the same rate as with real timers, and a run
//! with a million queue pairs does not pay for a million ticking clocks. The deadlines still live
//! in a timer table (`nic::timer`).

mod absolute_or_fraction;
mod control;
mod credit;
pub mod dcqcn;
pub mod dcqcn_mlx;
pub mod dctcp_rate;
pub mod dctcp_window;
pub mod hpcc;
pub mod hpcc_pint;
pub mod line_rate;
mod median;
pub mod mp_rdma;
pub mod mswift;
pub(super) mod new_controls;
pub mod new_reno;
pub mod nscc;
mod rate_window;
pub mod rccc;
mod scope;
pub mod swift;
mod telemetry;
mod timed;
pub mod timely;

pub use absolute_or_fraction::AbsoluteOrFraction;
pub use control::{CongestionName, CongestionPreset, Control, ControlConfig, find};
pub use credit::{CREDIT_UNIT, CreditRules, FIRST_CREDIT};
pub use rate_window::{Pacing, WindowRule};
pub use scope::Scope;
pub use telemetry::TelemetryRequest;

use super::parameters::Configuration;
use crate::packet::{Psn, Telemetry};
use crate::units::{BitRate, Bytes, Span, Time};

/// Registers congestion controls: a line here is all that the file of a control needs.
macro_rules! registry {
    ($($module:ident :: $control:ident),* $(,)?) => {
        /// A congestion control and its parameters.
        #[derive(Debug, Clone, PartialEq)]
        pub enum CongestionControl {
            $(#[doc = concat!("See [`", stringify!($module), "`].")] $control($module::Config),)*
        }

        $(impl From<$module::Config> for CongestionControl {
            fn from(config: $module::Config) -> Self {
                Self::$control(config)
            }
        })*

        // An enum instead of a trait object: calls on the packet path are direct and can be
        // inlined.
        /// The control of one queue pair.
        #[derive(Debug, Clone)]
        pub enum Controller {
            $(#[doc = concat!("See [`", stringify!($module), "`].")] $control($module::$control),)*
        }

        impl CongestionControl {
            /// Creates the control of a new queue pair.
            pub fn build(&self, path: &PathFacts) -> Controller {
                match self {
                    $(Self::$control(config) =>
                        Controller::$control($module::$control::new(config, path)),)*
                }
            }

            /// The name that scenarios use.
            pub const fn name(&self) -> &'static str {
                match self { $(Self::$control(_) => $module::Config::NAME,)* }
            }

            /// Its entry in the registry.
            pub fn control(&self) -> &'static Control {
                find(self.name()).expect("names come from the registry")
            }

            /// True if receivers must send CNPs: [`ControlConfig::wants_cnp`].
            pub fn wants_cnp(&self) -> bool {
                match self { $(Self::$control(config) => config.wants_cnp(),)* }
            }

            /// The telemetry that switches write into data packets: [`ControlConfig::telemetry`].
            pub fn telemetry(&self) -> Option<TelemetryRequest> {
                match self { $(Self::$control(config) => config.telemetry(),)* }
            }

            /// True if it belongs to Ultra Ethernet: [`ControlConfig::IS_ULTRA_ETHERNET`].
            pub const fn is_ultra_ethernet(&self) -> bool {
                match self { $(Self::$control(_) => $module::Config::IS_ULTRA_ETHERNET,)* }
            }

            /// The scope of one window: [`ControlConfig::scope`].
            pub fn scope(&self) -> Scope {
                match self { $(Self::$control(config) => config.scope(),)* }
            }

            /// Bytes that it adds to each data packet and to each control packet:
            /// [`ControlConfig::overhead`].
            pub fn overhead(&self) -> Bytes {
                match self { $(Self::$control(config) => config.overhead(),)* }
            }

            /// The rules by which receivers grant credit; `None` if they grant none:
            /// [`ControlConfig::credit`].
            pub fn credit(&self) -> Option<CreditRules> {
                match self { $(Self::$control(config) => config.credit(),)* }
            }
        }

        impl CongestionController for Controller {
            #[inline]
            fn rate(&mut self, now: Time) -> BitRate {
                match self { $(Self::$control(control) => control.rate(now),)* }
            }
            #[inline(always)]
            fn window(&self) -> u64 {
                match self { $(Self::$control(control) => control.window(),)* }
            }
            #[inline]
            fn handle_ack(&mut self, now: Time, sample: AckSample) {
                match self { $(Self::$control(control) => control.handle_ack(now, sample),)* }
            }
            fn handle_cnp(&mut self, now: Time) {
                match self { $(Self::$control(control) => control.handle_cnp(now),)* }
            }
            #[inline]
            fn handle_sent(&mut self, now: Time, bytes: u32) {
                match self { $(Self::$control(control) => control.handle_sent(now, bytes),)* }
            }
            fn handle_loss(&mut self, now: Time, loss: Loss) {
                match self { $(Self::$control(control) => control.handle_loss(now, loss),)* }
            }
            fn handle_later_loss(&mut self, now: Time) {
                match self { $(Self::$control(control) => control.handle_later_loss(now),)* }
            }
            fn handle_marked_nack(&mut self, now: Time) {
                match self { $(Self::$control(control) => control.handle_marked_nack(now),)* }
            }
            fn handle_nack_rtt(&mut self, rtt: Span) {
                match self { $(Self::$control(control) => control.handle_nack_rtt(rtt),)* }
            }
            fn telemetry(&mut self) -> Option<&mut dyn TelemetryController> {
                match self { $(Self::$control(control) => control.telemetry(),)* }
            }
            fn credit(&mut self) -> Option<&mut dyn CreditController> {
                match self { $(Self::$control(control) => control.credit(),)* }
            }
        }

        /// All controls, by the names that scenarios use.
        pub const CONTROLS: &[Control] = &[$(Control::of::<$module::Config>()),*];

        const NAMES: &[&str] = &[$($module::Config::NAME),*];
    };
}

registry! {
    line_rate::LineRate,
    dcqcn::Dcqcn,
    dcqcn_mlx::DcqcnMlx,
    dctcp_rate::DctcpRate,
    dctcp_window::DctcpWindow,
    nscc::Nscc,
    swift::Swift,
    new_reno::NewReno,
    mp_rdma::MpRdma,
    hpcc::Hpcc,
    hpcc_pint::HpccPint,
    timely::Timely,
    rccc::Rccc,
    mswift::MSwift,
}

/// The network as a NIC is configured for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PathFacts {
    /// Rate of the NIC's port.
    pub line_rate: BitRate,
    /// Round-trip time of a full packet and its acknowledgement on the longest idle path.
    pub base_rtt: Span,
    /// True if all paths have that round trip. If not, a shorter one says nothing about the others.
    pub has_equal_paths: bool,
    /// Size of a full packet on the wire.
    pub packet: Bytes,
    /// Payload of a full packet.
    pub payload: Bytes,
    /// Intervals between packets are rounded down to multiples of this.
    pub pace_unit: Span,
}

impl PathFacts {
    /// Bandwidth-delay product: the bytes in flight that keep an idle path full.
    pub fn bdp(&self) -> Bytes {
        self.line_rate.bytes_in(self.base_rtt)
    }
}

/// The signals that a congestion control gets from an acknowledgement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AckSample {
    /// Every packet before this one has arrived.
    pub ack: u64,
    /// The next new packet to be sent.
    pub next: u64,
    /// Packets that this acknowledgement is the first to cover.
    pub packets: u32,
    /// Marked packets among those acknowledged.
    pub marked: u32,
    /// Time since the acknowledged packet was sent.
    pub rtt: Span,
    /// Bytes on the wire that were sent and are neither acknowledged nor given up.
    pub in_flight: u64,
    /// The receiver's request.
    pub receiver: ReceiverRequest,
}

/// A receiver's request to its senders in an acknowledgement (the congestion-control state in SACKs
/// of MRC and Ultra Ethernet). When it makes one is not public. Receivers here request nothing;
/// `nscc` honors requests of other receivers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ReceiverRequest {
    /// The penalty, 0 to 127: this many 128ths of the acknowledged bytes are taken off the window.
    pub penalty: u8,
    /// True to restore the window from before the first penalty.
    pub restore: bool,
}

#[cfg(test)]
impl PathFacts {
    /// 100 Gbps and 8 us: a bandwidth-delay product of 100 packets of 1000 B.
    const FOR_TEST: Self = Self {
        line_rate: BitRate::from_gbps(100),
        base_rtt: Span::from_us(8),
        has_equal_paths: true,
        packet: Bytes::new(1_000),
        payload: Bytes::new(1_000),
        pace_unit: Span::from_ps(1),
    };
}

#[cfg(test)]
impl AckSample {
    /// A sample of one packet, for controls that only look at marks.
    fn for_test(ack: u64, next: u64, marked: u32) -> Self {
        let receiver = ReceiverRequest::default();
        Self { ack, next, packets: 1, marked, rtt: Span::ZERO, in_flight: 0, receiver }
    }
}

/// How the sender learned that a packet did not arrive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loss {
    /// The receiver reported it missing.
    Nack,
    /// A switch trimmed it to its header.
    Trimmed,
    /// The receiver's own switch trimmed it.
    TrimmedAtLastHop,
    /// Its retransmission timer expired.
    Timeout,
}

/// The rate in bits per second that no cut goes below: the configured minimum, between 1 and the
/// line rate.
fn floor(min_rate: BitRate, line_rate: f64) -> f64 {
    // At a rate of 0, no packet would ever leave, and no acknowledgement would ever raise the rate.
    (min_rate.as_bps() as f64).clamp(1.0, line_rate)
}

/// Decides how fast a queue pair may send.
pub trait CongestionController {
    /// Returns the rate for a packet that is sent at `now`. By default it is above line rate: the
    /// wire paces packets, and only the window limits the sender.
    fn rate(&mut self, _now: Time) -> BitRate {
        BitRate::MAX
    }

    /// Bytes on the wire that may be in flight. Above 0, one packet always may.
    fn window(&self) -> u64 {
        u64::MAX
    }

    /// Handles an acknowledgement.
    fn handle_ack(&mut self, _now: Time, _sample: AckSample) {}

    /// Handles a congestion notification packet.
    fn handle_cnp(&mut self, _now: Time) {}

    /// Counts `bytes` that were put on the wire.
    fn handle_sent(&mut self, _now: Time, _bytes: u32) {}

    /// Handles the loss of a packet.
    fn handle_loss(&mut self, _now: Time, _loss: Loss) {}

    /// Handles a further loss of the same recovery, after [`Self::handle_loss`]. Ignored by
    /// default: the losses of one round trip are one sign of congestion.
    fn handle_later_loss(&mut self, _now: Time) {}

    /// Handles a NACK that carries a congestion signal; by default like a CNP.
    fn handle_marked_nack(&mut self, now: Time) {
        self.handle_cnp(now);
    }

    /// Takes the round-trip time of a packet that caused a NACK, before [`Self::handle_loss`].
    fn handle_nack_rtt(&mut self, _rtt: Span) {}

    /// The part that reads telemetry; present if [`ControlConfig::telemetry`] requests it.
    fn telemetry(&mut self) -> Option<&mut dyn TelemetryController> {
        None
    }

    /// The part that requests credit; present if [`ControlConfig::credit`] makes receivers grant
    /// it.
    fn credit(&mut self) -> Option<&mut dyn CreditController> {
        None
    }
}

/// The part of a congestion control that reads the telemetry of acknowledgements.
pub trait TelemetryController {
    /// Takes the telemetry of an acknowledgement; [`CongestionController::handle_ack`] follows.
    fn handle_telemetry(&mut self, telemetry: &Telemetry);

    /// Returns when the next packet may start, if a change of the rate has moved it. Called after
    /// each acknowledgement.
    fn next_start(&self) -> Option<Time>;
}

/// The part of a congestion control that sends on credit from the receiver.
pub trait CreditController {
    /// Takes a credit number from the receiver.
    fn handle_credit(&mut self, now: Time, number: Psn);

    /// Returns the credit number to request. `backlog` bytes on the wire wait to be sent, and
    /// `sources` requesters of the NIC have packets.
    fn credit_target(&mut self, backlog: u64, sources: u64) -> Psn;

    /// Returns when to request credit outside of data packets, with `backlog` bytes to send and
    /// nothing in flight. Bytes that were not requested yet are requested immediately, others a
    /// `timeout` after the last packet sent or received. `None` if it has credit.
    fn next_request(&self, backlog: u64, timeout: Span) -> Option<Time>;

    /// Returns true if it lacks credit and may request it now; the caller then sends the request.
    fn try_request(&mut self, now: Time) -> bool;
}
