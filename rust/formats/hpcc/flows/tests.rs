//! Flow files: both dialects, errors, and warnings.

use super::*;

fn error(text: &str) -> String {
    read(text, "flow.txt").unwrap_err().to_string()
}

#[test]
fn reads_both_dialects_exactly() {
    let six = read("2\n2 1 3 100 200000000 2\n3 1 3 100 5 2.000000001\n4 1 x", "f").unwrap();
    assert_eq!((six.dialect, six.flows.len()), (Dialect::Hpcc, 2));
    assert_eq!(
        six.flows[1],
        FlowLine {
            line: 3,
            src: 3,
            dst: 1,
            priority: 3,
            dst_port: Some(100),
            bytes: 5,
            start: Time::from_ps(2_000_000_001_000)
        }
    );
    let five = read("\n1\r\n\n 0\t127 3 1000000 0.13\r\n", "f").unwrap();
    assert_eq!((five.dialect, five.flows[0].dst_port), (Dialect::ConWeave, None));
    assert_eq!(five.flows[0].start, Time::from_ps(130_000_000_000));
    assert_eq!((five.flows[0].line, five.warnings.len()), (4, 0));
}

#[test]
fn each_error_names_file_line_token_and_what_is_expected() {
    let columns = "a flow has 6 (src dst priority dst_port bytes start_s) or 5";
    for (text, expected) in [
        ("", "flow.txt:1: '' is not the number of flows; write it alone in the first line"),
        ("two\n", "flow.txt:1: 'two' is not the number of flows"),
        ("0 1 3 1000 2\n", "flow.txt:1: '0 1 3 1000 2' is not the number of flows"),
        ("0\n", "flow.txt:1: 0 flows are announced"),
        (
            "2\n\n0 1 3 9 2\n",
            "flow.txt:3: 2 flows are announced, but the file ends after 1 of them",
        ),
        ("18446744073709551615\n", "flow.txt:1: 18446744073709551615 flows are announced"),
        ("1\n0 1 3 2\n", &format!("flow.txt:2: '0 1 3 2' has 4 columns; {columns}")),
        ("1\n0 1 3 4 5 6 7\n", &format!("flow.txt:2: '0 1 3 4 5 6 7' has 7 columns; {columns}")),
        (
            "2\n0 1 3 9 2\n0 1 3 4 9 2\n",
            "flow.txt:3: '0 1 3 4 9 2' has 6 columns, but the flows above it have 5",
        ),
        ("1\nh0 1 3 9 2\n", "flow.txt:2: 'h0' is not a src (node id); write a whole number"),
        ("1\n0 -1 3 9 2\n", "flow.txt:2: '-1' is not a dst (node id)"),
        ("1\n0 1 3 -4 9 2\n", "flow.txt:2: '-4' is not a dst_port"),
        ("1\n0 1 3 65536 9 2\n", "flow.txt:2: '0 1 3 65536 9 2' is not a flow of the HPCC family"),
        ("1\n0 1 3 40 2.5 9\n", "flow.txt:2: '0 1 3 40 2.5 9' is not a flow of the HPCC family"),
        (
            "1\n0 1 3 99999999999999999999 2\n",
            "flow.txt:2: '99999999999999999999' is not a number of bytes; write a whole \
             number from 0 to 18446744073709551615",
        ),
        ("1\n0 1 3 1.5 2\n", "flow.txt:2: '1.5' is not a number of bytes"),
        ("1\n5 5 3 9 2\n", "flow.txt:2: a flow from node 5 to itself"),
        ("1\n0 1 3 0 2\n", "flow.txt:2: a flow of 0 bytes; expected at least 1"),
        ("1\n0 1 3 9 -2\n", "flow.txt:2: '-2' is not a start: it is negative; write seconds"),
        ("1\n0 1 3 9 2s\n", "flow.txt:2: '2s' is not a start: it is not a number"),
        ("1\n0 1 3 9 1e9\n", "flow.txt:2: '1e9' is not a start: it is too large"),
        (
            "2\n0 1 3 9 2\n0 1 3 18446744073709551610 2\n",
            "flow.txt:3: with these 18446744073709551610 bytes the flows exceed",
        ),
    ] {
        let message = error(text);
        assert!(message.starts_with(expected), "{text:?}: {message}");
    }
}

#[test]
fn nodes_are_resolved_to_hosts() {
    let file = read("2\n1 3 3 9 2\n3 1 3 8 1\n", "flow.txt").unwrap();
    let hosts = [None, Some(HostId(0)), None, Some(HostId(1))];
    let workload = file.workload(&hosts).unwrap();
    let first = workload.messages[0];
    assert_eq!((first.src, first.dst, first.bytes), (HostId(0), HostId(1), Bytes::new(9)));
    assert_eq!((first.stream, workload.messages[1].stream), (0, 1));
    assert_eq!(
        file.workload(&[None, Some(HostId(0)), None, None]).unwrap_err().to_string(),
        "flow.txt:2: dst 3 is a switch; write the id of a host of the topology"
    );
    assert_eq!(
        file.workload(&hosts[..2]).unwrap_err().to_string(),
        "flow.txt:2: dst 3 is not in the topology, whose nodes are 0 to 1; write the id of a \
         host of the topology"
    );
}

#[test]
fn differences_from_the_family_give_warnings() {
    let file = read("3\n0 1 3 9 2\n0 1 3 5000000000 1\n0 1 3 9 0\n", "flow.txt").unwrap();
    assert_eq!(file.warnings.len(), 2);
    assert!(file.warnings[0].starts_with("flow.txt:3: starts before the flow above it"));
    assert!(file.warnings[1].starts_with("flow.txt:3: 5000000000 bytes exceed the 32"));
}

#[test]
fn packet_counts_and_differing_priorities_give_warnings() {
    let warnings = |text: &str| read(text, "flow.txt").unwrap().warnings;
    let packets = warnings("2\n0 1 3 20000 2 9\n0 1 3 10000 3 9\n");
    assert!(packets[0].contains("no flow has more bytes than seconds in its start"));
    assert!(warnings("2\n0 1 3 20000 2 9\n0 1 3 10000 30 9\n").is_empty());
    assert!(warnings("1\n0 1 3 2 9\n").is_empty(), "five columns are ConWeave's");
    let priorities = warnings("2\n0 1 3 100 100 1\n0 1 4 100 100 1\n");
    assert!(
        priorities[0].starts_with("flow.txt:3: priority group 4 differs from that of the flow")
    );
}

#[test]
fn a_workload_without_messages_cannot_be_a_flow_file() {
    let refused = write(&Workload::default(), 4).unwrap_err();
    assert_eq!(refused.to_string(), "it has no messages; the format needs at least one");
}
