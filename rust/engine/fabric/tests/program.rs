//! Programs: posted messages behave like those of a workload.

use std::collections::BTreeMap;

use super::*;
use crate::endpoint::{MessageEvent, MessageEventKind};
use crate::fabric::{FlowRecord, Observers, Program, World, drive};
use crate::ids::MessageId;

fn run_program(setup: &Setup, program: &mut dyn Program) -> Outcome {
    drive(World::new(setup), program, Observers { watch: None, progress: &mut |_| () })
}

/// Sends messages back and forth from a given start. Each is sent when the previous one is
/// delivered.
struct PingPong {
    begin: Option<Time>,
    left: u32,
    delivered: Vec<Time>,
    complete: u32,
}

fn small_setup(workload: Workload) -> Setup {
    let workload = Arc::new(workload);
    Setup { workload, ..setup(leaf_spine(2, 2, 2, 400), "spray", Vec::new()) }
}

fn ball(turn: u32) -> Message {
    let [src, dst] = if turn.is_multiple_of(2) { [0, 3] } else { [3, 0] };
    Message {
        src: HostId(src),
        dst: HostId(dst),
        bytes: Bytes::new(40_960),
        stream: 0,
        start: Time::ZERO,
    }
}

impl Program for PingPong {
    fn next_time(&mut self) -> Option<Time> {
        self.begin
    }

    fn handle_time(&mut self, now: Time, world: &mut World) {
        assert_eq!(self.begin.take(), Some(now));
        world.post(now, ball(0));
    }

    fn handle_message(&mut self, event: MessageEvent, world: &mut World) {
        if event.kind == MessageEventKind::Completed {
            self.complete += 1;
            return;
        }
        self.delivered.push(event.at);
        assert_eq!(event.message.index() + 1, self.delivered.len());
        if self.left > 0 {
            self.left -= 1;
            world.post(event.at, ball(event.message.0 + 1));
        }
    }

    fn is_done(&self) -> bool {
        self.left == 0
    }
}

#[test]
fn posted_messages_take_as_long_as_planned_ones() {
    let messages: Vec<Message> = (0..6).map(ball).collect();
    let waits: Vec<_> = (1..6).map(|n| (MessageId(n - 1), MessageId(n))).collect();
    let known = Workload::with_dependencies(messages, &waits);
    let setup = small_setup(known);
    let expected = run(&setup, &mut |_| ());
    let nothing = Setup { workload: Arc::new(Workload::default()), ..setup };
    let begin = Time::from_ps(7_000_000);
    let mut program = PingPong { begin: Some(begin), left: 5, delivered: Vec::new(), complete: 0 };
    let outcome = run_program(&nothing, &mut program);
    assert_eq!((outcome.verdict, outcome.messages), (Verdict::Completed, 6));
    assert_eq!(program.complete, 6);
    let later = |time: Time| begin + time.since(Time::ZERO);
    let delivered: Vec<Time> = expected.flows.iter().map(|it| later(it.delivered)).collect();
    assert_eq!(program.delivered, delivered);
    assert_eq!(outcome.message_fct, expected.message_fct);
    assert_eq!(outcome.link_bytes, expected.link_bytes);
    assert_eq!(outcome.qps, expected.qps);
}

#[test]
fn a_program_without_a_next_time_stalls_the_run() {
    let setup = small_setup(Workload::default());
    let mut program = PingPong { begin: None, left: 1, delivered: Vec::new(), complete: 0 };
    assert_eq!(run_program(&setup, &mut program).verdict, Verdict::Stalled);
    let limit = Time::from_ps(1_000_000);
    let setup = Setup { time_limit: limit, ..setup };
    let mut program = PingPong { begin: Some(limit), left: 1, delivered: Vec::new(), complete: 0 };
    let outcome = run_program(&setup, &mut program);
    assert_eq!((outcome.verdict, outcome.ended), (Verdict::TimeLimit, limit));
}

#[test]
#[should_panic(expected = "is before the current time")]
fn a_message_cannot_be_posted_in_the_past() {
    let mut world = World::new(&small_setup(Workload::default()));
    world.post(Time::from_ps(7), ball(0));
    world.post(Time::from_ps(6), ball(1));
}

/// Counts the flows that are discarded.
struct FlowCounter {
    program: PingPong,
    flows: Vec<FlowRecord>,
    max_records: usize,
}

impl Program for FlowCounter {
    fn next_time(&mut self) -> Option<Time> {
        self.program.next_time()
    }

    fn handle_time(&mut self, now: Time, world: &mut World) {
        self.program.handle_time(now, world);
    }

    fn handle_message(&mut self, event: MessageEvent, world: &mut World) {
        self.program.handle_message(event, world);
        self.max_records = self.max_records.max(world.endpoints().ledger().flow_records());
    }

    fn is_done(&self) -> bool {
        self.program.is_done()
    }

    fn handle_flow(&mut self, flow: &FlowRecord) {
        self.flows.push(*flow);
    }
}

#[test]
fn a_world_that_discards_flows_has_the_same_results() {
    let setup = small_setup(Workload::default());
    let (left, begin) = (40, Time::from_ps(7_000_000));
    let ping_pong = || PingPong { begin: Some(begin), left, delivered: Vec::new(), complete: 0 };
    let expected = run_program(&setup, &mut ping_pong());
    let mut program = FlowCounter { program: ping_pong(), flows: Vec::new(), max_records: 0 };
    let mut world = World::new(&setup);
    world.discard_completed();
    let outcome = drive(world, &mut program, Observers { watch: None, progress: &mut |_| () });
    assert_eq!((outcome.verdict, outcome.cct), (Verdict::Completed, expected.cct));
    assert_eq!(program.flows, expected.flows);
    assert_eq!(outcome.counters, expected.counters);
    assert_eq!((outcome.flows.len(), outcome.message_fct.len()), (0, 0));
    // The next message is posted before the last one is acknowledged: two are open at a time.
    assert_eq!(program.max_records, 2);
    let discarded = outcome.discarded.expect("it discards");
    assert_eq!((discarded.messages, discarded.flows, outcome.messages), (41, 41, 41));
    let longest = expected.message_fct.iter().max().copied();
    assert_eq!(discarded.message_fct.longest(), longest);
}

/// A program runs after each delivery and completion, but progress is still reported at exactly
/// 2^18 events.
#[test]
fn progress_is_reported_on_time_with_a_program() {
    let setup = small_setup(Workload::default());
    let begin = Time::from_ps(7_000_000);
    let mut program = PingPong { begin: Some(begin), left: 40, delivered: Vec::new(), complete: 0 };
    let mut world = World::new(&setup);
    let before = 700;
    world.set_events((1 << 18) - before);
    let mut hops = Vec::new();
    let progress = &mut |progress: &crate::fabric::Progress| hops.push(progress.packet_hops);
    let outcome = drive(world, &mut program, Observers { watch: None, progress });
    assert_eq!((outcome.verdict, hops.len()), (Verdict::Completed, 2), "{hops:?}");
    // Nearly all events are hops.
    assert!((before - 100..before).contains(&hops[0]) && hops[1] > 2 * hops[0], "{hops:?}");
}

/// A direct all-to-all in chunks. A rank posts all messages of a chunk at once, and the next chunk
/// when it has received the last one.
struct Chunks {
    ranks: u32,
    due: BTreeMap<Time, Vec<u32>>,
    posted: Vec<u32>,
    received: Vec<u32>,
    receivers: Vec<u32>,
    last: Time,
}

impl Chunks {
    const COUNT: u32 = 4;

    fn new(ranks: u32) -> Self {
        let none = || vec![0; ranks as usize];
        let due = [(Time::ZERO, (0..ranks).collect())].into();
        let (posted, received, receivers) = (none(), none(), Vec::new());
        Self { ranks, due, posted, received, receivers, last: Time::ZERO }
    }
}

impl Program for Chunks {
    fn next_time(&mut self) -> Option<Time> {
        self.due.keys().next().copied()
    }

    fn handle_time(&mut self, now: Time, world: &mut World) {
        let (_, senders) = self.due.pop_first().expect("it is called when some are due");
        for sender in senders {
            self.posted[sender as usize] += 1;
            for ahead in 1..self.ranks {
                let (src, dst) = (HostId(sender), HostId((sender + ahead) % self.ranks));
                let bytes = Bytes::new(64 << 10);
                world.post(now, Message { src, dst, bytes, stream: 0, start: now });
                self.receivers.push(dst.0);
            }
        }
    }

    fn handle_message(&mut self, event: MessageEvent, _: &mut World) {
        if event.kind != MessageEventKind::Delivered {
            return;
        }
        let rank = self.receivers[event.message.index()];
        self.last = event.at;
        self.received[rank as usize] += 1;
        let has_chunk = self.received[rank as usize].is_multiple_of(self.ranks - 1);
        if has_chunk && self.posted[rank as usize] < Self::COUNT {
            self.due.entry(event.at + Span::from_ns(10)).or_default().push(rank);
        }
    }

    fn is_done(&self) -> bool {
        self.due.is_empty() && self.posted.iter().all(|&count| count == Self::COUNT)
    }
}

/// Ethereal falls behind if the pieces of a host pair share queue pairs, because these deliver in
/// order.
#[test]
fn ethereal_is_not_slower_than_spraying_with_posted_messages() {
    let last = |policy: &str| {
        let mut program = Chunks::new(64);
        let setup = setup(leaf_spine(8, 8, 8, 400), policy, Vec::new());
        assert_eq!(run_program(&setup, &mut program).verdict, Verdict::Completed);
        program.last.as_ps() / 1_000
    };
    let [ethereal, spray] = ["ethereal", "spray"].map(last);
    assert!(ethereal <= spray, "ethereal {ethereal} ns, spray {spray} ns");
}

/// Sends a message and computes until a time.
struct Computation(Option<Time>);

impl Program for Computation {
    fn next_time(&mut self) -> Option<Time> {
        self.0
    }

    fn handle_time(&mut self, now: Time, world: &mut World) {
        assert_eq!(self.0.take(), Some(now));
        world.record_end(now);
    }

    fn handle_message(&mut self, _event: MessageEvent, _world: &mut World) {}

    fn is_done(&self) -> bool {
        self.0.is_none()
    }
}

#[test]
fn a_computation_after_the_last_message_extends_the_run() {
    let setup = small_setup(Workload::independent(vec![ball(0)]));
    let alone = complete(&setup);
    let ends = |at| run_program(&setup, &mut Computation(Some(at)));
    let (span, later) = (Span::from_us(100), ends(Time::ZERO + Span::from_us(100)));
    assert_eq!((later.cct, later.ended), (Some(span), Time::ZERO + span));
    assert_eq!(later.message_fct, alone.message_fct);
    let earlier = ends(Time::from_ps(1));
    assert_eq!((earlier.cct, earlier.ended), (alone.cct, alone.ended));
}
