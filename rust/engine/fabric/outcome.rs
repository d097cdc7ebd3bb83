//! The results of a run.

use super::counters::NetworkCounters;
use super::network::cycle;
use crate::balance::switch::StateSize;
use crate::endpoint::{Discarded, Endpoints, FlowRecord, QpCounts, ScaleUpUse};
use crate::ids::{ClassId, LinkClass, PortId};
use crate::nic::QpAccount;
use crate::packet::PauseOrder;
use crate::units::{Bytes, Span, Time};

/// Reason for the end of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Every message has been delivered and acknowledged.
    Completed,
    /// No future event can complete the open messages.
    Stalled,
    /// The time limit of the scenario passed.
    TimeLimit,
}

/// Packet counts over all hosts and switches of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counters {
    /// Data packets that NICs put on the wire, including retransmissions.
    pub sent: u64,
    /// Data packets that reached their host, whole or trimmed.
    pub delivered: u64,
    /// Data packets retransmitted.
    pub retransmitted: u64,
    /// Data packets lost, in buffers and on failed links.
    pub dropped: u64,
    /// Data packets trimmed to their header, each counted once.
    pub trimmed: u64,
    /// Data packets that arrived with an ECN mark.
    pub marked: u64,
    /// Data packets that arrived after one with a higher PSN.
    pub out_of_order: u64,
    /// Acknowledgements, NACKs and CNPs that NICs put on the wire.
    pub control_sent: u64,
    /// Acknowledgements, NACKs and CNPs that reached their host.
    pub control_delivered: u64,
    /// Acknowledgements, NACKs and CNPs lost.
    pub control_dropped: u64,
    /// Pause frames that switches put on the wire.
    pub pfc_pauses: u64,
    /// Packets that crossed a link.
    pub packet_hops: u64,
    /// Events of the simulation.
    pub events: u64,
}

/// Lengths of all queues at one time, before any packet starts or arrives at that time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueueProbe {
    /// Time of the measurement.
    pub at: Time,
    /// Load of each switch port, by port id; zero for ports of hosts.
    pub queues: Vec<Queue>,
}

/// Load of a port: its queued packets and the packet on its wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Queue {
    /// Queued packets, and the one on the wire.
    pub packets: u32,
    /// Bytes of these packets on the wire, without gaps.
    pub bytes: Bytes,
}

/// A PFC frame that took effect at a port, or a pause that expired there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PauseRecord {
    /// Time at which it took effect.
    pub at: Time,
    /// Output port that it pauses or resumes.
    pub port: PortId,
    /// Whether it pauses or resumes the port.
    pub order: PauseOrder,
    /// Traffic class that it pauses or resumes; the first one if data has no classes.
    pub class: ClassId,
}

/// Results of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// Whether it completed, stalled or reached the time limit.
    pub verdict: Verdict,
    /// Time of the last event, or the time limit if it was reached.
    pub ended: Time,
    /// Number of messages.
    pub messages: u64,
    /// Totals over messages and flows discarded on completion, which `message_fct` and `flows`
    /// omit. `None` if nothing is discarded.
    pub discarded: Option<Discarded>,
    /// Time from start to completion at the sender of every completed message, in order of message
    /// ids.
    pub message_fct: Vec<Span>,
    /// Time from the first start to the last completion; `None` unless every message completed.
    pub cct: Option<Span>,
    /// Every flow, in order of message and piece.
    pub flows: Vec<FlowRecord>,
    /// End of each delay of the workload; [`Time::NEVER`] for a delay that did not end.
    pub delay_ends: Vec<Time>,
    /// Counts of packets and events over the whole run.
    pub counters: Counters,
    /// Traffic of the scale-up networks of servers; `None` without any.
    pub scale_up: Option<ScaleUpUse>,
    /// Queue pair counts at the end of the run.
    pub qps: QpCounts,
    /// Queue pair account of each NIC, by host. Both ends of a connection have one.
    pub qp_accounts: Vec<QpAccount>,
    /// Peak of the queued bytes over all switch ports.
    pub queue_bytes_max: Bytes,
    /// Peak of the queued bytes at each port, by port id; 0 for hosts.
    pub queue_bytes_max_by_port: Vec<Bytes>,
    /// Mean of the queued bytes that data packets found at switch ports on arrival.
    pub queue_bytes_mean: f64,
    /// Maximum over the directions of all links of the bytes carried.
    pub link_bytes_max: Bytes,
    /// Bytes that each port carried, by port id.
    pub link_bytes: Vec<Bytes>,
    /// State size of each switch's policy at the end, by switch id.
    pub switch_states: Vec<StateSize>,
    /// Maximum number of state bits that a sender policy kept for one queue pair.
    pub sender_bits_per_qp_max: u64,
    /// Queue lengths at the times of the setup's probes.
    pub probes: Vec<QueueProbe>,
    /// Data packets still in a queue or on a wire at the end.
    pub in_flight: u64,
    /// Every PFC frame that took effect, by time; empty without PFC.
    pub pauses: Vec<PauseRecord>,
    /// Packets that were ECN marked at each port, by port id; empty if no port marks.
    pub marked_by_port: Vec<u64>,
    /// A cycle of paused ports in a run that did not complete. Each port waits for the next, so
    /// their packets never move (a PFC deadlock). Empty without one, and always in ns-3, which does
    /// not look for cycles.
    pub deadlock: Vec<PortId>,
    /// Data packets of each traffic class that were dropped; empty without classes.
    pub dropped_by_class: Vec<u64>,
}

/// Measurements of a world's links and switches. Hosts count the rest.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// How the run ended.
    pub verdict: Verdict,
    /// The time of the last event.
    pub ended: Time,
    /// Packets between NICs.
    pub counters: NetworkCounters,
    /// Events handled.
    pub events: u64,
    /// Data packets in flight at the end.
    pub in_flight: u64,
    /// Peak of the queued bytes, by port id; 0 for ports of hosts.
    pub queue_bytes_max_by_port: Vec<Bytes>,
    /// Bytes sent, by port id.
    pub link_bytes: Vec<Bytes>,
    /// Queues at the times of probes.
    pub probes: Vec<QueueProbe>,
    /// PFC frames that took effect.
    pub pauses: Vec<PauseRecord>,
    /// ECN-marked packets, by port id.
    pub marked_by_port: Vec<u64>,
    /// Data held back by pauses in a run that did not complete: the port over which it arrived, and
    /// the paused one.
    pub held_back: Vec<(LinkClass, LinkClass)>,
    /// Dropped data packets, by traffic class; empty without classes.
    pub dropped_by_class: Vec<u64>,
}

impl Outcome {
    /// Combines the measurements of a world with the counts of its hosts.
    ///
    /// # Panics
    /// If a packet or a byte is unaccounted for.
    pub fn of(measured: Measured, switch_states: Vec<StateSize>, endpoints: &Endpoints) -> Self {
        let counters = counters(&measured, endpoints);
        let bytes = endpoints.sent().1;
        assert_eq!(
            counters.sent,
            counters.delivered + counters.dropped + measured.in_flight,
            "conservation: every data packet sent is delivered, dropped, or in flight"
        );
        let done = measured.verdict == Verdict::Completed;
        assert!(
            !done || endpoints.accepted_bytes() == bytes.get(),
            "conservation: every byte is delivered exactly once"
        );
        Self { switch_states, counters, ..Self::of_flows(measured, endpoints) }
    }

    /// Combines measurements and counts for a world without packets. Packet counts and switch
    /// states are empty.
    pub fn of_flows(measured: Measured, endpoints: &Endpoints) -> Self {
        let ledger = endpoints.ledger();
        let messages = endpoints.sent().0;
        let done = measured.verdict == Verdict::Completed;
        let counters = Counters { events: measured.events, ..Counters::default() };
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
            scale_up: endpoints.scale_up_use().cloned(),
            qps: endpoints.qp_counts(),
            qp_accounts: nics().map(|nic| nic.account()).collect(),
            queue_bytes_max: most(&measured.queue_bytes_max_by_port),
            queue_bytes_max_by_port: measured.queue_bytes_max_by_port,
            queue_bytes_mean: measured.counters.queue_bytes_mean(),
            link_bytes_max: most(&measured.link_bytes),
            link_bytes: measured.link_bytes,
            switch_states: Vec::new(),
            sender_bits_per_qp_max: nics().map(|nic| nic.policy_bits_max()).max().unwrap_or(0),
            probes: measured.probes,
            in_flight: measured.in_flight,
            pauses: measured.pauses,
            marked_by_port: measured.marked_by_port,
            deadlock: cycle(&measured.held_back),
            dropped_by_class: measured.dropped_by_class,
            flows: ledger.flows_in_order(),
            delay_ends: ledger.delay_ends().to_vec(),
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

/// Progress of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Simulated time reached so far.
    pub now: Time,
    /// Messages completed at their senders.
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
