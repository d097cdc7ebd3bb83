//! The entropy value of each packet in flight. A sender records them if acknowledgements carry the
//! values of all packets that they cover.

use std::collections::VecDeque;

use crate::balance::sender::PathSignal;
use crate::nic::receive::ack::AckRange;
use crate::packet::ArrivalReport;

/// Entropy values of one queue pair's packets, from the oldest unacknowledged one on.
#[derive(Debug, Clone)]
pub(in crate::nic) struct SentEntropies {
    range: AckRange,
    first: u64,
    /// `None` for a packet that was reported and may be reported again.
    values: VecDeque<Option<u16>>,
}

impl SentEntropies {
    /// Returns an empty record for acknowledgements of this range.
    pub(in crate::nic) const fn new(range: AckRange) -> Self {
        Self { range, first: 0, values: VecDeque::new() }
    }

    /// Records the entropy value of packet `sequence`, replacing an earlier one.
    pub(in crate::nic) fn handle_sent(&mut self, sequence: u64, entropy: u16) {
        // Go-back-to-zero retransmits acknowledged packets; their values are no longer needed.
        let Some(index) = sequence.checked_sub(self.first) else { return };
        match self.values.get_mut(index as usize) {
            Some(value) => *value = Some(entropy),
            // First transmissions are in order: a new packet is exactly one past the end.
            None => self.values.push_back(Some(entropy)),
        }
    }

    /// Calls `tell` with the entropy value and the signal of each packet that `report` is the first
    /// to report. `acknowledged` is the oldest packet that is still missing after it.
    pub(in crate::nic) fn handle_ack(
        &mut self,
        report: &ArrivalReport,
        acknowledged: u64,
        mut report_value: impl FnMut(u16, PathSignal),
    ) {
        let (base, marks) = (report.base.unwrap_near(acknowledged), report.marks());
        let mut left = report.arrived;
        while left != 0 {
            // Lowest bit first, so that a policy learns of packets in the order of their numbers.
            let bit = left & left.wrapping_neg();
            left ^= bit;
            let sequence = base + u64::from(bit.trailing_zeros());
            let index = sequence.checked_sub(self.first);
            let value = index.and_then(|index| self.values.get_mut(index as usize));
            let entropy = value.and_then(|value| match self.range {
                AckRange::Cumulative | AckRange::Packet => *value,
                // Such reports repeat arrivals: the value is taken, so that each counts once.
                AckRange::Last64 => value.take(),
            });
            if let Some(entropy) = entropy {
                report_value(
                    entropy,
                    if marks & bit == 0 { PathSignal::Good } else { PathSignal::Marked },
                );
            }
        }
        // The values are dropped only now: the report also covers packets before `acknowledged`. A
        // late acknowledgement may lie before `first`.
        let passed = acknowledged.saturating_sub(self.first) as usize;
        self.values.drain(..passed.min(self.values.len()));
        self.first = self.first.max(acknowledged);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Psn;

    #[test]
    fn one_acknowledgement_reports_all_packets_that_it_covers() {
        let mut sent = SentEntropies::new(AckRange::Cumulative);
        (0..10).for_each(|n| sent.handle_sent(n, 100 + n as u16));
        let mut reported = Vec::new();
        let (sack, marks) = (0b1011, 0b0010);
        let ack = ArrivalReport::new(Psn::on_wire(4), sack, marks);
        sent.handle_ack(&ack, 6, |entropy, signal| reported.push((entropy, signal)));
        use PathSignal::{Good, Marked};
        assert_eq!(reported, [(104, Good), (105, Marked), (107, Good)]);
        sent.handle_sent(7, 9);
        reported.clear();
        sent.handle_ack(&ack, 8, |entropy, signal| reported.push((entropy, signal)));
        assert_eq!(reported, [(9, Good)], "acknowledged packets are dropped");
    }

    #[test]
    fn a_repeated_arrival_is_reported_once() {
        let mut sent = SentEntropies::new(AckRange::Last64);
        (0..10).for_each(|n| sent.handle_sent(n, 100 + n as u16));
        let mut reported = Vec::new();
        for sack in [0b0110, 0b1110, 0b1110] {
            let ack = ArrivalReport::new(Psn::default(), sack, 0);
            sent.handle_ack(&ack, 0, |entropy, _| reported.push(entropy));
        }
        assert_eq!(reported, [101, 102, 103]);
    }
}
