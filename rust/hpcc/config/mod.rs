//! `config.txt`: what an experiment of the HPCC family is set to.

mod keys;
mod line;
mod settings;

pub use line::ConfigError;
pub use settings::*;
