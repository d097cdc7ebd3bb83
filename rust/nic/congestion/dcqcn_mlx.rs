//! DCQCN as ConnectX NICs do it.
use serde::{Deserialize, Serialize};

use crate::units::{BitRate, Fraction, Span};

/// Parameters; the defaults are those of the HPCC simulator's run scripts at 100 Gbps.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Gain of the moving average: 1/256.
    pub g: Fraction,
    /// Alpha is renewed once in this time: 1 us.
    pub alpha_timer: Span,
    /// The rate is cut at most once in this time: 4 us.
    pub decrease_timer: Span,
    /// The rate rises once in this time: 300 us.
    pub increase_timer: Span,
    /// Rises of fast recovery, F: 1.
    pub fast_recovery_steps: u32,
    /// Additive increase: 20 Mbps.
    pub additive_increase: BitRate,
    /// Hyper increase: 200 Mbps.
    pub hyper_increase: BitRate,
    /// No rate falls below: 1 Gbps.
    pub min_rate: BitRate,
    /// The rate after the first mark, as a part of line rate: 1.
    pub rate_on_first_cnp: Fraction,
    /// Whether each cut also lowers the target rate: no.
    pub clamp_target_rate: bool,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            g: Fraction::new(1, 256).expect("not zero"),
            alpha_timer: Span::from_us(1),
            decrease_timer: Span::from_us(4),
            increase_timer: Span::from_us(300),
            fast_recovery_steps: 1,
            additive_increase: BitRate::from_bps(20_000_000),
            hyper_increase: BitRate::from_bps(200_000_000),
            min_rate: BitRate::from_bps(1_000_000_000),
            rate_on_first_cnp: Fraction::ONE,
            clamp_target_rate: false,
        }
    }
}
