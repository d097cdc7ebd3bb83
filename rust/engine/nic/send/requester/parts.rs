//! The parts that a requester is made of.

use super::Requester;
use crate::balance::sender::Sender;
use crate::ids::{ClassId, HostId};
use crate::nic::config::PortFacts;
use crate::nic::event::Owner;
use crate::nic::qp::settings::QpSettings;
use crate::nic::receive::ack::AckConfig;
use crate::nic::receive::receiver::QpEndpoints;
use crate::packet::Psn;
use crate::prefetch::prefetch;

/// The parts of a new requester.
pub(in crate::nic) struct RequesterParts {
    pub host: HostId,
    pub peer: HostId,
    pub label: u32,
    pub owner: Owner,
    pub port: PortFacts,
    /// True if all paths have the base round trip.
    pub has_equal_paths: bool,
    /// Number of ports of the NIC.
    pub planes: u32,
    pub policy: Sender,
    pub settings: QpSettings,
    /// How the responder acknowledges.
    pub ack: AckConfig,
}

impl Requester {
    /// Prefetches the remaining memory that the completion of the oldest work touches, if packets
    /// before `cumulative` complete it. Returns the id of that work.
    #[inline]
    pub(in crate::nic) fn prefetch_completion(&self, cumulative: Psn) -> Option<u64> {
        let oldest = self.work.oldest().filter(|work| Psn::on_wire(work.end()) == cumulative)?;
        prefetch(&self.completed);
        Some(oldest.id)
    }

    /// Returns the traffic class of its packets.
    #[inline]
    pub(in crate::nic) fn class(&self) -> ClassId {
        ClassId(self.class.into())
    }

    /// Returns the ends of the queue pair, from which its responder is made.
    pub(in crate::nic) fn endpoints(&self) -> QpEndpoints {
        let &Self { host, peer, peer_qp, label, owner, .. } = self;
        QpEndpoints { host, peer, peer_qp, label, owner }
    }

    /// Returns the parts to make it anew.
    pub(in crate::nic) fn as_parts(
        &self,
        port: PortFacts,
        settings: QpSettings,
        ack: AckConfig,
    ) -> RequesterParts {
        let &Self { host, peer, label, owner, .. } = self;
        let planes = self.planes.as_ref().map_or(1, |planes| planes.planes());
        let policy = self.policy.clone();
        RequesterParts {
            host,
            peer,
            label,
            owner,
            port,
            has_equal_paths: true,
            planes,
            policy,
            settings,
            ack,
        }
    }
}
