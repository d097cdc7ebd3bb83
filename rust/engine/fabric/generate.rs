//! The program of a run that creates the messages of a collective on demand.

use super::program::Program;
use super::world::World;
use crate::endpoint::{FlowRecord, MessageEvent};
use crate::units::Time;

/// Collects the flows of a run that creates its own messages ([`World::generate`]).
pub struct Generate<'f>(&'f mut dyn FnMut(&FlowRecord));

impl<'f> Generate<'f> {
    /// Creates a program that calls `flows` with each completed flow.
    pub fn new(flows: &'f mut dyn FnMut(&FlowRecord)) -> Self {
        Self(flows)
    }
}

impl Program for Generate<'_> {
    fn next_time(&mut self) -> Option<Time> {
        None
    }

    fn handle_time(&mut self, _now: Time, _world: &mut World) {}

    fn handle_message(&mut self, _event: MessageEvent, _world: &mut World) {}

    fn is_done(&self) -> bool {
        true
    }

    fn handle_flow(&mut self, flow: &FlowRecord) {
        (self.0)(flow);
    }
}
