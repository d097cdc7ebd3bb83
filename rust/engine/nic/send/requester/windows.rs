//! The windows of congestion control: one for the queue pair, one for each plane of a NIC with
//! several ports, one for each path of its policy, or windows that queue pairs to a host share
//! (`nic::send::destinations`).
//!
//! A window for each plane is G16 of `docs/multi-plane.md`. Each is a separate control, for the
//! rate of one port or an equal share of the rate. It learns only of packets whose entropy values
//! are of its plane or path: both are the remainder by the number of windows. Their arrivals come
//! from the recovery, and their round trip from when they were sent. It also sees the mark of the
//! packet that an acknowledgement echoes, and losses.

use super::{MAX_IN_FLIGHT, Requester};
use crate::balance::sender::{Sender, SenderPolicy as _};
use crate::nic::Owner;
use crate::nic::config::{NicConfig, PortFacts};
use crate::nic::congestion::{AckSample, CongestionController as _, Controller, Loss};
use crate::nic::congestion::{ReceiverRequest, Scope};
use crate::nic::recovery::{LostPosition, SendRecovery as _};
use crate::packet::{AckView, PlaneMask};
use crate::units::{BitRate, Span, Time};

/// Returns the limit on messages with packets in flight, if any. The messages of a queue pair that
/// reports by events may be WRITEs with immediate data, which are limited.
pub(super) fn max_messages(config: &NicConfig, owner: Owner) -> Option<u32> {
    match (config.queue_pairs.immediate_messages, owner) {
        (Some(max), Owner::Driver(_)) => Some(max),
        _ => None,
    }
}

/// The controls of the planes or paths, or a single one for all of them.
#[derive(Debug, Clone)]
pub(in crate::nic) struct PlaneWindows {
    windows: Vec<PlaneWindow>,
    /// Number of planes of the NIC.
    planes: u32,
    /// True if each path has a window.
    are_of_paths: bool,
}

#[derive(Debug, Clone)]
struct PlaneWindow {
    control: Controller,
    /// Arrivals not yet reported to the control, because none of them had a round trip.
    unreported_arrivals: u32,
    /// Packets in flight of the other queue pairs that share it; of all of them while none has
    /// borrowed it.
    others_in_flight: u64,
    /// Number of other queue pairs that share it.
    sharers: u64,
}

impl PlaneWindows {
    /// Returns the windows of a new requester. `None` unless its control has one for each plane and
    /// its recovery counts by planes, or it shares them.
    pub(super) fn of(
        config: &NicConfig,
        port: PortFacts,
        planes: u32,
        policy: &Sender,
    ) -> Option<Box<Self>> {
        let scope = config.congestion.scope();
        let count = match scope {
            // A path has one plane only if they are equally many in each.
            Scope::Path => policy.paths().filter(|paths| paths % planes == 0).unwrap_or(1),
            Scope::Plane | Scope::DestinationPlane => planes,
            Scope::Qp | Scope::Destination => 1,
        };
        if count == 1 && !scope.is_per_destination() {
            return None;
        }
        if count > 1 && !config.recovery.counts_planes() {
            return None;
        }
        let line_rate = BitRate::from_bps(port.line_rate.as_bps() / u64::from(count));
        let path = config.path(PortFacts { line_rate, ..port });
        let window = PlaneWindow {
            control: config.congestion.build(&path),
            unreported_arrivals: 0,
            others_in_flight: 0,
            sharers: 0,
        };
        Some(Box::new(Self {
            windows: vec![window; count as usize],
            planes,
            are_of_paths: scope == Scope::Path && count > 1,
        }))
    }

    /// Number of planes of the NIC.
    pub(super) const fn planes(&self) -> u32 {
        self.planes
    }

    /// True if each path has a window.
    #[inline]
    pub(super) const fn are_of_paths(&self) -> bool {
        self.are_of_paths
    }

    pub(super) fn count(&self) -> u32 {
        u32::try_from(self.windows.len()).unwrap_or(u32::MAX)
    }

    fn plane_mut(&mut self, entropy: u16) -> &mut PlaneWindow {
        let planes = self.windows.len();
        &mut self.windows[usize::from(entropy) % planes]
    }

    /// Returns the sum of all windows.
    pub(in crate::nic) fn window(&self) -> u64 {
        // A control without a limit has a window of `u64::MAX`.
        self.windows.iter().map(|plane| plane.control.window()).fold(0, u64::saturating_add)
    }
}

impl Requester {
    /// True if congestion control and recovery permit another packet. With nothing in flight they
    /// always do, unless credit is missing.
    #[inline(always)]
    pub(super) fn window_is_open(&self) -> bool {
        if self.planes.is_some() {
            return !self.open_planes().is_empty();
        }
        let window = self.congestion.window().min(self.recovery_window);
        // Without a window the packets in flight need not be counted.
        window == u64::MAX || self.permits_packet(self.recovery.in_flight(), window)
    }

    /// True if the window for a packet with that entropy value is full. If each plane has a window,
    /// only that of its plane counts, because the policy may use no path of the others. A shared
    /// window is full when it has no room for a packet of each other queue pair. The last packet of
    /// each then requests an acknowledgement.
    #[inline]
    pub(super) fn window_is_full(&self, entropy: u16) -> bool {
        let Some(planes) = &self.planes else { return !self.window_is_open() };
        let plane = u32::from(entropy) % planes.count();
        let PlaneWindow { control, others_in_flight, sharers, .. } =
            &planes.windows[plane as usize];
        let in_flight = self.in_flight_of(planes.count(), plane) + others_in_flight + sharers;
        !self.open_planes().has(plane) || !self.permits_packet(in_flight, control.window())
    }

    #[inline]
    fn permits_packet(&self, in_flight: u64, window: u64) -> bool {
        if window == u64::MAX {
            return true;
        }
        // With nothing in flight no acknowledgement would reopen the window. Credit reopens a
        // window of 0.
        in_flight == 0 && window > 0 || (in_flight + 1) * u64::from(self.packet_bytes) <= window
    }

    /// Returns the planes, or paths if each has a window, that another packet may take.
    pub(super) fn open_planes(&self) -> PlaneMask {
        // A window of the queue pair limits no plane in particular.
        let Some(planes) = &self.planes else { return PlaneMask::from_bits(u32::MAX) };
        if let [window] = &planes.windows[..] {
            let own = self.recovery.in_flight();
            // The window counts the packets of all sharers, the recovery only its own.
            let is_open = self
                .permits_packet(own + window.others_in_flight, window.control.window())
                && self.permits_packet(own, self.recovery_window);
            return PlaneMask::from_bits(if is_open { u32::MAX } else { 0 });
        }
        let numbered = (0..).zip(&planes.windows);
        numbered.fold(PlaneMask::NONE, |open, (number, plane)| {
            let in_flight = self.recovery.plane(number).in_flight + plane.others_in_flight;
            match self.permits_packet(in_flight, plane.control.window()) {
                true => open.with(number),
                false => open,
            }
        })
    }

    /// Returns its packets in flight that window `plane` of `planes` limits.
    fn in_flight_of(&self, planes: u32, plane: u32) -> u64 {
        match planes {
            1 => self.recovery.in_flight(),
            _ => self.recovery.plane(plane).in_flight,
        }
    }

    /// Borrows its shared windows until it returns them.
    pub(in crate::nic) fn borrow_windows(&mut self, shared: &mut Box<PlaneWindows>) {
        // `others_in_flight` must not count its own packets while it holds the windows.
        self.leave_windows(shared);
        self.exchange_windows(shared);
    }

    /// Returns the windows that it has borrowed.
    pub(in crate::nic) fn return_windows(&mut self, shared: &mut Box<PlaneWindows>) {
        self.exchange_windows(shared);
        let planes = shared.count();
        for (number, plane) in (0..).zip(&mut shared.windows) {
            plane.others_in_flight += self.in_flight_of(planes, number);
        }
    }

    /// Removes its packets in flight from the windows that it shares.
    pub(in crate::nic) fn leave_windows(&self, shared: &mut PlaneWindows) {
        let planes = shared.count();
        for (number, plane) in (0..).zip(&mut shared.windows) {
            plane.others_in_flight -= self.in_flight_of(planes, number);
        }
    }

    fn exchange_windows(&mut self, shared: &mut Box<PlaneWindows>) {
        let own = self.planes.as_mut().expect("requesters that share have windows");
        std::mem::swap(own, shared);
    }

    /// Sets the number of queue pairs that share each of the windows.
    pub(in crate::nic) fn set_sharers(shared: &mut PlaneWindows, count: usize) {
        // Windows outlive their last queue pair, so the count may be 0.
        let others = (count as u64).saturating_sub(1);
        shared.windows.iter_mut().for_each(|plane| plane.sharers = others);
    }

    /// Returns a copy of its windows, to be shared with other queue pairs to the same host.
    pub(in crate::nic) fn own_windows(&self) -> Option<Box<PlaneWindows>> {
        self.planes.clone()
    }

    /// Returns the bytes on the wire that congestion control permits in flight.
    pub(in crate::nic) fn window(&self) -> u64 {
        self.planes.as_ref().map_or_else(|| self.congestion.window(), |planes| planes.window())
    }

    /// Returns one past the last packet that may be in flight.
    pub(super) fn window_end(&self) -> u64 {
        let waiting = match self.limits_messages {
            true => self.work.get(self.max_messages as usize),
            false => None,
        };
        let end = waiting.map_or(self.end, |waiting| waiting.first);
        end.min(self.recovery.window_end(MAX_IN_FLIGHT))
    }

    /// Informs congestion control of a packet that starts.
    #[inline]
    pub(super) fn notify_sent(&mut self, now: Time, entropy: u16, bytes: u16) {
        match &mut self.planes {
            None => self.congestion.handle_sent(now, u32::from(bytes)),
            Some(planes) => planes.plane_mut(entropy).control.handle_sent(now, u32::from(bytes)),
        }
    }

    /// Informs congestion control that a packet with that entropy value did not get through.
    pub(super) fn notify_loss(&mut self, now: Time, entropy: u16, loss: Loss) {
        match &mut self.planes {
            None => self.congestion.handle_loss(now, loss),
            Some(planes) => planes.plane_mut(entropy).control.handle_loss(now, loss),
        }
    }

    /// Informs congestion control of a loss that later arrivals show.
    pub(super) fn on_gap(&mut self, now: Time, entropy: u16, position: LostPosition) {
        let control = match &mut self.planes {
            None => &mut self.congestion,
            Some(planes) => &mut planes.plane_mut(entropy).control,
        };
        match position {
            LostPosition::First => control.handle_loss(now, Loss::Nack),
            LostPosition::Later => control.handle_later_loss(now),
        }
    }

    /// Informs congestion control of the round trip of a packet that was answered with a NACK.
    pub(super) fn notify_nack_rtt(&mut self, entropy: u16, rtt: Span) {
        match &mut self.planes {
            None => self.congestion.handle_nack_rtt(rtt),
            Some(planes) => planes.plane_mut(entropy).control.handle_nack_rtt(rtt),
        }
    }

    /// Informs congestion control of an acknowledgement that is the first to report `new` packets.
    #[inline]
    pub(super) fn notify_arrivals(&mut self, now: Time, ack: AckView<'_>, new: u64) {
        let (acknowledged, next) = self.recovery.progress();
        let sample = AckSample {
            ack: acknowledged,
            next,
            packets: u32::try_from(new).unwrap_or(u32::MAX),
            marked: ack.report().marked_packets(),
            // The stamp wraps: a round trip above 4.4 ms reads as too short.
            rtt: Span::from_ps(ack.echo().ps_until(now)),
            in_flight: self.recovery.in_flight() * u64::from(self.packet_bytes),
            receiver: ReceiverRequest::default(),
        };
        match &mut self.planes {
            None => self.congestion.handle_ack(now, sample),
            Some(_) => self.notify_planes(now, ack, sample),
        }
    }

    fn notify_planes(&mut self, now: Time, ack: AckView<'_>, sample: AckSample) {
        let Some(planes) = &mut self.planes else { return };
        let packet_bytes = u64::from(self.packet_bytes);
        if let [window] = &mut planes.windows[..] {
            let in_flight = sample.in_flight + window.others_in_flight * packet_bytes;
            return window.control.handle_ack(now, AckSample { in_flight, ..sample });
        }
        let echoed = u32::from(ack.entropy) % planes.count();
        for (number, plane) in (0..).zip(&mut planes.windows) {
            let used = self.recovery.plane(number);
            plane.unreported_arrivals += used.arrived;
            // Without a round trip the arrivals stay owed until an acknowledgement has one.
            let Some(rtt) = used.rtt else { continue };
            // The echoed mark is that of one packet, and so of one plane.
            let marked = u32::from(number == echoed && ack.echoes_mark());
            let in_flight = (used.in_flight + plane.others_in_flight) * packet_bytes;
            let packets = std::mem::take(&mut plane.unreported_arrivals);
            plane.control.handle_ack(now, AckSample { packets, marked, rtt, in_flight, ..sample });
        }
    }
}

#[cfg(test)]
impl PlaneWindows {
    pub(in crate::nic) fn controls(&self) -> impl Iterator<Item = &Controller> {
        self.windows.iter().map(|plane| &plane.control)
    }
}
