//! Which messages of a receiver that takes packets in any order are there: in the order posted,
//! or as they come. See [`super::super::delivery`].
//!
//! Source: ordered and unordered delivery of Ultra Ethernet 1.0 (ROD and RUD).

use std::collections::{BTreeMap, VecDeque};

use super::super::delivery::Delivery;
use crate::packet::{Flags, Packet};

/// The messages under way of one queue pair.
#[derive(Debug, Clone)]
pub(super) enum Messages {
    /// Last packets of those not yet delivered, in order: they end where the next begins.
    Ordered { delivered: u64, ends: VecDeque<u64> },
    /// Packets that those begun still miss, by number, from the first that is not whole on; 0 of
    /// those that were delivered before their turn.
    Unordered { whole: u64, missing: BTreeMap<u64, u64> },
}

impl Messages {
    pub fn new(delivery: Delivery) -> Self {
        match delivery {
            Delivery::Ordered => Self::Ordered { delivered: 0, ends: VecDeque::new() },
            Delivery::Unordered => Self::Unordered { whole: 0, missing: BTreeMap::new() },
        }
    }

    /// Every message before this one is delivered.
    pub fn delivered(&self) -> u64 {
        match self {
            Self::Ordered { delivered, .. } => *delivered,
            Self::Unordered { whole, .. } => *whole,
        }
    }

    /// Whether message `number` is delivered.
    pub fn has_delivered(&self, number: u64) -> bool {
        match self {
            Self::Ordered { delivered, .. } => number < *delivered,
            Self::Unordered { whole, missing } => {
                number < *whole || missing.get(&number) == Some(&0)
            }
        }
    }

    /// Packet `sequence` is new, and every packet before `first` is there with it: tells of each
    /// message that is to be delivered now; how many.
    #[inline]
    pub fn handle_new(
        &mut self,
        (sequence, first): (u64, u64),
        packet: &Packet,
        mut deliver: impl FnMut(u64),
    ) -> u64 {
        match self {
            Self::Ordered { delivered, ends } => {
                if packet.flags.has(Flags::LAST) {
                    let place = ends.partition_point(|&end| end < sequence);
                    ends.insert(place, sequence);
                }
                let before = *delivered;
                while ends.front().is_some_and(|&end| end < first) {
                    ends.pop_front();
                    deliver(*delivered);
                    *delivered += 1;
                }
                *delivered - before
            }
            Self::Unordered { whole, missing } => {
                let number = packet.ack.near(*whole);
                if number < *whole {
                    // Only a packet that no peer of ours sends: it is new, and its message whole.
                    return 0;
                }
                let left = missing.entry(number).or_insert(u64::from(packet.marked).max(1));
                let last = *left == 1;
                *left = left.saturating_sub(1);
                if last {
                    deliver(number);
                }
                while missing.get(whole) == Some(&0) {
                    missing.remove(whole);
                    *whole += 1;
                }
                u64::from(last)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Psn;

    #[test]
    fn unordered_messages_are_there_when_their_last_missing_packet_is() {
        let mut messages = Messages::new(Delivery::Unordered);
        let packet = |number, packets| Packet {
            ack: Psn::on_wire(number),
            marked: packets,
            ..Packet::default()
        };
        let mut told = Vec::new();
        // Message 0 has packets 0 and 1, message 1 has 2, message 2 has 3 to 5.
        for (sequence, number, packets) in [(5, 2, 3), (0, 0, 2), (2, 1, 1), (3, 2, 3), (4, 2, 3)] {
            messages.handle_new((sequence, 0), &packet(number, packets), |it| told.push(it));
        }
        assert_eq!((told.as_slice(), messages.delivered()), (&[1, 2][..], 0));
        assert!(messages.has_delivered(2) && !messages.has_delivered(0));
        messages.handle_new((1, 6), &packet(0, 2), |it| told.push(it));
        assert_eq!((told.as_slice(), messages.delivered()), (&[1, 2, 0][..], 3));
    }
}
