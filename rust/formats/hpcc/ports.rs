//! The UDP ports of flows as the family counts them, for its files and for the hash of its
//! switches.
//!
//! HPCC counts source ports for each pair of hosts (`third.cc`). ConWeave counts source ports for
//! each sender and destination ports for each receiver (`network-load-balance.cc`). Both count in
//! the order of the flow file.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::node_numbers::NodeNumbers;
use crate::balance::Scheme;
use crate::balance::sender::source_port;
use crate::balance::switch::murmur;
use crate::hpcc::flows::{Dialect, FlowFile, FlowLine};
use crate::workload::Workload;

/// The ports of a flow. Counted ports have 16 bits and wrap; a destination port that the flow file
/// gives may be larger.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FlowPorts {
    pub(super) source: u16,
    pub(super) destination: u32,
}

/// Returns the ports of each flow, in the order of the flow file.
pub(super) fn of(flows: &FlowFile) -> Vec<FlowPorts> {
    let mut sources: BTreeMap<(u32, u32), u16> = BTreeMap::new();
    let mut destinations: BTreeMap<u32, u16> = BTreeMap::new();
    let mut ports = |flow: &FlowLine| {
        let counter = match flows.dialect {
            Dialect::Hpcc => (flow.src, flow.dst),
            Dialect::ConWeave => (flow.src, flow.src),
        };
        let source = next(sources.entry(counter).or_insert(source_port::FIRST));
        let first = murmur::FIRST_DESTINATION_PORT;
        let counted = next(destinations.entry(flow.dst).or_insert(first));
        FlowPorts { source, destination: flow.dst_port.unwrap_or(u32::from(counted)) }
    };
    flows.flows.iter().map(&mut ports).collect()
}

fn next(port: &mut u16) -> u16 {
    let this = *port;
    *port = this.wrapping_add(1);
    this
}

/// Builds the family's ECMP for these flows: its switches hash node numbers and these ports.
pub(super) fn ecmp_scheme(numbers: &NodeNumbers, flows: &FlowFile, workload: &Workload) -> Scheme {
    let ports = of(flows);
    let of_stream: Arc<[u16]> = ports.iter().map(|ports| ports.source).collect();
    let messages = workload.messages.iter().zip(&ports);
    let destination_ports = messages
        // A header has 16 bits for the port, although a flow file may give a larger one.
        .map(|(message, ports)| {
            let (src, dst) = (message.src, message.dst);
            let flow = murmur::FlowPort { src, dst, source_port: ports.source };
            (flow, ports.destination as u16)
        })
        .filter(|&(_, port)| port != murmur::FIRST_DESTINATION_PORT)
        .collect();
    let numbering = Arc::new(murmur::Numbering {
        hosts: numbers.hosts.clone(),
        switches: numbers.switches.clone(),
        destination_ports,
    });
    murmur::scheme(murmur::Config { numbering }, source_port::Config { of_stream })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hpcc::flows;

    #[test]
    fn ports_count_by_pair_in_hpcc_and_by_host_in_conweave() {
        let ports = |text: &str| {
            let flows = flows::read(text, "f").unwrap();
            of(&flows).iter().map(|it| (it.source, it.destination)).collect::<Vec<_>>()
        };
        let six = ports("3\n2 1 3 7 9 2\n2 1 3 8 9 2\n2 4 3 9 9 2\n");
        assert_eq!(six, [(10_000, 7), (10_001, 8), (10_000, 9)]);
        let five = ports("3\n2 1 3 9 2\n3 1 3 9 2\n2 4 3 9 2\n");
        assert_eq!(five, [(10_000, 100), (10_000, 101), (10_001, 100)]);
    }
}
