//! Quantities with their units: instants and spans in picoseconds, bytes, bit rates, fractions.
//!
//! A quantity is typed text (`"400Gbps"`, `"1us"`, `"64MB"`, `"1/5"`) at the edges and a newtype
//! within; only operators that make sense exist. Nothing here knows of networks.

mod bytes;
mod decimal;
mod flops;
mod fraction;
mod rate;
mod text;
mod time;

pub use bytes::Bytes;
pub use decimal::{DecimalError, decimal};
pub use flops::Flops;
pub use fraction::Fraction;
pub use rate::BitRate;
pub use text::UnitError;
pub use time::{Span, Time};
