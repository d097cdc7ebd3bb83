//! `cargo bench --bench speed -- --planes`: several planes compared with as many ports in one
//! plane.
//!
//! With 4 planes, 4,096 hosts have 16,384 ports. One plane with as many ports has 16,384 hosts. A
//! leaf has 64 hosts in both. Every port sends the same number of bytes to a port half-way round.
//! The figure is the ratio of packet-hops per CPU-second.

use std::collections::BTreeMap;
use std::sync::Arc;

use evenkeel::balance::{Parameters, build_scheme};
use evenkeel::fabric::{Setup, Verdict, run};
use evenkeel::ids::HostId;
use evenkeel::topology::{LeafSpine, MultiPlane, Topology};
use evenkeel::units::{BitRate, Bytes, Span, Time};
use evenkeel::workload::{Message, Workload};

use super::cases::{self, Transport};
use super::options::Options;
use super::page::{Table, thousands};
use super::{in_a_process_with, millions, usage};

/// Policies that choose among a host's ports.
const POLICIES: [&str; 2] = ["mrc", "plane-jsq"];
const PLANES: u32 = 4;
const AT_A_LEAF: u32 = 64;

/// Returns a fabric of `hosts`, each with one port in each of `planes`.
fn fabric(hosts: u32, planes: u32) -> Topology {
    let plane = LeafSpine {
        leaves: hosts / AT_A_LEAF,
        spines: AT_A_LEAF,
        hosts_per_leaf: AT_A_LEAF,
        host_rate: BitRate::from_gbps(200),
        fabric_rate: BitRate::from_gbps(200),
        delay: Span::from_us(1),
        parallel_links: 1,
    };
    MultiPlane { planes, rails: 1, plane }.build().expect("a fabric of planes")
}

fn setup(policy: &str, [hosts, planes, kib]: [u32; 3]) -> Setup {
    let messages = (0..hosts).map(|host| Message {
        src: HostId(host),
        dst: HostId((host + hosts / 2) % hosts),
        bytes: Bytes::new(u64::from(kib * planes) << 10),
        stream: host,
        start: Time::ZERO,
    });
    let scheme = build_scheme(policy, &Parameters::new()).expect("a policy");
    Setup {
        topology: Arc::new(fabric(hosts, planes)),
        fabric: cases::fabric(Transport::LineRate),
        nic: cases::nic(Transport::LineRate, scheme.recovery),
        scheme,
        own_nics: BTreeMap::new(),
        job_policies: Vec::new(),
        job_classes: Vec::new(),
        workload: Arc::new(Workload::independent(messages.collect())),
        seed: 1,
        time_limit: Time::ZERO + Span::from_ms(1_000),
        probes: Vec::new(),
    }
}

/// Runs one measurement and prints its packet-hops and CPU seconds.
pub(crate) fn child(policy: &str, numbers: [u32; 3]) {
    let setup = setup(policy, numbers);
    let before = usage().0;
    let outcome = run(&setup, &mut |_| {});
    assert_eq!(outcome.verdict, Verdict::Completed);
    println!("{} {}", outcome.counters.packet_hops, usage().0 - before);
}

fn rate(policy: &str, numbers: [u32; 3]) -> f64 {
    let words = numbers.map(|number| number.to_string());
    let [a, b, c] = &words;
    let printed = in_a_process_with(&["planes", policy, a, b, c]);
    let [hops, cpu_s] = printed[..] else { panic!("not two numbers: {printed:?}") };
    hops / cpu_s
}

/// Prints the table of median pairs, by ratio.
pub(crate) fn table(options: &Options) -> Table {
    let mut table = Table::new(&[
        "hosts",
        "planes",
        "policy",
        "packet-hops per CPU-second",
        "one plane",
        "ratio",
    ]);
    print!("{}", table.text());
    let (hosts, kib) = if options.is_small { (256, 64) } else { (4_096, 256) };
    for policy in POLICIES {
        let pair = || [[hosts, PLANES, kib], [hosts * PLANES, 1, kib]].map(|it| rate(policy, it));
        let mut pairs: Vec<[f64; 2]> = std::iter::repeat_with(pair).take(options.rounds).collect();
        pairs.sort_by(|a, b| (a[0] / a[1]).total_cmp(&(b[0] / b[1])));
        let [planes, one] = pairs[options.rounds / 2];
        let row = format!(
            "{} | {PLANES} | `{policy}` | {} | {} | {:.2}",
            thousands(hosts.into()),
            millions(planes),
            millions(one),
            planes / one
        );
        println!("{}", table.row(row));
    }
    table
}
