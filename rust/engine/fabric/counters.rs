//! Counters of the network between the NICs.

/// Counts of packets between the NICs, summed over all ports. The layout is fixed, because C++
/// shares this record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(C)]
pub struct NetworkCounters {
    /// Data packets lost.
    pub data_dropped: u64,
    /// Acknowledgements, NACKs and CNPs lost.
    pub control_dropped: u64,
    /// Packets that reached the end of a wire.
    pub hops: u64,
    /// Data packets that arrived at an output port of a switch.
    pub arrivals: u64,
    /// Sum over these arrivals of the bytes without priority that were queued. It fits 64 bits:
    /// 2^34 arrivals at a mean queue of 1 GiB are more than a run can process.
    pub waiting_found: u64,
    /// Data packets trimmed to their header.
    pub trimmed: u64,
    /// Pause frames sent.
    pub pauses: u64,
}

impl NetworkCounters {
    /// Adds the counters of another partition.
    pub(crate) fn add(&mut self, other: &Self) {
        let &Self { data_dropped, control_dropped, hops, arrivals, waiting_found, .. } = other;
        self.data_dropped += data_dropped;
        self.control_dropped += control_dropped;
        self.hops += hops;
        self.arrivals += arrivals;
        self.waiting_found += waiting_found;
        self.trimmed += other.trimmed;
        self.pauses += other.pauses;
    }

    /// Returns the mean of the bytes that data packets found queued at switch ports; 0 without
    /// packets.
    pub(crate) fn queue_bytes_mean(&self) -> f64 {
        self.waiting_found as f64 / self.arrivals.max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_add_up_field_by_field() {
        let of = |data_dropped, control_dropped, hops, arrivals| NetworkCounters {
            data_dropped,
            control_dropped,
            hops,
            arrivals,
            waiting_found: 5 * hops,
            trimmed: 3 * arrivals,
            pauses: 7 * control_dropped,
        };
        let mut all = of(2, 3, 5, 7);
        all.add(&of(4, 6, 8, 9));
        let NetworkCounters { waiting_found, trimmed, pauses, .. } = all;
        assert_eq!([waiting_found, trimmed, pauses], [5 * 13, 3 * 16, 7 * 9]);
        assert_eq!(all, of(6, 9, 13, 16));
        assert_eq!(all.queue_bytes_mean(), 65.0 / 16.0);
        assert_eq!(NetworkCounters::default().queue_bytes_mean(), 0.0, "no packet arrived");
    }
}
