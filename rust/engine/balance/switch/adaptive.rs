//! Adaptive routing by quantised, stale loads: a random port among those with the least load.
//!
//! Source: "Load Balancing for AI Training Workloads" (arXiv 2507.21372 v2, 2026), Switch Pkt AR
//! (after NVIDIA Spectrum-X): buckets at 5, 10 and 20 % of a port's queue. As in its simulator
//! (htsim, `quantized_queuesize`), a port's bucket is updated only if more than 0.1 us have passed
//! since its last update, and is constant in between. It starts as the emptiest bucket. Lengths
//! include the packet in transmission.
//!
//! `by = "utilisation"` compares the bytes that a port has sent in the last 30 us instead of its
//! queue, with levels at 1, 15 and 50 % of its rate. `by = "queue-and-utilisation"` uses that level
//! to break ties between ports of one bucket (htsim, `quantized_utilization`, `compare_bandwidth`
//! and `compare_qb`).
//!
//! \[inferred\]: a port's bucket and level are updated together. A port has sent everything that
//! joined it and no longer waits there. A packet therefore counts when its transmission has ended,
//! as in htsim; one that the port dropped counts as well. If a port was not sampled when the window
//! began, its mean utilisation since the last sample before it is used. A degraded link counts with
//! its full rate.

mod meter;

use serde::{Deserialize, Serialize};

use super::{
    Departure, StateSize, SwitchConfig, SwitchContext, SwitchPolicy, SwitchView, at_switches,
    index_bits,
};
use crate::balance::argmin::argmin_random;
use crate::balance::{Preset, SchemeError, parse_config};
use crate::packet::Packet;
use crate::rng::Stream;
use crate::units::{Fraction, Span, Time};

use meter::{Meter, Scale};

/// The parameters of `adaptive`: the load that it compares, and how coarse and stale its view is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Load that is compared. Default: the queue (Switch Pkt AR).
    pub by: By,
    /// Ends of the first three buckets, as ascending fractions of the most bytes that can wait at a
    /// port. With a shared buffer, that maximum is 5/4 of the length from which all packets are
    /// marked. Default 1/20, 1/10, 1/5 (Ofan, htsim). A queue of exactly that length is in the next
    /// bucket.
    pub buckets: [Fraction; 3],
    /// Time for which a port's bucket stays constant after an update. Default 100 ns (htsim).
    pub refresh: Span,
    /// Ends of the first three levels of utilisation, as ascending fractions of a port's rate.
    /// Default 1/100, 3/20, 1/2 (htsim, in whole percents).
    pub levels: [Fraction; 3],
    /// Time over which utilisation is measured, above 0. Default 30 us (htsim).
    pub window: Span,
}

/// The load of a port that `adaptive` compares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum By {
    /// The bucket of the queue length.
    #[default]
    Queue,
    /// The level of the utilisation.
    Utilisation,
    /// The bucket of the queue length; ties are broken by the level of the utilisation.
    QueueAndUtilisation,
}

impl Default for Config {
    fn default() -> Self {
        let part = |part, of| Fraction::new(part, of).unwrap_or(Fraction::ONE);
        Self {
            by: By::Queue,
            buckets: [part(1, 20), part(1, 10), part(1, 5)],
            refresh: Span::from_ns(100),
            levels: [part(1, 100), part(3, 20), part(1, 2)],
            window: Span::from_us(30),
        }
    }
}

impl Config {
    /// Returns an error message for the first invalid parameter, if there is one.
    fn error(&self) -> Option<&'static str> {
        let ascend = |parts: [Fraction; 3]| parts.is_sorted_by(|a, b| a.as_f64() <= b.as_f64());
        if !ascend(self.buckets) {
            Some("'buckets' must be in ascending order, as in [\"1/20\", \"1/10\", \"1/5\"]")
        } else if !ascend(self.levels) {
            Some("'levels' must be in ascending order, as in [\"1/100\", \"3/20\", \"1/2\"]")
        } else if self.window == Span::ZERO {
            Some("'window' must be above 0, for example \"30us\"")
        } else {
            None
        }
    }
}

/// The buckets of one switch's ports.
#[derive(Debug, Clone)]
pub struct Adaptive {
    thresholds: Thresholds,
    ports: Vec<PortBucket>,
    /// Present if utilisation is compared.
    utilisation: Option<Box<Utilisation>>,
    random: Stream,
}

/// Utilisation meters of one switch's ports.
#[derive(Debug, Clone)]
struct Utilisation {
    meters: Vec<Meter>,
    by: By,
    scale: Scale,
}

/// Quantisation of queue lengths.
#[derive(Debug, Clone, Copy)]
struct Thresholds {
    /// Queue lengths, in bytes, at which each bucket but the first starts.
    starts: [u64; 3],
    refresh: Span,
}

/// Bucket of a port and the time of its last update.
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
        if let Some(reason) = config.error() {
            return Err(SchemeError::Parameter { name: "adaptive", reason: reason.into() });
        }
        Ok(at_switches("adaptive", SwitchConfig::Adaptive(config)))
    },
}];

impl Adaptive {
    pub(super) fn new(config: &Config, switch: &SwitchContext) -> Self {
        let utilisation = (config.by != By::Queue).then(|| {
            Box::new(Utilisation {
                meters: vec![Meter::new(); switch.ports as usize],
                by: config.by,
                scale: Scale { window: config.window, levels: config.levels },
            })
        });
        Self {
            thresholds: Thresholds {
                starts: config.buckets.map(|part| part.of(switch.port_buffer.get())),
                refresh: config.refresh,
            },
            ports: vec![PortBucket::default(); switch.ports as usize],
            utilisation,
            random: switch.random(),
        }
    }
}

impl Thresholds {
    /// Returns the bucket of a queue: the number of thresholds reached, since they ascend.
    fn bucket(&self, bytes: u64) -> u8 {
        self.starts.iter().map(|&start| u8::from(bytes >= start)).sum()
    }
}

impl Utilisation {
    /// Returns the load of a candidate whose queue is in `bucket`.
    fn load<V: SwitchView>(&mut self, now: Time, bucket: u8, candidate: u32, view: &mut V) -> u8 {
        let (waiting, rate) = (view.queue_bytes(candidate), view.rate(candidate));
        let meter = &mut self.meters[view.port(candidate) as usize];
        let level = meter.level(now, waiting, rate, &self.scale);
        match self.by {
            By::Queue => bucket,
            By::Utilisation => level,
            // Lexicographic order: the bucket first, then the level.
            By::QueueAndUtilisation => bucket * (self.scale.levels.len() as u8 + 1) + level,
        }
    }
}

impl PortBucket {
    /// Returns the bucket, measured again if it is older than `refresh`.
    #[inline]
    fn at(&mut self, now: Time, refresh: Span, measured: impl FnOnce() -> u8) -> u8 {
        // Strictly more, as in htsim.
        if now.since(self.updated) > refresh {
            self.updated = now;
            self.bucket = measured();
        }
        self.bucket
    }
}

impl SwitchPolicy for Adaptive {
    const USES_QUEUE_LENGTHS: bool = true;

    fn tracks_departures(config: &SwitchConfig) -> bool {
        matches!(config, SwitchConfig::Adaptive(config) if config.by != By::Queue)
    }

    #[inline]
    fn choose<V: SwitchView>(&mut self, now: Time, _packet: &Packet, view: &mut V) -> u32 {
        let Self { thresholds, ports, utilisation, random } = self;
        let candidates = view.candidates();
        let value = |candidate| {
            let port = &mut ports[view.port(candidate) as usize];
            port.at(now, thresholds.refresh, || {
                let bucket = thresholds.bucket(view.queue_bytes(candidate));
                match utilisation {
                    None => bucket,
                    Some(utilisation) => utilisation.load(now, bucket, candidate, view),
                }
            })
        };
        // A tie evaluates the candidates twice. A bucket updated at `now` is not updated again, so
        // both passes see the same values.
        argmin_random(candidates, value, random)
    }

    fn handle_departure(&mut self, _now: Time, packet: &mut Packet, departure: &Departure) {
        if let Some(utilisation) = &mut self.utilisation {
            // Counted on joining the queue; `level` subtracts the bytes that still wait.
            utilisation.meters[departure.port as usize].add(packet.wire_bytes);
        }
    }

    /// One bucket per port. With utilisation, also a level and two 32-bit counters: the bytes of
    /// this window and of the last \[inferred\].
    fn state_size(&self) -> StateSize {
        let entries = self.ports.len() as u64;
        let bits = index_bits(self.thresholds.starts.len() as u64 + 1);
        let bits = if self.utilisation.is_some() { 2 * bits + 2 * 32 } else { bits };
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

    /// Returns all ports chosen for 40 packets at `ps`.
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
    fn a_bucket_stays_stale_for_exactly_a_tenth_of_a_microsecond() {
        let mut policy = adaptive();
        let first = 1_000_000;
        let mut ports = Ports::with_bytes(&[50_000, 0]);
        assert_eq!(choices(&mut policy, first, &mut ports), [1].into());
        assert_eq!(ports.reads, 2, "one per port");
        // The queues swap; the policy notices only after more than 100,000 ps.
        ports.bytes = vec![0, 50_000];
        assert_eq!(choices(&mut policy, first + 100_000, &mut ports), [1].into());
        assert_eq!(ports.reads, 2);
        assert_eq!(choices(&mut policy, first + 100_001, &mut ports), [0].into());
        assert_eq!(ports.reads, 4);
    }

    #[test]
    fn each_port_has_its_own_refresh() {
        let mut policy = adaptive();
        let mut left = Ports::with_bytes(&[50_000, 50_000]);
        let mut right = Ports { first_port: 1, ..Ports::with_bytes(&[0, 0]) };
        choices(&mut policy, 200_000, &mut left);
        // The bucket of port 1 dates from when its queue was long; that of port 2 is updated now.
        assert_eq!(choices(&mut policy, 250_000, &mut right), [1].into());
        assert_eq!(choices(&mut policy, 300_001, &mut right), [0, 1].into());
    }

    #[test]
    fn before_the_first_update_every_port_counts_as_empty() {
        let mut ports = Ports::with_bytes(&[800_000, 0]);
        assert_eq!(choices(&mut adaptive(), 100_000, &mut ports), [0, 1].into());
        assert_eq!(ports.reads, 0);
    }

    /// A policy that compares `by`; its ports have sent nothing.
    fn comparing(by: By) -> Adaptive {
        Adaptive::new(&Config { by, ..Config::default() }, &SwitchContext::for_test())
    }

    /// Sends packets of 1,000 bytes through a port.
    fn send(policy: &mut Adaptive, port: u32, packets: u32) {
        let edge = crate::ids::SwitchId(0);
        let departure = Departure { port, source_edge: edge, destination_edge: edge };
        for _ in 0..packets {
            let mut packet = Packet { wire_bytes: 1_000, ..Packet::default() };
            policy.handle_departure(Time::ZERO, &mut packet, &departure);
        }
    }

    /// At 400 Gbps, 1,500 packets of 1,000 bytes are sent in 30 us.
    #[test]
    fn levels_of_utilisation_end_at_1_15_and_50_percent_of_the_window() {
        for (packets, least) in [
            ([14, 15], [0].as_slice()),
            ([0, 14], &[0, 1]),
            ([224, 225], &[0]),
            ([15, 224], &[0, 1]),
            ([750, 749], &[1]),
            ([225, 749], &[0, 1]),
            ([750, 1_500], &[0, 1]),
        ] {
            let mut policy = comparing(By::Utilisation);
            (0..).zip(packets).for_each(|(port, packets)| send(&mut policy, port, packets));
            let chosen = choices(&mut policy, 30_000_000, &mut Ports::empty(2));
            assert_eq!(chosen.into_iter().collect::<Vec<_>>(), least, "{packets:?}");
        }
    }

    #[test]
    fn queued_bytes_are_not_yet_sent_and_sent_bytes_leave_the_window() {
        let mut policy = comparing(By::Utilisation);
        (0..2).for_each(|port| send(&mut policy, port, 1_000));
        // All bytes of port 1 are still queued.
        let mut ports = Ports::with_bytes(&[0, 1_000_000]);
        assert_eq!(choices(&mut policy, 30_000_000, &mut ports), [1].into());
        // 20 us later all packets of both ports have left; both are in the window.
        ports.bytes = vec![0, 0];
        assert_eq!(choices(&mut policy, 50_000_000, &mut ports), [0, 1].into());
        // 30 us after the first sample only the packets of port 1 have left within the window.
        assert_eq!(choices(&mut policy, 60_000_000, &mut ports), [0].into());
        assert_eq!(choices(&mut policy, 80_000_000, &mut ports), [0, 1].into());
    }

    #[test]
    fn utilisation_decides_between_queues_of_one_bucket() {
        let mut policy = comparing(By::QueueAndUtilisation);
        send(&mut policy, 0, 1_000);
        let mut ports = Ports::with_bytes(&[0, 39_000, 40_000]);
        assert_eq!(choices(&mut policy, 30_000_000, &mut ports), [1].into());
        ports.bytes[1] = 40_000;
        assert_eq!(choices(&mut policy, 31_000_000, &mut ports), [0].into());
    }

    #[test]
    fn departures_are_tracked_only_if_utilisation_is_compared() {
        let tracks = |by| SwitchConfig::Adaptive(Config { by, ..Config::default() });
        assert!(!tracks(By::Queue).tracks_departures());
        assert!(tracks(By::Utilisation).tracks_departures());
        assert!(tracks(By::QueueAndUtilisation).tracks_departures());
        assert_eq!(adaptive().state_size(), StateSize { entries: 8, bits: 16 });
        let metered = comparing(By::Utilisation).state_size();
        assert_eq!(metered, StateSize { entries: 8, bits: 8 * 68 });
    }

    #[test]
    fn invalid_parameters_are_rejected() {
        for (key, reason) in [
            ("buckets = [\"1/5\", \"1/10\", \"1/20\"]", "must be in ascending order"),
            ("levels = [\"1/2\", \"3/20\", \"1/2\"]", "must be in ascending order"),
            ("window = \"0us\"", "for example \"30us\""),
            ("by = \"length\"", "expected one of queue, utilisation, queue-and-utilisation"),
        ] {
            let error = crate::balance::build_scheme("adaptive", &key.parse().unwrap());
            let error = error.unwrap_err().to_string();
            assert!(error.contains(reason), "{key}: {error}");
        }
    }
}
