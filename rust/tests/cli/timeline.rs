//! `evenkeel run --trace`: reads the timeline of a run back.

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

use evenkeel::timeline::schema::{Trace, TracePacket, TrackDescriptor, TrackEvent, Value, kind};
use prost::Message as _;
use serde_json::Value as Json;

use super::bench::Bench;
use crate::support::extent;

const EXAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/recording.toml");

/// Runs the committed example; returns its results in `results` and its trace.
fn traced() -> (Bench, Trace) {
    traced_with(&|example| example)
}

/// Runs the example with a change; see [`traced`].
fn traced_with(change: &dyn Fn(String) -> String) -> (Bench, Trace) {
    let bench = Bench::new();
    bench.write("recording.toml", &change(fs::read_to_string(EXAMPLE).unwrap()));
    let run = ["run", "recording.toml", "--out", "results", "--trace", "run.pftrace"];
    let left = bench.evenkeel(&run);
    assert_eq!(left.status, 0, "{}", left.err);
    let bytes = fs::read(bench.path("run.pftrace")).unwrap();
    (bench, Trace::decode(&bytes[..]).expect("it is a trace"))
}

fn tracks(trace: &Trace) -> BTreeMap<u64, &TrackDescriptor> {
    let tracks = trace.packets.iter().filter_map(|packet| packet.track.as_ref());
    tracks.map(|track| (track.uuid.expect("it has a number"), track)).collect()
}

/// Returns the name of a track, prefixed by those of its parents.
fn path(tracks: &BTreeMap<u64, &TrackDescriptor>, uuid: u64) -> String {
    let track = tracks[&uuid];
    let above = track.parent.map_or(String::new(), |parent| path(tracks, parent) + "/");
    above + track.name.as_deref().unwrap_or_default()
}

/// Returns the events with their times in ns and the paths of their tracks.
fn events(trace: &Trace) -> Vec<(u64, String, &TrackEvent)> {
    let tracks = tracks(trace);
    let mut events = Vec::new();
    for TracePacket { timestamp, event, .. } in &trace.packets {
        if let Some(event) = event {
            let track = event.track.expect("it is on a track");
            events.push((timestamp.expect("it has a time"), path(&tracks, track), event));
        }
    }
    events
}

fn fact(event: &TrackEvent, name: &str) -> Option<u64> {
    let fact = event.annotations.iter().find(|it| it.name.as_deref() == Some(name))?;
    match fact.value.as_ref()? {
        Value::Number(number) => Some(*number),
        Value::Text(_) => None,
    }
}

#[test]
fn the_trace_has_the_messages_losses_and_failures_of_the_results() {
    let (bench, trace) = traced();
    let events = events(&trace);
    let count = |category: &str, kind: i32| {
        let is_of = |event: &TrackEvent| event.categories.iter().any(|it| it == category);
        events.iter().filter(|(_, _, it)| it.kind == Some(kind) && is_of(it)).count() as u64
    };
    let summary: Json = serde_json::from_str(&bench.read("results/summary.json")).unwrap();
    let packets = &summary["packets"];
    assert_eq!(count("loss", kind::INSTANT), packets["dropped"].as_u64().unwrap());
    assert_eq!(count("retransmission", kind::INSTANT), packets["retransmitted"].as_u64().unwrap());
    assert_eq!(count("message", kind::BEGIN), 8);
    let failures: Vec<(u64, &str)> = events
        .iter()
        .filter(|(_, path, _)| path == "failures")
        .map(|(at, _, event)| (*at, event.name.as_deref().unwrap()))
        .collect();
    assert_eq!(failures, [(30_000, "leaf0-spine0 down"), (80_000, "leaf0-spine0 restored")]);
    // Each row of flows.csv has a slice on the track of its queue pair.
    for row in bench.read("results/flows.csv").lines().skip(1) {
        let cells: Vec<&str> = row.split(',').collect();
        let picoseconds = |cell: &str| cell.replace('.', "").parse::<u64>().unwrap();
        let number = cells[0].parse::<u64>().unwrap();
        let (_, path, event) = events
            .iter()
            .find(|(_, _, it)| it.kind == Some(kind::BEGIN) && fact(it, "message") == Some(number))
            .expect("the message has a slice");
        assert!(path.starts_with(&format!("{}/to {} #", cells[2], cells[3])), "{path}");
        assert_eq!(fact(event, "completed_ps"), Some(picoseconds(cells[8])));
        assert_eq!(fact(event, "bytes"), Some(cells[4].parse().unwrap()));
    }
    // Queue pairs have the same labels as in the recorded tables.
    let pairs = bench.read("results/queue_pairs.csv");
    for (_, path, _) in events.iter().filter(|(_, _, it)| it.kind == Some(kind::BEGIN)) {
        let label = path.split(['#', '/']).nth(2).unwrap();
        let sender = path.split('/').next().unwrap();
        let is_recorded = ["host0", "host1", "host2", "host3"].contains(&sender);
        assert!(!is_recorded || pairs.contains(&format!(",{label},")), "{path}");
    }
}

#[test]
fn computations_are_slices_and_arrows_lead_to_what_waited_for_them() {
    let bench = Bench::new();
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/parallelisms.toml");
    let set = ["--set", "workload.sequence=64", "--set", "topology.scale_up.gpus=2"];
    let run = ["run", example, "--out", "results", "--trace", "run.pftrace"];
    let left = bench.evenkeel(&[&run[..], &set].concat());
    assert_eq!(left.status, 0, "{}", left.err);
    let bytes = fs::read(bench.path("run.pftrace")).unwrap();
    let trace = Trace::decode(&bytes[..]).expect("it is a trace");
    let events = events(&trace);
    let slices = || events.iter().filter(|(_, _, it)| it.kind == Some(kind::BEGIN));
    let mut computed: BTreeMap<&str, u64> = BTreeMap::new();
    for (_, path, event) in slices().filter(|(_, _, it)| it.categories == ["computation"]) {
        let host = path.strip_suffix("/computation").expect("hosts compute on a track");
        let span = fact(event, "end_ps").unwrap() - fact(event, "start_ps").unwrap();
        *computed.entry(host).or_default() += span;
    }
    // ranks.csv has a row for each host and phase, with the time in ns.
    let mut expected: BTreeMap<&str, u64> = BTreeMap::new();
    let table = bench.read("results/ranks.csv");
    for row in table.lines().skip(1) {
        let cells: Vec<&str> = row.split(',').collect();
        let span: u64 = cells[3].replace('.', "").parse().unwrap();
        *expected.entry(cells[0]).or_default() += span;
    }
    assert_eq!(computed, expected);
    let mut begins: BTreeMap<u64, u64> = BTreeMap::new();
    for (_, _, event) in slices() {
        let end = ["end_ps", "delivered_ps"].iter().find_map(|name| fact(event, name)).unwrap();
        for &arrow in &event.arrows_from {
            assert_eq!(begins.insert(arrow, end), None, "arrow {arrow} begins once");
        }
    }
    let mut arrows = 0;
    for (_, path, event) in slices() {
        for arrow in &event.arrows_to {
            let end = begins.remove(arrow).expect("an arrow has a beginning");
            assert!(end <= fact(event, "start_ps").unwrap(), "arrow {arrow} to {path}");
            arrows += 1;
        }
    }
    assert!(begins.is_empty() && arrows > 1_000, "{arrows} arrows");
}

#[test]
fn a_computation_that_waited_for_its_processor_has_an_arrow_from_the_one_before_it() {
    let bench = Bench::new();
    let goal = "num_ranks 2\nrank 0 {\nl1: calc 1000 cpu 0\nl2: calc 2000 cpu 0\n\
                l3: send 4096b to 1 tag 1\n}\nrank 1 {\nl1: recv 4096b from 0 tag 1\n}\n";
    bench.write("a.goal", goal);
    let fabric = "[topology]\nkind = \"leaf-spine\"\nleaves = 1\nspines = 1\nhosts_per_leaf = 2\n";
    bench.write("a.toml", &format!("{fabric}[workload]\nkind = \"goal\"\nfile = \"a.goal\"\n"));
    assert_eq!(bench.evenkeel(&["run", "a.toml", "--trace", "a.pftrace"]).status, 0);
    let bytes = fs::read(bench.path("a.pftrace")).unwrap();
    let trace = Trace::decode(&bytes[..]).expect("it is a trace");
    let slices: Vec<(u64, Vec<u64>, Vec<u64>)> = events(&trace)
        .into_iter()
        .filter(|(_, _, it)| it.kind == Some(kind::BEGIN))
        .map(|(at, _, it)| (at, it.arrows_from.clone(), it.arrows_to.clone()))
        .collect();
    let find = |at: u64| slices.iter().find(|it| it.0 == at && it.1.len() + it.2.len() > 0);
    let (first, second) = (find(0).unwrap(), find(1_000).unwrap());
    assert!(first.1.len() == 1 && first.1 == second.2, "{slices:?}");
}

#[test]
fn timeline_counters_match_the_recorded_tables() {
    let of_switches = counters_compared(&traced());
    assert!(of_switches > 200, "{of_switches} counters were compared");
    let all = counters_compared(&traced_with(&|example| {
        let line = example.lines().find(|line| line.starts_with("ports = ")).unwrap();
        example.replace(line, "ports = \"all\"")
    }));
    assert!(all > 2 * of_switches, "{all} counters were compared");
}

/// Compares the counters of a trace with `ports.csv`, and returns the number of common values.
fn counters_compared((bench, trace): &(Bench, Trace)) -> usize {
    let events = events(trace);
    let mut counters: BTreeMap<(&str, u64), i64> = BTreeMap::new();
    for (at, path, event) in &events {
        counters.extend(event.value.map(|value| ((path.as_str(), *at), value)));
    }
    let mut compared = 0;
    for row in bench.read("results/ports.csv").lines().skip(1) {
        let cells: Vec<&str> = row.split(',').collect();
        let [time, from, to, queue, carried, _] = cells[..] else { panic!("{row}") };
        let at: u64 = time.parse().unwrap();
        let path = format!("{from}/queue to {to}");
        if let Some(value) = counters.get(&(path.as_str(), at)) {
            assert_eq!(value.to_string(), queue, "{row}");
            compared += 1;
        }
        let path = format!("{from}/rate to {to}");
        if let Some(value) = counters.get(&(path.as_str(), at)) {
            // The interval is 5 us: eight bits per byte, 200,000 intervals per second.
            assert_eq!(*value, carried.parse::<i64>().unwrap() * 1_600_000, "{row}");
            compared += 1;
        }
    }
    compared
}

#[test]
fn a_trace_changes_no_other_result() {
    let (bench, _) = traced();
    assert_eq!(bench.evenkeel(&["run", "recording.toml", "--out", "plain"]).status, 0);
    for name in ["flows.csv", "links.csv", "paths.csv", "ports.csv", "queue_pairs.csv"] {
        let [with, without] = ["results", "plain"].map(|it| bench.read(&format!("{it}/{name}")));
        assert!(with == without, "{name} differs");
    }
}

#[test]
fn runs_without_timelines_say_so() {
    let bench = Bench::with_small();
    bench.write("fluid.toml", &format!("fidelity = \"fluid\"\n{}", super::bench::SMALL));
    let left = bench.evenkeel(&["run", "fluid.toml", "--trace", "a.pftrace"]);
    left.expect_invalid(&["--trace: a fluid run has no packets"]);
    let rails = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/rails-failure.toml");
    let left = bench.evenkeel(&["run", rails, "--trace", "a.pftrace"]);
    left.expect_invalid(&["--trace: a scenario with [[rail]]"]);
    assert_eq!(bench.names("."), ["fluid.toml", "small.toml"]);
}

/// Reads a trace with Perfetto's own format definitions and, if available, with its trace
/// processor. That is the program named by `TRACE_PROCESSOR` or the one that the package downloads.
const PERFETTO: &str = r#"
import sys
from google.protobuf.unknown_fields import UnknownFieldSet
from perfetto.protos.perfetto.trace import perfetto_trace_pb2
trace = perfetto_trace_pb2.Trace()
trace.ParseFromString(open(sys.argv[1], "rb").read())
events = [p.track_event for p in trace.packet if p.HasField("track_event")]
Event = perfetto_trace_pb2.TrackEvent
slices = sum(e.type == Event.TYPE_SLICE_BEGIN for e in events)
unknown = sum(len(UnknownFieldSet(event)) for event in events)
print("format", slices, sum("retransmission" in e.categories for e in events), unknown)
try:
    import os
    from perfetto.trace_processor import TraceProcessor, TraceProcessorConfig
    config = TraceProcessorConfig(bin_path=os.environ.get("TRACE_PROCESSOR"))
    processor = TraceProcessor(trace=sys.argv[1], config=config)
except Exception as reason:
    print("no trace processor:", type(reason).__name__)
    sys.exit()
one = lambda query: next(iter(processor.query(query))).n
print("processor",
      one("select count(*) as n from slice where name glob 'message *' and dur > 0"),
      one("select count(*) as n from slice where name = 'retransmission'"),
      one("select count(*) as n from counter") > 0)
"#;

#[test]
fn perfetto_reads_the_trace() {
    if extent::is_left_out("cli::timeline::perfetto_reads") {
        return;
    }
    let (bench, _) = traced();
    bench.write("read.py", PERFETTO);
    let python = Command::new("python3")
        .args([bench.path("read.py"), bench.path("run.pftrace")])
        .output()
        .ok()
        .filter(|output| output.status.success());
    let Some(output) = python else {
        eprintln!("perfetto_reads_the_trace: skipped, Python's package perfetto is missing");
        return;
    };
    let out = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<&str> = out.lines().collect();
    let summary: Json = serde_json::from_str(&bench.read("results/summary.json")).unwrap();
    let again = &summary["packets"]["retransmitted"];
    assert_eq!(lines[0], format!("format 8 {again} 0"));
    match lines.iter().find(|line| line.starts_with("processor ")) {
        Some(line) => assert_eq!(*line, format!("processor 8 {again} True")),
        None => {
            let why = lines.last().expect("it has a first line");
            eprintln!("perfetto_reads_the_trace: the second half skipped, {why}");
        }
    }
}
