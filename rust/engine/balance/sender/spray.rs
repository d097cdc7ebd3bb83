//! Oblivious packet spraying (OPS): a fresh random entropy value for each packet.
//!
//! Source: Dixit, Prakash, Hu, Kompella, "On the Impact of Packet Spraying in Data Center
//! Networks" (INFOCOM 2013), section 3; named OPS in "REPS: Recycled Entropy Packet Spraying"
//! (EuroSys 2026), section 2, with entropy values of 16 bits.

use serde::{Deserialize, Serialize};

use super::entropy_space::EntropySpace;
use super::{QpContext, SenderConfig, SenderPolicy};
use crate::balance::{Preset, Scheme, parse_config};
use crate::nic::Recovery;
use crate::rng::{Purpose, Stream};
use crate::units::Time;

/// The only parameter of `spray`: the number of values that it draws from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Number of entropy values to draw from. Default 65,536 (REPS; swept from 32 there).
    pub entropies: EntropySpace,
}

impl Default for Config {
    fn default() -> Self {
        Self { entropies: EntropySpace::ALL }
    }
}

/// The random stream and the range of a queue pair's entropy values.
#[derive(Debug, Clone)]
pub struct Spray {
    random: Stream,
    entropies: EntropySpace,
}

/// The preset `spray`: hashing switches, and a retransmission timer for each packet.
pub const PRESETS: &[Preset] = &[Preset {
    name: "spray",
    summary: "a random entropy value for each packet (oblivious spraying, OPS)",
    source: "Dixit et al., On the Impact of Packet Spraying (INFOCOM 2013), section 3",
    build: |parameters| {
        let sender = SenderConfig::Spray(parse_config("spray", parameters)?);
        Ok(Scheme { recovery: Recovery::PER_PACKET, ..Scheme::new("spray", sender) })
    },
}];

impl Spray {
    pub(super) fn new(config: &Config, qp: &QpContext) -> Self {
        Self { random: qp.random(Purpose::Entropy), entropies: config.entropies }
    }
}

impl SenderPolicy for Spray {
    const TAKES_ANY_PLANE: bool = true;

    #[inline]
    fn entropy(&mut self, _now: Time) -> u16 {
        self.entropies.draw(&mut self.random)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_spread_over_all_sixteen_bits() {
        let mut spray = Spray::new(&Config::default(), &QpContext::for_test());
        let mut counts = [0u32; 16];
        for _ in 0..16_000 {
            counts[usize::from(spray.entropy(Time::ZERO) >> 12)] += 1;
        }
        assert!(counts.iter().all(|&n| (850..1_150).contains(&n)), "{counts:?}");
    }
}
