//! Records the calls that a caller's policy receives, for tests.

use std::sync::{Arc, Mutex};

/// Records the method and the arguments of each call, in order.
#[derive(Debug, Clone, Default)]
pub(super) struct Recorder(Arc<Mutex<Vec<String>>>);

impl Recorder {
    /// Records a call and returns `result`.
    pub(super) fn note<T>(&self, call: String, result: T) -> T {
        self.0.lock().unwrap().push(call);
        result
    }

    /// Returns all calls so far.
    pub(super) fn all(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}
