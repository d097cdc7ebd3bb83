//! Figures of results, and the page of a report.
//!
//! The crate `evenkeel` re-exports it and describes the architecture.

use evenkeel_observe::record;
use evenkeel_study as study;
use evenkeel_study::{report, results};

pub mod page;
pub mod plot;
