//! Two NICs and the pipe between them: the world in which a case runs.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use evenkeel::ids::QpId;
use evenkeel::nic::{Nic, NicEvent};
use evenkeel::packet::{Flags, Packet, PacketKind, PortReading, RawFields, Telemetry};
use evenkeel::rng::{Purpose, Stream};
use evenkeel::units::{Bytes, Span, Time};

use super::case::{Case, Fate, Outage};
use super::ports::{Change, Port, Ports};
use super::settings::{DELAY, PORT};
use super::start::Start;

/// Left or right, as an index.
pub(crate) type Side = usize;

/// An observation of the world; observations are in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TraceEntry {
    /// A packet left this side, with its fate.
    Sent(Side, Packet, Fate),
    /// A packet reached this side.
    Arrived(Side, Packet),
    /// The NIC of this side emitted an event.
    Emitted(Side, NicEvent),
}

impl TraceEntry {
    /// Returns a short description for traces.
    pub(crate) fn line(&self) -> String {
        let names = ["left", "right"];
        let packet = |p: &Packet| {
            let kind = p.kind;
            let RawFields { psn, ack, sack, .. } = p.fields.raw();
            format!("{kind:?} of {} psn {psn} ack {ack} sack {sack:#x}", p.qp)
        };
        match self {
            Self::Sent(side, p, fate) => format!("{} sends {}: {fate:?}", names[*side], packet(p)),
            Self::Arrived(side, p) => format!("{} receives {}", names[*side], packet(p)),
            Self::Emitted(side, event) => format!("{} emits {event:?}", names[*side]),
        }
    }
}

/// Whether the world calls the NICs more often than necessary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WakeUps {
    /// Only at the NICs' timeouts.
    Asked,
    /// In addition, once or twice at random times in between.
    Extra,
}

/// Maximum number of steps of a run that makes progress.
const MOST_STEPS: usize = 200_000;

/// A packet in flight.
#[derive(Debug, Clone, Copy)]
struct Carried {
    packet: Packet,
    telemetry: Telemetry,
    plane: u32,
}

/// The world of one run.
pub(crate) struct World<'a> {
    case: &'a Case,
    pub(crate) now: Time,
    pub(crate) nics: [Nic; 2],
    ports: Ports,
    /// Changes of ports, the latest first.
    changes: Vec<(Time, Port, Change)>,
    /// Number of packets sent by each side.
    sent: [usize; 2],
    /// Arrivals: time, order, receiving side, index in `packets`.
    arrivals: BinaryHeap<Reverse<(Time, u64, Side, usize)>>,
    order: u64,
    packets: Vec<Carried>,
    /// Queue pair numbers of the requesters.
    senders: Vec<QpId>,
    /// Time and number of the next message.
    next_post: Option<(Time, usize)>,
    extra: Option<Stream>,
    /// Time of the last disturbance by the script, or of the last post.
    pub(crate) disturbed: Time,
    pub(crate) trace: Vec<(Time, TraceEntry)>,
}

impl<'a> World<'a> {
    /// Creates the world before the first event of a case.
    pub(crate) fn new(case: &'a Case, start: Start, wake_ups: WakeUps) -> Self {
        let extra = Stream::new(u64::from(case.seed), Purpose::Test, 0);
        Self {
            case,
            now: Time::ZERO,
            nics: start.nics,
            ports: Ports::new(u32::from(case.planes.max(1))),
            changes: changes(case),
            sent: [0; 2],
            arrivals: BinaryHeap::new(),
            order: 0,
            packets: Vec::new(),
            senders: start.senders,
            next_post: case.posts.first().map(|post| (at(post.after_us), 0)),
            extra: (wake_ups == WakeUps::Extra).then_some(extra),
            disturbed: Time::ZERO,
            trace: Vec::with_capacity(1_024),
        }
    }

    /// Runs until no event remains.
    pub(crate) fn run(&mut self) -> Result<(), String> {
        for _ in 0..MOST_STEPS {
            let Some(next) = self.next() else { return Ok(()) };
            if next < self.now {
                return Err(format!("a wake-up at {next} is requested at {}", self.now));
            }
            self.wake_up_early(next)?;
            self.now = next;
            self.step()?;
        }
        Err(format!("no end after {MOST_STEPS} steps: the NICs make no progress"))
    }

    /// Returns the time of the next event.
    fn next(&self) -> Option<Time> {
        let arrival = self.arrivals.peek().map(|&Reverse((time, ..))| time);
        let post = self.next_post.map(|(time, _)| time);
        let change = self.changes.last().map(|&(time, ..)| time);
        let wakes = [0, 1].map(|side| self.wake(side));
        [arrival, post, change, wakes[0], wakes[1]].into_iter().flatten().min()
    }

    /// Returns the time at which a side must be called.
    fn wake(&self, side: Side) -> Option<Time> {
        let nic = &self.nics[side];
        let free = self.ports.next_free(side, self.now);
        let wire = free.filter(|_| nic.has_packets());
        // Paced packets may also wait for a wire; timers never do.
        let paced = nic.next_paced().and_then(|time| match time <= self.now {
            true => free,
            false => Some(time),
        });
        [wire, paced, nic.next_timer()].into_iter().flatten().min()
    }

    fn step(&mut self) -> Result<(), String> {
        while let Some(&Reverse((time, _, side, index))) = self.arrivals.peek() {
            if time > self.now {
                break;
            }
            self.arrivals.pop();
            let Carried { packet, telemetry, plane } = self.packets[index];
            if !self.ports.work(plane) {
                self.disturbed = self.disturbed.max(self.now);
                continue;
            }
            self.trace.push((self.now, TraceEntry::Arrived(side, packet)));
            self.ports.note(side, &packet);
            self.nics[side].handle_telemetry(&telemetry);
            self.nics[side].handle_packet(self.now, &packet);
            self.poll_events(side);
        }
        while let Some((time, index)) = self.next_post {
            if time > self.now {
                break;
            }
            self.post(index);
        }
        while let Some(&(time, port, change)) = self.changes.last() {
            if time > self.now {
                break;
            }
            self.changes.pop();
            self.ports.change(self.now, port, change, &mut self.nics[port.side]);
            self.disturbed = self.disturbed.max(self.now);
        }
        for side in [0, 1] {
            self.nics[side].handle_timeout(self.now);
            self.poll_events(side);
            self.transmit(side)?;
        }
        Ok(())
    }

    fn post(&mut self, index: usize) {
        let post = self.case.posts[index];
        let qp = usize::from(post.qp % self.case.qps);
        let bytes = Bytes::new(u64::from(post.bytes));
        self.nics[qp % 2].post(self.senders[qp], bytes, index as u64, 0);
        self.disturbed = self.disturbed.max(self.now);
        let next = self.case.posts.get(index + 1);
        self.next_post =
            next.map(|post| (self.now + Span::from_us(u64::from(post.after_us)), index + 1));
    }

    /// Sends what a side can send now on free wires.
    fn transmit(&mut self, side: Side) -> Result<(), String> {
        if self.nics[side].next_timer().is_some_and(|time| time <= self.now) {
            return Err(format!("a timer of side {side} is overdue after handle_timeout"));
        }
        loop {
            let free = self.ports.free(side, self.now);
            if free.is_empty() {
                return Ok(());
            }
            let nic = &mut self.nics[side];
            let Some((packet, plane)) = self.ports.poll(nic, self.now, free) else { break };
            let port = Port { side, plane };
            self.ports.check(self.now, &packet, port)?;
            let wire = self.ports.rate().time_for(Bytes::new(u64::from(packet.wire_bytes)));
            let end = self.now + wire;
            self.ports.occupy(port, end);
            let mut telemetry = self.nics[side].take_telemetry();
            if !packet.is_control() {
                self.write_telemetry(&mut telemetry);
            }
            self.carry(side, end, Carried { packet, telemetry, plane });
        }
        // A wake-up in the past is valid only while a packet waits for a wire.
        let waits = self.ports.next_free(side, self.now).is_some();
        let past = self.nics[side].poll_timeout().is_some_and(|time| time <= self.now);
        match past && !waits {
            true => Err(format!("side {side} requests a wake-up in the past")),
            false => Ok(()),
        }
    }

    /// Writes telemetry that a port of the pipe might report; it need not be realistic.
    fn write_telemetry(&self, telemetry: &mut Telemetry) {
        let sent = self.now.as_ps() / 97;
        let waiting = sent % 100_000;
        let reading = PortReading { at: self.now, sent, waiting, rate: PORT.line_rate };
        telemetry.push(&reading, 4);
        telemetry.raise_power((sent % 1_500) as u16);
    }

    /// Puts a packet that leaves its wire at `end` into the pipe, with the fate that the script
    /// selects; a dead port loses it.
    fn carry(&mut self, side: Side, end: Time, sent: Carried) {
        let fate = fate_of(&sent.packet, self.case.scripts[side].fate(self.sent[side]));
        let fate = if self.ports.work(sent.plane) { fate } else { Fate::Lost };
        self.sent[side] += 1;
        self.trace.push((self.now, TraceEntry::Sent(side, sent.packet, fate)));
        let time = end + DELAY;
        let mut carried = sent;
        let (arrives, later) = match fate {
            Fate::Passes => return self.arrive(time, 1 - side, carried),
            Fate::Lost => (None, None),
            Fate::Duplicated(later) => (Some(time), Some(time + later)),
            Fate::Delayed(later) => (None, Some(time + later)),
            Fate::Marked => {
                carried.packet.flags = carried.packet.flags.with(Flags::MARKED);
                (Some(time), None)
            }
            Fate::Trimmed => {
                carried.packet.flags = carried.packet.flags.with(Flags::TRIMMED);
                carried.packet.wire_bytes = 64;
                (Some(time), None)
            }
        };
        for time in [arrives, later].into_iter().flatten() {
            self.arrive(time, 1 - side, carried);
        }
        self.disturbed = self.disturbed.max(later.unwrap_or(time));
    }

    fn arrive(&mut self, time: Time, side: Side, carried: Carried) {
        self.packets.push(carried);
        self.arrivals.push(Reverse((time, self.order, side, self.packets.len() - 1)));
        self.order += 1;
    }

    fn poll_events(&mut self, side: Side) {
        while let Some(event) = self.nics[side].poll_event() {
            self.trace.push((self.now, TraceEntry::Emitted(side, event)));
        }
    }

    /// Calls the NICs at random times before `next`, without a timeout.
    fn wake_up_early(&mut self, next: Time) -> Result<(), String> {
        let Some(random) = &mut self.extra else { return Ok(()) };
        let gap = u32::try_from(next.since(self.now).as_ps()).unwrap_or(u32::MAX);
        if gap == 0 || !random.chance(1, 4) {
            return Ok(());
        }
        let early = self.now + Span::from_ps(u64::from(random.below(gap)));
        for side in [0, 1] {
            for _ in 0..=random.below(2) {
                self.nics[side].handle_timeout(early);
            }
            let (nic, free) = (&mut self.nics[side], self.ports.free(side, early));
            if !free.is_empty() && self.ports.poll(nic, early, free).is_some() {
                return Err(format!("side {side} sends at {early}, but requested {next}"));
            }
            if self.nics[side].poll_event().is_some() {
                return Err(format!("an early wake-up of side {side} at {early} is an event"));
            }
        }
        Ok(())
    }
}

/// Returns the effective fate: only data packets longer than their header can be marked or trimmed.
pub(crate) fn fate_of(packet: &Packet, fate: Fate) -> Fate {
    let is_data = packet.kind == PacketKind::Data;
    match fate {
        Fate::Marked | Fate::Trimmed if !is_data => Fate::Passes,
        Fate::Trimmed if packet.wire_bytes <= 64 => Fate::Lost,
        other => other,
    }
}

/// Returns the changes of ports, the latest first.
fn changes(case: &Case) -> Vec<(Time, Port, Change)> {
    let of = |outage: &Outage| {
        let &Outage { side, plane, at_us, for_us, noticed_us } = outage;
        let side = usize::from(side % 2);
        let port = Port { side, plane: u32::from(plane % case.planes) };
        let begin = Time::ZERO + Span::from_us(u64::from(at_us));
        let end = begin + Span::from_us(u64::from(for_us));
        let later = Span::from_us(u64::from(noticed_us));
        [
            (begin, port, Change::Dies),
            (begin + later, port, Change::IsNoticed),
            (end, port, Change::Revives),
            (end + later, port, Change::IsNoticed),
        ]
    };
    let mut all: Vec<_> = case.outages.iter().flat_map(of).collect();
    // The sort is stable: changes of one outage at the same time stay in order.
    all.sort_by_key(|&(time, ..)| time);
    all.reverse();
    all
}

fn at(us: u8) -> Time {
    Time::ZERO + Span::from_us(u64::from(us))
}
