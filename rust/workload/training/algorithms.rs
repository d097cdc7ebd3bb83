//! Which algorithm each collective of a training is laid out by.

use crate::collective::{self, Collective, CollectiveKind};

/// An algorithm for each operation that a training needs.
#[derive(Debug, Clone)]
pub struct Algorithms {
    chosen: [&'static Collective; 4],
    /// For hierarchical ones: so many ranks next to each other are a machine.
    pub group: u32,
}

/// The operations, as scenarios call them.
const OPERATIONS: [(&str, CollectiveKind); 4] = [
    ("all-reduce", CollectiveKind::AllReduce),
    ("all-gather", CollectiveKind::AllGather),
    ("reduce-scatter", CollectiveKind::ReduceScatter),
    ("all-to-all", CollectiveKind::AllToAll),
];

/// The first of the registry each, for groups of 8.
impl Default for Algorithms {
    fn default() -> Self {
        let first = |operation| {
            let mut all = collective::ALL.iter();
            all.find(|it| it.operation == operation).expect("each operation has an algorithm")
        };
        Self { chosen: OPERATIONS.map(|(_, operation)| first(operation)), group: 8 }
    }
}

impl Algorithms {
    /// The operations that have algorithms to choose from.
    pub fn operations() -> impl Iterator<Item = &'static str> {
        OPERATIONS.iter().map(|(name, _)| *name)
    }

    /// What the algorithms of an operation are called; none if there is no such operation. Where
    /// a name is but the operation's, it is called `direct`.
    pub fn names(operation: &str) -> Vec<&'static str> {
        let found = OPERATIONS.iter().find(|(name, _)| *name == operation).map(|it| it.1);
        let of_it = collective::ALL.iter().filter(|it| Some(it.operation) == found);
        of_it.map(|it| short(it, operation)).collect()
    }

    /// Lays out `operation` by `algorithm`; false if there is no such pair.
    #[must_use]
    pub fn choose(&mut self, operation: &str, algorithm: &str) -> bool {
        for ((name, kind), chosen) in OPERATIONS.iter().zip(&mut self.chosen) {
            let found = collective::ALL
                .iter()
                .find(|it| it.operation == *kind && short(it, operation) == algorithm);
            if let (true, Some(found)) = (*name == operation, found) {
                *chosen = found;
                return true;
            }
        }
        false
    }

    /// The chosen one.
    pub(super) fn of(&self, operation: CollectiveKind) -> &'static Collective {
        let place = OPERATIONS.iter().position(|(_, kind)| *kind == operation);
        self.chosen[place.expect("trainings need these four")]
    }
}

fn short(collective: &'static Collective, operation: &str) -> &'static str {
    let name = collective.name.strip_suffix(operation).map(|name| name.trim_end_matches('-'));
    name.filter(|name| !name.is_empty()).unwrap_or("direct")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn algorithms_are_chosen_by_operation_and_name() {
        let mut algorithms = Algorithms::default();
        assert_eq!(algorithms.of(CollectiveKind::AllReduce).name, "ring-all-reduce");
        assert_eq!(algorithms.of(CollectiveKind::AllToAll).name, "all-to-all");
        assert!(algorithms.choose("all-reduce", "direct"));
        assert!(algorithms.choose("all-to-all", "hierarchical"));
        assert!(!algorithms.choose("all-reduce", "bruck"));
        assert!(!algorithms.choose("broadcast", "binomial"));
        assert_eq!(algorithms.of(CollectiveKind::AllReduce).name, "direct-all-reduce");
        assert_eq!(Algorithms::names("all-gather"), ["ring", "direct", "bruck"]);
        assert_eq!(Algorithms::names("scatter"), [""; 0]);
    }
}
