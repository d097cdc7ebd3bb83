//! Queue pairs that a program makes for itself, beside those that carry messages.
//!
//! They are queue pairs of the same NICs, with work queues and completions: what
//! [`crate::nic::verbs`] describes. Packets on them are balanced as those of messages are, by the
//! scheme's sender part and by the switches; nothing splits them. Where a splitter pins the paths
//! of a policy, a queue pair of a program is pinned to a path by its hash, and when a timeout shows
//! that the path failed, to the next one \[inferred\]. (Answers to READs take path 0 then, as no
//! flow pins them.)

use std::collections::BTreeMap;

use super::Endpoints;
use super::connections::ConnectionKey;
use crate::ids::{HostId, QpId};
use crate::nic::verbs::{VerbsError, WorkRequest};
use crate::nic::{Origin, QpAttributes, Reporting};
use crate::rng::mix32;

/// The peer and the path of a queue pair.
#[derive(Debug)]
struct OwnQp {
    dst: HostId,
    path: u16,
    /// How many paths it can be pinned to.
    paths: u32,
}

/// The queue pairs that programs have created and not destroyed, by host and id.
#[derive(Debug, Default)]
pub(super) struct OwnQps(BTreeMap<(HostId, QpId), OwnQp>);

impl OwnQps {
    /// Host, peer and id of each.
    pub(super) fn iter(&self) -> impl Iterator<Item = (HostId, HostId, QpId)> {
        self.0.iter().map(|(&(host, qp), own)| (host, own.dst, qp))
    }

    /// A path failed: requests that are posted from now on take the next one.
    pub(super) fn leave_path(&mut self, host: HostId, qp: QpId, failed: u16) {
        if let Some(own) = self.0.get_mut(&(host, qp))
            && own.path == failed
        {
            own.path = ((u32::from(failed) + 1) % own.paths) as u16;
        }
    }
}

impl Endpoints {
    /// Creates a queue pair with completions at `host`, in state Reset. `stream` is part of its
    /// 5-tuple: queue pairs of two hosts that differ in it have hashes and random draws of their
    /// own. A stream of a job has the policy and the traffic class of that job, with the
    /// recovery of the NIC.
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
        self.inform_new(&mut policy, &key);
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
        self.own.0.insert((host, qp), OwnQp { dst: peer, path, paths });
        Ok(qp)
    }

    /// Posts a work request to a queue pair of [`Self::create_qp`]; its path is filled in here.
    ///
    /// # Errors
    /// As [`crate::nic::Nic::post_send`].
    pub fn post_send(
        &mut self,
        host: HostId,
        qp: QpId,
        request: WorkRequest,
    ) -> Result<(), VerbsError> {
        let own = self.own.0.get(&(host, qp)).ok_or(VerbsError::UnknownQp { qp })?;
        let request = WorkRequest { path: own.path, ..request };
        self.hosts[host.index()].nic.post_send(qp, request)
    }

    /// Destroys a queue pair of [`Self::create_qp`]; work that has not completed is discarded.
    ///
    /// # Errors
    /// If there is no such queue pair.
    pub fn destroy_qp(&mut self, host: HostId, qp: QpId) -> Result<(), VerbsError> {
        self.own.0.remove(&(host, qp)).ok_or(VerbsError::UnknownQp { qp })?;
        self.hosts[host.index()].nic.destroy_qp(qp)
    }
}
