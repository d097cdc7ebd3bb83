//! k-way splitting: each message in k equal pieces, each on a queue pair and a hashed path of its
//! own.
//!
//! Source: Addanki, Goyal, Marinos, Schmid, "Ethereal: Divide and Conquer Network Load Balancing
//! in Large-Scale Distributed Training" (arXiv 2407.00550 v2, 2025), evaluation, where it is called
//! MP-RDMA-2, -4 and -8 (it is not the transport of that name); NCCL does the same with several
//! queue pairs per connection. "REPS: Recycled Entropy Packet Spraying" (EuroSys 2026) compares
//! with eight sub-flows, "Load Balancing for AI Training Workloads" (arXiv 2507.21372 v2, 2026)
//! with four.
//!
//! \[inferred\] The last piece includes the remainder of the division; a message of fewer than k
//! bytes has one piece per byte.

use std::collections::VecDeque;
use std::num::NonZeroU16;

use serde::{Deserialize, Serialize};

use super::{Flow, Request, Split, SplitConfig, whole};
use crate::balance::sender::{SenderConfig, ecmp};
use crate::balance::{Parameters, Preset, Scheme, SchemeError, parse_config};
use crate::ids::HostId;
use crate::units::{Bytes, Time};

/// Parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Pieces per message. Default 8 (the most that Ethereal compares with; REPS, baselines).
    pub k: NonZeroU16,
}

impl Default for Config {
    fn default() -> Self {
        Self::of(8)
    }
}

impl Config {
    const fn of(k: u16) -> Self {
        Self { k: NonZeroU16::new(k).expect("a message has a piece") }
    }
}

/// `subflow-k`, and presets with the values of k that publications compare with.
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

/// A preset with a fixed k, which therefore has no parameters.
fn fixed(name: &'static str, k: u16, parameters: &Parameters) -> Result<Scheme, SchemeError> {
    let whole::Config {} = parse_config(name, parameters)?;
    Ok(scheme(name, Config::of(k)))
}

/// Pieces in the order of their messages.
#[derive(Debug)]
pub struct KWay {
    k: u64,
    flows: VecDeque<Flow>,
}

impl KWay {
    pub(super) fn new(config: &Config, _seed: u64, _host: HostId) -> Self {
        Self { k: u64::from(config.k.get()), flows: VecDeque::new() }
    }
}

impl Split for KWay {
    fn handle_message(&mut self, _now: Time, request: &Request) {
        let bytes = request.bytes.get();
        let pieces = self.k.min(bytes).max(1);
        let share = bytes / pieces;
        let last = share + bytes % pieces;
        let pieces = u32::try_from(pieces).expect("65,535 at most");
        for piece in 0..pieces {
            let bytes = Bytes::new(if piece + 1 == pieces { last } else { share });
            self.flows.push_back(Flow {
                bytes,
                piece,
                pieces,
                qp_index: piece,
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
    use crate::ids::{MessageId, SwitchId};

    /// Piece index, queue pair index and bytes of each flow of a message.
    fn pieces(k: u16, bytes: u64) -> Vec<(u32, u32, u64)> {
        let mut splitter = KWay::new(&Config::of(k), 1, HostId(0));
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
        flows.iter().map(|flow| (flow.piece, flow.qp_index, flow.bytes.get())).collect()
    }

    #[test]
    fn pieces_are_equal_and_the_last_includes_the_remainder() {
        assert_eq!(pieces(4, 1_002), [(0, 0, 250), (1, 1, 250), (2, 2, 250), (3, 3, 252)]);
        assert_eq!(pieces(1, 1_002), [(0, 0, 1_002)]);
    }

    #[test]
    fn a_message_has_no_more_pieces_than_bytes() {
        assert_eq!(pieces(8, 3), [(0, 0, 1), (1, 1, 1), (2, 2, 1)]);
        assert_eq!(pieces(8, 0), [(0, 0, 0)]);
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
