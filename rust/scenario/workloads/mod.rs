//! Kinds of workload for `[workload] kind`. Each is a file with its keys, their defaults and the
//! messages it generates.

mod algorithms;
pub(crate) mod chakra;
pub(crate) mod choices;
pub(crate) mod collective;
pub(crate) mod connection_matrix;
pub(crate) mod flows;
pub(crate) mod goal;
pub(crate) mod incast;
pub(crate) mod inputs;
pub(crate) mod nccl;
mod pattern;
pub(crate) mod permutation;
pub(crate) mod shift;
pub(crate) mod simccl;
pub(crate) mod trace_source;
pub(crate) mod training;

use serde::Serialize;

use crate::input::error::ScenarioError;
use crate::input::located::Located;
use crate::input::reader::{Keys, Kind};
use crate::input::requirement::Requirement;
use crate::input::section::section;
use crate::units::{Bytes, Span};
pub(crate) use inputs::{ResolvedWorkload, SharedInputs, WorkloadInputs};

/// A kind of workload, implemented by its keys.
pub(crate) trait Work: Keys {
    /// Name in scenarios.
    const NAME: &'static str;
    /// One-line description.
    const SUMMARY: &'static str;
    /// Publication: authors, title, year.
    const SOURCE: &'static str;
    /// True if the messages are read from a file.
    const IS_RECORDED: bool = false;
    /// True if that file names hosts, so that the key `hosts` does not apply.
    const NAMES_HOSTS: bool = false;

    /// Returns the messages that the keys describe, starting at time zero. Fills in defaults that
    /// depend on the inputs.
    ///
    /// # Errors
    /// Fails if a value is out of range or a file cannot be read.
    fn resolve(&mut self, inputs: &WorkloadInputs<'_>) -> Result<ResolvedWorkload, ScenarioError>;

    /// Returns the key that most influences the bytes sent, with its value; `kind` if `None`.
    fn size(&self) -> Option<Located<String>> {
        None
    }

    /// True if the messages depend on the seed.
    fn is_random(&self) -> bool {
        false
    }

    /// Returns keys that have an effect only together with others. `is_ordered` is true if messages
    /// wait for others.
    fn requirements(&self, _is_ordered: bool) -> Vec<Requirement<'_>> {
        Vec::new()
    }
}

/// Requirement of keys that order messages.
const ORDER: &str = "messages that wait for others";

/// Registers kinds of workload. A kind is a file, its `mod` line and a line here.
macro_rules! registry {
    ($($kind:ident($keys:ty)),* $(,)?) => {
        /// Keys of a kind of workload.
        #[derive(Debug, Clone, PartialEq, Serialize)]
        #[serde(untagged)]
        pub enum WorkloadKeys {
            $(#[doc = concat!("The keys are `", stringify!($keys), "`.")] $kind(Box<$keys>),)*
        }

        /// Name, summary and source of every kind. The first entry stands for all collectives.
        pub const WORKLOADS: &[[&str; 3]] =
            &[$([<$keys>::NAME, <$keys>::SUMMARY, <$keys>::SOURCE]),*];

        /// Table of all kinds of workload. All collectives share the first row.
        pub(crate) const KINDS: &[Kind<WorkloadKeys>] = &[$(Kind {
            name: <$keys>::NAME,
            summary: <$keys>::SUMMARY,
            groups: <$keys>::GROUPS,
            read: |reader| <$keys>::read(reader).map(Box::new).map(WorkloadKeys::$kind),
        }),*];

        impl WorkloadKeys {
            /// [`Work::IS_RECORDED`].
            pub(crate) const fn is_recorded(&self) -> bool {
                match self { $(Self::$kind(_) => <$keys>::IS_RECORDED,)* }
            }

            /// [`Work::NAMES_HOSTS`].
            pub(crate) const fn names_hosts(&self) -> bool {
                match self { $(Self::$kind(_) => <$keys>::NAMES_HOSTS,)* }
            }

            /// [`Work::resolve`].
            pub(crate) fn resolve(
                &mut self,
                inputs: &WorkloadInputs<'_>,
            ) -> Result<ResolvedWorkload, ScenarioError> {
                match self { $(Self::$kind(keys) => keys.resolve(inputs),)* }
            }

            /// [`Work::size`].
            pub(crate) fn size(&self) -> Option<Located<String>> {
                match self { $(Self::$kind(keys) => keys.size(),)* }
            }

            /// [`Work::is_random`].
            pub(crate) fn is_random(&self) -> bool {
                match self { $(Self::$kind(keys) => keys.is_random(),)* }
            }

            /// [`Work::requirements`].
            pub(crate) fn requirements(&self, is_ordered: bool) -> Vec<Requirement<'_>> {
                match self { $(Self::$kind(keys) => keys.requirements(is_ordered),)* }
            }
        }
    };
}

registry! {
    Collective(collective::CollectiveSection),
    Permutation(permutation::PermutationSection),
    Shift(shift::ShiftSection),
    Incast(incast::IncastSection),
    Flows(flows::FlowsSection),
    Chakra(chakra::ChakraSection),
    Goal(goal::GoalSection),
    ConnectionMatrix(connection_matrix::ConnectionMatrixSection),
    Simccl(simccl::SimcclSection),
    Training(training::TrainingSection),
    Nccl(nccl::NcclSection),
}

/// The kind of a section that names none.
pub(crate) const DEFAULT_KIND: &str = "all-to-all";

section! {
    /// The keys of every kind of workload.
    pub struct CommonSection {
        /// Hosts by rank: `"0..16"`, `"0,4,8"`, `"0..64/8"`. Not for `flows`, whose file names
        /// them.
        hosts?: String = "all",
        /// Traffic class of data packets: the name of a `[[class]]`.
        class?: String = "the first class",
        /// Start time, or delay after the job in `after` completes.
        start?: Span = "0",
    }
}
