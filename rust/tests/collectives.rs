//! Collectives in the fabric: on a non-blocking fabric each takes its alpha-beta time.

use std::path::Path;
use std::sync::Arc;

use evenkeel::collective::{ALL, Collective, Plan};
use evenkeel::fabric::{self, Setup, Verdict};
use evenkeel::ids::HostId;
use evenkeel::scenario::{Overrides, Scenario};
use evenkeel::study::lower_bound;
use evenkeel::units::{Bytes, Span};

use crate::support::snapshot;

const SCENARIO: &str = "
[topology]
leaves = 1
spines = 1
hosts_per_leaf = 16

[transport]
congestion_control = \"line-rate\"
ack_every = 32

[policy]
name = \"ecmp\"
";

fn setup(collective: &Collective, plan: &Plan) -> Setup {
    let scenario =
        Scenario::parse(SCENARIO, "collectives", Path::new(""), &Overrides::default()).unwrap();
    let mut setup = scenario.setup();
    setup.workload = Arc::new(collective.build(plan).unwrap());
    setup
}

/// Returns the alpha-beta time in nanoseconds. Each step takes one latency (two links of 500 ns and
/// one stored and forwarded packet) plus the transmission time of its bytes, headers and gaps. The
/// acknowledgement's return path is added at the end.
fn form(collective: &Collective, plan: &Plan) -> f64 {
    let latency = 2.0 * 500.0 + 4_158.0 * 8.0 / 400.0;
    let cost = (collective.cost)(plan);
    let steps = cost.chain.iter().map(|&bytes| {
        let wire = bytes as f64 * (4_096.0 + 62.0 + 20.0) / 4_096.0;
        latency + wire * 8.0 / 400.0 + plan.gap.as_ns_f64()
    });
    let way_back = 2.0 * 500.0 + 64.0 * 8.0 / 400.0;
    let waits = (cost.acknowledged_steps + 1) as f64 * way_back;
    steps.sum::<f64>() + waits - plan.gap.as_ns_f64()
}

/// Returns a table row: the alpha-beta time and the simulated time, both in microseconds.
fn row(collective: &Collective, plan: &Plan) -> String {
    let setup = setup(collective, plan);
    let outcome = fabric::run(&setup, &mut |_| {});
    assert_eq!(outcome.verdict, Verdict::Completed, "{}", collective.name);
    let took = outcome.cct.expect("it completed").as_ns_f64();
    let bound = lower_bound(&setup).time.as_ns_f64();
    let form = form(collective, plan);
    let name = collective.name;
    assert!((took / form - 1.0).abs() < 0.002, "{name}: {took} ns for {form}");
    assert!(took >= 0.999_98 * bound, "{name}: {took} ns beat the bound, {bound}");
    let (messages, steps) = (setup.workload.messages.len(), (collective.cost)(plan).chain.len());
    format!("{name:<30} {messages:>8} {steps:>5} {:>10.2} {:>10.2}\n", form / 1e3, took / 1e3)
}

#[test]
fn each_collective_takes_its_alpha_beta_form() {
    let ranks: Vec<HostId> = (0..16).map(HostId).collect();
    let plan = |bytes, gap| Plan { group: 4, gap, ..Plan::new(ranks.clone(), Bytes::new(bytes)) };
    let mut table = String::from(
        "16 ranks, 4 MiB, 400 Gbps, one switch; in us\n\
         collective                     messages steps alpha-beta       took\n",
    );
    for collective in ALL {
        table += &row(collective, &plan(4 << 20, Span::ZERO));
        row(collective, &plan(1 << 16, Span::ZERO));
        row(collective, &plan(1 << 20, Span::from_us(5)));
    }
    snapshot("collective-costs", &table);
}

/// One microbatch through four stages of one layer and back: eight passes with six messages between
/// them, each over two idle links, exact to the picosecond.
#[test]
fn a_pipeline_takes_the_sum_of_its_passes_and_messages() {
    let training = "[workload]\nkind = \"training\"\nranks = 4\npipeline = 4\nmicrobatches = 1\n\
                    model = { layers = 4, hidden = 1024, sequence = 64 }\nflops = \"100Tflops\"\n";
    let parsed = |more: &str| {
        let text = format!("{SCENARIO}{training}{more}");
        Scenario::parse(&text, "pipeline", Path::new(""), &Overrides::default()).unwrap().setup()
    };
    // A layer has 12 h^2 + 13 h parameters with two operations per parameter and token. Its
    // attention has 4 h per pair of tokens. A backward pass takes twice as long.
    let (hidden, tokens) = (1_024u64, 64u64);
    let attention = 4 * hidden * hidden + 6 * hidden;
    let block = 8 * hidden * hidden + 7 * hidden;
    let works = [2 * attention + 4 * hidden * tokens, 2 * block];
    // The host computes 100 operations per picosecond.
    let passes: u64 = works
        .iter()
        .map(|work| (work * tokens).div_ceil(100) + (2 * work * tokens).div_ceil(100))
        .sum();
    // 32 packets of 4,096 B with 62 B of headers and 20 B gaps, at 20 ps per byte.
    let message = 32 * (4_158 + 20) * 20 - 20 * 20 + 4_158 * 20 + 2 * 500_000;
    let one = fabric::run(&parsed(""), &mut |_| {});
    assert_eq!(one.cct, Some(Span::from_ps(4 * passes + 6 * message)));
    // Iterations of one pipeline follow each other on its first stage.
    let two = fabric::run(&parsed("iterations = 2\n"), &mut |_| {});
    assert_eq!(two.cct, Some(Span::from_ps(2 * (4 * passes + 6 * message))));
}

/// A ring of four in which each step waits for the acknowledgements of the previous one. Each of
/// its six steps, a 16-packet message over two idle links, takes the message time plus the
/// acknowledgement's return path. Exact to the picosecond.
#[test]
fn steps_that_wait_for_acknowledgements_add_a_return_path_each() {
    let ring = "[workload]\nkind = \"ring-all-reduce\"\nranks = 4\nbytes = \"256KiB\"\n";
    let text = |rule: &str| format!("{SCENARIO}{ring}{rule}");
    let cct = |rule: &str| {
        let scenario =
            Scenario::parse(&text(rule), "ring", Path::new(""), &Overrides::default()).unwrap();
        let setup = scenario.setup();
        let cct = fabric::run(&setup, &mut |_| {}).cct.expect("it completed");
        assert!(cct >= lower_bound(&setup).time);
        cct
    };
    // 20 ps per byte.
    let message = 16 * (4_158 + 20) * 20 - 20 * 20 + 4_158 * 20 + 2 * 500_000;
    let way_back = 2 * (64 * 20 + 500_000);
    let told = cct("step_after = \"acknowledgement\"\n");
    assert_eq!(told, Span::from_ps(6 * (message + way_back)));
    // After deliveries, the acknowledgement is sent just before the next step's first packet.
    let ahead = (64 + 20) * 20;
    assert_eq!(told.as_ps() - cct("").as_ps(), 5 * (way_back - ahead));
}

#[test]
fn rotated_rings_use_the_nics_of_a_server_and_others_one_of_them() {
    let bus_bandwidth = |rotation: &str| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/nccl-rings.toml");
        let settings = vec![format!("workload.rotation={rotation}").parse().unwrap()];
        let overrides = Overrides { settings, ..Overrides::default() };
        let scenario = Scenario::load(&path, &overrides).unwrap_or_else(|error| panic!("{error}"));
        let outcome = fabric::run(&scenario.setup(), &mut |_| {});
        // 64 MB, sent 30/16 times by each of 16 GPUs.
        64e6 * 30.0 / 16.0 / outcome.cct.expect("it completed").as_ns_f64()
    };
    let [rotated, same] = ["8", "1"].map(bus_bandwidth);
    assert!((365.0..375.0).contains(&rotated), "{rotated} GB/s");
    assert!((47.0..49.0).contains(&same), "{same} GB/s");
}
