//! The splitters of a host, one for each policy of the run.

use crate::split::{Flow, Split, Splitter, SplitterContext};
use crate::units::Time;

use super::policies::Policies;

/// The splitters of a host. Nearly every run has one policy, so the first splitter is stored
/// inline.
#[derive(Debug)]
#[repr(C)]
pub(super) struct Splitters {
    /// No splitter has a flow or a timeout before this time, unless one receives input.
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

    /// Returns the splitter of a policy, by index, for input.
    pub(super) fn of(&mut self, policy: usize) -> &mut Splitter {
        // The caller may give it work.
        self.quiet_until = Time::ZERO;
        match policy.checked_sub(1) {
            None => &mut self.first,
            Some(other) => &mut self.others[other],
        }
    }

    /// Handles the timeouts that are due.
    pub(super) fn handle_timeout(&mut self, now: Time) {
        if now < self.quiet_until {
            return;
        }
        // Timeouts may release flows.
        self.quiet_until = Time::ZERO;
        self.first.handle_timeout(now);
        self.others.iter_mut().for_each(|splitter| splitter.handle_timeout(now));
    }

    /// False if no flow can start now. Checked after each packet that arrives at a host.
    #[inline(always)]
    pub(super) fn may_have_flow(&self, now: Time) -> bool {
        self.quiet_until <= now
    }

    /// Returns the next flow that starts now.
    pub(super) fn poll_flow(&mut self, now: Time) -> Option<Flow> {
        if !self.may_have_flow(now) {
            return None;
        }
        let first = self.first.poll_flow(now);
        let found =
            first.or_else(|| self.others.iter_mut().find_map(|splitter| splitter.poll_flow(now)));
        // Cached until the next input, because hosts ask after every packet.
        if found.is_none() {
            self.quiet_until = self.search_timeout();
        }
        found
    }

    /// Returns the flow that will start next in the first splitter.
    pub(super) fn next_flow(&self) -> Option<&Flow> {
        self.first.next_flow()
    }

    /// Returns the time of the next timeout; `NEVER` without one.
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
