//! Round-robin with an order for each destination, as in uet-htsim.
//!
//! Source: ultraethernet/uet-htsim at 40ccb05 (`FatTreeSwitch::getNextHop`, strategy `rr`). A
//! switch has one counter. It is reset after as many packets as the list of next hops is long, and
//! the list of that packet's destination is then permuted. An edge switch has one list for all
//! destinations above it. A switch of a higher tier has one for each destination host, so the same
//! position of the counter leads to different ports. Packets of less than 128 bytes (control
//! packets and trimmed headers) do not advance the counter. Their hash is a position in the list,
//! so their port also changes when the list is permuted.
//!
//! [`super::round_robin`] has one list in every switch, and all packets advance its counter.
//!
//! \[inferred\] A list whose length changes with a failure is redrawn.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::hash::{self, Hash};
use super::{
    StateSize, SwitchConfig, SwitchContext, SwitchPolicy, SwitchView, at_switches, index_bits,
};
use crate::balance::{Preset, SchemeError, parse_config};
use crate::ids::HostId;
use crate::packet::Packet;
use crate::rng::Stream;
use crate::units::Time;

/// Packets shorter than this are hashed, in bytes (`pkt.size()<128`).
const HASHED_BELOW: u16 = 128;

/// The only parameter: how long an order of next hops lasts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Turns after which an order is redrawn, at least 1. Default 1 (uet-htsim).
    pub turns: u16,
}

impl Default for Config {
    fn default() -> Self {
        Self { turns: 1 }
    }
}

/// Lists and counter of one switch.
#[derive(Debug, Clone)]
pub struct RoundRobinByDestination {
    turns: u32,
    tier: u8,
    counter: u32,
    /// By destination; an edge switch has one list for all.
    lists: BTreeMap<HostId, Vec<u16>>,
    random: Stream,
    short: Hash,
}

/// The preset `switch-rr-by-destination`.
pub const PRESETS: &[Preset] = &[Preset {
    name: "switch-rr-by-destination",
    summary: "round-robin as in uet-htsim: one order per destination, control packets hashed",
    source: "ultraethernet/uet-htsim at 40ccb05, FatTreeSwitch::getNextHop (rr)",
    build: |parameters| {
        let name = "switch-rr-by-destination";
        let config: Config = parse_config(name, parameters)?;
        if config.turns == 0 {
            let reason = "'turns' must be at least 1, for example 1".into();
            return Err(SchemeError::Parameter { name, reason });
        }
        Ok(at_switches(name, SwitchConfig::RoundRobinByDestination(config)))
    },
}];

impl RoundRobinByDestination {
    pub(super) fn new(config: &Config, switch: &SwitchContext) -> Self {
        Self {
            turns: u32::from(config.turns),
            tier: switch.tier,
            counter: 0,
            lists: BTreeMap::new(),
            random: switch.random(),
            short: Hash::new(&hash::Config {}, switch),
        }
    }
}

impl SwitchPolicy for RoundRobinByDestination {
    #[inline]
    fn choose<V: SwitchView>(&mut self, now: Time, packet: &Packet, view: &mut V) -> u32 {
        let length = view.candidates().min(1 << 16);
        let hashed = (packet.wire_bytes < HASHED_BELOW)
            .then(|| self.short.choose(now, packet, view) % length);
        // An edge switch has one list for all destinations above it.
        let of = if self.tier == 0 { HostId(0) } else { packet.dst };
        let list = self.lists.entry(of).or_default();
        let is_new = list.len() != length as usize;
        if is_new {
            *list = (0..=u16::MAX).take(length as usize).collect();
        }
        // Short packets neither advance the counter nor start a new turn.
        let is_over = hashed.is_none() && self.counter >= self.turns * length;
        if is_over {
            self.counter = 0;
        }
        if is_new || is_over {
            self.random.shuffle(list);
        }
        let position = hashed.unwrap_or(self.counter % length);
        self.counter += u32::from(hashed.is_none());
        u32::from(list[position as usize])
    }

    /// The counter, and the entries of each list.
    fn state_size(&self) -> StateSize {
        let of_lists = self.lists.values().fold(StateSize::default(), |sum, list| {
            let length = list.len() as u64;
            StateSize {
                entries: sum.entries + length,
                bits: sum.bits + length * index_bits(length),
            }
        });
        let longest = self.lists.values().map(Vec::len).max().unwrap_or(1) as u64;
        StateSize {
            entries: of_lists.entries + 1,
            bits: of_lists.bits + index_bits(longest * u64::from(self.turns)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::CandidateCount;
    use super::*;

    fn switch(tier: u8) -> RoundRobinByDestination {
        let context = SwitchContext { tier, ..SwitchContext::for_test() };
        RoundRobinByDestination::new(&Config::default(), &context)
    }

    fn choose(switch: &mut RoundRobinByDestination, dst: u32, wire_bytes: u16) -> u32 {
        let packet = Packet { dst: HostId(dst), wire_bytes, ..Packet::default() };
        switch.choose(Time::ZERO, &packet, &mut CandidateCount(8))
    }

    #[test]
    fn an_edge_switch_uses_each_next_hop_once_in_a_turn_and_redraws() {
        let mut edge = switch(0);
        let mut turn = || -> Vec<u32> { (0..8).map(|it| choose(&mut edge, it, 4_160)).collect() };
        let turns: Vec<Vec<u32>> = (0..20).map(|_| turn()).collect();
        for turn in &turns {
            let mut sorted = turn.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, [0, 1, 2, 3, 4, 5, 6, 7]);
        }
        assert!(turns.windows(2).all(|pair| pair[0] != pair[1]));
        assert_eq!(edge.state_size(), StateSize { entries: 8 + 1, bits: 8 * 3 + 3 });
    }

    #[test]
    fn destinations_above_the_edge_share_the_counter_but_not_the_order() {
        let mut core = switch(1);
        // Two alternating destinations: each sees every second position of its own list.
        let mut collisions = 0;
        for _ in 0..100 {
            let chosen: Vec<u32> = (0..8).map(|it| choose(&mut core, it % 2, 4_160)).collect();
            let distinct: std::collections::BTreeSet<&u32> = chosen.iter().collect();
            collisions += 8 - distinct.len();
        }
        assert!(collisions > 50, "one order would have none: {collisions}");
        assert_eq!(core.lists.len(), 2);
    }

    #[test]
    fn short_packets_are_hashed_and_do_not_advance_the_counter() {
        let mut edge = switch(0);
        let first = choose(&mut edge, 3, 64);
        assert!((0..20).all(|_| choose(&mut edge, 3, 64) == first));
        assert_eq!(edge.counter, 0);
        // Their position stays; the port there changes once the list is permuted.
        let position = edge.lists[&HostId(0)].iter().position(|&port| u32::from(port) == first);
        let mut ports = std::collections::BTreeSet::new();
        for _ in 0..20 {
            for dst in 0..8 {
                choose(&mut edge, dst, 4_160);
            }
            let short = choose(&mut edge, 3, 64);
            let list = &edge.lists[&HostId(0)];
            assert_eq!(list.iter().position(|&port| u32::from(port) == short), position);
            ports.insert(short);
        }
        assert!(ports.len() > 3, "{ports:?}");
    }

    #[test]
    fn short_packets_of_many_labels_use_all_next_hops() {
        let mut edge = switch(0);
        let labels = 0..64;
        let chosen: std::collections::BTreeSet<u32> = labels
            .map(|label| {
                let packet = Packet { label, wire_bytes: 64, ..Packet::default() };
                edge.choose(Time::ZERO, &packet, &mut CandidateCount(8))
            })
            .collect();
        assert_eq!(chosen.len(), 8);
    }

    #[test]
    fn only_packets_of_at_least_128_bytes_advance_the_counter() {
        let mut edge = switch(0);
        choose(&mut edge, 3, 127);
        assert_eq!(edge.counter, 0);
        choose(&mut edge, 3, 128);
        assert_eq!(edge.counter, 1);
    }

    #[test]
    fn the_counter_counts_the_packets_of_all_turns() {
        let mut edge =
            RoundRobinByDestination::new(&Config { turns: 5 }, &SwitchContext::for_test());
        choose(&mut edge, 3, 4_160);
        // 40 packets are 5 turns.
        assert_eq!(edge.state_size(), StateSize { entries: 8 + 1, bits: 8 * 3 + 6 });
    }
}
