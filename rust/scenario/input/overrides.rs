//! Overrides of a scenario's file.

use super::settings::Setting;

/// The values that the command line sets in place of the file's.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Overrides {
    /// The policy, with its default parameters unless it is the file's own.
    pub policy: Option<String>,
    /// The seed of every random draw.
    pub seed: Option<u64>,
    /// Other keys, in this order, before the policy and the seed.
    pub settings: Vec<Setting>,
}
