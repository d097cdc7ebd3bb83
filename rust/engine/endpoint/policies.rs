//! The policies of a run: the run's own, and those of jobs that choose another.
//!
//! Jobs do not share message streams or queue pairs, so each stream has one policy. It is looked up
//! when a message starts and when a queue pair is created, never for a packet. Switches have one
//! policy for the whole fabric. Jobs whose policy only hashes, as ECMP does, mark their packets
//! with the flag `HASHED`.

use std::ops::Range;

use crate::balance::{Eligibility, Scheme};
use crate::ids::ClassId;
use crate::nic::{QpSettings, Recovery};
use crate::packet::Flags;
use crate::workload::Workload;

/// The policy of a job that does not use the run's.
#[derive(Debug, Clone, PartialEq)]
pub struct JobPolicy {
    /// Index of the job.
    pub job: usize,
    /// Message streams of the job.
    pub streams: Range<u32>,
    /// Load-balancing scheme.
    pub scheme: Scheme,
    /// Loss recovery of the job's queue pairs.
    pub recovery: Recovery,
}

/// The traffic class of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobClass {
    /// Message streams of the job.
    pub streams: Range<u32>,
    /// Class of its data packets.
    pub class: ClassId,
}

/// The distinct policies of a run.
#[derive(Debug, Clone)]
pub struct Policies {
    /// The run's policy comes first.
    list: Vec<Policy>,
    /// Streams that do not use the first policy, and the index of theirs.
    streams: Vec<(Range<u32>, usize)>,
    /// True if a message can use the first policy.
    first_is_used: bool,
    /// Streams that do not use the first traffic class.
    classes: Vec<JobClass>,
}

/// A policy of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Policy {
    /// Load-balancing scheme.
    pub scheme: Scheme,
    /// Loss recovery of the queue pairs.
    pub recovery: Recovery,
    /// Flags of every packet: `HASHED` or none.
    flags: Flags,
}

impl Policies {
    /// Creates the policies of a run with this scheme and recovery, and of its jobs.
    ///
    /// # Panics
    /// If two of them need different switch behavior other than hashing.
    pub fn new(
        scheme: &Scheme,
        recovery: Recovery,
        jobs: &[JobPolicy],
        workload: &Workload,
    ) -> Self {
        let policy = |scheme: &Scheme, recovery| {
            let scheme = scheme.clone();
            Policy { scheme, recovery, flags: Flags::NONE }
        };
        let mut all = Self {
            list: vec![policy(scheme, recovery)],
            streams: Vec::new(),
            // Some job has no policy of its own, or there are no jobs at all.
            first_is_used: jobs.is_empty() || jobs.len() < workload.jobs.len(),
            classes: Vec::new(),
        };
        for job in jobs {
            let own = policy(&job.scheme, job.recovery);
            let index = all.list.iter().position(|other| *other == own).unwrap_or_else(|| {
                all.list.push(own);
                all.list.len() - 1
            });
            all.first_is_used |= index == 0;
            if index > 0 {
                all.streams.push((job.streams.clone(), index));
            }
        }
        // After the loop: whether packets need the flag depends on all policies together.
        if all.for_switches().eligibility == Eligibility::Unflagged {
            for policy in all.list.iter_mut().filter(|policy| policy.scheme.only_hashes()) {
                policy.flags = Flags::HASHED;
            }
        }
        all
    }

    /// Returns the policies with the traffic classes of jobs.
    #[must_use]
    pub fn with_classes(self, classes: &[JobClass]) -> Self {
        let others = classes.iter().filter(|job| job.class != ClassId::default());
        Self { classes: others.cloned().collect(), ..self }
    }

    /// Returns the traffic class of a message stream: the first, unless its job has another.
    pub fn class_of(&self, stream: u32) -> ClassId {
        let own = self.classes.iter().find(|job| job.streams.contains(&stream));
        own.map_or(ClassId::default(), |job| job.class)
    }

    /// Returns the index of a message stream's policy.
    pub fn index_of(&self, stream: u32) -> usize {
        let own = self.streams.iter().find(|(streams, _)| streams.contains(&stream));
        own.map_or(0, |&(_, index)| index)
    }

    /// Returns the policy of a message stream.
    pub fn of(&self, stream: u32) -> &Policy {
        &self.list[self.index_of(stream)]
    }

    /// Returns the settings of a message stream's queue pairs in a NIC with recovery `of_nic`;
    /// `None` if they equal the NIC's.
    pub(super) fn settings(&self, stream: u32, of_nic: Recovery) -> Option<QpSettings> {
        let recovery = self.recovery_of(stream).unwrap_or(of_nic);
        let own =
            QpSettings { recovery, flags: self.of(stream).flags, class: self.class_of(stream) };
        own.differs_from(of_nic)
    }

    /// Returns the settings of a program's queue pairs on a message stream. They keep the recovery
    /// of the NIC, because their two ends are created separately.
    pub(super) fn settings_of_program(&self, stream: u32, of_nic: Recovery) -> Option<QpSettings> {
        let (flags, class) = (self.of(stream).flags, self.class_of(stream));
        QpSettings { recovery: of_nic, flags, class }.differs_from(of_nic)
    }

    /// Returns the loss recovery of a message stream's queue pairs; `None` if it is the NIC's, as
    /// under the run's policy.
    pub fn recovery_of(&self, stream: u32) -> Option<Recovery> {
        let index = self.index_of(stream);
        (index > 0).then(|| self.list[index].recovery)
    }

    /// Iterates over the recoveries that queue pairs may use in a NIC with recovery `of_nic`.
    pub(super) fn recoveries(&self, of_nic: Recovery) -> impl Iterator<Item = Recovery> {
        let own = self.list.iter().skip(1).map(|policy| policy.recovery);
        std::iter::once(of_nic).chain(own)
    }

    /// Returns every policy. The run's comes first.
    pub fn all(&self) -> &[Policy] {
        &self.list
    }

    /// Iterates over the policies that messages can use.
    pub fn used(&self) -> impl Iterator<Item = &Policy> {
        self.list.iter().skip(usize::from(!self.first_is_used))
    }

    /// Returns the scheme that switches run: the one policy that does more than hash, with its
    /// eligibility, or any of the hashed ones.
    ///
    /// # Panics
    /// If two policies need different switch behavior other than hashing.
    pub fn for_switches(&self) -> Scheme {
        let schemes = || self.used().map(|policy| &policy.scheme);
        let Some(other) = schemes().find(|scheme| !scheme.only_hashes()) else {
            return schemes().next().expect("a run has a policy").clone();
        };
        let mut rest = schemes().filter(|scheme| !scheme.only_hashes());
        assert!(
            rest.all(|it| it.has_same_switch_behavior(other)),
            "checked: switches have one policy"
        );
        let eligibility = match schemes().any(Scheme::only_hashes) {
            true => Eligibility::Unflagged,
            false => Eligibility::All,
        };
        Scheme { eligibility, ..other.clone() }
    }
}

impl Policy {
    /// Returns the flags of every packet: `HASHED` or none.
    pub(super) fn flags(&self) -> Flags {
        self.flags
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::balance::{Forwarding, Parameters, build_scheme};

    fn scheme(name: &str) -> Scheme {
        build_scheme(name, &Parameters::new()).unwrap()
    }

    /// A run under `first`, with a job of ten streams for each of `jobs`, and `others` more jobs.
    fn policies(first: &str, jobs: &[&str], others: usize) -> Policies {
        let own = |(job, name): (usize, &&str)| {
            let scheme = scheme(name);
            let streams = 10 * job as u32..10 * job as u32 + 10;
            JobPolicy { job, streams, recovery: scheme.recovery, scheme }
        };
        let own: Vec<JobPolicy> = jobs.iter().enumerate().map(own).collect();
        let mut workload = Workload::default();
        workload.jobs = vec![crate::workload::Job::for_test(); jobs.len() + others];
        Policies::new(&scheme(first), scheme(first).recovery, &own, &workload)
    }

    #[test]
    fn streams_use_the_policy_of_their_job_and_equal_policies_are_merged() {
        let all = policies("ecmp", &["reps", "ecmp", "reps"], 1);
        assert_eq!(all.all().len(), 2);
        let names = [0, 9, 10, 29, 30].map(|stream| all.of(stream).scheme.name);
        assert_eq!(names, ["reps", "reps", "ecmp", "reps", "ecmp"]);
    }

    #[test]
    fn hashed_policies_alone_need_no_flag() {
        let all = policies("ecmp", &["reps", "spray", "subflow-4"], 1);
        assert!(all.for_switches().only_hashes());
        assert!(all.all().iter().all(|policy| policy.flags == Flags::NONE));
        let own = all.settings(0, Recovery::GO_BACK_N).map(|it| it.recovery);
        assert_eq!(own, Some(Recovery::PER_PACKET));
        assert_eq!(all.settings(99, Recovery::GO_BACK_N), None);
    }

    #[test]
    fn hashed_packets_are_flagged_if_switches_run_another_policy() {
        for (other, forwarding) in
            [("adaptive", Forwarding::Hashed), ("ethereal", Forwarding::SourceRouted)]
        {
            for all in [policies("ecmp", &[other], 1), policies(other, &["ecmp"], 1)] {
                let switches = all.for_switches();
                assert_eq!((switches.name, switches.forwarding), (other, forwarding));
                assert_eq!(switches.eligibility, Eligibility::Unflagged);
                let flagged = all.all().iter().find(|it| it.flags == Flags::HASHED);
                assert_eq!(flagged.map(|it| it.scheme.name), Some("ecmp"));
            }
        }
    }

    #[test]
    fn queue_pairs_of_programs_have_the_class_of_their_stream() {
        let job = JobClass { streams: 10..20, class: ClassId(1) };
        let all = policies("ecmp", &["reps"], 1).with_classes(&[job]);
        let class = |stream| {
            all.settings_of_program(stream, Recovery::GO_BACK_N).map(|settings| settings.class)
        };
        assert_eq!([9, 10, 20].map(class), [None, Some(ClassId(1)), None]);
    }

    #[test]
    fn the_policy_of_the_run_is_unused_if_every_job_has_its_own() {
        let all = policies("ofan", &["adaptive", "ecmp"], 0);
        assert_eq!(all.for_switches().name, "adaptive");
        assert_eq!(all.used().count(), 2);
    }
}
