//! The receive pool: memory in the NIC that arriving data packets pass, and that drains towards the
//! host.
//!
//! It fills while the NIC stalls, or if it drains more slowly than packets arrive. A stall follows
//! sustained load: once the arrivals exceed `stall_above` by `stall_after` bytes in sum, nothing
//! drains for `stall`. The excess shrinks while less arrives, so a pause prevents the stall.

use crate::units::{BitRate, Bytes, Span, Time};

/// The configuration of a receive pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReceivePool {
    /// Bytes that it holds.
    pub pool: Bytes,
    /// Rate at which it drains; `None` if packets leave at once unless it stalls.
    pub rate: Option<BitRate>,
    /// Length of a stall; zero if it never stalls.
    pub stall: Span,
    /// Rate of arriving packet bytes, without gaps on the wire, above which the excess grows.
    pub stall_above: BitRate,
    /// Excess that starts a stall.
    pub stall_after: Bytes,
}

/// Bytes that leave at a constant rate. Fractions of a byte are carried over, so it is exact.
#[derive(Debug, Clone, Copy)]
struct Leak {
    rate: BitRate,
    bytes: u64,
    /// Bits times picoseconds per second that have left beyond whole bytes.
    carried: u128,
    since: Time,
}

/// Bits per byte times picoseconds per second.
const PS_BITS: u128 = 8_000_000_000_000;

impl Leak {
    const fn new(rate: BitRate) -> Self {
        Self { rate, bytes: 0, carried: 0, since: Time::ZERO }
    }

    /// Lets bytes leave until `now`.
    fn settle(&mut self, now: Time) {
        // A stall may have moved `since` into the future.
        if now <= self.since {
            return;
        }
        let elapsed = u128::from(now.since(self.since).as_ps());
        let left = elapsed * u128::from(self.rate.as_bps()) + self.carried;
        self.since = now;
        let bytes = u64::try_from(left / PS_BITS).unwrap_or(u64::MAX);
        self.carried = if bytes < self.bytes { left % PS_BITS } else { 0 };
        self.bytes = self.bytes.saturating_sub(bytes);
    }
}

/// The pool of one NIC.
#[derive(Debug, Clone)]
pub(super) struct Pool {
    config: ReceivePool,
    held: Leak,
    excess: Leak,
}

impl Pool {
    pub(super) fn new(config: ReceivePool) -> Self {
        let rate = config.rate.unwrap_or(BitRate::MAX);
        Self { config, held: Leak::new(rate), excess: Leak::new(config.stall_above) }
    }

    /// Handles the arrival of a data packet; returns false if it does not fit.
    pub(super) fn admit(&mut self, now: Time, bytes: u64) -> bool {
        match self.config.rate {
            Some(_) => self.held.settle(now),
            // Ports of several planes deliver packets at the same time.
            None if now >= self.held.since => self.held.bytes = 0,
            None => {}
        }
        if self.config.stall > Span::ZERO {
            self.excess.settle(now);
            self.excess.bytes += bytes;
            if self.excess.bytes > self.config.stall_after.get() {
                self.excess.bytes = 0;
                self.held.since = now.max(self.held.since).saturating_add(self.config.stall);
            }
        }
        if self.held.bytes + bytes > self.config.pool.get() {
            return false;
        }
        self.held.bytes += bytes;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACKET: u64 = 4_158;
    /// A packet and its gap at 100 Gbps.
    const SLOT: u64 = 334_240;

    fn pool(config: ReceivePool) -> impl FnMut(u64) -> Vec<u64> {
        let mut pool = Pool::new(config);
        move |packets| {
            (0..packets).filter(|n| !pool.admit(Time::from_ps(n * SLOT), PACKET)).collect()
        }
    }

    const BASE: ReceivePool = ReceivePool {
        pool: Bytes::new(262_016),
        rate: None,
        stall: Span::ZERO,
        stall_above: BitRate::from_gbps(95),
        stall_after: Bytes::new(1_000_000),
    };

    #[test]
    fn a_pool_that_drains_as_fast_as_packets_arrive_drops_nothing() {
        assert!(pool(BASE)(100_000).is_empty());
        let slow = ReceivePool { rate: Some(BitRate::from_gbps(100)), ..BASE };
        assert!(pool(slow)(1_000_000).is_empty());
        let half = ReceivePool { rate: Some(BitRate::from_gbps(50)), ..BASE };
        let lost = pool(half)(10_000).len();
        assert!((4_800..5_100).contains(&lost), "half of the packets: {lost}");
    }

    #[test]
    fn a_stall_loses_one_burst_and_load_below_the_threshold_starts_none() {
        let stall = ReceivePool { stall: Span::from_us(45), ..BASE };
        // Excess: 4.5 Gbps of 99.5, so 1 MB takes 1.8 ms or about 5,300 packets.
        let lost = pool(stall)(10_000);
        assert!((70..75).contains(&lost.len()), "{}", lost.len());
        assert_eq!(lost.last().unwrap() - lost[0], lost.len() as u64 - 1, "one after the other");
        let below = ReceivePool { stall_above: BitRate::from_gbps(100), ..stall };
        assert!(pool(below)(100_000).is_empty());
    }

    #[test]
    fn packets_at_the_same_time_fill_the_pool_only_during_a_stall_or_with_a_rate() {
        let small = ReceivePool { pool: Bytes::new(10_000), ..BASE };
        let admitted = |config| {
            let mut pool = Pool::new(config);
            let now = Time::ZERO + Span::from_us(1);
            (0..8).filter(|_| pool.admit(now, PACKET)).count()
        };
        assert_eq!(admitted(small), 8);
        assert_eq!(admitted(ReceivePool { rate: Some(BitRate::from_gbps(100)), ..small }), 2);
        let stall = Span::from_us(1);
        // The first packet starts the stall.
        assert_eq!(admitted(ReceivePool { stall, stall_after: Bytes::ZERO, ..small }), 2);
    }

    #[test]
    fn a_pool_as_large_as_the_stall_loses_nothing() {
        let large = ReceivePool { stall: Span::from_us(45), pool: Bytes::new(600_000), ..BASE };
        assert!(pool(large)(100_000).is_empty());
    }
}
