//! Settling and arming. A port is settled before it is read, and its next event is armed after it
//! has changed.

use super::Network;
use super::port::PortFeatures;
use crate::endpoint::Endpoints;
use crate::ids::{HostId, PortId, SwitchId};
use crate::topology::Node;
use crate::units::Time;

impl Network {
    /// Starts the packets of a port that are due by `now`, and schedules its next event.
    #[inline]
    pub(super) fn settle_port(&mut self, now: Time, id: PortId, endpoints: &mut Endpoints) {
        match self.ports[id.index()].start.node() {
            Node::Switch(_) => self.settle_switch_port(now, id),
            Node::Host(host) => self.settle_host(now, host, endpoints),
        }
    }

    /// Starts the packets of a port that are due before `now`, ahead of a change of its rate or a
    /// read of its counters.
    pub(super) fn settle_before(&mut self, now: Time, id: PortId, endpoints: &mut Endpoints) {
        // Nothing happens before time zero.
        let Some(before) = now.as_ps().checked_sub(1).map(Time::from_ps) else { return };
        match self.ports[id.index()].start.node() {
            Node::Switch(_) => self.settle_switch_port(before, id),
            Node::Host(host) => {
                // Sending changes the host's next wake-up, which is then rescheduled.
                self.transmit_from(before, endpoints.host_mut(host));
                self.schedule_wake(now, host, endpoints);
            }
        }
    }

    /// Starts packets before `now` at every host of this partition.
    pub(super) fn settle_hosts_before(&mut self, now: Time, endpoints: &mut Endpoints) {
        for host in (0..endpoints.hosts().len() as u32).map(HostId) {
            if endpoints.owns(host) {
                self.settle_before(now, endpoints.host(host).port, endpoints);
            }
        }
    }

    /// Starts the packets that are due by `now` at every port of a switch.
    pub(super) fn settle_switch(&mut self, now: Time, switch: SwitchId) {
        // By index, because settling borrows the whole network.
        for index in 0..self.shared.switching.ports_of(switch).len() {
            let id = self.shared.switching.ports_of(switch)[index];
            self.settle_switch_port(now, id);
        }
    }

    /// Starts the packets that are due by `now` at every switch port, so that the bytes carried by
    /// links are exact.
    pub(in crate::fabric) fn settle_switches(&mut self, now: Time) {
        for id in (0..self.ports.len() as u32).map(PortId) {
            // Hosts are settled separately, through their NICs.
            if self.ports[id.index()].is_due(now) && !self.starts_at_host(id) {
                self.settle_switch_port(now, id);
            }
        }
    }

    /// Settles the hosts of this partition: packets that their NICs would have sent by `now` count
    /// as sent.
    pub(in crate::fabric) fn settle_hosts(&mut self, now: Time, endpoints: &mut Endpoints) {
        for host in (0..endpoints.hosts().len() as u32).map(HostId) {
            if endpoints.owns(host) {
                self.transmit_from(now, endpoints.host_mut(host));
            }
        }
    }

    fn starts_at_host(&self, id: PortId) -> bool {
        matches!(self.ports[id.index()].start.node(), Node::Host(_))
    }

    /// Starts the packets that are due by `now` at one port of a switch, and arms the port.
    #[inline(never)]
    pub(super) fn settle_switch_port(&mut self, now: Time, id: PortId) {
        self.start_due(now, id);
        self.output(id).arm(|| false);
    }

    /// Starts every queued packet of a switch port that is due by `now`. The caller arms the port.
    #[inline(always)]
    pub(super) fn start_due(&mut self, now: Time, id: PortId) {
        let mut output = self.output(id);
        // Plain ports take the fast path, which returns no frames.
        if !output.port.features.has_any(PortFeatures::SLOW_QUEUES) {
            return output.start_due_fast(now);
        }
        self.start_due_with_flow_control(now, id);
    }

    #[inline(never)]
    fn start_due_with_flow_control(&mut self, now: Time, id: PortId) {
        // A frame changes another port, so the loop stops at each start that causes one.
        while let Some((start, frame)) = self.output(id).start_due(now) {
            self.send_frame(start, frame);
        }
    }
}
