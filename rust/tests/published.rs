//! Published figures beside ours: each experiment of a paper that an example repeats, as a table
//! of one screen. Where they differ, the table's last lines say why.

#[path = "published/bounds.rs"]
mod bounds;
#[path = "published/reps.rs"]
mod reps;
#[path = "published/run.rs"]
mod run;
