//! Matches sends and receives by sender, receiver and tag, in order of the files.

use std::collections::{BTreeMap, VecDeque};

use super::super::node::MatchKey;

/// Sends and receives of all ranks that have been read and not matched.
#[derive(Debug, Default)]
pub(super) struct Matcher(BTreeMap<MatchKey, MatchQueues>);

/// Unmatched sends and receives of one key; at most one queue is not empty.
#[derive(Debug, Default)]
struct MatchQueues {
    sends: VecDeque<PendingSend>,
    /// Node ids of the receives, in order of the file.
    receives: VecDeque<u64>,
}

/// A send whose receive may not have been read yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PendingSend {
    pub id: u64,
    /// Offset of the node in its file.
    pub offset: u64,
    pub bytes: u64,
}

/// A send or a receive without a counterpart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unmatched {
    Send(PendingSend),
    /// A receive, given by the id of its node.
    Receive(u64),
}

impl Matcher {
    /// Adds a send; returns its receive if that has already been read.
    pub(super) fn add_send(&mut self, key: MatchKey, send: PendingSend) -> Option<u64> {
        let queues = self.0.entry(key).or_default();
        let receive = queues.receives.pop_front();
        if receive.is_none() {
            queues.sends.push_back(send);
        }
        self.remove_if_empty(key);
        receive
    }

    /// Adds a receive; returns its send if that has already been read.
    pub(super) fn add_receive(&mut self, key: MatchKey, receive: u64) -> Option<PendingSend> {
        let queues = self.0.entry(key).or_default();
        let send = queues.sends.pop_front();
        if send.is_none() {
            queues.receives.push_back(receive);
        }
        self.remove_if_empty(key);
        send
    }

    fn remove_if_empty(&mut self, key: MatchKey) {
        let is_empty = |it: &MatchQueues| it.sends.is_empty() && it.receives.is_empty();
        if self.0.get(&key).is_some_and(is_empty) {
            self.0.remove(&key);
        }
    }

    /// Returns the first node, in order of keys, without a counterpart.
    pub(super) fn first_unmatched(&self) -> Option<(MatchKey, Unmatched)> {
        let (&key, queues) = self.0.first_key_value()?;
        let receive = || queues.receives.front().copied().map(Unmatched::Receive);
        let node = queues.sends.front().copied().map(Unmatched::Send).or_else(receive)?;
        Some((key, node))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sends_and_receives_match_in_order_whichever_is_read_first() {
        let mut matcher = Matcher::default();
        let send = |id| PendingSend { id, offset: 0, bytes: 1 };
        let [key, other] = [7, 8].map(|tag| MatchKey { src: 0, dst: 1, tag });
        assert_eq!(matcher.add_send(key, send(1)), None);
        assert_eq!(matcher.add_send(key, send(2)), None);
        assert_eq!(matcher.add_receive(other, 5), None);
        assert_eq!(matcher.add_receive(key, 8), Some(send(1)));
        assert_eq!(matcher.first_unmatched(), Some((key, Unmatched::Send(send(2)))));
        assert_eq!(matcher.add_receive(key, 9), Some(send(2)));
        assert_eq!(matcher.first_unmatched(), Some((other, Unmatched::Receive(5))));
        assert_eq!(matcher.add_receive(key, 10), None);
        assert_eq!(matcher.add_send(key, send(3)), Some(10));
        assert_eq!(matcher.add_send(other, send(4)), Some(5));
        assert_eq!((matcher.first_unmatched(), matcher.0.len()), (None, 0));
    }
}
