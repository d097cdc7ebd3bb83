//! Small fabrics for unit tests: links of 400 Gbps and 500 ns.

use super::{FatTree, LeafSpine};
use crate::units::{BitRate, Fraction, Span};

/// The rate of every link.
pub const RATE: BitRate = BitRate::from_gbps(400);

const DELAY: Span = Span::from_ns(500);

pub fn leaf_spine(leaves: u32, spines: u32, hosts_per_leaf: u32) -> LeafSpine {
    LeafSpine {
        leaves,
        spines,
        hosts_per_leaf,
        host_rate: RATE,
        fabric_rate: RATE,
        delay: DELAY,
        parallel_links: 1,
    }
}

/// Returns a three-tier fat-tree without oversubscription.
pub fn fat_tree(k: u32) -> FatTree {
    FatTree {
        k,
        tiers: 3,
        oversubscription: Fraction::ONE,
        host_rate: RATE,
        fabric_rate: RATE,
        delay: DELAY,
        parallel_links: 1,
    }
}
