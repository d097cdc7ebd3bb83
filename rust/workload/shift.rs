//! Shift: host i sends to host i + shift (tornado traffic where the shift is half the hosts).

use super::error::{self, WorkloadError};
use super::{Workload, flow};
use crate::ids::HostId;
use crate::units::Bytes;

/// Every host sends to the one that many places further round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shift {
    /// Hosts 0 to this one, excluded.
    pub hosts: u32,
    /// How many places further; not a multiple of `hosts`.
    pub shift: u32,
    /// Of each flow.
    pub bytes: Bytes,
}

impl Shift {
    /// The flows, in order of their senders, each a stream of its own; all start at 0.
    ///
    /// # Errors
    /// Fewer than two hosts, a shift onto the sender itself, no bytes, or more than can be
    /// counted.
    pub fn build(&self) -> Result<Workload, WorkloadError> {
        let Self { hosts, shift, bytes } = *self;
        error::check("a shift", hosts, hosts, bytes)?;
        let places = shift % hosts;
        if places == 0 {
            return Err(WorkloadError::ShiftToSelf { shift, hosts });
        }
        let to = |src: u32| ((u64::from(src) + u64::from(places)) % u64::from(hosts)) as u32;
        let flows = (0..hosts).map(|src| flow(src, HostId(src), HostId(to(src)), bytes));
        Ok(Workload::independent(flows.collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everybody_sends_as_many_places_further() {
        let pairs = |hosts, shift| -> Vec<(u32, u32)> {
            let workload = Shift { hosts, shift, bytes: Bytes::new(7) }.build().unwrap();
            workload.messages.iter().map(|m| (m.src.0, m.dst.0)).collect()
        };
        assert_eq!(pairs(4, 1), [(0, 1), (1, 2), (2, 3), (3, 0)]);
        assert_eq!(pairs(4, 6), [(0, 2), (1, 3), (2, 0), (3, 1)]);
    }

    #[test]
    fn a_shift_onto_itself_is_refused() {
        let says = |hosts, shift, bytes| {
            Shift { hosts, shift, bytes: Bytes::new(bytes) }.build().unwrap_err().to_string()
        };
        assert!(
            says(4, 8, 1).starts_with("a shift of 8 among 4 hosts sends every flow to its own")
        );
        assert!(says(4, 1, 0).starts_with("a shift of 0 bytes a flow"));
        assert!(says(2, 1, u64::MAX).contains("more than the 2^64 bytes"));
    }
}
