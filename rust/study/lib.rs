//! Runs and sets of runs: a scenario goes in, summaries come out.
//!
//! For programs that run scenarios and read their numbers. [`Session`] is a single run with its
//! observers. [`compare()`] runs several policies, and [`Sweep`] all points of a study file. A
//! lower bound needs no run:
//!
//! ```
//! use std::path::Path;
//!
//! use evenkeel_scenario::{Overrides, Scenario};
//! use evenkeel_study::{BoundSummary, lower_bound};
//!
//! let text = "[topology]
//! kind = 'leaf-spine'
//! leaves = 4
//! spines = 4
//! hosts_per_leaf = 4
//! [workload]
//! kind = 'all-to-all'
//! bytes = '16MB'";
//! let scenario = Scenario::parse(text, "small", Path::new("."), &Overrides::default())?;
//! let bound = BoundSummary::new(scenario.name.clone(), &lower_bound(&scenario.setup()));
//! assert_eq!(bound.bound_by, "host NIC");
//! # Ok::<(), evenkeel_scenario::ScenarioError>(())
//! ```
//!
//! A study simulates and compares runs; it neither parses arguments nor prints. The results and
//! their order do not depend on the number of threads or on the order in which runs finish.

use evenkeel_engine::{
    balance, endpoint, fabric, ids, nic, split, switching, topology, units, workload,
};
use evenkeel_formats::{
    chakra, connection_matrix, goal, hpcc, infragraph, normal_form, simccl, text_file,
};
use evenkeel_observe::{invariants, record, timeline};
use evenkeel_scenario as scenario;
use evenkeel_worlds::{bound, fluid, multirail, rail};

mod audit;
mod available;
mod compare;
mod estimate;
mod explain;
mod explanation;
mod import;
mod in_flight;
mod listing;
mod lower_bound;
pub mod metrics;
mod nccl_tests;
mod pieces;
mod pool;
mod queue_pairs;
mod rails;
pub mod report;
pub mod reproduce;
pub mod results;
mod run;
mod session;
mod session_error;
pub mod statistics;
mod sweep;
mod threads;

pub use audit::audit;
pub use available::available_memory;
pub use compare::{
    AssertedRun, Assertion, AssertionOutcome, Comparison, ComparisonRun, EQUAL_WITHIN, Facts,
    Indicators, MetricStatistics, Observer, Planned, PolicyStatistics, PolicyVerdict, Reason,
    RunNumbers, Seeds, Statistics, Stopped, Unranked, compare, reference_topology,
};
pub use estimate::{Estimate, estimate_scenario, expect_memory};
pub use evenkeel_traffic::nccl::NcclOperation;
pub use explain::{Unexplained, explain};
pub use explanation::{
    DefaultOfKey, ExplainSummary, Explanation, ListSummary, OpenQuestion, OwnKey, ValueFacts,
};
pub use import::{Import, ImportError, Imported, Source};
pub use listing::{Listing, categories, category_table};
pub use lower_bound::{BoundSummary, lower_bound, short_time_limit, wire};
pub use nccl_tests::{NcclEstimate, NcclRow, NcclSizes, NcclStep, NcclTable, nccl_tests};
pub use pool::map_in_order;
pub use queue_pairs::{CountMethod, QpsSummary, QueuePairs, queue_pairs};
pub use rails::{compare_rails, rail_identity, run_rails};
pub use run::{Finished, Run, RunObservers, identity, run};
pub use session::{FinishedSession, Scratch, Session, SessionObservers, SessionOptions, Subject};
pub use session_error::SessionError;
pub use sweep::{
    Shard, ShardError, Sweep, SweepFolder, SweepFolderError, SweepPoint, SweepRow, SweepTable,
};
pub use threads::{cores, default_threads};
