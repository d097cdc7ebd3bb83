//! Runs long work on a separate thread without holding the interpreter. Meanwhile, the calling
//! thread handles signals and reports progress.

use std::any::Any;
use std::panic;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use pyo3::prelude::*;

use evenkeel::fabric;
use evenkeel::report::Identity;
use evenkeel::study::{ComparisonRun, Observer, Stopped};

/// Interval at which signals and progress are polled. It is short for a person who presses Ctrl-C,
/// and long for a processor.
const POLL: Duration = Duration::from_millis(50);

/// Stack size of the thread, as that of a program's main thread: 8 MiB.
const STACK: usize = 8 << 20;

/// The latest progress, as a listener gets it.
#[derive(Debug, Clone, Default)]
struct Latest {
    label: String,
    progress: Option<fabric::Progress>,
    is_new: bool,
}

/// The state that a run and its supervisor share.
#[derive(Debug, Default)]
pub(super) struct Control {
    stop: AtomicBool,
    /// The exception that stopped the run; `None` if a signal did.
    fault: Mutex<Option<PyErr>>,
    latest: Mutex<Latest>,
    runs: AtomicUsize,
    finished: AtomicUsize,
    has_ended: Mutex<bool>,
    ended: Condvar,
}

/// Notifies the supervisor when the thread ends, even by a panic.
struct EndGuard<'a>(&'a Control);

impl Drop for EndGuard<'_> {
    fn drop(&mut self) {
        *lock(&self.0.has_ended) = true;
        self.0.ended.notify_all();
    }
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs `work` on another thread. A signal such as Ctrl-C, or an exception of `listener`, stops it:
/// the work is unwound at its next progress report.
pub(super) fn supervise<T: Send>(
    py: Python<'_>,
    listener: Option<&Bound<'_, PyAny>>,
    control: &Control,
    work: impl FnOnce() -> T + Send,
) -> PyResult<T> {
    thread::scope(|scope| {
        let work = move || {
            // Dropped by a panic too, so that the supervisor does not wait forever.
            let _end = EndGuard(control);
            work()
        };
        let thread = thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work)?;
        let mut reason = None;
        while !py.detach(|| control.wait()) {
            let told = py.check_signals().and_then(|()| control.notify_listener(listener));
            if let Err(error) = told {
                control.stop.store(true, Ordering::Relaxed);
                reason.get_or_insert(error);
            }
        }
        // The thread may need the interpreter for a policy, so it is detached here.
        let result = py.detach(|| thread.join());
        match (result, reason.or_else(|| lock(&control.fault).take())) {
            (Ok(result), None) => {
                // The last report may have arrived after the last poll.
                control.notify_listener(listener)?;
                Ok(result)
            }
            (_, Some(reason)) => Err(reason),
            (Err(panic), None) => Err(bug(panic)),
        }
    })
}

/// Returns the exception for a panic, which is a bug in evenkeel. The panic has printed its
/// location.
fn bug(panic: Box<dyn Any + Send>) -> PyErr {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
    pyo3::exceptions::PyRuntimeError::new_err(format!("a bug in evenkeel: {text}"))
}

impl Control {
    /// Waits for at most [`POLL`]; returns true if the thread has ended.
    fn wait(&self) -> bool {
        let ended = lock(&self.has_ended);
        let waited = self.ended.wait_timeout_while(ended, POLL, |ended| !*ended);
        *waited.unwrap_or_else(PoisonError::into_inner).0
    }

    /// Calls the listener if there is new progress.
    fn notify_listener(&self, listener: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        let Some(listener) = listener else { return Ok(()) };
        let latest = {
            let mut latest = lock(&self.latest);
            let now = latest.clone();
            latest.is_new = false;
            now
        };
        let Some(progress) = latest.progress.filter(|_| latest.is_new) else { return Ok(()) };
        let runs = self.runs.load(Ordering::Relaxed);
        let finished = self.finished.load(Ordering::Relaxed);
        listener.call1((
            latest.label,
            progress.now.as_ns_f64(),
            progress.completed,
            progress.messages,
            progress.delivered_bytes,
            progress.total_bytes,
            progress.packet_hops,
            finished,
            runs,
        ))?;
        Ok(())
    }

    /// Unwinds the work if it has been stopped.
    pub(super) fn check(&self) {
        if self.stop.load(Ordering::Relaxed) {
            panic::resume_unwind(Box::new(Stopped));
        }
    }

    /// Unwinds the work with an exception.
    pub(super) fn fail(&self, error: PyErr) -> ! {
        lock(&self.fault).get_or_insert(error);
        self.stop.store(true, Ordering::Relaxed);
        panic::resume_unwind(Box::new(Stopped));
    }

    /// Sets the number of runs to come.
    pub(super) fn expect_runs(&self, runs: usize) {
        self.runs.store(runs, Ordering::Relaxed);
    }

    /// Stores the progress of a run; unwinds it if it has been stopped.
    pub(super) fn report(&self, label: &str, progress: &fabric::Progress) {
        self.check();
        let mut latest = lock(&self.latest);
        if latest.label != label {
            label.clone_into(&mut latest.label);
        }
        (latest.progress, latest.is_new) = (Some(*progress), true);
    }
}

/// Counts the finished runs of a comparison or a sweep.
#[derive(Debug)]
pub(super) struct RunCounter(pub(super) Arc<Control>);

impl Observer for RunCounter {
    fn started(&self, _run: ComparisonRun, identity: &Identity) {
        self.0.check();
        let mut latest = lock(&self.0.latest);
        latest.label = format!("{}, seed {}", identity.policy, identity.seed);
    }

    fn progress(&self, _run: ComparisonRun, progress: &fabric::Progress) {
        self.0.check();
        let mut latest = lock(&self.0.latest);
        (latest.progress, latest.is_new) = (Some(*progress), true);
    }

    fn finished(&self, _run: ComparisonRun) {
        self.0.finished.fetch_add(1, Ordering::Relaxed);
        lock(&self.0.latest).is_new = true;
    }
}
