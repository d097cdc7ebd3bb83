//! Parameters of DCQCN as implemented by ConnectX NICs.

use serde::{Deserialize, Serialize};

use crate::nic::congestion::absolute_or_fraction::AbsoluteOrFraction;
use crate::nic::congestion::rate_window::{Pacing, WindowRule};
use crate::nic::congestion::{CongestionPreset, ControlConfig};
use crate::nic::parameters::{
    Configuration, InvalidValue, at_most_one, positive_at_most_one, rate, require, timer,
};
use crate::units::{BitRate, Bytes, Fraction, Span};

/// Parameters; the defaults are those of the HPCC simulator's run scripts at 100 Gbps.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Gain of the moving average: 1/256.
    pub g: Fraction,
    /// Alpha at the first mark: 1.
    pub initial_alpha: Fraction,
    /// Alpha is updated once per this time: 1 us.
    pub alpha_timer: Span,
    /// The rate is cut at most once per this time: 4 us.
    pub decrease_timer: Span,
    /// The rate rises once per this time: 300 us.
    pub increase_timer: Span,
    /// Steps of fast recovery, F: 1.
    pub fast_recovery_steps: u32,
    /// Additive increase: 20 Mbps.
    pub additive_increase: BitRate,
    /// Hyper increase: 200 Mbps.
    pub hyper_increase: BitRate,
    /// The minimum rate: 1 Gbps.
    pub min_rate: BitRate,
    /// The rate after the first mark, as a fraction of line rate: 1.
    pub rate_on_first_cnp: Fraction,
    /// Bytes after which the rate also rises (`rpg_byte_reset`): 0 B, none.
    pub byte_counter: Bytes,
    /// Logarithm of the divisor of alpha in a cut (`rpg_gd`, alpha counts to 1024): 11, a half.
    pub rpg_gd: u32,
    /// Signal that cuts the rate: the `flag` of acknowledgements, or notification packets (`cnp`).
    pub signal: CutSignal,
    /// Whether a loss cuts with the initial alpha (`roce_slow_restart_en`): no.
    pub slow_restart: bool,
    /// Whether each cut also lowers the target rate; otherwise only the first after a rise: no.
    pub clamp_target_rate: bool,
    /// The window in addition to the rate: `none` (`HAS_WIN`, `VAR_WIN`).
    pub window: WindowRule,
    /// The window at line rate, absolute or as a fraction of the bandwidth-delay product of the
    /// longest path: 1/1.
    pub window_bytes: AbsoluteOrFraction<Bytes>,
    /// The pacing of packets: by `rate`. With `line-rate`, only the window limits them
    /// (`RATE_BOUND`).
    pub pacing: Pacing,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            g: Fraction::new(1, 256).expect("not zero"),
            initial_alpha: Fraction::ONE,
            alpha_timer: Span::from_us(1),
            decrease_timer: Span::from_us(4),
            increase_timer: Span::from_us(300),
            fast_recovery_steps: 1,
            additive_increase: BitRate::from_bps(20_000_000),
            hyper_increase: BitRate::from_bps(200_000_000),
            min_rate: BitRate::from_bps(1_000_000_000),
            rate_on_first_cnp: Fraction::ONE,
            byte_counter: Bytes::ZERO,
            rpg_gd: HALF,
            signal: CutSignal::Flag,
            slow_restart: false,
            clamp_target_rate: false,
            window: WindowRule::None,
            window_bytes: AbsoluteOrFraction::WHOLE,
            pacing: Pacing::Rate,
        }
    }
}

impl Config {
    /// HPCC's `dcqcn_paper`: the timers of the DCQCN paper.
    fn hpcc_paper() -> Self {
        Self {
            alpha_timer: Span::from_us(50),
            decrease_timer: Span::from_us(50),
            increase_timer: Span::from_us(55),
            ..Self::default()
        }
    }

    /// The values of ConWeave's `run.py`, for links of 100 Gbps.
    fn conweave() -> Self {
        Self {
            additive_increase: BitRate::from_bps(40_000_000),
            hyper_increase: BitRate::from_bps(100_000_000),
            min_rate: BitRate::from_bps(100_000_000),
            ..Self::default()
        }
    }

    /// `mlxconfig`: `dce_tcp_g` 1019 of 1024, initial alpha 1023 of 1024, rate-reduce monitor 4 us,
    /// time reset 300 us, threshold 1, AI 5 Mbps, HAI 50 Mbps, minimum rate 1 Mbps, no special rate
    /// on the first CNP, clamp after time increase.
    fn connectx() -> Self {
        let part = |above| Fraction::new(above, 1_024).expect("not zero");
        Self {
            g: part(5),
            initial_alpha: part(1_023),
            additive_increase: BitRate::from_bps(5_000_000),
            hyper_increase: BitRate::from_bps(50_000_000),
            min_rate: BitRate::from_bps(1_000_000),
            ..Self::default()
        }
    }

    /// `connectx` with `rpg_byte_reset` 32767 (kilobytes \[inferred\]: in bytes the rate would be
    /// whole again after microseconds), notification packets and slow restart.
    fn connectx_registers() -> Self {
        Self {
            byte_counter: Bytes::new(32_767_000),
            signal: CutSignal::Cnp,
            slow_restart: true,
            ..Self::connectx()
        }
    }
}

/// The signal that cuts the rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CutSignal {
    /// Flags in acknowledgements.
    #[default]
    Flag,
    /// Notification packets.
    Cnp,
}

/// Value of `rpg_gd` with which a cut takes half of alpha.
const HALF: u32 = 11;

impl Configuration for Config {
    const NAME: &'static str = "dcqcn-mlx";
    const SUMMARY: &'static str =
        "DCQCN as implemented by ConnectX NICs: flags or notification packets, three timers";
    const SOURCE: &'static str = "Li et al., HPCC, 2019 (its simulator, rdma-hw.cc, cc_mode 1)";
    const OPTIONAL: &'static [&'static str] =
        &["byte_counter", "rpg_gd", "signal", "slow_restart", "window", "window_bytes", "pacing"];

    fn check(&self) -> Result<(), InvalidValue> {
        positive_at_most_one("g", self.g)?;
        at_most_one("initial_alpha", self.initial_alpha)?;
        timer("alpha_timer", self.alpha_timer)?;
        timer("decrease_timer", self.decrease_timer)?;
        timer("increase_timer", self.increase_timer)?;
        rate("min_rate", self.min_rate)?;
        let range = "it must be from 10 to 15";
        require("rpg_gd", self.rpg_gd, (10..=15).contains(&self.rpg_gd), range)?;
        positive_at_most_one("rate_on_first_cnp", self.rate_on_first_cnp)
    }
}

impl ControlConfig for Config {
    const PRESETS: &'static [CongestionPreset<Self>] = &[
        CongestionPreset { name: "hpcc", config: Self::default },
        CongestionPreset { name: "hpcc-paper", config: Self::hpcc_paper },
        CongestionPreset { name: "conweave", config: Self::conweave },
        CongestionPreset { name: "connectx", config: Self::connectx },
        CongestionPreset { name: "connectx-registers", config: Self::connectx_registers },
    ];

    fn wants_cnp(&self) -> bool {
        self.signal == CutSignal::Cnp
    }
}
