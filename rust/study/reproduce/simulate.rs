//! Runs the simulations of a study.

use std::io;
use std::num::NonZeroUsize;
use std::path::Path;

use serde_json::Value;

use super::error::StudyError;
use super::even_rate;
use super::file::FlowRate;
use super::matrix::{Combination, Group};
use super::rates;
use super::run_log::{RunKey, RunLog};
use super::settings::is_at_or_above;
use crate::fabric::{Setup, Watch};
use crate::record::Recorders;
use crate::report::{Identity, RailSummary, Summary, VERSION};
use crate::scenario::{Explained, Key, Overrides, RailScenario, Scenario, ScenarioError, Source};
use crate::timeline::CombinedWatch;
use crate::units::Bytes;
use crate::{
    ComparisonRun, Observer, Run, RunObservers, expect_memory, lower_bound, map_in_order, run,
    run_rails,
};

/// Results of a group: for each combination, the JSON object of each seed.
#[derive(Debug, Clone)]
pub(super) struct Measured {
    /// Runs in the order of [`Group::combinations`].
    pub runs: Vec<(Combination, Vec<Value>)>,
}

/// A pending simulation.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Job<'a> {
    pub group: &'a Group,
    pub combination: &'a Combination,
    /// Index of the seed, from 0.
    pub seed_index: u32,
}

/// Text of a study, for errors, and the folder of the files that its scenarios name.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RunContext<'a> {
    pub source: &'a Source,
    pub folder: &'a Path,
    /// Memory that a run may take; unlimited if `None`.
    pub memory_limit: Option<Bytes>,
    /// True if runs are not made but estimated.
    pub is_forecast: bool,
}

/// Checks the scenario of every combination.
pub(super) fn check(groups: &[Group], context: RunContext<'_>) -> Result<(), StudyError> {
    for group in groups {
        for combination in &group.combinations() {
            let job = Job { group, combination, seed_index: 0 };
            job.expect_memory(&job.prepare(context)?, context)?;
        }
    }
    Ok(())
}

/// Simulates all groups, at most `threads` runs at a time. Runs whose results are in the log are
/// skipped.
pub(super) fn simulate(
    groups: &[Group],
    context: RunContext<'_>,
    threads: NonZeroUsize,
    observer: &dyn Observer,
    log: Option<&RunLog>,
) -> Result<Vec<Measured>, StudyError> {
    let combinations: Vec<Vec<Combination>> = groups.iter().map(Group::combinations).collect();
    let mut jobs = Vec::new();
    for (group, combinations) in groups.iter().zip(&combinations) {
        for combination in combinations {
            jobs.extend((0..group.seeds).map(|seed_index| Job { group, combination, seed_index }));
        }
    }
    let results =
        map_in_order(jobs.len(), threads, |index| jobs[index].run(index, context, observer, log));
    let mut results = results.into_iter();
    let mut measured = Vec::new();
    for (group, combinations) in groups.iter().zip(combinations) {
        let mut runs = Vec::new();
        for combination in combinations {
            let seeds = results.by_ref().take(group.seeds as usize);
            runs.push((combination, seeds.collect::<Result<Vec<Value>, StudyError>>()?));
        }
        measured.push(Measured { runs });
    }
    Ok(measured)
}

/// Scenario of a run, ready to simulate.
#[derive(Debug)]
pub(crate) enum Prepared {
    Fabric(Box<Scenario>),
    Rails(Box<RailScenario>),
}

impl Prepared {
    fn seed(&self) -> u64 {
        match self {
            Self::Fabric(scenario) => scenario.seed,
            Self::Rails(scenario) => scenario.setup.seed,
        }
    }

    /// Returns every key of the resolved scenario with its value.
    pub(super) fn resolved(&self) -> String {
        match self {
            Self::Fabric(scenario) => lines(scenario.explain()),
            Self::Rails(scenario) => scenario.render(),
        }
    }

    /// Returns the keys of the resolved scenario as [`Self::resolved`] does, without those that
    /// have no effect. Runs with the same keys and the same seed have the same results.
    pub(super) fn effective(&self) -> String {
        let Self::Fabric(scenario) = self else { return self.resolved() };
        let is_ignored = |key: &str| scenario.ignored.iter().any(|it| is_at_or_above(it, key));
        lines(scenario.explain().into_iter().filter(|it| !is_ignored(&it.key)))
    }
}

impl Job<'_> {
    pub(super) fn run(
        &self,
        index: usize,
        context: RunContext<'_>,
        observer: &dyn Observer,
        log: Option<&RunLog>,
    ) -> Result<Value, StudyError> {
        let prepared = self.prepare(context)?;
        let this = ComparisonRun { index, policy: 0, seed: prepared.seed() };
        observer.started(this, &self.identity(this.seed));
        let result = match log {
            None => self.simulate(&prepared, this, context, observer)?,
            Some(log) => {
                let key = self.key(&prepared);
                match log.reuse(&key) {
                    Some(result) => result,
                    None => {
                        let result = self.simulate(&prepared, this, context, observer)?;
                        log.append(key, &result)?;
                        result
                    }
                }
            }
        };
        observer.finished(this);
        Ok(result)
    }

    /// Returns everything that the result depends on.
    pub(crate) fn key(&self, prepared: &Prepared) -> RunKey {
        self.key_of(prepared.resolved())
    }

    /// Returns everything that the result depends on, given every key of the resolved scenario.
    pub(crate) fn key_of(&self, scenario: String) -> RunKey {
        RunKey {
            version: VERSION.to_owned(),
            run: self.group.name.clone(),
            parameters: self.group.label(self.combination),
            seed: self.seed(),
            rate: self.group.rate,
            scenario,
        }
    }

    pub(crate) fn simulate(
        &self,
        prepared: &Prepared,
        this: ComparisonRun,
        context: RunContext<'_>,
        observer: &dyn Observer,
    ) -> Result<Value, StudyError> {
        match prepared {
            Prepared::Fabric(scenario) => self.run_fabric(scenario, this, context, observer),
            Prepared::Rails(scenario) => {
                let result = run_rails(scenario, &mut |_| {});
                let (summary, _) =
                    result.map_err(|error| self.invalid(context, error.to_string()))?;
                Ok(json_of_rails(&summary))
            }
        }
    }

    fn run_fabric(
        &self,
        scenario: &Scenario,
        this: ComparisonRun,
        context: RunContext<'_>,
        observer: &dyn Observer,
    ) -> Result<Value, StudyError> {
        let mut setup: Setup = scenario.setup();
        let mut bound = lower_bound(&setup).time;
        if self.group.rate == FlowRate::RhoMax {
            // At the limited rate, no run can be faster than this.
            bound = bound.max(even_rate::apply(&mut setup));
        }
        let simulation = Run {
            identity: &self.identity(scenario.seed),
            setup: &setup,
            bound,
            fidelity: scenario.fidelity,
            // Parallelism is across runs.
            threads: 1,
            traces: scenario.traces.as_deref(),
        };
        let mut recorders = self.recorders(scenario, context)?;
        let mut watches = recorders.watches();
        let mut several;
        let watch = match watches.len() {
            // A single watch needs no dispatcher.
            0 | 1 => watches.pop(),
            _ => {
                several = CombinedWatch::new(&scenario.topology, watches);
                Some(&mut several as &mut dyn Watch)
            }
        };
        let observers = RunObservers {
            watch,
            flows: &mut |_| {},
            progress: &mut |progress| observer.progress(this, progress),
        };
        let (mut finished, outcome) = run(&simulation, observers).map_err(|error| {
            self.invalid(context, scenario.trace_fault(error).fault.to_string())
        })?;
        let profiles = recorders.finish(&outcome.pauses);
        finished.summary.record =
            profiles.map_err(|error| self.invalid(context, error.to_string()))?;
        let mut result = json(&finished.summary);
        result["rate_gbps"] = rates::of(&outcome.flows);
        Ok(result)
    }

    /// Creates the recorders of a run, if the scenario has `[record]`. They keep no tables.
    fn recorders(
        &self,
        scenario: &Scenario,
        context: RunContext<'_>,
    ) -> Result<Recorders, StudyError> {
        let recorders = Recorders::new(&scenario.recordings, &scenario.topology, &mut |_, _| {
            Ok(Box::new(io::sink()))
        });
        recorders.map_err(|error| self.invalid(context, error.to_string()))
    }

    pub(crate) fn identity(&self, seed: u64) -> Identity {
        Identity {
            scenario: self.group.name.clone(),
            policy: self.group.label(self.combination),
            seed,
        }
    }

    pub(crate) fn prepare(&self, context: RunContext<'_>) -> Result<Prepared, StudyError> {
        let table = self.group.scenario(self.combination);
        let table = table.map_err(|rejection| {
            self.invalid_at(
                context,
                Some(&rejection.key),
                format!("{}: {}", rejection.key, rejection.reason),
            )
        })?;
        let seed = self.seed_of(&table);
        let most_memory = context.memory_limit;
        let is_forecast = context.is_forecast;
        let overrides = Overrides { seed, most_memory, is_forecast, ..Overrides::default() };
        let text = toml::to_string(&table).expect("a table is TOML");
        let invalid = |error: ScenarioError| {
            let (key, reason) = (error.fault.key(), error.fault.to_string());
            let mut invalid = self.invalid_at(context, key.as_deref(), reason);
            if let StudyError::Invalid { fault, .. } = &mut invalid {
                *fault = Some(error.fault);
            }
            invalid
        };
        let name = &self.group.name;
        Ok(if table.contains_key("rail") {
            let path = context.folder.join(format!("{name}.toml"));
            let scenario = RailScenario::parse(text, &path, &overrides);
            Prepared::Rails(Box::new(scenario.map_err(invalid)?))
        } else {
            let scenario = Scenario::parse(&text, name, context.folder, &overrides);
            Prepared::Fabric(Box::new(scenario.map_err(invalid)?))
        })
    }

    /// Rejects a run whose estimated memory exceeds the limit.
    pub(crate) fn expect_memory(
        &self,
        prepared: &Prepared,
        context: RunContext<'_>,
    ) -> Result<(), StudyError> {
        let Prepared::Fabric(scenario) = prepared else { return Ok(()) };
        let fits = expect_memory(scenario, context.memory_limit);
        fits.map_err(|shortage| {
            self.invalid(context, format!("{shortage}; use --force to run anyway"))
        })
    }

    /// Returns the seed. For an invalid scenario, seeds count from 1.
    pub(crate) fn seed(&self) -> u64 {
        let table = self.group.scenario(self.combination);
        let seed = table.ok().and_then(|table| self.seed_of(&table));
        seed.unwrap_or(1 + u64::from(self.seed_index))
    }

    /// Returns the scenario's first seed plus the index of this one.
    fn seed_of(&self, scenario: &toml::Table) -> Option<u64> {
        let first = scenario.get("seed").and_then(toml::Value::as_integer).unwrap_or(1);
        u64::try_from(first).ok()?.checked_add(u64::from(self.seed_index))
    }

    /// Returns an error of the run as a whole.
    fn invalid(&self, context: RunContext<'_>, reason: String) -> StudyError {
        self.invalid_at(context, None, reason)
    }

    /// Returns an error of a key of the run's scenario, if a key is given.
    fn invalid_at(&self, context: RunContext<'_>, key: Option<&str>, reason: String) -> StudyError {
        let (run, label) = (&self.group.name, self.group.label(self.combination));
        let place = match label.as_str() {
            "" => format!("run '{run}'"),
            _ => format!("run '{run}' with {label}"),
        };
        let origins = self.group.origins(self.combination, key.unwrap_or_default());
        let origins = origins.iter().map(|origin| Key::ROOT.child(origin));
        let origin = origins.into_iter().find(|key| context.source.has(key)).unwrap_or_default();
        let position = Box::new(context.source.position_of_value(&origin));
        StudyError::Invalid { position, place, reason, fault: None }
    }
}

/// Returns a line for each key.
fn lines(keys: impl IntoIterator<Item = Explained>) -> String {
    keys.into_iter().map(|it| format!("{} = {}\n", it.key, it.value)).collect()
}

fn json(summary: &Summary) -> Value {
    serde_json::to_value(summary).expect("a summary is a JSON object")
}

fn json_of_rails(summary: &RailSummary) -> Value {
    serde_json::to_value(summary).expect("a summary is a JSON object")
}
