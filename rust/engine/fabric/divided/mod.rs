//! One run on several cores, with the same results as on one, bit for bit.
//!
//! The switches of a fabric are divided into parts, each with the hosts that are attached to them
//! ([`Division`]). A part is a [`World`] of its own, on a thread of its own: it has the whole
//! fabric, and moves only what is its own. Time advances in windows that are no longer than the
//! shortest wire between two parts, so that nothing that happens in a window of one part concerns
//! another part in the same window. (Conservative synchronization with lookahead: Chandy and Misra,
//! 1979; windows as in Lubachevsky's bounded lag, 1989.) At the end of a window each part passes on
//! the packets that will arrive elsewhere and what its hosts let others know.
//!
//! The results depend neither on the number of parts nor on who is in which, because no decision
//! does:
//!
//! - events of the same time are ordered by what they are about, and each is handled in one part;
//! - random draws belong to hosts, ports and switches;
//! - changes of links and probes happen in every part, at the same place of that order;
//! - queue pairs are made at the receiver in the order of the events that opened them;
//! - a run ends with an event, and what is after that event must not happen. While a message has
//!   not been delivered, the run does not end in the next window: the acknowledgement takes longer
//!   than that. Once all have been, the parts go on on one thread, event by event in the order of
//!   an undivided run.
//!
//! A run is not divided ([`Undivided`]) if a delay releases tasks of other hosts
//! (at no distance there is no lookahead), if links that stay down separate two hosts that exchange
//! messages (whether that can ever end is then asked by counts of events), if links have no length,
//! if packets carry telemetry, or if it is observed by a watch.

mod barrier;
mod division;
mod windows;

pub use division::{Cut, Division, Undivided};
pub use windows::WindowCounts;

use super::outcome::{Outcome, Progress};
use super::setup::Setup;

/// Runs the workload of a setup to its end, each part of the division on a thread of its own. The
/// outcome is that of [`super::run`].
///
/// # Panics
/// If a packet or a byte is unaccounted for.
pub fn run_divided(
    setup: &Setup,
    division: &Division,
    progress: &mut dyn FnMut(&Progress),
) -> (Outcome, WindowCounts) {
    windows::run(setup, division, progress)
}
