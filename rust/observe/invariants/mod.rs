//! The invariants of a run, checked against the records of its packets.
//!
//! [`Invariants`] observes every node of a run and follows each packet in a separate model: queues
//! as lists of packets, wires as lists of arrivals. The model shares no code with the fabric's
//! ports. After each record, and against the totals of the run at its end, it checks that
//!
//! - time never goes backwards, neither on a port nor between records;
//! - a switch forwards each packet that it receives once, and no other packet; packets arrive
//!   unchanged and in order, after the time given by their length, the link's rate and its delay;
//! - a switch queue transmits in order: priority before data, no data while it is paused, and no
//!   later than its wire is free; with traffic classes, strict ones come first and weighted ones
//!   get their shares;
//! - a NIC sends no data of a class that is paused, or of a class that no message between the two
//!   hosts has; its sending order is not checked;
//! - no queue and no switch exceeds its buffer; priority flow control with enough headroom loses no
//!   data; only failing links lose packets;
//! - the counters of the run (packets, bytes of each link, drops in total and by class, trims,
//!   longest queues) match the records;
//! - the workload does not complete before its lower bound.
//!
//! The checks of [`crate::fabric::World::outcome`] at the end of every run are not repeated. A
//! violation is a bug in evenkeel, not in a scenario. Checking makes the run several times slower.
//! If the rate of a link changes during the run, times on that link are not checked.

mod classes;
mod ending;
mod port;
mod switch;

use std::fmt;
use std::sync::Arc;

use crate::fabric::{
    FailureKind, Outcome, PacketEvent, PacketRecord, Setup, Snapshot, TrimVictim, Watch,
};
use crate::ids::{ClassId, PortId, SwitchId};
use crate::packet::{Flags, Packet, PacketKind};
use crate::topology::{Node, Topology};
use crate::units::{Span, Time};

use classes::{ClassRules, PairClasses};
use ending::Totals;
use port::{Start, Wire, WireCredit, WireModel};
use switch::{Limits, SwitchModel};

/// Number of violations that are kept; later ones are only counted.
const MAX_KEPT: usize = 20;

/// A violated invariant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// Simulated time.
    pub at: Time,
    /// The output port at the node where it occurred, as "from > to"; empty for the whole run.
    pub port: String,
    /// The expectation, and what happened instead.
    pub message: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at {} ps", self.at.as_ps())?;
        if !self.port.is_empty() {
            write!(f, ", {}", self.port)?;
        }
        write!(f, ": {}", self.message)
    }
}

/// The result of a check.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Report {
    /// Number of packet records checked.
    pub records: u64,
    /// The first violations, in time order.
    pub violations: Vec<Violation>,
    /// Number of all violations, including those that are not kept.
    pub count: u64,
}

/// A header that is enqueued, and the received packet from which it is assumed to be trimmed.
#[derive(Debug, Clone, Copy)]
struct Cut {
    at: Time,
    port: PortId,
    header: Packet,
    received: Packet,
}

/// The observer of a run that checks its invariants.
#[derive(Debug)]
pub struct Invariants {
    topology: Arc<Topology>,
    /// By port id.
    ports: Vec<WireModel>,
    /// By switch id.
    switches: Vec<SwitchModel>,
    limits: Limits,
    pair_classes: PairClasses,
    /// Switches to be checked at the end of the current time.
    touched: Vec<SwitchId>,
    /// Whether arriving packets may displace queued ones.
    displaces: bool,
    /// The last enqueued header that was matched with a received packet.
    cut: Option<Cut>,
    totals: Totals,
    at: Time,
    report: Report,
}

impl Invariants {
    /// Creates an observer of a run of `setup`.
    pub fn new(setup: &Setup) -> Self {
        let (topology, fabric) = (setup.topology.clone(), &setup.fabric);
        let pfc = fabric.switch.pfc;
        let wire = |port: PortId| {
            let link = topology.link(port.link());
            let delay = match topology.ends_of(port).1 {
                Node::Switch(_) => link.delay + fabric.forwarding_delay,
                Node::Host(_) => link.delay,
            };
            let of_link = || fabric.failures.iter().filter(|it| it.link == port.link());
            let is_degrade = |kind| matches!(kind, FailureKind::Degrade { .. });
            Wire {
                rate: fabric.llr.map_or(link.rate, |llr| llr.remaining_rate(link.rate)),
                delay,
                gap: fabric.gap,
                rounding: fabric.rounding,
                // With link-level retry the time of a frame includes its replays, and the credit of
                // lost packets returns without a frame.
                has_one_rate: !of_link().any(|failure| {
                    is_degrade(failure.kind) || fabric.llr.is_some() || fabric.switch.cbfc.is_some()
                }),
                may_lose: of_link().any(|failure| !is_degrade(failure.kind)),
                pause_time: pfc.and_then(|pfc| pfc.pause_time).unwrap_or(Span::MAX),
            }
        };
        let ids = (0..2 * topology.links().len()).map(|id| PortId(id as u32));
        let credit = |port: PortId| {
            let config = fabric.switch.cbfc.filter(|_| !wire(port).may_lose)?;
            let to_switch = matches!(topology.ends_of(port).1, Node::Switch(_));
            to_switch.then_some(WireCredit { config, consumed: 0, freed: 0 })
        };
        let classes = |is: &dyn Fn(ClassId) -> bool| {
            (0..fabric.class_count() as u32).map(|class| is(ClassId(class))).collect()
        };
        let packet = (setup.nic.payload + setup.nic.header).get();
        let rules = Arc::new(ClassRules { classes: fabric.classes.clone(), packet });
        let ports = ids.map(|port| WireModel::new(wire(port), credit(port), &rules)).collect();
        Self {
            limits: Limits {
                buffer: fabric.switch.buffer,
                // With credits a switch admits every packet; priority packets need no credit.
                trim: (fabric.switch.trim.filter(|_| fabric.switch.cbfc.is_none()))
                    .map(|trim| trim.limit),
                has_flow_control: pfc.is_some() || fabric.switch.cbfc.is_some(),
                lossless: classes(&|class| fabric.is_lossless(class)),
                protected: classes(&|class| fabric.is_protected(class)),
            },
            pair_classes: PairClasses::of(setup),
            switches: vec![SwitchModel::default(); topology.switches().len()],
            ports,
            topology,
            touched: Vec::new(),
            displaces: fabric.switch.trim.is_some_and(|it| it.victim == TrimVictim::ArrivingOrLast),
            cut: None,
            totals: Totals::default(),
            at: Time::ZERO,
            report: Report::default(),
        }
    }

    /// Returns the report of a run that ended with `outcome`. `bound` is the lower bound of its
    /// workload, if known.
    pub fn finish(mut self, outcome: &Outcome, bound: Option<Span>) -> Report {
        self.end_time();
        for message in ending::differences(&self.totals, &self.ports, outcome, bound) {
            self.violate(outcome.ended, None, message);
        }
        self.report
    }

    fn violate(&mut self, at: Time, port: Option<PortId>, message: String) {
        self.report.count += 1;
        if self.report.violations.len() < MAX_KEPT {
            let port = port.map_or_else(String::new, |port| {
                let (from, to) = self.topology.ends_of(port);
                let name = |node| self.topology.node_name(node);
                format!("{} > {}", name(from), name(to))
            });
            self.report.violations.push(Violation { at, port, message });
        }
    }

    fn check_record(&mut self, record: &PacketRecord) {
        self.report.records += 1;
        let &PacketRecord { at, port, event, waiting, packet } = record;
        if at < self.at {
            return self.violate(at, Some(port), format!("its record follows one at {}", self.at));
        }
        if at > self.at {
            self.end_time();
            self.at = at;
        }
        let node = self.topology.ends_of(port).0;
        let fault = match (event, node) {
            (PacketEvent::Received, _) => self.receive(at, port, node, &packet),
            // Packets that wait in a NIC are not in a queue of the fabric.
            (PacketEvent::Enqueued, Node::Host(_)) => None,
            (PacketEvent::Enqueued, Node::Switch(switch)) => self.enqueue(switch, record),
            (PacketEvent::Dequeued, Node::Host(_)) => {
                self.totals.start_at_host(&packet);
                let fault = self.ports[port.index()].start_from_host(at, &packet);
                fault.or_else(|| self.pair_classes.start_from_host(&packet))
            }
            (PacketEvent::Dequeued, Node::Switch(switch)) => {
                self.touch(switch);
                let start = Start { at, waiting, packet };
                let (model, bytes) = (&mut self.ports[port.index()], &mut self.switches);
                bytes[switch.index()].remove(&packet);
                model.start_from_queue(&start)
            }
            (PacketEvent::Dropped, _) => self.drop_packet(at, port, node, &packet),
        };
        if let Some(message) = fault {
            self.violate(at, Some(port), message);
        }
    }

    /// Handles the arrival of a packet at `node` over the link whose reverse direction is `port`.
    fn receive(&mut self, at: Time, port: PortId, node: Node, packet: &Packet) -> Option<String> {
        self.totals.hops += 1;
        let fault = self.ports[port.reverse().index()].arrive(at, packet);
        match (packet.kind, node) {
            (PacketKind::Pause | PacketKind::Resume, _) => {
                let (class, is_pause) = (packet.class(), packet.kind == PacketKind::Pause);
                if !self.limits.is_protected(class) {
                    return Some(format!("a frame pauses {class}, which has no flow control"));
                }
                self.ports[port.index()].pause(at, class, is_pause);
            }
            (PacketKind::LinkCredit, _) => {
                let freed = packet.fields.raw().sack;
                let wrong = self.ports[port.index()].free_credit(at, freed);
                return fault.or(wrong);
            }
            (_, Node::Host(_)) => self.totals.arrive_at_host(packet),
            (_, Node::Switch(switch)) => {
                self.touch(switch);
                self.switches[switch.index()].receive(packet);
            }
        }
        fault
    }

    fn enqueue(&mut self, switch: SwitchId, record: &PacketRecord) -> Option<String> {
        let &PacketRecord { at, port, waiting, packet, .. } = record;
        let packet = &packet;
        self.touch(switch);
        self.correct_cut(switch, record);
        let model = &mut self.switches[switch.index()];
        model.add(port, packet);
        let mut received = (!packet.is_link_frame()).then(|| model.take(packet));
        if self.displaces && packet.flags.has(Flags::TRIMMED) {
            self.cut =
                received.flatten().map(|received| Cut { at, port, header: *packet, received });
            // The header belongs to the last queued packet, which an arriving packet displaced.
            if received == Some(None)
                && let Some(displaced) = self.ports[port.index()].displace(packet)
            {
                model.remove(&displaced);
                received = Some(Some(displaced));
            }
        }
        if let Some(Some(received)) = &received {
            self.totals.count_trim(received, packet);
        }
        let fault = self.ports[port.index()].enqueue(at, waiting, packet);
        match received {
            Some(None) => Some("it forwards a packet that it has not received".to_owned()),
            _ => fault,
        }
    }

    /// Corrects the match of the header that was enqueued just before. It may belong to the last
    /// queued packet, which the current packet displaced, and not to a copy of it that arrived at
    /// the same time. The queue length that the current packet finds tells which.
    fn correct_cut(&mut self, switch: SwitchId, record: &PacketRecord) {
        let here = |cut: &mut Cut| (cut.at, cut.port) == (record.at, record.port);
        let Some(cut) = self.cut.take_if(here) else { return };
        let port = &mut self.ports[record.port.index()];
        if port.queued(&record.packet) == u64::from(record.waiting) {
            return;
        }
        let Some(displaced) = port.displace(&cut.header) else { return };
        let model = &mut self.switches[switch.index()];
        model.remove(&displaced);
        model.receive(&cut.received);
        self.totals.count_trim(&displaced, &cut.received);
    }

    /// Handles the loss of a packet in `node`, or on the wire to it.
    fn drop_packet(
        &mut self,
        at: Time,
        port: PortId,
        node: Node,
        packet: &Packet,
    ) -> Option<String> {
        self.totals.drop_packet(packet);
        // A retransmitted copy may have arrived over another link at the same time. A packet on a
        // lossy wire is lost there and not in the switch.
        let is_on_wire = self.ports[port.reverse().index()].may_have_lost(at, packet);
        if let Node::Switch(switch) = node
            && !is_on_wire
            && let Some(received) = self.switches[switch.index()].take(packet)
        {
            // With two copies, the whole one may have been trimmed and forwarded before, and
            // mistaken for the other one.
            self.totals.count_trim(&received, packet);
            let is_data = !packet.is_control();
            let is_kept = is_data && self.limits.is_lossless(packet.class());
            return is_kept.then(|| "it drops data despite flow control".to_owned());
        }
        self.totals.hops += 1;
        // Lost on the wire: it counts as a hop, but never reached the switch.
        let wire = &mut self.ports[port.reverse().index()];
        match wire.arrive(at, packet) {
            None if !wire.may_lose() => Some("a link without failures loses a packet".to_owned()),
            fault => fault,
        }
    }

    fn touch(&mut self, switch: SwitchId) {
        if self.switches[switch.index()].touch() {
            self.touched.push(switch);
        }
    }

    /// Checks the touched switches after the last event at a time: received packets have been
    /// forwarded or dropped, and queues fit into the buffers.
    fn end_time(&mut self) {
        for switch in std::mem::take(&mut self.touched) {
            let model = &mut self.switches[switch.index()];
            let lost = model.end_time();
            let ports = std::mem::take(&mut model.changed);
            let mut faults: Vec<(PortId, String)> = Vec::new();
            for &port in &ports {
                let of_port = self.limits.exceeded_by_port(self.ports[port.index()].settle());
                faults.extend(of_port.map(|message| (port, message)));
            }
            let first = ports.first().or_else(|| self.topology.ports_of(switch).first());
            let of_switch = self.limits.exceeded_by_switch(self.switches[switch.index()].bytes());
            faults.extend(first.copied().zip(of_switch));
            faults.extend(first.copied().zip(lost));
            for (port, message) in faults {
                self.violate(self.at, Some(port), message);
            }
        }
    }
}

impl Watch for Invariants {
    fn traces(&self, _: Node) -> bool {
        true
    }

    fn sampled_ports(&self) -> &[PortId] {
        &[]
    }

    fn next_sample(&self) -> Time {
        Time::NEVER
    }

    fn sample(&mut self, _: Time, _: Time, _: &Snapshot<'_>) {}

    fn take_records(&mut self, records: &[PacketRecord]) {
        records.iter().for_each(|record| self.check_record(record));
    }
}
