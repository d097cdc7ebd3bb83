//! Messages between the GPUs of a server, carried by its scale-up network ([`ScaleUp`]).
//!
//! Such a message is carried whole. It uses no queue pair, and no splitter, policy, recovery or
//! congestion control applies. Messages share the ports of GPUs with max-min fairness
//! ([`crate::sharing`]), which is the long-run behavior of a non-blocking switch with credits
//! \[inferred\]. A message is delivered one latency after its last bit has left, and completes one
//! latency after that.
//!
//! The last GPU of a server wakes for its whole domain. Senders start their messages in order of
//! ids, so by then all messages of that time have started, and they share the network from then on.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::Endpoints;
use super::MessageEventKind;
use super::connections::StreamKey;
use super::tasks::Ended;
use crate::ids::{HostId, MessageId};
use crate::sharing::{Service, Sharing, Use};
use crate::topology::{HostPath, ScaleUp, Topology};
use crate::units::{Bytes, Span, Time};
use crate::workload::Message;

/// Tolerance for rounding errors: a time that exceeds a picosecond by less is not rounded up.
const ROUNDING_TOLERANCE_PS: f64 = 1e-3;

/// Bytes carried by the scale-up port of a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PortBytes {
    /// Bytes sent by the host.
    pub sent: Bytes,
    /// Bytes received by the host.
    pub received: Bytes,
}

/// Traffic of all scale-up networks.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ScaleUpUse {
    /// Messages delivered inside servers.
    pub inside: u64,
    /// Messages relayed to the GPU of a rail.
    pub relayed: u64,
    /// Bytes carried, by host.
    pub ports: Vec<PortBytes>,
}

/// A message in a domain, or the first leg of a relayed one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Leg {
    message: MessageId,
    /// Its record in the ledger; `None` if it continues over the fabric.
    record: Option<u32>,
    from: HostId,
    to: HostId,
    bytes: Bytes,
}

/// A leg in transmission.
#[derive(Debug)]
struct Transfer {
    leg: Leg,
    /// Bytes that had not left at time `since`.
    remaining: f64,
    /// Bytes per picosecond.
    rate: f64,
    since: Time,
    /// Invalidates scheduled ends: an end with an older version is ignored.
    version: u32,
}

impl Transfer {
    fn remaining_at(&self, now: Time) -> f64 {
        // Rounding may put the end slightly late: the rest is never negative.
        (self.remaining - self.rate * now.since(self.since).as_ps() as f64).max(0.0)
    }
}

/// A scheduled action in a domain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Action {
    /// The last bit of a transfer leaves.
    Sent { index: u32, version: u32 },
    /// A leg arrives at its receiver.
    Arrived(Leg),
    /// The sender of a flow, or of a relayed message, learns that it is complete.
    SenderNotified { record: u32 },
}

/// An action with its time. Actions at the same time are in scheduling order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Step {
    at: Time,
    sequence: u64,
    action: Action,
}

/// The scale-up networks of all servers.
#[derive(Debug)]
pub(super) struct Domains {
    scale_up: ScaleUp,
    /// Port `2h` sends from host `h`, port `2h + 1` receives at host `h`.
    sharing: Sharing,
    /// By flow index of `sharing`.
    transfers: Vec<Transfer>,
    /// Scheduled actions, by server.
    steps: Vec<BinaryHeap<Reverse<Step>>>,
    scheduled: u64,
    delivered_bytes: u64,
    carried: ScaleUpUse,
}

impl Domains {
    /// Creates the domains of a topology; `None` without any.
    pub(super) fn of(topology: &Topology) -> Option<Box<Self>> {
        let scale_up = *topology.scale_up()?;
        let hosts = topology.host_count();
        let mut sharing = Sharing::default();
        // Bytes per picosecond.
        let capacity = scale_up.rate.as_bps() as f64 / 8e12;
        for _ in 0..2 * hosts {
            sharing.add_link(capacity);
        }
        let ports = vec![PortBytes::default(); hosts as usize];
        Some(Box::new(Self {
            steps: (0..hosts / scale_up.gpus).map(|_| BinaryHeap::new()).collect(),
            scale_up,
            sharing,
            transfers: Vec::new(),
            scheduled: 0,
            delivered_bytes: 0,
            carried: ScaleUpUse { ports, ..ScaleUpUse::default() },
        }))
    }

    /// Returns the bytes of messages delivered inside servers.
    pub(super) fn delivered_bytes(&self) -> u64 {
        self.delivered_bytes
    }

    fn schedule(&mut self, at: Time, host: HostId, action: Action) {
        let step = Step { at, sequence: self.scheduled, action };
        self.scheduled += 1;
        self.steps[self.scale_up.server_of(host) as usize].push(Reverse(step));
    }

    fn begin(&mut self, now: Time, leg: Leg) {
        let port = |link: u32| Use { link, share: 1.0, service: Service::Fair };
        let index = self.sharing.add(&[port(2 * leg.from.0), port(2 * leg.to.0 + 1)]) as usize;
        // Flow indices are reused. A new transfer continues the version, so that ends of the old
        // one fail.
        let version = self.transfers.get(index).map_or(0, |before| before.version + 1);
        let remaining = leg.bytes.get() as f64;
        let transfer = Transfer { leg, remaining, rate: 0.0, since: now, version };
        match self.transfers.get_mut(index) {
            Some(slot) => *slot = transfer,
            None => self.transfers.push(transfer),
        }
    }

    /// Recomputes the rates of transfers, and reschedules their ends.
    fn share(&mut self, now: Time) {
        // No message started or ended: rates and ends stand.
        if !self.sharing.is_stale() {
            return;
        }
        for index in self.sharing.compute() {
            let rate = self.sharing.rate(index);
            let transfer = &mut self.transfers[index as usize];
            transfer.remaining = transfer.remaining_at(now);
            (transfer.rate, transfer.since) = (rate, now);
            transfer.version += 1;
            let ps = (transfer.remaining / rate - ROUNDING_TOLERANCE_PS).ceil().max(0.0);
            let (from, version) = (transfer.leg.from, transfer.version);
            let at = now.saturating_add(Span::from_ps(ps as u64));
            self.schedule(at, from, Action::Sent { index, version });
        }
    }

    /// Returns the time of the next action in the server of `host`; `NEVER` without one.
    fn next(&self, host: HostId) -> Time {
        let steps = &self.steps[self.scale_up.server_of(host) as usize];
        steps.peek().map_or(Time::NEVER, |Reverse(step)| step.at)
    }

    /// Takes the next action that is due by `now` in the server of `host`.
    fn pop(&mut self, now: Time, host: HostId) -> Option<Action> {
        if self.next(host) > now {
            return None;
        }
        let steps = &mut self.steps[self.scale_up.server_of(host) as usize];
        steps.pop().map(|Reverse(step)| step.action)
    }

    /// Ends a transfer, unless its rate has changed since this end was scheduled.
    fn end(&mut self, now: Time, index: u32, version: u32) {
        let transfer = &mut self.transfers[index as usize];
        if transfer.version != version {
            return;
        }
        // The index may be reused from here on.
        transfer.version += 1;
        let leg = transfer.leg;
        self.sharing.remove(index);
        let ports = &mut self.carried.ports;
        ports[leg.from.index()].sent += leg.bytes;
        ports[leg.to.index()].received += leg.bytes;
        let at = now.saturating_add(self.scale_up.latency);
        self.schedule(at, leg.to, Action::Arrived(leg));
    }
}

impl Endpoints {
    /// Returns the traffic of the scale-up networks; `None` without any.
    pub fn scale_up_use(&self) -> Option<&ScaleUpUse> {
        self.domains.as_ref().map(|domains| &domains.carried)
    }

    /// Starts a message of `host` in its server's domain. False if the fabric carries it.
    pub(super) fn start_in_domain(&mut self, now: Time, host: HostId, id: MessageId) -> bool {
        let Some(domains) = &mut self.domains else { return false };
        let message = match self.site.workload.messages.get(id.index()) {
            Some(message) => *message,
            None => *self.ledger.posted(id).expect("a message in use is not discarded"),
        };
        let Message { src, dst, bytes, .. } = message;
        let (to, record) = match domains.scale_up.host_path(src, dst) {
            // The second leg of a relayed message goes over the fabric.
            _ if host != src => return false,
            HostPath::Fabric => return false,
            HostPath::ScaleUp => (dst, Some(self.ledger.add_flow_in_domain(now, id, &message))),
            HostPath::Relayed(by) => (by, None),
        };
        domains.begin(now, Leg { message: id, record, from: src, to, bytes });
        let last = domains.scale_up.last_of_server(src);
        // Rates are computed when the domain wakes, after every message of this time has started.
        self.wake_domain(last, now);
        true
    }

    /// Handles what is due by `now` in the domain that `waker` wakes for.
    pub(super) fn handle_domain(&mut self, now: Time, waker: HostId) {
        self.hosts[waker.index()].domain_wake = Time::NEVER;
        // Taken out, because handling an action also needs the rest of `self`.
        let Some(mut domains) = self.domains.take() else { return };
        while let Some(action) = domains.pop(now, waker) {
            match action {
                Action::Sent { index, version } => domains.end(now, index, version),
                Action::Arrived(leg) => {
                    // Put back for the call: it may release messages that start in the same domain.
                    self.domains = Some(domains);
                    self.arrive_in_domain(now, waker, leg);
                    domains = self.domains.take().expect("it was put back");
                }
                Action::SenderNotified { record } => {
                    self.domains = Some(domains);
                    self.complete_record(now, waker, record, None);
                    domains = self.domains.take().expect("it was put back");
                }
            }
        }
        domains.share(now);
        let next = domains.next(waker);
        self.domains = Some(domains);
        // The calls above may have scheduled an earlier wake-up.
        let wake = &mut self.hosts[waker.index()].domain_wake;
        *wake = next.min(*wake);
    }

    fn arrive_in_domain(&mut self, now: Time, waker: HostId, leg: Leg) {
        let domains = self.domains.as_mut().expect("messages arrive in a domain");
        let Some(record) = leg.record else {
            domains.carried.relayed += 1;
            let start = self.start_at(now, leg.message.into());
            self.hosts[leg.to.index()].schedule(start);
            return self.touched.push(leg.to);
        };
        domains.carried.inside += 1;
        domains.delivered_bytes += leg.bytes.get();
        let notified = now.saturating_add(domains.scale_up.latency);
        domains.schedule(notified, leg.from, Action::SenderNotified { record });
        if let Some(message) = self.ledger.deliver_flow(now, record) {
            self.report(now, message, MessageEventKind::Delivered);
            self.release(now, waker, Ended { host: leg.to, task: message.into() });
        }
    }

    /// Completes a flow at the host that sent it, and its message if all flows are complete. The
    /// sender of a relayed message is another host, which learns of it one latency later.
    pub(super) fn finish_flow(&mut self, now: Time, id: HostId, record: u32, stream: StreamKey) {
        if let Some(domains) = &mut self.domains {
            let message = self.ledger.message_of(record);
            let planned = self.site.workload.messages.get(message.index());
            let message = planned.or_else(|| self.ledger.posted(message));
            // Another host sent it over the fabric: `id` is the relay.
            if message.is_some_and(|message| message.src != id) {
                let notified = now.saturating_add(domains.scale_up.latency);
                domains.schedule(notified, id, Action::SenderNotified { record });
                let waker = domains.scale_up.last_of_server(id);
                return self.wake_domain(waker, notified);
            }
        }
        self.complete_record(now, id, record, Some(stream));
    }

    /// Completes a flow for the sender of its message. `handled` is the host whose event is being
    /// handled. `stream` names the queue pairs used, unless they belong to another host's NIC.
    fn complete_record(
        &mut self,
        now: Time,
        handled: HostId,
        record: u32,
        stream: Option<StreamKey>,
    ) {
        let id = self.ledger.message_of(record);
        let host = self.message(id).src;
        if let Some(message) = self.ledger.complete(now, record) {
            if let Some(stream) = stream {
                self.discard_stream(stream);
            }
            self.report(now, message, MessageEventKind::Completed);
            self.release(now, handled, Ended { host, task: message.into() });
        }
    }

    fn wake_domain(&mut self, waker: HostId, at: Time) {
        let wake = &mut self.hosts[waker.index()].domain_wake;
        *wake = at.min(*wake);
        self.touched.push(waker);
    }
}
