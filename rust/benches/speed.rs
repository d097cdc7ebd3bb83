//! tmp
use evenkeel::balance::{Parameters, preset};
use evenkeel::fabric::*;
use evenkeel::ids::HostId;
use evenkeel::nic::{AckConfig, NicConfig, congestion::CongestionControl};
use evenkeel::topology::*;
use evenkeel::units::*;
use evenkeel::workload::*;
use std::sync::Arc;
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let k: u32 = args[1].parse().unwrap();
    let mib: u64 = args[2].parse().unwrap();
    let policy = args.get(3).map_or("spray", |s| s.as_str());
    let every: u32 = args.get(4).map_or(1, |s| s.parse().unwrap());
    let topology = FatTree {
        k,
        tiers: 3,
        oversubscription: Fraction::ONE,
        host_rate: BitRate::from_gbps(400),
        fabric_rate: BitRate::from_gbps(400),
        delay: Span::from_us(1),
        parallel_links: 1,
    }
    .build()
    .unwrap();
    let n = topology.host_count();
    let scheme = preset(policy, &Parameters::new()).unwrap();
    let messages = (0..n)
        .map(|i| Message {
            src: HostId(i),
            dst: HostId((i + n / 2) % n),
            bytes: Bytes::new(mib << 20),
            stream: i,
            start: Time::ZERO,
        })
        .collect();
    let setup = Setup {
        topology: Arc::new(topology),
        fabric: FabricConfig {
            switch: SwitchConfig {
                buffer: Buffer::Shared(Bytes::new(64_000_000)),
                ecn: Ecn::Off,
                ecn_point: EcnPoint::Enqueue,
            },
            ecn_by_rate: vec![],
            gap: Bytes::new(0),
            forwarding_delay: Span::ZERO,
            rounding: Rounding::Exact,
            failures: vec![],
        },
        nic: NicConfig {
            payload: Bytes::new(4096),
            header: Bytes::new(64),
            ack: AckConfig { bytes: Bytes::new(64), every, priority: true },
            congestion: CongestionControl::LineRate,
            recovery: scheme.recovery,
            retransmit_timeout: Span::from_ms(1),
            nack_interval: Span::from_us(500),
            cnp_interval: Span::from_us(50),
        },
        scheme,
        workload: Arc::new(Workload::independent(messages)),
        seed: 1,
        time_limit: Time::from_ps(1_000_000_000_000),
    };
    let cpu = || {
        std::fs::read_to_string("/proc/self/schedstat")
            .unwrap()
            .split(' ')
            .next()
            .unwrap()
            .parse::<f64>()
            .unwrap()
            / 1e9
    };
    let t = cpu();
    let o = run(&setup, &mut |_| {});
    let s = cpu() - t;
    println!(
        "{:?} cct {:?} hops {} events {} {:.2} M hops/s  {:.2}s max queue {} mean {:.0} {:?}",
        o.verdict,
        o.cct,
        o.counters.packet_hops,
        o.counters.events,
        o.counters.packet_hops as f64 / s / 1e6,
        s,
        o.queue_bytes_max,
        o.queue_bytes_mean,
        o.qps
    );
}
