//! Credit that receivers grant (RCCC of Ultra Ethernet): the requests of senders, and the pacer
//! that divides the rate of the NIC's ports among them. The sender's side is `congestion::rccc`,
//! which lists the sources.
//!
//! Each data packet, whole or trimmed, and each request carries the number up to which its sender
//! asks for credit. The pacer serves those that ask in round-robin order, one grant at a time, at
//! just less than the rate of the ports. While none asks, those that asked before get unsolicited
//! grants, round-robin, up to one window each.
//!
//! A grant has the entropy value of its sender's last packet; it does not rotate on its own as in
//! the simulator \[inferred\]. It is therefore a valid path under source routes too.

mod adaptation;

use std::collections::VecDeque;

use crate::ids::HostId;
use crate::nic::Nic;
use crate::nic::PortFacts;
use crate::nic::config::NicConfig;
use crate::nic::congestion::{CREDIT_UNIT as UNIT, FIRST_CREDIT as FIRST};
use crate::nic::qp::Slot;
use crate::packet::{DataView, EndpointView, Flags, Packet, Psn};
use crate::units::{BitRate, Span, Time};

use adaptation::{Adaptation, PathCongestion};

/// Least units that a grant counts as in the pacer: an empty one also takes time.
const MIN_UNITS: u64 = 1_024 / UNIT;

/// Grants of a NIC to its senders.
#[derive(Debug, Clone)]
pub(in crate::nic) struct Credits {
    parameters: CreditParameters,
    adaptation: Option<Adaptation>,
    /// Senders by responder slot.
    senders: Vec<SenderCredit>,
    /// Senders whose requests are not fully granted, in round-robin order.
    active: VecDeque<Slot>,
    /// Senders that get unsolicited grants, in round-robin order.
    idle: VecDeque<Slot>,
    /// When the next grant may leave.
    next_grant: Time,
    /// Due time of its entry among the acknowledgement timers; `NEVER` without one.
    timer_entry: Time,
}

/// The constants of one NIC, in units of credit.
#[derive(Debug, Clone, Copy)]
struct CreditParameters {
    grant: u64,
    /// Most unused credit of a sender.
    max_credit: u64,
    /// Most that a sender may ask for beyond what it was granted: `max_credit` and its debt.
    max_request: u64,
    unsolicited: bool,
    /// Rate of the ports times the fraction that is granted.
    rate: BitRate,
}

/// A sender as its receiver sees it.
#[derive(Debug, Clone, Copy)]
struct SenderCredit {
    target: u64,
    granted: u64,
    is_active: bool,
    is_idle: bool,
    entropy: u16,
    flags: Flags,
}

impl Default for SenderCredit {
    fn default() -> Self {
        let (entropy, flags) = (0, Flags::NONE);
        Self { target: FIRST, granted: FIRST, is_active: false, is_idle: false, entropy, flags }
    }
}

/// The credit request of a packet.
#[derive(Debug, Clone, Copy)]
struct CreditRequest {
    target: Psn,
    policy: ServePolicy,
    entropy: u16,
    flags: Flags,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ServePolicy {
    /// The sender is served if it asks for more than before.
    IfMore,
    /// It is always served: it has to retransmit, or may have missed a grant.
    Always,
}

/// A grant to be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Grant {
    slot: Slot,
    number: u64,
    entropy: u16,
    flags: Flags,
}

impl Credits {
    /// Returns the grants of a host with these ports, if its congestion control uses credit.
    pub(in crate::nic) fn of(
        host: HostId,
        port: PortFacts,
        config: &NicConfig,
    ) -> Option<Box<Self>> {
        let credit = config.congestion.credit()?;
        let max_credit = credit.max_credit(&config.path(port)).div_ceil(UNIT);
        let packet = (config.payload + config.header).get().div_ceil(UNIT);
        Some(Box::new(Self {
            parameters: CreditParameters {
                grant: credit.grant.get() / UNIT,
                max_credit,
                max_request: max_credit + packet,
                unsolicited: credit.unsolicited,
                // At least 1, because it is a divisor.
                rate: BitRate::from_bps(credit.pace.of(port.line_rate.as_bps()).max(1)),
            },
            adaptation: Adaptation::new(&credit, port.base_rtt, host),
            senders: Vec::new(),
            active: VecDeque::new(),
            idle: VecDeque::new(),
            next_grant: Time::ZERO,
            timer_entry: Time::NEVER,
        }))
    }

    fn sender_mut(&mut self, slot: Slot) -> &mut SenderCredit {
        if self.senders.len() <= slot.index() {
            self.senders.resize(slot.index() + 1, SenderCredit::default());
        }
        &mut self.senders[slot.index()]
    }

    /// Records the request of the sender in `slot`.
    fn record(&mut self, now: Time, slot: Slot, request: CreditRequest) {
        let (max_request, no_senders) =
            (self.parameters.max_request, self.active.is_empty() && self.idle.is_empty());
        let sender = self.sender_mut(slot);
        // Limited, because a packet may claim any number.
        let target = request.target.unwrap_near(sender.granted).min(sender.granted + max_request);
        let more = target > sender.target;
        sender.target = sender.target.max(target);
        (sender.entropy, sender.flags) = (request.entropy, request.flags);
        if (more || request.policy == ServePolicy::Always) && !sender.is_active {
            sender.is_active = true;
            self.active.push_back(slot);
            // Time without senders to grant to is not made up for.
            self.next_grant = if no_senders { self.next_grant.max(now) } else { self.next_grant };
        }
    }

    /// Returns the grant that is due at `now`, if any.
    fn poll(&mut self, now: Time) -> Option<Grant> {
        if self.next_grant > now {
            return None;
        }
        let (slot, units) = match self.active.pop_front() {
            Some(slot) => (slot, self.serve(slot)),
            None => {
                let slot = self.idle.pop_front()?;
                (slot, self.serve_unsolicited(slot))
            }
        };
        // From the planned time, not from `now`: a late call does not lower the rate.
        self.next_grant = self.next_grant.saturating_add(self.time_for(units.max(MIN_UNITS)));
        let SenderCredit { granted: number, entropy, flags, .. } = self.senders[slot.index()];
        Some(Grant { slot, number, entropy, flags })
    }

    /// Grants to a sender that asks and returns the units.
    fn serve(&mut self, slot: Slot) -> u64 {
        let CreditParameters { grant, unsolicited, .. } = self.parameters;
        let sender = &mut self.senders[slot.index()];
        // Unsolicited grants may already exceed the target.
        let units = sender.target.saturating_sub(sender.granted).min(grant);
        sender.granted += units;
        sender.is_active = sender.target > sender.granted;
        // Behind the others: one grant per round until the request is met.
        if sender.is_active {
            self.active.push_back(slot);
        } else if unsolicited && !sender.is_idle {
            sender.is_idle = true;
            self.idle.push_back(slot);
        }
        units
    }

    /// Grants to a sender that does not ask and returns the units.
    fn serve_unsolicited(&mut self, slot: Slot) -> u64 {
        let CreditParameters { grant, max_credit, .. } = self.parameters;
        let sender = &mut self.senders[slot.index()];
        sender.granted += grant;
        // While the target is ahead of the grants, the sender is served as one that asks.
        sender.is_idle =
            sender.granted.checked_sub(sender.target).is_some_and(|ahead| ahead < max_credit);
        if sender.is_idle {
            self.idle.push_back(slot);
        }
        grant
    }

    /// Returns how long a grant of `units` occupies the pacer.
    fn time_for(&self, units: u64) -> Span {
        // In 64 bits the product would overflow for grants above 2.3 MB.
        let bits = u128::from(units * UNIT * 8) * 1_000_000_000_000;
        let ps = bits.div_ceil(u128::from(self.parameters.rate.as_bps()));
        let ps = u64::try_from(ps).unwrap_or(u64::MAX);
        match &self.adaptation {
            None => Span::from_ps(ps),
            Some(adaptation) => Span::from_ps((ps as f64 / adaptation.rate()) as u64),
        }
    }

    /// Returns when the next grant is due; `NEVER` without senders to grant to.
    fn due(&self) -> Time {
        if self.active.is_empty() && self.idle.is_empty() { Time::NEVER } else { self.next_grant }
    }
}

impl Nic {
    /// Handles the credit request in a data packet, where receivers grant credit.
    pub(in crate::nic) fn handle_credit_fields(
        &mut self,
        now: Time,
        packet: DataView<'_>,
        slot: Slot,
    ) {
        let Some(credits) = &mut self.responders.credits else { return };
        let policy = if packet.is_trimmed() { ServePolicy::Always } else { ServePolicy::IfMore };
        // Before the request: the grants below already use the adapted rate.
        if let Some(adaptation) = &mut credits.adaptation {
            adaptation.handle_arrival(now, PathCongestion::of(packet));
        }
        // Grants repeat a single flag: that ports are hashed.
        let flags = packet.flags.intersection(Flags::HASHED);
        let (target, entropy) = (packet.credit_target(), packet.entropy);
        credits.record(now, slot, CreditRequest { target, policy, entropy, flags });
        self.grant(now);
    }

    /// Handles a credit request that came in a separate packet.
    pub(in crate::nic) fn handle_credit_request(&mut self, now: Time, request: EndpointView<'_>) {
        let id = request.receiver();
        let receives = self.live(id).is_ok_and(|qp| qp.state.receives());
        if !receives || self.responders.credits.is_none() {
            self.out.counters.discarded += 1;
            return;
        }
        // A request may come before the first data packet, which usually creates the responder.
        if self.qps[id].responder.is_none() {
            self.make_responder(id);
        }
        let slot = self.qps[id].responder;
        let Some(credits) = &mut self.responders.credits else { return };
        let (target, entropy) = (request.credit_target(), request.entropy);
        let flags = request.flags.intersection(Flags::HASHED);
        let policy = ServePolicy::Always;
        credits.record(now, slot, CreditRequest { target, policy, entropy, flags });
        self.grant(now);
    }

    /// Handles the pacer's entry among the acknowledgement timers.
    pub(in crate::nic) fn handle_credit_timeout(&mut self, now: Time) {
        if let Some(credits) = &mut self.responders.credits {
            credits.timer_entry = Time::NEVER;
            self.grant(now);
        }
    }

    /// Sends the grants that are due.
    fn grant(&mut self, now: Time) {
        let Some(credits) = &mut self.responders.credits else { return };
        let wire_bytes = self.config.ack.wire_bytes(0);
        let priority = Flags::PRIORITY.when(self.config.ack.priority);
        while let Some(Grant { slot, number, entropy, flags }) = credits.poll(now) {
            let endpoints = self.responders.list[slot.index()].endpoints();
            self.out.control.push_back(Packet {
                src: endpoints.host,
                dst: endpoints.peer,
                qp: endpoints.peer_qp,
                label: endpoints.label,
                wire_bytes,
                entropy,
                route: entropy,
                flags: priority.with(flags),
                ..Packet::credit(Psn::on_wire(number))
            });
        }
        let due = credits.due();
        // Otherwise an entry that is early enough exists.
        if due < credits.timer_entry {
            credits.timer_entry = due;
            self.schedule.ack_timers.push(due, Slot::NONE);
        }
    }

    /// Sends a credit request in a separate packet, for a requester without credit. It may ask when
    /// its retransmission timer expires or after waiting for credit as long.
    pub(in crate::nic) fn push_credit_request(&mut self, now: Time, slot: Slot) {
        let sources = self.schedule.waiting() as u64 + 1;
        let Some(request) = self.requesters[slot].poll_credit_request(now, sources) else {
            return;
        };
        let flags = request.flags.with(Flags::PRIORITY.when(self.config.ack.priority));
        let wire_bytes = self.config.ack.wire_bytes(0);
        self.out.control.push_back(Packet { src: self.host, wire_bytes, flags, ..request });
    }
}

#[cfg(test)]
mod tests;
