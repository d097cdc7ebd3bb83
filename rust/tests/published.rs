//! Published results compared with the results of this project: each experiment of a paper that an
//! example repeats, as a table of one screen. Where they differ, the last lines of the table give
//! the reason.

mod agreement;
mod all_to_all;
mod bounds;
mod defaults;
mod failures;
mod failures_peers;
mod figure;
mod fluid;
mod hpcc_family;
mod hpcc_simulator;
mod line_cut;
mod link_failure;
mod queue_growth;
mod rccc_simulator;
mod reps;
mod run;
