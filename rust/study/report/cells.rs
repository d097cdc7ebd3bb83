//! Typed rows of a run's tables, for CSV files and for tables in memory.

use std::borrow::Cow;

use super::FlowPositions;
use crate::fabric::{FlowRecord, Outcome};
use crate::ids::{HostId, LinkId, PortId};
use crate::record::csv_text;
use crate::topology::{Node, Topology};
use crate::units::{Bytes, Time};

/// A value in a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cell<'a> {
    /// A whole number; `None` if it was not counted.
    Whole(Option<u64>),
    /// A name; empty if there is no name.
    Text(Cow<'a, str>),
    /// A time in picoseconds; `None` for an event that did not happen.
    Time(Option<u64>),
}

/// The type of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CellKind {
    /// Whole numbers.
    Whole,
    /// Names.
    Text,
    /// Times in nanoseconds, with three decimals in CSV.
    Time,
}

impl Cell<'_> {
    /// Formats the value for a CSV file. Times are exact: no floating-point number is involved.
    pub(super) fn csv(&self) -> Cow<'_, str> {
        match self {
            Self::Text(text) => csv_text(text),
            Self::Whole(None) | Self::Time(None) => Cow::Borrowed(""),
            Self::Whole(Some(number)) => Cow::Owned(number.to_string()),
            Self::Time(Some(ps)) => Cow::Owned(format!("{}.{:03}", ps / 1000, ps % 1000)),
        }
    }
}

/// Columns of `flows.csv`; `class` only with traffic classes.
pub const FLOW_COLUMNS: [(&str, CellKind); 13] = [
    ("message", CellKind::Whole),
    ("piece", CellKind::Whole),
    ("src", CellKind::Text),
    ("dst", CellKind::Text),
    ("bytes", CellKind::Whole),
    ("source_port", CellKind::Whole),
    ("start_ns", CellKind::Time),
    ("delivered_ns", CellKind::Time),
    ("completed_ns", CellKind::Time),
    ("fct_ns", CellKind::Time),
    ("job", CellKind::Text),
    ("step", CellKind::Whole),
    ("class", CellKind::Text),
];

/// Returns the number of columns for a run: all, or all but `class`.
pub fn flow_columns(positions: &FlowPositions) -> usize {
    FLOW_COLUMNS.len() - usize::from(!positions.have_classes())
}

/// Returns the row of a flow.
///
/// `completed_ns` counts from time zero, as in htsim's output. `fct_ns` counts from the start of
/// the flow, as in the HPCC family; a flow that a trigger starts counts from the trigger.
pub fn flow_row<'a>(
    positions: &'a FlowPositions,
    topology: &'a Topology,
    flow: &FlowRecord,
) -> [Cell<'a>; FLOW_COLUMNS.len()] {
    let hosts = topology.host_names();
    let whole = |number| Cell::Whole(Some(number));
    let text = |name: &'a str| Cell::Text(Cow::Borrowed(name));
    let picoseconds = |at: Time| (at != Time::NEVER).then(|| at.as_ps());
    [
        whole(u64::from(flow.message.0)),
        whole(u64::from(flow.piece)),
        text(&hosts[flow.src.index()]),
        text(&hosts[flow.dst.index()]),
        whole(flow.bytes.get()),
        whole(u64::from(flow.source_port)),
        Cell::Time(Some(flow.start.as_ps())),
        Cell::Time(picoseconds(flow.delivered)),
        Cell::Time(picoseconds(flow.completed)),
        Cell::Time(picoseconds(flow.completed).map(|at| at - flow.start.as_ps())),
        text(positions.job(flow.message)),
        Cell::Whole(positions.step(flow.message).map(u64::from)),
        text(positions.class(flow.message)),
    ]
}

/// Columns of `links.csv`.
pub const LINK_COLUMNS: [(&str, CellKind); 7] = [
    ("link", CellKind::Text),
    ("from", CellKind::Text),
    ("to", CellKind::Text),
    ("bytes", CellKind::Whole),
    ("rate_bps", CellKind::Whole),
    ("queue_bytes_max", CellKind::Whole),
    ("marked", CellKind::Whole),
];

/// Suffix of the names of links that are ports of scale-up networks, not links of the fabric.
pub const SCALE_UP: &str = "-scale-up";

/// Returns two rows per link in order of links, one for each direction (`from` one end `to` the
/// other). Two rows per GPU follow for its port on the scale-up network of its server, if there are
/// such networks (link `host0-scale-up`, between `host0` and `scale-up0`). Numbers that were not
/// counted, such as the queues of a fluid run, are missing.
pub fn link_rows<'a>(
    topology: &'a Topology,
    outcome: &'a Outcome,
) -> impl Iterator<Item = [Cell<'a>; LINK_COLUMNS.len()]> {
    let text = |name: &'a str| Cell::Text(Cow::Borrowed(name));
    let ports = (0..2 * topology.links().len() as u32).map(PortId);
    let of_fabric = ports.map(move |port| {
        let (from, onto) = topology.ends_of(port);
        let link = LinkId(port.0 / 2);
        let bytes = outcome.link_bytes.get(port.index()).copied().unwrap_or(Bytes::ZERO);
        let waited = outcome.queue_bytes_max_by_port.get(port.index()).map(|it| it.get());
        [
            text(topology.link_name(link)),
            text(topology.node_name(from)),
            text(topology.node_name(onto)),
            Cell::Whole(Some(bytes.get())),
            Cell::Whole(Some(topology.link(link).rate.as_bps())),
            Cell::Whole(waited),
            Cell::Whole(outcome.marked_by_port.get(port.index()).copied()),
        ]
    });
    let scale_up = topology.scale_up().zip(outcome.scale_up.as_ref());
    let inside = scale_up.into_iter().flat_map(move |(scale_up, carried)| {
        (0u32..).map(HostId).zip(&carried.ports).flat_map(move |(host, port)| {
            let name = topology.node_name(Node::Host(host));
            let network = format!("scale-up{}", scale_up.server_of(host));
            let row = |from: String, to: String, bytes: Bytes| {
                [
                    Cell::Text(Cow::Owned(format!("{name}{SCALE_UP}"))),
                    Cell::Text(Cow::Owned(from)),
                    Cell::Text(Cow::Owned(to)),
                    Cell::Whole(Some(bytes.get())),
                    Cell::Whole(Some(scale_up.rate.as_bps())),
                    Cell::Whole(None),
                    Cell::Whole(None),
                ]
            };
            let own = name.to_owned();
            [row(own.clone(), network.clone(), port.sent), row(network, own, port.received)]
        })
    });
    of_fabric.chain(inside)
}
