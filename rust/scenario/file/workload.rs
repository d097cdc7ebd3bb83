//! `[workload]` and `[[job]]` as written in a file.

use serde::Serialize;

use crate::collective;
use crate::file::PolicySection;
use crate::input::context::Lookup;
use crate::input::error::ScenarioError;
use crate::input::located::Located;
use crate::input::reader::{Kind, SectionReader};
use crate::input::section::section;
use crate::workloads::{CommonSection, DEFAULT_KIND, KINDS, WorkloadKeys};

/// `[workload]`, or one `[[job]]`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WorkloadSection {
    /// Kind: the name of a collective or of another kind of workload.
    pub kind: Located<String>,
    /// Additional keys of a job.
    #[serde(flatten)]
    pub job: JobSection,
    /// Hosts, class and start.
    #[serde(flatten)]
    pub common: CommonSection,
    /// Keys of the kind.
    #[serde(flatten)]
    pub work: WorkloadKeys,
}

section! {
    /// Additional keys of a `[[job]]`.
    pub struct JobSection {
        /// Name of the job in reports and in `after`.
        name?: String = "`job0` and so on",
        /// Job whose completion starts this one.
        after?: String = "none",
        /// Policy: a name, or a table such as `{ name = "reps", buffer = 8 }`. Only one per fabric
        /// may do without hashing in switches (such as `adaptive` or `ethereal`). Loss recovery is
        /// the policy's, unless `[transport]` names one.
        policy?: PolicySection = "that of `[policy]`",
    }
}

/// Section that a workload is read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SectionRole {
    /// `[workload]`, the only one.
    Alone,
    /// One of several `[[job]]`.
    Job,
}

impl WorkloadSection {
    pub(crate) fn read(
        mut reader: SectionReader<'_>,
        role: SectionRole,
    ) -> Result<Self, ScenarioError> {
        let kind: Located<String> = reader.take_key("kind", DEFAULT_KIND.to_owned())?;
        let Some(row) = row(&kind) else {
            let known = known_kinds();
            let lookup = Lookup { what: "workload", name: &kind, known: &known };
            return Err(reader.context().unknown(kind.key(), lookup));
        };
        let work = (row.read)(&mut reader)?;
        let common = reader.take()?;
        if work.names_hosts() {
            reader.unlist("hosts");
        }
        let job = match role {
            SectionRole::Alone => only_workload(&mut reader)?,
            SectionRole::Job => reader.take()?,
        };
        reader.finish_kind(&kind, KINDS)?;
        Ok(Self { kind, job, common, work })
    }

    /// True if the messages are read from a file.
    pub const fn is_recorded(&self) -> bool {
        self.work.is_recorded()
    }
}

/// Reads the keys of `[workload]` that are reserved for jobs; fails if one is set.
fn only_workload(reader: &mut SectionReader<'_>) -> Result<JobSection, ScenarioError> {
    let job: JobSection = reader.take_unlisted()?;
    let given = [&job.name, &job.after].into_iter().find(|key| key.is_some());
    let policy = job.policy.is_some().then(|| job.policy.key());
    match given.map(Located::key).or(policy) {
        None => Ok(job),
        Some(given) => {
            let because = "it is a key of [[job]], not of [workload]";
            Err(reader.context().misplaced(given, because))
        }
    }
}

/// Returns the table row of a kind. A collective may be named with or without its algorithm.
fn row(kind: &str) -> Option<&'static Kind<WorkloadKeys>> {
    let is_collective =
        |it: &collective::Collective| it.name == kind || it.operation.name() == kind;
    match collective::ALL.iter().any(is_collective) {
        true => KINDS.first(),
        false => KINDS.iter().find(|row| row.name == kind),
    }
}

/// Returns every valid kind.
fn known_kinds() -> Vec<&'static str> {
    let collectives = collective::ALL.iter().map(|collective| collective.name);
    collectives.chain(KINDS.iter().skip(1).map(|row| row.name)).collect()
}
