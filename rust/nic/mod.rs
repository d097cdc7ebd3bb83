//! The RDMA NIC, sans-IO.

mod config;
pub mod congestion;

pub use config::{AckConfig, NicConfig, Recovery};
