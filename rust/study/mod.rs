//! Runs and sets of runs: a scenario goes in, summaries come out.
//!
//! A study knows how runs are made and compared; it neither reads arguments nor prints. Whatever
//! the number of threads and whoever finishes first, its results are the same, in the same order.

mod compare;
mod lower_bound;
mod pool;
mod queue_pairs;
mod rails;
mod run;

pub use compare::{Comparison, Job, Observer, compare};
pub use lower_bound::lower_bound;
use pool::in_order;
pub use queue_pairs::{QueuePairs, queue_pairs};
pub use rails::{rail_identity, run_rails};
pub use run::{Finished, Observers, Run, run};
