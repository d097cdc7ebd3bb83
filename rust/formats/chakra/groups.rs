//! The calls of collectives, and the groups of ranks that take part in them.

use super::error::ChakraFault;
use super::expand;
use crate::units::Span;

/// A rank's call of a collective.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Call {
    /// Number of the operation in the schema (`comm_type`).
    pub operation: u8,
    /// Bytes of this rank.
    pub bytes: u64,
    /// Index of the group in [`RankGroups`].
    pub group: u32,
    /// Duration in the recorded run.
    pub recorded: Span,
}

/// The first call of a collective, with which the calls of other ranks must agree.
#[derive(Debug, Clone, Copy)]
pub(super) struct FirstCall {
    pub call: Call,
    pub rank: u32,
    /// Id of the node.
    pub node: u64,
}

/// Returns an error if a rank's call differs from the first call of the same collective.
pub(super) fn disagreement(
    here: Call,
    first: FirstCall,
    groups: &RankGroups,
) -> Option<ChakraFault> {
    let FirstCall { call: there, rank, node } = first;
    if (here.operation, here.bytes) == (there.operation, there.bytes) {
        return None;
    }
    let text = |call: Call| format!("{} of {} bytes", expand::name(call.operation), call.bytes);
    Some(ChakraFault::Disagreement(format!(
        "{}, but node {node} of rank {rank}, with the same index in {}, is {}",
        text(here),
        groups.name(here.group),
        text(there)
    )))
}

/// Names of groups of ranks. The group of all ranks is first; others are in order of discovery.
#[derive(Debug, Clone)]
pub(super) struct RankGroups(Vec<String>);

impl RankGroups {
    pub(super) fn new() -> Self {
        Self(vec!["all ranks".to_owned()])
    }

    /// Warns about named groups in which only one of several ranks has collectives; `members` is
    /// the number of ranks of each group.
    pub(super) fn single_rank_warning(&self, members: &[usize], ranks: u32) -> Option<String> {
        let single = (0u32..).zip(members).skip(1).filter(|&(_, &members)| members == 1);
        let groups: Vec<u32> = single.map(|(group, _)| group).filter(|_| ranks > 1).collect();
        let first = self.name(*groups.first()?);
        Some(format!(
            "in {} of {} groups only one rank has collectives, such as {first}; they send nothing \
             and take their recorded durations (traces of other ranks may lack them, or name the \
             group differently)",
            groups.len(),
            self.0.len() - 1
        ))
    }

    pub(super) fn name(&self, group: u32) -> String {
        match group {
            0 => self.0[0].clone(),
            _ => format!("group '{}'", self.0[group as usize]),
        }
    }

    /// Returns the index of the group called `name`; adds the group if it is new.
    pub(super) fn index_of(&mut self, name: &str) -> u32 {
        let known = self.0.iter().skip(1).position(|known| known == name);
        let index = known.unwrap_or_else(|| {
            self.0.push(name.to_owned());
            self.0.len() - 2
        });
        index as u32 + 1
    }
}
