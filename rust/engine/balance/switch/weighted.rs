//! Weights for policies that do not use them: a port appears among the candidates as often as its
//! weight.
//!
//! Source: Zhou et al., "WCMP: Weighted Cost Multipathing for Improved Fairness in Data Centers"
//! (EuroSys 2014), section 4: members of an ECMP group are replicated in the table.

use super::SwitchView;
use crate::ids::SwitchId;
use crate::units::BitRate;

/// A view whose candidates are the entries of a weighted schedule.
#[derive(Debug)]
pub(super) struct Weighted<'a, V> {
    view: &'a mut V,
    entries: u32,
}

impl<'a, V: SwitchView> Weighted<'a, V> {
    /// Wraps `view`, whose weighted schedule has `entries` entries.
    pub(super) fn new(view: &'a mut V, entries: u32) -> Self {
        Self { view, entries }
    }
}

impl<V: SwitchView> SwitchView for Weighted<'_, V> {
    fn candidates(&self) -> u32 {
        self.entries
    }

    fn port(&self, candidate: u32) -> u32 {
        // Entries of the same port return the same index, so policies that compare ports see equal
        // values.
        self.view.port(self.view.schedule_entry(candidate))
    }

    fn queue_bytes(&mut self, candidate: u32) -> u64 {
        let candidate = self.view.schedule_entry(candidate);
        self.view.queue_bytes(candidate)
    }

    fn rate(&self, candidate: u32) -> BitRate {
        self.view.rate(self.view.schedule_entry(candidate))
    }

    fn destination_edge(&self) -> SwitchId {
        self.view.destination_edge()
    }

    fn destination_pod(&self) -> u32 {
        self.view.destination_pod()
    }

    fn epoch(&self) -> u32 {
        self.view.epoch()
    }
}

#[cfg(test)]
mod tests {
    use super::super::hash::{Config, Hash};
    use super::super::{SwitchContext, SwitchPolicy, choose_by};
    use super::*;
    use crate::balance::rotation::weighted_schedule;
    use crate::packet::Packet;
    use crate::units::Time;

    /// One candidate per weight; candidate `c` is port `10 + c` and has `c` bytes queued.
    struct WeightedPorts(Vec<u32>, Vec<u16>);

    impl WeightedPorts {
        fn new(weights: &[u32]) -> Self {
            let order: Vec<u16> = (0..).take(weights.len()).collect();
            Self(weights.to_vec(), weighted_schedule(&order, weights))
        }
    }

    impl SwitchView for WeightedPorts {
        fn candidates(&self) -> u32 {
            self.0.len() as u32
        }
        fn port(&self, candidate: u32) -> u32 {
            10 + candidate
        }
        fn queue_bytes(&mut self, candidate: u32) -> u64 {
            u64::from(candidate)
        }
        fn rate(&self, candidate: u32) -> BitRate {
            BitRate::from_gbps(400 + u64::from(candidate))
        }
        fn epoch(&self) -> u32 {
            7
        }
        fn destination_edge(&self) -> SwitchId {
            SwitchId(5)
        }
        fn destination_pod(&self) -> u32 {
            4
        }
        fn weight(&self, candidate: u32) -> u32 {
            self.0[candidate as usize]
        }
        fn schedule_len(&self) -> Option<u32> {
            Some(self.1.len() as u32)
        }
        fn schedule_entry(&self, index: u32) -> u32 {
            u32::from(self.1[index as usize])
        }
    }

    /// Takes the candidates round-robin, and checks that index and queue belong to the same port.
    struct TakeInTurn(u32);

    impl SwitchPolicy for TakeInTurn {
        fn choose<V: SwitchView>(&mut self, _now: Time, _packet: &Packet, view: &mut V) -> u32 {
            let turn = self.0 % view.candidates();
            assert_eq!(
                view.port(turn),
                10 + view.queue_bytes(turn) as u32,
                "of one and the same port"
            );
            self.0 += 1;
            turn
        }
    }

    #[test]
    fn a_hash_over_the_schedule_loads_ports_in_proportion_to_their_weights() {
        let weights = [4, 1, 0, 3];
        let mut view = WeightedPorts::new(&weights);
        let mut hash = Hash::new(&Config {}, &SwitchContext::for_test());
        let mut counts = [0u32; 4];
        for entropy in 0..16_000 {
            let packet = Packet { label: 7, entropy, ..Packet::default() };
            counts[choose_by(&mut hash, Time::ZERO, &packet, &mut view) as usize] += 1;
        }
        for (count, weight) in counts.iter().zip(weights) {
            assert!(count.abs_diff(weight * 2_000) < 250, "{counts:?} for {weights:?}");
        }
        assert_eq!(counts[2], 0);
    }

    #[test]
    fn round_robin_over_the_schedule_is_weighted_round_robin() {
        let mut view = WeightedPorts::new(&[2, 1, 3]);
        let mut policy = TakeInTurn(0);
        let packet = Packet::default();
        let mut choose = || choose_by(&mut policy, Time::ZERO, &packet, &mut view);
        let chosen: Vec<u32> = (0..12).map(|_| choose()).collect();
        assert_eq!(chosen, [0, 1, 2, 0, 2, 2, 0, 1, 2, 0, 2, 2]);
    }

    #[test]
    fn a_single_weighted_next_hop_is_taken_without_calling_the_policy() {
        let (mut view, mut policy) = (WeightedPorts::new(&[0, 0, 1]), TakeInTurn(0));
        assert_eq!(choose_by(&mut policy, Time::ZERO, &Packet::default(), &mut view), 2);
        assert_eq!(policy.0, 0);
    }

    #[test]
    fn an_entry_has_the_rate_of_its_port_and_the_switch_is_the_same() {
        let mut ports = WeightedPorts::new(&[1, 2]);
        let entries = ports.schedule_len().unwrap();
        assert_eq!((entries, ports.epoch()), (3, 7));
        let view = Weighted::new(&mut ports, entries);
        let rates: Vec<BitRate> = (0..entries).map(|entry| view.rate(entry)).collect();
        assert_eq!(rates, [0, 1, 1].map(|port| BitRate::from_gbps(400 + port)));
        assert_eq!((view.epoch(), view.destination_edge()), (7, SwitchId(5)));
        assert_eq!((view.destination_pod(), view.candidates()), (4, 3));
    }
}
