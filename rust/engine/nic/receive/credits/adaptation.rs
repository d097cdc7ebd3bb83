//! Receivers on an oversubscribed fabric: they grant less than the rate of their ports while marks
//! and trims show that the fabric carries less.
//!
//! Source: the UEC simulator (ultraethernet/uet-htsim, `oversubscribed_cc.cpp`): the rate changes
//! once per 1.5 base round-trip times, scaled by a random factor from 3/4 to 5/4.

use crate::ids::HostId;
use crate::nic::congestion::CreditRules;
use crate::packet::{DataView, Flags};
use crate::rng::mix32;
use crate::units::{Fraction, Span, Time};

/// Lower limit of the rate, as a fraction of the ports' rate.
const MIN_RATE: f64 = 0.01;
/// The fraction of its fabric share that a receiver keeps.
const FAIR_SHARE_FACTOR: f64 = 0.9;
/// Intervals without a packet after which further ones are skipped.
const MAX_IDLE_INTERVALS: u64 = 64;

/// The congestion that a packet met on its path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PathCongestion {
    Clean,
    Marked,
    TrimmedAtLastHop,
    TrimmedBefore,
}

impl PathCongestion {
    pub(super) fn of(packet: DataView<'_>) -> Self {
        match (packet.is_trimmed(), packet.flags.has(Flags::LAST_HOP)) {
            (true, true) => Self::TrimmedAtLastHop,
            (true, false) => Self::TrimmedBefore,
            (false, _) if packet.flags.has(Flags::MARKED) => Self::Marked,
            (false, _) => Self::Clean,
        }
    }
}

/// The fraction of its ports' rate that a receiver grants.
#[derive(Debug, Clone)]
pub(super) struct Adaptation {
    target: f64,
    gain: f64,
    decrease: f64,
    increase: f64,
    min_rate: f64,
    /// Mean length of an interval, in picoseconds.
    interval: f64,
    host: HostId,
    intervals: u32,
    next: Option<Time>,
    rate: f64,
    /// Moving average of the fraction of marked packets.
    marked: f64,
    /// Increases in a row.
    increases: i32,
    seen: Seen,
}

/// The packets of an interval.
#[derive(Debug, Clone, Copy, Default)]
struct Seen {
    all: u32,
    marked: u32,
    at_last_hop: u32,
    before: u32,
}

impl Adaptation {
    pub(super) fn new(config: &CreditRules, base_rtt: Span, host: HostId) -> Option<Self> {
        if config.oversubscription == Fraction::ONE {
            return None;
        }
        Some(Self {
            target: config.target_congestion.as_f64(),
            gain: config.gain.as_f64(),
            decrease: config.decrease.as_f64(),
            increase: config.increase.as_f64(),
            min_rate: MIN_RATE.max(FAIR_SHARE_FACTOR / config.oversubscription.as_f64()),
            interval: 1.5 * base_rtt.as_ps() as f64,
            host,
            intervals: 0,
            next: None,
            rate: 1.0,
            marked: 0.0,
            increases: 0,
            seen: Seen::default(),
        })
    }

    /// Returns the fraction that is granted now.
    pub(super) fn rate(&self) -> f64 {
        self.rate
    }

    /// Counts a packet, after ending the intervals that are over by `now`.
    pub(super) fn handle_arrival(&mut self, now: Time, arrival: PathCongestion) {
        let mut next = match self.next {
            Some(next) => next,
            None => now.saturating_add(self.random_interval()),
        };
        let mut ended = 0;
        while next <= now && ended < MAX_IDLE_INTERVALS {
            self.end_interval();
            next = next.saturating_add(self.random_interval());
            ended += 1;
        }
        // After a long silence the intervals start anew from `now`.
        self.next =
            Some(if next <= now { now.saturating_add(self.random_interval()) } else { next });
        self.seen.all += 1;
        match arrival {
            PathCongestion::Clean => {}
            PathCongestion::Marked => self.seen.marked += 1,
            PathCongestion::TrimmedAtLastHop => self.seen.at_last_hop += 1,
            PathCongestion::TrimmedBefore => self.seen.before += 1,
        }
    }

    /// Draws the length of the next interval.
    fn random_interval(&mut self) -> Span {
        self.intervals = self.intervals.wrapping_add(1);
        // A hash of the host, so that receivers do not adapt in lockstep; the NIC has no random
        // state.
        let random = mix32(self.host.0.rotate_left(16) ^ self.intervals);
        let factor = 0.75 + f64::from(random) / f64::from(u32::MAX) / 2.0;
        Span::from_ps(((self.interval * factor) as u64).max(1))
    }

    fn end_interval(&mut self) {
        let Seen { all, marked, at_last_hop, before } = std::mem::take(&mut self.seen);
        // Marks are only counted on whole packets.
        let untrimmed = all - at_last_hop - before;
        let part = if untrimmed == 0 { 0.0 } else { f64::from(marked) / f64::from(untrimmed) };
        self.marked += self.gain * (part - self.marked);
        let mut falls = false;
        if before > 0 {
            self.rate -= f64::from(before) / f64::from(all);
            falls = true;
        }
        if self.marked > self.target {
            self.rate *= 1.0 - (self.marked - self.target) * self.decrease;
            falls = true;
        }
        if falls {
            self.increases = 0;
        } else {
            let doublings = if marked == 0 { self.increases } else { 0 };
            self.rate += self.increase * 2f64.powi(doublings);
            self.increases = self.increases.saturating_add(1);
        }
        self.rate = self.rate.clamp(self.min_rate, 1.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nic::congestion::{CongestionControl, rccc};
    use crate::packet::Packet;

    fn adapting(ratio: u32) -> Adaptation {
        let oversubscription = Fraction::new(ratio, 1).unwrap();
        let nic = CongestionControl::from(rccc::Config { oversubscription, ..Default::default() });
        Adaptation::new(&nic.credit().unwrap(), Span::from_us(8), HostId(3)).unwrap()
    }

    /// Returns the rate after intervals of ten packets, `of` of them with an arrival of that kind.
    fn after(adaptation: &mut Adaptation, intervals: u32, of: usize, kind: PathCongestion) -> f64 {
        for _ in 0..intervals {
            for packet in 0..10 {
                let arrival = if packet < of { kind } else { PathCongestion::Clean };
                adaptation.handle_arrival(Time::ZERO, arrival);
            }
            adaptation.end_interval();
        }
        adaptation.rate()
    }

    #[test]
    fn only_trims_before_the_last_hop_lower_the_rate() {
        assert_eq!(after(&mut adapting(4), 1, 10, PathCongestion::TrimmedAtLastHop), 1.0);
        let mut adaptation = adapting(4);
        assert_eq!(after(&mut adaptation, 1, 3, PathCongestion::TrimmedBefore), 0.7);
        // 0.7 - 0.3, and once more: never below 0.9 of the share.
        assert_eq!(after(&mut adaptation, 2, 3, PathCongestion::TrimmedBefore), 0.225);
    }

    #[test]
    fn marks_above_the_target_cut_and_quiet_intervals_double_the_increase() {
        let mut adaptation = adapting(2);
        // The average goes 1/2, 3/4: cuts of (1/2 - 3/10)/2 and (3/4 - 3/10)/2.
        let rate = after(&mut adaptation, 2, 10, PathCongestion::Marked);
        assert!((rate - 0.9 * 0.775).abs() < 1e-12, "{rate}");
        // It falls to 3/8 and 3/16: one more cut, then the increases 1, 2 and 4 hundredths.
        let rate = after(&mut adaptation, 4, 0, PathCongestion::Clean);
        assert!((rate - (0.9 * 0.775 * 0.9625 + 0.07)).abs() < 1e-12, "{rate}");
    }

    #[test]
    fn a_long_silence_restores_the_rate() {
        let mut adaptation = adapting(4);
        after(&mut adaptation, 9, 10, PathCongestion::TrimmedBefore);
        assert_eq!(adaptation.rate(), 0.225);
        adaptation.handle_arrival(Time::ZERO + Span::from_ms(100), PathCongestion::Clean);
        assert_eq!(adaptation.rate(), 1.0);
    }

    #[test]
    fn interval_lengths_are_random_for_each_host() {
        let intervals_of = |host| {
            let mut adaptation = Adaptation { host: HostId(host), ..adapting(4) };
            (0..1_000).map(|_| adaptation.random_interval().as_ps()).collect::<Vec<_>>()
        };
        let (first, second) = (intervals_of(0), intervals_of(1));
        // 12 us, times 3/4 to 5/4.
        let between = |ps: &u64| (9_000_000..=15_000_000).contains(ps);
        assert!(first.iter().chain(&second).all(between));
        let mean = first.iter().sum::<u64>() / 1_000;
        assert!(mean.abs_diff(12_000_000) < 200_000, "{mean}");
        assert!(first.iter().any(|&ps| ps < 9_100_000) && first.iter().any(|&ps| ps > 14_900_000));
        assert_ne!(first, second);
        // Hosts beyond 2^16 also draw different values.
        let far = std::collections::BTreeSet::from_iter(intervals_of(1 << 16));
        assert!(far.len() > 990, "{}", far.len());
    }

    #[test]
    fn a_long_silence_is_forgotten_after_64_intervals() {
        let mut adaptation = adapting(4);
        adaptation.handle_arrival(Time::ZERO, PathCongestion::Clean);
        let later = Time::ZERO + Span::from_ms(100);
        adaptation.handle_arrival(later, PathCongestion::Clean);
        // One draw for the first interval, one for each that ended, and one for the next.
        assert_eq!(adaptation.intervals, 1 + 64 + 1);
        let next = adaptation.next.unwrap();
        assert!(next > later && next <= later + Span::from_us(15));
        let mut punctual = adapting(4);
        punctual.handle_arrival(Time::ZERO, PathCongestion::Clean);
        let end = punctual.next.unwrap();
        punctual.handle_arrival(end, PathCongestion::Clean);
        assert_eq!((punctual.intervals, punctual.seen.all), (2, 1), "it has ended by then");
    }

    /// Returns the rate after an interval with these packets: all, marked, trimmed at the last hop,
    /// trimmed before it.
    fn interval(adaptation: &mut Adaptation, seen: [u32; 4]) -> f64 {
        let [all, marked, at_last_hop, before] = seen;
        adaptation.seen = Seen { all, marked, at_last_hop, before };
        adaptation.end_interval();
        adaptation.rate()
    }

    #[test]
    fn the_rate_falls_with_congestion_and_rises_in_doubling_steps() {
        let mut adaptation = adapting(4);
        assert_eq!(interval(&mut adaptation, [10, 0, 0, 0]), 1.0, "it is at most 1");
        assert_eq!(adaptation.increases, 1);
        // A fourth of all was trimmed on the way. Trims at the last hop are the port's own.
        assert_eq!(interval(&mut adaptation, [16, 0, 4, 4]), 0.75);
        assert_eq!(adaptation.increases, 0);
        let rise = |from: f64, doublings: i32| from + 0.01 * 2f64.powi(doublings);
        let first = rise(0.75, 0);
        assert_eq!(interval(&mut adaptation, [9, 0, 0, 0]), first);
        let second = rise(first, 1);
        assert_eq!(interval(&mut adaptation, [9, 0, 0, 0]), second);
        // With an average below the target the rate rises, but by a single step.
        let third = rise(second, 0);
        assert_eq!(interval(&mut adaptation, [10, 4, 2, 0]), third);
        assert_eq!(adaptation.marked, 0.25, "half of the eight that were whole, of which half");
        // At an average of 5/8, half of the excess over 3/10 is lost.
        let part = interval(&mut adaptation, [8, 8, 0, 0]);
        assert_eq!(part, third * (1.0 - (0.625 - 0.3) * 0.5));
        assert_eq!(interval(&mut adaptation, [0; 4]), part * (1.0 - (0.3125 - 0.3) * 0.5));
        assert_eq!(interval(&mut adaptation, [8, 0, 0, 8]), 0.9 / 4.0, "nine tenths of its share");
    }

    #[test]
    fn marks_at_the_target_let_the_rate_rise() {
        let mut adaptation = Adaptation { target: 0.5, rate: 0.8, ..adapting(4) };
        assert_eq!(interval(&mut adaptation, [8, 8, 0, 0]), 0.8 + 0.01, "half of 8 of 8");
        assert_eq!((adaptation.marked, adaptation.increases), (0.5, 1));
    }

    #[test]
    fn arrivals_are_counted_by_their_congestion() {
        let mut adaptation = adapting(4);
        use PathCongestion::{Clean, Marked, TrimmedAtLastHop, TrimmedBefore};
        for (arrival, times) in [(Clean, 4), (Marked, 4), (TrimmedAtLastHop, 3), (TrimmedBefore, 2)]
        {
            (0..times).for_each(|_| adaptation.handle_arrival(Time::ZERO, arrival));
        }
        let Seen { all, marked, at_last_hop, before } = adaptation.seen;
        assert_eq!([all, marked, at_last_hop, before], [13, 4, 3, 2]);
        adaptation.end_interval();
        assert_eq!(adaptation.marked, 0.25, "half of 4 of 8");
    }

    #[test]
    fn packets_are_classified_by_marks_and_trims() {
        let of =
            |flags| PathCongestion::of(Packet { flags, ..Packet::default() }.as_data().unwrap());
        let trimmed = Flags::TRIMMED.with(Flags::MARKED);
        assert_eq!(of(Flags::NONE), PathCongestion::Clean);
        assert_eq!(of(Flags::MARKED), PathCongestion::Marked);
        assert_eq!(of(trimmed), PathCongestion::TrimmedBefore);
        assert_eq!(of(trimmed.with(Flags::LAST_HOP)), PathCongestion::TrimmedAtLastHop);
    }
}
