//! Published traces and schedules, run as a user would run them, and our own traces, written and
//! reread.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use evenkeel::chakra::{Replay, Traces};
use evenkeel::fabric::{self, FlowRecord, Outcome, Setup, Verdict, World};
use evenkeel::ids::{HostId, TaskId};
use evenkeel::report::trace_files;
use evenkeel::scenario::{Overrides, Scenario};
use evenkeel::study::lower_bound;
use evenkeel::units::{Bytes, Span, Time};
use evenkeel::workload::{Delay, Lane, Message, Workload};

/// Returns the folder of real traces next to the project; `None`, with a message, if it does not
/// exist.
fn shared(test: &str) -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data/chakra");
    if !folder.is_dir() {
        eprintln!("{test} is skipped: there is no {}", folder.display());
        return None;
    }
    Some(folder)
}

fn scenario(folder: &Path, text: &str) -> Scenario {
    Scenario::parse(text, "traces", folder, &Overrides::default())
        .unwrap_or_else(|error| panic!("{error}"))
}

/// Runs a scenario, which must complete without beating its lower bound.
fn run(scenario: &Scenario) -> Outcome {
    let setup = scenario.setup();
    let outcome = fabric::run(&setup, &mut |_| {});
    assert_eq!(outcome.verdict, Verdict::Completed);
    let (cct, bound) = (outcome.cct.expect("it completed"), lower_bound(&setup).time);
    assert!(cct >= bound, "{cct} beats the bound {bound}");
    outcome
}

fn cct(folder: &Path, text: &str) -> Span {
    run(&scenario(folder, text)).cct.expect("it completed")
}

/// Returns a fabric of one leaf, where hosts share no links.
fn one_leaf(hosts: u32, workload: &str) -> String {
    format!(
        "[topology]\nleaves = 1\nspines = 1\nhosts_per_leaf = {hosts}\n[policy]\nname = \
         \"ecmp\"\n[transport]\ncongestion_control = \"line-rate\"\n[workload]\n{workload}"
    )
}

#[test]
fn a_trace_of_one_collective_node_takes_the_time_of_the_collective() {
    let Some(folder) = shared("a_collective_node_a_rank") else { return };
    for (name, kind, times) in [
        ("all_reduce", "all-reduce", 1),
        ("all_to_all", "all-to-all", 1),
        ("reduce_scatter", "reduce-scatter", 1),
        // A trace states the input of each rank, 1 MB; a scenario states the length of the result.
        ("all_gather", "all-gather", 8),
    ] {
        for ranks in [8, 16] {
            let file = format!("microbenchmarks/{name}/{ranks}npus_1MB/{name}");
            let trace = format!("kind = \"chakra\"\nfile = \"{file}\"\n");
            let bytes = 1_048_576 * if times == 8 { ranks } else { 1 };
            let own = format!("kind = \"{kind}\"\nbytes = \"{bytes}B\"\n");
            let [trace, own] = [trace, own].map(|text| cct(&folder, &one_leaf(ranks, &text)));
            assert_eq!(trace, own, "{name} of {ranks}");
        }
    }
}

#[test]
fn a_published_ring_takes_the_time_of_our_ring_and_its_computation() {
    let Some(folder) = shared("the_ring_that_somebody_wrote_out") else { return };
    let file = "custom_ring_allreduce_8npus_1MB/custom_allreduce";
    let trace = format!("kind = \"chakra\"\nfile = \"{file}\"\n");
    let own = "kind = \"all-reduce\"\nalgorithm = \"ring\"\nbytes = \"1MiB\"\n";
    let [trace, own] = [&trace, own].map(|text| cct(&folder, &one_leaf(8, text)).as_ns_f64());
    // The trace's seven reductions take 7 us each; ours take no time.
    let computation = 49_000.0;
    let ratio = (trace - computation) / own;
    assert!((0.99..=1.01).contains(&ratio), "{trace} ns, ours {own} ns: {ratio}");
}

#[test]
fn a_pytorch_trace_is_replayed_by_all_ranks() {
    let Some(folder) = shared("a_pytorch_trace") else { return };
    let text = one_leaf(4, "kind = \"chakra\"\nfile = \"pytorch/chakra.0.et.gz\"\n");
    // Its control dependencies refer to missing nodes and to the nodes themselves.
    let error = Scenario::parse(&text, "traces", &folder, &Overrides::default()).unwrap_err();
    let text_of = error.to_string();
    for part in ["rank 0, node ", ", byte ", "control dependency", "dependencies = \"data\""] {
        assert!(text_of.contains(part), "{text_of}");
    }
    let scenario = scenario(&folder, &format!("{text}dependencies = \"data\"\n"));
    let outcome = run(&scenario);
    // Two tree broadcasts and five ring all-reduces, all of four ranks.
    let sent =
        3 * (212_480 + 424) + 6 * (8_196_000u64 + 31_502_336 + 26_255_360 + 26_550_272 + 9_724_160);
    assert_eq!(scenario.workload.total_bytes().get(), sent);
    assert!(outcome.cct.expect("it completed") > Span::from_ms(1));
}

#[test]
fn written_traces_take_the_same_time_when_read_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let fabric =
        "[topology]\nleaves = 4\nspines = 4\nhosts_per_leaf = 4\n[policy]\nname = \"spray\"\n";
    for workload in [
        "kind = \"all-reduce\"\nalgorithm = \"ring\"\nbytes = \"1MB\"\ngap = \"1234567ps\"\n",
        "kind = \"all-reduce\"\nalgorithm = \"double-binary-tree\"\nbytes = \"1MB\"\n\
         channels = 2\nchunks = 3\n",
        "kind = \"halving-doubling-all-reduce\"\nbytes = \"300001B\"\n",
        "kind = \"binomial-broadcast\"\nbytes = \"1MB\"\n",
        "kind = \"all-to-all\"\nbytes = \"1MB\"\nstart_jitter = \"3us\"\n",
        "kind = \"barrier\"\n",
    ] {
        let own = scenario(folder.path(), &format!("{fabric}[workload]\n{workload}"));
        let traces = Traces::of(&own.workload).expect("it can be written");
        trace_files::write(folder.path(), "own", &traces).expect("it is written");
        for rule in ["", "step_after = \"acknowledgement\"\n"] {
            let own = format!("{fabric}[workload]\n{workload}{rule}");
            let read = format!("{fabric}[workload]\nkind = \"chakra\"\nfile = \"own\"\n{rule}");
            let [own, again] = [&own, &read].map(|text| run(&scenario(folder.path(), text)));
            // The trace starts at time zero, our workload at its first start.
            let begin = own.flows.iter().map(|flow| flow.start).min().expect("flows");
            let expected = own.cct.map(|cct| begin.saturating_add(cct));
            let got = again.cct.map(|cct| Time::ZERO.saturating_add(cct));
            assert_eq!(got, expected, "{workload}{rule}");
            assert_eq!(again.messages, own.messages);
            expect_the_same(folder.path(), &read);
        }
    }
}

#[test]
fn a_start_is_kept_in_traces() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = one_leaf(4, "kind = \"ring-all-reduce\"\nbytes = \"64KB\"\nstart = \"5us\"\n");
    let own = scenario(folder.path(), &text);
    let traces = Traces::of(&own.workload).expect("it can be written");
    trace_files::write(folder.path(), "own", &traces).expect("it is written");
    let again = one_leaf(4, "kind = \"chakra\"\nfile = \"own\"\n");
    let first = |scenario: &Scenario| run(scenario).flows.iter().map(|flow| flow.start).min();
    let expected = Some(Time::ZERO + Span::from_us(5));
    assert_eq!(first(&own), expected);
    assert_eq!(first(&scenario(folder.path(), &again)), expected);
}

#[test]
fn traces_with_missing_ranks_are_rejected() {
    let folder = tempfile::tempdir().expect("a folder");
    let own = scenario(folder.path(), &one_leaf(4, "kind = \"ring-all-reduce\"\n"));
    let traces = Traces::of(&own.workload).expect("it can be written");
    trace_files::write(folder.path(), "own", &traces).expect("it is written");
    fs::remove_file(folder.path().join("own.2.et")).expect("it was there");
    let text = one_leaf(4, "kind = \"chakra\"\nfile = \"own\"\n");
    let error = Scenario::parse(&text, "traces", folder.path(), &Overrides::default());
    let error = error.unwrap_err().to_string();
    assert!(error.contains("own.2.et: rank 2: missing"), "{error}");
    let text = one_leaf(3, "kind = \"chakra\"\nfile = \"own\"\n");
    let error = Scenario::parse(&text, "traces", folder.path(), &Overrides::default());
    let error = error.unwrap_err().to_string();
    assert!(error.contains("there are 3 hosts"), "{error}");
}

#[test]
fn a_dissemination_barrier_in_goal_takes_four_rounds() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let load = |name: &str| Scenario::load(&folder.join(name), &Overrides::default()).unwrap();
    let goal = load("goal-dissemination.toml");
    let outcome = run(&goal);
    assert_eq!(outcome.messages, 64);
    // The same messages as our barrier, except for their length.
    let text = one_leaf(16, "kind = \"barrier\"\nbytes = \"1B\"\n");
    assert_eq!(outcome.cct, Some(cct(&folder, &text)));
}

#[test]
fn flows_of_a_connection_matrix_follow_each_other() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let path = folder.join("connection-matrix.toml");
    let scenario = Scenario::load(&path, &Overrides::default()).unwrap();
    let outcome = run(&scenario);
    // Two rounds of a ring of four; the second starts when the first is fully delivered.
    let text = one_leaf(4, "kind = \"shift\"\nbytes = \"2MB\"\n");
    let alone = run(&self::scenario(&folder, &text));
    let delivered = alone.flows.iter().map(|flow| flow.delivered).max().expect("flows");
    // At that time each host first sends an acknowledgement: 64 B plus the 20 B gap.
    let ack = Span::from_ps(84 * 20);
    let expected = delivered.saturating_add(alone.cct.expect("it completed")).saturating_add(ack);
    let got = evenkeel::units::Time::ZERO.saturating_add(outcome.cct.expect("it completed"));
    assert_eq!(got, expected);
}

#[test]
fn a_receive_from_any_source_matches_the_first_arrival() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/goal-nodes.toml");
    let outcome = run(&Scenario::load(&path, &Overrides::default()).unwrap());
    let flow = |src: u32| outcome.flows.iter().find(|flow| flow.src.0 == src).expect("a flow");
    // Node 2 (host 4) sends immediately, and node 1 (host 2) after 100 us. The second NIC of node 0
    // answers the first message, to the second NIC of node 1.
    assert_eq!(flow(2).start, Time::ZERO + Span::from_us(100));
    assert_eq!((flow(1).start, flow(1).dst.0), (flow(4).delivered, 3));
}

#[test]
fn each_completion_of_a_multishot_trigger_starts_the_next_message() {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/connection-matrix-multishot.toml");
    let outcome = run(&Scenario::load(&path, &Overrides::default()).unwrap());
    let flow = |bytes: u64| {
        let mut flows = outcome.flows.iter();
        flows.find(|flow| flow.bytes.get() == bytes).expect("a flow")
    };
    let [first, second, third, fourth] = [1, 4, 8, 2].map(|mb| flow(mb * 1_000_000));
    let start = Time::ZERO + Span::from_us(5);
    assert_eq!((first.start, second.start), (start, start));
    assert!(first.completed < second.completed, "the shorter one completes first");
    assert_eq!((third.start, fourth.start), (first.completed, second.completed));
}

#[test]
fn a_ring_of_simccl_takes_the_time_of_the_collective() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let simccl = Scenario::load(&folder.join("simccl-ring.toml"), &Overrides::default()).unwrap();
    let text = one_leaf(4, "kind = \"ring-all-reduce\"\nbytes = \"1MB\"\n");
    assert_eq!(run(&simccl).cct, Some(cct(&folder, &text)));
}

#[test]
fn an_infragraph_file_builds_the_fabric_it_describes() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let described = Scenario::load(&folder.join("infragraph.toml"), &Overrides::default()).unwrap();
    let text = "[topology]\nkind = \"rail-optimized\"\nrails = 4\nservers = 8\nunits = 1\n\
                spines = 2\nfabric_rate = \"800Gbps\"\n[policy]\nname = \"ethereal\"\n\
                [workload]\nkind = \"all-to-all\"\nbytes = \"1MB\"\n";
    assert_eq!(described.topology.host_names()[5], "host.1.nic.1");
    assert_eq!(described.warnings, [] as [String; 0]);
    assert_eq!(run(&described).cct, Some(cct(&folder, text)));
}

#[test]
fn the_examples_traces_form_a_ring() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let path = folder.join("chakra-ring.toml");
    let traces = Scenario::load(&path, &Overrides::default()).unwrap();
    let text = one_leaf(4, "kind = \"ring-all-reduce\"\nbytes = \"1MB\"\n");
    let own = cct(&folder, &text);
    assert_eq!(run(&traces).cct, Some(own));
    let streaming = folder.join("chakra-streaming.toml");
    let streaming = Scenario::load(&streaming, &Overrides::default()).unwrap();
    assert_eq!(replay(&streaming).0.cct, Some(own));
}

/// Replays traces that are read during the run; returns the outcome, the flows, and the maximum
/// number of nodes in memory.
fn replay(scenario: &Scenario) -> (Outcome, Vec<FlowRecord>, u64) {
    let setup = Setup { workload: Arc::default(), ..scenario.setup() };
    let traces = scenario.traces.as_ref().expect("it streams");
    let mut flows = Vec::new();
    let mut record = |flow: &FlowRecord| flows.push(*flow);
    let mut program = Replay::new(traces.player(), &mut record);
    let mut world = World::new(&setup);
    world.discard_completed();
    let observers = fabric::Observers { watch: None, progress: &mut |_| {} };
    let outcome = fabric::drive(world, &mut program, observers);
    let player = program.into_player();
    assert!(player.fault().is_none(), "{:?}", player.fault());
    let most_held = player.most_held();
    assert_eq!(outcome.verdict, Verdict::Completed);
    let bound = lower_bound(&scenario.setup()).time;
    assert!(outcome.cct >= Some(bound), "{:?} beats the bound {bound}", outcome.cct);
    assert_eq!(outcome.messages, traces.messages());
    let discarded = outcome.discarded.as_ref().expect("it discards");
    assert_eq!(discarded.bytes, traces.load().total_bytes());
    (outcome, flows, most_held)
}

/// Checks that a trace gives the same flows at the same times whether read in advance or on the
/// fly.
fn expect_the_same(folder: &Path, text: &str) {
    let whole = run(&scenario(folder, text));
    let (outcome, flows, _) = replay(&scenario(folder, &format!("{text}streaming = true\n")));
    assert_eq!(outcome.cct, whole.cct, "{text}");
    let times = |flows: &[FlowRecord]| {
        let time =
            |it: &FlowRecord| (it.start, it.src, it.dst, it.bytes, it.delivered, it.completed);
        let mut times: Vec<_> = flows.iter().map(time).collect();
        times.sort_unstable();
        times
    };
    assert!(times(&flows) == times(&whole.flows), "different times: {text}");
    assert_eq!(outcome.counters.packet_hops, whole.counters.packet_hops);
}

#[test]
fn real_traces_give_the_same_flows_when_streamed() {
    let Some(folder) = shared("while_they_run_real_traces") else { return };
    for name in ["all_reduce", "all_to_all", "reduce_scatter", "all_gather"] {
        let file = format!("microbenchmarks/{name}/8npus_1MB/{name}");
        expect_the_same(&folder, &one_leaf(8, &format!("kind = \"chakra\"\nfile = \"{file}\"\n")));
    }
    let ring = "custom_ring_allreduce_8npus_1MB/custom_allreduce";
    expect_the_same(&folder, &one_leaf(8, &format!("kind = \"chakra\"\nfile = \"{ring}\"\n")));
    for compute in ["serial", "parallel"] {
        let pytorch = format!(
            "kind = \"chakra\"\nfile = \"pytorch/chakra.0.et.gz\"\ndependencies = \"data\"\n\
             compute = \"{compute}\"\nwindow = 100000\n"
        );
        expect_the_same(&folder, &one_leaf(4, &pytorch));
    }
}

/// Returns rounds of computation and messages to both neighbours on a ring of four hosts; each
/// round depends on the previous one.
fn rounds(count: u32) -> Workload {
    let (mut messages, mut delays, mut waits) = (Vec::new(), Vec::new(), Vec::new());
    let per_round = 8;
    for round in 0..count {
        for rank in 0..4u32 {
            let host = HostId(rank);
            let delay = TaskId(count * per_round + round * 4 + rank);
            delays.push(Delay { host, span: Span::from_ns(300 + u64::from(rank * round % 7)) });
            for step in [1, 3] {
                let dst = HostId((rank + step) % 4);
                let id = TaskId(messages.len() as u32);
                let bytes = Bytes::new(1_000 + u64::from(round % 5));
                messages.push(Message { src: host, dst, bytes, stream: 0, start: Time::ZERO });
                waits.push((delay, id));
                if round + 1 < count {
                    let next = TaskId(count * per_round + (round + 1) * 4 + dst.0);
                    waits.push((id, next));
                }
            }
        }
    }
    waits.sort_unstable();
    let mut workload = Workload::with_delays(messages, delays, &waits);
    workload.lanes = vec![Some(Lane(1)); workload.delays.len()];
    workload
}

#[test]
fn memory_is_bounded_by_the_window_not_the_trace() {
    let folder = tempfile::tempdir().expect("a folder");
    let workload = rounds(10_000);
    let traces = Traces::of(&workload).expect("it can be written");
    trace_files::write(folder.path(), "long", &traces).expect("it is written");
    let nodes = 4 * 10_000 * (1 + 2 + 2);
    let text = one_leaf(4, "kind = \"chakra\"\nfile = \"long\"\nwindow = 64\nstreaming = true\n");
    let (outcome, flows, most_held) = replay(&scenario(folder.path(), &text));
    assert_eq!((outcome.messages, flows.len()), (80_000, 80_000));
    // Four windows of 64 nodes, out of 200,000.
    assert!(most_held <= 4 * 64 && nodes == 200_000, "{most_held}");
    // The window holds several rounds, so the result equals that of the whole trace.
    let text = text.replace("streaming = true", "streaming = false").replace("window = 64\n", "");
    let whole = run(&scenario(folder.path(), &text));
    assert_eq!(outcome.cct, whole.cct);
}
