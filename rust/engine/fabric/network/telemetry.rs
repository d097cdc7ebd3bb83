//! Telemetry of packets: a table with an entry for each slot of the pool. It exists only in runs
//! whose congestion control uses telemetry.

use super::Network;
use super::output::Output;
use super::pool::SlotId;
use super::port::{PortFeatures, Queued};
use crate::endpoint::{Endpoints, base_rtt};
use crate::fabric::setup::Setup;
use crate::ids::{HostId, PortId};
use crate::packet::{PortReading, Telemetry};
use crate::switching::{Switching, TelemetryWriter};
use crate::topology::Node;
use crate::units::{BitRate, Time};

/// The telemetry of the packets in the fabric.
#[derive(Debug)]
pub(super) struct Table {
    writer: TelemetryWriter,
    /// Telemetry of each packet, by slot.
    by_slot: Vec<Telemetry>,
}

impl Table {
    /// Creates the table of a run; `None` if its congestion control uses no telemetry.
    pub(super) fn of(setup: &Setup, switching: &Switching) -> Option<Box<Self>> {
        let request = setup.nic.congestion.telemetry()?;
        let Setup { topology, fabric, nic, .. } = setup;
        let hosts = (0..topology.host_count()).map(HostId);
        let rates = hosts.map(|host| topology.link(topology.host_port(host).link()).rate);
        let line_rate = rates.max().unwrap_or(BitRate::from_bps(1));
        let routes = switching.intact_routes();
        let round_trip = base_rtt(topology, routes, nic, fabric.forwarding_delay, &setup.workload);
        let ports = 2 * topology.links().len();
        let writer = TelemetryWriter::new(request, ports, line_rate, round_trip, setup.seed);
        Some(Box::new(Self { writer, by_slot: Vec::new() }))
    }

    /// Sets the telemetry of a packet that a host sends.
    pub(super) fn set(&mut self, slot: SlotId, telemetry: Telemetry) {
        let index = slot.0 as usize;
        // The pool grows with the packets in flight, and so does this table.
        if index >= self.by_slot.len() {
            self.by_slot.resize(index + 1, Telemetry::default());
        }
        self.by_slot[index] = telemetry;
    }
}

impl Network {
    /// Makes switch ports write telemetry, if the run has any.
    pub(super) fn mark_telemetry_ports(&mut self) {
        if self.shared.telemetry.is_none() {
            return;
        }
        for port in &mut self.ports {
            if let Node::Switch(_) = port.start.node() {
                port.features = port.features.with(PortFeatures::TELEMETRY);
            }
        }
    }

    /// Passes the telemetry of a packet that has reached a host to its NIC.
    #[cold]
    pub(super) fn deliver_telemetry(&self, slot: SlotId, host: HostId, endpoints: &mut Endpoints) {
        if let Some(table) = &self.shared.telemetry {
            let telemetry = &table.by_slot[slot.0 as usize];
            endpoints.host_mut(host).nic.handle_telemetry(telemetry);
        }
    }
}

impl Output<'_> {
    /// Writes a reading of this port into a packet that starts there.
    pub(super) fn write_telemetry(&mut self, start: Time, queued: Queued) {
        let Some(table) = self.shared.telemetry.as_deref_mut() else { return };
        let (port, bytes): (PortId, u32) = (self.id, queued.bytes().into());
        if self.shared.pool.get(queued.slot()).packet.is_control() {
            // Control packets carry no telemetry, but they use the wire.
            table.writer.handle_other(port, start, bytes);
            return;
        }
        let reading = PortReading {
            at: start,
            // `carried` includes this packet already.
            sent: self.port.carried - u64::from(bytes),
            waiting: self.port.all_waiting().into(),
            rate: self.port.rate(),
        };
        let telemetry = &mut table.by_slot[queued.slot().0 as usize];
        table.writer.handle_data(port, &reading, bytes, telemetry);
    }
}
