//! Relations that are currently broken. A fix removes the corresponding lines.

use super::draft::Draft;

/// A relation that does not hold for some scenarios.
pub(super) struct KnownFault {
    /// The name of the relation.
    pub(super) relation: &'static str,
    /// Policies, controls and recoveries that break it; empty means all.
    pub(super) names: &'static [&'static str],
    /// The fault.
    pub(super) reason: &'static str,
}

const AS_BUILT: &str = "base round trips use the nominal rates of links, not the degraded ones";
const WEIGHTS: &str = "the policy accepts weights but does not use them";
const AGAIN: &str = "acknowledged values are reused regardless of the weights";
const TABLE: &str =
    "the source uses the order of the forwarding table, which is the order of ports";

/// Controls, recoveries and policies that use the base round trip.
const BY_BASE_ROUND_TRIP: &[&str] = &[
    "swift",
    "mswift",
    "nscc",
    "dctcp-window",
    "mp-rdma",
    "hpcc",
    "hpcc-pint",
    "rccc",
    "new-reno",
    "mrc",
    "flowlet",
    "prime",
    "reps-legacy",
    "reps-ethereal",
    "reps",
    "plb",
    "sack",
];

/// Policies that accept weights but ignore them.
const UNWEIGHED: &[&str] = &["ethereal", "line-cut", "conga", "letflow"];

/// Policies that use ports in numerical order.
const BY_NUMBER: &[&str] = &["switch-rr"];

/// Engine faults that break relations.
pub(super) const KNOWN_FAULTS: &[KnownFault] = &[
    KnownFault { relation: "renumber-links", names: BY_NUMBER, reason: TABLE },
    KnownFault { relation: "renumber-hosts", names: BY_NUMBER, reason: TABLE },
    KnownFault { relation: "renumber-switches", names: BY_NUMBER, reason: TABLE },
    KnownFault { relation: "degraded-as-rates", names: BY_BASE_ROUND_TRIP, reason: AS_BUILT },
    KnownFault { relation: "shares-by-capacity", names: UNWEIGHED, reason: WEIGHTS },
    KnownFault { relation: "shares-by-capacity-of-paths", names: UNWEIGHED, reason: WEIGHTS },
    KnownFault { relation: "shares-by-capacity", names: &["reps-ethereal"], reason: AGAIN },
    KnownFault {
        relation: "shares-by-capacity-of-paths",
        names: &["reps-ethereal"],
        reason: AGAIN,
    },
];

/// Returns the known fault that breaks a relation for a scenario, if any.
pub(super) fn known_fault(relation: &str, draft: &Draft) -> Option<&'static KnownFault> {
    if KNOWN_FAULTS.iter().all(|known| known.relation != relation) {
        return None;
    }
    // The resolved text names defaults; a comment states the value of `auto`.
    let resolved = draft.scenario().map_or_else(String::new, |scenario| scenario.render());
    let text = draft.text() + &resolved;
    let has = |name: &&str| {
        text.contains(&format!("\"{name}\"")) || text.contains(&format!("here {name}\n"))
    };
    let mut known = KNOWN_FAULTS.iter().filter(|known| known.relation == relation);
    known.find(|known| known.names.is_empty() || known.names.iter().any(has))
}
