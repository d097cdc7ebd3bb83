//! Settling and arming: a port is settled before it is read, and its next event is armed after it
//! has changed.

use super::Network;
use crate::endpoint::Endpoints;
use crate::ids::{HostId, PortId, SwitchId};
use crate::topology::Node;
use crate::units::Time;

impl Network {
    /// Starts the packets of a port whose start is at or before `now`, and schedules its next
    /// event.
    #[inline]
    pub(super) fn settle_port(&mut self, now: Time, id: PortId, endpoints: &mut Endpoints) {
        match self.ports[id.index()].start.node() {
            Node::Switch(_) => self.settle_switch_port(now, id),
            Node::Host(host) => self.settle_host(now, host, endpoints),
        }
    }

    /// The same for the port of a host.
    #[inline(never)]
    pub(super) fn settle_host(&mut self, now: Time, id: HostId, endpoints: &mut Endpoints) {
        self.transmit_from(now, endpoints.host_mut(id));
        self.schedule_wake(now, id, endpoints);
    }

    /// Starts the packets of a port whose start is before `now`, ahead of a change of its rate or a
    /// read of its counters.
    pub(super) fn settle_before(&mut self, now: Time, id: PortId, endpoints: &mut Endpoints) {
        let Some(before) = now.as_ps().checked_sub(1).map(Time::from_ps) else { return };
        match self.ports[id.index()].start.node() {
            Node::Switch(_) => self.settle_switch_port(before, id),
            Node::Host(host) => {
                self.transmit_from(before, endpoints.host_mut(host));
                self.schedule_wake(now, host, endpoints);
            }
        }
    }

    /// Starts the packets whose start is at or before `now` at every port of a switch.
    pub(super) fn settle_switch(&mut self, now: Time, switch: SwitchId) {
        for index in 0..self.switching.ports_of(switch).len() {
            let id = self.switching.ports_of(switch)[index];
            self.settle_switch_port(now, id);
        }
    }

    /// Starts the packets whose start is at or before `now` at every port of every switch, so that
    /// what links carried is exact.
    pub(in crate::fabric) fn settle_switches(&mut self, now: Time) {
        for id in (0..self.ports.len() as u32).map(PortId) {
            if self.ports[id.index()].is_due(now) && !self.starts_at_host(id) {
                self.settle_switch_port(now, id);
            }
        }
    }

    fn starts_at_host(&self, id: PortId) -> bool {
        matches!(self.ports[id.index()].start.node(), Node::Host(_))
    }

    /// The same for one port of a switch.
    #[inline(never)]
    pub(super) fn settle_switch_port(&mut self, now: Time, id: PortId) {
        let mut output = self.output(id);
        match output.start_due(now) {
            None => output.arm(|| false),
            Some((start, frame)) => {
                self.send_frame(start, frame);
                self.settle_switch_port(now, id);
            }
        }
    }

    /// Starts every queued packet of a switch port whose start is at or before `now`; the caller
    /// arms the port.
    #[inline(never)]
    pub(super) fn start_due(&mut self, now: Time, id: PortId) {
        while let Some((start, frame)) = self.output(id).start_due(now) {
            self.send_frame(start, frame);
        }
    }
}
