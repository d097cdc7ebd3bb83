//! The congestion control of an experiment: selected by `CC_MODE`, configured by other keys.

use std::sync::Arc;

use super::config::{HpccConfig, WithLine};
use super::{HpccError, round_trips};
use crate::nic::RoundTrips;
use crate::nic::congestion::{
    AbsoluteOrFraction, CongestionControl, Pacing, WindowRule, dcqcn_mlx, dctcp_rate, hpcc,
    hpcc_pint, timely,
};
use crate::topology::Topology;
use crate::units::{Bytes, Span};

/// Settings that several congestion controls share.
#[derive(Debug, Clone, Copy)]
struct Common {
    window: WindowRule,
    /// The window W.
    window_bytes: AbsoluteOrFraction<Bytes>,
    /// The base round-trip time T.
    round_trip: AbsoluteOrFraction<Span>,
    pacing: Pacing,
}

/// Returns the congestion control of a configuration on a topology.
pub(super) fn of(config: &HpccConfig, topology: &Topology) -> Result<CongestionControl, HpccError> {
    let WithLine { line, value: mode } = config.cc_mode;
    let common = Common::of(config, topology);
    Ok(match mode {
        1 => dcqcn(config, common).into(),
        3 => hpcc(config, common).into(),
        7 => timely(config, common).into(),
        8 => dctcp(config, common).into(),
        10 => hpcc_pint(config, common).into(),
        _ => return Err(HpccError::CcMode { file: config.file.clone(), line, mode }),
    })
}

impl Common {
    fn of(config: &HpccConfig, topology: &Topology) -> Self {
        let pacing = if config.rate_bound { Pacing::Rate } else { Pacing::LineRate };
        let window = match (config.window, config.variable_window) {
            (false, _) => WindowRule::None,
            (true, false) => WindowRule::Fixed,
            (true, true) => WindowRule::ByRate,
        };
        if !config.global_round_trip || !needs_round_trips(config) {
            let (window_bytes, round_trip) = (AbsoluteOrFraction::WHOLE, AbsoluteOrFraction::WHOLE);
            return Self { window, window_bytes, round_trip, pacing };
        }
        let largest = round_trips::largest(topology, config.payload);
        let (window_bytes, round_trip) = (
            AbsoluteOrFraction::Absolute(largest.product),
            AbsoluteOrFraction::Absolute(largest.round_trip),
        );
        Self { window, window_bytes, round_trip, pacing }
    }
}

/// True if a window or telemetry needs round-trip times. Computing them is expensive on a large
/// fabric.
fn needs_round_trips(config: &HpccConfig) -> bool {
    config.window || matches!(config.cc_mode.value, 3 | 10)
}

/// Returns the round trip of each pair of hosts if each pair uses its own (`GLOBAL_T 0`). A window
/// is then that round trip times the rate of the NIC.
pub(super) fn round_trips(config: &HpccConfig, topology: &Topology) -> Option<Arc<RoundTrips>> {
    let own = !config.global_round_trip && needs_round_trips(config);
    own.then(|| Arc::new(round_trips::of_pairs(topology, config.payload)))
}

/// Returns DCQCN in the form of ConnectX NICs.
fn dcqcn(config: &HpccConfig, common: Common) -> dcqcn_mlx::Config {
    let rates = &config.rates;
    dcqcn_mlx::Config {
        g: rates.gain,
        alpha_timer: rates.alpha_timer,
        decrease_timer: rates.decrease_timer,
        increase_timer: rates.increase_timer,
        fast_recovery_steps: rates.fast_recovery_steps,
        additive_increase: rates.additive_increase,
        hyper_increase: rates.hyper_increase,
        min_rate: rates.min_rate,
        clamp_target_rate: rates.clamp_target_rate,
        window: common.window,
        window_bytes: common.window_bytes,
        pacing: common.pacing,
        ..dcqcn_mlx::Config::default()
    }
}

fn hpcc(config: &HpccConfig, common: Common) -> hpcc::Config {
    let (rates, keys) = (&config.rates, &config.telemetry);
    hpcc::Config {
        target_utilization: keys.target_utilization,
        max_stage: keys.max_stage,
        additive_increase: AbsoluteOrFraction::Absolute(rates.additive_increase),
        min_rate: rates.min_rate,
        fast_react: keys.fast_react,
        multiple_rates: keys.multiple_rates,
        sample_feedback: keys.sample_feedback,
        window: common.window,
        window_bytes: common.window_bytes,
        round_trip: common.round_trip,
        pacing: common.pacing,
        int_multiple: keys.int_multiple,
    }
}

fn timely(config: &HpccConfig, common: Common) -> timely::Config {
    let rates = &config.rates;
    timely::Config {
        additive_increase: AbsoluteOrFraction::Absolute(rates.additive_increase),
        hyper_increase: AbsoluteOrFraction::Absolute(rates.hyper_increase),
        min_rate: rates.min_rate,
        window: common.window,
        window_bytes: common.window_bytes,
        pacing: common.pacing,
        ..timely::Config::default()
    }
}

fn dctcp(config: &HpccConfig, common: Common) -> dctcp_rate::Config {
    dctcp_rate::Config {
        g: config.rates.gain,
        additive_increase: config.rates.dctcp_increase,
        min_rate: config.rates.min_rate,
        window: common.window,
        window_bytes: common.window_bytes,
        pacing: common.pacing,
    }
}

fn hpcc_pint(config: &HpccConfig, common: Common) -> hpcc_pint::Config {
    let (rates, keys) = (&config.rates, &config.telemetry);
    hpcc_pint::Config {
        target_utilization: keys.target_utilization,
        max_stage: keys.max_stage,
        additive_increase: AbsoluteOrFraction::Absolute(rates.additive_increase),
        min_rate: rates.min_rate,
        base: keys.pint_base,
        probability: keys.pint_probability,
        window: common.window,
        window_bytes: common.window_bytes,
        round_trip: common.round_trip,
        pacing: common.pacing,
    }
}
