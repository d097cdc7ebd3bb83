//! The way back of queue pairs that only receive: an entropy value for each plane, which probes
//! have found.
//!
//! Source: "MRC, Multipath Reliable Connection" (OCP 1.0, 2026), by public notes: once in a round
//! trip such a queue pair probes a value at random, and if that is answered it becomes the one by
//! which answers leave in its plane. \[inferred\]: a round trip is that of the longest idle path;
//! it probes as data comes in, so that nothing wakes it; until a probe of a plane was answered its
//! answers have the value of the packet that they answer. Queue pairs that send too have the
//! feedback of their own packets, and no probes.
//!
//! Answers name the value of the packet that they answer. Where switches hash, and so read the
//! same field, that is in the field of routes on the way.

use std::collections::BTreeMap;

use crate::ids::{HostId, QpId};
use crate::nic::AnswerPlanes;
use crate::packet::{Packet, PacketKind, PlaneMask};
use crate::rng::Stream;
use crate::units::{Span, Time};

/// The ways back of one NIC.
#[derive(Debug, Clone)]
pub(in crate::nic) struct Reverse {
    answers: AnswerPlanes,
    planes: u32,
    /// How long after a probe the next one goes.
    interval: Span,
    random: Stream,
    /// By the sending half at the other end: that is whom answers are for.
    paths: BTreeMap<(HostId, QpId), Paths>,
}

#[derive(Debug, Clone)]
struct Paths {
    /// By plane: the value whose probe was answered last.
    found: Vec<Option<u16>>,
    next_probe: Time,
}

impl Reverse {
    /// Those of a NIC whose answers leave in that way, if it probes.
    pub(in crate::nic) fn new(
        answers: AnswerPlanes,
        planes: u32,
        interval: Span,
        random: Stream,
    ) -> Option<Self> {
        let probes = matches!(answers, AnswerPlanes::ProbedHash | AnswerPlanes::ProbedRoute);
        probes.then(|| Self { answers, planes, interval, random, paths: BTreeMap::new() })
    }

    /// The value to probe at `now` for the sending half `of`, if one is due.
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
        paths.next_probe = now.saturating_add(self.interval);
        let plane = usable.nth(self.random.below(usable.count().max(1)))?;
        let row = self.random.below((1 << 16) / planes);
        u16::try_from(row * planes + plane).ok()
    }

    /// A probe of that value was answered.
    pub(in crate::nic) fn handle_reply(&mut self, of: (HostId, QpId), entropy: u16) {
        let plane = usize::from(entropy) % self.planes as usize;
        if let Some(paths) = self.paths.get_mut(&of) {
            paths.found[plane] = Some(entropy);
        }
    }

    /// An answer that leaves by `plane`, with its way back.
    pub(in crate::nic) fn directed(&self, packet: Packet, plane: u32) -> Packet {
        let found = self.paths.get(&(packet.dst, packet.qp));
        let value = found.and_then(|paths| paths.found[plane as usize]).unwrap_or(packet.entropy);
        match self.answers {
            AnswerPlanes::ProbedHash => Packet { entropy: value, route: packet.entropy, ..packet },
            _ => Packet { route: value / self.planes as u16, ..packet },
        }
    }

    /// An answer that has arrived, with the value of the packet that it answers.
    pub(in crate::nic) fn received(&self, packet: &Packet) -> Packet {
        match self.answers {
            AnswerPlanes::ProbedHash if is_answer(packet) => {
                Packet { entropy: packet.route, ..*packet }
            }
            _ => *packet,
        }
    }
}

/// Whether a packet answers data.
pub(in crate::nic) fn is_answer(packet: &Packet) -> bool {
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

    fn reverse(answers: AnswerPlanes) -> Reverse {
        let random = Stream::new(1, Purpose::Test, 0);
        Reverse::new(answers, 4, Span::from_us(8), random).expect("it probes")
    }

    #[test]
    fn a_value_of_a_usable_plane_is_probed_once_in_a_round_trip() {
        let mut reverse = reverse(AnswerPlanes::ProbedHash);
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
        assert!(seen.len() > 95, "they are drawn from all");
    }

    #[test]
    fn an_answered_value_is_the_way_back_in_its_plane_and_the_echo_arrives() {
        let answer =
            Packet { kind: PacketKind::Ack, dst: OF.0, qp: OF.1, entropy: 21, ..Packet::default() };
        let mut hashed = reverse(AnswerPlanes::ProbedHash);
        assert!(hashed.poll_probe(at(0), OF, PlaneMask::all(4)).is_some());
        hashed.handle_reply(OF, 4 * 1_000 + 2);
        let value = |reverse: &Reverse, plane| reverse.directed(answer, plane).entropy;
        assert_eq!([0, 1, 2, 3].map(|plane| value(&hashed, plane)), [21, 21, 4_002, 21]);
        assert_eq!(hashed.received(&hashed.directed(answer, 2)).entropy, 21);
        hashed.handle_reply(OF, 4 * 2_000 + 2);
        assert_eq!(value(&hashed, 2), 8_002, "the last one that was answered");
        hashed.handle_reply((HostId(8), QpId(3)), 6);
        assert_eq!(value(&hashed, 2), 8_002, "another queue pair's");
        let data = Packet { entropy: 21, route: 5, ..Packet::default() };
        assert_eq!(hashed.received(&data).entropy, 21, "data is no answer");
        let mut routed = reverse(AnswerPlanes::ProbedRoute);
        assert!(routed.poll_probe(at(0), OF, PlaneMask::all(4)).is_some());
        routed.handle_reply(OF, 4 * 1_000 + 2);
        let sent = routed.directed(answer, 2);
        assert_eq!((sent.entropy, sent.route), (21, 1_000));
        assert_eq!(routed.directed(answer, 1).route, 5);
        assert_eq!(routed.received(&sent).entropy, 21);
    }

    #[test]
    fn with_one_plane_left_all_probed_values_are_of_it() {
        for plane in 0..4 {
            let mut reverse = reverse(AnswerPlanes::ProbedHash);
            let usable = PlaneMask::of_bits(1 << plane);
            for round in 0..50 {
                let value = reverse.poll_probe(at(8 * round), OF, usable).expect("one is due");
                assert_eq!(u32::from(value % 4), plane);
            }
        }
    }
}
