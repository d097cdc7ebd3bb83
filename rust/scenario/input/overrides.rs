//! Overrides of a scenario's file.

use super::settings::Setting;
use crate::units::Bytes;

/// The values that the command line sets in place of the file's.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Overrides {
    /// The policy, with its default parameters unless it is the file's own.
    pub policy: Option<String>,
    /// The seed of every random draw.
    pub seed: Option<u64>,
    /// The memory that the messages of a collective may take before they are sent; any if `None`.
    pub most_memory: Option<Bytes>,
    /// Other keys, in this order, before the policy and the seed.
    pub settings: Vec<Setting>,
}
