//! A reconstruction: the timers of the exception handler, and how long they let a failure last.
//!
//! Source: \[inferred\]. Nezha's abstract (arXiv 2405.17870 v2, 2026) publishes one number, that
//! operations go on within 200 ms after a rail fails; the timers are chosen so that detection,
//! agreement and re-issue together keep to it with half of it to spare.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::super::RailSet;
use crate::units::{Bytes, Span};

/// Timers and sizes of the exception handler; all \[inferred\].
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// What is agreed on and done again: pieces of at most this, a multiple of the element: 1 MiB.
    pub chunk: Bytes,
    /// How often each rank tells the next one, on each rail, that it is there: 50 ms.
    pub heartbeat: Span,
    /// Heartbeats missed in a row after which a rail is down, at least 1: 2.
    pub misses: u32,
    /// How late a heartbeat may be: 5 ms.
    pub grace: Span,
    /// A rail that completes nothing for so many times what was expected is suspected: 3.
    pub stall_factor: u32,
    /// ... but not before this: 20 ms.
    pub stall_least: Span,
    /// How long a suspected rail has for an answer or progress: 20 ms.
    pub confirm: Span,
    /// When what a rank published is published again, while others have not answered: 10 ms.
    pub retry: Span,
    /// How often a rail that is down is probed: 1 s.
    pub probe: Span,
    /// Rounds of probes in a row that all ranks answered, after which it is up, at least 1: 3.
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

/// Why there is no such handler.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum ConfigError {
    /// A timer, size or count of zero.
    #[error("{name} = 0: it is above zero, by default {default}")]
    Zero {
        /// The key.
        name: &'static str,
        /// What it is where nothing is said.
        default: &'static str,
    },
    /// Fewer than two ranks, or a rank that is none of them.
    #[error("rank {rank} of {ranks}: there are at least 2 ranks, numbered from 0")]
    Rank {
        /// Which it was to be.
        rank: u32,
        /// Of how many.
        ranks: u32,
    },
    /// No rail, or more than a set holds.
    #[error("{rails} rails: there are 1 to {} of them", RailSet::MOST)]
    Rails {
        /// How many were asked for.
        rails: usize,
    },
}

impl Config {
    /// Checks that no timer stands still.
    ///
    /// # Errors
    /// The first key that is zero.
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

    /// How long a rail may complete nothing before it is suspected, where a chunk is expected
    /// each `expected`.
    pub fn stall(&self, expected: Span) -> Span {
        let factor = u64::from(self.stall_factor);
        Span::from_ps(expected.as_ps().saturating_mul(factor)).max(self.stall_least)
    }

    /// The longest from a rail that falls silent until all ranks have re-issued what was missing,
    /// with messages that take `one_way` and of which none is lost: the last heartbeat was just
    /// under way, all that are missed pass, one report goes out, and its answers come.
    pub fn silence_budget(&self, one_way: Span) -> Span {
        one_way + self.heartbeat * u64::from(self.misses) + self.grace + one_way * 2
    }

    /// The same for a rail that carries heartbeats but completes nothing any more, where chunks
    /// are expected each `expected`.
    pub fn stall_budget(&self, one_way: Span, expected: Span) -> Span {
        self.stall(expected) + self.confirm + one_way * 2
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_200_ms_hold_with_the_default_timers() {
        let config = Config::default();
        // A millisecond one way is slow for messages of a few kilobytes within a cluster.
        let one_way = Span::from_ms(1);
        assert_eq!(config.silence_budget(one_way), Span::from_ms(108));
        assert_eq!(config.stall_budget(one_way, Span::from_ms(5)), Span::from_ms(42));
        // Chunks of up to 50 ms are noticed in time too.
        assert!(config.stall_budget(one_way, Span::from_ms(50)) < Span::from_ms(200));
        // One report lost costs a retry.
        assert!(config.silence_budget(one_way) + config.retry < Span::from_ms(200));
    }

    #[test]
    fn a_timer_of_zero_says_what_would_be_right() {
        let config = Config { heartbeat: Span::ZERO, ..Config::default() };
        let error = config.check().unwrap_err().to_string();
        assert_eq!(error, "heartbeat = 0: it is above zero, by default 50ms");
        assert_eq!(Config::default().check(), Ok(()));
    }
}
