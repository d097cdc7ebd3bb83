//! Saying that a run did not complete.

use evenkeel::fabric::Verdict;
use evenkeel::report::human;
use evenkeel::study::Finished;
use evenkeel::units::Span;

use super::{Status, output};

/// Tells of a run that left messages open, and what that makes of the exit status.
pub fn tell(finished: &Finished) -> Status {
    let reason = match finished.verdict {
        Verdict::Completed => return Status::Done,
        Verdict::Stalled => "it stalled (nothing that can still happen would complete it)",
        Verdict::TimeLimit => {
            "it reached its time limit (time_limit; of the HPCC family, SIMULATOR_STOP_TIME)"
        }
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
