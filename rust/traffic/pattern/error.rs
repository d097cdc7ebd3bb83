//! Errors of building a traffic pattern.

use thiserror::Error;

use crate::ids::HostId;
use crate::units::Bytes;

/// Reason why a traffic pattern cannot be built.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PatternError {
    /// There are fewer than two hosts.
    #[error("{pattern} needs at least 2 hosts, found {hosts}")]
    TooFewHosts {
        /// Name of the pattern, with an article.
        pattern: &'static str,
        /// Number of hosts of the pattern.
        hosts: u32,
    },
    /// Flows have no bytes.
    #[error("{pattern} of 0 bytes per flow; expected at least 1B")]
    NoBytes {
        /// Name of the pattern, with its article.
        pattern: &'static str,
    },
    /// The total number of bytes exceeds 64 bits.
    #[error("{flows} flows of {bytes} exceed 2^64 bytes, the limit of a workload")]
    TooManyBytes {
        /// Number of flows of the pattern.
        flows: u32,
        /// Bytes of each flow.
        bytes: Bytes,
    },
    /// Every flow would have the same sender and receiver.
    #[error(
        "a shift of {shift} among {hosts} hosts sends every flow to its own sender; write a number \
         that is not a multiple of {hosts}, for example 1"
    )]
    ShiftToSelf {
        /// The given shift.
        shift: u32,
        /// Number of hosts of the pattern.
        hosts: u32,
    },
    /// The fan-in is zero or exceeds the number of other hosts.
    #[error("a fan-in of {fan_in} is out of range; with {hosts} hosts expected 1 to {}", hosts - 1)]
    FanIn {
        /// The given fan-in.
        fan_in: u32,
        /// Number of hosts of the pattern.
        hosts: u32,
    },
    /// The receiver does not exist.
    #[error("unknown receiver {receiver}; hosts are host0 to host{}", hosts - 1)]
    Receiver {
        /// The given receiver.
        receiver: HostId,
        /// Number of hosts of the pattern.
        hosts: u32,
    },
}

/// Checks the parameters common to all patterns: `flows` equal flows among `hosts`.
pub(super) fn check(
    pattern: &'static str,
    hosts: u32,
    flows: u32,
    bytes: Bytes,
) -> Result<(), PatternError> {
    if hosts < 2 {
        return Err(PatternError::TooFewHosts { pattern, hosts });
    }
    if bytes == Bytes::ZERO {
        return Err(PatternError::NoBytes { pattern });
    }
    if bytes.get().checked_mul(u64::from(flows)).is_none() {
        return Err(PatternError::TooManyBytes { flows, bytes });
    }
    Ok(())
}
