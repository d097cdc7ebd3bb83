//! A set of rails, as a bit mask.

use crate::ids::RailId;

/// A set of rails, for example the rails that are up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RailSet(u64);

impl RailSet {
    /// Maximum number of rails.
    pub const CAPACITY: usize = 64;

    /// The empty set.
    pub const EMPTY: Self = Self(0);

    /// Returns the first `count` rails, at most 64.
    pub const fn first(count: usize) -> Self {
        if count >= Self::CAPACITY { Self(u64::MAX) } else { Self((1 << count) - 1) }
    }

    /// Returns true if the set contains `rail`.
    pub const fn contains(self, rail: RailId) -> bool {
        rail.index() < Self::CAPACITY && self.0 >> rail.index() & 1 == 1
    }

    /// Returns the set with `rail` added; an id of 64 or above is ignored.
    #[must_use]
    pub const fn with(self, rail: RailId) -> Self {
        if rail.index() < Self::CAPACITY { Self(self.0 | 1 << rail.index()) } else { self }
    }

    /// Returns the set without `rail`.
    #[must_use]
    pub const fn without(self, rail: RailId) -> Self {
        if rail.index() < Self::CAPACITY { Self(self.0 & !(1 << rail.index())) } else { self }
    }

    /// Returns the intersection of both sets.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Returns the number of rails in the set.
    pub const fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// Returns true if the set is empty.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Iterates over the rails in the order of their ids.
    pub fn iter(self) -> impl Iterator<Item = RailId> + Clone {
        (0..Self::CAPACITY as u32).map(RailId).filter(move |&rail| self.contains(rail))
    }
}

impl FromIterator<RailId> for RailSet {
    fn from_iter<I: IntoIterator<Item = RailId>>(rails: I) -> Self {
        rails.into_iter().fold(Self::EMPTY, Self::with)
    }
}

impl std::fmt::Display for RailSet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<String> = self.iter().map(|rail| rail.to_string()).collect();
        f.pad(&if names.is_empty() { "none".to_owned() } else { names.join(" ") })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rails_are_added_and_removed() {
        let all = RailSet::first(3);
        assert_eq!(all.to_string(), "rail0 rail1 rail2");
        let two = all.without(RailId(1));
        assert_eq!((two.len(), two.contains(RailId(1)), two.contains(RailId(2))), (2, false, true));
        assert_eq!(two.with(RailId(1)), all);
        assert_eq!(two.iter().collect::<RailSet>(), two);
        assert_eq!(two.and(RailSet::first(1)).to_string(), "rail0");
    }

    #[test]
    fn rails_beyond_the_capacity_are_in_no_set() {
        assert_eq!(RailSet::EMPTY.with(RailId(64)), RailSet::EMPTY);
        assert_eq!(RailSet::first(65).len(), 64);
        assert!(!RailSet::first(64).contains(RailId(64)));
        assert_eq!(RailSet::first(64).without(RailId(99)).len(), 64);
    }
}
