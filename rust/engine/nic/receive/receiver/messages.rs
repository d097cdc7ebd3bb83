//! Delivery of messages by a receiver that accepts packets in any order: in posting order, or as
//! they become complete. See `nic::qp::delivery`.
//!
//! Source: ordered and unordered delivery of Ultra Ethernet 1.0 (ROD and RUD).

use std::collections::{BTreeMap, VecDeque};

use crate::nic::qp::delivery::Delivery;
use crate::packet::DataView;

/// The messages in progress of one queue pair.
#[derive(Debug, Clone)]
pub(super) enum Messages {
    /// Last packets of undelivered messages, in order. A message ends where the next begins.
    Ordered { delivered: u64, ends: VecDeque<u64> },
    /// Packets that each begun message still misses, by number, from the first incomplete one on; 0
    /// for messages that were delivered before their turn.
    Unordered { first_incomplete: u64, missing: BTreeMap<u64, u64> },
}

/// The arrival of a packet that was missing.
#[derive(Debug, Clone, Copy)]
pub(super) struct Arrival {
    /// The sequence number of the packet, which never wraps.
    pub sequence: u64,
    /// First packet that is missing after this arrival.
    pub first: u64,
}

impl Messages {
    pub(super) fn new(delivery: Delivery) -> Self {
        match delivery {
            Delivery::Ordered => Self::Ordered { delivered: 0, ends: VecDeque::new() },
            Delivery::Unordered => {
                Self::Unordered { first_incomplete: 0, missing: BTreeMap::new() }
            }
        }
    }

    /// Returns the first message that is not delivered.
    pub(super) fn delivered(&self) -> u64 {
        match self {
            Self::Ordered { delivered, .. } => *delivered,
            Self::Unordered { first_incomplete, .. } => *first_incomplete,
        }
    }

    /// True if message `number` is delivered.
    pub(super) fn has_delivered(&self, number: u64) -> bool {
        match self {
            Self::Ordered { delivered, .. } => number < *delivered,
            Self::Unordered { first_incomplete, missing } => {
                number < *first_incomplete || missing.get(&number) == Some(&0)
            }
        }
    }

    /// Handles a new packet and calls `deliver` with the index of each message that can be
    /// delivered now. Returns their number.
    #[inline]
    pub(super) fn handle_new(
        &mut self,
        Arrival { sequence, first }: Arrival,
        packet: DataView<'_>,
        mut deliver: impl FnMut(u64),
    ) -> u64 {
        match self {
            Self::Ordered { delivered, ends } => {
                if packet.is_last() {
                    // Usually the end of the list: last packets of messages rarely overtake each
                    // other.
                    let index = ends.partition_point(|&end| end < sequence);
                    ends.insert(index, sequence);
                }
                let before = *delivered;
                while ends.front().is_some_and(|&end| end < first) {
                    ends.pop_front();
                    deliver(*delivered);
                    *delivered += 1;
                }
                *delivered - before
            }
            Self::Unordered { first_incomplete, missing } => {
                let number = packet.message().index.unwrap_near(*first_incomplete);
                if number < *first_incomplete {
                    // A forged packet: it is new, but its message is already complete.
                    return 0;
                }
                let left =
                    missing.entry(number).or_insert(u64::from(packet.message().length).max(1));
                let last = *left == 1;
                // A forged packet may add to a message that was delivered before its turn.
                *left = left.saturating_sub(1);
                if last {
                    deliver(number);
                }
                while missing.get(first_incomplete) == Some(&0) {
                    missing.remove(first_incomplete);
                    *first_incomplete += 1;
                }
                u64::from(last)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::{DataFields, MessageLabel, Packet, Psn};

    #[test]
    fn unordered_messages_are_delivered_once_complete() {
        let mut messages = Messages::new(Delivery::Unordered);
        let mut order = Vec::new();
        let mut arrive = |sequence, first, number, packets| {
            let message = MessageLabel { index: Psn::on_wire(number), length: packets };
            let packet = Packet::data(DataFields { message, ..DataFields::default() });
            let data = packet.as_data().unwrap();
            messages.handle_new(Arrival { sequence, first }, data, |it| order.push(it));
            (order.clone(), messages.delivered(), [0, 2].map(|it| messages.has_delivered(it)))
        };
        // Message 0 has packets 0 and 1, message 1 has 2, message 2 has 3 to 5.
        let packets = [(5, 2, 3), (0, 0, 2), (2, 1, 1), (3, 2, 3), (4, 2, 3)];
        let [.., after] =
            packets.map(|(sequence, number, packets)| arrive(sequence, 0, number, packets));
        assert_eq!(after, (vec![1, 2], 0, [false, true]));
        let (delivered, before, _) = arrive(1, 6, 0, 2);
        assert_eq!((delivered, before), (vec![1, 2, 0], 3));
    }
}
