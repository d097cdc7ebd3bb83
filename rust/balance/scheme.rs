//! Schemes and their names.

use thiserror::Error;

use crate::nic::Recovery;

/// What switches do with an entropy value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Forwarding {
    /// They hand it to the switch policy, which hashes it with the 5-tuple or ignores it.
    Hashed,
    /// It is a path: tier by tier, which of the equal-cost ports to take.
    SourceRouted,
}

/// The keys of `[policy]` in a scenario, but for `name`.
pub type Parameters = toml::Table;

/// A named way of balancing load.
#[derive(Debug, Clone, Copy)]
pub struct Preset {
    /// What scenarios call it.
    pub name: &'static str,
    /// One line for people.
    pub summary: &'static str,
    /// Where it is from: title, year, section.
    pub source: &'static str,
    /// Makes the scheme from its parameters.
    pub build: fn(&Parameters) -> Result<Scheme, SchemeError>,
}

/// A way of balancing load with its parameters: what a run is given.
#[derive(Debug, Clone, PartialEq)]
pub struct Scheme {
    /// The preset it was made from.
    pub name: &'static str,
    /// What switches do with entropy values.
    pub forwarding: Forwarding,
    /// The loss recovery that it is made for.
    pub recovery: Recovery,
}

/// Why a scheme cannot be made.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SchemeError {
    /// No preset of that name.
    #[error("no policy is called '{name}'; there are {known}")]
    Unknown {
        /// What was given.
        name: String,
        /// Those that exist.
        known: String,
    },
    /// A parameter that the policy does not have, or a value that it cannot take.
    #[error("policy '{name}': {reason}")]
    Parameter {
        /// The policy.
        name: &'static str,
        /// What is wrong, and what would be right.
        reason: String,
    },
}
