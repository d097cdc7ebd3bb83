//! Adaptive routing by quantised, stale queue lengths: a random port among those in the emptiest
//! bucket.
//!
//! Source: "Load Balancing for AI Training Workloads" (arXiv 2507.21372 v2, 2026), Switch Pkt AR
//! (after NVIDIA Spectrum-X): buckets at 5, 10 and 20 % of a port's queue; as in its simulator
//! (htsim, `quantized_queuesize`): a port's bucket is looked at again only if more than 0.1 us have
//! passed since the last look at that port, and stands still in between; it starts as the
//! emptiest. Lengths count the packet on the wire.
//!
//! The variants of htsim that go by the utilisation of ports, or by that after the queue, are not
//! held.

use serde::{Deserialize, Serialize};

use super::{
    StateSize, SwitchConfig, SwitchContext, SwitchPolicy, SwitchView, at_switches, index_bits,
};
use crate::balance::argmin::argmin_random;
use crate::balance::{Preset, SchemeError, parse_config};
use crate::packet::Packet;
use crate::rng::Stream;
use crate::units::{Fraction, Span, Time};

/// Buckets and their refresh.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Where buckets end, as parts of what may wait at a port at most, rising: 1/20, 1/10, 1/5
    /// (Ofan, htsim). A queue of exactly this much is in the next.
    pub buckets: [Fraction; 3],
    /// How long a port's bucket stands still after a look: 100 ns (htsim).
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
    /// Bytes at which each bucket but the first starts.
    starts: [u64; 3],
    refresh: Span,
    ports: Vec<Port>,
    random: Stream,
}

/// What is known of a port.
#[derive(Debug, Clone, Copy, Default)]
struct Port {
    looked: Time,
    bucket: u8,
}

/// `adaptive`.
pub const PRESETS: &[Preset] = &[Preset {
    name: "adaptive",
    summary: "a random port of the least loaded bucket of queue lengths, which are stale",
    source: "Load Balancing for AI Training Workloads (arXiv 2507.21372 v2, 2026), Switch Pkt AR",
    build: |parameters| {
        let config: Config = parse_config("adaptive", parameters)?;
        if !config.buckets.is_sorted_by(|a, b| a.as_f64() <= b.as_f64()) {
            return Err(SchemeError::Parameter {
                name: "adaptive",
                reason: "'buckets' must rise, as in [\"1/20\", \"1/10\", \"1/5\"]".into(),
            });
        }
        Ok(at_switches("adaptive", SwitchConfig::Adaptive(config)))
    },
}];

impl Adaptive {
    pub(super) fn new(config: &Config, switch: &SwitchContext) -> Self {
        Self {
            starts: config.buckets.map(|part| part.of(switch.port_buffer.get())),
            refresh: config.refresh,
            ports: vec![Port::default(); switch.ports as usize],
            random: switch.random(),
        }
    }
}

/// The bucket of `port` as the switch knows it: looked at anew if the last look is too old.
#[inline]
fn bucket(
    now: Time,
    port: &mut Port,
    (refresh, starts): (Span, &[u64; 3]),
    bytes: impl FnOnce() -> u64,
) -> u8 {
    if now.since(port.looked) > refresh {
        let bytes = bytes();
        port.looked = now;
        port.bucket = starts.iter().map(|&start| u8::from(bytes >= start)).sum();
    }
    port.bucket
}

impl SwitchPolicy for Adaptive {
    const USES_QUEUE_LENGTHS: bool = true;

    #[inline]
    fn choose<V: SwitchView>(&mut self, now: Time, _packet: &Packet, view: &mut V) -> u32 {
        let Self { starts, refresh, ports, random } = self;
        let candidates = view.candidates();
        let value = |candidate| {
            let port = &mut ports[view.port(candidate) as usize];
            bucket(now, port, (*refresh, starts), || view.queue_bytes(candidate))
        };
        argmin_random(candidates, value, random)
    }

    /// A bucket a port.
    fn state_size(&self) -> StateSize {
        let entries = self.ports.len() as u64;
        let bits = index_bits(self.starts.len() as u64 + 1);
        StateSize { entries, bits: entries * bits }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::test_view::Ports;
    use super::*;

    /// Of 800 KB a port.
    fn adaptive() -> Adaptive {
        Adaptive::new(&Config::default(), &SwitchContext::for_test())
    }

    /// All that it chooses at that time.
    fn choices(policy: &mut Adaptive, ps: u64, ports: &mut Ports) -> BTreeSet<u32> {
        let packet = Packet::default();
        (0..40).map(|_| policy.choose(Time::from_ps(ps), &packet, ports)).collect()
    }

    #[test]
    fn buckets_end_at_5_10_and_20_hundredths_of_the_port_s_queue() {
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
    fn a_look_is_stale_for_a_tenth_of_a_microsecond_to_the_picosecond() {
        let mut policy = adaptive();
        let first = 1_000_000;
        let mut ports = Ports::with_bytes(&[50_000, 0]);
        assert_eq!(choices(&mut policy, first, &mut ports), [1].into());
        assert_eq!(ports.looks, 2, "once a port");
        // The queues change places, and nobody sees it until 100,000 ps have passed.
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
        // Port 1 was looked at when it was full; port 2 is seen as it is.
        assert_eq!(choices(&mut policy, 250_000, &mut right), [1].into());
        assert_eq!(choices(&mut policy, 300_001, &mut right), [0, 1].into());
    }

    #[test]
    fn before_the_first_look_every_port_counts_as_empty() {
        let mut ports = Ports::with_bytes(&[800_000, 0]);
        assert_eq!(choices(&mut adaptive(), 100_000, &mut ports), [0, 1].into());
        assert_eq!(ports.looks, 0);
    }

    #[test]
    fn buckets_that_do_not_rise_are_refused() {
        let parameters = "buckets = [\"1/5\", \"1/10\", \"1/20\"]".parse().unwrap();
        let error = crate::balance::build_scheme("adaptive", &parameters).unwrap_err().to_string();
        assert!(error.contains("must rise"), "{error}");
    }
}
