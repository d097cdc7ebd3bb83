//! Shift: one flow from each host to the one a fixed number of ids later.

use super::pattern::{self, DEFAULT_BYTES};
use super::{Bytes, Located, ResolvedWorkload, ScenarioError, Span, Work, WorkloadInputs, section};
use crate::pattern::Shift;

section! {
    /// `kind = "shift"`.
    pub struct ShiftSection {
        /// Payload per flow.
        bytes: Bytes = DEFAULT_BYTES,
        /// Host i sends to host i + shift.
        shift: u32 = 1,
        /// Maximum random start delay per message.
        start_jitter: Span = Span::ZERO,
    }
}

impl Work for ShiftSection {
    const NAME: &'static str = "shift";
    const SUMMARY: &'static str = "Host i sends one flow to host i + shift (tornado)";
    const SOURCE: &'static str = "Dally and Towles, 2003, section 3.2";

    fn resolve(&mut self, inputs: &WorkloadInputs<'_>) -> Result<ResolvedWorkload, ScenarioError> {
        let (hosts, shift, bytes) = (inputs.count(), *self.shift, *self.bytes);
        let (built, own) = (Shift { hosts, shift, bytes }.build(), Some(self.shift.key()));
        pattern::resolve(inputs, built, &self.bytes, own, &self.start_jitter)
    }

    fn size(&self) -> Option<Located<String>> {
        Some(self.bytes.with(self.bytes.to_string()))
    }

    fn is_random(&self) -> bool {
        *self.start_jitter > Span::ZERO
    }
}
