//! A reconstruction: what a rank does when a rail fails in the middle of an all-reduce.
//!
//! Source: Yu, Dong, Liao, "Nezha: Breaking Multi-Rail Network Barriers for Distributed DNN
//! Training" (arXiv 2405.17870 v2, 2026), abstract: exceptions are handled by going on with the
//! other rails, within 200 ms. States, messages and timers are ours (\[inferred\]).
//!
//! Each rank has a [`Handler`]. Time and what happened go in ([`Handler::handle_operation`],
//! [`Handler::handle_chunk`], [`Handler::handle_message`], [`Handler::handle_error`],
//! [`Handler::handle_timeout`]); [`Handler::poll_action`] says what the world has to do, and
//! [`Handler::poll_timeout`] when to come back. It knows numbers of operations and chunks, and
//! carries no data.
//!
//! # From failure to resumption
//!
//! 1. *Detection* ([`RailState`]): heartbeats from the rank before on each rail, completions that
//!    do not come, errors. Whoever is the first suffices.
//! 2. *Agreement*: the rank publishes to all others, over a rail that is left, which rails it knows
//!    to be up ([`View`]) and which chunks it has ([`Report`]). Whoever hears of a view that it did
//!    not know takes it over (what two ranks know of different failures is merged) and publishes in
//!    turn. Whoever has reports of *the same* view from all ranks has agreed. Reports that are lost
//!    are published again, over one rail after the other.
//! 3. *Re-issue*: the reports say the same to all ranks, so all come to the same plan. A chunk that
//!    was on a rail that failed is done again unless *every* rank has its sum, and is put on a rail
//!    that is left, in proportion to rates. Chunks on the other rails go on all the while.
//! 4. *Return*: a rail that answers all of a rank's probes three times in a row is agreed to be up
//!    again, in the same way. [`Action::Rails`] tells the allocator, which starts cold.
//!
//! # No chunk is reduced twice
//!
//! A chunk may be complete at some ranks and not at others when its rail dies. It is then done again
//! at all of them, *from the original inputs*: a buffer in which the sum has replaced the input
//! would be counted once more. So what the world has to keep to is this:
//!
//! - Inputs stay as they are until [`Action::Release`], which comes once all ranks are known to have
//!   the operation. Sums are *written* to a buffer of their own, never added to one.
//! - Contributions carry a [`Key`], operation, chunk and epoch, and are summed up for each key apart:
//!   those of an earlier doing do not count for a later one. [`Handler::admits`] says which are
//!   current. A rank adds its own input when it is told to issue the key, and never otherwise.
//! - A completion that comes late, after the rank has published that the rail is down, is
//!   [`Verdict::Stale`]: others were told that the chunk is missing here.
//!
//! A rank that has a chunk's sum already takes part again for the others' sake and keeps its sum
//! ([`Verdict::Repeated`]); that its report once said "done" stays true.

mod config;
mod message;
mod plan;
mod table;
mod watch;

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

use thiserror::Error;

pub use config::{Config, ConfigError};
pub use message::{Epoch, Key, Message, OperationId, Place, Progress, Reply, Report, View};
pub use watch::{Cause, RailState};

use super::{Division, RailSet};
use crate::ids::{RailId, RankId};
use crate::units::{BitRate, Span, Time};
use table::Table;
use watch::{Due, Watch};

/// A chunk to be done: its input is contributed, on this rail, under this key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChunkIssue {
    /// Which doing of which chunk.
    pub key: Key,
    /// On which rail.
    pub rail: RailId,
    /// Which bytes of the operation's buffer.
    pub range: Range<u64>,
}

/// What a rank has to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Carry a message to another rank, over this rail.
    Send {
        /// To whom.
        to: RankId,
        /// Over which rail.
        over: RailId,
        /// What.
        message: Message,
    },
    /// Start these chunks of an operation that was just started.
    Issue(Vec<ChunkIssue>),
    /// Start these chunks again: what is under way of them is to be thrown away.
    Reissue(Vec<ChunkIssue>),
    /// All ranks agreed on the rails that are up: the allocator is told, and operations may start.
    Rails {
        /// Those that are up.
        up: RailSet,
        /// From now on.
        epoch: Epoch,
    },
    /// A rail changed its state as this rank sees it; for time-lines.
    Moved {
        /// Which.
        rail: RailId,
        /// To which state.
        state: RailState,
        /// Why.
        cause: Cause,
    },
    /// This rank has the sums of all chunks of an operation.
    Complete(OperationId),
    /// All ranks have them: nobody will ask for the inputs any more.
    Release(OperationId),
}

/// What is to be made of a completion, or of a contribution from another rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It counts.
    Accepted,
    /// It is of a doing that goes on for the sake of others; this rank has the sum already.
    Repeated,
    /// It is of a doing that is over, or was never begun, and does not count.
    Stale,
    /// It is of a doing that others have begun and this rank not yet: it is kept until then.
    Early,
}

/// Why an operation cannot start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum StartError {
    /// The ranks are agreeing on which rails are up: it may start after [`Action::Rails`].
    #[error("ranks are agreeing on which rails are up: start after they have")]
    Agreeing,
    /// Operations start in the order of their numbers.
    #[error("operation {given} cannot start: the next one is {next}", given = given.0, next = next.0)]
    Order {
        /// Which was to start.
        given: OperationId,
        /// Which is the next.
        next: OperationId,
    },
    /// A part of it is for a rail that is not up.
    #[error("{rail} has a part of the operation but is not up")]
    RailDown {
        /// That rail.
        rail: RailId,
    },
}

/// Ranks being asked what they know and have.
#[derive(Debug, Clone)]
struct Agreement {
    reports: BTreeMap<RankId, Report>,
    /// When those who have not answered are asked again.
    retry: Time,
    attempt: usize,
}

/// The exception handler of one rank.
#[derive(Debug, Clone)]
pub struct Handler {
    config: Config,
    rank: RankId,
    ranks: u32,
    watches: Vec<Watch>,
    view: View,
    /// What this rank has published of its view; it does not change until the view does.
    report: Report,
    /// While not all ranks have reported the same view.
    agreement: Option<Agreement>,
    table: Table,
    next: OperationId,
    /// By rank: it has all operations before.
    complete: Vec<OperationId>,
    released: OperationId,
    rates: Vec<u64>,
    heartbeat: Time,
    actions: VecDeque<Action>,
}

impl Handler {
    /// The handler of `rank` among `ranks`, with that many rails, all of them up.
    ///
    /// # Errors
    /// A timer of zero, fewer than two ranks, a rank that is none of them, no rail or too many.
    pub fn new(
        now: Time,
        config: &Config,
        (rank, ranks): (RankId, u32),
        rails: usize,
    ) -> Result<Self, ConfigError> {
        config.check()?;
        if ranks < 2 || rank.0 >= ranks {
            return Err(ConfigError::Rank { rank: rank.0, ranks });
        }
        if !(1..=RailSet::MOST).contains(&rails) {
            return Err(ConfigError::Rails { rails });
        }
        let (view, rates) = (View::new(rails), vec![1; rails]);
        let complete = OperationId(0);
        let operations = Vec::new();
        let report = Report { view: view.clone(), complete, operations, rates: rates.clone() };
        Ok(Self {
            config: *config,
            rank,
            ranks,
            watches: vec![Watch::new(now); rails],
            view,
            report,
            agreement: None,
            table: Table::new(config.chunk),
            next: complete,
            complete: vec![complete; ranks as usize],
            released: complete,
            rates,
            heartbeat: now,
            actions: VecDeque::new(),
        })
    }

    /// The rails that are up, as far as this rank knows.
    pub fn up(&self) -> RailSet {
        self.view.up()
    }

    /// Whether ranks are agreeing: no operation starts meanwhile.
    pub const fn is_agreeing(&self) -> bool {
        self.agreement.is_some()
    }

    /// The state of `rail` as this rank sees it; a rail that there is not is down.
    pub fn state(&self, rail: RailId) -> RailState {
        self.watches.get(rail.index()).map_or(RailState::Down, Watch::state)
    }

    /// What missing chunks are divided by: bits per second by rail. Those of the first rank count.
    pub fn handle_rates(&mut self, rates: &[BitRate]) {
        for (rate, new) in self.rates.iter_mut().zip(rates) {
            *rate = new.as_bps();
        }
    }

    /// This rank starts an operation: what to issue is the next action. `expected` says by rail how
    /// long it is expected from one completed chunk to the next, where that is known: of the whole
    /// part where all its chunks are completed together.
    ///
    /// Where others started it before a failure, chunks are issued as they were agreed on, and
    /// `division` does not count.
    ///
    /// # Errors
    /// Ranks are agreeing, it is not the next operation, or a rail that has a part is not up.
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
        let down = division.parts().find(|part| !up.contains(part.rail));
        if let Some(part) = down.filter(|_| !self.table.knows(id)) {
            return Err(StartError::RailDown { rail: part.rail });
        }
        self.next = OperationId(id.0 + 1);
        let issues = self.table.start(now, (id, division), expected, &self.view);
        self.issued(now, &issues);
        self.actions.push_back(Action::Issue(issues));
        // An operation of no bytes has no chunks.
        if self.table.is_complete(id) {
            self.completed(id);
        }
        Ok(())
    }

    /// What is to be made of a contribution under this key.
    pub fn admits(&self, key: &Key) -> Verdict {
        match key.operation {
            id if id < self.released => Verdict::Stale,
            id if id >= self.next && !self.table.knows(id) => Verdict::Early,
            _ => self.table.admit(key, &self.view),
        }
    }

    /// This rank has the sum of a chunk. It counts where it is [`Verdict::Accepted`].
    pub fn handle_chunk(&mut self, now: Time, key: &Key) -> Verdict {
        let verdict = self.admits(key);
        let live = matches!(verdict, Verdict::Accepted | Verdict::Repeated);
        if let Some(place) = self.table.place(key).filter(|_| live) {
            self.observe(place.rail, Cause::Cleared, |watch| watch.handle_progress(now));
            if verdict == Verdict::Accepted {
                let last = self.table.finish(key);
                self.watch_for(place.rail);
                if last {
                    self.completed(key.operation);
                }
            }
        }
        verdict
    }

    /// The work on a chunk ended with an error. One of a doing that is over is no news.
    pub fn handle_error(&mut self, now: Time, key: &Key) {
        let verdict = self.admits(key);
        if let Some(place) = self.table.place(key)
            && matches!(verdict, Verdict::Accepted | Verdict::Repeated)
        {
            self.fail(now, place.rail, Cause::Error);
        }
    }

    /// This rank's link to `rail` went down, and it can tell.
    pub fn handle_link_down(&mut self, now: Time, rail: RailId) {
        if self.view.up().contains(rail) {
            self.fail(now, rail, Cause::Error);
        }
    }

    /// A message came `from` another rank, over this rail.
    pub fn handle_message(&mut self, now: Time, from: RankId, over: RailId, message: &Message) {
        let known = from.0 < self.ranks && from != self.rank && over.index() < self.watches.len();
        if !known {
            return;
        }
        if from.0 == (self.rank.0 + self.ranks - 1) % self.ranks {
            self.observe(over, Cause::Cleared, |watch| watch.handle_heard(now));
        }
        match message {
            Message::Heartbeat { complete } => self.heard_complete(complete),
            Message::Probe { round, waits_for } => {
                let started = waits_for.and_then(|id| self.started_ago(now, id));
                let message = Message::Answer { round: *round, started };
                self.actions.push_back(Action::Send { to: from, over, message });
            }
            Message::Answer { round, started } => {
                let config = self.config;
                self.observe(over, Cause::Cleared, |watch| {
                    watch.handle_answer(now, (from, *round), *started, &config);
                });
            }
            Message::Report { report, reply } => self.handle_report(now, from, report, *reply),
        }
    }

    /// When to call [`Self::handle_timeout`].
    pub fn poll_timeout(&self) -> Time {
        let watches = self.watches.iter().map(|watch| watch.poll_timeout(&self.config));
        let retry = self.agreement.as_ref().map_or(Time::NEVER, |agreement| agreement.retry);
        watches.fold(self.heartbeat.min(retry), Time::min)
    }

    /// Does what was due at `now` or before.
    pub fn handle_timeout(&mut self, now: Time) {
        for rail in (0..).map(RailId).take(self.watches.len()) {
            let (others, config) = (self.ranks as usize - 1, self.config);
            let cause = |watch: &Watch| match watch.state() {
                RailState::Down | RailState::Probing => Cause::Probes,
                _ if watch.waits.is_some() && watch.poll_timeout(&config) <= now => Cause::Stall,
                _ => Cause::Silence,
            };
            let cause = cause(&self.watches[rail.index()]);
            let mut due = Due::Nothing;
            self.observe(rail, cause, |watch| due = watch.handle_timeout(now, others, &config));
            match due {
                Due::Nothing => {}
                Due::Probe { round } => {
                    let waits_for = self.table.waits(rail).map(|(id, _)| id);
                    self.send_all(rail, &Message::Probe { round, waits_for });
                }
                Due::Down(cause) => self.fail(now, rail, cause),
                Due::Up => self.adopt(now, self.view.turned(rail, 1), Cause::Probes),
            }
        }
        self.retry(now);
        if self.heartbeat <= now {
            self.heartbeat = now.saturating_add(self.config.heartbeat);
            let to = RankId((self.rank.0 + 1) % self.ranks);
            for over in self.view.up().iter() {
                let message = Message::Heartbeat { complete: self.complete.clone() };
                self.actions.push_back(Action::Send { to, over, message });
            }
        }
    }

    /// The next thing to do.
    pub fn poll_action(&mut self) -> Option<Action> {
        self.actions.pop_front()
    }
}

mod agreement;

#[cfg(test)]
mod tests;
