//! Shift: host i sends to host i + shift (tornado traffic if the shift is half the hosts).

use super::error::{self, PatternError};
use crate::ids::HostId;
use crate::units::Bytes;
use crate::workload::{Message, Workload};

/// Every host sends to the host `shift` positions further, in the cyclic order of ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shift {
    /// Number of hosts, with ids from 0.
    pub hosts: u32,
    /// Distance from sender to receiver; not a multiple of `hosts`.
    pub shift: u32,
    /// Bytes of each flow.
    pub bytes: Bytes,
}

impl Shift {
    /// Returns the flows in sender order, each with its own stream, all starting at 0.
    ///
    /// # Errors
    /// Fails for fewer than two hosts, a shift to the sender itself, no bytes, and more than 2^64
    /// bytes.
    pub fn build(&self) -> Result<Workload, PatternError> {
        let Self { hosts, shift, bytes } = *self;
        error::check("a shift", hosts, hosts, bytes)?;
        let distance = shift % hosts;
        if distance == 0 {
            return Err(PatternError::ShiftToSelf { shift, hosts });
        }
        let to = |src: u32| ((u64::from(src) + u64::from(distance)) % u64::from(hosts)) as u32;
        let flows = (0..hosts)
            .map(|src| Message::starting_at_zero(src, HostId(src), HostId(to(src)), bytes));
        Ok(Workload::independent(flows.collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_host_sends_to_the_host_at_the_shift() {
        let pairs = |hosts, shift| -> Vec<(u32, u32)> {
            let workload = Shift { hosts, shift, bytes: Bytes::new(7) }.build().unwrap();
            workload.messages.iter().map(|m| (m.src.0, m.dst.0)).collect()
        };
        assert_eq!(pairs(4, 1), [(0, 1), (1, 2), (2, 3), (3, 0)]);
        assert_eq!(pairs(4, 6), [(0, 2), (1, 3), (2, 0), (3, 1)]);
    }

    #[test]
    fn a_shift_to_the_sender_is_rejected() {
        let error = |hosts, shift, bytes| {
            Shift { hosts, shift, bytes: Bytes::new(bytes) }.build().unwrap_err().to_string()
        };
        assert!(
            error(4, 8, 1).starts_with("a shift of 8 among 4 hosts sends every flow to its own")
        );
        assert!(error(4, 1, 0).starts_with("a shift of 0 bytes per flow"));
        assert!(error(2, 1, u64::MAX).contains("exceed 2^64 bytes"));
    }
}
