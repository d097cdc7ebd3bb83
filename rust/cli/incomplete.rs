//! The error message for a run that did not complete.

use evenkeel::fabric::Verdict;
use evenkeel::report::human;
use evenkeel::study::Finished;
use evenkeel::units::Span;

use super::{Status, output};

/// The key of the time limit in a scenario.
pub(super) const TIME_LIMIT: &str = "time_limit";

/// Reports a run that did not complete as an error, and returns the resulting status. `limit` is
/// the key of its time limit.
pub(super) fn report(finished: &Finished, limit: &str) -> Status {
    let reason = match finished.verdict {
        Verdict::Completed => return Status::Done,
        Verdict::Stalled => "it stalled (no event that is left can complete it)".to_owned(),
        Verdict::TimeLimit => format!("it reached its time limit ({limit})"),
    };
    let summary = &finished.summary;
    output::error(&format!(
        "the run of {} (policy {}, seed {}) did not complete: {reason} at {} of simulated time, \
         with {} of {} open:\n{}",
        summary.scenario,
        summary.policy,
        summary.seed,
        human::span(Span::from_ps(finished.ended.as_ps())),
        finished.open.count,
        human::plural(summary.messages, "message"),
        finished.open
    ));
    Status::Incomplete
}
