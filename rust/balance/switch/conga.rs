//! CONGA: flowlets on the path from leaf to leaf that the leaves' tables say is least congested.
//!
//! Source: Alizadeh et al., "CONGA: Distributed Congestion-Aware Load Balancing for Datacenters"
//! (SIGCOMM 2014), section 3; flowlets of 100 us, estimators with a period of 50 us and a factor
//! of 1/5 and ageing after 10 ms as in the public ConWeave simulator (another public ns-3 code
//! has 50 us, 200 us, 1/5 and 10 ms; the paper 500 us for flowlets and 160 us for the estimator's
//! time constant, here 250 us).
//!
//! Each switch estimates the use of its links (DRE) and raises the CE field of what leaves to it.
//! The leaf that a packet enters by writes the uplink (LBTag) and CE = 0; the leaf that it leaves by
//! remembers CE by source leaf and LBTag, and says so in a packet the other way (FB_LBTag,
//! FB_Metric). The first packet of a flowlet takes the uplink with the least maximum of its own
//! estimate and of what was told of it.
//!
//! The fields are in [`Packet::route`], which hashed forwarding has no other use for: LBTag 4 bits,
//! CE 3, FB_LBTag 4, FB_Metric 3, and a bit each that says whether a tag is there. An LBTag is the
//! port's number modulo 16, so **a leaf's uplinks are told apart up to 16**; beyond, those 16 apart
//! share a cell. CONGA is made for two tiers: in others, switches that are no leaf hash, and a
//! cell is about all paths behind an uplink.
//!
//! \[inferred\]: gaps are measured exactly, not by an age bit; a packet is counted by the estimator
//! as it joins the queue; what was not heard of for the ageing time counts as not congested at once,
//! not gradually; a flowlet keeps its uplink among equals, as in the paper, others draw.

mod estimator;
mod tables;

use serde::{Deserialize, Serialize};

use super::hash::Hash;
use super::{
    Departure, StateSize, SwitchConfig, SwitchContext, SwitchPolicy, SwitchView, at_switches,
    index_bits,
};
use crate::balance::argmin::argmin_random;
use crate::balance::{Preset, Scheme, SchemeError, parse_config};
use crate::ids::SwitchId;
use crate::nic::Recovery;
use crate::packet::Packet;
use crate::rng::{Stream, mix32};
use crate::units::{BitRate, Fraction, Span, Time};

use estimator::{Estimator, Scale};
use tables::{Header, Row, Tables};

/// A flowlet table has no more entries: 16 times those of the paper.
const MOST_FLOWLETS: u32 = 1 << 20;

/// Times and sizes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// A longer gap ends a flowlet: 100 us (ConWeave simulator).
    pub flowlet_gap: Span,
    /// Entries of a leaf's flowlet table, which a flow finds by its hash, 1 to 1,048,576: 65,536
    /// (paper, 3.4).
    pub flowlets: u32,
    /// How often estimates decay, more than 0: 50 us (ConWeave simulator).
    pub dre_period: Span,
    /// The part of an estimate that goes each time, more than 0 and at most 1: 1/5 (ConWeave
    /// simulator).
    pub dre_factor: Fraction,
    /// What was told of a path is heeded for so long: 10 ms (paper, 3.3).
    pub ageing: Span,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            flowlet_gap: Span::from_us(100),
            flowlets: 1 << 16,
            dre_period: Span::from_us(50),
            dre_factor: Fraction::new(1, 5).unwrap_or(Fraction::ONE),
            ageing: Span::from_ms(10),
        }
    }
}

impl Config {
    /// What is wrong with it, and what would be right.
    fn fault(&self) -> Option<&'static str> {
        let (numerator, denominator) = (self.dre_factor.numerator(), self.dre_factor.denominator());
        if self.flowlets == 0 || self.flowlets > MOST_FLOWLETS {
            Some("'flowlets' must be from 1 to 1048576, for example 65536")
        } else if self.dre_period == Span::ZERO {
            Some("'dre_period' must be more than 0, for example \"50us\"")
        } else if numerator == 0 || numerator > denominator {
            Some("'dre_factor' must be more than 0 and at most 1, for example \"1/5\"")
        } else {
            None
        }
    }
}

/// One switch.
#[derive(Debug, Clone)]
pub struct Conga {
    id: SwitchId,
    scale: Scale,
    /// By port.
    estimators: Vec<Estimator>,
    hash: Hash,
    /// Of an edge switch.
    leaf: Option<Box<Leaf>>,
}

/// What a leaf has beyond other switches.
#[derive(Debug, Clone)]
struct Leaf {
    flowlet_gap: Span,
    flowlets: Vec<Flowlet>,
    tables: Tables,
    random: Stream,
    ports: u64,
}

/// An entry of the flowlet table.
#[derive(Debug, Clone, Copy, Default)]
struct Flowlet {
    last: Time,
    /// The port that it took, plus 1; 0 for none yet.
    port: u16,
    candidate: u16,
}

/// `conga`.
pub const PRESETS: &[Preset] = &[Preset {
    name: "conga",
    summary: "flowlets on the least congested uplink, as leaves tell each other",
    source: "Alizadeh et al., CONGA (SIGCOMM 2014), section 3",
    build: |parameters| {
        let config: Config = parse_config("conga", parameters)?;
        if let Some(fault) = config.fault() {
            return Err(SchemeError::Parameter { name: "conga", reason: fault.into() });
        }
        let scheme = at_switches("conga", SwitchConfig::Conga(config));
        // Flowlets keep the order of packets.
        Ok(Scheme { recovery: Recovery::GoBackN, ..scheme })
    },
}];

impl Conga {
    pub(super) fn new(config: &Config, switch: &SwitchContext) -> Self {
        let leaf = (switch.tier == 0).then(|| {
            Box::new(Leaf {
                flowlet_gap: config.flowlet_gap,
                flowlets: vec![Flowlet::default(); config.flowlets as usize],
                tables: Tables::new(config.ageing),
                random: switch.random(),
                ports: u64::from(switch.ports),
            })
        });
        Self {
            id: switch.id,
            scale: Scale::new(config.dre_period, config.dre_factor, switch.port_rate),
            estimators: vec![Estimator::default(); switch.ports as usize],
            hash: Hash::of(switch.seed, switch.id),
            leaf,
        }
    }
}

impl Leaf {
    /// The uplink of a flowlet's first packet; `before` is where the flow's last one went.
    fn decide<V: SwitchView>(
        &mut self,
        now: Time,
        view: &V,
        before: Option<u32>,
        local: impl Fn(u32) -> u8,
    ) -> u32 {
        let row = self.tables.told(view.destination_edge());
        let ageing = self.tables.ageing;
        let value = |candidate| {
            let port = view.port(candidate);
            let told = row.map_or(0, |row: &Row| row.metric(now, port, ageing));
            local(port).max(told)
        };
        let count = view.candidates();
        if let Some(before) = before {
            let least = (0..count).map(value).min();
            if least == Some(value(before)) {
                return before;
            }
        }
        argmin_random(count, value, &mut self.random)
    }
}

impl SwitchPolicy for Conga {
    const TRACKS_DEPARTURES: bool = true;

    #[inline]
    fn choose<V: SwitchView>(&mut self, now: Time, packet: &Packet, view: &mut V) -> u32 {
        let count = view.candidates();
        let Some(leaf) = &mut self.leaf else {
            return self.hash.pick(packet.label, packet.entropy, count);
        };
        let key = mix32(packet.label ^ u32::from(packet.entropy).wrapping_mul(0x9e37_79b1));
        let place = (u64::from(key) * leaf.flowlets.len() as u64) >> 32;
        let old = leaf.flowlets[place as usize];
        let candidate = u32::from(old.candidate);
        // After a failure the same place among the candidates may be another port.
        let before = (candidate < count && u32::from(old.port) == view.port(candidate) + 1)
            .then_some(candidate);
        let goes_on = now.since(old.last) <= leaf.flowlet_gap;
        let chosen = match before {
            Some(before) if goes_on => before,
            _ => {
                let (scale, estimators) = (&self.scale, &self.estimators);
                let local = |port: u32| estimators[port as usize].level(now, scale);
                leaf.decide(now, view, before, local)
            }
        };
        leaf.flowlets[place as usize] =
            Flowlet { last: now, port: (view.port(chosen) + 1) as u16, candidate: chosen as u16 };
        chosen
    }

    fn handle_departure(&mut self, now: Time, packet: &mut Packet, departure: &Departure) {
        if departure.destination_edge == self.id {
            // It leaves the fabric here.
            if let Some(leaf) = &mut self.leaf
                && departure.source_edge != self.id
            {
                leaf.tables.read(now, departure.source_edge, Header(packet.route));
            }
            return;
        }
        if let Some(leaf) = &mut self.leaf
            && departure.source_edge == self.id
        {
            packet.route = leaf.tables.write(departure.destination_edge, departure.port).0;
        }
        let estimator = &mut self.estimators[departure.port as usize];
        estimator.add(now, packet.wire_bytes, &self.scale);
        let level = estimator.level(now, &self.scale);
        packet.route = Header(packet.route).raised(level).0;
    }

    /// Estimators of 32 bits \[inferred\], a leaf's flowlets (port, valid bit, age bit) and the
    /// cells of its tables that are in use, of 3 bits.
    fn state_size(&self) -> StateSize {
        let ports = self.estimators.len() as u64;
        let mut state = StateSize { entries: ports, bits: 32 * ports };
        if let Some(leaf) = &self.leaf {
            let (flowlets, cells) = (leaf.flowlets.len() as u64, leaf.tables.cells());
            state.entries += flowlets + cells;
            state.bits += flowlets * (index_bits(leaf.ports) + 2) + 3 * cells;
        }
        state
    }
}

#[cfg(test)]
mod tests;
