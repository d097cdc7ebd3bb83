//! Compares the totals of a run with those of its records.

use super::port::WireModel;
use crate::fabric::{MOST_CLASSES, Outcome};
use crate::packet::{Flags, Packet, PacketKind};
use crate::units::Span;

/// Packets of each kind, counted from the records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Totals {
    sent: u64,
    delivered: u64,
    dropped: u64,
    /// By traffic class: data packets that were dropped.
    dropped_by_class: [u64; MOST_CLASSES],
    marked: u64,
    retransmitted: u64,
    control_sent: u64,
    control_delivered: u64,
    control_dropped: u64,
    trimmed: u64,
    pub(super) hops: u64,
}

impl Totals {
    pub(super) fn start_at_host(&mut self, packet: &Packet) {
        match packet.kind {
            PacketKind::Pause | PacketKind::Resume | PacketKind::LinkCredit => {}
            PacketKind::Data => {
                self.sent += 1;
                self.retransmitted += u64::from(packet.flags.has(Flags::RETRANSMITTED));
            }
            _ => self.control_sent += 1,
        }
    }

    pub(super) fn arrive_at_host(&mut self, packet: &Packet) {
        match packet.is_control() {
            true => self.control_delivered += 1,
            false => {
                self.delivered += 1;
                self.marked += u64::from(packet.flags.has(Flags::MARKED));
            }
        }
    }

    pub(super) fn drop_packet(&mut self, packet: &Packet) {
        match packet.is_control() {
            true => self.control_dropped += 1,
            false => {
                self.dropped += 1;
                self.dropped_by_class[packet.class().index()] += 1;
            }
        }
    }

    /// Counts a packet that a switch trimmed between receiving and enqueuing it.
    pub(super) fn count_trim(&mut self, received: &Packet, passed: &Packet) {
        let is_cut = |packet: &Packet| packet.flags.has(Flags::TRIMMED);
        self.trimmed += u64::from(is_cut(passed) && !is_cut(received));
    }
}

/// Returns the totals of a run that differ from those of its records, one sentence each.
pub(super) fn differences(
    totals: &Totals,
    ports: &[WireModel],
    outcome: &Outcome,
    bound: Option<Span>,
) -> Vec<String> {
    let counters = &outcome.counters;
    let held: u64 = ports.iter().map(WireModel::data_held).sum();
    let mut differences: Vec<String> = [
        ("data packets sent", totals.sent, counters.sent),
        ("data packets delivered", totals.delivered, counters.delivered),
        ("data packets dropped", totals.dropped, counters.dropped),
        ("data packets retransmitted", totals.retransmitted, counters.retransmitted),
        ("data packets trimmed", totals.trimmed, counters.trimmed),
        ("marked data packets", totals.marked, counters.marked),
        ("data packets in flight at the end", held, outcome.in_flight),
        ("control packets sent", totals.control_sent, counters.control_sent),
        ("control packets delivered", totals.control_delivered, counters.control_delivered),
        ("control packets dropped", totals.control_dropped, counters.control_dropped),
        ("packets that crossed a link", totals.hops, counters.packet_hops),
    ]
    .into_iter()
    .filter(|(_, records, run)| records != run)
    .map(|(what, records, run)| format!("{what}: {records} in the records, {run} in the run"))
    .collect();
    for (class, (&run, records)) in
        outcome.dropped_by_class.iter().zip(totals.dropped_by_class).enumerate()
    {
        if records != run {
            differences.push(format!(
                "data packets of class {class} dropped: {records} in the records, {run} in the run"
            ));
        }
    }
    for (id, port) in ports.iter().enumerate() {
        let carried = outcome.link_bytes[id].get();
        if port.carried != carried {
            let records = port.carried;
            differences.push(format!(
                "port {id} carried {records} B in the records, {carried} in the run"
            ));
        }
        let longest = outcome.queue_bytes_max_by_port[id].get();
        // A packet that starts immediately is enqueued in the records, but no counter includes it.
        if !(port.longest..=port.peak).contains(&longest) {
            differences.push(format!(
                "the longest queue of port {id} is {} to {} B in the records, {longest} in the run",
                port.longest, port.peak
            ));
        }
    }
    differences.extend(bound.and_then(|bound| below_bound(outcome, bound)));
    differences
}

fn below_bound(outcome: &Outcome, bound: Span) -> Option<String> {
    let cct = outcome.cct.filter(|cct| *cct < bound)?;
    Some(format!(
        "the workload completes in {} ps, below its lower bound of {} ps",
        cct.as_ps(),
        bound.as_ps()
    ))
}
