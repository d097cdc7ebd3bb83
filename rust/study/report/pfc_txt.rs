//! `pfc.txt`: every frame of priority flow control (PFC) that took effect, in the format of the
//! HPCC family's simulators: `time_ns node_id node_type if_index type`, in order of time.
//!
//! Source: `get_pfc` of the HPCC simulator's `third.cc`. The node is the one that is paused or
//! resumed; its type is 0 for a host and 1 for a switch. The interface numbers that node's links
//! from 1 in the order of the topology (0 is ns-3's loopback). The type is 1 for a pause and 0 for
//! a resume. Times are truncated to whole nanoseconds, as in `fct.txt`. There is no header, because
//! the family's scripts expect none. There is no column for a traffic class: with several classes a
//! port has a line for each frame of each class.

use std::io::{self, Write};

use crate::fabric::{Outcome, PauseOrder};
use crate::ids::PortId;
use crate::topology::{Node, Topology};

/// Picoseconds per nanosecond.
const PS: u64 = 1_000;

/// Writes a line for each frame. `number` returns the number of a node, see
/// [`hosts_then_switches`].
///
/// # Errors
/// Fails if writing to `to` fails.
pub fn write_pfc_txt(
    to: &mut dyn Write,
    topology: &Topology,
    outcome: &Outcome,
    number: &dyn Fn(Node) -> u32,
) -> io::Result<()> {
    for record in &outcome.pauses {
        let node = topology.ends_of(record.port).0;
        let node_type = u8::from(node.switch().is_some());
        let interface = interface(topology, node, record.port);
        let order = match record.order {
            PauseOrder::Pause => 1,
            PauseOrder::Resume => 0,
        };
        let time_ns = record.at.as_ps() / PS;
        writeln!(to, "{time_ns} {} {node_type} {interface} {order}", number(node))?;
    }
    Ok(())
}

/// Numbers all hosts, then all switches. For topologies that no file of the family defines.
pub fn hosts_then_switches(topology: &Topology) -> impl Fn(Node) -> u32 {
    let hosts = topology.host_count();
    move |node| match node {
        Node::Host(host) => host.0,
        Node::Switch(switch) => hosts + switch.0,
    }
}

/// Returns the number of a port at its node, counted from 1.
fn interface(topology: &Topology, node: Node, port: PortId) -> usize {
    let before = |switch| topology.ports_of(switch).partition_point(|&other| other < port);
    1 + node.switch().map_or(0, before)
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;
    use crate::fabric::PauseRecord;
    use crate::ids::ClassId;
    use crate::units::Time;

    #[test]
    fn each_frame_has_a_line_in_hpcc_format() {
        let topology = sample::topology();
        let class = ClassId(0);
        let record = |ps, port, order| PauseRecord { at: Time::from_ps(ps), port, order, class };
        // Links: hosts 0 and 1 to leaf 0, hosts 2 and 3 to leaf 1, then each leaf to the spine.
        let [host, uplink, down] = [PortId(2), PortId(8), PortId(11)];
        let names = |port| {
            let (from, onto) = topology.ends_of(port);
            [from, onto].map(|node| topology.node_name(node).to_owned())
        };
        assert_eq!(names(host), ["host1", "leaf0"]);
        assert_eq!(names(uplink), ["leaf0", "spine0"]);
        assert_eq!(names(down), ["spine0", "leaf1"]);
        let mut outcome = sample::completed();
        outcome.pauses = vec![
            record(1_999, host, PauseOrder::Pause),
            record(2_000, uplink, PauseOrder::Pause),
            record(3_123_456, down, PauseOrder::Pause),
            record(5_000_000_000, uplink, PauseOrder::Resume),
        ];
        let mut text = Vec::new();
        let number = hosts_then_switches(&topology);
        write_pfc_txt(&mut text, &topology, &outcome, &number).unwrap();
        let expected = "1 1 0 1 1\n2 4 1 3 1\n3123 6 1 2 1\n5000000 4 1 3 0\n";
        assert_eq!(String::from_utf8(text).unwrap(), expected);
    }
}
