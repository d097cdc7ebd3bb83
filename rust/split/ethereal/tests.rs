//! The counts and loads of theorem 1.

use std::collections::BTreeMap;

use super::*;

#[test]
fn every_uplink_gets_its_share_with_the_fewest_extra_flows() {
    let payload = 4096;
    for n in 1..=64u32 {
        for s in 2..=64u32 {
            let bytes = 1_000_000;
            let pieces =
                EqualPieces::divide(&Group { lengths: &vec![bytes; n as usize], paths: s });
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

#[test]
fn a_flow_of_fewer_bytes_than_pieces_stays_whole() {
    let pieces = EqualPieces::divide(&Group { lengths: &[15], paths: 16 });
    assert_eq!(pieces, [Piece { flow: 0, bytes: 15, path: 0 }]);
    assert_eq!(EqualPieces::divide(&Group { lengths: &[16], paths: 16 }).len(), 16);
}
