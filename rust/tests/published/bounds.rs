//! The lower bound of Ofan's permutation (arXiv 2507.21372 v2, appendix B), and the policies that
//! approach it. The paper counts a gap after the last packet; our bound does not.

use std::sync::Arc;

use super::run::{complete, setup, side_by_side};
use crate::support::{extent, rows, screen};
use evenkeel::study::lower_bound;
use evenkeel::units::{BitRate, Bytes};

/// Packets per message, the bound in microseconds, and its origin. The first bound is in the paper;
/// the others follow from our closed form of it.
const BOUNDS: [(u64, f64, &str); 3] =
    [(256, 17.05694, "paper"), (2_048, 93.43198, "closed form"), (4_096, 180.71774, "closed form")];

#[test]
fn the_bounds_equal_those_of_ofan_in_all_digits() {
    let jobs = extent::cases("published::bounds", BOUNDS.to_vec(), |it| it.0 == BOUNDS[0].0);
    let made = side_by_side(&jobs, |&(packets, theirs, by)| {
        let mut setup = setup("ofan-permutation.toml", "ethereal", 1);
        let workload = Arc::make_mut(&mut setup.workload);
        for message in &mut workload.messages {
            message.bytes = Bytes::new(packets * 4_096);
        }
        let bound = lower_bound(&setup).time;
        let cct = complete(&setup).cct.expect("it completed");
        assert!(bound <= cct, "{cct} beats {bound}");
        let rate = BitRate::from_gbps(800);
        let bound = (bound + rate.time_for(setup.fabric.gap)).as_ns_f64() / 1e3;
        let reached = cct.as_ns_f64() / 1e3;
        assert!((bound - theirs).abs() < 1e-5, "{bound} for {theirs}");
        format!("{packets:>7}  {by:<11} {theirs:>11.5} {bound:>14.5} {reached:>16.3}\n")
    });
    if made.len() < BOUNDS.len() {
        return rows("published-bounds", &made.concat());
    }
    let head = "Permutation, k = 8, 800 Gbps: lower bound in us (Ofan, appendix B); seed 1\n\
                packets  by                            ours  ethereal reaches\n";
    screen("published-bounds", &format!("{head}{}", made.concat()));
}
