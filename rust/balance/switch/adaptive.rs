//! Adaptive routing by quantised, stale queue lengths: a random port among those with the emptiest
//! bucket.
//!
//! Source: "Load Balancing for AI Training Workloads" (arXiv 2507.21372 v2, 2026), Switch Pkt AR
//! (after NVIDIA Spectrum-X): buckets at 5, 10 and 20 % of a port's queue. As in its simulator
//! (htsim, `quantized_queuesize`), the bucket of a port is updated only if more than 0.1 us have
//! passed since its last update, and is constant in between; it starts as the emptiest. Lengths
//! include the packet in transmission.
//!
//! The variants of htsim that use the utilisation of ports, alone or after the queue length, are
//! not implemented.

use serde::{Deserialize, Serialize};

use super::{
    StateSize, SwitchConfig, SwitchContext, SwitchPolicy, SwitchView, at_switches, index_bits,
};
use crate::balance::argmin::argmin_random;
use crate::balance::{Preset, SchemeError, parse_config};
use crate::packet::Packet;
use crate::rng::Stream;
use crate::units::{Fraction, Span, Time};

/// The parameters of `adaptive`: how coarse and how stale its view of queues is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// The ends of the first three buckets, as ascending fractions of the most bytes that can wait
    /// at a port. Default 1/20, 1/10, 1/5 (Ofan, htsim). A queue of exactly that length is in the
    /// next bucket.
    pub buckets: [Fraction; 3],
    /// How long a port's bucket stays constant after an update. Default 100 ns (htsim).
    pub refresh: Span,
}

impl Default for Config {
    fn default() -> Self {
        let part = |of| Fraction::new(1, of).unwrap_or(Fraction::ONE);
        Self { buckets: [part(20), part(10), part(5)], refresh: Span::from_ns(100) }
    }
}

/// The buckets of one switch's ports.
#[derive(Debug, Clone)]
pub struct Adaptive {
    thresholds: Thresholds,
    ports: Vec<PortBucket>,
    random: Stream,
}

/// When and how queue lengths are quantised.
#[derive(Debug, Clone, Copy)]
struct Thresholds {
    /// The queue lengths at which each bucket but the first starts, in bytes.
    starts: [u64; 3],
    refresh: Span,
}

/// The bucket of a port and the time of its last update.
#[derive(Debug, Clone, Copy, Default)]
struct PortBucket {
    updated: Time,
    bucket: u8,
}

/// The preset `adaptive`: one entropy value for each queue pair, which switches ignore, and a
/// retransmission timer for each packet.
pub const PRESETS: &[Preset] = &[Preset {
    name: "adaptive",
    summary: "a random port among those with the shortest quantised, stale queue length",
    source: "Load Balancing for AI Training Workloads (arXiv 2507.21372 v2, 2026), Switch Pkt AR",
    build: |parameters| {
        let config: Config = parse_config("adaptive", parameters)?;
        if !config.buckets.is_sorted_by(|a, b| a.as_f64() <= b.as_f64()) {
            return Err(SchemeError::Parameter {
                name: "adaptive",
                reason: "'buckets' must be in ascending order, as in [\"1/20\", \"1/10\", \"1/5\"]"
                    .into(),
            });
        }
        Ok(at_switches("adaptive", SwitchConfig::Adaptive(config)))
    },
}];

impl Adaptive {
    pub(super) fn new(config: &Config, switch: &SwitchContext) -> Self {
        Self {
            thresholds: Thresholds {
                starts: config.buckets.map(|part| part.of(switch.port_buffer.get())),
                refresh: config.refresh,
            },
            ports: vec![PortBucket::default(); switch.ports as usize],
            random: switch.random(),
        }
    }
}

impl PortBucket {
    /// The bucket as the switch knows it: updated from the queue length if it is too old.
    #[inline]
    fn at(&mut self, now: Time, thresholds: &Thresholds, bytes: impl FnOnce() -> u64) -> u8 {
        if now.since(self.updated) > thresholds.refresh {
            let bytes = bytes();
            self.updated = now;
            // The thresholds ascend: the number of those that the queue has reached is its bucket.
            self.bucket = thresholds.starts.iter().map(|&start| u8::from(bytes >= start)).sum();
        }
        self.bucket
    }
}

impl SwitchPolicy for Adaptive {
    const USES_QUEUE_LENGTHS: bool = true;

    #[inline]
    fn choose<V: SwitchView>(&mut self, now: Time, _packet: &Packet, view: &mut V) -> u32 {
        let Self { thresholds, ports, random } = self;
        let candidates = view.candidates();
        let value = |candidate| {
            let port = &mut ports[view.port(candidate) as usize];
            port.at(now, thresholds, || view.queue_bytes(candidate))
        };
        // A tie asks for the values twice. A bucket that was updated at this time stays as it is,
        // so that both passes see the same.
        argmin_random(candidates, value, random)
    }

    /// One bucket per port.
    fn state_size(&self) -> StateSize {
        let entries = self.ports.len() as u64;
        let bits = index_bits(self.thresholds.starts.len() as u64 + 1);
        StateSize { entries, bits: entries * bits }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::test_view::Ports;
    use super::*;

    /// A policy with a buffer of 800 KB per port.
    fn adaptive() -> Adaptive {
        Adaptive::new(&Config::default(), &SwitchContext::for_test())
    }

    /// All ports that are chosen for 40 packets at `ps`.
    fn choices(policy: &mut Adaptive, ps: u64, ports: &mut Ports) -> BTreeSet<u32> {
        let packet = Packet::default();
        (0..40).map(|_| policy.choose(Time::from_ps(ps), &packet, ports)).collect()
    }

    #[test]
    fn buckets_end_at_5_10_and_20_percent_of_the_port_buffer() {
        for (bytes, emptier) in [
            ([39_999, 40_000], 0),
            ([40_000, 39_999], 1),
            ([79_999, 80_000], 0),
            ([160_000, 159_999], 1),
        ] {
            let chosen = choices(&mut adaptive(), 200_000, &mut Ports::with_bytes(&bytes));
            assert_eq!(chosen, [emptier].into(), "{bytes:?}");
        }
        for alike in [[0, 39_999], [40_000, 79_999], [80_000, 159_999], [160_000, 900_000]] {
            let chosen = choices(&mut adaptive(), 200_000, &mut Ports::with_bytes(&alike));
            assert_eq!(chosen, [0, 1].into(), "{alike:?}");
        }
    }

    #[test]
    fn a_bucket_is_stale_for_a_tenth_of_a_microsecond_to_the_picosecond() {
        let mut policy = adaptive();
        let first = 1_000_000;
        let mut ports = Ports::with_bytes(&[50_000, 0]);
        assert_eq!(choices(&mut policy, first, &mut ports), [1].into());
        assert_eq!(ports.looks, 2, "one per port");
        // The queues swap, and the policy does not see it until more than 100,000 ps have passed.
        ports.bytes = vec![0, 50_000];
        assert_eq!(choices(&mut policy, first + 100_000, &mut ports), [1].into());
        assert_eq!(ports.looks, 2);
        assert_eq!(choices(&mut policy, first + 100_001, &mut ports), [0].into());
        assert_eq!(ports.looks, 4);
    }

    #[test]
    fn each_port_has_its_own_refresh() {
        let mut policy = adaptive();
        let mut left = Ports::with_bytes(&[50_000, 50_000]);
        let mut right = Ports { first_port: 1, ..Ports::with_bytes(&[0, 0]) };
        choices(&mut policy, 200_000, &mut left);
        // The bucket of port 1 is from when its queue was long; that of port 2 is updated now.
        assert_eq!(choices(&mut policy, 250_000, &mut right), [1].into());
        assert_eq!(choices(&mut policy, 300_001, &mut right), [0, 1].into());
    }

    #[test]
    fn before_the_first_update_every_port_counts_as_empty() {
        let mut ports = Ports::with_bytes(&[800_000, 0]);
        assert_eq!(choices(&mut adaptive(), 100_000, &mut ports), [0, 1].into());
        assert_eq!(ports.looks, 0);
    }

    #[test]
    fn descending_buckets_are_rejected() {
        let parameters = "buckets = [\"1/5\", \"1/10\", \"1/20\"]".parse().unwrap();
        let error = crate::balance::build_scheme("adaptive", &parameters).unwrap_err().to_string();
        assert!(error.contains("must be in ascending order"), "{error}");
    }
}
