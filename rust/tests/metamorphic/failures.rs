//! Failures without effect, and fabrics that equal a failed one.

use evenkeel::fabric;
use evenkeel::units::{Span, Time};

use super::draft::Draft;
use super::outcome::{ComparableOutcome, equal};
use super::relation::{
    Case, CheckResult, Failure, Relation, defined, lengthen, require, resolved, seen,
};
use super::statistics::require_alike;

pub(super) const RELATIONS: &[Relation] = &[
    Relation {
        name: "late-failure",
        says: "A failure that starts after the end does not matter.",
        fault: "it starts immediately, with the link of the first sender",
        check: late_failure,
    },
    Relation {
        name: "probability-zero",
        says: "Links that fail with probability 0 do not fail.",
        fault: "they fail with probability 1",
        check: |case| {
            let probability = if case.is_faulty { "1" } else { "0" };
            with_failure(case, &format!("probability = '{probability}'\nat = '100ns'"))
        },
    },
    Relation {
        name: "loss-zero",
        says: "A link that loses packets with probability 0 loses none.",
        fault: "it loses one in two",
        check: |case| {
            let rate = if case.is_faulty { "1/2" } else { "0" };
            let link = "link = 'host0-leaf0'\nkind = 'loss'\nat = '0ps'";
            with_failure(case, &format!("{link}\nrate = '{rate}'"))
        },
    },
    Relation {
        name: "degraded-to-all",
        says: "A link degraded to its full rate is not degraded.",
        fault: "it is degraded to a half",
        check: |case| {
            let factor = if case.is_faulty { "1/2" } else { "1" };
            let link = "link = 'host0-leaf0'\nkind = 'degrade'\nat = '0ps'";
            with_failure(case, &format!("{link}\nfactor = '{factor}'"))
        },
    },
    Relation {
        name: "degraded-as-rates",
        says: "Degraded links equal links built with those rates, over seeds.",
        fault: "the links are degraded to a sixteenth",
        check: degraded_as_rates,
    },
    Relation {
        name: "failure-order",
        says: "The order of failures in the file does not matter.",
        fault: "a message is a byte longer",
        check: failure_order,
    },
];

fn late_failure(case: &Case) -> CheckResult {
    let mut draft = case.draft.clone();
    draft.remove("failure");
    let scenario = resolved(&draft)?;
    let setup = scenario.setup();
    let outcome = fabric::run(&setup, &mut |_| {});
    let ended = if case.is_faulty { Time::ZERO } else { outcome.ended };
    let first = defined(setup.workload.messages.first())?;
    let mut failing = setup.clone();
    failing.fabric.failures.push(fabric::Failure {
        link: setup.topology.host_port(first.src).link(),
        direction: fabric::Direction::Both,
        kind: fabric::FailureKind::Down,
        at: ended.saturating_add(Span::from_ns(1)),
        until: Time::NEVER,
        detection: Span::ZERO,
        convergence: Span::from_us(1),
    });
    equal(&ComparableOutcome::of(&outcome), &seen(&failing))
}

/// Adds a failure that must not matter.
fn with_failure(case: &Case, failure: &str) -> CheckResult {
    let mut draft = case.draft.clone();
    draft.leaf_spine().remove("failure");
    let mut failing = draft.clone();
    failing.push("failure", failure);
    let setup = resolved(&draft)?.setup();
    equal(&seen(&setup), &seen(&defined(failing.scenario())?.setup()))
}

/// A workload with messages of several hundred packets over the four links.
const SHARED: &str = "kind = 'shift'\nshift = 4\nbytes = '100000B'";

/// Returns two leaves with four hosts each, joined by two spines of different rates.
fn of_two_rates(case: &Case) -> Draft {
    let mut draft = case.draft.clone();
    draft.leaf_spine().remove("failure").one_workload().remove("switch.slow_ports");
    for (key, value) in [("leaves", 2), ("spines", 4), ("hosts_per_leaf", 4)] {
        draft.set(&format!("topology.{key}"), value);
    }
    draft.set("topology.parallel_links", 1).set("policy.weights", "capacity");
    draft.set("topology.host_rate", "100Gbps").set("topology.fabric_rate", "400Gbps");
    draft.replace("workload", SHARED).remove("transport.parameters").calm();
    // Windows depend on each link's nominal packet time, which a degradation does not change.
    let by_rate = ["line-rate", "dcqcn", "dcqcn-mlx", "dctcp-rate", "timely"];
    if !by_rate.contains(&draft.name("transport.congestion_control")) {
        draft.set("transport.congestion_control", "line-rate");
    }
    if ["mrc", "mp-rdma", "reps-legacy"].contains(&draft.name("policy.name")) {
        draft.set("policy.name", "spray");
    }
    draft
}

fn degraded_as_rates(case: &Case) -> CheckResult {
    let draft = of_two_rates(case);
    let scenario = resolved(&draft)?;
    let slow = |name: &String| name.starts_with("leaf") && !name.ends_with("spine0");
    let names: Vec<String> = scenario.topology.link_names().to_vec();
    let mut degraded = draft.clone();
    let factor = if case.is_faulty { "1/16" } else { "1/4" };
    for name in names.iter().filter(|name| slow(name)) {
        let keys = "kind = 'degrade'\nat = '0ps'\nconvergence = '0ps'";
        degraded.push("failure", &format!("link = '{name}'\n{keys}\nfactor = '{factor}'"));
    }
    let degraded = defined(degraded.scenario())?;
    let folder = defined(tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).ok())?;
    // A topology file states a rate for each link.
    let text = defined(evenkeel::hpcc::topology::write(&scenario.topology).ok())?;
    let first_slow = |line: &str| {
        let ends: Vec<&str> = line.split(' ').collect();
        ends.len() > 4 && ends[2] == "400Gbps" && !ends[..2].contains(&"10")
    };
    let lines = text.lines().map(|line| match first_slow(line) {
        true => line.replace("400Gbps", "100Gbps"),
        false => line.to_owned(),
    });
    let text: Vec<String> = lines.collect();
    let path = folder.path().join("rates.txt");
    defined(std::fs::write(&path, text.join("\n") + "\n").ok())?;
    let mut rates = draft.clone();
    rates.replace("topology", "kind = 'file'\npath = 'rates.txt'");
    for key in ["topology.gap", "topology.forwarding_delay", "topology.llr"] {
        if let Some(value) = draft.get(key) {
            rates.set(key, value.clone());
        }
    }
    let rates = defined(rates.scenario_in(folder.path()))?;
    require_alike(&|seed| Ok(seen(&defined(degraded.with_seed(seed).ok())?.setup())), &|seed| {
        Ok(seen(&defined(rates.with_seed(seed).ok())?.setup()))
    })
}

fn failure_order(case: &Case) -> CheckResult {
    let setup = resolved(&case.draft)?.setup();
    require(setup.fabric.failures.len() > 1)?;
    let mut other = setup.clone();
    other.fabric.failures.reverse();
    if case.is_faulty {
        lengthen(&mut other);
    }
    equal(&seen(&setup), &seen(&other)).map_err(|failure| match failure {
        Failure::Broken(reason) => Failure::Broken(format!("failures reversed: {reason}")),
        undefined => undefined,
    })
}
