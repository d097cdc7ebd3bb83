//! Reverse paths of queue pairs that only receive: one entropy value per plane, found by probes.
//!
//! Source: "MRC, Multipath Reliable Connection" (OCP 1.0, 2026), by public notes. Once per round
//! trip such a queue pair probes a random value. If the probe is answered, control packets in that
//! plane leave with that value. \[inferred\]: the round trip is that of the longest idle path. The
//! queue pair probes when data arrives, so no timer is needed. Until a probe of a plane was
//! answered, control packets carry the value of the packet that they acknowledge. Queue pairs that
//! also send get feedback from their own packets and do not probe.
//!
//! A control packet names the value of the packet that it acknowledges. If switches hash, they read
//! the same field, so on the way the named value is in the route field instead.

use std::collections::BTreeMap;

use crate::ids::{HostId, QpId};
use crate::nic::ControlPaths;
use crate::packet::{Packet, PacketKind, PlaneMask};
use crate::rng::Stream;
use crate::units::{Span, Time};

/// The reverse paths of one NIC.
#[derive(Debug, Clone)]
pub(in crate::nic) struct ReversePaths {
    answers: ControlPaths,
    planes: u32,
    /// Interval between two probes of a queue pair.
    interval: Span,
    random: Stream,
    /// Keyed by the peer host and its queue pair: control packets are addressed to it.
    paths: BTreeMap<(HostId, QpId), Paths>,
}

#[derive(Debug, Clone)]
struct Paths {
    /// By plane: the value whose probe was answered last.
    found: Vec<Option<u16>>,
    next_probe: Time,
}

impl ReversePaths {
    /// Creates the table; `None` if `answers` needs no probes.
    pub(in crate::nic) fn new(
        answers: ControlPaths,
        planes: u32,
        interval: Span,
        random: Stream,
    ) -> Option<Self> {
        let probes = matches!(answers, ControlPaths::ProbedHash | ControlPaths::ProbedRoute);
        probes.then(|| Self { answers, planes, interval, random, paths: BTreeMap::new() })
    }

    /// Returns the value to probe at `now` for the requester `of`; `None` if no probe is due.
    pub(in crate::nic) fn poll_probe(
        &mut self,
        now: Time,
        of: (HostId, QpId),
        usable: PlaneMask,
    ) -> Option<u16> {
        let planes = self.planes;
        let paths = self.paths.entry(of).or_insert_with(|| Paths {
            found: vec![None; planes as usize],
            next_probe: Time::ZERO,
        });
        if now < paths.next_probe {
            return None;
        }
        // From `now`, not from the due time: an idle queue pair does not make up for missed probes.
        paths.next_probe = now.saturating_add(self.interval);
        // `max(1)` lets `below` accept an empty set; `nth` then returns `None`.
        let plane = usable.nth(self.random.below(usable.count().max(1)))?;
        let row = self.random.below((1 << 16) / planes);
        u16::try_from(row * planes + plane).ok()
    }

    /// Records that a probe with this value was answered.
    pub(in crate::nic) fn handle_reply(&mut self, of: (HostId, QpId), entropy: u16) {
        let plane = usize::from(entropy) % self.planes as usize;
        // Replies to probes that were never sent are ignored.
        if let Some(paths) = self.paths.get_mut(&of) {
            paths.found[plane] = Some(entropy);
        }
    }

    /// Sets the reverse path of a control packet that leaves by `plane`.
    pub(in crate::nic) fn set_reverse_path(&self, packet: Packet, plane: u32) -> Packet {
        let found = self.paths.get(&(packet.dst, packet.qp));
        // Until a probe was answered, the path of the acknowledged packet is the best guess.
        let value = found.and_then(|paths| paths.found[plane as usize]).unwrap_or(packet.entropy);
        match self.answers {
            // Switches hash `entropy`, so the value that is acknowledged moves to `route`.
            ControlPaths::ProbedHash => Packet { entropy: value, route: packet.entropy, ..packet },
            _ => Packet { route: value / self.planes as u16, ..packet },
        }
    }

    /// Restores the acknowledged value of a control packet that has arrived.
    pub(in crate::nic) fn restore_echo(&self, packet: &Packet) -> Packet {
        match self.answers {
            ControlPaths::ProbedHash if is_acknowledgement(packet) => {
                Packet { entropy: packet.route, ..*packet }
            }
            _ => *packet,
        }
    }
}

/// True if the packet acknowledges or rejects data, or notifies its sender of congestion.
pub(in crate::nic) fn is_acknowledgement(packet: &Packet) -> bool {
    use PacketKind::{Ack, Cnp, Nack, Refusal};
    matches!(packet.kind, Ack | Nack | Cnp | Refusal)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Purpose;

    const OF: (HostId, QpId) = (HostId(7), QpId(3));

    fn at(us: u64) -> Time {
        Time::ZERO + Span::from_us(us)
    }

    fn reverse(answers: ControlPaths) -> ReversePaths {
        let random = Stream::new(1, Purpose::Test, 0);
        ReversePaths::new(answers, 4, Span::from_us(8), random).expect("these planes are probed")
    }

    #[test]
    fn a_value_of_a_usable_plane_is_probed_once_per_round_trip() {
        let mut reverse = reverse(ControlPaths::ProbedHash);
        let usable = PlaneMask::all(4).without(2);
        let (mut seen, mut planes) = (Vec::new(), [0; 4]);
        for us in 0..800 {
            if let Some(value) = reverse.poll_probe(at(us), OF, usable) {
                assert_eq!(us % 8, 0);
                planes[usize::from(value % 4)] += 1;
                seen.push(value);
            }
        }
        assert_eq!((seen.len(), planes[2]), (100, 0));
        assert!(planes.iter().filter(|&&count| count > 15).count() == 3, "{planes:?}");
        seen.sort_unstable();
        seen.dedup();
        assert!(seen.len() > 95, "they are drawn from all values");
    }

    #[test]
    fn a_value_with_a_reply_becomes_the_reverse_path_of_its_plane() {
        let ack =
            Packet { kind: PacketKind::Ack, dst: OF.0, qp: OF.1, entropy: 21, ..Packet::default() };
        let mut hashed = reverse(ControlPaths::ProbedHash);
        assert!(hashed.poll_probe(at(0), OF, PlaneMask::all(4)).is_some());
        hashed.handle_reply(OF, 4 * 1_000 + 2);
        let value = |reverse: &ReversePaths, plane| reverse.set_reverse_path(ack, plane).entropy;
        assert_eq!([0, 1, 2, 3].map(|plane| value(&hashed, plane)), [21, 21, 4_002, 21]);
        assert_eq!(hashed.restore_echo(&hashed.set_reverse_path(ack, 2)).entropy, 21);
        hashed.handle_reply(OF, 4 * 2_000 + 2);
        assert_eq!(value(&hashed, 2), 8_002, "the last one with a reply");
        hashed.handle_reply((HostId(8), QpId(3)), 6);
        assert_eq!(value(&hashed, 2), 8_002, "another queue pair's");
        let data = Packet { entropy: 21, route: 5, ..Packet::default() };
        assert_eq!(hashed.restore_echo(&data).entropy, 21, "data packets are left alone");
        let mut routed = reverse(ControlPaths::ProbedRoute);
        assert!(routed.poll_probe(at(0), OF, PlaneMask::all(4)).is_some());
        routed.handle_reply(OF, 4 * 1_000 + 2);
        let sent = routed.set_reverse_path(ack, 2);
        assert_eq!((sent.entropy, sent.route), (21, 1_000));
        assert_eq!(routed.set_reverse_path(ack, 1).route, 5);
        assert_eq!(routed.restore_echo(&sent).entropy, 21);
    }

    #[test]
    fn with_one_plane_left_all_probed_values_belong_to_it() {
        for plane in 0..4 {
            let mut reverse = reverse(ControlPaths::ProbedHash);
            let usable = PlaneMask::from_bits(1 << plane);
            for round in 0..50 {
                let value = reverse.poll_probe(at(8 * round), OF, usable).expect("one is due");
                assert_eq!(u32::from(value % 4), plane);
            }
        }
    }
}
