//! The event queue alone, for `cargo bench --bench pieces`.

use super::event_queue::EventQueue;
use super::network::SlotId;
use crate::ids::PortId;
use crate::switching::{TieOrder, Ties};
use crate::units::Time;

/// An event queue that holds only arrivals. Not part of the public interface, and not stable.
#[derive(Debug)]
pub struct Calendar(EventQueue);

impl Calendar {
    /// Creates a queue for arrivals at `ports` ports, most of them less than `horizon_ps` ahead.
    pub fn new(ports: usize, horizon_ps: u64) -> Self {
        Self(EventQueue::new(Ties::new(TieOrder::Drawn, 0, ports), ports, horizon_ps))
    }

    /// Adds an arrival.
    ///
    /// # Panics
    /// If it is in the past.
    #[inline(always)]
    pub fn push(&mut self, time: Time, port: PortId) {
        self.0.push_arrival(time, port, SlotId(0));
    }

    /// Takes the earliest arrival.
    #[inline(always)]
    pub fn pop(&mut self) -> Option<(Time, PortId)> {
        let (time, word) = self.0.pop(Time::NEVER)?;
        word.arrival().map(|(port, _)| (time, port))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrivals_are_popped_in_order_of_time() {
        let mut calendar = Calendar::new(4, 1_000_000);
        let at = |ps, port| (Time::from_ps(ps), PortId(port));
        for (time, port) in [at(901, 1), at(20_000_000, 0), at(900, 0), at(5, 3)] {
            calendar.push(time, port);
        }
        let order = std::iter::from_fn(|| calendar.pop()).collect::<Vec<_>>();
        assert_eq!(order, [at(5, 3), at(900, 0), at(901, 1), at(20_000_000, 0)]);
    }
}
