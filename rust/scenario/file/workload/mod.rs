//! `[workload]` and `[[job]]` as written in the file: a struct for each kind of workload.

pub(crate) mod chakra;
pub(crate) mod generated;
pub(crate) mod recorded;
pub(crate) mod training;

use serde::Serialize;

use crate::collective;
use crate::file::PolicySection;
use crate::input::context::Lookup;
use crate::input::error::ScenarioError;
use crate::input::located::Located;
use crate::input::reader::{Kind, SectionReader};
use crate::input::section::{Group, section};
use crate::units::Span;
use chakra::ChakraSection;
use generated::{CollectiveSection, IncastSection, PermutationSection, ShiftSection};
use recorded::{ConnectionMatrixSection, FlowsSection, GoalSection, SimcclSection};
use training::TrainingSection;

/// `[workload]` or one of `[[job]]`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WorkloadSection {
    /// Its kind: a collective's name, or one of the others.
    pub kind: Located<String>,
    /// The additional keys of a job.
    #[serde(flatten)]
    pub job: JobSection,
    /// The hosts and the start.
    #[serde(flatten)]
    pub common: CommonSection,
    /// The keys of its kind.
    #[serde(flatten)]
    pub work: WorkloadKeys,
}

section! {
    /// The additional keys of a `[[job]]`.
    pub struct JobSection {
        /// The name of the job in reports and in `after`.
        name?: String = "`job0` and so on",
        /// The name of another job, after whose completion this one starts.
        after?: String = "none",
        /// The policy of the job: a name as in `[policy]`, or a table of a name and its parameters,
        /// `{ name = "reps", buffer = 8 }`. Switches hash the packets of policies that hash; a
        /// fabric has at most one policy that does not, such as `adaptive` or `ethereal`. Its loss
        /// recovery is that of the policy, unless `[transport]` names one.
        policy?: PolicySection = "that of `[policy]`",
    }
}

section! {
    /// The keys of every kind of workload.
    pub struct CommonSection {
        /// The hosts that take part, rank by rank: `"0..16"`, `"0,4,8"`, `"0..64/8"`. Not for
        /// `flows`, whose file names hosts.
        hosts?: String = "all",
        /// The traffic class of its data packets: the name of a `[[class]]`.
        class?: String = "the first class",
        /// The start, or the time from the completion of the job `after` to the start.
        start?: Span = "0",
    }
}

/// The keys of a kind of workload.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum WorkloadKeys {
    /// Any collective, such as an all-to-all or an all-reduce.
    Collective(CollectiveSection),
    /// A flow from each host to another, by a random permutation.
    Permutation(PermutationSection),
    /// A flow from each host to the one a fixed number of ids on.
    Shift(ShiftSection),
    /// Many senders, one receiver.
    Incast(IncastSection),
    /// A flow file of the HPCC family.
    Flows(FlowsSection),
    /// Chakra traces, a file per rank.
    Chakra(ChakraSection),
    /// A GOAL schedule of LogGOPSim or ATLAHS.
    Goal(GoalSection),
    /// A connection matrix of htsim.
    ConnectionMatrix(ConnectionMatrixSection),
    /// A flow file of SimCCL.
    Simccl(SimcclSection),
    /// Iterations of the training of a transformer.
    Training(Box<TrainingSection>),
}

/// The name of the row of all collectives in the table of kinds.
const COLLECTIVE: &str = "<collective>";

/// Every kind of workload; collectives, which are many, share the first row.
pub(crate) const KINDS: &[Kind<WorkloadKeys>] = &[
    Kind {
        name: COLLECTIVE,
        summary: "A collective: its whole name (`ring-all-reduce`), or what it does \
                  (`all-reduce`) with an `algorithm` (`ring`).",
        groups: &[Group::of::<CollectiveSection>()],
        read: |reader| reader.take().map(WorkloadKeys::Collective),
    },
    Kind {
        name: "permutation",
        summary: "Every host sends one flow and receives one, drawn by the seed.",
        groups: &[Group::of::<PermutationSection>()],
        read: |reader| reader.take().map(WorkloadKeys::Permutation),
    },
    Kind {
        name: "shift",
        summary: "Host i sends one flow to host i + `shift`.",
        groups: &[Group::of::<ShiftSection>()],
        read: |reader| reader.take().map(WorkloadKeys::Shift),
    },
    Kind {
        name: "incast",
        summary: "Several hosts send one flow each to the same host.",
        groups: &[Group::of::<IncastSection>()],
        read: |reader| reader.take().map(WorkloadKeys::Incast),
    },
    Kind {
        name: "flows",
        summary: "A flow file of the HPCC family of ns-3 simulators.",
        groups: &[Group::of::<FlowsSection>()],
        read: |reader| reader.take().map(WorkloadKeys::Flows),
    },
    Kind {
        name: "chakra",
        summary: "Chakra execution traces.",
        groups: &[Group::of::<ChakraSection>()],
        read: |reader| reader.take().map(WorkloadKeys::Chakra),
    },
    Kind {
        name: "goal",
        summary: "A GOAL schedule.",
        groups: &[Group::of::<GoalSection>()],
        read: |reader| reader.take().map(WorkloadKeys::Goal),
    },
    Kind {
        name: "connection-matrix",
        summary: "A connection matrix of htsim.",
        groups: &[Group::of::<ConnectionMatrixSection>()],
        read: |reader| reader.take().map(WorkloadKeys::ConnectionMatrix),
    },
    Kind {
        name: "simccl",
        summary: "A collective of a flow file of SimCCL, SimAI's model of NCCL.",
        groups: &[Group::of::<SimcclSection>()],
        read: |reader| reader.take().map(WorkloadKeys::Simccl),
    },
    Kind {
        name: "training",
        summary: "Iterations of training a transformer.",
        groups: &[Group::of::<TrainingSection>()],
        read: |reader| reader.take().map(Box::new).map(WorkloadKeys::Training),
    },
];

/// The kind of a section that names none.
pub(crate) const DEFAULT_KIND: &str = "all-to-all";

/// The section that a workload is read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SectionRole {
    /// It is the only one, `[workload]`.
    Alone,
    /// It is one of `[[job]]`.
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
        if let WorkloadKeys::Flows(_) = work {
            // A flow file names its hosts itself.
            reader.unlist("hosts");
        }
        let job = match role {
            SectionRole::Alone => only_workload(&mut reader)?,
            SectionRole::Job => reader.take()?,
        };
        reader.finish_kind(&kind, KINDS)?;
        Ok(Self { kind, job, common, work })
    }

    /// True if the messages depend on the seed.
    pub(crate) fn is_drawn(&self) -> bool {
        let jitter = match &self.work {
            WorkloadKeys::Permutation(_) => return true,
            WorkloadKeys::Collective(section) => *section.start_jitter,
            WorkloadKeys::Shift(section) => *section.start_jitter,
            WorkloadKeys::Incast(section) => *section.start_jitter,
            _ => Span::ZERO,
        };
        jitter > Span::ZERO
    }

    /// True if the messages are in a file.
    pub(crate) const fn is_recorded(&self) -> bool {
        matches!(
            self.work,
            WorkloadKeys::Flows(_)
                | WorkloadKeys::Goal(_)
                | WorkloadKeys::ConnectionMatrix(_)
                | WorkloadKeys::Simccl(_)
                | WorkloadKeys::Chakra(_)
        )
    }
}

/// Fails for keys of a job in `[workload]`.
fn only_workload(reader: &mut SectionReader<'_>) -> Result<JobSection, ScenarioError> {
    let job: JobSection = reader.take_unlisted()?;
    let typed = [&job.name, &job.after].into_iter().find(|key| key.is_some());
    let policy = job.policy.is_some().then(|| job.policy.key());
    match typed.map(Located::key).or(policy) {
        None => Ok(job),
        Some(typed) => {
            let because = "it is a key of [[job]], not of [workload]";
            Err(reader.context().misplaced(typed, because))
        }
    }
}

/// The row of a kind; a collective may be named with or without its algorithm.
fn row(kind: &str) -> Option<&'static Kind<WorkloadKeys>> {
    let suffix = format!("-{kind}");
    let is_collective =
        |name: &str| name == kind || name.strip_suffix(&suffix).is_some_and(|it| !it.is_empty());
    match collective::ALL.iter().any(|collective| is_collective(collective.name)) {
        true => KINDS.first(),
        false => KINDS.iter().find(|row| row.name == kind),
    }
}

/// Every kind that a section may name.
fn known_kinds() -> Vec<&'static str> {
    let collectives = collective::ALL.iter().map(|collective| collective.name);
    collectives.chain(KINDS.iter().skip(1).map(|row| row.name)).collect()
}
