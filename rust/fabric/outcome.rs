//! What a run has to say.

use crate::balance::switch::StateSize;
use crate::endpoint::{Endpoints, FlowRecord, Passed, QpCounts};
use crate::ids::PortId;
use crate::nic::QpAccount;
pub use crate::packet::PauseOrder;
use crate::units::{Bytes, Span, Time};

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Every message is delivered and complete.
    Completed,
    /// Nothing can happen any more that would complete the messages that are open.
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
    /// Data packets cut to their header, each once; those that were dropped at once are `dropped`.
    pub trimmed: u64,
    /// Data packets that were ECN marked on arrival.
    pub marked: u64,
    /// Data packets that arrived after one of a higher PSN.
    pub out_of_order: u64,
    /// Acknowledgements, NACKs and CNPs that NICs put on the wire.
    pub control_sent: u64,
    /// ... that reached their host.
    pub control_delivered: u64,
    /// ... that were lost.
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
    /// When.
    pub at: Time,
    /// What waits at each port of a switch, by port id; nothing for those of hosts.
    pub queues: Vec<Queue>,
}

/// What waits at a port, and the packet that its wire is busy with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Queue {
    /// Packets.
    pub packets: u32,
    /// Their bytes.
    pub bytes: Bytes,
}

/// A pause or a resume frame that reached the port it is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PauseRecord {
    /// When it took effect.
    pub at: Time,
    /// The output port that it stops or lets go; the node is the one that this port starts at.
    pub port: PortId,
    /// Which of the two.
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
    /// What is left of messages and flows that were forgotten when they were over, of which
    /// `message_fct` and `flows` do not tell; `None` where nothing was forgotten.
    pub passed: Option<Passed>,
    /// Completion minus start at the sender, of every message that completed, in order of
    /// message ids.
    pub message_fct: Vec<Span>,
    /// From the first start to the last completion; `None` unless every message completed.
    pub cct: Option<Span>,
    /// Every flow, in order of message and piece.
    pub flows: Vec<FlowRecord>,
    /// Packets.
    pub counters: Counters,
    /// Queue pairs.
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
    /// Every frame of flow control that took effect, by time; empty without flow control.
    pub pauses: Vec<PauseRecord>,
}

/// What a world counts itself: what became of packets between the NICs.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Sums {
    pub verdict: Verdict,
    pub ended: Time,
    pub data_dropped: u64,
    pub control_dropped: u64,
    pub trimmed: u64,
    pub pfc_pauses: u64,
    pub packet_hops: u64,
    pub events: u64,
    pub in_flight: u64,
    pub queue_bytes_mean: f64,
    /// By port id, 0 for those of hosts.
    pub queue_bytes_max_by_port: Vec<Bytes>,
    pub link_bytes: Vec<Bytes>,
    pub probes: Vec<QueueProbe>,
    pub pauses: Vec<PauseRecord>,
}

impl Outcome {
    /// What the hosts and the network between them say together.
    ///
    /// # Panics
    /// If a packet or a byte was lost from the books.
    pub(crate) fn of(sums: Sums, switch_states: Vec<StateSize>, endpoints: &Endpoints) -> Self {
        let counters = counters(&sums, endpoints);
        assert_eq!(
            counters.sent,
            counters.delivered + counters.dropped + sums.in_flight,
            "conservation: every data packet sent is delivered, dropped, or in flight"
        );
        let (workload, ledger) = (endpoints.workload(), endpoints.ledger());
        let (messages, bytes) = endpoints.sent();
        let done = sums.verdict == Verdict::Completed;
        assert!(
            !done || endpoints.accepted_bytes() == bytes.get(),
            "conservation: every byte is delivered exactly once"
        );
        let (first_start, last) = (workload.first_start(), ledger.last_completion);
        let nics = || endpoints.hosts().iter().map(|host| &host.nic);
        let most = |of: &[Bytes]| of.iter().copied().max().unwrap_or_default();
        Self {
            verdict: sums.verdict,
            ended: sums.ended,
            messages,
            passed: ledger.passed().cloned(),
            message_fct: ledger.completions().map(|(start, end)| end.since(start)).collect(),
            cct: done.then(|| last.max(first_start).since(first_start)),
            counters,
            qps: endpoints.qp_counts(),
            qp_accounts: nics().map(|nic| nic.account()).collect(),
            queue_bytes_max: most(&sums.queue_bytes_max_by_port),
            queue_bytes_max_by_port: sums.queue_bytes_max_by_port,
            queue_bytes_mean: sums.queue_bytes_mean,
            link_bytes_max: most(&sums.link_bytes),
            link_bytes: sums.link_bytes,
            switch_states,
            sender_bits_per_qp_max: nics().map(|nic| nic.policy_bits_max()).max().unwrap_or(0),
            probes: sums.probes,
            in_flight: sums.in_flight,
            pauses: sums.pauses,
            flows: ledger.flows_in_order(),
        }
    }
}

fn counters(sums: &Sums, endpoints: &Endpoints) -> Counters {
    let mut sum = Counters {
        dropped: sums.data_dropped,
        control_dropped: sums.control_dropped,
        trimmed: sums.trimmed,
        pfc_pauses: sums.pfc_pauses,
        packet_hops: sums.packet_hops,
        events: sums.events,
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

/// What a caller is told while a run goes on.
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
