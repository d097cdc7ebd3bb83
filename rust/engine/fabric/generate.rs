//! A program that generates the messages of a collective as its ranks reach them.

use std::collections::HashMap;

use super::program::Program;
use super::world::World;
use crate::endpoint::{FlowRecord, MessageEvent, MessageEventKind};
use crate::ids::MessageId;
use crate::units::Time;
use crate::workload::{ChainPlace, Chains, Message, StepAfter};

/// The chains of a collective in a world that should discard completed messages and flows
/// ([`World::discard_completed`]).
pub struct Generate<'c, 'f> {
    chains: &'c Chains,
    /// The places of messages that have not completed.
    open: HashMap<MessageId, ChainPlace>,
    has_begun: bool,
    flows: &'f mut dyn FnMut(&FlowRecord),
}

impl<'c, 'f> Generate<'c, 'f> {
    /// A program that posts the messages of `chains`; `flows` is called with each flow when it
    /// completes.
    pub fn new(chains: &'c Chains, flows: &'f mut dyn FnMut(&FlowRecord)) -> Self {
        Self { chains, open: HashMap::new(), has_begun: false, flows }
    }

    fn post(&mut self, now: Time, start: Time, place: ChainPlace, world: &mut World) {
        let message = Message { start, ..self.chains.message(place) };
        let id = world.post(now, message);
        self.open.insert(id, place);
    }
}

impl Program for Generate<'_, '_> {
    fn next_time(&mut self) -> Option<Time> {
        (!self.has_begun).then_some(Time::ZERO)
    }

    fn handle_time(&mut self, now: Time, world: &mut World) {
        self.has_begun = true;
        for head in self.chains.heads() {
            self.post(now, now, head, world);
        }
    }

    fn handle_message(&mut self, event: MessageEvent, world: &mut World) {
        let MessageEvent { message, at, kind } = event;
        let released = match self.chains.step_after() {
            StepAfter::Delivery => MessageEventKind::Delivered,
            StepAfter::Acknowledgement => MessageEventKind::Completed,
        };
        let place = self.open[&message];
        if kind == MessageEventKind::Completed {
            self.open.remove(&message);
        }
        if kind == released
            && let Some(next) = self.chains.next(place)
        {
            self.post(at, at.saturating_add(self.chains.gap()), next, world);
        }
    }

    fn is_done(&self) -> bool {
        self.has_begun && self.open.is_empty()
    }

    fn handle_flow(&mut self, flow: &FlowRecord) {
        (self.flows)(flow);
    }
}
