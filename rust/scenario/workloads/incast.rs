//! Incast: many senders, one receiver.

use super::pattern::{self, DEFAULT_BYTES};
use super::{Bytes, Located, ResolvedWorkload, ScenarioError, Span, Work, WorkloadInputs, section};
use crate::pattern::Incast;

section! {
    /// `kind = "incast"`.
    pub struct IncastSection {
        /// Payload per flow.
        bytes: Bytes = DEFAULT_BYTES,
        /// Number of senders.
        fan_in: u32 = 8,
        /// Maximum random start delay per message.
        start_jitter: Span = Span::ZERO,
    }
}

impl Work for IncastSection {
    const NAME: &'static str = "incast";
    const SUMMARY: &'static str = "Several hosts send one flow each to the same host";
    const SOURCE: &'static str = "common practice";

    fn resolve(&mut self, inputs: &WorkloadInputs<'_>) -> Result<ResolvedWorkload, ScenarioError> {
        let (hosts, fan_in, bytes) = (inputs.count(), *self.fan_in, *self.bytes);
        let built = Incast { hosts, fan_in, receiver: None, bytes }.build();
        pattern::resolve(inputs, built, &self.bytes, Some(self.fan_in.key()), &self.start_jitter)
    }

    fn size(&self) -> Option<Located<String>> {
        Some(self.bytes.with(self.bytes.to_string()))
    }

    fn is_random(&self) -> bool {
        *self.start_jitter > Span::ZERO
    }
}
