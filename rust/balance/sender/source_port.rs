//! Source ports counted up from 10,000: one for each queue pair, whatever the run's seed.
//!
//! Source: the simulators of the HPCC family. HPCC (`scratch/third.cc`) counts those of a pair of
//! hosts, ConWeave (`scratch/network-load-balance.cc`) those of a sender, both from 10,000. Where
//! flows come from no file of theirs, the port is 10,000 and the number of the message stream
//! \[inferred\]; the pieces of a splitter are 256 apart \[inferred\].

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{QpContext, SenderPolicy};
use crate::balance::Preset;
use crate::units::Time;

/// The first port of the family.
pub const FIRST: u16 = 10_000;

/// There is nothing to set; flow files of the family fill it in.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// The ports of message streams, by stream; counted where it ends.
    #[serde(skip)]
    pub of_stream: Arc<[u16]>,
}

/// A queue pair's one port.
#[derive(Debug, Clone, Copy)]
pub struct SourcePort(u16);

/// None of its own: it belongs to [`crate::balance::switch::murmur`].
pub const PRESETS: &[Preset] = &[];

impl SourcePort {
    pub(super) fn new(config: &Config, qp: &QpContext) -> Self {
        let known = config.of_stream.get(qp.stream as usize);
        let first = known.copied().unwrap_or_else(|| FIRST.wrapping_add(qp.stream as u16));
        Self(first.wrapping_add((qp.piece as u16).wrapping_mul(1 << 8)))
    }
}

impl SenderPolicy for SourcePort {
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
    fn a_queue_pair_has_the_port_of_its_flow_or_one_counted_by_stream() {
        let config = Config { of_stream: [10_000, 10_000, 10_001].into() };
        let port = |stream, piece| {
            let qp = QpContext { stream, piece, ..QpContext::for_test() };
            SourcePort::new(&config, &qp).entropy(Time::ZERO)
        };
        assert_eq!([0, 1, 2, 3].map(|stream| port(stream, 0)), [10_000, 10_000, 10_001, 10_003]);
        assert_eq!(port(2, 2), 10_513);
    }
}
