//! Line-cut: the path loads of Ethereal with fewer pieces of unequal length.
//!
//! Source: this project, after Addanki, Goyal, Marinos, Schmid, "Ethereal: Divide and Conquer
//! Network Load Balancing in Large-Scale Distributed Training" (arXiv 2407.00550 v2, 2025), theorem
//! 1, whose least number of pieces is the least number of *equal* pieces. As in Ethereal, `n - n
//! mod s` of `n` flows over `s` paths stay whole and take the paths in order. The last `r = n mod
//! s` flows are laid end to end on a line, which is cut at multiples of the fair share `r·f/s`: the
//! j-th segment takes the j-th path, whichever flows it belongs to. Every path gets `n·f/s` bytes,
//! up to the rounding of a byte at each cut.
//!
//! Number of pieces: the line has `s − 1` cuts and `r − 1` flow boundaries. With `g = gcd(r, s)`,
//! `g − 1` cuts coincide with boundaries. That makes `r + s − g` pieces where Ethereal makes
//! `r·s/g`, and `s − g` additional queue pairs where Ethereal has `(s − g)·r/g`. No piece is
//! shorter than one of Ethereal's, `f·g/s`, up to rounding: `j·r/s` and an integer differ by at
//! least `g/s` or not at all. Cuts are moved to the start of the packet that they fall into
//! ([`super::pieces`]), so that path loads differ by a packet at most.
//!
//! [`super::batch`] gathers flows and schedules their starts.

use super::batch::{Batch, Divide, Group, Piece};
use super::{Cutter, SplitConfig};
use crate::balance::sender::{SenderConfig, pinned};
use crate::balance::{Forwarding, Preset, Scheme, parse_config};

pub use super::batch::Config;

/// The preset `line-cut`: source routes and a pinned path for each piece.
pub const PRESETS: &[Preset] = &[Preset {
    name: "line-cut",
    summary: "flows laid end to end and cut at the fair share, each piece pinned to a path",
    source: "this project, after Addanki et al., Ethereal (arXiv 2407.00550 v2, 2025), theorem 1",
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

/// Divides a group into whole flows and segments of fair length of the remaining flows.
#[derive(Debug)]
pub struct FairCuts;

impl Divide for FairCuts {
    fn divide(group: &Group<'_>) -> Vec<Piece> {
        let &Group { lengths, paths, cutter } = group;
        let rest = group.flows() % paths;
        let (whole, cut) = lengths.split_at(lengths.len() - rest as usize);
        let flows = (0u32..).zip(whole);
        let mut pieces: Vec<Piece> =
            flows.map(|(flow, &bytes)| Piece { flow, bytes, path: flow % paths }).collect();
        for (index, (flow, &bytes)) in (0u32..).zip((group.flows() - rest..).zip(cut)) {
            let first = pieces.len();
            if bytes == 0 {
                pieces.push(Piece { flow, bytes, path: 0 });
            }
            // The line is measured in 1/paths of a flow, so that all cuts are integers: a flow is
            // `paths` units long, and the segment of a path `rest` units.
            let (start, end) =
                (u64::from(index) * u64::from(paths), u64::from(index + 1) * u64::from(paths));
            let bytes_to = |at: u64| {
                let offset = u128::from(bytes) * u128::from(at - start) / u128::from(paths);
                let offset = u64::try_from(offset).expect("at most the length of the flow");
                if at == end { offset } else { cutter.cut_before(offset) }
            };
            let mut at = start;
            while at < end {
                let path = at / u64::from(rest);
                let next = end.min((path + 1) * u64::from(rest));
                let bytes = bytes_to(next) - bytes_to(at);
                if bytes > 0 {
                    let path = u32::try_from(path).expect("below the number of paths");
                    append(&mut pieces, first, Piece { flow, bytes, path }, cutter);
                }
                at = next;
            }
            join_short_end(&mut pieces, first, cutter);
        }
        pieces
    }
}

/// Adds a segment to the pieces of its flow, which start at index `first`. The segment is joined to
/// the last piece if that is shorter than the smallest piece.
fn append(pieces: &mut Vec<Piece>, first: usize, segment: Piece, cutter: Cutter) {
    match pieces[first..].last_mut() {
        Some(last) if last.bytes < cutter.least() => join(last, segment),
        _ => pieces.push(segment),
    }
}

/// Joins the last piece of a flow to the piece before it if it is shorter than the smallest piece.
/// The flow's pieces start at index `first`.
fn join_short_end(pieces: &mut Vec<Piece>, first: usize, cutter: Cutter) {
    if let [.., before, last] = &mut pieces[first..]
        && last.bytes < cutter.least()
    {
        join(before, *last);
        pieces.pop();
    }
}

/// Merges `other` into `piece`, on the path of the longer.
fn join(piece: &mut Piece, other: Piece) {
    if other.bytes > piece.bytes {
        piece.path = other.path;
    }
    piece.bytes += other.bytes;
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::ethereal::{EqualPieces, PieceCounts};
    use super::*;
    use crate::balance::rotation::gcd;
    use crate::split::SmallestPiece;
    use crate::units::Bytes;

    /// Returns the bytes of each path.
    fn loads(pieces: &[Piece]) -> BTreeMap<u32, u64> {
        let mut loads = BTreeMap::new();
        pieces.iter().for_each(|piece| *loads.entry(piece.path).or_default() += piece.bytes);
        loads
    }

    fn bytewise() -> Cutter {
        SmallestPiece::Bytes(Bytes::new(1)).cutter(Bytes::new(4_096))
    }

    fn divide(flows: u32, bytes: u64, paths: u32) -> [Vec<Piece>; 2] {
        let group = Group { lengths: &vec![bytes; flows as usize], paths, cutter: bytewise() };
        [FairCuts::divide(&group), EqualPieces::divide(&group)]
    }

    fn lengths(pieces: &[Piece], flow: u32) -> Vec<u64> {
        pieces.iter().filter(|piece| piece.flow == flow).map(|piece| piece.bytes).collect()
    }

    #[test]
    fn every_path_has_its_share_to_the_byte_with_r_plus_s_minus_g_pieces() {
        for (flows, paths) in (1..=64u32).flat_map(|n| (2..=64u32).map(move |s| (n, s))) {
            let bytes = 1_000_003;
            let [pieces, equal] = divide(flows, bytes, paths);
            let (r, g) = (flows % paths, gcd(flows % paths, paths));
            let extra = if r == 0 { 0 } else { paths - g };
            let case = format!("n = {flows}, s = {paths}");

            assert_eq!(pieces.len(), (flows + extra) as usize, "{case}");
            assert_eq!(equal.len(), (flows + PieceCounts::of(flows, paths).extra()) as usize);
            assert!(pieces.len() <= equal.len(), "{case}");

            let share = u64::from(flows) * bytes / u64::from(paths);
            let loads = loads(&pieces);
            assert_eq!(loads.len(), paths.min(flows + extra) as usize, "{case}");
            assert!(loads.values().all(|&load| load == share || load == share + 1), "{case}");

            for flow in 0..flows {
                let lengths = lengths(&pieces, flow);
                assert_eq!(lengths.iter().sum::<u64>(), bytes, "{case}, flow {flow}");
                let shortest = bytes * u64::from(g) / u64::from(paths);
                assert!(lengths.iter().all(|&it| it >= shortest), "{case}");
            }
            let mut own = pieces.clone();
            own.dedup_by_key(|piece| (piece.flow, piece.path));
            assert_eq!(own.len(), pieces.len(), "{case}: pieces of one flow share a path");
        }
    }

    #[test]
    fn path_loads_equal_those_of_ethereal() {
        // A multiple of all numbers up to 16, so that neither splitter rounds.
        let bytes = 720_720;
        for (flows, paths) in (1..=64u32).flat_map(|n| (2..=16u32).map(move |s| (n, s))) {
            let [ours, theirs] = divide(flows, bytes, paths);
            assert_eq!(loads(&ours), loads(&theirs), "n = {flows}, s = {paths}");
        }
    }

    #[test]
    fn fifteen_flows_over_sixteen_paths_are_30_pieces_instead_of_240() {
        let [pieces, equal] = divide(15, 16_000, 16);
        assert_eq!((pieces.len(), equal.len()), (30, 240));
        assert_eq!(lengths(&pieces, 0), [15_000, 1_000]);
        assert_eq!(lengths(&pieces, 1), [14_000, 2_000]);
        assert_eq!(lengths(&pieces, 14), [1_000, 15_000]);
    }

    #[test]
    fn three_flows_over_four_paths_are_cut_at_three_quarters() {
        let [pieces, _] = divide(7, 400, 4);
        let piece = |flow, bytes, path| Piece { flow, bytes, path };
        assert_eq!(pieces[..4], [0, 1, 2, 3].map(|flow| piece(flow, 400, flow)));
        assert_eq!(
            pieces[4..],
            [
                piece(4, 300, 0),
                piece(4, 100, 1),
                piece(5, 200, 1),
                piece(5, 200, 2),
                piece(6, 100, 2),
                piece(6, 300, 3),
            ]
        );
    }

    #[test]
    fn a_flow_shorter_than_its_cuts_has_one_piece_per_byte() {
        let [pieces, _] = divide(3, 1, 16);
        assert!((0..3).all(|flow| lengths(&pieces, flow) == [1]), "{pieces:?}");
        let [none, _] = divide(3, 0, 16);
        assert!((0..3).all(|flow| lengths(&none, flow) == [0]), "{none:?}");
    }

    #[test]
    fn no_piece_of_a_cut_flow_is_shorter_than_the_smallest_piece() {
        let least = 4_096;
        let cutter = SmallestPiece::Bytes(Bytes::new(least)).cutter(Bytes::new(1_000));
        for (flows, paths) in (1..=24u32).flat_map(|n| (2..=24u32).map(move |s| (n, s))) {
            for bytes in [1, 4_096, 8_191, 10_000, 65_536] {
                let all = vec![bytes; flows as usize];
                let pieces = FairCuts::divide(&Group { lengths: &all, paths, cutter });
                let case = format!("n = {flows}, s = {paths}, {bytes} bytes");
                assert!(pieces.iter().all(|piece| piece.bytes >= least.min(bytes)), "{case}");
                assert!((0..flows).all(|it| lengths(&pieces, it).iter().sum::<u64>() == bytes));
            }
        }
    }

    #[test]
    fn flows_are_cut_between_packets() {
        let (payload, packets) = (1_000, 37);
        let cutter = SmallestPiece::Packet.cutter(Bytes::new(payload));
        for (flows, paths) in (1..=24u32).flat_map(|n| (2..=24u32).map(move |s| (n, s))) {
            let all = vec![packets * payload - 1; flows as usize];
            let pieces = FairCuts::divide(&Group { lengths: &all, paths, cutter });
            for flow in 0..flows {
                let lengths = lengths(&pieces, flow);
                let cut: u64 = lengths.iter().map(|length| length.div_ceil(payload)).sum();
                assert_eq!(cut, packets, "n = {flows}, s = {paths}: the packets of the whole flow");
            }
            let loads = loads(&pieces);
            let (least, most) = (loads.values().min().unwrap(), loads.values().max().unwrap());
            assert!(most - least <= 2 * payload, "n = {flows}, s = {paths}: {least} to {most}");
        }
    }

    #[test]
    fn flows_that_differ_by_a_byte_have_as_many_pieces_as_equal_flows() {
        let lengths = [1_000, 1_001, 1_001, 1_000, 1_001, 1_000, 1_000, 1_001];
        let pieces = FairCuts::divide(&Group { lengths: &lengths, paths: 16, cutter: bytewise() });
        assert_eq!(pieces.len(), 16, "each flow in halves");
        assert!(pieces.iter().all(|piece| (500..=501).contains(&piece.bytes)));
    }

    #[test]
    fn the_longest_flows_do_not_overflow() {
        let [pieces, _] = divide(2, u64::MAX, 3);
        assert_eq!(pieces.len(), 4);
        let all = pieces.iter().map(|piece| u128::from(piece.bytes)).sum::<u128>();
        assert_eq!(all, 2 * u128::from(u64::MAX));
    }

    #[test]
    fn a_short_segment_joins_the_path_of_its_longer_neighbour() {
        let cutter = SmallestPiece::Bytes(Bytes::new(4_096)).cutter(Bytes::new(1_000));
        let piece = |flow, bytes, path| Piece { flow, bytes, path };
        // Cut at 6,000 and 12,000 B of the line: 6,000 and 3,000 B, then 3,000 and 6,000 B.
        let two = FairCuts::divide(&Group { lengths: &[9_000; 2], paths: 3, cutter });
        assert_eq!(two, [piece(0, 9_000, 0), piece(1, 9_000, 2)]);
        // Among equal segments the first one decides.
        let one = FairCuts::divide(&Group { lengths: &[8_192], paths: 4, cutter });
        assert_eq!(one, [piece(0, 4_096, 0), piece(0, 4_096, 2)]);
    }
}
