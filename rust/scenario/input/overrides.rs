//! What overrides a scenario's file.

/// What the command line sets in place of the file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Overrides {
    /// The policy, with its default parameters unless it is the file's own.
    pub policy: Option<String>,
    /// The seed.
    pub seed: Option<u64>,
}
