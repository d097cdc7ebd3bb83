//! Line-cut: Ethereal's loads with fewer pieces, of unequal length.
//!
//! Source: our own, after Addanki, Goyal, Marinos, Schmid, "Ethereal: Divide and Conquer Network
//! Load Balancing in Large-Scale Distributed Training" (arXiv 2407.00550 v2, 2025), theorem 1,
//! whose least number of pieces is the least of *equal* pieces. Of `n` flows over `s` paths, as
//! there, `n - n mod s` go whole, path by path. The `r = n mod s` last are laid end to end on a
//! line, which is cut at multiples of the fair share `r·f/s`: the j-th length goes by the j-th
//! path, whatever flows it is of. Every path gets `n·f/s` bytes, but for the rounding of a byte
//! where a flow is cut.
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
use crate::balance::{Forwarding, Preset, Scheme, parse_config};

pub use super::batch::Config;

/// `line-cut`.
pub const PRESETS: &[Preset] = &[Preset {
    name: "line-cut",
    summary: "flows laid end to end and cut at the fair share, each piece pinned to a path",
    source: "our own, after Addanki et al., Ethereal (arXiv 2407.00550 v2, 2025), theorem 1",
    build: |parameters| {
        Ok(Scheme {
            split: SplitConfig::LineCut(parse_config("line-cut", parameters)?),
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
    fn divide(group: &Group<'_>) -> Vec<Part> {
        let &Group { lengths, paths } = group;
        let rest = group.flows() % paths;
        let (whole, cut) = lengths.split_at(lengths.len() - rest as usize);
        let flows = (0u32..).zip(whole);
        let mut parts: Vec<Part> =
            flows.map(|(flow, &bytes)| Part { flow, bytes, path: flow % paths }).collect();
        for (place, (flow, &bytes)) in (0u32..).zip((group.flows() - rest..).zip(cut)) {
            if bytes == 0 {
                parts.push(Part { flow, bytes, path: 0 });
            }
            // Places on the line in parts of a flow, `paths` to each: a path has `rest` of them.
            let (start, end) =
                (u64::from(place) * u64::from(paths), u64::from(place + 1) * u64::from(paths));
            let bytes_to = |at: u64| {
                let bytes = u128::from(bytes) * u128::from(at - start) / u128::from(paths);
                u64::try_from(bytes).expect("a part of a flow")
            };
            let mut at = start;
            while at < end {
                let path = at / u64::from(rest);
                let next = end.min((path + 1) * u64::from(rest));
                let bytes = bytes_to(next) - bytes_to(at);
                if bytes > 0 {
                    let path = u32::try_from(path).expect("below the number of paths");
                    parts.push(Part { flow, bytes, path });
                }
                at = next;
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

    fn divide(flows: u32, bytes: u64, paths: u32) -> [Vec<Part>; 2] {
        let group = Group { lengths: &vec![bytes; flows as usize], paths };
        [FairCuts::divide(&group), EqualPieces::divide(&group)]
    }

    fn lengths(parts: &[Part], flow: u32) -> Vec<u64> {
        parts.iter().filter(|part| part.flow == flow).map(|part| part.bytes).collect()
    }

    #[test]
    fn every_path_has_its_share_to_the_byte_with_r_plus_s_less_g_pieces() {
        for (flows, paths) in (1..=64u32).flat_map(|n| (2..=64u32).map(move |s| (n, s))) {
            let bytes = 1_000_003;
            let [parts, equal] = divide(flows, bytes, paths);
            let (r, g) = (flows % paths, gcd(flows % paths, paths));
            let extra = if r == 0 { 0 } else { paths - g };
            let case = format!("n = {flows}, s = {paths}");

            assert_eq!(parts.len(), (flows + extra) as usize, "{case}");
            assert_eq!(equal.len(), (flows + Division::of(flows, paths).extra()) as usize);
            assert!(parts.len() <= equal.len(), "{case}");

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
            let [ours, theirs] = divide(flows, bytes, paths);
            assert_eq!(loads(&ours), loads(&theirs), "n = {flows}, s = {paths}");
        }
    }

    #[test]
    fn fifteen_flows_over_sixteen_paths_are_30_pieces_for_240() {
        let [parts, equal] = divide(15, 16_000, 16);
        assert_eq!((parts.len(), equal.len()), (30, 240));
        assert_eq!(lengths(&parts, 0), [15_000, 1_000]);
        assert_eq!(lengths(&parts, 1), [14_000, 2_000]);
        assert_eq!(lengths(&parts, 14), [1_000, 15_000]);
    }

    #[test]
    fn three_flows_over_four_paths_are_cut_at_three_quarters() {
        let [parts, _] = divide(7, 400, 4);
        let part = |flow, bytes, path| Part { flow, bytes, path };
        assert_eq!(parts[..4], [0, 1, 2, 3].map(|flow| part(flow, 400, flow)));
        assert_eq!(
            parts[4..],
            [
                part(4, 300, 0),
                part(4, 100, 1),
                part(5, 200, 1),
                part(5, 200, 2),
                part(6, 100, 2),
                part(6, 300, 3),
            ]
        );
    }

    #[test]
    fn a_line_shorter_than_its_cuts_has_a_piece_a_byte() {
        let [parts, _] = divide(3, 1, 16);
        assert!((0..3).all(|flow| lengths(&parts, flow) == [1]), "{parts:?}");
        let [none, _] = divide(3, 0, 16);
        assert!((0..3).all(|flow| lengths(&none, flow) == [0]), "{none:?}");
    }

    #[test]
    fn a_byte_more_in_some_flows_makes_no_more_pieces() {
        let lengths = [1_000, 1_001, 1_001, 1_000, 1_001, 1_000, 1_000, 1_001];
        let parts = FairCuts::divide(&Group { lengths: &lengths, paths: 16 });
        assert_eq!(parts.len(), 16, "each flow in halves");
        assert!(parts.iter().all(|part| (500..=501).contains(&part.bytes)));
    }

    #[test]
    fn the_longest_flows_do_not_overflow() {
        let [parts, _] = divide(2, u64::MAX, 3);
        assert_eq!(parts.len(), 4);
        let all = parts.iter().map(|part| u128::from(part.bytes)).sum::<u128>();
        assert_eq!(all, 2 * u128::from(u64::MAX));
    }
}
