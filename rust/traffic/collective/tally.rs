//! Totals of a collective's messages, without the messages and their dependencies.

use std::collections::BTreeMap;

use super::schedule::ScheduleBuilder;
use super::{Collective, CollectiveError, Plan};
use crate::ids::HostId;
use crate::units::{Bytes, Time};
use crate::workload::Message;

/// Totals of the messages of a collective. Their memory grows with the pairs of ranks that
/// exchange messages, not with the messages.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MessageTally {
    /// Number of messages of each entry of the load.
    pub counts: Vec<u64>,
    /// Length of the longest message.
    pub longest: Bytes,
}

impl MessageTally {
    /// Returns the number of messages.
    pub fn messages(&self) -> u64 {
        self.counts.iter().sum()
    }
}

/// Bytes and messages by rank, and by receiving rank and stream.
#[derive(Debug, Default)]
pub(super) struct Tally {
    by_rank: Vec<BTreeMap<(u32, u32), (u64, u64)>>,
    longest: u64,
}

impl Tally {
    pub(super) fn add(&mut self, from: usize, to: (u32, u32), bytes: u64) {
        if self.by_rank.len() <= from {
            self.by_rank.resize_with(from + 1, BTreeMap::new);
        }
        let (sum, count) = self.by_rank[from].entry(to).or_default();
        *sum += bytes;
        *count += 1;
        self.longest = self.longest.max(bytes);
    }

    fn finish(self, ranks: &[HostId]) -> (Vec<Message>, MessageTally) {
        let longest = Bytes::new(self.longest);
        let (mut load, mut counts) = (Vec::new(), Vec::new());
        for (from, of_rank) in self.by_rank.into_iter().enumerate() {
            for ((to, stream), (bytes, count)) in of_rank {
                let (src, dst) = (ranks[from], ranks[to as usize]);
                let (bytes, start) = (Bytes::new(bytes), Time::ZERO);
                load.push(Message { src, dst, bytes, stream, start });
                counts.push(count);
            }
        }
        (load, MessageTally { counts, longest })
    }
}

impl Collective {
    /// Returns the totals of the messages of [`Self::build`], which are not kept. The load is one
    /// message for each pair of hosts and stream, with the bytes of all of its messages.
    ///
    /// # Errors
    /// As [`Self::build`].
    pub fn tally(&self, plan: &Plan) -> Result<(Vec<Message>, MessageTally), CollectiveError> {
        let schedule = self.schedule_with(plan, ScheduleBuilder::tallying(plan))?;
        Ok(schedule.into_tally().finish(&plan.ranks))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collective::ALL;

    #[test]
    fn a_tally_has_the_totals_of_all_messages() {
        let ranks: Vec<HostId> = (0..16).map(|rank| HostId(3 * rank + 1)).collect();
        let plan = Plan { channels: 2, chunks: 3, group: 4, ..Plan::new(ranks, Bytes::new(1_000)) };
        let plans = [plan.clone(), Plan { outstanding: Some(3), ..plan }];
        for (collective, plan) in ALL.iter().flat_map(|it| plans.each_ref().map(|plan| (it, plan)))
        {
            let messages = collective.build(plan).unwrap().messages;
            let mut expected = BTreeMap::new();
            for message in &messages {
                let pair = (message.src, message.dst, message.stream);
                let (bytes, count) = expected.entry(pair).or_insert((0, 0));
                *bytes += message.bytes.get();
                *count += 1;
            }
            let (load, tally) = collective.tally(plan).unwrap();
            let entry = |(it, count): (&Message, &u64)| {
                ((it.src, it.dst, it.stream), (it.bytes.get(), *count))
            };
            let found: BTreeMap<_, _> = load.iter().zip(&tally.counts).map(entry).collect();
            assert_eq!(found, expected, "{}", collective.name);
            assert_eq!(tally.messages(), messages.len() as u64);
            assert_eq!(Some(tally.longest), messages.iter().map(|it| it.bytes).max());
        }
    }
}
