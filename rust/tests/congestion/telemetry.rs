//! HPCC and HPCC-PINT in the fabric, against their closed forms: hosts around one switch, with
//! telemetry in every packet.

use std::collections::BTreeMap;
use std::sync::Arc;

use evenkeel::balance::{Parameters, build_scheme};
use evenkeel::fabric::{Buffer, FabricConfig, Outcome, Setup, Verdict, run};
use evenkeel::ids::{HostId, LinkId};
use evenkeel::nic::congestion::{AbsoluteOrFraction, CongestionControl, hpcc, hpcc_pint};
use evenkeel::nic::{AckConfig, NicConfig};
use evenkeel::topology::LeafSpine;
use evenkeel::units::{BitRate, Bytes, Fraction, Span, Time};
use evenkeel::workload::{Message, Workload};

const PAYLOAD: u64 = 1_000;
/// Bytes of headers and of the telemetry of five hops.
const HEADER: u64 = 48 + 42;
const LINE: f64 = 100e9;
const INCREASE: f64 = 40e6;

/// A star of `hosts` hosts around a switch, with links of `delay`. Host 0 receives `bytes` from
/// each of the others.
struct Star {
    hosts: u32,
    delay: Span,
    bytes: u64,
    congestion: CongestionControl,
    until: Time,
    probes: Vec<Time>,
}

impl Star {
    fn new(senders: u32, bytes: u64, congestion: impl Into<CongestionControl>) -> Self {
        let (hosts, delay, congestion) = (senders + 1, Span::from_us(1), congestion.into());
        let until = Time::ZERO + Span::from_ms(1_000);
        Self { hosts, delay, bytes, congestion, until, probes: Vec::new() }
    }

    fn run(&self) -> Outcome {
        let rate = BitRate::from_gbps(100);
        let topology = LeafSpine {
            leaves: 1,
            spines: 1,
            hosts_per_leaf: self.hosts,
            host_rate: rate,
            fabric_rate: rate,
            delay: self.delay,
            parallel_links: 1,
        };
        let message = |src| Message {
            src: HostId(src),
            dst: HostId(0),
            bytes: Bytes::new(self.bytes),
            stream: src,
            start: Time::ZERO,
        };
        let scheme = build_scheme("ecmp", &Parameters::new()).expect("a policy");
        run(
            &Setup {
                topology: Arc::new(topology.build().expect("one switch")),
                fabric: FabricConfig::plain(Buffer::Shared(Bytes::new(256_000_000))),
                nic: NicConfig {
                    payload: Bytes::new(PAYLOAD),
                    header: Bytes::new(HEADER),
                    ack: AckConfig { bytes: Bytes::new(88), ..AckConfig::default() },
                    congestion: self.congestion.clone(),
                    recovery: scheme.recovery,
                    retransmit_timeout: Span::from_ms(100),
                    ..NicConfig::default()
                },
                scheme,
                own_nics: BTreeMap::new(),
                job_policies: Vec::new(),
                job_classes: Vec::new(),
                workload: Arc::new(Workload::independent((1..self.hosts).map(message).collect())),
                seed: 1,
                time_limit: self.until,
                probes: self.probes.clone(),
            },
            &mut |_| {},
        )
    }

    /// Returns the average rate of each sender over its completion time, in bits per second on the
    /// wire.
    fn rates(&self) -> Vec<f64> {
        let outcome = self.run();
        assert_eq!((outcome.verdict, outcome.counters.dropped), (Verdict::Completed, 0));
        let wire = self.bytes as f64 / PAYLOAD as f64 * (PAYLOAD + HEADER) as f64 * 8e12;
        outcome.message_fct.iter().map(|fct| wire / fct.as_ps() as f64).collect()
    }
}

/// Returns the mean queue of the receiver's port that probes found, in bytes, without the packet on
/// the wire.
fn mean_queue(outcome: &Outcome) -> f64 {
    let deepest = |queues: &evenkeel::fabric::QueueProbe| {
        queues.queues.iter().map(|queue| queue.bytes.get()).max().unwrap_or(0) as f64
    };
    let sum: f64 = outcome.probes.iter().map(deepest).sum();
    sum / outcome.probes.len() as f64 - (PAYLOAD + HEADER) as f64
}

/// R = η · C + AI, and the queue is empty.
#[test]
fn a_lone_flow_gets_its_target_and_the_increase() {
    let star = Star::new(1, 50_000_000, hpcc::Config::default());
    let rate = star.rates()[0];
    let expected = 0.95 * LINE + INCREASE;
    assert!((rate / expected - 1.0).abs() < 0.002, "{rate} is not {expected}");
    assert_eq!(star.run().queue_bytes_max.get(), 0);
}

/// While n · AI is at most (1 − η) · C, each of n flows gets η · C/n + AI.
#[test]
fn flows_share_the_target_while_their_increases_fit() {
    for senders in [2, 8] {
        let star = Star::new(senders, 20_000_000, hpcc::Config::default());
        let rates = star.rates();
        let each = 0.95 * LINE / f64::from(senders) + INCREASE;
        let total = rates.iter().fold(f64::INFINITY, |least, &rate| least.min(rate));
        // The slowest flow finishes last, after the others have left, and no flow is much faster.
        assert!((total / each - 1.0).abs() < 0.02, "{senders}: {rates:?} around {each}");
    }
}

/// Beyond that, U = η/(1 − n · AI/C), with a queue of (U − 1) · B · T.
#[test]
fn increases_that_exceed_the_target_build_a_queue() {
    // With ten times the increase, 25 flows load the link like 250.
    let (flows, increase) = (25, 10.0 * INCREASE);
    let additive_increase = AbsoluteOrFraction::Absolute(BitRate::from_bps(increase as u64));
    let config = hpcc::Config { additive_increase, ..hpcc::Config::default() };
    let ms = |ms| Time::ZERO + Span::from_ms(ms);
    let star = Star {
        delay: Span::from_us(25),
        until: ms(20),
        probes: (0..200).map(|n| ms(10) + Span::from_us(50) * n).collect(),
        ..Star::new(flows, 1 << 30, config)
    };
    let outcome = star.run();
    assert_eq!((outcome.verdict, outcome.counters.dropped), (Verdict::TimeLimit, 0));
    // T is 100.2 us and B · T is 1.25 MB; 0.0556 of it is 69.6 KB.
    let product = 1_252_000.0;
    let expected = (0.95 / (1.0 - f64::from(flows) * increase / LINE) - 1.0) * product;
    let queue = mean_queue(&outcome);
    // The rates of real flows oscillate around the fixed point, which increases the mean queue.
    assert!((queue - expected).abs() < 0.03 * product, "{queue} is not {expected}");
}

/// Data and acknowledgements carry telemetry, which adds bytes on the wires of host 0.
#[test]
fn telemetry_occupies_bytes_on_the_wire() {
    let packets = 1_000;
    let outcome = Star::new(1, packets * PAYLOAD, hpcc::Config::default()).run();
    let [towards, back] = LinkId(0).ports().map(|port| outcome.link_bytes[port.index()].get());
    let mut both = [towards, back];
    both.sort_unstable();
    assert_eq!(both, [packets * 88, packets * (PAYLOAD + HEADER)]);
}

/// With a base near 1 and probability 1, PINT follows the utilization of the ports. For one flow,
/// it equals that of HPCC.
#[test]
fn powers_of_a_base_near_1_give_the_rate_of_hops() {
    let base = Fraction::new(1_001, 1_000).expect("not zero");
    let config = hpcc_pint::Config { base, ..hpcc_pint::Config::default() };
    let rate = Star::new(1, 50_000_000, config).rates()[0];
    let expected = 0.95 * LINE + INCREASE;
    // The quanta: 1/1000 of the base, and 1/486 of the unit of the powers, rounded up.
    assert!((rate / expected - 1.0).abs() < 0.01, "{rate} is not {expected}");
    let shared = Star::new(8, 20_000_000, config).rates();
    let least = shared.iter().fold(f64::INFINITY, |least, &rate| least.min(rate));
    assert!((least / (expected / 8.0) - 1.0).abs() < 0.03, "{shared:?}");
}
