//! Who decides what is sent: the workload alone, or a program as the run goes on.

use super::world::World;
use crate::endpoint::{FlowRecord, MessageEvent};
use crate::units::Time;

/// Decides as a run goes on what is sent next: an allocator, or a trace that is read as it is
/// needed. It posts messages with [`World::post`].
pub trait Program {
    /// When it wants to be called even if nothing happens to a message of its own; `None` if it
    /// waits for messages alone.
    fn next_time(&mut self) -> Option<Time>;

    /// The time that it named has come.
    fn handle_time(&mut self, now: Time, world: &mut World);

    /// A message that it posted has been delivered or has completed.
    fn handle_message(&mut self, event: MessageEvent, world: &mut World);

    /// True if it will post no more.
    fn is_done(&self) -> bool;

    /// A flow has completed and is discarded now; only of a world that discards them
    /// ([`World::discard_completed`]).
    fn handle_flow(&mut self, _flow: &FlowRecord) {}

    /// True if it cannot go on: the run ends here, stalled.
    fn has_failed(&self) -> bool {
        false
    }
}

/// The program of a run whose messages are all in the workload: it posts none.
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
