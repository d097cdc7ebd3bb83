//! Runs that cannot complete: what is still open is between hosts that dead links keep apart.
//!
//! Senders would try again until the time limit. No result depends on seeing it earlier; people
//! who wait for the end do.

use super::config::{Failure, FailureKind};
use crate::endpoint::Ledger;
use crate::ids::{LinkId, MessageId};
use crate::topology::{Routes, Topology};
use crate::units::{Span, Time};
use crate::workload::Workload;

/// How long after the last cut what had got over it in time may still be on its way \[inferred\]:
/// longer than any queue or pause of a fabric; and so many round trips, where wires are long.
const GRACE: Span = Span::from_ms(10);
const GRACE_ROUND_TRIPS: u64 = 4;

/// What is known of messages that can never complete.
#[derive(Debug)]
pub(super) struct CutOff {
    /// From when on all links that stay down are down; `None` if none does.
    since: Option<Time>,
    /// By message, once it has been asked for: whether its hosts are kept apart.
    apart: Vec<bool>,
}

impl CutOff {
    pub fn new(failures: &[Failure], base_rtt: Span) -> Self {
        let round_trips = base_rtt.as_ps().saturating_mul(GRACE_ROUND_TRIPS);
        let grace = GRACE.max(Span::from_ps(round_trips));
        let last = failures.iter().filter(|failure| stays_down(failure)).map(|it| it.at).max();
        Self { since: last.map(|at| at.saturating_add(grace)), apart: Vec::new() }
    }

    /// True if no message that is open at `now` can ever complete.
    pub fn is_all_that_is_left(
        &mut self,
        now: Time,
        (topology, failures): (&Topology, &[Failure]),
        (workload, ledger): (&Workload, &Ledger),
    ) -> bool {
        if self.since.is_none_or(|since| now < since) {
            return false;
        }
        if self.apart.is_empty() {
            self.apart = apart(topology, failures, workload);
        }
        let ids = || (0..).map(MessageId).take(workload.messages.len());
        let open = ids().filter(|&id| !ledger.is_complete(id)).count();
        let mut lost = vec![false; workload.messages.len() + workload.delays.len()];
        let apart = ids().filter(|id| self.apart[id.index()] && !ledger.is_complete(*id));
        let mut next: Vec<MessageId> = apart.collect();
        let mut count = 0;
        while let Some(id) = next.pop() {
            if std::mem::replace(&mut lost[id.index()], true) {
                continue;
            }
            // Who waits for a message's delivery, or for its sender to know of it, waits in vain.
            let message = workload.messages.get(id.index());
            count += usize::from(message.is_some());
            let waits = |after: &&MessageId| {
                message.is_none_or(|message| {
                    !ledger.is_delivered(id) || workload.host_of(**after) == message.src
                })
            };
            next.extend(workload.dependents_of(id).iter().filter(waits));
        }
        count == open
    }
}

fn stays_down(failure: &Failure) -> bool {
    failure.kind == FailureKind::Down && failure.until == Time::NEVER
}

fn apart(topology: &Topology, failures: &[Failure], workload: &Workload) -> Vec<bool> {
    let mut dead = vec![false; topology.links().len()];
    failures.iter().filter(|it| stays_down(it)).for_each(|it| dead[it.link.index()] = true);
    let routes = Routes::new(topology, &|link: LinkId| !dead[link.index()]);
    let is_apart = |src, dst| src != dst && routes.path_count(src, dst) == 0;
    workload.messages.iter().map(|it| is_apart(it.src, it.dst)).collect()
}
