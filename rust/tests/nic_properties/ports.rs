//! The ports of both NICs: which wires are busy, which ports are dead, and what each NIC knows.

use evenkeel::nic::{FreePorts, Nic};
use evenkeel::packet::{Packet, PacketKind, PlaneMask, View};
use evenkeel::units::{BitRate, Time};

use super::pipe::Side;
use super::settings::PORT;

/// A change of a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    Dies,
    Revives,
    /// The port's NIC learns whether it is dead.
    IsNoticed,
}

/// One port of a side.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Port {
    pub(crate) side: Side,
    pub(crate) plane: u32,
}

/// The ports of both sides, one in each plane.
#[derive(Debug)]
pub(crate) struct Ports {
    planes: u32,
    /// Time at which each wire becomes free, by side and plane.
    free: [Vec<Time>; 2],
    /// Number of overlapping outages of each port.
    deaths: [Vec<u32>; 2],
    /// Ports that each side does not know to be dead: its own, and those of its peer.
    own: [PlaneMask; 2],
    peers: [PlaneMask; 2],
}

impl Ports {
    pub(crate) fn new(planes: u32) -> Self {
        let each = planes as usize;
        Self {
            planes,
            free: [vec![Time::ZERO; each], vec![Time::ZERO; each]],
            deaths: [vec![0; each], vec![0; each]],
            own: [PlaneMask::all(planes); 2],
            peers: [PlaneMask::all(planes); 2],
        }
    }

    /// Returns the rate of one port.
    pub(crate) fn rate(&self) -> BitRate {
        BitRate::from_bps(PORT.line_rate.as_bps() / u64::from(self.planes))
    }

    /// Returns the ports of a side whose wires are free.
    pub(crate) fn free(&self, side: Side, now: Time) -> PlaneMask {
        let free = (0..self.planes).filter(|&it| self.free[side][it as usize] <= now);
        free.fold(PlaneMask::NONE, PlaneMask::with)
    }

    /// Returns the time at which the next busy wire of a side becomes free.
    pub(crate) fn next_free(&self, side: Side, now: Time) -> Option<Time> {
        self.free[side].iter().copied().filter(|&free| free > now).min()
    }

    /// Occupies a wire until `time`.
    pub(crate) fn occupy(&mut self, port: Port, time: Time) {
        self.free[port.side][port.plane as usize] = time;
    }

    /// True if a packet can cross a plane.
    pub(crate) fn work(&self, plane: u32) -> bool {
        self.deaths.iter().all(|of_side| of_side[plane as usize] == 0)
    }

    /// Polls a NIC for a packet to send by one of these ports; returns it with its plane.
    pub(crate) fn poll(&self, nic: &mut Nic, now: Time, free: PlaneMask) -> Option<(Packet, u32)> {
        match self.planes {
            1 => nic.poll_transmit(now).map(|packet| (packet, 0)),
            _ => nic.poll_transmit_on(now, FreePorts { data: free, control: free }),
        }
    }

    /// Applies a change to a port of `nic`.
    pub(crate) fn change(&mut self, now: Time, port: Port, change: Change, nic: &mut Nic) {
        let Port { side, plane } = port;
        let deaths = &mut self.deaths[side][plane as usize];
        match change {
            Change::Dies => *deaths += 1,
            Change::Revives => *deaths -= 1,
            Change::IsNoticed => {
                let is_up = *deaths == 0;
                let own = self.own[side];
                self.own[side] = if is_up { own.with(plane) } else { own.without(plane) };
                nic.handle_plane(now, plane, is_up);
            }
        }
    }

    /// Records what a packet tells the receiving side about the ports of its sender.
    pub(crate) fn note(&mut self, side: Side, packet: &Packet) {
        if let View::Endpoint(endpoint) = packet.view()
            && packet.kind == PacketKind::PortStatus
        {
            self.peers[side] = endpoint.usable();
        }
    }

    /// Checks that a packet leaves by a free port that is not known to be dead at either end. It
    /// must be the port of the packet's entropy value unless that is known to be dead.
    pub(crate) fn check(&self, now: Time, packet: &Packet, port: Port) -> Result<(), String> {
        let Port { side, plane } = port;
        if self.planes == 1 {
            return Ok(());
        }
        let usable = self.usable(side);
        let own = u32::from(packet.entropy) % self.planes;
        let follows = !matches!(packet.kind, PacketKind::Data | PacketKind::Probe)
            || own == plane
            || !usable.has(own);
        match self.free(side, now).has(plane) && usable.has(plane) && follows {
            true => Ok(()),
            false => Err(format!(
                "side {side} sends a packet of plane {own} on plane {plane}; usable: {usable:?}"
            )),
        }
    }

    /// Returns the planes by which a side can reach the other as far as it knows. The fallback is
    /// its own usable ports, or all planes if it has no usable port.
    fn usable(&self, side: Side) -> PlaneMask {
        let or = |mask: PlaneMask, other| if mask.is_empty() { other } else { mask };
        let own = or(self.own[side], PlaneMask::all(self.planes));
        or(own.and(self.peers[side]), own)
    }
}
