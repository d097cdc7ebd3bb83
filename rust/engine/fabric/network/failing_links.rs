//! Failing links: the steps of the failure plan, and packets lost on the wire.
//!
//! Only ports of links that fail at some time take this path ([`PortFeatures::FAULTY`]).

use std::collections::BTreeMap;

use super::pool::{Slot, SlotId};
use super::port::{Port, PortFeatures};
use super::{Event, Network};
use crate::endpoint::Endpoints;
use crate::ids::PortId;
use crate::switching::{Failure, Flight, StepEffect, StepKind};
use crate::topology::Node;
use crate::units::{BitRate, Span, Time};

/// Rates that the ports of degraded links have had; the current one is last. A packet on the wire
/// has the index of the rate at which it was sent.
#[derive(Debug, Default)]
pub(super) struct LinkRates(BTreeMap<PortId, Vec<BitRate>>);

impl LinkRates {
    /// Sets the rate of `port` for packets that start from now on.
    fn change(&mut self, id: PortId, port: &mut Port, rate: BitRate) {
        // Index 0 is the rate before the first change. Packets already on the wire have that index.
        let rates = self.0.entry(id).or_insert_with(|| vec![port.rate()]);
        rates.push(rate);
        port.set_rate(rate, u32::try_from(rates.len() - 1).expect("fewer than 2^31 changes"));
    }

    /// Returns the start time of the packet that arrives at `now`.
    fn start_of(&self, now: Time, id: PortId, port: &Port, slot: &Slot) -> Time {
        // A slot has no room for the start time. It follows from the arrival and the rate at the
        // start.
        let bytes = u32::from(slot.packet.wire_bytes);
        let rates = self.0.get(&id);
        let rate = rates.map_or(port.rate(), |rates| rates[slot.state.rate_index()]);
        Time::from_ps(now.as_ps() - port.flight_at(rate, bytes).as_ps())
    }
}

impl Network {
    /// Schedules the steps of the failure plan, and marks the ports whose links fail.
    pub(super) fn schedule_failures(&mut self, failures: &[Failure]) {
        for port in failures.iter().flat_map(Failure::ports) {
            let port = &mut self.ports[port.index()];
            // Only these ports pay for the checks of failures.
            port.features = port.features.with(PortFeatures::FAULTY);
        }
        for (index, step) in (0u32..).zip(self.shared.switching.steps()) {
            self.shared.queue.push(step.at, Event::Control(index));
        }
    }

    /// Applies a step of the failure plan.
    pub(in crate::fabric) fn handle_step(
        &mut self,
        now: Time,
        index: u32,
        endpoints: &mut Endpoints,
    ) {
        let step = self.shared.switching.steps()[index as usize];
        if step.kind == StepKind::RateChange {
            // Packets that started earlier have the old rate, so settle the port first.
            for id in step.link.ports() {
                self.settle_before(now, id, endpoints);
            }
        }
        match self.shared.switching.apply_step(index) {
            StepEffect::None => {}
            StepEffect::HostPort(port, is_up) => {
                self.handle_host_port(now, port, is_up, endpoints);
            }
            StepEffect::Rate(link, rates) => {
                for (id, rate) in link.ports().into_iter().zip(rates) {
                    let rate = self.shared.switching.wire_rate(rate);
                    self.rates.change(id, &mut self.ports[id.index()], rate);
                }
            }
            // Queued packets keep their ports: a switch decides only once about each packet.
            StepEffect::Converged(state) => {
                // Packets that started earlier chose their paths with the old weights.
                if endpoints.uses_path_weights() {
                    self.settle_hosts_before(now, endpoints);
                }
                endpoints.handle_routing(state);
            }
        }
    }

    /// True if the packet that arrives at `now` over `id` was lost on the wire.
    pub(super) fn is_lost(&mut self, now: Time, id: PortId, slot: SlotId) -> bool {
        let (port, slot) = (&self.ports[id.index()], self.shared.pool.get(slot));
        // The forwarding delay is not part of the flight: that packet has left the wire.
        let inside = match port.end.node() {
            Node::Switch(_) => self.forwarding_delay,
            Node::Host(_) => Span::ZERO,
        };
        let flight = Flight {
            start: self.rates.start_of(now, id, port, slot),
            end: Time::from_ps(now.as_ps() - inside.as_ps()),
        };
        self.shared.switching.loses(id, flight, &slot.packet)
    }
}

#[cfg(test)]
mod tests {
    use super::super::pool::SlotState;
    use super::super::port::PortParts;
    use super::*;
    use crate::ids::{HostId, SwitchId};
    use crate::packet::Packet;
    use crate::switching::Rounding;
    use crate::units::Bytes;

    const ID: PortId = PortId(1);

    #[test]
    fn a_packet_keeps_the_rate_at_its_start() {
        let mut rates = LinkRates::default();
        let mut port = Port::new(&PortParts {
            start: Node::Host(HostId(0)),
            end: Node::Switch(SwitchId(0)),
            rate: BitRate::from_gbps(400),
            delay: Span::from_ns(500),
            gap: Bytes::ZERO,
            rounding: Rounding::Exact,
        });
        port.features = PortFeatures::FAULTY;
        let send = |port: &mut Port, start| {
            let packet = Packet { wire_bytes: 1_000, ..Packet::default() };
            let arrives = port.transmit(1_000, Time::from_ps(start));
            (arrives, Slot { packet, state: SlotState::from_rate_index(port.rate_index()) })
        };
        let fast = send(&mut port, 0);
        rates.change(ID, &mut port, BitRate::from_gbps(4));
        let slow = send(&mut port, 20_000);
        rates.change(ID, &mut port, BitRate::from_gbps(400));
        let again = send(&mut port, 2_020_000);
        assert_eq!(slow.0, Time::from_ps(20_000 + 1_000 * 2_000 + 500_000));
        for ((arrives, slot), start) in [(fast, 0), (slow, 20_000), (again, 2_020_000)] {
            assert_eq!(rates.start_of(arrives, ID, &port, &slot), Time::from_ps(start));
        }
    }
}
