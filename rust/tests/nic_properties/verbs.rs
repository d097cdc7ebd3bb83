//! Properties of the verbs: both sides post WRITEs, WRITEs with immediate, SENDs and READs.
//! Receives are posted late, send queues are drained and resumed, and the pipe follows its script.
//!
//! The properties: every work request completes once, with success, in the order of posting. Every
//! receive is consumed once, in order, by its message. No message completes at its sender before
//! its delivery. Each payload byte is counted once, and no run stalls.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use evenkeel::balance::sender::{NetworkParameters, PathSpace, QpContext};
use evenkeel::ids::{HostId, QpId};
use evenkeel::nic::verbs::{
    Completion, CompletionStatus, Opcode, Operation, VerbsError, WorkRequest,
};
use evenkeel::nic::{Nic, Origin, QpAttributes, QpState, Reporting};
use evenkeel::packet::{Flags, Packet};
use evenkeel::units::{Bytes, Span, Time};
use proptest::collection::vec;
use proptest::prelude::*;

use super::case::{Fate, Script, script};
use super::pipe::{Side, fate_of};
use super::settings::{DELAY, PORT, Settings};

/// The queue pair of both sides.
const QP: QpId = QpId(0);

/// Maximum number of steps of a run that makes progress.
const MOST_STEPS: usize = 200_000;

/// The RNR timer: shorter than the default of 640 us, so that it often expires.
const RNR_TIMER: Span = Span::from_us(60);

/// A work request: its side, its verb, and its time after the previous one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Verb {
    side: u8,
    verb: u8,
    bytes: u32,
    after_us: u8,
}

/// The times at which a send queue is drained and resumed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Drain {
    side: u8,
    at_us: u16,
    for_us: u8,
}

/// The input of a run.
#[derive(Debug, Clone)]
pub(crate) struct VerbCase {
    ack_every: u8,
    verbs: Vec<Verb>,
    /// Time of each receive after the previous one; further receives are posted immediately.
    receives_us: Vec<u8>,
    drains: Vec<Drain>,
    scripts: [Script; 2],
}

/// Generates any case.
pub(crate) fn case() -> impl Strategy<Value = VerbCase> {
    let bytes = prop_oneof![1 => Just(0u32), 3 => 1u32..=2_001, 5 => 1u32..=20_000];
    let after = || prop_oneof![2 => Just(0u8), 1 => any::<u8>()];
    let verb = (any::<u8>(), any::<u8>(), bytes, after())
        .prop_map(|(side, verb, bytes, after_us)| Verb { side, verb, bytes, after_us });
    let drain = (any::<u8>(), 0u16..1_000, any::<u8>()).prop_map(|(side, at_us, for_us)| Drain {
        side,
        at_us,
        for_us,
    });
    let parts = (1u8..=8, vec(verb, 1..12), vec(after(), 0..12), vec(drain, 0..3));
    (parts, script(), script()).prop_map(
        |((ack_every, verbs, receives_us, drains), right, left)| VerbCase {
            ack_every,
            verbs,
            receives_us,
            drains,
            scripts: [right, left],
        },
    )
}

impl Verb {
    fn side(self) -> Side {
        usize::from(self.side % 2)
    }

    /// Returns the work request; its id is its index in the case.
    fn request(self, index: usize) -> WorkRequest {
        let operation = match self.verb % 4 {
            0 => Operation::Write,
            1 => Operation::WriteWithImmediate(index as u32 ^ 0xa5a5_a5a5),
            2 => Operation::Send,
            _ => Operation::Read,
        };
        let least = u32::from(operation == Operation::Read);
        let bytes = Bytes::new(u64::from(self.bytes.max(least)));
        WorkRequest { id: index as u64, operation, bytes, path: 0 }
    }
}

/// An action of the owners of the queue pairs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Act {
    Post(usize),
    Receive(Side, u64),
    State(Side, QpState),
}

/// The world of one run.
struct World<'a> {
    case: &'a VerbCase,
    requests: Vec<(Side, WorkRequest)>,
    now: Time,
    nics: [Nic; 2],
    wire_free: [Time; 2],
    sent: [usize; 2],
    /// Arrivals: time, index in `packets`, receiving side.
    arrivals: BinaryHeap<Reverse<(Time, usize, Side)>>,
    packets: Vec<Packet>,
    /// Scheduled actions, latest first.
    agenda: Vec<(Time, Act)>,
    /// Completed work requests and consumed receives, by side.
    done: [Vec<Completion>; 2],
    taken: [Vec<Completion>; 2],
}

/// Runs a case; returns the violated property as an error.
pub(crate) fn check_case(case: &VerbCase, settings: &Settings) -> Result<(), String> {
    let mut world = World::new(case, settings);
    world.run()?;
    world.close()
}

impl<'a> World<'a> {
    fn new(case: &'a VerbCase, settings: &Settings) -> Self {
        let mut config = settings.nic.clone();
        config.ack.every = u32::from(case.ack_every);
        config.queue_pairs.rnr_timer = RNR_TIMER;
        let config = Arc::new(config);
        let mut nics = [0, 1].map(|host| Nic::new(HostId(host), PORT, Arc::clone(&config)));
        for (side, nic) in nics.iter_mut().enumerate() {
            connect(nic, side, settings);
        }
        let recovery = settings.nic.recovery.name();
        let writes_only = settings.nic.recovery.writes_only();
        let mut requests = Vec::new();
        for (index, verb) in case.verbs.iter().enumerate() {
            let mut request = verb.request(index);
            if writes_only && request.operation != Operation::Write {
                let refused = nics[verb.side()].post_send(QP, request);
                assert_eq!(refused, Err(VerbsError::WritesOnly { recovery }));
                request.operation = Operation::Write;
            }
            requests.push((verb.side(), request));
        }
        let mut agenda = agenda(case, &requests);
        agenda.sort_by(|one, other| other.cmp(one));
        Self {
            case,
            requests,
            now: Time::ZERO,
            nics,
            wire_free: [Time::ZERO; 2],
            sent: [0; 2],
            arrivals: BinaryHeap::new(),
            packets: Vec::new(),
            agenda,
            done: Default::default(),
            taken: Default::default(),
        }
    }

    /// Runs until no event remains.
    fn run(&mut self) -> Result<(), String> {
        for _ in 0..MOST_STEPS {
            let Some(next) = self.next() else { return Ok(()) };
            if next < self.now {
                return Err(format!("a wake-up at {next} is asked for at {}", self.now));
            }
            self.now = next;
            self.step()?;
        }
        Err(format!("{MOST_STEPS} steps are not enough: the NICs spin"))
    }

    fn next(&self) -> Option<Time> {
        let arrival = self.arrivals.peek().map(|&Reverse((time, ..))| time);
        let act = self.agenda.last().map(|&(time, _)| time);
        let wakes = [0, 1].map(|side| {
            let (nic, free) = (&self.nics[side], self.wire_free[side]);
            let wire = (free > self.now && nic.has_packets()).then_some(free);
            let asked = nic.poll_timeout().map(|time| if time <= self.now { free } else { time });
            [wire, asked].into_iter().flatten().min()
        });
        [arrival, act, wakes[0], wakes[1]].into_iter().flatten().min()
    }

    fn step(&mut self) -> Result<(), String> {
        while let Some(&Reverse((time, index, side))) = self.arrivals.peek() {
            if time > self.now {
                break;
            }
            self.arrivals.pop();
            self.nics[side].handle_packet(self.now, &self.packets[index]);
            self.poll_completions(side)?;
        }
        while let Some(&(time, act)) = self.agenda.last() {
            if time > self.now {
                break;
            }
            self.agenda.pop();
            self.act(act).map_err(|error| format!("{act:?} at {}: {error}", self.now))?;
        }
        for side in [0, 1] {
            self.nics[side].handle_timeout(self.now);
            self.poll_completions(side)?;
            self.transmit(side)?;
        }
        Ok(())
    }

    fn act(&mut self, act: Act) -> Result<(), VerbsError> {
        match act {
            Act::Post(index) => {
                let (side, request) = self.requests[index];
                self.nics[side].post_send(QP, request)
            }
            Act::Receive(side, id) => self.nics[side].post_receive(QP, id),
            Act::State(side, state) => {
                let from = self.nics[side].query_qp(QP)?;
                // Drains may overlap, so the queue pair may already be in this state.
                if from == state { Ok(()) } else { self.nics[side].modify_qp(QP, state) }
            }
        }
    }

    fn transmit(&mut self, side: Side) -> Result<(), String> {
        if self.wire_free[side] > self.now {
            return Ok(());
        }
        let nic = &mut self.nics[side];
        let Some(packet) = nic.poll_transmit(self.now) else {
            let past = nic.poll_timeout().is_some_and(|time| time <= self.now);
            return if past { Err(format!("side {side} asks for the past")) } else { Ok(()) };
        };
        let wire = PORT.line_rate.time_for(Bytes::new(u64::from(packet.wire_bytes)));
        self.wire_free[side] = self.now + wire;
        let fate = fate_of(&packet, self.case.scripts[side].fate(self.sent[side]));
        self.sent[side] += 1;
        let time = self.wire_free[side] + DELAY;
        let flagged = |flag: Flags| Packet { flags: packet.flags.with(flag), ..packet };
        match fate {
            Fate::Passes => self.arrive(time, side, packet),
            Fate::Lost => {}
            Fate::Duplicated(later) => {
                self.arrive(time, side, packet);
                self.arrive(time + later, side, packet);
            }
            Fate::Delayed(later) => self.arrive(time + later, side, packet),
            Fate::Marked => self.arrive(time, side, flagged(Flags::MARKED)),
            Fate::Trimmed => {
                let cut = Packet { wire_bytes: 64, ..flagged(Flags::TRIMMED) };
                self.arrive(time, side, cut);
            }
        }
        Ok(())
    }

    fn arrive(&mut self, time: Time, from: Side, packet: Packet) {
        self.arrivals.push(Reverse((time, self.packets.len(), 1 - from)));
        self.packets.push(packet);
    }

    fn poll_completions(&mut self, side: Side) -> Result<(), String> {
        while let Some(completion) = self.nics[side].poll_completion() {
            if completion.status != CompletionStatus::Success {
                return Err(format!("side {side}: {completion:?}"));
            }
            match completion.opcode {
                Opcode::Receive | Opcode::ReceiveRdmaWithImmediate => {
                    self.taken[side].push(completion);
                }
                _ => self.note_done(side, completion)?,
            }
        }
        match self.nics[side].poll_event() {
            Some(event) => Err(format!("side {side} has completions and says {event:?}")),
            None => Ok(()),
        }
    }

    /// Checks that work requests complete in order, and that each message that needs a receive has
    /// consumed it.
    fn note_done(&mut self, side: Side, completion: Completion) -> Result<(), String> {
        let next = self.posted_by(side).nth(self.done[side].len());
        let opcode = |operation| match operation {
            Operation::Write | Operation::WriteWithImmediate(_) => Opcode::RdmaWrite,
            Operation::Send => Opcode::Send,
            Operation::Read => Opcode::RdmaRead,
        };
        let right = next.is_some_and(|it| {
            (it.id, opcode(it.operation), it.bytes)
                == (completion.id, completion.opcode, completion.bytes)
        });
        if !right {
            return Err(format!("side {side}: {completion:?}, and next is {next:?}"));
        }
        self.done[side].push(completion);
        let due = self.posted_by(side).take(self.done[side].len()).filter(consumes).count();
        let taken = self.taken[1 - side].len();
        if taken < due {
            return Err(format!("{completion:?} is done with {taken} of {due} receives taken"));
        }
        Ok(())
    }

    fn posted_by(&self, side: Side) -> impl Iterator<Item = WorkRequest> + '_ {
        self.requests.iter().filter(move |(from, _)| *from == side).map(|&(_, request)| request)
    }

    /// Checks at the end that all work requests are complete.
    fn close(&self) -> Result<(), String> {
        for side in [0, 1] {
            let (posted, done) = (self.posted_by(side).count(), self.done[side].len());
            if done < posted {
                return Err(format!("side {side} stalls with {done} of {posted} done"));
            }
            let mut due = self.posted_by(1 - side).filter(consumes);
            for (id, taken) in (0..).zip(&self.taken[side]) {
                let immediate = |it: WorkRequest| match it.operation {
                    Operation::WriteWithImmediate(number) => Some(number),
                    _ => None,
                };
                let next = due.next().map(|it| (id, it.bytes, immediate(it)));
                if next != Some((taken.id, taken.bytes, taken.immediate)) {
                    return Err(format!("side {side}: {taken:?}, and next is {next:?}"));
                }
            }
            if let Some(left) = due.next() {
                return Err(format!("side {side}: no receive was taken by {left:?}"));
            }
            let reads = |it: &WorkRequest| it.operation == Operation::Read;
            let own = self.posted_by(side).filter(reads).map(|it| it.bytes.get());
            let other = self.posted_by(1 - side).filter(|it| !reads(it)).map(|it| it.bytes.get());
            let (expected, counted) =
                (own.chain(other).sum::<u64>(), self.nics[side].counters().payload_received);
            if counted != expected {
                return Err(format!("side {side} counts {counted} bytes of {expected}"));
            }
        }
        Ok(())
    }
}

fn consumes(request: &WorkRequest) -> bool {
    matches!(request.operation, Operation::Send | Operation::WriteWithImmediate(_))
}

/// Returns the schedule of actions: posts and receives in order, and the start and end of each
/// drain.
fn agenda(case: &VerbCase, requests: &[(Side, WorkRequest)]) -> Vec<(Time, Act)> {
    let after = |time: Time, us: u8| time + Span::from_us(u64::from(us));
    let mut agenda = Vec::new();
    let mut time = Time::ZERO;
    for (index, verb) in case.verbs.iter().enumerate() {
        time = after(time, verb.after_us);
        agenda.push((time, Act::Post(index)));
    }
    let (mut time, mut given) = (Time::ZERO, [0; 2]);
    let consuming = requests.iter().filter(|(_, request)| consumes(request));
    for (index, &(from, _)) in consuming.enumerate() {
        time = after(time, case.receives_us.get(index).copied().unwrap_or(0));
        agenda.push((time, Act::Receive(1 - from, given[1 - from])));
        given[1 - from] += 1;
    }
    for drain in &case.drains {
        let (side, at) = (usize::from(drain.side % 2), u64::from(drain.at_us));
        let from = Time::ZERO + Span::from_us(at);
        agenda.push((from, Act::State(side, QpState::SendQueueDrained)));
        // At equal times, the end of a drain precedes the start of another.
        let until = after(from, drain.for_us.max(1));
        agenda.push((until, Act::State(side, QpState::ReadyToSend)));
    }
    agenda
}

fn connect(nic: &mut Nic, side: Side, settings: &Settings) {
    let [src, dst] = [side, 1 - side].map(|side| HostId(side as u32));
    let policy = settings.sender.build(&QpContext {
        seed: 1,
        src,
        dst,
        stream: 0,
        qp_index: 0,
        paths: PathSpace::SINGLE,
        path: 0,
        network: NetworkParameters::default(),
    });
    let attributes = QpAttributes {
        peer: dst,
        label: side as u32,
        policy: Some(policy),
        reporting: Reporting::Completions,
        origin: Origin::Regular,
    };
    assert_eq!(nic.create_qp(attributes), Ok(QP));
    nic.set_peer_qp(QP, QP).expect("it is new");
    for state in [QpState::Init, QpState::ReadyToReceive, QpState::ReadyToSend] {
        nic.modify_qp(QP, state).expect("in this order");
    }
}
