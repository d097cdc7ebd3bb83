//! All-to-all without failures ("Load Balancing for AI Training Workloads", arXiv 2507.21372 v2,
//! figure 1): every scheme that balances per packet is within 1 % of the bound.
//!
//! The time beyond the bound hardly depends on the message length. 4.2 us are lost because NICs
//! serve their queue pairs round-robin: the last packet of some host takes a path of six links and
//! back (6.3 us), while the bound assumes the nearest receiver (2.1 us). The rest is queueing at
//! the end. The claim therefore holds only for sufficiently long messages.

use std::sync::Arc;

use super::run::{complete, setup, side_by_side};
use crate::support::{extent, rows, screen};
use evenkeel::balance::display_name;
use evenkeel::collective;
use evenkeel::fabric::{Setup, TieOrder, TrimConfig, TrimVictim};
use evenkeel::ids::HostId;
use evenkeel::study::lower_bound;
use evenkeel::topology::FatTree;
use evenkeel::units::{BitRate, Bytes, Fraction, Span};

/// A fabric and message length, their caption in the table, and the policies shown.
const GROUPS: [(Case, &str, &[&str]); 4] = [
    (
        Case::Example,
        "k = 8, 128 MB per rank (the example), one acknowledgement per 32 packets",
        &["spray", "ofan"],
    ),
    (Case::Small, "k = 4, 128 MB per rank, one per packet", &ALL),
    (Case::Short(32), "k = 8, 16 MB per rank, one per 32 packets", &["switch-rr", "ofan"]),
    (
        Case::Short(1),
        "k = 8, 16 MB per rank, one per packet",
        &["switch-rr", "switch-rr-shuffled", "ofan"],
    ),
];

/// The policies that choose per packet, and one that does not, for comparison.
const ALL: [&str; 14] = [
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
    "prime",
    "host-dr",
    "ofan",
    "ethereal",
];

#[test]
fn every_per_packet_policy_is_within_one_percent_of_the_bound() {
    let of_group = |&(case, _, policies): &(Case, _, &'static [&str])| {
        policies.iter().map(move |&policy| (case, policy))
    };
    let all: Vec<(Case, &str)> = GROUPS.iter().flat_map(of_group).collect();
    let count = all.len();
    let jobs = extent::cases("published::all_to_all", all, |&(case, policy)| match case {
        Case::Small => policy == "ethereal",
        Case::Short(_) | Case::Example => false,
    });
    let made = side_by_side(&jobs, |&(case, policy)| row(case, policy));
    if made.len() < count {
        return rows("published-all-to-all", &made.concat());
    }
    let mut made = made.into_iter();
    let mut table = String::from(
        "All-to-all in us, 800 Gbps, 800 KB per port, seed 1; paper: within 1 % (fig. 1)\n\
         policy                   bound      time    beyond        %   trimmed\n",
    );
    for (_, title, policies) in GROUPS {
        let of_group: String = made.by_ref().take(policies.len()).collect();
        table += &format!("{title}\n{of_group}");
    }
    screen("published-all-to-all", &format!("{table}{WHY}"));
}

const WHY: &str = "\
The excess over the bound hardly grows with messages: 4.2 us are the path of the
last packet, the rest is queueing at the end. An acknowledgement takes a turn
like data, so round-robin in switches spreads packets, not bytes; Ofan has size
bins for that.
";

fn row(case: Case, policy: &str) -> String {
    let setup = case.setup(policy);
    let bound = lower_bound(&setup).time.as_ns_f64() / 1e3;
    let outcome = complete(&setup);
    let time = outcome.cct.expect("it completed").as_ns_f64() / 1e3;
    let trimmed = outcome.counters.trimmed;
    assert_eq!(outcome.counters.dropped, 0, "{policy}");
    assert!(bound <= time, "{policy} beats the bound");
    let (beyond, percent) = (time - bound, (time / bound - 1.0) * 100.0);
    match case {
        Case::Example | Case::Small => assert!(percent <= 1.0, "{policy}, {case:?}: {percent} %"),
        // The excess over the bound hardly depends on the length: 5.5 us are 1 % for 55 MB.
        Case::Short(1) if policy.starts_with("switch-rr") => assert!(beyond > 10.0, "{beyond}"),
        Case::Short(_) => assert!(beyond < 5.5, "{policy}, {case:?}: {beyond} us"),
    }
    let name = display_name(policy);
    format!("{name:<22}{bound:>8.1}{time:>10.1}{beyond:>10.1}{percent:>9.2}{trimmed:>10}\n")
}

/// A fabric and a message length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Case {
    Example,
    /// One acknowledgement per packet.
    Small,
    /// One acknowledgement per this number of packets.
    Short(u32),
}

impl Case {
    fn setup(self, policy: &str) -> Setup {
        let mut setup = setup("ofan-all-to-all.toml", policy, 1);
        // As in Ofan's simulator. With a random order, switch-rr fills buffers and loses packets.
        setup.fabric.ties = TieOrder::Port;
        match self {
            Self::Example => {}
            Self::Small => {
                setup.nic.ack.every = 1;
                setup.topology = Arc::new(small_tree().build().expect("a fat-tree"));
                set_bytes(&mut setup, 128_000_000);
            }
            Self::Short(every) => {
                setup.nic.ack.every = every;
                // An ideal code sends repair packets unprompted; here a trimmed packet triggers
                // them.
                let (size, limit) = (Bytes::new(64), Bytes::new(100_000));
                setup.fabric.switch.trim =
                    Some(TrimConfig { size, limit, victim: TrimVictim::Arriving });
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
