//! HPCC: a rate and a window from the telemetry (INT) that switches write into each data packet.
//!
//! Source: Li et al., "HPCC: High Precision Congestion Control" (SIGCOMM 2019), section 3, in the
//! form of the authors' simulator (alibaba-edu/High-Precision-Congestion-Control, `rdma-hw.cc`,
//! `cc_mode` 3). The units and widths of the telemetry are those of `int-header.h`.
//!
//! The utilization of a hop has two terms. One is its throughput between two acknowledgements as a
//! fraction of its rate. The other is the shorter of the two queues as a fraction of W. The maximum
//! over the path enters a moving average U with weight τ/T. The rate is Rc · η/U + AI. While U < η,
//! it is Rc + AI for up to `max_stage` round trips. An acknowledgement of a packet sent after the
//! last change of Rc changes Rc; all others change only the rate ("fast reaction").
//!
//! Differences of bytes and times are only meaningful between samples of the same ports, so the
//! path of a queue pair must not change. Scenarios reject HPCC with policies that spread packets. A
//! path change after a failure yields one wrong sample, as in the simulator.
//!
//! Preset `simulator` is what `run.py` writes for its "hp": `max_stage` 0, where each change
//! divides by the utilization. `paper` has the 5 of the paper. \[inferred\]: without a window, W is
//! T times line rate, where the simulator divides by zero. Two samples of the same nanosecond count
//! as one.

mod rule;

pub(in crate::nic::congestion) use rule::{Reference, Rule, RuleConfig};

use std::num::NonZero;

use serde::{Deserialize, Serialize};

use super::absolute_or_fraction::AbsoluteOrFraction;
use super::rate_window::{Pacing, ReschedulingPacer, WindowRule};
use super::telemetry::TelemetryRequest;
use super::{
    AckSample, CongestionController, CongestionPreset, ControlConfig, PathFacts,
    TelemetryController,
};
use crate::nic::parameters::{Configuration, InvalidValue};
use crate::packet::{Hop, Telemetry};
use crate::units::{BitRate, Bytes, Fraction, Span, Time};

/// Parameters; the defaults are those of the simulator's run script for "hp".
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Target utilization, η: 19/20 (`U_TARGET`).
    pub target_utilization: Fraction,
    /// Round trips of additive increase only, while the utilization is below the target: 0
    /// (`MI_THRESH`; the paper: 5).
    pub max_stage: u32,
    /// Additive increase, absolute or as a fraction of line rate: 1/2500 (`RATE_AI`: 10 Mbps for 25
    /// Gbps).
    pub additive_increase: AbsoluteOrFraction<BitRate>,
    /// The minimum rate: 1 Gbps (`MIN_RATE`; the simulator's class: 100 Mbps).
    pub min_rate: BitRate,
    /// Whether every acknowledgement changes the rate, not only one per round trip: yes
    /// (`FAST_REACT`).
    pub fast_react: bool,
    /// Whether each hop has its own rate; the lowest applies: no (`MULTI_RATE`).
    pub multiple_rates: bool,
    /// Whether fast reactions skip hops without a queue: no (`SAMPLE_FEEDBACK`).
    pub sample_feedback: bool,
    /// The window: `by-rate` (`HAS_WIN`, `VAR_WIN`).
    pub window: WindowRule,
    /// W, absolute or as a fraction of T times line rate: 1/1.
    pub window_bytes: AbsoluteOrFraction<Bytes>,
    /// T, absolute or as a fraction of the round-trip time of the longest idle path: 1/1
    /// (`GLOBAL_T`).
    pub round_trip: AbsoluteOrFraction<Span>,
    /// The pacing of packets: by `rate`. With `line-rate`, only the window limits them
    /// (`RATE_BOUND`).
    pub pacing: Pacing,
    /// Factor by which the units of telemetry exceed 128 bytes sent and 80 bytes of queue: 0, which
    /// means the rate of hosts divided by 25 Gbps (`INT_MULTI`).
    pub int_multiple: u16,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            target_utilization: Fraction::new(19, 20).expect("not zero"),
            max_stage: 0,
            additive_increase: AbsoluteOrFraction::one_over(2_500),
            min_rate: BitRate::from_gbps(1),
            fast_react: true,
            multiple_rates: false,
            sample_feedback: false,
            window: WindowRule::ByRate,
            window_bytes: AbsoluteOrFraction::WHOLE,
            round_trip: AbsoluteOrFraction::WHOLE,
            pacing: Pacing::Rate,
            int_multiple: 0,
        }
    }
}

impl Config {
    fn paper() -> Self {
        Self { max_stage: 5, ..Self::default() }
    }

    fn rule(&self) -> RuleConfig {
        RuleConfig {
            target_utilization: self.target_utilization,
            max_stage: self.max_stage,
            additive_increase: self.additive_increase,
            min_rate: self.min_rate,
            window: self.window,
            window_bytes: self.window_bytes,
            round_trip: self.round_trip,
            pacing: self.pacing,
        }
    }
}

impl Configuration for Config {
    const NAME: &'static str = "hpcc";
    const SUMMARY: &'static str = "HPCC: rate and window from telemetry (INT) of each hop";
    const SOURCE: &'static str =
        "Li et al., HPCC: High Precision Congestion Control, 2019, section 3 (its simulator)";

    fn check(&self) -> Result<(), InvalidValue> {
        self.rule().check()
    }
}

impl ControlConfig for Config {
    const PRESETS: &'static [CongestionPreset<Self>] = &[
        CongestionPreset { name: "simulator", config: Self::default },
        CongestionPreset { name: "paper", config: Self::paper },
    ];

    fn telemetry(&self) -> Option<TelemetryRequest> {
        Some(TelemetryRequest::Hops { multiple: NonZero::new(self.int_multiple) })
    }

    /// Five hops of 8 bytes each, and their count.
    fn overhead(&self) -> Bytes {
        Bytes::new(42)
    }
}

/// The state of one hop.
#[derive(Debug, Clone, Copy)]
struct HopState {
    /// Its last sample.
    sample: Hop,
    /// Average utilization and rate of the hop, if each hop has its own rate.
    utilization: f64,
    reference: Reference,
}

/// A sample of the path: its busiest hop.
#[derive(Debug, Clone, Copy)]
struct PathSample {
    utilization: f64,
    /// The time that it covers, in ns.
    span: u64,
}

/// Whether an acknowledgement changes Rc, or only the rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reaction {
    Full,
    Fast,
}

// Boxed: every queue pair would otherwise pay for its size, whatever its control.
/// The control of one queue pair.
#[derive(Debug, Clone)]
pub struct Hpcc(Box<State>);

#[derive(Debug, Clone)]
struct State {
    config: Config,
    rule: Rule,
    /// T in ns.
    round_trip: u64,
    /// W.
    window: f64,
    line_rate: f64,
    pace: ReschedulingPacer,
    reference: Reference,
    /// U.
    utilization: f64,
    /// An acknowledgement of a packet after this one changes Rc; `None` before the first.
    update_at: Option<u64>,
    hops: [HopState; Telemetry::MAX_HOPS],
    /// The telemetry of the acknowledgement that is handled next.
    telemetry: Telemetry,
}

impl Hpcc {
    pub(super) fn new(config: &Config, path: &PathFacts) -> Self {
        let path = config.rule().path(path);
        let rule = Rule::new(&config.rule(), &path);
        let first = rule.first();
        let hop = HopState { sample: Hop::default(), utilization: 1.0, reference: first };
        Self(Box::new(State {
            config: *config,
            rule,
            // At least 1 ns: it is a divisor.
            round_trip: (path.base_rtt.as_ps() / 1_000).max(1),
            window: config.window_bytes.of(path.bdp()).get() as f64,
            line_rate: path.line_rate.as_bps().max(1) as f64,
            pace: config.rule().pace(&path),
            reference: first,
            utilization: 1.0,
            update_at: None,
            hops: [hop; Telemetry::MAX_HOPS],
            telemetry: Telemetry::default(),
        }))
    }
}

impl State {
    fn handle_ack(&mut self, sample: AckSample) {
        // Taken, so that no sample is used twice.
        let telemetry = std::mem::take(&mut self.telemetry);
        let Some(update_at) = self.update_at else {
            // The first acknowledgement only provides the samples that later ones are compared
            // with.
            self.update_at = Some(sample.next);
            for (state, hop) in self.hops.iter_mut().zip(telemetry.hops()) {
                state.sample = *hop;
            }
            return;
        };
        // Sent after the last change of Rc, so it shows the effect of that change.
        if sample.ack > update_at {
            self.react(&telemetry, Reaction::Full);
            self.update_at = Some(update_at.max(sample.next));
        } else if self.config.fast_react {
            self.react(&telemetry, Reaction::Fast);
        }
    }

    fn react(&mut self, telemetry: &Telemetry, reaction: Reaction) {
        if self.config.multiple_rates {
            self.react_by_hop(telemetry, reaction);
            return;
        }
        // A path on which nothing moved covers no time, as in the simulator.
        let idle = PathSample { utilization: 0.0, span: 0 };
        let mut busiest: Option<PathSample> = None;
        for (index, hop) in telemetry.hops().iter().enumerate() {
            let Some(sample) = self.sample_hop(index, hop, telemetry.multiple(), reaction) else {
                continue;
            };
            let so_far = busiest.unwrap_or(idle);
            let is_busier = sample.utilization > so_far.utilization;
            busiest = Some(if is_busier { sample } else { so_far });
        }
        let Some(sample) = busiest else { return };
        self.utilization = averaged(self.utilization, sample, self.round_trip);
        let next = self.rule.next(self.reference, self.utilization);
        self.pace.set(next.rate);
        // A fast reaction keeps Rc: the same congestion would otherwise be counted several times.
        if reaction == Reaction::Full {
            self.reference = next;
        }
    }

    /// The variant with one rate per hop.
    fn react_by_hop(&mut self, telemetry: &Telemetry, reaction: Reaction) {
        let mut lowest: Option<u64> = None;
        let mut changed = false;
        for (index, hop) in telemetry.hops().iter().enumerate() {
            let sample = self.sample_hop(index, hop, telemetry.multiple(), reaction);
            let state = &mut self.hops[index];
            let mut rate = state.reference.rate;
            if let Some(sample) = sample {
                state.utilization = averaged(state.utilization, sample, self.round_trip);
                let next = self.rule.next(state.reference, state.utilization);
                (rate, changed) = (next.rate, true);
                if reaction == Reaction::Full {
                    state.reference = next;
                }
            }
            lowest = Some(lowest.unwrap_or(rate).min(rate));
        }
        // Without a new sample the rate must not move the next packet.
        if let (Some(rate), true) = (lowest, changed) {
            self.pace.set(rate);
        }
    }

    /// Returns the utilization of a hop since its last sample, and replaces that sample; `None` if
    /// the new sample does not count.
    fn sample_hop(
        &mut self,
        index: usize,
        hop: &Hop,
        multiple: u64,
        reaction: Reaction,
    ) -> Option<PathSample> {
        let queue = hop.queue(multiple);
        if self.config.sample_feedback && reaction == Reaction::Fast && queue == 0 {
            return None;
        }
        let state = &mut self.hops[index];
        let span = hop.ns_since(&state.sample);
        // Two samples of the same nanosecond: the throughput would be a division by zero.
        if span == 0 {
            return None;
        }
        let rate = hop.rate_bps();
        let sent = hop.bytes_since(&state.sample, multiple) * 8;
        let throughput = sent as f64 / (span as f64 * 1e-9);
        // The shorter of the two queues filters out noise in the queue length.
        let shorter = queue.min(state.sample.queue(multiple)) as f64;
        state.sample = *hop;
        let utilization = throughput / rate + shorter * self.line_rate / rate / self.window;
        Some(PathSample { utilization, span })
    }
}

/// The moving average after a sample. Its weight is the fraction of T that it covers.
fn averaged(average: f64, sample: PathSample, round_trip: u64) -> f64 {
    // Capped at T: the weight of a sample is at most 1.
    let span = sample.span.min(round_trip);
    (average * (round_trip - span) as f64 + sample.utilization * span as f64) / round_trip as f64
}

impl CongestionController for Hpcc {
    #[inline]
    fn rate(&mut self, _now: Time) -> BitRate {
        self.0.pace.pace()
    }

    #[inline]
    fn window(&self) -> u64 {
        self.0.pace.window()
    }

    fn handle_ack(&mut self, _now: Time, sample: AckSample) {
        self.0.handle_ack(sample);
    }

    #[inline]
    fn handle_sent(&mut self, now: Time, bytes: u32) {
        self.0.pace.handle_sent(now, bytes);
    }

    fn telemetry(&mut self) -> Option<&mut dyn TelemetryController> {
        Some(self)
    }
}

impl TelemetryController for Hpcc {
    fn handle_telemetry(&mut self, telemetry: &Telemetry) {
        self.0.telemetry = *telemetry;
    }

    fn next_start(&self) -> Option<Time> {
        self.0.pace.next_start()
    }
}

#[cfg(test)]
mod tests;
