//! SIGINT and SIGTERM: what is done is reported, and nothing half done is left, before the program
//! ends. A signal that the program was started to ignore, as scripts start jobs in the background
//! with SIGINT ignored, stays ignored.

use std::path::PathBuf;

/// Calls `act` on another thread at the first SIGINT or SIGTERM, in place of ending the program.
/// Threads that start later inherit this, so it comes before them.
#[cfg(unix)]
pub(super) fn at_the_first(act: impl FnOnce() + Send + 'static) {
    wait_for_the_first(|_| act());
}

/// Removes a file at the first SIGINT or SIGTERM; then the signal ends the program, as it does
/// otherwise. Threads that start later inherit this, so it comes before them.
#[cfg(unix)]
pub(super) fn remove_at_the_first(file: PathBuf) {
    use nix::sys::signal::{SigSet, raise};
    wait_for_the_first(move |signal| {
        // It has its own name by now if the run was ending.
        let _ = std::fs::remove_file(file);
        let mut only = SigSet::empty();
        only.add(signal);
        let _ = only.thread_unblock().and_then(|()| raise(signal));
        // Where it is ignored after all, the file cannot be completed any more.
        std::process::exit(128 + signal as i32);
    });
}

#[cfg(unix)]
fn wait_for_the_first(act: impl FnOnce(nix::sys::signal::Signal) + Send + 'static) {
    use nix::sys::signal::{SigSet, Signal};
    let signals = [Signal::SIGINT, Signal::SIGTERM].into_iter().filter(|it| !is_ignored(*it));
    let signals: SigSet = signals.collect();
    // Where signals cannot be blocked, they end the program as before.
    if signals.iter().next().is_some() && signals.thread_block().is_ok() {
        std::thread::spawn(move || {
            if let Ok(signal) = signals.wait() {
                act(signal);
            }
        });
    }
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

/// Signals end the program on this platform.
#[cfg(not(unix))]
pub(super) fn at_the_first(_: impl FnOnce() + Send + 'static) {}

/// Signals end the program on this platform, and leave the file.
#[cfg(not(unix))]
pub(super) fn remove_at_the_first(_: PathBuf) {}
