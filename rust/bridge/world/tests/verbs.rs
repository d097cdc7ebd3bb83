//! Tests of verbs in the plain simulator, with the times of their completions.

use super::*;
use crate::world::enumerations::{
    FabricCompletionStatus, FabricOpcode, FabricOperation, FabricQpState,
};
use crate::world::records::{FabricQpSettings, FabricWork};

/// Transmission time of a byte at 100 Gbps, in picoseconds.
const BYTE: u64 = 80;
/// Times of a full data packet and of an acknowledgement over two links of 500 ns.
const DATA: u64 = 2 * (4_158 * BYTE + 500_000);
const ANSWER: u64 = 2 * (64 * BYTE + 500_000);
/// Time between two packets of a message.
const BEHIND: u64 = (4_158 + 20) * BYTE;
const RNR_TIMER: u64 = 640_000_000;

const WRITE: FabricOperation = FabricOperation::WRITE;
const WITH_IMMEDIATE: FabricOperation = FabricOperation::WRITE_WITH_IMMEDIATE;
const SEND: FabricOperation = FabricOperation::SEND;
const READ: FabricOperation = FabricOperation::READ;
const RESET: FabricQpState = FabricQpState::RESET;
const INIT: FabricQpState = FabricQpState::INIT;
const RTR: FabricQpState = FabricQpState::RTR;
const RTS: FabricQpState = FabricQpState::RTS;
const SQD: FabricQpState = FabricQpState::SQD;
const ERROR: FabricQpState = FabricQpState::ERROR;

fn work(work_id: u64, operation: FabricOperation, bytes: u64) -> FabricWork {
    FabricWork { work_id, operation, bytes, immediate: 0xfeed, signaled: true }
}

/// A completion, without its immediate data.
#[derive(Debug, PartialEq, Eq)]
struct Completed {
    host: u32,
    id: u64,
    opcode: FabricOpcode,
    status: FabricCompletionStatus,
    bytes: u64,
    at: u64,
}

impl Completed {
    /// Completion of successful work with this id at host 0.
    fn success(id: u64, opcode: FabricOpcode, bytes: u64, at: u64) -> Self {
        Self { host: 0, id, opcode, status: FabricCompletionStatus::SUCCESS, bytes, at }
    }

    /// Completion of flushed work with this id at host 0.
    fn flushed(id: u64, opcode: FabricOpcode, at: u64) -> Self {
        let status = FabricCompletionStatus::WR_FLUSH_ERR;
        Self { status, ..Self::success(id, opcode, 0, at) }
    }

    /// Moves the completion to another host.
    fn at_host(self, host: u32) -> Self {
        Self { host, ..self }
    }
}

/// Builds two hosts behind one switch, with a queue pair from each to the other.
fn on_two_hosts(text: &str, settings: Option<FabricQpSettings>) -> (Graph, Box<Core>) {
    let text = format!("[transport]\ncongestion_control = \"line-rate\"\n{text}");
    let made = experiment_on_graph(&two_hosts(), &text, "", &Overrides::default());
    let mut experiment = made.unwrap_or_else(|error| panic!("{error}"));
    settings.iter().for_each(|settings| experiment.set_queue_pairs(settings).unwrap());
    let mut core = experiment.core();
    for (host, peer) in [(0, 1), (1, 0)] {
        assert_eq!(core.create_qp(host, peer, 5), Ok(0));
        for state in [INIT, RTR, RTS] {
            core.set_peer_qp(host, 0, 0).ok();
            core.modify_qp(host, 0, state, 0).unwrap();
        }
        assert_eq!(core.query_qp(host, 0), Ok(RTS));
    }
    (two_hosts(), core)
}

impl Plain<'_> {
    /// Calls a verb at a host.
    fn verb<T>(&mut self, host: u32, now: u64, verb: impl FnOnce(&mut Core) -> T) -> T {
        self.pump(host, now);
        let result = verb(self.core);
        self.follow_up(host, now);
        result
    }

    /// Handles all events up to a time.
    fn run_until(&mut self, end: u64) {
        while self.events.peek().is_some_and(|&Reverse((next, ..))| next <= end) {
            self.step();
        }
    }

    /// Takes all completions since the last call.
    fn completions(&mut self) -> Vec<Completed> {
        let mut it = FabricCompletion::default();
        let mut all = std::mem::take(&mut self.completed);
        while self.core.poll_completion(&mut it) {
            all.push(it);
        }
        let facts = all.iter().map(|it| {
            let has_number = it.opcode == FabricOpcode::RECEIVE_WITH_IMMEDIATE;
            let expected = if has_number { (true, 0xfeed) } else { (false, 0) };
            assert_eq!((it.has_immediate, it.immediate), expected);
            let FabricCompletion { host, opcode, status, bytes, .. } = *it;
            Completed { host, id: it.work_id, opcode, status, bytes, at: it.at_ps }
        });
        facts.collect()
    }
}

fn world<'a>(core: &'a mut Core, graph: &'a Graph) -> Plain<'a> {
    Plain::new(core, graph, 20)
}

#[test]
fn a_write_takes_as_long_as_a_message() {
    for packets in [1, 2, 50] {
        let (graph, mut core) = on_two_hosts("", None);
        let mut plain = world(&mut core, &graph);
        let write = work(7, WRITE, packets * 4_096);
        plain.verb(0, 3_000, |core| core.post_send(0, 0, &write, 3_000)).unwrap();
        assert!(!plain.core.is_finished(), "work is open");
        let end = plain.run(0);
        assert_eq!(end, 3_000 + DATA + (packets - 1) * BEHIND + ANSWER);
        assert_eq!(
            plain.completions(),
            [Completed::success(7, FabricOpcode::WRITE, packets * 4_096, end)]
        );

        let (graph, mut core) = on_two_hosts("", None);
        core.post(0, 1, packets * 4_096, 0, 3_000, 0).unwrap();
        assert_eq!(world(&mut core, &graph).run(2), end);
        assert_eq!(core.nic_counters().0.data_sent, packets);
    }
}

#[test]
fn a_send_waits_for_its_receive() {
    let (graph, mut core) = on_two_hosts("", None);
    let mut plain = world(&mut core, &graph);
    plain.verb(0, 0, |core| core.post_send(0, 0, &work(7, SEND, 4_096), 0)).unwrap();
    // The responder returns an RNR NAK; the SEND is retransmitted when the requester's timer
    // expires.
    plain.run_until(DATA + ANSWER);
    assert_eq!(plain.completions(), []);
    plain.verb(1, 5_000_000, |core| core.post_receive(1, 0, 9, 5_000_000)).unwrap();
    let end = plain.run(0);
    let there = DATA + ANSWER + RNR_TIMER + DATA;
    assert_eq!(end, there + ANSWER);
    let all = [
        Completed::success(9, FabricOpcode::RECEIVE, 4_096, there).at_host(1),
        Completed::success(7, FabricOpcode::SEND, 4_096, end),
    ];
    assert_eq!(plain.completions(), all);
    assert_eq!(core.nic_counters().0.retransmitted, 1);
}

#[test]
fn immediate_data_and_read_responses_reach_the_requester() {
    let (graph, mut core) = on_two_hosts("", None);
    let mut plain = world(&mut core, &graph);
    plain.verb(1, 0, |core| core.post_receive(1, 0, 9, 0)).unwrap();
    let write = work(1, WITH_IMMEDIATE, 8_192);
    plain.verb(0, 0, |core| core.post_send(0, 0, &write, 0)).unwrap();
    let there = DATA + BEHIND;
    let end = plain.run(0);
    let all = [
        Completed::success(9, FabricOpcode::RECEIVE_WITH_IMMEDIATE, 8_192, there).at_host(1),
        Completed::success(1, FabricOpcode::WRITE, 8_192, there + ANSWER),
    ];
    assert_eq!((plain.completions(), end), (all.into(), there + ANSWER));
    // The request has only headers, and the response follows its acknowledgement.
    plain.verb(0, end, |core| core.post_send(0, 0, &work(2, READ, 8_192), end)).unwrap();
    let request = 2 * (62 * BYTE + 500_000);
    let here = end + request + (64 + 20) * BYTE + DATA + BEHIND;
    assert_eq!(plain.run(0), here);
    assert_eq!(plain.completions(), [Completed::success(2, FabricOpcode::READ, 8_192, here)]);
}

#[test]
fn unsignaled_work_has_a_completion_only_if_it_fails() {
    let (graph, mut core) = on_two_hosts("", None);
    let mut plain = world(&mut core, &graph);
    let quiet = |id| FabricWork { signaled: false, ..work(id, WRITE, 100) };
    plain.verb(0, 0, |core| core.post_send(0, 0, &quiet(1), 0)).unwrap();
    plain.verb(0, 0, |core| core.post_send(0, 0, &work(2, WRITE, 100), 0)).unwrap();
    let end = plain.run(0);
    assert_eq!(plain.completions().iter().map(|it| it.id).collect::<Vec<_>>(), [2]);
    plain.verb(0, end, |core| core.post_send(0, 0, &quiet(3), end)).unwrap();
    plain.verb(0, end, |core| core.modify_qp(0, 0, ERROR, end)).unwrap();
    assert_eq!(plain.core.next_wake(0, end, end), end, "the host requests a wake-up at once");
    assert_eq!(plain.completions(), [Completed::flushed(3, FabricOpcode::WRITE, end)]);
    assert!(plain.core.is_finished());
}

#[test]
fn destroying_flushes_open_work_and_a_reset_discards_it() {
    for reset in [RESET, ERROR] {
        let (graph, mut core) = on_two_hosts("", None);
        let mut plain = world(&mut core, &graph);
        plain.verb(0, 0, |core| core.post_receive(0, 0, 4, 0)).unwrap();
        plain.verb(0, 0, |core| core.post_send(0, 0, &work(5, SEND, 90_000), 0)).unwrap();
        plain.run_until(1_000_000);
        let flushed = [
            Completed::flushed(5, FabricOpcode::SEND, 1_000_000),
            Completed::flushed(4, FabricOpcode::RECEIVE, 1_000_000),
        ];
        if reset == RESET {
            plain.verb(0, 1_000_000, |core| core.modify_qp(0, 0, RESET, 1_000_000)).unwrap();
            assert_eq!(plain.completions(), []);
        } else {
            plain.verb(0, 1_000_000, |core| core.destroy_qp(0, 0, 1_000_000)).unwrap();
            assert_eq!(plain.completions(), flushed);
            let said = plain.core.query_qp(0, 0).unwrap_err().to_string();
            assert_eq!(said, "host 0 has no queue pair 0 created by a program (EINVAL)");
        }
        assert!(plain.core.is_finished(), "packets on the wire have no queue pair");
        while plain.step().is_some() {}
        assert_eq!(plain.completions(), []);
    }
}

#[test]
fn work_fails_if_the_peer_never_responds_or_is_never_ready() {
    let settings = FabricQpSettings {
        send_queue: 2,
        receive_queue: 1,
        rnr_timer_ps: 10_000_000,
        rnr_retries: 2,
        retries: 1,
    };
    let timeout = "retransmit_timeout = \"50us\"";
    let (graph, mut core) = on_two_hosts(timeout, Some(settings));
    let mut plain = world(&mut core, &graph);
    plain.verb(0, 0, |core| core.post_send(0, 0, &work(5, SEND, 100), 0)).unwrap();
    let answered = 2 * ((162 + 64) * BYTE + 1_000_000);
    assert_eq!(plain.run(0), 3 * answered + 2 * 10_000_000);
    assert_eq!(plain.completions()[0].status, FabricCompletionStatus::RNR_RETRY_EXC_ERR);

    let (graph, mut core) = on_two_hosts(timeout, Some(settings));
    let mut plain = world(&mut core, &graph);
    plain.verb(1, 0, |core| core.destroy_qp(1, 0, 0)).unwrap();
    plain.verb(0, 0, |core| core.post_send(0, 0, &work(5, WRITE, 100), 0)).unwrap();
    plain.verb(0, 0, |core| core.post_send(0, 0, &work(6, WRITE, 100), 0)).unwrap();
    let said = plain.core.post_send(0, 0, &work(7, WRITE, 100), 0).unwrap_err().to_string();
    assert!(
        said.ends_with("holds 2 work requests and is full; poll completions (ENOMEM)"),
        "{said}"
    );
    plain.run(0);
    let statuses: Vec<_> = plain.completions().iter().map(|it| (it.id, it.status)).collect();
    let [failed, flushed] =
        [FabricCompletionStatus::RETRY_EXC_ERR, FabricCompletionStatus::WR_FLUSH_ERR];
    assert_eq!(statuses, [(5, failed), (6, flushed)]);
}

#[test]
fn rejected_calls_give_the_reason() {
    let (_, mut core) = on_two_hosts("recovery = \"per-packet\"\ndelivery = \"unordered\"", None);
    let says = |rejected: Result<(), _>| {
        rejected.map_err(|it: super::super::verbs::WorkError| it.to_string()).unwrap_err()
    };
    let said = says(core.post_send(0, 0, &work(1, READ, 1), 0));
    assert_eq!(
        said,
        "unordered delivery does not support READs; choose ordered delivery (EOPNOTSUPP)"
    );
    let said = says(core.modify_qp(0, 0, RTR, 0));
    assert!(said.contains("RTS cannot become RTR") && said.ends_with("(EINVAL)"), "{said}");
    let said = says(core.modify_qp(0, 0, FabricQpState { repr: 7 }, 0));
    assert_eq!(said, "state 7 is unknown: it must be from 0 to 6 (EINVAL)");
    let said = says(core.post_send(0, 0, &work(1, FabricOperation { repr: 4 }, 1), 0));
    assert_eq!(said, "operation 4 is unknown: it must be from 0 to 3 (EINVAL)");
    assert!(says(core.post_receive(0, 1, 1, 0)).starts_with("host 0 has no queue pair 1"));
    assert!(says(core.create_qp(0, 2, 0).map(|_| ())).contains("hosts are numbered 0 to 1"));
    assert!(says(core.create_qp(1, 1, 0).map(|_| ())).contains("to itself"));
    core.modify_qp(0, 0, SQD, 0).unwrap();
    assert_eq!(core.post_send(0, 0, &work(1, WRITE, 1), 0), Ok(()));
    assert!(!core.has_packets(0), "it waits");

    let made = experiment_on_graph(&two_hosts(), "", "", &Overrides::default());
    let settings =
        FabricQpSettings { send_queue: 4_096, receive_queue: 1, ..FabricQpSettings::default() };
    let said = says(made.unwrap().set_queue_pairs(&settings));
    assert_eq!(
        said,
        "the depth 4096 of send queues is out of range: it must be from 1 to 4095 (EINVAL)"
    );
    // A queue pair for messages does not belong to a program.
    core.post(0, 1, 1, 0, 0, 0).unwrap();
    core.handle_timeout(0, 0);
    assert!(core.modify_qp(0, 1, ERROR, 0).is_err());
}

/// Without a splitter, a queue pair keeps one path until a timeout.
#[test]
fn a_policy_that_pins_paths_also_pins_queue_pairs() {
    let text = format!(
        "{SPREAD}[policy]\nname = \"ethereal\"\n[workload]\nkind = \"incast\"\nfan_in = 1\n"
    );
    let mut core = experiment(&text).core();
    assert_eq!((core.create_qp(0, 2, 1), core.create_qp(2, 0, 1)), (Ok(0), Ok(0)));
    for (host, state) in [INIT, RTR, RTS].into_iter().flat_map(|it| [(0, it), (2, it)]) {
        core.set_peer_qp(host, 0, 0).ok();
        core.modify_qp(host, 0, state, 0).unwrap();
    }
    let sent = |core: &mut Core, now: u64| {
        let (mut packet, mut free) = (FabricPacket::default(), now);
        core.poll_transmit(0, now, &mut free, &mut packet).then_some(packet)
    };
    core.post_send(0, 0, &work(1, WRITE, 1), 0).unwrap();
    let first = sent(&mut core, 0).unwrap();
    // No acknowledgement arrives.
    core.handle_timeout(0, 50_000_000);
    let again = sent(&mut core, 50_000_000).unwrap();
    assert_eq!(
        (first.entropy + again.entropy, first.psn),
        (1, again.psn),
        "the other of two paths"
    );
    core.handle_packet(2, 60_000_000, &again);
    let (mut answer, mut free) = (FabricPacket::default(), 60_000_000);
    assert!(core.poll_transmit(2, 60_000_000, &mut free, &mut answer));
    assert!(core.handle_packet(0, 70_000_000, &answer));
    core.post_send(0, 0, &work(2, WRITE, 1), 70_000_000).unwrap();
    assert_eq!(sent(&mut core, 70_000_000).unwrap().entropy, again.entropy, "it keeps the path");
}
