//! A run: everything wired together.

use std::sync::Arc;

use super::{FabricConfig, Outcome, Progress};
use crate::balance::Scheme;
use crate::nic::NicConfig;
use crate::topology::Topology;
use crate::units::Time;
use crate::workload::Workload;

/// Everything that determines a run: the same setup gives the same outcome, to the last bit.
#[derive(Debug, Clone)]
pub struct Setup {
    /// Who is wired to whom.
    pub topology: Arc<Topology>,
    /// Links and switches.
    pub fabric: FabricConfig,
    /// Every host's NIC.
    pub nic: NicConfig,
    /// How load is balanced.
    pub scheme: Scheme,
    /// What is sent.
    pub workload: Arc<Workload>,
    /// Where every random draw comes from.
    pub seed: u64,
    /// A run past it did not complete.
    pub time_limit: Time,
}

/// Runs to the end, telling `progress` from time to time (every 2^18 events or so).
pub fn run(_setup: &Setup, _progress: &mut dyn FnMut(&Progress)) -> Outcome {
    panic!("the engine is being written")
}
