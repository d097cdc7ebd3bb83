//! One node after the other of a rank's file, reduced to what a network needs of each.

use std::io::BufRead;

use super::error::{ChakraFault, Dependency};
use super::schema::{GlobalMetadata, Node, Value, kind};
use super::stream::Messages;
use super::{Dependencies, Options};
use crate::units::Span;
use crate::workload::{Compute, Lane};

/// The longest duration of a node, in microseconds: 100,000 s, the longest span of a scenario.
const LONGEST_MICROS: u64 = 100_000_000_000;

/// What picoseconds of a node's duration are called, where this program has written it.
pub(super) const DURATION_PS: &str = "evenkeel_duration_ps";

/// What says the lane of a node, where this program has written it: 0 for none.
pub(super) const LANE: &str = "evenkeel_lane";

/// Lanes of a rank: what runs on its processor, on its accelerator, and what moves its memory.
const PROCESSOR: Lane = Lane(0);
const ACCELERATOR: Lane = Lane(1);
const MEMORY: Lane = Lane(2);

/// A node as it was read.
#[derive(Debug, Clone)]
pub(super) struct Read {
    pub id: u64,
    /// Where it begins in the file.
    pub offset: u64,
    pub action: Action,
    /// What it waits for, by id.
    pub waits: Vec<(u64, Dependency)>,
    /// It gives the number of its operations and no duration.
    pub is_timeless: bool,
}

impl Read {
    /// A fault of this node.
    pub fn at(&self, fault: ChakraFault) -> Placed {
        (Some(self.id), Some(self.offset), fault)
    }
}

/// The nodes of a file, of which only one message is held at a time.
pub(super) struct Nodes<R> {
    messages: Messages<R>,
    /// The rank of the file.
    rank: u32,
    /// How many ranks there are.
    ranks: u32,
}

impl<R: BufRead> Nodes<R> {
    /// The nodes of `from`, the file of `rank` of `ranks`, behind its metadata.
    pub fn open(from: R, (rank, ranks): (u32, u32)) -> Result<Self, Placed> {
        let mut messages = Messages::new(from);
        let metadata = messages.next::<GlobalMetadata>();
        let metadata = metadata.map_err(|(offset, fault)| (None, Some(offset), fault))?;
        metadata.ok_or((None, None, ChakraFault::Empty))?;
        Ok(Self { messages, rank, ranks })
    }

    /// The next node; none at the end of the file.
    pub fn next(&mut self, options: &Options, groups: &mut Groups) -> Result<Option<Read>, Placed> {
        let in_stream = |(offset, fault)| (None, Some(offset), fault);
        let Some((offset, node)) = self.messages.next::<Node>().map_err(in_stream)? else {
            return Ok(None);
        };
        let at = |fault| (Some(node.id), Some(offset), fault);
        let action = self.action(&node, (options, groups)).map_err(at)?;
        let is_timeless = match action {
            Action::Delay { span: Span::ZERO, .. } => {
                integer(&node, "num_ops").map_err(at)?.unwrap_or(0) > 0
            }
            _ => false,
        };
        let mut waits: Vec<(u64, Dependency)> =
            node.data_dependencies.iter().map(|&id| (id, Dependency::Data)).collect();
        if options.dependencies == Dependencies::All {
            waits.extend(node.control_dependencies.iter().map(|&id| (id, Dependency::Control)));
        }
        Ok(Some(Read { id: node.id, offset, action, waits, is_timeless }))
    }

    fn action(
        &self,
        node: &Node,
        (options, groups): (&Options, &mut Groups),
    ) -> Result<Action, ChakraFault> {
        let duration = duration(node)?;
        let bytes = number(node, "comm_size", u64::MAX.into())?;
        match node.kind {
            kind::SEND => {
                let bytes = bytes.ok_or(ChakraFault::Missing("comm_size"))? as u64;
                let peer = peer(node, "comm_dst", self.ranks)?;
                Ok(Action::Send { peer, tag: tag(node)?, bytes })
            }
            kind::RECEIVE => {
                let peer = peer(node, "comm_src", self.ranks)?;
                Ok(Action::Receive { peer, tag: tag(node)?, bytes: bytes.map(|it| it as u64) })
            }
            kind::COLLECTIVE => {
                // Without a type it is the host's part of it: the call, not the communication.
                let Some(operation) = integer(node, "comm_type")? else {
                    let lane = lane(node, options)?;
                    return Ok(Action::Delay { span: duration, lane });
                };
                let sound = u8::try_from(operation).ok().filter(|&number| number <= 9);
                let operation = sound.ok_or(ChakraFault::UnknownCollective(operation))?;
                let bytes = match (bytes, operation) {
                    (Some(bytes), _) => bytes as u64,
                    (None, 9) => 0,
                    (None, _) => return Err(ChakraFault::Missing("comm_size")),
                };
                let group = self.group(node, (options, groups))?;
                Ok(Action::Collective(Call { operation, bytes, group, recorded: duration }))
            }
            kind::METADATA..=kind::COMPUTE => {
                Ok(Action::Delay { span: duration, lane: lane(node, options)? })
            }
            other => Err(ChakraFault::Kind(other)),
        }
    }

    /// The group of a collective: that of its name, or all ranks.
    fn group(
        &self,
        node: &Node,
        (options, groups): (&Options, &mut Groups),
    ) -> Result<u32, ChakraFault> {
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
            Some(Value::Bools(involved)) if involved.values.contains(&false) => {
                let name = along(self.rank, &involved.values, &options.dimensions)?;
                Ok(groups.number(&name))
            }
            _ => Ok(0),
        }
    }
}

/// The group of a rank along some dimensions of the logical topology: those that differ from it
/// in these dimensions alone. The first dimension varies fastest from rank to rank.
fn along(rank: u32, involved: &[bool], dimensions: &[u32]) -> Result<String, ChakraFault> {
    if dimensions.is_empty() {
        return Err(ChakraFault::Dimensions);
    }
    let mut name = String::from("dimensions ");
    let mut left = rank;
    for (place, &size) in dimensions.iter().enumerate() {
        let coordinate = left % size.max(1);
        left /= size.max(1);
        // A list that is too short leaves the others out.
        match involved.get(place) {
            Some(true) => name.push('*'),
            _ => name.push_str(&coordinate.to_string()),
        }
        name.push(if place + 1 < dimensions.len() { ',' } else { ' ' });
    }
    Ok(name.trim_end().to_owned())
}

/// What runs the node, one at a time.
fn lane(node: &Node, options: &Options) -> Result<Option<Lane>, ChakraFault> {
    if options.compute == Compute::Parallel {
        return Ok(None);
    }
    if let Some(lane) = number(node, LANE, u32::MAX.into())? {
        return Ok(lane.checked_sub(1).map(|lane| Lane(lane as u32)));
    }
    Ok(match node.kind {
        kind::METADATA => None,
        kind::COMPUTE | kind::COLLECTIVE => {
            // A node that does not say it is the processor's, as for ASTRA-sim.
            let is_processors = integer(node, "is_cpu_op")?.is_none_or(|it| it != 0);
            Some(if is_processors { PROCESSOR } else { ACCELERATOR })
        }
        _ => Some(MEMORY),
    })
}

/// What a node does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Action {
    /// Takes its time.
    Delay {
        span: Span,
        /// What runs it, one at a time.
        lane: Option<Lane>,
    },
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
#[derive(Debug, Clone)]
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
