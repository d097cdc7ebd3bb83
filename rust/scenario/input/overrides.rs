//! Command-line overrides of a scenario file.

use super::settings::Setting;
use crate::units::Bytes;

/// Values that the command line sets instead of the file's.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Overrides {
    /// Policy, with its default parameters unless it is the file's own.
    pub policy: Option<String>,
    /// Seed of all random numbers.
    pub seed: Option<u64>,
    /// Memory that the messages of a collective may use before they are sent; unlimited if `None`.
    pub most_memory: Option<Bytes>,
    /// True to forecast a run instead of simulating it. A collective with very many messages is
    /// then represented by their totals.
    pub is_forecast: bool,
    /// Other keys, applied in this order before the policy and the seed.
    pub settings: Vec<Setting>,
}
