//! Round-robin over the next hops, packet by packet: in the order of the forwarding table, or in a
//! random order that is redrawn after some turns.
//!
//! Source: "Load Balancing for AI Training Workloads" (arXiv 2507.21372 v2, 2026): Simple RR
//! (theory) and Switch Pkt, with the order re-shuffled after 5 turns. The counter is that of its
//! simulator (htsim, `FatTreeSwitch`, strategy `RR`): one per switch over the list of next hops.
//! When it reaches 5 times the length of the list, it is reset and the list is permuted. The list
//! is also permuted at the start.
//!
//! Simple RR demonstrates a weakness: if hosts start together, switches stay in step, and the same
//! packets meet on the same downlink in every turn.
//!
//! \[inferred\] Each length of list (lengths differ after failures) has its own order and counter.
//! An aggregation switch of htsim permutes the same next hops separately for each destination host;
//! here a switch has one order for all.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{
    StateSize, SwitchConfig, SwitchContext, SwitchPolicy, SwitchView, at_switches, index_bits,
};
use crate::balance::{Preset, parse_config};
use crate::packet::Packet;
use crate::rng::Stream;
use crate::units::Time;

/// The only parameter of both presets: how long an order of next hops lasts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Number of turns after which the order is redrawn. 0 keeps the order of the forwarding table
    /// (`switch-rr`); the default of `switch-rr-shuffled` is 5, as in Ofan.
    pub turns: u16,
}

/// Turns per order in Ofan's simulator.
const TURNS: i64 = 5;

/// Next-hop lists of one switch.
#[derive(Debug, Clone)]
pub struct RoundRobin {
    turns: u16,
    random: Stream,
    list: List,
    /// Lists of other lengths than the current one.
    others: BTreeMap<u32, List>,
}

/// An order of next hops and a position in it.
#[derive(Debug, Clone, Default)]
struct List {
    order: Vec<u16>,
    next: u32,
    /// Turns left before the order is redrawn; 0 if it never is.
    turns_left: u16,
}

/// The presets `switch-rr`, in the order of the forwarding table, and `switch-rr-shuffled`.
pub const PRESETS: &[Preset] = &[
    Preset {
        name: "switch-rr",
        summary: "round-robin in each switch, in the order of its forwarding table",
        source: "Load Balancing for AI Training Workloads (arXiv 2507.21372 v2, 2026), Simple RR",
        build: |parameters| {
            let config = parse_config("switch-rr", parameters)?;
            Ok(at_switches("switch-rr", SwitchConfig::RoundRobin(config)))
        },
    },
    Preset {
        name: "switch-rr-shuffled",
        summary: "round-robin in each switch, in a random order that is redrawn after 5 turns",
        source: "Load Balancing for AI Training Workloads (arXiv 2507.21372 v2, 2026), Switch Pkt",
        build: |parameters| {
            let mut parameters = parameters.clone();
            parameters.entry("turns").or_insert(TURNS.into());
            let config = parse_config("switch-rr-shuffled", &parameters)?;
            Ok(at_switches("switch-rr-shuffled", SwitchConfig::RoundRobin(config)))
        },
    },
];

impl RoundRobin {
    pub(super) fn new(config: &Config, switch: &SwitchContext) -> Self {
        Self {
            turns: config.turns,
            random: switch.random(),
            list: List::default(),
            others: BTreeMap::new(),
        }
    }

    /// Makes the list of that length the current one, and creates it at its first use. Cold because
    /// the length changes only when links fail or recover.
    #[cold]
    fn take_list(&mut self, length: u32) {
        let list = self.others.remove(&length).unwrap_or_else(|| {
            let order = (0..=u16::MAX).take(length as usize).collect();
            let mut list = List { order, next: 0, turns_left: 0 };
            if self.turns > 0 {
                list.shuffle(self.turns, &mut self.random);
            }
            list
        });
        let old = std::mem::replace(&mut self.list, list);
        if !old.order.is_empty() {
            self.others.insert(old.order.len() as u32, old);
        }
    }
}

impl List {
    fn shuffle(&mut self, turns: u16, random: &mut Stream) {
        random.shuffle(&mut self.order);
        self.turns_left = turns;
    }
}

impl SwitchPolicy for RoundRobin {
    #[inline]
    fn choose<V: SwitchView>(&mut self, _now: Time, _packet: &Packet, view: &mut V) -> u32 {
        // A candidate index has 16 bits; no switch has more ports.
        let length = view.candidates().min(1 << 16);
        // The length changes only when links fail or recover.
        if self.list.order.len() != length as usize {
            self.take_list(length);
        }
        let list = &mut self.list;
        // The order is redrawn only when a packet needs it: a turn that never begins draws nothing.
        if list.next == length {
            list.next = 0;
            if self.turns > 0 {
                list.turns_left -= 1;
                if list.turns_left == 0 {
                    list.shuffle(self.turns, &mut self.random);
                }
            }
        }
        let choice = list.order[list.next as usize];
        list.next += 1;
        u32::from(choice)
    }

    /// A counter, plus the order if it is not that of the forwarding table.
    fn state_size(&self) -> StateSize {
        let lists = std::iter::once(&self.list).chain(self.others.values());
        let used = lists.map(|list| list.order.len() as u64).filter(|&length| length > 0);
        used.fold(StateSize::default(), |sum, length| {
            let order = if self.turns > 0 { length } else { 0 };
            let counter = index_bits(length * u64::from(self.turns.max(1)));
            StateSize {
                entries: sum.entries + 1 + order,
                bits: sum.bits + counter + order * index_bits(length),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::CandidateCount;
    use super::*;

    fn choices(policy: &mut RoundRobin, ports: u32, count: usize) -> Vec<u32> {
        let packet = Packet::default();
        (0..count).map(|_| policy.choose(Time::ZERO, &packet, &mut CandidateCount(ports))).collect()
    }

    fn policy(turns: u16) -> RoundRobin {
        RoundRobin::new(&Config { turns }, &SwitchContext::for_test())
    }

    #[test]
    fn the_simple_form_keeps_the_order_of_the_forwarding_table() {
        let mut policy = policy(0);
        assert_eq!(policy.state_size(), StateSize::default(), "no list before the first packet");
        for _ in 0..50 {
            assert_eq!(choices(&mut policy, 4, 4), [0, 1, 2, 3]);
        }
        assert_eq!(policy.state_size(), StateSize { entries: 1, bits: 2 });
    }

    #[test]
    fn the_order_is_redrawn_after_exactly_five_turns() {
        let mut policy = policy(5);
        let mut changes = 0;
        let mut last = Vec::new();
        for _ in 0..40 {
            let order = choices(&mut policy, 8, 8);
            let mut sorted = order.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, [0, 1, 2, 3, 4, 5, 6, 7]);
            (1..5).for_each(|_| assert_eq!(choices(&mut policy, 8, 8), order));
            changes += u32::from(order != last);
            last = order;
        }
        assert_eq!(changes, 40, "each of 40 orders of 40,320 differs from the previous one");
        assert_eq!(policy.state_size(), StateSize { entries: 1 + 8, bits: 6 + 8 * 3 });
    }

    /// The reason why Ofan has separate pointers for data and for acknowledgements.
    #[test]
    fn with_an_acknowledgement_after_each_packet_data_takes_every_second_port() {
        let choices = choices(&mut policy(0), 4, 400);
        let of_data = choices.iter().step_by(2);
        assert!(of_data.clone().all(|port| port % 2 == 0));
    }

    #[test]
    fn a_list_of_another_length_has_its_own_position() {
        let mut policy = policy(0);
        assert_eq!(choices(&mut policy, 4, 3), [0, 1, 2]);
        assert_eq!(choices(&mut policy, 3, 2), [0, 1]);
        assert_eq!(choices(&mut policy, 4, 2), [3, 0]);
        assert_eq!(choices(&mut policy, 3, 2), [2, 0]);
        assert_eq!(policy.state_size().entries, 2);
    }

    #[test]
    fn the_two_presets_differ_in_their_turns() {
        let turns = |name, parameters: &str| {
            let parameters = parameters.parse().unwrap();
            let SwitchConfig::RoundRobin(config) =
                crate::balance::build_scheme(name, &parameters).unwrap().switch
            else {
                panic!("another policy")
            };
            config.turns
        };
        assert_eq!(turns("switch-rr", ""), 0);
        assert_eq!(turns("switch-rr-shuffled", ""), 5);
        assert_eq!(turns("switch-rr-shuffled", "turns = 2"), 2);
    }
}
