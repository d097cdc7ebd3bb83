//! Runs a part of a sweep that may fail. Separates faults of a point, which become its row, from
//! errors that end the sweep.
//!
//! A panic also becomes a row, so that one point does not cost the others. It is caught here, in
//! the thread of its run. That run shares nothing with others that a panic could leave
//! inconsistent. The build profiles unwind for this purpose.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use crate::Stopped;
use crate::reproduce::StudyError;

/// Reason why a point has no result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum RunFailure {
    /// The scenario is invalid, or its run cannot start.
    Invalid(String),
    /// The program panicked.
    Panic(String),
}

impl RunFailure {
    /// Returns the `error` of the row.
    pub(super) fn reason(self) -> String {
        match self {
            Self::Invalid(reason) => reason,
            Self::Panic(message) => format!(
                "the run panicked: {message}; this is an internal error (a bug in evenkeel), \
                 please report it with the study"
            ),
        }
    }
}

/// Calls a part of a run, and catches its panics.
///
/// # Errors
/// Returns errors that are not about the point, such as a log that cannot be written.
pub(super) fn attempt<T>(
    part: impl FnOnce() -> Result<T, StudyError>,
) -> Result<Result<T, RunFailure>, StudyError> {
    match catch_unwind(AssertUnwindSafe(part)) {
        Ok(Ok(done)) => Ok(Ok(done)),
        Ok(Err(StudyError::Invalid { reason, .. })) => Ok(Err(RunFailure::Invalid(reason))),
        Ok(Err(other)) => Err(other),
        // The caller of the sweep stops it: the run has no result.
        Err(payload) if payload.is::<Stopped>() => resume_unwind(payload),
        Err(payload) => Ok(Err(RunFailure::Panic(message(&*payload)))),
    }
}

/// Returns the message of a panic.
fn message(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
    text.unwrap_or_else(|| "without a message".to_owned())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::num::NonZeroUsize;
    use std::path::Path;

    use super::*;
    use crate::fabric::Progress;
    use crate::report::Identity;
    use crate::reproduce::RunLog;
    use crate::{ComparisonRun, Observer, Shard, Sweep};

    const STUDY: &str = r#"
        [scenario.topology]
        leaves = 2
        spines = 2
        hosts_per_leaf = 2
        [[run]]
        name = "a"
        seeds = 3
    "#;

    /// Panics during the run with this seed.
    struct Faulty(Option<u64>);

    impl Observer for Faulty {
        fn started(&self, _: ComparisonRun, _: &Identity) {}

        fn progress(&self, run: ComparisonRun, _: &Progress) {
            assert!(Some(run.seed) != self.0, "seed {} cannot run", run.seed);
        }

        fn finished(&self, _: ComparisonRun) {}
    }

    /// Stops the sweep during the run with this seed.
    struct Stopping(u64);

    impl Observer for Stopping {
        fn started(&self, _: ComparisonRun, _: &Identity) {}

        fn progress(&self, run: ComparisonRun, _: &Progress) {
            if run.seed == self.0 {
                resume_unwind(Box::new(Stopped));
            }
        }

        fn finished(&self, _: ComparisonRun) {}
    }

    #[test]
    fn a_run_that_its_observer_stops_is_no_row() {
        let sweep = Sweep::parse(STUDY.to_owned(), Path::new("a.toml")).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let log = RunLog::resumed(folder.path(), "sweep").unwrap();
        let one = NonZeroUsize::MIN;
        let run = || sweep.run(Shard::ALL, one, &Stopping(2), &log);
        let payload = catch_unwind(AssertUnwindSafe(run)).unwrap_err();
        assert!(payload.is::<Stopped>());
        let log = RunLog::read_only(folder.path(), "sweep").unwrap();
        let finished = sweep.finished(&log).unwrap();
        let seeds: Vec<u64> = finished.rows.iter().map(|row| row.seed).collect();
        assert_eq!((seeds, finished.failed().count()), (vec![1], 0));
        let edited = STUDY.replace("leaves = 2", "leaves = 3");
        let edited = Sweep::parse(edited, Path::new("a.toml")).unwrap();
        assert!(edited.finished(&log).unwrap().rows.is_empty(), "a result of another scenario");
    }

    #[test]
    fn a_panic_becomes_a_row_and_a_later_start_retries_it() {
        let sweep = Sweep::parse(STUDY.to_owned(), Path::new("a.toml")).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let run = |faulty: Faulty| {
            let log = RunLog::resumed(folder.path(), "sweep").unwrap();
            sweep.run(Shard::ALL, NonZeroUsize::MIN, &faulty, &log).unwrap()
        };
        let errors: Vec<String> = run(Faulty(Some(2))).rows.iter().map(|row| row.error()).collect();
        let [first, second, third] = &errors[..] else { panic!("three rows: {errors:?}") };
        assert_eq!((first.as_str(), third.as_str()), ("", ""));
        let expected =
            "the run panicked: seed 2 cannot run; this is an internal error (a bug in evenkeel)";
        assert!(second.starts_with(expected), "{second}");
        let log = || fs::read_to_string(folder.path().join("sweep.runs.jsonl")).unwrap();
        assert_eq!(log().lines().count(), 3);
        let merged = |log: RunLog| sweep.merge(&[log]).unwrap().0;
        let table = merged(RunLog::read_only(folder.path(), "sweep").unwrap());
        assert_eq!(table.failed().count(), 1, "merge has the row too");
        run(Faulty(Some(2)));
        assert_eq!(log().lines().count(), 3, "the same error is not written twice");
        assert_eq!(run(Faulty(None)).failed().count(), 0);
        assert_eq!(log().lines().count(), 4, "the run that failed alone was simulated again");
    }
}
