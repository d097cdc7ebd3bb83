//! A barrier for threads that synchronize every few hundred microseconds.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};

/// Number of times that a thread checks for the others before it yields its core.
const SPINS: u32 = 1 << 12;

/// A spinning barrier. Most waits are shorter than a wake-up by the operating system would take.
#[derive(Debug)]
pub(super) struct Barrier {
    threads: usize,
    waiting: AtomicUsize,
    round: AtomicUsize,
    is_broken: AtomicBool,
    /// Number of sleeping threads. `round` and `is_broken` change under this lock.
    sleeping: Mutex<usize>,
    changed: Condvar,
}

impl Barrier {
    pub(super) fn new(threads: usize) -> Self {
        let (waiting, round) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let (sleeping, changed) = (Mutex::new(0), Condvar::new());
        Self { threads, waiting, round, is_broken: AtomicBool::new(false), sleeping, changed }
    }

    /// Waits until every thread has called this. Afterwards each thread sees the earlier writes of
    /// all others.
    ///
    /// # Panics
    /// If another thread has panicked.
    pub(super) fn wait(&self) {
        let Some(round) = self.arrive() else { return };
        let mut spins = 0;
        while self.is_current(round) {
            spins += 1;
            match spins < SPINS {
                true => std::hint::spin_loop(),
                false => std::thread::yield_now(),
            }
        }
    }

    /// Waits like [`Self::wait`], but sleeps immediately. For waits that may be long.
    ///
    /// # Panics
    /// If another thread has panicked.
    pub(super) fn wait_long(&self) {
        let Some(round) = self.arrive() else { return };
        let mut sleeping = self.sleeping.lock().unwrap_or_else(PoisonError::into_inner);
        *sleeping += 1;
        while self.is_current(round) {
            sleeping = self.changed.wait(sleeping).unwrap_or_else(PoisonError::into_inner);
        }
        *sleeping -= 1;
    }

    /// Registers a thread. Returns the round to wait for, unless this thread is the last one.
    fn arrive(&self) -> Option<usize> {
        let round = self.round.load(Ordering::Acquire);
        if self.waiting.fetch_add(1, Ordering::AcqRel) + 1 < self.threads {
            return Some(round);
        }
        // Reset before the round changes: the others may call `arrive` again from then on.
        self.waiting.store(0, Ordering::Relaxed);
        self.change(|| self.round.store(round.wrapping_add(1), Ordering::Release));
        None
    }

    fn is_current(&self, round: usize) -> bool {
        let is_current = self.round.load(Ordering::Acquire) == round;
        let is_broken = is_current && self.is_broken.load(Ordering::Relaxed);
        if is_broken {
            // The other partition has printed the reason, so this one unwinds silently.
            std::panic::resume_unwind(Box::new("another partition of the run panicked"));
        }
        is_current
    }

    fn change(&self, change: impl FnOnce()) {
        let sleeping = self.sleeping.lock().unwrap_or_else(PoisonError::into_inner);
        change();
        // Waking costs a system call even if no thread sleeps.
        if *sleeping > 0 {
            self.changed.notify_all();
        }
    }

    /// Returns a guard that makes the other threads panic if this one does.
    pub(super) fn guard(&self) -> Guard<'_> {
        Guard(self)
    }
}

/// See [`Barrier::guard`].
#[derive(Debug)]
pub(super) struct Guard<'a>(&'a Barrier);

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.change(|| self.0.is_broken.store(true, Ordering::Relaxed));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_thread_sees_earlier_writes_of_the_others() {
        // Miri takes half a minute for 500.
        let rounds = if cfg!(miri) { 20 } else { 500 };
        let barrier = Barrier::new(3);
        let written: Vec<AtomicUsize> = (0..3).map(|_| AtomicUsize::new(0)).collect();
        std::thread::scope(|scope| {
            for own in &written {
                scope.spawn(|| {
                    for round in 1..rounds {
                        own.store(round, Ordering::Relaxed);
                        barrier.wait();
                        let seen = written.iter().map(|it| it.load(Ordering::Relaxed));
                        assert!(seen.into_iter().all(|it| it == round));
                        barrier.wait_long();
                    }
                });
            }
        });
    }

    #[test]
    fn a_panic_reaches_waiting_threads() {
        for wait in [Barrier::wait, Barrier::wait_long] {
            a_panic_reaches(wait);
        }
    }

    fn a_panic_reaches(wait: fn(&Barrier)) {
        let barrier = Barrier::new(2);
        let results = std::thread::scope(|scope| {
            let waits = scope.spawn(|| wait(&barrier));
            let panics = scope.spawn(|| {
                let _guard = barrier.guard();
                panic!("a fault");
            });
            [waits.join().is_err(), panics.join().is_err()]
        });
        assert_eq!(results, [true, true]);
    }
}
