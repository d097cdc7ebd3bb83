//! Collectives whose messages are generated on the fly during a run, as [`Chains`].

use super::{Collective, CollectiveError, Plan};
use crate::units::Bytes;
use crate::workload::{Blocks, ChainShape, Chains, StepAfter};

impl Collective {
    /// Returns the chains of the collective. `None` if its messages do not form chains, if channels
    /// have several orders of ranks, or if an empty, unsent block leaves a gap. An all-to-all forms
    /// chains only if [`Plan::outstanding`] is set and there are no chunks.
    ///
    /// # Errors
    /// As [`Self::build`].
    pub fn chains(
        &self,
        plan: &Plan,
        step_after: StepAfter,
    ) -> Result<Option<Chains>, CollectiveError> {
        let Some(shape) = self.chain else { return Ok(None) };
        // Chains have one order of ranks.
        if plan.rotation > 1 && plan.channels > 1 {
            return Ok(None);
        }
        plan.check()?;
        plan.check_cost(&(self.cost)(plan))?;
        let outstanding = match (shape, plan.outstanding) {
            (ChainShape::Exchange, Some(most)) if plan.chunks == 1 => {
                most.clamp(1, plan.ranks.len() as u32 - 1)
            }
            (ChainShape::Exchange, _) => return Ok(None),
            (ChainShape::Ring(_) | ChainShape::Line, _) => 1,
        };
        // In an exchange, a sender waits for the completion of its own earlier message.
        let step_after = match shape {
            ChainShape::Exchange => StepAfter::Acknowledgement,
            ChainShape::Ring(_) | ChainShape::Line => step_after,
        };
        let count = shape.blocks(plan.ranks.len());
        let segments: Vec<(u32, Blocks)> = plan
            .segments()
            .filter(|segment| segment.bytes > Bytes::ZERO)
            .map(|segment| (segment.channel, Blocks::equal(segment.bytes, count)))
            .collect();
        let has_gaps = segments.iter().any(|(_, blocks)| blocks.bytes(&(count - 1..count)) == 0);
        let (ranks, gap) = (plan.ranks.clone(), plan.gap);
        Ok((!has_gaps).then_some(Chains { shape, ranks, segments, gap, step_after, outstanding }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collective::{ALL, find};
    use crate::ids::{HostId, TaskId};
    use crate::workload::{Message, Workload};

    fn plan(ranks: u32, bytes: u64, channels: u32, chunks: u32) -> Plan {
        let ranks = (0..ranks).map(|rank| HostId(3 * rank + 1)).collect();
        Plan { channels, chunks, outstanding: Some(3), ..Plan::new(ranks, Bytes::new(bytes)) }
    }

    fn chains(name: &str, plan: &Plan) -> Option<Chains> {
        find(name).unwrap().chains(plan, StepAfter::Delivery).unwrap()
    }

    /// Returns each chain of a fully built workload, from its first message on.
    fn built(workload: &Workload) -> Vec<Vec<Message>> {
        let waits = |task: &TaskId| workload.waits_for.get(task.index()).is_some_and(|it| *it > 0);
        let heads = workload.tasks().filter(|task| !waits(task));
        let chain = |head: TaskId| {
            let next = |task: &TaskId| match workload.dependents_of(*task) {
                [] => None,
                [next] => Some(*next),
                several => panic!("{task} is followed by {several:?}"),
            };
            std::iter::successors(Some(head), next).map(|task| *workload.message(task).unwrap())
        };
        heads.map(|head| chain(head).collect()).collect()
    }

    #[test]
    fn chains_generate_the_messages_of_the_schedule_in_order() {
        let plans = [(2, 64, 1, 1), (3, 1_000, 2, 1), (5, 77, 1, 3), (8, 4_096, 3, 2)];
        for collective in ALL.iter().filter(|it| it.chain.is_some()) {
            let plan = |(ranks, bytes, channels, chunks)| match collective.limits_outstanding() {
                true => plan(ranks, bytes, channels, 1),
                false => plan(ranks, bytes, channels, chunks),
            };
            for plan in plans.map(plan) {
                let chains = chains(collective.name, &plan).unwrap();
                let workload = collective.build(&plan).unwrap();
                let generated: Vec<Vec<Message>> = chains
                    .heads()
                    .map(|head| {
                        let places = std::iter::successors(Some(head), |at| chains.next(*at));
                        places.map(|place| chains.message(place)).collect()
                    })
                    .collect();
                assert_eq!(generated, built(&workload), "{} of {plan:?}", collective.name);
                assert_eq!(chains.messages(), workload.messages.len() as u64);
                let longest = workload.messages.iter().map(|message| message.bytes).max();
                assert_eq!(Some(chains.longest()), longest);
                let mut load = chains.load();
                // In an exchange, only the senders identify a chain.
                let dst = |it: &Message| (!collective.limits_outstanding()).then_some(it.dst);
                let pair = |it: &Message| (it.src, dst(it), it.stream);
                for message in &workload.messages {
                    let of_pair = load.iter_mut().find(|it| pair(it) == pair(message)).unwrap();
                    of_pair.bytes = Bytes::new(of_pair.bytes.get() - message.bytes.get());
                }
                assert!(load.iter().all(|it| it.bytes == Bytes::ZERO), "{}", collective.name);
            }
        }
    }

    #[test]
    fn rings_and_pipelines_are_chains_unless_a_block_is_empty() {
        let names: Vec<&str> =
            ALL.iter().filter(|it| it.chain.is_some()).map(|it| it.name).collect();
        let expected =
            ["all-to-all", "ring-all-reduce", "ring-all-gather", "ring-reduce-scatter", "pipeline"];
        assert_eq!(names, expected);
        assert_eq!(chains("ring-all-reduce", &plan(8, 7, 1, 1)), None);
        assert!(chains("ring-all-reduce", &plan(8, 8, 1, 1)).is_some());
        // Two bytes fill two of the three chunks; the empty one has no chain.
        assert_eq!(chains("pipeline", &plan(8, 2, 1, 3)).unwrap().messages(), 2 * 7);
        // An all-to-all with chunks uses its queue pairs more than once.
        assert_eq!(chains("all-to-all", &plan(8, 64, 1, 2)), None);
        assert_eq!(chains("all-to-all", &Plan { outstanding: None, ..plan(8, 64, 1, 1) }), None);
    }

    #[test]
    fn an_exchange_has_one_chain_per_rank_and_outstanding_message() {
        for (outstanding, heads) in [(1, 8), (3, 24), (7, 56), (100, 56)] {
            let plan = Plan { outstanding: Some(outstanding), ..plan(8, 65, 1, 1) };
            let chains = chains("all-to-all", &plan).unwrap();
            assert_eq!((chains.max_in_flight(), chains.messages()), (heads, 56));
            // Only rank 1: seven messages, all but the first ones waiting for another.
            let sent = chains.sent_by(&|host| host == HostId(4)).unwrap();
            let waiting = sent.waits_for.iter().filter(|&&count| count > 0).count();
            assert_eq!((sent.messages.len(), waiting), (7, 7 - (heads as usize / 8)));
        }
    }

    #[test]
    fn a_ring_of_thousands_of_ranks_takes_no_memory_for_its_messages() {
        let chains = chains("ring-all-reduce", &plan(8_192, 1 << 26, 1, 1)).unwrap();
        assert_eq!(chains.messages(), 2 * 8_191 * 8_192);
        assert_eq!((chains.heads().count(), chains.load().len()), (8_192, 8_192));
    }
}
