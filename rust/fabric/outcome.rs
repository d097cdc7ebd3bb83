//! The results of a run.

use super::counters::NetworkCounters;
use crate::balance::switch::StateSize;
use crate::endpoint::{Discarded, Endpoints, FlowRecord, QpCounts};
use crate::ids::PortId;
use crate::nic::QpAccount;
use crate::packet::PauseOrder;
use crate::units::{Bytes, Span, Time};

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Every message has been delivered and has completed.
    Completed,
    /// Nothing can happen that would complete the messages that are open.
    Stalled,
    /// The time limit of the scenario passed.
    TimeLimit,
}

/// Packets counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counters {
    /// Data packets that NICs put on the wire, retransmissions included.
    pub sent: u64,
    /// Data packets that reached their host, whole or cut to their header.
    pub delivered: u64,
    /// Data packets sent again.
    pub retransmitted: u64,
    /// Data packets lost, in buffers and on failed links.
    pub dropped: u64,
    /// Data packets cut to their header, each once; those dropped without that count as `dropped`.
    pub trimmed: u64,
    /// Data packets that were ECN marked on arrival.
    pub marked: u64,
    /// Data packets that arrived after one of a higher PSN.
    pub out_of_order: u64,
    /// Acknowledgements, NACKs and CNPs that NICs put on the wire.
    pub control_sent: u64,
    /// Acknowledgements, NACKs and CNPs that reached their host.
    pub control_delivered: u64,
    /// Acknowledgements, NACKs and CNPs that were lost.
    pub control_dropped: u64,
    /// Pause frames put on wires by switches.
    pub pfc_pauses: u64,
    /// Packets that crossed a link.
    pub packet_hops: u64,
    /// Events of the simulation.
    pub events: u64,
}

/// All queues at one moment, before anything starts or arrives then.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueueProbe {
    /// When it was measured.
    pub at: Time,
    /// What waits at each port of a switch, by port id; nothing for those of hosts.
    pub queues: Vec<Queue>,
}

/// What waits at a port, and the packet that its wire is busy with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Queue {
    /// Their number.
    pub packets: u32,
    /// Their bytes.
    pub bytes: Bytes,
}

/// A PFC frame that reached the port it is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PauseRecord {
    /// When it took effect.
    pub at: Time,
    /// The output port that it pauses or resumes.
    pub port: PortId,
    /// Whether it pauses or resumes the port.
    pub order: PauseOrder,
}

/// Everything that a run measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// How it ended.
    pub verdict: Verdict,
    /// When the last event was, or the time limit where that ended it.
    pub ended: Time,
    /// Messages of the workload.
    pub messages: u64,
    /// Sums over messages and flows that were discarded when they completed, which `message_fct`
    /// and `flows` lack; `None` where nothing is discarded.
    pub discarded: Option<Discarded>,
    /// Completion minus start at the sender, of every message that completed, in order of
    /// message ids.
    pub message_fct: Vec<Span>,
    /// From the first start to the last completion; `None` unless every message completed.
    pub cct: Option<Span>,
    /// Every flow, in order of message and piece.
    pub flows: Vec<FlowRecord>,
    /// Packets, counted over the whole run.
    pub counters: Counters,
    /// Queue pairs, counted at the end.
    pub qps: QpCounts,
    /// The account of each NIC's queue pairs, by host; both ends of a connection have one.
    pub qp_accounts: Vec<QpAccount>,
    /// Most bytes that waited at one switch port.
    pub queue_bytes_max: Bytes,
    /// Most bytes that waited at each port, by port id; 0 for hosts.
    pub queue_bytes_max_by_port: Vec<Bytes>,
    /// Mean of the bytes that data packets found waiting at switch ports.
    pub queue_bytes_mean: f64,
    /// Most bytes that one direction of a link carried.
    pub link_bytes_max: Bytes,
    /// Bytes that each port carried, by port id.
    pub link_bytes: Vec<Bytes>,
    /// What the policy of each switch kept at the end, by switch id.
    pub switch_states: Vec<StateSize>,
    /// Most that the policy of a sender kept for a queue pair, in bits.
    pub sender_bits_per_qp_max: u64,
    /// Queues at the times that the setup asked for.
    pub probes: Vec<QueueProbe>,
    /// Data packets still in a queue or on a wire at the end.
    pub in_flight: u64,
    /// Every PFC frame that took effect, by time; empty without PFC.
    pub pauses: Vec<PauseRecord>,
}

/// What a world measures of its links and switches; the hosts count the rest.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Measured {
    pub(crate) verdict: Verdict,
    pub(crate) ended: Time,
    pub(crate) counters: NetworkCounters,
    pub(crate) events: u64,
    pub(crate) in_flight: u64,
    /// By port id, 0 for those of hosts.
    pub(crate) queue_bytes_max_by_port: Vec<Bytes>,
    pub(crate) link_bytes: Vec<Bytes>,
    pub(crate) probes: Vec<QueueProbe>,
    pub(crate) pauses: Vec<PauseRecord>,
}

impl Outcome {
    /// The results of what a world measured and its hosts counted.
    ///
    /// # Panics
    /// If a packet or a byte is not accounted for.
    pub(crate) fn of(
        measured: Measured,
        switch_states: Vec<StateSize>,
        endpoints: &Endpoints,
    ) -> Self {
        let counters = counters(&measured, endpoints);
        assert_eq!(
            counters.sent,
            counters.delivered + counters.dropped + measured.in_flight,
            "conservation: every data packet sent is delivered, dropped, or in flight"
        );
        let ledger = endpoints.ledger();
        let (messages, bytes) = endpoints.sent();
        let done = measured.verdict == Verdict::Completed;
        assert!(
            !done || endpoints.accepted_bytes() == bytes.get(),
            "conservation: every byte is delivered exactly once"
        );
        let (first_start, last) = (endpoints.first_start(), ledger.last_completion);
        let nics = || endpoints.hosts().iter().map(|host| &host.nic);
        let most = |of: &[Bytes]| of.iter().copied().max().unwrap_or_default();
        Self {
            verdict: measured.verdict,
            ended: measured.ended,
            messages,
            discarded: ledger.discarded().cloned(),
            message_fct: ledger.completions().map(|(start, end)| end.since(start)).collect(),
            cct: done.then(|| last.max(first_start).since(first_start)),
            counters,
            qps: endpoints.qp_counts(),
            qp_accounts: nics().map(|nic| nic.account()).collect(),
            queue_bytes_max: most(&measured.queue_bytes_max_by_port),
            queue_bytes_max_by_port: measured.queue_bytes_max_by_port,
            queue_bytes_mean: measured.counters.queue_bytes_mean(),
            link_bytes_max: most(&measured.link_bytes),
            link_bytes: measured.link_bytes,
            switch_states,
            sender_bits_per_qp_max: nics().map(|nic| nic.policy_bits_max()).max().unwrap_or(0),
            probes: measured.probes,
            in_flight: measured.in_flight,
            pauses: measured.pauses,
            flows: ledger.flows_in_order(),
        }
    }
}

fn counters(measured: &Measured, endpoints: &Endpoints) -> Counters {
    let network = &measured.counters;
    let mut sum = Counters {
        dropped: network.data_dropped,
        control_dropped: network.control_dropped,
        trimmed: network.trimmed,
        pfc_pauses: network.pauses,
        packet_hops: network.hops,
        events: measured.events,
        ..Counters::default()
    };
    for host in endpoints.hosts() {
        let nic = host.nic.counters();
        sum.sent += nic.data_sent;
        sum.delivered += nic.data_received;
        sum.retransmitted += nic.retransmitted;
        sum.marked += nic.marked;
        sum.out_of_order += nic.out_of_order;
        sum.control_sent += nic.control_sent;
        sum.control_delivered += nic.control_received;
    }
    sum
}

/// How far a run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Simulated time.
    pub now: Time,
    /// Messages completed.
    pub completed: u64,
    /// Messages of the workload.
    pub messages: u64,
    /// Data bytes delivered for the first time, over all messages.
    pub delivered_bytes: u64,
    /// Data bytes of all messages.
    pub total_bytes: u64,
    /// Packets that crossed a link.
    pub packet_hops: u64,
}
