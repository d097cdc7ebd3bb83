//! Congestion control: how fast a queue pair may send. A control is one file and one line of the
//! registry: its `Config` with defaults, presets and check, the type, and its tests.
//!
//! The timers of controls wake nobody: what a timer would have done by now is done, in order, when
//! the rate is next asked for. The rate of each packet is the same as with timers that wake, and
//! a run with a million queue pairs does not pay for a million ticking clocks. The deadlines are
//! in a table (`nic::timer`) all the same.

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
pub mod mp_rdma;
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

/// Makes congestion controls real everywhere: a line here is all that a control's file needs.
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

        /// The control of one queue pair.
        #[derive(Debug, Clone)]
        pub enum Controller {
            $(#[doc = concat!("See [`", stringify!($module), "`].")] $control($module::$control),)*
        }

        impl CongestionControl {
            /// The control of a new queue pair.
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

            /// Whether receivers have to send CNPs: [`CongestionController::WANTS_CNP`].
            pub const fn wants_cnp(&self) -> bool {
                match self {
                    $(Self::$control(_) =>
                        <$module::$control as CongestionController>::WANTS_CNP,)*
                }
            }

            /// What it asks switches to write into data packets: [`ControlConfig::telemetry`].
            pub fn telemetry(&self) -> Option<TelemetryRequest> {
                match self { $(Self::$control(config) => config.telemetry(),)* }
            }

            /// [`ControlConfig::OF_ULTRA_ETHERNET`].
            pub const fn is_of_ultra_ethernet(&self) -> bool {
                match self { $(Self::$control(_) => $module::Config::OF_ULTRA_ETHERNET,)* }
            }

            /// What one window limits: [`ControlConfig::scope`].
            pub fn scope(&self) -> Scope {
                match self { $(Self::$control(config) => config.scope(),)* }
            }

            /// Bytes that it adds to each data packet and to each answer:
            /// [`ControlConfig::overhead`].
            pub fn overhead(&self) -> Bytes {
                match self { $(Self::$control(config) => config.overhead(),)* }
            }

            /// What receivers grant credit by, if they do: [`ControlConfig::credit`].
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
}

/// The network as a NIC is configured for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PathFacts {
    /// The rate of its port.
    pub line_rate: BitRate,
    /// Round-trip time of a full packet and its acknowledgement on the longest idle path.
    pub base_rtt: Span,
    /// Whether all paths have that round trip: a shorter one says nothing of the others if not.
    pub is_even: bool,
    /// A full packet on the wire.
    pub packet: Bytes,
    /// The payload of a full packet.
    pub payload: Bytes,
    /// Times between packets are cut to multiples of this.
    pub pace_unit: Span,
}

impl PathFacts {
    /// Bandwidth-delay product: what a sender has in flight that keeps an idle path full.
    pub fn bdp(&self) -> Bytes {
        self.line_rate.bytes_in(self.base_rtt)
    }
}

/// What a congestion control learns from an acknowledgement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AckSample {
    /// Every packet before this one has arrived.
    pub ack: u64,
    /// The next new packet to be sent.
    pub next: u64,
    /// Packets that it is the first to acknowledge.
    pub packets: u32,
    /// How many of the packets acknowledged were marked.
    pub marked: u32,
    /// From the sending of the packet that it answers to now.
    pub rtt: Span,
    /// Bytes on the wire that are sent and neither acknowledged nor given up.
    pub in_flight: u64,
    /// What the receiver asks for.
    pub receiver: ReceiverRequest,
}

/// What a receiver asks its senders for in an acknowledgement (the state of congestion control in
/// SACKs of MRC and Ultra Ethernet). When it does is not public: the receivers here ask for
/// nothing, and `nscc` heeds what other receivers ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ReceiverRequest {
    /// The penalty, 0 to 127: this many 128ths of the bytes acknowledged come off the window.
    pub penalty: u8,
    /// Whether the window from before the first penalty is brought back.
    pub restore: bool,
}

#[cfg(test)]
impl PathFacts {
    /// 100 Gbps and 8 us: a bandwidth-delay product of 100 packets of 1000 B.
    const FOR_TEST: Self = Self {
        line_rate: BitRate::from_gbps(100),
        base_rtt: Span::from_us(8),
        is_even: true,
        packet: Bytes::new(1_000),
        payload: Bytes::new(1_000),
        pace_unit: Span::from_ps(1),
    };
}

#[cfg(test)]
impl AckSample {
    /// A sample of one packet, for controls that look at marks alone.
    fn for_test(ack: u64, next: u64, marked: u32) -> Self {
        let receiver = ReceiverRequest::default();
        Self { ack, next, packets: 1, marked, rtt: Span::ZERO, in_flight: 0, receiver }
    }
}

/// How the sender learns that a packet did not get through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loss {
    /// The receiver misses it.
    Nack,
    /// A switch cut it to its header.
    Trimmed,
    /// The switch that the receiver is attached to did.
    TrimmedAtLastHop,
    /// Its retransmission timer ran out.
    Timeout,
}

/// The rate in bits per second that no cut goes below: the configured minimum, between 1 and the
/// line rate.
fn floor(min_rate: BitRate, line_rate: f64) -> f64 {
    // At a rate of 0 no packet would ever go, and no answer would ever raise it again.
    (min_rate.as_bps() as f64).clamp(1.0, line_rate)
}

/// Decides how fast a queue pair may send.
pub trait CongestionController {
    /// Whether receivers answer marked packets with congestion notification packets (CNPs).
    const WANTS_CNP: bool = false;

    /// The rate for a packet that is sent at `now`. Line rate or more, as by default, leaves the
    /// pace to the wire: only the window limits the sender.
    fn rate(&mut self, _now: Time) -> BitRate {
        BitRate::MAX
    }

    /// Bytes on the wire that may be in flight at once; one packet always may, unless it is 0.
    fn window(&self) -> u64 {
        u64::MAX
    }

    /// Learns from an acknowledgement.
    fn handle_ack(&mut self, _now: Time, _sample: AckSample) {}

    /// Learns from a congestion notification packet.
    fn handle_cnp(&mut self, _now: Time) {}

    /// Learns that `bytes` were put on the wire.
    fn handle_sent(&mut self, _now: Time, _bytes: u32) {}

    /// Learns that a packet did not get through.
    fn handle_loss(&mut self, _now: Time, _loss: Loss) {}

    /// Learns of a packet that arrivals show to be lost beside the one that [`Self::handle_loss`]
    /// was told of: by default the losses of one round trip are one sign of congestion.
    fn handle_later_loss(&mut self, _now: Time) {}

    /// Learns that a NACK carries a signal of congestion; a CNP by default.
    fn handle_marked_nack(&mut self, now: Time) {
        self.handle_cnp(now);
    }

    /// Learns the round trip of a packet that was answered with a NACK, before
    /// [`Self::handle_loss`].
    fn handle_nack_rtt(&mut self, _rtt: Span) {}

    /// The part that reads telemetry; present where [`ControlConfig::telemetry`] asks for it.
    fn telemetry(&mut self) -> Option<&mut dyn TelemetryController> {
        None
    }

    /// The part that asks for credit; present where [`ControlConfig::credit`] makes receivers grant
    /// it.
    fn credit(&mut self) -> Option<&mut dyn CreditController> {
        None
    }
}

/// The part of a congestion control that reads the telemetry of acknowledgements.
pub trait TelemetryController {
    /// Takes the telemetry of the acknowledgement that [`CongestionController::handle_ack`] is
    /// called with next.
    fn handle_telemetry(&mut self, telemetry: &Telemetry);

    /// Returns when the next packet may start, if a change of the rate has moved it. Called after
    /// each acknowledgement.
    fn next_start(&self) -> Option<Time>;
}

/// The part of a congestion control that sends on credit from the receiver.
pub trait CreditController {
    /// Takes a credit number from the receiver.
    fn handle_credit(&mut self, now: Time, number: Psn);

    /// Returns the credit number that it asks for, with `backlog` bytes on the wire to send, while
    /// `sources` requesters of the NIC have packets.
    fn credit_target(&mut self, backlog: u64, sources: u64) -> Psn;

    /// Returns when it asks for credit outside of data packets, with `backlog` bytes to send and
    /// nothing in flight: immediately for bytes that it has not asked for yet, else a timeout after
    /// it last received or sent anything; `None` if it has credit.
    fn next_request(&self, backlog: u64, timeout: Span) -> Option<Time>;

    /// True if it lacks credit and may ask for it now. The caller then asks.
    fn take_request(&mut self, now: Time) -> bool;
}
