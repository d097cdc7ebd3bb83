//! Selection of an algorithm for each operation, by name.

use super::{ALL, Collective, CollectiveKind};

/// One algorithm for each of some operations; by default the first in the registry.
#[derive(Debug, Clone)]
pub struct Algorithms {
    chosen: Vec<(CollectiveKind, &'static Collective)>,
}

impl Algorithms {
    /// Creates the default selection for these operations.
    pub fn new(operations: &[CollectiveKind]) -> Self {
        let default = |&kind: &CollectiveKind| {
            let first = ALL.iter().find(|collective| collective.operation == kind);
            (kind, first.expect("each operation has an algorithm"))
        };
        Self { chosen: operations.iter().map(default).collect() }
    }

    /// Returns the names of the operations.
    pub fn operations(&self) -> impl Iterator<Item = &'static str> {
        self.chosen.iter().map(|(kind, _)| kind.name())
    }

    /// Returns the names of an operation's algorithms; empty for an unknown operation.
    pub fn names(&self, operation: &str) -> Vec<&'static str> {
        let kind = self.chosen.iter().map(|(kind, _)| *kind).find(|kind| kind.name() == operation);
        let of_kind = ALL.iter().filter(|collective| Some(collective.operation) == kind);
        of_kind.map(Collective::algorithm).collect()
    }

    /// Selects `algorithm` for `operation`; returns false if the operation has no such algorithm.
    #[must_use]
    pub fn choose(&mut self, operation: &str, algorithm: &str) -> bool {
        let Some((kind, chosen)) =
            self.chosen.iter_mut().find(|(kind, _)| kind.name() == operation)
        else {
            return false;
        };
        let found = ALL.iter().find(|it| it.operation == *kind && it.algorithm() == algorithm);
        if let Some(found) = found {
            *chosen = found;
        }
        found.is_some()
    }

    /// Returns the algorithm of an operation.
    ///
    /// # Panics
    /// If the operation was not passed to [`Self::new`].
    pub fn get(&self, kind: CollectiveKind) -> &'static Collective {
        let chosen = self.chosen.iter().find(|(known, _)| *known == kind);
        chosen.expect("callers ask for their own operations only").1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn algorithms_are_selected_by_operation_and_name() {
        use CollectiveKind::{AllGather, AllReduce, AllToAll};
        let mut algorithms = Algorithms::new(&[AllReduce, AllGather, AllToAll]);
        assert_eq!(algorithms.get(AllReduce).name, "ring-all-reduce");
        assert_eq!(algorithms.get(AllToAll).name, "all-to-all");
        assert!(algorithms.choose("all-reduce", "halving-doubling"));
        assert!(algorithms.choose("all-to-all", "hierarchical"));
        assert!(algorithms.choose("all-reduce", "direct"));
        assert!(!algorithms.choose("all-reduce", "bruck"));
        assert!(!algorithms.choose("all-reduce", "all-gather"));
        assert!(!algorithms.choose("broadcast", "binomial"), "not one of these operations");
        assert!(!algorithms.choose("gather", "ring"));
        assert_eq!(algorithms.get(AllReduce).name, "direct-all-reduce");
        assert_eq!(algorithms.get(AllGather).name, "ring-all-gather");
        assert_eq!(algorithms.names("all-gather"), ["ring", "direct", "bruck"]);
        assert_eq!(algorithms.names("all-to-all"), ["direct", "hierarchical"]);
        assert_eq!(algorithms.names("scatter"), [""; 0]);
        assert_eq!(algorithms.operations().count(), 3);
    }
}
