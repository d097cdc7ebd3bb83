//! Connection matrices: starts, triggers and faults.

use super::*;
use crate::ids::TaskId;
use crate::units::Bytes;

#[test]
fn connections_start_at_a_time_or_by_triggers() {
    let text = "Nodes 4\nConnections 3\nTriggers 1\n# a comment\n\
                0->1 id 1 start 500.75 size 2000 send_done_trigger 1\n\
                1->2 id 2 start 0 size 3000 prio 7 recv_done_trigger 1\n\
                3->0 id 3 trigger 1 size 4000\ntrigger id 1 barrier count 2\n";
    let matrix = read(text, "f.cm").unwrap();
    let workload = matrix.workload;
    assert_eq!((matrix.nodes, workload.messages.len()), (4, 3));
    assert_eq!(workload.messages[0].start, Time::from_ps(500));
    assert_eq!(workload.messages[2].bytes, Bytes::new(4_000));
    let hosts: Vec<u32> = workload.delays.iter().map(|delay| delay.host.0).collect();
    // The trigger at the third's sender, the sender of the first, the receiver of the second.
    assert_eq!(hosts, [3, 0, 2]);
    assert_eq!(workload.dependents_of(TaskId(3)), [TaskId(2)]);
    assert_eq!(workload.waits_for, [0, 0, 1, 2, 1, 1]);
}

#[test]
fn each_error_names_its_line_and_what_is_expected() {
    let one = "Nodes 2\n0->1 id 1 ";
    for (text, expected) in [
        (String::new(), "f.cm:1: Nodes is missing"),
        ("0->1 start 0 size 5\n".into(), "f.cm:1: Nodes is missing"),
        ("Nodes two\n".into(), "f.cm:1: Nodes 'two'"),
        ("Nodes 8\n1->7 start 0 size 5\nNodes 2\n".into(), "f.cm:3: duplicate Nodes"),
        ("Nodes 2\nNode 3\n".into(), "f.cm:2: unknown word 'Node'; a line starts with"),
        ("Nodes 2\n0->2 start 0 size 5\n".into(), "f.cm:2: unknown node '2'; nodes are 0 to 1"),
        ("Nodes 2\n1->1 start 0 size 5\n".into(), "f.cm:2: a connection from node 1 to itself"),
        (format!("{one}size 5\n"), "f.cm:2: a connection has either 'start"),
        (format!("{one}start 0 size 5 trigger 1\n"), "f.cm:2: a connection has either 'start"),
        (format!("{one}start 0\n"), "f.cm:2: size is missing"),
        (format!("{one}start 0 size 0\n"), "f.cm:2: size 0 is htsim's flow without an end"),
        ("Nodes 0\n".into(), "f.cm:1: Nodes 0; a connection matrix has 1 node or more"),
        (format!("{one}start -1 size 5\n"), "f.cm:2: start '-1'"),
        (format!("{one}start 0 size 5 rate 7\n"), "f.cm:2: unknown word 'rate'; a connection"),
        (format!("{one}trigger 4 size 5\n"), "f.cm:2: unknown trigger 4"),
        (format!("{one}trigger 0 size 5\n"), "f.cm:2: trigger 0"),
        (format!("{one}trigger 4 size 5\ntrigger id 4 oneshot\n"), "f.cm:3: trigger 4 starts"),
        ("Nodes 2\ntrigger id 4\n".into(), "f.cm:2: a trigger is"),
        ("Nodes 2\nFailures 1\n".into(), "f.cm:2: failures"),
        ("Nodes 2\nConnections 1\n".into(), "f.cm:2: 1 connections are announced, found 0"),
        (
            format!("{one}trigger 4 size 5 send_done_trigger 4\ntrigger id 4 oneshot\n"),
            "f.cm:2: this connection never starts",
        ),
        (
            format!("{one}start 0 size 5\n1->0 id 1 start 0 size 5\n"),
            "f.cm:3: duplicate connection id 1; it is used in line 2",
        ),
    ] {
        let text = read(&text, "f.cm").unwrap_err().to_string();
        assert!(text.starts_with(expected), "'{text}' should be '{expected}'");
    }
}
