//! The work queues of one queue pair: posted work and its progress.

use std::collections::{BTreeMap, VecDeque};

use super::header::{Meaning, VerbHeader};
use super::{Completion, CompletionStatus, Opcode, Operation, WorkRequest};
use crate::ids::QpId;
use crate::units::Bytes;

/// A message of the requester.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Message {
    /// A work request, by its index in posting order.
    Request(u64),
    /// A response of this many bytes to a READ of the peer; it belongs to no work request here.
    ReadResponse(u64),
}

impl Message {
    /// The bit that marks the id of a response; lengths have 31 bits.
    const READ_RESPONSE: u64 = 1 << 63;

    /// Returns its id in the requester.
    pub(super) const fn to_name(self) -> u64 {
        match self {
            Self::Request(index) => index,
            Self::ReadResponse(bytes) => Self::READ_RESPONSE | bytes,
        }
    }

    /// Returns the message with this id.
    pub(super) const fn of_name(name: u64) -> Self {
        match name & Self::READ_RESPONSE {
            0 => Self::Request(name),
            _ => Self::ReadResponse(name & !Self::READ_RESPONSE),
        }
    }
}

/// Progress of a work request in the send queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Progress {
    Open,
    Done,
}

/// An incoming message other than a plain WRITE.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Inbound {
    pub meaning: Meaning,
    pub bytes: u64,
}

/// Failures that are counted while there is no progress.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Failure {
    /// The retransmission timer expired.
    Timeout,
    /// The receiver was not ready.
    ReceiverNotReady,
}

/// The send queue, the receive queue, and the state of messages in progress.
#[derive(Debug, Clone)]
pub(in crate::nic) struct WorkQueues {
    qp: QpId,
    sends: VecDeque<(WorkRequest, Progress)>,
    /// Number of the first of `sends`, counted from the first ever posted.
    first: u64,
    /// Number of `sends` that were passed to the requester.
    started: usize,
    receives: VecDeque<u64>,
    /// Number of consumed receives, which is the number of the first of `receives`.
    consumed: u64,
    /// Number of messages passed to the requester.
    messages: u64,
    /// Number of these that consume a receive of the peer.
    consuming: u64,
    /// The packet refused last because no receive was posted.
    refused: Option<u64>,
    /// Incoming messages in progress, by number.
    inbound: BTreeMap<u64, Inbound>,
    /// Oldest unacknowledged packet at the last failure, and the failures since.
    consecutive_failures: (u64, [u32; 2]),
}

impl WorkQueues {
    pub(crate) fn new(qp: QpId) -> Self {
        Self {
            qp,
            sends: VecDeque::new(),
            first: 0,
            started: 0,
            receives: VecDeque::new(),
            consumed: 0,
            messages: 0,
            consuming: 0,
            refused: None,
            inbound: BTreeMap::new(),
            consecutive_failures: (0, [0; 2]),
        }
    }

    pub(crate) fn sends(&self) -> usize {
        self.sends.len()
    }

    /// Returns the number of incomplete WRITEs with immediate data.
    pub(crate) fn immediates(&self) -> usize {
        let is_immediate =
            |request: &WorkRequest| matches!(request.operation, Operation::WriteWithImmediate(_));
        self.sends.iter().filter(|(request, _)| is_immediate(request)).count()
    }

    pub(crate) fn receives(&self) -> usize {
        self.receives.len()
    }

    pub(crate) fn post_send(&mut self, request: WorkRequest) {
        self.sends.push_back((request, Progress::Open));
    }

    pub(crate) fn post_receive(&mut self, id: u64) {
        self.receives.push_back(id);
    }

    /// Returns the next work request for the requester, and its number.
    pub(crate) fn start_next(&mut self) -> Option<(u64, WorkRequest)> {
        let (request, _) = *self.sends.get(self.started)?;
        self.started += 1;
        Some((self.first + self.started as u64 - 1, request))
    }

    /// Takes back the work request begun last. Its message numbers are reused.
    pub(crate) fn undo_start(&mut self) {
        self.started -= 1;
        let (request, _) = self.sends[self.started];
        // The length does not matter here: only whether it consumes a receive.
        let meaning = Meaning::of(request.operation, 0);
        self.messages -= 1;
        self.consuming -= u64::from(meaning.is_some_and(Meaning::consumes));
    }

    /// Takes back a response to a READ.
    pub(crate) fn undo_read_response(&mut self) {
        self.messages -= 1;
    }

    /// Numbers a message for the requester and returns the header of its packets.
    pub(crate) fn header(&mut self, meaning: Option<Meaning>) -> u64 {
        let header = meaning.map(|it| VerbHeader::new(it, self.messages, self.consuming));
        self.messages += 1;
        self.consuming += u64::from(meaning.is_some_and(Meaning::consumes));
        header.map_or(0, VerbHeader::to_bits)
    }

    /// True if the receive that a message consumes is posted.
    pub(crate) fn is_ready_for(&self, header: VerbHeader) -> bool {
        // Receives are numbered from the first ever posted; those in the queue begin at `consumed`.
        header.receive_near(self.consumed) < self.consumed + self.receives.len() as u64
    }

    /// Records the refusal of packet `sequence`.
    pub(crate) fn refuse(&mut self, sequence: u64) {
        self.refused = Some(sequence);
    }

    /// True if packet `sequence` was refused last.
    pub(crate) fn has_refused(&self, sequence: u64) -> bool {
        self.refused == Some(sequence)
    }

    /// Counts `bytes` of message `number` that were missing.
    pub(crate) fn record_inbound(&mut self, number: u64, meaning: Meaning, bytes: u64) {
        self.inbound.entry(number).or_insert(Inbound { meaning, bytes: 0 }).bytes += bytes;
    }

    /// Discards the bytes of message `number`, which will arrive again.
    pub(crate) fn reset_inbound(&mut self, number: u64) {
        if let Some(message) = self.inbound.get_mut(&number) {
            message.bytes = 0;
        }
    }

    /// Removes and returns message `number`, which is complete; `None` for a plain WRITE.
    pub(crate) fn take_inbound(&mut self, number: u64) -> Option<Inbound> {
        self.inbound.remove(&number)
    }

    /// Completes a receive by the delivery of a message that consumes it.
    pub(crate) fn consume(&mut self, message: Inbound, completions: &mut VecDeque<Completion>) {
        // Only a forged packet finds no receive.
        let Some(id) = self.receives.pop_front() else { return };
        self.consumed += 1;
        let (opcode, immediate) = match message.meaning {
            Meaning::WriteWithImmediate(number) => (Opcode::ReceiveRdmaWithImmediate, Some(number)),
            _ => (Opcode::Receive, None),
        };
        completions.push_back(Completion {
            qp: self.qp,
            id,
            opcode,
            status: CompletionStatus::Success,
            bytes: Bytes::new(message.bytes),
            immediate,
        });
    }

    /// Handles the acknowledgement of message `number`, which does not complete a READ.
    pub(crate) fn acknowledged(&mut self, number: u64, completions: &mut VecDeque<Completion>) {
        let index = number.checked_sub(self.first).and_then(|it| usize::try_from(it).ok());
        if let Some((request, progress)) = index.and_then(|it| self.sends.get_mut(it))
            && request.operation != Operation::Read
        {
            *progress = Progress::Done;
        }
        self.settle(completions);
    }

    /// Handles the delivery of the response to the oldest READ.
    pub(crate) fn read_responded(&mut self, completions: &mut VecDeque<Completion>) {
        // Responses carry no id. They arrive in the order of their READs, because READs are
        // rejected with unordered delivery.
        let started = self.sends.iter_mut().take(self.started);
        let mut reads = started.filter(|(request, progress)| {
            request.operation == Operation::Read && *progress == Progress::Open
        });
        if let Some((_, progress)) = reads.next() {
            *progress = Progress::Done;
        }
        self.settle(completions);
    }

    /// Completes finished work in posting order.
    fn settle(&mut self, completions: &mut VecDeque<Completion>) {
        // A WRITE behind an open READ may be acknowledged first, but completes after it.
        while let Some(&(request, Progress::Done)) = self.sends.front() {
            self.sends.pop_front();
            self.first += 1;
            self.started -= 1;
            let status = CompletionStatus::Success;
            completions.push_back(self.completion(request, status));
        }
    }

    /// Completes everything: work request `number` with `status`, all others as flushed.
    pub(crate) fn flush(
        &mut self,
        number: u64,
        status: CompletionStatus,
        completions: &mut VecDeque<Completion>,
    ) {
        for (number_of, (request, _)) in (self.first..).zip(std::mem::take(&mut self.sends)) {
            let status = if number_of == number { status } else { CompletionStatus::Flushed };
            completions.push_back(self.completion(request, status));
        }
        self.started = 0;
        // Nothing of these will be delivered any more.
        self.inbound.clear();
        for id in std::mem::take(&mut self.receives) {
            completions.push_back(Completion {
                qp: self.qp,
                id,
                opcode: Opcode::Receive,
                status: CompletionStatus::Flushed,
                bytes: Bytes::ZERO,
                immediate: None,
            });
        }
    }

    /// Returns the number of the oldest work request.
    pub(crate) fn oldest(&self) -> u64 {
        self.first
    }

    /// Counts a failure. Returns their number since `oldest` became the oldest unacknowledged
    /// packet.
    pub(crate) fn count_failure(&mut self, failure: Failure, oldest: u64) -> u32 {
        // Progress in between begins a new count: the limits are for consecutive failures.
        if self.consecutive_failures.0 != oldest {
            self.consecutive_failures = (oldest, [0; 2]);
        }
        let count = &mut self.consecutive_failures.1[failure as usize];
        // Without a limit on retries the count only grows.
        *count = count.saturating_add(1);
        *count
    }

    fn completion(&self, request: WorkRequest, status: CompletionStatus) -> Completion {
        let done = status == CompletionStatus::Success;
        Completion {
            qp: self.qp,
            id: request.id,
            opcode: match request.operation {
                Operation::Write | Operation::WriteWithImmediate(_) => Opcode::RdmaWrite,
                Operation::Send => Opcode::Send,
                Operation::Read => Opcode::RdmaRead,
            },
            status,
            bytes: if done { request.bytes } else { Bytes::ZERO },
            immediate: None,
        }
    }
}
