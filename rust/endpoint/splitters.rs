//! The splitters of a host: one for each policy of the run.

use crate::split::{Flow, Split, Splitter, SplitterContext};
use crate::units::Time;

use super::policies::Policies;

/// The splitters of a host. Nearly every run has one policy, whose splitter stands alone.
#[derive(Debug)]
pub(super) struct Splitters {
    first: Splitter,
    others: Vec<Splitter>,
}

impl Splitters {
    pub(super) fn new(policies: &Policies, context: &SplitterContext) -> Self {
        let mut all = policies.all().iter().map(|policy| policy.scheme.split.build(context));
        let first = all.next().expect("a run has a policy");
        Self { first, others: all.collect() }
    }

    /// The splitter of the policy of that index.
    pub(super) fn of(&mut self, policy: usize) -> &mut Splitter {
        match policy.checked_sub(1) {
            None => &mut self.first,
            Some(other) => &mut self.others[other],
        }
    }

    /// Does what is due.
    pub(super) fn handle_timeout(&mut self, now: Time) {
        self.first.handle_timeout(now);
        self.others.iter_mut().for_each(|splitter| splitter.handle_timeout(now));
    }

    /// The next flow that starts now.
    #[inline]
    pub(super) fn poll_flow(&mut self, now: Time) -> Option<Flow> {
        let first = self.first.poll_flow(now);
        first.or_else(|| self.others.iter_mut().find_map(|splitter| splitter.poll_flow(now)))
    }

    /// When one of them is to be called next.
    #[inline]
    pub(super) fn poll_timeout(&self) -> Option<Time> {
        let first = self.first.poll_timeout();
        if self.others.is_empty() {
            return first;
        }
        self.others.iter().filter_map(Split::poll_timeout).chain(first).min()
    }
}
