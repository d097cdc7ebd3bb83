//! The splitters of a host: one for each policy of the run.

use crate::split::{Flow, Split, Splitter, SplitterContext};
use crate::units::Time;

use super::policies::Policies;

/// The splitters of a host. Nearly every run has one policy, whose splitter stands alone.
#[derive(Debug)]
#[repr(C)]
pub(super) struct Splitters {
    /// Until then none of them has a flow or anything else to do, unless something is given to one.
    quiet_until: Time,
    first: Splitter,
    others: Vec<Splitter>,
}

impl Splitters {
    pub(super) fn new(policies: &Policies, context: &SplitterContext) -> Self {
        let mut all = policies.all().iter().map(|policy| policy.scheme.split.build(context));
        let first = all.next().expect("a run has a policy");
        Self { first, others: all.collect(), quiet_until: Time::ZERO }
    }

    /// The splitter of the policy of that index.
    pub(super) fn of(&mut self, policy: usize) -> &mut Splitter {
        self.quiet_until = Time::ZERO;
        match policy.checked_sub(1) {
            None => &mut self.first,
            Some(other) => &mut self.others[other],
        }
    }

    /// Does what is due.
    pub(super) fn handle_timeout(&mut self, now: Time) {
        if now < self.quiet_until {
            return;
        }
        self.quiet_until = Time::ZERO;
        self.first.handle_timeout(now);
        self.others.iter_mut().for_each(|splitter| splitter.handle_timeout(now));
    }

    /// False if no flow starts now: asked after each packet that comes to a host.
    #[inline(always)]
    pub(super) fn may_have_flow(&self, now: Time) -> bool {
        self.quiet_until <= now
    }

    /// The next flow that starts now.
    pub(super) fn poll_flow(&mut self, now: Time) -> Option<Flow> {
        if !self.may_have_flow(now) {
            return None;
        }
        let first = self.first.poll_flow(now);
        let found =
            first.or_else(|| self.others.iter_mut().find_map(|splitter| splitter.poll_flow(now)));
        if found.is_none() {
            self.quiet_until = self.search_timeout();
        }
        found
    }

    /// The flow that starts next of those that wait in the first one.
    pub(super) fn next_flow(&self) -> Option<&Flow> {
        self.first.next_flow()
    }

    /// When one of them is to be called next; `NEVER` if none is.
    #[inline]
    pub(super) fn poll_timeout(&self) -> Time {
        if self.quiet_until > Time::ZERO { self.quiet_until } else { self.search_timeout() }
    }

    #[inline(never)]
    fn search_timeout(&self) -> Time {
        let timeouts = self.others.iter().chain([&self.first]).filter_map(Split::poll_timeout);
        timeouts.min().unwrap_or(Time::NEVER)
    }
}
