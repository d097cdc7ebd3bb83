//! Ethereal: the fewest equal pieces that load every path equally, each pinned to its path.
//!
//! Source: Addanki, Goyal, Marinos, Schmid, "Ethereal: Divide and Conquer Network Load Balancing in
//! Large-Scale Distributed Training" (arXiv 2407.00550 v2, 2025), theorem 1. With `n` flows over
//! `s` paths, the first `n - n mod s` stay whole and take the paths in order. The last `r = n mod
//! s` are each cut into `s / gcd(r, s)` equal pieces, which continue that order. Every path gets
//! `n·f/s` bytes for `r·(s/g − 1)` additional queue pairs. [`super::batch`] gathers flows and
//! schedules their starts.
//!
//! \[inferred\] Flows are cut between packets ([`super::pieces`]). Packets that do not divide
//! evenly are spread over the paths round-robin, so that path loads differ by a packet at most. A
//! flow with fewer packets than pieces has one piece per packet.

use super::SplitConfig;
use super::batch::{Batch, Divide, Group, Piece};
use crate::balance::rotation::gcd;
use crate::balance::sender::{SenderConfig, pinned};
use crate::balance::{Forwarding, Preset, Scheme, parse_config};

pub use super::batch::Config;

/// The preset `ethereal`: source routes and a pinned path for each piece.
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

/// Divides a group into whole flows and equal pieces of the remaining flows.
#[derive(Debug)]
pub struct EqualPieces;

/// The division of `n` equal flows over `s` paths: the arithmetic of theorem 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PieceCounts {
    /// Number of flows that stay whole.
    whole: u32,
    /// Number of flows that are cut.
    cut: u32,
    /// Pieces per cut flow.
    pieces: u32,
}

impl PieceCounts {
    /// Returns the counts for `flows` over `paths`, which is at least one.
    pub(super) const fn of(flows: u32, paths: u32) -> Self {
        let cut = flows % paths;
        let pieces = if cut == 0 { 1 } else { paths / gcd(cut, paths) };
        Self { whole: flows - cut, cut, pieces }
    }

    /// Returns the number of queue pairs in addition to one per flow.
    pub(super) const fn extra(self) -> u32 {
        self.cut * (self.pieces - 1)
    }
}

impl Divide for EqualPieces {
    fn divide(group: &Group<'_>) -> Vec<Piece> {
        let &Group { lengths, paths, cutter } = group;
        let counts = PieceCounts::of(group.flows(), paths);
        let mut pieces = Vec::with_capacity((group.flows() + counts.extra()) as usize);
        let mut path = 0;
        for (flow, &bytes) in (0u32..).zip(lengths) {
            let cut_before = u64::from(flow.saturating_sub(counts.whole));
            let requested = if flow < counts.whole { 1 } else { counts.pieces };
            let count = cutter.count(bytes, u64::from(requested));
            // After every `paths / pieces` cut flows the same paths come round again. The pieces
            // are then shifted by one path, so that short last packets do not all fall on one path
            // and the longer pieces move to other paths.
            let round = cut_before / u64::from(paths / counts.pieces);
            let shift = round % count;
            let first_longer = (round * cutter.longer(bytes, count) + count - shift) % count;
            for (index, bytes) in (0..).zip(cutter.lengths(bytes, count, first_longer)) {
                let offset = u32::try_from((index + shift) % count).expect("below all paths");
                pieces.push(Piece { flow, bytes, path: (path + offset) % paths });
            }
            path = (path + u32::try_from(count).expect("at most one piece per path")) % paths;
        }
        pieces
    }
}

#[cfg(test)]
mod tests;
