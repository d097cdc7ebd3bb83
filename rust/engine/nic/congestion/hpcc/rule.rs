//! The rule by which HPCC and HPCC-PINT derive a rate from a utilization, and its state.

use crate::nic::congestion::rate_window::{Pacing, RateWindow, ReschedulingPacer, WindowRule};
use crate::nic::congestion::{AbsoluteOrFraction, PathFacts};
use crate::nic::parameters::{InvalidValue, positive, positive_at_most_one, rate, timer};
use crate::units::{BitRate, Bytes, Fraction, Span};

/// The parameters of the rule.
#[derive(Debug, Clone, Copy)]
pub(in crate::nic::congestion) struct RuleConfig {
    pub target_utilization: Fraction,
    pub max_stage: u32,
    pub additive_increase: AbsoluteOrFraction<BitRate>,
    pub min_rate: BitRate,
    pub window: WindowRule,
    pub window_bytes: AbsoluteOrFraction<Bytes>,
    pub round_trip: AbsoluteOrFraction<Span>,
    pub pacing: Pacing,
}

impl RuleConfig {
    pub(in crate::nic::congestion) fn check(&self) -> Result<(), InvalidValue> {
        positive_at_most_one("target_utilization", self.target_utilization)?;
        rate("min_rate", self.min_rate)?;
        match self.round_trip {
            AbsoluteOrFraction::Absolute(span) => timer("round_trip", span),
            AbsoluteOrFraction::Fraction(part) => positive("round_trip", part),
        }
    }

    /// Replaces the path's round-trip time by T.
    pub(in crate::nic::congestion) fn path(&self, path: &PathFacts) -> PathFacts {
        PathFacts { base_rtt: self.round_trip.of(path.base_rtt), ..*path }
    }

    /// Creates the rate, the window and the pacing for a path.
    pub(in crate::nic::congestion) fn pace(&self, path: &PathFacts) -> ReschedulingPacer {
        let window = RateWindow::new(self.window, self.window_bytes, path);
        ReschedulingPacer::new(window, self.pacing, path)
    }
}

/// The constants of the rule on one path; rates in bits per second.
#[derive(Debug, Clone, Copy)]
pub(in crate::nic::congestion) struct Rule {
    target: f64,
    max_stage: u32,
    increase: u64,
    min: u64,
    max: u64,
}

/// A rate, Rc, and the number of additive increases since the utilization last set it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::nic::congestion) struct Reference {
    pub rate: u64,
    pub stage: u32,
}

impl Rule {
    pub(in crate::nic::congestion) fn new(config: &RuleConfig, path: &PathFacts) -> Self {
        let max = path.line_rate.as_bps().max(1);
        let increase = config.additive_increase.of(path.line_rate).as_bps();
        Self {
            target: config.target_utilization.as_f64(),
            max_stage: config.max_stage,
            increase,
            min: config.min_rate.as_bps().clamp(1, max),
            max,
        }
    }

    /// Returns the rate that follows from a reference and a utilization.
    pub(in crate::nic::congestion) fn next(&self, from: Reference, utilization: f64) -> Reference {
        let c = utilization / self.target;
        let (rate, stage) = if c >= 1.0 || from.stage >= self.max_stage {
            // In whole bits per second. A utilization of 0 yields infinity: the cast saturates, and
            // the bound below applies.
            ((from.rate as f64 / c) as u64, 0)
        } else {
            // Below the target: increases additively, up to `max_stage` times.
            (from.rate, from.stage + 1)
        };
        Reference { rate: rate.saturating_add(self.increase).clamp(self.min, self.max), stage }
    }

    /// The reference of a new queue pair: line rate.
    pub(in crate::nic::congestion) const fn first(&self) -> Reference {
        Reference { rate: self.max, stage: 0 }
    }
}
