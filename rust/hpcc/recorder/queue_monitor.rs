//! `qlen.txt`: how often so many KB waited at each interface of a switch.
//!
//! Source: `monitor_buffer` of HPCC's `third.cc`: a look at every interface each 100 ns from
//! `QLEN_MON_START` to `QLEN_MON_END`; at each whole multiple of 100 ms `time: NS`, and a line an
//! interface: node, interface, and how often 0, 1, 2, ... KB (of 1000 bytes) waited so far. What
//! has priority is not counted, nor is the packet on the wire. Beside the family's own lines the
//! sums are written once more when the run is over: it may be over before 100 ms are.
//!
//! ConWeave's simulator has the monitor switched off, so that its configurations give no file.

use std::io::{self, Write};

use super::interface::Interface;
use crate::ids::PortId;
use crate::units::{Span, Time};

/// How often it looks (`qlen_mon_interval`).
const EVERY: Span = Span::from_ns(100);

/// How often it writes down what it saw, in ns (`qlen_dump_interval`).
const DUMP_EVERY_NS: u64 = 100_000_000;

/// An interface and what waited there.
#[derive(Debug)]
struct Watched {
    interface: Interface,
    /// How often so many KB waited.
    counts: Vec<u64>,
}

/// The monitor.
#[derive(Debug)]
pub(super) struct QueueMonitor {
    watched: Vec<Watched>,
    next: Time,
    until: Time,
    /// Looks at which nothing waited anywhere, which are not counted yet.
    idle: u64,
}

impl QueueMonitor {
    pub fn new(interfaces: &[Interface], from: Time, until: Time) -> Self {
        let switches = interfaces.iter().filter(|it| it.owner.switch().is_some());
        let mut watched: Vec<Watched> =
            switches.map(|&interface| Watched { interface, counts: Vec::new() }).collect();
        watched.sort_by_key(|it| (it.interface.node, it.interface.number));
        Self { watched, next: from, until, idle: 0 }
    }

    /// Where it looks.
    pub fn ports(&self) -> impl Iterator<Item = PortId> + '_ {
        self.watched.iter().map(|it| it.interface.port)
    }

    /// When it looks next.
    pub fn next(&self) -> Time {
        self.next
    }

    /// Looks; where nothing waits, also for the looks up to `next_event`, before which nothing can
    /// come to wait.
    pub fn look(
        &mut self,
        next_event: Time,
        waiting: &[u32],
        to: &mut dyn Write,
    ) -> io::Result<()> {
        if self.ports().all(|port| waiting[port.index()] == 0) {
            self.idle += 1;
            self.go_on(to)?;
            while self.next <= next_event && self.next != Time::NEVER {
                self.pass(next_event);
                self.idle += 1;
                self.go_on(to)?;
            }
            return Ok(());
        }
        self.count_idle();
        for it in &mut self.watched {
            count(&mut it.counts, waiting[it.interface.port.index()] as usize / 1_000, 1);
        }
        self.go_on(to)
    }

    fn go_on(&mut self, to: &mut dyn Write) -> io::Result<()> {
        let now = self.next;
        if (now.as_ps() / 1_000).is_multiple_of(DUMP_EVERY_NS) {
            self.dump(now, to)?;
        }
        self.next = if now < self.until { now + EVERY } else { Time::NEVER };
        Ok(())
    }

    /// Takes at once those looks at nothing after which there is another one up to `next_event`,
    /// and sums are not due.
    fn pass(&mut self, next_event: Time) {
        let dump_every = DUMP_EVERY_NS * 1_000;
        let due = self.next.as_ps().div_ceil(dump_every).saturating_mul(dump_every);
        let last = next_event.min(self.until).min(Time::from_ps(due));
        let looks = last.as_ps().saturating_sub(self.next.as_ps()) / EVERY.as_ps();
        self.idle += looks;
        self.next += Span::from_ps(looks * EVERY.as_ps());
    }

    fn count_idle(&mut self) {
        let idle = std::mem::take(&mut self.idle);
        if idle > 0 {
            self.watched.iter_mut().for_each(|it| count(&mut it.counts, 0, idle));
        }
    }

    /// Writes what was seen so far.
    pub fn dump(&mut self, now: Time, to: &mut dyn Write) -> io::Result<()> {
        self.count_idle();
        writeln!(to, "time: {}", now.as_ps() / 1_000)?;
        for Watched { interface, counts } in &self.watched {
            write!(to, "{} {}", interface.node, interface.number)?;
            counts.iter().try_for_each(|count| write!(to, " {count}"))?;
            writeln!(to)?;
        }
        Ok(())
    }
}

fn count(counts: &mut Vec<u64>, kilobytes: usize, times: u64) {
    if counts.len() <= kilobytes {
        counts.resize(kilobytes + 1, 0);
    }
    counts[kilobytes] += times;
}
