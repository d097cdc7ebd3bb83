//! `config.txt`: the configuration of an experiment of the HPCC family.
//!
//! A line holds a key and its values. Lines may be in any order, and the last line of a repeated
//! key counts. Text after a `#` or a `{` is a comment (the family's own documented sample uses
//! both). The unit of a value depends on its key and is given at each field of [`HpccConfig`].
//!
//! Keys that have no effect here (monitors of other policies, parameters of congestion controls
//! that do not exist here) are known by name and skipped; an unknown key is skipped with a warning.

mod keys;
mod line;
mod read;
mod settings;

pub use line::ConfigError;
pub use read::read;
pub(super) use settings::LB_MODES;
pub use settings::{Family, HpccConfig, LinkDown, OutputFiles, RateKeys, Thresholds, WithLine};
