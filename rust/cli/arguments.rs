//! Arguments shared by several commands.
//!
//! The structs have plain comments because clap would use a doc comment of a flattened struct as
//! the description of the command.

use std::path::PathBuf;

use clap::Args;
use evenkeel_scenario::{Overrides, Scenario, Setting};

use super::memory::MemoryArgument;
use super::scenario;

// A scenario, and a seed that overrides the scenario's.
#[derive(Debug, Args)]
pub(super) struct ScenarioArguments {
    /// Scenario file, or - for standard input
    #[arg(value_name = "SCENARIO.toml")]
    pub(super) scenario: PathBuf,
    /// Use this random seed instead of the scenario's
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    #[command(flatten)]
    set: SetArguments,
    #[command(flatten)]
    pub(super) memory: MemoryArgument,
}

// Keys of the scenario set on the command line.
#[derive(Debug, Args)]
pub(super) struct SetArguments {
    /// Set a key of the scenario, such as topology.leaves=8 or failure[0].at=10us; can be repeated
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(super) settings: Vec<Setting>,
}

// A policy that overrides the scenario's.
#[derive(Debug, Args)]
pub(super) struct PolicyArgument {
    /// Use this policy instead of that in [policy] (see: evenkeel list policies); jobs with their
    /// own policy keep it
    #[arg(long, value_name = "POLICY")]
    policy: Option<String>,
}

// Destination of the results of a single run.
#[derive(Debug, Args)]
pub(super) struct ResultArguments {
    /// Write the results to this folder; it is created if needed, and earlier results in it are
    /// replaced
    #[arg(long, value_name = "DIR")]
    pub(super) out: Option<PathBuf>,
    /// Print one JSON object instead of the table (times in ns, sizes in bytes)
    #[arg(long)]
    pub(super) json: bool,
}

impl ScenarioArguments {
    /// Returns the overrides of these arguments, with that of `policy` if the command has it.
    pub(super) fn overrides(&self, policy: Option<&PolicyArgument>) -> Overrides {
        let policy = policy.and_then(|argument| argument.policy.clone());
        Overrides {
            policy,
            seed: self.seed,
            most_memory: self.memory.limit(),
            settings: self.set.settings.clone(),
            ..Overrides::default()
        }
    }

    /// Reads the scenario with these overrides.
    pub(super) fn load(&self, policy: Option<&PolicyArgument>) -> anyhow::Result<Scenario> {
        scenario::load(&self.scenario, &self.overrides(policy))
    }
}
