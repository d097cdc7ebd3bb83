//! CONGA: flowlets on the leaf-to-leaf path that the leaves' tables report as least congested.
//!
//! Source: Alizadeh et al., "CONGA: Distributed Congestion-Aware Load Balancing for Datacenters"
//! (SIGCOMM 2014), section 3. Flowlets of 100 us, estimators with a period of 50 us and a factor of
//! 1/5, and ageing after 10 ms are those of the public ConWeave simulator. Another public ns-3 code
//! has 50 us, 200 us, 1/5 and 10 ms. The paper has 500 us for flowlets and 160 us for the
//! estimator's time constant, which is 250 us here.
//!
//! Each switch estimates the utilisation of its links (DRE) and raises the CE field of the packets
//! that leave through them. The ingress leaf writes the uplink (LBTag) and CE = 0. The egress leaf
//! stores CE by source leaf and LBTag, and reports it in a packet of the opposite direction
//! (FB_LBTag, FB_Metric). The first packet of a flowlet takes the uplink whose maximum of local
//! estimate and reported metric is least.
//!
//! The fields are in [`Packet::route`], which hashed forwarding does not use otherwise: LBTag 4
//! bits, CE 3, FB_LBTag 4, FB_Metric 3, and one bit each for the presence of a tag. An LBTag is the
//! port index modulo 16, so **at most 16 uplinks of a leaf are distinguished**; ports that are 16
//! apart share a cell. CONGA is designed for two tiers. In other fabrics, switches above the leaves
//! hash, and a cell covers all paths behind an uplink.
//!
//! \[inferred\]: gaps are measured exactly, not by an age bit. The estimator counts a packet when
//! it joins the queue. A metric older than the ageing time counts as no congestion immediately, not
//! gradually. A flowlet keeps its uplink in a tie, as in the paper; other ties are random.

mod estimator;
mod tables;

use serde::{Deserialize, Serialize};

use super::flowlet_table::{self, FlowletTable};
use super::hash::Hash;
use super::{
    Departure, StateSize, SwitchConfig, SwitchContext, SwitchPolicy, SwitchView, in_bursts,
};
use crate::balance::argmin::argmin_random;
use crate::balance::{Preset, SchemeError, parse_config};
use crate::ids::SwitchId;
use crate::packet::Packet;
use crate::rng::Stream;
use crate::units::{BitRate, Fraction, Span, Time};

use estimator::{Estimator, Scale};
use tables::{Header, Row, Tables};

/// The parameters of `conga`: flowlets, the estimator of utilisation and the ageing of reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Gap after which a new flowlet begins. Default 100 us (ConWeave simulator).
    pub flowlet_gap: Span,
    /// Number of entries in a leaf's flowlet table, which is indexed by a hash of the flow, 1 to
    /// 1,048,576. Default 65,536 (paper, 3.4).
    pub flowlets: u32,
    /// Period with which estimates decay, above 0. Default 50 us (ConWeave simulator).
    pub dre_period: Span,
    /// Fraction by which an estimate decays per period, above 0 and at most 1. Default 1/5
    /// (ConWeave simulator).
    pub dre_factor: Fraction,
    /// Validity of a path's reported metric. Default 10 ms (paper, 3.3).
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
    /// Returns an error message for the first invalid parameter, if there is one.
    fn error(&self) -> Option<&'static str> {
        let (numerator, denominator) = (self.dre_factor.numerator(), self.dre_factor.denominator());
        if let Some(reason) = flowlet_table::config_error(self.flowlets) {
            Some(reason)
        } else if self.dre_period == Span::ZERO {
            Some("'dre_period' must be above 0, for example \"50us\"")
        } else if numerator == 0 || numerator > denominator {
            Some("'dre_factor' must be above 0 and at most 1, for example \"1/5\"")
        } else {
            None
        }
    }
}

/// The estimators of one switch, and the tables of a leaf.
#[derive(Debug, Clone)]
pub struct Conga {
    id: SwitchId,
    scale: Scale,
    /// One estimator per port, by the port's index in its switch.
    estimators: Vec<Estimator>,
    hash: Hash,
    /// Present in an edge switch.
    leaf: Option<Box<Leaf>>,
}

/// State that only a leaf has.
#[derive(Debug, Clone)]
struct Leaf {
    flowlets: FlowletTable,
    tables: Tables,
    random: Stream,
    ports: u64,
}

/// The preset `conga`: one entropy value for each queue pair, and go-back-N.
pub const PRESETS: &[Preset] = &[Preset {
    name: "conga",
    summary: "flowlets on the least congested uplink, by feedback between leaf switches",
    source: "Alizadeh et al., CONGA (SIGCOMM 2014), section 3",
    build: |parameters| {
        let config: Config = parse_config("conga", parameters)?;
        if let Some(reason) = config.error() {
            return Err(SchemeError::Parameter { name: "conga", reason: reason.into() });
        }
        Ok(in_bursts("conga", SwitchConfig::Conga(config)))
    },
}];

impl Conga {
    pub(super) fn new(config: &Config, switch: &SwitchContext) -> Self {
        let leaf = (switch.tier == 0).then(|| {
            Box::new(Leaf {
                flowlets: FlowletTable::new(config.flowlets, config.flowlet_gap),
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
    /// Chooses the uplink for a flowlet's first packet. `before` is the candidate of the flow's
    /// previous flowlet; `local` returns the level of an uplink's own estimator.
    fn decide<V: SwitchView>(
        &mut self,
        now: Time,
        view: &V,
        before: Option<u32>,
        local: impl Fn(u32) -> u8,
    ) -> u32 {
        let row = self.tables.row(view.destination_edge());
        let ageing = self.tables.ageing;
        let value = |candidate| {
            let port = view.port(candidate);
            // A path without reports counts as idle, so new leaves are tried instead of avoided.
            let remote = row.map_or(0, |row: &Row| row.metric(now, port, ageing));
            local(port).max(remote)
        };
        let count = view.candidates();
        // Section 3.5: a flow moves only if another uplink is strictly better.
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
    fn tracks_departures(_config: &SwitchConfig) -> bool {
        true
    }

    #[inline]
    fn choose<V: SwitchView>(&mut self, now: Time, packet: &Packet, view: &mut V) -> u32 {
        let count = view.candidates();
        // CONGA is designed for two tiers: switches above the leaves hash.
        let Some(leaf) = &mut self.leaf else {
            return self.hash.pick(packet.label, packet.entropy, count);
        };
        let flowlet = leaf.flowlets.find(now, packet);
        let before = flowlet.candidate(view);
        let chosen = match before {
            Some(before) if flowlet.continues => before,
            _ => {
                let (scale, estimators) = (&self.scale, &self.estimators);
                let local = |port: u32| estimators[port as usize].level(now, scale);
                leaf.decide(now, view, before, local)
            }
        };
        leaf.flowlets.store(now, flowlet, view.port(chosen), chosen);
        chosen
    }

    fn handle_departure(&mut self, now: Time, packet: &mut Packet, departure: &Departure) {
        if departure.destination_edge == self.id {
            // The packet leaves the fabric here: learn from its header (section 3.3).
            if let Some(leaf) = &mut self.leaf
                && departure.source_edge != self.id
            {
                leaf.tables.read(now, departure.source_edge, Header(packet.route));
            }
            return;
        }
        // The packet enters the fabric here: write its header, with feedback for the other leaf.
        if let Some(leaf) = &mut self.leaf
            && departure.source_edge == self.id
        {
            packet.route = leaf.tables.write(departure.destination_edge, departure.port).0;
        }
        // Every switch on the way raises CE to the utilisation of its link (section 3.2).
        let estimator = &mut self.estimators[departure.port as usize];
        estimator.add(now, packet.wire_bytes, &self.scale);
        let level = estimator.level(now, &self.scale);
        packet.route = Header(packet.route).raised(level).0;
    }

    /// Estimators of 32 bits \[inferred\], a leaf's flowlets (port, valid bit, age bit) and the
    /// used cells of its tables, of 3 bits.
    fn state_size(&self) -> StateSize {
        let ports = self.estimators.len() as u64;
        let mut state = StateSize { entries: ports, bits: 32 * ports };
        if let Some(leaf) = &self.leaf {
            let (flowlets, cells) = (leaf.flowlets.size(leaf.ports), leaf.tables.cells());
            state.entries += flowlets.entries + cells;
            state.bits += flowlets.bits + 3 * cells;
        }
        state
    }
}

#[cfg(test)]
mod tests;
