//! Shards: the part of a study's runs that each machine simulates.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

/// The shard that a process simulates. Runs are assigned to shards round-robin, so that all shards
/// take about equally long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    /// Index of the shard, from 0.
    index: usize,
    count: usize,
}

/// Reason why a process cannot determine its shard.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ShardError {
    /// The text is not a shard.
    #[error("'{0}' is not a shard; expected K/N with K from 1 to N, such as 2/4")]
    Syntax(String),
    /// An environment variable is not a number.
    #[error("{name} = '{value}': expected a number; use --shard K/N instead")]
    Variable {
        /// Name of the variable.
        name: &'static str,
        /// Value of the variable.
        value: String,
    },
    /// The array of a Slurm job has gaps.
    #[error(
        "SLURM_ARRAY_TASK_ID = {id} of {count} tasks from {first}: the array is not a range; \
         expected one such as --array=0-3, or --shard K/N"
    )]
    Array {
        /// Number of this task.
        id: usize,
        /// Number of tasks.
        count: usize,
        /// Smallest number of a task.
        first: usize,
    },
    /// The environment of a Kubernetes Job does not contain its number of completions.
    #[error(
        "JOB_COMPLETION_INDEX is set, but the number of completions is unknown; use --shards N, \
         with the Job's number of completions"
    )]
    Completions,
    /// An index is not below the number of shards.
    #[error("{name} = {index} with {count} shards: expected an index below {count}")]
    TooLarge {
        /// Name of the environment variable.
        name: &'static str,
        /// Value of the variable.
        index: usize,
        /// Number of shards.
        count: usize,
    },
}

impl Shard {
    /// All runs.
    pub const ALL: Self = Self { index: 0, count: 1 };

    /// Returns the shard that a cluster's scheduler assigned to this process, with the environment
    /// variable that contains it. That is the task of a Slurm array, or the completion index of a
    /// Kubernetes Job with `shards` completions. `variable` looks up the environment.
    ///
    /// # Errors
    /// Fails if a variable is not a number, if the array is not a range of numbers, or if a Job's
    /// index comes without the number of shards.
    pub fn from_environment(
        variable: impl Fn(&str) -> Option<String>,
        shards: Option<usize>,
    ) -> Result<Option<(Self, &'static str)>, ShardError> {
        let number = |name: &'static str| {
            let value = variable(name).filter(|value| !value.is_empty());
            let parsed = value.map(|value| match value.trim().parse::<usize>() {
                Ok(number) => Ok(number),
                Err(_) => Err(ShardError::Variable { name, value }),
            });
            parsed.transpose()
        };
        if let Some(id) = number(TASK)? {
            let count = number("SLURM_ARRAY_TASK_COUNT")?.or(shards).unwrap_or(1);
            let first = number("SLURM_ARRAY_TASK_MIN")?.unwrap_or(0);
            let step = number("SLURM_ARRAY_TASK_STEP")?.unwrap_or(1).max(1);
            let last = number("SLURM_ARRAY_TASK_MAX")?.unwrap_or(first + (count - 1) * step);
            let is_range = last == first + count.saturating_sub(1) * step;
            if !is_range || id < first || id > last || (id - first) % step != 0 {
                return Err(ShardError::Array { id, count, first });
            }
            return Ok(Some((Self { index: (id - first) / step, count }, TASK)));
        }
        let Some(index) = number(COMPLETION)? else { return Ok(None) };
        let count = shards.ok_or(ShardError::Completions)?;
        if index >= count {
            return Err(ShardError::TooLarge { name: COMPLETION, index, count });
        }
        Ok(Some((Self { index, count }, COMPLETION)))
    }

    /// Returns true if the run with that index, from 0, belongs to the shard.
    pub fn contains(&self, run: usize) -> bool {
        run % self.count == self.index
    }
}

const TASK: &str = "SLURM_ARRAY_TASK_ID";
const COMPLETION: &str = "JOB_COMPLETION_INDEX";

impl FromStr for Shard {
    type Err = ShardError;

    fn from_str(text: &str) -> Result<Self, ShardError> {
        let parts = text.split_once('/');
        let numbers = parts.and_then(|(k, n)| Some((k.parse::<usize>().ok()?, n.parse().ok()?)));
        match numbers {
            Some((number, count)) if number >= 1 && number <= count => {
                Ok(Self { index: number - 1, count })
            }
            _ => Err(ShardError::Syntax(text.to_owned())),
        }
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {}", self.index + 1, self.count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(variables: &[(&str, &str)], shards: Option<usize>) -> Result<Option<String>, ShardError> {
        let variable = |name: &str| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        let shard = Shard::from_environment(variable, shards)?;
        Ok(shard.map(|(shard, name)| format!("{shard} by {name}")))
    }

    #[test]
    fn every_run_belongs_to_one_shard() {
        for count in 1..6 {
            let shards: Vec<Shard> =
                (1..=count).map(|number| format!("{number}/{count}").parse().unwrap()).collect();
            for run in 0..20 {
                assert_eq!(shards.iter().filter(|shard| shard.contains(run)).count(), 1);
            }
        }
        for bad in ["0/4", "5/4", "1", "a/b", "1/0", "/", "-1/2"] {
            assert!(bad.parse::<Shard>().is_err(), "{bad}");
        }
    }

    #[test]
    fn slurm_arrays_may_start_anywhere_with_any_step() {
        let array = |id, count, min, max, step| {
            let variables = [
                ("SLURM_ARRAY_TASK_ID", id),
                ("SLURM_ARRAY_TASK_COUNT", count),
                ("SLURM_ARRAY_TASK_MIN", min),
                ("SLURM_ARRAY_TASK_MAX", max),
                ("SLURM_ARRAY_TASK_STEP", step),
            ];
            of(&variables, None)
        };
        let by = |shard: &str| Ok(Some(format!("{shard} by SLURM_ARRAY_TASK_ID")));
        assert_eq!(array("0", "4", "0", "3", "1"), by("1 of 4"));
        assert_eq!(array("4", "4", "1", "4", "1"), by("4 of 4"));
        assert_eq!(array("5", "4", "1", "7", "2"), by("3 of 4"));
        assert!(array("3", "3", "1", "7", "1").unwrap_err().to_string().contains("not a range"));
        assert!(array("x", "3", "1", "7", "1").unwrap_err().to_string().contains("= 'x'"));
    }

    #[test]
    fn an_indexed_job_needs_its_number_of_completions() {
        let job = [("JOB_COMPLETION_INDEX", "3")];
        assert_eq!(of(&job, Some(4)), Ok(Some("4 of 4 by JOB_COMPLETION_INDEX".to_owned())));
        assert_eq!(of(&job, None), Err(ShardError::Completions));
        assert!(of(&job, Some(3)).unwrap_err().to_string().contains("an index below"));
        assert_eq!(of(&[], Some(3)), Ok(None));
    }
}
