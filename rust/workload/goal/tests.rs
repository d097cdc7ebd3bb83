//! GOAL schedules: dependencies, matching and faults.

use super::*;
use crate::ids::TaskId;
use crate::units::Bytes;

const TWO: &str = "num_ranks 2 // a comment\n\nrank 0 {\nl1: calc 100 cpu 1\n/* l9: calc 7\n \
                   */ l2: send 10b to 1 tag 3 cpu 0 nic 0\nl2 requires l1\nl3: calc 5\n\
                   l3 irequires l2\n}\nrank 1 {\nrecv 10b from 0 tag 3\n}\n";

fn error(text: &str) -> String {
    read(text, "s.goal", Compute::Serial).unwrap_err().to_string()
}

#[test]
fn a_schedule_becomes_messages_and_delays() {
    let schedule = read(TWO, "s.goal", Compute::Serial).unwrap();
    let workload = schedule.workload;
    assert_eq!((schedule.ranks, workload.messages.len()), (2, 1));
    assert_eq!(workload.messages[0].bytes, Bytes::new(10));
    // 1 is the calculation, 2 the third operation, 3 the start of the send, 4 the receive.
    let spans: Vec<Span> = workload.delays.iter().map(|delay| delay.span).collect();
    let none = Span::ZERO;
    assert_eq!(spans, [Span::from_ns(100), Span::from_ns(5), none, none]);
    // The calculations run on processors 1 and 0.
    assert_eq!(workload.lanes, [Some(Lane(1)), Some(Lane(0)), None, None]);
    let parallel = read(TWO, "s.goal", Compute::Parallel).unwrap().workload;
    assert!(parallel.lanes.is_empty());
    assert_eq!(workload.dependents_of(TaskId(1)), [TaskId(3)]);
    assert_eq!(workload.dependents_of(TaskId(3)), [TaskId(0), TaskId(2)]);
    assert_eq!(workload.dependents_of(TaskId(0)), [TaskId(4)]);
}

#[test]
fn sends_and_receives_of_a_pair_and_tag_match_in_order() {
    let text = "num_ranks 2\nrank 1 {\na: recv 1b from 0\nb: recv 2b from 0\n}\nrank 0 {\n\
                send 1b to 1\nsend 2b to 1\n}\n";
    let workload = read(text, "s.goal", Compute::Serial).unwrap().workload;
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
        ("num_ranks 2\n}\n", "s.goal:2: outside of 'rank N {' and '}'"),
        ("num_ranks 2\nrank 0 {\nput 5b to 1\n", "s.goal:3: expected num_ranks, rank, "),
        ("num_ranks 2\nrank 0 {\nsend 5 to 1\n", "s.goal:3: expected b, found 'to'"),
        ("num_ranks 2\nrank 0 {\nsend 5b to\n", "s.goal:3: expected a whole number, found the"),
        ("num_ranks 2\nrank 0 {\nrecv 5b from -1\n", "s.goal:3: -1 (any) is not available"),
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
