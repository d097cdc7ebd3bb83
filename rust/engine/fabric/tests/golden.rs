//! Results that must not change while later features are disabled.
//!
//! The numbers predate flow control, trimming, and degraded and lossy links. A changed number shows
//! that the NIC or the fabric behaves differently. If the change is intended, update the number. If
//! not, a feature that should be off by default is active.

use super::*;
use crate::nic::congestion::dctcp_rate;
use crate::rng::mix64;

/// A hash of packet counts, queue lengths and the times of every flow.
fn fingerprint(outcome: &Outcome) -> (u64, u64) {
    let count = &outcome.counters;
    let counts = [
        count.sent,
        count.delivered,
        count.retransmitted,
        count.dropped,
        count.marked,
        count.out_of_order,
        count.control_sent,
        count.packet_hops,
        outcome.queue_bytes_max.get(),
        outcome.queue_bytes_mean.to_bits(),
    ];
    let times = outcome.flows.iter().flat_map(|flow| [flow.delivered, flow.completed]);
    let all = counts.into_iter().chain(times.map(Time::as_ps));
    (outcome.cct.map_or(0, Span::as_ps), all.fold(0, |sum, next| mix64(sum ^ next)))
}

#[test]
fn outcomes_match_those_before_later_features() {
    let incast: Vec<(u32, u32)> = (1..8).map(|src| (src, 0)).collect();
    let case = |policy: &str, pairs: &[(u32, u32)], change: &dyn Fn(&mut Setup)| {
        let mut setup = setup(leaf_spine(4, 4, 4, 400), policy, messages(pairs, 400_000));
        change(&mut setup);
        fingerprint(&complete(&setup))
    };
    let small =
        |setup: &mut Setup| setup.fabric.switch.buffer = Buffer::Shared(Bytes::new(200_000));
    let ports = |setup: &mut Setup| {
        setup.fabric.switch.buffer = Buffer::PerPort(Bytes::new(60_000));
        setup.nic.ack.priority = false;
    };
    let marked = |setup: &mut Setup| {
        setup.scheme = cut_to_the_byte("ethereal");
        setup.fabric.switch.ecn = Ecn::Step(Bytes::new(50_000));
        setup.fabric.switch.ecn_point = EcnPoint::Dequeue;
        setup.nic.congestion = CongestionControl::DctcpRate(dctcp_rate::Config::default());
    };
    let cut = |setup: &mut Setup| {
        let link = setup.topology.link_named("leaf1-spine0").unwrap();
        let until = Time::ZERO + Span::from_us(5);
        setup.fabric.failures = vec![failure(link, until, Span::from_us(2))];
    };
    let found = [
        case("ecmp", &incast, &small),
        case("spray", &incast, &small),
        case("spray", &incast, &ports),
        case("ethereal", &shift(16), &marked),
        case("spray", &shift(16), &cut),
    ];
    let before = [
        (3_061_893_120, 9_167_126_591_628_323_056),
        (5_012_278_560, 17_152_069_596_554_544_367),
        (6_011_304_000, 3_914_134_344_014_673_724),
        (12_906_560, 6_124_872_849_830_529_328),
        (1_006_008_960, 1_686_331_347_552_131_645),
    ];
    assert_eq!(found, before);
}

#[test]
fn prefetching_changes_no_outcome() {
    let case = |policy: &str, change: &dyn Fn(&mut Setup)| {
        let mut setup = setup(leaf_spine(4, 4, 4, 400), policy, messages(&shift(16), 400_000));
        change(&mut setup);
        let found = [0, 1 << 18, usize::MAX].map(|port_bytes| {
            let mut world = World::new(&setup);
            world.prefetch_for_port_bytes(port_bytes);
            let observers = Observers { watch: None, progress: &mut |_| {} };
            fingerprint(&drive(world, &mut FixedWorkload, observers))
        });
        assert_eq!(found, [found[0]; 3], "{policy}");
    };
    let few = |setup: &mut Setup| {
        setup.fabric.switch.buffer = Buffer::Shared(Bytes::new(200_000));
    };
    let cut = |setup: &mut Setup| {
        let link = setup.topology.link_named("leaf1-spine0").unwrap();
        setup.fabric.failures =
            vec![failure(link, Time::ZERO + Span::from_us(5), Span::from_us(2))];
    };
    // Prefetching for a flow-control frame is useless, because it ends at its switch.
    let pauses = |setup: &mut Setup| lossless::lossless(setup, Headroom::Hpcc, 100_000);
    for change in [&few as &dyn Fn(&mut Setup), &cut, &pauses] {
        ["ecmp", "spray", "ethereal", "drill"].iter().for_each(|policy| case(policy, change));
    }
}
