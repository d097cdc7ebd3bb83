//! SIGINT, SIGTERM and SIGHUP: before the program ends, it reports what is done and removes partial
//! files and progress bars. A signal ignored at the start stays ignored: `nohup` does that with
//! SIGHUP, and scripts with SIGINT of background jobs.

#[cfg(unix)]
use std::sync::{Mutex, PoisonError};

/// Action of a command at the first signal.
#[cfg(unix)]
type Act = Box<dyn FnOnce() + Send>;

#[cfg(unix)]
static ACT: Mutex<Option<Act>> = Mutex::new(None);

/// Calls `act` on another thread at the first signal, instead of ending the program.
#[cfg(unix)]
pub(super) fn at_the_first(act: impl FnOnce() + Send + 'static) {
    *ACT.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(act));
}

/// Watches for signals. If a command has an action, it handles the first signal; further ones wait
/// until the program has ended. Otherwise, a signal removes incomplete files and ends the program
/// as usual. Threads started later inherit the mask, so this must come first.
#[cfg(unix)]
pub(super) fn watch() {
    use nix::sys::signal::{SigSet, Signal};
    let signals = [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP];
    let signals: SigSet = signals.into_iter().filter(|it| !is_ignored(*it)).collect();
    // If signals cannot be blocked, they end the program as usual.
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
    super::progress::remove();
    evenkeel_study::report::remove_temporary_files();
    let mut only = SigSet::empty();
    only.add(signal);
    let _ = only.thread_unblock().and_then(|()| raise(signal));
    // Reached only if the signal is ignored.
    std::process::exit(128 + signal as i32);
}

/// True if the program was started with the signal ignored, as far as the system tells without
/// unsafe code.
#[cfg(unix)]
fn is_ignored(signal: nix::sys::signal::Signal) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal as i32 - 1) & 1 == 1)
}

/// On this platform, signals end the program and leave incomplete files.
#[cfg(not(unix))]
pub(super) fn watch() {}

/// On this platform, signals end the program.
#[cfg(not(unix))]
pub(super) fn at_the_first(_: impl FnOnce() + Send + 'static) {}
