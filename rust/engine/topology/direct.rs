//! Groups and link costs of networks without a top tier.

/// The groups of a direct network, in which packets may take non-minimal routes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Direct {
    /// The group of each switch. In a torus each switch is its own group.
    pub groups: Vec<u32>,
    /// Cost of a link between two groups, where a link within a group costs 1.
    pub global_cost: u32,
}

impl Direct {
    /// Returns the cost of a link between two switches, given by their indices.
    pub(super) fn cost(&self, a: usize, b: usize) -> u32 {
        if self.groups[a] == self.groups[b] { 1 } else { self.global_cost }
    }
}
