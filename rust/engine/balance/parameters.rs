//! Policy parameters as a scenario gives them, by key.

/// The keys of `[policy]` in a scenario, except `name`.
pub type Parameters = toml::Table;
