//! Which receive a message is for.
//!
//! The n-th send of a key is for the n-th receive of that key. A message that overtakes an earlier
//! one of its key is handed to its own receive at once.

use std::collections::{BTreeMap, VecDeque};

use super::Ticket;

/// What a send and its receive have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    /// The rank that sends.
    pub src: u32,
    /// The rank that receives.
    pub dst: u32,
    /// The tag of both.
    pub tag: i32,
    /// Length in bytes: groups that share a pair of ranks may use the same tags.
    pub bytes: u64,
}

/// A message of a key, and the receive that it is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Slot {
    /// Neither has both happened: the ticket of the receive if that was posted.
    Open(Option<Ticket>),
    /// The message has arrived and waits for its receive.
    Arrived,
    /// The message has been received.
    Received,
}

/// The sends and receives of a key that are not done.
#[derive(Debug, Default)]
struct Queue {
    /// The number of the first slot.
    first: u64,
    slots: VecDeque<Slot>,
    /// Sends so far.
    sent: u64,
    /// Receives so far.
    asked: u64,
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

    /// Receives whose messages have not arrived.
    fn receives(&self) -> u64 {
        let waits = |slot: &&Slot| matches!(slot, Slot::Open(Some(_)));
        self.slots.iter().filter(waits).count() as u64
    }

    /// Messages that have arrived and have no receive.
    fn arrived(&self) -> u64 {
        self.slots.iter().filter(|slot| **slot == Slot::Arrived).count() as u64
    }
}

/// All sends and receives that are not done, by key.
#[derive(Debug, Default)]
pub struct Matching {
    queues: BTreeMap<Key, Queue>,
}

impl Matching {
    /// Numbers a message that is sent now among those of its key.
    pub fn send(&mut self, key: Key) -> u64 {
        let queue = self.queues.entry(key).or_default();
        let number = queue.sent;
        // The slot keeps the queue until the message has been received.
        queue.slot(number);
        queue.sent += 1;
        number
    }

    /// Posts a receive. Returns its ticket if its message has arrived already.
    pub fn receive(&mut self, key: Key, ticket: Ticket) -> Option<Ticket> {
        let queue = self.queues.entry(key).or_default();
        let number = queue.asked;
        queue.asked += 1;
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

    /// The message of that number has arrived. Returns the ticket of its receive if that was
    /// posted.
    ///
    /// # Panics
    /// If the message was not sent or has arrived already.
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

    /// The keys of receives whose messages have not arrived, each with how many there are.
    pub fn receives(&self) -> impl Iterator<Item = (Key, u64)> {
        self.counted(Queue::receives)
    }

    /// The keys of messages that have arrived and have no receive, each with how many there are.
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
