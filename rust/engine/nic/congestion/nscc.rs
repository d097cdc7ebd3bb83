//! NSCC: the network-signalled congestion control of Ultra Ethernet, a window steered by marks
//! and queueing delay together.
//!
//! Source: Ultra Ethernet Specification 1.0, section on NSCC, by public notes on it; where these
//! are silent, the UEC simulator (ultraethernet/uet-htsim, `uec.cpp`), from which are: the four
//! cases and what each does, the average of the delay, the one-in-eight gate of quick adapt, the
//! bytes it ignores, how often it adjusts, and what a NACK does. Increases scale with
//! a = BDP / (100 Gbps · 12 us), so that any path takes as many round trips as that one.
//!
//! | | delay below target | at or beyond target |
//! |---|---|---|
//! | not marked | proportional increase, or fast increase if there is no queue | fair increase |
//! | marked | nothing: the load balancer moves on | multiplicative decrease |
//!
//! All sizes are bytes on the wire, and an MTU is a full packet with its headers (the simulator
//! has payload alone in some of the constants). A coalesced acknowledgement is marked if any of
//! its packets was. A packet that was trimmed takes a packet off the window and calls for quick
//! adapt; one that later arrivals or a time-out show to be lost takes a packet off it, no more.
//! Whether MRC keeps this is not public: `trim_cut`, `trims_call`, `loss_cut` choose (G17).
//! A receiver may ask for less, and for what there was before (`penalty`).

mod delay;
mod penalty;
mod quick_adapt;

use serde::{Deserialize, Serialize};

use super::Scope;
use super::{AckSample, CongestionController, CongestionPreset, ControlConfig, Loss, PathFacts};
use crate::balance::sender::Trimming;
use crate::nic::parameters::{Configuration, InvalidValue, part, positive, positive_part};
use crate::units::{BitRate, Fraction, Span, Time};

/// The path that the constants are given for: 100 Gbps and 12 us.
const REFERENCE_RATE: BitRate = BitRate::from_gbps(100);
const REFERENCE_RTT: Span = Span::from_us(12);

/// Parameters; the defaults are for switches that do not trim.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Queueing delay aimed at, in base round trips: 1; with trimming 3/4 (notes on UEC).
    pub target: Fraction,
    /// Added in each round trip without any queueing delay, in MTUs · a · target / 12 us, and in
    /// proportion less the nearer the delay is to the target: 4 (notes on UEC).
    pub proportional_increase: Fraction,
    /// Added in each round trip with unmarked packets beyond the target, in MTUs · a: 5 (notes on
    /// UEC, and the simulator, where it belongs to this case).
    pub fair_increase: Fraction,
    /// Added for each byte acknowledged while there is no queue, in bytes · a: 1/4 (uet-htsim).
    pub fast_increase: Fraction,
    /// Queueing delays below this are no queue: 1 us (uet-htsim).
    pub fast_delay: Span,
    /// Added once in each adjustment period, in MTUs · a: 3/20 (notes on UEC).
    pub eta: Fraction,
    /// Strength of the decrease, of (average delay − target) / average delay: 4/5 (notes on UEC).
    pub gamma: Fraction,
    /// Most that one decrease takes, as a part of the window: 1/2 (uet-htsim).
    pub max_cut: Fraction,
    /// Gain of the average of the delay: 1/80 (uet-htsim).
    pub delay_gain: Fraction,
    /// Delay that calls for quick adapt, in targets: 4 (notes on UEC).
    pub quick_adapt_delay: Fraction,
    /// It takes place if less than this part of the largest window got through: 1/8 (uet-htsim).
    pub quick_adapt_gate: Fraction,
    /// Increases take effect once in this time, in base round trips: 1 (uet-htsim; the notes have
    /// 12 us, the reference round trip).
    pub adjust_period: Fraction,
    /// ... or once in more than this many MTUs: 8 (uet-htsim).
    pub adjust_packets: u32,
    /// The first window, in bandwidth-delay products: 3/2 (notes on UEC).
    pub start_window: Fraction,
    /// No window grows beyond, in bandwidth-delay products: 3/2 (notes on UEC).
    pub max_window: Fraction,
    /// Whether the round trips of NACKs lower the base round trip too: yes (uet-htsim,
    /// `update_base_rtt_on_nack`). Without them, a flow whose first packets are all trimmed takes
    /// the delay of its own queue for the round trip.
    pub base_rtt_of_nacks: bool,
    /// Packets that a trimmed packet takes off the window: 1 (uet-htsim; G17).
    pub trim_cut: Fraction,
    /// Whether a trimmed packet calls for quick adapt too: yes (uet-htsim; G17).
    pub trims_call: bool,
    /// Packets that one takes off that later arrivals or a time-out show to be lost: 1 (uet-htsim;
    /// G17).
    pub loss_cut: Fraction,
    /// What one window limits: `"qp"`; `"plane"` (G16) with the recoveries `mrc`, `sack`,
    /// `per-packet` and `rudi`: each plane of several has a window, by the rate of its port;
    /// `"destination"`, `"destination-plane"`: all queue pairs of a NIC to a host share these.
    pub scope: Scope,
}

impl Default for Config {
    fn default() -> Self {
        let fraction = |above, below| Fraction::new(above, below).expect("not zero");
        Self {
            target: fraction(1, 1),
            proportional_increase: fraction(4, 1),
            fair_increase: fraction(5, 1),
            fast_increase: fraction(1, 4),
            fast_delay: Span::from_us(1),
            eta: fraction(3, 20),
            gamma: fraction(4, 5),
            max_cut: fraction(1, 2),
            delay_gain: fraction(1, 80),
            quick_adapt_delay: fraction(4, 1),
            quick_adapt_gate: fraction(1, 8),
            adjust_period: fraction(1, 1),
            adjust_packets: 8,
            start_window: fraction(3, 2),
            max_window: fraction(3, 2),
            base_rtt_of_nacks: true,
            trim_cut: Fraction::ONE,
            trims_call: true,
            loss_cut: Fraction::ONE,
            scope: Scope::Qp,
        }
    }
}

impl Config {
    /// For switches that trim.
    fn trimming() -> Self {
        Self { target: Fraction::new(3, 4).expect("not zero"), ..Self::default() }
    }
}

impl Configuration for Config {
    const NAME: &'static str = "nscc";
    const SUMMARY: &'static str =
        "window of Ultra Ethernet, steered by marks and queueing delay together";
    const SOURCE: &'static str = "Ultra Ethernet Specification 1.0, NSCC (uet-htsim)";

    fn check(&self) -> Result<(), InvalidValue> {
        positive("target", self.target)?;
        part("gamma", self.gamma)?;
        part("max_cut", self.max_cut)?;
        positive_part("delay_gain", self.delay_gain)?;
        positive("start_window", self.start_window)?;
        positive("max_window", self.max_window)
    }
}

impl ControlConfig for Config {
    const OF_ULTRA_ETHERNET: bool = true;

    fn scope(&self) -> Scope {
        self.scope
    }

    const PRESETS: &'static [CongestionPreset<Self>] = &[
        CongestionPreset { name: "no-trimming", config: Self::default },
        CongestionPreset { name: "trimming", config: Self::trimming },
    ];

    fn default_preset(trimming: Trimming) -> Option<&'static CongestionPreset<Self>> {
        match trimming {
            Trimming::Off => Self::PRESETS.first(),
            Trimming::On => Self::PRESETS.last(),
        }
    }
}

/// The control of one queue pair. Its window is at least one MTU.
#[derive(Debug, Clone)]
pub struct Nscc {
    /// What may be in flight, in bytes on the wire.
    window: f64,
    state: Box<State>,
}

/// Everything that sending a packet does not look at.
#[derive(Debug, Clone)]
struct State {
    law: Law,
    /// Shortest round trip so far, in picoseconds; no longer than that of the longest path.
    base_rtt: u64,
    /// Of the queueing delay, in picoseconds.
    average_delay: f64,
    /// Increases that wait for the next adjustment, in bytes times bytes of window.
    pending: f64,
    /// Bytes acknowledged since the last adjustment.
    received: u64,
    last_adjust: Time,
    last_cut: Time,
    /// Bytes acknowledged in this period of quick adapt, and when it ends.
    achieved: u64,
    period_end: Option<Time>,
    /// A NACK calls for quick adapt.
    called: bool,
    /// After quick adapt, what was out then is not judged: bytes answered of `to_ignore`.
    ignored: u64,
    to_ignore: u64,
    in_flight: u64,
    /// Bytes acknowledged in a row without a queue.
    without_queue: u64,
    fast: bool,
    /// The window before the receiver's first penalty, until it restores that.
    saved: Option<f64>,
}

/// The constants of the path. Delays in picoseconds, sizes in bytes.
#[derive(Debug, Clone, Copy)]
struct Law {
    line_rate: BitRate,
    packet: u64,
    base_rtt: u64,
    target: f64,
    /// Of the window, for each byte acknowledged and picosecond below the target.
    proportional: f64,
    fair: f64,
    fast: f64,
    fast_delay: f64,
    eta: f64,
    gamma: f64,
    max_cut: f64,
    delay_gain: f64,
    quick_adapt_delay: f64,
    quick_adapt_gate: f64,
    adjust_period: Span,
    adjust_bytes: u64,
    /// The largest window, in bandwidth-delay products of the shortest round trip so far.
    max_window: f64,
    base_rtt_of_nacks: bool,
    /// Whether a shorter round trip is the new base: not where paths have different ones.
    learns: bool,
    /// In bytes.
    trim_cut: f64,
    trims_call: bool,
    loss_cut: f64,
}

impl Law {
    fn new(config: &Config, path: &PathFacts) -> Self {
        let packet = path.packet.get();
        let reference = REFERENCE_RATE.bytes_in(REFERENCE_RTT).get() as f64;
        // In MTUs · a.
        let unit = packet as f64 * path.bdp().get() as f64 / reference;
        let target = config.target.as_f64() * path.base_rtt.as_ps() as f64;
        let adjust_period = config.adjust_period.as_f64() * path.base_rtt.as_ps() as f64;
        Self {
            line_rate: path.line_rate,
            packet,
            base_rtt: path.base_rtt.as_ps(),
            target,
            // 4 · a · b · MTU / target with b = target / 12 us: the target falls out.
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
            learns: path.is_even,
            trim_cut: config.trim_cut.as_f64() * packet as f64,
            trims_call: config.trims_call,
            loss_cut: config.loss_cut.as_f64() * packet as f64,
        }
    }

    /// The largest window of a path with this base round trip.
    fn largest(&self, base_rtt: u64) -> f64 {
        let bdp = self.line_rate.bytes_in(Span::from_ps(base_rtt)).get() as f64;
        (self.max_window * bdp).max(self.packet as f64)
    }
}

impl Nscc {
    pub(super) fn new(config: &Config, path: &PathFacts) -> Self {
        let law = Law::new(config, path);
        let start = config.start_window.as_f64() * path.bdp().get() as f64;
        Self {
            window: start.clamp(law.packet as f64, law.largest(law.base_rtt)),
            state: Box::new(State {
                law,
                base_rtt: law.base_rtt,
                average_delay: 0.0,
                pending: 0.0,
                received: 0,
                last_adjust: Time::ZERO,
                last_cut: Time::ZERO,
                achieved: 0,
                period_end: None,
                called: false,
                ignored: 0,
                to_ignore: 0,
                in_flight: 0,
                without_queue: 0,
                fast: false,
                saved: None,
            }),
        }
    }

    fn limit(&mut self) {
        let largest = self.state.law.largest(self.state.base_rtt);
        self.window = self.window.clamp(self.state.law.packet as f64, largest);
    }

    fn increase_in_proportion(&mut self, acked: u64, delay: f64) {
        let state = &mut *self.state;
        if delay < state.law.fast_delay {
            state.without_queue += acked;
            state.fast |= state.without_queue as f64 > self.window;
        } else {
            (state.without_queue, state.fast) = (0, false);
        }
        if state.fast {
            self.window += acked as f64 * state.law.fast;
        } else {
            let below = state.law.target - delay;
            state.pending += state.law.proportional * acked as f64 * below;
        }
    }

    fn decrease(&mut self, now: Time) {
        let state = &mut *self.state;
        (state.without_queue, state.fast) = (0, false);
        let beyond = state.average_delay - state.law.target;
        if beyond <= 0.0 || now <= state.last_cut.saturating_add(Span::from_ps(state.base_rtt)) {
            return;
        }
        let cut = (state.law.gamma * beyond / state.average_delay).min(state.law.max_cut);
        self.window *= 1.0 - cut;
        state.last_cut = now;
    }

    /// Lets the increases take effect, once a period or a few packets.
    fn adjust(&mut self, now: Time) {
        let state = &mut *self.state;
        let due = state.last_adjust.saturating_add(state.law.adjust_period);
        if now <= due && state.received <= state.law.adjust_bytes {
            return;
        }
        // Acknowledgements add in proportion to their bytes, of which a round trip has a window
        // full. Divided by the window, the increase of a round trip is the same whatever its size.
        self.window += state.pending / self.window;
        if now >= due {
            self.window += state.law.eta;
            state.last_adjust = now;
        }
        (state.pending, state.received) = (0.0, 0);
    }
}

/// Whether a packet met congestion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Marked {
    Yes,
    No,
}

impl State {
    fn count(&mut self, sample: &AckSample) -> u64 {
        let acked = u64::from(sample.packets) * self.law.packet;
        self.achieved += acked;
        self.received += acked;
        self.ignored += acked;
        self.in_flight = sample.in_flight;
        acked
    }
}

impl CongestionController for Nscc {
    #[inline]
    fn window(&self) -> u64 {
        self.window as u64
    }

    fn handle_ack(&mut self, now: Time, sample: AckSample) {
        let marked = if sample.marked > 0 { Marked::Yes } else { Marked::No };
        let acked = self.state.count(&sample);
        let delay = self.state.delay(sample.rtt);
        self.state.average(delay, marked);
        self.heed(sample, acked);
        if self.quick_adapt(now, marked, delay) {
            return;
        }
        match (marked, delay >= self.state.law.target) {
            (Marked::Yes, true) => self.decrease(now),
            (Marked::Yes, false) => {}
            // Increases wait until the receiver restores the window.
            (Marked::No, _) if self.state.saved.is_some() => {}
            (Marked::No, true) => self.state.pending += self.state.law.fair * acked as f64,
            (Marked::No, false) => self.increase_in_proportion(acked, delay),
        }
        // `adjust` divides by the window, which is at least one packet after this.
        self.limit();
        if self.state.saved.is_none() {
            self.adjust(now);
            self.limit();
        }
    }

    fn handle_sent(&mut self, _now: Time, bytes: u32) {
        self.state.in_flight += u64::from(bytes);
    }

    fn handle_nack_rtt(&mut self, rtt: Span) {
        if self.state.law.base_rtt_of_nacks && self.state.law.learns {
            self.state.base_rtt = self.state.base_rtt.min(rtt.as_ps());
        }
    }

    fn handle_loss(&mut self, now: Time, loss: Loss) {
        let packet = self.state.law.packet;
        if loss != Loss::Timeout {
            self.state.ignored += packet;
            self.state.in_flight = self.state.in_flight.saturating_sub(packet);
        }
        let law = self.state.law;
        self.window -= match loss {
            Loss::Trimmed | Loss::TrimmedAtLastHop => {
                // The packet met a full queue, taken to be one base round trip long.
                self.state.average(law.base_rtt as f64, Marked::Yes);
                self.state.called |= law.trims_call;
                if law.trims_call && self.quick_adapt(now, Marked::Yes, f64::INFINITY) {
                    return;
                }
                law.trim_cut
            }
            Loss::Nack | Loss::Timeout => law.loss_cut,
        };
        self.limit();
    }

    fn handle_later_loss(&mut self, now: Time) {
        self.handle_loss(now, Loss::Nack);
    }
}

#[cfg(test)]
mod tests;
