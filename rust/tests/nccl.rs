//! NCCL's collectives in the fabric: what must not matter does not, and the latencies of the cost
//! model are those of a run.

use std::path::Path;

use evenkeel::fabric::Verdict;
use evenkeel::nccl::{NcclOperation, estimates};
use evenkeel::scenario::{Overrides, Scenario};
use evenkeel::study::lower_bound;
use evenkeel::units::{Bytes, Span};

use crate::support::alone;

/// Servers of eight GPUs on eight rails.
fn scenario(servers: u32, fidelity: &str, keys: &str) -> Scenario {
    let text = format!(
        "fidelity = \"{fidelity}\"\n[topology]\nkind = \"rail-optimized\"\nrails = 8\n\
         servers = {servers}\nunits = 1\nscale_up = {{ gpus = 8, rate = \"2966Gbps\", \
         latency = \"0ns\", cross_rail = \"relay\" }}\n[transport]\n\
         congestion_control = \"line-rate\"\n[policy]\nname = \"ecmp\"\n[workload]\n\
         kind = \"nccl\"\n{keys}\n"
    );
    let parsed = Scenario::parse(&text, "nccl", Path::new(""), &Overrides::default());
    parsed.unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn time(scenario: &Scenario) -> Span {
    let (finished, outcome) = alone(scenario, &mut |_| {});
    assert_eq!(finished.verdict, Verdict::Completed);
    let cct = outcome.cct.expect("it completed");
    assert!(cct >= lower_bound(&scenario.setup()).time, "{cct:?} beats the bound");
    cct
}

/// Operations and sizes that use every algorithm.
const WORK: [(&str, &str); 6] = [
    ("all-reduce", "8B"),
    ("all-reduce", "1MiB"),
    ("all-reduce", "16MiB"),
    ("all-gather", "4MiB"),
    ("broadcast", "4MiB"),
    ("all-to-all", "4MiB"),
];

#[test]
fn idle_servers_their_order_and_auto_do_not_matter() {
    for (operation, bytes) in WORK {
        let keys = format!("operation = \"{operation}\"\nbytes = \"{bytes}\"\n");
        let plain = time(&scenario(2, "packet", &keys));
        let idle = time(&scenario(5, "packet", &format!("{keys}ranks = 16")));
        assert_eq!(plain, idle, "{operation} of {bytes}: idle servers");
        let moved = time(&scenario(5, "packet", &format!("{keys}hosts = \"24..32,8..16\"")));
        assert_eq!(plain, moved, "{operation} of {bytes}: other servers");
        let auto = format!("{keys}algorithm = \"auto\"\nprotocol = \"auto\"");
        assert_eq!(plain, time(&scenario(2, "packet", &auto)), "{operation} of {bytes}: auto");
    }
}

#[test]
fn packets_and_flows_agree() {
    for (operation, bytes) in WORK {
        let keys = format!("operation = \"{operation}\"\nbytes = \"{bytes}\"\n");
        let [packets, fluid] =
            ["packet", "fluid"].map(|fidelity| time(&scenario(2, fidelity, &keys)).as_ns_f64());
        assert!((fluid / packets - 1.0).abs() < 0.03, "{operation} {bytes}: {packets} {fluid}");
    }
}

#[test]
fn eight_bytes_take_the_latency_of_the_model() {
    for servers in [1, 2, 4, 8] {
        let scenario = scenario(8, "packet", &format!("bytes = \"8B\"\nranks = {}", 8 * servers));
        let (system, run) = scenario.nccl().unwrap();
        let all = estimates(&system, NcclOperation::AllReduce, Bytes::new(8));
        let found =
            all.iter().find(|it| (it.algorithm, it.protocol) == (run.algorithm, run.protocol));
        let model = found.unwrap().latency;
        let ours = time(&scenario).as_ns_f64() / 1e3;
        // The fabric's packets of 78 bytes take nanoseconds.
        assert!((ours / model - 1.0).abs() < 0.01, "{servers} servers: {ours} for {model}");
    }
}

#[test]
fn every_protocol_takes_about_the_time_of_the_model_on_a_ring() {
    for operation in ["all-reduce", "all-gather", "reduce-scatter"] {
        for (protocol, bytes) in [("ll", 20), ("ll128", 22), ("simple", 26)] {
            let keys = format!(
                "operation = \"{operation}\"\nbytes = \"{}B\"\nalgorithm = \"ring\"\n\
                 protocol = \"{protocol}\"",
                1u64 << bytes
            );
            let scenario = scenario(2, "fluid", &keys);
            let (system, run) = scenario.nccl().unwrap();
            let all = estimates(&system, run.operation, run.bytes);
            let same = |it: &&evenkeel::nccl::Estimate| {
                (it.algorithm, it.protocol) == (run.algorithm, run.protocol)
            };
            let model = all.iter().find(same).unwrap().time;
            let ours = time(&scenario).as_ns_f64() / 1e3;
            let ratio = ours / model;
            assert!((0.75..1.35).contains(&ratio), "{operation} {protocol}: {ours} for {model}");
        }
    }
}

#[test]
fn chains_are_pipelined_and_keep_to_their_ceiling() {
    for operation in ["broadcast", "reduce"] {
        let rate = |protocol: &str| {
            let keys = format!(
                "operation = \"{operation}\"\nbytes = \"256MiB\"\nprotocol = \"{protocol}\""
            );
            let ns = time(&scenario(2, "fluid", &keys)).as_ns_f64();
            f64::from(1 << 28) / ns
        };
        // LL has 39 GB/s on two servers; Simple the rings' 360 GB/s less the time to fill them.
        let (ll, simple) = (rate("ll"), rate("simple"));
        assert!((30.0..39.5).contains(&ll), "{operation}: {ll} GB/s");
        assert!((200.0..370.0).contains(&simple), "{operation}: {simple} GB/s");
    }
}

#[test]
fn a_longer_way_takes_longer() {
    let keys = "operation = \"all-gather\"\nbytes = \"8B\"\nranks = 32";
    let near = scenario(4, "packet", keys);
    let text =
        near.render().replace("servers = 4", "servers = 2").replace("units = 1", "units = 2");
    let far = Scenario::parse(&text, "far", Path::new(""), &Overrides::default()).unwrap();
    assert!(time(&far) > time(&near));
}
