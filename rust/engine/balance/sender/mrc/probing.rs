//! Values that are out of use, and the probes that bring them back (G6).

use super::Config;
use crate::packet::PlaneMask;
use crate::units::{Span, Time};

/// A value that is out of use.
#[derive(Debug, Clone, Copy)]
pub(super) struct Condemned {
    index: u16,
    plane: u8,
    /// Consecutive answered probes.
    successes: u16,
    /// True if the last probe is still unanswered.
    pending: bool,
    interval: Span,
    /// Time of the next probe.
    due: Time,
}

impl Condemned {
    /// Size in hardware: an index, a counter of successes, and a time and an interval in
    /// microseconds.
    pub(super) const BITS: u64 = 8 + 2 + 1 + 14 + 24;
}

/// The values that are out, longest first.
#[derive(Debug, Clone)]
pub(super) struct Probing {
    condemned: Vec<Condemned>,
    /// Time of the first probe of a usable plane.
    next: Time,
    usable: PlaneMask,
    every: Span,
    every_max: Span,
    successes: u16,
}

impl Probing {
    pub(super) fn new(config: &Config) -> Self {
        Self {
            condemned: Vec::new(),
            next: Time::NEVER,
            usable: PlaneMask::from_bits(u32::MAX),
            every: config.probe_every,
            every_max: config.probe_every_max,
            successes: config.probe_successes,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.condemned.len()
    }

    /// Returns the time of the next probe.
    pub(super) const fn next(&self) -> Time {
        self.next
    }

    /// Adds a value that is out from now on.
    pub(super) fn add(&mut self, now: Time, index: u16, plane: u32) {
        let (interval, due) = (self.every, now.saturating_add(self.every));
        let plane = u8::try_from(plane).expect("at most 32 planes");
        self.condemned.push(Condemned {
            index,
            plane,
            successes: 0,
            pending: false,
            interval,
            due,
        });
        self.update();
    }

    /// Removes and returns the value that has been out longest, preferably one of `plane`.
    pub(super) fn take_oldest(&mut self, plane: u32) -> Option<u16> {
        let usable = |it: &Condemned| self.usable.has(it.plane.into());
        // `condemned` is in the order of removal, so the first match has been out longest.
        let of_plane =
            self.condemned.iter().position(|it| u32::from(it.plane) == plane && usable(it));
        let found = of_plane.or_else(|| self.condemned.iter().position(usable))?;
        let index = self.condemned.remove(found).index;
        self.update();
        Some(index)
    }

    /// Returns the value to probe at `now`, if a probe is due.
    pub(super) fn poll(&mut self, now: Time) -> Option<u16> {
        if self.next > now {
            return None;
        }
        let usable = self.usable;
        let is_due = |it: &&mut Condemned| it.due <= now && usable.has(it.plane.into());
        let found = self.condemned.iter_mut().find(is_due)?;
        if found.pending {
            // The previous probe was not answered: back off and start counting again.
            found.successes = 0;
            found.interval = (found.interval * 2).min(self.every_max);
        }
        found.pending = true;
        found.due = now.saturating_add(found.interval);
        let index = found.index;
        self.update();
        Some(index)
    }

    /// Handles the reply to a probe. Returns true if the value is no longer out.
    pub(super) fn handle_reply(&mut self, now: Time, index: u16) -> bool {
        let every = self.every;
        let Some(found) = self.condemned.iter_mut().position(|it| it.index == index) else {
            return false;
        };
        let it = &mut self.condemned[found];
        // A duplicate, or a reply to a probe sent before the plane went down: it does not count.
        if !std::mem::take(&mut it.pending) {
            return false;
        }
        it.successes += 1;
        // The path replies again: undo the backoff.
        it.due = it.due.min(now.saturating_add(every));
        it.interval = every;
        let is_back = it.successes >= self.successes;
        if is_back {
            self.condemned.remove(found);
        }
        self.update();
        is_back
    }

    /// Sets the usable planes; values of other planes are not probed. Planes that return start with
    /// the shortest interval.
    pub(super) fn set_usable(&mut self, now: Time, usable: PlaneMask) {
        for it in &mut self.condemned {
            let plane = it.plane.into();
            if usable.has(plane) && !self.usable.has(plane) {
                // Earlier probes say nothing about the plane's current state.
                it.pending = false;
                it.interval = self.every;
                it.due = now.saturating_add(self.every);
            }
        }
        self.usable = usable;
        self.update();
    }

    fn update(&mut self) {
        let usable = self.condemned.iter().filter(|it| self.usable.has(it.plane.into()));
        self.next = usable.map(|it| it.due).min().unwrap_or(Time::NEVER);
    }
}
