//! Search for the alternatives that turn the verdicts of claims that do not hold.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::num::NonZeroUsize;

use serde_json::Value;

use super::alternative::Alternative;
use super::claim::Claim;
use super::error::StudyError;
use super::judge::Results;
use super::matrix::{Combination, Group};
use super::outcome::{AlternativeResults, ClaimVerdict, Trial, TrialResult, TriedClaim};
use super::run_log::RunLog;
use super::simulate::{Job, Measured, Prepared};
use super::{Study, StudyResults};
use crate::{Observer, map_in_order};

/// Alternatives for the claims of a study that do not hold, with the runs that they need.
#[derive(Debug)]
pub struct AlternativeSearch<'a> {
    study: &'a Study,
    /// Results of the study, by group.
    measured: &'a [Measured],
    alternatives: Vec<Alternative>,
    /// Indices of the claims that do not hold.
    failing: Vec<usize>,
    /// Groups with each alternative's settings.
    groups: Vec<Vec<Group>>,
    /// Runs that the failing claims need, under each alternative that applies to their group.
    points: BTreeMap<Point, State>,
    /// Scenarios of these runs in the study, by group and combination.
    ours: BTreeMap<(usize, Combination), Fingerprint>,
}

/// Hash of the keys of a resolved scenario that have an effect.
type Fingerprint = u64;

/// Indices of an alternative and of a group, and a combination of the group.
type Point = (usize, usize, Combination);

/// Effect of an alternative on the scenario of a combination.
#[derive(Debug, Clone, PartialEq, Eq)]
enum State {
    /// The resolved scenario is the same, or differs in keys without an effect.
    Unchanged,
    Changed(Fingerprint),
    /// The scenario is invalid.
    Rejected(String),
}

impl Study {
    /// Prepares the alternatives for the claims that do not hold. Checks the scenarios on at most
    /// `threads` threads.
    ///
    /// # Errors
    /// Fails if a scenario of the study itself is invalid.
    pub fn alternatives<'a>(
        &'a self,
        results: &'a StudyResults,
        threads: NonZeroUsize,
    ) -> Result<AlternativeSearch<'a>, StudyError> {
        let claims = results.reproduction.claims.iter().enumerate();
        let failing = claims.filter(|(_, claim)| claim.verdict == ClaimVerdict::DoesNotHold);
        let failing: Vec<usize> = failing.map(|(index, _)| index).collect();
        let alternatives = Alternative::all(&self.alternatives);
        let with =
            |it: &Alternative| self.groups.iter().map(|group| group.with_alternative(it)).collect();
        let groups = alternatives.iter().map(with).collect();
        let mut search = AlternativeSearch {
            study: self,
            measured: &results.measured,
            alternatives,
            failing,
            groups,
            points: BTreeMap::new(),
            ours: BTreeMap::new(),
        };
        search.check(threads)?;
        Ok(search)
    }
}

impl AlternativeSearch<'_> {
    /// Fills in the state of every run.
    fn check(&mut self, threads: NonZeroUsize) -> Result<(), StudyError> {
        let mut needed: BTreeSet<(usize, Combination)> = BTreeSet::new();
        for claim in self.failing.iter().map(|&index| &self.study.claims[index]) {
            needed.extend(runs_of(claim).into_iter().map(|run| (claim.group, run)));
        }
        let needed: Vec<(usize, Combination)> = needed.into_iter().collect();
        let context = self.study.run_context();
        let ours = map_in_order(needed.len(), threads, |index| {
            let (group, combination) = &needed[index];
            let job = Job { group: &self.study.groups[*group], combination, seed_index: 0 };
            job.prepare(context).map(|prepared| fingerprint(&prepared))
        });
        let ours = ours.into_iter().collect::<Result<Vec<Fingerprint>, StudyError>>()?;
        self.ours = needed.into_iter().zip(ours).collect();
        let mut tried: Vec<(Point, Fingerprint)> = Vec::new();
        for alternative in 0..self.alternatives.len() {
            for ((group, combination), &ours) in &self.ours {
                let point = (alternative, *group, combination.clone());
                tried.extend(self.applies(alternative, *group).then_some((point, ours)));
            }
        }
        let states = map_in_order(tried.len(), threads, |index| {
            let ((alternative, group, combination), ours) = &tried[index];
            let group = &self.groups[*alternative][*group];
            let job = Job { group, combination, seed_index: 0 };
            let prepared = job.prepare(context).and_then(|prepared| {
                job.expect_memory(&prepared, context)?;
                Ok(fingerprint(&prepared))
            });
            match prepared {
                Ok(new) if new == *ours => Ok(State::Unchanged),
                Ok(new) => Ok(State::Changed(new)),
                Err(error) => rejected(error).map(State::Rejected),
            }
        });
        let points = tried.into_iter().map(|(point, _)| point).zip(states);
        self.points =
            points.map(|(point, state)| Ok((point, state?))).collect::<Result<_, StudyError>>()?;
        Ok(())
    }

    /// Returns true unless an axis sets a key of a built-in alternative: cases that differ in the
    /// key would become the same.
    fn applies(&self, alternative: usize, group: usize) -> bool {
        let alternative = &self.alternatives[alternative];
        alternative.is_of_study || !self.study.groups[group].varies(&alternative.set)
    }

    /// Returns true if runs that a claim compares become the same under an alternative. The claim
    /// would then hold or fail whatever the model does.
    fn merges(&self, claim: &Claim, alternative: usize) -> bool {
        let both = |run: &Combination| {
            let ours = *self.ours.get(&(claim.group, run.clone()))?;
            match self.points.get(&(alternative, claim.group, run.clone()))? {
                State::Unchanged => Some((ours, ours)),
                State::Changed(new) => Some((ours, *new)),
                State::Rejected(_) => None,
            }
        };
        let compared = claim.measure.as_ref().map(super::claim::Measure::compared);
        compared.unwrap_or_default().iter().any(|runs| {
            let mut of_new = BTreeMap::new();
            let mut both = runs.iter().filter_map(both);
            both.any(|(ours, new)| *of_new.entry(new).or_insert(ours) != ours)
        })
    }

    /// Returns the runs that a claim needs under an alternative and whose scenario changes, or why
    /// nothing is run.
    fn plan(&self, claim: &Claim, alternative: usize) -> Result<Vec<Point>, Trial> {
        let trial = |result, reason: &str| Trial {
            alternative: self.alternatives[alternative].label.clone(),
            result,
            ours: String::new(),
            error: String::new(),
            reason: reason.to_owned(),
        };
        if !self.applies(alternative, claim.group) {
            return Err(trial(TrialResult::Varied, ""));
        }
        let mut changed = Vec::new();
        for run in runs_of(claim) {
            let point = (alternative, claim.group, run);
            match self.points.get(&point) {
                Some(State::Rejected(reason)) => return Err(trial(TrialResult::Rejected, reason)),
                Some(State::Changed(_)) => changed.push(point),
                Some(State::Unchanged) | None => {}
            }
        }
        if self.merges(claim, alternative) {
            return Err(trial(TrialResult::Varied, ""));
        }
        if changed.is_empty() { Err(trial(TrialResult::Unchanged, "")) } else { Ok(changed) }
    }

    /// Returns the runs to simulate. A run that several claims need is there once.
    fn planned(&self) -> BTreeSet<Point> {
        let mut all = BTreeSet::new();
        for claim in self.failing.iter().map(|&index| &self.study.claims[index]) {
            let plans = (0..self.alternatives.len()).filter_map(|it| self.plan(claim, it).ok());
            all.extend(plans.flatten());
        }
        all
    }

    /// Returns the number of simulations.
    pub fn runs(&self) -> usize {
        let seeds = |(_, group, _): &Point| self.study.groups[*group].seeds as usize;
        self.planned().iter().map(seeds).sum()
    }

    /// Simulates the runs, at most `threads` at a time, and judges the claims under each
    /// alternative. Results do not depend on `threads`. Uses the log as [`Study::results`] does.
    ///
    /// # Errors
    /// Fails if the log cannot be written.
    pub fn run(
        mut self,
        threads: NonZeroUsize,
        observer: &dyn Observer,
        log: Option<&RunLog>,
    ) -> Result<AlternativeResults, StudyError> {
        let points: Vec<Point> = self.planned().into_iter().collect();
        let mut jobs = Vec::new();
        for point @ (alternative, group, combination) in &points {
            let group = &self.groups[*alternative][*group];
            let job = |seed_index| (point, Job { group, combination, seed_index });
            jobs.extend((0..group.seeds).map(job));
        }
        let context = self.study.run_context();
        let results = map_in_order(jobs.len(), threads, |index| {
            jobs[index].1.run(index, context, observer, log)
        });
        let runs = jobs.len();
        let (mut values, mut failed) = (BTreeMap::<&Point, Vec<Value>>::new(), Vec::new());
        for ((point, _), result) in jobs.iter().zip(results) {
            match result {
                Ok(value) => values.entry(point).or_default().push(value),
                Err(error) => failed.push(((*point).clone(), rejected(error)?)),
            }
        }
        for (point, reason) in failed {
            self.points.insert(point, State::Rejected(reason));
        }
        let claims = self.failing.iter().map(|&claim| {
            let tried = (0..self.alternatives.len()).map(|it| self.trial(claim, it, &values));
            TriedClaim { claim, tried: tried.collect() }
        });
        Ok(AlternativeResults { runs, claims: claims.collect() })
    }

    /// Judges a claim under an alternative.
    fn trial(
        &self,
        claim: usize,
        alternative: usize,
        values: &BTreeMap<&Point, Vec<Value>>,
    ) -> Trial {
        let claim = &self.study.claims[claim];
        let changed = match self.plan(claim, alternative) {
            Err(trial) => return trial,
            Ok(changed) => changed,
        };
        let of_study = &self.measured[claim.group].runs;
        let needed = runs_of(claim);
        let runs = of_study.iter().filter(|(combination, _)| needed.contains(combination));
        let runs = runs.map(|(combination, ours)| {
            let point = (alternative, claim.group, combination.clone());
            let new = changed.contains(&point).then(|| values.get(&point)).flatten();
            (combination.clone(), new.unwrap_or(ours).clone())
        });
        let measured = Measured { runs: runs.collect() };
        let group = &self.groups[alternative][claim.group];
        let outcome = claim.judge(Results { group, measured: &measured });
        let result = match outcome.verdict {
            ClaimVerdict::Holds => TrialResult::Holds,
            ClaimVerdict::DoesNotHold => TrialResult::DoesNotHold,
            ClaimVerdict::CannotBeJudged | ClaimVerdict::NotAtThisScale => {
                TrialResult::CannotBeJudged
            }
        };
        let (ours, error) = (outcome.ours, outcome.error);
        let alternative = self.alternatives[alternative].label.clone();
        Trial { alternative, result, ours, error, reason: String::new() }
    }
}

/// Returns the runs that a claim needs.
fn runs_of(claim: &Claim) -> BTreeSet<Combination> {
    claim.measure.as_ref().map(super::claim::Measure::runs).unwrap_or_default()
}

/// Returns the hash of the keys that decide the results of a run.
fn fingerprint(prepared: &Prepared) -> Fingerprint {
    let mut hasher = DefaultHasher::new();
    prepared.effective().hash(&mut hasher);
    hasher.finish()
}

/// Returns the reason why a run is invalid, or any other error.
fn rejected(error: StudyError) -> Result<String, StudyError> {
    match error {
        StudyError::Invalid { reason, .. } => Ok(reason),
        other => Err(other),
    }
}

#[cfg(test)]
mod tests;
