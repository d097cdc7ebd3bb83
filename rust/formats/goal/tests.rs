//! GOAL schedules: dependencies, matching and errors.

use super::*;
use crate::ids::TaskId;
use crate::units::{Bytes, Span};
use crate::workload::Lane;

const TWO: &str = "num_ranks 2 // a comment\n\nrank 0 {\nl1: calc 100 cpu 1\n/* l9: calc 7\n \
                   */ l2: send 10b to 1 tag 3 cpu 0 nic 0\nl2 requires l1\nl3: calc 5\n\
                   l3 irequires l2\n}\nrank 1 {\nrecv 10b from 0 tag 3\n}\n";

fn error(text: &str) -> String {
    read(text, "s.goal", Options::default()).unwrap_err().to_string()
}

#[test]
fn a_schedule_becomes_messages_and_delays() {
    let schedule = read(TWO, "s.goal", Options::default()).unwrap();
    let workload = schedule.workload;
    assert_eq!((schedule.ranks, workload.messages.len()), (2, 1));
    assert_eq!(workload.messages[0].bytes, Bytes::new(10));
    // 1 is the calculation, 2 the third operation, 3 the start of the send, 4 the receive.
    let spans: Vec<Span> = workload.delays.iter().map(|delay| delay.span).collect();
    let none = Span::ZERO;
    assert_eq!(spans, [Span::from_ns(100), Span::from_ns(5), none, none]);
    // The calculations run on processors 1 and 0.
    assert_eq!(workload.lanes, [Some(Lane(1)), Some(Lane(0)), None, None]);
    let parallel = Options { compute: Compute::Parallel, ..Options::default() };
    let parallel = read(TWO, "s.goal", parallel).unwrap().workload;
    assert!(parallel.lanes.is_empty());
    assert_eq!(workload.dependents_of(TaskId(1)), [TaskId(3)]);
    assert_eq!(workload.dependents_of(TaskId(3)), [TaskId(0), TaskId(2)]);
    assert_eq!(workload.dependents_of(TaskId(0)), [TaskId(4)]);
}

#[test]
fn sends_and_receives_of_a_pair_and_tag_match_in_order() {
    let text = "num_ranks 2\nrank 1 {\na: recv 1b from 0\nb: recv 2b from 0\n}\nrank 0 {\n\
                send 1b to 1\nsend 2b to 1\n}\n";
    let workload = read(text, "s.goal", Options::default()).unwrap().workload;
    assert_eq!(workload.dependents_of(TaskId(0)), [TaskId(2)]);
    assert_eq!(workload.dependents_of(TaskId(1)), [TaskId(3)]);
}

#[test]
fn each_error_names_its_line_and_what_is_expected() {
    for (text, expected) in [
        ("", "s.goal:1: num_ranks is missing"),
        ("rank 0 {\n", "s.goal:1: num_ranks is missing"),
        ("num_ranks 0\n", "s.goal:1: num_ranks 0 is out of range; expected 1 to 16777216"),
        ("num_ranks 2\nrank 2 {\n", "s.goal:2: unknown rank 2; ranks are 0 to 1"),
        ("num_ranks 2\nrank 0 {\n", "s.goal:2: rank 0, whose '{' is in line 2, has no '}'"),
        ("num_ranks 2\n}\n", "s.goal:2: this line is outside 'rank N {' and '}'"),
        ("num_ranks 2\nrank 0 {\nput 5b to 1\n", "s.goal:3: expected num_ranks, rank, "),
        ("num_ranks 2\nrank 0 {\nsend 5 to 1\n", "s.goal:3: expected b, found 'to'"),
        ("num_ranks 2\nrank 0 {\nsend 5b to\n", "s.goal:3: expected a whole number, found the"),
        ("num_ranks 2\nrank 0 {\nsend 5b to -1\n", "s.goal:3: -1 (any) is only valid as the"),
        ("num_ranks 2\nrank 0 {\nrecv 5b from 1 tag -1\n", "s.goal:3: -1 (any) is only valid"),
        ("num_ranks 2\nrank 0 {\nsend 5b to 1 nic 256\n", "s.goal:3: 256 is too large; expected"),
        ("num_ranks 2\nrank 0 {\nsend 5b to 0\n", "s.goal:3: a message from rank 0 to itself"),
        ("num_ranks 2\nrank 0 {\na: calc 1\na: calc 2\n", "s.goal:4: duplicate label 'a'"),
        (
            "num_ranks 2\nrank 0 {\na: calc 1\na requires b\n}\n",
            "s.goal:5: unknown label 'b' in line 4",
        ),
        ("num_ranks 2\nrank 0 {\nsend 5b to 1\n}\n", "s.goal:3: rank 1 has no matching rec"),
        ("num_ranks 2\nrank 0 {\nrecv 5b from 1\n}\n", "s.goal:3: rank 1 has no matching send"),
        (
            "num_ranks 1\nrank 0 {\na: calc 1\nb: calc 1\na requires b\nb requires a\n}\n",
            "s.goal:3: this operation never starts",
        ),
        ("num_ranks 1\nrank 0 {\ncalc 99999999999999999999\n}\n", "s.goal:3: 99999999999999"),
        ("num_ranks 1\nrank 0 {\n}\nrank 0 {\n}\n", "s.goal:4: duplicate rank 0"),
        ("num_ranks 1 /* to\nthe end", "s.goal:1: '/*' has no '*/'"),
    ] {
        let message = error(text);
        assert!(message.starts_with(expected), "'{message}' should be '{expected}'");
    }
}

/// Formats a schedule of three ranks; the first receives `receives`.
fn gather(receives: &str) -> String {
    format!(
        "num_ranks 3\nrank 0 {{\n{receives}}}\nrank 1 {{\nsend 7b to 0 tag 5\n}}\nrank 2 {{\n\
             send 7b to 0 tag 5\n}}\n"
    )
}

#[test]
fn receives_from_any_source_take_messages_in_order_of_arrival() {
    let text = gather("a: recv 7b from -1 tag 5\nb: recv 7b from -1 tag 5\n");
    let workload = read(&text, "s.goal", Options::default()).unwrap().workload;
    // Messages 0 and 1, receives 2 and 3; the delays 4 and 5 end with the first and second arrival.
    assert_eq!(workload.waits_for, [0, 0, 1, 1, 2, 2]);
    for message in [0, 1] {
        assert_eq!(workload.dependents_of(TaskId(message)), [TaskId(4), TaskId(5)]);
    }
    assert_eq!(workload.dependents_of(TaskId(4)), [TaskId(2)]);
    assert_eq!(workload.dependents_of(TaskId(5)), [TaskId(3)]);
    assert_eq!([4, 5].map(|task| workload.dependency_count(TaskId(task))), [1, 2]);
}

#[test]
fn a_send_and_its_receive_have_the_same_size() {
    let message = error(&TWO.replace("recv 10b", "recv 9b"));
    let expected = "s.goal:12: 9 B, but the send in line 6 that may be matched with it has 10 B";
    assert!(message.starts_with(expected), "{message}");
}

#[test]
fn errors_of_matching_name_both_sides() {
    for (receives, expected) in [
        ("recv 7b from -1 tag 5\n", "s.goal:9: rank 0 receives tag 5 from any source, but has"),
        (
            "recv 7b from -1 tag 5\nrecv 7b from -1 tag 5\nrecv 7b from -1 tag 5\n",
            "s.goal:5: no send to rank 0 with tag 5 is left",
        ),
        (
            "recv 7b from 1 tag 5\nrecv 7b from -1 tag 5\n",
            "s.goal:4: rank 0 receives tag 5 from any source here and from a given rank in line 3",
        ),
        (
            "recv 7b from -1 tag 5\nrecv 8b from -1 tag 5\n",
            "s.goal:4: 8 B, but the send in line 7 that may be matched with it has 7 B",
        ),
        ("recv 8b from 1 tag 5\nrecv 7b from 2 tag 5\n", "s.goal:3: 8 B, but the send in line 7"),
        (
            "recv 7b from -1 tag 5\nrecv 7b from -1 tag 5 nic 1\n",
            "s.goal:4: nic 1, but an earlier receive of this tag from any source has nic 0",
        ),
    ] {
        let message = error(&gather(receives));
        assert!(message.starts_with(expected), "'{message}' should be '{expected}'");
    }
}

#[test]
fn ranks_are_nodes_or_hosts_by_layout() {
    // Rank 1 replies from its second NIC to the message that its first NIC received.
    let text = "num_ranks 2\nrank 0 {\na: send 9b to 1\nb: recv 9b from 1 nic 1\nc: calc 5\n\
                c requires a\nd: send 9b to 1 tag 2 nic 1\nd requires a\n}\nrank 1 {\n\
                a: recv 9b from 0\nb: send 9b to 0 nic 1\nb requires a\nrecv 9b from 0 tag 2\n}\n";
    let read_as = |layout| read(text, "s.goal", Options { layout, ..Options::default() }).unwrap();
    let schedule = read_as(None);
    assert_eq!((schedule.ranks, schedule.hosts), (2, 4));
    let ends = |schedule: &Schedule| -> Vec<(u32, u32)> {
        schedule.workload.messages.iter().map(|it| (it.src.0, it.dst.0)).collect()
    };
    assert_eq!(ends(&schedule), [(0, 2), (1, 2), (3, 1)]);
    let hosts: Vec<u32> = schedule.workload.delays.iter().map(|delay| delay.host.0).collect();
    // In order: the receive and the calculation of rank 0, the end of its first send (which its
    // other NIC waits for), and the receives of rank 1.
    assert_eq!(hosts, [1, 0, 0, 2, 2]);
    assert_eq!(schedule.workload.dependents_of(TaskId(0)), [TaskId(4), TaskId(5), TaskId(6)]);
    assert_eq!(schedule.workload.dependents_of(TaskId(5)), [TaskId(1)]);
    assert_eq!(schedule.workload.dependents_of(TaskId(6)), [TaskId(2)]);
    let told =
        "line 4 has nic 1, so each of the 2 ranks becomes a node with 2 NICs (4 hosts in total)";
    assert!(schedule.warnings[0].starts_with(told), "{:?}", schedule.warnings);
    let as_nodes = read_as(Some(Layout::NodeNic));
    assert_eq!(as_nodes, Schedule { warnings: Vec::new(), ..schedule });
    let as_gpus = read_as(Some(Layout::Gpu));
    assert_eq!((as_gpus.hosts, ends(&as_gpus)), (2, vec![(0, 1), (0, 1), (1, 0)]));
    let expected = "line 4 has nic 1, which is ignored with layout = \"gpu\"";
    assert!(as_gpus.warnings[0].starts_with(expected));
}
