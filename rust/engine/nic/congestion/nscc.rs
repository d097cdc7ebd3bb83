//! NSCC: the network-signalled congestion control of Ultra Ethernet, a window driven by marks and
//! queueing delay together.
//!
//! Source: Ultra Ethernet Specification 1.0, section on NSCC, by public notes. If these are
//! silent, the UEC simulator (ultraethernet/uet-htsim, `uec.cpp`). From it are: the four cases and
//! their actions, the average of the delay, the one-in-eight gate of quick adapt, the bytes it
//! ignores, the adjustment interval, and the reaction to a NACK. Increases scale with
//! a = BDP / (100 Gbps · 12 us), so every path takes as many round trips as that one.
//!
//! | | delay below target | at or beyond target |
//! |---|---|---|
//! | not marked | proportional increase, or fast increase if there is no queue | fair increase |
//! | marked | nothing: the load balancer moves on | multiplicative decrease |
//!
//! All sizes are bytes on the wire, and an MTU is a full packet with its headers (the simulator
//! uses the payload in some constants). A coalesced acknowledgement is marked if any of its packets
//! was. A trimmed packet takes one packet off the window and calls for quick adapt. A packet that
//! later arrivals or a timeout show to be lost only takes one packet off. Whether MRC keeps this is
//! not public: `trim_cut`, `trims_call` and `loss_cut` select it (G17). A receiver may ask for a
//! smaller window, and for the previous one (`penalty`).

mod delay;
mod law;
mod penalty;
mod quick_adapt;

use serde::{Deserialize, Serialize};

use super::Scope;
use super::median::{LONGEST, Median};
use super::{AckSample, CongestionController, CongestionPreset, ControlConfig, Loss, PathFacts};
use crate::balance::sender::Trimming;
use crate::nic::parameters::{
    Configuration, InvalidValue, at_most_one, positive, positive_at_most_one, require,
};
use crate::units::{Fraction, Span, Time};
use law::Law;

/// Parameters; the defaults are for switches that do not trim.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Target queueing delay, in base round trips: 1; with trimming 3/4 (notes on UEC).
    pub target: Fraction,
    /// Added per round trip without queueing delay, in MTUs · a · target / 12 us: 4 (notes on UEC).
    /// It falls in proportion to the delay, to 0 at the target.
    pub proportional_increase: Fraction,
    /// Added per round trip with unmarked packets beyond the target, in MTUs · a: 5 (notes on UEC,
    /// and the simulator, which uses it in this case).
    pub fair_increase: Fraction,
    /// Added per byte acknowledged while there is no queue, in bytes · a: 1/4 (uet-htsim).
    pub fast_increase: Fraction,
    /// Queueing delays below this count as no queue: 1 us (uet-htsim).
    pub fast_delay: Span,
    /// Added once per adjustment period, in MTUs · a: 3/20 (notes on UEC).
    pub eta: Fraction,
    /// Gain of the decrease, applied to (average delay − target) / average delay: 4/5 (notes on
    /// UEC).
    pub gamma: Fraction,
    /// The largest single decrease, as a fraction of the window: 1/2 (uet-htsim).
    pub max_cut: Fraction,
    /// Gain of the average of the delay: 1/80 (uet-htsim).
    pub delay_gain: Fraction,
    /// Delay that calls for quick adapt, in targets: 4 (notes on UEC).
    pub quick_adapt_delay: Fraction,
    /// Quick adapt happens if less than this fraction of the largest window arrived: 1/8
    /// (uet-htsim).
    pub quick_adapt_gate: Fraction,
    /// Increases take effect once per this time, in base round trips: 1 (uet-htsim; the notes have
    /// 12 us, the reference round trip).
    pub adjust_period: Fraction,
    /// Increases also take effect after more than this many MTUs: 8 (uet-htsim).
    pub adjust_packets: u32,
    /// The first window, in bandwidth-delay products: 3/2 (notes on UEC).
    pub start_window: Fraction,
    /// The largest window, in bandwidth-delay products: 3/2 (notes on UEC).
    pub max_window: Fraction,
    /// Whether the round trips of NACKs also lower the base round trip: yes (uet-htsim,
    /// `update_base_rtt_on_nack`). Otherwise a flow whose first packets are all trimmed would
    /// mistake the delay of its own queue for the round trip.
    pub base_rtt_of_nacks: bool,
    /// Packets that a trimmed packet takes off the window: 1 (uet-htsim; G17).
    pub trim_cut: Fraction,
    /// Whether a trimmed packet also calls for quick adapt: yes (uet-htsim; G17).
    pub trims_call: bool,
    /// Packets taken off by a packet that later arrivals or a timeout show to be lost: 1
    /// (uet-htsim; G17).
    pub loss_cut: Fraction,
    /// The scope of one window: `"qp"`; `"plane"` (G16); `"path"`; `"destination"`;
    /// `"destination-plane"`. With `"plane"`, each plane has a window sized by the rate of its
    /// port. With `"path"`, each path of a policy with a fixed number of them, such as `spray-rr`
    /// with `entropies = 16`, has one sized by its share of the rate. Both need the recovery `mrc`,
    /// `sack`, `per-packet` or `rudi`. With the last two, all queue pairs of a NIC to a host share
    /// their windows.
    pub scope: Scope,
    /// Delays whose median counts instead of the latest delay, at most half the window in packets:
    /// 1. The preset `median` has 4 (MNSCC, arXiv 2509.07907 v2, by public notes).
    pub median: u32,
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
            median: 1,
        }
    }
}

impl Config {
    /// The values for switches that trim.
    fn trimming() -> Self {
        Self { target: Fraction::new(3, 4).expect("not zero"), ..Self::default() }
    }

    /// The values of MNSCC, for sprayed packets.
    fn median() -> Self {
        Self { median: 4, ..Self::default() }
    }
}

impl Configuration for Config {
    const NAME: &'static str = "nscc";
    const SUMMARY: &'static str =
        "window of Ultra Ethernet, controlled by marks and queueing delay";
    const SOURCE: &'static str = "Ultra Ethernet Specification 1.0, NSCC (uet-htsim)";
    const OPTIONAL: &'static [&'static str] = &["median"];

    fn check(&self) -> Result<(), InvalidValue> {
        positive("target", self.target)?;
        at_most_one("gamma", self.gamma)?;
        at_most_one("max_cut", self.max_cut)?;
        positive_at_most_one("delay_gain", self.delay_gain)?;
        positive("start_window", self.start_window)?;
        positive("max_window", self.max_window)?;
        let expected = format!("expected 1 to {LONGEST}");
        require("median", self.median, (1..=LONGEST as u32).contains(&self.median), expected)
    }
}

impl ControlConfig for Config {
    const IS_ULTRA_ETHERNET: bool = true;

    fn scope(&self) -> Scope {
        self.scope
    }

    const PRESETS: &'static [CongestionPreset<Self>] = &[
        CongestionPreset { name: "no-trimming", config: Self::default },
        CongestionPreset { name: "trimming", config: Self::trimming },
        CongestionPreset { name: "median", config: Self::median },
    ];

    fn default_preset(trimming: Trimming) -> Option<&'static CongestionPreset<Self>> {
        match trimming {
            Trimming::Off => Self::PRESETS.first(),
            Trimming::On => Self::PRESETS.get(1),
        }
    }
}

/// The control of one queue pair. Its window is at least one MTU.
#[derive(Debug, Clone)]
pub struct Nscc {
    /// The window in bytes on the wire.
    window: f64,
    state: Box<State>,
}

/// State that sending a packet does not read. Boxed, so that a queue pair's hot part stays small.
#[derive(Debug, Clone)]
struct State {
    law: Law,
    /// Shortest round trip so far, in picoseconds; at most that of the longest path.
    base_rtt: u64,
    delays: Median,
    /// Average queueing delay, in picoseconds.
    average_delay: f64,
    /// Increases that wait for the next adjustment, in bytes times bytes of window.
    pending: f64,
    /// Bytes acknowledged since the last adjustment.
    received: u64,
    last_adjust: Time,
    last_cut: Time,
    /// Bytes acknowledged in the current period of quick adapt, and the end of that period.
    achieved: u64,
    period_end: Option<Time>,
    /// True if a NACK called for quick adapt.
    quick_adapt_requested: bool,
    /// After quick adapt, packets in flight at that time are ignored: bytes seen, of `to_ignore`.
    ignored: u64,
    to_ignore: u64,
    in_flight: u64,
    /// Consecutive bytes acknowledged without a queue.
    without_queue: u64,
    fast: bool,
    /// The window before the receiver's first penalty; `None` unless a penalty is in force.
    saved: Option<f64>,
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
                delays: Median::default(),
                average_delay: 0.0,
                pending: 0.0,
                received: 0,
                last_adjust: Time::ZERO,
                last_cut: Time::ZERO,
                achieved: 0,
                period_end: None,
                quick_adapt_requested: false,
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
            // Fast increase only after a whole window without a queue: a single short delay may be
            // luck.
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
        // At most one decrease per round trip: earlier marks still belong to the larger window.
        if beyond <= 0.0 || now <= state.last_cut.saturating_add(Span::from_ps(state.base_rtt)) {
            return;
        }
        let cut = (state.law.gamma * beyond / state.average_delay).min(state.law.max_cut);
        self.window *= 1.0 - cut;
        state.last_cut = now;
    }

    /// Applies pending increases, once per period or after a few packets.
    fn adjust(&mut self, now: Time) {
        let state = &mut *self.state;
        let due = state.last_adjust.saturating_add(state.law.adjust_period);
        if now <= due && state.received <= state.law.adjust_bytes {
            return;
        }
        // Each acknowledgement adds in proportion to its bytes, and a round trip acknowledges one
        // window. Dividing by the window makes the increase per round trip independent of its size.
        self.window += state.pending / self.window;
        if now >= due {
            self.window += state.law.eta;
            state.last_adjust = now;
        }
        (state.pending, state.received) = (0.0, 0);
    }
}

/// Whether a packet was marked.
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
        let delay = self.state.delay(sample.rtt, self.window);
        self.state.average(delay, marked);
        self.apply_receiver_request(sample, acked);
        if self.quick_adapt(now, marked, delay) {
            return;
        }
        match (marked, delay >= self.state.law.target) {
            (Marked::Yes, true) => self.decrease(now),
            (Marked::Yes, false) => {}
            // Increases are suspended until the receiver restores the window.
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
        if self.state.law.base_rtt_of_nacks && self.state.law.learns_base_rtt {
            self.state.base_rtt = self.state.base_rtt.min(rtt.as_ps());
        }
    }

    fn handle_loss(&mut self, now: Time, loss: Loss) {
        let packet = self.state.law.packet;
        // A packet that timed out may still be in the network.
        if loss != Loss::Timeout {
            self.state.ignored += packet;
            self.state.in_flight = self.state.in_flight.saturating_sub(packet);
        }
        let law = self.state.law;
        self.window -= match loss {
            Loss::Trimmed | Loss::TrimmedAtLastHop => {
                // The packet met a full queue, assumed to be one base round trip long.
                self.state.average(law.base_rtt as f64, Marked::Yes);
                self.state.quick_adapt_requested |= law.trims_call;
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
