//! Relations that are broken today. Whoever mends a fault removes its lines.

use super::draft::Draft;

/// A relation that does not hold for some scenarios.
pub(super) struct KnownFault {
    /// The name of the relation.
    pub(super) relation: &'static str,
    /// Policies, controls and recoveries with which it is broken; any if empty.
    pub(super) names: &'static [&'static str],
    /// The fault.
    pub(super) reason: &'static str,
}

const TIES: &str = "events at the same time are ordered by the number of the port";
const BASE_ROUND_TRIP: &str = "one base round trip for the whole fabric, on one path of one pair";
const SHARES: &str = "links of unequal rates get equal shares until a failure";
const WEIGHTS: &str = "the policy accepts weights and does not use them";
const PRODUCT: &str = "the capacity of a path is the product of what is left of its links";
const ROTATION: &str = "a routing update restarts rotations towards all destinations";
const SETTLED: &str = "a sample takes packets of a host's ports in order of ports, not of times";
const PORTS: &str = "thresholds are of a shared buffer divided by ports, idle ones included";
const FIRST: &str = "the first of equal ports, and the first turn, is that of the lowest number";

/// Controls, recoveries and policies that use the base round trip.
const BY_BASE_ROUND_TRIP: &[&str] = &[
    "swift",
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

/// Fabrics whose hosts have several ports.
const SEVERAL_PORTS: &[&str] = &["multi-plane", "dual-tor", "hpn", "spectrum-x"];

/// Policies that begin with the port of the lowest number.
const BY_FIRST: &[&str] = &["jsq", "plane-jsq", "switch-rr", "ofan", "host-dr"];

const fn by_base_round_trip(relation: &'static str) -> KnownFault {
    KnownFault { relation, names: BY_BASE_ROUND_TRIP, reason: BASE_ROUND_TRIP }
}

/// Faults of the engine by which relations are broken.
pub(super) const KNOWN_FAULTS: &[KnownFault] = &[
    KnownFault { relation: "symmetric-incast", names: &[], reason: TIES },
    // Then by_base_round_trip and BY_FIRST, as of switches.
    KnownFault { relation: "renumber-links", names: &[], reason: TIES },
    by_base_round_trip("idle-host"),
    by_base_round_trip("far-idle-host"),
    by_base_round_trip("slow-idle-host"),
    by_base_round_trip("idle-pod"),
    by_base_round_trip("far-idle-pod"),
    by_base_round_trip("renumber-hosts"),
    by_base_round_trip("renumber-switches"),
    KnownFault { relation: "idle-host", names: &["adaptive"], reason: PORTS },
    KnownFault { relation: "far-idle-host", names: &["adaptive"], reason: PORTS },
    KnownFault { relation: "slow-idle-host", names: &["adaptive"], reason: PORTS },
    KnownFault { relation: "idle-pod", names: &["adaptive"], reason: PORTS },
    KnownFault { relation: "far-idle-pod", names: &["adaptive"], reason: PORTS },
    KnownFault { relation: "renumber-hosts", names: BY_FIRST, reason: FIRST },
    KnownFault { relation: "renumber-switches", names: BY_FIRST, reason: FIRST },
    KnownFault { relation: "recording", names: SEVERAL_PORTS, reason: SETTLED },
    KnownFault { relation: "degraded-as-rates", names: &[], reason: SHARES },
    KnownFault {
        relation: "shares-by-capacity",
        names: &["ethereal", "line-cut", "conga", "letflow"],
        reason: WEIGHTS,
    },
    KnownFault { relation: "shares-by-capacity-of-paths", names: &[], reason: PRODUCT },
    KnownFault { relation: "unused-link-fails", names: &["ofan", "host-dr"], reason: ROTATION },
];

/// The fault by which a relation is known to be broken for a scenario.
pub(super) fn known_fault(relation: &str, draft: &Draft) -> Option<&'static KnownFault> {
    if KNOWN_FAULTS.iter().all(|known| known.relation != relation) {
        return None;
    }
    // The resolved text names defaults; a comment says what `auto` became.
    let resolved = draft.scenario().map_or_else(String::new, |scenario| scenario.render());
    let text = draft.text() + &resolved;
    let has = |name: &&str| {
        text.contains(&format!("\"{name}\"")) || text.contains(&format!("here {name}\n"))
    };
    let mut known = KNOWN_FAULTS.iter().filter(|known| known.relation == relation);
    known.find(|known| known.names.is_empty() || known.names.iter().any(has))
}
