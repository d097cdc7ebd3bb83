//! Scale-up networks, rail-only fabrics, tori and dragonflies: the claims of their examples, closed
//! forms of throughput, and files of other projects on servers.

use std::path::Path;

use evenkeel::fabric::{self, FlowRecord, Outcome, Verdict};
use evenkeel::fluid;
use evenkeel::scenario::{Overrides, Scenario};
use evenkeel::study::lower_bound;

/// Parses an example with changes to its text, under a policy if one is given.
fn parse(example: &str, policy: Option<&str>, changes: &[(&str, &str)]) -> Scenario {
    try_parse(example, policy, changes).unwrap_or_else(|error| panic!("{error}"))
}

fn try_parse(
    example: &str,
    policy: Option<&str>,
    changes: &[(&str, &str)],
) -> Result<Scenario, String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let mut text = std::fs::read_to_string(folder.join(example)).unwrap();
    for (from, to) in changes {
        assert!(text.contains(from), "{example} has no '{from}'");
        text = text.replace(from, to);
    }
    let policy = policy.map(str::to_owned);
    let overrides = Overrides { policy, ..Overrides::default() };
    Scenario::parse(&text, "altered", &folder, &overrides).map_err(|error| error.to_string())
}

fn run(scenario: &Scenario) -> Outcome {
    let setup = scenario.setup();
    let outcome = fabric::run(&setup, &mut |_| {});
    assert_eq!(outcome.verdict, Verdict::Completed);
    let cct = outcome.cct.unwrap();
    assert!(lower_bound(&setup).time <= cct, "{cct} beats {:?}", lower_bound(&setup));
    outcome
}

fn cct(example: &str, policy: &str, changes: &[(&str, &str)]) -> f64 {
    run(&parse(example, Some(policy), changes)).cct.unwrap().as_ns_f64()
}

/// A section for servers of two GPUs, which fit all of these fabrics.
const SERVERS: (&str, &str) = ("[policy]", "[topology.scale_up]\ngpus = 2\n[policy]");

#[test]
fn nvlink_makes_a_hierarchical_all_reduce_three_times_faster() {
    let plain = [
        ("[topology.scale_up]", "# without"),
        ("gpus = 8\nrate = \"3600Gbps\"\nlatency = \"600ns\"", ""),
    ];
    let with = run(&parse("scale-up.toml", None, &[]));
    let without = run(&parse("scale-up.toml", None, &plain));
    assert!(with.cct.unwrap() * 3 < without.cct.unwrap(), "{:?} {:?}", with.cct, without.cct);
    assert_eq!((with.qps.per_nic_max, without.qps.per_nic_max), (1, 8));
    assert!(without.scale_up.is_none());
    // Each GPU sends 7/8 of 16 MiB twice inside its server.
    let ports = &with.scale_up.unwrap().ports;
    assert!(ports.iter().all(|port| port.sent.get() == 2 * 7 * (16 << 20) / 8));
}

#[test]
fn a_rail_only_all_to_all_completes_without_crossing_rails() {
    let outcome = run(&parse("rail-only.toml", None, &[]));
    // 7 other servers of 4 GPUs each; GPUs on other rails are reached by relays.
    assert_eq!(outcome.scale_up.as_ref().unwrap().relayed, 32 * 7 * 3);
    let over_fabric = outcome.flows.iter().filter(|flow| flow.source_port > 0);
    assert!(over_fabric.into_iter().all(|flow| flow.src.0 % 4 == flow.dst.0 % 4));
    let apart = try_parse("rail-only.toml", None, &[("\"relay\"", "\"fabric\"")]).unwrap_err();
    assert!(apart.contains("cross_rail = \"relay\""), "{apart}");
    let other = try_parse("rail-only.toml", None, &[("gpus = 4", "gpus = 8")]).unwrap_err();
    assert!(other.contains("rails = 4 GPUs"), "{other}");
}

#[test]
fn files_of_other_projects_run_on_servers() {
    let have_some = [
        "chakra-ring.toml",
        "connection-matrix.toml",
        "goal-dissemination.toml",
        "simccl-ring.toml",
    ];
    // These files have no message between the two GPUs of a server.
    let have_none = ["goal-nodes.toml", "hpcc-incast.toml"];
    for example in have_some.into_iter().chain(have_none) {
        let outcome = run(&parse(example, None, &[SERVERS]));
        let carried = outcome.scale_up.as_ref().unwrap();
        let inside = outcome.flows.iter().filter(|flow| flow.src.0 / 2 == flow.dst.0 / 2);
        assert_eq!(carried.inside, inside.count() as u64, "{example}");
        assert_eq!(carried.inside > 0, have_some.contains(&example), "{example}");
    }
}

#[test]
fn tensor_parallel_groups_are_inside_servers() {
    let text = "[topology]\nkind = \"rail-optimized\"\nrails = 4\nservers = 4\nunits = 1\n\
                spines = 4\n[topology.scale_up]\ngpus = 4\n[policy]\nname = \"ecmp\"\n\
                [workload]\nkind = \"training\"\nlayers = 2\ntensor = 4\ndata = 4\n\
                model = { layers = 2, hidden = 1024, sequence = 512 }\n";
    let parsed = Scenario::parse(text, "step", Path::new(""), &Overrides::default());
    let scenario = parsed.unwrap_or_else(|error| panic!("{error}"));
    let outcome = run(&scenario);
    let carried = outcome.scale_up.as_ref().unwrap();
    assert!(carried.inside > 0 && carried.relayed == 0);
    let over_fabric: Vec<_> = outcome.flows.iter().filter(|flow| flow.source_port > 0).collect();
    assert!(!over_fabric.is_empty());
    assert!(over_fabric.iter().all(|flow| flow.src.0 % 4 == flow.dst.0 % 4));
}

#[test]
fn the_fluid_mode_has_the_same_times_inside_servers() {
    let text = |fidelity: &str| {
        format!(
            "fidelity = \"{fidelity}\"\n[topology]\nleaves = 1\nspines = 1\nhosts_per_leaf = 8\n\
             [topology.scale_up]\ngpus = 8\n[policy]\nname = \"ecmp\"\n\
             [workload]\nkind = \"ring-all-reduce\"\nbytes = \"8MiB\"\n"
        )
    };
    let parse = |fidelity: &str| {
        let text = text(fidelity);
        Scenario::parse(&text, "servers", Path::new(""), &Overrides::default()).unwrap()
    };
    let packets = run(&parse("packet"));
    let flows = fluid::run(&parse("fluid").setup(), &mut |_| {}).outcome;
    assert_eq!(packets.cct, flows.cct);
    assert_eq!(packets.flows, flows.flows);
    assert_eq!(packets.counters.sent, 0);
}

/// Time of an uncontended 1 MiB message at 100 Gbps, in nanoseconds: 256 packets of 4,178 bytes.
const ALONE: f64 = 256.0 * 4_178.0 * 0.08;

#[test]
fn ugal_and_valiant_avoid_the_shared_global_link_of_a_dragonfly() {
    let [minimal, valiant, ugal] =
        ["switch-random", "valiant", "ugal"].map(|policy| cct("dragonfly.toml", policy, &[]));
    // The 8 hosts of a group share one link (Kim et al., section 4: 1/(a·p)).
    assert!((8.0 * ALONE..8.3 * ALONE).contains(&minimal), "{}", minimal / ALONE);
    // Every packet takes two of the 8 global links per group: half the throughput.
    assert!((2.0 * ALONE..3.2 * ALONE).contains(&valiant), "{}", valiant / ALONE);
    // Local queues reflect the global link late (Kim et al., section 4.3).
    assert!(ugal < 1.5 * valiant, "{} {}", ugal / ALONE, valiant / ALONE);
    assert!(ugal < 0.5 * minimal, "{} {}", ugal / ALONE, minimal / ALONE);
    // On uniform traffic, minimal routes are best and UGAL takes them.
    let uniform = [("kind = \"shift\"\nshift = 8  ", "kind = \"all-to-all\"\n#")];
    let [minimal, valiant, ugal] =
        ["switch-random", "valiant", "ugal"].map(|policy| cct("dragonfly.toml", policy, &uniform));
    assert!(ugal < 1.2 * minimal && valiant > 1.3 * minimal, "{minimal} {valiant} {ugal}");
}

/// Groups of two leaves with four hosts each, and four spines with two global links each.
const DRAGONFLY_PLUS: [(&str, &str); 3] = [
    ("\"dragonfly\"", "\"dragonfly-plus\""),
    ("routers = 4 ", "leaves = 2\nspines = 4 "),
    ("hosts_per_router = 2", "hosts_per_leaf = 4"),
];

#[test]
fn ugal_and_valiant_avoid_the_shared_global_link_of_a_dragonfly_plus() {
    let times = |traffic: &str| {
        let changes = [&DRAGONFLY_PLUS[..], &[("kind = \"shift\"\nshift = 8  ", traffic)]].concat();
        ["switch-random", "valiant", "ugal"].map(|it| cct("dragonfly.toml", it, &changes) / ALONE)
    };
    // The 8 hosts of a group share its only link to the next group.
    let [minimal, valiant, ugal] = times("kind = \"shift\"\nshift = 8\n#");
    assert!((8.0..8.3).contains(&minimal), "{minimal}");
    // Every packet takes two of the 8 global links per group: half the throughput.
    assert!((2.0..3.2).contains(&valiant), "{valiant}");
    assert!(ugal < 1.5 * valiant && ugal < 0.5 * minimal, "{valiant} {ugal}");
    // The hosts of one leaf send to the other leaf of their group, over as many spines as hosts.
    // The hosts of that leaf send to the next group: four share a link.
    let [minimal, valiant, ugal] = times("kind = \"shift\"\nshift = 4\n#");
    assert!((4.0..4.3).contains(&minimal), "{minimal}");
    assert!((1.0..2.2).contains(&valiant) && ugal < 0.6 * minimal, "{valiant} {ugal}");
    // On uniform traffic, minimal routes are best and UGAL takes most of them.
    let [minimal, valiant, ugal] = times("kind = \"all-to-all\"\n#");
    assert!(ugal < 1.3 * minimal && valiant > 1.3 * minimal, "{minimal} {valiant} {ugal}");
}

/// A minimal route is leaf, spine, global link, spine, leaf.
#[test]
fn one_message_on_a_dragonfly_plus_takes_the_time_of_its_path() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("dragonfly-plus");
    std::fs::create_dir_all(&folder).unwrap();
    let text = |file: &str| {
        format!(
            "[topology]\nkind = \"dragonfly-plus\"\nleaves = 2\nspines = 2\n\
             hosts_per_leaf = 2\nglobal_links = 1\ngroups = 3\n\
             host_rate = \"200Gbps\"\nfabric_rate = \"200Gbps\"\n\
             global_delay = \"2us\"\n[transport]\ncongestion_control = \"line-rate\"\n\
             [policy]\nname = \"ecmp\"\n\
             [workload]\nkind = \"connection-matrix\"\nfile = \"{file}\"\n"
        )
    };
    for (dst, links, global) in [(1, 2, 0), (3, 4, 0), (4, 5, 1), (11, 5, 1)] {
        let file = format!("to-{dst}.cm");
        let matrix = format!("Nodes 12\nConnections 1\n0->{dst} id 1 start 0 size 409600\n");
        std::fs::write(folder.join(&file), matrix).unwrap();
        let parsed = Scenario::parse(&text(&file), "groups", &folder, &Overrides::default());
        let outcome = run(&parsed.unwrap_or_else(|error| panic!("{error}")));
        // Both directions: 500 ns per link, and 1.5 us more for the global one.
        let delay = 2 * (links * 500_000 + global * 1_500_000);
        let ps = (100 * 4_178 - 20 + (links - 1) * 4_158 + links * 64) * 40 + delay;
        assert_eq!(outcome.cct.unwrap().as_ps(), ps, "to host {dst}");
    }
}

#[test]
fn valiant_halves_the_throughput_of_a_torus_for_all_traffic() {
    let times =
        |changes| ["switch-random", "valiant", "ugal"].map(|it| cct("torus.toml", it, changes));
    // Three flows share each link of the ring in one direction.
    let [minimal, valiant, ugal] = times(&[]);
    assert!((2.9 * ALONE..3.3 * ALONE).contains(&minimal), "{}", minimal / ALONE);
    assert!((1.9 * ALONE..2.6 * ALONE).contains(&valiant), "{}", valiant / ALONE);
    assert!(ugal < 1.05 * minimal, "{} {}", ugal / ALONE, minimal / ALONE);
    // Neighbours have a dedicated link.
    let [minimal, valiant, ugal] = times(&[("shift = 3", "shift = 1")]);
    assert!(valiant > 1.5 * minimal && ugal < 1.3 * minimal, "{minimal} {valiant} {ugal}");
}

#[test]
fn unsupported_options_of_these_fabrics_are_rejected_with_the_reason() {
    for policy in ["ethereal", "host-dr", "conga", "ofan"] {
        let error = try_parse("torus.toml", Some(policy), &[]).unwrap_err();
        assert!(error.contains("no tiers"), "{policy}: {error}");
    }
    let fluid = [("[topology]", "fidelity = \"fluid\"\n[topology]")];
    let error = try_parse("dragonfly.toml", None, &fluid).unwrap_err();
    assert!(error.contains("minimal routes"), "{error}");
    let many = try_parse("dragonfly.toml", None, &[("groups = 9", "groups = 10")]).unwrap_err();
    assert!(many.contains("the limit of 9"), "{many}");
    let lossless = parse("torus.toml", None, &[("[policy]", "[switch]\npfc = true\n[policy]")]);
    assert!(lossless.warnings.iter().any(|it| it.contains("deadlock")), "{:?}", lossless.warnings);
}

#[test]
fn a_deadlock_on_a_ring_of_switches_is_named() {
    // Every host sends three switches ahead; the switches pause each other in a cycle.
    let text = "time_limit = \"20ms\"\n[topology]\nkind = \"torus\"\nx = 8\ny = 1\n\
                hosts_per_switch = 4\nhost_rate = \"400Gbps\"\nfabric_rate = \"100Gbps\"\n\
                [switch]\nbuffer = \"400KB\"\npfc = true\n\
                [transport]\ncongestion_control = \"line-rate\"\n\
                [policy]\nname = \"switch-random\"\n\
                [workload]\nkind = \"shift\"\nshift = 12\nbytes = \"4MiB\"\n";
    let parsed = Scenario::parse(text, "ring", Path::new(""), &Overrides::default());
    let scenario = parsed.unwrap_or_else(|error| panic!("{error}"));
    let outcome = fabric::run(&scenario.setup(), &mut |_| {});
    assert_ne!(outcome.verdict, Verdict::Completed);
    assert!(outcome.deadlock.len() >= 3, "{:?}", outcome.deadlock);
}

#[test]
fn hosts_of_a_dead_tor_continue_over_the_other_tor() {
    let failed = run(&parse("dual-tor.toml", None, &[]));
    // A link to one spine fails instead of the ToR, with little effect.
    let spared = [("switch = \"tor0a\"", "link = \"tor0a-spine0\"")];
    let whole = run(&parse("dual-tor.toml", None, &spared));
    let mean = |outcome: &Outcome, of_pair: bool| {
        let is_in = |flow: &&FlowRecord| (flow.src.0 < 8 || flow.dst.0 < 8) == of_pair;
        let flows: Vec<_> = outcome.flows.iter().filter(is_in).collect();
        let sum: f64 = flows.iter().map(|it| it.completed.since(it.start).as_ns_f64()).sum();
        sum / flows.len() as f64
    };
    let [of_pair, of_others] =
        [true, false].map(|of_pair| mean(&failed, of_pair) / mean(&whole, of_pair));
    assert!((1.3..2.0).contains(&of_pair), "{of_pair}");
    assert!(of_others < 1.05, "{of_others}");
}

#[test]
fn one_message_on_dual_tor_takes_the_time_of_its_path() {
    let text = "[topology]\nkind = \"dual-tor\"\npairs = 2\nspines = 1\nhosts_per_pair = 2\n\
                host_rate = \"200Gbps\"\nfabric_rate = \"200Gbps\"\n\
                [transport]\ncongestion_control = \"line-rate\"\n[policy]\nname = \"ecmp\"\n\
                [workload]\nkind = \"incast\"\nfan_in = 1\nbytes = \"409600B\"\n";
    let parsed = Scenario::parse(text, "pair", Path::new(""), &Overrides::default());
    let scenario = parsed.unwrap_or_else(|error| panic!("{error}"));
    let outcome = run(&scenario);
    let flow = outcome.flows[0];
    let links = if flow.src.0 / 2 == flow.dst.0 / 2 { 2 } else { 4 };
    // 100 packets of 4,158 bytes with 20-byte gaps at 40 ps per byte, and a 64-byte
    // acknowledgement.
    let ps = (100 * 4_178 - 20 + (links - 1) * 4_158 + links * 64) * 40 + 2 * links * 500_000;
    assert_eq!(outcome.cct.unwrap().as_ps(), ps);
}
