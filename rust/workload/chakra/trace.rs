//! The nodes of one rank, reduced to what a network needs of them.

use std::io::BufRead;

use super::Options;
use super::error::{ChakraFault, Dependency};
use super::node::{Action, Groups, Nodes, Placed, Read};

/// A rank's nodes, in order of its file.
#[derive(Debug, Clone, Default)]
pub(super) struct Trace {
    pub nodes: Vec<Step>,
    /// What nodes wait for, by place in `nodes`; each node's stand together.
    waits: Vec<(u32, Dependency)>,
    /// Nodes that give the number of their operations and no duration.
    pub timeless: usize,
    /// Sends of no bytes.
    pub empty_sends: usize,
}

/// A node.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step {
    pub id: u64,
    /// Where it begins in the file.
    pub offset: u64,
    pub action: Action,
    /// Where its dependencies end; they begin where those of the node before end.
    end: u32,
}

impl Trace {
    /// Reads a whole file, that of `rank` of `ranks`.
    pub fn read(
        from: impl BufRead,
        place: (u32, u32),
        (options, groups): (&Options, &mut Groups),
    ) -> Result<Self, Placed> {
        let mut nodes = Nodes::open(from, place)?;
        let mut trace = Self::default();
        let mut waits: Vec<(u64, Dependency)> = Vec::new();
        while let Some(node) = nodes.next(options, groups)? {
            if trace.nodes.len() > i32::MAX as usize || waits.len() > i32::MAX as usize {
                let fault = ChakraFault::TooMuch("more than 2^31 nodes or dependencies");
                return Err(node.at(fault));
            }
            trace.timeless += usize::from(node.is_timeless);
            trace.empty_sends += usize::from(matches!(node.action, Action::Send { bytes: 0, .. }));
            waits.extend(&node.waits);
            let Read { id, offset, action, .. } = node;
            trace.nodes.push(Step { id, offset, action, end: waits.len() as u32 });
        }
        trace.resolve(&waits)?;
        trace.check_circles()?;
        Ok(trace)
    }

    /// What the node at `place` waits for.
    pub fn waits(&self, place: u32) -> &[(u32, Dependency)] {
        let first = place.checked_sub(1).map_or(0, |before| self.nodes[before as usize].end);
        &self.waits[first as usize..self.nodes[place as usize].end as usize]
    }

    /// From ids to places.
    fn resolve(&mut self, waits: &[(u64, Dependency)]) -> Result<(), Placed> {
        let mut places: Vec<(u64, u32)> =
            self.nodes.iter().map(|node| node.id).zip(0u32..).collect();
        places.sort_unstable();
        if let Some(twice) = places.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            let [first, second] = [0, 1].map(|which| &self.nodes[twice[which].1 as usize]);
            let fault = ChakraFault::SameId { first: Some(first.offset) };
            return Err((Some(second.id), Some(second.offset), fault));
        }
        let mut begin = 0;
        for node in &self.nodes {
            for &(id, dependency) in &waits[begin..node.end as usize] {
                let found = places.binary_search_by_key(&id, |&(id, _)| id).map_err(|_| {
                    let fault = ChakraFault::Dangling { on: id, dependency };
                    (Some(node.id), Some(node.offset), fault)
                })?;
                self.waits.push((places[found].1, dependency));
            }
            begin = node.end as usize;
        }
        Ok(())
    }

    /// Refuses nodes that wait for themselves, by a walk from each to what it waits for.
    fn check_circles(&self) -> Result<(), Placed> {
        #[derive(Clone, Copy, PartialEq, Eq)]
        enum Seen {
            Not,
            Above,
            Done,
        }
        let mut seen = vec![Seen::Not; self.nodes.len()];
        // Nodes on the way down, each with how many of its dependencies have been looked at.
        let mut way: Vec<(u32, usize)> = Vec::new();
        for start in 0..self.nodes.len() as u32 {
            if seen[start as usize] == Seen::Not {
                way.push((start, 0));
            }
            while let Some((node, looked)) = way.last_mut() {
                seen[*node as usize] = Seen::Above;
                let Some(&(before, _)) = self.waits(*node).get(*looked) else {
                    seen[*node as usize] = Seen::Done;
                    way.pop();
                    continue;
                };
                *looked += 1;
                match seen[before as usize] {
                    Seen::Not => way.push((before, 0)),
                    Seen::Above => return Err(self.circle(&way, before)),
                    Seen::Done => {}
                }
            }
        }
        Ok(())
    }

    /// The fault of the circle that ends the way at `first`: at one of its control dependencies,
    /// if it has any.
    fn circle(&self, way: &[(u32, usize)], first: u32) -> Placed {
        let begin = way.iter().position(|&(node, _)| node == first).unwrap_or(0);
        let mut edges = way[begin..].iter().map(|&(node, looked)| {
            let (before, dependency) = self.waits(node)[looked - 1];
            (node, before, dependency)
        });
        let last = way[way.len() - 1];
        let (before, dependency) = self.waits(last.0)[last.1 - 1];
        let control = edges.find(|&(_, _, dependency)| dependency == Dependency::Control);
        let (node, before, dependency) = control.unwrap_or((last.0, before, dependency));
        let by = self.nodes[before as usize].id;
        let node = &self.nodes[node as usize];
        (Some(node.id), Some(node.offset), ChakraFault::Cyclic { by, dependency })
    }
}
