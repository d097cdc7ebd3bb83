//! TCP's window: slow start, congestion avoidance, fast recovery.
//!
//! Source: RFC 5681, "TCP Congestion Control" (2009), sections 3.1 and 3.2, and RFC 6582, "The
//! NewReno Modification to TCP's Fast Recovery Algorithm" (2012), section 3.2. The first window is
//! that of RFC 6928 (2013). The recovery detects losses: `sack` with a `reordering` of 3 declares a
//! packet lost when three later ones have arrived (RFC 6675), as `new-reno` expects.
//!
//! All sizes are bytes on the wire. A segment is a full packet with its headers, and each
//! acknowledged packet counts as a full one (RFC 3465 without its limit, as in Linux). An unused
//! window does not grow (RFC 7661, in Linux's form). In slow start, at least half of it must be in
//! flight; later, all of it.

use serde::{Deserialize, Serialize};

use super::{AckSample, CongestionController, ControlConfig, Loss, PathFacts};
use crate::nic::parameters::{Configuration, InvalidValue, require};
use crate::units::{Bytes, Time};

/// The parameters of `new-reno`: the first window and the largest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// The first window, in segments: 10 (RFC 6928, section 2).
    pub initial_window: u32,
    /// The largest window, for which the receiver has room: 6 MiB. This is Linux's default limit
    /// for a socket's receive buffer (`tcp_rmem`).
    pub receive_window: Bytes,
}

impl Default for Config {
    fn default() -> Self {
        Self { initial_window: 10, receive_window: Bytes::new(6 << 20) }
    }
}

impl Configuration for Config {
    const NAME: &'static str = "new-reno";
    const SUMMARY: &'static str = "window of TCP: slow start, congestion avoidance, fast recovery";
    const SOURCE: &'static str = "RFC 5681, 2009; RFC 6582, 2012";

    fn check(&self) -> Result<(), InvalidValue> {
        let one = "it must be at least 1, in segments";
        require("initial_window", self.initial_window, self.initial_window > 0, one)?;
        let some = "it must be at least 1B: a sender waits for room in it";
        require("receive_window", self.receive_window, self.receive_window > Bytes::ZERO, some)
    }
}

impl ControlConfig for Config {}

/// The control of one queue pair.
#[derive(Debug, Clone)]
pub struct NewReno {
    /// In bytes, like `threshold` and `max_window`.
    window: f64,
    threshold: f64,
    max_window: f64,
    segment: f64,
    in_flight: u64,
    recovery: FastRecovery,
}

/// State of fast recovery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FastRecovery {
    No,
    /// It has begun. The next acknowledgement tells what had been sent.
    Begun,
    /// It lasts until everything before this packet has arrived.
    Until(u64),
}

impl NewReno {
    pub(super) fn new(config: &Config, path: &PathFacts) -> Self {
        let segment = path.packet.get().max(1) as f64;
        let max_window = (config.receive_window.get() as f64).max(segment);
        Self {
            window: (f64::from(config.initial_window) * segment).clamp(segment, max_window),
            // Slow start until the first loss.
            threshold: f64::INFINITY,
            max_window,
            segment,
            in_flight: 0,
            recovery: FastRecovery::No,
        }
    }

    /// Half of the bytes in flight, at least two segments (RFC 5681, equation 4).
    fn half_in_flight(&self) -> f64 {
        (self.in_flight as f64 / 2.0).max(2.0 * self.segment)
    }

    fn grow(&mut self, acked: f64, was_in_flight: f64) {
        let slow_start = self.window < self.threshold;
        // Linux, `tcp_is_cwnd_limited`: a sender with little to send learns nothing about the path.
        let used = if slow_start { was_in_flight * 2.0 } else { was_in_flight + self.segment };
        if used < self.window {
            return;
        }
        let more = if slow_start { acked } else { acked * self.segment / self.window };
        self.window = (self.window + more).min(self.max_window);
    }
}

impl CongestionController for NewReno {
    #[inline]
    fn window(&self) -> u64 {
        self.window as u64
    }

    #[inline]
    fn handle_ack(&mut self, _now: Time, sample: AckSample) {
        let acked = f64::from(sample.packets) * self.segment;
        let was_in_flight = sample.in_flight as f64 + acked;
        self.in_flight = sample.in_flight;
        // A loss carries no sequence numbers, so the recovery's end is taken from the next
        // acknowledgement.
        if self.recovery == FastRecovery::Begun {
            self.recovery = FastRecovery::Until(sample.next);
        }
        match self.recovery {
            // Partial acknowledgements during a recovery do not grow the window.
            FastRecovery::Until(end) if sample.ack < end => {}
            _ => {
                self.recovery = FastRecovery::No;
                self.grow(acked, was_in_flight);
            }
        }
    }

    fn handle_sent(&mut self, _now: Time, bytes: u32) {
        // A loss may come before the next acknowledgement brings the exact count.
        self.in_flight += u64::from(bytes);
    }

    fn handle_loss(&mut self, _now: Time, loss: Loss) {
        match loss {
            Loss::Timeout => {
                self.threshold = self.half_in_flight();
                // RFC 5681, section 3.1: the loss window is one segment, regardless of the first
                // window.
                self.window = self.segment;
                self.recovery = FastRecovery::No;
            }
            Loss::Nack | Loss::Trimmed | Loss::TrimmedAtLastHop
                if self.recovery == FastRecovery::No =>
            {
                self.threshold = self.half_in_flight();
                self.window = self.threshold.min(self.max_window);
                self.recovery = FastRecovery::Begun;
            }
            // The recovery under way has already halved the window.
            Loss::Nack | Loss::Trimmed | Loss::TrimmedAtLastHop => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::{BitRate, Span};

    const PATH: PathFacts = PathFacts {
        line_rate: BitRate::from_gbps(10),
        base_rtt: Span::from_us(50),
        has_equal_paths: true,
        packet: Bytes::new(1_000),
        ..PathFacts::FOR_TEST
    };

    /// A control with a full window in flight, and the packets acknowledged so far.
    struct Full {
        control: NewReno,
        acked: u64,
    }

    impl Full {
        fn new() -> Self {
            Self { control: NewReno::new(&Config::default(), &PATH), acked: 0 }
        }

        fn packets(&self) -> u64 {
            self.control.window() / 1_000
        }

        /// Acknowledges everything in flight, packet by packet; each is replaced immediately.
        fn round(&mut self) -> u64 {
            for _ in 0..self.packets() {
                self.acked += 1;
                let out = self.packets();
                let sample = AckSample {
                    in_flight: (out - 1) * 1_000,
                    ..AckSample::for_test(self.acked, self.acked + out, 0)
                };
                self.control.handle_ack(Time::ZERO, sample);
            }
            self.packets()
        }
    }

    #[test]
    fn slow_start_doubles_per_round_up_to_the_receive_window() {
        let mut full = Full::new();
        assert_eq!(full.packets(), 10);
        assert_eq!([(); 3].map(|()| full.round()), [20, 40, 80]);
        for _ in 0..20 {
            full.round();
        }
        assert_eq!(full.control.window(), 6 << 20);
    }

    #[test]
    fn a_loss_halves_once_per_recovery_and_then_one_packet_per_round_is_added() {
        let mut full = Full::new();
        full.round();
        full.control.in_flight = 20_000;
        full.control.handle_loss(Time::ZERO, Loss::Nack);
        full.control.handle_loss(Time::ZERO, Loss::Nack);
        assert_eq!(full.packets(), 10);
        let during = AckSample { in_flight: 9_000, ..AckSample::for_test(11, 31, 0) };
        full.control.handle_ack(Time::ZERO, during);
        assert_eq!((full.packets(), full.control.recovery), (10, FastRecovery::Until(31)));
        full.acked = 30;
        let sizes = [(); 3].map(|()| full.round());
        // 1/w for each of w packets adds a little less than one.
        assert!(sizes.windows(2).all(|pair| pair[1] - pair[0] <= 1), "{sizes:?}");
        assert!((11..=13).contains(&sizes[2]), "{sizes:?}");
    }

    #[test]
    fn a_timeout_restarts_slow_start_up_to_half_of_the_bytes_in_flight() {
        let mut full = Full::new();
        full.round();
        full.control.in_flight = 20_000;
        full.control.handle_loss(Time::ZERO, Loss::Timeout);
        assert_eq!(full.packets(), 1);
        assert_eq!([(); 4].map(|()| full.round()), [2, 4, 8, 10]);
    }

    #[test]
    fn an_unused_window_does_not_grow() {
        let mut full = Full::new();
        let sample = AckSample { in_flight: 1_000, ..AckSample::for_test(1, 2, 0) };
        full.control.handle_ack(Time::ZERO, sample);
        assert_eq!(full.control.window(), 10_000);
    }

    #[test]
    fn the_threshold_is_at_least_two_segments() {
        let mut full = Full::new();
        full.control.in_flight = 1_000;
        full.control.handle_loss(Time::ZERO, Loss::Timeout);
        assert_eq!(full.control.threshold, 2_000.0);
        full.control.in_flight = 9_000;
        full.control.handle_loss(Time::ZERO, Loss::Timeout);
        assert_eq!(full.control.threshold, 4_500.0);
    }

    #[test]
    fn losses_during_a_recovery_change_nothing() {
        for loss in [Loss::Nack, Loss::Trimmed, Loss::TrimmedAtLastHop] {
            let mut full = Full::new();
            full.round();
            full.control.in_flight = 20_000;
            full.control.handle_loss(Time::ZERO, loss);
            full.control.in_flight = 4_000;
            full.control.handle_loss(Time::ZERO, loss);
            assert_eq!((full.packets(), full.control.threshold), (10, 10_000.0));
        }
    }

    #[test]
    fn a_window_grows_if_enough_of_it_was_in_flight() {
        let grows = |threshold: f64, in_flight: u64| {
            let mut full = Full::new();
            full.control.threshold = threshold;
            let sample = AckSample { in_flight, ..AckSample::for_test(1, 2, 0) };
            full.control.handle_ack(Time::ZERO, sample);
            full.control.window() > 10_000
        };
        // Including the acknowledged packet, 4 and 5, then 8 and 9 of 10 were in flight.
        assert_eq!([3_000, 4_000].map(|out| grows(f64::INFINITY, out)), [false, true]);
        assert_eq!([7_000, 8_000].map(|out| grows(10_000.0, out)), [false, true]);
    }

    #[test]
    fn a_loss_halves_including_packets_sent_since_the_last_acknowledgement() {
        let mut full = Full::new();
        (0..8).for_each(|_| full.control.handle_sent(Time::ZERO, 1_000));
        full.control.handle_loss(Time::ZERO, Loss::Nack);
        assert_eq!(full.packets(), 4);
    }

    #[test]
    fn in_slow_start_an_acknowledgement_adds_all_its_packets() {
        let mut full = Full::new();
        let sample = AckSample { packets: 5, in_flight: 5_000, ..AckSample::for_test(5, 10, 0) };
        full.control.handle_ack(Time::ZERO, sample);
        assert_eq!(full.control.window(), 15_000);
    }

    #[test]
    fn a_recovery_ends_when_all_packets_in_flight_at_its_start_have_arrived() {
        let mut full = Full::new();
        full.control.recovery = FastRecovery::Until(31);
        let acked = |full: &mut Full, ack| {
            full.control.handle_ack(Time::ZERO, AckSample::for_test(ack, 40, 0));
            full.control.recovery
        };
        assert_eq!(acked(&mut full, 30), FastRecovery::Until(31));
        assert_eq!(acked(&mut full, 31), FastRecovery::No);
    }
}
