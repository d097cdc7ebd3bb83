//! One run on several cores. Results are bit-identical to those on one core.
//!
//! [`Partitioning`] assigns each switch to a partition, with the hosts attached to it. A partition
//! is a [`World`] on its own thread: it holds the whole fabric but simulates only its own part.
//! Time advances in windows no longer than the shortest wire between two partitions. Within a
//! window, no event of one partition can affect another. (Conservative synchronization with
//! lookahead: Chandy and Misra, 1979; windows as in Lubachevsky's bounded lag, 1989.) At the end of
//! a window each partition hands off the packets that arrive elsewhere, and its hosts' notes.
//!
//! Results depend neither on the number of partitions nor on the assignment:
//!
//! - events of the same time are ordered by their subject, and one partition handles each;
//! - random draws belong to hosts, ports and switches;
//! - link changes and probes happen in every partition, at the same position in that order;
//! - queue pairs are created at the receiver in the order of the events that opened them;
//! - a run ends with an event, and no later event may happen. While a message is undelivered, the
//!   run does not end in the next window, because the acknowledgement takes longer. Once all are
//!   delivered, the partitions share one thread, in the event order of a single-threaded run.
//!
//! A run stays on one thread ([`Sequential`]) in these cases:
//!
//! - a delay releases tasks of other hosts, which leaves no lookahead;
//! - links that stay down separate two hosts that exchange messages, so that event counts decide
//!   whether the run can end;
//! - links have no length;
//! - packets carry telemetry;
//! - a watch observes the run.

mod barrier;
mod partitioning;
mod windows;

pub use partitioning::{Cut, Partitioning, Sequential};
pub use windows::WindowCounts;

use super::outcome::{Outcome, Progress};
use super::setup::Setup;

/// Runs the workload of `setup` to its end, with one thread per partition. The outcome equals that
/// of [`super::run`].
///
/// # Panics
/// If a packet or a byte is unaccounted for.
pub fn run_parallel(
    setup: &Setup,
    partitioning: &Partitioning,
    progress: &mut dyn FnMut(&Progress),
) -> (Outcome, WindowCounts) {
    windows::run(setup, partitioning, progress)
}
