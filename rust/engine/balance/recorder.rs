//! For tests of policies of a caller: what is called, in which order.

use std::sync::{Arc, Mutex};

/// Writes down which method was called, and with what.
#[derive(Debug, Clone, Default)]
pub(super) struct Recorder(Arc<Mutex<Vec<String>>>);

impl Recorder {
    /// Notes a call, and gives its result.
    pub(super) fn note<T>(&self, call: String, result: T) -> T {
        self.0.lock().unwrap().push(call);
        result
    }

    /// All calls so far.
    pub(super) fn all(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}
