//! No congestion control: always line rate, or a fixed share of it.
//!
//! Source: the ideal control of "Load Balancing for AI Training Workloads" (arXiv 2507.21372 v2,
//! 2026), section 2: line rate without failures, and with failures the share of line rate that
//! even splitting can carry (rho_max).

use serde::{Deserialize, Serialize};

use super::{CongestionController, ControlConfig, PathFacts};
use crate::nic::parameters::{Configuration, InvalidValue, positive_at_most_one};
use crate::units::{BitRate, Fraction, Time};

/// The only parameter of `line-rate`: the share of line rate at which it sends.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// The rate as a fraction of line rate: 1.
    pub share: Fraction,
}

impl Default for Config {
    fn default() -> Self {
        Self { share: Fraction::ONE }
    }
}

impl Configuration for Config {
    const NAME: &'static str = "line-rate";
    const SUMMARY: &'static str = "always line rate, or a fixed share of it (no control)";
    const SOURCE: &'static str =
        "Load Balancing for AI Training Workloads, 2026 (arXiv 2507.21372), section 2";

    fn check(&self) -> Result<(), InvalidValue> {
        positive_at_most_one("share", self.share)
    }
}

impl ControlConfig for Config {}

/// A constant rate.
#[derive(Debug, Clone, Copy)]
pub struct LineRate(BitRate);

impl LineRate {
    pub(super) fn new(config: &Config, path: &PathFacts) -> Self {
        let line_rate = path.line_rate;
        let share = line_rate.scaled(config.share).as_bps();
        // At least 1 bit/s: at a rate of 0 no packet would ever leave.
        Self(BitRate::from_bps(share.clamp(1, line_rate.as_bps())))
    }
}

impl CongestionController for LineRate {
    #[inline]
    fn rate(&mut self, _now: Time) -> BitRate {
        self.0
    }
}
