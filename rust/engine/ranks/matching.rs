//! Matching of messages with receives.
//!
//! The n-th send of a key matches the n-th receive of that key. A message that overtakes an earlier
//! one of its key is handed to its own receive immediately.

use std::collections::{BTreeMap, VecDeque};

use super::Ticket;

/// The attributes that a send and its receive share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    /// The sending rank.
    pub src: u32,
    /// The receiving rank.
    pub dst: u32,
    /// Tag of both.
    pub tag: i32,
    /// Length in bytes. Part of the key because groups that share a pair of ranks may use the same
    /// tags.
    pub bytes: u64,
}

/// State of one message of a key and of its receive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Slot {
    /// The message has not arrived; holds the ticket of the receive once that is posted.
    Open(Option<Ticket>),
    /// The message has arrived and waits for its receive.
    Arrived,
    /// The message has been received.
    Received,
}

/// Unfinished sends and receives of one key.
#[derive(Debug, Default)]
struct Queue {
    /// Number of the first slot.
    first: u64,
    slots: VecDeque<Slot>,
    /// Number of sends so far.
    sent: u64,
    /// Number of receives so far.
    received_count: u64,
}

impl Queue {
    fn slot(&mut self, number: u64) -> &mut Slot {
        let index = usize::try_from(number - self.first).expect("slots are in memory");
        if self.slots.len() <= index {
            self.slots.resize(index + 1, Slot::Open(None));
        }
        &mut self.slots[index]
    }

    fn remove_received(&mut self) {
        while self.slots.front() == Some(&Slot::Received) {
            self.slots.pop_front();
            self.first += 1;
        }
    }

    /// Returns the number of receives whose messages have not arrived.
    fn receives(&self) -> u64 {
        let waits = |slot: &&Slot| matches!(slot, Slot::Open(Some(_)));
        self.slots.iter().filter(waits).count() as u64
    }

    /// Returns the number of messages that have arrived and have no receive.
    fn arrived(&self) -> u64 {
        self.slots.iter().filter(|slot| **slot == Slot::Arrived).count() as u64
    }
}

/// All unfinished sends and receives, by key.
#[derive(Debug, Default)]
pub struct Matching {
    queues: BTreeMap<Key, Queue>,
}

impl Matching {
    /// Registers a message sent now and returns its number within its key.
    pub fn send(&mut self, key: Key) -> u64 {
        let queue = self.queues.entry(key).or_default();
        let number = queue.sent;
        // An open slot keeps the queue alive until the message has been received.
        queue.slot(number);
        queue.sent += 1;
        number
    }

    /// Posts a receive. Returns its ticket if its message has already arrived.
    pub fn receive(&mut self, key: Key, ticket: Ticket) -> Option<Ticket> {
        let queue = self.queues.entry(key).or_default();
        let number = queue.received_count;
        queue.received_count += 1;
        match queue.slot(number) {
            Slot::Open(of_receive) => {
                *of_receive = Some(ticket);
                None
            }
            _ => {
                self.finish(key, number);
                Some(ticket)
            }
        }
    }

    /// Registers the arrival of message `number`. Returns the ticket of its receive if that is
    /// posted.
    ///
    /// # Panics
    /// If the message was not sent or has already arrived.
    pub fn arrive(&mut self, key: Key, number: u64) -> Option<Ticket> {
        let queue = self.queues.get_mut(&key).expect("the message was sent");
        assert!(number < queue.sent, "message {number} of {key:?} was not sent");
        let slot = queue.slot(number);
        match *slot {
            Slot::Open(None) => {
                *slot = Slot::Arrived;
                None
            }
            Slot::Open(Some(ticket)) => {
                self.finish(key, number);
                Some(ticket)
            }
            Slot::Arrived | Slot::Received => panic!("message {number} of {key:?} arrives again"),
        }
    }

    fn finish(&mut self, key: Key, number: u64) {
        let queue = self.queues.get_mut(&key).expect("it has the slot");
        *queue.slot(number) = Slot::Received;
        queue.remove_received();
        if queue.slots.is_empty() {
            self.queues.remove(&key);
        }
    }

    /// Iterates over the keys of receives whose messages have not arrived, with their counts.
    pub fn receives(&self) -> impl Iterator<Item = (Key, u64)> {
        self.counted(Queue::receives)
    }

    /// Iterates over the keys of messages that have arrived and have no receive, with their counts.
    pub fn unreceived(&self) -> impl Iterator<Item = (Key, u64)> {
        self.counted(Queue::arrived)
    }

    fn counted(&self, count: impl Fn(&Queue) -> u64) -> impl Iterator<Item = (Key, u64)> {
        let counts = self.queues.iter().map(move |(key, queue)| (*key, count(queue)));
        counts.filter(|&(_, count)| count > 0)
    }
}

#[cfg(test)]
mod tests;
