//! `qlen.txt`: a histogram of the queue length at each interface of a switch.
//!
//! Source: `monitor_buffer` of HPCC's `third.cc`. Every interface is sampled each 100 ns from
//! `QLEN_MON_START` to `QLEN_MON_END`. At each multiple of 100 ms the file gets a line `time: NS`
//! and a line for each interface: node, interface, and the number of samples so far with 0, 1, 2,
//! ... KB (of 1000 bytes) in the queue. Packets with priority and the packet on the wire do not
//! count. In addition to the family's lines, the totals are written once more when the run ends,
//! which may be within the first 100 ms.
//!
//! ConWeave's simulator has this monitor disabled, so its configurations produce no file.

use std::io::{self, Write};

use super::interface::Interface;
use crate::ids::PortId;
use crate::units::{Span, Time};

/// The sampling period (`qlen_mon_interval`).
const PERIOD: Span = Span::from_ns(100);

/// The period at which totals are written, in ns (`qlen_dump_interval`).
const TOTALS_PERIOD_NS: u64 = 100_000_000;

/// An interface and its histogram.
#[derive(Debug)]
struct Histogram {
    interface: Interface,
    /// Number of samples by KB in the queue.
    samples: Vec<u64>,
}

impl Histogram {
    fn add(&mut self, kilobytes: usize, samples: u64) {
        if self.samples.len() <= kilobytes {
            self.samples.resize(kilobytes + 1, 0);
        }
        self.samples[kilobytes] += samples;
    }
}

/// The monitor and its histograms.
#[derive(Debug)]
pub(super) struct QueueMonitor {
    histograms: Vec<Histogram>,
    next: Time,
    until: Time,
    /// Samples with all queues empty that have not been added to the histograms yet.
    idle: u64,
}

impl QueueMonitor {
    pub(super) fn new(interfaces: &[Interface], from: Time, until: Time) -> Self {
        let switches = interfaces.iter().filter(|it| it.owner.switch().is_some());
        let mut histograms: Vec<Histogram> =
            switches.map(|&interface| Histogram { interface, samples: Vec::new() }).collect();
        histograms.sort_by_key(|it| (it.interface.node, it.interface.number));
        Self { histograms, next: from, until, idle: 0 }
    }

    /// Iterates over the sampled ports: those of switches, ordered by node and interface.
    pub(super) fn ports(&self) -> impl Iterator<Item = PortId> + '_ {
        self.histograms.iter().map(|it| it.interface.port)
    }

    /// Returns the time of the next sample; [`Time::NEVER`] after the last one.
    pub(super) fn next(&self) -> Time {
        self.next
    }

    /// Takes a sample of the bytes `waiting` at each port. If all queues are empty, it also takes
    /// the samples up to `next_event`, because no queue can grow before that.
    pub(super) fn sample(
        &mut self,
        next_event: Time,
        waiting: &[u32],
        to: &mut dyn Write,
    ) -> io::Result<()> {
        if self.ports().all(|port| waiting[port.index()] == 0) {
            self.idle += 1;
            self.advance(to)?;
            while self.next <= next_event && self.next != Time::NEVER {
                self.skip_idle(next_event);
                self.idle += 1;
                self.advance(to)?;
            }
            return Ok(());
        }
        self.count_idle();
        for it in &mut self.histograms {
            it.add(waiting[it.interface.port.index()] as usize / 1_000, 1);
        }
        self.advance(to)
    }

    /// Advances to the next sample, and writes the totals if they are due.
    fn advance(&mut self, to: &mut dyn Write) -> io::Result<()> {
        let now = self.next;
        if (now.as_ps() / 1_000).is_multiple_of(TOTALS_PERIOD_NS) {
            self.write_totals(now, to)?;
        }
        self.next = if now < self.until { now + PERIOD } else { Time::NEVER };
        Ok(())
    }

    /// Takes samples of empty queues in bulk. It stops before `next_event`, the end of sampling and
    /// the next totals.
    fn skip_idle(&mut self, next_event: Time) {
        let totals_period = TOTALS_PERIOD_NS * 1_000;
        let due = self.next.as_ps().div_ceil(totals_period).saturating_mul(totals_period);
        let last = next_event.min(self.until).min(Time::from_ps(due));
        let samples = last.as_ps().saturating_sub(self.next.as_ps()) / PERIOD.as_ps();
        self.idle += samples;
        self.next += Span::from_ps(samples * PERIOD.as_ps());
    }

    fn count_idle(&mut self) {
        let idle = std::mem::take(&mut self.idle);
        if idle > 0 {
            self.histograms.iter_mut().for_each(|it| it.add(0, idle));
        }
    }

    /// Writes the histograms so far.
    pub(super) fn write_totals(&mut self, now: Time, to: &mut dyn Write) -> io::Result<()> {
        self.count_idle();
        writeln!(to, "time: {}", now.as_ps() / 1_000)?;
        for Histogram { interface, samples } in &self.histograms {
            write!(to, "{} {}", interface.node, interface.number)?;
            samples.iter().try_for_each(|count| write!(to, " {count}"))?;
            writeln!(to)?;
        }
        Ok(())
    }
}
