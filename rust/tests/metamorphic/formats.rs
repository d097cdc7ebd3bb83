//! A fabric or a workload is the same regardless of the kind or file format that defines it.

use std::collections::BTreeSet;
use std::path::Path;

use evenkeel::fabric::Setup;
use evenkeel::report::{self, ExportFormat, Inputs};
use evenkeel::scenario::Scenario;

use super::draft::Draft;
use super::numbers::is_plain;
use super::outcome::equal;
use super::relation::{Case, CheckResult, Relation, defined, lengthen, require, resolved, seen};
use super::statistics::require_alike;

pub(super) const RELATIONS: &[Relation] = &[
    Relation {
        name: "fabric-as-file",
        says: "A fabric is the same written as a topology file of the HPCC family.",
        fault: "a message is a byte longer",
        check: |case| fabric(case, ExportFormat::Hpcc, "path = 'topology.txt'"),
    },
    Relation {
        name: "fabric-as-infragraph",
        says: "A fabric is the same written for InfraGraph, over seeds.",
        fault: "a message is a byte longer",
        check: |case| {
            let keys = "path = 'drawn.yaml'\nformat = 'infragraph'";
            fabric(case, ExportFormat::Infragraph, keys)
        },
    },
    Relation {
        name: "flows-as-file",
        says: "Messages are the same written as a flow file of the HPCC family.",
        fault: "a message is a byte longer",
        check: |case| workload(case, ExportFormat::Hpcc, "kind = 'flows'\nfile = 'flow.txt'"),
    },
    Relation {
        name: "flows-as-matrix",
        says: "Messages are the same written as a connection matrix of htsim.",
        fault: "a message is a byte longer",
        check: |case| {
            let keys = "kind = 'connection-matrix'\nfile = 'drawn.cm'";
            workload(case, ExportFormat::Htsim, keys)
        },
    },
    Relation {
        name: "flows-as-goal",
        says: "Messages are the same written as a GOAL schedule.",
        fault: "a message is a byte longer",
        check: |case| {
            let keys = "kind = 'goal'\nfile = 'drawn.goal'\nlayout = 'gpu'";
            workload(case, ExportFormat::Goal, keys)
        },
    },
    Relation {
        name: "flows-as-chakra",
        says: "Messages are the same written as Chakra traces.",
        fault: "a message is a byte longer",
        check: |case| workload(case, ExportFormat::Chakra, "kind = 'chakra'\nfile = 'drawn'"),
    },
    Relation {
        name: "message-order",
        says: "The order of messages with different starts in a file does not matter.",
        fault: "a message is a byte longer",
        check: message_order,
    },
];

/// Writes a scenario's files into a new folder.
fn exported(scenario: &Scenario, format: ExportFormat) -> Option<tempfile::TempDir> {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).ok()?;
    let inputs = Inputs::of(scenario, Path::new("drawn.toml"));
    report::export(scenario, &inputs, format, folder.path()).ok()?;
    Some(folder)
}

fn fabric(case: &Case, format: ExportFormat, keys: &str) -> CheckResult {
    let mut draft = case.draft.clone();
    draft.remove("topology.scale_up").remove("failure");
    // The flow file of the same export has no dependencies.
    let mut exporting = draft.clone();
    exporting.one_workload().replace("workload", "kind = 'shift'\nbytes = '1KB'");
    let scenario = resolved(&draft)?;
    require(is_plain(&scenario.topology))?;
    let folder = defined(exported(&defined(exporting.scenario())?, format))?;
    let mut other = draft.clone();
    other.replace("topology", &format!("kind = 'file'\n{keys}"));
    for key in ["topology.gap", "topology.forwarding_delay", "topology.llr"] {
        if let Some(value) = draft.get(key) {
            other.set(key, value.clone());
        }
    }
    let written = defined(other.scenario_in(folder.path()))?;
    // The reader keeps the numbers of the file, so the two setups are directly comparable.
    let mut setup = written.setup();
    if case.is_faulty {
        lengthen(&mut setup);
    }
    equal(&seen(&scenario.setup()), &seen(&setup))
}

/// Returns one workload in which each pair of hosts has at most one message.
fn of_pairs(case: &Case) -> Draft {
    let mut draft = case.draft.clone();
    draft.one_workload().remove("topology.scale_up");
    for key in ["workload.start_jitter", "workload.channels", "workload.chunks"] {
        draft.remove(key);
    }
    let bytes = draft.name("workload.bytes").to_owned();
    let kind = ["permutation", "shift", "all-to-all"][draft.count("seed", 1) as usize % 3];
    let is_known = ["permutation", "shift", "incast", "direct-all-gather"];
    if !is_known.contains(&draft.name("workload.kind")) {
        draft.replace("workload", &format!("kind = '{kind}'\nbytes = '{bytes}'"));
    }
    draft
}

fn workload(case: &Case, format: ExportFormat, keys: &str) -> CheckResult {
    let draft = of_pairs(case);
    let scenario = resolved(&draft)?;
    let messages = &scenario.workload.messages;
    let pairs: BTreeSet<_> = messages.iter().map(|it| (it.src, it.dst)).collect();
    require(pairs.len() == messages.len())?;
    let folder = defined(exported(&scenario, format))?;
    let mut other = draft.clone();
    other.replace("workload", keys);
    let mut setup = defined(other.scenario_in(folder.path()))?.setup();
    if case.is_faulty {
        lengthen(&mut setup);
    }
    let [base, other] = [&scenario.setup(), &setup].map(|it| seen(it).sorted());
    if case.is_faulty || equal(&base, &other).is_ok() {
        return equal(&base, &other);
    }
    require(draft.name("policy.name") != "ecmp-murmur")?;
    // Formats number queue pairs differently, and policies draw by those numbers.
    let with_seed = |setup: &Setup, seed: u64| Ok(seen(&Setup { seed, ..setup.clone() }).sorted());
    require_alike(&|seed| with_seed(&scenario.setup(), seed), &|seed| with_seed(&setup, seed))
}

fn message_order(case: &Case) -> CheckResult {
    let mut draft = of_pairs(case);
    draft.set("workload.start_jitter", "2us");
    let scenario = resolved(&draft)?;
    let messages = &scenario.workload.messages;
    let pairs: BTreeSet<_> = messages.iter().map(|it| (it.src, it.dst)).collect();
    let starts: BTreeSet<_> = messages.iter().map(|it| it.start).collect();
    let is_free = scenario.workload.waits_for.is_empty() && scenario.workload.chains.is_none();
    require(is_free && pairs.len() == messages.len() && starts.len() == messages.len())?;
    let setup = scenario.setup();
    let mut other = setup.clone();
    let mut workload = (*setup.workload).clone();
    workload.messages.reverse();
    other.workload = workload.into();
    if case.is_faulty {
        lengthen(&mut other);
    }
    equal(&seen(&setup).sorted(), &seen(&other).sorted())
}
