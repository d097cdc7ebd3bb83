//! Congestion control: how fast a queue pair may send. One control a file, chosen by name.
//!
//! Controls have no timers that wake anybody: what a timer would have done by now is done, in
//! order, when the rate is next asked for. That is the same at every sending, and a run with a
//! million queue pairs does not pay for a million ticking clocks.

pub mod dcqcn;
pub mod dcqcn_mlx;
pub mod dctcp_rate;
pub mod line_rate;

use serde::Serialize;

use crate::units::{BitRate, Time};

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
}

impl CongestionControl {
    /// The control of a new queue pair on a port of `line_rate`.
    pub fn build(&self, line_rate: BitRate) -> Controller {
        match self {
            Self::LineRate(config) => {
                Controller::LineRate(line_rate::LineRate::new(config, line_rate))
            }
            Self::Dcqcn(config) => Controller::Dcqcn(dcqcn::Dcqcn::new(config, line_rate)),
            Self::DcqcnMlx(config) => {
                Controller::DcqcnMlx(dcqcn_mlx::DcqcnMlx::new(config, line_rate))
            }
            Self::DctcpRate(config) => {
                Controller::DctcpRate(dctcp_rate::DctcpRate::new(config, line_rate))
            }
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
}

/// What an acknowledgement tells a congestion control.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AckSample {
    /// Every packet before this one has arrived.
    pub ack: u64,
    /// The next new packet to be sent.
    pub next: u64,
    /// How many of the packets acknowledged were marked.
    pub marked: u32,
}

/// Decides how fast a queue pair may send.
pub trait CongestionController {
    /// The rate for a packet that is sent at `now`.
    fn rate(&mut self, now: Time) -> BitRate;

    /// Learns from an acknowledgement.
    fn handle_ack(&mut self, _now: Time, _sample: AckSample) {}

    /// Learns from a congestion notification packet.
    fn handle_cnp(&mut self, _now: Time) {}

    /// Learns that `bytes` were put on the wire.
    fn handle_sent(&mut self, _now: Time, _bytes: u32) {}

    /// Learns of a NACK or of a retransmission timer that ran out.
    fn handle_loss(&mut self, _now: Time) {}
}

/// Calls the control at hand.
macro_rules! dispatch {
    ($self:ident, $control:ident => $call:expr) => {
        match $self {
            Self::LineRate($control) => $call,
            Self::Dcqcn($control) => $call,
            Self::DcqcnMlx($control) => $call,
            Self::DctcpRate($control) => $call,
        }
    };
}

impl CongestionController for Controller {
    #[inline]
    fn rate(&mut self, now: Time) -> BitRate {
        dispatch!(self, control => control.rate(now))
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
    fn handle_loss(&mut self, now: Time) {
        dispatch!(self, control => control.handle_loss(now));
    }
}
