//! The processor of a host: what all its rails have to share.
//!
//! It does one thing after the other, in the order asked. Sending, receiving and adding up are
//! asked for slice by slice, so that the rails of a host take turns.

use crate::units::{BitRate, Bytes, Span, Time};

/// One host's.
#[derive(Debug, Clone, Copy, Default)]
pub struct Cpu {
    free: Time,
    busy: Span,
}

impl Cpu {
    /// Asks for `work`; when it will be done.
    pub fn run(&mut self, now: Time, work: Span) -> Time {
        self.free = self.free.max(now) + work;
        self.busy += work;
        self.free
    }

    /// How long it has worked, or will have when all that was asked is done.
    pub fn busy(&self) -> Span {
        self.busy
    }
}

/// How long the processor has to do with some bytes; nothing where there is no rate.
pub(super) fn time_for(rate: Option<BitRate>, bytes: Bytes) -> Span {
    rate.map_or(Span::ZERO, |rate| rate.time_for(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_waits_for_the_work_before_it_and_idle_time_is_lost() {
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
