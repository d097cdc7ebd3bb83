//! The UDP ports of flows, as the family counts them, and what its switches hash.
//!
//! HPCC counts source ports a pair of hosts (`third.cc`), ConWeave source ports a sender and
//! destination ports a receiver (`network-load-balance.cc`), in order of the flow file.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::balance::Scheme;
use crate::balance::sender::source_port;
use crate::balance::switch::murmur;
use crate::workload::Workload;
use crate::workload::hpcc_flows::{Dialect, FlowFile, FlowLine};

/// Source and destination port of each flow. Both kinds are 16 bits wide and wrap, except for a
/// destination port that the file gives.
pub(super) fn of(flows: &FlowFile) -> Vec<(u16, u32)> {
    let mut sources: BTreeMap<(u32, u32), u16> = BTreeMap::new();
    let mut destinations: BTreeMap<u32, u16> = BTreeMap::new();
    let mut ports = |flow: &FlowLine| {
        let owner = match flows.dialect {
            Dialect::Hpcc => (flow.src, flow.dst),
            Dialect::ConWeave => (flow.src, flow.src),
        };
        let source = next(sources.entry(owner).or_insert(source_port::FIRST));
        let first = murmur::FIRST_DESTINATION_PORT;
        let counted = next(destinations.entry(flow.dst).or_insert(first));
        (source, flow.dst_port.unwrap_or(u32::from(counted)))
    };
    flows.flows.iter().map(&mut ports).collect()
}

fn next(port: &mut u16) -> u16 {
    let this = *port;
    *port = this.wrapping_add(1);
    this
}

/// The family's ECMP over the nodes of hosts and switches, for these flows.
pub(super) fn named(
    (hosts, switches): (&[u32], &[u32]),
    flows: &FlowFile,
    workload: &Workload,
) -> Scheme {
    let ports = of(flows);
    let of_stream: Arc<[u16]> = ports.iter().map(|&(source, _)| source).collect();
    let destination_ports = workload
        .messages
        .iter()
        .zip(&ports)
        // Its headers have 16 bits for what its files may give more.
        .map(|(message, &(source_port, to))| {
            let flow = murmur::FlowPort { src: message.src, dst: message.dst, source_port };
            (flow, to as u16)
        })
        .filter(|&(_, to)| to != murmur::FIRST_DESTINATION_PORT)
        .collect();
    let numbering =
        murmur::Numbering { hosts: hosts.to_vec(), switches: switches.to_vec(), destination_ports };
    murmur::scheme(
        murmur::Config { numbering: Arc::new(numbering) },
        source_port::Config { of_stream },
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::hpcc_flows;

    #[test]
    fn ports_count_by_pair_in_hpcc_and_by_host_in_conweave() {
        let six = hpcc_flows::read("3\n2 1 3 7 9 2\n2 1 3 8 9 2\n2 4 3 9 9 2\n", "f").unwrap();
        assert_eq!(of(&six), [(10_000, 7), (10_001, 8), (10_000, 9)]);
        let five = hpcc_flows::read("3\n2 1 3 9 2\n3 1 3 9 2\n2 4 3 9 2\n", "f").unwrap();
        assert_eq!(of(&five), [(10_000, 100), (10_000, 101), (10_001, 100)]);
    }
}
