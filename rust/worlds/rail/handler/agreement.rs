//! A reconstruction: the agreement of all ranks on the rails that are up and the missing chunks.
//!
//! Source: \[inferred\].

use std::collections::BTreeMap;

use super::message::{OperationId, RailView, RankMessage, Report, ReportKind};
use super::monitor::{Cause, RailMonitor, RailState};
use super::{Action, Agreement, ChunkIssue, Handler, plan};
use crate::ids::{RailId, RankId};
use crate::units::{Span, Time};

impl Handler {
    /// Applies a change to the monitor of a rail, and reports a change of its state.
    pub(super) fn observe(
        &mut self,
        rail: RailId,
        cause: Cause,
        act: impl FnOnce(&mut RailMonitor),
    ) {
        let Some(monitor) = self.monitors.get_mut(rail.index()) else { return };
        let before = monitor.state();
        act(monitor);
        let state = monitor.state();
        if state != before {
            self.actions.push_back(Action::StateChange { rail, state, cause });
        }
    }

    /// Restarts the stall timers of the rails on which chunks were issued.
    pub(super) fn issued(&mut self, now: Time, issues: &[ChunkIssue]) {
        let rails: super::RailSet = issues.iter().map(|issue| issue.rail).collect();
        for rail in rails.iter() {
            self.observe(rail, Cause::Cleared, |monitor| monitor.handle_progress(now));
            self.update_monitor(rail);
        }
    }

    /// Sets the work for which the monitor of `rail` waits.
    pub(super) fn update_monitor(&mut self, rail: RailId) {
        let awaits = self.table.awaits(rail);
        if let Some(monitor) = self.monitors.get_mut(rail.index()) {
            monitor.awaits = awaits;
        }
    }

    /// Returns the time since this rank started `id`; `None` if it has not started it.
    pub(super) fn started_ago(&self, now: Time, id: OperationId) -> Option<Span> {
        let ago = |started: Time| Span::from_ps(now.as_ps().saturating_sub(started.as_ps()));
        // An operation that all ranks have is no longer in the table.
        let long_ago = (id < self.next).then_some(Span::MAX);
        self.table.started(id).map(ago).or(long_ago)
    }

    /// Records that this rank has all sums of `id`.
    pub(super) fn completed(&mut self, id: OperationId) {
        self.actions.push_back(Action::Complete(id));
        let own = &mut self.complete[self.rank.index()];
        while self.table.is_complete(*own) {
            own.0 += 1;
        }
        self.release();
    }

    /// Merges another rank's knowledge of the operations that each rank has completed.
    pub(super) fn handle_complete(&mut self, complete: &[OperationId]) {
        let ranks = self.complete.iter_mut().zip(complete).enumerate();
        for (_, (known, &reported)) in ranks.filter(|(rank, _)| *rank != self.rank.index()) {
            *known = (*known).max(reported);
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

    /// Takes `rail` out of use at this rank.
    pub(super) fn fail(&mut self, now: Time, rail: RailId, cause: Cause) {
        let last = self.view.up().without(rail).is_empty();
        match cause {
            // An error aborts everything in flight. On the last rail it is restarted there.
            Cause::Error if last => self.adopt(now, self.view.advanced(rail, 2), cause),
            // There is no other rail, so waiting costs nothing.
            _ if last => {
                let config = self.config;
                self.observe(rail, cause, |monitor| monitor.hold(now, &config));
            }
            _ => self.adopt(now, self.view.advanced(rail, 1), cause),
        }
    }

    /// Replaces this rank's view with a later one, and publishes it.
    pub(super) fn adopt(&mut self, now: Time, view: RailView, cause: Cause) {
        let config = self.config;
        for rail in (0..).map(RailId).take(view.rails()) {
            if view.incarnation(rail) == self.view.incarnation(rail) {
                continue;
            }
            let up = view.incarnation(rail).is_multiple_of(2);
            self.observe(rail, cause, |monitor| match up {
                true => monitor.bring_up(now),
                false => monitor.take_down(now, &config),
            });
        }
        self.view = view;
        self.table.recount(&self.view);
        for rail in (0..).map(RailId).take(self.monitors.len()) {
            self.update_monitor(rail);
        }
        // The report is fixed from here on, and completions on rails that are down do not count:
        // other ranks rely on the chunks that it reports as missing.
        self.report = Report {
            view: self.view.clone(),
            complete: self.complete[self.rank.index()],
            operations: self.table.progress(),
            rates: self.rates.clone(),
        };
        let reports = BTreeMap::from([(self.rank, self.report.clone())]);
        let retry = now.saturating_add(config.retry);
        self.agreement = Some(Agreement { reports, retry, attempt: 0 });
        self.request_missing_reports();
    }

    /// Repeats the request to ranks without a report, over a different rail.
    pub(super) fn retry(&mut self, now: Time) {
        let retry = self.config.retry;
        if let Some(agreement) = self.agreement.as_mut().filter(|it| it.retry <= now) {
            agreement.retry = now.saturating_add(retry);
            agreement.attempt += 1;
            self.request_missing_reports();
        }
    }

    fn request_missing_reports(&mut self) {
        let Some(agreement) = &self.agreement else { return };
        let attempt = agreement.attempt;
        let missing: Vec<RankId> =
            self.others().filter(|it| !agreement.reports.contains_key(it)).collect();
        for to in missing {
            self.send_report(to, attempt, ReportKind::Request);
        }
    }

    fn others(&self) -> impl Iterator<Item = RankId> + use<> {
        let rank = self.rank;
        (0..self.ranks).map(RankId).filter(move |&other| other != rank)
    }

    pub(super) fn send_all(&mut self, over: RailId, message: &RankMessage) {
        for to in self.others() {
            self.actions.push_back(Action::Send { to, over, message: message.clone() });
        }
    }

    /// Sends the report over a rail that is up. Each attempt uses another rail, with suspect rails
    /// last. If no rail is up, it uses all of them.
    fn send_report(&mut self, to: RankId, attempt: usize, kind: ReportKind) {
        let up: Vec<RailId> = self.view.up().iter().collect();
        let good = |rail: &&RailId| self.monitors[rail.index()].state() == RailState::Up;
        let mut order: Vec<RailId> = up.iter().filter(good).copied().collect();
        order.extend(up.iter().filter(|rail| !good(rail)));
        let rails = match order.len() {
            0 => (0..).map(RailId).take(self.monitors.len()).collect(),
            count => vec![order[attempt % count]],
        };
        for over in rails {
            let message = RankMessage::Report { report: self.report.clone(), kind };
            self.actions.push_back(Action::Send { to, over, message });
        }
    }

    pub(super) fn handle_report(
        &mut self,
        now: Time,
        from: RankId,
        report: &Report,
        kind: ReportKind,
    ) {
        let both = self.view.merged(&report.view);
        if both != self.view {
            self.adopt(now, both, Cause::Published);
        }
        // The report is about an outdated view. Its sender has been or will be sent the current
        // one.
        if report.view != self.view {
            return;
        }
        let Some(agreement) = &mut self.agreement else {
            return self.answer(from, kind);
        };
        let repeated = agreement.reports.insert(from, report.clone()).is_some();
        if agreement.reports.len() == self.ranks as usize {
            self.apply_agreement(now);
        }
        // A rank that asks twice has not received this rank's report. Without a reply, three ranks
        // could each wait for the next one, because no rank asks a rank whose report it has.
        if repeated {
            self.answer(from, kind);
        }
    }

    fn answer(&mut self, to: RankId, kind: ReportKind) {
        if kind == ReportKind::Request {
            self.send_report(to, 0, ReportKind::Response);
        }
    }

    /// Applies the plan that follows from the reports of all ranks on the same view.
    fn apply_agreement(&mut self, now: Time) {
        let Some(Agreement { reports, .. }) = self.agreement.take() else { return };
        for (rank, report) in &reports {
            let known = &mut self.complete[rank.index()];
            *known = (*known).max(report.complete);
        }
        let (up, epoch) = (self.view.up(), self.view.epoch());
        self.actions.push_back(Action::Rails { up, epoch });
        for (id, agreed) in plan::plan(&self.view, &reports, self.config.chunk) {
            // The report may be outdated: by now all ranks may have the operation.
            if id < self.released {
                continue;
            }
            let issues = self.table.apply(id, agreed, &self.view);
            if !issues.is_empty() {
                self.issued(now, &issues);
                self.actions.push_back(Action::Reissue(issues));
            }
        }
        for rail in (0..).map(RailId).take(self.monitors.len()) {
            self.update_monitor(rail);
        }
        self.release();
    }
}
