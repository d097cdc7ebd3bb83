//! Failures: which packets links lose, and who is notified of a failure at what time.

use super::failure_plan::Effect;
use super::switch::{PortState, Switch};
use super::{Failure, Flight, Step, StepEffect, Switching, ecn};
use crate::ids::{LinkId, PortId};
use crate::packet::Packet;
use crate::topology::Node;
use crate::units::{BitRate, Span, Time};

impl Switching {
    /// Returns true if a packet on the wire of `port` during `flight` is lost, because the link was
    /// down or by a random draw. PFC frames are never lost: hardware repeats them until they
    /// arrive, which is not modelled \[inferred\].
    pub fn loses(&mut self, port: PortId, flight: Flight, packet: &Packet) -> bool {
        !packet.is_link_frame() && self.losses.loses(port, flight)
    }

    /// Returns the extra delay that link-level retry adds to a frame. The frame starts on the wire
    /// of `port` at `start` and occupies it for `busy`.
    pub fn retry_delay(&mut self, port: PortId, start: Time, busy: Span) -> Span {
        let Some(llr) = self.llr else { return Span::ZERO };
        let replays = self.losses.replays(port, start);
        if replays == 0 {
            return Span::ZERO;
        }
        let link = self.topology.link(port.link());
        // Each replay repeats the frame after its NACK has come back.
        (busy + llr.round_trip(link.rate, link.delay)) * u64::from(replays)
    }

    /// Returns the part of a rate that link-level retry leaves to frames.
    pub fn wire_rate(&self, rate: BitRate) -> BitRate {
        self.llr.map_or(rate, |llr| llr.remaining_rate(rate))
    }

    /// Returns the steps of the failure plan in the order in which they must be applied, by time.
    pub fn steps(&self) -> &[Step] {
        self.plan.steps()
    }

    /// Returns all failures: those configured, with later additions and endings.
    pub fn failures(&self) -> &[Failure] {
        self.plan.failures()
    }

    /// Adds a failure during a run, after the first `applied` of [`Self::steps`] have been applied.
    /// The failure must not begin in the past. From now on, everything is as if the failure had
    /// been configured. For drivers whose ports keep their buffers ([`super::SlowPorts::Keep`]).
    pub fn add_failure(&mut self, applied: u32, failure: Failure) {
        self.plan.add_during_run(applied as usize, failure);
        self.losses.set(self.plan.failures());
    }

    /// Ends the failures of these links that are active at `at`, as if they had been configured
    /// with that end. `at` must not be in the past; `applied` is as in [`Self::add_failure`].
    /// Returns false if there are none.
    pub fn end_failures(&mut self, applied: u32, links: &[LinkId], at: Time) -> bool {
        let has_ended = self.plan.end_during_run(applied as usize, links, at);
        self.losses.set(self.plan.failures());
        has_ended
    }

    /// Returns the rates of both ports of the step's link after the step.
    pub fn rates_after(&self, step: &Step) -> [BitRate; 2] {
        self.plan.rates_after(step, &self.topology)
    }

    /// Scales the buffers and thresholds of a link's switch ports to its rates.
    fn scale_ports(&mut self, link: LinkId, rates: [BitRate; 2]) {
        let own = self.topology.link(link).rate;
        for (port, rate) in link.ports().into_iter().zip(rates) {
            self.memory.scale(port, rate, own);
            if let Some(marker) = self.markers.get_mut(port.index()) {
                marker.scale(rate, own);
            }
        }
        self.marking_floors = ecn::floors(&self.markers, self.ecn_point);
    }

    /// Applies a step by its index in [`Self::steps`]; returns the driver's remaining work.
    pub fn apply_step(&mut self, index: u32) -> StepEffect {
        let effect = self.apply(index);
        self.refresh_hash_fast_path();
        effect
    }

    fn apply(&mut self, index: u32) -> StepEffect {
        match self.plan.apply(index, &self.topology, &mut self.table) {
            Effect::None => StepEffect::None,
            Effect::Rate(link, rates) => {
                if self.scales_ports {
                    self.scale_ports(link, rates);
                }
                StepEffect::Rate(link, rates)
            }
            Effect::Detected(link, state) => {
                let mut effect = StepEffect::None;
                // Never reset: look-ups then check a possibly empty list of dead ports.
                self.has_dead_ports = true;
                for port in link.ports() {
                    match self.topology.ends_of(port).0 {
                        Node::Switch(switch) => {
                            self.switches[switch.index()].set_port_state(port, state);
                        }
                        // A NIC with one port has no alternative.
                        Node::Host(_) if self.topology.planes().count() > 1 => {
                            effect = StepEffect::HostPort(port, state == PortState::Alive);
                        }
                        Node::Host(_) => {}
                    }
                }
                effect
            }
            Effect::Converged(state) => {
                // Every switch, even those whose next hops stay: the weights behind them may have
                // changed.
                self.switches.iter_mut().for_each(Switch::handle_convergence);
                StepEffect::Converged(state)
            }
        }
    }
}
