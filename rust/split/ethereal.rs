//! Ethereal: the fewest equal pieces that load every path alike, each pinned to its path.
//!
//! Source: Addanki, Goyal, Marinos, Schmid, "Ethereal: Divide and Conquer Network Load Balancing
//! in Large-Scale Distributed Training" (arXiv 2407.00550 v2, 2025), theorem 1. Of `n` flows over
//! `s` paths the first `n - n mod s` go whole, path by path; each of the `r = n mod s` last is cut
//! into `s / gcd(r, s)` equal pieces, laid over the paths in the same turn. Every path gets
//! `n·f/s` bytes for `r·(s/g − 1)` more queue pairs. When flows are gathered and in which order
//! they start is [`super::batch`]'s.
//!
//! \[inferred\] A flow shorter than its number of pieces goes whole.

use super::SplitConfig;
use super::batch::{Batch, Divide, Group, Part};
use crate::balance::sender::{SenderConfig, pinned};
use crate::balance::{Forwarding, Preset, Scheme, parse_config};

pub use super::batch::Config;

/// `ethereal`.
pub const PRESETS: &[Preset] = &[Preset {
    name: "ethereal",
    summary: "fewest equal pieces of flows, each pinned to a path by the source",
    source: "Addanki et al., Ethereal (arXiv 2407.00550 v2, 2025), theorem 1",
    build: |parameters| {
        Ok(Scheme {
            split: SplitConfig::Ethereal(parse_config("ethereal", parameters)?),
            forwarding: Forwarding::SourceRouted,
            ..Scheme::new("ethereal", SenderConfig::Pinned(pinned::Config {}))
        })
    },
}];

/// The splitter of one sending host.
pub type Ethereal = Batch<EqualPieces>;

/// Whole flows, and the rest in equal pieces.
#[derive(Debug)]
pub struct EqualPieces;

/// How `n` equal flows of `bytes` go over `s` paths: the arithmetic of theorem 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Division {
    /// Flows that go whole.
    pub whole: u32,
    /// Flows that are cut.
    pub cut: u32,
    /// Pieces of each cut flow.
    pub pieces: u32,
}

impl Division {
    /// Divides `flows` over `paths`, which are at least one.
    pub const fn of(flows: u32, paths: u32) -> Self {
        let cut = flows % paths;
        let pieces = if cut == 0 { 1 } else { paths / gcd(cut, paths) };
        Self { whole: flows - cut, cut, pieces }
    }

    /// Queue pairs beyond one a flow.
    pub const fn extra(self) -> u32 {
        self.cut * (self.pieces - 1)
    }
}

/// The greatest common divisor.
pub(super) const fn gcd(mut a: u32, mut b: u32) -> u32 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

impl Divide for EqualPieces {
    fn divide(group: &Group<'_>) -> Vec<Part> {
        let &Group { lengths, paths } = group;
        let division = Division::of(group.flows(), paths);
        let mut parts = Vec::with_capacity((group.flows() + division.extra()) as usize);
        let mut path = 0;
        for (flow, &bytes) in (0u32..).zip(lengths) {
            let is_cut = flow >= division.whole && bytes >= u64::from(division.pieces);
            let pieces = if is_cut { division.pieces } else { 1 };
            let share = bytes / u64::from(pieces);
            for piece in 0..pieces {
                let rest = if piece + 1 == pieces { bytes % u64::from(pieces) } else { 0 };
                parts.push(Part { flow, bytes: share + rest, path });
                path = (path + 1) % paths;
            }
        }
        parts
    }
}

#[cfg(test)]
mod tests;
