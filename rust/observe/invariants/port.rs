//! A model of a port's queues and its wire, as lists of packets.

use std::collections::VecDeque;
use std::sync::Arc;

use super::classes::{ClassModel, ClassRules};
use super::switch::identity;
use crate::fabric::{CbfcConfig, Rounding};
use crate::ids::ClassId;
use crate::packet::{Flags, Packet};
use crate::units::{BitRate, Bytes, Span, Time};

/// The properties of a wire.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wire {
    pub(super) rate: BitRate,
    /// Time from the last bit sent until the packet is received.
    pub(super) delay: Span,
    pub(super) gap: Bytes,
    pub(super) rounding: Rounding,
    /// Whether the rate is constant during the run.
    pub(super) has_one_rate: bool,
    /// Whether the wire is down or lossy at some time.
    pub(super) may_lose: bool,
    /// Duration of a pause without another frame; the maximum if pauses do not expire.
    pub(super) pause_time: Span,
}

impl Wire {
    fn time_for(&self, bytes: Bytes) -> Span {
        let bits = u128::from(bytes.get()) * 8;
        let ps = bits * 1_000_000_000_000;
        let rate = u128::from(self.rate.as_bps());
        let ps = match self.rounding {
            Rounding::Exact => ps.div_ceil(rate),
            Rounding::TruncateNs => ps / rate / 1_000 * 1_000,
        };
        Span::from_ps(u64::try_from(ps).unwrap_or(u64::MAX))
    }
}

/// A queued packet.
#[derive(Debug, Clone, Copy)]
struct Waiting {
    packet: Packet,
    since: Time,
}

/// A packet on the wire.
#[derive(Debug, Clone, Copy)]
struct OnWire {
    packet: Packet,
    arrives: Time,
}

/// The record of a packet that starts from a switch queue.
#[derive(Debug, Clone, Copy)]
pub(super) struct Start {
    pub(super) at: Time,
    /// Bytes left in its queue, according to the record.
    pub(super) waiting: u32,
    pub(super) packet: Packet,
}

/// Queued bytes of a port, with and without priority.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Queued {
    pub(super) priority: u64,
    pub(super) data: u64,
}

/// The credit of a wire with credit-based flow control.
#[derive(Debug, Clone, Copy)]
pub(super) struct WireCredit {
    pub(super) config: CbfcConfig,
    pub(super) consumed: u64,
    /// Total freed, according to the frames received.
    pub(super) freed: u64,
}

impl WireCredit {
    /// Returns true if there is credit for a packet of this length.
    fn has(&self, bytes: u16) -> bool {
        self.consumed + self.config.cost(bytes) <= self.freed + self.config.limit()
    }
}

/// A port and its wire.
#[derive(Debug)]
pub(super) struct WireModel {
    wire: Wire,
    /// `None` without credit-based flow control, on wires to hosts, and where losses return credit
    /// without a frame.
    credit: Option<WireCredit>,
    /// Queued flow-control frames, the next one first; they precede all packets.
    frames: VecDeque<Waiting>,
    /// The priority queue, then one queue per traffic class.
    queues: Vec<VecDeque<Waiting>>,
    bytes: Vec<u64>,
    classes: ClassModel,
    on_wire: VecDeque<OnWire>,
    /// When the wire becomes free.
    free: Time,
    /// By traffic class.
    pauses: Vec<PauseModel>,
    /// Bytes whose transmission has started.
    pub(super) carried: u64,
    /// Longest queue at the end of any time, in bytes.
    pub(super) longest: u64,
    /// Longest queue in bytes, including packets that started immediately.
    pub(super) peak: u64,
}

/// The pause state of one class of a port.
#[derive(Debug, Clone, Copy)]
struct PauseModel {
    /// Start of the current pause; `None` if the class is not paused.
    since: Option<Time>,
    /// When the pause expires.
    ends: Time,
    /// When the class was last resumed.
    resumed: Time,
}

impl PauseModel {
    const NONE: Self = Self { since: None, ends: Time::NEVER, resumed: Time::ZERO };

    /// Returns true if the class was paused before `at`.
    fn holds(&self, at: Time) -> bool {
        self.since.is_some_and(|since| since < at)
    }

    /// Returns true if the class is not paused at `at`, whatever the order of events at that time.
    fn is_open(&self, at: Time) -> bool {
        self.since.is_none() && (self.resumed < at || self.resumed == Time::ZERO)
    }

    /// Ends a pause that has expired by `at`.
    fn expire(&mut self, at: Time) {
        if self.since.is_some() && self.ends <= at {
            (self.since, self.resumed) = (None, self.ends);
        }
    }
}

/// Returns the index of a packet's queue: 0 for priority, then by class.
fn class(packet: &Packet) -> usize {
    if packet.flags.has(Flags::PRIORITY) { 0 } else { 1 + packet.class().index() }
}

/// Returns true if the packets are equal except for their congestion mark.
fn is_same(a: &Packet, b: &Packet) -> bool {
    let unmarked = |packet: &Packet| {
        let kept = packet.flags.bits() & !Flags::MARKED.bits();
        Packet { flags: Flags::from_bits(kept), ..*packet }
    };
    unmarked(a) == unmarked(b)
}

fn describe(packet: &Packet) -> String {
    let Packet { src, dst, qp, kind, wire_bytes, .. } = packet;
    let psn = packet.fields.raw().psn;
    format!("{kind:?} {src} to {dst} ({qp}, PSN {psn}, {wire_bytes} B)")
}

impl WireModel {
    pub(super) fn new(wire: Wire, credit: Option<WireCredit>, rules: &Arc<ClassRules>) -> Self {
        let classes = ClassModel::new(rules);
        Self {
            wire,
            credit,
            frames: VecDeque::new(),
            queues: vec![VecDeque::new(); 1 + classes.count()],
            bytes: vec![0; 1 + classes.count()],
            pauses: vec![PauseModel::NONE; classes.count()],
            classes,
            on_wire: VecDeque::new(),
            free: Time::ZERO,
            carried: 0,
            longest: 0,
            peak: 0,
        }
    }

    pub(super) fn may_lose(&self) -> bool {
        self.wire.may_lose
    }

    /// Returns the number of data packets in the queues and on the wire.
    pub(super) fn data_held(&self) -> u64 {
        let waiting = self.queues.iter().flatten().map(|it| it.packet);
        let held = waiting.chain(self.on_wire.iter().map(|it| it.packet));
        held.filter(|packet| !packet.is_control()).count() as u64
    }

    /// Pauses or resumes a class of the port, because of a frame or of its credit.
    pub(super) fn pause(&mut self, at: Time, class: ClassId, is_paused: bool) {
        self.expire(at);
        self.classes.reset(class.index());
        let pause = &mut self.pauses[class.index()];
        // Each frame restarts the timer of the pause.
        pause.ends = at.saturating_add(self.wire.pause_time);
        match (is_paused, pause.since) {
            (true, None) => pause.since = Some(at),
            (false, Some(_)) => (pause.since, pause.resumed) = (None, at),
            _ => {}
        }
    }

    /// Applies a credit frame: the far end has freed `freed` credits in total. Returns the
    /// violation, if any.
    pub(super) fn free_credit(&mut self, at: Time, freed: u64) -> Option<String> {
        let credit = self.credit.as_mut()?;
        let before = std::mem::replace(&mut credit.freed, freed);
        let is_wrong = freed < before || freed > credit.consumed;
        let wrong = format!("{freed} of {} credits freed, previously {before}", credit.consumed);
        if credit.has(credit.config.packet) {
            self.pause(at, ClassId(0), false);
        }
        is_wrong.then_some(wrong)
    }

    /// Consumes the credit of a packet that starts. Returns the violation, if any.
    fn take_credit(&mut self, at: Time, packet: &Packet) -> Option<String> {
        let credit = self.credit.as_mut().filter(|_| class(packet) > 0)?;
        let has_some = credit.has(packet.wire_bytes);
        credit.consumed += credit.config.cost(packet.wire_bytes);
        if !credit.has(credit.config.packet) {
            self.pause(at, ClassId(0), true);
        }
        (!has_some).then(|| format!("{} starts without credit", describe(packet)))
    }

    /// Ends pauses that have expired by `at`.
    fn expire(&mut self, at: Time) {
        self.pauses.iter_mut().for_each(|pause| pause.expire(at));
    }

    pub(super) fn enqueue(&mut self, at: Time, waiting: u32, packet: &Packet) -> Option<String> {
        let class = class(packet);
        let before = self.bytes[class];
        self.bytes[class] += u64::from(packet.wire_bytes);
        self.peak = self.peak.max(self.bytes.iter().sum());
        let joined = Waiting { packet: *packet, since: at };
        if !packet.is_link_frame() {
            self.queues[class].push_back(joined);
        } else {
            let is_same = |it: &Waiting| it.packet.class() == packet.class();
            let is_second = self.frames.iter().any(is_same);
            self.frames.push_back(joined);
            if is_second {
                return Some("two flow-control frames of one class are queued".to_owned());
            }
        }
        (before != u64::from(waiting))
            .then(|| format!("{} reports {waiting} B queued, expected {before}", describe(packet)))
    }

    /// Returns the bytes in the queue that a packet joins.
    pub(super) fn queued(&self, packet: &Packet) -> u64 {
        self.bytes[class(packet)]
    }

    /// Removes and returns the last packet without priority, if it is a copy of `packet`: the
    /// packet of this header, or its retransmission.
    pub(super) fn displace(&mut self, packet: &Packet) -> Option<Packet> {
        let of_last = |last: &Waiting| identity(&last.packet) == identity(packet);
        self.queues[1].back().filter(|last| of_last(last))?;
        let Waiting { packet, .. } = self.queues[1].pop_back()?;
        self.bytes[1] -= u64::from(packet.wire_bytes);
        Some(packet)
    }

    /// Handles the start of a packet from a switch queue. Returns the violation, if any.
    pub(super) fn start_from_queue(&mut self, start: &Start) -> Option<String> {
        let Start { at, waiting, packet } = start;
        self.expire(*at);
        let Some((class, first)) = self.next(packet) else {
            return Some(format!("{} starts but was not queued", describe(packet)));
        };
        self.bytes[class] -= u64::from(first.packet.wire_bytes);
        let pause = class.checked_sub(1).map_or(PauseModel::NONE, |class| self.pauses[class]);
        let (is_paused, resumed) = (pause.holds(*at), pause.resumed);
        let scheduling_fault = self.check_scheduling(*at, class, packet.wire_bytes);
        let due = self.free.max(first.since).max(resumed);
        let expected = self.bytes[class];
        // A queued frame always carries the latest state of its class, so its contents may have
        // changed.
        let order_of_frame = [packet, &first.packet].iter().all(|it| it.is_link_frame())
            && packet.class() == first.packet.class();
        let fault = if !order_of_frame && !is_same(&first.packet, packet) {
            Some(format!("{} starts before {}", describe(packet), describe(&first.packet)))
        } else if is_paused {
            Some(format!("{} starts while the port is paused", describe(packet)))
        } else if self.wire.has_one_rate && *at != due {
            let wrong = "starts at the wrong time; wire and packet are ready at";
            Some(format!("{} {wrong} {} ps", describe(packet), due.as_ps()))
        } else if expected != u64::from(*waiting) {
            Some(format!("{} reports {waiting} B left, expected {expected}", describe(packet)))
        } else {
            None
        };
        self.transmit(*at, packet);
        fault.or(scheduling_fault).or(self.take_credit(*at, packet))
    }

    /// Checks the scheduling of a class whose first packet starts and has already been dequeued.
    fn check_scheduling(&mut self, at: Time, class: usize, bytes: u16) -> Option<String> {
        let class = class.checked_sub(1)?;
        let Self { queues, classes, pauses, .. } = self;
        let may_start = |of: usize| !queues[1 + of].is_empty() && pauses[of].is_open(at);
        let waits = |other: usize| other == class || may_start(other);
        let fault = classes.start(class, bytes, waits);
        if queues[1 + class].is_empty() {
            classes.reset(class);
        }
        fault
    }

    /// Dequeues the packet that should start, with the index of its queue.
    fn next(&mut self, started: &Packet) -> Option<(usize, Waiting)> {
        if let Some(frame) = self.frames.pop_front() {
            return Some((0, frame));
        }
        // Priority is strict: data starts only if the priority queue is empty.
        let class = if self.queues[0].is_empty() { class(started).max(1) } else { 0 };
        let first = self.queues[class].pop_front();
        debug_assert!(first.is_some() || class > 0, "{started:?}");
        first.map(|first| (class, first))
    }

    /// Handles the start of a packet from a NIC. Returns the violation, if any.
    pub(super) fn start_from_host(&mut self, at: Time, packet: &Packet) -> Option<String> {
        self.expire(at);
        let is_early = self.wire.has_one_rate && at < self.free;
        let own = class(packet).checked_sub(1);
        let is_paused = own.is_some_and(|class| self.pauses[class].holds(at));
        let free = self.free;
        self.transmit(at, packet);
        let without_credit = self.take_credit(at, packet);
        match (is_early, is_paused) {
            (true, _) => {
                let busy = format!("starts while its wire is busy until {} ps", free.as_ps());
                Some(format!("{} {busy}", describe(packet)))
            }
            (_, true) => Some(format!("{} starts while the port is paused", describe(packet))),
            _ => without_credit,
        }
    }

    fn transmit(&mut self, at: Time, packet: &Packet) {
        let sent = at + self.wire.time_for(Bytes::new(packet.wire_bytes.into()));
        self.carried += u64::from(packet.wire_bytes);
        self.free = sent + self.wire.time_for(self.wire.gap);
        self.on_wire.push_back(OnWire { packet: *packet, arrives: sent + self.wire.delay });
    }

    /// Returns true if the packet due at the end of the wire is this one and may be lost there.
    pub(super) fn may_have_lost(&self, at: Time, packet: &Packet) -> bool {
        let is_due = |it: &OnWire| !self.wire.has_one_rate || it.arrives == at;
        self.wire.may_lose
            && self.on_wire.front().is_some_and(|it| it.packet == *packet && is_due(it))
    }

    /// Handles the arrival or loss of a packet at the end of the wire. Returns the violation, if
    /// any.
    pub(super) fn arrive(&mut self, at: Time, packet: &Packet) -> Option<String> {
        let Some(OnWire { packet: sent, arrives }) = self.on_wire.pop_front() else {
            return Some(format!("{} arrives but was not sent", describe(packet)));
        };
        if sent != *packet {
            return Some(format!("{} arrives instead of {}", describe(packet), describe(&sent)));
        }
        (self.wire.has_one_rate && arrives != at).then(|| {
            format!(
                "{} arrives at the wrong time; expected {} ps",
                describe(packet),
                arrives.as_ps()
            )
        })
    }

    /// Returns the queued bytes at the end of a time, without flow-control frames.
    pub(super) fn settle(&mut self) -> Queued {
        let (priority, data) = (self.bytes[0], self.bytes[1..].iter().sum::<u64>());
        // Flow-control frames count towards neither queue lengths nor buffers.
        let frames = self.frames.iter().map(|frame| u64::from(frame.packet.wire_bytes));
        let priority = priority - frames.sum::<u64>();
        self.longest = self.longest.max(priority + data);
        Queued { priority, data }
    }
}
