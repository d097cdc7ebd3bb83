//! Reads the nodes of a rank's file one by one, reduced to what a simulation needs.

use std::io::BufRead;

use super::error::{ChakraFault, Dependency, NodeFault};
use super::groups::{Call, RankGroups};
use super::schema::{Attribute, AttributeValue, GlobalMetadata, Node, kind};
use super::stream::MessageReader;
use super::{Dependencies, Options};
use crate::units::Span;
use crate::workload::{Compute, Lane};

/// The longest duration of a node in microseconds: 100,000 s, the longest time span of a scenario.
const MAX_MICROS: u64 = 100_000_000_000;

/// Attribute for a duration in picoseconds, in traces that evenkeel writes.
pub(super) const DURATION_PS: &str = "evenkeel_duration_ps";

/// Attribute for the lane of a node plus one (0 for no lane), in traces that evenkeel writes.
pub(super) const LANE: &str = "evenkeel_lane";

/// The lanes of a rank: its processor, its accelerator, and its memory.
const PROCESSOR: Lane = Lane(0);
const ACCELERATOR: Lane = Lane(1);
const MEMORY: Lane = Lane(2);

/// The attributes that name the group of a collective, as a text or a number; the first one present
/// counts. STAGE and converters from compiler graphs write the second.
const GROUP_NAMES: [&str; 2] = ["pg_name", "comm_group"];

/// The reason why a node that takes time has no duration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lack {
    /// A computation that gives its number of operations instead.
    Operations,
    /// A memory load or store, whose time depends on the machine.
    Memory,
}

/// A node of a file.
#[derive(Debug, Clone)]
pub(super) struct ParsedNode {
    pub id: u64,
    /// Offset in the file, in bytes.
    pub offset: u64,
    pub action: NodeAction,
    /// Its dependencies, by id.
    pub dependencies: Vec<(u64, Dependency)>,
    /// The reason why it has no duration although it takes time.
    pub lack: Option<Lack>,
    /// The accelerator's stream that ran it, and its recorded start in microseconds.
    pub stream: Option<(i128, u64)>,
    /// True for a communication kernel that the trace has as a computation.
    pub is_unsimulated: bool,
}

impl ParsedNode {
    /// Attaches this node's position to an error.
    pub(super) fn fault(&self, fault: ChakraFault) -> NodeFault {
        NodeFault::of_node(self.id, self.offset, fault)
    }
}

/// Reads the nodes of a file and holds one message at a time.
pub(super) struct NodeReader<R> {
    messages: MessageReader<R>,
    /// The rank of the file.
    rank: u32,
    /// Number of ranks in the whole set of traces.
    ranks: u32,
}

impl<R: BufRead> NodeReader<R> {
    /// Opens `from`, the file of `rank` of `ranks`, and skips its metadata.
    pub(super) fn open(from: R, rank: u32, ranks: u32) -> Result<Self, NodeFault> {
        let mut messages = MessageReader::new(from);
        let metadata = messages.next::<GlobalMetadata>()?;
        metadata.ok_or_else(|| NodeFault::of_file(ChakraFault::Empty))?;
        Ok(Self { messages, rank, ranks })
    }

    /// Returns the next node; `None` at the end of the file.
    pub(super) fn next(
        &mut self,
        options: &Options,
        groups: &mut RankGroups,
    ) -> Result<Option<ParsedNode>, NodeFault> {
        let Some((offset, node)) = self.messages.next::<Node>()? else {
            return Ok(None);
        };
        let at = |fault| NodeFault::of_node(node.id, offset, fault);
        let action = self.action(&node, options, groups).map_err(at)?;
        let lack = match action {
            NodeAction::Delay { span: Span::ZERO, .. } => lack(&node).map_err(at)?,
            _ => None,
        };
        let value = |name: &str| node.attribute(name).and_then(Attribute::integer);
        let on_accelerator = value("is_cpu_op") == Some(0);
        let stream = match value("stream") {
            Some(stream) if on_accelerator => Some((stream, node.start_micros)),
            _ => None,
        };
        let is_delay = matches!(action, NodeAction::Delay { .. });
        let is_unsimulated = on_accelerator && is_delay && is_communication(&node);
        let mut dependencies: Vec<(u64, Dependency)> =
            node.data_dependencies.iter().map(|&id| (id, Dependency::Data)).collect();
        if options.dependencies == Dependencies::All {
            let control = node.control_dependencies.iter();
            dependencies.extend(control.map(|&id| (id, Dependency::Control)));
        }
        Ok(Some(ParsedNode {
            id: node.id,
            offset,
            action,
            dependencies,
            lack,
            stream,
            is_unsimulated,
        }))
    }

    fn action(
        &self,
        node: &Node,
        options: &Options,
        groups: &mut RankGroups,
    ) -> Result<NodeAction, ChakraFault> {
        let duration = duration(node)?;
        let bytes = number(node, "comm_size", u64::MAX.into())?;
        match node.kind {
            kind::SEND => {
                let bytes = bytes.ok_or(ChakraFault::Missing("comm_size"))? as u64;
                let peer = peer(node, "comm_dst", self.ranks)?;
                Ok(NodeAction::Send { peer, tag: tag(node)?, bytes })
            }
            kind::RECEIVE => {
                let peer = peer(node, "comm_src", self.ranks)?;
                Ok(NodeAction::Receive { peer, tag: tag(node)?, bytes: bytes.map(|it| it as u64) })
            }
            kind::COLLECTIVE => {
                // Without a type, the node is the host's call of the collective, not the
                // communication.
                let Some(operation) = integer(node, "comm_type")? else {
                    if bytes.is_some() {
                        return Err(ChakraFault::NoCollective);
                    }
                    let lane = lane(node, options)?;
                    return Ok(NodeAction::Delay { span: duration, lane });
                };
                let known = u8::try_from(operation).ok().filter(|&number| number <= 9);
                let operation = known.ok_or(ChakraFault::UnknownCollective(operation))?;
                let bytes = match (bytes, operation) {
                    (Some(bytes), _) => bytes as u64,
                    (None, 9) => 0,
                    (None, _) => return Err(ChakraFault::Missing("comm_size")),
                };
                let group = self.group(node, options, groups)?;
                Ok(NodeAction::Collective(Call { operation, bytes, group, recorded: duration }))
            }
            kind::METADATA..=kind::COMPUTE => {
                Ok(NodeAction::Delay { span: duration, lane: lane(node, options)? })
            }
            other => Err(ChakraFault::Kind(other)),
        }
    }

    /// Returns the group of a collective: by its name, by its dimensions, or all ranks.
    fn group(
        &self,
        node: &Node,
        options: &Options,
        groups: &mut RankGroups,
    ) -> Result<u32, ChakraFault> {
        for attribute in GROUP_NAMES {
            let name = match node.attribute(attribute).and_then(|it| it.value.as_ref()) {
                Some(AttributeValue::Text(name)) => name.clone(),
                Some(_) => integer(node, attribute)?.map_or_else(String::new, |it| it.to_string()),
                None if node.attribute(attribute).is_some() => {
                    let expected = "a text or a whole number";
                    return Err(ChakraFault::Attribute { name: attribute, expected });
                }
                None => continue,
            };
            if !name.is_empty() {
                return Ok(groups.index_of(&name));
            }
        }
        let dimensions = node.attribute("involved_dim").and_then(|it| it.value.as_ref());
        match dimensions {
            Some(AttributeValue::Bools(involved)) if involved.values.contains(&false) => {
                let name = dimension_group(self.rank, &involved.values, &options.dimensions)?;
                Ok(groups.index_of(&name))
            }
            _ => Ok(0),
        }
    }
}

/// Returns the name of a rank's group along the `involved` dimensions of the logical topology. The
/// group has the ranks whose coordinates differ only in these dimensions. The first dimension
/// varies fastest from rank to rank.
fn dimension_group(
    rank: u32,
    involved: &[bool],
    dimensions: &[u32],
) -> Result<String, ChakraFault> {
    if dimensions.is_empty() {
        return Err(ChakraFault::Dimensions);
    }
    let mut name = String::from("dimensions ");
    let mut left = rank;
    for (dimension, &size) in dimensions.iter().enumerate() {
        let coordinate = left % size.max(1);
        left /= size.max(1);
        // Dimensions beyond the end of the list are not involved.
        match involved.get(dimension) {
            Some(true) => name.push('*'),
            _ => name.push_str(&coordinate.to_string()),
        }
        name.push(if dimension + 1 < dimensions.len() { ',' } else { ' ' });
    }
    Ok(name.trim_end().to_owned())
}

/// Returns the lane of a node.
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
            // The default is the processor, as in ASTRA-sim.
            let on_processor = integer(node, "is_cpu_op")?.is_none_or(|it| it != 0);
            Some(if on_processor { PROCESSOR } else { ACCELERATOR })
        }
        _ => Some(MEMORY),
    })
}

/// True if a node without a message is named like a communication kernel (of NCCL or RCCL). Also
/// true for a collective of the accelerator that lacks its type and size.
fn is_communication(node: &Node) -> bool {
    let name = node.name.to_ascii_lowercase();
    node.kind == kind::COLLECTIVE || name.starts_with("nccldev") || name.starts_with("ncclkernel")
}

/// The action of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NodeAction {
    Delay {
        span: Span,
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
        /// Size of the message; `None` if the trace does not give it.
        bytes: Option<u64>,
    },
    Collective(Call),
}

/// The key by which sends and receives are matched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct MatchKey {
    pub src: u32,
    pub dst: u32,
    pub tag: u32,
}

/// Returns the duration of a node: [`DURATION_PS`], else `duration_micros`, else the attribute
/// `runtime` of older writers, in microseconds.
fn duration(node: &Node) -> Result<Span, ChakraFault> {
    if let Some(ps) = number(node, DURATION_PS, u128::from(MAX_MICROS) * 1_000_000)? {
        return Ok(Span::from_ps(ps as u64));
    }
    let micros = match node.duration_micros {
        0 => match node.attribute("runtime").and_then(|attribute| attribute.value.as_ref()) {
            // Some writers give `runtime` as a text or a float, without a defined unit.
            Some(
                AttributeValue::Text(_) | AttributeValue::Double(_) | AttributeValue::Float(_),
            )
            | None => 0,
            Some(_) => number(node, "runtime", u64::MAX.into())?.unwrap_or(0) as u64,
        },
        micros => micros,
    };
    if micros > MAX_MICROS {
        return Err(ChakraFault::Duration(micros));
    }
    Ok(Span::from_us(micros))
}

/// Returns the reason why a node without a duration takes time nevertheless, if it does.
fn lack(node: &Node) -> Result<Option<Lack>, ChakraFault> {
    Ok(match node.kind {
        // In traces that evenkeel writes, a duration of 0 is deliberate.
        _ if node.attribute(DURATION_PS).is_some() => None,
        kind::MEMORY_LOAD | kind::MEMORY_STORE => Some(Lack::Memory),
        _ => (integer(node, "num_ops")?.unwrap_or(0) > 0).then_some(Lack::Operations),
    })
}

fn integer(node: &Node, name: &'static str) -> Result<Option<i128>, ChakraFault> {
    let expected = "a whole number";
    let number = |attribute: &Attribute| {
        attribute.integer().ok_or(ChakraFault::Attribute { name, expected })
    };
    node.attribute(name).map(number).transpose()
}

/// Returns the value of an attribute, which must be from 0 to `largest`.
fn number(node: &Node, name: &'static str, largest: u128) -> Result<Option<u128>, ChakraFault> {
    let Some(number) = integer(node, name)? else { return Ok(None) };
    let number = u128::try_from(number).ok().filter(|&number| number <= largest);
    let expected = "a whole number that is not negative and not too large";
    number.map(Some).ok_or(ChakraFault::Attribute { name, expected })
}

fn peer(node: &Node, name: &'static str, ranks: u32) -> Result<u32, ChakraFault> {
    let peer = integer(node, name)?.ok_or(ChakraFault::Missing(name))?;
    let valid = u32::try_from(peer).ok().filter(|&peer| peer < ranks);
    valid.ok_or(ChakraFault::Peer { name, peer, last: ranks.saturating_sub(1) })
}

/// Returns the tag of a send or receive, 0 by default. Negative tags keep their 32 bits.
fn tag(node: &Node) -> Result<u32, ChakraFault> {
    let tag = integer(node, "comm_tag")?.unwrap_or(0);
    let negative = i32::try_from(tag).ok().map(|tag| tag as u32);
    let fault = ChakraFault::Attribute { name: "comm_tag", expected: "a whole number of 32 bits" };
    u32::try_from(tag).ok().or(negative).ok_or(fault)
}
