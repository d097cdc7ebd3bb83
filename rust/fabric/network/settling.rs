//! Settling and arming: a port is settled before it is read, and its next event is armed after it
//! has changed.

use super::{Event, Network};
use crate::endpoint::Endpoints;
use crate::ids::{PortId, SwitchId};
use crate::switching::EcnPoint;
use crate::topology::Node;
use crate::units::Time;

impl Network {
    /// Starts the packets of a port whose start is at or before `now`, and schedules its next
    /// event.
    #[inline]
    pub(super) fn settle_port(&mut self, now: Time, id: PortId, endpoints: &mut Endpoints) {
        match self.ports[id.index()].start.node() {
            Node::Switch(_) => self.settle_switch_port(now, id),
            Node::Host(host) => {
                self.transmit_from(now, endpoints.host_mut(host));
                self.schedule_wake(now, host, endpoints);
            }
        }
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

    /// The same for one port of a switch.
    #[inline]
    pub(super) fn settle_switch_port(&mut self, now: Time, id: PortId) {
        self.start_due(now, id);
        self.arm(id, || false);
    }

    /// Starts every queued packet of a switch port whose start is at or before `now`; the caller
    /// arms the port.
    #[inline]
    pub(super) fn start_due(&mut self, now: Time, id: PortId) {
        // Each start moves `free` on: a port that was not looked at for a while makes up for
        // several.
        while self.ports[id.index()].free <= now && self.ports[id.index()].has_waiting() {
            self.start_next(id);
        }
    }

    fn start_next(&mut self, id: PortId) {
        let port = &mut self.ports[id.index()];
        let Some(slot) = port.dequeue(&self.pool) else { return };
        // The start is when the wire was free, not when somebody looked: that is what makes late
        // settling exact.
        let start = port.free;
        // Before `transmit`, which puts the rate in the place of the ingress on links that fail.
        let frame = self.account_start(id, slot);
        self.ports[id.index()].transmit(&mut self.pool, slot, start);
        self.mark(EcnPoint::Dequeue, id, slot);
        self.trace_start(start, id, slot);
        if let Some(frame) = frame {
            self.send_frame(start, frame);
        }
    }

    /// Schedules the next event of a port: the next arrival, or the time at which the wire is free
    /// if a packet is queued (`more`) and no arrival precedes it.
    #[inline]
    pub(super) fn arm(&mut self, id: PortId, more: impl FnOnce() -> bool) {
        let port = &mut self.ports[id.index()];
        // The pending event cannot come too late: packets arrive in the order of their starts, and
        // nothing starts before the wire is free.
        if port.armed {
            return;
        }
        let due = match port.wire.first() {
            Some(first) => self.pool.get(first).arrives,
            None if port.has_waiting() || more() => port.free,
            None => return,
        };
        port.armed = true;
        self.queue.push(due, Event::Port(id));
    }
}
