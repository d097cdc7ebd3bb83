//! The hosts of one partition of a parallel run, and the notes that partitions exchange.
//!
//! Each partition holds every host but simulates only its own. A [`Note`] carries an effect on
//! another host that no packet carries: a new queue pair, or a flow posted to one. In a
//! single-threaded run the other host learns of both immediately. Here it learns of them at the end
//! of a window, before the first packet can arrive. Responders are created in the order of a
//! single-threaded run: by the event that opened the requester.
//!
//! Until the requester knows the number of its responder, its packets carry a provisional number
//! that names the requester ([`provisional`]). The receiving host looks up the queue pair by it.

use std::sync::Arc;

use super::connections::ConnectionKey;
use super::tasks::schedule_independent;
use super::{Endpoints, Site};
use crate::ids::{HostId, IdMap, MessageId, QpId};
use crate::nic::ReceiveHalf;
use crate::packet::Packet;
use crate::split::Flow;
use crate::units::Time;
use crate::workload::{Task, Workload};

/// Flag of provisional responder numbers. Queue pair numbers have 24 bits.
const PROVISIONAL: u32 = 1 << 31;

/// Returns the number that packets carry until the requester knows its responder's.
const fn provisional(sender: QpId) -> QpId {
    QpId(PROVISIONAL | sender.0)
}

/// True if a packet has a provisional number.
#[inline(always)]
pub(super) const fn is_provisional(packet: &Packet) -> bool {
    packet.qp.0 & PROVISIONAL != 0
}

/// The assignment of hosts to partitions, as seen by one of them.
#[derive(Debug, Clone)]
pub(crate) struct Share {
    /// The partition of each host, by id.
    pub(crate) partitions: Arc<[u16]>,
    /// The index of this partition.
    pub(crate) own: u16,
}

impl Share {
    /// True if the partition owns `host`.
    #[inline]
    pub(crate) fn owns(&self, host: HostId) -> bool {
        self.partitions[host.index()] == self.own
    }
}

/// An effect of one host on another that no packet carries.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Note {
    /// Time and rank of the event that caused it.
    pub(crate) at: (Time, u32),
    /// Partitions of the sender and of the receiving host.
    pub(crate) from: u16,
    pub(crate) to: u16,
    content: Content,
}

#[derive(Debug, Clone, Copy)]
enum Content {
    /// A queue pair was opened. `connection` is its index in the sender's partition.
    Opened { connection: u32, key: ConnectionKey, qp: QpId },
    /// A flow was posted to the queue pair.
    Posted { connection: u32, message: MessageId, piece: u32, pieces: u32 },
    /// Number of the responder of queue pair `qp` at `src`.
    ResponderOpened { src: HostId, qp: QpId, receiver: QpId },
}

/// State that only a partition of a parallel run has.
#[derive(Debug)]
pub(super) struct Partition {
    share: Share,
    /// Notes to pass on. The first `stamped` ones have their time and rank.
    notes: Vec<Note>,
    stamped: usize,
    /// Connections from other partitions to receivers here, by partition and index there.
    arriving: IdMap<(u16, u32), u32>,
    /// Responders at this partition's hosts, by sending host and its queue pair.
    receivers: IdMap<(HostId, QpId), QpId>,
}

impl Partition {
    fn note(&mut self, host: HostId, content: Content) {
        // Time and rank are filled in by `stamp`, once the event has been handled.
        let (from, to) = (self.share.own, self.share.partitions[host.index()]);
        self.notes.push(Note { at: (Time::ZERO, 0), from, to, content });
    }

    /// Announces a new queue pair, whose responder is created at the end of the window. Returns the
    /// number that its packets carry until then.
    pub(super) fn open(&mut self, connection: u32, key: ConnectionKey, qp: QpId) -> QpId {
        self.note(key.dst, Content::Opened { connection, key, qp });
        provisional(qp)
    }

    /// Announces a flow on a connection to `dst`. True if another partition delivers it.
    pub(super) fn post(&mut self, connection: u32, dst: HostId, flow: &Flow) -> bool {
        let is_remote = !self.share.owns(dst);
        if is_remote {
            let &Flow { message, piece, pieces, .. } = flow;
            self.note(dst, Content::Posted { connection, message, piece, pieces });
        }
        is_remote
    }
}

/// True if hosts affect each other only by packets: no message stays at its host, and no delay
/// releases a task of another host.
pub(crate) fn is_partitionable(workload: &Workload) -> bool {
    workload.tasks().all(|task| match workload.task(task) {
        Task::Message(_, message) => message.src != message.dst,
        Task::Delay(delay) => {
            let dependents = workload.dependents_of(task);
            dependents.iter().all(|&after| workload.host_of(after) == delay.host)
        }
    })
}

impl Endpoints {
    /// Returns the hosts of a partition, with the tasks of its own hosts scheduled.
    pub(crate) fn of_partition(site: Site, share: Share) -> Self {
        let mut endpoints = Self::unscheduled(site);
        schedule_independent(&endpoints.site.workload, &mut endpoints.hosts, &|host| {
            share.owns(host)
        });
        endpoints.partition = Some(Box::new(Partition {
            share,
            notes: Vec::new(),
            stamped: 0,
            arriving: IdMap::default(),
            receivers: IdMap::default(),
        }));
        endpoints
    }

    /// True if `host` is simulated here. Without partitions, every host is.
    pub(crate) fn owns(&self, host: HostId) -> bool {
        self.partition.as_ref().is_none_or(|partition| partition.share.owns(host))
    }

    /// Stamps the notes of the last handled event with its time and rank.
    #[inline]
    pub(crate) fn stamp(&mut self, now: Time, rank: u32) {
        let Some(partition) = &mut self.partition else { return };
        for note in &mut partition.notes[partition.stamped..] {
            note.at = (now, rank);
        }
        // Notes of later events start here.
        partition.stamped = partition.notes.len();
    }

    /// Takes the notes since the last call, in order.
    pub(crate) fn take_notes(&mut self) -> Vec<Note> {
        let Some(partition) = &mut self.partition else { return Vec::new() };
        partition.stamped = 0;
        std::mem::take(&mut partition.notes)
    }

    /// Handles the notes of all partitions for this one at the end of a window.
    pub(crate) fn handle_notes(&mut self, mut notes: Vec<Note>) {
        // A stable sort: notes of one event come from one partition and are already in order.
        notes.sort_by_key(|note| note.at);
        for Note { from, content, .. } in notes {
            match content {
                Content::Opened { connection, key, qp } => {
                    self.open_receiving(from, connection, &key, qp);
                }
                Content::Posted { connection, message, piece, pieces } => {
                    let partition = self.partition.as_ref().expect("only partitions get notes");
                    let connection = partition.arriving[&(from, connection)];
                    self.ledger.expect(connection, message, piece, pieces);
                }
                Content::ResponderOpened { src, qp, receiver } => {
                    self.hosts[src.index()].nic.set_receiver(qp, receiver);
                }
            }
        }
        if let Some(partition) = &mut self.partition {
            // `ResponderOpened` notes commute, so they need neither time nor rank.
            partition.stamped = partition.notes.len();
        }
    }

    /// Creates the responder of a queue pair.
    fn open_receiving(&mut self, from: u16, connection: u32, key: &ConnectionKey, qp: QpId) {
        let is_own = self.owns(key.src);
        // Between two hosts of this partition the connection exists already.
        let cookie = match is_own {
            true => connection,
            false => self.ledger.connections.add_arriving(key, qp),
        };
        let settings = self.policies.settings(key.stream, self.site.nic_of(key.dst).recovery);
        let label = key.label();
        let half = ReceiveHalf { peer: key.src, peer_qp: qp, label, cookie, settings };
        let receiver = self.hosts[key.dst.index()].nic.open_receiving(half);
        let partition = self.partition.as_mut().expect("only partitions get notes");
        partition.receivers.insert((key.src, qp), receiver);
        if is_own {
            self.hosts[key.src.index()].nic.set_receiver(qp, receiver);
        } else {
            // The sender refers to the connection by its own index.
            partition.arriving.insert((from, connection), cookie);
            partition.note(key.src, Content::ResponderOpened { src: key.src, qp, receiver });
        }
    }

    /// Returns the packet with its provisional number replaced by the responder's.
    // Cold: only packets of a queue pair's first round trip have provisional numbers.
    #[cold]
    pub(super) fn with_receiver(&self, packet: &Packet) -> Packet {
        let sender = QpId(packet.qp.0 & !PROVISIONAL);
        let partition = self.partition.as_ref().expect("only partitions have provisional numbers");
        Packet { qp: partition.receivers[&(packet.src, sender)], ..*packet }
    }

    /// Returns the number of messages delivered to hosts of this partition.
    pub(crate) fn delivered_messages(&self) -> u64 {
        self.ledger.delivered
    }

    /// Joins the hosts of all partitions at the end of a run. Partition 0 comes first.
    ///
    /// # Panics
    /// If there is no partition.
    pub(crate) fn merge(partitions: Vec<Self>) -> Self {
        let mut partitions = partitions.into_iter();
        let mut all = partitions.next().expect("a run has a partition");
        for mut other in partitions {
            let partition = other.partition.take().expect("it is a partition");
            for index in 0..all.hosts.len() {
                if partition.share.owns(HostId(index as u32)) {
                    // Each host's state is in the partition that simulated it.
                    std::mem::swap(&mut all.hosts[index], &mut other.hosts[index]);
                }
            }
            let messages = &all.site.workload.messages;
            let is_sent = |id: MessageId| partition.share.owns(messages[id.index()].src);
            all.ledger.absorb(other.ledger, &is_sent);
        }
        all.ledger.fill_in_arrivals();
        all.partition = None;
        all
    }
}
