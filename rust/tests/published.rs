//! Published figures beside ours: each experiment of a paper that an example repeats, as a table
//! of one screen. Where they differ, the table's last lines say why.

#[path = "published/all_to_all.rs"]
mod all_to_all;
#[path = "published/bounds.rs"]
mod bounds;
#[path = "published/queue_growth.rs"]
mod queue_growth;
#[path = "published/run.rs"]
mod run;
