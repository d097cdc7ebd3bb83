//! Start jitter: a random delay at the start of each message.

use std::collections::BTreeMap;

use crate::ids::HostId;
use crate::rng::{Purpose, Stream};
use crate::units::Span;
use crate::workload::Workload;

/// Delays the start of every message by a uniformly random span.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StartJitter {
    /// The longest delay; zero changes nothing.
    pub at_most: Span,
    /// Seed of the random draws.
    pub seed: u64,
}

impl StartJitter {
    /// Delays each message of `workload` that depends on no task. Other messages start when their
    /// dependencies complete.
    ///
    /// Each ordered pair of hosts draws from its own stream, in message order. Adding a pair
    /// therefore does not change the draws of the others.
    pub fn apply(&self, workload: &mut Workload) {
        if self.at_most == Span::ZERO {
            return;
        }
        let mut streams: BTreeMap<(HostId, HostId), Stream> = BTreeMap::new();
        for (index, message) in workload.messages.iter_mut().enumerate() {
            if workload.waits_for.get(index).is_some_and(|&count| count > 0) {
                continue;
            }
            let stream = streams.entry((message.src, message.dst)).or_insert_with(|| {
                Stream::for_pair(self.seed, Purpose::Workload, message.src.0, message.dst.0)
            });
            let span = Span::from_ps(up_to(stream, self.at_most.as_ps()));
            message.start = message.start.saturating_add(span);
        }
    }
}

/// Draws a uniform number from 0 to `largest` inclusive. Rejection sampling with just enough bits
/// needs fewer than two draws on average.
fn up_to(stream: &mut Stream, largest: u64) -> u64 {
    let mask = u64::MAX.checked_shr(largest.leading_zeros()).unwrap_or(0);
    loop {
        let bits = u64::from(stream.next_u32()) << 32 | u64::from(stream.next_u32());
        if bits & mask <= largest {
            return bits & mask;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pattern::Shift;
    use crate::units::{Bytes, Time};

    fn starts(hosts: u32, at_most: Span) -> Vec<Time> {
        let mut workload = Shift { hosts, shift: 1, bytes: Bytes::new(1) }.build().unwrap();
        StartJitter { at_most, seed: 3 }.apply(&mut workload);
        workload.messages.iter().map(|message| message.start).collect()
    }

    #[test]
    fn starts_are_within_the_jitter_and_differ() {
        let starts = starts(1_000, Span::from_us(10));
        assert!(starts.iter().all(|start| *start <= Time::from_ps(10_000_000)));
        let mean = starts.iter().map(|start| start.as_ps()).sum::<u64>() / 1_000;
        assert!((4_500_000..5_500_000).contains(&mean), "{mean}");
    }

    #[test]
    fn adding_a_pair_does_not_change_the_draws_of_others() {
        // With 8 and with 9 hosts, the first seven send to the same hosts.
        let (few, many) = (starts(8, Span::from_us(1)), starts(9, Span::from_us(1)));
        assert_eq!(few[..7], many[..7]);
        assert_ne!(few[0], few[1]);
    }

    #[test]
    fn zero_jitter_changes_nothing_and_draws_reach_both_bounds() {
        assert!(starts(4, Span::ZERO).iter().all(|start| *start == Time::ZERO));
        let mut stream = Stream::new(1, Purpose::Test, 0);
        let mut counts = [0u32; 3];
        for _ in 0..300 {
            counts[up_to(&mut stream, 2) as usize] += 1;
        }
        assert!(counts.iter().all(|&count| count > 60), "{counts:?}");
        assert!(up_to(&mut stream, u64::MAX) > 0);
        assert_eq!(up_to(&mut stream, 0), 0);
    }
}
