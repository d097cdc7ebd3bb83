//! Flow files of the HPCC family of ns-3 simulators.
//!
//! The first line is the number of flows. One flow per line follows, in one of two dialects, which
//! differ by the number of columns:
//!
//! - six, HPCC and most of its descendants: `src dst priority dst_port bytes start_s`;
//! - five, ConWeave: `src dst priority bytes start_s`.
//!
//! Start times are decimal seconds from the start of the simulation. Blank lines and lines after
//! the announced number are ignored. The files of ns3-rdma, the origin of the family, also have six
//! columns but with other meanings (`src dst priority packets start_s stop_s`). They are rejected
//! if they show a port above 65,535 or a number of bytes with decimals. A warning says that a file
//! may be one of them if no flow has more bytes than its start has seconds.

mod error;
mod write;

use crate::ids::HostId;
use crate::units::{Bytes, Time, decimal};
use crate::workload::{Message, Workload};
pub use error::{FlowFault, FlowFileError};
pub use write::write;

/// Maximum number of flows of a file: 2^28, as for collectives.
pub const MAX_FLOWS: usize = 1 << 28;

/// The last UDP port.
const LAST_PORT: u16 = u16::MAX;

/// One flow as in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FlowLine {
    /// Line in the file, from 1.
    pub line: usize,
    /// Node id of the sender.
    pub src: u32,
    /// Node id of the receiver, which differs from the sender.
    pub dst: u32,
    /// Priority group of the flow's packets.
    pub priority: u32,
    /// UDP destination port, in the dialect that has one.
    pub dst_port: Option<u32>,
    /// Length in bytes, never 0 (the family calls it a packet count, but means bytes).
    pub bytes: u64,
    /// Start of the flow, in seconds in the file.
    pub start: Time,
}

/// A valid flow file. Its node ids are not yet resolved to hosts of a topology.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlowFile {
    /// Name of the file in errors.
    pub file: String,
    /// Layout of its columns.
    pub dialect: Dialect,
    /// The flows, in order of the file.
    pub flows: Vec<FlowLine>,
    /// Differences from the behaviour of the family's simulators.
    pub warnings: Vec<String>,
}

/// The layout of the columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// `src dst priority dst_port bytes start_s`.
    Hpcc,
    /// `src dst priority bytes start_s`.
    ConWeave,
}

/// Parses the text of a flow file; `file` is its name in errors. Memory grows with the flows found,
/// not with the number announced.
///
/// # Errors
/// Fails with the first error and its line.
pub fn read(text: &str, file: &str) -> Result<FlowFile, FlowFileError> {
    let error = |line, fault| FlowFileError { file: file.to_owned(), line, fault };
    let mut lines = (1..).zip(text.lines()).filter(|(_, text)| !text.trim().is_empty());
    let (line, first) = lines.next().unwrap_or((1, ""));
    let announced = count(first).map_err(|fault| error(line, fault))?;
    let mut flows: Vec<FlowLine> = Vec::new();
    let mut dialect = Dialect::Hpcc;
    let mut total = 0u64;
    let mut last = line;
    while (flows.len() as u64) < announced {
        let Some((line, text)) = lines.next() else {
            return Err(error(last, FlowFault::TooFewLines { announced, found: flows.len() }));
        };
        let expected = (!flows.is_empty()).then_some(dialect);
        let flow;
        (dialect, flow) = flow_line(line, text, expected).map_err(|fault| error(line, fault))?;
        total = total
            .checked_add(flow.bytes)
            .ok_or_else(|| error(line, FlowFault::TooManyBytes { bytes: flow.bytes }))?;
        if flows.len() == MAX_FLOWS {
            return Err(error(line, FlowFault::TooManyFlows));
        }
        flows.push(flow);
        last = line;
    }
    let mut warnings = warnings(&flows, file);
    let more = lines.clone().count();
    if let Some((line, _)) = lines.next() {
        warnings.push(format!(
            "{file}:{line}: {more} more lines after the {announced} flows announced in line 1 are \
             ignored, as in the simulators of this family; correct the number if they are flows"
        ));
    }
    Ok(FlowFile { file: file.to_owned(), dialect, flows, warnings })
}

fn count(text: &str) -> Result<u64, FlowFault> {
    let count = text.trim().parse().map_err(|_| FlowFault::Count { text: text.trim().into() })?;
    if count == 0 { Err(FlowFault::NoFlows) } else { Ok(count) }
}

/// Parses a flow and returns its dialect, which must be `expected` if that is given.
fn flow_line(
    line: usize,
    text: &str,
    expected: Option<Dialect>,
) -> Result<(Dialect, FlowLine), FlowFault> {
    let columns: Vec<&str> = text.split_whitespace().collect();
    let (dialect, dst_port, bytes, start) = match columns[..] {
        [_, _, _, port, bytes, start] => (Dialect::Hpcc, Some(port), bytes, start),
        [_, _, _, bytes, start] => (Dialect::ConWeave, None, bytes, start),
        _ => {
            return Err(FlowFault::Columns { text: text.trim().into(), found: columns.len() });
        }
    };
    if let Some(expected) = expected.filter(|&expected| expected != dialect) {
        let (text, found) = (text.trim().into(), columns.len());
        return Err(FlowFault::Dialect { text, found, expected: expected.columns() });
    }
    let src = number_32("src (node id)", columns[0])?;
    let dst = number_32("dst (node id)", columns[1])?;
    let priority = number_32("priority", columns[2])?;
    let is_decimal = |token: &str| token.contains('.') && decimal(token, 12).is_ok();
    let is_port = |token: &str| token.parse::<u64>().is_ok_and(|port| port <= LAST_PORT.into());
    if let Some(port) = dst_port
        && (is_decimal(bytes) || (!is_port(port) && port.parse::<u64>().is_ok()))
    {
        return Err(FlowFault::Packets { text: text.trim().into() });
    }
    let dst_port = dst_port.map(|token| number_32("dst_port", token)).transpose()?;
    let bytes = number("number of bytes", bytes, u64::MAX)?;
    // Twelve decimals of a second: picoseconds.
    let start = decimal(start, 12)
        .map_err(|reason| FlowFault::Start { token: start.to_owned(), reason })?;
    if src == dst {
        return Err(FlowFault::ToItself { node: src });
    }
    if bytes == 0 {
        return Err(FlowFault::NoBytes);
    }
    let start = Time::from_ps(start);
    Ok((dialect, FlowLine { line, src, dst, priority, dst_port, bytes, start }))
}

fn number(column: &'static str, token: &str, largest: u64) -> Result<u64, FlowFault> {
    let fault = || FlowFault::Number { column, token: token.to_owned(), largest };
    token.parse().ok().filter(|&value| value <= largest).ok_or_else(fault)
}

fn number_32(column: &'static str, token: &str) -> Result<u32, FlowFault> {
    let value = number(column, token, u64::from(u32::MAX))?;
    Ok(u32::try_from(value).expect("checked against the largest"))
}

/// Returns warnings about flows that are valid here but not in the family's simulators.
fn warnings(flows: &[FlowLine], file: &str) -> Vec<String> {
    let mut warnings = Vec::new();
    if let Some(pair) = flows.windows(2).find(|pair| pair[1].start < pair[0].start) {
        warnings.push(format!(
            "{file}:{}: starts before the flow above it; the simulators of the HPCC family need \
             flows sorted by start, evenkeel does not",
            pair[1].line
        ));
    }
    let seconds = |flow: &FlowLine| flow.start.as_ps() / 1_000_000_000_000;
    if flows.iter().all(|flow| flow.dst_port.is_some() && flow.bytes <= seconds(flow)) {
        warnings.push(format!(
            "{file}: no flow has more bytes than seconds in its start; if these are flows of \
             ns3-rdma, src dst priority packets start_s stop_s, write them as src dst priority \
             dst_port bytes start_s"
        ));
    }
    if let Some(pair) = flows.windows(2).find(|pair| pair[1].priority != pair[0].priority) {
        warnings.push(format!(
            "{file}:{}: priority group {} differs from that of the flow above it ({}); groups are \
             ignored and all flows are served alike",
            pair[1].line, pair[1].priority, pair[0].priority
        ));
    }
    let large: Vec<&FlowLine> =
        flows.iter().filter(|flow| flow.bytes > u64::from(u32::MAX)).collect();
    if let Some(first) = large.first() {
        warnings.push(format!(
            "{file}:{}: {} bytes exceed the 32 bits of sizes in the HPCC family ({} such flows); \
             evenkeel sends all bytes",
            first.line,
            first.bytes,
            large.len()
        ));
    }
    warnings
}

impl Dialect {
    /// Returns the number of columns of a flow.
    pub const fn columns(self) -> usize {
        match self {
            Self::Hpcc => 6,
            Self::ConWeave => 5,
        }
    }
}

impl FlowFile {
    /// Converts the flows to messages, in order of the file, each with its own stream.
    /// `host_of_node` has the host of each node id of the topology file, and `None` for switches.
    ///
    /// # Errors
    /// Fails if a flow is from or to a node that is not a host.
    pub fn workload(&self, host_of_node: &[Option<HostId>]) -> Result<Workload, FlowFileError> {
        let mut messages = Vec::with_capacity(self.flows.len());
        for (stream, flow) in (0..).zip(&self.flows) {
            let host = |column, node| {
                host_of(host_of_node, column, node).map_err(|fault| FlowFileError {
                    file: self.file.clone(),
                    line: flow.line,
                    fault,
                })
            };
            messages.push(Message {
                src: host("src", flow.src)?,
                dst: host("dst", flow.dst)?,
                bytes: Bytes::new(flow.bytes),
                stream,
                start: flow.start,
            });
        }
        Ok(Workload::independent(messages))
    }
}

fn host_of(hosts: &[Option<HostId>], column: &'static str, node: u32) -> Result<HostId, FlowFault> {
    let what = match hosts.get(node as usize) {
        Some(Some(host)) => return Ok(*host),
        Some(None) => "a switch".to_owned(),
        None => format!("not in the topology, whose nodes are 0 to {}", hosts.len().max(1) - 1),
    };
    Err(FlowFault::NotAHost { column, node, what })
}

#[cfg(test)]
mod tests;
