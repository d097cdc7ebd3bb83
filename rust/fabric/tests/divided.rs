//! Divided runs: every policy, and what cannot be divided.

use super::*;
use crate::balance::presets;
use crate::fabric::divided::{Cut, Division, Undivided, run_divided};
use crate::nic::congestion::dcqcn;
use crate::switching::PfcConfig;
use crate::topology::Node;
use crate::workload::Delay;

pub(super) const CUTS: [(u16, Cut); 3] =
    [(2, Cut::Contiguous), (4, Cut::Contiguous), (3, Cut::Drawn(7))];

pub(super) fn divided(setup: &Setup, parts: u16, cut: Cut) -> Outcome {
    let division = Division::new(setup, parts, cut).unwrap().with_quiet_events(5);
    run_divided(setup, &division, &mut |_| {}).0
}

/// 16 hosts, each with three peers, with queues, marks, a link that is down for a while and one
/// that loses packets.
pub(super) fn busy(policy: &str) -> Setup {
    let pairs: Vec<(u32, u32)> =
        (0..16).flat_map(|host| [5, 8, 15].map(|by| (host, (host + by) % 16))).collect();
    let mut setup = setup(leaf_spine(4, 4, 4, 400), policy, messages(&pairs, 200_000));
    setup.fabric.switch.ecn = Ecn::Step(Bytes::new(40_000));
    setup.nic.congestion = CongestionControl::Dcqcn(dcqcn::Config::default());
    setup.nic.retransmit_timeout = Span::from_us(50);
    let link = |name: &str| setup.topology.link_named(name).unwrap();
    let down = failure(link("leaf1-spine0"), Time::ZERO + Span::from_us(5), Span::from_us(2));
    let lossy = Failure {
        link: link("leaf2-spine1"),
        kind: FailureKind::Loss { rate: Fraction::new(1, 50).unwrap() },
        ..down
    };
    setup.fabric.failures = vec![Failure { until: Time::ZERO + Span::from_us(40), ..down }, lossy];
    setup.probes = [3, 9, 30].map(|us| Time::ZERO + Span::from_us(us)).to_vec();
    setup
}

#[test]
fn every_policy_has_the_same_outcome_divided() {
    for preset in presets() {
        let setup = busy(preset.name);
        let whole = complete(&setup);
        for (parts, cut) in CUTS {
            assert!(whole == divided(&setup, parts, cut), "{}, {parts} {cut:?}", preset.name);
        }
    }
}

#[test]
fn flow_control_has_the_same_pauses_divided() {
    let incast: Vec<(u32, u32)> = (1..16).map(|src| (src, 0)).collect();
    let mut setup = setup(leaf_spine(4, 4, 4, 400), "spray", messages(&incast, 400_000));
    setup.fabric.switch.pfc = Some(PfcConfig::HPCC);
    setup.fabric.switch.buffer = Buffer::Shared(Bytes::new(2_000_000));
    let whole = complete(&setup);
    assert!(whole.pauses.len() > 20, "{} pauses", whole.pauses.len());
    for (parts, cut) in CUTS {
        assert!(whole == divided(&setup, parts, cut), "{parts} {cut:?}");
    }
}

#[test]
fn pauses_that_expire_are_the_same_divided() {
    let incast: Vec<(u32, u32)> = (1..16).map(|src| (src, 0)).collect();
    let mut setup = setup(leaf_spine(4, 4, 4, 400), "spray", messages(&incast, 400_000));
    let pfc = PfcConfig { pause_time: Some(Span::from_ns(300)), ..PfcConfig::HPCC };
    setup.fabric.switch.pfc = Some(pfc);
    setup.fabric.switch.buffer = Buffer::Shared(Bytes::new(2_000_000));
    let whole = complete(&setup);
    assert!(whole.pauses.len() > 20, "{} pauses", whole.pauses.len());
    for (parts, cut) in CUTS {
        assert!(whole == divided(&setup, parts, cut), "{parts} {cut:?}");
    }
}

#[test]
fn a_run_that_meets_its_limit_ends_there_divided() {
    let mut setup = busy("spray");
    for us in [1, 7, 12] {
        setup.time_limit = Time::ZERO + Span::from_us(us);
        let whole = run(&setup, &mut |_| {});
        assert_eq!(whole.verdict, Verdict::TimeLimit);
        for (parts, cut) in CUTS {
            assert!(whole == divided(&setup, parts, cut), "{us} us, {parts} {cut:?}");
        }
    }
}

#[test]
fn pods_stay_together_and_every_part_has_hosts() {
    let setup = setup(fat_tree(8, 400), "spray", messages(&shift(128), 1_000));
    let division = Division::new(&setup, 4, Cut::Contiguous).unwrap();
    let mut hosts = [0; 4];
    (0..128).for_each(|host| hosts[division.part_of(Node::Host(HostId(host)))] += 1);
    assert_eq!(hosts, [32; 4]);
    // Of the links between switches, those of the 8 x 4 x 4 ends at cores are cut, three of four.
    let borders: usize = (0..4).map(|part| division.borders(part).len()).sum();
    assert_eq!(borders, 2 * 128 * 3 / 4);
}

#[test]
fn what_cannot_be_divided_says_why() {
    let of = |setup: &Setup| Division::new(setup, 2, Cut::Contiguous).map(drop).unwrap_err();
    let plain = setup(leaf_spine(2, 2, 1, 400), "spray", messages(&[(0, 1)], 1_000));
    assert!(Division::new(&plain, 9, Cut::Contiguous).is_ok_and(|it| it.count() == 2));
    let one = setup(leaf_spine(1, 1, 2, 400), "spray", messages(&[(0, 1)], 1_000));
    assert_eq!(of(&one), Undivided::OnePart);
    let mut apart = plain.clone();
    let cut = |name| failure(plain.topology.link_named(name).unwrap(), Time::ZERO, Span::ZERO);
    let never = |failure| Failure { until: Time::NEVER, ..failure };
    apart.fabric.failures = vec![never(cut("leaf0-spine0"))];
    assert!(Division::new(&apart, 2, Cut::Contiguous).is_ok(), "the other spine is left");
    apart.fabric.failures.push(never(cut("leaf0-spine1")));
    assert_eq!(of(&apart), Undivided::Separated);
    let mut delayed = plain.clone();
    let delays = vec![Delay { host: HostId(1), span: Span::ZERO }];
    let tasks = [(crate::ids::TaskId(1), crate::ids::TaskId(0))];
    delayed.workload = Arc::new(Workload::with_delays(messages(&[(0, 1)], 1_000), delays, &tasks));
    assert_eq!(of(&delayed), Undivided::Delays);
}
