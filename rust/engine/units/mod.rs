//! Quantities with units: instants and spans in picoseconds, bytes, bit rates, fractions.
//!
//! In files and on the command line, a quantity is text with a unit (`"400Gbps"`, `"1us"`,
//! `"64MB"`, `"1/5"`); in the code it is a newtype. Only operators that preserve the unit are
//! defined. Nothing here depends on networks.

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
