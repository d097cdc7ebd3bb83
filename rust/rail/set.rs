//! A set of rails, as a word of bits.

use crate::ids::RailId;

/// Rails of which something is so: those that are up, say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RailSet(u64);

impl RailSet {
    /// The most rails there can be: one a bit.
    pub const MOST: usize = 64;

    /// No rail.
    pub const EMPTY: Self = Self(0);

    /// The first `count` rails; all 64 where it is more.
    pub const fn first(count: usize) -> Self {
        if count >= Self::MOST { Self(u64::MAX) } else { Self((1 << count) - 1) }
    }

    /// Whether `rail` is in it.
    pub const fn contains(self, rail: RailId) -> bool {
        rail.index() < Self::MOST && self.0 >> rail.index() & 1 == 1
    }

    /// It and `rail`, which is below 64 or is not taken in.
    #[must_use]
    pub const fn with(self, rail: RailId) -> Self {
        if rail.index() < Self::MOST { Self(self.0 | 1 << rail.index()) } else { self }
    }

    /// It but for `rail`.
    #[must_use]
    pub const fn without(self, rail: RailId) -> Self {
        if rail.index() < Self::MOST { Self(self.0 & !(1 << rail.index())) } else { self }
    }

    /// What is in both.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// How many rails are in it.
    pub const fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// Whether it has none.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Its rails in the order of their ids.
    pub fn iter(self) -> impl Iterator<Item = RailId> + Clone {
        (0..Self::MOST as u32).map(RailId).filter(move |&rail| self.contains(rail))
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
    fn rails_go_in_and_out() {
        let all = RailSet::first(3);
        assert_eq!(all.to_string(), "rail0 rail1 rail2");
        let two = all.without(RailId(1));
        assert_eq!((two.len(), two.contains(RailId(1)), two.contains(RailId(2))), (2, false, true));
        assert_eq!(two.with(RailId(1)), all);
        assert_eq!(two.iter().collect::<RailSet>(), two);
        assert_eq!(two.and(RailSet::first(1)).to_string(), "rail0");
    }

    #[test]
    fn what_no_bit_stands_for_is_in_no_set() {
        assert_eq!(RailSet::EMPTY.with(RailId(64)), RailSet::EMPTY);
        assert_eq!(RailSet::first(65).len(), 64);
        assert!(!RailSet::first(64).contains(RailId(64)));
        assert_eq!(RailSet::first(64).without(RailId(99)).len(), 64);
    }
}
