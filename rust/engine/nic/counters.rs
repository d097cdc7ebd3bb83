//! Counters of a NIC.

use std::iter::Sum;
use std::ops::Add;

/// Counters of a NIC. C++ shares the struct, so its layout is fixed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(C)]
pub struct NicCounters {
    /// Data packets put on the wire.
    pub data_sent: u64,
    /// Data packets of `data_sent` that were retransmissions.
    pub retransmitted: u64,
    /// Acknowledgements, NACKs and CNPs put on the wire.
    pub control_sent: u64,
    /// Data packets received, whole or trimmed.
    pub data_received: u64,
    /// Data packets of `data_received` that a switch trimmed to their headers.
    pub trimmed: u64,
    /// Data packets of `data_received` with an ECN mark.
    pub marked: u64,
    /// Data packets of `data_received` that came after one with a higher PSN.
    pub out_of_order: u64,
    /// Data packets of `data_received` that had arrived before.
    pub duplicates: u64,
    /// Data packets of `data_received` dropped because an earlier one is missing (go-back-N).
    pub refused: u64,
    /// Payload bytes accepted, each counted once.
    pub payload_received: u64,
    /// Acknowledgements, NACKs and CNPs received.
    pub control_received: u64,
    /// Packets of any kind dropped because no queue pair has their number.
    pub misdirected: u64,
    /// Packets of any kind dropped because the queue pair's state accepts none.
    pub discarded: u64,
    /// Data packets refused because no receive was posted or the request cannot be served.
    pub not_ready: u64,
}

impl Add for NicCounters {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            data_sent: self.data_sent + other.data_sent,
            retransmitted: self.retransmitted + other.retransmitted,
            control_sent: self.control_sent + other.control_sent,
            data_received: self.data_received + other.data_received,
            trimmed: self.trimmed + other.trimmed,
            marked: self.marked + other.marked,
            out_of_order: self.out_of_order + other.out_of_order,
            duplicates: self.duplicates + other.duplicates,
            refused: self.refused + other.refused,
            payload_received: self.payload_received + other.payload_received,
            control_received: self.control_received + other.control_received,
            misdirected: self.misdirected + other.misdirected,
            discarded: self.discarded + other.discarded,
            not_ready: self.not_ready + other.not_ready,
        }
    }
}

impl Sum for NicCounters {
    fn sum<I: Iterator<Item = Self>>(counters: I) -> Self {
        counters.fold(Self::default(), Add::add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each field has a different value.
    const ONE: NicCounters = NicCounters {
        data_sent: 1,
        retransmitted: 2,
        control_sent: 3,
        data_received: 4,
        trimmed: 5,
        marked: 6,
        out_of_order: 7,
        duplicates: 8,
        refused: 9,
        payload_received: 10,
        control_received: 11,
        misdirected: 12,
        discarded: 13,
        not_ready: 14,
    };

    #[test]
    fn a_sum_adds_each_field() {
        let three = NicCounters {
            data_sent: 3,
            retransmitted: 6,
            control_sent: 9,
            data_received: 12,
            trimmed: 15,
            marked: 18,
            out_of_order: 21,
            duplicates: 24,
            refused: 27,
            payload_received: 30,
            control_received: 33,
            misdirected: 36,
            discarded: 39,
            not_ready: 42,
        };
        assert_eq!([ONE, ONE, ONE].into_iter().sum::<NicCounters>(), three);
        assert_eq!(NicCounters::default() + ONE, ONE);
    }
}
