//! Worlds that create the messages of a collective during the run.

use std::sync::Arc;

use super::World;
use crate::ids::HostId;
use crate::units::Time;
use crate::workload::Chains;

impl World {
    /// Creates the messages of `chains` during the run, in a world that discards completed ones.
    ///
    /// # Panics
    /// If messages are not discarded, or the clock has moved.
    pub fn generate(&mut self, chains: &Arc<Chains>) {
        assert_eq!(self.now, Time::ZERO, "generate must be called before the first event");
        self.endpoints.generate(chains);
        for id in (0..self.setup.topology.host_count()).map(HostId) {
            self.network.schedule_wake(Time::ZERO, id, &mut self.endpoints);
        }
    }
}
