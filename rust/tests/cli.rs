//! The command line as seen by other programs: output, exit status, and written files.

mod audit;
mod bench;
mod breakdown;
#[cfg(unix)]
mod clusters;
mod commands_page;
mod compare;
mod decides;
mod described;
#[cfg(unix)]
mod documents;
mod formats;
mod gallery;
mod gates;
mod help;
#[cfg(target_os = "linux")]
mod hostile;
mod hpcc;
mod inspect;
mod memory;
mod metrics_table;
mod nccl_tests;
mod outputs;
mod plot;
#[cfg(target_os = "linux")]
mod replaced;
mod report;
mod reported;
mod reproduce;
mod round_trip;
mod run;
mod start;
mod sweep;
#[cfg(target_os = "linux")]
mod terminal;
mod timeline;
mod twin;
