//! Failures of a run.

use schemars::JsonSchema;
use serde::Serialize;

use crate::fabric::{Direction, Failure, FailureKind, Setup};
use crate::units::Time;

/// A failure of a link. Times are nanoseconds with picoseconds as decimals.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct FailureSummary {
    /// Name of the link.
    pub link: String,
    /// Node whose packets are affected; absent if both directions are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// `down`, `degrade` or `loss`.
    pub kind: &'static str,
    /// Fraction of the rate that remains, or of packets that are lost; `None` for a link that is
    /// down.
    pub share: Option<f64>,
    /// Start of the failure.
    pub at_ns: f64,
    /// End of the failure; `None` if it does not end.
    pub until_ns: Option<f64>,
}

/// Maximum number of listed failures: a flapping link has thousands.
pub(crate) const MAX_LISTED: usize = 1_000;

impl FailureSummary {
    /// Returns the first 1,000 failures of a setup, in order of their starts.
    pub fn of(setup: &Setup) -> Vec<Self> {
        let mut failures: Vec<&Failure> = setup.fabric.failures.iter().collect();
        failures.sort_by_key(|failure| (failure.at, failure.link));
        failures.into_iter().take(MAX_LISTED).map(|failure| one(setup, failure)).collect()
    }
}

fn one(setup: &Setup, failure: &Failure) -> FailureSummary {
    let topology = &setup.topology;
    let (kind, share) = match failure.kind {
        FailureKind::Down => ("down", None),
        FailureKind::Degrade { factor } => ("degrade", Some(factor.as_f64())),
        FailureKind::Loss { rate } => ("loss", Some(rate.as_f64())),
    };
    let ns = |time: Time| time.since(Time::ZERO).as_ns_f64();
    FailureSummary {
        link: topology.link_name(failure.link).to_owned(),
        from: match failure.direction {
            Direction::Both => None,
            Direction::From(port) => Some(topology.node_name(topology.ends_of(port).0).to_owned()),
        },
        kind,
        share,
        at_ns: ns(failure.at),
        until_ns: (failure.until != Time::NEVER).then(|| ns(failure.until)),
    }
}
