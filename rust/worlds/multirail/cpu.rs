//! The processor of a host, which all its rails share.
//!
//! It executes work in the order of the requests, one item at a time. Sending, receiving and adding
//! are requested slice by slice, so that the rails of a host interleave.

use crate::units::{BitRate, Bytes, Span, Time};

/// The processor of one host.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Cpu {
    free: Time,
    busy: Span,
}

impl Cpu {
    /// Queues `work` and returns the time at which it will be done.
    pub(super) fn run(&mut self, now: Time, work: Span) -> Time {
        self.free = self.free.max(now) + work;
        self.busy += work;
        self.free
    }

    /// Returns the sum of all requested work.
    pub(super) fn busy(&self) -> Span {
        self.busy
    }
}

/// Returns the processor time for `bytes`; zero without a rate.
pub(super) fn time_for(rate: Option<BitRate>, bytes: Bytes) -> Span {
    rate.map_or(Span::ZERO, |rate| rate.time_for(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_starts_after_earlier_work_and_never_in_the_past() {
        let at = |us| Time::ZERO + Span::from_us(us);
        let mut cpu = Cpu::default();
        assert_eq!(cpu.run(at(1), Span::from_us(2)), at(3));
        assert_eq!(cpu.run(at(2), Span::from_us(2)), at(5));
        assert_eq!(cpu.run(at(9), Span::from_us(1)), at(10));
        assert_eq!(cpu.busy(), Span::from_us(5));
        assert_eq!(time_for(Some(BitRate::from_gbps(8)), Bytes::new(1_000)), Span::from_us(1));
        assert_eq!(time_for(None, Bytes::new(1_000)), Span::ZERO);
    }
}
