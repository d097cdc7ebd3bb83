//! Incast: many send to one.

use super::error::{self, WorkloadError};
use super::{Workload, flow};
use crate::ids::HostId;
use crate::units::Bytes;

/// Several hosts send to one at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Incast {
    /// Hosts 0 to this one, excluded.
    pub hosts: u32,
    /// How many of them send.
    pub fan_in: u32,
    /// Who receives; the last host if it is not said.
    pub receiver: Option<HostId>,
    /// Of each flow.
    pub bytes: Bytes,
}

impl Incast {
    /// The flows, each a stream of its own; all start at 0.
    ///
    /// Nothing is drawn. The other hosts stand in a row that starts behind the receiver and
    /// goes round, and sender k is the one at place `k * (hosts - 1) / fan_in`: senders are
    /// spread evenly, so that they share as few edge switches as can be.
    ///
    /// # Errors
    /// Fewer than two hosts, a fan-in that is zero or more than the others, a receiver that does
    /// not exist, no bytes, or more than can be counted.
    pub fn build(&self) -> Result<Workload, WorkloadError> {
        let Self { hosts, fan_in, bytes, .. } = *self;
        error::check("an incast", hosts, fan_in, bytes)?;
        if fan_in == 0 || fan_in >= hosts {
            return Err(WorkloadError::FanIn { fan_in, hosts });
        }
        let receiver = self.receiver.unwrap_or(HostId(hosts - 1));
        if receiver.0 >= hosts {
            return Err(WorkloadError::Receiver { receiver, hosts });
        }
        let (all, others) = (u64::from(hosts), u64::from(hosts - 1));
        let sender = |place: u32| {
            let behind = 1 + u64::from(place) * others / u64::from(fan_in);
            HostId(((u64::from(receiver.0) + behind) % all) as u32)
        };
        let flows = (0..fan_in).map(|place| flow(place, sender(place), receiver, bytes));
        Ok(Workload::independent(flows.collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn incast(hosts: u32, fan_in: u32, receiver: Option<u32>) -> Incast {
        Incast { hosts, fan_in, receiver: receiver.map(HostId), bytes: Bytes::new(5) }
    }

    fn senders(incast: Incast) -> Vec<u32> {
        incast.build().unwrap().messages.iter().map(|m| m.src.0).collect()
    }

    #[test]
    fn senders_are_spread_evenly_over_the_others() {
        assert_eq!(senders(incast(9, 4, None)), [0, 2, 4, 6]);
        assert_eq!(senders(incast(9, 8, Some(3))), [4, 5, 6, 7, 8, 0, 1, 2]);
        assert_eq!(senders(incast(6, 2, Some(0))), [1, 3]);
        let to = incast(9, 4, None).build().unwrap();
        assert!(to.messages.iter().all(|m| m.dst == HostId(8)));
        let mut streams: Vec<u32> = to.messages.iter().map(|m| m.stream).collect();
        streams.dedup();
        assert_eq!(streams.len(), 4, "each flow has a stream of its own");
    }

    #[test]
    fn impossible_fan_ins_and_receivers_are_refused() {
        let says = |incast: Incast| incast.build().unwrap_err().to_string();
        assert_eq!(says(incast(9, 9, None)), "a fan-in of 9 among 9 hosts; it must be 1 to 8");
        assert_eq!(says(incast(9, 0, None)), "a fan-in of 0 among 9 hosts; it must be 1 to 8");
        assert_eq!(
            says(incast(9, 2, Some(9))),
            "the receiver host9 does not exist; hosts are host0 to host8"
        );
    }
}
