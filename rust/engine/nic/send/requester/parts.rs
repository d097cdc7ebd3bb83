//! What a sending half is made of, and what it says of that.

use super::Requester;
use crate::balance::sender::Sender;
use crate::ids::{ClassId, HostId};
use crate::nic::config::PortFacts;
use crate::nic::event::Owner;
use crate::nic::qp::settings::QpSettings;
use crate::nic::receive::ack::AckConfig;
use crate::nic::receive::receiver::Peer;
use crate::packet::Psn;
use crate::prefetch::prefetch;

/// What a new sending half is made of.
pub(in crate::nic) struct RequesterParts {
    pub host: HostId,
    pub peer: HostId,
    pub label: u32,
    pub owner: Owner,
    pub port: PortFacts,
    /// Whether all paths have the base round trip.
    pub is_even: bool,
    /// The ports of the NIC.
    pub planes: u32,
    pub policy: Sender,
    pub settings: QpSettings,
    /// How the other end acknowledges.
    pub ack: AckConfig,
}

impl Requester {
    /// Prefetches what the completion of the oldest work touches besides, if packets
    /// before `cumulative` are all of it; the work.
    #[inline]
    pub(in crate::nic) fn prefetch_completion(&self, cumulative: Psn) -> Option<u64> {
        let oldest = self.work.oldest().filter(|work| Psn::on_wire(work.end()) == cumulative)?;
        prefetch(&self.completed);
        Some(oldest.id)
    }

    /// The traffic class of its packets.
    #[inline]
    pub(in crate::nic) fn class(&self) -> ClassId {
        ClassId(self.class.into())
    }

    /// What a receiving half of the same queue pair is made of.
    pub(in crate::nic) fn as_peer(&self) -> Peer {
        let &Self { host, peer, peer_qp, label, owner, .. } = self;
        Peer { host, peer, peer_qp, label, owner }
    }

    /// What it was made of.
    pub(in crate::nic) fn as_parts(
        &self,
        port: PortFacts,
        settings: QpSettings,
        ack: AckConfig,
    ) -> RequesterParts {
        let &Self { host, peer, label, owner, .. } = self;
        let planes = self.planes.as_ref().map_or(1, |planes| planes.count());
        let policy = self.policy.clone();
        RequesterParts {
            host,
            peer,
            label,
            owner,
            port,
            is_even: true,
            planes,
            policy,
            settings,
            ack,
        }
    }
}
