//! All-to-all without failures ("Load Balancing for AI Training Workloads", arXiv 2507.21372 v2,
//! figure 1): every scheme that balances packet by packet is within 1 % of the bound.
//!
//! What a run takes beyond the bound does not depend on its length: 4.3 us go by because NICs
//! serve their queue pairs in turn, so that a host's last packet goes to one that is 6.5 us away
//! and back where the bound counts the nearest (2.2 us); the rest are queues at the end. So the
//! claim is one about messages that are long enough.

use std::sync::Arc;

use super::run::{complete, setup, show, side_by_side};
use evenkeel::collective;
use evenkeel::fabric::{Setup, TrimConfig};
use evenkeel::ids::HostId;
use evenkeel::study::lower_bound;
use evenkeel::topology::FatTree;
use evenkeel::units::{BitRate, Bytes, Fraction, Span};

/// Those that choose packet by packet, and for comparison some that do not.
const PER_PACKET: [&str; 12] = [
    "switch-rr",
    "switch-rr-shuffled",
    "switch-random",
    "jsq",
    "adaptive",
    "drill",
    "spray",
    "spray-rr",
    "reps",
    "bitmap",
    "host-dr",
    "ofan",
];
const OTHERS: [&str; 1] = ["ethereal"];

#[test]
fn every_policy_per_packet_is_within_a_hundredth_of_the_bound() {
    let names = PER_PACKET.iter().chain(&OTHERS);
    let small = names.clone().map(|&policy| (policy, Case::Small));
    let whole = ["spray", "ofan"].map(|policy| (policy, Case::Example));
    let each = ["switch-rr", "switch-rr-shuffled", "ofan"].map(|policy| (policy, Case::AckEach));
    let jobs: Vec<(&str, Case)> = whole.into_iter().chain(each).chain(small).collect();
    let answers = side_by_side(&jobs, |&(policy, case)| {
        let setup = case.setup(policy);
        let bound = lower_bound(&setup).time.as_ns_f64() / 1e3;
        let outcome = complete(&setup);
        let time = outcome.cct.expect("it completed").as_ns_f64() / 1e3;
        let trimmed = outcome.counters.trimmed;
        assert_eq!(outcome.counters.dropped, 0, "{policy}");
        assert!(bound <= time, "{policy} beats the bound");
        if case != Case::AckEach && PER_PACKET.contains(&policy) {
            assert!(time <= 1.01 * bound, "{policy}, {case:?}: {time} for {bound}");
        }
        let percent = (time / bound - 1.0) * 100.0;
        format!(
            "{policy:<20}{bound:>10.1}{time:>10.1}{:>10.1}{percent:>9.2}{trimmed:>10}\n",
            time - bound
        )
    });
    let (whole, rest) = answers.split_at(whole.len());
    let (each, small) = rest.split_at(each.len());
    let table = format!(
        "All-to-all in us, 800 Gbps, 800 KB a port. Published: within 1 % (Ofan, figure 1)\n\
         policy                   bound      time    beyond        %   trimmed\n\
         k = 8, 128 MB a rank (the example), an acknowledgement for 32 packets\n{}\
         k = 4, 128 MB a rank, one for each packet\n{}\
         k = 8, 16 MB a rank, one for each packet\n{}\
         {WHY}",
        whole.concat(),
        small.concat(),
        each.concat()
    );
    show("published-all-to-all", &table);
}

const WHY: &str = "\
What is beyond the bound does not grow with the messages: 4.3 us are the way of the
last packet, the rest queues at the end. Where each packet is acknowledged, simple
round-robin may put data on every other uplink; Ofan's size bins are against that.
";

/// A fabric and a length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Case {
    Example,
    Small,
    AckEach,
}

impl Case {
    fn setup(self, policy: &str) -> Setup {
        let mut setup = setup("ofan-all-to-all.toml", policy, 1);
        match self {
            Self::Example => {}
            Self::Small => {
                setup.nic.ack.every = 1;
                setup.topology = Arc::new(small_tree().build().expect("a fat-tree"));
                set_bytes(&mut setup, 128_000_000);
            }
            Self::AckEach => {
                setup.nic.ack.every = 1;
                // An ideal code sends more without being asked; here a cut packet asks.
                let (size, limit) = (Bytes::new(64), Bytes::new(100_000));
                setup.fabric.switch.trim = Some(TrimConfig { size, limit });
                set_bytes(&mut setup, 16_000_000);
            }
        }
        setup
    }
}

fn small_tree() -> FatTree {
    FatTree {
        k: 4,
        tiers: 3,
        oversubscription: Fraction::ONE,
        host_rate: BitRate::from_gbps(800),
        fabric_rate: BitRate::from_gbps(800),
        delay: Span::from_ns(500),
        parallel_links: 1,
    }
}

fn set_bytes(setup: &mut Setup, bytes: u64) {
    let ranks = (0..setup.topology.host_count()).map(HostId).collect();
    let plan = collective::Plan::new(ranks, Bytes::new(bytes));
    let all_to_all = collective::find("all-to-all").expect("it exists");
    setup.workload = Arc::new(all_to_all.build(&plan).expect("it is sound"));
}
