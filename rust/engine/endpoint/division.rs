//! The hosts of one part of a run that is divided among threads, and what they let hosts of other
//! parts know.
//!
//! A part has all hosts, and moves only its own. What a host does to another one without a packet
//! is a [`Note`]: that it has opened a queue pair, and that it has put a flow on one. In an
//! undivided run the other host learns of both at once; here it learns of them at the end of a
//! window, which is before the first packet can arrive. The receiving ends of queue pairs are made
//! in the order in which an undivided run makes them: by the event that opened the sending end.
//!
//! Until the sender knows the number of the receiving end, its packets have a provisional one that
//! names the sending end ([`provisional`]); the receiver's host finds the queue pair by it.

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

/// Set in the provisional numbers of receiving ends: numbers of queue pairs have 24 bits.
const PROVISIONAL: u32 = 1 << 31;

/// The number that packets have before the sender knows that of the receiving end.
const fn provisional(sender: QpId) -> QpId {
    QpId(PROVISIONAL | sender.0)
}

/// True if a packet has a provisional number.
#[inline(always)]
pub(super) const fn is_provisional(packet: &Packet) -> bool {
    packet.qp.0 & PROVISIONAL != 0
}

/// The hosts of a part among all hosts.
#[derive(Debug, Clone)]
pub(crate) struct Share {
    /// The part of each host, by id.
    pub(crate) parts: Arc<[u16]>,
    /// The index of this part.
    pub(crate) own: u16,
}

impl Share {
    /// True if a host is one of this part.
    #[inline]
    pub(crate) fn owns(&self, host: HostId) -> bool {
        self.parts[host.index()] == self.own
    }
}

/// What a host lets another one know without a packet.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Note {
    /// The time and the rank of the event that caused it.
    pub(crate) at: (Time, u32),
    /// The part that it comes from, and the part of the host that it is for.
    pub(crate) from: u16,
    pub(crate) to: u16,
    content: Content,
}

#[derive(Debug, Clone, Copy)]
enum Content {
    /// A queue pair has been opened; its index among the connections of its part.
    Opened { connection: u32, key: ConnectionKey, qp: QpId },
    /// A flow has been put on it.
    Posted { connection: u32, message: MessageId, piece: u32, pieces: u32 },
    /// The number of the receiving end of the queue pair `qp` at `src`.
    Answered { src: HostId, qp: QpId, receiver: QpId },
}

/// The state of a part that an undivided run does not have.
#[derive(Debug)]
pub(super) struct Division {
    share: Share,
    /// Notes to be passed on; those before `stamped` have their time and rank.
    notes: Vec<Note>,
    stamped: usize,
    /// The connections of other parts whose receivers are here: by part and index there.
    arriving: IdMap<(u16, u32), u32>,
    /// The receiving ends of this part's hosts, by sending host and its queue pair.
    receivers: IdMap<(HostId, QpId), QpId>,
}

impl Division {
    fn note(&mut self, host: HostId, content: Content) {
        let (from, to) = (self.share.own, self.share.parts[host.index()]);
        self.notes.push(Note { at: (Time::ZERO, 0), from, to, content });
    }

    /// A queue pair has been opened, whose receiving end is made at the end of the window; the
    /// number that its packets have until then.
    pub(super) fn open(&mut self, connection: u32, key: ConnectionKey, qp: QpId) -> QpId {
        self.note(key.dst, Content::Opened { connection, key, qp });
        provisional(qp)
    }

    /// A flow has been put on a connection to `dst`; true if it is delivered in another part.
    pub(super) fn post(&mut self, connection: u32, dst: HostId, flow: &Flow) -> bool {
        let is_abroad = !self.share.owns(dst);
        if is_abroad {
            let &Flow { message, piece, pieces, .. } = flow;
            self.note(dst, Content::Posted { connection, message, piece, pieces });
        }
        is_abroad
    }
}

/// True if what happens at a host is known at another one only by packets: no delay releases a task
/// of another host.
pub(crate) fn is_divisible(workload: &Workload) -> bool {
    workload.tasks().all(|task| match workload.task(task) {
        Task::Message(_, message) => message.src != message.dst,
        Task::Delay(delay) => {
            let dependents = workload.dependents_of(task);
            dependents.iter().all(|&after| workload.host_of(after) == delay.host)
        }
    })
}

impl Endpoints {
    /// The hosts of a part of a divided run, with the tasks of its own hosts scheduled.
    pub(crate) fn of_part(site: Site, share: Share) -> Self {
        let mut part = Self::unscheduled(site);
        schedule_independent(&part.site.workload, &mut part.hosts, &|host| share.owns(host));
        part.division = Some(Box::new(Division {
            share,
            notes: Vec::new(),
            stamped: 0,
            arriving: IdMap::default(),
            receivers: IdMap::default(),
        }));
        part
    }

    /// True if a host is moved here: always, except in a part of a divided run.
    pub(crate) fn owns(&self, host: HostId) -> bool {
        self.division.as_ref().is_none_or(|division| division.share.owns(host))
    }

    /// Gives the notes of the event that was handled last its time and rank.
    #[inline]
    pub(crate) fn stamp(&mut self, now: Time, rank: u32) {
        let Some(division) = &mut self.division else { return };
        for note in &mut division.notes[division.stamped..] {
            note.at = (now, rank);
        }
        division.stamped = division.notes.len();
    }

    /// The notes since the last call, in order.
    pub(crate) fn take_notes(&mut self) -> Vec<Note> {
        let Some(division) = &mut self.division else { return Vec::new() };
        division.stamped = 0;
        std::mem::take(&mut division.notes)
    }

    /// Takes the notes for this part at the end of a window, those of all parts together.
    pub(crate) fn handle_notes(&mut self, mut notes: Vec<Note>) {
        // Notes of one event are from one part, and in order.
        notes.sort_by_key(|note| note.at);
        for Note { from, content, .. } in notes {
            match content {
                Content::Opened { connection, key, qp } => {
                    self.open_receiving(from, connection, &key, qp);
                }
                Content::Posted { connection, message, piece, pieces } => {
                    let division = self.division.as_ref().expect("only parts get notes");
                    let connection = division.arriving[&(from, connection)];
                    self.ledger.expect(connection, message, piece, pieces);
                }
                Content::Answered { src, qp, receiver } => {
                    self.hosts[src.index()].nic.set_receiver(qp, receiver);
                }
            }
        }
        if let Some(division) = &mut self.division {
            // Answers need no order.
            division.stamped = division.notes.len();
        }
    }

    /// Makes the receiving end of a queue pair.
    fn open_receiving(&mut self, from: u16, connection: u32, key: &ConnectionKey, qp: QpId) {
        let is_own = self.owns(key.src);
        let cookie = match is_own {
            true => connection,
            false => self.ledger.connections.add_arriving(key, qp),
        };
        let settings = self.policies.settings(key.stream, self.site.nic_of(key.dst).recovery);
        let label = key.label();
        let half = ReceiveHalf { peer: key.src, peer_qp: qp, label, cookie, settings };
        let receiver = self.hosts[key.dst.index()].nic.open_receiving(half);
        let division = self.division.as_mut().expect("only parts get notes");
        division.receivers.insert((key.src, qp), receiver);
        if is_own {
            self.hosts[key.src.index()].nic.set_receiver(qp, receiver);
        } else {
            division.arriving.insert((from, connection), cookie);
            division.note(key.src, Content::Answered { src: key.src, qp, receiver });
        }
    }

    /// The packet with the number of its receiving end in the place of a provisional one.
    #[cold]
    pub(super) fn with_receiver(&self, packet: &Packet) -> Packet {
        let sender = QpId(packet.qp.0 & !PROVISIONAL);
        let division = self.division.as_ref().expect("only parts have provisional numbers");
        Packet { qp: division.receivers[&(packet.src, sender)], ..*packet }
    }

    /// Messages that have been delivered to hosts of this part.
    pub(crate) fn delivered_messages(&self) -> u64 {
        self.ledger.delivered
    }

    /// The hosts of all parts as those of one run that has ended; `parts` begins with part 0.
    ///
    /// # Panics
    /// If there is no part.
    pub(crate) fn merge(parts: Vec<Self>) -> Self {
        let mut parts = parts.into_iter();
        let mut all = parts.next().expect("a run has a part");
        for mut part in parts {
            let division = part.division.take().expect("it is a part");
            for index in 0..all.hosts.len() {
                if division.share.owns(HostId(index as u32)) {
                    std::mem::swap(&mut all.hosts[index], &mut part.hosts[index]);
                }
            }
            let messages = &all.site.workload.messages;
            let is_sent = |id: MessageId| division.share.owns(messages[id.index()].src);
            all.ledger.absorb(part.ledger, &is_sent);
        }
        all.ledger.note_arrivals();
        all.division = None;
        all
    }
}
