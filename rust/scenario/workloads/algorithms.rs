//! `algorithms = { ... }`: the algorithm per operation of a workload.

use std::collections::BTreeMap;

use crate::collective::Algorithms;
use crate::input::context::{Context, Lookup};
use crate::input::error::ScenarioError;
use crate::input::located::Located;

/// Returns `algorithms` with the choices of a section applied, one per operation.
pub(super) fn resolve(
    context: &Context<'_>,
    named: &Located<Option<BTreeMap<String, String>>>,
    mut algorithms: Algorithms,
) -> Result<Algorithms, ScenarioError> {
    for (operation, algorithm) in named.iter().flatten() {
        let key = named.key().child(operation);
        let known = algorithms.names(operation);
        if known.is_empty() {
            let known: Vec<&str> = algorithms.operations().collect();
            let lookup = Lookup { what: "operation", name: operation, known: &known };
            return Err(context.unknown(&key, lookup));
        }
        if !algorithms.choose(operation, algorithm) {
            let lookup = Lookup { what: "algorithm", name: algorithm, known: &known };
            return Err(context.unknown(&key, lookup));
        }
    }
    Ok(algorithms)
}
