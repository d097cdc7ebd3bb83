//! Detects symptoms of known converter faults in workloads that were read from files. A correct
//! program may show the same symptoms.

use std::collections::BTreeMap;

use crate::ids::HostId;
use crate::report::human;
use crate::units::{Bytes, Time};
use crate::workload::Workload;

/// Message counts of a host.
#[derive(Debug, Clone, Copy, Default)]
struct Count {
    sent: u64,
    received: u64,
    /// Messages that it sends at time 0 and that wait for nothing.
    unordered: u64,
}

/// Returns a sentence for each symptom in `workload`; `name` returns the name of a host.
pub fn audit(workload: &Workload, name: &dyn Fn(HostId) -> String) -> Vec<String> {
    let mut hosts: BTreeMap<HostId, Count> = BTreeMap::new();
    for delay in &workload.delays {
        hosts.entry(delay.host).or_default();
    }
    let (mut all_ready, mut tiny) = (true, 0);
    for (index, message) in workload.messages.iter().enumerate() {
        let waits = workload.waits_for.get(index).is_some_and(|&count| count > 0);
        let is_ready = !waits && message.start == Time::ZERO;
        let from = hosts.entry(message.src).or_default();
        from.sent += 1;
        from.unordered += u64::from(is_ready);
        hosts.entry(message.dst).or_default().received += 1;
        all_ready &= is_ready;
        tiny += usize::from(message.bytes <= Bytes::new(1));
    }
    let most_ready = hosts.iter().max_by_key(|(host, count)| (count.unordered, u32::MAX - host.0));
    let ready = most_ready.filter(|(_, count)| all_ready && count.unordered > 1);
    let ready = ready.map(|(&host, count)| {
        let (all, host) = (workload.messages.len() as u64, name(host));
        format!(
            "all {} are ready at time 0, {} of them at {host}: no dependency orders them",
            human::plural(all, "message"),
            count.unordered
        )
    });
    let tiny = (tiny > 0).then(|| {
        let (all, tiny) = (workload.messages.len(), tiny as u64);
        format!("{tiny} of {all} messages have 1 byte, as if a converter did not know their size")
    });
    let mismatches = [("send", (|it| it.sent) as fn(&Count) -> u64), ("receive", |it| it.received)];
    let mismatches = mismatches.into_iter().filter_map(|(verb, count)| {
        let counts = hosts.iter().map(|(host, it)| (count(it), host));
        let (least, most) = (counts.clone().min()?, counts.max_by_key(|&(count, _)| count)?);
        let some = |(count, host): (u64, &HostId)| format!("{count} ({})", name(*host));
        (least.0 != most.0)
            .then(|| format!("hosts {verb} from {} to {} messages", some(least), some(most)))
    });
    ready.into_iter().chain(tiny).chain(mismatches).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::Message;

    fn message(src: u32, dst: u32, bytes: u64) -> Message {
        let [src, dst] = [src, dst].map(HostId);
        Message { src, dst, bytes: Bytes::new(bytes), stream: 0, start: Time::ZERO }
    }

    fn of(workload: &Workload) -> Vec<String> {
        audit(workload, &|host| format!("rank {}", host.0))
    }

    #[test]
    fn a_stepwise_ring_has_no_symptoms() {
        let ring = [message(0, 1, 64), message(1, 0, 64), message(0, 1, 64), message(1, 0, 64)];
        let ids = [(1, 2), (0, 3)].map(|(one, next)| [one, next].map(crate::ids::MessageId));
        let ids = ids.map(|[one, next]| (one, next));
        assert_eq!(of(&Workload::with_dependencies(ring.to_vec(), &ids)), [""; 0]);
    }

    #[test]
    fn unordered_messages_tiny_messages_and_unequal_counts_are_reported() {
        let messages = [message(0, 1, 64), message(0, 2, 1), message(1, 0, 64)];
        let expected = [
            "all 3 messages are ready at time 0, 2 of them at rank 0: no dependency orders them",
            "1 of 3 messages have 1 byte, as if a converter did not know their size",
            "hosts send from 0 (rank 2) to 2 (rank 0) messages",
        ];
        assert_eq!(of(&Workload::independent(messages.to_vec())), expected);
    }
}
