//! Why a traffic pattern cannot be.

use thiserror::Error;

use crate::ids::HostId;
use crate::units::Bytes;

/// Why a traffic pattern cannot be.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum WorkloadError {
    /// Nobody to talk to.
    #[error("{pattern} needs at least 2 hosts; there are {hosts}")]
    TooFewHosts {
        /// The pattern.
        pattern: &'static str,
        /// How many there are.
        hosts: u32,
    },
    /// Nothing to send.
    #[error("{pattern} of 0 bytes a flow: there is nothing to send; the least is 1B")]
    NoBytes {
        /// The pattern.
        pattern: &'static str,
    },
    /// More bytes than can be counted.
    #[error("{flows} flows of {bytes} are more than the 2^64 bytes that can be counted")]
    TooManyBytes {
        /// How many there are.
        flows: u32,
        /// Each of them.
        bytes: Bytes,
    },
    /// A shift that ends where it starts.
    #[error(
        "a shift of {shift} among {hosts} hosts sends every flow to its own sender; it must not be \
         a multiple of {hosts}, for example 1"
    )]
    ShiftToSelf {
        /// What was given.
        shift: u32,
        /// How many there are.
        hosts: u32,
    },
    /// More senders than there are, or none.
    #[error("a fan-in of {fan_in} among {hosts} hosts; it must be 1 to {}", hosts - 1)]
    FanIn {
        /// What was given.
        fan_in: u32,
        /// How many there are.
        hosts: u32,
    },
    /// A receiver that does not exist.
    #[error("the receiver {receiver} does not exist; hosts are host0 to host{}", hosts - 1)]
    Receiver {
        /// What was given.
        receiver: HostId,
        /// How many there are.
        hosts: u32,
    },
}

/// Refuses what no pattern of `flows` equal flows among `hosts` can do.
pub(super) fn check(
    pattern: &'static str,
    hosts: u32,
    flows: u32,
    bytes: Bytes,
) -> Result<(), WorkloadError> {
    if hosts < 2 {
        return Err(WorkloadError::TooFewHosts { pattern, hosts });
    }
    if bytes == Bytes::ZERO {
        return Err(WorkloadError::NoBytes { pattern });
    }
    if bytes.get().checked_mul(u64::from(flows)).is_none() {
        return Err(WorkloadError::TooManyBytes { flows, bytes });
    }
    Ok(())
}
