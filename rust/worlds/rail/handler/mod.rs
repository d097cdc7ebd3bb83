//! A reconstruction: the reaction of a rank to a rail that fails during an all-reduce.
//!
//! Source: Yu, Dong, Liao, "Nezha: Breaking Multi-Rail Network Barriers for Distributed DNN
//! Training" (arXiv 2405.17870 v2, 2026), abstract: exceptions are handled by continuing on the
//! other rails, within 200 ms. States, messages and timers are this project's (\[inferred\]).
//!
//! Each rank has a [`Handler`]. Time and events go in ([`Handler::handle_operation`],
//! [`Handler::handle_chunk`], [`Handler::handle_message`], [`Handler::handle_link_down`],
//! [`Handler::handle_timeout`]). [`Handler::poll_action`] returns the actions for the driver, and
//! [`Handler::poll_timeout`] the time of the next call. The handler knows the ids of operations and
//! chunks, and carries no data.
//!
//! # From failure to resumption
//!
//! 1. *Detection* ([`RailState`]): missing heartbeats from the previous rank on each rail, missing
//!    completions, errors. The first of them suffices.
//! 2. *Agreement*: the rank publishes to all others, over a rail that is up, which rails it
//!    considers up ([`RailView`]) and which chunks it has ([`Report`]). A rank that receives a new
//!    view adopts it and publishes in turn; views of different failures are merged. A rank that has
//!    reports of *the same* view from all ranks has agreed. Lost reports are published again, over
//!    one rail after the other.
//! 3. *Re-issue*: all ranks have the same reports, so all derive the same plan. A chunk on a failed
//!    rail is repeated unless *every* rank has its sum. The repeated chunks go to the remaining
//!    rails, in proportion to their rates. Chunks on the other rails continue meanwhile.
//! 4. *Return*: if all ranks answer a rank's probes on a rail three times in a row, the ranks agree
//!    in the same way that it is up again. [`Action::Rails`] notifies the allocator, which starts
//!    cold.
//!
//! # No chunk is reduced twice
//!
//! When a rail fails, a chunk may be complete at some ranks and not at others. It is then repeated
//! at all of them, *from the original inputs*: a buffer in which the sum has replaced the input
//! would be counted a second time. This imposes obligations on the driver:
//!
//! - Inputs stay unchanged until [`Action::Release`], which follows once all ranks are known to
//!   have the operation. Sums are *written* to a separate buffer, never added to one.
//! - Contributions carry a [`ChunkKey`] of operation, chunk and epoch, and are summed separately
//!   for each key. Contributions of an earlier attempt do not count for a later one.
//!   [`Handler::admission`] states which are current. A rank adds its own input only when it is
//!   asked to issue the key.
//! - A completion after the rank has published that the rail is down is [`ChunkAdmission::Stale`]:
//!   the other ranks know the chunk as missing here.
//!
//! A rank that already has a chunk's sum takes part in a repetition for the other ranks and keeps
//! its sum ([`ChunkAdmission::Repeated`]), so its report stays correct.

mod agreement;
mod config;
mod message;
mod monitor;
mod plan;
mod table;

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

use thiserror::Error;

pub use config::{Config, ConfigError};
pub use message::{
    ChunkKey, ChunkPlacement, Epoch, OperationId, OperationProgress, RailView, RankMessage, Report,
    ReportKind,
};
pub use monitor::{Cause, RailState};

use super::{Division, RailSet};
use crate::ids::{RailId, RankId};
use crate::units::{BitRate, Span, Time};
use monitor::{Answer, Due, RailMonitor};
use table::{OperationStart, OperationTable};

/// The position of a handler among all ranks, and the number of its rails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Membership {
    /// The rank of the handler, below `ranks`.
    pub rank: RankId,
    /// Number of ranks, at least 2.
    pub ranks: u32,
    /// Number of rails, 1 to 64.
    pub rails: usize,
}

/// A chunk to be started: the rank contributes its input under this key, on this rail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChunkIssue {
    /// The attempt at the chunk.
    pub key: ChunkKey,
    /// Id of the rail.
    pub rail: RailId,
    /// Byte range of the operation's buffer.
    pub range: Range<u64>,
}

/// An action that the driver performs for a rank.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Carry a message to another rank over a rail.
    Send {
        /// The rank that receives the message.
        to: RankId,
        /// The rail that carries the message.
        over: RailId,
        /// The contents of the message.
        message: RankMessage,
    },
    /// Start these chunks of a new operation.
    Issue(Vec<ChunkIssue>),
    /// Start these chunks again, and discard in-flight packets of their earlier attempts.
    Reissue(Vec<ChunkIssue>),
    /// All ranks have agreed on the rails that are up: notify the allocator; operations may start.
    Rails {
        /// The rails that are up.
        up: RailSet,
        /// The epoch that begins.
        epoch: Epoch,
    },
    /// This rank's state of a rail has changed; for timelines.
    StateChange {
        /// The rail whose state has changed.
        rail: RailId,
        /// The state of the rail from now on.
        state: RailState,
        /// The reason of the change.
        cause: Cause,
    },
    /// This rank has the sums of all chunks of an operation.
    Complete(OperationId),
    /// All ranks have these sums: the inputs are no longer needed.
    Release(OperationId),
}

/// The treatment of a completion, or of a contribution from another rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChunkAdmission {
    /// It belongs to the current attempt.
    Accepted,
    /// It belongs to an attempt for the other ranks; this rank already has the sum.
    Repeated,
    /// It belongs to an attempt that was superseded or never started, and is ignored.
    Stale,
    /// It belongs to an attempt that this rank has not started yet: keep it.
    Early,
}

/// The reason why an operation cannot start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum StartError {
    /// The ranks are agreeing on the rails that are up: start after [`Action::Rails`].
    #[error("the ranks are still agreeing on the rails that are up: start the operation later")]
    Agreeing,
    /// Operations start in the order of their ids.
    #[error("operation {} is out of order: expected operation {}", given.0, next.0)]
    Order {
        /// The operation that was to start.
        given: OperationId,
        /// The operation that is next.
        next: OperationId,
    },
    /// A share of the operation is for a rail that is not up.
    #[error("{rail} has a share of the operation but is down")]
    RailDown {
        /// The rail that has a share and is not up.
        rail: RailId,
    },
}

/// An agreement in progress.
#[derive(Debug, Clone)]
struct Agreement {
    reports: BTreeMap<RankId, Report>,
    /// Time at which ranks without a report are asked again.
    retry: Time,
    attempt: usize,
}

/// The exception handler of one rank.
#[derive(Debug, Clone)]
pub struct Handler {
    config: Config,
    rank: RankId,
    ranks: u32,
    monitors: Vec<RailMonitor>,
    view: RailView,
    /// The published report; fixed until the view changes.
    report: Report,
    /// Present until all ranks have reported the same view.
    agreement: Option<Agreement>,
    table: OperationTable,
    next: OperationId,
    /// By rank: the first operation that the rank is not known to have.
    complete: Vec<OperationId>,
    released: OperationId,
    rates: Vec<u64>,
    heartbeat: Time,
    actions: VecDeque<Action>,
}

impl Handler {
    /// Creates the handler of a rank, with all rails up.
    ///
    /// # Errors
    /// A parameter of zero, fewer than two ranks, a rank out of range, no rail or too many.
    pub fn new(now: Time, config: &Config, member: &Membership) -> Result<Self, ConfigError> {
        let &Membership { rank, ranks, rails } = member;
        config.check()?;
        if ranks < 2 || rank.0 >= ranks {
            return Err(ConfigError::Rank { rank: rank.0, ranks });
        }
        if !(1..=RailSet::CAPACITY).contains(&rails) {
            return Err(ConfigError::Rails { rails });
        }
        let (view, rates) = (RailView::new(rails), vec![1; rails]);
        let complete = OperationId(0);
        let operations = Vec::new();
        let report = Report { view: view.clone(), complete, operations, rates: rates.clone() };
        Ok(Self {
            config: *config,
            rank,
            ranks,
            monitors: vec![RailMonitor::new(now); rails],
            view,
            report,
            agreement: None,
            table: OperationTable::new(config.chunk),
            next: complete,
            complete: vec![complete; ranks as usize],
            released: complete,
            rates,
            heartbeat: now,
            actions: VecDeque::new(),
        })
    }

    /// Returns the rails that are up according to this rank.
    pub fn up(&self) -> RailSet {
        self.view.up()
    }

    /// Returns true while the ranks are agreeing; no operation can start meanwhile.
    pub const fn is_agreeing(&self) -> bool {
        self.agreement.is_some()
    }

    /// Returns this rank's state of `rail`; an unknown rail is down.
    pub fn state(&self, rail: RailId) -> RailState {
        self.monitors.get(rail.index()).map_or(RailState::Down, RailMonitor::state)
    }

    /// Sets the rates by rail. Missing chunks are divided in proportion to the rates of the first
    /// rank.
    pub fn handle_rates(&mut self, rates: &[BitRate]) {
        for (rate, new) in self.rates.iter_mut().zip(rates) {
            *rate = new.as_bps();
        }
    }

    /// Starts an operation on this rank; the chunks to issue are the next action. `expected` is, by
    /// rail, the expected time from one completed chunk to the next, if known. If all chunks of a
    /// rail complete together, it is the time of the whole share.
    ///
    /// If other ranks started the operation before a failure, the agreed chunks are issued, and
    /// `division` is ignored.
    ///
    /// # Errors
    /// Ranks are agreeing, the operation is out of order, or a rail with a share is not up.
    pub fn handle_operation(
        &mut self,
        now: Time,
        id: OperationId,
        division: &Division,
        expected: &[Option<Span>],
    ) -> Result<(), StartError> {
        if self.is_agreeing() {
            return Err(StartError::Agreeing);
        }
        if id != self.next {
            return Err(StartError::Order { given: id, next: self.next });
        }
        let up = self.view.up();
        let down = division.ranges().find(|part| !up.contains(part.rail));
        if let Some(part) = down.filter(|_| !self.table.knows(id)) {
            return Err(StartError::RailDown { rail: part.rail });
        }
        self.next = OperationId(id.0 + 1);
        let start = OperationStart { id, division, expected };
        let issues = self.table.start(now, &start, &self.view);
        self.issued(now, &issues);
        self.actions.push_back(Action::Issue(issues));
        // An operation without bytes has no chunks and is complete immediately.
        if self.table.is_complete(id) {
            self.completed(id);
        }
        Ok(())
    }

    /// Returns the treatment of a contribution under this key.
    pub fn admission(&self, key: &ChunkKey) -> ChunkAdmission {
        match key.operation {
            id if id < self.released => ChunkAdmission::Stale,
            id if id >= self.next && !self.table.knows(id) => ChunkAdmission::Early,
            _ => self.table.admission(key, &self.view),
        }
    }

    /// Processes the completion of a chunk at this rank. It counts if [`ChunkAdmission::Accepted`].
    pub fn handle_chunk(&mut self, now: Time, key: &ChunkKey) -> ChunkAdmission {
        let admission = self.admission(key);
        let live = matches!(admission, ChunkAdmission::Accepted | ChunkAdmission::Repeated);
        if let Some(placement) = self.table.placement(key).filter(|_| live) {
            self.observe(placement.rail, Cause::Cleared, |monitor| monitor.handle_progress(now));
            if admission == ChunkAdmission::Accepted {
                let last = self.table.finish(key);
                self.update_monitor(placement.rail);
                if last {
                    self.completed(key.operation);
                }
            }
        }
        admission
    }

    /// Processes a failure of this rank's link to `rail`.
    pub fn handle_link_down(&mut self, now: Time, rail: RailId) {
        if self.view.up().contains(rail) {
            self.fail(now, rail, Cause::Error);
        }
    }

    /// Processes a message `from` another rank over a rail.
    pub fn handle_message(&mut self, now: Time, from: RankId, over: RailId, message: &RankMessage) {
        let known = from.0 < self.ranks && from != self.rank && over.index() < self.monitors.len();
        if !known {
            return;
        }
        // Each rank sends its heartbeats to the next one.
        if from.0 == (self.rank.0 + self.ranks - 1) % self.ranks {
            self.observe(over, Cause::Cleared, |monitor| monitor.handle_heartbeat(now));
        }
        match message {
            RankMessage::Heartbeat { complete } => self.handle_complete(complete),
            RankMessage::Probe { round, awaited } => {
                let started = awaited.and_then(|id| self.started_ago(now, id));
                let message = RankMessage::Answer { round: *round, started };
                self.actions.push_back(Action::Send { to: from, over, message });
            }
            RankMessage::Answer { round, started } => {
                let config = self.config;
                self.observe(over, Cause::Cleared, |monitor| {
                    monitor.handle_answer(
                        now,
                        &Answer { from, round: *round, started: *started },
                        &config,
                    );
                });
            }
            RankMessage::Report { report, kind } => self.handle_report(now, from, report, *kind),
        }
    }

    /// Returns when to call [`Self::handle_timeout`] next.
    pub fn poll_timeout(&self) -> Time {
        let monitors = self.monitors.iter().map(|monitor| monitor.poll_timeout(&self.config));
        let retry = self.agreement.as_ref().map_or(Time::NEVER, |agreement| agreement.retry);
        monitors.fold(self.heartbeat.min(retry), Time::min)
    }

    /// Performs the work that is due at `now` or earlier.
    pub fn handle_timeout(&mut self, now: Time) {
        for rail in (0..).map(RailId).take(self.monitors.len()) {
            let (others, config) = (self.ranks as usize - 1, self.config);
            let cause = |monitor: &RailMonitor| match monitor.state() {
                RailState::Down | RailState::Probing => Cause::Probes,
                _ if monitor.awaits.is_some() && monitor.poll_timeout(&config) <= now => {
                    Cause::Stall
                }
                _ => Cause::Silence,
            };
            let cause = cause(&self.monitors[rail.index()]);
            let mut due = Due::Nothing;
            self.observe(rail, cause, |monitor| due = monitor.handle_timeout(now, others, &config));
            match due {
                Due::Nothing => {}
                Due::Probe { round } => {
                    let awaited = self.table.awaits(rail).map(|(id, _)| id);
                    self.send_all(rail, &RankMessage::Probe { round, awaited });
                }
                Due::Down(cause) => self.fail(now, rail, cause),
                Due::Up => self.adopt(now, self.view.advanced(rail, 1), Cause::Probes),
            }
        }
        self.retry(now);
        if self.heartbeat <= now {
            self.heartbeat = now.saturating_add(self.config.heartbeat);
            let to = RankId((self.rank.0 + 1) % self.ranks);
            for over in self.view.up().iter() {
                let message = RankMessage::Heartbeat { complete: self.complete.clone() };
                self.actions.push_back(Action::Send { to, over, message });
            }
        }
    }

    /// Removes and returns the oldest pending action.
    pub fn poll_action(&mut self) -> Option<Action> {
        self.actions.pop_front()
    }
}

#[cfg(test)]
mod tests;
