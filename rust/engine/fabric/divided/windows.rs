//! The windows of a divided run: every part handles its events of a window on a thread of its own,
//! then the parts exchange what concerns each other, and agree on the next window.
//!
//! Where windows have few events, as while a single message is under way, threads would wait for
//! each other longer than they work. The first thread then goes on with all parts by itself, until
//! a window has more.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use super::Division;
use super::barrier::Barrier;
use crate::fabric::outcome::{Outcome, Progress, Verdict};
use crate::fabric::setup::Setup;
use crate::fabric::world::{Mail, World, add_progress, merge};
use crate::units::Time;

/// Windows between two reports of progress, which take a look at every host.
const PROGRESS_EVERY: u64 = 256;

/// So many quiet windows one after the other are left to one thread.
const QUIET_WINDOWS: u32 = 16;

/// How well a run divides, counted and not measured: the events of the part with the most of them
/// are what a window costs on as many cores as there are parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WindowCounts {
    /// Windows until the run could end.
    pub windows: u64,
    /// The events of all parts in these windows; a packet that crosses from one part into another
    /// has one in either.
    pub events: u64,
    /// The events of the part with the most, summed over the windows.
    pub critical_events: u64,
}

/// What a part shows to the others between two windows.
#[derive(Debug, Default)]
struct Shown {
    /// The time before which nothing happens in it, in picoseconds; `u64::MAX` if nothing does.
    next: AtomicU64,
    delivered: AtomicU64,
    events: AtomicU64,
    progress: Mutex<Option<Progress>>,
}

/// What the threads share.
struct Shared<'a> {
    division: &'a Division,
    limit: Time,
    messages: u64,
    barrier: Barrier,
    parts: Vec<Mutex<Option<World>>>,
    shown: Vec<Shown>,
    /// What each part has passed on, by the part that it is for and the one that it comes from.
    mail: Vec<Vec<Mutex<Mail>>>,
}

pub(super) fn run(
    setup: &Setup,
    division: &Division,
    progress: &mut dyn FnMut(&Progress),
) -> (Outcome, WindowCounts) {
    let count = division.count();
    let inbox = || (0..count).map(|_| Mutex::default()).collect();
    let shared = Shared {
        division,
        limit: setup.time_limit,
        messages: setup.workload.messages.len() as u64,
        barrier: Barrier::new(count),
        parts: (0..count).map(|_| Mutex::default()).collect(),
        shown: (0..count).map(|_| Shown::default()).collect(),
        mail: (0..count).map(|_| inbox()).collect(),
    };
    let counts = std::thread::scope(|scope| {
        for index in 1..count {
            let shared = &shared;
            scope.spawn(move || Thread { shared, index }.run(setup, &mut |_| {}));
        }
        Thread { shared: &shared, index: 0 }.run(setup, progress)
    });
    let mut parts = shared.take_parts();
    let verdict = finish(&mut parts, division, setup);
    let outcome = merge(parts, division, verdict, setup.time_limit);
    progress(&Progress {
        now: outcome.ended,
        completed: outcome.message_fct.len() as u64,
        messages: shared.messages,
        delivered_bytes: setup.workload.total_bytes().get(),
        total_bytes: setup.workload.total_bytes().get(),
        packet_hops: outcome.counters.packet_hops,
    });
    (outcome, counts)
}

/// A thread with its part.
struct Thread<'a> {
    shared: &'a Shared<'a>,
    index: usize,
}

impl Thread<'_> {
    /// Goes through the windows until the run may end.
    fn run(&self, setup: &Setup, progress: &mut dyn FnMut(&Progress)) -> WindowCounts {
        let shared = self.shared;
        let _guard = shared.barrier.guard();
        let mut world = World::of_part(setup, shared.division, self.index as u16);
        shared.shown[self.index].show(&mut world, 0);
        *lock(&shared.parts[self.index]) = Some(world);
        let (mut counts, mut quiet) = (WindowCounts::default(), 0);
        shared.barrier.wait();
        loop {
            let Some(end) = shared.next_end() else { return counts };
            if quiet >= QUIET_WINDOWS {
                // Nobody looks at what the parts have shown from here on.
                shared.barrier.wait();
                if self.index == 0 {
                    shared.run_quiet_windows(&mut counts);
                }
                quiet = 0;
                shared.barrier.wait_long();
                continue;
            }
            self.run_window(end, counts.windows.is_multiple_of(PROGRESS_EVERY));
            if self.index == 0 && counts.windows.is_multiple_of(PROGRESS_EVERY) {
                let parts = shared.shown.iter().filter_map(|part| *lock(&part.progress));
                parts.reduce(add_progress).iter().for_each(&mut *progress);
            }
            quiet = if shared.count(&mut counts) { quiet + 1 } else { 0 };
        }
    }

    /// Handles a window of the own part, and exchanges mail with the others.
    fn run_window(&self, end: Time, reports: bool) {
        let shared = self.shared;
        let mut part = lock(&shared.parts[self.index]);
        let world = part.as_mut().expect("every thread puts its part there");
        let mut mail: Vec<Mail> = shared.shown.iter().map(|_| Mail::default()).collect();
        let events = world.run_window(end, u64::MAX);
        world.end_window(end, shared.division, &mut mail);
        for (to, mail) in mail.into_iter().enumerate() {
            *lock(&shared.mail[to][self.index]) = mail;
        }
        if reports {
            *lock(&shared.shown[self.index].progress) = Some(world.progress());
        }
        shared.barrier.wait();
        let inbox = shared.mail[self.index].iter();
        world.receive(inbox.map(|mail| std::mem::take(&mut *lock(mail))));
        shared.shown[self.index].show(world, events);
        drop(part);
        shared.barrier.wait();
    }
}

impl Shown {
    fn show(&self, world: &mut World, events: u64) {
        let next = world.next_window().map_or(u64::MAX, Time::as_ps);
        self.next.store(next, Ordering::Relaxed);
        self.delivered.store(world.delivered_messages(), Ordering::Relaxed);
        self.events.store(events, Ordering::Relaxed);
    }
}

impl Shared<'_> {
    fn take_parts(&self) -> Vec<World> {
        let parts = self.parts.iter().map(|part| lock(part).take());
        parts.map(|part| part.expect("every thread puts its part there")).collect()
    }

    /// Counts the window that all parts have shown; true if it was a quiet one.
    fn count(&self, counts: &mut WindowCounts) -> bool {
        let events = || self.shown.iter().map(|part| part.events.load(Ordering::Relaxed));
        let all: u64 = events().sum();
        counts.windows += 1;
        counts.events += all;
        counts.critical_events += events().max().unwrap_or(0);
        all < self.division.quiet_events() * self.shown.len() as u64
    }

    /// Goes through windows with all parts on one thread, until one is not quiet or the run may
    /// end.
    fn run_quiet_windows(&self, counts: &mut WindowCounts) {
        let mut parts = self.take_parts();
        while let Some(end) = self.next_end() {
            let handled: Vec<u64> =
                parts.iter_mut().map(|part| part.run_window(end, u64::MAX)).collect();
            exchange(&mut parts, self.division, end);
            for ((part, events), shown) in parts.iter_mut().zip(handled).zip(&self.shown) {
                shown.show(part, events);
            }
            if !self.count(counts) {
                break;
            }
        }
        for (place, part) in self.parts.iter().zip(parts) {
            *lock(place) = Some(part);
        }
    }

    /// The end of the next window; `None` if the run may end in it, or cannot go on.
    fn next_end(&self) -> Option<Time> {
        let of_all = |number: fn(&Shown) -> &AtomicU64| {
            self.shown.iter().map(move |part| number(part).load(Ordering::Relaxed))
        };
        if of_all(|part| &part.delivered).sum::<u64>() == self.messages {
            return None;
        }
        let next = of_all(|part| &part.next).min().filter(|&next| next != u64::MAX)?;
        window(self.division, self.limit, Time::from_ps(next))
    }
}

/// The end of the window that begins with `next`; `None` beyond the time limit. An event exactly at
/// the limit still happens.
fn window(division: &Division, limit: Time, next: Time) -> Option<Time> {
    let after = Time::from_ps(limit.as_ps().saturating_add(1));
    (next <= limit).then(|| next.saturating_add(division.lookahead()).min(after))
}

/// Goes on to the end on one thread, in the order of events of an undivided run.
fn finish(parts: &mut [World], division: &Division, setup: &Setup) -> Verdict {
    let tasks = setup.workload.task_count() as u64;
    let is_idle = |parts: &[World]| parts.iter().map(World::ended_tasks).sum::<u64>() == tasks;
    loop {
        if is_idle(parts) {
            return Verdict::Completed;
        }
        let next = parts.iter_mut().filter_map(World::next_window).min();
        let Some(next) = next else { return Verdict::Stalled };
        let Some(end) = window(division, setup.time_limit, next) else {
            return Verdict::TimeLimit;
        };
        while let Some(first) = first_before(parts, end) {
            parts[first].run_window(end, 1);
            if is_idle(parts) {
                return Verdict::Completed;
            }
        }
        exchange(parts, division, end);
    }
}

/// The part with the next event before `end`.
fn first_before(parts: &mut [World], end: Time) -> Option<usize> {
    let next = parts.iter_mut().enumerate().filter_map(|(index, part)| Some((part.peek()?, index)));
    let ((at, _), first) = next.min()?;
    (at < end).then_some(first)
}

fn exchange(parts: &mut [World], division: &Division, end: Time) {
    let mut inboxes: Vec<Vec<Mail>> = parts.iter().map(|_| Vec::new()).collect();
    for part in &mut *parts {
        let mut mail: Vec<Mail> = inboxes.iter().map(|_| Mail::default()).collect();
        part.end_window(end, division, &mut mail);
        inboxes.iter_mut().zip(mail).for_each(|(inbox, mail)| inbox.push(mail));
    }
    for (part, inbox) in parts.iter_mut().zip(inboxes) {
        part.receive(inbox.into_iter());
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fabric::divided::Cut;
    use crate::fabric::tests::{leaf_spine, messages, setup};
    use crate::units::Span;

    /// One host of either part begins to send: that of the second part first.
    #[test]
    fn the_first_part_with_an_event_before_the_end_goes_on() {
        let mut both = messages(&[(0, 1), (1, 0)], 1_000);
        for (message, us) in both.iter_mut().zip([7, 5]) {
            message.start = Time::ZERO + Span::from_us(us);
        }
        let setup = setup(leaf_spine(2, 1, 1, 400), "ecmp", both);
        let division = Division::new(&setup, 2, Cut::Contiguous).unwrap();
        let mut parts = [0, 1].map(|index| World::of_part(&setup, &division, index));
        let mut first = |ps| first_before(&mut parts, Time::from_ps(ps));
        assert_eq!([5_000_000, 5_000_001, 9_000_000].map(&mut first), [None, Some(1), Some(1)]);
        // An event at the very end of a window is of the next one.
        parts[1].run_window(Time::from_ps(5_000_000), 1);
        assert_eq!(parts[1].now(), Time::ZERO);
        parts[1].run_window(Time::from_ps(5_000_001), 1);
        assert_eq!(parts[1].now(), Time::from_ps(5_000_000));
    }
}
