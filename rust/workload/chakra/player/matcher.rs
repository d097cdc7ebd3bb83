//! Where sends and receives find each other: by sender, receiver and tag, in order of the files.

use std::collections::{BTreeMap, VecDeque};

/// Those of all ranks that have been read and not met.
#[derive(Debug, Default)]
pub(super) struct Meetings(BTreeMap<Key, Queues>);

/// Sender, receiver and tag.
pub(super) type Key = (u32, u32, u32);

/// At most one of the two holds any.
#[derive(Debug, Default)]
struct Queues {
    sends: VecDeque<Send>,
    receives: VecDeque<u64>,
}

/// A send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Send {
    pub id: u64,
    /// Where it begins in its file.
    pub offset: u64,
    pub bytes: u64,
}

/// Who is left alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Alone {
    Send(Send),
    /// By its id.
    Receive(u64),
}

impl Meetings {
    /// A send has been read; its receive, if that was before.
    pub fn send(&mut self, key: Key, send: Send) -> Option<u64> {
        let queues = self.0.entry(key).or_default();
        let receive = queues.receives.pop_front();
        if receive.is_none() {
            queues.sends.push_back(send);
        }
        self.tidy(key);
        receive
    }

    /// A receive has been read; its send, if that was before.
    pub fn receive(&mut self, key: Key, receive: u64) -> Option<Send> {
        let queues = self.0.entry(key).or_default();
        let send = queues.sends.pop_front();
        if send.is_none() {
            queues.receives.push_back(receive);
        }
        self.tidy(key);
        send
    }

    fn tidy(&mut self, key: Key) {
        let is_empty = |it: &Queues| it.sends.is_empty() && it.receives.is_empty();
        if self.0.get(&key).is_some_and(is_empty) {
            self.0.remove(&key);
        }
    }

    /// The first that has met nobody.
    pub fn first(&self) -> Option<(Key, Alone)> {
        let (&key, queues) = self.0.first_key_value()?;
        let receive = || queues.receives.front().copied().map(Alone::Receive);
        queues.sends.front().copied().map(Alone::Send).or_else(receive).map(|alone| (key, alone))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whichever_is_read_first_they_meet_in_order_and_leave_nothing() {
        let mut meetings = Meetings::default();
        let send = |id| Send { id, offset: 0, bytes: 1 };
        let key = (0, 1, 7);
        assert_eq!(meetings.send(key, send(1)), None);
        assert_eq!(meetings.send(key, send(2)), None);
        assert_eq!(meetings.receive((0, 1, 8), 5), None);
        assert_eq!(meetings.receive(key, 8), Some(send(1)));
        assert_eq!(meetings.first(), Some((key, Alone::Send(send(2)))));
        assert_eq!(meetings.receive(key, 9), Some(send(2)));
        assert_eq!(meetings.first(), Some(((0, 1, 8), Alone::Receive(5))));
        assert_eq!(meetings.receive(key, 10), None);
        assert_eq!(meetings.send(key, send(3)), Some(10));
        assert_eq!(meetings.send((0, 1, 8), send(4)), Some(5));
        assert_eq!((meetings.first(), meetings.0.len()), (None, 0));
    }
}
