//! What links that fail do to packets: those that are down, slower, or lossy.
//!
//! Only ports of links that ever fail ask here ([`super::port::Port::faulty`]).

use std::collections::BTreeMap;

use super::config::{Failure, FailureKind};
use super::event::Event;
use super::failure::{Effect, Plan};
use super::network::Network;
use super::pool::Slot;
use super::port::Port;
use crate::ids::{LinkId, PortId};
use crate::rng::{Purpose, Stream};
use crate::topology::Node;
use crate::units::{BitRate, Fraction, Span, Time};

/// A time in which a link loses packets.
#[derive(Debug, Clone, Copy)]
struct Lossy {
    link: LinkId,
    from: Time,
    until: Time,
    rate: Fraction,
}

/// Faults of all links.
#[derive(Debug, Default)]
pub(super) struct Faults {
    seed: u64,
    /// From a packet's arrival in a switch to its event, which is part of the wire's delay.
    forwarding_delay: Span,
    /// When links are down: from, until; in order of links and times, none overlapping.
    outages: Vec<(LinkId, Time, Time)>,
    lossy: Vec<Lossy>,
    /// A stream for each port of a lossy link: its draws depend on no other link.
    streams: BTreeMap<PortId, Stream>,
    /// The rates that a port of a degraded link has had, the present one last; a packet on the
    /// wire remembers which was its own.
    rates: BTreeMap<PortId, Vec<BitRate>>,
}

impl Faults {
    pub fn new(seed: u64, forwarding_delay: Span) -> Self {
        Self { seed, forwarding_delay, ..Self::default() }
    }

    /// To be called once all are added. Outages of a link that overlap become one.
    pub fn sort(&mut self) {
        self.outages.sort_unstable();
        self.outages.dedup_by(|next, kept| {
            let overlap = next.0 == kept.0 && next.1 <= kept.2;
            if overlap {
                kept.2 = kept.2.max(next.2);
            }
            overlap
        });
        self.lossy.sort_by_key(|lossy| lossy.link);
    }

    pub fn add_outage(&mut self, link: LinkId, from: Time, until: Time) {
        self.outages.push((link, from, until));
    }

    pub fn add_loss(&mut self, link: LinkId, (from, until): (Time, Time), rate: Fraction) {
        self.lossy.push(Lossy { link, from, until, rate });
        for port in link_ports(link) {
            let stream = Stream::new(self.seed, Purpose::Loss, u64::from(port.0));
            self.streams.entry(port).or_insert(stream);
        }
    }

    /// From now on packets of `port` start at `rate`.
    pub fn change_rate(&mut self, id: PortId, port: &mut Port, rate: BitRate) {
        let rates = self.rates.entry(id).or_insert_with(|| vec![port.rate()]);
        rates.push(rate);
        port.set_rate(rate, u32::try_from(rates.len() - 1).expect("fewer than 2^32 changes"));
    }

    /// True if the packet that arrives now over `id` is lost on the way. Frames of flow control
    /// never are, whatever the link does: hardware says them again until they are heard, which
    /// is not modelled \[inferred\].
    pub fn loses(&mut self, id: PortId, port: &Port, slot: &Slot) -> bool {
        if slot.packet.is_pause_frame() {
            return false;
        }
        let (link, start) = (id.link(), self.start(id, port, slot));
        // What a switch is at work on is off the wire.
        let inside = match port.end.node() {
            Node::Switch(_) => self.forwarding_delay.as_ps(),
            Node::Host(_) => 0,
        };
        let end = Time::from_ps(slot.arrives.as_ps() - inside);
        // Of those that began before its end the last one ends last.
        let begun = self.outages.partition_point(|&(down, from, _)| (down, from) < (link, end));
        let last = begun.checked_sub(1).map(|place| self.outages[place]);
        if last.is_some_and(|(down, _, until)| down == link && until > start) {
            return true;
        }
        let Some(stream) = self.streams.get_mut(&id) else { return false };
        // Each cause draws for itself, so that one more moves no other's draws by chance alone.
        let mut lost = false;
        let first = self.lossy.partition_point(|lossy| lossy.link < link);
        for lossy in self.lossy[first..].iter().take_while(|lossy| lossy.link == link) {
            if lossy.from <= start && start < lossy.until {
                lost |= stream.chance(lossy.rate.numerator(), lossy.rate.denominator());
            }
        }
        lost
    }

    /// When the packet that arrives now was started.
    fn start(&self, id: PortId, port: &Port, slot: &Slot) -> Time {
        let bytes = u32::from(slot.packet.wire_bytes);
        let rates = self.rates.get(&id);
        let rate = rates.map_or(port.rate(), |rates| rates[slot.aside.rate_index()]);
        Time::from_ps(slot.arrives.as_ps() - port.flight_at(rate, bytes).as_ps())
    }
}

impl Network {
    /// Is told of the failures to come: when they are, and who learns of them when.
    pub fn expect(&mut self, failures: &[Failure], plan: &Plan) {
        for failure in failures {
            for port in link_ports(failure.link) {
                self.ports[port.index()].faulty = true;
            }
            let (link, from, until) = (failure.link, failure.at, failure.until);
            match failure.kind {
                FailureKind::Down => self.faults.add_outage(link, from, until),
                FailureKind::Loss { rate } => self.faults.add_loss(link, (from, until), rate),
                FailureKind::Degrade { .. } => {}
            }
        }
        self.faults.sort();
        for (place, step) in (0u32..).zip(plan.steps()) {
            self.queue.push(step.at, Event::Control(place));
        }
    }

    /// A step of the plan takes effect.
    pub fn suffer(&mut self, effect: Effect) {
        match effect {
            Effect::None => {}
            Effect::Rate(link, rate) => {
                for id in link_ports(link) {
                    self.faults.change_rate(id, &mut self.ports[id.index()], rate);
                }
            }
            Effect::Ends(link, state) => {
                for id in link_ports(link) {
                    if let Node::Switch(switch) = self.ports[id.index()].start.node() {
                        self.switches[switch.index()].hear(id, state);
                    }
                }
            }
            Effect::Converged => self.switches.iter_mut().for_each(|switch| switch.epoch += 1),
        }
    }
}

/// Both directions of a link.
pub(crate) fn link_ports(link: LinkId) -> [PortId; 2] {
    [PortId(2 * link.0), PortId(2 * link.0 + 1)]
}

#[cfg(test)]
mod tests {
    use super::super::config::Rounding;
    use super::super::pool::Pool;
    use super::super::port::PortParts;
    use super::*;
    use crate::ids::{HostId, SwitchId};
    use crate::packet::{Packet, PacketKind};
    use crate::units::Bytes;

    const ID: PortId = PortId(1);

    fn port() -> Port {
        let mut port = Port::new(&PortParts {
            start: Node::Host(HostId(0)),
            end: Node::Switch(SwitchId(0)),
            rate: BitRate::from_gbps(400),
            delay: Span::from_ns(500),
            gap: Bytes::ZERO,
            rounding: Rounding::Exact,
        });
        port.faulty = true;
        port
    }

    #[test]
    fn a_packet_keeps_the_rate_that_it_started_at() {
        let (mut faults, mut pool, mut port) =
            (Faults::new(1, Span::ZERO), Pool::default(), port());
        let mut send = |port: &mut Port, start| {
            let place = pool.insert(Packet { wire_bytes: 1_000, ..Packet::default() });
            port.transmit(&mut pool, place, Time::from_ps(start));
            *pool.get(place)
        };
        let fast = send(&mut port, 0);
        faults.change_rate(ID, &mut port, BitRate::from_gbps(4));
        let slow = send(&mut port, 20_000);
        faults.change_rate(ID, &mut port, BitRate::from_gbps(400));
        let again = send(&mut port, 2_020_000);
        assert_eq!(slow.arrives, Time::from_ps(20_000 + 1_000 * 2_000 + 500_000));
        for (slot, start) in [(fast, 0), (slow, 20_000), (again, 2_020_000)] {
            assert_eq!(faults.start(ID, &port, &slot), Time::from_ps(start));
        }
    }

    #[test]
    fn an_outage_loses_what_is_on_the_wire_and_loss_what_starts_in_its_time() {
        let (mut faults, mut pool, mut port) =
            (Faults::new(1, Span::ZERO), Pool::default(), port());
        let mut send = |start, kind| {
            let place = pool.insert(Packet { wire_bytes: 1_000, kind, ..Packet::default() });
            port.transmit(&mut pool, place, Time::from_ps(start));
            *pool.get(place)
        };
        let data = [0, 600_000, 1_200_000].map(|start| send(start, PacketKind::Data));
        let pause = send(1_300_000, PacketKind::Pause);
        // The first packet is on the wire from 0 to 520 ns, the next from 600 to 1,120 ns.
        faults.add_outage(ID.link(), Time::from_ps(519_999), Time::from_ps(600_001));
        let window = (Time::from_ps(1_200_000), Time::from_ps(1_200_001));
        faults.add_loss(ID.link(), window, Fraction::ONE);
        assert_eq!(data.map(|slot| faults.loses(ID, &port, &slot)), [true, true, true]);
        let window = (Time::from_ps(1_300_000), Time::NEVER);
        faults.add_loss(ID.link(), window, Fraction::ONE);
        assert!(!faults.loses(ID, &port, &pause));
        let mut others = Faults::new(1, Span::ZERO);
        others.add_loss(ID.link(), (Time::ZERO, Time::from_ps(1_200_000)), Fraction::ONE);
        others.add_outage(LinkId(5), Time::ZERO, Time::NEVER);
        assert_eq!(data.map(|slot| others.loses(ID, &port, &slot)), [true, true, false]);
    }
}
