//! The metamorphic tester: pairs of random scenarios between which a relation must hold.
//!
//! No run is compared with a known result. Instead, a scenario of the simulation tester is written
//! differently, run differently, or changed in a way that must not matter. Both runs must be equal.
//! If random draws depend on the change, samples over seeds must be statistically alike instead.
//! [`relations`] lists all relations. Each has a fault, which is injected to show that the relation
//! detects it. [`KNOWN_FAULTS`] lists relations that are currently broken.
//!
//! `EVENKEEL_SIMULATION_SECONDS` and `EVENKEEL_SIMULATION_SEED` work as in the simulation tester.
//! `EVENKEEL_METAMORPHIC_FILE` names a file kept by a failure and runs only that case.
//! `EVENKEEL_METAMORPHIC_RELATIONS`, a comma-separated list of names, runs only these relations,
//! even where they are known to be broken.

mod additions;
mod draft;
mod failures;
mod fluid;
mod formats;
mod known_faults;
mod numbers;
mod outcome;
mod paths;
mod rates;
mod relation;
mod running;
mod statistics;
mod writing;

use std::collections::BTreeSet;

use proptest::strategy::{BoxedStrategy, Strategy as _};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use crate::simulation::tester::Search;
use crate::simulation::{Drawn, drawn};
use known_faults::{KNOWN_FAULTS, known_fault};
use relation::{Case, Failure, Relation};

/// Returns all relations.
fn relations() -> Vec<Relation> {
    let of_files = [
        numbers::RELATIONS,
        additions::RELATIONS,
        formats::RELATIONS,
        rates::RELATIONS,
        failures::RELATIONS,
        fluid::RELATIONS,
        paths::RELATIONS,
        running::RELATIONS,
        writing::RELATIONS,
    ];
    of_files.concat()
}

/// Prefix of the first line of a generated text, which names its relation.
const NAME: &str = "# relation: ";

/// Returns the names of the selected relations, if any are selected.
fn chosen() -> Option<String> {
    std::env::var("EVENKEEL_METAMORPHIC_RELATIONS").ok()
}

/// Returns scenarios for the relation of a seed.
fn scenarios(seed: u64) -> BoxedStrategy<Drawn> {
    let mut all = relations();
    if let Some(chosen) = chosen() {
        all.retain(|relation| chosen.split(',').any(|name| name == relation.name));
    }
    let name = all[(seed % all.len() as u64) as usize].name;
    drawn::scenario().prop_map(move |drawn| Drawn(format!("{NAME}{name}\n{}", drawn.0))).boxed()
}

/// Checks a relation; skips it if such scenarios are known to break it.
fn check(text: &str) -> Result<(), String> {
    let name = text.lines().next().and_then(|line| line.strip_prefix(NAME)).unwrap_or_default();
    let all = relations();
    let relation = all.iter().find(|it| it.name == name).expect("the first line names a relation");
    let case = Case::new(text, false);
    if chosen().is_none() && known_fault(relation.name, &case.draft).is_some() {
        return Ok(());
    }
    match (relation.check)(&case) {
        Ok(()) | Err(Failure::Undefined) => Ok(()),
        Err(Failure::Broken(reason)) => Err(format!("{name}: {} {reason}", relation.says)),
    }
}

#[test]
fn relations_hold() {
    if let Some(path) = std::env::var_os("EVENKEEL_METAMORPHIC_FILE") {
        let text = std::fs::read_to_string(&path).expect("the file can be read");
        check(&text).unwrap_or_else(|fault| panic!("{fault}"));
        return;
    }
    let again = "cargo test --test integration metamorphic::relations_hold";
    let search = Search {
        name: "metamorphic",
        again,
        replay: &format!("EVENKEEL_METAMORPHIC_FILE={{}} {again}"),
        few: [2, 40].map(|times| times * relations().len() as u64),
        strategy: &scenarios,
        check: &check,
    };
    search.run();
}

/// Scenarios that revealed engine faults: timers of hosts with a free and a busy port, and paths of
/// packets that start just before routing converges. Also the first host of a job, and discarded
/// queue pairs with knowledge of dead ports.
#[test]
fn scenarios_that_had_a_fault_have_none() {
    let found = [
        include_str!("found/port-free-beside-busy.toml"),
        include_str!("found/routing-beside-paths.toml"),
        include_str!("found/start-of-a-job.toml"),
        include_str!("found/streamed-beside-dead-port.toml"),
    ];
    for text in found {
        check(text).unwrap_or_else(|fault| panic!("{fault}\n{text}"));
    }
}

/// Returns the scenario of a seed.
fn scenario_of(seed: u64) -> String {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let tree = drawn::scenario().new_tree(&mut runner).expect("nothing is filtered");
    proptest::strategy::ValueTree::current(&tree).0
}

#[test]
fn every_relation_detects_its_injected_fault() {
    for relation in relations() {
        let Relation { name, fault, .. } = relation;
        if name == running::RUN_PYTHON && !running::has_python_module() {
            continue;
        }
        // Without the injected fault the relation holds, unless it is known to be broken for every
        // scenario.
        let is_broken = KNOWN_FAULTS.iter().any(|it| it.relation == name && it.names.is_empty());
        let finds = |seed: u64| {
            let [sound, faulty] = [false, true].map(|it| Case::new(&scenario_of(seed), it));
            let is_found = matches!((relation.check)(&faulty), Err(Failure::Broken(_)));
            is_found && (is_broken || (relation.check)(&sound).is_ok())
        };
        assert!((500..560).any(finds), "{name} does not find that {fault}");
    }
}

#[test]
fn relation_names_are_unique_and_known_faults_name_relations() {
    let all = relations();
    let names: BTreeSet<&str> = all.iter().map(|relation| relation.name).collect();
    assert_eq!(names.len(), all.len());
    assert!(names.len() >= 20, "{names:?}");
    assert!(all.iter().all(|it| it.says.ends_with('.') && !it.fault.is_empty()));
    for known in KNOWN_FAULTS {
        assert!(
            names.contains(known.relation),
            "{} is not a relation: {}",
            known.relation,
            known.reason
        );
    }
}
