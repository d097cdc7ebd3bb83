//! Consistency checks of the counters at the end of every run.
//!
//! They read existing counters once, and add no cost per packet:
//!
//! - packets: each packet sent was delivered or dropped, or is in flight. Each packet in flight is
//!   in a queue or on a wire;
//! - bytes: the bytes that links carried to a switch have left it or are queued in it, except for
//!   dropped or trimmed packets. The switch's memory account equals its queued bytes;
//! - buffers: no queue exceeded its buffer. Flow control with enough headroom or by credit dropped
//!   no data;
//! - delivery: a host accepted the bytes of its flows exactly once, and its links carried at least
//!   as many;
//! - times: no flow was delivered before its start, completed before its delivery, or did either
//!   after the end of the run;
//! - a completed run left nothing open.
//!
//! A difference is a bug in evenkeel, not an error in the scenario. The run panics and lists every
//! difference. `evenkeel run --check` follows every packet, and finds more.

use super::network::Remainder;
use super::outcome::{Outcome, Verdict};
use super::setup::Setup;
use crate::endpoint::{Endpoints, FlowRecord};
use crate::ids::{ClassId, HostId, PortId, SwitchId};
use crate::packet::PauseOrder;
use crate::switching::{Buffer, PFC_FRAME_BYTES, SwitchConfig};
use crate::topology::Node;
use crate::units::Time;

/// Per-host totals at the end of a run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct HostTotals {
    /// Payload bytes accepted by each host's NIC.
    pub(super) accepted: Vec<u64>,
    /// Queue pairs of each host with unacknowledged work.
    pub(super) unfinished: Vec<u64>,
    /// Number of messages and delays that have not ended.
    pub(super) open: u64,
}

/// The outcome of a run, with the data that it is checked against.
#[derive(Debug, Clone)]
pub(super) struct UncheckedOutcome {
    pub(super) outcome: Outcome,
    pub(super) remainder: Remainder,
    pub(super) hosts: HostTotals,
}

impl UncheckedOutcome {
    pub(super) fn new(outcome: Outcome, remainder: Remainder, endpoints: &Endpoints) -> Self {
        let nics = || endpoints.hosts().iter().map(|host| &host.nic);
        let hosts = HostTotals {
            accepted: nics().map(|nic| nic.counters().payload_received).collect(),
            unfinished: nics().map(|nic| nic.unfinished_qps()).collect(),
            open: endpoints.ledger().open,
        };
        Self { outcome, remainder, hosts }
    }

    /// Returns the outcome if every check passes.
    ///
    /// # Panics
    /// If a check fails; the message lists every failure.
    pub(super) fn checked(self, setup: &Setup) -> Outcome {
        let failures = self.failed_checks(setup);
        assert!(
            failures.is_empty(),
            "{}; this is an internal error (a bug in evenkeel): please report it with the \
             scenario's file",
            failures.join("; ")
        );
        self.outcome
    }

    /// Returns a description of each failed check.
    pub(super) fn failed_checks(&self, setup: &Setup) -> Vec<String> {
        let Self { outcome, remainder, hosts } = self;
        Checks { setup, outcome, remainder, hosts }.failed_checks()
    }
}

/// Inputs of the checks.
#[derive(Debug, Clone, Copy)]
struct Checks<'a> {
    setup: &'a Setup,
    outcome: &'a Outcome,
    remainder: &'a Remainder,
    hosts: &'a HostTotals,
}

impl Checks<'_> {
    fn failed_checks(&self) -> Vec<String> {
        let mut failures = self.packets();
        failures.extend(self.memory());
        failures.extend(self.bytes_of_switches());
        failures.extend(self.queues());
        failures.extend(self.losses());
        failures.extend(self.deliveries());
        failures.extend(flow_time_fault(self.outcome));
        failures.extend(self.open());
        failures
    }

    fn packets(&self) -> Vec<String> {
        let (counters, rest) = (&self.outcome.counters, self.remainder);
        let delivered_and_dropped = counters.control_delivered + counters.control_dropped;
        let of_control = (counters.control_sent, delivered_and_dropped + rest.control);
        let of_data = (counters.sent, counters.delivered + counters.dropped + rest.data);
        let ended = "delivered, dropped or in flight";
        let in_pool = (rest.in_pool, rest.found);
        let pairs = [
            ("data packets", "sent", ended, of_data),
            ("control packets", "sent", ended, of_control),
            ("packets", "in the network", "in queues or on wires", in_pool),
        ];
        let differing = pairs.into_iter().filter(|(.., (one, other))| one != other);
        let describe = |(packets, first, second, (one, other))| {
            format!("{packets}: {one} {first}, but {other} {second}")
        };
        let mut failures: Vec<String> = differing.map(describe).collect();
        let parts = [
            ("retransmitted", counters.retransmitted, "sent", counters.sent),
            ("marked", counters.marked, "delivered", counters.delivered),
            ("out of order", counters.out_of_order, "delivered", counters.delivered),
            ("trimmed", counters.trimmed, "sent", counters.sent),
        ];
        let too_many = parts.into_iter().filter(|(_, part, _, all)| part > all);
        failures.extend(too_many.map(|(first, part, second, all)| {
            format!("data packets: {part} {first}, but only {all} {second}")
        }));
        failures
    }

    /// Checks the memory account of each switch, and the byte counter of each port's queues.
    fn memory(&self) -> Vec<String> {
        let mut failures = Vec::new();
        for (id, port) in (0u32..).map(PortId).zip(&self.remainder.ports) {
            let waiting = port.waiting + port.frames_waiting;
            if waiting != port.counted {
                let counted = port.counted;
                let name = self.port_name(id);
                failures
                    .push(format!("{waiting} B are queued at {name}, but it counts {counted} B"));
            }
        }
        for (switch, &accounted) in (0u32..).map(SwitchId).zip(&self.remainder.accounted) {
            let ports = self.setup.topology.ports_of(switch).iter();
            let waiting: u64 = ports.map(|port| self.remainder.ports[port.index()].counted).sum();
            if waiting != accounted {
                let name = self.switch_name(switch);
                failures.push(format!(
                    "{waiting} B are queued in {name}, but its memory holds {accounted} B"
                ));
            }
        }
        failures
    }

    /// Checks the bytes received by each switch against those that left it or are queued in it.
    fn bytes_of_switches(&self) -> Vec<String> {
        let Self { setup, outcome, remainder, .. } = self;
        let switch = &setup.fabric.switch;
        // Flow-control frames begin and end in switches. Credit frames are not counted, and an
        // expired pause is recorded as if a frame had arrived.
        if switch.cbfc.is_some() || switch.pfc.is_some_and(|pfc| pfc.pause_time.is_some()) {
            return Vec::new();
        }
        let mut frames = vec![0; remainder.ports.len()];
        // A pause is recorded at the paused port. Its frame used the opposite direction.
        for pause in &outcome.pauses {
            debug_assert!(matches!(pause.order, PauseOrder::Pause | PauseOrder::Resume));
            frames[pause.port.reverse().index()] += i128::from(PFC_FRAME_BYTES);
        }
        let carried = |port: PortId| {
            let of_frames = i128::from(remainder.ports[port.index()].frames_on_wire);
            i128::from(outcome.link_bytes[port.index()].get()) - of_frames - frames[port.index()]
        };
        let counters = &outcome.counters;
        let is_lossless = counters.dropped + counters.control_dropped + counters.trimmed == 0;
        let mut failures = Vec::new();
        for id in (0u32..).map(SwitchId).take(setup.topology.switches().len()) {
            let (mut received, mut sent) = (0, 0);
            for &port in setup.topology.ports_of(id) {
                received += carried(port.reverse());
                received -= i128::from(remainder.ports[port.reverse().index()].on_wire);
                sent += carried(port) + i128::from(remainder.ports[port.index()].waiting);
            }
            // Losses and trimming explain missing bytes, but nothing explains additional ones.
            if sent > received || is_lossless && sent < received {
                let name = self.switch_name(id);
                failures.push(format!(
                    "{received} B reached {name}, but {sent} B left it or are queued in it"
                ));
            }
        }
        failures
    }

    /// Checks that no queue exceeded its buffer.
    fn queues(&self) -> Vec<String> {
        let Some(capacity) = port_capacity(&self.setup.fabric.switch) else { return Vec::new() };
        let queues = (0u32..).map(PortId).zip(&self.outcome.queue_bytes_max_by_port);
        let longer = queues.filter(|(_, longest)| longest.get() > capacity);
        let fault = |(port, longest)| {
            let name = self.port_name(port);
            format!("the queue of {name} reached {longest}, but its buffer holds {capacity} B")
        };
        longer.map(fault).collect()
    }

    /// Checks that lossless traffic lost no data.
    fn losses(&self) -> Option<String> {
        let (outcome, fabric) = (self.outcome, &self.setup.fabric);
        let lossless = |class: u32| fabric.is_lossless(ClassId(class));
        let of_classes = (0u32..).zip(&outcome.dropped_by_class).filter(|&(it, _)| lossless(it));
        let dropped = match fabric.is_lossless_for_all() {
            true => outcome.counters.dropped,
            false => of_classes.map(|(_, dropped)| dropped).sum(),
        };
        (dropped > 0).then(|| format!("{dropped} data packets were dropped despite flow control"))
    }

    /// Checks the bytes that NICs accepted against their flows and their links.
    fn deliveries(&self) -> Vec<String> {
        let Self { setup, outcome, remainder, hosts } = self;
        let count = hosts.accepted.len();
        let (mut posted, mut delivered) = (vec![0; count], vec![0; count]);
        // Messages inside servers have no source port and do not reach a NIC.
        for flow in outcome.flows.iter().filter(|flow| flow.source_port != 0) {
            posted[flow.dst.index()] += flow.bytes.get();
            if flow.delivered != Time::NEVER {
                delivered[flow.dst.index()] += flow.bytes.get();
            }
        }
        let mut carried = vec![0; count];
        for (id, port) in (0u32..).map(PortId).zip(&remainder.ports) {
            if let Node::Host(host) = setup.topology.ends_of(id).1 {
                let bytes = outcome.link_bytes[id.index()].get();
                // Saturating, so that a wrong count is reported below instead of overflowing.
                carried[host.index()] += bytes.saturating_sub(port.on_wire + port.frames_on_wire);
            }
        }
        let mut failures = Vec::new();
        for (index, &accepted) in hosts.accepted.iter().enumerate() {
            let name = setup.topology.node_name(Node::Host(HostId(index as u32)));
            let (delivered, posted) = (delivered[index], posted[index]);
            // Discarded flows cannot be summed.
            if outcome.discarded.is_none() && !(delivered..=posted).contains(&accepted) {
                failures.push(format!(
                    "{name} accepted {accepted} B, but {posted} B were posted to it and \
                     {delivered} B delivered"
                ));
            }
            if accepted > carried[index] {
                let carried = carried[index];
                failures.push(format!(
                    "{name} accepted {accepted} B, but its links carried {carried} B"
                ));
            }
        }
        failures
    }

    /// Checks that a completed run left no message and no work open.
    fn open(&self) -> Option<String> {
        if self.outcome.verdict != Verdict::Completed {
            return None;
        }
        let HostTotals { open, unfinished, .. } = self.hosts;
        let unfinished: u64 = unfinished.iter().sum();
        let is_open = *open + unfinished > 0 || self.outcome.cct.is_none();
        is_open.then(|| {
            format!(
                "the run completed with {open} open messages and unfinished work on {unfinished} \
                 queue pairs"
            )
        })
    }

    fn port_name(&self, port: PortId) -> String {
        let (from, to) = self.setup.topology.ends_of(port);
        let name = |node| self.setup.topology.node_name(node);
        format!("{} > {}", name(from), name(to))
    }

    fn switch_name(&self, switch: SwitchId) -> &str {
        self.setup.topology.node_name(Node::Switch(switch))
    }
}

/// Returns the bytes that may be queued at a port; `None` if the limit is not per port.
fn port_capacity(switch: &SwitchConfig) -> Option<u64> {
    // Flow control counts per link, and does not limit packets with priority.
    if switch.pfc.is_some() || switch.cbfc.is_some() {
        return None;
    }
    let trim = switch.trim.map(|trim| trim.limit);
    Some(match switch.buffer {
        // Each of the two queues may use the whole limit. With trimming, headers have their own
        // limit.
        Buffer::PerPort(limit) => limit.get().saturating_add(trim.unwrap_or(limit).get()),
        Buffer::Shared(limit) => limit.get().saturating_add(trim.unwrap_or_default().get()),
    })
}

/// Describes a flow whose times are out of order or after the end of the run.
fn flow_time_fault(outcome: &Outcome) -> Option<String> {
    let is_known = |time: Time| time != Time::NEVER;
    let is_disordered = |flow: &&FlowRecord| {
        let FlowRecord { start, delivered, completed, .. } = **flow;
        let follows = |time, after| !is_known(time) || time >= after && time <= outcome.ended;
        !follows(delivered, start)
            || !follows(completed, delivered)
            || (outcome.verdict == Verdict::Completed && !is_known(completed))
    };
    let flow = outcome.flows.iter().find(is_disordered)?;
    let ended = outcome.ended;
    Some(format!(
        "the times of a flow are out of order or after the end of the run, {ended}: {flow:?}"
    ))
}
