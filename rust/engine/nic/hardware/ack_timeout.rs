//! Timeouts by the local ACK timeout code of a queue pair.
//!
//! The code T encodes N(T) = 4.096 us · 2^T (InfiniBand specification, volume 1, section
//! 9.7.6.1.3). The series of adaptive retransmission and the floor were measured on a ConnectX-6
//! (firmware 20.43.4100): the adaptive phase counts as one retry, and each regular timeout lasts
//! 2 · N(T). That holds with the floor alone: see [`AckTimeout::floor`].

use crate::units::Span;

/// Timeouts of queue pairs by code and retry count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AckTimeout {
    /// Local ACK timeout code, at most 31; 0 disables the timeout in the specification and is not
    /// valid here.
    pub code: u32,
    /// Raises codes below 16 to 16. Without it, the measured waits last N(T), not 2 · N(T): times
    /// to an error are 54 to 87 % too long (P22 of `examples/reproduce/silicon.toml`).
    pub floor: bool,
    /// Begins with the series of adaptive retransmission.
    pub adaptive: bool,
    /// Retry count, at most 7. A queue pair fails when it is exceeded.
    pub retries: u32,
}

/// Unit of the timeouts: 4.096 us.
const UNIT: Span = Span::from_ns(4_096);
/// Smallest code with the floor.
const FLOOR: u32 = 16;
/// Waits of adaptive retransmission, in units.
const SERIES: [u64; 11] = [
    3 << 10,
    1 << 11,
    1 << 12,
    1 << 13,
    1 << 14,
    3 << 13,
    3 << 14,
    1 << 17,
    3 << 16,
    1 << 19,
    1 << 20,
];

impl AckTimeout {
    fn units(self) -> u64 {
        1 << self.code.clamp(1, 31).max(if self.floor { FLOOR } else { 0 })
    }

    /// Number of waits of the adaptive phase: it ends before the first wait that is too long.
    fn adaptive_waits(self) -> usize {
        // The phase is limited by the floor even where the floor is off.
        let limit = self.units().max(1 << FLOOR);
        let count = SERIES.iter().take_while(|&&wait| wait <= limit).count();
        if self.adaptive { count } else { 0 }
    }

    /// Returns the wait before timeout number `expired`, counted from 0; `None` if the retries are
    /// exceeded.
    pub fn wait(self, expired: u32) -> Option<Span> {
        let expired = expired as usize;
        let adaptive = self.adaptive_waits();
        if expired < adaptive {
            return Some(UNIT * SERIES[expired]);
        }
        // The adaptive phase stands for the first wait and for one retry.
        let regular = match adaptive {
            0 => self.retries as usize + 1,
            _ => (self.retries as usize).saturating_sub(1),
        };
        (expired < adaptive + regular).then(|| UNIT * (2 * self.units()))
    }

    /// Returns the first wait.
    pub fn first(self) -> Span {
        self.wait(0).expect("the first wait is always there")
    }

    /// Returns the shortest wait.
    pub fn shortest(self) -> Span {
        (0..).map_while(|expired| self.wait(expired)).fold(self.first(), Span::min)
    }

    /// Returns the time from the first transmission to the error, if no answer arrives.
    pub fn until_error(self) -> Span {
        (0..).map_while(|expired| self.wait(expired)).fold(Span::ZERO, |sum, wait| sum + wait)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEFAULT: AckTimeout = AckTimeout { code: 14, floor: true, adaptive: true, retries: 7 };

    fn ms(span: Span) -> f64 {
        (span.as_ps() as f64 / 1e8).round() / 10.0
    }

    fn times(timeout: AckTimeout) -> Vec<f64> {
        let waits = (0..).map_while(|expired| timeout.wait(expired));
        let sums = waits.scan(Span::ZERO, |sum, wait| {
            *sum += wait;
            Some(ms(*sum))
        });
        sums.collect()
    }

    #[test]
    fn the_adaptive_phase_has_the_measured_times() {
        let all = times(AckTimeout { code: 20, retries: 1, ..DEFAULT });
        let measured = [12.5, 21.0, 37.5, 71.5, 138.4, 239.0, 440.4, 977.2, 1782.5, 3930.3, 8225.1];
        assert_eq!(all.len(), measured.len());
        all.iter().zip(measured).for_each(|(of, at)| assert!((of - at).abs() <= 0.5, "{of} {at}"));
        let last = |code| *times(AckTimeout { code, retries: 1, ..DEFAULT }).last().unwrap();
        assert_eq!([8, 16, 17, 18].map(last), [440.4, 440.4, 977.3, 1782.6]);
        assert_eq!([ms(DEFAULT.first()), ms(DEFAULT.shortest())], [12.6, 8.4]);
    }

    #[test]
    fn regular_timeouts_follow_one_fewer_than_the_retries() {
        let until = |code, retries| ms(AckTimeout { code, retries, ..DEFAULT }.until_error());
        assert_eq!(until(14, 2), 977.3);
        for retries in 1..7 {
            let more = until(14, retries + 1) - until(14, retries);
            assert!((more - 536.9).abs() < 0.2, "{more}");
        }
        for (code, interval) in [(17, 1073.8), (18, 2147.6), (19, 4295.1), (20, 8590.2)] {
            let more = until(code, 3) - until(code, 2);
            assert!((more - interval).abs() < 0.3, "{more} {interval}");
        }
    }

    #[test]
    fn without_the_adaptive_phase_each_retry_is_a_timeout() {
        let off = AckTimeout { floor: false, adaptive: false, code: 8, retries: 0 };
        assert_eq!(off.until_error(), UNIT * (2 << 8));
        let three = AckTimeout { retries: 3, ..off };
        assert_eq!(three.until_error(), off.until_error() * 4);
    }
}
