//! Line-cut: Ethereal's loads with fewer pieces, of unequal length.
//!
//! Source: our own, after Addanki, Goyal, Marinos, Schmid, "Ethereal: Divide and Conquer Network
//! Load Balancing in Large-Scale Distributed Training" (arXiv 2407.00550 v2, 2025), theorem 1,
//! whose least number of pieces is the least of *equal* pieces. Of `n` flows over `s` paths, as
//! there, `n - n mod s` go whole, path by path. The `r = n mod s` last are laid end to end on a
//! line, which is cut at multiples of the fair share `r·f/s`: the j-th length goes by the j-th
//! path, whatever flows it is of. Every path gets `n·f/s` bytes, to the byte.
//!
//! How many pieces: the line has `s − 1` cuts and `r − 1` ends of flows within it, and with
//! `g = gcd(r, s)` a cut falls on an end `g − 1` times, so there are `r + s − g` pieces where
//! Ethereal makes `r·s/g`, and `s − g` more queue pairs where Ethereal has `(s − g)·r/g`. No piece
//! is shorter than one of Ethereal's, `f·g/s`, but for rounding: `j·r/s` and a whole number
//! differ by `g/s` or not at all.
//!
//! When flows are gathered and in which order they start is [`super::batch`]'s.

use super::SplitConfig;
use super::batch::{Batch, Divide, Group, Part};
use crate::balance::sender::{SenderConfig, pinned};
use crate::balance::{Forwarding, Preset, Scheme, configured};

pub use super::batch::Config;

/// `line-cut`.
pub const PRESETS: &[Preset] = &[Preset {
    name: "line-cut",
    summary: "flows laid end to end and cut at the fair share, each piece pinned to a path",
    source: "our own, after Addanki et al., Ethereal (arXiv 2407.00550 v2, 2025), theorem 1",
    build: |parameters| {
        Ok(Scheme {
            split: SplitConfig::LineCut(configured("line-cut", parameters)?),
            forwarding: Forwarding::SourceRouted,
            ..Scheme::new("line-cut", SenderConfig::Pinned(pinned::Config {}))
        })
    },
}];

/// The splitter of one sending host.
pub type LineCut = Batch<FairCuts>;

/// Whole flows, and the rest cut where a path has its share.
#[derive(Debug)]
pub struct FairCuts;

impl Divide for FairCuts {
    fn divide(group: &Group) -> Vec<Part> {
        let &Group { flows, bytes, paths } = group;
        let rest = flows % paths;
        // With nothing to cut every flow is whole.
        let whole = if bytes == 0 { flows } else { flows - rest };
        let mut parts: Vec<Part> =
            (0..whole).map(|flow| Part { flow, bytes, path: flow % paths }).collect();
        if whole == flows {
            return parts;
        }
        let line = u128::from(bytes) * u128::from(rest);
        let cut_after = |path: u32| line * u128::from(path + 1) / u128::from(paths);
        let (mut at, mut path) = (0u128, 0u32);
        for flow in whole..flows {
            let end = u128::from(bytes) * u128::from(flow - whole + 1);
            while at < end {
                let next = end.min(cut_after(path));
                if next > at {
                    let bytes = u64::try_from(next - at).expect("a part of a flow");
                    parts.push(Part { flow, bytes, path });
                }
                at = next;
                path += u32::from(at == cut_after(path));
            }
        }
        parts
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::ethereal::{Division, EqualPieces, gcd};
    use super::*;

    /// Bytes by path.
    fn loads(parts: &[Part]) -> BTreeMap<u32, u64> {
        let mut loads = BTreeMap::new();
        parts.iter().for_each(|part| *loads.entry(part.path).or_default() += part.bytes);
        loads
    }

    fn lengths(parts: &[Part], flow: u32) -> Vec<u64> {
        parts.iter().filter(|part| part.flow == flow).map(|part| part.bytes).collect()
    }

    #[test]
    fn every_path_has_its_share_to_the_byte_with_r_plus_s_less_g_pieces() {
        for (flows, paths) in (1..=64u32).flat_map(|n| (2..=64u32).map(move |s| (n, s))) {
            let bytes = 1_000_003;
            let parts = FairCuts::divide(&Group { flows, bytes, paths });
            let (r, g) = (flows % paths, gcd(flows % paths, paths));
            let extra = if r == 0 { 0 } else { paths - g };
            let case = format!("n = {flows}, s = {paths}");

            assert_eq!(parts.len(), (flows + extra) as usize, "{case}");
            assert!(extra <= Division::of(flows, paths).extra(), "{case}");

            let share = u64::from(flows) * bytes / u64::from(paths);
            let loads = loads(&parts);
            assert_eq!(loads.len(), paths.min(flows + extra) as usize, "{case}");
            assert!(loads.values().all(|&load| load == share || load == share + 1), "{case}");

            for flow in 0..flows {
                let lengths = lengths(&parts, flow);
                assert_eq!(lengths.iter().sum::<u64>(), bytes, "{case}, flow {flow}");
                let shortest = bytes * u64::from(g) / u64::from(paths);
                assert!(lengths.iter().all(|&it| it >= shortest), "{case}");
            }
            let mut own = parts.clone();
            own.dedup_by_key(|part| (part.flow, part.path));
            assert_eq!(own.len(), parts.len(), "{case}: pieces of one flow share a path");
        }
    }

    #[test]
    fn loads_are_those_of_ethereal() {
        // What every number of paths up to 16 divides: neither rounds.
        let bytes = 720_720;
        for (flows, paths) in (1..=64u32).flat_map(|n| (2..=16u32).map(move |s| (n, s))) {
            let group = Group { flows, bytes, paths };
            let [ours, theirs] = [FairCuts::divide(&group), EqualPieces::divide(&group)];
            assert_eq!(loads(&ours), loads(&theirs), "n = {flows}, s = {paths}");
        }
    }

    #[test]
    fn fifteen_flows_over_sixteen_paths_are_30_pieces_for_240() {
        let group = Group { flows: 15, bytes: 16_000, paths: 16 };
        let parts = FairCuts::divide(&group);
        assert_eq!((parts.len(), EqualPieces::divide(&group).len()), (30, 240));
        assert_eq!(lengths(&parts, 0), [15_000, 1_000]);
        assert_eq!(lengths(&parts, 1), [14_000, 2_000]);
        assert_eq!(lengths(&parts, 14), [1_000, 15_000]);
    }

    #[test]
    fn three_flows_over_four_paths_are_cut_at_three_quarters() {
        let parts = FairCuts::divide(&Group { flows: 7, bytes: 400, paths: 4 });
        let part = |flow, bytes, path| Part { flow, bytes, path };
        assert_eq!(parts[..4], [0, 1, 2, 3].map(|flow| part(flow, 400, flow)));
        assert_eq!(parts[4..], [
            part(4, 300, 0),
            part(4, 100, 1),
            part(5, 200, 1),
            part(5, 200, 2),
            part(6, 100, 2),
            part(6, 300, 3),
        ]);
    }

    #[test]
    fn a_line_shorter_than_its_cuts_has_a_piece_a_byte() {
        let parts = FairCuts::divide(&Group { flows: 3, bytes: 1, paths: 16 });
        assert_eq!(parts.len(), 3);
        assert!((0..3).all(|flow| lengths(&parts, flow) == [1]), "{parts:?}");
        let none = FairCuts::divide(&Group { flows: 3, bytes: 0, paths: 16 });
        assert_eq!(none.len(), 3);
    }

    #[test]
    fn the_longest_flows_do_not_overflow() {
        let parts = FairCuts::divide(&Group { flows: 2, bytes: u64::MAX, paths: 3 });
        assert_eq!(parts.len(), 4);
        assert_eq!(parts.iter().map(|part| u128::from(part.bytes)).sum::<u128>(), 2 * u128::from(u64::MAX));
    }
}
