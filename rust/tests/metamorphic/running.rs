//! The way in which a run is started and observed must not matter.

use std::io::{self, Write};
use std::num::{NonZeroU32, NonZeroUsize};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use evenkeel::fabric::{
    self, Cut, FixedWorkload, Observers, Partitioning, Progress, Setup, World, drive,
};
use evenkeel::record::Recorder;
use evenkeel::report::Identity;
use evenkeel::scenario::Scenario;
use evenkeel::study::reproduce::RunLog;
use evenkeel::study::{Comparison, ComparisonRun, Observer, Seeds, Shard, Sweep, compare};
use evenkeel::units::{Span, Time};
use serde_json::Value;

use super::outcome::{ComparableOutcome, equal};
use super::relation::{
    Case, CheckResult, Failure, Relation, defined, lengthen, require, resolved, seen,
};
use crate::support;

/// Name of the relation that needs the Python module.
pub(super) const RUN_PYTHON: &str = "run-python";

pub(super) const RELATIONS: &[Relation] = &[
    Relation {
        name: "threads",
        says: "The number of threads does not matter.",
        fault: "a message is a byte longer",
        check: threads,
    },
    Relation {
        name: "run-compare-study",
        says: "A run is the same alone, as a row of a comparison and as a point of a study.",
        fault: "the point of the study has another seed",
        check: run_compare_study,
    },
    Relation {
        name: RUN_PYTHON,
        says: "A run is the same from Python.",
        fault: "it has another time limit",
        check: run_python,
    },
    Relation {
        name: "recording",
        says: "Recording changes nothing.",
        fault: "a message is a byte longer",
        check: recording,
    },
    Relation {
        name: "probes",
        says: "Measuring queues changes nothing.",
        fault: "a message is a byte longer",
        check: probes,
    },
    Relation {
        name: "streaming",
        says: "Creating messages before or during a run does not matter.",
        fault: "those created before it have a different gap",
        check: streaming,
    },
    Relation {
        name: "longer-limit",
        says: "A time limit after the end does not matter.",
        fault: "the limit is before the end",
        check: longer_limit,
    },
];

fn threads(case: &Case) -> CheckResult {
    let setup = resolved(&case.draft)?.setup();
    let mut other = setup.clone();
    if case.is_faulty {
        lengthen(&mut other);
    }
    let base = seen(&setup);
    for (parts, cut) in [(2, Cut::Contiguous), (4, Cut::Drawn(7))] {
        let partitioning =
            defined(Partitioning::new(&other, parts, cut).ok())?.with_quiet_events(4);
        equal(
            &base,
            &ComparableOutcome::of(&fabric::run_parallel(&other, &partitioning, &mut |_| {}).0),
        )?;
    }
    Ok(())
}

/// Observes a comparison without output.
struct Silent;

impl Observer for Silent {
    fn started(&self, _: ComparisonRun, _: &Identity) {}
    fn progress(&self, _: ComparisonRun, _: &Progress) {}
    fn finished(&self, _: ComparisonRun) {}
}

/// Returns a summary without machine-dependent values.
fn numbers(summary: &impl serde::Serialize) -> Value {
    let mut value = serde_json::to_value(summary).expect("a summary is JSON");
    let object = value.as_object_mut().expect("a summary is an object");
    for key in ["scenario", "wall_s", "peak_rss_bytes", "events_per_s", "packet_hops_per_s"] {
        object.remove(key);
    }
    value
}

fn alone(scenario: &Scenario) -> Value {
    numbers(&support::alone(scenario, &mut |_| {}).0.summary)
}

/// Fails with the first key in which two summaries differ.
fn same(what: &str, expected: &Value, found: &Value) -> CheckResult {
    let keys = expected.as_object().expect("a summary is an object");
    match keys.iter().find(|(key, value)| found.get(key) != Some(value)) {
        None => Ok(()),
        Some((key, value)) => {
            let found = found.get(key);
            Err(Failure::Broken(format!("{what} has {key} {found:?}, alone it is {value}")))
        }
    }
}

fn run_compare_study(case: &Case) -> CheckResult {
    let scenario = resolved(&case.draft)?;
    let expected = alone(&scenario);
    let policies = [scenario.scheme.name.to_owned()];
    let seeds = Seeds { first: scenario.seed, count: NonZeroU32::new(2) };
    let comparison = defined(Comparison::new(&scenario, &policies, seeds).ok())?;
    let rows = compare(&comparison, NonZeroUsize::MIN, &Silent);
    let rows = rows.map_err(|error| Failure::Broken(error.to_string()))?;
    same("compare", &expected, &numbers(&rows[0].0.summary))?;
    let mut draft = case.draft.clone();
    if case.is_faulty {
        draft.set("seed", 1_234_567);
        draft.set("workload.bytes", "77B");
    }
    let mut study = toml::Table::new();
    study.insert("scenario".to_owned(), toml::Value::Table(draft.0));
    let text = toml::to_string(&study).expect("a study is a TOML table");
    let text = format!("{text}\n[[run]]\nname = \"a\"\nseeds = 1\n");
    let sweep = Sweep::parse(text, Path::new("a.toml"));
    let sweep = sweep.map_err(|error| Failure::Broken(error.to_string()))?;
    let folder = defined(tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).ok())?;
    let log = RunLog::resumed(folder.path(), "sweep").expect("a new folder");
    let table = sweep.run(Shard::ALL, NonZeroUsize::MIN, &Silent, &log);
    let table = table.map_err(|error| Failure::Broken(error.to_string()))?;
    let row = table.rows[0].result.clone().map_err(Failure::Broken)?;
    // A study's row takes the policy from an axis label, and this study has no axis.
    let mut expected = expected;
    expected.as_object_mut().expect("a summary is an object").remove("policy");
    same("a study", &expected, &numbers(&row))
}

/// Returns true if Python has the module; otherwise prints once that the relation is skipped.
pub(super) fn has_python_module() -> bool {
    static HAS_MODULE: OnceLock<bool> = OnceLock::new();
    *HAS_MODULE.get_or_init(|| {
        let import = Command::new("python3").args(["-c", "import evenkeel"]).output();
        let is_found = import.is_ok_and(|it| it.status.success());
        if !is_found {
            eprintln!("skipped: metamorphic: {RUN_PYTHON}: python3 has no module evenkeel");
        }
        is_found
    })
}

/// Prints the results of the scenario read from standard input.
const PROGRAM: &str = "import evenkeel, sys, warnings\n\
    warnings.simplefilter('ignore')\n\
    print(evenkeel.run(sys.stdin.read(), progress=False).json())";

fn run_python(case: &Case) -> CheckResult {
    require(has_python_module())?;
    let mut draft = case.draft.clone();
    let expected = alone(&resolved(&draft)?);
    if case.is_faulty {
        draft.set("time_limit", "1ns");
    }
    let mut child = Command::new("python3")
        .args(["-c", PROGRAM])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("python3 ran before");
    child.stdin.take().expect("it is piped").write_all(draft.text().as_bytes()).expect("it reads");
    let output = child.wait_with_output().expect("it ends");
    let value: Value = serde_json::from_slice(&output.stdout).expect("Python prints results");
    // Python adds the warnings of the file, as the command does.
    let mut expected = expected;
    expected.as_object_mut().expect("a summary is an object").remove("warnings");
    same("Python", &expected, &numbers(&value))
}

fn recording(case: &Case) -> CheckResult {
    let mut draft = case.draft.clone();
    let is_odd = draft.count("seed", 1) % 2 == 1;
    draft.replace("record", if is_odd { "every = '2us'" } else { "on = 'change'" });
    let scenario = resolved(&draft)?;
    let setup = scenario.setup();
    let mut open = |_| -> io::Result<Box<dyn Write>> { Ok(Box::new(io::sink())) };
    let recording = defined(scenario.recordings.first())?;
    let mut recorder = Recorder::new(recording, &scenario.topology, &mut open)
        .map_err(|error| Failure::Broken(error.to_string()))?;
    let mut recorded = setup.clone();
    if case.is_faulty {
        lengthen(&mut recorded);
    }
    let observers = Observers { watch: Some(&mut recorder), progress: &mut |_| {} };
    let outcome = drive(World::new(&recorded), &mut FixedWorkload, observers);
    equal(&seen(&setup), &ComparableOutcome::of(&outcome))
}

fn probes(case: &Case) -> CheckResult {
    let setup = resolved(&case.draft)?.setup();
    // Some times coincide with events, others do not.
    let times = (0..300u64).map(|step| step * 1_000_500);
    let at: Vec<Time> = times.map(Time::from_ps).collect();
    let mut probed = Setup { probes: at, ..setup.clone() };
    if case.is_faulty {
        lengthen(&mut probed);
    }
    equal(&seen(&setup), &seen(&probed))
}

/// Collectives whose messages can be generated during a run.
const STREAMED: &[&str] =
    &["ring-all-reduce", "ring-all-gather", "ring-reduce-scatter", "pipeline", "all-to-all"];

fn streaming(case: &Case) -> CheckResult {
    let mut draft = case.draft.clone();
    draft.one_workload();
    let number = draft.count("seed", 1);
    let kind = STREAMED[number as usize % STREAMED.len()];
    let bytes = 1_000 * (1 + number % 97);
    let more = if kind == "all-to-all" {
        format!("outstanding = {}\nchannels = {}", 1 + number % 4, 1 + number % 2)
    } else {
        format!("chunks = {}\nchannels = {}", 1 + number % 3, 1 + number % 2)
    };
    let gap = ["0s", "1us", "333ps"][number as usize / 2 % 3];
    let workload = |is_streamed: bool| {
        let gap = if case.is_faulty && !is_streamed { "77us" } else { gap };
        format!(
            "kind = '{kind}'\nbytes = '{bytes}B'\ngap = '{gap}'\nstreaming = {is_streamed}\n{more}"
        )
    };
    let [made, streamed] = [false, true].map(|is_streamed| {
        let mut draft = draft.clone();
        draft.replace("workload", &workload(is_streamed));
        // The lower bound of a generated load differs, and so do warnings about it.
        let mut numbers = alone(&defined(draft.scenario())?);
        let object = numbers.as_object_mut().expect("a summary is an object");
        let others = ["bound_ns", "bound", "slowdown", "rho_max", "warnings", "events"];
        others.iter().for_each(|key| drop(object.remove(*key)));
        Ok(numbers)
    });
    same("streamed", &made?, &streamed?)
}

fn longer_limit(case: &Case) -> CheckResult {
    let setup = resolved(&case.draft)?.setup();
    let base = fabric::run(&setup, &mut |_| {});
    let cct = defined(base.cct)?;
    require(setup.workload.chains.is_none())?;
    let limit = match case.is_faulty {
        true => Time::ZERO + Span::from_ps(cct.as_ps() / 2),
        false => setup.time_limit.saturating_add(Span::from_us(77)),
    };
    equal(&ComparableOutcome::of(&base), &seen(&Setup { time_limit: limit, ..setup }))
}
