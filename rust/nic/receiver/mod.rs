//! Which packets a receiving half accepts, and when it answers: one way a file. A loss recovery
//! names the one that it needs.

mod answers;
mod any_order;
mod coded;
mod in_order;
mod messages;

pub(super) use answers::{Answer, Answers, Outbox, Peer, ReceiverSettings};
pub(super) use any_order::AnyOrder;
pub(super) use coded::Coded;
pub(super) use in_order::InOrder;

use crate::packet::DataView;
use crate::units::Time;

/// The receiving side of a loss recovery.
pub(super) trait ReceiveRecovery {
    /// Takes a data packet, whole or trimmed to its header, and answers it if that is due.
    fn handle_data(
        &mut self,
        now: Time,
        packet: DataView<'_>,
        answers: &mut Answers,
        out: &mut Outbox,
    );

    /// The answer that would report all arrivals now.
    fn answer(&self) -> Answer;

    /// Every message before this one is delivered.
    fn delivered(&self) -> u64;

    /// Whether message `index` is delivered.
    fn has_delivered(&self, index: u64) -> bool {
        index < self.delivered()
    }

    /// The only packet that would be accepted next, where packets are accepted in order alone.
    fn expected(&self) -> Option<u64> {
        None
    }

    /// Every packet before this one has arrived, where packets are numbered along the queue pair.
    fn arrived(&self) -> u64;
}
