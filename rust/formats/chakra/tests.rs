//! Small traces, read as a whole and replayed while they are read.

mod kernels;
mod streaming;

use std::io::Read;

use prost::Message as _;

use super::schema::{Attribute, AttributeValue, GlobalMetadata, Node, kind};
use super::*;
use crate::collective::{self, Plan};
use crate::ids::{HostId, TaskId};
use crate::units::{Bytes, Span, Time};
use crate::workload::{Delay, Lane, Message};

/// The traces of all ranks in memory.
#[derive(Clone)]
struct MemoryFiles(Vec<Vec<u8>>);

impl TraceSource for MemoryFiles {
    fn name(&self, rank: u32) -> String {
        format!("t.{rank}.et")
    }

    fn open(&self, rank: u32) -> std::io::Result<Box<dyn Read + '_>> {
        let file = self.0.get(rank as usize);
        file.map(|file| Box::new(file.as_slice()) as Box<dyn Read>)
            .ok_or_else(|| std::io::ErrorKind::NotFound.into())
    }
}

fn file(nodes: &[Node]) -> Vec<u8> {
    let metadata = GlobalMetadata { version: "0.0.4".into(), attributes: Vec::new() };
    let mut bytes = metadata.encode_length_delimited_to_vec();
    nodes.iter().for_each(|node| bytes.extend(node.encode_length_delimited_to_vec()));
    bytes
}

fn node(id: u64, kind: i32, waits: &[u64]) -> Node {
    Node { id, kind, data_dependencies: waits.to_vec(), ..Node::default() }
}

fn compute(id: u64, micros: u64, waits: &[u64]) -> Node {
    Node { duration_micros: micros, ..node(id, kind::COMPUTE, waits) }
}

fn with(mut node: Node, attributes: &[(&str, i64)]) -> Node {
    node.attributes.extend(attributes.iter().map(|&(name, value)| Attribute {
        name: name.to_owned(),
        value: Some(AttributeValue::Int64(value)),
    }));
    node
}

fn send(id: u64, to: i64, waits: &[u64]) -> Node {
    with(node(id, kind::SEND, waits), &[("comm_dst", to), ("comm_size", 500), ("comm_tag", 7)])
}

fn receive(id: u64, from: i64, waits: &[u64]) -> Node {
    with(node(id, kind::RECEIVE, waits), &[("comm_src", from), ("comm_size", 500), ("comm_tag", 7)])
}

fn call(id: u64, operation: i64, waits: &[u64]) -> Node {
    let node = node(id, kind::COLLECTIVE, waits);
    with(node, &[("comm_type", operation), ("comm_size", 4_000)])
}

fn read_files(files: Vec<Vec<u8>>) -> Result<ChakraWorkload, ChakraError> {
    let ranks = files.len() as u32;
    read(&MemoryFiles(files), ranks, &Options::default())
}

fn error(files: Vec<Vec<u8>>) -> String {
    read_files(files).unwrap_err().to_string()
}

#[test]
fn sends_receives_and_computation_are_tasks_with_dependencies() {
    let first = file(&[compute(0, 5, &[]), send(1, 1, &[0])]);
    let second = file(&[receive(9, 0, &[]), compute(10, 3, &[9])]);
    let workload = read_files(vec![first, second]).unwrap().workload;
    assert_eq!(
        workload.messages,
        [Message {
            src: HostId(0),
            dst: HostId(1),
            bytes: Bytes::new(500),
            stream: 7,
            start: Time::ZERO
        }]
    );
    let spans: Vec<Span> = workload.delays.iter().map(|delay| delay.span).collect();
    assert_eq!(spans, [Span::from_us(5), Span::ZERO, Span::from_us(3)]);
    // The message is 0; the delays are 1 (compute), 2 (receive) and 3 (compute).
    assert_eq!(workload.waits_for, [1, 0, 1, 1]);
    assert_eq!(workload.dependents_of(TaskId(0)), [TaskId(2)]);
    assert_eq!(workload.dependents_of(TaskId(2)), [TaskId(3)]);
}

#[test]
fn a_receive_is_posted_when_the_send_that_it_depends_on_starts() {
    let first = file(&[compute(0, 5, &[]), send(1, 1, &[0]), receive(2, 1, &[1])]);
    let second = file(&[send(1, 0, &[]), receive(2, 0, &[1])]);
    let workload = read_files(vec![first, second]).unwrap().workload;
    // Messages 0 and 1; delays 2 (compute), 3 (receive of the first rank), 4 (of the second).
    assert_eq!(workload.dependents_of(TaskId(0)), [TaskId(4)]);
    assert_eq!(workload.dependents_of(TaskId(1)), [TaskId(3)]);
    assert_eq!(workload.dependents_of(TaskId(2)), [TaskId(0), TaskId(3)]);
}

#[test]
fn a_collective_starts_and_ends_with_its_nodes() {
    let files = (0..4).map(|_| file(&[compute(0, 1, &[]), call(1, 0, &[0]), compute(2, 1, &[1])]));
    let workload = read_files(files.collect()).unwrap().workload;
    assert_eq!(workload.messages.len(), 4 * 6);
    assert_eq!(workload.total_bytes(), Bytes::new(6 * 4_000));
    assert_eq!(workload.delays.len(), 4 * 4);
    let streams = workload.messages.iter().all(|message| message.stream == 1 << 31);
    assert!(streams, "the group has its own stream");
}

#[test]
fn the_members_of_a_group_are_the_ranks_that_name_it() {
    let named = |group: &str| {
        let mut call = call(1, 6, &[]);
        let value = Some(AttributeValue::Text(group.to_owned()));
        call.attributes.push(Attribute { name: "pg_name".to_owned(), value });
        file(&[call])
    };
    let files = ["even", "odd", "even", "odd"].map(named).to_vec();
    let messages = read_files(files).unwrap().workload.messages;
    let mut pairs: Vec<(u32, u32)> = messages.iter().map(|it| (it.src.0, it.dst.0)).collect();
    pairs.sort_unstable();
    assert_eq!(pairs, [(0, 2), (1, 3), (2, 0), (3, 1)]);
}

#[test]
fn a_collective_has_the_dependencies_of_its_algorithm() {
    use collective::CollectiveKind;
    for collective in collective::ALL {
        let (number, name) = match collective.operation {
            CollectiveKind::AllReduce => (0, "all-reduce"),
            CollectiveKind::Reduce => (1, "reduce"),
            CollectiveKind::AllGather => (2, "all-gather"),
            CollectiveKind::Broadcast => (5, "broadcast"),
            CollectiveKind::AllToAll => (6, "all-to-all"),
            CollectiveKind::ReduceScatter => (7, "reduce-scatter"),
            CollectiveKind::Barrier | CollectiveKind::Pipeline => continue,
        };
        let algorithm = collective.name.strip_suffix(name).unwrap().trim_end_matches('-');
        let algorithm = if algorithm.is_empty() { "direct" } else { algorithm };
        let mut options = Options::default();
        assert!(options.algorithms.choose(name, algorithm), "{}", collective.name);
        let files = (0..16).map(|_| file(&[call(1, number, &[])])).collect();
        let read = read(&MemoryFiles(files), 16, &options).unwrap().workload;
        let bytes = Bytes::new(if number == 2 { 16 * 4_000 } else { 4_000 });
        let own = collective.build(&Plan::new((0..16).map(HostId).collect(), bytes)).unwrap();
        assert_eq!(read.messages.len(), own.messages.len());
        // In addition to its own joins, each rank has a start and an end.
        assert_eq!(read.delays.len(), own.delays.len() + 2 * 16, "{}", collective.name);
        // Each message has one more dependency: the start of its node.
        for message in 0..own.messages.len() {
            let own_waits = own.waits_for.get(message).copied().unwrap_or(0);
            assert_eq!(read.waits_for[message], own_waits + 1, "{}", collective.name);
        }
    }
}

#[test]
fn a_collective_of_one_rank_takes_its_recorded_duration() {
    let mut call = call(1, 0, &[]);
    call.duration_micros = 12;
    let workload = read_files(vec![file(&[call])]).unwrap().workload;
    assert!(workload.messages.is_empty());
    let longest = workload.delays.iter().map(|delay| delay.span).max();
    assert_eq!(longest, Some(Span::from_us(12)));
}

/// Invalid files, each with the start of the expected error.
fn faults() -> Vec<(Vec<Vec<u8>>, String)> {
    [faults_of_a_file(), faults_between_ranks()].concat()
}

fn faults_of_a_file() -> Vec<(Vec<Vec<u8>>, String)> {
    let good = || file(&[compute(4, 1, &[])]);
    let mut cut = good();
    cut.pop();
    let control = Node { control_dependencies: vec![4], ..compute(4, 1, &[]) };
    let head = "t.0.et: rank 0, ";
    vec![
        (vec![cut], format!("{head}byte 8: the file is truncated: expected 6 more bytes, found 5")),
        (vec![Vec::new()], "t.0.et: rank 0: empty".to_owned()),
        (vec![good(), vec![1, 0x0b]], "t.1.et: rank 1, byte 0: corrupt: not a message".to_owned()),
        (
            vec![file(&[compute(4, 1, &[9])])],
            format!("{head}node 4, byte 8: depends on node 9, which is not in the trace (a data"),
        ),
        (
            vec![file(&[compute(4, 1, &[5]), compute(5, 1, &[4])])],
            format!("{head}node 5, byte 18: depends on itself through node 4 (a data"),
        ),
        (
            vec![file(&[control])],
            format!("{head}node 4, byte 8: depends on itself through node 4 (a control"),
        ),
        (
            vec![file(&[compute(4, 1, &[]), compute(4, 1, &[])])],
            format!("{head}node 4, byte 15: duplicate node id"),
        ),
        (vec![file(&[node(1, 8, &[])])], format!("{head}node 1, byte 8: unknown type 8")),
        (vec![file(&[call(3, 10, &[])])], format!("{head}node 3, byte 8: unknown comm_type 10")),
        (
            vec![file(&[with(node(3, kind::COLLECTIVE, &[]), &[("comm_size", 4_000)])])],
            format!("{head}node 3, byte 8: a collective has comm_size but no comm_type"),
        ),
        (
            vec![file(&[node(3, kind::SEND, &[])])],
            format!("{head}node 3, byte 8: attribute comm_size is missing"),
        ),
    ]
}

fn faults_between_ranks() -> Vec<(Vec<Vec<u8>>, String)> {
    let good = || file(&[compute(4, 1, &[])]);
    let head = "t.0.et: rank 0, ";
    vec![
        (
            vec![file(&[send(3, 1, &[])]), good()],
            format!("{head}node 3, byte 8: no receive of rank 1 with tag 7 matches this send"),
        ),
        (
            vec![file(&[receive(3, 1, &[])]), good()],
            format!("{head}node 3, byte 8: no send of rank 1 with tag 7 matches this receive"),
        ),
        (
            vec![file(&[send(3, 1, &[])])],
            format!("{head}node 3, byte 8: comm_dst = 1 is out of range; ranks are 0 to 0"),
        ),
        (
            vec![file(&[send(3, 0, &[])])],
            format!("{head}node 3, byte 8: comm_dst is the rank itself"),
        ),
        (
            vec![file(&[call(3, 0, &[])]), good()],
            format!(
                "{head}node 3, byte 8: rank 1 does not participate in collective 1 of all ranks"
            ),
        ),
        (
            vec![file(&[call(3, 0, &[])]), file(&[call(3, 2, &[])])],
            "t.1.et: rank 1, node 3, byte 8: all-gather of 4000 bytes, but node 3 of rank 0"
                .to_owned(),
        ),
        (
            vec![
                file(&[receive(1, 1, &[]), send(2, 1, &[1])]),
                file(&[receive(1, 0, &[]), send(2, 0, &[1])]),
            ],
            format!("{head}node 1, byte 8: never starts"),
        ),
    ]
}

#[test]
fn each_error_names_rank_node_and_byte() {
    for (files, expected) in faults() {
        let message = error(files);
        assert!(message.starts_with(&expected), "'{message}' should be '{expected}'");
    }
}

#[test]
fn control_dependencies_can_be_ignored() {
    let files =
        MemoryFiles(vec![file(&[Node { control_dependencies: vec![4, 9], ..compute(4, 1, &[]) }])]);
    assert!(read(&files, 1, &Options::default()).is_err());
    let data = Options { dependencies: Dependencies::Data, ..Options::default() };
    let read = read(&files, 1, &data).unwrap();
    assert_eq!(read.workload.delays.len(), 1);
}

#[test]
fn a_missing_rank_is_named() {
    let error = read(&MemoryFiles(vec![file(&[])]), 2, &Options::default());
    let text = error.unwrap_err().to_string();
    assert!(text.starts_with("t.1.et: rank 1: missing"), "{text}");
}

/// Writes the workload and reads it again.
fn round_trip(workload: &Workload) -> Workload {
    let traces = Traces::of(workload).unwrap();
    let files = (0..traces.ranks()).map(|rank| {
        let mut file = Vec::new();
        traces.write(rank, &mut file).unwrap();
        file
    });
    read_files(files.collect()).unwrap().workload
}

#[test]
fn written_traces_are_read_as_the_same_messages() {
    let plan = Plan {
        gap: Span::from_ps(1_500_001),
        channels: 2,
        ..Plan::new((0..8).map(HostId).collect(), Bytes::new(1_000_003))
    };
    for collective in collective::ALL.iter().filter(|it| !it.name.starts_with("hierarchical")) {
        let mut workload = collective.build(&plan).unwrap();
        workload.messages[0].start = Time::from_ps(77);
        let again = round_trip(&workload);
        let sorted = |workload: &Workload| {
            let mut all: Vec<_> =
                workload.messages.iter().map(|it| (it.src, it.dst, it.stream, it.bytes)).collect();
            all.sort_unstable();
            all
        };
        assert_eq!(sorted(&again), sorted(&workload), "{}", collective.name);
        let start = again.delays.iter().filter(|it| it.span == Span::from_ps(77)).count();
        assert_eq!(start, 1);
    }
}

#[test]
fn a_dependency_on_a_delay_of_another_host_cannot_be_written() {
    let delays = [0, 1].map(|host| Delay { host: HostId(host), span: Span::ZERO }).to_vec();
    let waits = [(TaskId(0), TaskId(1))];
    let workload = Workload::with_delays(Vec::new(), delays, &waits);
    let error = Traces::of(&workload).unwrap_err();
    assert_eq!(error, NotATrace::RemoteDependency { after: HostId(1), host: HostId(0) });
}

#[test]
fn gzip_files_are_unpacked() {
    use std::io::Write;
    let plain = file(&[compute(0, 5, &[])]);
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(&plain).unwrap();
    let packed = packed.finish().unwrap();
    let workload = read_files(vec![packed]).unwrap().workload;
    assert_eq!(workload.delays[0].span, Span::from_us(5));
}
