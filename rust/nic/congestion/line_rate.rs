//! No congestion control: always line rate.
//!
//! Source: the ideal control without failures of "Load Balancing for AI Training Workloads"
//! (arXiv 2507.21372 v2, 2026), section 2.

use super::CongestionController;
use crate::units::{BitRate, Time};

/// The rate of the port.
#[derive(Debug, Clone, Copy)]
pub struct LineRate(BitRate);

impl LineRate {
    pub(super) const fn new(line_rate: BitRate) -> Self {
        Self(line_rate)
    }
}

impl CongestionController for LineRate {
    #[inline]
    fn rate(&mut self, _now: Time) -> BitRate {
        self.0
    }
}
