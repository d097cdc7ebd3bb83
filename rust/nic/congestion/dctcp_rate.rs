//! DCTCP by rate.
use serde::{Deserialize, Serialize};

use crate::units::{BitRate, Fraction};

/// Parameters; the defaults are those of Ethereal's evaluation.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Gain of the moving average: 1/256.
    pub g: Fraction,
    /// Added to the rate in each unmarked round trip: 1 Gbps.
    pub additive_increase: BitRate,
    /// No rate falls below: 100 Mbps.
    pub min_rate: BitRate,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            g: Fraction::new(1, 256).expect("not zero"),
            additive_increase: BitRate::from_gbps(1),
            min_rate: BitRate::from_bps(100_000_000),
        }
    }
}
