//! Polling the NIC of a host with several ports.
//!
//! A NIC is polled lazily: before an input, for every time since the last one at which a wire
//! became free or a rate permitted a packet. The packets that it gives then start on any of the
//! ports that are free. A world has the wires; here is until when the NIC has been polled, so that
//! every world asks it at the same times.

use crate::nic::{FreePorts, Nic};
use crate::packet::{Packet, PlaneMask};
use crate::units::Time;

/// Until when the NIC of a host with several ports has been polled.
#[derive(Debug, Clone, Copy)]
pub struct PortPolls {
    /// It has given all that it could by this time.
    at: Time,
    /// It gives nothing before this time, unless an input comes first.
    next: Time,
}

/// The ports of a host, as a world has them.
#[derive(Debug, Clone, Copy)]
pub struct Ports<F> {
    /// When the wire of each is free, by plane.
    pub free: F,
    /// Those whose data is paused.
    pub paused: PlaneMask,
    /// Whether answers have priority, so that a pause does not hold them.
    pub answers_pass: bool,
}

/// A packet that starts on a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PortStart {
    /// When it starts.
    pub at: Time,
    /// The plane of the port.
    pub plane: u32,
    /// The packet.
    pub packet: Packet,
}

impl PortPolls {
    /// Those of a NIC that is polled from `now` on. After an input what it could send before has
    /// been sent, and it is polled anew.
    #[inline]
    pub const fn from(now: Time) -> Self {
        Self { at: now, next: now }
    }

    /// Until when it has been polled.
    #[inline]
    pub const fn at(&self) -> Time {
        self.at
    }

    /// True if it may have a packet that starts by `now`.
    #[inline]
    pub fn is_due(&self, now: Time) -> bool {
        self.next <= now
    }

    /// The next packet that starts by `now`, at the first time at which the wire of a port is free
    /// and its rate permits; `None` if none does. The world puts it on the wire before it asks for
    /// the next.
    pub fn poll<F>(&mut self, now: Time, nic: &mut Nic, ports: Ports<F>) -> Option<PortStart>
    where
        F: Iterator<Item = Time> + Clone,
    {
        while self.is_due(now) {
            if !nic.has_packets() {
                self.next = Time::NEVER;
                break;
            }
            let at = self.at;
            let (free, next_free) = look(ports.free.clone(), at);
            let data = PlaneMask::of_bits(free.bits() & !ports.paused.bits());
            let answers = if ports.answers_pass { free } else { data };
            if let Some((packet, plane)) = nic.poll_transmit_on(at, FreePorts { data, answers }) {
                return Some(PortStart { at, plane, packet });
            }
            // One whose time has come already waits for a port.
            let paced = nic.next_paced().filter(|&start| start > at);
            self.next = next_free.min(paced.unwrap_or(Time::NEVER));
            if self.is_due(now) {
                self.at = self.next;
            }
        }
        None
    }
}

/// The planes whose ports are free at `at`, and when the next of the others is.
fn look(free: impl Iterator<Item = Time>, at: Time) -> (PlaneMask, Time) {
    let (mut mask, mut next) = (PlaneMask::NONE, Time::NEVER);
    for (plane, free) in (0u32..).zip(free) {
        if free <= at {
            mask = mask.with(plane);
        } else {
            next = next.min(free);
        }
    }
    (mask, next)
}
