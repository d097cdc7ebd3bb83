//! Replays of traces with a fault between nodes, which is found while reading.

use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

use evenkeel::chakra::{Options, Replay, Streaming, TraceSource, Traces};
use evenkeel::fabric::{self, FlowRecord, Outcome, Verdict, World};
use evenkeel::ids::{HostId, TaskId};
use evenkeel::scenario::{Overrides, Scenario};
use evenkeel::units::{Bytes, Span, Time};
use evenkeel::workload::{Delay, Message, Workload};

/// The traces of all ranks in memory.
struct MemoryFiles(Vec<Vec<u8>>);

impl TraceSource for MemoryFiles {
    fn name(&self, rank: u32) -> String {
        format!("t.{rank}.et")
    }

    fn open(&self, rank: u32) -> io::Result<Box<dyn Read + '_>> {
        Ok(Box::new(self.0[rank as usize].as_slice()))
    }
}

const COMPUTATION: Span = Span::from_us(5);

/// Returns the trace of a rank: host 0 sends 1 MB to host 1, computes, and sends another `bytes`.
fn trace(rank: u32, bytes: u64) -> Vec<u8> {
    let (src, dst, start) = (HostId(0), HostId(1), Time::ZERO);
    let send = |bytes| Message { src, dst, bytes: Bytes::new(bytes), stream: 0, start };
    let computation = Delay { host: src, span: COMPUTATION };
    let messages = vec![send(1_000_000), send(bytes)];
    let workload = Workload::with_delays(messages, vec![computation], &[(TaskId(2), TaskId(1))]);
    let mut file = Vec::new();
    Traces::of(&workload).unwrap().write(rank, &mut file).unwrap();
    file
}

/// Replays both ranks with a window of two nodes each; host 1 expects another `received` bytes.
fn replay(received: u64) -> (Outcome, Option<String>) {
    let files = vec![trace(0, 1_000), trace(1, received)];
    let traces = Streaming::open(Arc::new(MemoryFiles(files)), 2, Options::default(), 2).unwrap();
    let text = "[topology]\nleaves = 1\nspines = 1\nhosts_per_leaf = 2\n[policy]\nname = \"ecmp\"\n\
                [workload]\nkind = \"permutation\"\nbytes = \"1MB\"\n";
    let scenario = Scenario::parse(text, "two hosts", Path::new(""), &Overrides::default());
    let mut setup = scenario.unwrap().setup();
    setup.workload = Arc::default();
    let mut flows = |_: &FlowRecord| ();
    let mut program = Replay::new(traces.player(), &mut flows);
    let mut world = World::new(&setup);
    world.discard_completed();
    let observers = fabric::Observers { watch: None, progress: &mut |_| () };
    let outcome = fabric::drive(world, &mut program, observers);
    (outcome, program.into_player().into_fault().map(|fault| fault.to_string()))
}

#[test]
fn a_fault_ends_a_run_immediately_with_messages_in_flight() {
    let (outcome, fault) = replay(1_000);
    assert_eq!((outcome.verdict, outcome.messages, fault), (Verdict::Completed, 2, None));
    // The node after the computation is read when that ends, 15 us before the first message
    // completes.
    assert!(outcome.ended > Time::ZERO + COMPUTATION * 4);
    let (outcome, fault) = replay(2_000);
    assert!(fault.unwrap().contains("2000"));
    assert_eq!((outcome.verdict, outcome.messages), (Verdict::Stalled, 1));
    assert_eq!(outcome.ended, Time::ZERO + COMPUTATION);
    assert!(outcome.in_flight > 0 && outcome.message_fct.is_empty());
}
