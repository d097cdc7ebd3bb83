//! Load-balancing schemes and the presets that name them.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::parameters::Parameters;
use super::path_space::PathSpace;
use super::qp_context::{NetworkParameters, QpContext};
use super::sender::{SenderConfig, SenderPolicy as _};
use super::switch::{SwitchConfig, hash};
use super::transport::Transport;
use crate::ids::HostId;
use crate::nic::{ControlPaths, Recovery};
use crate::split::{SplitConfig, whole};
use crate::values::{self, ValueError};

/// Interpretation of an entropy value by switches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Forwarding {
    /// The switch policy receives it, and hashes it with the 5-tuple or ignores it.
    Hashed,
    /// It encodes a path: for each tier, the index of the equal-cost port to take.
    SourceRouted,
}

/// Packets to which switches apply their policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Eligibility {
    /// All packets.
    #[default]
    All,
    /// Packets without the flag `HASHED`; switches hash the others. Adaptive routing works this way
    /// in hardware: packets of queue pairs that need their order are not eligible.
    Unflagged,
}

/// A named load-balancing scheme with default parameters.
#[derive(Debug, Clone, Copy)]
pub struct Preset {
    /// Name that scenarios use.
    pub name: &'static str,
    /// One-line description for lists of presets.
    pub summary: &'static str,
    /// Publication: title, year, section.
    pub source: &'static str,
    /// Builds the scheme from its parameters.
    pub build: fn(&Parameters) -> Result<Scheme, SchemeError>,
}

/// A load-balancing scheme with all its parameters, ready for a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Scheme {
    /// Name of the preset that built it.
    pub name: &'static str,
    /// Division of messages into flows.
    pub split: SplitConfig,
    /// Sender policy: picks the entropy value of each packet.
    pub sender: SenderConfig,
    /// Switch policy: picks among equal-cost ports.
    pub switch: SwitchConfig,
    /// Interpretation of entropy values by switches.
    pub forwarding: Forwarding,
    /// Packets to which `switch` and `forwarding` apply.
    pub eligibility: Eligibility,
    /// Loss recovery that the scheme needs.
    pub recovery: Recovery,
    /// Defaults of the scheme's transport.
    pub transport: Transport,
    /// Weights that routing gives to next hops after failures.
    pub weights: Weights,
    /// Port by which control packets leave a NIC with several ports.
    pub control_paths: ControlPaths,
    /// Whether the rules are published or reconstructed.
    pub origin: Origin,
}

/// Whether the rules of a scheme are published or reconstructed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Origin {
    /// The source states the rules.
    #[default]
    Published,
    /// The full source was not available, and this project fills the gaps. Results are not those of
    /// the named scheme; tables mark them as reconstructed.
    Reconstructed,
}

/// Weights that routing gives to next hops when part of the network behind them has failed.
/// Switches use them; with source routes, hosts do too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Weights {
    /// Every next hop that leads to the destination has the same weight (ECMP).
    #[default]
    Equal,
    /// A next hop's weight is the remaining capacity behind it (W-ECMP, WCMP).
    Capacity,
}

impl Scheme {
    /// Creates the baseline scheme around a sender policy: whole messages, hashing switches, equal
    /// weights and go-back-N. Presets override the fields in which they differ.
    pub fn new(name: &'static str, sender: SenderConfig) -> Self {
        Self {
            name,
            split: SplitConfig::Whole(whole::Config {}),
            sender,
            switch: SwitchConfig::Hash(hash::Config {}),
            forwarding: Forwarding::Hashed,
            eligibility: Eligibility::All,
            recovery: Recovery::GO_BACK_N,
            transport: Transport::default(),
            weights: Weights::Equal,
            control_paths: ControlPaths::Echo,
            origin: Origin::Published,
        }
    }

    /// Returns true if switches only hash the scheme's packets.
    pub fn only_hashes(&self) -> bool {
        matches!(self.switch, SwitchConfig::Hash(_)) && self.forwarding == Forwarding::Hashed
    }

    /// Returns true if all packets of a queue pair take one path until a link on it fails.
    pub fn pins_path(&self) -> bool {
        self.sender.pins_path() && self.switch.pins_path()
    }

    /// Returns the number of its paths, if the sender policy has a fixed number:
    /// [`SenderPolicy::paths`].
    pub fn paths(&self) -> Option<u32> {
        let (src, dst, paths) = (HostId(0), HostId(1), PathSpace::SINGLE);
        let network = NetworkParameters::default();
        // Neither the hosts nor the seed matters.
        let qp = QpContext { seed: 0, src, dst, stream: 0, qp_index: 0, paths, path: 0, network };
        self.sender.build(&qp).paths()
    }

    /// Returns true if switches treat packets of both schemes alike.
    pub fn has_same_switch_behavior(&self, other: &Self) -> bool {
        self.switch == other.switch && self.forwarding == other.forwarding
    }

    /// Returns every key of `[policy]` that this scheme accepts, with its value.
    pub fn parameters(&self) -> Parameters {
        let tables = [
            Parameters::try_from(&self.split),
            Parameters::try_from(&self.sender),
            Parameters::try_from(&self.switch),
        ];
        let tables = tables.into_iter().map(|table| table.expect("a configuration is a table"));
        let mut all: Parameters = tables.flatten().collect();
        let weights = toml::Value::try_from(self.weights).expect("an enum name is a TOML value");
        all.insert("weights".to_owned(), weights);
        all
    }
}

/// The reason why a scheme cannot be built.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SchemeError {
    /// No preset has that name.
    #[error("unknown policy '{name}'; known policies are {known}")]
    Unknown {
        /// The requested name.
        name: String,
        /// The names of all presets, separated by commas.
        known: String,
    },
    /// The policy does not have that parameter, or its value has the wrong type.
    #[error("policy '{name}': {error}")]
    Malformed {
        /// The preset whose parameter cannot be read.
        name: &'static str,
        /// The parameter and its error.
        error: ValueError,
    },
    /// The value of a parameter is invalid.
    #[error("policy '{name}': {reason}")]
    Parameter {
        /// The preset whose parameter is invalid.
        name: &'static str,
        /// The invalid value and the expected one.
        reason: String,
    },
}

/// Parses the configuration of policy `name` from a scenario's keys. Missing keys take their
/// default values.
///
/// # Errors
/// An unknown key, or a value of the wrong type.
pub fn parse_config<C: for<'de> Deserialize<'de>>(
    name: &'static str,
    parameters: &Parameters,
) -> Result<C, SchemeError> {
    let parameters = parameters.clone().into();
    values::read(parameters).map_err(|error| SchemeError::Malformed { name, error })
}
