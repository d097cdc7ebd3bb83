//! The constants of NSCC on a path.

use super::Config;
use crate::nic::congestion::PathFacts;
use crate::units::{BitRate, Span};

/// The path that the constants are given for: 100 Gbps and 12 us.
const REFERENCE_RATE: BitRate = BitRate::from_gbps(100);
const REFERENCE_RTT: Span = Span::from_us(12);

/// The constants of the path. Delays in picoseconds, sizes in bytes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Law {
    pub(super) line_rate: BitRate,
    pub(super) packet: u64,
    pub(super) base_rtt: u64,
    pub(super) target: f64,
    /// Increase per byte acknowledged and picosecond below the target, before division by the
    /// window.
    pub(super) proportional: f64,
    pub(super) fair: f64,
    pub(super) fast: f64,
    pub(super) fast_delay: f64,
    pub(super) eta: f64,
    pub(super) gamma: f64,
    pub(super) max_cut: f64,
    pub(super) delay_gain: f64,
    pub(super) quick_adapt_delay: f64,
    pub(super) quick_adapt_gate: f64,
    pub(super) adjust_period: Span,
    pub(super) adjust_bytes: u64,
    /// The largest window, in bandwidth-delay products of the shortest round trip so far.
    pub(super) max_window: f64,
    pub(super) base_rtt_of_nacks: bool,
    /// True if a shorter round trip becomes the base; false if paths differ in theirs.
    pub(super) learns_base_rtt: bool,
    /// In bytes.
    pub(super) trim_cut: f64,
    pub(super) trims_call: bool,
    pub(super) loss_cut: f64,
    /// Delays whose median counts.
    pub(super) median: u32,
}

impl Law {
    pub(super) fn new(config: &Config, path: &PathFacts) -> Self {
        let packet = path.packet.get();
        let reference = REFERENCE_RATE.bytes_in(REFERENCE_RTT).get() as f64;
        // One MTU · a.
        let unit = packet as f64 * path.bdp().get() as f64 / reference;
        let target = config.target.as_f64() * path.base_rtt.as_ps() as f64;
        let adjust_period = config.adjust_period.as_f64() * path.base_rtt.as_ps() as f64;
        Self {
            line_rate: path.line_rate,
            packet,
            base_rtt: path.base_rtt.as_ps(),
            target,
            // 4 · a · b · MTU / target with b = target / 12 us: the target cancels out.
            proportional: config.proportional_increase.as_f64() * unit
                / REFERENCE_RTT.as_ps() as f64,
            fair: config.fair_increase.as_f64() * unit,
            fast: config.fast_increase.as_f64() * unit / packet as f64,
            fast_delay: config.fast_delay.as_ps() as f64,
            eta: config.eta.as_f64() * unit,
            gamma: config.gamma.as_f64(),
            max_cut: config.max_cut.as_f64(),
            delay_gain: config.delay_gain.as_f64(),
            quick_adapt_delay: config.quick_adapt_delay.as_f64() * target,
            quick_adapt_gate: config.quick_adapt_gate.as_f64(),
            adjust_period: Span::from_ps(adjust_period as u64),
            adjust_bytes: u64::from(config.adjust_packets) * packet,
            max_window: config.max_window.as_f64(),
            base_rtt_of_nacks: config.base_rtt_of_nacks,
            learns_base_rtt: path.has_equal_paths,
            trim_cut: config.trim_cut.as_f64() * packet as f64,
            trims_call: config.trims_call,
            loss_cut: config.loss_cut.as_f64() * packet as f64,
            median: config.median,
        }
    }

    /// The largest window of a path with this base round trip, at least one packet.
    pub(super) fn largest(&self, base_rtt: u64) -> f64 {
        let bdp = self.line_rate.bytes_in(Span::from_ps(base_rtt)).get() as f64;
        (self.max_window * bdp).max(self.packet as f64)
    }
}
