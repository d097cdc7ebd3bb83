//! Runs of examples and their results.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use evenkeel::fabric::{self, Outcome, Setup, Verdict};
use evenkeel::scenario::{Overrides, Scenario};

/// Returns the setup of an example under a policy and a seed.
pub(super) fn setup(example: &str, policy: &str, seed: u64) -> Setup {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples").join(example);
    let overrides =
        Overrides { policy: Some(policy.to_owned()), seed: Some(seed), ..Overrides::default() };
    Scenario::load(&path, &overrides).unwrap_or_else(|error| panic!("{error}")).setup()
}

/// Returns the outcome of a run that must complete.
pub(super) fn complete(setup: &Setup) -> Outcome {
    let outcome = fabric::run(setup, &mut |_| {});
    let name = setup.scheme.name;
    assert_eq!(outcome.verdict, Verdict::Completed, "{name}, seed {}", setup.seed);
    outcome
}

/// Returns the results of all jobs in order, computed two at a time.
pub(super) fn side_by_side<J: Sync, A: Send>(jobs: &[J], work: impl Fn(&J) -> A + Sync) -> Vec<A> {
    let next = AtomicUsize::new(0);
    let answers = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some((place, job)) = take(jobs, &next) {
                    let answer = work(job);
                    answers.lock().unwrap_or_else(PoisonError::into_inner).push((place, answer));
                }
            });
        }
    });
    let mut answers = answers.into_inner().unwrap_or_else(PoisonError::into_inner);
    answers.sort_by_key(|(place, _)| *place);
    answers.into_iter().map(|(_, answer)| answer).collect()
}

fn take<'a, J>(jobs: &'a [J], next: &AtomicUsize) -> Option<(usize, &'a J)> {
    let place = next.fetch_add(1, Ordering::Relaxed);
    jobs.get(place).map(|job| (place, job))
}
