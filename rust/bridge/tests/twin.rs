//! Scenarios in both worlds, compared flow by flow to the picosecond. Queues, wires, the order of
//! events and the times of pauses are implemented twice, in Rust and in C++, and each tests the
//! other. Both worlds call the same code for routes, admission, marks, thresholds of flow control,
//! turns of classes and losses, so these tests do not find errors in it.

#[path = "twin/classes.rs"]
mod classes;
#[path = "../../tests/simulation/drawn.rs"]
mod drawn;
#[path = "../../tests/support/extent.rs"]
mod extent;
#[path = "twin/failures.rs"]
mod failures;
#[path = "twin/links.rs"]
mod links;
#[path = "twin/nics.rs"]
mod nics;
#[path = "twin/planes.rs"]
mod planes;
#[path = "../../tests/simulation/tester.rs"]
mod tester;

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use evenkeel::balance;
use evenkeel::fabric::{self, Rounding, Setup};
use evenkeel::hpcc;
use evenkeel::ids::LinkId;
use evenkeel::report::{Identity, Side, Twin};
use evenkeel::scenario::{Overrides, Scenario};
use evenkeel::topology::Topology;
use evenkeel::units::Span;
use evenkeel_bridge::ns3;
use proptest::strategy::Strategy as _;

const RECOVERIES: [&str; 7] = ["auto", "go-back-n", "sack", "per-packet", "erasure", "rod", "rudi"];
const CONTROLS: [&str; 7] =
    ["line-rate", "dcqcn", "dcqcn-mlx", "dctcp-rate", "dctcp-window", "nscc", "swift"];

/// Workloads: a flow on an idle path, patterns, and a pattern over a failing link.
const PATTERNS: [(&str, &str); 5] = [
    ("idle path", "[workload]\nkind = \"incast\"\nfan_in = 1\nbytes = \"40KB\""),
    ("permutation", "[workload]\nkind = \"permutation\"\nbytes = \"40KB\""),
    ("incast", "[workload]\nkind = \"incast\"\nfan_in = 5\nbytes = \"40KB\""),
    ("all-to-all", "[workload]\nkind = \"all-to-all\"\nbytes = \"80KB\""),
    (
        "failed link",
        "[workload]\nkind = \"permutation\"\nbytes = \"120KB\"\n[[failure]]\n\
         link = \"leaf0-spine0\"\nat = \"3us\"\ndetection = \"2us\"\nconvergence = \"9us\"",
    ),
];

/// Policy and transport of hosts and switches.
#[derive(Debug, Clone, Copy)]
struct Combination {
    policy: &'static str,
    recovery: &'static str,
    control: &'static str,
}

impl Combination {
    /// Returns a policy with the default loss recovery and congestion control.
    fn of(policy: &'static str) -> Self {
        Self { policy, recovery: "auto", control: "dcqcn" }
    }
}

/// Returns a scenario of six hosts at two leaves under two spines.
fn text(combination: Combination, rest: &str) -> String {
    let Combination { policy, recovery, control } = combination;
    format!(
        "time_limit = \"50ms\"\n[topology]\nleaves = 2\nspines = 2\nhosts_per_leaf = 3\n\
         host_rate = \"100Gbps\"\nfabric_rate = \"100Gbps\"\n[policy]\nname = \"{policy}\"\n\
         [transport]\nrecovery = \"{recovery}\"\ncongestion_control = \"{control}\"\n\
         retransmit_timeout = \"40us\"\n{rest}\n"
    )
}

/// Switches that mark and drop early.
const EARLY: &str = "[switch]\nport_buffer = \"60KB\"\n\
                     ecn = { kmin = \"8KB\", kmax = \"30KB\", pmax = \"1/2\" }";

fn setup(text: &str) -> Option<Setup> {
    let scenario = Scenario::parse(text, "twin", Path::new(""), &Overrides::default());
    scenario.ok().map(|scenario| scenario.setup())
}

/// Returns the same setup with slightly different delays on all links, so that events coincide only
/// where they must.
fn uneven(mut setup: Setup) -> Setup {
    let topology = Topology::clone(&setup.topology);
    setup.topology = Arc::new(topology.with_delays(|LinkId(link), delay| {
        let number = u64::from(link) + 1;
        delay + Span::from_ps(number * number * 37 + number * 11)
    }));
    setup
}

fn twin(setup: &Setup) -> Twin {
    let theirs = ns3::run(setup).unwrap();
    let ours = fabric::run(setup, &mut |_| {});
    let scenario = "twin".to_owned();
    let identity = Identity { scenario, policy: setup.scheme.name.to_owned(), seed: setup.seed };
    let side = |outcome| Side { outcome, wall_s: 1.0 };
    Twin::new(&identity, &setup.topology, side(&ours), side(&theirs))
}

/// Returns true if the worlds agree. Messages need not complete: a run may end earlier.
fn is_exact(twin: &Twin) -> bool {
    twin.flows_equal == twin.flows
        && twin.ports_equal == twin.ports
        && twin.counts.iter().all(|count| count.rust == count.ns3)
}

#[derive(Default)]
struct Row {
    runs: u64,
    refused: u64,
    flows: u64,
    equal: u64,
    packets: u64,
    marked: u64,
    lost: u64,
}

impl Row {
    fn count(&mut self, twin: &Twin) {
        let counted = |what| twin.counts.iter().find(|it| it.what == what).unwrap().rust;
        self.runs += 1;
        self.flows += twin.flows;
        self.equal += twin.flows_equal;
        self.packets += counted("sent");
        self.marked += counted("marked");
        self.lost += counted("dropped");
    }
}

#[test]
fn every_policy_recovery_and_control_is_the_same_in_both_worlds() {
    let mut table = String::from(
        "every valid combination of policy, recovery and congestion control, with equal links \
         and with links of odd delays\n\n",
    );
    let columns = ["runs", "refused", "flows", "equal", "packets", "marked", "lost"];
    write!(table, "{:<12}", "").unwrap();
    columns.iter().for_each(|it| write!(table, "{it:>10}").unwrap());
    table.push('\n');
    let mut differences = String::new();
    for (name, pattern) in PATTERNS {
        let mut row = Row::default();
        for preset in balance::presets() {
            for combination in combinations(preset.name) {
                let text = text(combination, EARLY) + pattern;
                let Some(even) = setup(&text) else {
                    row.refused += 1;
                    continue;
                };
                for (links, setup) in [("alike", even.clone()), ("odd", uneven(even))] {
                    let twin = twin(&setup);
                    row.count(&twin);
                    if !is_exact(&twin) {
                        writeln!(differences, "{name}, {links}, {combination:?}: {twin:?}")
                            .unwrap();
                    }
                }
            }
        }
        let Row { runs, refused, flows, equal, packets, marked, lost } = row;
        write!(table, "{name:<12}").unwrap();
        for number in [runs, refused, flows, equal, packets, marked, lost] {
            write!(table, "{number:>10}").unwrap();
        }
        table.push('\n');
    }
    table += "\ndifferences\n";
    table += if differences.is_empty() { "none\n" } else { &differences };
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(concat!(env!("CARGO_MANIFEST_DIR"), "/../../snapshots"));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!("twin-matrix", table));
}

/// Returns a policy with each recovery and the default control, and with each control and the
/// policy's own recovery.
fn combinations(policy: &'static str) -> impl Iterator<Item = Combination> {
    let default = Combination::of(policy);
    let recoveries =
        RECOVERIES.into_iter().map(move |recovery| Combination { recovery, ..default });
    let controls = CONTROLS.into_iter().filter(move |control| *control != default.control);
    recoveries.chain(controls.map(move |control| Combination { control, ..default }))
}

#[test]
fn switches_and_links_behave_the_same_in_both_worlds() {
    let incast = "[workload]\nkind = \"incast\"\nfan_in = 5\nbytes = \"200KB\"\n";
    let random = "[workload]\nkind = \"permutation\"\nbytes = \"300KB\"\n";
    let fails = |keys: &str| format!("{random}[[failure]]\nlink = \"leaf0-spine0\"\n{keys}\n");
    let cases = [
        ("pfc", "spray", format!("[switch]\nbuffer = \"300KB\"\npfc = true\n{incast}")),
        (
            "pfc of ConWeave",
            "spray",
            format!("[switch]\nbuffer = \"300KB\"\npfc = {{ admission = \"conweave\" }}\n{incast}"),
        ),
        ("trim", "spray", format!("[switch]\nport_buffer = \"20KB\"\ntrim = true\n{incast}")),
        ("shared buffer", "ecmp", format!("[switch]\nbuffer = \"60KB\"\n{incast}")),
        (
            "marked as it leaves",
            "ecmp",
            format!("[switch]\necn = {{ step = \"10KB\", at = \"dequeue\" }}\n{incast}"),
        ),
        ("a slow link", "ethereal", fails("kind = \"degrade\"\nfactor = \"1/7\"\nat = \"2us\"")),
        (
            "a slow link, weighed",
            "wcmp",
            fails(
                "kind = \"degrade\"\nfactor = \"1/3\"\nat = \"1us\"\nuntil = \"30us\"\n\
                 convergence = \"1us\"",
            ),
        ),
        (
            "a slow link with a small buffer",
            "spray",
            fails("kind = \"degrade\"\nfactor = \"1/7\"\nat = \"2us\"")
                + "[switch]\nport_buffer = \"80KB\"\nslow_ports = \"scale\"\n",
        ),
        ("a lossy link", "spray", fails("kind = \"loss\"\nrate = \"1/50\"\nat = \"0us\"")),
        (
            "down and up",
            "reps",
            fails("at = \"2us\"\nuntil = \"20us\"\ndetection = \"1us\"\nconvergence = \"3us\""),
        ),
    ];
    for (what, policy, rest) in cases {
        let setup = setup(&text(Combination::of(policy), &rest));
        let setup = setup.unwrap_or_else(|| panic!("{what} is no scenario"));
        let truncated = |mut setup: Setup| {
            setup.fabric.rounding = Rounding::TruncateNs;
            setup
        };
        for setup in [setup.clone(), uneven(setup.clone()), truncated(setup)] {
            let twin = twin(&setup);
            assert!(is_exact(&twin), "{what}: {twin:#?}");
        }
    }
}

#[test]
fn jobs_with_separate_policies_are_the_same_in_both_worlds() {
    let metered = "adaptive\"\nby = \"queue-and-utilisation";
    for (policy, own) in
        [("ecmp", "reps"), ("ecmp", "adaptive"), (metered, "ecmp"), ("ethereal", "subflow-2")]
    {
        let text = format!(
            "[topology]\nkind = \"leaf-spine\"\nleaves = 2\nspines = 4\nhosts_per_leaf = 4\n\
             [policy]\nname = \"{policy}\"\n[[job]]\nkind = \"all-to-all\"\n\
             bytes = \"160KB\"\n[[job]]\nkind = \"permutation\"\nbytes = \"160KB\"\n\
             policy = \"{own}\"\n"
        );
        let setup = setup(&text).unwrap();
        for setup in [setup.clone(), uneven(setup)] {
            let twin = twin(&setup);
            assert!(is_exact(&twin) && twin.agrees, "{policy}, {own}: {twin:#?}");
        }
    }
}

#[test]
fn dependent_messages_wait_in_both_worlds() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    for example in ["chakra-ring", "goal-dissemination", "lossless-incast", "flapping-link"] {
        let path = folder.join(format!("{example}.toml"));
        let setup = Scenario::load(&path, &Overrides::default()).unwrap().setup();
        let twin = twin(&setup);
        assert!(is_exact(&twin) && twin.agrees, "{example}: {twin:#?}");
    }
}

/// The scenarios of the simulation tester; a world rejects those that it does not support.
#[test]
fn random_scenarios_are_the_same_in_both_worlds() {
    let again = "cargo test -p evenkeel-bridge --features ns3 --test twin random";
    tester::test("both worlds", again, &drawn::scenario().boxed(), &|text| {
        let Some(setup) = setup(text) else { return Ok(()) };
        if ns3::run(&setup).is_err() {
            return Ok(());
        }
        let twin = twin(&setup);
        if is_exact(&twin) { Ok(()) } else { Err(format!("{twin:#?}")) }
    });
}

/// The configuration of the experiments below.
const CONFIG: &str = "TOPOLOGY_FILE topology.txt\nFLOW_FILE flow.txt\nCC_MODE 1\nHAS_WIN 0\n\
    SIMULATOR_STOP_TIME 2.1\nKMIN_MAP 1 100000000000 40\nKMAX_MAP 1 100000000000 160\n\
    PMAX_MAP 1 100000000000 0.2\nBUFFER_SIZE 1\n";

/// Experiments of the HPCC family from its own files, with links that differ by picoseconds.
#[test]
fn experiments_from_files_are_the_same_in_both_worlds() {
    let topology = |tail: &str| format!("4 1 3\n0\n2 0 100Gbps {tail}\n");
    let conweave = "FLOWGEN_START_TIME 2.0\nFLOWGEN_STOP_TIME 2.01\n";
    let alike = topology("1us 0\n1 0 100Gbps 1us 0\n3 0 100Gbps 1us 0");
    let odd = topology("1.0371us 0\n1 0 100Gbps 1.0113us 0\n3 0 100Gbps 1.0777us 0");
    let two_tier = "6 4 6\n2 3 4 5\n0 2 100Gbps 1.0011us 0\n1 3 100Gbps 1.0037us 0\n\
        2 4 100Gbps 1.0093us 0\n3 4 100Gbps 1.0071us 0\n2 5 100Gbps 1.0053us 0\n\
        3 5 100Gbps 1.0017us 0\n";
    let meet = "2\n1 3 3 100 250000 2.0\n2 3 3 100 250000 2.0\n";
    let across = "2\n0 1 3 100 250000 2.0\n1 0 3 100 250000 2.0000013\n";
    for (what, topology, flows, more) in [
        ("flow control", odd.as_str(), meet, "ACK_HIGH_PRIO 1\n"),
        ("the same with links alike", alike.as_str(), meet, ""),
        ("no flow control", odd.as_str(), meet, "ENABLE_PFC 0\n"),
        ("losses", odd.as_str(), meet, "ERROR_RATE_PER_LINK 0.02\nENABLE_PFC 0\n"),
        ("a link that fails", two_tier, across, "LINK_DOWN 4 2 4\nLB_POLICY spray\n"),
        ("ConWeave's paths", two_tier, across, conweave),
        ("ConWeave's notices", odd.as_str(), meet, conweave),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let config = format!("{CONFIG}{more}");
        for (name, text) in
            [("topology.txt", topology), ("flow.txt", flows), ("config.txt", config.as_str())]
        {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        for rounding in [Rounding::Exact, Rounding::TruncateNs] {
            let overrides = hpcc::Overrides { rounding, ..Default::default() };
            let config = folder.path().join("config.txt");
            let experiment = hpcc::Experiment::load(&config, &overrides).unwrap();
            let twin = twin(&experiment.setup);
            assert!(is_exact(&twin) && twin.agrees, "{what}, {rounding:?}: {twin:#?}");
        }
    }
}

/// The family's own experiments in ns-3: single flows as in its simulator, and contended ones as in
/// the Rust fabric. `hpcc` tests the latter against that simulator.
#[test]
fn experiments_of_the_hpcc_family_are_the_same_in_both_worlds() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/hpcc/conweave");
    if !folder.is_dir() {
        eprintln!("skipped: the HPCC family's files are not at ../shared/data/hpcc");
        return;
    }
    let load = |case: &str, rounding, seed| {
        let flows = Some(folder.join(format!("flow_{case}.txt")));
        let overrides = hpcc::Overrides { flows, rounding, seed: Some(seed), ..Default::default() };
        let config = folder.join("config_perm.txt");
        hpcc::Experiment::load(&config, &overrides).unwrap()
    };
    for (case, truncated_ns, exact_ns) in [("onesame", 87_091, 87_933), ("one", 91_265, 92_110)] {
        for (rounding, ns) in [(Rounding::TruncateNs, truncated_ns), (Rounding::Exact, exact_ns)] {
            let experiment = load(case, rounding, 1);
            let table = experiment.fct_table(&ns3::run(&experiment.setup).unwrap());
            assert_eq!(table.split(' ').nth(6), Some(ns.to_string().as_str()), "{case}");
        }
    }
    let cases = [("inc2", 10), ("inc8", 10), ("perm", 10)];
    for (case, seeds) in cases {
        for seed in 1..=seeds {
            let experiment = load(case, Rounding::TruncateNs, seed);
            let theirs = experiment.fct_table(&ns3::run(&experiment.setup).unwrap());
            let ours = experiment.fct_table(&fabric::run(&experiment.setup, &mut |_| {}));
            assert_eq!(theirs, ours, "{case}, seed {seed}");
        }
    }
}

/// The comparison detects differences.
#[test]
fn a_difference_of_a_picosecond_on_one_link_is_detected() {
    let text = text(Combination::of("ecmp"), PATTERNS[1].1);
    let setup = setup(&text).unwrap();
    let theirs = ns3::run(&setup).unwrap();
    let ours = fabric::run(&uneven(setup.clone()), &mut |_| {});
    let identity = Identity { scenario: String::new(), policy: String::new(), seed: 1 };
    let side = |outcome| Side { outcome, wall_s: 1.0 };
    let twin = Twin::new(&identity, &setup.topology, side(&ours), side(&theirs));
    assert_eq!(twin.flows_equal, 0, "{twin:#?}");
    assert!(twin.worst_difference > 0.0 && !twin.differences.is_empty());
}

#[test]
fn the_command_prints_one_object_and_its_status_says_whether_they_agree() {
    let scenario = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/idle-path.toml");
    let program = Command::new(env!("CARGO_BIN_EXE_evenkeel-ns3"))
        .args(["twin", scenario, "--json"])
        .output()
        .unwrap();
    let printed: serde_json::Value = serde_json::from_slice(&program.stdout).unwrap();
    assert_eq!(program.status.code(), Some(0), "{printed}");
    assert_eq!(printed["agrees"], true);
    assert_eq!((&printed["flows"], &printed["flows_equal"]), (&1.into(), &1.into()));
    assert!(printed["speed_ratio"].as_f64().unwrap() > 0.0);
}
