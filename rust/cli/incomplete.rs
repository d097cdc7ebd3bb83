//! The error message for a run that did not complete.

use evenkeel::study::Finished;

use super::{Status, output};

/// The key of the time limit in a scenario.
pub(super) const TIME_LIMIT: &str = "time_limit";

/// Reports a run that did not complete as an error, and returns the resulting status. `limit` is
/// the key of its time limit.
pub(super) fn report(finished: &Finished, limit: &str) -> Status {
    let Some(reason) = finished.incomplete(limit) else { return Status::Done };
    output::error(&reason);
    Status::Incomplete
}
