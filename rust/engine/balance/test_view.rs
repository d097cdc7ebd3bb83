//! A switch view for tests; every field can be set.

use super::switch::SwitchView;
use crate::ids::SwitchId;
use crate::units::BitRate;

/// Candidate ports with one queue each.
#[derive(Debug, Clone)]
pub(super) struct Ports {
    /// Bytes queued at each candidate.
    pub(super) bytes: Vec<u64>,
    /// The port index of the first candidate; the other candidates follow it.
    pub(super) first_port: u32,
    pub(super) edge: SwitchId,
    pub(super) pod: u32,
    pub(super) epoch: u32,
    pub(super) weights: Vec<u32>,
    /// Number of queue-length reads.
    pub(super) reads: u32,
}

impl Ports {
    pub(super) fn with_bytes(bytes: &[u64]) -> Self {
        Self {
            weights: vec![1; bytes.len()],
            bytes: bytes.to_vec(),
            first_port: 0,
            edge: SwitchId(0),
            pod: 0,
            epoch: 0,
            reads: 0,
        }
    }

    pub(super) fn empty(candidates: usize) -> Self {
        Self::with_bytes(&vec![0; candidates])
    }
}

impl SwitchView for Ports {
    fn candidates(&self) -> u32 {
        self.bytes.len() as u32
    }

    fn port(&self, candidate: u32) -> u32 {
        self.first_port + candidate
    }

    fn queue_bytes(&mut self, candidate: u32) -> u64 {
        self.reads += 1;
        self.bytes[candidate as usize]
    }

    fn rate(&self, _candidate: u32) -> BitRate {
        BitRate::from_gbps(400)
    }

    fn destination_edge(&self) -> SwitchId {
        self.edge
    }

    fn destination_pod(&self) -> u32 {
        self.pod
    }

    fn epoch(&self) -> u32 {
        self.epoch
    }

    fn weight(&self, candidate: u32) -> u32 {
        self.weights[candidate as usize]
    }
}
