//! Random scenarios, as text.

use std::path::Path;

use evenkeel::balance;
use evenkeel::collective;
use evenkeel::nic::{congestion, recovery};
use evenkeel::scenario::{Overrides, Scenario};
use proptest::prelude::*;
use proptest::sample::{Index, select};

/// The text of a scenario, printed unescaped so that a failing one can be saved and run.
pub(crate) struct Drawn(pub(crate) String);

impl std::fmt::Debug for Drawn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "\n{}", self.0)
    }
}

fn one_of(lines: Vec<&'static str>) -> impl Strategy<Value = String> {
    select(lines).prop_map(|line| line.replace('\'', "\""))
}

/// Generates fabrics without a common top tier, and with two ToRs for each host.
fn other_networks() -> impl Strategy<Value = String> {
    prop_oneof![
        (1u32..4, 1u32..3, 1u32..3).prop_map(|(pairs, spines, hosts)| format!(
            "kind = \"dual-tor\"\npairs = {pairs}\nspines = {spines}\n\
             hosts_per_pair = {hosts}\n"
        )),
        (1u32..5, 1u32..4, 1u32..3, 1u32..3).prop_map(|(x, y, z, hosts)| format!(
            "kind = \"torus\"\nx = {x}\ny = {y}\nz = {z}\nhosts_per_switch = {hosts}\n"
        )),
        (1u32..3, 1u32..3, 1u32..3).prop_map(|(servers, units, spines)| format!(
            "kind = \"rail-only\"\nrails = 2\nservers = {servers}\nunits = {units}\n\
             spines = {spines}\nscale_up = {{ gpus = 2, cross_rail = \"relay\" }}\n"
        )),
    ]
}

/// Generates dragonflies, which have no parallel links.
fn dragonfly() -> impl Strategy<Value = String> {
    let counts = (1u32..4, 1u32..3, 1u32..3, 2u32..5);
    let kinds = any::<bool>();
    (counts, kinds).prop_map(|((switches, hosts, global, groups), is_plus)| match is_plus {
        true => format!(
            "[topology]\nkind = \"dragonfly-plus\"\nleaves = {switches}\nspines = {switches}\n\
             hosts_per_leaf = {hosts}\nglobal_links = {global}\ngroups = {groups}\n"
        ),
        false => format!(
            "[topology]\nkind = \"dragonfly\"\nrouters = {switches}\n\
             hosts_per_router = {hosts}\nglobal_links = {global}\ngroups = {groups}\n"
        ),
    })
}

fn topology() -> impl Strategy<Value = String> {
    prop_oneof![9 => tiers(), 1 => dragonfly()]
}

fn tiers() -> impl Strategy<Value = String> {
    let rates = || select(vec!["100Gbps", "400Gbps", "3Gbps", "25Gbps"]);
    let delays = select(vec!["0s", "500ns", "7us"]);
    let links = (rates(), rates(), delays, 1u32..3).prop_map(|(host, fabric, delay, parallel)| {
        format!(
            "host_rate = \"{host}\"\nfabric_rate = \"{fabric}\"\ndelay = \"{delay}\"\n\
             parallel_links = {parallel}\n"
        )
    });
    let shape = prop_oneof![
        3 => (2u32..4, 1u32..4, 1u32..4).prop_map(|(leaves, spines, hosts)| format!(
            "kind = \"leaf-spine\"\nleaves = {leaves}\nspines = {spines}\n\
             hosts_per_leaf = {hosts}\n"
        )),
        1 => (2u32..4, select(vec!["1", "2"])).prop_map(|(tiers, ratio)| format!(
            "kind = \"fat-tree\"\nk = 4\ntiers = {tiers}\noversubscription = \"{ratio}\"\n"
        )),
        1 => (1u32..4, 2u32..4, 1u32..3, 1u32..3).prop_map(|(planes, leaves, spines, hosts)| {
            format!(
                "kind = \"multi-plane\"\nplanes = {planes}\nleaves = {leaves}\n\
                 spines = {spines}\nhosts_per_leaf = {hosts}\n"
            )
        }),
        1 => (1u32..4, 1u32..3, 1u32..3, 1u32..3).prop_map(|(rails, servers, units, spines)| {
            format!(
                "kind = \"rail-optimized\"\nrails = {rails}\nservers = {servers}\n\
                 units = {units}\nspines = {spines}\n"
            )
        }),
        1 => other_networks(),
    ];
    let retry = prop_oneof![7 => Just(""), 1 => Just("llr = {}\n")];
    let scale_up = prop_oneof![
        7 => Just(""),
        1 => Just("scale_up = { gpus = 2 }\n"),
        1 => Just("scale_up = { gpus = 2, rate = \"7Gbps\", cross_rail = \"relay\" }\n"),
    ];
    let wire = (select(vec!["0B", "20B"]), select(vec!["0s", "300ns"]), retry, scale_up);
    (shape, links, wire).prop_map(|(shape, links, (gap, forwarding, retry, scale_up))| {
        // A fabric without paths between rails has a scale-up network already.
        let scale_up = if shape.contains("scale_up") { "" } else { scale_up };
        format!(
            "[topology]\n{shape}{links}gap = \"{gap}\"\n\
             forwarding_delay = \"{forwarding}\"\n{retry}{scale_up}"
        )
    })
}

fn switch() -> impl Strategy<Value = String> {
    let buffer = one_of(vec![
        "buffer = '64MB'",
        "port_buffer = '5KB'",
        "port_buffer = '64KB'",
        "buffer = '30KB'",
        "buffer = '64MB'\npfc = { alpha = '1/8000' }",
        "buffer = '1MB'\npfc = {}",
        "buffer = '64MB'\npfc = { alpha = '1/4000', headroom = '0B' }",
        "cbfc = { memory = '5KB', credit = '64B' }",
        "cbfc = { memory = '40KB', credit = '2048B', overhead = -8, correction = '3us' }",
    ]);
    const EITHER: &str = "{ victim = \"arriving-or-last\" }";
    let trim = select(vec!["false", "false", "true", "{ limit = \"200B\" }", EITHER]);
    let ecn =
        select(vec!["step = \"0B\"", "step = \"800KB\"", "kmin = \"5KB\"", "kmin = \"50KB\""]);
    let at = select(vec!["enqueue", "dequeue"]);
    let last_hop = prop_oneof![3 => Just(""), 1 => Just("ecn_at_hosts = false\n")];
    (buffer, trim, ecn, at, last_hop).prop_map(|(buffer, trim, ecn, at, last_hop)| {
        format!("[switch]\n{buffer}\ntrim = {trim}\necn = {{ {ecn}, at = \"{at}\" }}\n{last_hop}")
    })
}

/// Selects `auto` half of the time, and otherwise one of the names.
fn or_auto(names: Vec<&'static str>) -> impl Strategy<Value = &'static str> {
    prop_oneof![1 => Just("auto"), 1 => select(names)]
}

fn transport() -> impl Strategy<Value = String> {
    let recoveries: Vec<_> = recovery::RECOVERIES.iter().map(|recovery| recovery.name).collect();
    let acks = (select(vec![1u32, 2, 7, 32]), any::<bool>(), select(vec!["wait", "at-once"]));
    let timers = (select(vec!["1us", "4us", "50us", "1ms"]), select(vec!["5us", "500us"]));
    let immediates =
        prop_oneof![7 => Just(""), 1 => Just("max_wimm = 1\n"), 1 => Just("max_wimm = 3\n")];
    let parts = (select(vec![1_000u32, 4_096]), acks, or_auto(recoveries), timers, immediates);
    parts.prop_map(|(payload, acks, recovery, (timeout, nack), immediates)| {
        let (every, priority, marked) = acks;
        format!(
            "[transport]\npayload = \"{payload}B\"\nack_every = {every}\n\
             ack_priority = {priority}\nack_marked = \"{marked}\"\n\
             recovery = \"{recovery}\"\n\
             retransmit_timeout = \"{timeout}\"\nnack_interval = \"{nack}\"\n{immediates}"
        )
    })
}

fn policy() -> impl Strategy<Value = &'static str> {
    select(balance::presets().map(|preset| preset.name).collect::<Vec<_>>())
}

/// Generates the lines of a workload or a job, with at most some thousand packets.
fn workload() -> impl Strategy<Value = String> {
    let collectives: Vec<_> = collective::ALL.iter().map(|it| it.name).collect();
    let of_collective =
        (select(collectives), 1u64..200_000, 1u32..3, 1u32..3, select(vec!["0s", "3us"])).prop_map(
            |(kind, bytes, channels, chunks, gap)| {
                format!(
                    "kind = \"{kind}\"\nbytes = \"{bytes}B\"\nchannels = {channels}\n\
                     chunks = {chunks}\ngap = \"{gap}\"\n"
                )
            },
        );
    let pattern = (
        one_of(vec!["'permutation'", "'shift'", "'incast'\nfan_in = 1", "'incast'\nfan_in = 2"]),
        1u64..300_000,
        select(vec!["0s", "2us"]),
    )
        .prop_map(|(kind, bytes, jitter)| {
            format!("kind = {kind}\nbytes = \"{bytes}B\"\nstart_jitter = \"{jitter}\"\n")
        });
    prop_oneof![1 => of_collective, 1 => pattern]
}

/// Generates one workload, or two jobs on alternate hosts, the second perhaps with its own policy.
fn traffic() -> impl Strategy<Value = String> {
    let jobs = (workload(), workload(), prop::option::of(policy()), any::<bool>());
    prop_oneof![
        3 => workload().prop_map(|lines| format!("[workload]\n{lines}")),
        1 => jobs.prop_map(|(first, second, policy, follows)| {
            let own = policy.map_or_else(String::new, |name| format!("policy = \"{name}\"\n"));
            let after = if follows { "after = \"a\"\n" } else { "start = \"1us\"\n" };
            format!(
                "[[job]]\nname = \"a\"\n{first}[[job]]\nname = \"b\"\n{after}{own}{second}"
            )
        }),
    ]
}

/// Generates three traffic classes and jobs of different ones that share their hosts. They replace
/// the traffic in two of five scenarios.
fn classes() -> impl Strategy<Value = Option<String>> {
    let of_class = |name: &'static str| {
        let scheduling = prop_oneof![
            1 => Just("scheduling = \"strict\"\n".to_owned()),
            3 => (1u32..5).prop_map(|weight| format!("weight = {weight}\n")),
        ];
        // `scenario` removes `pfc = true` where the fabric has no flow control.
        let pfc = select(vec!["", "pfc = true\n", "pfc = false\n"]);
        (scheduling, pfc)
            .prop_map(move |(line, pfc)| format!("[[class]]\nname = \"{name}\"\n{line}{pfc}"))
    };
    let three = (of_class("a"), of_class("b"), of_class("c"));
    let orders = select(vec!["abc", "bac", "acb", "cba"]);
    let jobs = (prop::collection::vec(workload(), 2..4), select(vec!["0s", "1us"]), orders);
    let drawn = (three, jobs).prop_map(|((a, b, c), (jobs, start, order))| {
        let job = |(lines, class): (String, char)| {
            format!("[[job]]\nclass = \"{class}\"\nstart = \"{start}\"\n{lines}")
        };
        let jobs: String = jobs.into_iter().zip(order.chars()).map(job).collect();
        Some(format!("{a}{b}{c}{jobs}"))
    });
    prop_oneof![3 => Just(None), 2 => drawn]
}

/// True if hosts of the topology have ports in several planes, which exclude traffic classes.
fn has_several_ports(topology: &str) -> bool {
    let is_multi_plane = topology.contains("multi-plane") && !topology.contains("planes = 1\n");
    is_multi_plane || topology.contains("dual-tor")
}

/// Adapts a scenario to traffic classes: no trimming, no credit-based flow control,
/// acknowledgements with priority, and room for the headroom of each class.
fn suited(text: &str) -> String {
    let mut kept = String::new();
    for line in text.lines() {
        match line.split(" =").next().unwrap_or_default() {
            "trim" => kept += "trim = false",
            "ack_priority" => kept += "ack_priority = true",
            "cbfc" => continue,
            "buffer" => kept += &line.replace("\"1MB\"", "\"8MB\""),
            _ => kept += line,
        }
        kept.push('\n');
    }
    kept
}

/// A failure of a link: its index, start and duration in ns (0 for the rest of the run), the delays
/// of detection and convergence in ns, and its kind.
#[derive(Debug, Clone)]
struct Failure {
    link: Index,
    at: u64,
    lasts: u64,
    known: (u64, u64),
    kind: String,
}

fn failures() -> impl Strategy<Value = Vec<Failure>> {
    let kind = one_of(vec![
        "kind = 'down'",
        "kind = 'degrade'\nfactor = '1/7'",
        "kind = 'loss'\nrate = '1/10'",
    ]);
    let lasts = prop_oneof![1 => Just(0u64), 3 => 1u64..200_000];
    let failure = (any::<Index>(), 0u64..20_000, lasts, (0u64..9_000, 0u64..30_000), kind)
        .prop_map(|(link, at, lasts, known, kind)| Failure { link, at, lasts, known, kind });
    prop_oneof![1 => Just(Vec::new()), 1 => prop::collection::vec(failure, 1..4)]
}

/// Formats failures as tables, at most one per link.
fn written(failures: &[Failure], text: &str) -> String {
    let parsed = Scenario::parse(text, "drawn", Path::new(""), &Overrides::default());
    let Ok(scenario) = parsed else { return String::new() };
    let links = scenario.topology.link_names();
    let mut taken: Vec<&String> = Vec::new();
    let mut tables = String::new();
    for Failure { link, at, lasts, known: (detection, convergence), kind } in failures {
        let link = link.get(links);
        if taken.contains(&link) {
            continue;
        }
        taken.push(link);
        let until = if *lasts == 0 { "never".to_owned() } else { format!("{}ns", at + lasts) };
        tables += &format!(
            "[[failure]]\nlink = \"{link}\"\nat = \"{at}ns\"\nuntil = \"{until}\"\n\
             detection = \"{detection}ns\"\nconvergence = \"{convergence}ns\"\n{kind}\n"
        );
    }
    tables
}

/// Generates scenarios of one fabric.
pub(crate) fn scenario() -> impl Strategy<Value = Drawn> {
    let controls: Vec<_> = congestion::CONTROLS.iter().map(|control| control.name).collect();
    let general = (0u32..1_000, policy(), select(controls));
    let of_planes = (any::<bool>(), any::<bool>(), classes());
    let parts = (general, topology(), switch(), transport(), traffic(), failures(), of_planes);
    parts.prop_map(|(general, topology, switch, transport, traffic, failures, of_planes)| {
        let ((seed, policy, control), (probes, windows, classes)) = (general, of_planes);
        // Only `mrc` has a return path to probe for, and only with several planes. Several planes
        // may also have a window each. Queue pairs to the same host may share a window.
        let has_planes = topology.contains("multi-plane") && !topology.contains("planes = 1\n");
        let own = match probes && policy == "mrc" && has_planes {
            true => "reverse = \"probe\"\n",
            false => "",
        };
        let scope = match (has_planes, probes) {
            (true, false) => Some("plane"),
            (true, true) => Some("destination-plane"),
            (false, _) => Some("destination").filter(|_| control == "nscc"),
        };
        let control = match scope.filter(|_| windows) {
            Some(scope) => format!("\"nscc\"\nparameters = {{ scope = \"{scope}\" }}"),
            None => format!("\"{control}\""),
        };
        let classes = classes.filter(|_| !has_several_ports(&topology));
        let fabric = format!("{switch}{transport}");
        let (fabric, traffic) = match classes {
            None => (fabric, traffic),
            Some(jobs) if fabric.contains("\npfc") => (suited(&fabric), jobs),
            Some(jobs) => (suited(&fabric), jobs.replace("pfc = true\n", "")),
        };
        let text = format!(
            "seed = {seed}\ntime_limit = \"3ms\"\n{topology}{fabric}\
                 congestion_control = {control}\n[policy]\nname = \"{policy}\"\n{own}{traffic}"
        );
        let tables = written(&failures, &text);
        Drawn(text + &tables)
    })
}
