//! Link flow control in the network, by pauses (PFC) or by credit (CBFC): accounting of queued
//! packets, and the frames.
//!
//! Without flow control ports are settled lazily, and a packet costs one event per hop. With it,
//! the counts of queued bytes must be exact at all times, because they decide when a link is paused
//! or has credit. Each start from a queue is therefore an event. It precedes all events at its time
//! except failures. A queued packet costs two events per hop, and a packet that starts immediately
//! still costs one.
//!
//! A frame precedes all queued packets and follows the packet on the wire. A newer frame replaces a
//! queued one of the same traffic class. Frames of different classes keep their order.
//!
//! If pauses expire ([`PfcConfig::pause_time`](crate::switching::PfcConfig)), each frame that takes
//! effect extends the pause and schedules its end. An end that was extended does nothing.

use super::pool::{SlotId, SlotState};
use super::port::{PortFeatures, Queued};
use super::{Arrival, Event, Network};
use crate::fabric::outcome::PauseRecord;
use crate::ids::{ClassId, LinkClass, PortId, SwitchId};
use crate::packet::{Flags, Packet, PauseFrame, PauseOrder, View};
use crate::switching::{CREDIT_FRAME_BYTES, Credit, PFC_FRAME_BYTES};
use crate::topology::Node;
use crate::units::{Span, Time};

/// A flow-control frame for a switch to send.
#[derive(Debug, Clone, Copy)]
pub(super) struct Frame {
    /// Port and class that the frame pauses or resumes. The frame crosses that port's link in
    /// reverse.
    pub(in crate::fabric) to: LinkClass,
    pub(in crate::fabric) order: PauseOrder,
}

/// Order from the far end of a link to the port that sends over it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::fabric) enum LinkOrder {
    /// Priority flow control: stop or resume packets of this class.
    Pause(PauseOrder, ClassId),
    /// Credit-based flow control: total credit freed so far.
    Freed(u64),
    /// Credit-based flow control: includes the credit of packets lost on the wire.
    Corrected,
}

/// The pauses of links.
#[derive(Debug, Default)]
pub(super) struct Pauses {
    /// PFC frames that took effect and pauses that expired, by time.
    records: Vec<PauseRecord>,
    /// Duration of a pause without a further frame, if pauses expire.
    time: Option<Span>,
    /// End of each pause, by port and class; empty unless pauses expire.
    ends: Vec<Time>,
}

impl Network {
    /// Returns the PFC frames that took effect, by time.
    pub(in crate::fabric) fn pauses(&self) -> &[PauseRecord] {
        &self.pauses.records
    }

    /// Takes the records of pauses.
    pub(in crate::fabric) fn take_pauses(&mut self) -> Vec<PauseRecord> {
        std::mem::take(&mut self.pauses.records)
    }

    /// Stores the ingress port of a packet until it is counted there or starts immediately.
    #[inline]
    pub(super) fn store_ingress(&mut self, id: PortId, slot: SlotId) {
        self.shared.pool.get_mut(slot).state = SlotState::from_ingress(Some(id));
    }

    /// Sends a frame over the reverse direction of a link, as soon as that wire is free.
    pub(super) fn send_frame(&mut self, now: Time, frame: Frame) {
        let id = frame.to.link.reverse();
        let packet = self.frame_packet(frame);
        let (order, bytes, class) = (frame.order, packet.wire_bytes, packet.class());
        let is_of_class = |slot: &SlotId| self.shared.pool.get(*slot).packet.class() == class;
        let old = self.waiting_frames(id).find(is_of_class);
        // The newer order supersedes the queued one, in its place.
        if let Some(old) = old {
            self.shared.pool.get_mut(old).packet = packet;
            return;
        }
        // Frames queued earlier keep their place before this one.
        let before = self.waiting_frames(id).count();
        let slot = self.shared.pool.insert(packet);
        // A pause does not hold frames, so a free wire takes one immediately. It still waits behind
        // frames of other classes, whose start may be a later event of this time.
        if self.ports[id.index()].free <= now && before == 0 {
            self.shared.counters.pauses += u64::from(order == PauseOrder::Pause);
            let mut output = self.output(id);
            output.transmit(now, Queued::of(slot, &packet));
            output.trace_bypass(now, slot);
            return;
        }
        let mut output = self.output(id);
        output.trace_enqueue(now, slot);
        output.port.enqueue_frame(Queued::of(slot, &packet), before);
        if let Node::Switch(switch) = self.ports[id.index()].start.node() {
            // A queued frame takes memory, which `account_start` releases.
            self.shared.switching.account_enqueue(switch, bytes.into(), None);
        }
        self.start_waiting(now, id);
    }

    /// Iterates over the frames queued at a port, next one first. They precede all other packets.
    fn waiting_frames(&self, id: PortId) -> impl Iterator<Item = SlotId> + '_ {
        let is_frame = |slot: &SlotId| self.shared.pool.get(*slot).packet.is_link_frame();
        self.ports[id.index()].slots_with_priority().take_while(is_frame)
    }

    /// Builds the packet of a frame. With credit-based flow control it carries the total credit
    /// that the link has freed.
    fn frame_packet(&mut self, frame: Frame) -> Packet {
        let (flags, order) = (Flags::PRIORITY, frame.order);
        if let Some(credits) = self.shared.switching.credits() {
            let freed = credits.freed(frame.to.link);
            let wire_bytes = CREDIT_FRAME_BYTES;
            return Packet { wire_bytes, flags, ..Packet::link_credit(freed) };
        }
        let LinkClass { link, class } = frame.to;
        let waiting = u64::from(self.ports[link.reverse().index()].data_waiting());
        let packet = Packet::pause_frame(PauseFrame { order, waiting, class });
        Packet { wire_bytes: PFC_FRAME_BYTES, flags, ..packet }
    }

    /// Handles a wire that is free for queued packets.
    #[inline(never)]
    pub(in crate::fabric) fn handle_start(&mut self, now: Time, id: PortId) {
        // The pending start is this event.
        self.ports[id.index()].start_armed = false;
        self.start_waiting(now, id);
    }

    /// Starts the packets that may start now, and schedules the next start.
    pub(super) fn start_waiting(&mut self, now: Time, id: PortId) {
        let mut output = self.output(id);
        if !output.port.has_waiting() {
            return;
        }
        // A wire that was paused or idle becomes free now, not at an earlier time.
        output.port.free = output.port.free.max(now);
        while let Some((start, frame)) = output.start_due(now) {
            self.send_frame(start, frame);
            // Looked up again, because the frame may have changed another port.
            output = self.output(id);
        }
        output.arm(|| false);
        output.arm_start();
    }

    /// Removes a frame that has arrived at the far end of its link; `None` if the packet is not a
    /// frame.
    pub(super) fn take_frame(&mut self, slot: SlotId) -> Option<LinkOrder> {
        let order = match self.shared.pool.get(slot).packet.view() {
            View::Pause(PauseFrame { order, class, .. }) => LinkOrder::Pause(order, class),
            View::LinkCredit(freed) => LinkOrder::Freed(freed),
            _ => return None,
        };
        // A frame ends here: it is not forwarded.
        self.shared.pool.remove(slot);
        Some(order)
    }

    /// Schedules the return of the credit that a packet lost on the wire of this port had consumed.
    pub(super) fn lose_credit(&mut self, now: Time, id: PortId, slot: SlotId) {
        let Packet { wire_bytes, flags, .. } = self.shared.pool.get(slot).packet;
        // Packets with priority consume no credit.
        if flags.has(Flags::PRIORITY) {
            return;
        }
        if let Some(mut credits) = self.shared.switching.credits() {
            let after = credits.lose(id, wire_bytes);
            self.shared.queue.push(now.saturating_add(after), Event::Correction(id));
        }
    }

    /// Releases the memory of a received packet that the switch drops.
    pub(super) fn release_dropped(&mut self, now: Time, switch: SwitchId, slot: SlotId) {
        let slot = self.shared.pool.get(slot);
        let bytes = u64::from(slot.packet.wire_bytes);
        let ingress = slot.state.ingress().filter(|_| !slot.packet.flags.has(Flags::PRIORITY));
        let ingress = ingress.map(|link| LinkClass { link, class: ClassId::default() });
        // Pauses need no correction: such a packet was never counted against its link.
        if ingress.is_none() || self.shared.switching.credits().is_none() {
            return;
        }
        // Counted in and out again, which adds its bytes to the credit that the link has freed.
        self.shared.switching.account_enqueue(switch, bytes, None);
        let order = self.shared.switching.account_dequeue(switch, bytes, ingress);
        if let (Some(to), Some(order)) = (ingress, order) {
            self.send_frame(now, Frame { to, order });
        }
    }

    /// Returns the credits in use on all links.
    #[cfg(test)]
    pub(in crate::fabric) fn credit_in_use(&mut self) -> u64 {
        self.shared.switching.credits().map_or(0, |credits| credits.in_use())
    }

    /// Marks the ports whose packets consume credit, and makes switches count every packet.
    pub(super) fn mark_credit_ports(&mut self) {
        let Some(credits) = self.shared.switching.credits() else { return };
        for (id, port) in (0u32..).map(PortId).zip(&mut self.ports) {
            if credits.needs_credit(id) {
                port.features = port.features.with(PortFeatures::CREDIT);
            }
            if let Node::Switch(_) = port.start.node() {
                port.queue_all();
            }
        }
    }

    /// Handles a frame that has arrived at its port, or a correction of its credit. At a host, the
    /// world applies it, because the NIC decides what is sent.
    pub(in crate::fabric) fn handle_frame(
        &mut self,
        now: Time,
        id: PortId,
        order: LinkOrder,
    ) -> Arrival {
        match self.ports[id.index()].start.node() {
            Node::Host(_) => Arrival::Pfc(id, order),
            Node::Switch(_) => {
                self.apply_pause(now, id, order);
                Arrival::Handled
            }
        }
    }

    /// Applies a frame to its port.
    pub(in crate::fabric) fn apply_pause(&mut self, now: Time, id: PortId, order: LinkOrder) {
        let credit = self.shared.switching.credits().map(|mut credits| match order {
            LinkOrder::Freed(freed) => credits.update(id, freed),
            LinkOrder::Pause(..) | LinkOrder::Corrected => credits.correct(id),
        });
        if let LinkOrder::Pause(order, class) = order {
            self.pauses.records.push(PauseRecord { at: now, port: id, order, class });
        }
        // The packet on the wire is not interrupted: a pause holds only packets that have not
        // started.
        let is_paused = match credit {
            Some(credit) => credit == Credit::Exhausted,
            None => matches!(order, LinkOrder::Pause(PauseOrder::Pause, _)),
        };
        match order {
            LinkOrder::Pause(_, class) if self.shared.classes.is_some() => {
                self.output(id).pause_class(class, is_paused);
            }
            _ => self.ports[id.index()].pause(is_paused),
        }
        if let (Some(time), LinkOrder::Pause(order, class)) = (self.pauses.time, order) {
            self.schedule_expiry(now, LinkClass { link: id, class }, order, time);
        }
        self.start_waiting(now, id);
    }

    /// Makes pauses expire.
    pub(super) fn expire_pauses_after(&mut self, time: Span) {
        self.pauses.time = Some(time);
        self.pauses.ends = vec![Time::NEVER; self.ports.len() * self.class_count()];
    }

    /// Schedules the end of a pause, or cancels it after a resume.
    fn schedule_expiry(&mut self, now: Time, of: LinkClass, order: PauseOrder, time: Span) {
        let ends = match order {
            PauseOrder::Pause => now.saturating_add(time),
            PauseOrder::Resume => Time::NEVER,
        };
        let index = of.link.index() * self.class_count() + of.class.index();
        self.pauses.ends[index] = ends;
        if ends != Time::NEVER {
            self.shared.queue.push(ends, Event::PauseEnd(of.link));
        }
    }

    /// Returns the first class of a port whose pause expires now.
    pub(in crate::fabric) fn expiring(&self, now: Time, id: PortId) -> Option<ClassId> {
        // An end that a later frame has moved does not match `now`.
        let count = self.class_count();
        let ends = &self.pauses.ends[id.index() * count..][..count];
        let class = ends.iter().position(|&end| end == now)?;
        Some(ClassId(class as u32))
    }

    /// Returns the sending end of a port's link.
    pub(in crate::fabric) fn start_of(&self, id: PortId) -> Node {
        self.ports[id.index()].start.node()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fabric::setup::Setup;
    use crate::fabric::tests::{leaf_spine, setup};
    use crate::ids::HostId;
    use crate::switching::{ClassConfig, PfcConfig, Scheduling};

    /// Two classes with flow control, two hosts at a switch.
    fn two_classes() -> Setup {
        let mut setup = setup(leaf_spine(1, 1, 2, 400), "ecmp", Vec::new());
        let class = ClassConfig { name: "a".to_owned(), scheduling: Scheduling::Strict, pfc: true };
        setup.fabric.classes = vec![class.clone(), class];
        setup.fabric.switch.pfc = Some(PfcConfig::HPCC);
        setup
    }

    #[test]
    fn a_pause_expires_only_for_its_port_and_class() {
        let setup = two_classes();
        let mut network = Network::new(&setup);
        let [pause, now] = [1_000, 70].map(Span::from_ns);
        network.expire_pauses_after(pause);
        let ports = [0, 1].map(|host| setup.topology.host_port(HostId(host)).reverse());
        let order = LinkOrder::Pause(PauseOrder::Pause, ClassId(1));
        network.apply_pause(Time::ZERO + now, ports[1], order);
        let expiring = |at| ports.map(|port| network.expiring(Time::ZERO + at, port));
        assert_eq!(expiring(now + pause), [None, Some(ClassId(1))]);
        assert_eq!(expiring(pause), [None; 2]);
    }

    /// A network whose wire to host 0 is busy, the link from that host, and the time at which the
    /// wire is free.
    fn busy_wire(setup: &Setup) -> (Network, PortId, Time) {
        let mut network = Network::new(setup);
        let link = setup.topology.host_port(HostId(0));
        let packet = Packet { dst: HostId(0), wire_bytes: 4_158, ..Packet::default() };
        network.forward_for_test(Time::ZERO, SwitchId(0), packet);
        let free = network.ports[link.reverse().index()].free;
        (network, link, free)
    }

    /// Orders and classes of the frames queued at a port.
    fn waiting(network: &Network, id: PortId) -> Vec<(PauseOrder, ClassId)> {
        let frame = |slot| match network.shared.pool.get(slot).packet.view() {
            View::Pause(PauseFrame { order, class, .. }) => (order, class),
            other => panic!("{other:?}"),
        };
        network.waiting_frames(id).map(frame).collect()
    }

    #[test]
    fn a_frame_waits_behind_a_frame_of_another_class_on_a_free_wire() {
        let setup = two_classes();
        let (mut network, link, free) = busy_wire(&setup);
        let to = |class| LinkClass { link, class: ClassId(class) };
        network.send_frame(Time::ZERO, Frame { to: to(0), order: PauseOrder::Pause });
        // The start of the first frame is an event of this time that has not been handled.
        network.send_frame(free, Frame { to: to(1), order: PauseOrder::Resume });
        assert_eq!(waiting(&network, link.reverse()), [(PauseOrder::Resume, ClassId(1))]);
        assert_eq!(network.counters().pauses, 1, "the pause has started");
    }

    #[test]
    fn a_frame_replaces_a_queued_frame_of_its_class() {
        let setup = two_classes();
        let (mut network, link, _) = busy_wire(&setup);
        for (order, class) in
            [(PauseOrder::Pause, 0), (PauseOrder::Pause, 1), (PauseOrder::Resume, 0)]
        {
            let to = LinkClass { link, class: ClassId(class) };
            network.send_frame(Time::ZERO, Frame { to, order });
        }
        assert_eq!(
            waiting(&network, link.reverse()),
            [(PauseOrder::Resume, ClassId(0)), (PauseOrder::Pause, ClassId(1))]
        );
        assert_eq!(network.counters().pauses, 0, "none has been sent");
        network.handle_start(Time::ZERO + Span::from_us(1), link.reverse());
        network.handle_start(Time::ZERO + Span::from_us(2), link.reverse());
        assert_eq!(network.counters().pauses, 1);
    }
}
