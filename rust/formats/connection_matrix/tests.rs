//! Connection matrices: starts, triggers and errors.

use super::*;
use crate::ids::TaskId;
use crate::units::Bytes;

#[test]
fn connections_start_at_a_time_or_by_triggers() {
    let text = "Nodes 4\nConnections 3\nTriggers 1\n# a comment\n\
                0->1 id 1 start 500.75 size 2000 send_done_trigger 1\n\
                1->2 id 2 start 0 size 3000 prio 7 recv_done_trigger 1\n\
                3->0 id 3 trigger 1 size 4000\ntrigger id 1 barrier count 2\n";
    let matrix = read(text, "f.cm", StartUnit::Picoseconds).unwrap();
    let workload = matrix.workload;
    assert_eq!((matrix.nodes, workload.messages.len()), (4, 3));
    assert_eq!(workload.messages[0].start, Time::from_ps(500));
    assert_eq!(workload.messages[2].bytes, Bytes::new(4_000));
    let hosts: Vec<u32> = workload.delays.iter().map(|delay| delay.host.0).collect();
    // Hosts: the trigger is at the third's sender, then the sender of the first and the receiver of
    // the second.
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
        (format!("{one}size 5\n"), "f.cm:2: a connection needs either 'start"),
        (format!("{one}start 0 size 5 trigger 1\n"), "f.cm:2: a connection needs either 'start"),
        (format!("{one}start 0\n"), "f.cm:2: size is missing"),
        (format!("{one}start 0 size 0\n"), "f.cm:2: size 0 means an endless flow in htsim"),
        ("Nodes 0\n".into(), "f.cm:1: Nodes 0 is out of range; expected at least 1"),
        (format!("{one}start -1 size 5\n"), "f.cm:2: start '-1'"),
        (
            format!("{one}start 100000000001 size 5\n"),
            "f.cm:2: start '100000000001' is not a whole number from 0 to 100000000000",
        ),
        (format!("{one}msg 0 start 0 size 5\n"), "f.cm:2: msg 0 is out of range"),
        ("Nodes 2\n0->1 msg start 0 size 5\n".into(), "f.cm:2: msg without id"),
        (
            format!("{one}start 0 size 5\n1->0 id 1 msg start 0 size 5\n"),
            "f.cm:3: connection id 1 is from node 0 to node 1 in line 2; expected the same",
        ),
        (
            format!(
                "{one}start 0 size 5 send_done_trigger 4\n1->0 id 2 trigger 4 size 5\n\
                     1->0 id 3 trigger 4 size 5\ntrigger id 4 multishot\n"
            ),
            "f.cm:5: trigger 4 starts one of its 2 connections at each activation, but only 1 conn",
        ),
        (format!("{one}start 0 size 5 rate 7\n"), "f.cm:2: unknown word 'rate'; a connection"),
        (format!("{one}trigger 4 size 5\n"), "f.cm:2: unknown trigger 4"),
        (format!("{one}trigger 0 size 5\n"), "f.cm:2: trigger 0"),
        (format!("{one}trigger 4 size 5\ntrigger id 4 oneshot\n"), "f.cm:3: trigger 4 starts"),
        ("Nodes 2\ntrigger id 4\n".into(), "f.cm:2: invalid trigger"),
        ("Nodes 2\nFailures 1\n".into(), "f.cm:2: 1 failures are announced, found 0"),
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
        let text = read(&text, "f.cm", StartUnit::default()).unwrap_err().to_string();
        assert!(text.starts_with(expected), "'{text}' should be '{expected}'");
    }
}

#[test]
fn starts_are_in_microseconds_unless_picoseconds_are_selected() {
    // Two lines of uet-htsim's gen_random_incast_8192n_128c_16us_16Ms.cm, and one with decimals.
    let text = "Nodes 8192\nConnections 3\n774->0 id 1 start 15 size 16777216\n\
                231->0 id 2 start 0 size 16777216\n5->0 id 3 start 1.75 size 16777216\n";
    let starts = |unit| -> Vec<u64> {
        let messages = read(text, "f.cm", unit).unwrap().workload.messages;
        messages.iter().map(|it| it.start.as_ps()).collect()
    };
    assert_eq!(starts(StartUnit::default()), [15_000_000, 0, 1_000_000]);
    assert_eq!(starts(StartUnit::Picoseconds), [15, 0, 1]);
    let warnings = |text: &str, unit| read(text, "f.cm", unit).unwrap().warnings;
    let cut = "line 5 has a start with decimals, which are truncated, as in htsim";
    assert_eq!(warnings(text, StartUnit::default()), [cut]);
    // gen_incast.py writes this for a start after 16 us.
    let late = "Nodes 2\n0->1 id 1 start 16000000.0 size 5\n";
    let told = "line 2 starts after 16000000 us; if its start is in picoseconds, as htsim's \
                gen_*.py write it, set start_unit = \"ps\"";
    assert_eq!(warnings(late, StartUnit::default()), [told]);
    assert!(warnings(late, StartUnit::Picoseconds).is_empty());
}

#[test]
fn messages_of_a_connection_share_its_stream() {
    let text = "Nodes 3\n0->1 id 7 msg start 0 size 1\n1->2 id 8 start 0 size 2\n\
                0->1 id 7 msg 3 start 0 size 3\n0->1 id 7 start 0 msg size 4\n";
    let messages = read(text, "f.cm", StartUnit::default()).unwrap().workload.messages;
    let got: Vec<(u32, u64)> = messages.iter().map(|it| (it.stream, it.bytes.get())).collect();
    assert_eq!(got, [(0, 1), (1, 2), (0, 3), (0, 4)]);
}

#[test]
fn a_multishot_starts_one_connection_per_activation() {
    let text = "Nodes 2\n0->1 id 1 start 0 size 5 send_done_trigger 1\n\
                0->1 id 2 trigger 1 size 5 send_done_trigger 1\n0->1 id 3 trigger 1 size 5\n\
                trigger id 1 multishot\n";
    let workload = read(text, "f.cm", StartUnit::default()).unwrap().workload;
    // Messages 0 to 2, activations 3 and 4, the starts 5 and 6 of the second and third message.
    for activation in [3, 4] {
        assert_eq!(workload.dependents_of(TaskId(activation)), [TaskId(5), TaskId(6)]);
    }
    assert_eq!(workload.dependents_of(TaskId(5)), [TaskId(1)]);
    assert_eq!(workload.dependents_of(TaskId(6)), [TaskId(2)]);
    assert_eq!([5, 6].map(|task| workload.dependency_count(TaskId(task))), [1, 2]);
}

#[test]
fn failures_name_an_aggregation_switch_and_its_uplink() {
    let text = "Nodes 2\nFailures 1\n0->1 start 0 size 5\n\
                failure switch_type AGG switch_id 5 link_id 1\n";
    let matrix = read(text, "f.cm", StartUnit::default()).unwrap();
    assert_eq!(matrix.failures, [MatrixFailure { line: 4, switch: 5, uplink: 1 }]);
    assert!(
        matrix.warnings[0].starts_with("line 4 has a link that is down"),
        "{:?}",
        matrix.warnings
    );
}

#[test]
fn a_failure_unknown_to_htsim_is_an_error() {
    for (text, expected) in [
        ("Nodes 2\nfailure switch_type AGG switch_id 0\n", "f.cm:2: invalid failure"),
        ("Nodes 2\nfailure switch_type AGG switch 0\n", "f.cm:2: invalid failure"),
        (
            "Nodes 2\nfailure switch_type TOR switch_id 0 link_id 1\n",
            "f.cm:2: switch_type 'TOR' is not AGG",
        ),
        (
            "Nodes 2\nfailure switch_type AGG switch_id -1 link_id 1\n",
            "f.cm:2: switch_id '-1' is not",
        ),
    ] {
        let text = read(text, "f.cm", StartUnit::default()).unwrap_err().to_string();
        assert!(text.starts_with(expected), "'{text}' should be '{expected}'");
    }
}
