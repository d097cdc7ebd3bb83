//! The finished runs of a comparison, kept even if it is interrupted.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::mpsc::{self, Sender};
use std::sync::{Mutex, PoisonError};
use std::thread;

use evenkeel_engine::fabric::Progress;
use evenkeel_study::report::Identity;
use evenkeel_study::{self as study, Comparison, ComparisonRun, Finished, Indicators, Observer};

use super::progress::{self, Bars};
use super::signals;

/// A finished run with its indicators.
type FinishedRun = (Finished, Indicators);

/// Finished runs of a comparison, in its order.
pub(super) struct Runs {
    pub(super) finished: Vec<FinishedRun>,
    /// Number of all runs.
    pub(super) all: usize,
}

/// Shows progress and collects finished runs.
struct Keeper {
    bars: Bars,
    finished: Mutex<BTreeMap<usize, FinishedRun>>,
}

impl Observer for Keeper {
    fn started(&self, run: ComparisonRun, identity: &Identity) {
        self.bars.started(run, identity);
    }

    fn progress(&self, run: ComparisonRun, progress: &Progress) {
        self.bars.progress(run, progress);
    }

    fn result(&self, run: ComparisonRun, result: &FinishedRun) {
        let mut finished = self.finished.lock().unwrap_or_else(PoisonError::into_inner);
        finished.insert(run.index, result.clone());
    }

    fn finished(&self, run: ComparisonRun) {
        self.bars.finished(run);
    }
}

/// Signals the end of the simulations when dropped, even after a panic.
struct EndGuard(Sender<Event>);

#[derive(Debug, PartialEq, Eq)]
enum Event {
    Ended,
    Interrupted,
}

impl Drop for EndGuard {
    fn drop(&mut self) {
        // There is no receiver if the program was interrupted.
        let _ = self.0.send(Event::Ended);
    }
}

/// Simulates all runs. At SIGINT, SIGTERM or SIGHUP it calls `interrupted` with the finished ones,
/// and exits with the status that this returns.
pub(super) fn simulate(
    comparison: &Comparison,
    threads: NonZeroUsize,
    interrupted: impl Fn(Runs) -> i32,
) -> anyhow::Result<Runs> {
    let all = comparison.runs().len();
    let (sender, events) = mpsc::channel();
    let from_signals = sender.clone();
    signals::at_the_first(move || drop(from_signals.send(Event::Interrupted)));
    let keeper = Keeper { bars: Bars::of_many(all), finished: Mutex::default() };
    let ended = thread::scope(|scope| {
        let simulations = scope.spawn(|| {
            let _guard = EndGuard(sender);
            study::compare(comparison, threads, &keeper)
        });
        if events.recv() == Ok(Event::Interrupted) {
            let mut kept = keeper.finished.lock().unwrap_or_else(PoisonError::into_inner);
            let finished = std::mem::take(&mut *kept).into_values().collect();
            progress::remove();
            std::process::exit(interrupted(Runs { finished, all }));
        }
        simulations.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    });
    Ok(Runs { finished: ended?, all })
}
