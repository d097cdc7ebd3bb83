//! What routing knows of networks without a top tier.

/// The groups of a direct network, in which packets may take routes that are not minimal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Direct {
    /// The group of each switch. In a torus each switch is a group of its own.
    pub groups: Vec<u32>,
    /// What a link between two groups costs where a link within a group costs 1.
    pub global_cost: u32,
}

impl Direct {
    /// What a link between two switches, given by their indices, costs.
    pub(super) fn cost(&self, a: usize, b: usize) -> u32 {
        if self.groups[a] == self.groups[b] { 1 } else { self.global_cost }
    }
}
