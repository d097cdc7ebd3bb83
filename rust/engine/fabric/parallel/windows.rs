//! The windows of a parallel run. Each partition handles its events of a window on its own thread.
//! Then the partitions exchange packets and notes, and agree on the next window.
//!
//! In windows with few events, for example while a single message is in flight, threads would spend
//! more time waiting than working. The first thread then runs all partitions, until a window has
//! more events.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use super::Partitioning;
use super::barrier::Barrier;
use crate::fabric::outcome::{Outcome, Progress, Verdict};
use crate::fabric::setup::Setup;
use crate::fabric::world::{Mail, World, add_progress, merge};
use crate::units::Time;

/// Windows between two progress reports, which read every host.
const PROGRESS_EVERY: u64 = 256;

/// Number of consecutive quiet windows after which one thread takes over.
const QUIET_WINDOWS: u32 = 16;

/// Counts that show how well a run can use several cores. With a core for each partition, a window
/// takes as long as its busiest partition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WindowCounts {
    /// Windows until the run could end.
    pub windows: u64,
    /// Events of all partitions in these windows. A packet that crosses a boundary has one event in
    /// each of both partitions.
    pub events: u64,
    /// Events of the busiest partition, summed over the windows.
    pub critical_events: u64,
}

/// State that a partition publishes to the others between two windows.
#[derive(Debug, Default)]
struct Published {
    /// Earliest time of its next event, in picoseconds; `u64::MAX` without one.
    next: AtomicU64,
    delivered: AtomicU64,
    events: AtomicU64,
    progress: Mutex<Option<Progress>>,
}

/// State shared by the threads.
struct Shared<'a> {
    partitioning: &'a Partitioning,
    limit: Time,
    messages: u64,
    barrier: Barrier,
    partitions: Vec<Mutex<Option<World>>>,
    published: Vec<Published>,
    /// Mail between partitions, by receiver and sender.
    mail: Vec<Vec<Mutex<Mail>>>,
}

pub(super) fn run(
    setup: &Setup,
    partitioning: &Partitioning,
    progress: &mut dyn FnMut(&Progress),
) -> (Outcome, WindowCounts) {
    let count = partitioning.count();
    let inbox = || (0..count).map(|_| Mutex::default()).collect();
    let shared = Shared {
        partitioning,
        limit: setup.time_limit,
        messages: setup.workload.messages.len() as u64,
        barrier: Barrier::new(count),
        partitions: (0..count).map(|_| Mutex::default()).collect(),
        published: (0..count).map(|_| Published::default()).collect(),
        mail: (0..count).map(|_| inbox()).collect(),
    };
    let counts = std::thread::scope(|scope| {
        for index in 1..count {
            let shared = &shared;
            scope.spawn(move || Thread { shared, index }.run(setup, &mut |_| {}));
        }
        Thread { shared: &shared, index: 0 }.run(setup, progress)
    });
    let mut partitions = shared.take_partitions();
    let verdict = finish(&mut partitions, partitioning, setup);
    let outcome = merge(partitions, partitioning, verdict, setup.time_limit);
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

/// A thread and its partition.
struct Thread<'a> {
    shared: &'a Shared<'a>,
    index: usize,
}

impl Thread<'_> {
    /// Runs windows until the run may end.
    fn run(&self, setup: &Setup, progress: &mut dyn FnMut(&Progress)) -> WindowCounts {
        let shared = self.shared;
        // Dropped on a panic too, which releases the other threads.
        let _guard = shared.barrier.guard();
        let mut world = World::of_partition(setup, shared.partitioning, self.index as u16);
        shared.published[self.index].publish(&mut world, 0);
        *lock(&shared.partitions[self.index]) = Some(world);
        let (mut counts, mut quiet) = (WindowCounts::default(), 0);
        shared.barrier.wait();
        loop {
            // Every thread reads the same published state, so all of them take the same branches.
            let Some(end) = shared.next_end() else { return counts };
            if quiet >= QUIET_WINDOWS {
                // From here on no thread reads the published state.
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
                let partitions =
                    shared.published.iter().filter_map(|partition| *lock(&partition.progress));
                partitions.reduce(add_progress).iter().for_each(&mut *progress);
            }
            quiet = if shared.count(&mut counts) { quiet + 1 } else { 0 };
        }
    }

    /// Runs a window of this thread's partition, and exchanges mail with the others.
    fn run_window(&self, end: Time, reports: bool) {
        let shared = self.shared;
        let mut partition = lock(&shared.partitions[self.index]);
        let world = partition.as_mut().expect("every thread has stored its partition");
        let mut mail: Vec<Mail> = shared.published.iter().map(|_| Mail::default()).collect();
        let events = world.run_window(end, u64::MAX);
        world.end_window(end, shared.partitioning, &mut mail);
        for (to, mail) in mail.into_iter().enumerate() {
            *lock(&shared.mail[to][self.index]) = mail;
        }
        if reports {
            *lock(&shared.published[self.index].progress) = Some(world.progress());
        }
        // Mail is complete once every partition has reached this point.
        shared.barrier.wait();
        let inbox = shared.mail[self.index].iter();
        world.receive(inbox.map(|mail| std::mem::take(&mut *lock(mail))));
        shared.published[self.index].publish(world, events);
        // Released before the barrier, so that another thread may take over.
        drop(partition);
        // No partition may start the next window before all have published their state.
        shared.barrier.wait();
    }
}

impl Published {
    fn publish(&self, world: &mut World, events: u64) {
        let next = world.next_window().map_or(u64::MAX, Time::as_ps);
        // Relaxed suffices: the barrier orders these writes before the reads.
        self.next.store(next, Ordering::Relaxed);
        self.delivered.store(world.delivered_messages(), Ordering::Relaxed);
        self.events.store(events, Ordering::Relaxed);
    }
}

impl Shared<'_> {
    fn take_partitions(&self) -> Vec<World> {
        let partitions = self.partitions.iter().map(|partition| lock(partition).take());
        partitions
            .map(|partition| partition.expect("every thread has stored its partition"))
            .collect()
    }

    /// Adds the window that all partitions have published. True if it was quiet.
    fn count(&self, counts: &mut WindowCounts) -> bool {
        let events =
            || self.published.iter().map(|partition| partition.events.load(Ordering::Relaxed));
        let all: u64 = events().sum();
        counts.windows += 1;
        counts.events += all;
        counts.critical_events += events().max().unwrap_or(0);
        all < self.partitioning.quiet_events() * self.published.len() as u64
    }

    /// Runs the windows of all partitions on one thread, until one is not quiet or the run may end.
    fn run_quiet_windows(&self, counts: &mut WindowCounts) {
        let mut partitions = self.take_partitions();
        while let Some(end) = self.next_end() {
            let handled: Vec<u64> = partitions
                .iter_mut()
                .map(|partition| partition.run_window(end, u64::MAX))
                .collect();
            exchange(&mut partitions, self.partitioning, end);
            for ((partition, events), published) in
                partitions.iter_mut().zip(handled).zip(&self.published)
            {
                published.publish(partition, events);
            }
            if !self.count(counts) {
                break;
            }
        }
        for (slot, partition) in self.partitions.iter().zip(partitions) {
            *lock(slot) = Some(partition);
        }
    }

    /// Returns the end of the next window; `None` if the run may end in it or cannot continue.
    fn next_end(&self) -> Option<Time> {
        let of_all = |number: fn(&Published) -> &AtomicU64| {
            self.published.iter().map(move |partition| number(partition).load(Ordering::Relaxed))
        };
        if of_all(|partition| &partition.delivered).sum::<u64>() == self.messages {
            return None;
        }
        let next = of_all(|partition| &partition.next).min().filter(|&next| next != u64::MAX)?;
        window(self.partitioning, self.limit, Time::from_ps(next))
    }
}

/// Returns the end of the window that begins at `next`; `None` beyond the time limit. An event
/// exactly at the limit still happens.
fn window(partitioning: &Partitioning, limit: Time, next: Time) -> Option<Time> {
    // The end is exclusive.
    let after = Time::from_ps(limit.as_ps().saturating_add(1));
    (next <= limit).then(|| next.saturating_add(partitioning.lookahead()).min(after))
}

/// Runs to the end on one thread, in the event order of a single-threaded run.
fn finish(partitions: &mut [World], partitioning: &Partitioning, setup: &Setup) -> Verdict {
    let tasks = setup.workload.task_count() as u64;
    let is_idle =
        |partitions: &[World]| partitions.iter().map(World::ended_tasks).sum::<u64>() == tasks;
    loop {
        if is_idle(partitions) {
            return Verdict::Completed;
        }
        let next = partitions.iter_mut().filter_map(World::next_window).min();
        let Some(next) = next else { return Verdict::Stalled };
        let Some(end) = window(partitioning, setup.time_limit, next) else {
            return Verdict::TimeLimit;
        };
        // One event at a time: the run may complete at any of them.
        while let Some(first) = first_before(partitions, end) {
            partitions[first].run_window(end, 1);
            if is_idle(partitions) {
                return Verdict::Completed;
            }
        }
        exchange(partitions, partitioning, end);
    }
}

/// Returns the partition with the next event before `end`.
fn first_before(partitions: &mut [World], end: Time) -> Option<usize> {
    let next = partitions
        .iter_mut()
        .enumerate()
        .filter_map(|(index, partition)| Some((partition.peek()?, index)));
    let ((at, _), first) = next.min()?;
    (at < end).then_some(first)
}

fn exchange(partitions: &mut [World], partitioning: &Partitioning, end: Time) {
    let mut inboxes: Vec<Vec<Mail>> = partitions.iter().map(|_| Vec::new()).collect();
    for partition in &mut *partitions {
        let mut mail: Vec<Mail> = inboxes.iter().map(|_| Mail::default()).collect();
        partition.end_window(end, partitioning, &mut mail);
        inboxes.iter_mut().zip(mail).for_each(|(inbox, mail)| inbox.push(mail));
    }
    for (partition, inbox) in partitions.iter_mut().zip(inboxes) {
        partition.receive(inbox.into_iter());
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fabric::parallel::Cut;
    use crate::fabric::tests::{leaf_spine, messages, setup};
    use crate::units::Span;

    /// One host of each partition sends. The host of the second partition starts first.
    #[test]
    fn the_partition_with_the_earliest_event_runs_first() {
        let mut both = messages(&[(0, 1), (1, 0)], 1_000);
        for (message, us) in both.iter_mut().zip([7, 5]) {
            message.start = Time::ZERO + Span::from_us(us);
        }
        let setup = setup(leaf_spine(2, 1, 1, 400), "ecmp", both);
        let partitioning = Partitioning::new(&setup, 2, Cut::Contiguous).unwrap();
        let mut partitions = [0, 1].map(|index| World::of_partition(&setup, &partitioning, index));
        let mut first = |ps| first_before(&mut partitions, Time::from_ps(ps));
        assert_eq!([5_000_000, 5_000_001, 9_000_000].map(&mut first), [None, Some(1), Some(1)]);
        // An event at the end of a window belongs to the next one.
        partitions[1].run_window(Time::from_ps(5_000_000), 1);
        assert_eq!(partitions[1].now(), Time::ZERO);
        partitions[1].run_window(Time::from_ps(5_000_001), 1);
        assert_eq!(partitions[1].now(), Time::from_ps(5_000_000));
    }
}
