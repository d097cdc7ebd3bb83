//! Handling of NIC events: deliveries, completions and failed paths.

use super::{Ended, Endpoints, MessageEventKind};
use crate::ids::HostId;
use crate::nic::{NicEvent, Owner};
use crate::split::Split as _;
use crate::units::Time;

impl Endpoints {
    /// Handles an event of the NIC of `id`.
    pub(super) fn handle_event(&mut self, now: Time, id: HostId, event: NicEvent) {
        match event {
            NicEvent::Delivered { owner: Owner::Driver(cookie), message } => {
                self.handle_delivered(now, id, cookie, message);
            }
            NicEvent::Completed { owner: Owner::Program(qp), .. } => {
                unreachable!("{qp}: its work is reported as completions")
            }
            NicEvent::Completed { owner: Owner::Driver(cookie), work } => {
                let flow = u32::try_from(work).expect("work is named by its flow");
                self.handle_completed(now, id, cookie, flow);
            }
            NicEvent::Delivered { owner: Owner::Program(qp), .. } => {
                unreachable!("{qp}: its deliveries are reported as completions")
            }
            NicEvent::PathFailed { owner: Owner::Program(qp), path } => {
                self.program_qps.leave_path(id, qp, path);
            }
            NicEvent::PathFailed { owner: Owner::Driver(cookie), path } => {
                let key = self.ledger.connections.as_slice()[cookie as usize].key();
                self.handle_failed_path(now, &key, path);
            }
        }
    }

    /// Handles the delivery to receiver `id` of the flow with this index on a connection.
    pub(super) fn handle_delivered(&mut self, now: Time, id: HostId, connection: u32, index: u32) {
        if let Some(message) = self.ledger.deliver(now, connection, index) {
            self.report(now, message, MessageEventKind::Delivered);
            self.release(now, id, Ended { host: id, task: message.into() });
        }
    }

    /// Handles the completion of a flow at its sender `id`.
    pub(super) fn handle_completed(&mut self, now: Time, id: HostId, connection: u32, flow: u32) {
        let stream = self.ledger.connections.as_slice()[connection as usize].key().stream_key();
        let policy = self.policies.index_of(stream.stream);
        self.hosts[id.index()].splitters.of(policy).handle_completed_flow(now);
        // Before the message completes, since that may discard the connection.
        self.ledger.connections.complete_flow(connection);
        self.finish_flow(now, id, flow, stream);
    }
}
