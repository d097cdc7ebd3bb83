//! The lower bound of Ofan's permutation (arXiv 2507.21372 v2, appendix B), and the policies that
//! come close to it.

use std::sync::Arc;

use super::run::{complete, setup, side_by_side};
use crate::support::screen;
use evenkeel::study::lower_bound;
use evenkeel::units::Bytes;

/// Packets per message, and the bound in microseconds: the first is in the paper, the others follow
/// from its closed form.
const PUBLISHED: [(u64, f64); 3] = [(256, 17.05694), (2_048, 93.43198), (4_096, 180.71774)];

#[test]
fn the_bounds_equal_those_of_ofan_in_all_digits() {
    let rows = side_by_side(&PUBLISHED, |&(packets, published)| {
        let mut setup = setup("ofan-permutation.toml", "ethereal", 1);
        let workload = Arc::make_mut(&mut setup.workload);
        for message in &mut workload.messages {
            message.bytes = Bytes::new(packets * 4_096);
        }
        let bound = lower_bound(&setup).time.as_ns_f64() / 1e3;
        let reached = complete(&setup).cct.expect("it completed").as_ns_f64() / 1e3;
        assert!((bound - published).abs() < 1e-5, "{bound} for {published}");
        assert!(bound <= reached * 1.000_2, "{reached} beats {bound}");
        format!("{packets:>7} {published:>14.5} {bound:>14.5} {reached:>16.3}\n")
    });
    let head = "Permutation, k = 8, 800 Gbps: lower bound in us (Ofan, appendix B)\n\
                packets      published           ours  ethereal reaches\n";
    screen("published-bounds", &format!("{head}{}", rows.concat()));
}
