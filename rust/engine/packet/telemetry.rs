//! In-band network telemetry (INT): readings that ports write into a data packet on its way, and
//! that receivers return in its acknowledgement.
//!
//! Source: Li et al., "HPCC: High Precision Congestion Control" (SIGCOMM 2019), section 4.1, with
//! the widths and units of its simulator (alibaba-edu/High-Precision-Congestion-Control,
//! `int-header.h`); Ben Basat et al., "PINT: Probabilistic In-band Network Telemetry" (SIGCOMM
//! 2020), section 3.3, with the code of the same simulator (`pint.cc`).
//!
//! Telemetry is stored separately from packets, so runs without it have no overhead. The
//! simulator's three bits for the line rate encode 25 to 400 Gbps; here a hop stores any rate
//! \[inferred\].

use crate::units::{BitRate, Time};

/// State of a port when a packet leaves its queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PortReading {
    /// Time at which the packet leaves.
    pub at: Time,
    /// Bytes that the port has sent before this packet.
    pub sent: u64,
    /// Bytes queued behind the packet.
    pub waiting: u64,
    /// Rate of the link.
    pub rate: BitRate,
}

/// One hop of a path, as encoded in the packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Hop {
    /// Nanoseconds, 24 bits.
    time: u32,
    /// Units of [`BYTES_UNIT`] times the multiple, 20 bits.
    bytes: u32,
    /// Units of [`QUEUE_UNIT`] times the multiple, 17 bits.
    queue: u32,
    /// Mbit/s.
    rate: u32,
}

/// All readings that ports have written into one packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Telemetry {
    hops: [Hop; Telemetry::MAX_HOPS],
    /// Number of hops so far; beyond `MAX_HOPS` they overwrite the first ones.
    count: u8,
    /// Factor by which units are larger than those of 25 Gbps.
    multiple: u16,
    /// Utilization of the busiest hop, as a power of PINT's base.
    power: u16,
}

const TIME_BITS: u32 = 24;
const BYTES_BITS: u32 = 20;
const QUEUE_BITS: u32 = 17;

/// Bytes per unit of the bytes that a port has sent.
const BYTES_UNIT: u64 = 128;

/// Bytes per unit of a queue.
const QUEUE_UNIT: u64 = 80;

impl Telemetry {
    /// Maximum number of hops in one packet.
    pub const MAX_HOPS: usize = 5;

    /// Adds a hop whose units are `multiple` times those of 25 Gbps.
    pub fn push(&mut self, reading: &PortReading, multiple: u16) {
        let factor = u64::from(multiple.max(1));
        let low = |value: u64, bits: u32| (value & ((1 << bits) - 1)) as u32;
        let rate = u32::try_from(reading.rate.as_bps() / 1_000_000).unwrap_or(u32::MAX);
        self.hops[usize::from(self.count) % Self::MAX_HOPS] = Hop {
            time: low(reading.at.as_ps() / 1_000, TIME_BITS),
            bytes: low(reading.sent / (BYTES_UNIT * factor), BYTES_BITS),
            queue: low(reading.waiting / (QUEUE_UNIT * factor), QUEUE_BITS),
            rate: rate.max(1),
        };
        self.count = self.count.saturating_add(1);
        self.multiple = multiple.max(1);
    }

    /// Returns the hops in path order; empty if the path is longer than [`Self::MAX_HOPS`].
    pub fn hops(&self) -> &[Hop] {
        self.hops.get(..usize::from(self.count)).unwrap_or(&[])
    }

    /// Returns the factor by which units are larger than those of 25 Gbps.
    pub const fn multiple(&self) -> u64 {
        self.multiple as u64
    }

    /// Raises the utilization's power to that of a port, if that is higher.
    pub fn raise_power(&mut self, power: u16) {
        self.power = self.power.max(power);
    }

    /// Returns the highest power of the utilization on the way.
    pub const fn power(&self) -> u16 {
        self.power
    }
}

impl Hop {
    /// Returns the nanoseconds since an older sample of the same port; they wrap at 16.8 ms.
    pub const fn ns_since(&self, older: &Self) -> u64 {
        (self.time.wrapping_sub(older.time) & ((1 << TIME_BITS) - 1)) as u64
    }

    /// Returns the bytes that the port has sent since an older sample. Both samples have this
    /// multiple.
    pub const fn bytes_since(&self, older: &Self, multiple: u64) -> u64 {
        let units = self.bytes.wrapping_sub(older.bytes) & ((1 << BYTES_BITS) - 1);
        units as u64 * BYTES_UNIT * multiple
    }

    /// Returns the queued bytes in a sample with this multiple.
    pub const fn queue(&self, multiple: u64) -> u64 {
        self.queue as u64 * QUEUE_UNIT * multiple
    }

    /// Returns the rate of the link in bits per second.
    pub fn rate_bps(&self) -> f64 {
        f64::from(self.rate) * 1e6
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Span;

    fn reading(ns: u64, sent: u64, waiting: u64) -> PortReading {
        let at = Time::ZERO + Span::from_ns(ns);
        PortReading { at, sent, waiting, rate: BitRate::from_gbps(100) }
    }

    fn hop(ns: u64, sent: u64, waiting: u64, multiple: u16) -> Hop {
        let mut telemetry = Telemetry::default();
        telemetry.push(&reading(ns, sent, waiting), multiple);
        telemetry.hops()[0]
    }

    #[test]
    fn samples_are_in_whole_units_and_their_differences_wrap() {
        let sample = hop(1_000, 1_090, 799, 4);
        assert_eq!((sample.queue(4), sample.rate_bps()), (640, 1e11));
        assert_eq!(sample.bytes_since(&hop(0, 0, 0, 4), 4), 1_024);
        let (before, after) = ((1 << 24) - 5, (1 << 24) + 20);
        assert_eq!(hop(after, 0, 0, 4).ns_since(&hop(before, 0, 0, 4)), 25);
        let wrap = (1 << 20) * BYTES_UNIT * 4;
        assert_eq!(hop(0, wrap + 512, 0, 4).bytes_since(&hop(0, wrap - 512, 0, 4), 4), 1_024);
    }

    #[test]
    fn a_path_with_too_many_hops_has_no_sample() {
        let mut telemetry = Telemetry::default();
        for hops in 1..=Telemetry::MAX_HOPS {
            telemetry.push(&reading(0, 0, 0), 1);
            assert_eq!(telemetry.hops().len(), hops);
        }
        telemetry.push(&reading(0, 0, 0), 1);
        assert!(telemetry.hops().is_empty());
    }

    #[test]
    fn the_busiest_hop_gives_the_power() {
        let mut telemetry = Telemetry::default();
        for power in [3, 9, 4] {
            telemetry.raise_power(power);
        }
        assert_eq!(telemetry.power(), 9);
    }
}
