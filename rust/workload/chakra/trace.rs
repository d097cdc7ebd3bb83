//! The nodes of one rank, reduced to what a network needs of them.

use std::io::BufRead;

use super::Dependencies;
use super::error::{ChakraFault, Dependency};
use super::schema::{GlobalMetadata, Node, Value, kind};
use super::stream::Messages;
use crate::units::Span;

/// The longest duration of a node, in microseconds: 100,000 s, the longest span of a scenario.
const LONGEST_MICROS: u64 = 100_000_000_000;

/// What picoseconds of a node's duration are called, where this program has written it.
pub(super) const DURATION_PS: &str = "evenkeel_duration_ps";

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

/// What a node does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Action {
    /// Takes its time.
    Delay(Span),
    Send {
        peer: u32,
        tag: u32,
        bytes: u64,
    },
    Receive {
        peer: u32,
        tag: u32,
        /// If the trace says so.
        bytes: Option<u64>,
    },
    Collective(Call),
}

/// A rank's part in a collective.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Call {
    /// By its number in the schema.
    pub operation: u8,
    /// What the rank puts in.
    pub bytes: u64,
    /// By its place among the names of groups.
    pub group: u32,
    /// How long it took when it was recorded.
    pub recorded: Span,
}

/// The names of groups of ranks, numbered as they are found; the first is that of all ranks.
#[derive(Debug)]
pub(super) struct Groups(Vec<String>);

impl Groups {
    pub fn new() -> Self {
        Self(vec!["all ranks".to_owned()])
    }

    pub fn name(&self, group: u32) -> String {
        match group {
            0 => self.0[0].clone(),
            _ => format!("group '{}'", self.0[group as usize]),
        }
    }

    fn number(&mut self, name: &str) -> u32 {
        let known = self.0.iter().skip(1).position(|known| known == name);
        let place = known.unwrap_or_else(|| {
            self.0.push(name.to_owned());
            self.0.len() - 2
        });
        place as u32 + 1
    }
}

/// A fault of a trace, with the id of its node and where that begins, if it is of one.
pub(super) type Placed = (Option<u64>, Option<u64>, ChakraFault);

impl Trace {
    /// Reads a whole file, of which only one message is held at a time. `ranks` is how many there
    /// are.
    pub fn read(
        from: impl BufRead,
        ranks: u32,
        (dependencies, groups): (Dependencies, &mut Groups),
    ) -> Result<Self, Placed> {
        let mut messages = Messages::new(from);
        let mut trace = Self::default();
        let in_stream = |(offset, fault)| (None, Some(offset), fault);
        let metadata = messages.next::<GlobalMetadata>().map_err(in_stream)?;
        metadata.ok_or((None, None, ChakraFault::Empty))?;
        let mut waits: Vec<(u64, Dependency)> = Vec::new();
        while let Some((offset, node)) = messages.next::<Node>().map_err(in_stream)? {
            let at = |fault| (Some(node.id), Some(offset), fault);
            if trace.nodes.len() > i32::MAX as usize || waits.len() > i32::MAX as usize {
                return Err(at(ChakraFault::TooMuch("more than 2^31 nodes or dependencies")));
            }
            let action = trace.action(&node, (ranks, groups)).map_err(at)?;
            waits.extend(node.data_dependencies.iter().map(|&id| (id, Dependency::Data)));
            if dependencies == Dependencies::All {
                waits.extend(node.control_dependencies.iter().map(|&id| (id, Dependency::Control)));
            }
            trace.nodes.push(Step { id: node.id, offset, action, end: waits.len() as u32 });
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

    fn action(
        &mut self,
        node: &Node,
        (ranks, groups): (u32, &mut Groups),
    ) -> Result<Action, ChakraFault> {
        let duration = duration(node)?;
        let bytes = number(node, "comm_size", u64::MAX.into())?;
        match node.kind {
            kind::SEND => {
                let bytes = bytes.ok_or(ChakraFault::Missing("comm_size"))? as u64;
                self.empty_sends += usize::from(bytes == 0);
                let peer = peer(node, "comm_dst", ranks)?;
                Ok(Action::Send { peer, tag: tag(node)?, bytes })
            }
            kind::RECEIVE => {
                let peer = peer(node, "comm_src", ranks)?;
                Ok(Action::Receive { peer, tag: tag(node)?, bytes: bytes.map(|it| it as u64) })
            }
            kind::COLLECTIVE => {
                // Without a type it is the host's part of it: the call, not the communication.
                let Some(operation) = integer(node, "comm_type")? else {
                    return Ok(Action::Delay(duration));
                };
                let sound = u8::try_from(operation).ok().filter(|&number| number <= 9);
                let operation = sound.ok_or(ChakraFault::Operation(operation))?;
                let bytes = match (bytes, operation) {
                    (Some(bytes), _) => bytes as u64,
                    (None, 9) => 0,
                    (None, _) => return Err(ChakraFault::Missing("comm_size")),
                };
                let group = group(node, groups)?;
                Ok(Action::Collective(Call { operation, bytes, group, recorded: duration }))
            }
            kind::METADATA..=kind::COMPUTE => {
                let operations = integer(node, "num_ops")?.unwrap_or(0);
                self.timeless += usize::from(duration == Span::ZERO && operations > 0);
                Ok(Action::Delay(duration))
            }
            other => Err(ChakraFault::Kind(other)),
        }
    }

    /// From ids to places.
    fn resolve(&mut self, waits: &[(u64, Dependency)]) -> Result<(), Placed> {
        let mut places: Vec<(u64, u32)> =
            self.nodes.iter().map(|node| node.id).zip(0u32..).collect();
        places.sort_unstable();
        if let Some(twice) = places.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            let [first, second] = [0, 1].map(|which| &self.nodes[twice[which].1 as usize]);
            let fault = ChakraFault::SameId { first: first.offset };
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

/// How long a node takes: `duration_micros`, or the attribute `runtime` of older writers, in
/// microseconds both; or what this program has written, to the picosecond.
fn duration(node: &Node) -> Result<Span, ChakraFault> {
    if let Some(ps) = number(node, DURATION_PS, u128::from(LONGEST_MICROS) * 1_000_000)? {
        return Ok(Span::from_ps(ps as u64));
    }
    let micros = match node.duration_micros {
        0 => match node.attribute("runtime").and_then(|attribute| attribute.value.as_ref()) {
            // Some writers give it as a text or a float; then it is of no use here.
            Some(Value::Text(_) | Value::Double(_) | Value::Float(_)) | None => 0,
            Some(_) => number(node, "runtime", u64::MAX.into())?.unwrap_or(0) as u64,
        },
        micros => micros,
    };
    if micros > LONGEST_MICROS {
        return Err(ChakraFault::Duration(micros));
    }
    Ok(Span::from_us(micros))
}

/// The group of a collective: that of its name, or all ranks.
fn group(node: &Node, groups: &mut Groups) -> Result<u32, ChakraFault> {
    let name = match node.attribute("pg_name").and_then(|attribute| attribute.value.as_ref()) {
        Some(Value::Text(name)) => name.clone(),
        Some(_) => integer(node, "pg_name")?.map_or_else(String::new, |name| name.to_string()),
        None => String::new(),
    };
    if !name.is_empty() {
        return Ok(groups.number(&name));
    }
    let dimensions = node.attribute("involved_dim").and_then(|it| it.value.as_ref());
    match dimensions {
        Some(Value::Bools(dimensions)) if dimensions.values.contains(&false) => {
            Err(ChakraFault::Dimensions)
        }
        _ => Ok(0),
    }
}

fn integer(node: &Node, name: &'static str) -> Result<Option<i128>, ChakraFault> {
    let right = "a whole number";
    let number = |attribute: &super::schema::Attribute| {
        attribute.integer().ok_or(ChakraFault::Attribute { name, right })
    };
    node.attribute(name).map(number).transpose()
}

/// An attribute from 0 to `largest`.
fn number(node: &Node, name: &'static str, largest: u128) -> Result<Option<u128>, ChakraFault> {
    let Some(number) = integer(node, name)? else { return Ok(None) };
    let number = u128::try_from(number).ok().filter(|&number| number <= largest);
    let right = "a whole number that is not negative and not too large";
    number.map(Some).ok_or(ChakraFault::Attribute { name, right })
}

fn peer(node: &Node, name: &'static str, ranks: u32) -> Result<u32, ChakraFault> {
    let peer = integer(node, name)?.ok_or(ChakraFault::Missing(name))?;
    let sound = u32::try_from(peer).ok().filter(|&peer| peer < ranks);
    sound.ok_or(ChakraFault::Peer { name, peer, last: ranks.saturating_sub(1) })
}

/// The tag of a send or receive; none is 0. Negative ones keep their 32 bits.
fn tag(node: &Node) -> Result<u32, ChakraFault> {
    let tag = integer(node, "comm_tag")?.unwrap_or(0);
    let negative = i32::try_from(tag).ok().map(|tag| tag as u32);
    let right = "a whole number of 32 bits";
    u32::try_from(tag).ok().or(negative).ok_or(ChakraFault::Attribute { name: "comm_tag", right })
}
