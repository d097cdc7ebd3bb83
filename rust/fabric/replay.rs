//! Chakra traces that are replayed while they are read, as a program.

use std::collections::HashMap;

use super::program::Program;
use super::simulation::World;
use crate::endpoint::{FlowRecord, Over, Stage};
use crate::ids::MessageId;
use crate::units::Time;
use crate::workload::chakra::{MessageOrigin, Player};

/// A player in a world, which should be one that forgets ([`World::forget_over`]).
pub struct Replay<'s, 'f> {
    player: Player<'s>,
    tickets: HashMap<MessageId, MessageOrigin>,
    flows: &'f mut dyn FnMut(&FlowRecord),
}

impl<'s, 'f> Replay<'s, 'f> {
    /// The traces of `player`; flows go to `flows` as they are over.
    pub fn new(player: Player<'s>, flows: &'f mut dyn FnMut(&FlowRecord)) -> Self {
        Self { player, tickets: HashMap::new(), flows }
    }

    /// The player, for what it has to say at the end.
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
        world.note(now);
        self.post(now, world);
    }

    fn handle_over(&mut self, over: Over, world: &mut World) {
        match over.stage {
            Stage::Delivered => {
                let ticket = self.tickets.get(&over.message).expect("it was posted");
                self.player.handle_delivered(over.at, *ticket);
            }
            Stage::Complete => {
                let ticket = self.tickets.remove(&over.message).expect("it was posted");
                self.player.handle_complete(over.at, ticket);
            }
        }
        self.post(over.at, world);
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
