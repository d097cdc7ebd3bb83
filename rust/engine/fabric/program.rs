//! Programs: messages that are posted during a run instead of being fixed by the workload.

use super::world::World;
use crate::endpoint::{FlowRecord, MessageEvent};
use crate::units::Time;

/// Posts messages during a run with [`World::post`]: an allocator, or a trace that is read as
/// needed.
pub trait Program {
    /// The time of its next call, independent of its messages; `None` if it waits only for
    /// messages.
    fn next_time(&mut self) -> Option<Time>;

    /// Handles the time returned by [`Self::next_time`].
    fn handle_time(&mut self, now: Time, world: &mut World);

    /// Handles the delivery or completion of a message that it posted.
    fn handle_message(&mut self, event: MessageEvent, world: &mut World);

    /// True if it posts no more messages.
    fn is_done(&self) -> bool;

    /// Handles a flow that has completed and is discarded; called only in a world that discards
    /// completed flows ([`World::discard_completed`]).
    fn handle_flow(&mut self, _flow: &FlowRecord) {}

    /// True if it cannot continue: the run ends as stalled.
    fn has_failed(&self) -> bool {
        false
    }
}

/// The program of a run whose messages are all in the workload: it posts no messages.
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
