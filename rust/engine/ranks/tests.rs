//! Short programs in whole runs: order and time of calls, and how runs end.

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};

use super::*;
use crate::balance::{Parameters, build_scheme};
use crate::fabric::{
    Buffer, Direction, FabricConfig, Failure, FailureKind, Outcome, Setup, Verdict,
};
use crate::ids::LinkId;
use crate::nic::NicConfig;
use crate::topology::fixtures;
use crate::units::{Bytes, Span, Time};
use crate::workload::Workload;

/// Returns a configuration of `count` cases with a fixed seed, unless `PROPTEST_RNG_SEED` sets
/// another.
pub(super) fn cases(count: u32) -> Config {
    let mut config = Config { failure_persistence: None, cases: count, ..Config::default() };
    if config.rng_seed == RngSeed::Random {
        config.rng_seed = RngSeed::Fixed(1);
    }
    config
}

/// Two hosts on a switch, with links of 400 Gbps and 500 ns.
fn setup() -> Setup {
    let scheme = build_scheme("ecmp", &Parameters::new()).unwrap();
    Setup {
        topology: Arc::new(fixtures::leaf_spine(1, 1, 2).build().unwrap()),
        fabric: FabricConfig {
            gap: Bytes::new(20),
            ..FabricConfig::plain(Buffer::Shared(Bytes::new(64_000_000)))
        },
        nic: NicConfig { recovery: scheme.recovery, ..NicConfig::default() },
        scheme,
        own_nics: BTreeMap::new(),
        job_policies: Vec::new(),
        job_classes: Vec::new(),
        workload: Arc::new(Workload::default()),
        seed: 1,
        time_limit: Time::ZERO + Span::from_ms(1_000),
        probes: Vec::new(),
    }
}

/// Issues the requests `start` at first, and those that `then` lists for a ticket when it is
/// called.
#[derive(Debug, Default)]
struct Script {
    start: Vec<Request>,
    then: BTreeMap<u64, Vec<Request>>,
    called: Vec<(u64, u64)>,
}

impl Ranks for &mut Script {
    fn start(&mut self, requests: &mut Vec<Request>) -> Result<(), String> {
        requests.extend(&self.start);
        Ok(())
    }

    fn call(
        &mut self,
        now: Time,
        Ticket(ticket): Ticket,
        requests: &mut Vec<Request>,
    ) -> Result<(), String> {
        self.called.push((now.as_ps(), ticket));
        requests.extend(self.then.remove(&ticket).unwrap_or_default());
        Ok(())
    }
}

impl Script {
    fn new(start: &[Request], then: &[(u64, &[Request])]) -> Self {
        let then = then.iter().map(|&(ticket, requests)| (ticket, requests.to_vec())).collect();
        Self { start: start.to_vec(), then, called: Vec::new() }
    }

    fn run(&mut self, setup: &Setup) -> (Outcome, Ending) {
        run(setup, self, 2, &mut |_| ())
    }

    fn order(&self) -> Vec<u64> {
        self.called.iter().map(|&(_, ticket)| ticket).collect()
    }

    fn time_of(&self, ticket: u64) -> u64 {
        self.called.iter().find(|it| it.1 == ticket).expect("it was called").0
    }
}

fn transfer(rank: u32, peer: i32, bytes: u64, ticket: u64) -> Transfer {
    Transfer { rank, peer, tag: 7, bytes, ticket: Ticket(ticket) }
}

fn send(rank: u32, bytes: u64, ticket: u64) -> Request {
    Request::Send(transfer(rank, 1 - rank as i32, bytes, ticket))
}

fn receive(rank: u32, bytes: u64, ticket: u64) -> Request {
    Request::Receive(transfer(rank, 1 - rank as i32, bytes, ticket))
}

fn schedule(ns: u64, ticket: u64) -> Request {
    Request::Schedule { delay: Span::from_ns(ns), ticket: Ticket(ticket) }
}

const BOTH_DONE: [Request; 2] = [Request::Finish { rank: 0 }, Request::Finish { rank: 1 }];

#[test]
fn two_receives_posted_before_two_sends_are_called_in_order() {
    let start = [receive(1, 64, 1), receive(1, 64, 2), send(0, 64, 3), send(0, 64, 4)];
    let mut script = Script::new(&start, &[(4, &BOTH_DONE)]);
    let (outcome, ending) = script.run(&setup());
    assert_eq!((outcome.verdict, &ending), (Verdict::Completed, &Ending::default()));
    let order = script.order();
    let place = |ticket| order.iter().position(|it| *it == ticket).unwrap();
    assert_eq!(order.len(), 4);
    assert!(place(1) < place(2) && place(1) < place(3) && place(3) < place(4), "{order:?}");
}

#[test]
fn receives_of_two_lengths_on_one_tag_take_the_message_of_their_length() {
    let start = [receive(1, 64, 1), receive(1, 9_000, 2), send(0, 9_000, 3), send(0, 64, 4)];
    let mut script = Script::new(&start, &[(1, &BOTH_DONE)]);
    let (_, ending) = script.run(&setup());
    assert_eq!(ending, Ending::default());
    assert!(script.time_of(2) < script.time_of(1), "the longer is sent first: {:?}", script.called);
}

/// The receiver is called one way after the start, the sender one round trip after it.
#[test]
fn a_receiver_is_called_on_delivery_and_a_sender_on_acknowledgement() {
    let start = [receive(1, 64, 1), send(0, 64, 2)];
    let mut script = Script::new(&start, &[(2, &BOTH_DONE)]);
    let setup = setup();
    script.run(&setup);
    let header = setup.nic.header.get();
    // Two links of 500 ns, at 20 ps per byte.
    let delivered = 2 * (500_000 + (64 + header) * 20);
    assert_eq!(script.time_of(1), delivered);
    let way_back = 2 * (500_000 + setup.nic.ack.bytes.get() * 20);
    assert_eq!(script.time_of(2), delivered + way_back);
}

#[test]
fn a_message_before_its_receive_is_handed_over_when_the_receive_is_posted() {
    let start = [send(0, 64, 1), schedule(9_000, 2)];
    let late = [schedule(0, 4), receive(1, 64, 3), schedule(0, 5)];
    let mut script = Script::new(&start, &[(2, &late), (5, &BOTH_DONE)]);
    let (_, ending) = script.run(&setup());
    assert_eq!(ending, Ending::default());
    assert_eq!(script.order(), [1, 2, 4, 3, 5]);
    assert_eq!(script.time_of(3), 9_000_000);
}

#[test]
fn self_sends_and_empty_messages_complete_immediately_without_the_wire() {
    let own = Request::Send(transfer(0, 0, 64, 1));
    let to_own = Request::Receive(transfer(0, 0, 64, 2));
    let start = [own, to_own, receive(1, 0, 3), send(0, 0, 4)];
    let mut script = Script::new(&start, &[(3, &BOTH_DONE)]);
    let (outcome, ending) = script.run(&setup());
    assert_eq!((outcome.messages, ending), (0, Ending::default()));
    assert_eq!(script.called, [(0, 1), (0, 2), (0, 4), (0, 3)]);
}

#[test]
fn ten_thousand_calls_at_fractions_of_a_nanosecond_are_all_made_on_time() {
    // A delivery at a fraction of a nanosecond, and a chain of calls from there.
    let mut script = Script::new(&[receive(1, 65, 0), send(0, 65, 20_000)], &[]);
    for ticket in 0..10_000 {
        script.then.insert(ticket, vec![schedule(ticket % 3, ticket + 1)]);
    }
    script.then.insert(10_000, BOTH_DONE.to_vec());
    let mut setup = setup();
    setup.nic.header = Bytes::new(setup.nic.header.get() | 1);
    let (_, ending) = script.run(&setup);
    assert_eq!(ending, Ending::default());
    let mut expected = script.time_of(0);
    for ticket in 1..=10_000 {
        expected += (ticket - 1) % 3 * 1_000;
        assert_eq!(script.time_of(ticket), expected);
    }
}

#[test]
fn a_receive_without_a_send_stalls_immediately_and_is_named() {
    let mut script = Script::new(&[receive(1, 64, 1), Request::Finish { rank: 0 }], &[]);
    let (outcome, ending) = script.run(&setup());
    assert_eq!((outcome.verdict, outcome.ended), (Verdict::Stalled, Time::ZERO));
    assert_eq!(ending.unfinished, [1]);
    assert_eq!(ending.to_string(), "  rank 1 waits to receive 1 of 64 B from rank 0, tag 7\n");
}

#[test]
fn a_message_without_a_receive_is_a_warning() {
    let start = [send(0, 64, 1), Request::Finish { rank: 0 }, Request::Finish { rank: 1 }];
    let (outcome, ending) = Script::new(&start, &[]).run(&setup());
    assert_eq!((outcome.verdict, ending.unfinished.len()), (Verdict::Completed, 0));
    let said = "messages: 1 of 64 B from rank 0 to rank 1, tag 7: delivered, never received";
    assert_eq!(ending.warnings(), [said]);
}

#[test]
fn a_cut_link_ends_the_run_and_names_both_sides() {
    let mut setup = setup();
    setup.fabric.failures = vec![Failure {
        link: LinkId(0),
        direction: Direction::Both,
        kind: FailureKind::Down,
        at: Time::ZERO,
        until: Time::NEVER,
        detection: Span::ZERO,
        convergence: Span::ZERO,
    }];
    let (outcome, ending) = Script::new(&[receive(1, 64, 1), send(0, 64, 2)], &[]).run(&setup);
    assert_ne!(outcome.verdict, Verdict::Completed);
    let expected = "  rank 0 waits for 1 of 64 B to be delivered to rank 1, tag 7\n  \
                    rank 1 waits to receive 1 of 64 B from rank 0, tag 7\n";
    assert_eq!(ending.to_string(), expected);
}

#[test]
fn requests_that_cannot_be_carried_out_end_the_run_with_their_reason() {
    let fault = |request: Request| {
        let (_, ending) = Script::new(&[request], &[]).run(&setup());
        ending.fault.expect("it is refused").to_string()
    };
    let to = |peer| Request::Send(transfer(0, peer, 64, 1));
    assert!(fault(to(2)).contains("rank 0 sends to rank 2 (tag 7, 64 B)"), "{}", fault(to(2)));
    assert!(fault(to(-1)).contains("expected 0 to 1"));
    assert!(fault(receive(0, u64::MAX - 8_191, 1)).contains("messages below 2 GiB"));
    assert!(fault(send(0, 1 << 40, 1)).contains("raise time_limit"));
}

#[test]
fn three_gibibytes_in_one_message_arrive_whole() {
    let bytes = 3 << 30;
    let mut script = Script::new(&[receive(1, bytes, 1), send(0, bytes, 2)], &[(2, &BOTH_DONE)]);
    let mut setup = setup();
    // Few packets of many bytes: the test is about the length.
    setup.nic.payload = Bytes::new(60_000);
    let (outcome, ending) = script.run(&setup);
    assert_eq!((outcome.messages, ending), (1, Ending::default()));
    let wire_ps = bytes * 20;
    assert!(script.time_of(1) > wire_ps && script.time_of(1) < wire_ps * 101 / 100);
}

/// Four paths lead to the four hosts of the other leaf.
#[test]
fn requests_of_one_time_form_one_batch_of_a_batching_policy() {
    let scheme = build_scheme("ethereal", &Parameters::new()).unwrap();
    let topology = fixtures::leaf_spine(2, 4, 4).build().unwrap();
    let setup = Setup { topology: Arc::new(topology), scheme, ..setup() };
    let to_all = |ns: u64| -> Vec<Request> {
        (4..8).map(|peer| schedule(ns * peer, peer)).chain([schedule(100_000, 99)]).collect()
    };
    let count = |script: &mut Script| {
        let mut flows = 0;
        for peer in 4..8 {
            let message = Request::Send(transfer(0, peer, 64 * 1_024, 100));
            script.then.insert(peer as u64, vec![message]);
        }
        script.then.insert(99, (0..8).map(|rank| Request::Finish { rank }).collect());
        run(&setup, script, 8, &mut |_| flows += 1);
        flows
    };
    // Calls of one time, though one after the other.
    assert_eq!(count(&mut Script::new(&to_all(0), &[])), 4, "a path each");
    assert_eq!(count(&mut Script::new(&to_all(1_000), &[])), 16, "each over all paths");
}

/// A message of a random run: its send and receive times in ns, and its key.
fn messages() -> impl Strategy<Value = Vec<(u64, u64, usize)>> {
    prop::collection::vec((0u64..20_000, 0u64..20_000, 0usize..4), 1..60)
}

proptest! {
    #![proptest_config(cases(200))]

    /// Whenever messages are sent and received, every ticket is called once. The receives of a key
    /// are called in the order in which they were posted.
    #[test]
    fn every_ticket_is_called_once_and_those_of_a_key_in_order(messages in messages()) {
        let keys = [(0, 64), (0, 9_000), (1, 64), (1, 9_000)];
        let mut script = Script::default();
        for (first, &(sent, received, key)) in (0u64..).step_by(4).zip(&messages) {
            let (rank, bytes) = keys[key];
            script.start.extend([schedule(sent, first), schedule(received, first + 1)]);
            script.then.insert(first, vec![send(rank, bytes, first + 2)]);
            script.then.insert(first + 1, vec![receive(1 - rank, bytes, first + 3)]);
        }
        let last = 4 * messages.len() as u64;
        script.start.push(schedule(1_000_000, last));
        script.then.insert(last, BOTH_DONE.to_vec());
        let (_, ending) = script.run(&setup());
        prop_assert_eq!(ending, Ending::default());
        let mut order = script.order();
        for key in 0..keys.len() {
            let of_key = |ticket: &&u64| {
                messages.get((**ticket / 4) as usize).is_some_and(|message| message.2 == key)
            };
            let of_kind = |kind| {
                let tickets = order.iter().filter(of_key).filter(move |it| **it % 4 == kind);
                tickets.map(|ticket| ticket / 4).collect::<Vec<_>>()
            };
            prop_assert_eq!(of_kind(1), of_kind(3), "receives as posted and as called");
        }
        order.sort_unstable();
        prop_assert_eq!(order, (0..=last).collect::<Vec<_>>());
    }
}
