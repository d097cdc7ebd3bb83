//! The environment in which a file is resolved: an existing fabric, and limits.

use super::input::context::Context;
use super::input::error::ScenarioError;
use super::input::located::Key;
use super::input::overrides::Overrides;
use super::input::source::Source;
use super::workloads::SharedInputs;
use crate::ids::HostId;
use crate::topology::Topology;
use crate::units::Bytes;

/// Environment in which a file is resolved.
pub(super) struct Environment {
    /// The fabric, if it already exists.
    pub existing: Option<Topology>,
    pub limits: MessageLimits,
}

/// Limits of the messages that a scenario may hold.
#[derive(Clone, Copy)]
pub(super) struct MessageLimits {
    /// Memory that the messages of a collective may use; unlimited if `None`.
    most_memory: Option<Bytes>,
    /// True if the totals of the messages may replace them.
    may_tally: bool,
}

impl Environment {
    pub(super) fn new(existing: Option<Topology>, overrides: &Overrides) -> Self {
        let Overrides { most_memory, is_forecast: may_tally, .. } = *overrides;
        Self { existing, limits: MessageLimits { most_memory, may_tally } }
    }
}

impl MessageLimits {
    /// Returns the context of the workloads on a fabric.
    pub(super) fn shared<'a>(
        self,
        topology: &'a Topology,
        host_of_node: &'a [Option<HostId>],
        seed: u64,
    ) -> SharedInputs<'a> {
        let Self { most_memory, may_tally } = self;
        SharedInputs { may_tally, ..SharedInputs::new(topology, host_of_node, seed, most_memory) }
    }
}

/// Rejects scenarios whose hosts have several rails. [`RailScenario`](super::RailScenario) reads
/// those.
pub(super) fn reject_rails(source: &Source) -> Result<(), ScenarioError> {
    let key = Key::ROOT.child("rail");
    if !source.has(&key) {
        return Ok(());
    }
    let because = "only `run`, `compare` and `check` support [[rail]], whose rails are separate \
                   networks; describe one network, such as topology.kind = 'rail-optimized' for \
                   servers with several NICs";
    Err(Context::of(source).misplaced(&key, because))
}
