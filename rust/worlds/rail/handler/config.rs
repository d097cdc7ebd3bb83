//! A reconstruction: the timers of the exception handler.
//!
//! Source: \[inferred\]. Nezha's abstract (arXiv 2405.17870 v2, 2026) publishes one number:
//! operations resume within 200 ms after a rail fails. The timers are chosen so that detection,
//! agreement and re-issue together take half of that.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::super::RailSet;
use crate::units::{Bytes, Span};

/// Timers and sizes of the exception handler; all defaults are \[inferred\].
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Unit of agreement and repetition: the maximum length of a chunk, a multiple of the element.
    /// Default 1 MiB.
    pub chunk: Bytes,
    /// Period of the heartbeats from each rank to the next one, on each rail. Default 50 ms.
    pub heartbeat: Span,
    /// Number of consecutive missing heartbeats after which a rail is down, at least 1. Default 2.
    pub misses: u32,
    /// Tolerated delay of a heartbeat. Default 5 ms.
    pub grace: Span,
    /// A rail that completes nothing for this multiple of the expected time is suspect. Default 3.
    pub stall_factor: u32,
    /// Minimum time without a completion after which a rail is suspect. Default 20 ms.
    pub stall_least: Span,
    /// Time in which a suspect rail must deliver an answer or a completion. Default 20 ms.
    pub confirm: Span,
    /// Period with which a report is published again while answers are missing. Default 10 ms.
    pub retry: Span,
    /// Period with which a rail that is down is probed. Default 1 s.
    pub probe: Span,
    /// Number of consecutive probe rounds that all ranks must answer before a rail is up.
    /// At least 1. Default 3.
    pub good_probes: u32,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            chunk: Bytes::new(1 << 20),
            heartbeat: Span::from_ms(50),
            misses: 2,
            grace: Span::from_ms(5),
            stall_factor: 3,
            stall_least: Span::from_ms(20),
            confirm: Span::from_ms(20),
            retry: Span::from_ms(10),
            probe: Span::from_ms(1_000),
            good_probes: 3,
        }
    }
}

/// The reason why a handler cannot be built.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum ConfigError {
    /// A timer, size or count is zero.
    #[error("{name} = 0 is invalid: expected a value above zero (default {default})")]
    Zero {
        /// Name of the parameter, as in `[handler]`.
        name: &'static str,
        /// The default of the parameter, as written in a scenario.
        default: &'static str,
    },
    /// There are fewer than two ranks, or the rank is out of range.
    #[error("rank {rank} of {ranks} is out of range: expected at least 2 ranks, numbered from 0")]
    Rank {
        /// The rank as given.
        rank: u32,
        /// The number of ranks.
        ranks: u32,
    },
    /// There are no rails, or more than a set holds.
    #[error("{rails} rails are out of range: expected 1 to {}", RailSet::CAPACITY)]
    Rails {
        /// The number of rails.
        rails: usize,
    },
}

impl Config {
    /// Checks that no parameter is zero.
    ///
    /// # Errors
    /// The first parameter that is zero.
    pub fn check(&self) -> Result<(), ConfigError> {
        let keys = [
            ("chunk", self.chunk.get(), "1MiB"),
            ("heartbeat", self.heartbeat.as_ps(), "50ms"),
            ("misses", self.misses.into(), "2"),
            ("stall_factor", self.stall_factor.into(), "3"),
            ("stall_least", self.stall_least.as_ps(), "20ms"),
            ("confirm", self.confirm.as_ps(), "20ms"),
            ("retry", self.retry.as_ps(), "10ms"),
            ("probe", self.probe.as_ps(), "1s"),
            ("good_probes", self.good_probes.into(), "3"),
        ];
        let zero = keys.into_iter().find(|&(_, value, _)| value == 0);
        zero.map_or(Ok(()), |(name, _, default)| Err(ConfigError::Zero { name, default }))
    }

    /// Returns the time without a completion after which a rail is suspect, if a chunk is expected
    /// every `expected`.
    pub fn stall(&self, expected: Span) -> Span {
        let factor = u64::from(self.stall_factor);
        Span::from_ps(expected.as_ps().saturating_mul(factor)).max(self.stall_least)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parameter_of_zero_is_rejected_with_its_default() {
        let config = Config { heartbeat: Span::ZERO, ..Config::default() };
        let error = config.check().unwrap_err().to_string();
        assert_eq!(error, "heartbeat = 0 is invalid: expected a value above zero (default 50ms)");
        assert_eq!(Config::default().check(), Ok(()));
    }
}
