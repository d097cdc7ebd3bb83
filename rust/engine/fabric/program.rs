//! Programs, which post messages during a run.

use super::world::World;
use crate::endpoint::{FlowRecord, MessageEvent};
use crate::units::Time;

/// Posts messages during a run with [`World::post`]: for example an allocator, or a trace that is
/// read on demand.
pub trait Program {
    /// Returns the time of the program's next call, independent of its messages; `None` if it waits
    /// only for messages.
    fn next_time(&mut self) -> Option<Time>;

    /// Handles the time returned by [`Self::next_time`].
    fn handle_time(&mut self, now: Time, world: &mut World);

    /// Handles the delivery or completion of a message that the program posted.
    fn handle_message(&mut self, event: MessageEvent, world: &mut World);

    /// True if the program posts no more messages.
    fn is_done(&self) -> bool;

    /// Handles a completed flow, which is then discarded. Called only in a world that discards
    /// completed flows ([`World::discard_completed`]).
    fn handle_flow(&mut self, _flow: &FlowRecord) {}

    /// True if the program cannot continue. The run then ends as stalled.
    fn has_failed(&self) -> bool {
        false
    }
}

/// The program of a run whose workload has every message. It posts none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FixedWorkload;

impl Program for FixedWorkload {
    #[inline]
    fn next_time(&mut self) -> Option<Time> {
        None
    }

    fn handle_time(&mut self, _now: Time, _world: &mut World) {}

    fn handle_message(&mut self, _event: MessageEvent, _world: &mut World) {}

    #[inline]
    fn is_done(&self) -> bool {
        true
    }
}
