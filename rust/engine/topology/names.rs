//! Names of nodes and links: look-up, and suggestions for unknown names.

use super::Topology;
use crate::ids::{LinkId, SwitchId};

/// Maximum number of suggestions for an unknown name.
const SUGGESTIONS: usize = 3;
/// Minimum similarity of a suggestion (normalised Damerau-Levenshtein).
const MIN_SIMILARITY: f64 = 0.5;

impl Topology {
    /// Returns the link called `name`; its ends may be in either order. A single link also matches
    /// `leaf3-spine0#0`. Parallel links do not match the ambiguous `leaf3-spine0`.
    pub fn link_named(&self, name: &str) -> Option<LinkId> {
        let found = (0..self.links().len()).find(|&index| self.is_called(index, name))?;
        Some(LinkId(u32::try_from(found).expect("ids are 32 bits")))
    }

    fn is_called(&self, index: usize, name: &str) -> bool {
        let [a, b] = self.links()[index].ends.map(|end| self.node_name(end));
        let own = &self.link_names()[index];
        let own_suffix = &own[a.len() + 1 + b.len()..];
        let matches = |first: &str, second: &str| {
            let rest = name.strip_prefix(first)?.strip_prefix('-')?.strip_prefix(second)?;
            Some(rest == own_suffix || (own_suffix.is_empty() && rest == "#0"))
        };
        matches(a, b) == Some(true) || matches(b, a) == Some(true)
    }

    /// Returns the switch called `name`.
    pub fn switch_named(&self, name: &str) -> Option<SwitchId> {
        let found = self.switches().iter().position(|switch| switch.name == name)?;
        Some(SwitchId(u32::try_from(found).expect("ids are 32 bits")))
    }

    /// Returns the names of links similar to `name`, most similar first.
    pub fn links_like(&self, name: &str) -> Vec<&str> {
        nearest(name, self.link_names().iter().map(String::as_str))
    }

    /// Returns the names of switches similar to `name`, most similar first.
    pub fn switches_like(&self, name: &str) -> Vec<&str> {
        nearest(name, self.switches().iter().map(|switch| switch.name.as_str()))
    }
}

/// Returns up to three names similar to `wanted`, for "did you mean" in errors. The most similar
/// come first; equally similar names keep their order.
pub fn nearest<'a>(wanted: &str, names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut near: Vec<(f64, &str)> = names
        .map(|name| (strsim::normalized_damerau_levenshtein(wanted, name), name))
        .filter(|(similarity, _)| *similarity >= MIN_SIMILARITY)
        .collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0));
    near.into_iter().take(SUGGESTIONS).map(|(_, name)| name).collect()
}

#[cfg(test)]
mod tests {
    use crate::ids::{LinkId, SwitchId};
    use crate::topology::{LeafSpine, Topology, fixtures};

    fn fabric(parallel_links: u32) -> Topology {
        LeafSpine { parallel_links, ..fixtures::leaf_spine(4, 2, 2) }.build().unwrap()
    }

    #[test]
    fn links_are_found_with_their_ends_in_either_order() {
        let topology = fabric(1);
        assert_eq!(topology.link_name(LinkId(8)), "leaf0-spine0");
        for name in ["leaf3-spine1", "spine1-leaf3", "leaf3-spine1#0"] {
            assert_eq!(topology.link_named(name), Some(LinkId(15)), "{name}");
        }
        assert_eq!(topology.link_named("leaf1-host3"), Some(LinkId(3)));
        for name in ["leaf3-spine", "leaf3-spine1#1", "leaf3-spine11", "leaf3", "", "-"] {
            assert_eq!(topology.link_named(name), None, "{name}");
        }
    }

    #[test]
    fn parallel_links_have_a_suffix_and_are_not_found_without_it() {
        let topology = fabric(2);
        assert_eq!(topology.link_name(LinkId(8)), "leaf0-spine0#0");
        assert_eq!(topology.link_named("spine0-leaf0#1"), Some(LinkId(9)));
        assert_eq!(topology.link_named("leaf0-spine0"), None);
        assert_eq!(topology.links_like("leaf0-spine0")[..2], ["leaf0-spine0#0", "leaf0-spine0#1"]);
    }

    #[test]
    fn switches_are_found_and_similar_names_suggested() {
        let topology = fabric(1);
        assert_eq!(topology.switch_named("spine1"), Some(SwitchId(5)));
        assert_eq!(topology.switch_named("spine2"), None);
        assert_eq!(topology.switches_like("spin1")[0], "spine1");
        assert_eq!(topology.links_like("leaf3_spine0")[0], "leaf3-spine0");
        assert!(topology.switches_like("quantum").is_empty());
    }
}
