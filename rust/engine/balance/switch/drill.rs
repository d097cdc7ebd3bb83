//! DRILL: each packet joins the shortest of some randomly sampled queues and the remembered best
//! one.
//!
//! Source: Ghorbani et al., "DRILL: Micro Load Balancing for Low-latency Data Center Networks"
//! (SIGCOMM 2017), section 3.2: DRILL(d, m), with d = 2 and m = 1 as in its evaluation and in
//! public ns-3 code (`ipv4-drill-routing`). Lengths are exact and include the packet in
//! transmission.
//!
//! \[inferred\] The samples of a packet are distinct. Among equally short queues the first sample
//! wins, and the remembered queue loses. A switch remembers one candidate index. If groups of
//! candidates differ (after failures), it is a hint that is compared like a sample.

use serde::{Deserialize, Serialize};

use super::{
    StateSize, SwitchConfig, SwitchContext, SwitchPolicy, SwitchView, at_switches, index_bits,
};
use crate::balance::{Preset, SchemeError, parse_config};
use crate::packet::Packet;
use crate::rng::Stream;
use crate::units::Time;

/// The only parameter of `drill`: the number of queues that it samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Number of random queues per packet, at least 1. Default 2 (d of DRILL).
    pub samples: u16,
}

impl Default for Config {
    fn default() -> Self {
        Self { samples: 2 }
    }
}

/// Random samples of one switch and its memory.
#[derive(Debug, Clone)]
pub struct Drill {
    samples: u32,
    /// Candidates in arbitrary order; samples are swapped to the front.
    order: Vec<u16>,
    best: Option<u16>,
    random: Stream,
    ports: u32,
}

/// The preset `drill`: one entropy value for each queue pair, which switches ignore, and a
/// retransmission timer for each packet.
pub const PRESETS: &[Preset] = &[Preset {
    name: "drill",
    summary: "the shortest of two random queues and the previous packet's best queue",
    source: "Ghorbani et al., DRILL (SIGCOMM 2017), section 3.2",
    build: |parameters| {
        let config: Config = parse_config("drill", parameters)?;
        if config.samples == 0 {
            return Err(SchemeError::Parameter {
                name: "drill",
                reason: "'samples' must be at least 1, for example 2".into(),
            });
        }
        Ok(at_switches("drill", SwitchConfig::Drill(config)))
    },
}];

impl Drill {
    pub(super) fn new(config: &Config, switch: &SwitchContext) -> Self {
        Self {
            samples: u32::from(config.samples),
            order: Vec::new(),
            best: None,
            random: switch.random(),
            ports: switch.ports,
        }
    }

    /// Draws the sample at `index`, distinct from those at lower indices: one step of a
    /// Fisher–Yates shuffle.
    #[inline]
    fn sample(&mut self, index: u32) -> u16 {
        let other = index + self.random.below(self.order.len() as u32 - index);
        self.order.swap(index as usize, other as usize);
        self.order[index as usize]
    }
}

impl SwitchPolicy for Drill {
    const USES_QUEUE_LENGTHS: bool = true;

    #[inline]
    fn choose<V: SwitchView>(&mut self, _now: Time, _packet: &Packet, view: &mut V) -> u32 {
        let count = view.candidates();
        // A shuffle may start from any order, so the previous packet's order is reused.
        if self.order.len() != count as usize {
            self.order.clear();
            self.order.extend((0..=u16::MAX).take(count as usize));
        }
        let mut best = self.sample(0);
        // Strictly less below: among equal queues the earlier sample stays.
        let mut least = view.queue_bytes(u32::from(best));
        for index in 1..self.samples.min(self.order.len() as u32) {
            let other = self.sample(index);
            let bytes = view.queue_bytes(u32::from(other));
            if bytes < least {
                (best, least) = (other, bytes);
            }
        }
        // Section 3.2: the least loaded queue of the previous packet competes with the samples.
        if let Some(old) = self.best
            && u32::from(old) < count
            && view.queue_bytes(u32::from(old)) < least
        {
            best = old;
        }
        // The choice itself is remembered (m = 1), whether it was sampled or remembered.
        self.best = Some(best);
        u32::from(best)
    }

    /// The index of the remembered port; no entry before the first packet.
    fn state_size(&self) -> StateSize {
        match self.best {
            Some(_) => StateSize { entries: 1, bits: index_bits(u64::from(self.ports)) },
            None => StateSize::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_view::Ports;
    use super::*;

    fn drill(samples: u16) -> Drill {
        Drill::new(&Config { samples }, &SwitchContext::for_test())
    }

    fn choose(drill: &mut Drill, ports: &mut Ports) -> u32 {
        drill.choose(Time::ZERO, &Packet::default(), ports)
    }

    #[test]
    fn it_compares_two_queues_and_then_the_remembered_one_too() {
        let (mut drill, mut ports) = (drill(2), Ports::empty(8));
        choose(&mut drill, &mut ports);
        assert_eq!(ports.reads, 2);
        choose(&mut drill, &mut ports);
        assert_eq!(ports.reads, 5);
        assert_eq!(drill.state_size(), StateSize { entries: 1, bits: 3 });
    }

    #[test]
    fn the_shortest_queue_is_kept_while_it_stays_the_shortest() {
        let (mut drill, mut ports) = (drill(2), Ports::with_bytes(&[9, 9, 9, 9, 9, 1, 9, 9]));
        let tries = (0..100).take_while(|_| choose(&mut drill, &mut ports) != 5).count();
        assert!(tries < 40, "{tries} packets, each of which finds it with probability 1/4");
        assert!((0..50).all(|_| choose(&mut drill, &mut ports) == 5));
        // Another queue becomes the shortest; it wins once it is sampled.
        ports.bytes = vec![9, 0, 9, 9, 9, 1, 9, 9];
        let chosen: Vec<u32> = (0..100).map(|_| choose(&mut drill, &mut ports)).collect();
        let change = chosen.iter().position(|&choice| choice == 1).unwrap();
        assert!(chosen[..change].iter().all(|&choice| choice == 5));
        assert!(chosen[change..].iter().all(|&choice| choice == 1));
    }

    #[test]
    fn samples_are_distinct_so_that_two_of_two_find_the_shorter_queue() {
        let mut ports = Ports::with_bytes(&[2, 1]);
        for _ in 0..50 {
            assert_eq!(choose(&mut drill(2), &mut ports), 1);
        }
        let alone: Vec<u32> = (0..50)
            .map(|seed| {
                let context = SwitchContext { seed, ..SwitchContext::for_test() };
                choose(&mut Drill::new(&Config { samples: 1 }, &context), &mut ports)
            })
            .collect();
        assert!(alone.contains(&0) && alone.contains(&1), "one sample does not");
    }

    #[test]
    fn a_memory_beyond_the_candidates_is_ignored() {
        let (mut drill, mut ports) = (drill(2), Ports::with_bytes(&[9, 9, 9, 0]));
        while choose(&mut drill, &mut ports) != 3 {}
        assert!(choose(&mut drill, &mut Ports::empty(2)) < 2);
        while choose(&mut drill, &mut ports) != 3 {}
        assert!(choose(&mut drill, &mut Ports::empty(3)) < 3);
    }
}
