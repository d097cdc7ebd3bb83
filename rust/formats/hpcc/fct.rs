//! `fct.txt`, the table that the family's scripts read:
//! `src dst src_port dst_port bytes start_ns fct_ns standalone_fct_ns`.
//!
//! Each completed flow has a line, in order of completion. Flows that complete in the same
//! picosecond are in the order of the flow file. Nodes and ports have the form of the simulator
//! that the flow file is for. HPCC (six columns) prints addresses in hexadecimal and counts source
//! ports for each pair of hosts. ConWeave (five columns) prints node numbers and counts source
//! ports for each sender and destination ports for each receiver.

use std::fmt::Write as _;

use super::{ports, wire};
use crate::balance::switch::murmur::address;
use crate::fabric::{FlowRecord, Outcome, Setup};
use crate::hpcc::flows::{Dialect, FlowFile};
use crate::ids::HostId;
use crate::topology::{Routes, Topology};
use crate::units::{Bytes, Time};
use crate::workload::Message;

/// Nanoseconds per second times bits per byte.
const NS_BITS: u128 = 8_000_000_000;

/// Picoseconds per nanosecond; times in the table are whole nanoseconds.
const PS: u64 = 1_000;

/// Formats `fct.txt`: a line for each completed flow.
pub(super) fn table(setup: &Setup, flows: &FlowFile, outcome: &Outcome) -> String {
    let completed = completions(setup.workload.messages.len(), &outcome.flows);
    let routes = setup.topology.routes();
    let ports = ports::of(flows);
    let mut order: Vec<(Time, usize)> = completed
        .iter()
        .enumerate()
        .filter(|(_, at)| **at != Time::NEVER)
        .map(|(flow, at)| (*at, flow))
        .collect();
    order.sort_unstable();
    let mut table = String::new();
    for (at, flow) in order {
        let (line, message) = (&flows.flows[flow], &setup.workload.messages[flow]);
        let [src, dst] = [line.src, line.dst].map(|node| name(flows.dialect, node));
        let (src_port, dst_port) = (ports[flow].source, ports[flow].destination);
        let start_ns = message.start.as_ps() / PS;
        let fct_ns = at.since(message.start).as_ps() / PS;
        let standalone_ns = standalone_ns(setup, routes, message);
        writeln!(
            table,
            "{src} {dst} {src_port} {dst_port} {} {start_ns} {fct_ns} {standalone_ns}",
            line.bytes
        )
        .expect("writing to a string cannot fail");
    }
    table
}

/// Returns the completion time of each message's last piece; [`Time::NEVER`] if one did not
/// complete.
fn completions(messages: usize, flows: &[FlowRecord]) -> Vec<Time> {
    let mut completed = vec![None; messages];
    for flow in flows {
        let latest = &mut completed[flow.message.index()];
        *latest = Some(latest.unwrap_or(Time::ZERO).max(flow.completed));
    }
    completed.into_iter().map(|at| at.unwrap_or(Time::NEVER)).collect()
}

/// Formats a node as the dialect's simulator does. HPCC prints the address 11.x.y.1 for node 256x +
/// y (`node_id_to_ip`); ConWeave prints the number.
fn name(dialect: Dialect, node: u32) -> String {
    match dialect {
        Dialect::ConWeave => node.to_string(),
        Dialect::Hpcc => format!("{:08x}", address(node)),
    }
}

/// Returns the family's estimate of a flow's completion time in an idle network (`qp_finish`). It
/// is the base round-trip time plus the serialization of all bytes with headers at the slowest
/// link. The base round-trip time is the propagation both ways plus the serialization of a payload
/// on each link towards the receiver. Each term is rounded down to a nanosecond.
///
/// The family computes bytes in 32 bits, which wrap; this function does not wrap.
fn standalone_ns(setup: &Setup, routes: &Routes, message: &Message) -> u128 {
    let path = PathEstimate::new(setup, routes, message.src, message.dst);
    let packets = u128::from(message.bytes.get().div_ceil(setup.nic.payload.get()));
    let bytes = u128::from(message.bytes.get()) + packets * u128::from(wire::HEADER.get());
    path.rtt_ns + time_ns(bytes, path.slowest)
}

/// The family's estimate of the path between two hosts (`CalculateRoute`).
struct PathEstimate {
    rtt_ns: u128,
    /// Rate of the slowest link in bits per second.
    slowest: u64,
}

impl PathEstimate {
    fn new(setup: &Setup, routes: &Routes, src: HostId, dst: HostId) -> Self {
        let (topology, payload): (&Topology, Bytes) = (&setup.topology, setup.nic.payload);
        let ports = routes.path_ports(src, dst, 0);
        let links = || ports.iter().map(|port| topology.link(port.link()));
        let delay_ns: u128 = links().map(|link| u128::from(link.delay.as_ps() / PS)).sum();
        let payload_ns: u128 =
            links().map(|link| time_ns(u128::from(payload.get()), link.rate.as_bps())).sum();
        let slowest = links().map(|link| link.rate.as_bps()).min().unwrap_or(u64::MAX);
        Self { rtt_ns: 2 * delay_ns + payload_ns, slowest }
    }
}

/// Returns the serialization time of `bytes`, rounded down to a nanosecond.
fn time_ns(bytes: u128, bits_per_second: u64) -> u128 {
    bytes * NS_BITS / u128::from(bits_per_second)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_are_printed_in_the_form_of_each_simulator() {
        assert_eq!(name(Dialect::Hpcc, 0xcc), "0b00cc01");
        assert_eq!(name(Dialect::Hpcc, 0x1_02), "0b010201");
        assert_eq!(name(Dialect::ConWeave, 204), "204");
    }
}
