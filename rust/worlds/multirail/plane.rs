//! The interface of a rail of any kind, its attempts and its deliveries.

use super::cpu::Cpu;
use super::numbers::Range;
use crate::rail::handler::{ChunkKey, RankMessage};
use crate::units::{Bytes, Time};

/// The simulation of one rail.
pub(super) trait Plane {
    /// Returns the time of the next event.
    fn next_time(&mut self) -> Option<Time>;

    /// Handles the next event. Returns its delivery, if it has one.
    fn step(&mut self, cpus: &mut [Cpu]) -> Option<RailDelivery>;

    /// Starts the part of `rank` in an attempt. All ranks start all attempts in the same order.
    fn begin(&mut self, now: Time, attempt: Attempt, rank: u32, cpus: &mut [Cpu]);

    /// Discards the in-flight data of all attempts.
    fn discard(&mut self);

    /// Sends a control message.
    fn send_control(&mut self, now: Time, control: ControlMessage, cpus: &mut [Cpu]);

    /// Returns the bytes that ranks have sent over the rail; each hop counts.
    fn bytes(&self) -> Bytes;
}

/// An attempt at summing a chunk over all ranks on one rail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Attempt {
    pub(super) key: ChunkKey,
    /// The elements of the chunk.
    pub(super) range: Range,
}

/// The final sums of some elements of a chunk at one rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sums {
    /// The attempt that produced them.
    pub(super) key: ChunkKey,
    /// The rank that has them.
    pub(super) rank: u32,
    /// The elements of the vector that are summed.
    pub(super) range: Range,
    /// The sum of the ranks' numbers for this range.
    pub(super) sum: i64,
}

/// A delivery from a rail to a rank.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum RailDelivery {
    /// A rank has final sums.
    Sums(Sums),
    /// A control message has arrived.
    Control(ControlMessage),
}

/// A control message between two ranks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ControlMessage {
    /// The rank that sends the message.
    pub(super) from: u32,
    /// The rank that receives the message.
    pub(super) to: u32,
    pub(super) message: RankMessage,
}
