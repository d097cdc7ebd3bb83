//! The counts and loads of theorem 1.

use std::collections::BTreeMap;

use super::*;
use crate::split::SmallestPiece;
use crate::units::Bytes;

#[test]
fn every_uplink_gets_its_share_with_the_fewest_extra_flows() {
    let payload = 4096;
    for n in 1..=64u32 {
        for s in 2..=64u32 {
            let bytes = 1_000_000;
            let pieces = divide(&vec![bytes; n as usize], s);
            let r = n % s;
            let extra = if r == 0 { 0 } else { r * (s / gcd(r, s) - 1) };
            assert_eq!(pieces.len(), (n + extra) as usize, "n = {n}, s = {s}");
            assert_eq!(PieceCounts::of(n, s).extra(), extra);

            let mut by_path = BTreeMap::new();
            let mut by_flow = BTreeMap::new();
            for piece in &pieces {
                *by_path.entry(piece.path).or_insert(0u64) += piece.bytes;
                *by_flow.entry(piece.flow).or_insert(0u64) += piece.bytes;
            }
            let share = u64::from(n) * bytes / u64::from(s);
            assert_eq!(by_path.len(), s.min(pieces.len() as u32) as usize);
            for (path, &load) in &by_path {
                assert!(load.abs_diff(share) <= payload, "n = {n}, s = {s}, {path}: {load}");
            }
            assert_eq!(by_flow.len(), n as usize);
            assert!(by_flow.values().all(|&sum| sum == bytes), "bytes lost or doubled");
        }
    }
}

/// Divides flows of these lengths over `paths`, cut between any two bytes.
fn divide(lengths: &[u64], paths: u32) -> Vec<Piece> {
    let cutter = SmallestPiece::Bytes(Bytes::new(1)).cutter(Bytes::new(4_096));
    EqualPieces::divide(&Group { lengths, paths, cutter })
}

/// Like `divide`, but cut between packets of 4,096 bytes.
fn divide_by_packets(lengths: &[u64], paths: u32) -> Vec<Piece> {
    let cutter = SmallestPiece::Packet.cutter(Bytes::new(4_096));
    EqualPieces::divide(&Group { lengths, paths, cutter })
}

#[test]
fn a_flow_has_no_more_pieces_than_packets() {
    assert_eq!(divide(&[15], 16).len(), 15);
    assert_eq!(divide(&[16], 16).len(), 16);
    let bytes: Vec<u64> =
        divide_by_packets(&[4_096 * 3 - 1], 16).iter().map(|piece| piece.bytes).collect();
    assert_eq!(bytes, [4_096, 4_096, 4_095]);
    assert_eq!(divide_by_packets(&[8], 16), [Piece { flow: 0, bytes: 8, path: 0 }]);
    assert_eq!(divide_by_packets(&[0], 16), [Piece { flow: 0, bytes: 0, path: 0 }]);
}

/// Returns the least and the most bytes of a path.
fn extremes(pieces: &[Piece], paths: u32) -> (u64, u64) {
    let mut loads = vec![0u64; paths as usize];
    pieces.iter().for_each(|piece| loads[piece.path as usize] += piece.bytes);
    (*loads.iter().min().unwrap(), *loads.iter().max().unwrap())
}

#[test]
fn path_loads_differ_by_a_packet_if_flows_are_cut_between_packets() {
    let payload = 4_096;
    for (n, s) in (1..=64u32).flat_map(|n| (2..=32u32).map(move |s| (n, s))) {
        for packets in [32, 33, 37, 61, 256] {
            let bytes = packets * payload;
            let (least, most) = extremes(&divide_by_packets(&vec![bytes; n as usize], s), s);
            assert!(most - least <= payload, "n = {n}, s = {s}, {packets}: {least} to {most}");
            // A short last packet adds at most one packet of difference.
            for bytes in [bytes - 1, bytes - 2_000, bytes - 4_095] {
                let (least, most) = extremes(&divide_by_packets(&vec![bytes; n as usize], s), s);
                assert!(most - least < 2 * payload, "n = {n}, s = {s}, {bytes}: {least} to {most}");
            }
        }
    }
}
