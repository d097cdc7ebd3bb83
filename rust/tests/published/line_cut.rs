//! Ethereal's equal pieces (arXiv 2407.00550 v2, theorem 1) compared with cuts at the fair share:
//! queue pairs, loads and completion times of 15 flows per rack over 16 spines.

use std::fmt::Write as _;
use std::sync::Arc;

use super::run::{complete, setup, side_by_side};
use crate::support::{extent, screen};
use evenkeel::fabric::{Outcome, Setup};
use evenkeel::ids::{HostId, SwitchId};
use evenkeel::nic::CacheConfig;
use evenkeel::units::{Bytes, Span};

/// A change of the example's setup.
type Change = fn(&mut Setup);

const CASES: [(&str, Change); 3] = [
    ("one host to one rack, 1 MB per flow", one_rack),
    ("all-to-all of 60 hosts, 15 MB each", |_| {}),
    ("all-to-all, NICs hold 256 contexts", with_cache),
];

fn one_rack(setup: &mut Setup) {
    let workload = Arc::make_mut(&mut setup.workload);
    let rack = HostId(15)..HostId(30);
    workload.messages.retain(|it| it.src == HostId(0) && rack.contains(&it.dst));
    workload.messages.iter_mut().for_each(|it| it.bytes = Bytes::new(1_000_000));
}

fn with_cache(setup: &mut Setup) {
    setup.nic.queue_pairs.cache = Some(CacheConfig { entries: 256, miss: Span::from_ns(500) });
}

#[test]
fn line_cut_matches_ethereals_loads_with_far_fewer_queue_pairs() {
    if extent::is_left_out("published::line_cut") {
        return;
    }
    let jobs: Vec<_> =
        CASES.iter().flat_map(|case| [("ethereal", case), ("line-cut", case)]).collect();
    let outcomes = side_by_side(&jobs, |(policy, (_, change))| {
        let mut setup = setup("line-cut.toml", policy, 1);
        change(&mut setup);
        (uplinks(&setup), complete(&setup))
    });
    let mut table = String::from(
        "15 flows per rack, 16 spines; per NIC s/g pieces per flow, or r + s - g in all\n\
         policy    queue pairs  extra    CCT, us  rack 0 uplinks, MB  largest queue, KB\n",
    );
    for (job, (uplinks, outcome)) in jobs.iter().zip(&outcomes) {
        let (policy, (case, _)) = job;
        if *policy == "ethereal" {
            writeln!(table, "{case}").unwrap();
        }
        let qps = &outcome.qps;
        let (least, most) = loads(uplinks, outcome);
        writeln!(
            table,
            "{policy:<9} {:>11} {:>6} {:>10.2} {:>9.3} to {:>6.3} {:>18.1}",
            qps.per_nic_max,
            qps.extra_per_nic_max,
            cct_us(outcome),
            least,
            most,
            outcome.queue_bytes_max.get() as f64 / 1e3,
        )
        .unwrap();
    }
    let outcome = |place: usize| &outcomes[place].1;
    let extra = |place| outcome(place).qps.extra_per_nic_max;
    assert_eq!([0, 1, 2, 3].map(extra), [225, 15, 3 * 225, 3 * 15]);
    for place in [0, 2] {
        let times = cct_us(outcome(place + 1)) / cct_us(outcome(place));
        assert!((0.99..1.05).contains(&times), "line-cut takes {times} of the time");
    }
    for (uplinks, outcome) in &outcomes {
        let (least, most) = loads(uplinks, outcome);
        assert!(most < 1.01 * least, "{least} to {most}");
    }
    screen("published-line-cut", &table);
}

/// Returns the ports from the first rack's edge switch to the spines.
fn uplinks(setup: &Setup) -> Vec<usize> {
    let topology = &setup.topology;
    let ports = topology.ports_of(SwitchId(0)).iter();
    ports.filter(|port| topology.is_fabric_link(port.link())).map(|port| port.index()).collect()
}

/// Returns the minimum and maximum load of an uplink, in MB on the wire.
fn loads(uplinks: &[usize], outcome: &Outcome) -> (f64, f64) {
    let carried = || uplinks.iter().map(|&port| outcome.link_bytes[port].get());
    let mb = |bytes: Option<u64>| bytes.expect("there are uplinks") as f64 / 1e6;
    (mb(carried().min()), mb(carried().max()))
}

fn cct_us(outcome: &Outcome) -> f64 {
    outcome.cct.expect("it completed").as_ns_f64() / 1e3
}
