//! Polling of a NIC with several ports.
//!
//! A NIC is polled lazily. Before an input, it is polled for every time since the last poll at
//! which a wire became free or a rate permitted a packet. Its packets start on any free port. The
//! driver owns the wires. This module tracks how far the NIC has been polled, so that every driver
//! polls it at the same times.

use crate::nic::{FreePorts, Nic};
use crate::packet::{Packet, PlaneMask};
use crate::units::Time;

/// How far a NIC with several ports has been polled.
#[derive(Debug, Clone, Copy)]
pub struct PortPolls {
    /// The NIC has been polled up to this time.
    at: Time,
    /// The NIC has no packet before this time, unless an input comes first.
    next: Time,
}

/// The state of a host's ports, provided by the driver.
#[derive(Debug, Clone, Copy)]
pub struct Ports<F> {
    /// Time at which each wire becomes free, by plane.
    pub free: F,
    /// Planes whose data is paused.
    pub paused: PlaneMask,
    /// True if control packets have priority and pass a pause.
    pub answers_pass: bool,
}

/// A packet that starts on a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PortStart {
    /// Start of the transmission.
    pub at: Time,
    /// The plane of the port.
    pub plane: u32,
    /// The packet.
    pub packet: Packet,
}

impl PortPolls {
    /// Starts polling at `now`. Call it after an input, once everything that could start before has
    /// been polled.
    #[inline]
    pub const fn from(now: Time) -> Self {
        Self { at: now, next: now }
    }

    /// Returns the time up to which the NIC has been polled.
    #[inline]
    pub const fn at(&self) -> Time {
        self.at
    }

    /// True if it may have a packet that starts by `now`.
    #[inline]
    pub fn is_due(&self, now: Time) -> bool {
        self.next <= now
    }

    /// Returns the next packet that starts by `now`, at the first time at which a wire is free and
    /// the rate permits it. The driver must put it on the wire before the next call.
    pub fn poll<F>(&mut self, now: Time, nic: &mut Nic, ports: Ports<F>) -> Option<PortStart>
    where
        F: Iterator<Item = Time> + Clone,
    {
        while self.is_due(now) {
            // An idle NIC stays idle until an input: no wire needs to be looked at.
            if !nic.has_packets() {
                self.next = Time::NEVER;
                break;
            }
            let at = self.at;
            let (free, next_free) = free_planes(ports.free.clone(), at);
            let data = PlaneMask::from_bits(free.bits() & !ports.paused.bits());
            // Without priority, control packets are paused like data.
            let answers = if ports.answers_pass { free } else { data };
            if let Some((packet, plane)) =
                nic.poll_transmit_on(at, FreePorts { data, control: answers })
            {
                return Some(PortStart { at, plane, packet });
            }
            // A pacing time that has passed is not a reason to poll: that packet waits for a port.
            let paced = nic.next_paced().filter(|&start| start > at);
            self.next = next_free.min(paced.unwrap_or(Time::NEVER));
            if self.is_due(now) {
                // Advances to the next time at which something may start, and polls again.
                self.at = self.next;
            }
        }
        None
    }
}

/// Returns the planes whose ports are free at `at`, and when the next of the others becomes free.
fn free_planes(free: impl Iterator<Item = Time>, at: Time) -> (PlaneMask, Time) {
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
