//! Records hashes of a policy's calls and return values, to compare a second run with the first.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The calls of a run in order.
#[derive(Debug, Default)]
pub(crate) struct Ledger(Mutex<Calls>);

#[derive(Debug, Default)]
struct Calls {
    known: Vec<u64>,
    /// Number of calls in the second run; `None` during the first.
    repeated: Option<usize>,
}

/// A call or its return value differs from the first run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Mismatch;

impl Ledger {
    fn lock(&self) -> MutexGuard<'_, Calls> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts the second run.
    pub(crate) fn replay(&self) {
        self.lock().repeated = Some(0);
    }

    /// Returns the number of calls in the current run.
    pub(super) fn calls(&self) -> usize {
        let calls = self.lock();
        calls.repeated.unwrap_or(calls.known.len())
    }

    /// Records a call with its return value, or compares it with the first run.
    pub(super) fn record(&self, call: impl Hash) -> Result<(), Mismatch> {
        let mut hasher = DefaultHasher::new();
        call.hash(&mut hasher);
        let hash = hasher.finish();
        let mut calls = self.lock();
        let Some(index) = calls.repeated else {
            calls.known.push(hash);
            return Ok(());
        };
        calls.repeated = Some(index + 1);
        if calls.known.get(index) == Some(&hash) { Ok(()) } else { Err(Mismatch) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_run_with_another_answer_differs() {
        let ledger = Ledger::default();
        for (call, answer) in [(1, 5), (2, 6)] {
            assert_eq!(ledger.record((call, answer)), Ok(()));
        }
        ledger.replay();
        assert_eq!(ledger.record((1, 5)), Ok(()));
        assert_eq!(ledger.record((2, 7)), Err(Mismatch));
        assert_eq!(ledger.record((3, 8)), Err(Mismatch), "the first run had fewer calls");
        assert_eq!(ledger.calls(), 3);
    }
}
