//! `algorithms = { ... }`: the algorithm of each operation of a workload.

use std::collections::BTreeMap;

use crate::scenario::input::context::{Context, Lookup};
use crate::scenario::input::error::ScenarioError;
use crate::scenario::input::located::Located;

/// Operations and their algorithms.
pub(super) struct Registry {
    pub operations: Vec<&'static str>,
    /// The algorithms of an operation; none if there is no such operation.
    pub algorithms: fn(&str) -> Vec<&'static str>,
}

/// Calls `choose` with each operation and algorithm of a section; it returns false for an
/// algorithm that the operation does not have.
pub(super) fn resolve(
    context: &Context<'_>,
    named: &Located<Option<BTreeMap<String, String>>>,
    registry: &Registry,
    mut choose: impl FnMut(&str, &str) -> bool,
) -> Result<(), ScenarioError> {
    for (operation, algorithm) in named.iter().flatten() {
        let key = named.key().child(operation);
        let algorithms = (registry.algorithms)(operation);
        let lookup = match algorithms.is_empty() {
            true => Lookup { what: "operation", name: operation, known: &registry.operations },
            false if choose(operation, algorithm) => continue,
            false => Lookup { what: "algorithm", name: algorithm, known: &algorithms },
        };
        return Err(context.unknown(&key, lookup));
    }
    Ok(())
}
