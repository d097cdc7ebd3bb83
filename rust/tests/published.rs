//! Compares published results with those of this project. Each experiment of a paper that an
//! example repeats is a table of one screen. The last lines of a table explain the differences.

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
mod nccl;
mod queue_growth;
mod rccc_simulator;
mod reps;
mod run;
