//! `queue_changes.csv`: each change of the queue of each recorded port.
//!
//! If several packets join and leave a queue at the same time, the row has the length after all of
//! them.

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::csv_field;
use super::{Sink, nanoseconds};
use crate::fabric::{MOST_CLASSES, PacketEvent, PacketRecord};
use crate::ids::PortId;
use crate::packet::Flags;
use crate::topology::{Node, Topology};
use crate::units::Time;

/// A port and its queue, in bytes.
struct Port {
    names: [String; 2],
    written: u32,
    /// Queued bytes, by traffic class.
    queues: [u32; MOST_CLASSES],
}

impl Port {
    fn queue(&self) -> u32 {
        self.queues.iter().sum()
    }
}

/// The recorded ports and their table.
pub(super) struct QueueChanges {
    /// By switch: whether one of its ports is recorded.
    switches: Vec<bool>,
    ports: BTreeMap<PortId, Port>,
    /// The time of the last change, and the ports that changed then.
    now: Time,
    changed: Vec<PortId>,
    sink: Sink,
}

impl QueueChanges {
    pub(super) fn new(
        ports: &[PortId],
        topology: &Topology,
        to: Box<dyn Write>,
    ) -> io::Result<Self> {
        let mut switches = vec![false; topology.switches().len()];
        let mut recorded = BTreeMap::new();
        for &id in ports {
            let (from, onto) = topology.ends_of(id);
            // NICs have no queue of packets.
            let Some(switch) = from.switch() else { continue };
            switches[switch.index()] = true;
            let names = [from, onto].map(|node| csv_field(topology.node_name(node)));
            recorded.insert(id, Port { names, written: 0, queues: [0; MOST_CLASSES] });
        }
        let sink = Sink::new(to, "time_ns,from,to,queue_bytes")?;
        Ok(Self { switches, ports: recorded, now: Time::ZERO, changed: Vec::new(), sink })
    }

    /// Returns true for the switches of the recorded ports.
    pub(super) fn traces(&self, node: Node) -> bool {
        node.switch().is_some_and(|switch| self.switches[switch.index()])
    }

    /// Processes a record; records arrive in time order.
    pub(super) fn take(&mut self, record: &PacketRecord) {
        let PacketRecord { at, port: id, event, packet, waiting } = record;
        if packet.flags.has(Flags::PRIORITY) || packet.is_link_frame() {
            return;
        }
        let queue = match event {
            PacketEvent::Enqueued => waiting + u32::from(packet.wire_bytes),
            PacketEvent::Dequeued => *waiting,
            PacketEvent::Received | PacketEvent::Dropped => return,
        };
        if *at > self.now {
            self.write();
            self.now = *at;
        }
        let Some(port) = self.ports.get_mut(id) else { return };
        port.queues[packet.class().index()] = queue;
        if !self.changed.contains(id) {
            self.changed.push(*id);
        }
    }

    /// Writes a row for each port whose queue differs from its last row.
    fn write(&mut self) {
        let at = nanoseconds(self.now);
        for id in self.changed.drain(..) {
            let port = self.ports.get_mut(&id).expect("it is recorded");
            let queue = port.queue();
            if queue != port.written {
                port.written = queue;
                let [from, onto] = &port.names;
                self.sink.row(format_args!("{at},{from},{onto},{queue}"));
            }
        }
    }

    pub(super) fn finish(mut self) -> io::Result<()> {
        self.write();
        self.sink.finish()
    }
}
