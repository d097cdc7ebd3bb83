//! The nodes of one rank, when its file is read as a whole.

use std::io::BufRead;

use super::Options;
use super::error::{ChakraFault, Dependency, NodeFault};
use super::groups::RankGroups;
use super::kernels::{self, Kernel, UnorderedPair};
use super::node::{NodeAction, NodeReader, ParsedNode};
use super::tally::{Tally, Unordered};
use crate::workload::Compute;

/// A rank's nodes, in order of its file.
#[derive(Debug, Clone, Default)]
pub(super) struct RankTrace {
    pub nodes: Vec<TraceNode>,
    /// The dependencies of all nodes, by index into `nodes`; those of a node are adjacent.
    dependencies: Vec<(u32, Dependency)>,
    /// The nodes that run on streams of the accelerator.
    pub kernels: Vec<Kernel>,
    /// Neighbours in a stream that no dependency orders.
    pub unordered: Vec<UnorderedPair>,
    pub tally: Tally,
}

/// A node of a trace that is read as a whole before the run.
#[derive(Debug, Clone, Copy)]
pub(super) struct TraceNode {
    pub id: u64,
    /// Offset in the file, in bytes.
    pub offset: u64,
    pub action: NodeAction,
    /// The end of its dependencies, which begin where those of the previous node end.
    end: u32,
}

impl TraceNode {
    fn fault(&self, fault: ChakraFault) -> NodeFault {
        NodeFault::of_node(self.id, self.offset, fault)
    }
}

/// A node on the current path of the depth-first search.
#[derive(Debug, Clone, Copy)]
struct SearchFrame {
    node: u32,
    /// Number of dependencies already searched.
    searched: usize,
}

impl RankTrace {
    /// Reads the whole file of `rank` of `ranks`.
    pub(super) fn read(
        from: impl BufRead,
        rank: u32,
        ranks: u32,
        options: &Options,
        groups: &mut RankGroups,
    ) -> Result<Self, NodeFault> {
        let mut nodes = NodeReader::open(from, rank, ranks)?;
        let mut trace = Self::default();
        let mut ids: Vec<(u64, Dependency)> = Vec::new();
        while let Some(node) = nodes.next(options, groups)? {
            if trace.nodes.len() > i32::MAX as usize || ids.len() > i32::MAX as usize {
                let fault = ChakraFault::TooMuch("more than 2^31 nodes or dependencies");
                return Err(node.fault(fault));
            }
            trace.tally.count(&node);
            ids.extend(&node.dependencies);
            let ParsedNode { id, offset, action, stream, .. } = node;
            if let Some((stream, start)) = stream {
                let node = trace.nodes.len() as u32;
                trace.kernels.push(Kernel { stream, start, node });
            }
            trace.nodes.push(TraceNode { id, offset, action, end: ids.len() as u32 });
        }
        trace.resolve(&ids)?;
        let order = trace.order()?;
        let (pairs, followers) = kernels::unordered(&trace, &order);
        let is_delay =
            |node: u32| matches!(trace.nodes[node as usize].action, NodeAction::Delay { .. });
        let communicates = |pair: &&UnorderedPair| !is_delay(pair.after);
        // Computations on one accelerator run one at a time, even without a dependency.
        let is_serialized = |pair: &&UnorderedPair| {
            options.compute == Compute::Serial && is_delay(pair.before) && is_delay(pair.after)
        };
        let unordered = || pairs.iter().filter(|pair| !is_serialized(pair));
        trace.tally.unordered = Unordered {
            followers,
            independent: unordered().count(),
            communication: unordered().filter(communicates).count(),
            untimed: unordered().filter(|pair| !pair.is_timed).count(),
        };
        trace.unordered = pairs;
        Ok(trace)
    }

    /// Returns a copy in which the second node of each pair also depends on the first.
    pub(super) fn with(&self, pairs: &[[u32; 2]]) -> Self {
        let mut trace = Self { nodes: self.nodes.clone(), ..Self::default() };
        let mut pairs: Vec<[u32; 2]> =
            pairs.iter().map(|&[before, after]| [after, before]).collect();
        pairs.sort_unstable();
        for index in 0..self.nodes.len() {
            trace.dependencies.extend(self.dependencies(index as u32));
            let first = pairs.partition_point(|&[after, _]| (after as usize) < index);
            let own = pairs[first..].iter().take_while(|&&[after, _]| after as usize == index);
            trace.dependencies.extend(own.map(|&[_, before]| (before, Dependency::Data)));
            trace.nodes[index].end = trace.dependencies.len() as u32;
        }
        trace
    }

    /// Returns the dependencies of the node at `index`.
    pub(super) fn dependencies(&self, index: u32) -> &[(u32, Dependency)] {
        let first = index.checked_sub(1).map_or(0, |previous| self.nodes[previous as usize].end);
        &self.dependencies[first as usize..self.nodes[index as usize].end as usize]
    }

    /// Resolves dependencies from ids to indices.
    fn resolve(&mut self, ids: &[(u64, Dependency)]) -> Result<(), NodeFault> {
        let mut indices: Vec<(u64, u32)> =
            self.nodes.iter().map(|node| node.id).zip(0u32..).collect();
        indices.sort_unstable();
        if let Some(pair) = indices.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            let [first, second] = [0, 1].map(|which| &self.nodes[pair[which].1 as usize]);
            return Err(second.fault(ChakraFault::SameId { first: Some(first.offset) }));
        }
        let mut start = 0;
        for node in &self.nodes {
            for &(id, dependency) in &ids[start..node.end as usize] {
                let found = indices
                    .binary_search_by_key(&id, |&(id, _)| id)
                    .map_err(|_| node.fault(ChakraFault::Dangling { on: id, dependency }))?;
                self.dependencies.push((indices[found].1, dependency));
            }
            start = node.end as usize;
        }
        Ok(())
    }

    /// Returns the nodes in an order where each comes after its dependencies. A depth-first search
    /// finds dependency cycles, which are errors.
    pub(super) fn order(&self) -> Result<Vec<u32>, NodeFault> {
        #[derive(Clone, Copy, PartialEq, Eq)]
        enum Mark {
            Unvisited,
            OnPath,
            Finished,
        }
        let mut marks = vec![Mark::Unvisited; self.nodes.len()];
        let mut order = Vec::with_capacity(self.nodes.len());
        // The path is explicit: traces are chains of millions of nodes, too deep for recursion.
        let mut path: Vec<SearchFrame> = Vec::new();
        for node in 0..self.nodes.len() as u32 {
            if marks[node as usize] == Mark::Unvisited {
                path.push(SearchFrame { node, searched: 0 });
            }
            while let Some(SearchFrame { node, searched }) = path.last_mut() {
                marks[*node as usize] = Mark::OnPath;
                let Some(&(on, _)) = self.dependencies(*node).get(*searched) else {
                    marks[*node as usize] = Mark::Finished;
                    order.push(*node);
                    path.pop();
                    continue;
                };
                *searched += 1;
                match marks[on as usize] {
                    Mark::Unvisited => path.push(SearchFrame { node: on, searched: 0 }),
                    Mark::OnPath => return Err(self.cycle(&path, on)),
                    Mark::Finished => {}
                }
            }
        }
        Ok(order)
    }

    /// Returns the error for the cycle from `first` to the end of the path. It names a control
    /// dependency if the cycle has one, else the last dependency.
    fn cycle(&self, path: &[SearchFrame], first: u32) -> NodeFault {
        let start = path.iter().position(|frame| frame.node == first).unwrap_or(0);
        let edge = |frame: &SearchFrame| {
            let (on, dependency) = self.dependencies(frame.node)[frame.searched - 1];
            (frame.node, on, dependency)
        };
        let mut edges = path[start..].iter().map(edge);
        let control = edges.find(|&(_, _, dependency)| dependency == Dependency::Control);
        let (node, on, dependency) = control.unwrap_or_else(|| edge(&path[path.len() - 1]));
        let by = self.nodes[on as usize].id;
        self.nodes[node as usize].fault(ChakraFault::Cyclic { by, dependency })
    }
}
