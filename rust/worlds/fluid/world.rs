//! Hosts and links under one clock, without packets.
//!
//! The hosts are the shared [`Endpoints`], which hand over whole flows. A flow shares the links of
//! its path until its last byte has been sent; delivery and completion follow after a fixed time.
//! Rates are computed after all events at one time.

use std::collections::VecDeque;

use super::changes::{Change, Target, changes, delivered_fraction};
use super::end_queue::EndQueue;
use super::event::{Event, Events, Kind};
use super::links::{Grouping, Links, Ungrouped};
use super::paths::{FlowPath, PathFinder, Site};
use super::queue_estimate::QueueEstimate;
use super::rate_deadline::RateDeadline;
use super::timing::{Size, Tail, pace, wire};
use super::transfer::{State, Transfer};
use crate::balance::{Scheme, Weights};
use crate::bound::Wire;
use crate::endpoint::{Endpoints, FluidFlow};
use crate::fabric::{Progress, Setup};
use crate::ids::HostId;
use crate::sharing::{Service, Sharing, Use};
use crate::switching::{StepEffect, Switching};
use crate::topology::Topology;
use crate::units::{Span, Time};

/// The flows of a queue pair: at most one is being sent, and the others wait.
#[derive(Debug, Default)]
struct Lane {
    is_busy: bool,
    /// The link that models pacing, if the pacing rate is below the rate of the port.
    pace: Option<Use>,
    waiting: VecDeque<FluidFlow>,
}

/// A fabric without packets, with its hosts.
#[derive(Debug)]
pub(super) struct World<'a> {
    setup: &'a Setup,
    wire: Wire,
    pub(super) endpoints: Endpoints,
    pub(super) paths: PathFinder,
    pub(super) links: Links,
    sharing: Sharing,
    events: Events,
    ends: EndQueue,
    changes: Vec<Change>,
    transfers: Vec<Transfer>,
    free: Vec<u32>,
    /// By index in `sharing`: the transfer.
    transfer_of: Vec<u32>,
    /// By queue pair.
    lanes: Vec<Lane>,
    pub(super) queue_estimate: QueueEstimate,
    /// Number of flows that are being sent.
    sending: usize,
    /// Flows that started at the current time, by index in `sharing`.
    started: Vec<u32>,
    rate_deadline: RateDeadline,
    pub(super) now: Time,
    pub(super) handled: u64,
    delivered_bytes: u64,
}

impl<'a> World<'a> {
    /// Builds the world of a setup, before its first event.
    pub(super) fn new(setup: &'a Setup, grouping: Grouping) -> Self {
        let scheme = with_capacity_weights(setup.policies().for_switches(), &setup.topology);
        let switching = Switching::new(&setup.topology, &setup.fabric, &scheme, setup.seed);
        let site = setup.site(&switching);
        let base_rtt = site.base_rtt;
        let mut endpoints = Endpoints::new(site);
        endpoints.hand_over_flows();
        let mut sharing = Sharing::default();
        let links = Links::new(&setup.topology, grouping, &mut sharing);
        let wire = wire(setup);
        let changes = changes(&setup.fabric.failures, &switching);
        let mut world = Self {
            queue_estimate: QueueEstimate::new(setup, base_rtt),
            paths: PathFinder::new(&setup.topology, switching, &scheme),
            setup,
            wire,
            endpoints,
            links,
            sharing,
            events: Events::default(),
            ends: EndQueue::default(),
            changes,
            transfers: Vec::new(),
            free: Vec::new(),
            transfer_of: Vec::new(),
            lanes: Vec::new(),
            sending: 0,
            started: Vec::new(),
            rate_deadline: RateDeadline::NEVER,
            now: Time::ZERO,
            handled: 0,
            delivered_bytes: 0,
        };
        for (index, change) in (0u32..).zip(&world.changes) {
            let event = Event { at: change.at, kind: Kind::Change, id: index, version: 0 };
            world.events.push(event);
        }
        (0..setup.topology.host_count()).for_each(|host| world.schedule_wake(HostId(host)));
        world
    }

    /// Returns the time of the next event or recomputation of rates.
    pub(super) fn next_time(&self) -> Option<Time> {
        let next = [self.events.next_time(), self.ends.first(), self.rate_deadline.at()];
        next.into_iter().flatten().min()
    }

    /// Handles all events at `now`, the time of the next event.
    pub(super) fn step(&mut self, now: Time) -> Result<(), Ungrouped> {
        self.now = now;
        let mut is_changed = false;
        loop {
            if let Some(event) = self.events.pop_at(now) {
                is_changed |= event.kind == Kind::Change;
                self.handle(&event)?;
            } else if let Some(index) = self.ends.pop_at(now) {
                self.end(index)?;
            } else {
                break;
            }
            self.handled += 1;
            while let Some(flow) = self.endpoints.poll_fluid_flow() {
                self.accept_flow(flow)?;
            }
        }
        // Paths are recomputed once, after all changes at this time.
        if is_changed {
            self.reroute_open_flows()?;
        }
        self.schedule_started();
        if self.rate_deadline.take(now) && self.sharing.is_stale() {
            self.compute_rates();
        }
        Ok(())
    }

    /// Returns the progress of the run.
    pub(super) fn progress(&self) -> Progress {
        let (messages, bytes) = self.endpoints.sent();
        Progress {
            now: self.now,
            completed: self.endpoints.ledger().completed,
            messages,
            delivered_bytes: self.delivered_bytes,
            total_bytes: bytes.get(),
            packet_hops: 0,
        }
    }

    fn handle(&mut self, event: &Event) -> Result<(), Ungrouped> {
        match event.kind {
            Kind::Change => self.change(event.id),
            Kind::Delivered => self.deliver(event.id),
            Kind::Completed => self.complete(event.id),
            Kind::Timeout if self.transfers[event.id as usize].version == event.version => {
                self.time_out(event.id)?;
            }
            // The flow has moved on since the timer was set.
            Kind::Timeout => {}
            Kind::Wake => self.wake(HostId(event.id)),
        }
        Ok(())
    }
}

/// Hosts.
impl World<'_> {
    fn wake(&mut self, id: HostId) {
        let host = self.endpoints.host_mut(id);
        // An earlier wake-up has replaced this one.
        if host.wake > self.now {
            return;
        }
        host.wake = Time::NEVER;
        self.endpoints.handle_timeout(self.now, id);
        self.follow_up(id);
    }

    fn deliver(&mut self, index: u32) {
        let flow = self.transfers[index as usize].flow;
        self.delivered_bytes += flow.bytes.get();
        self.endpoints.deliver_flow(self.now, &flow);
        self.follow_up(flow.packet.dst);
    }

    fn complete(&mut self, index: u32) {
        let flow = self.transfers[index as usize].flow;
        self.free.push(index);
        self.endpoints.complete_flow(self.now, &flow);
        self.follow_up(flow.packet.src);
    }

    fn follow_up(&mut self, id: HostId) {
        self.endpoints.follow_up(self.now, id);
        self.schedule_wake(id);
        while let Some(touched) = self.endpoints.poll_touched() {
            self.schedule_wake(touched);
        }
    }

    fn schedule_wake(&mut self, id: HostId) {
        let host = self.endpoints.host_mut(id);
        let Some(at) = host.next_wake(self.now, self.now) else { return };
        if at < host.wake {
            host.wake = at;
            self.events.push(Event { at, kind: Kind::Wake, id: id.0, version: 0 });
        }
    }
}

/// Flows.
impl World<'_> {
    /// Accepts a flow from its host. It starts now, or after the flows ahead of it on its queue
    /// pair.
    fn accept_flow(&mut self, flow: FluidFlow) -> Result<(), Ungrouped> {
        let connection = flow.connection as usize;
        if self.lanes.len() <= connection {
            self.lanes.resize_with(connection + 1, Lane::default);
        }
        let lane = &mut self.lanes[connection];
        if lane.is_busy {
            lane.waiting.push_back(flow);
            return Ok(());
        }
        lane.is_busy = true;
        self.start(flow, None)
    }

    /// Starts a flow. `slot` is the slot in `sharing` of the previous flow on its queue pair.
    fn start(&mut self, flow: FluidFlow, slot: Option<u32>) -> Result<(), Ungrouped> {
        let size = Size::of(flow.bytes, &self.wire);
        let transfer = Transfer::new(self.now, flow, size, Tail::default());
        let index = match self.free.pop() {
            // Versions keep increasing in a reused slot, so that old events stay stale.
            Some(index) => {
                let version = self.transfers[index as usize].version + 1;
                self.transfers[index as usize] = transfer;
                self.transfers[index as usize].version = version;
                index
            }
            None => {
                self.transfers.push(transfer);
                u32::try_from(self.transfers.len() - 1).expect("fewer than 2^32 flows")
            }
        };
        self.send(index, slot)
    }

    /// Puts a stopped transfer on its path, if there is one. If the flow in `slot` used the
    /// same links, the transfer takes over its slot and rate.
    fn send(&mut self, index: u32, slot: Option<u32>) -> Result<(), Ungrouped> {
        let transfer = &self.transfers[index as usize];
        let (flow, size, now) = (transfer.flow, transfer.size, self.now);
        let mut site = Site { links: &mut self.links, sharing: &mut self.sharing };
        let path = self
            .paths
            .data_path(now, &flow, &mut site)?
            .filter(|path| path.delivered_fraction > 0.0);
        let back = match path {
            Some(_) => self.paths.ack_path(now, &flow, &mut site)?,
            None => None,
        };
        let transfer = &mut self.transfers[index as usize];
        let Some(path) = path else {
            transfer.state = State::Stalled;
            let at = now.saturating_add(self.setup.nic.retransmit_timeout);
            let version = transfer.version;
            self.events.push(Event { at, kind: Kind::Timeout, id: index, version });
            self.release_slot(slot);
            return Ok(());
        };
        let paced = pace(self.setup, flow.packet.src);
        transfer.tail = Tail::of(&path, flow.bytes, &size, &self.wire, paced);
        transfer.on_path_since = now;
        let mut uses = uses(&path, back.as_ref(), &size);
        let data_uses = path.uses.len() as u32;
        if let Some(rate) = paced {
            let lane = &mut self.lanes[flow.connection as usize];
            let pace = lane.pace.get_or_insert_with(|| self.links.pace(rate, &mut self.sharing));
            uses.push(Use { share: size.without_gaps, ..*pace });
        }
        let taken = slot.filter(|&slot| self.sharing.uses(slot).eq(uses.iter().copied()));
        let of_sharing = taken.unwrap_or_else(|| {
            self.release_slot(slot);
            self.sharing.add(&uses)
        });
        self.transfers[index as usize].state = State::Sending { index: of_sharing, data_uses };
        if self.transfer_of.len() <= of_sharing as usize {
            self.transfer_of.resize(of_sharing as usize + 1, 0);
        }
        self.transfer_of[of_sharing as usize] = index;
        self.sending += 1;
        match taken {
            Some(_) => self.apply_rate(of_sharing),
            None => self.started.push(of_sharing),
        }
        Ok(())
    }

    /// Handles the end of a flow: its last byte has been sent.
    fn end(&mut self, index: u32) -> Result<(), Ungrouped> {
        let slot = self.stop(index);
        let transfer = &mut self.transfers[index as usize];
        transfer.state = State::Sent;
        let [delivered, completed] = transfer.tail.after(self.now);
        let (connection, version) = (transfer.flow.connection, transfer.version);
        for (at, kind) in [(delivered, Kind::Delivered), (completed, Kind::Completed)] {
            self.events.push(Event { at, kind, id: index, version });
        }
        let lane = &mut self.lanes[connection as usize];
        match lane.waiting.pop_front() {
            Some(next) => self.start(next, slot),
            None => {
                lane.is_busy = false;
                self.release_slot(slot);
                Ok(())
            }
        }
    }

    /// Stops a transfer. Returns its slot in `sharing`, if it has one; the slot is not freed yet.
    fn stop(&mut self, index: u32) -> Option<u32> {
        let transfer = &mut self.transfers[index as usize];
        let moved = transfer.leave(self.now);
        let State::Sending { index: of_sharing, data_uses } = transfer.state else { return None };
        for (nth, used) in (0u32..).zip(self.sharing.uses(of_sharing)) {
            self.links.count(used.link, transfer.carried(nth, data_uses, used, moved));
        }
        self.ends.set(index, None);
        self.queue_estimate.remove(transfer.queued.take());
        self.sending -= 1;
        Some(of_sharing)
    }

    /// Removes a stopped flow from the links of its path.
    fn release_slot(&mut self, slot: Option<u32>) {
        let Some(slot) = slot else { return };
        let transfer = &self.transfers[self.transfer_of[slot as usize] as usize];
        self.rate_deadline.defer(self.now, self.now.since(transfer.on_path_since), self.sending);
        self.sharing.remove(slot);
    }

    /// Handles a timeout of a flow without a path: its sender may move it to another one.
    fn time_out(&mut self, index: u32) -> Result<(), Ungrouped> {
        let transfer = &mut self.transfers[index as usize];
        let before = transfer.flow.packet.entropy;
        self.endpoints.handle_flow_timeout(self.now, &mut transfer.flow);
        transfer.version += 1;
        let (src, entropy) = (transfer.flow.packet.src, transfer.flow.packet.entropy);
        self.follow_up(src);
        // A sender that keeps its path waits until routing has converged.
        if entropy == before { Ok(()) } else { self.send(index, None) }
    }

    /// Schedules rates for the flows that started at this time. The delay is a fraction of the time
    /// that each would take at an even share of its links.
    fn schedule_started(&mut self) {
        for of_sharing in std::mem::take(&mut self.started) {
            let index = self.transfer_of[of_sharing as usize];
            let left = self.transfers[index as usize].left_at(self.now);
            let takes = Span::from_ps((left / self.sharing.least_fair_rate(of_sharing)) as u64);
            self.rate_deadline.defer(self.now, takes, self.sending);
        }
    }

    fn compute_rates(&mut self) {
        for of_sharing in self.sharing.compute() {
            self.apply_rate(of_sharing);
        }
    }

    /// Applies the computed rate to a flow that is being sent.
    fn apply_rate(&mut self, of_sharing: u32) {
        let index = self.transfer_of[of_sharing as usize];
        let transfer = &mut self.transfers[index as usize];
        transfer.set_rate(self.now, self.sharing.rate(of_sharing));
        let pace = pace(self.setup, transfer.flow.packet.src);
        let left = transfer.left_at(self.now);
        let queued = self.queue_estimate.estimate(&self.sharing, of_sharing, left, pace);
        self.queue_estimate.replace(&mut transfer.queued, queued);
        self.ends.set(index, transfer.end());
    }
}

/// Failures.
impl World<'_> {
    fn change(&mut self, index: u32) {
        let failures = &self.setup.fabric.failures;
        match self.changes[index as usize].target {
            Target::Wire(failure) => {
                for port in failures[failure as usize].ports() {
                    self.paths
                        .set_delivered_fraction(port, delivered_fraction(failures, port, self.now));
                }
            }
            Target::Step(step) => match self.paths.switching.apply_step(step) {
                // A fluid run has one plane, so host ports never change.
                StepEffect::None | StepEffect::HostPort(..) => {}
                StepEffect::Rate(link, rates) => {
                    for (port, rate) in link.ports().into_iter().zip(rates) {
                        self.links.set_rate(port, rate, &mut self.sharing);
                    }
                }
                StepEffect::Converged(state) => self.endpoints.handle_routing(state),
            },
        }
        self.paths.clear_cache();
        self.rate_deadline.request_now(self.now);
    }

    /// Moves every flow that is not fully sent to its current path.
    fn reroute_open_flows(&mut self) -> Result<(), Ungrouped> {
        let indices = 0..self.transfers.len() as u32;
        for index in indices {
            let is_open = self.transfers[index as usize].state != State::Sent;
            if is_open {
                let slot = self.stop(index);
                self.release_slot(slot);
                self.send(index, None)?;
            }
        }
        Ok(())
    }
}

/// Returns the uses of links by a flow and its acknowledgements, for each byte that arrives.
fn uses(path: &FlowPath, back: Option<&FlowPath>, size: &Size) -> Vec<Use> {
    let data = path.uses.iter().map(|it| Use { share: it.share / path.delivered_fraction, ..*it });
    let acks = back.into_iter().flat_map(|back| &back.uses);
    let service = Service::First;
    let acks = acks.map(|it| Use { share: it.share * size.acks, service, ..*it });
    data.chain(acks).collect()
}

/// Returns the scheme as a fluid run models it. Load-aware policies fill links of unequal rates in
/// proportion to the rates, as policies that weight next hops by capacity do.
fn with_capacity_weights(scheme: Scheme, topology: &Topology) -> Scheme {
    let looks = scheme.switch.uses_queue_lengths() || scheme.sender.is_load_aware();
    match looks && topology.is_uneven() {
        true => Scheme { weights: Weights::Capacity, ..scheme },
        false => scheme,
    }
}
