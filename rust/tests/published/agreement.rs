//! One rule at a time under full queues: the results of two other simulators next to this
//! project's, with and without the rule. `agreement/README.md` says how the former were made.
//!
//! The comparison covers the mean and the largest completion time, averaged over seeds: 200 of
//! ConWeave's simulator and of ours, and ten of uet-htsim and 40 of ours. The limits are 2 % and 5
//! %. A case beyond them has a star in the table, and `docs/trust.md` explains its cause.

use std::path::Path;
use std::sync::Arc;

use evenkeel::balance::{self, Parameters};
use evenkeel::endpoint::base_rtt;
use evenkeel::fabric::{
    self, PfcAdmission, PfcConfig, Rounding, Setup, SlowPorts, TieOrder, TrimVictim, Verdict,
};
use evenkeel::hpcc::{Experiment, Overrides};
use evenkeel::nic::congestion::CongestionControl;
use evenkeel::nic::recovery::sack::Retransmit;
use evenkeel::nic::{AckRange, AckSpan, First, NackSignal, Recovery, Resent, RoundTrips};
use evenkeel::scenario::{self, Scenario};
use evenkeel::topology::Routes;
use evenkeel::workload::Workload;

use super::run::side_by_side;
use crate::support::{extent, screen};

/// Runs per ConWeave case: of that simulator, and of ours.
const CONWEAVE_RUNS: [u64; 2] = [200, 200];
/// Runs per uet-htsim case: of that simulator, and of ours.
const HTSIM_RUNS: [u64; 2] = [10, 40];
/// Maximum relative differences of the mean and of the largest time.
const AT_MOST: [f64; 2] = [0.02, 0.05];

/// Mean and largest completion time of a run, in microseconds.
type Times = [f64; 2];

/// A case that another simulator ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Case {
    name: &'static str,
    inputs: Inputs,
}

impl Case {
    /// Returns the number of runs of the other simulator and of ours.
    fn runs(&self) -> [u64; 2] {
        match self.inputs {
            Inputs::ConWeave(..) => CONWEAVE_RUNS,
            Inputs::Htsim(..) => HTSIM_RUNS,
        }
    }
}

fn find(case: &str) -> &'static Case {
    CASES.iter().find(|it| it.name == case).expect("a case")
}

/// The simulator whose input files a case uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Inputs {
    /// ConWeave's simulator: keys of the configuration, and the flows.
    ConWeave(&'static str, &'static str),
    /// uet-htsim: the policy, and the sections of a scenario.
    Htsim(&'static str, &'static str),
}

/// A rule that explains a difference: a case, and its setup without the rule.
struct Rule {
    name: &'static str,
    case: &'static str,
    without: fn(&mut Setup),
}

const CASES: &[Case] = &[
    Case {
        name: "pauses-same",
        inputs: Inputs::ConWeave("LB_MODE 0\nENABLE_PFC 1\nBUFFER_SIZE 1\n", "same"),
    },
    Case {
        name: "pauses-across",
        inputs: Inputs::ConWeave("LB_MODE 0\nENABLE_PFC 1\nBUFFER_SIZE 1\n", "across"),
    },
    Case { name: "drill", inputs: Inputs::ConWeave("LB_MODE 2\nBUFFER_SIZE 9\n", "permutation") },
    Case {
        name: "drill-irn",
        inputs: Inputs::ConWeave(
            "LB_MODE 2\nENABLE_PFC 0\nENABLE_IRN 1\nBUFFER_SIZE 9\n",
            "permutation",
        ),
    },
    Case {
        name: "irn",
        inputs: Inputs::ConWeave(
            "LB_MODE 0\nENABLE_PFC 0\nENABLE_IRN 1\nBUFFER_SIZE 9\n",
            "across",
        ),
    },
    Case { name: "skewed", inputs: Inputs::ConWeave("LB_MODE 2\nBUFFER_SIZE 9\n", "skewed") },
    Case {
        name: "skewed-irn",
        inputs: Inputs::ConWeave(
            "LB_MODE 2\nENABLE_PFC 0\nENABLE_IRN 1\nBUFFER_SIZE 9\n",
            "skewed",
        ),
    },
    Case { name: "conga", inputs: Inputs::ConWeave("LB_MODE 3\nBUFFER_SIZE 9\n", "permutation") },
    Case { name: "spray", inputs: Inputs::Htsim("spray", SPRAY) },
    Case { name: "incast", inputs: Inputs::Htsim("spray", INCAST) },
    Case { name: "slow-spine", inputs: Inputs::Htsim("spray", SLOW_SPINE) },
    Case { name: "mixed", inputs: Inputs::Htsim("mixed", SPRAY) },
    Case { name: "mixed-slow", inputs: Inputs::Htsim("mixed", SLOW_SPINE) },
    Case { name: "round-robin", inputs: Inputs::Htsim("switch-rr-by-destination", ROUND_ROBIN) },
];

/// uet-htsim's switches and NICs: 100 packets of 4,150 B per port, marking between 25 and 76 of
/// them, trimming, NSCC, one acknowledgement per 16 KiB.
const HTSIM: &str = "[switch]\nport_buffer = \"415000B\"\n\
    trim = { victim = \"arriving-or-last\" }\nslow_ports = \"scale\"\n\
    ecn = { kmin = \"103750B\", kmax = \"315400B\", pmax = \"1\", at = \"dequeue\" }\n\
    [transport]\npayload = \"4086B\"\nheader = \"64B\"\nack = \"64B\"\n\
    congestion_control = \"nscc\"\nrecovery = \"per-packet\"\nretransmit_timeout = \"64.8us\"\n";

const SPRAY: &str = "ack_every = 32\nack_bytes = \"16384B\"\nack_marked = \"at-once\"\n\
    [topology]\nkind = \"leaf-spine\"\nleaves = 8\nspines = 4\nhosts_per_leaf = 4\n\
    delay = \"1us\"\ngap = \"0B\"\n\
    [workload]\nkind = \"shift\"\nshift = 16\nbytes = \"8MiB\"\n";

const INCAST: &str = "ack_every = 32\nack_bytes = \"16384B\"\nack_marked = \"at-once\"\n\
    [topology]\nkind = \"leaf-spine\"\nleaves = 8\nspines = 4\nhosts_per_leaf = 4\n\
    delay = \"1us\"\ngap = \"0B\"\n\
    [workload]\nkind = \"flows\"\nfile = \"incast.txt\"\n";

const SLOW_SPINE: &str = "ack_every = 32\nack_bytes = \"16384B\"\nack_marked = \"at-once\"\n\
    [topology]\nkind = \"leaf-spine\"\nleaves = 8\nspines = 4\nhosts_per_leaf = 4\n\
    delay = \"1us\"\ngap = \"0B\"\n\
    [workload]\nkind = \"shift\"\nshift = 16\nbytes = \"2MiB\"\n\
    [[failure]]\nswitch = \"spine0\"\nkind = \"degrade\"\nfactor = \"1/4\"\nat = \"0s\"\n";

const ROUND_ROBIN: &str = "[topology]\nkind = \"fat-tree\"\nk = 8\ndelay = \"1us\"\n\
    gap = \"0B\"\n\
    [workload]\nkind = \"shift\"\nshift = 64\nbytes = \"2MiB\"\n";

const RULES: &[Rule] = &[
    Rule {
        name: "ConWeave's admission",
        case: "pauses-same",
        without: |setup| pfc(setup).admission = PfcAdmission::Hpcc,
    },
    Rule {
        name: "pauses expire",
        case: "pauses-same",
        without: |setup| pfc(setup).pause_time = None,
    },
    Rule {
        name: "pauses expire",
        case: "pauses-across",
        without: |setup| pfc(setup).pause_time = None,
    },
    Rule {
        name: "NACKs are CNPs",
        case: "drill",
        without: |setup| setup.nic.ack.nacks = NackSignal::None,
    },
    Rule {
        name: "go-back-N stays",
        case: "drill",
        without: |setup| setup.nic.recovery = Recovery::PER_PACKET,
    },
    Rule { name: "memory per dest.", case: "drill", without: |setup| policy(setup, "drill") },
    Rule {
        name: "ENABLE_IRN is read",
        case: "drill-irn",
        without: |setup| setup.nic.recovery = Recovery::PER_PACKET,
    },
    Rule {
        name: "ENABLE_IRN is read",
        case: "irn",
        without: |setup| setup.nic.recovery = Recovery::GO_BACK_N,
    },
    Rule {
        name: "NACKs go back",
        case: "drill-irn",
        without: |setup| {
            let Recovery::Sack(sack) = &mut setup.nic.recovery else { panic!("IRN") };
            sack.resends = Retransmit::Gap;
        },
    },
    Rule {
        name: "NACKs are CNPs",
        case: "skewed",
        without: |setup| setup.nic.ack.nacks = NackSignal::None,
    },
    Rule {
        name: "NACKs go back",
        case: "skewed-irn",
        without: |setup| {
            let Recovery::Sack(sack) = &mut setup.nic.recovery else { panic!("IRN") };
            sack.resends = Retransmit::Gap;
        },
    },
    Rule {
        name: "LB_MODE 3 is read",
        case: "conga",
        without: |setup| policy(setup, "ecmp-murmur"),
    },
    Rule {
        name: "bitmaps that repeat",
        case: "spray",
        without: |setup| {
            setup.nic.ack.range = AckRange::Cumulative;
            setup.nic.ack.span = AckSpan::Bitmap;
        },
    },
    Rule {
        name: "no limit of PSNs",
        case: "spray",
        without: |setup| setup.nic.ack.span = AckSpan::Bitmap,
    },
    Rule {
        name: "first ACK immediate",
        case: "incast",
        without: |setup| setup.nic.ack.first = First::Wait,
    },
    Rule {
        name: "base RTT of NACKs",
        case: "incast",
        without: |setup| {
            if let CongestionControl::Nscc(nscc) = &mut setup.nic.congestion {
                nscc.base_rtt_of_nacks = false;
            }
        },
    },
    Rule {
        name: "last may be trimmed",
        case: "incast",
        without: |setup| {
            let trim = setup.fabric.switch.trim.as_mut().expect("switches trim");
            trim.victim = TrimVictim::Arriving;
        },
    },
    Rule {
        name: "resent: instant ACK",
        case: "incast",
        without: |setup| setup.nic.ack.resent = Resent::Wait,
    },
    Rule {
        name: "slow ports scale",
        case: "slow-spine",
        without: |setup| setup.fabric.switch.slow_ports = SlowPorts::Keep,
    },
    Rule { name: "good values", case: "mixed", without: |setup| policy(setup, "bitmap") },
    Rule { name: "good values", case: "mixed-slow", without: |setup| policy(setup, "bitmap") },
    Rule {
        name: "order per dest.",
        case: "round-robin",
        without: |setup| policy(setup, "switch-rr"),
    },
];

fn pfc(setup: &mut Setup) -> &mut PfcConfig {
    setup.fabric.switch.pfc.as_mut().expect("flow control is on")
}

fn policy(setup: &mut Setup, name: &str) {
    setup.scheme = balance::build_scheme(name, &Parameters::new()).expect("a policy");
}

/// Returns two leaves with eight hosts each and four spines, at 100 Gbps and 1 us. If skewed, the
/// links of each spine are a little longer. ConWeave's simulator knows the bandwidth-delay product
/// of a topology with this name.
fn topology(is_skewed: bool) -> String {
    // Hosts come first: if a switch does, CONGA in that simulator assigns all hosts to one leaf and
    // falls back to hashing.
    let hosts = (0..16).map(|host| format!("{host} {} 100Gbps 1000ns 0\n", 16 + host / 8));
    let spines = (16..18).flat_map(|leaf| (18..22).map(move |spine| (leaf, spine)));
    let delay = |spine: u32| {
        if is_skewed { [1_000, 1_013, 1_029, 1_041][spine as usize - 18] } else { 1_000 }
    };
    let spines =
        spines.map(|(leaf, spine)| format!("{leaf} {spine} 100Gbps {}ns 0\n", delay(spine)));
    let links: String = hosts.chain(spines).collect();
    format!("22 6 24\n16 17 18 19 20 21\n{links}")
}

/// Returns flows of 1 MB that start 100 ns apart.
fn flows(name: &str) -> String {
    let pairs: Vec<(u32, u32)> = match name {
        "same" => (1..8).map(|from| (from, 0)).collect(),
        "across" => (8..16).map(|from| (from, 0)).collect(),
        _ => (0..16).map(|from| (from, (from + 8) % 16)).collect(),
    };
    let line = |(index, (from, to)): (usize, &(u32, u32))| {
        format!("{from} {to} 3 1000000 2.{:09}\n", 100 * index)
    };
    let lines: String = pairs.iter().enumerate().map(line).collect();
    format!("{}\n{lines}", pairs.len())
}

const CONWEAVE: &str = "TOPOLOGY_FILE topology.txt\nFLOW_FILE flow.txt\nFLOWGEN_START_TIME 2.0\n\
    FLOWGEN_STOP_TIME 2.01\nCC_MODE 1\nALPHA_RESUME_INTERVAL 1\nRATE_DECREASE_INTERVAL 4\n\
    CLAMP_TARGET_RATE 0\nRP_TIMER 300\nFAST_RECOVERY_TIMES 1\nEWMA_GAIN 0.00390625\n\
    RATE_AI 40Mb/s\nRATE_HAI 100Mb/s\nMIN_RATE 100Mb/s\nHAS_WIN 0\nVAR_WIN 0\n\
    KMAX_MAP 1 100000000000 400\nKMIN_MAP 1 100000000000 100\nPMAX_MAP 1 100000000000 0.20\n";

/// Returns the setup of a case with this seed.
fn setup(folder: &Path, case: &Case, seed: u64) -> Setup {
    let write = |file: &str, text: String| std::fs::write(folder.join(file), text).unwrap();
    match case.inputs {
        Inputs::ConWeave(keys, pairs) => {
            write("topology.txt", topology(pairs == "skewed"));
            write("flow.txt", flows(pairs));
            write("config.txt", format!("{CONWEAVE}{keys}"));
            let rounding = Rounding::TruncateNs;
            let overrides = Overrides { rounding, seed: Some(seed), ..Overrides::default() };
            Experiment::load(&folder.join("config.txt"), &overrides).unwrap().setup
        }
        Inputs::Htsim(policy, sections) => {
            let incast = [1, 2, 3, 4, 8, 12, 16, 20].map(|from| format!("{from} 0 3 1048576 0\n"));
            write("incast.txt", format!("8\n{}", incast.concat()));
            let text = format!("seed = {seed}\n{HTSIM}{sections}");
            let policy = Some(policy.to_owned());
            let overrides = scenario::Overrides { policy, ..scenario::Overrides::default() };
            let scenario = Scenario::parse(&text, "a", folder, &overrides);
            let scenario = scenario.unwrap_or_else(|error| panic!("{}: {error}", case.name));
            let mut setup = scenario.setup();
            setup.fabric.ties = TieOrder::Port;
            // uet-htsim configures every sender with the longest round trip of the fabric.
            let (topology, nic) = (&setup.topology, &setup.nic);
            let routes = Routes::new(topology, &|_| true);
            let delay = setup.fabric.forwarding_delay;
            let longest = base_rtt(topology, &routes, nic, delay, &Workload::default());
            let kinds = vec![0; topology.host_count() as usize];
            setup.nic.round_trips = Some(Arc::new(RoundTrips::new(kinds, vec![vec![longest]])));
            setup
        }
    }
}

fn times(setup: &Setup) -> Times {
    let outcome = fabric::run(setup, &mut |_| {});
    assert_eq!(outcome.verdict, Verdict::Completed);
    let times: Vec<f64> = outcome.message_fct.iter().map(|fct| fct.as_ps() as f64 / 1e6).collect();
    [times.iter().sum::<f64>() / times.len() as f64, times.into_iter().fold(0.0, f64::max)]
}

fn mean(runs: &[Times]) -> Times {
    [0, 1].map(|figure| runs.iter().map(|run| run[figure]).sum::<f64>() / runs.len() as f64)
}

/// Returns the other simulator's mean over the seeds of a case.
fn theirs(case: &str) -> Times {
    let text = include_str!("agreement/completion-times.csv");
    let rows = text.lines().filter(|line| !line.starts_with('#')).skip(1);
    let fields = rows.map(|line| line.split(',').collect::<Vec<_>>());
    let number = |text: &str| text.parse::<f64>().unwrap();
    let runs: Vec<Times> = fields
        .filter(|fields| fields[0] == case)
        .map(|fields| [number(fields[2]), number(fields[3])])
        .collect();
    let [expected, _] = find(case).runs();
    assert_eq!(runs.len() as u64, expected, "{case}");
    mean(&runs)
}

const HEAD: &str = "\
Two other simulators and ours, with and without one rule: flow completion times
in us, mean and largest, averaged over seeds; differences in %

                                   theirs             ours       without rule
rule                 case         mean  max   mean  off  max  off  mean  max
";

const NOTES: &str = "\
A star: beyond 2 % of the mean or 5 % of the largest; see docs/trust.md.
";

/// Returns our mean over the seeds of a case, with all rules or with one removed by `change`.
fn ours(case: &'static str, change: fn(&mut Setup)) -> Times {
    let folder = tempfile::tempdir().unwrap();
    let case = find(case);
    let [_, seeds] = case.runs();
    let runs: Vec<Times> = (1..=seeds)
        .map(|seed| {
            let mut setup = setup(folder.path(), case, seed);
            change(&mut setup);
            times(&setup)
        })
        .collect();
    mean(&runs)
}

#[test]
fn each_rule_closes_a_difference_from_another_simulator() {
    if extent::is_left_out("published::agreement") {
        return;
    }
    let mut cases: Vec<&'static str> = RULES.iter().map(|rule| rule.case).collect();
    cases.dedup();
    let with = side_by_side(&cases, |case| ours(case, |_| {}));
    let without = side_by_side(RULES, |rule| ours(rule.case, rule.without));
    let trust = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/trust.md");
    let trust = std::fs::read_to_string(trust).unwrap();
    let mut table = String::new();
    for (rule, without) in RULES.iter().zip(without) {
        let place = cases.iter().position(|case| *case == rule.case).expect("a case");
        let (theirs, with) = (theirs(rule.case), with[place]);
        let off = [0, 1].map(|figure| 100.0 * (with[figure] / theirs[figure] - 1.0));
        let is_beyond = (0..2).any(|figure| off[figure].abs() > 100.0 * AT_MOST[figure]);
        table += &format!(
            "{:<21}{:<14}{:>6.1}{:>5.0}{:>7.1}{:>+5.1}{:>5.0}{:>+5.1}{:>6.0}{:>5.0}{}\n",
            rule.name,
            rule.case,
            theirs[0],
            theirs[1],
            with[0],
            off[0],
            with[1],
            off[1],
            without[0],
            without[1],
            if is_beyond { "*" } else { "" },
        );
        let is_named = trust.contains(&format!("`{}`", rule.case));
        assert!(!is_beyond || is_named, "{} has no cause in docs/trust.md:\n{table}", rule.case);
    }
    screen("published-agreement", &(HEAD.to_owned() + &table + NOTES));
}
