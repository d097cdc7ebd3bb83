//! SIGINT and SIGTERM: what is done is reported before the program ends.

/// Calls `act` on another thread at the first SIGINT or SIGTERM, in place of ending the program.
/// Threads that start later inherit this, so it comes before them.
#[cfg(unix)]
pub(super) fn at_the_first(act: impl FnOnce() + Send + 'static) {
    use nix::sys::signal::{SigSet, Signal};
    let mut both = SigSet::empty();
    both.add(Signal::SIGINT);
    both.add(Signal::SIGTERM);
    // Where signals cannot be blocked, they end the program as before.
    if both.thread_block().is_ok() {
        std::thread::spawn(move || {
            if both.wait().is_ok() {
                act();
            }
        });
    }
}

/// Signals end the program on this platform.
#[cfg(not(unix))]
pub(super) fn at_the_first(_: impl FnOnce() + Send + 'static) {}
