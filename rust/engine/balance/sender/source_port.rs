//! Source ports that count up from 10,000, one per queue pair, independent of the run's seed.
//!
//! Source: the simulators of the HPCC family. HPCC (`scratch/third.cc`) counts the flows between
//! two hosts, ConWeave (`scratch/network-load-balance.cc`) those of a sender; both start at 10,000.
//! For flows that do not come from a file of that family, the port is 10,000 plus the index of the
//! message stream \[inferred\]. The queue pairs of one stream are 256 apart \[inferred\].

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{QpContext, SenderPolicy};
use crate::balance::Preset;
use crate::units::Time;

/// First source port in the HPCC family.
pub const FIRST: u16 = 10_000;

/// The policy has no parameters in a scenario; readers of HPCC flow files fill in its ports.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Source port of each message stream; streams beyond the end are counted from [`FIRST`].
    #[serde(skip)]
    pub of_stream: Arc<[u16]>,
}

/// The source port of a queue pair.
#[derive(Debug, Clone, Copy)]
pub struct SourcePort(u16);

/// No preset of its own: [`crate::balance::switch::murmur`] uses this policy.
pub const PRESETS: &[Preset] = &[];

impl SourcePort {
    pub(super) fn new(config: &Config, qp: &QpContext) -> Self {
        let known = config.of_stream.get(qp.stream as usize);
        let first = known.copied().unwrap_or_else(|| FIRST.wrapping_add(qp.stream as u16));
        // Ports wrap at 16 bits, so two queue pairs may share one.
        Self(first.wrapping_add((qp.qp_index as u16).wrapping_mul(1 << 8)))
    }
}

impl SenderPolicy for SourcePort {
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
    fn a_queue_pair_has_the_port_of_its_stream_or_a_counted_one() {
        let config = Config { of_stream: [10_000, 10_000, 10_001].into() };
        let port = |stream, qp_index| {
            let qp = QpContext { stream, qp_index, ..QpContext::for_test() };
            SourcePort::new(&config, &qp).entropy(Time::ZERO)
        };
        assert_eq!([0, 1, 2, 3].map(|stream| port(stream, 0)), [10_000, 10_000, 10_001, 10_003]);
        assert_eq!(port(2, 2), 10_513);
    }

    #[test]
    fn the_state_is_the_port() {
        let policy = SourcePort::new(&Config::default(), &QpContext::for_test());
        assert_eq!(policy.state_bits(), 16);
    }
}
