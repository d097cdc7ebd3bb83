//! Flow files of the HPCC family of ns-3 simulators.
//!
//! The first line is the number of flows; then one a line, in one of two dialects, told apart
//! by the first flow's number of columns:
//!
//! - six, HPCC and most of its descendants: `src dst priority dst_port bytes start_s`;
//! - five, ConWeave: `src dst priority bytes start_s`.
//!
//! Start times are decimal seconds from the start of the simulation. Lines after the announced
//! number are ignored, blank ones everywhere. The files of ns3-rdma, where the family is from,
//! have six columns too but other ones (`src dst priority packets start_s stop_s`). No count can
//! tell them apart: where the fifth column happens to be a whole number they are read as HPCC's.

use thiserror::Error;

use super::{Message, Workload};
use crate::ids::HostId;
use crate::units::{Bytes, DecimalError, Time, decimal};

/// Most flows of a file: 2^28, as for collectives.
pub const MAX_FLOWS: usize = 1 << 28;

/// One flow, as the file has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FlowLine {
    /// Where it stands in the file, counting lines from 1.
    pub line: usize,
    /// Node id of its sender.
    pub src: u32,
    /// Node id of its receiver, another one.
    pub dst: u32,
    /// Priority group.
    pub priority: u32,
    /// UDP destination port, in the dialect that has one.
    pub dst_port: Option<u32>,
    /// Its length in bytes, never 0 (the family calls it a packet count, but means bytes).
    pub bytes: u64,
    /// When it starts.
    pub start: Time,
}

/// A flow file; sound but for whether its nodes are hosts of a topology.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlowFile {
    /// What it is called in errors.
    pub file: String,
    /// How its columns are laid out.
    pub dialect: Dialect,
    /// The flows, in order of the file.
    pub flows: Vec<FlowLine>,
    /// What the family's simulators would do otherwise.
    pub warnings: Vec<String>,
}

/// How the columns are laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// `src dst priority dst_port bytes start_s`.
    Hpcc,
    /// `src dst priority bytes start_s`.
    ConWeave,
}

/// A fault of a flow file and where it is.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{file}:{line}: {fault}")]
pub struct FlowFileError {
    /// The file.
    pub file: String,
    /// The line, counted from 1.
    pub line: usize,
    /// What is wrong, and what would be right.
    pub fault: FlowFault,
}

/// What can be wrong with a flow file.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum FlowFault {
    /// The first line is not one whole number.
    #[error("'{text}' is not the number of flows; the first line holds that alone, for example 16")]
    Count {
        /// The line.
        text: String,
    },
    /// A file without flows.
    #[error("0 flows are announced; there is nothing to send, so announce 1 or more")]
    NoFlows,
    /// The file ends early.
    #[error("{announced} flows are announced, but the file ends after {found} of them")]
    TooFewLines {
        /// The number in the first line.
        announced: u64,
        /// Flows that are there.
        found: usize,
    },
    /// More flows than a machine holds.
    #[error("more than {MAX_FLOWS} flows (2^28), which is the most that are held")]
    TooManyFlows,
    /// A line that is no flow.
    #[error(
        "'{text}' has {found} columns; a flow has 6 (src dst priority dst_port bytes start_s) or 5 \
         (src dst priority bytes start_s)"
    )]
    Columns {
        /// The line.
        text: String,
        /// How many there are.
        found: usize,
    },
    /// A line of another dialect than the first.
    #[error("'{text}' has {found} columns, but the flows above it have {expected}; all must agree")]
    Dialect {
        /// The line.
        text: String,
        /// How many there are.
        found: usize,
        /// How many the first flow has.
        expected: usize,
    },
    /// A column that is not a whole number, or one that does not fit.
    #[error("'{token}' is not a {column}; write a whole number from 0 to {largest}")]
    Number {
        /// What the column is.
        column: &'static str,
        /// What it holds.
        token: String,
        /// The most it can be.
        largest: u64,
    },
    /// A flow from a node to itself.
    #[error("a flow from node {node} to itself; src and dst must differ")]
    ToItself {
        /// The node.
        node: u32,
    },
    /// An empty flow.
    #[error("a flow of 0 bytes; the least is 1")]
    NoBytes,
    /// A start that is no time.
    #[error(
        "'{token}' is not a start: {reason}; write seconds from 0 to 18446744, at most 12 \
         decimals, for example 2.000000001"
    )]
    Start {
        /// What the column holds.
        token: String,
        /// Why not.
        reason: DecimalError,
    },
    /// Flows that are more together than can be counted.
    #[error("with {bytes} bytes the flows up to here are more than the 2^64 that can be counted")]
    TooManyBytes {
        /// The flow's own.
        bytes: u64,
    },
    /// A node that does not send or receive.
    #[error("{column} {node} is {what}; write the id of a host of the topology")]
    NotAHost {
        /// Which column names it.
        column: &'static str,
        /// The node.
        node: u32,
        /// A switch, or nothing.
        what: String,
    },
}

/// Reads a flow file; `file` is what errors call it.
///
/// # Errors
/// The first fault, with its line. Memory is taken as flows are found, whatever is announced.
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
    let warnings = warnings(&flows, file);
    Ok(FlowFile { file: file.to_owned(), dialect, flows, warnings })
}

fn count(text: &str) -> Result<u64, FlowFault> {
    let count = text.trim().parse().map_err(|_| FlowFault::Count { text: text.trim().into() })?;
    if count == 0 { Err(FlowFault::NoFlows) } else { Ok(count) }
}

/// A flow and its dialect, which must be the `expected` one.
fn flow_line(
    line: usize,
    text: &str,
    expected: Option<Dialect>,
) -> Result<(Dialect, FlowLine), FlowFault> {
    let columns: Vec<&str> = text.split_whitespace().collect();
    let (dialect, dst_port, rest) = match columns[..] {
        [_, _, _, port, bytes, start] => (Dialect::Hpcc, Some(port), (bytes, start)),
        [_, _, _, bytes, start] => (Dialect::ConWeave, None, (bytes, start)),
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
    let dst_port = dst_port.map(|token| number_32("dst_port", token)).transpose()?;
    let bytes = number("number of bytes", rest.0, u64::MAX)?;
    let start = decimal(rest.1, 12)
        .map_err(|reason| FlowFault::Start { token: rest.1.to_owned(), reason })?;
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

/// What is sound here but not in the family's simulators.
fn warnings(flows: &[FlowLine], file: &str) -> Vec<String> {
    let mut warnings = Vec::new();
    if let Some(pair) = flows.windows(2).find(|pair| pair[1].start < pair[0].start) {
        warnings.push(format!(
            "{file}:{}: starts before the flow above it; the simulators of the HPCC family need \
             flows sorted by start, evenkeel does not",
            pair[1].line
        ));
    }
    let large: Vec<&FlowLine> =
        flows.iter().filter(|flow| flow.bytes > u64::from(u32::MAX)).collect();
    if let Some(first) = large.first() {
        warnings.push(format!(
            "{file}:{}: {} bytes do not fit into the 32 bits that the HPCC family keeps them in \
             ({} such flows); evenkeel sends all of them",
            first.line,
            first.bytes,
            large.len()
        ));
    }
    warnings
}

impl Dialect {
    /// How many columns a flow has.
    pub const fn columns(self) -> usize {
        match self {
            Self::Hpcc => 6,
            Self::ConWeave => 5,
        }
    }
}

impl FlowFile {
    /// The flows as messages, in order of the file, each a stream of its own; `host_of_node` is
    /// the host that a node of the topology file is, if it is one, by node id.
    ///
    /// # Errors
    /// A flow from or to a node that is not a host.
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
mod tests {
    use super::*;

    fn says(text: &str) -> String {
        read(text, "flow.txt").unwrap_err().to_string()
    }

    #[test]
    fn reads_both_dialects_exactly() {
        let six = read("2\n2 1 3 100 200000000 2\n3 1 3 100 5 2.000000001\n4 1 x", "f").unwrap();
        assert_eq!((six.dialect, six.flows.len()), (Dialect::Hpcc, 2));
        assert_eq!(
            six.flows[1],
            FlowLine {
                line: 3,
                src: 3,
                dst: 1,
                priority: 3,
                dst_port: Some(100),
                bytes: 5,
                start: Time::from_ps(2_000_000_001_000)
            }
        );
        let five = read("\n1\r\n\n 0\t127 3 1000000 0.13\r\n", "f").unwrap();
        assert_eq!((five.dialect, five.flows[0].dst_port), (Dialect::ConWeave, None));
        assert_eq!(five.flows[0].start, Time::from_ps(130_000_000_000));
        assert_eq!((five.flows[0].line, five.warnings.len()), (4, 0));
    }

    #[test]
    fn each_fault_names_file_line_token_and_what_would_be_right() {
        let columns = "a flow has 6 (src dst priority dst_port bytes start_s) or 5";
        for (text, expected) in [
            ("", "flow.txt:1: '' is not the number of flows; the first line holds that alone"),
            ("two\n", "flow.txt:1: 'two' is not the number of flows"),
            ("0 1 3 1000 2\n", "flow.txt:1: '0 1 3 1000 2' is not the number of flows"),
            ("0\n", "flow.txt:1: 0 flows are announced"),
            (
                "2\n\n0 1 3 9 2\n",
                "flow.txt:3: 2 flows are announced, but the file ends after 1 of them",
            ),
            ("18446744073709551615\n", "flow.txt:1: 18446744073709551615 flows are announced"),
            ("1\n0 1 3 2\n", &format!("flow.txt:2: '0 1 3 2' has 4 columns; {columns}")),
            (
                "1\n0 1 3 4 5 6 7\n",
                &format!("flow.txt:2: '0 1 3 4 5 6 7' has 7 columns; {columns}"),
            ),
            (
                "2\n0 1 3 9 2\n0 1 3 4 9 2\n",
                "flow.txt:3: '0 1 3 4 9 2' has 6 columns, but the flows above it have 5",
            ),
            ("1\nh0 1 3 9 2\n", "flow.txt:2: 'h0' is not a src (node id); write a whole number"),
            ("1\n0 -1 3 9 2\n", "flow.txt:2: '-1' is not a dst (node id)"),
            ("1\n0 1 3 4294967296 9 2\n", "flow.txt:2: '4294967296' is not a dst_port"),
            (
                "1\n0 1 3 99999999999999999999 2\n",
                "flow.txt:2: '99999999999999999999' is not a number of bytes; write a whole \
                 number from 0 to 18446744073709551615",
            ),
            ("1\n0 1 3 1.5 2\n", "flow.txt:2: '1.5' is not a number of bytes"),
            ("1\n5 5 3 9 2\n", "flow.txt:2: a flow from node 5 to itself"),
            ("1\n0 1 3 0 2\n", "flow.txt:2: a flow of 0 bytes; the least is 1"),
            ("1\n0 1 3 9 -2\n", "flow.txt:2: '-2' is not a start: it is negative; write seconds"),
            ("1\n0 1 3 9 2s\n", "flow.txt:2: '2s' is not a start: it is not a number"),
            ("1\n0 1 3 9 1e9\n", "flow.txt:2: '1e9' is not a start: it is too large"),
            (
                "2\n0 1 3 9 2\n0 1 3 18446744073709551610 2\n",
                "flow.txt:3: with 18446744073709551610 bytes the flows up to here are more than",
            ),
        ] {
            let said = says(text);
            assert!(said.starts_with(expected), "{text:?}: {said}");
        }
    }

    #[test]
    fn nodes_become_hosts() {
        let file = read("2\n1 3 3 9 2\n3 1 3 8 1\n", "flow.txt").unwrap();
        let hosts = [None, Some(HostId(0)), None, Some(HostId(1))];
        let workload = file.workload(&hosts).unwrap();
        let first = workload.messages[0];
        assert_eq!((first.src, first.dst, first.bytes), (HostId(0), HostId(1), Bytes::new(9)));
        assert_eq!((first.stream, workload.messages[1].stream), (0, 1));
        assert_eq!(
            file.workload(&[None, Some(HostId(0)), None, None]).unwrap_err().to_string(),
            "flow.txt:2: dst 3 is a switch; write the id of a host of the topology"
        );
        assert_eq!(
            file.workload(&hosts[..2]).unwrap_err().to_string(),
            "flow.txt:2: dst 3 is not in the topology, whose nodes are 0 to 1; write the id of a \
             host of the topology"
        );
    }

    #[test]
    fn what_the_family_would_do_otherwise_is_warned_of() {
        let file = read("3\n0 1 3 9 2\n0 1 3 5000000000 1\n0 1 3 9 0\n", "flow.txt").unwrap();
        assert_eq!(file.warnings.len(), 2);
        assert!(file.warnings[0].starts_with("flow.txt:3: starts before the flow above it"));
        assert!(
            file.warnings[1].starts_with("flow.txt:3: 5000000000 bytes do not fit into the 32")
        );
    }
}
