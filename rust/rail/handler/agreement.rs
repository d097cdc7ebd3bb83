//! A reconstruction: how ranks come to know the same rails to be up, and the same to be missing.
//!
//! Source: \[inferred\].

use std::collections::BTreeMap;

use super::message::{Message, OperationId, Reply, Report, View};
use super::watch::{Cause, RailState, Watch};
use super::{Action, Agreement, ChunkIssue, Handler, plan};
use crate::ids::{RailId, RankId};
use crate::units::{Span, Time};

impl Handler {
    /// Does something to a rail's watch, and tells of a change of its state.
    pub(super) fn observe(&mut self, rail: RailId, cause: Cause, act: impl FnOnce(&mut Watch)) {
        let Some(watch) = self.watches.get_mut(rail.index()) else { return };
        let before = watch.state();
        act(watch);
        let state = watch.state();
        if state != before {
            self.actions.push_back(Action::Moved { rail, state, cause });
        }
    }

    /// Chunks were issued: their rails are given time from now on.
    pub(super) fn issued(&mut self, now: Time, issues: &[ChunkIssue]) {
        let rails: super::RailSet = issues.iter().map(|issue| issue.rail).collect();
        for rail in rails.iter() {
            self.observe(rail, Cause::Cleared, |watch| watch.handle_progress(now));
            self.watch_for(rail);
        }
    }

    /// Tells the watch of `rail` what is to come from there.
    pub(super) fn watch_for(&mut self, rail: RailId) {
        let waits = self.table.waits(rail);
        if let Some(watch) = self.watches.get_mut(rail.index()) {
            watch.waits = waits;
        }
    }

    /// How long ago this rank started `id`; `None` if it has not.
    pub(super) fn started_ago(&self, now: Time, id: OperationId) -> Option<Span> {
        let ago = |started: Time| Span::from_ps(now.as_ps().saturating_sub(started.as_ps()));
        let long_ago = (id < self.next).then_some(Span::MAX);
        self.table.started(id).map(ago).or(long_ago)
    }

    /// This rank has all of `id`.
    pub(super) fn completed(&mut self, id: OperationId) {
        self.actions.push_back(Action::Complete(id));
        let own = &mut self.complete[self.rank.index()];
        while self.table.is_complete(*own) {
            own.0 += 1;
        }
        self.release();
    }

    /// What another rank has heard of how far all are.
    pub(super) fn heard_complete(&mut self, complete: &[OperationId]) {
        let ranks = self.complete.iter_mut().zip(complete).enumerate();
        for (_, (known, &heard)) in ranks.filter(|(rank, _)| *rank != self.rank.index()) {
            *known = (*known).max(heard);
        }
        self.release();
    }

    fn release(&mut self) {
        let all = self.complete.iter().min().copied().unwrap_or_default();
        if all > self.released {
            self.released = all;
            let released = self.table.release(all);
            self.actions.extend(released.into_iter().map(Action::Release));
        }
    }

    /// `rail` is no use any more, as this rank sees it.
    pub(super) fn fail(&mut self, now: Time, rail: RailId, cause: Cause) {
        let last = self.view.up().without(rail).is_empty();
        match cause {
            // An error ends what was under way: on the last rail it is begun anew there.
            Cause::Error if last => self.adopt(now, self.view.turned(rail, 2), cause),
            // There is nowhere to go to, so patience costs nothing.
            _ if last => {
                let config = self.config;
                self.observe(rail, cause, |watch| watch.hold(now, &config));
            }
            _ => self.adopt(now, self.view.turned(rail, 1), cause),
        }
    }

    /// Takes over a view with more turns than this rank's, and publishes it.
    pub(super) fn adopt(&mut self, now: Time, view: View, cause: Cause) {
        let config = self.config;
        for rail in (0..).map(RailId).take(view.rails()) {
            if view.turn(rail) == self.view.turn(rail) {
                continue;
            }
            let up = view.turn(rail).is_multiple_of(2);
            self.observe(rail, cause, |watch| match up {
                true => watch.bring_up(now),
                false => watch.take_down(now, &config),
            });
        }
        self.view = view;
        self.table.recount(&self.view);
        for rail in (0..).map(RailId).take(self.watches.len()) {
            self.watch_for(rail);
        }
        // From here on this rank's report stays as it is, and completions on rails that are down
        // do not count: others will rely on what it says is missing.
        self.report = Report {
            view: self.view.clone(),
            complete: self.complete[self.rank.index()],
            operations: self.table.progress(),
            rates: self.rates.clone(),
        };
        let reports = BTreeMap::from([(self.rank, self.report.clone())]);
        let retry = now.saturating_add(config.retry);
        self.agreement = Some(Agreement { reports, retry, attempt: 0 });
        self.ask_missing();
    }

    /// Asks again, over another rail, who has not answered.
    pub(super) fn retry(&mut self, now: Time) {
        let retry = self.config.retry;
        if let Some(agreement) = self.agreement.as_mut().filter(|it| it.retry <= now) {
            agreement.retry = now.saturating_add(retry);
            agreement.attempt += 1;
            self.ask_missing();
        }
    }

    fn ask_missing(&mut self) {
        let Some(agreement) = &self.agreement else { return };
        let attempt = agreement.attempt;
        let missing: Vec<RankId> =
            self.others().filter(|it| !agreement.reports.contains_key(it)).collect();
        for to in missing {
            self.send_report(to, attempt, Reply::Wanted);
        }
    }

    fn others(&self) -> impl Iterator<Item = RankId> + use<> {
        let rank = self.rank;
        (0..self.ranks).map(RankId).filter(move |&other| other != rank)
    }

    pub(super) fn send_all(&mut self, over: RailId, message: &Message) {
        for to in self.others() {
            self.actions.push_back(Action::Send { to, over, message: message.clone() });
        }
    }

    /// Over a rail that is up, another with each attempt, those that are suspected last; over all
    /// of them where none is up.
    fn send_report(&mut self, to: RankId, attempt: usize, reply: Reply) {
        let up: Vec<RailId> = self.view.up().iter().collect();
        let good = |rail: &&RailId| self.watches[rail.index()].state() == RailState::Up;
        let mut order: Vec<RailId> = up.iter().filter(good).copied().collect();
        order.extend(up.iter().filter(|rail| !good(rail)));
        let rails = match order.len() {
            0 => (0..).map(RailId).take(self.watches.len()).collect(),
            count => vec![order[attempt % count]],
        };
        for over in rails {
            let message = Message::Report { report: self.report.clone(), reply };
            self.actions.push_back(Action::Send { to, over, message });
        }
    }

    pub(super) fn handle_report(&mut self, now: Time, from: RankId, report: &Report, reply: Reply) {
        let both = self.view.merged(&report.view);
        if both != self.view {
            self.adopt(now, both, Cause::Published);
        }
        // Of a view that is over: whoever is behind hears of the present one anyway.
        if report.view != self.view {
            return;
        }
        let Some(agreement) = &mut self.agreement else {
            return self.answer(from, reply);
        };
        let again = agreement.reports.insert(from, report.clone()).is_some();
        if agreement.reports.len() == self.ranks as usize {
            self.conclude(now);
        }
        // Who asks twice has not heard this rank, which does not ask who has answered it: of three
        // ranks each could wait for the next one for ever.
        if again {
            self.answer(from, reply);
        }
    }

    fn answer(&mut self, to: RankId, reply: Reply) {
        if reply == Reply::Wanted {
            self.send_report(to, 0, Reply::Given);
        }
    }

    /// All ranks have reported the same view: does what follows from that.
    fn conclude(&mut self, now: Time) {
        let Some(Agreement { reports, .. }) = self.agreement.take() else { return };
        for (rank, report) in &reports {
            let known = &mut self.complete[rank.index()];
            *known = (*known).max(report.complete);
        }
        let (up, epoch) = (self.view.up(), self.view.epoch());
        self.actions.push_back(Action::Rails { up, epoch });
        for (id, agreed) in plan::plan(&self.view, &reports, self.config.chunk) {
            // A report may be older than what this rank has heard since: that all have it.
            if id < self.released {
                continue;
            }
            let issues = self.table.apply(id, agreed, &self.view);
            if !issues.is_empty() {
                self.issued(now, &issues);
                self.actions.push_back(Action::Reissue(issues));
            }
        }
        for rail in (0..).map(RailId).take(self.watches.len()) {
            self.watch_for(rail);
        }
        self.release();
    }
}
