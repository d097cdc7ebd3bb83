//! Published figures beside ours: each experiment of a paper that an example repeats, as a table
//! of one screen. Where they differ, the table's last lines say why.

#[path = "published/all_to_all.rs"]
mod all_to_all;
#[path = "published/bounds.rs"]
mod bounds;
#[path = "published/failures.rs"]
mod failures;
#[path = "published/hpcc_family.rs"]
mod hpcc_family;
#[path = "published/line_cut.rs"]
mod line_cut;
#[path = "published/link_failure.rs"]
mod link_failure;
#[path = "published/queue_growth.rs"]
mod queue_growth;
#[path = "published/reps.rs"]
mod reps;
#[path = "published/run.rs"]
mod run;
