//! The properties that hold for every script.

use evenkeel::nic::congestion::{CREDIT_UNIT, CongestionControl, FIRST_CREDIT};
use evenkeel::nic::{Delivery, NicCounters, NicEvent, Owner, reverse_label};
use evenkeel::packet::{Flags, Packet, PacketKind, View};
use evenkeel::units::{Bytes, Span, Time};

use super::case::Case;
use super::pipe::{Side, TraceEntry, WakeUps, World};
use super::settings::{HEADER, PAYLOAD, PORT, Settings, TIMEOUT, packets};
use super::start::Start;

/// Number of timeouts, in addition to the transmission time, within which all messages complete
/// after the last disturbance. One is for a lost packet, one for a lost acknowledgement, and one
/// for a timer that has just been restarted.
const TIMEOUTS: u64 = 3;

/// Runs a case twice, the second time with extra wake-ups, and checks its properties.
pub(crate) fn check_case(case: &Case, settings: &Settings, start: &Start) -> Result<(), String> {
    let (first, result) = run(case, settings, start, WakeUps::Asked);
    result?;
    let (second, result) = run(case, settings, start, WakeUps::Extra);
    result.map_err(|reason| format!("with extra wake-ups: {reason}"))?;
    let differs = first.trace.iter().zip(&second.trace).find(|(one, other)| one != other);
    if let Some((one, other)) = differs {
        return Err(format!("extra wake-ups change {one:?}\ninto {other:?}"));
    }
    if first.trace.len() != second.trace.len() {
        return Err("extra wake-ups change how much happens".to_owned());
    }
    Ok(())
}

/// Runs a case once; returns the violated property as an error.
pub(crate) fn run<'a>(
    case: &'a Case,
    settings: &Settings,
    start: &Start,
    wake_ups: WakeUps,
) -> (World<'a>, Result<(), String>) {
    let mut world = World::new(case, start.clone(), wake_ups);
    let result = world.run();
    let mut ledger = Ledger::new(case, settings, start);
    let result = result
        .and_then(|()| world.trace.iter().try_for_each(|(now, seen)| ledger.observe(*now, *seen)))
        .and_then(|()| ledger.close(&world));
    (world, result)
}

/// A message in the ledger.
#[derive(Debug, Clone, Copy)]
struct Message {
    post: usize,
    first: u64,
    packets: u64,
}

/// The messages of one queue pair.
#[derive(Debug, Default)]
struct Pair {
    messages: Vec<Message>,
    /// True for each packet that reached the receiver untrimmed.
    arrived: Vec<bool>,
    /// True for each message that was delivered; `completed` likewise.
    delivered: Vec<bool>,
    completed: Vec<bool>,
    /// Bytes on the wire that its sender sent, and the highest credit number that reached it.
    sent: u64,
    credit: u64,
}

/// Counts of packets on the wire of one side.
#[derive(Debug, Default)]
struct Crossed {
    data_sent: u64,
    retransmitted: u64,
    control_sent: u64,
    data_received: u64,
    trimmed: u64,
    marked: u64,
    control_received: u64,
}

/// Counts packets independently of the NICs, whose counters are compared with it.
struct Ledger<'a> {
    case: &'a Case,
    start: &'a Start,
    settings: &'a Settings,
    /// True for an ideal erasure code, where any packets of a message suffice.
    any_packets: bool,
    pairs: Vec<Pair>,
    sides: [Crossed; 2],
    last: Time,
}

impl<'a> Ledger<'a> {
    fn new(case: &'a Case, settings: &'a Settings, start: &'a Start) -> Self {
        let mut pairs: Vec<Pair> = (0..case.qps).map(|_| Pair::default()).collect();
        for (index, post) in case.posts.iter().enumerate() {
            let pair = &mut pairs[usize::from(post.qp % case.qps)];
            let first = pair.arrived.len() as u64;
            let count = packets(u64::from(post.bytes));
            pair.messages.push(Message { post: index, first, packets: count });
            pair.arrived.resize((first + count) as usize, false);
            pair.delivered.push(false);
            pair.completed.push(false);
        }
        Self {
            case,
            start,
            settings,
            any_packets: settings.recovery == "erasure",
            pairs,
            sides: Default::default(),
            last: Time::ZERO,
        }
    }

    fn observe(&mut self, now: Time, seen: TraceEntry) -> Result<(), String> {
        match seen {
            TraceEntry::Sent(side, packet, _) => self.see_sent(side, &packet)?,
            TraceEntry::Arrived(side, packet) => self.see_arrival(side, &packet)?,
            TraceEntry::Emitted(side, event) => {
                self.last = now;
                self.see_event(side, event).map_err(|reason| format!("at {now}: {reason}"))?;
            }
        }
        Ok(())
    }

    fn see_sent(&mut self, side: Side, packet: &Packet) -> Result<(), String> {
        let crossed = &mut self.sides[side];
        if packet.kind != PacketKind::Data {
            crossed.control_sent += 1;
            return Ok(());
        }
        crossed.data_sent += 1;
        crossed.retransmitted += u64::from(packet.flags.has(Flags::RETRANSMITTED));
        if !matches!(self.settings.nic.congestion, CongestionControl::Rccc(_)) {
            return Ok(());
        }
        // Credit is conserved. The bytes sent, including retransmissions, are at most the initial
        // credit plus the granted credit plus the part of a packet that exceeded its credit.
        let pair = &mut self.pairs[packet.label as usize];
        pair.sent += u64::from(packet.wire_bytes);
        let start = PORT.line_rate.bytes_in(PORT.base_rtt).get() * 3 / 2;
        let granted = pair.credit.saturating_sub(FIRST_CREDIT) * CREDIT_UNIT;
        let most = start + granted + PAYLOAD + HEADER;
        match pair.sent <= most {
            true => Ok(()),
            false => Err(format!("{} bytes sent with credit for {most}", pair.sent)),
        }
    }

    fn see_arrival(&mut self, side: Side, packet: &Packet) -> Result<(), String> {
        let crossed = &mut self.sides[side];
        let Some(data) = packet.as_data() else {
            crossed.control_received += 1;
            if let View::Credit(credit) = packet.view() {
                let labels = (0..).map(reverse_label);
                let mut pairs = labels.zip(&mut self.pairs);
                let (_, pair) = pairs.find(|(label, _)| *label == packet.label).expect("a pair's");
                pair.credit = pair.credit.max(u64::from(credit.number().get()));
            }
            return Ok(());
        };
        crossed.data_received += 1;
        crossed.marked += u64::from(packet.flags.has(Flags::MARKED));
        if packet.flags.has(Flags::TRIMMED) {
            crossed.trimmed += 1;
            return Ok(());
        }
        let pair = &mut self.pairs[packet.label as usize];
        let index = data.psn().unwrap_near(self.start.packets).checked_sub(self.start.packets);
        match index.and_then(|index| pair.arrived.get_mut(index as usize)) {
            Some(arrived) => *arrived = true,
            None if self.any_packets => {}
            None => return Err(format!("a packet beyond the last message: {packet:?}")),
        }
        Ok(())
    }

    fn see_event(&mut self, side: Side, event: NicEvent) -> Result<(), String> {
        match event {
            NicEvent::Delivered { owner: Owner::Driver(cookie), message } => {
                if side == cookie as usize % 2 {
                    return Err(format!("{event:?} at the sender"));
                }
                let index = message.wrapping_sub(self.start.messages) as usize;
                let pair = &mut self.pairs[cookie as usize];
                let whole = pair.messages.get(index).is_some_and(|it| {
                    let range = it.first as usize..(it.first + it.packets) as usize;
                    pair.arrived[range].iter().all(|&arrived| arrived)
                });
                if !self.any_packets && !whole {
                    return Err(format!("{event:?} before all of it has arrived"));
                }
                let any_order = self.settings.delivery == Delivery::Unordered;
                mark_done(&mut pair.delivered, index, any_order)
                    .map_err(|reason| format!("{event:?} {reason}"))
            }
            NicEvent::Completed { owner: Owner::Driver(cookie), work } => {
                if side != cookie as usize % 2 {
                    return Err(format!("{event:?} at the receiver"));
                }
                let pair = &mut self.pairs[cookie as usize];
                let index = pair.messages.iter().position(|it| it.post as u64 == work);
                let index = index.ok_or_else(|| format!("{event:?}, which was not posted"))?;
                if !pair.delivered[index] {
                    return Err(format!("{event:?} before it is delivered"));
                }
                // Senders complete in order, whatever the order of delivery.
                mark_done(&mut pair.completed, index, false)
                    .map_err(|reason| format!("{event:?} {reason}"))
            }
            NicEvent::PathFailed { .. } => Ok(()),
            NicEvent::Delivered { .. } | NicEvent::Completed { .. } => {
                Err(format!("an event of a queue pair with completions: {event:?}"))
            }
        }
    }

    /// Checks at the end that all messages are complete, in time, and that all packets are counted.
    fn close(&self, world: &World<'_>) -> Result<(), String> {
        for (number, pair) in self.pairs.iter().enumerate() {
            let left = |done: &[bool]| done.iter().filter(|&&done| !done).count();
            let (undelivered, incomplete) = (left(&pair.delivered), left(&pair.completed));
            if undelivered + incomplete > 0 {
                return Err(format!(
                    "queue pair {number} stalls: of {} messages {undelivered} are not delivered, \
                     {incomplete} not completed, and nothing more happens",
                    pair.messages.len()
                ));
            }
        }
        let limit = self.limit(world.disturbed);
        if self.last > limit {
            return Err(format!("the last event at {} is later than {limit}", self.last));
        }
        if world.nics.iter().any(|nic| nic.has_packets()) {
            return Err("a NIC has packets left when all is done".to_owned());
        }
        (0..2).try_for_each(|side| self.balance(world, side))
    }

    /// Returns the time by which all messages must complete. It allows for the timeouts, each
    /// packet twice at the lowest rate, and the total duration of outages once more, since waits
    /// may double meanwhile.
    fn limit(&self, disturbed: Time) -> Time {
        let count: u64 = self.pairs.iter().map(|pair| pair.arrived.len() as u64).sum();
        let sending = self.settings.floor.time_for(Bytes::new(2 * count * (PAYLOAD + HEADER)));
        let dead: u64 = self.case.outages.iter().map(|outage| u64::from(outage.for_us)).sum();
        disturbed + TIMEOUT * TIMEOUTS + sending + Span::from_us(dead)
    }

    fn balance(&self, world: &World<'_>, side: Side) -> Result<(), String> {
        let crossed = &self.sides[side];
        let (counted, before) = (world.nics[side].counters(), &self.start.counted[side]);
        let now = |of: fn(&NicCounters) -> u64| of(counted) - of(before);
        let received = self.sums(1 - side);
        let sent = self.sums(side);
        let mut rows = vec![
            ("data sent", now(|it| it.data_sent), crossed.data_sent),
            ("retransmitted", now(|it| it.retransmitted), crossed.retransmitted),
            ("control sent", now(|it| it.control_sent), crossed.control_sent),
            ("data received", now(|it| it.data_received), crossed.data_received),
            ("control received", now(|it| it.control_received), crossed.control_received),
            ("marked", now(|it| it.marked), crossed.marked),
            ("payload", now(|it| it.payload_received), received.bytes),
        ];
        if !self.any_packets {
            let first = now(|it| it.data_sent) - now(|it| it.retransmitted);
            rows.push(("sent first", first, sent.packets));
            // A trimmed packet may also be a duplicate or beyond a gap.
            let accepted =
                now(|it| it.data_received) - now(|it| it.duplicates) - now(|it| it.refused);
            let least = accepted.saturating_sub(crossed.trimmed);
            rows.push(("accepted", received.packets.clamp(least, accepted), received.packets));
        }
        match rows.into_iter().find(|(_, counted, real)| counted != real) {
            Some((what, counted, real)) => {
                Err(format!("side {side} counts {what}: {counted}, and there were {real}"))
            }
            None => Ok(()),
        }
    }

    /// Returns the packets and bytes of the queue pairs that send from `side`.
    fn sums(&self, side: Side) -> Sums {
        let mut sums = Sums::default();
        for pair in self.pairs.iter().skip(side).step_by(2) {
            sums.packets += pair.arrived.len() as u64;
            let bytes = |message: &Message| u64::from(self.case.posts[message.post].bytes);
            sums.bytes += pair.messages.iter().map(bytes).sum::<u64>();
        }
        sums
    }
}

/// Marks message `index` as done: once, and in order unless any order is valid.
fn mark_done(done: &mut [bool], index: usize, any_order: bool) -> Result<(), String> {
    let next = done.iter().position(|&done| !done);
    match done.get_mut(index) {
        Some(done) if !*done && (any_order || next == Some(index)) => *done = true,
        _ => return Err(format!("is out of turn: next is {next:?}")),
    }
    Ok(())
}

/// Packets and bytes of messages.
#[derive(Debug, Default)]
struct Sums {
    packets: u64,
    bytes: u64,
}
