//! Incast: several hosts send to one.

use super::error::{self, PatternError};
use crate::ids::HostId;
use crate::units::Bytes;
use crate::workload::{Message, Workload};

/// Simultaneous flows from several hosts to one host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Incast {
    /// Number of hosts, with ids from 0.
    pub hosts: u32,
    /// Number of senders, with one flow each.
    pub fan_in: u32,
    /// The receiver; by default the last host.
    pub receiver: Option<HostId>,
    /// Bytes of each flow.
    pub bytes: Bytes,
}

impl Incast {
    /// Returns the flows, each with its own stream, all starting at 0.
    ///
    /// The choice of senders is deterministic. In the cyclic order of the other hosts that starts
    /// after the receiver, sender k is the host at index `k * (hosts - 1) / fan_in`. This spreads
    /// the senders evenly, so that as few as possible share an edge switch.
    ///
    /// # Errors
    /// Fails for fewer than two hosts, a fan-in that is zero or exceeds the number of other hosts,
    /// an unknown receiver, no bytes, and more than 2^64 bytes.
    pub fn build(&self) -> Result<Workload, PatternError> {
        let Self { hosts, fan_in, bytes, .. } = *self;
        error::check("an incast", hosts, fan_in, bytes)?;
        if fan_in == 0 || fan_in >= hosts {
            return Err(PatternError::FanIn { fan_in, hosts });
        }
        let receiver = self.receiver.unwrap_or(HostId(hosts - 1));
        if receiver.0 >= hosts {
            return Err(PatternError::Receiver { receiver, hosts });
        }
        let (all, others) = (u64::from(hosts), u64::from(hosts - 1));
        let sender = |index: u32| {
            let distance = 1 + u64::from(index) * others / u64::from(fan_in);
            HostId(((u64::from(receiver.0) + distance) % all) as u32)
        };
        let flows = (0..fan_in)
            .map(|index| Message::starting_at_zero(index, sender(index), receiver, bytes));
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
    fn senders_are_spread_evenly_over_the_other_hosts() {
        assert_eq!(senders(incast(9, 4, None)), [0, 2, 4, 6]);
        assert_eq!(senders(incast(9, 8, Some(3))), [4, 5, 6, 7, 8, 0, 1, 2]);
        assert_eq!(senders(incast(6, 2, Some(0))), [1, 3]);
        let to = incast(9, 4, None).build().unwrap();
        assert!(to.messages.iter().all(|m| m.dst == HostId(8)));
        let mut streams: Vec<u32> = to.messages.iter().map(|m| m.stream).collect();
        streams.dedup();
        assert_eq!(streams.len(), 4, "each flow has its own stream");
    }

    #[test]
    fn fan_ins_and_receivers_out_of_range_are_rejected() {
        let error = |incast: Incast| incast.build().unwrap_err().to_string();
        let expected = "is out of range; with 9 hosts expected 1 to 8";
        assert_eq!(error(incast(9, 9, None)), format!("a fan-in of 9 {expected}"));
        assert_eq!(error(incast(9, 0, None)), format!("a fan-in of 0 {expected}"));
        assert_eq!(
            error(incast(9, 2, Some(9))),
            "unknown receiver host9; hosts are host0 to host8"
        );
    }
}
