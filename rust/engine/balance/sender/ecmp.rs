//! ECMP: one entropy value for all packets of a queue pair.
//!
//! Source: RFC 2992, "Analysis of an Equal-Cost Multi-Path Algorithm" (2000), for hashing by flow.
//! InfiniBand Architecture Specification, annex A17 (RoCEv2, 2014), section A17.9.1, for the UDP
//! source port as a queue pair's entropy.

use serde::{Deserialize, Serialize};

use super::{QpContext, SenderConfig, SenderPolicy};
use crate::balance::{Preset, Scheme, Weights, parse_config};
use crate::rng::Purpose;
use crate::units::Time;

/// The policy has no parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {}

/// The entropy value of a queue pair, drawn when the queue pair is created.
#[derive(Debug, Clone, Copy)]
pub struct Ecmp(u16);

/// The presets `ecmp` and `wcmp`. With `wcmp`, routing weights the next hops.
pub const PRESETS: &[Preset] = &[
    Preset {
        name: "ecmp",
        summary: "one hashed path for each queue pair",
        source: "RFC 2992 (2000); RoCEv2 annex A17 (2014), A17.9.1",
        build: |parameters| {
            let sender = SenderConfig::Ecmp(parse_config("ecmp", parameters)?);
            Ok(Scheme::new("ecmp", sender))
        },
    },
    Preset {
        name: "wcmp",
        summary: "like ecmp, with next hops weighted by the capacity left after failures",
        source: "Zhou et al., WCMP (EuroSys 2014), sections 3 and 4",
        build: |parameters| {
            let sender = SenderConfig::Ecmp(parse_config("wcmp", parameters)?);
            Ok(Scheme { weights: Weights::Capacity, ..Scheme::new("wcmp", sender) })
        },
    },
];

impl Ecmp {
    pub(super) fn new(_config: &Config, qp: &QpContext) -> Self {
        Self(qp.random(Purpose::Entropy).next_u16())
    }
}

impl SenderPolicy for Ecmp {
    const KEEPS_VALUE: bool = true;

    fn entropy(&mut self, _now: Time) -> u16 {
        self.0
    }

    fn state_bits(&self) -> u64 {
        16
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_queue_pair_keeps_its_own_entropy_value() {
        let qp = |qp_index| QpContext { qp_index, ..QpContext::for_test() };
        let mut first = Ecmp::new(&Config {}, &qp(0));
        let value = first.entropy(Time::ZERO);
        assert!((0..20).all(|_| first.entropy(Time::ZERO) == value));
        assert_ne!(Ecmp::new(&Config {}, &qp(1)).entropy(Time::ZERO), value);
    }
}
