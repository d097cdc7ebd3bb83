//! Quantities with their units: instants and spans in picoseconds, bytes, bit rates, fractions.
//!
//! A quantity is text with a unit (`"400Gbps"`, `"1us"`, `"64MB"`, `"1/5"`) in files and on the
//! command line, and a newtype in the code. Only operators that preserve the unit are defined.
//! Nothing here depends on networks.

mod bytes;
mod decimal;
mod flops;
mod fraction;
mod rate;
mod text;
mod time;

pub use bytes::Bytes;
pub use decimal::DecimalError;
pub use decimal::decimal;
pub use flops::Flops;
pub use fraction::Fraction;
pub use rate::BitRate;
pub use text::UnitError;
pub use time::{Span, Time};
