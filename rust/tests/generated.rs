//! Collectives whose messages are generated during the run have the same flows at the same times as
//! those built in advance.

use std::path::Path;

use evenkeel::balance;
use evenkeel::fabric::{FlowRecord, Verdict};
use evenkeel::scenario::{Overrides, Scenario};
use evenkeel::study::{Finished, lower_bound};
use evenkeel::units::Bytes;

use crate::support::{alone, extent};

/// Ranks at shared and at separate leaves, on links of two rates.
const FABRIC: &str = "
time_limit = \"100ms\"

[topology]
kind = \"leaf-spine\"
leaves = 3
spines = 2
hosts_per_leaf = 4
host_rate = \"100Gbps\"
fabric_rate = \"200Gbps\"
delay = \"500ns\"
";

fn parse(text: &str) -> Result<Scenario, String> {
    let parsed = Scenario::parse(text, "generated", Path::new(""), &Overrides::default());
    parsed.map_err(|error| error.to_string())
}

/// Returns a run and its flows, in completion order, or in message order for a workload built in
/// advance.
fn run(text: &str) -> (Finished, Vec<FlowRecord>) {
    let scenario = parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let bound = lower_bound(&scenario.setup()).time;
    let mut flows = Vec::new();
    let (finished, outcome) = alone(&scenario, &mut |flow| flows.push(*flow));
    assert_eq!(finished.verdict, Verdict::Completed, "{text}");
    assert!(outcome.cct >= Some(bound), "{:?} beats {bound}: {text}", outcome.cct);
    flows.extend(outcome.flows);
    (finished, flows)
}

/// Returns the properties of flows without their message numbers.
fn times(flows: &[FlowRecord]) -> Vec<impl Ord + std::fmt::Debug + use<>> {
    let time = |it: &FlowRecord| {
        (it.start, it.src, it.dst, it.piece, it.bytes, it.delivered, it.completed, it.source_port)
    };
    let mut times: Vec<_> = flows.iter().map(time).collect();
    times.sort_unstable();
    times
}

/// Checks that a workload has the same flows built in advance and generated during the run.
fn expect_the_same(workload: &str, policy: &str) {
    expect_the_same_with(workload, policy, "");
}

/// Like [`expect_the_same`], with additional sections.
fn expect_the_same_with(workload: &str, policy: &str, sections: &str) {
    let text = |streams: bool| {
        let policy = format!("[policy]\nname = \"{policy}\"\n");
        format!("{FABRIC}{workload}\nstreaming = {streams}\n{policy}{sections}")
    };
    assert!(parse(&text(true)).unwrap().streams(), "{workload}");
    let (whole, flows) = run(&text(false));
    let (generated, streamed) = run(&text(true));
    assert!(times(&streamed) == times(&flows), "{policy} sends other flows: {workload}");
    let mut summary = generated.summary;
    // Posting a message wakes its host: these events move no packet.
    summary.events = whole.summary.events;
    summary.wall_s = whole.summary.wall_s;
    summary.peak_rss_bytes = whole.summary.peak_rss_bytes;
    // The bound considers chains or load, but not both together, which costs most with pipelined
    // chunks.
    let bound = summary.bound_ns / whole.summary.bound_ns;
    assert!((0.75..=1.0).contains(&bound), "{bound} of the bound of {workload}");
    (summary.bound_ns, summary.slowdown) = (whole.summary.bound_ns, whole.summary.slowdown);
    // Only the number: some warnings state a timer as a multiple of the bound.
    assert_eq!(summary.warnings.len(), whole.summary.warnings.len());
    summary.warnings.clone_from(&whole.summary.warnings);
    assert_eq!(summary, whole.summary, "{policy}: {workload}");
}

#[test]
fn generated_rings_have_the_same_flows_under_every_policy() {
    let ring = "[workload]\nkind = \"ring-all-reduce\"\nbytes = \"300KB\"\n";
    for policy in balance::presets().map(|preset| preset.name) {
        expect_the_same(ring, policy);
    }
}

#[test]
fn generated_chunks_channels_and_gaps_match_the_whole_workload() {
    for keys in [
        "kind = \"ring-all-gather\"\nbytes = \"500001B\"\nranks = 7",
        "kind = \"ring-reduce-scatter\"\nbytes = \"500KB\"\nchannels = 2\nchunks = 3",
        "kind = \"ring-all-reduce\"\nbytes = \"200KB\"\ngap = \"3us\"",
        "kind = \"ring-all-reduce\"\nbytes = \"200KB\"\nstep_after = \"acknowledgement\"",
        "kind = \"ring-all-reduce\"\nbytes = \"200KB\"\nhosts = \"11, 2, 7, 0\"",
        "kind = \"pipeline\"\nbytes = \"400KB\"\nchunks = 5",
        "kind = \"pipeline\"\nbytes = \"3B\"\nchunks = 5\nchannels = 2",
    ] {
        for policy in ["ecmp", "spray", "ethereal", "subflow-4"] {
            expect_the_same(&format!("[workload]\n{keys}\n"), policy);
        }
    }
}

#[test]
fn an_all_to_all_with_few_messages_outstanding_has_the_same_flows_under_every_policy() {
    let exchange = "[workload]\nkind = \"all-to-all\"\nbytes = \"100KB\"\noutstanding = 3\n";
    for policy in balance::presets().map(|preset| preset.name) {
        expect_the_same(exchange, policy);
    }
    for keys in [
        "outstanding = 1",
        "outstanding = 11",
        "outstanding = 2\nchannels = 3",
        "outstanding = 2\ngap = \"3us\"",
        "outstanding = 4\nstep_after = \"acknowledgement\"",
        "outstanding = 4\nhosts = \"11, 2, 7, 0\"",
    ] {
        for policy in ["ecmp", "reps", "ethereal", "subflow-4"] {
            let workload = format!("[workload]\nkind = \"all-to-all\"\nbytes = \"1MB\"\n{keys}\n");
            expect_the_same(&workload, policy);
        }
    }
}

#[test]
fn discarding_queue_pairs_does_not_change_lossy_runs() {
    for keys in [
        "[transport]\nrecovery = \"go-back-n\"\n[switch]\nbuffer = \"60KB\"\n",
        "[transport]\ncongestion_control = \"dcqcn\"\n[switch]\nbuffer = \"90KB\"\n",
        "[switch]\ntrim = true\nbuffer = \"60KB\"\n",
    ] {
        for policy in ["ecmp", "spray", "reps"] {
            let workload = "[workload]\nkind = \"all-to-all\"\nbytes = \"2MB\"\noutstanding = 5";
            expect_the_same_with(workload, policy, keys);
        }
    }
}

#[test]
fn many_messages_are_generated_on_the_fly_by_default() {
    // With 18 ports there are just too many messages to build in advance.
    let ports: u64 = if extent::is_long() { 32 } else { 18 };
    let hosts = ports.pow(3) / 4;
    let text = format!(
        "[topology]\nkind = \"fat-tree\"\nk = {ports}\n[workload]\nkind = \"all-reduce\"\n\
         bytes = \"64MiB\"\n"
    );
    let scenario = parse(&text).unwrap();
    assert!(scenario.streams());
    assert_eq!(scenario.messages(), 2 * (hosts - 1) * hosts);
    assert_eq!(scenario.workload.messages.len() as u64, hosts);
    let sent = 2 * (hosts - 1) * (64 << 20);
    assert_eq!(scenario.workload.total_bytes(), Bytes::new(sent));
    // A resolved scenario resolves to itself.
    assert!(scenario.render().contains("streaming = true"), "{}", scenario.render());
    assert!(parse(&scenario.render()).unwrap().streams());
    // A path of two messages per host: each has left its host and crossed at least two links.
    let bound = lower_bound(&scenario.setup());
    assert_eq!(bound.binding, "dependency chain");
}

#[test]
fn ungenerable_workloads_are_rejected_with_the_reason() {
    let refused = |text: &str| parse(&format!("{FABRIC}{text}")).unwrap_err();
    for text in [
        "[workload]\nkind = \"all-to-all\"\nstreaming = true\n",
        "[workload]\nkind = \"all-to-all\"\noutstanding = 4\nchunks = 2\nstreaming = true\n",
        "[workload]\nkind = \"hierarchical-all-to-all\"\ngroup = 4\nstreaming = true\n",
        "[workload]\nkind = \"ring-all-reduce\"\nbytes = \"5B\"\nstreaming = true\n",
        "[workload]\nkind = \"ring-all-reduce\"\nstart_jitter = \"1us\"\nstreaming = true\n",
        "[[job]]\nkind = \"ring-all-reduce\"\nstreaming = true\n",
    ] {
        let error = refused(text);
        let expected = "messages are generated only for one ring, pipeline, or all-to-all";
        assert!(error.contains("streaming = true") && error.contains(expected), "{error}");
    }
    let error = refused("[workload]\nkind = \"ring-all-reduce\"\noutstanding = 4\n");
    assert!(error.contains("the messages of ring-all-reduce wait for each other"), "{error}");
    let error = refused("[workload]\nkind = \"all-to-all\"\noutstanding = 0\n");
    assert!(error.contains("0 outstanding messages"), "{error}");
    let text = format!("{FABRIC}[workload]\nkind = \"ring-all-reduce\"\nstreaming = true\n");
    let scenario = parse(&text).unwrap();
    let error = scenario.expect_known().unwrap_err().to_string();
    assert!(error.contains("with false, all are generated first"), "{error}");
    // A different seed also generates them.
    assert!(scenario.with_seed(7).unwrap().streams());
}

#[test]
fn messages_that_exceed_memory_are_rejected_before_they_are_built() {
    let text = "[topology]\nkind = \"fat-tree\"\nk = 40\n[workload]\nkind = \"all-to-all\"\n";
    let overrides =
        Overrides { most_memory: Some(Bytes::new(20_000_000_000)), ..Overrides::default() };
    let refused = Scenario::parse(text, "large", Path::new(""), &overrides).unwrap_err();
    let error = refused.to_string();
    let known = "[workload]\nkind = \"all-to-all\"\noutstanding = 8\n";
    assert!(parse(&text.replace("[workload]\nkind = \"all-to-all\"\n", known)).unwrap().streams());
    let expected = "topology = 16000 hosts is too large: 255984000 messages with 255984000 queue \
                    pairs take 425 GB of memory; the limit is 20 GB, the available memory";
    assert!(error.contains(expected), "{error}");
}
