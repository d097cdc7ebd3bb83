//! Queue pairs of programs in an external simulator: verbs go in, completions come out.
//!
//! The NIC ([`evenkeel_engine::nic::verbs`]) decides which calls are valid, and its errors are
//! passed on. This module adds three things for a simulator. A run with open work is not finished,
//! a completion has a time, and successful work that is not signaled has no completion.

use std::collections::{BTreeMap, VecDeque};

use evenkeel_engine::ids::{HostId, QpId};
use evenkeel_engine::nic::verbs::{
    Completion, CompletionStatus, MAX_QUEUE_DEPTH, Opcode, QpConfig, VerbsError,
};
use evenkeel_engine::nic::{Mismatch, QpState};
use evenkeel_engine::units::{Span, Time};

use super::convert::{TryConvert as _, UnknownValue};
use super::core::Core;
use super::enumerations::FabricQpState;
use super::experiment::Experiment;
use super::mismatch::mismatch_text;
use super::records::{FabricCompletion, FabricQpSettings, FabricWork};

/// Stands for an unlimited number of retries.
const WITHOUT_LIMIT: u32 = u32::MAX;

/// Why a verb is rejected. Errors of the NIC end with the error number of rdma-core.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum WorkError {
    /// The NIC rejects it.
    #[error("{0} ({errno})", errno = .0.errno())]
    Verbs(#[from] VerbsError),
    /// A host does not exist.
    #[error("queue pair from host {src} to host {dst}: hosts are numbered 0 to {}", hosts - 1)]
    NoHost {
        /// The host of the queue pair.
        src: u32,
        /// The host at its other end.
        dst: u32,
        /// The number of hosts.
        hosts: u32,
    },
    /// Both ends are the same host.
    #[error("queue pair from host {0} to itself: expected two different hosts")]
    ToItself(u32),
    /// The NICs at its ends cannot have a queue pair.
    #[error("{} (EINVAL)", mismatch_text(*.src, *.dst, .mismatch))]
    Mismatch {
        /// The host of the queue pair.
        src: u32,
        /// The host at its other end.
        dst: u32,
        /// The difference.
        mismatch: Mismatch,
    },
    /// The queue pair carries messages, or does not exist.
    #[error("host {0} has no queue pair {1} created by a program (EINVAL)")]
    NotOwn(u32, u32),
    /// A value of an enumeration is unknown.
    #[error("{0} (EINVAL)")]
    Unknown(#[from] UnknownValue),
    /// The depth of a queue is out of range.
    #[error(
        "the depth {depth} of {which} queues is out of range: it must be from 1 to \
             {MAX_QUEUE_DEPTH} (EINVAL)"
    )]
    Depth {
        /// The direction of the queue: "send" or "receive".
        which: &'static str,
        /// The requested depth, in work requests.
        depth: u32,
    },
}

/// Whether a work request has a completion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Signal {
    Always,
    /// Only if it failed.
    OnFailure,
}

/// The open work and the completions of programs.
#[derive(Debug, Default)]
pub(super) struct Verbs {
    /// The send queue of each queue pair of a program, oldest first.
    sends: BTreeMap<(HostId, QpId), VecDeque<Signal>>,
    completions: VecDeque<FabricCompletion>,
    /// The number of open work requests.
    open: u64,
}

impl Verbs {
    /// True if no work request is open.
    #[inline]
    pub(super) fn is_done(&self) -> bool {
        self.open == 0
    }

    /// True if there are completions to poll.
    #[inline]
    pub(super) fn has_completions(&self) -> bool {
        !self.completions.is_empty()
    }

    /// True if one of them belongs to `host`.
    #[inline]
    pub(super) fn has_completions_of(&self, host: HostId) -> bool {
        self.completions.iter().any(|completion| completion.host == host.0)
    }

    /// Discards the work in a send queue, which will have no completions.
    fn discard(&mut self, host: HostId, qp: QpId) {
        if let Some(sends) = self.sends.get_mut(&(host, qp)) {
            self.open -= sends.len() as u64;
            sends.clear();
        }
    }

    fn take(&mut self, host: HostId, completion: Completion, now: Time) {
        let receives = [Opcode::Receive, Opcode::ReceiveRdmaWithImmediate];
        if !receives.contains(&completion.opcode) {
            let sends = self.sends.get_mut(&(host, completion.qp));
            let signal = sends.and_then(VecDeque::pop_front).expect("what was posted completes");
            self.open -= 1;
            if signal == Signal::OnFailure && completion.status == CompletionStatus::Success {
                return;
            }
        }
        self.completions.push_back(FabricCompletion::of(host, &completion, now));
    }
}

impl Experiment {
    pub(super) fn set_queue_pairs(&mut self, settings: &FabricQpSettings) -> Result<(), WorkError> {
        let queue_pairs = &mut self.setup.nic.queue_pairs;
        *queue_pairs = with_settings(*queue_pairs, settings)?;
        Ok(())
    }
}

/// Applies a program's settings to the configuration of queue pairs.
pub(super) fn with_settings(
    queue_pairs: QpConfig,
    settings: &FabricQpSettings,
) -> Result<QpConfig, WorkError> {
    let depth = |which, depth: u32| match usize::try_from(depth) {
        Ok(queue) if (1..=MAX_QUEUE_DEPTH).contains(&queue) => Ok(queue),
        _ => Err(WorkError::Depth { which, depth }),
    };
    let limit = |times: u32| (times != WITHOUT_LIMIT).then_some(times);
    Ok(QpConfig {
        send_queue: depth("send", settings.send_queue)?,
        receive_queue: depth("receive", settings.receive_queue)?,
        rnr_timer: Span::from_ps(settings.rnr_timer_ps),
        rnr_retries: limit(settings.rnr_retries),
        retries: limit(settings.retries),
        ..queue_pairs
    })
}

impl Core {
    pub(super) fn create_qp(
        &mut self,
        host: u32,
        peer: u32,
        stream: u32,
    ) -> Result<u32, WorkError> {
        let hosts = self.setup.topology.host_count();
        if host >= hosts || peer >= hosts {
            return Err(WorkError::NoHost { src: host, dst: peer, hosts });
        }
        if host == peer {
            return Err(WorkError::ToItself(host));
        }
        if let Some(mismatch) = self.endpoints.mismatch_of_nics(HostId(host), HostId(peer)) {
            return Err(WorkError::Mismatch { src: host, dst: peer, mismatch });
        }
        let qp = self.endpoints.create_qp(HostId(host), HostId(peer), stream)?;
        self.verbs.sends.insert((HostId(host), qp), VecDeque::new());
        Ok(qp.0)
    }

    pub(super) fn set_peer_qp(&mut self, host: u32, qp: u32, peer: u32) -> Result<(), WorkError> {
        let (host, qp) = self.own(host, qp)?;
        Ok(self.endpoints.host_mut(host).nic.set_peer_qp(qp, QpId(peer))?)
    }

    pub(super) fn modify_qp(
        &mut self,
        host: u32,
        qp: u32,
        state: FabricQpState,
        now_ps: u64,
    ) -> Result<(), WorkError> {
        let (host, qp) = self.own(host, qp)?;
        let next: QpState = state.try_convert()?;
        self.endpoints.host_mut(host).nic.modify_qp(qp, next)?;
        if next == QpState::Reset {
            self.verbs.discard(host, qp);
        }
        self.collect(host, Time::from_ps(now_ps));
        Ok(())
    }

    pub(super) fn query_qp(&self, host: u32, qp: u32) -> Result<FabricQpState, WorkError> {
        let (host, qp) = self.own(host, qp)?;
        Ok(self.endpoints.host(host).nic.query_qp(qp)?.into())
    }

    pub(super) fn destroy_qp(&mut self, host: u32, qp: u32, now_ps: u64) -> Result<(), WorkError> {
        let at @ (of, own) = self.own(host, qp)?;
        // Flush open work first, so that it has completions.
        self.modify_qp(host, qp, FabricQpState::ERROR, now_ps)?;
        self.endpoints.destroy_qp(of, own)?;
        self.verbs.sends.remove(&at);
        Ok(())
    }

    pub(super) fn post_send(
        &mut self,
        host: u32,
        qp: u32,
        work: &FabricWork,
        now_ps: u64,
    ) -> Result<(), WorkError> {
        let at @ (host, qp) = self.own(host, qp)?;
        self.endpoints.post_send(host, qp, work.try_convert()?)?;
        let signal = if work.signaled { Signal::Always } else { Signal::OnFailure };
        self.verbs.sends.get_mut(&at).expect("the queue pair is of a program").push_back(signal);
        self.verbs.open += 1;
        self.collect(host, Time::from_ps(now_ps));
        Ok(())
    }

    pub(super) fn post_receive(
        &mut self,
        host: u32,
        qp: u32,
        id: u64,
        now_ps: u64,
    ) -> Result<(), WorkError> {
        let (host, qp) = self.own(host, qp)?;
        self.endpoints.host_mut(host).nic.post_receive(qp, id)?;
        self.collect(host, Time::from_ps(now_ps));
        Ok(())
    }

    pub(super) fn poll_completion(&mut self, completion: &mut FabricCompletion) -> bool {
        let Some(next) = self.verbs.completions.pop_front() else { return false };
        *completion = next;
        true
    }

    /// Collects the completions of a host's NIC.
    #[inline]
    pub(super) fn collect(&mut self, host: HostId, now: Time) {
        if self.verbs.sends.is_empty() {
            return;
        }
        let nic = &mut self.endpoints.host_mut(host).nic;
        while let Some(completion) = nic.poll_completion() {
            self.verbs.take(host, completion, now);
        }
    }

    /// Returns the queue pair if it belongs to a program.
    fn own(&self, host: u32, qp: u32) -> Result<(HostId, QpId), WorkError> {
        let at = (HostId(host), QpId(qp));
        let is_own = self.verbs.sends.contains_key(&at);
        is_own.then_some(at).ok_or(WorkError::NotOwn(host, qp))
    }
}
