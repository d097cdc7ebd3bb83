//! SIGINT, SIGTERM and SIGHUP: what is done is reported, and nothing half done is left, before the
//! program ends. A signal that the program was started to ignore, as `nohup` has SIGHUP and scripts
//! have SIGINT of jobs in the background, stays ignored.

#[cfg(unix)]
use std::sync::{Mutex, PoisonError};

/// The action of a command at the first signal.
#[cfg(unix)]
type Act = Box<dyn FnOnce() + Send>;

#[cfg(unix)]
static ACT: Mutex<Option<Act>> = Mutex::new(None);

/// Calls `act` on another thread at the first signal, which then does not end the program.
#[cfg(unix)]
pub(super) fn at_the_first(act: impl FnOnce() + Send + 'static) {
    *ACT.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(act));
}

/// Watches for signals. A command that has an action gets the first one, and further ones wait
/// until it has ended the program. Any other signal removes files that are not complete and ends
/// the program, as it does otherwise. Threads that start later inherit this, so it comes before
/// them.
#[cfg(unix)]
pub(super) fn watch() {
    use nix::sys::signal::{SigSet, Signal};
    let signals = [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP];
    let signals: SigSet = signals.into_iter().filter(|it| !is_ignored(*it)).collect();
    // Where signals cannot be blocked, they end the program as before.
    if signals.iter().next().is_none() || signals.thread_block().is_err() {
        return;
    }
    std::thread::spawn(move || {
        let Ok(signal) = signals.wait() else { return };
        let act = ACT.lock().unwrap_or_else(PoisonError::into_inner).take();
        match act {
            Some(act) => act(),
            None => end(signal),
        }
    });
}

/// Ends the program by a signal.
#[cfg(unix)]
fn end(signal: nix::sys::signal::Signal) -> ! {
    use nix::sys::signal::{SigSet, raise};
    evenkeel_study::report::remove_temporary_files();
    let mut only = SigSet::empty();
    only.add(signal);
    let _ = only.thread_unblock().and_then(|()| raise(signal));
    // The signal may be ignored after all.
    std::process::exit(128 + signal as i32);
}

/// True if the program was started to ignore a signal, as far as the system tells without unsafe
/// code.
#[cfg(unix)]
fn is_ignored(signal: nix::sys::signal::Signal) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal as i32 - 1) & 1 == 1)
}

/// Signals end the program on this platform, and leave files that are not complete.
#[cfg(not(unix))]
pub(super) fn watch() {}

/// Signals end the program on this platform.
#[cfg(not(unix))]
pub(super) fn at_the_first(_: impl FnOnce() + Send + 'static) {}
