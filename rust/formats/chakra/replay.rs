//! A traffic program that replays Chakra traces while they are read.

use std::collections::HashMap;

use super::{MessageOrigin, Player};
use crate::endpoint::{FlowRecord, MessageEvent, MessageEventKind};
use crate::fabric::{Program, World};
use crate::ids::MessageId;
use crate::units::Time;
use crate::workload::StepAfter;

/// Replays traces in a world that should discard completed messages and flows
/// ([`World::discard_completed`]).
pub struct Replay<'s, 'f> {
    player: Player<'s>,
    tickets: HashMap<MessageId, MessageOrigin>,
    flows: &'f mut dyn FnMut(&FlowRecord),
}

impl<'s, 'f> Replay<'s, 'f> {
    /// Creates a program that replays the traces of `player`. It calls `flows` with each flow when
    /// the flow completes.
    pub fn new(player: Player<'s>, flows: &'f mut dyn FnMut(&FlowRecord)) -> Self {
        Self { player, tickets: HashMap::new(), flows }
    }

    /// Returns the player, for its final state.
    pub fn into_player(self) -> Player<'s> {
        self.player
    }

    fn post(&mut self, now: Time, world: &mut World) {
        while let Some((ticket, message)) = self.player.poll_send() {
            let id = world.post(now, message);
            self.tickets.insert(id, ticket);
        }
    }
}

impl Program for Replay<'_, '_> {
    fn next_time(&mut self) -> Option<Time> {
        self.player.next_time()
    }

    fn handle_time(&mut self, now: Time, world: &mut World) {
        self.player.handle_time(now);
        world.record_end(now);
        self.post(now, world);
    }

    fn handle_message(&mut self, event: MessageEvent, world: &mut World) {
        let MessageEvent { message, at, kind } = event;
        let delivered = match self.player.step_after() {
            StepAfter::Delivery => MessageEventKind::Delivered,
            StepAfter::Acknowledgement => MessageEventKind::Completed,
        };
        if kind == delivered {
            let ticket = self.tickets.get(&message).expect("it was posted");
            self.player.handle_delivered(at, *ticket);
        }
        if kind == MessageEventKind::Completed {
            let ticket = self.tickets.remove(&message).expect("it was posted");
            self.player.handle_complete(at, ticket);
        }
        self.post(at, world);
    }

    fn is_done(&self) -> bool {
        self.player.is_done()
    }

    fn handle_flow(&mut self, flow: &FlowRecord) {
        (self.flows)(flow);
    }

    fn has_failed(&self) -> bool {
        self.player.fault().is_some()
    }
}
