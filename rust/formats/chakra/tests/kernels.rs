//! Kernels of the accelerator's streams: their order, and mending traces that lack it.

use super::super::stream::MessageReader;
use super::*;

/// Turns a node into a kernel of a stream, with its recorded start.
fn kernel(node: Node, stream: i64, start: u64) -> Node {
    let node = with(node, &[("is_cpu_op", 0), ("stream", stream)]);
    Node { start_micros: start, ..node }
}

/// Returns a computation and a collective of one stream, and a computation of another. Without an
/// order, all would start concurrently.
fn unordered() -> Vec<Node> {
    vec![
        kernel(compute(1, 5, &[]), 7, 10),
        kernel(call(2, 0, &[]), 20, 12),
        kernel(call(3, 0, &[]), 7, 15),
        kernel(compute(4, 5, &[3]), 7, 30),
    ]
}

fn both(nodes: &[Node]) -> MemoryFiles {
    MemoryFiles(vec![file(nodes); 2])
}

fn warnings(files: &MemoryFiles) -> Vec<String> {
    read_files(files.0.clone()).unwrap().warnings
}

fn mended(files: &MemoryFiles) -> MemoryFiles {
    let mend = |rank: u32| {
        let mut bytes = Vec::new();
        Repaired::read(files, rank, 2, &Options::default()).unwrap().write(&mut bytes).unwrap();
        bytes
    };
    MemoryFiles((0..2).map(mend).collect())
}

fn nodes(file: &[u8]) -> Vec<Node> {
    let mut messages = MessageReader::new(file);
    messages.next::<GlobalMetadata>().unwrap().unwrap();
    std::iter::from_fn(|| messages.next::<Node>().unwrap()).map(|(_, node)| node).collect()
}

#[test]
fn unordered_kernels_give_a_warning_and_are_mended_by_their_times() {
    let files = both(&unordered());
    let expected = "2 of 4 kernels that follow another in their stream, including 2 that \
                    communicate, do not depend on it and may start before it ends: evenkeel check \
                    --mend DIR orders them by their recorded times";
    assert_eq!(warnings(&files), [expected]);
    let mended = mended(&files);
    assert_eq!(warnings(&mended), [""; 0]);
    let mut expected = unordered();
    expected[2].data_dependencies = vec![1];
    assert!(nodes(&mended.0[0]) == expected, "nothing else changes");
}

/// A file whose streams are ordered, however long the path, is left unchanged.
#[test]
fn an_order_by_any_path_counts_even_against_the_times() {
    let by_another = [
        kernel(compute(1, 5, &[]), 7, 10),
        compute(2, 1, &[1]),
        kernel(call(3, 0, &[2]), 7, 15),
        kernel(call(4, 0, &[5]), 7, 20),
        kernel(call(5, 0, &[3]), 7, 25),
    ];
    let files = both(&by_another);
    assert_eq!(warnings(&files), [""; 0]);
    assert_eq!(mended(&files).0, files.0);
}

#[test]
fn a_trace_without_times_is_not_mended() {
    let nodes = unordered().into_iter().map(|node| Node { start_micros: 0, ..node });
    let files = both(&nodes.collect::<Vec<_>>());
    let said = warnings(&files);
    assert!(said[0].ends_with("the traces have no times to order them by"), "{said:?}");
    assert_eq!(mended(&files).0, files.0);
}

/// Each stream alone can be ordered by time, but not both.
#[test]
fn times_that_contradict_the_dependencies_are_an_error() {
    let nodes = [
        kernel(call(1, 0, &[4]), 7, 10),
        kernel(call(2, 0, &[]), 7, 15),
        kernel(call(3, 0, &[2]), 20, 12),
        kernel(call(4, 0, &[]), 20, 17),
    ];
    let nodes = [nodes[1].clone(), nodes[3].clone(), nodes[0].clone(), nodes[2].clone()];
    let files = both(&nodes);
    let error = Repaired::read(&files, 1, 2, &Options::default()).unwrap_err().to_string();
    let expected = "cannot order streams by their recorded times: t.1.et: rank 1, node";
    assert!(error.starts_with(expected), "{error}");
}

#[test]
fn communication_kernels_that_send_nothing_give_a_warning() {
    let named = Node { name: "ncclDevKernel_Broadcast_RING_LL".into(), ..compute(1, 5, &[]) };
    let typeless = with(node(2, kind::COLLECTIVE, &[]), &[("is_cpu_op", 0)]);
    let on_host = Node { name: "ncclKernel_AllReduce".into(), ..compute(3, 5, &[]) };
    let nodes = [with(named, &[("is_cpu_op", 0)]), typeless, on_host];
    let said = warnings(&both(&nodes));
    assert!(said[0].starts_with("4 communication kernels have neither type nor"), "{said:?}");
}

#[test]
fn groups_with_collectives_at_a_single_rank_give_a_warning() {
    let of = |name: &str| {
        let mut node = call(1, 0, &[]);
        let value = Some(AttributeValue::Text(name.to_owned()));
        node.attributes.push(Attribute { name: "pg_name".to_owned(), value });
        file(&[node])
    };
    let said = read_files(vec![of("a"), of("b")]).unwrap().warnings;
    let expected = "in 2 of 2 groups only one rank has collectives, such as group 'a'; they send";
    assert!(said[0].starts_with(expected), "{said:?}");
    assert_eq!(read_files(vec![of("a"), of("a")]).unwrap().warnings, [""; 0]);
}

/// This reader knows no value for an attribute of bytes or of a list.
#[test]
fn a_collective_group_is_a_text_or_a_number() {
    let mut node = call(1, 0, &[]);
    node.attributes.push(Attribute { name: "comm_group".to_owned(), value: None });
    let said = error(vec![file(&[node.clone()]), file(&[node])]);
    assert!(said.contains("comm_group") && said.contains("a text or a whole number"), "{said}");
}
