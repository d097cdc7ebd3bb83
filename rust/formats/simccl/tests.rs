//! SimCCL's flow files: dependencies, the two headers, and errors.

use super::*;
use crate::ids::TaskId;

const HEADER: &str = "collective,op,data_size,algorithm,protocol,channel_id,flow_id,src,dest,\
                      flow_size,chunk_id,chunk_count,conn_type,parent_flow_ids,prev_flow_ids\n";

/// Formats the flows of a ring all-reduce as the model writes them: by source, then channel.
fn ring(ranks: u64, channels: u64, bytes: u64) -> String {
    let steps = 2 * (ranks - 1);
    let mut text = HEADER.to_owned();
    let id = |rank: u64, channel: u64, step: u64| (channel * steps + step) * ranks + rank;
    for rank in 0..ranks {
        for channel in 0..channels {
            for step in 0..steps {
                let before = (rank + ranks - 1) % ranks;
                let parent = match step {
                    0 => String::new(),
                    _ => id(before, channel, step - 1).to_string(),
                };
                text += &format!(
                    "TP_0_0_0_3_{bytes},3,{bytes},1,0,{channel},{},{rank},{},{},{step},{steps},\
                     RING,{parent},{before}\n",
                    id(rank, channel, step),
                    (rank + 1) % ranks,
                    bytes / ranks / channels
                );
            }
        }
    }
    text
}

#[test]
fn a_ring_forwards_what_it_has_received() {
    let read = read(&ring(4, 2, 1_000_000), "f.csv", Choice::Only).unwrap();
    assert_eq!((read.ranks, read.collectives), (4, vec!["TP_0_0_0_3_1000000".to_owned()]));
    let workload = read.workload;
    // n x c x 2(n - 1) flows, one share each.
    assert_eq!(workload.messages.len(), 4 * 2 * 6);
    assert_eq!(workload.total_bytes(), Bytes::new(48 * 125_000));
    let waits = workload.waits_for.iter().filter(|&&count| count == 0).count();
    assert_eq!(waits, 4 * 2, "the first step of each rank and channel");
    for task in workload.tasks() {
        let message = workload.message(task).unwrap();
        for &after in workload.dependents_of(task) {
            let after = workload.message(after).unwrap();
            assert_eq!((after.src, after.stream), (message.dst, message.stream));
        }
    }
}

#[test]
fn flows_without_parents_follow_their_predecessor_on_the_channel() {
    // Without the columns of the model of NCCL 2.30, and not in order of the chunks.
    let text = "collective,op,data_size,channel_id,flow_id,src,dest,flow_size,chunk_id,chunk_count,\
                conn_type,parent_flow_ids,prev_flow_ids\n\
                EP_1,4,9,0,2,0,1,5,2,3,PTP,,\nEP_1,4,9,0,0,0,1,5,0,3,PTP,,\n\
                EP_1,4,9,0,1,0,1,5,1,3,PTP,,\nEP_1,4,9,1,3,0,1,5,1,3,PTP,,\nTP_1,3,9,0,0,7,1,5,0,1,\
                PAT,,\n";
    let flows = read(text, "f.csv", Choice::Named("EP_1")).unwrap();
    assert_eq!((flows.ranks, flows.warnings.len()), (2, 0));
    // Rows 0, 1 and 2 are the chunks 2, 0 and 1; the row of channel 1 has no predecessor.
    assert_eq!(flows.workload.waits_for, [1, 0, 1, 0]);
    assert_eq!(flows.workload.dependents_of(TaskId(1)), [TaskId(2)]);
    assert_eq!(flows.workload.dependents_of(TaskId(2)), [TaskId(0)]);
    let other = read(text, "f.csv", Choice::Named("TP_1")).unwrap();
    assert!(other.warnings[0].starts_with("line 6: PAT flows have no parent_flow_ids"));
}

#[test]
fn each_error_names_its_line_and_what_is_expected() {
    let row = |values: &str| format!("{HEADER}{values}\n");
    for (text, expected) in [
        (String::new(), "f.csv:1: the header has no column collective"),
        ("collective,op\n".into(), "f.csv:1: the header has no column channel_id"),
        (HEADER.to_owned(), "f.csv:1: no flows"),
        (row("A,3,9,1,0,0,0,0,1"), "f.csv:2: the row ends before the column conn_type, after 9"),
        (row("A,5,9,1,0,0,0,0,1,9,0,1,RING,,"), "f.csv:2: unknown op 5; expected 1 (reduce"),
        (row("A,3,9,1,0,0,0,0,1,9,0,1,NET,,"), "f.csv:2: unknown conn_type 'NET'"),
        (row("A,3,9,4,0,0,0,0,8,9,0,1,NVLS,,"), "f.csv:2: conn_type NVLS names switches"),
        (row("A,3,9,1,0,0,0,1,1,9,0,1,RING,,"), "f.csv:2: a flow from rank 1 to itself"),
        (row("A,3,9,1,0,0,0,0,1,0,0,1,RING,,"), "f.csv:2: flow_size '0' is not a whole number"),
        (row("A,3,9,0,0,0,0,0,1,-9,0,1,TREE_INIT,,"), "f.csv:2: flow_size '-9' is not a whole"),
        (row("A,3,9,1,0,0,0,0,1,9,1,1,RING,,"), "f.csv:2: chunk_id 1, but chunk_count is 1"),
        (row("A,3,9,1,0,0,0,0,1,9,0,1,RING,7,"), "f.csv:2: unknown parent flow 7"),
        (row("A,3,9,1,0,0,0,0,1,9,0,1,RING,x,"), "f.csv:2: parent_flow_ids 'x' is not a whole"),
        (
            row("A,3,9,1,0,0,0,0,1,9,0,1,RING,,\nA,3,9,1,0,0,1,0,1,9,0,1,RING,0,"),
            "f.csv:3: parent flow 0 goes to rank 1, but this flow starts at rank 0",
        ),
        (
            row("A,3,9,1,0,0,0,0,1,9,0,1,RING,,\nA,3,9,1,0,0,0,1,0,9,0,1,RING,,"),
            "f.csv:3: duplicate flow_id 0; the first is in line 2",
        ),
        (
            row("A,3,9,1,0,0,0,0,1,9,0,1,RING,1,\nA,3,9,1,0,0,1,1,0,9,0,1,RING,0,"),
            "f.csv:2: this flow never starts",
        ),
        (
            row("A,3,9,1,0,0,0,0,1,9,0,1,RING,,\nB,3,9,1,0,0,1,0,1,9,0,1,RING,,"),
            "f.csv:1: several collectives; select one with collective = \"NAME\"; the file has A, \
             B",
        ),
    ] {
        let message = read(&text, "f.csv", Choice::Only).unwrap_err().to_string();
        assert!(message.starts_with(expected), "'{message}' should be '{expected}'");
    }
    let message = read(&ring(2, 1, 8), "f.csv", Choice::Named("TP")).unwrap_err().to_string();
    assert_eq!(message, "f.csv:1: unknown collective 'TP'; the file has TP_0_0_0_3_8");
}

#[test]
fn collectives_run_in_sequence_at_each_rank() {
    let second = ring(2, 1, 8).replace("TP_0_0_0_3_8", "DP_1");
    let second: String = second.lines().skip(1).map(|line| format!("{line}\n")).collect();
    // The flow ids of the second collective continue after those of the first.
    let second = second.replace(",0,0,1,", ",90,0,1,").replace(",1,1,0,", ",91,1,0,");
    let second = second.replace(",2,0,1,", ",92,0,1,").replace(",3,1,0,", ",93,1,0,");
    let second = second.replace("RING,1,", "RING,91,").replace("RING,0,", "RING,90,");
    let text = format!("{}{second}", ring(3, 1, 9));
    let read = read(&text, "f.csv", Choice::InTurn).unwrap();
    assert_eq!(read.collectives, ["TP_0_0_0_3_9", "DP_1"]);
    let workload = read.workload;
    assert_eq!((workload.messages.len(), workload.delays.len()), (12 + 4, 3));
    for (index, delay) in workload.delays.iter().enumerate() {
        let end = TaskId((workload.messages.len() + index) as u32);
        // A rank sends four flows and receives four.
        assert_eq!(workload.dependency_count(end), 8);
        let after = workload.dependents_of(end);
        let flows: Vec<usize> = after.iter().map(|task| task.index()).collect();
        assert!(flows.iter().all(|&flow| flow >= 12), "{flows:?}");
        assert_eq!(flows.len(), if delay.host == HostId(2) { 0 } else { 2 });
    }
    assert!(read.warnings[0].starts_with("the 2 collectives run once each"), "{:?}", read.warnings);
}
