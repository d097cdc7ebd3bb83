//! Permutation: one flow from each host to another, at random.

use super::pattern::{self, DEFAULT_BYTES};
use super::{Bytes, Located, ResolvedWorkload, ScenarioError, Span, Work, WorkloadInputs, section};
use crate::pattern::Permutation;

section! {
    /// `kind = "permutation"`.
    pub struct PermutationSection {
        /// Payload per flow.
        bytes: Bytes = DEFAULT_BYTES,
        /// Maximum random start delay per message.
        start_jitter: Span = Span::ZERO,
    }
}

impl Work for PermutationSection {
    const NAME: &'static str = "permutation";
    const SUMMARY: &'static str = "Every host sends one flow and receives one, drawn by the seed";
    const SOURCE: &'static str = "common practice";

    fn resolve(&mut self, inputs: &WorkloadInputs<'_>) -> Result<ResolvedWorkload, ScenarioError> {
        let (hosts, bytes, seed) = (inputs.count(), *self.bytes, inputs.shared.seed);
        let built = Permutation { hosts, bytes, seed }.build();
        pattern::resolve(inputs, built, &self.bytes, None, &self.start_jitter)
    }

    fn size(&self) -> Option<Located<String>> {
        Some(self.bytes.with(self.bytes.to_string()))
    }

    fn is_random(&self) -> bool {
        true
    }
}
