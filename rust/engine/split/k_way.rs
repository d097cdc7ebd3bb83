//! k-way splitting: each message in k equal pieces, each on its own queue pair and hashed path.
//!
//! Source: Addanki, Goyal, Marinos, Schmid, "Ethereal: Divide and Conquer Network Load Balancing in
//! Large-Scale Distributed Training" (arXiv 2407.00550 v2, 2025), evaluation, where it is called
//! MP-RDMA-2, -4 and -8 (it is not the transport of that name). NCCL does the same with several
//! queue pairs per connection. "REPS: Recycled Entropy Packet Spraying" (EuroSys 2026) compares
//! with eight sub-flows, "Load Balancing for AI Training Workloads" (arXiv 2507.21372 v2, 2026)
//! with four.
//!
//! \[inferred\] Messages are cut between packets, so that pieces differ by a packet at most. A
//! message of fewer than k packets has one piece per packet ([`super::pieces`]).

use std::collections::VecDeque;
use std::num::NonZeroU16;

use serde::{Deserialize, Serialize};

use super::{Cutter, Flow, QueuePairChoice, Request, SmallestPiece};
use super::{Split, SplitConfig, SplitterContext, whole};
use crate::balance::sender::{SenderConfig, ecmp};
use crate::balance::{Parameters, Preset, Scheme, SchemeError, parse_config};
use crate::units::{Bytes, Time};

/// The parameters of the policies that cut messages into k pieces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Number of pieces per message. Default 8 (the most that Ethereal compares with; REPS,
    /// baselines).
    pub k: NonZeroU16,
    /// Smallest piece: `"packet"` cuts between packets, a number of bytes anywhere. Default
    /// `"packet"` \[inferred\].
    pub smallest_piece: SmallestPiece,
}

impl Default for Config {
    fn default() -> Self {
        Self::of(8)
    }
}

impl Config {
    pub(super) const fn smallest_piece(self) -> Option<SmallestPiece> {
        Some(self.smallest_piece)
    }

    const fn of(k: u16) -> Self {
        let k = NonZeroU16::new(k).expect("a message has a piece");
        Self { k, smallest_piece: SmallestPiece::Packet }
    }
}

/// The preset `subflow-k`, and presets with the values of k that publications compare with.
pub const PRESETS: &[Preset] = &[
    Preset {
        name: "subflow-k",
        summary: "each message in k equal pieces, each on a hashed path",
        source: SOURCE,
        build: |parameters| Ok(scheme("subflow-k", parse_config("subflow-k", parameters)?)),
    },
    Preset {
        name: "subflow-2",
        summary: "each message in 2 equal pieces, each on a hashed path (MP-RDMA-2)",
        source: SOURCE,
        build: |parameters| fixed("subflow-2", 2, parameters),
    },
    Preset {
        name: "subflow-4",
        summary: "each message in 4 equal pieces, each on a hashed path (MP-RDMA-4)",
        source: SOURCE,
        build: |parameters| fixed("subflow-4", 4, parameters),
    },
    Preset {
        name: "subflow-8",
        summary: "each message in 8 equal pieces, each on a hashed path (MP-RDMA-8)",
        source: SOURCE,
        build: |parameters| fixed("subflow-8", 8, parameters),
    },
    Preset {
        name: "subflow-16",
        summary: "each message in 16 equal pieces, each on a hashed path",
        source: SOURCE,
        build: |parameters| fixed("subflow-16", 16, parameters),
    },
];

const SOURCE: &str = "Addanki et al., Ethereal (arXiv 2407.00550 v2, 2025), evaluation";

fn scheme(name: &'static str, config: Config) -> Scheme {
    let sender = SenderConfig::Ecmp(ecmp::Config {});
    Scheme { split: SplitConfig::KWay(config), ..Scheme::new(name, sender) }
}

/// Builds a preset with a fixed k, which therefore has no parameters.
fn fixed(name: &'static str, k: u16, parameters: &Parameters) -> Result<Scheme, SchemeError> {
    let whole::Config {} = parse_config(name, parameters)?;
    Ok(scheme(name, Config::of(k)))
}

/// The pieces, in the order of their messages.
#[derive(Debug)]
pub struct KWay {
    k: u64,
    cutter: Cutter,
    flows: VecDeque<Flow>,
}

impl KWay {
    pub(super) fn new(config: &Config, host: &SplitterContext) -> Self {
        Self {
            k: u64::from(config.k.get()),
            cutter: config.smallest_piece.cutter(host.payload),
            flows: VecDeque::new(),
        }
    }
}

impl Split for KWay {
    fn handle_message(&mut self, _now: Time, request: &Request) {
        let bytes = request.bytes.get();
        let count = self.cutter.count(bytes, self.k);
        let pieces = u32::try_from(count).expect("65,535 at most");
        for (piece, length) in (0..).zip(self.cutter.lengths(bytes, count, 0)) {
            self.flows.push_back(Flow {
                bytes: Bytes::new(length),
                piece,
                pieces,
                queue_pair: QueuePairChoice::Index(piece),
                ..Flow::whole(request)
            });
        }
    }

    fn poll_flow(&mut self, _now: Time) -> Option<Flow> {
        self.flows.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::balance::build_scheme;
    use crate::balance::sender::PathSpace;
    use crate::ids::{HostId, MessageId, SwitchId};

    /// Returns piece index, queue pair and bytes of each flow of a message.
    fn pieces(k: u16, bytes: u64, smallest: &str) -> Vec<(u32, QueuePairChoice, u64)> {
        let smallest_piece = match smallest {
            "packet" => SmallestPiece::Packet,
            bytes => SmallestPiece::Bytes(bytes.parse().unwrap()),
        };
        let config = Config { smallest_piece, ..Config::of(k) };
        let payload = Bytes::new(4_096);
        let mut splitter =
            KWay::new(&config, &SplitterContext { host: HostId(0), seed: 1, payload });
        let request = Request {
            message: MessageId(7),
            dst: HostId(3),
            edge: SwitchId(1),
            bytes: Bytes::new(bytes),
            paths: PathSpace::SINGLE,
        };
        splitter.handle_message(Time::ZERO, &request);
        let flows: Vec<Flow> = std::iter::from_fn(|| splitter.poll_flow(Time::ZERO)).collect();
        let alike = |flow: &Flow| (flow.message, flow.dst, flow.pieces as usize);
        assert!(flows.iter().all(|flow| alike(flow) == (MessageId(7), HostId(3), flows.len())));
        flows.iter().map(|flow| (flow.piece, flow.queue_pair, flow.bytes.get())).collect()
    }

    /// Returns the bytes of pieces, each on the queue pair of its own index.
    fn lengths(k: u16, bytes: u64, smallest: &str) -> Vec<u64> {
        let pieces = pieces(k, bytes, smallest);
        for (index, &(piece, queue_pair, _)) in (0..).zip(&pieces) {
            assert_eq!((piece, queue_pair), (index, QueuePairChoice::Index(index)));
        }
        pieces.into_iter().map(|(.., bytes)| bytes).collect()
    }

    #[test]
    fn pieces_are_nearly_equal() {
        assert_eq!(lengths(4, 1_002, "1B"), [251, 251, 250, 250]);
        assert_eq!(lengths(1, 1_002, "1B"), [1_002]);
        assert_eq!(lengths(4, 65_536, "packet"), [16_384; 4]);
        assert_eq!(lengths(2, 12_000, "packet"), [8_192, 3_808]);
    }

    #[test]
    fn no_piece_is_shorter_than_the_smallest_piece() {
        assert_eq!(lengths(8, 3, "1B"), [1, 1, 1]);
        assert_eq!(lengths(8, 0, "1B"), [0]);
        assert_eq!(lengths(8, 8, "packet"), [8]);
        assert_eq!(lengths(8, 12_288, "packet"), [4_096; 3]);
        assert_eq!(lengths(8, 1_000, "400B"), [500, 500]);
    }

    #[test]
    fn presets_with_a_fixed_k_have_no_parameters() {
        let three: Parameters = "k = 3".parse().unwrap();
        assert_eq!(
            build_scheme("subflow-k", &three).unwrap().split,
            SplitConfig::KWay(Config::of(3))
        );
        assert!(build_scheme("subflow-4", &three).is_err());
        assert!(build_scheme("subflow-k", &"k = 0".parse().unwrap()).is_err());
    }
}
