//! The REPS of Ethereal's artifact, which differs from the algorithm of the REPS paper: a good
//! entropy value is used until a mark, instead of once.
//!
//! Source: the baseline `reps` of "Ethereal: Divide and Conquer Network Load Balancing in
//! Large-Scale Distributed Training" (arXiv 2407.00550, v2) in its public simulator
//! (STyGIANet/astra-ns3-datacenter, `rdma-hw.cc`, `GetNxtPacket` and `ReceiveAck`). The packets of
//! the first bandwidth-delay product take the values 0, 1, 2 and so on. An unmarked acknowledgement
//! inserts its value into an ordered set. A marked one, or a timeout, removes the oldest value of
//! the set, whichever it is. Later packets carry the oldest value, which stays in the set; while
//! the set is empty, they continue in order. Nothing freezes. A message longer than the first
//! window therefore stays on one hashed path until it is marked: it is as slow as ECMP.
//!
//! In the artifact each message has its own queue pair. Here a message that finds its queue pair
//! idle starts afresh \[inferred\]. Retransmitted packets count towards the first window (the
//! artifact counts bytes, each once). The artifact has no trimming; a trimmed packet is treated as
//! a timeout \[inferred\]. Each switch hashes the value, as in the artifact (addresses, value
//! instead of the source port, destination port), and the acknowledgement echoes it.
//! [`super::reps`] is the algorithm of the paper.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::entropy_space::EntropySpace;
use super::{FailedPath, Feedback, PathSignal, QpContext, SenderConfig, SenderPolicy};
use crate::balance::{Preset, Scheme, parse_config};
use crate::nic::Recovery;
use crate::units::Time;

/// The only parameter of `reps-ethereal`: the number of values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Number of entropy values. Default 256 (artifact, `maxEntropies`).
    pub entropies: EntropySpace,
}

impl Default for Config {
    fn default() -> Self {
        Self { entropies: EntropySpace::BITMAP }
    }
}

/// The state of one queue pair.
#[derive(Debug, Clone)]
pub struct RepsEthereal(Box<State>);

#[derive(Debug, Clone)]
struct State {
    entropies: EntropySpace,
    /// Bandwidth-delay product in packets.
    bdp: u32,
    /// Unsent packets of the first window.
    first_window: u32,
    /// The next value in order.
    next: u16,
    cached: OrderedSet,
}

/// Values in order of insertion, each once.
#[derive(Debug, Clone, Default)]
struct OrderedSet {
    order: VecDeque<u16>,
    /// One bit for each value up to the largest that was inserted.
    contains: Vec<u64>,
}

impl OrderedSet {
    fn insert(&mut self, value: u16) {
        let (word, bit) = (usize::from(value / 64), 1 << (value % 64));
        if word >= self.contains.len() {
            // Grown on demand: values are used in ascending order.
            self.contains.resize(word + 1, 0);
        }
        if self.contains[word] & bit == 0 {
            self.contains[word] |= bit;
            self.order.push_back(value);
        }
    }

    fn remove_oldest(&mut self) {
        if let Some(value) = self.order.pop_front() {
            self.contains[usize::from(value / 64)] &= !(1 << (value % 64));
        }
    }

    fn clear(&mut self) {
        self.order.clear();
        self.contains.fill(0);
    }
}

/// The preset `reps-ethereal`: hashing switches, and a retransmission timer for each packet.
pub const PRESETS: &[Preset] = &[Preset {
    name: "reps-ethereal",
    summary: "the REPS of Ethereal's artifact, not that of the REPS paper: a good entropy value \
              is used until a mark",
    source: "Ethereal (arXiv 2407.00550v2, 2025), its simulator's baseline \"reps\"",
    build: |parameters| {
        let sender = SenderConfig::RepsEthereal(parse_config("reps-ethereal", parameters)?);
        Ok(Scheme { recovery: Recovery::PER_PACKET, ..Scheme::new("reps-ethereal", sender) })
    },
}];

impl RepsEthereal {
    pub(super) fn new(config: &Config, qp: &QpContext) -> Self {
        // The first window ends once all values have been tried.
        let bdp = qp.network.bdp_packets.min(config.entropies.count());
        Self(Box::new(State {
            entropies: config.entropies,
            bdp,
            first_window: bdp,
            next: 0,
            cached: OrderedSet::default(),
        }))
    }
}

impl SenderPolicy for RepsEthereal {
    const TAKES_ANY_PLANE: bool = true;

    #[inline]
    fn entropy(&mut self, _now: Time) -> u16 {
        let State { entropies, first_window, next, cached, .. } = &mut *self.0;
        // After the first window, stay on the oldest good value until a mark removes it.
        if *first_window == 0
            && let Some(&oldest) = cached.order.front()
        {
            return oldest;
        }
        // Saturating: also reached after the first window, while no good value is known.
        *first_window = first_window.saturating_sub(1);
        let value = *next;
        *next = ((u32::from(value) + 1) % entropies.count()) as u16;
        value
    }

    #[inline]
    fn handle_feedback(&mut self, _now: Time, feedback: Feedback) {
        match feedback.signal {
            PathSignal::Good => self.0.cached.insert(feedback.entropy),
            PathSignal::Marked
            | PathSignal::Nack
            | PathSignal::Trimmed
            | PathSignal::TrimmedAtLastHop
            | PathSignal::Condemned => self.0.cached.remove_oldest(),
        }
    }

    fn handle_timeout(&mut self, _now: Time, _entropy: u16) -> Option<FailedPath> {
        self.0.cached.remove_oldest();
        None
    }

    /// Restarts: a message begins on an idle queue pair. In the artifact it has a new one.
    fn set_path(&mut self, _path: u16) {
        let state = &mut *self.0;
        (state.first_window, state.next) = (state.bdp, 0);
        state.cached.clear();
    }

    /// The set with one bit for each value, the next value and the counter of the first window.
    fn state_bits(&self) -> u64 {
        16 * self.0.cached.order.len() as u64 + u64::from(self.0.entropies.count()) + 16 + 17
    }
}

#[cfg(test)]
mod tests {
    use super::super::NetworkParameters;
    use super::*;

    fn reps(bdp_packets: u32, entropies: u32) -> RepsEthereal {
        let network = NetworkParameters { bdp_packets, ..NetworkParameters::default() };
        let entropies = EntropySpace::try_from(entropies).unwrap();
        RepsEthereal::new(&Config { entropies }, &QpContext { network, ..QpContext::for_test() })
    }

    fn next(policy: &mut RepsEthereal, packets: usize) -> Vec<u16> {
        (0..packets).map(|_| policy.entropy(Time::ZERO)).collect()
    }

    fn feed(policy: &mut RepsEthereal, entropy: u16, signal: PathSignal) {
        let rtt = NetworkParameters::default().base_rtt;
        let feedback = Feedback { entropy, signal, packets: 1, marked: 0, rtt };
        policy.handle_feedback(Time::ZERO, feedback);
    }

    #[test]
    fn after_a_bdp_the_oldest_good_value_is_used_until_a_mark_removes_it() {
        let mut policy = reps(4, 256);
        assert_eq!(next(&mut policy, 2), [0, 1]);
        feed(&mut policy, 0, PathSignal::Good);
        assert_eq!(next(&mut policy, 2), [2, 3], "the first window is in order whatever is known");
        assert_eq!(next(&mut policy, 3), [0, 0, 0], "use does not remove a value");
        for value in [1, 0, 3, 2, 1] {
            feed(&mut policy, value, PathSignal::Good);
        }
        // The mark is on 3, but the oldest value, 0, is removed.
        feed(&mut policy, 3, PathSignal::Marked);
        assert_eq!(next(&mut policy, 2), [1, 1]);
        assert_eq!(policy.handle_timeout(Time::ZERO, 9), None);
        assert_eq!(next(&mut policy, 2), [3, 3], "in order of insertion, each once");
        feed(&mut policy, 0, PathSignal::Good);
        for _ in 0..3 {
            feed(&mut policy, 7, PathSignal::Marked);
        }
        assert_eq!(next(&mut policy, 3), [4, 5, 6], "with none left it goes on in order");
        feed(&mut policy, 7, PathSignal::Marked);
        feed(&mut policy, 2, PathSignal::Good);
        assert_eq!(next(&mut policy, 2), [2, 2]);
        assert_eq!(policy.state_bits(), 16 + 256 + 33);
    }

    #[test]
    fn values_wrap_and_once_all_are_tried_the_first_window_is_over() {
        let mut policy = reps(100, 3);
        feed(&mut policy, 2, PathSignal::Good);
        assert_eq!(next(&mut policy, 5), [0, 1, 2, 2, 2]);
        feed(&mut policy, 2, PathSignal::Trimmed);
        assert_eq!(next(&mut policy, 4), [0, 1, 2, 0]);
    }

    #[test]
    fn a_message_on_an_idle_queue_pair_starts_afresh() {
        let mut policy = reps(2, 256);
        next(&mut policy, 2);
        feed(&mut policy, 1, PathSignal::Good);
        assert_eq!(next(&mut policy, 1), [1]);
        policy.set_path(0);
        assert_eq!(next(&mut policy, 4), [0, 1, 2, 3]);
        feed(&mut policy, 1, PathSignal::Good);
        assert_eq!(next(&mut policy, 1), [1], "it can be inserted again");
    }

    #[test]
    fn only_removed_values_are_inserted_again() {
        let mut policy = reps(1, 256);
        next(&mut policy, 1);
        (4..7).for_each(|value| feed(&mut policy, value, PathSignal::Good));
        feed(&mut policy, 4, PathSignal::Marked);
        for value in [4, 5] {
            feed(&mut policy, value, PathSignal::Good);
        }
        assert_eq!(policy.0.cached.order, [5, 6, 4]);
    }
}
