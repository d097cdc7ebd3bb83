//! DCQCN in its authors' form.
use serde::{Deserialize, Serialize};

use crate::units::{BitRate, Bytes, Fraction, Span};

/// Parameters; the defaults are those of the authors' simulator (bobzhuyb/ns3-rdma), but for
/// the byte counter, which is the paper's (Zhu et al., "Congestion Control for Large-Scale RDMA
/// Deployments", SIGCOMM 2015).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Gain of the moving average: 1/256.
    pub g: Fraction,
    /// Without a CNP for this long, alpha decays: 55 us.
    pub alpha_timer: Span,
    /// The rate rises once in this time: 60 us.
    pub rate_timer: Span,
    /// ... and once in as many bytes: 300 MB, which is practically off.
    pub byte_counter: Bytes,
    /// Rises of fast recovery, F: 5.
    pub fast_recovery_steps: u32,
    /// Additive increase: 40 Mbps.
    pub additive_increase: BitRate,
    /// Hyper increase: 200 Mbps.
    pub hyper_increase: BitRate,
    /// No rate falls below: 100 Mbps.
    pub min_rate: BitRate,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            g: Fraction::new(1, 256).expect("not zero"),
            alpha_timer: Span::from_us(55),
            rate_timer: Span::from_us(60),
            byte_counter: Bytes::new(300_000_000),
            fast_recovery_steps: 5,
            additive_increase: BitRate::from_bps(40_000_000),
            hyper_increase: BitRate::from_bps(200_000_000),
            min_rate: BitRate::from_bps(100_000_000),
        }
    }
}
