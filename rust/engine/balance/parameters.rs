//! Parameters as a scenario gives them, by their keys.

/// The keys of `[policy]` in a scenario, except `name`.
pub type Parameters = toml::Table;
