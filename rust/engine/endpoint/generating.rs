//! Messages that are created when the ranks of a collective reach them.
//!
//! They start at the same points of a run, and in the same order, as those of a workload that lists
//! all messages up front. Results are therefore the same for both.

use std::sync::Arc;

use super::Endpoints;
use super::host::Start;
use super::tasks::Ended;
use crate::ids::{HostId, IdMap, TaskId};
use crate::units::Time;
use crate::workload::{ChainPlace, Chains, StepAfter};

/// The chains of a collective, with the messages that have not completed, by id.
#[derive(Debug)]
pub(super) struct Generating {
    chains: Arc<Chains>,
    open: IdMap<TaskId, ChainPlace>,
}

impl Endpoints {
    /// Creates the messages of `chains` during the run. Completed ones must be discarded
    /// ([`Self::discard_completed`]).
    pub(crate) fn generate(&mut self, chains: &Arc<Chains>) {
        assert!(self.ledger.discarded().is_some(), "call discard_completed before generate");
        // No program polls the events of these messages.
        self.report_from = None;
        self.generating = Some(Generating { chains: chains.clone(), open: IdMap::default() });
        for head in chains.heads() {
            let (host, start) = self.make(Time::ZERO, head);
            self.hosts[host.index()].schedule(start);
        }
    }

    /// Creates the message at `place`, and returns its sender and its start.
    fn make(&mut self, at: Time, place: ChainPlace) -> (HostId, Start) {
        let generating = self.generating.as_mut().expect("there are chains");
        let message = generating.chains.message(place);
        let id = self.ledger.post(message);
        generating.open.insert(id.into(), place);
        (message.src, self.start_at(at, id.into()))
    }

    /// Returns the start of a task. Starts of a host at the same time are in the order of a
    /// workload that lists all messages up front.
    pub(super) fn start_at(&self, at: Time, task: TaskId) -> Start {
        let place = self.generating.as_ref().and_then(|it| Some((it, it.open.get(&task)?)));
        let order = place.map_or(task.0.into(), |(it, place)| it.chains.position(*place));
        Start { at, order, task }
    }

    /// Starts the message that follows on the chain, if the event `ended` releases it.
    pub(super) fn release_next(&mut self, now: Time, handled: HostId, ended: Ended) {
        let Some(generating) = &mut self.generating else { return };
        let Some(&place) = generating.open.get(&ended.task) else { return };
        // A message ends twice: at its receiver when delivered, and later at its sender.
        let is_delivery = ended.host == generating.chains.message(place).dst;
        if !is_delivery {
            generating.open.remove(&ended.task);
        }
        let releases = match generating.chains.step_after() {
            StepAfter::Delivery => is_delivery,
            StepAfter::Acknowledgement => !is_delivery,
        };
        let next = generating.chains.next(place).filter(|_| releases);
        let due = now.saturating_add(generating.chains.gap());
        if let Some(next) = next {
            let (host, start) = self.make(due, next);
            self.launch(now, handled, host, start);
        }
    }
}
