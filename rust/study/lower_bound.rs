//! Lower bound of a run's completion time.

use schemars::JsonSchema;
use serde::Serialize;

use crate::bound::{Bound, Cuts, Wire, bound};
use crate::fabric::Setup;
use crate::report::human;
use crate::split::SmallestPiece;
use crate::units::{Span, Time};

/// Computes a completion time that no scheme can beat on this fabric without failures. The bound
/// depends on how the scheme of `setup` may cut messages and on whether packets take detours. It
/// does not depend on the seed or the congestion control.
///
/// Times are exact. A run that truncates times ([`crate::fabric::Rounding`]) may beat the bound by
/// the sum of the truncations.
pub fn lower_bound(setup: &Setup) -> Bound {
    let routes = setup.topology.routes();
    bound(&setup.topology, routes, &setup.workload, &wire(setup))
}

/// Returns a warning if a run that takes at least `bound` cannot complete within its time limit.
pub fn short_time_limit(setup: &Setup, bound: Span) -> Option<String> {
    (setup.time_limit < setup.workload.first_start().saturating_add(bound)).then(|| {
        format!(
            "the time limit of {} is less than the lower bound of the completion time, {}",
            human::span(setup.time_limit.since(Time::ZERO)),
            human::span(bound)
        )
    })
}

/// The object that `evenkeel bound --json` prints.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct BoundSummary {
    /// Name of the scenario.
    pub scenario: String,
    /// Lower bound of the completion time.
    pub bound_ns: f64,
    /// Closed form that gives the bound, the largest of several: `idle path`, `dependency chain`,
    /// `host NIC`, `edge uplinks`, `scale-up port` or `permutation`.
    pub bound_by: &'static str,
    /// Largest rate at which all messages can be sent simultaneously, as a fraction of the hosts'
    /// line rate.
    pub rho_max: f64,
}

impl BoundSummary {
    /// Converts the bound of the named scenario.
    pub fn new(scenario: String, bound: &Bound) -> Self {
        let Bound { time, rho_max, binding } = *bound;
        Self { scenario, bound_ns: time.as_ns_f64(), bound_by: binding, rho_max }
    }
}

/// Describes the packets of `setup` on the wire, and how messages may be cut into them.
pub fn wire(setup: &Setup) -> Wire {
    let (nic, fabric) = (&setup.nic, &setup.fabric);
    Wire {
        payload: nic.payload,
        header: nic.header,
        ack: nic.ack.bytes,
        ack_every: nic.ack.every,
        ack_priority: nic.ack.priority,
        gap: fabric.gap,
        forwarding_delay: fabric.forwarding_delay,
        cuts: cuts(setup),
        takes_detours: takes_detours(setup),
    }
}

/// Returns true if packets may take longer paths than the shortest ones of the intact fabric:
/// because a policy does so, or because routing avoids failed links.
fn takes_detours(setup: &Setup) -> bool {
    let fails = !setup.fabric.failures.is_empty();
    fails || setup.policies().used().any(|it| it.scheme.switch.uses_detours())
}

/// Returns how messages may be cut. If jobs differ, the finest cut applies to all.
fn cuts(setup: &Setup) -> Cuts {
    let policies = setup.policies();
    let pieces: Vec<_> = policies.used().map(|it| it.scheme.split.smallest_piece()).collect();
    let bytes = pieces.iter().filter_map(|piece| match piece {
        Some(SmallestPiece::Bytes(least)) => Some(*least),
        _ => None,
    });
    if let Some(least) = bytes.min() {
        return Cuts::Anywhere { least };
    }
    match pieces.contains(&Some(SmallestPiece::Packet)) {
        true => Cuts::BetweenPackets,
        false => Cuts::Never,
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::scenario::{Overrides, Scenario};

    #[test]
    fn the_finest_cut_of_all_jobs_counts() {
        let cuts_of = |policies: [&str; 2]| {
            let [a, b] = policies.map(|policy| format!("[[job]]\npolicy = {policy}\n"));
            let text = format!("[policy]\nname = \"ethereal\"\n{a}{b}");
            let scenario = Scenario::parse(&text, "a", Path::new(""), &Overrides::default());
            cuts(&scenario.unwrap().setup())
        };
        let cut = "{ name = \"subflow-k\", smallest_piece = \"100B\" }";
        assert_eq!(cuts_of(["\"ecmp\"", "\"reps\""]), Cuts::Never);
        assert_eq!(cuts_of(["\"ecmp\"", "\"subflow-4\""]), Cuts::BetweenPackets);
        assert_eq!(cuts_of(["\"subflow-4\"", "\"ecmp\""]), Cuts::BetweenPackets);
        let least = crate::units::Bytes::new(100);
        assert_eq!(cuts_of([cut, "\"subflow-4\""]), Cuts::Anywhere { least });
    }
}
