//! MSwift: Swift on the median of recent delays, for packets that are sprayed over many paths.
//!
//! Source: arXiv 2509.07907 v2, by public notes and two independent reproductions, which agree on
//! the rules. Its base is LSwift, which cuts only after several delays in a row beyond the target:
//! a `history` of 0.
//!
//! | delay | action |
//! |---|---|
//! | below the target | adds `additive_increase` per round trip, and ends the row |
//! | at or beyond it, `trigger` times in a row | × max(1 − β (d − target)/d, 1 − `max_cut`) |
//! | packet lost | × (1 − `max_cut`) |
//!
//! There is at most one cut per round trip.
//!
//! The delay d is a round trip less the base round trip. It is the median both in the comparison
//! and in the cut. A NACK for a gap cuts nothing, because sprayed packets overtake each other: only
//! a timeout and a trimmed packet count as lost \[inferred\]. The window is at least one packet,
//! and a row goes on after a cut \[inferred\].

use serde::{Deserialize, Serialize};

use super::median::Median;
use super::{AckSample, CongestionController, ControlConfig, Loss, PathFacts};
use crate::nic::parameters::{Configuration, InvalidValue, at_most_one, positive, require, timer};
use crate::units::{Fraction, Span, Time};

/// The parameters of `mswift`. The doc of a fraction says what it is a fraction of.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Target queueing delay: 1 us (the source's experiments).
    pub target: Span,
    /// Delays whose median counts, as a fraction of the window in packets: 1/2 (the source), at
    /// most 128 (a reproduction). With 0, the latest delay counts: LSwift.
    pub history: Fraction,
    /// Delays in a row beyond the target that cut the window: 5 (the source).
    pub trigger: u32,
    /// Added to the window per round trip below the target, in packets: 1 (reproductions).
    pub additive_increase: Fraction,
    /// Gain of the cut for a delay beyond the target: 4/5 (reproductions).
    pub beta: Fraction,
    /// The largest single cut, as a fraction of the window: 1/2 (reproductions).
    pub max_cut: Fraction,
    /// The first window, in bandwidth-delay products: 1 (the source's experiments).
    pub start_window: Fraction,
    /// The largest window, in bandwidth-delay products: 3/2 \[inferred\], as Swift here.
    pub max_window: Fraction,
}

impl Default for Config {
    fn default() -> Self {
        let fraction = |above, below| Fraction::new(above, below).expect("not zero");
        Self {
            target: Span::from_us(1),
            history: fraction(1, 2),
            trigger: 5,
            additive_increase: fraction(1, 1),
            beta: fraction(4, 5),
            max_cut: fraction(1, 2),
            start_window: fraction(1, 1),
            max_window: fraction(3, 2),
        }
    }
}

impl Configuration for Config {
    const NAME: &'static str = "mswift";
    const SUMMARY: &'static str = "Swift on the median of recent queueing delays, for spraying";
    const SOURCE: &'static str = "arXiv 2509.07907 v2, MSwift, by public notes";

    fn check(&self) -> Result<(), InvalidValue> {
        timer("target", self.target)?;
        require("trigger", self.trigger, self.trigger > 0, "it must be at least 1")?;
        at_most_one("beta", self.beta)?;
        at_most_one("max_cut", self.max_cut)?;
        positive("start_window", self.start_window)?;
        positive("max_window", self.max_window)
    }
}

impl ControlConfig for Config {}

/// The control of one queue pair.
#[derive(Debug, Clone)]
pub struct MSwift {
    /// The window in packets, at least one.
    window: f64,
    state: Box<State>,
}

/// State that sending a packet does not read.
#[derive(Debug, Clone)]
struct State {
    config: Config,
    /// A full packet in bytes.
    packet: f64,
    base_rtt: Span,
    /// The largest window, in packets.
    largest: f64,
    delays: Median,
    /// Round-trip time of the last acknowledgement.
    rtt: Span,
    last_cut: Time,
    /// Delays in a row at or beyond the target.
    row: u32,
}

impl MSwift {
    pub(super) fn new(config: &Config, path: &PathFacts) -> Self {
        let packet = path.packet.get() as f64;
        let bdp = path.bdp().get() as f64 / packet;
        let largest = (config.max_window.as_f64() * bdp).max(1.0);
        Self {
            window: (config.start_window.as_f64() * bdp).clamp(1.0, largest),
            state: Box::new(State {
                config: *config,
                packet,
                base_rtt: path.base_rtt,
                largest,
                delays: Median::default(),
                rtt: path.base_rtt,
                last_cut: Time::ZERO,
                row: 0,
            }),
        }
    }

    /// Cuts the window by `fraction`, at most once per round trip.
    fn cut(&mut self, now: Time, fraction: f64) {
        let state = &mut *self.state;
        // Until a round trip after the last cut, the delay is that of the larger window.
        if now < state.last_cut.saturating_add(state.rtt) {
            return;
        }
        let fraction = fraction.min(state.config.max_cut.as_f64());
        self.window = (self.window * (1.0 - fraction)).max(1.0);
        state.last_cut = now;
    }
}

impl CongestionController for MSwift {
    #[inline]
    fn window(&self) -> u64 {
        (self.window * self.state.packet) as u64
    }

    fn handle_ack(&mut self, now: Time, sample: AckSample) {
        let state = &mut *self.state;
        state.rtt = sample.rtt;
        let count = (state.config.history.as_f64() * self.window) as usize;
        // Paths to closer hosts are shorter than the base.
        let delay = Span::from_ps(sample.rtt.as_ps().saturating_sub(state.base_rtt.as_ps()));
        let delay = state.delays.with(delay, count);
        let target = state.config.target.as_ps() as f64;
        if delay < target {
            state.row = 0;
            let increase = state.config.additive_increase.as_f64() * f64::from(sample.packets);
            self.window = (self.window + increase / self.window).min(state.largest);
            return;
        }
        state.row = state.row.saturating_add(1);
        if state.row >= state.config.trigger {
            let fraction = state.config.beta.as_f64() * (delay - target) / delay;
            self.cut(now, fraction);
        }
    }

    fn handle_loss(&mut self, now: Time, loss: Loss) {
        if loss != Loss::Nack {
            self.cut(now, self.state.config.max_cut.as_f64());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, Stream};

    /// 100 packets in 8 us.
    const PATH: PathFacts = PathFacts::FOR_TEST;

    const LSWIFT: Fraction = Fraction::ZERO;

    fn with_history(history: Fraction) -> MSwift {
        MSwift::new(&Config { history, ..Config::default() }, &PATH)
    }

    fn at(us: u64) -> Time {
        Time::ZERO + Span::from_us(us)
    }

    /// Acknowledges a packet that was queued for some time.
    fn acked(control: &mut MSwift, now: Time, queued_us: u64) -> f64 {
        let rtt = PATH.base_rtt + Span::from_us(queued_us);
        control.handle_ack(now, AckSample { rtt, ..AckSample::for_test(0, 0, 0) });
        control.window
    }

    /// Returns the number of cuts by `acks` acknowledgements, one per round trip, if random packets
    /// are queued for 10 us.
    fn cuts(control: &mut MSwift, percent: u32, acks: u64) -> u64 {
        let mut rng = Stream::new(1, Purpose::Test, 1);
        let cut = |step: &u64| {
            let queued = if rng.chance(percent, 100) { 10 } else { 0 };
            // The window stays, and with it the history.
            control.window = 100.0;
            acked(control, at(100 * step), queued) < 100.0
        };
        (1..=acks).filter(cut).count() as u64
    }

    #[test]
    fn a_minority_of_delayed_packets_does_not_cut_the_median() {
        let history = Config::default().history;
        let mswift = |percent| cuts(&mut with_history(history), percent, 20_000);
        assert_eq!(mswift(20), 0);
        assert!(mswift(30) < 100, "of 20,000, with 50 delays: {}", mswift(30));
        assert!(mswift(70) > 19_000, "a majority does");
    }

    #[test]
    fn without_a_history_a_row_of_five_delayed_packets_cuts() {
        for percent in [30, 50, 90] {
            let expected = (f64::from(percent) / 100.0).powi(5);
            let cuts = cuts(&mut with_history(LSWIFT), percent, 100_000) as f64 / 1e5;
            assert!((0.8..1.2).contains(&(cuts / expected)), "{percent} %: {cuts}, {expected}");
        }
    }

    #[test]
    fn a_history_of_one_delay_is_the_base() {
        let (mut one, mut base) =
            (with_history(Fraction::new(1, 200).unwrap()), with_history(LSWIFT));
        let mut rng = Stream::new(2, Purpose::Test, 1);
        for step in 0..5_000 {
            let queued = if rng.chance(6, 10) { 3 } else { 0 };
            let now = at(2 * step);
            assert_eq!(acked(&mut one, now, queued), acked(&mut base, now, queued), "{step}");
        }
        assert!(one.window < 100.0);
    }

    #[test]
    fn the_fifth_delay_in_a_row_cuts_in_proportion_once_per_round_trip() {
        let mut control = with_history(LSWIFT);
        for step in 0..4 {
            assert_eq!(acked(&mut control, at(100 + step), 2), 100.0, "{step}");
        }
        // 2 us against a target of 1 us: 1 − 0.8 · 1/2.
        assert!((acked(&mut control, at(104), 2) - 60.0).abs() < 1e-9);
        assert!((acked(&mut control, at(113), 2) - 60.0).abs() < 1e-9, "within 10 us");
        assert!((acked(&mut control, at(114), 2) - 36.0).abs() < 1e-9, "the row goes on");
        // A delay below the target ends it.
        let grown = acked(&mut control, at(200), 0);
        assert!((grown - 36.0 - 1.0 / 36.0).abs() < 1e-9);
        assert_eq!(acked(&mut control, at(3_000), 900), grown);
        for step in 1..4 {
            acked(&mut control, at(3_000 + step), 900);
        }
        assert!((acked(&mut control, at(4_000), 900) - grown / 2.0).abs() < 1e-9, "half at most");
    }

    #[test]
    fn delays_of_milliseconds_are_compared_with_targets_of_milliseconds() {
        let target = Span::from_ms(5);
        let config = Config { target, ..Config::default() };
        let mut control = MSwift::new(&config, &PathFacts::FOR_TEST);
        for step in 1..10 {
            acked(&mut control, at(20_000 * step), 9_000);
        }
        assert!(control.window < 100.0);
    }

    #[test]
    fn lost_packets_halve_the_window_and_gaps_do_not() {
        let mut control = with_history(LSWIFT);
        control.handle_loss(at(100), Loss::Nack);
        assert_eq!(control.window(), 100_000);
        control.handle_loss(at(100), Loss::Trimmed);
        control.handle_loss(at(101), Loss::Timeout);
        assert_eq!(control.window(), 50_000, "once per round trip");
        for step in 2..20 {
            control.handle_loss(at(100 * step), Loss::Timeout);
        }
        assert_eq!(control.window(), 1_000, "a packet at least");
    }

    #[test]
    fn the_window_adds_a_packet_per_round_trip_up_to_its_maximum() {
        let mut control = with_history(Config::default().history);
        for _ in 0..100 {
            acked(&mut control, at(0), 0);
        }
        assert!((100.9..101.0).contains(&control.window));
        for _ in 0..100_000 {
            acked(&mut control, at(0), 0);
        }
        assert_eq!(control.window, 150.0, "one and a half bandwidth-delay products");
    }
}
