//! Congestion control: how fast a queue pair may send. One control a file, chosen by name.
//!
//! Controls have no timers that wake anybody: what a timer would have done by now is done, in
//! order, when the rate is next asked for. That is the same at every sending, and a run with a
//! million queue pairs does not pay for a million ticking clocks. The deadlines are in a table
//! (`nic::timer`) all the same; a control takes the earliest that is due and does what is its.

pub mod dcqcn;
pub mod dcqcn_mlx;
pub mod dctcp_rate;
pub mod dctcp_window;
pub mod line_rate;
pub mod new_reno;
pub mod nscc;
mod preset;
pub mod swift;

pub use preset::{Preset, Presets};

use serde::Serialize;

use crate::units::{BitRate, Bytes, Span, Time};

/// A congestion control and its parameters.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CongestionControl {
    /// Always line rate, or a fixed share of it.
    LineRate(line_rate::Config),
    /// DCQCN in its authors' form, with congestion notification packets.
    Dcqcn(dcqcn::Config),
    /// DCQCN as ConnectX NICs do it, driven by flags in acknowledgements.
    DcqcnMlx(dcqcn_mlx::Config),
    /// DCTCP by rate.
    DctcpRate(dctcp_rate::Config),
    /// DCTCP by window, as REPS was evaluated with.
    DctcpWindow(dctcp_window::Config),
    /// The window control of Ultra Ethernet.
    Nscc(nscc::Config),
    /// Swift's delay-based window.
    Swift(swift::Config),
    /// TCP's window.
    NewReno(new_reno::Config),
}

impl CongestionControl {
    /// The control of a new queue pair.
    pub fn build(&self, path: &PathFacts) -> Controller {
        match self {
            Self::LineRate(config) => {
                Controller::LineRate(line_rate::LineRate::new(config, path.line_rate))
            }
            Self::Dcqcn(config) => Controller::Dcqcn(dcqcn::Dcqcn::new(config, path.line_rate)),
            Self::DcqcnMlx(config) => {
                Controller::DcqcnMlx(dcqcn_mlx::DcqcnMlx::new(config, path.line_rate))
            }
            Self::DctcpRate(config) => {
                Controller::DctcpRate(dctcp_rate::DctcpRate::new(config, path.line_rate))
            }
            Self::DctcpWindow(config) => {
                Controller::DctcpWindow(dctcp_window::DctcpWindow::new(config, path))
            }
            Self::Nscc(config) => Controller::Nscc(nscc::Nscc::new(config, path)),
            Self::Swift(config) => Controller::Swift(swift::Swift::new(config, path)),
            Self::NewReno(config) => Controller::NewReno(new_reno::NewReno::new(config, path)),
        }
    }

    /// Whether receivers answer marked packets with congestion notification packets.
    pub const fn wants_cnp(&self) -> bool {
        matches!(self, Self::Dcqcn(_))
    }
}

/// The control of one queue pair.
#[derive(Debug, Clone)]
pub enum Controller {
    /// See [`line_rate`].
    LineRate(line_rate::LineRate),
    /// See [`dcqcn`].
    Dcqcn(dcqcn::Dcqcn),
    /// See [`dcqcn_mlx`].
    DcqcnMlx(dcqcn_mlx::DcqcnMlx),
    /// See [`dctcp_rate`].
    DctcpRate(dctcp_rate::DctcpRate),
    /// See [`dctcp_window`].
    DctcpWindow(dctcp_window::DctcpWindow),
    /// See [`nscc`].
    Nscc(nscc::Nscc),
    /// See [`swift`].
    Swift(swift::Swift),
    /// See [`new_reno`].
    NewReno(new_reno::NewReno),
}

/// What a NIC knows of the way that its packets take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PathFacts {
    /// The rate of its port.
    pub line_rate: BitRate,
    /// Round-trip time of a full packet and its acknowledgement on the longest idle path.
    pub base_rtt: Span,
    /// A full packet on the wire.
    pub packet: Bytes,
}

impl PathFacts {
    /// Bandwidth-delay product: what a sender has out that keeps an idle path full.
    pub fn bdp(&self) -> Bytes {
        self.line_rate.bytes_in(self.base_rtt)
    }
}

/// What an acknowledgement tells a congestion control.
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
}

#[cfg(test)]
impl AckSample {
    /// A sample of one packet, for controls that look at marks alone.
    fn for_test(ack: u64, next: u64, marked: u32) -> Self {
        Self { ack, next, packets: 1, marked, rtt: Span::ZERO, in_flight: 0 }
    }
}

/// How the sender learns that a packet did not get through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loss {
    /// The receiver misses it.
    Nack,
    /// A switch cut it to its header.
    Trimmed,
    /// Its retransmission timer ran out.
    Timeout,
}

/// The rate in bits per second that no cut goes below: the least of a configuration, as far as the
/// port allows it, and never none.
fn floor(min_rate: BitRate, line_rate: f64) -> f64 {
    (min_rate.as_bps() as f64).clamp(1.0, line_rate)
}

/// Decides how fast a queue pair may send.
pub trait CongestionController {
    /// The rate for a packet that is sent at `now`.
    fn rate(&mut self, now: Time) -> BitRate;

    /// Bytes on the wire that may be out at once; one packet may always be.
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
}

/// Calls the control at hand.
macro_rules! dispatch {
    ($self:ident, $control:ident => $call:expr) => {
        match $self {
            Self::LineRate($control) => $call,
            Self::Dcqcn($control) => $call,
            Self::DcqcnMlx($control) => $call,
            Self::DctcpRate($control) => $call,
            Self::DctcpWindow($control) => $call,
            Self::Nscc($control) => $call,
            Self::Swift($control) => $call,
            Self::NewReno($control) => $call,
        }
    };
}

impl CongestionController for Controller {
    #[inline]
    fn rate(&mut self, now: Time) -> BitRate {
        dispatch!(self, control => control.rate(now))
    }
    #[inline]
    fn window(&self) -> u64 {
        dispatch!(self, control => control.window())
    }
    #[inline]
    fn handle_ack(&mut self, now: Time, sample: AckSample) {
        dispatch!(self, control => control.handle_ack(now, sample));
    }
    fn handle_cnp(&mut self, now: Time) {
        dispatch!(self, control => control.handle_cnp(now));
    }
    #[inline]
    fn handle_sent(&mut self, now: Time, bytes: u32) {
        dispatch!(self, control => control.handle_sent(now, bytes));
    }
    fn handle_loss(&mut self, now: Time, loss: Loss) {
        dispatch!(self, control => control.handle_loss(now, loss));
    }
}
