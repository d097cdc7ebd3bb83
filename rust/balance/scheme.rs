//! Schemes and their names.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::sender::SenderConfig;
use super::switch::{SwitchConfig, hash};
use crate::nic::Recovery;
use crate::split::{SplitConfig, whole};

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
    /// What happens to a message before it becomes packets.
    pub split: SplitConfig,
    /// What a sender puts into each packet.
    pub sender: SenderConfig,
    /// How a switch picks among equal-cost ports.
    pub switch: SwitchConfig,
    /// What switches do with entropy values.
    pub forwarding: Forwarding,
    /// The loss recovery that it is made for.
    pub recovery: Recovery,
    /// What routing tells once it knows of failures.
    pub weights: Weights,
    /// How its rules are known.
    pub origin: Origin,
}

/// How the rules of a scheme are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Origin {
    /// Its source gives them.
    #[default]
    Published,
    /// Its source could not be had in full, and what it leaves open is ours: results are not those
    /// of the scheme that it is named after, and tables say so.
    Reconstructed,
}

/// What routing tells switches (and hosts that route) of next hops behind which something failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Weights {
    /// Every next hop that leads to the destination counts alike (ECMP).
    #[default]
    Equal,
    /// Each counts by the capacity that is left behind it (W-ECMP, WCMP).
    Capacity,
}

impl Scheme {
    /// The plainest scheme around a sender policy, from which others differ: whole messages,
    /// switches that hash, equal weights, go-back-N.
    pub fn new(name: &'static str, sender: SenderConfig) -> Self {
        Self {
            name,
            split: SplitConfig::Whole(whole::Config {}),
            sender,
            switch: SwitchConfig::Hash(hash::Config {}),
            forwarding: Forwarding::Hashed,
            recovery: Recovery::GoBackN,
            weights: Weights::Equal,
            origin: Origin::Published,
        }
    }

    /// Every key that `[policy]` could have for this scheme, with its value.
    pub fn parameters(&self) -> Parameters {
        let parts = [
            Parameters::try_from(&self.split),
            Parameters::try_from(&self.sender),
            Parameters::try_from(&self.switch),
        ];
        let parts = parts.into_iter().map(|part| part.expect("a configuration is a table"));
        let mut all: Parameters = parts.flatten().collect();
        let weights = toml::Value::try_from(self.weights).expect("a name is a value");
        all.insert("weights".to_owned(), weights);
        all
    }
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

/// The configuration of policy `name` from a scenario's keys; those left out have their defaults.
///
/// # Errors
/// A key that the policy does not have, or a value of the wrong kind.
pub fn configured<C: for<'de> Deserialize<'de>>(
    name: &'static str,
    parameters: &Parameters,
) -> Result<C, SchemeError> {
    parameters.clone().try_into().map_err(|error: toml::de::Error| SchemeError::Parameter {
        name,
        reason: error.message().to_owned(),
    })
}
