//! Queue pairs that programs create in addition to those that carry messages.
//!
//! They belong to the same NICs, and have the work queues and completions of [`crate::nic::verbs`].
//! Their packets are balanced like those of messages, by the sender policy of the scheme and by the
//! switches, but nothing splits them. If the policy's splitter pins paths, a queue pair of a
//! program is pinned to a path by its hash. When a timeout shows that the path has failed, it moves
//! to the next one \[inferred\]. (READ responses then use path 0, because no flow pins them.)

use std::collections::BTreeMap;

use super::Endpoints;
use super::connections::ConnectionKey;
use crate::ids::{HostId, QpId};
use crate::nic::verbs::{VerbsError, WorkRequest};
use crate::nic::{Origin, QpAttributes, Reporting};
use crate::rng::mix32;

/// The peer and the path of a queue pair.
#[derive(Debug)]
struct ProgramQp {
    dst: HostId,
    path: u16,
    /// Number of paths that it can be pinned to.
    paths: u32,
}

/// Queue pairs that programs have created and not destroyed, by host and id.
#[derive(Debug, Default)]
pub(super) struct ProgramQps(BTreeMap<(HostId, QpId), ProgramQp>);

impl ProgramQps {
    /// Iterates over host, peer and id of each queue pair.
    pub(super) fn iter(&self) -> impl Iterator<Item = (HostId, HostId, QpId)> {
        self.0.iter().map(|(&(host, qp), own)| (host, own.dst, qp))
    }

    /// Moves later requests from the failed path to the next one.
    pub(super) fn leave_path(&mut self, host: HostId, qp: QpId, failed: u16) {
        // Timeouts of several packets may report the same failure: only the first one moves it.
        if let Some(own) = self.0.get_mut(&(host, qp))
            && own.path == failed
        {
            own.path = ((u32::from(failed) + 1) % own.paths) as u16;
        }
    }
}

impl Endpoints {
    /// Creates a queue pair with completions at `host`, in state Reset. `stream` is part of its
    /// 5-tuple: queue pairs of two hosts with different streams have different hashes and random
    /// draws. A job's stream has the policy and traffic class of the job, but the recovery of the
    /// NIC.
    ///
    /// # Errors
    /// As [`crate::nic::Nic::create_qp`].
    pub fn create_qp(
        &mut self,
        host: HostId,
        peer: HostId,
        stream: u32,
    ) -> Result<QpId, VerbsError> {
        let key = ConnectionKey { src: host, dst: peer, stream, slot: 0 };
        let label = key.label();
        let paths = self.paths(host, peer, stream).count();
        let path = (mix32(label) % paths) as u16;
        let recovery = self.site.nic_of(host).recovery;
        let settings = self.policies.settings_of_program(stream, recovery);
        let context = self.context(&key, path);
        let mut policy = self.policies.of(stream).scheme.sender.build(&context);
        self.notify_new_policy(&mut policy, &key);
        let qp = self.hosts[host.index()].nic.create_qp(QpAttributes {
            peer,
            label,
            policy: Some(policy),
            reporting: Reporting::Completions,
            origin: Origin::Regular,
        })?;
        if let Some(settings) = settings {
            self.hosts[host.index()].nic.set_settings(qp, settings);
        }
        self.program_qps.0.insert((host, qp), ProgramQp { dst: peer, path, paths });
        Ok(qp)
    }

    /// Posts a work request to a queue pair from [`Self::create_qp`], and fills in its path.
    ///
    /// # Errors
    /// As [`crate::nic::Nic::post_send`].
    pub fn post_send(
        &mut self,
        host: HostId,
        qp: QpId,
        request: WorkRequest,
    ) -> Result<(), VerbsError> {
        let own = self.program_qps.0.get(&(host, qp)).ok_or(VerbsError::UnknownQp { qp })?;
        let request = WorkRequest { path: own.path, ..request };
        self.hosts[host.index()].nic.post_send(qp, request)
    }

    /// Destroys a queue pair from [`Self::create_qp`], and discards its incomplete work.
    ///
    /// # Errors
    /// If there is no such queue pair.
    pub fn destroy_qp(&mut self, host: HostId, qp: QpId) -> Result<(), VerbsError> {
        // First, so that a queue pair of a message cannot be destroyed.
        self.program_qps.0.remove(&(host, qp)).ok_or(VerbsError::UnknownQp { qp })?;
        self.hosts[host.index()].nic.destroy_qp(qp)
    }
}
