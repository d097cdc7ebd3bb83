//! The policies of a run: that of the run, and those of jobs with one of their own.
//!
//! Jobs share no message streams, and so no queue pairs: a stream has one policy, which is chosen
//! when a message starts and when a queue pair is made, never for a packet. Switches have one
//! policy for the whole fabric. Where some jobs need no more of switches than the hash of ECMP,
//! the packets of those carry the flag `HASHED`.

use std::ops::Range;

use crate::balance::{Eligibility, Scheme};
use crate::ids::ClassId;
use crate::nic::{QpSettings, Recovery};
use crate::packet::Flags;
use crate::workload::Workload;

/// The policy of a job that has one of its own.
#[derive(Debug, Clone, PartialEq)]
pub struct JobPolicy {
    /// The index of the job.
    pub job: usize,
    /// The message streams of the job.
    pub streams: Range<u32>,
    /// How its load is balanced.
    pub scheme: Scheme,
    /// The loss recovery of its queue pairs.
    pub recovery: Recovery,
}

/// The traffic class of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobClass {
    /// The message streams of the job.
    pub streams: Range<u32>,
    /// The class of its data packets.
    pub class: ClassId,
}

/// All policies of a run, each once.
#[derive(Debug, Clone)]
pub struct Policies {
    /// The first is that of the run.
    list: Vec<Policy>,
    /// The streams of jobs with another one than the first, and its index.
    streams: Vec<(Range<u32>, usize)>,
    /// True if a message may have the first.
    first_is_used: bool,
    /// The streams of another traffic class than the first.
    classes: Vec<JobClass>,
}

/// A policy of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Policy {
    /// How load is balanced.
    pub scheme: Scheme,
    /// The loss recovery of its queue pairs.
    pub recovery: Recovery,
    /// Flags of all its packets: `HASHED` or none.
    flags: Flags,
}

impl Policies {
    /// The policies of a run with this scheme and recovery, and of its jobs.
    ///
    /// # Panics
    /// If two of them need different things of switches, beside hashing.
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
        if all.for_switches().eligibility == Eligibility::Unflagged {
            for policy in all.list.iter_mut().filter(|policy| policy.scheme.is_hashed()) {
                policy.flags = Flags::HASHED;
            }
        }
        all
    }

    /// The same policies, with the traffic classes of jobs.
    #[must_use]
    pub fn with_classes(self, classes: &[JobClass]) -> Self {
        let others = classes.iter().filter(|job| job.class != ClassId::default());
        Self { classes: others.cloned().collect(), ..self }
    }

    /// The traffic class of a message stream: the first one unless its job has another.
    pub fn class_of(&self, stream: u32) -> ClassId {
        let own = self.classes.iter().find(|job| job.streams.contains(&stream));
        own.map_or(ClassId::default(), |job| job.class)
    }

    /// The index of the policy of a message stream.
    pub fn index_of(&self, stream: u32) -> usize {
        let own = self.streams.iter().find(|(streams, _)| streams.contains(&stream));
        own.map_or(0, |&(_, index)| index)
    }

    /// The policy of a message stream.
    pub fn of(&self, stream: u32) -> &Policy {
        &self.list[self.index_of(stream)]
    }

    /// The settings of queue pairs of a message stream in NICs with that recovery; `None` if they
    /// are the NIC's.
    pub(super) fn settings(&self, stream: u32, of_nic: Recovery) -> Option<QpSettings> {
        let recovery = self.recovery_of(stream).unwrap_or(of_nic);
        let own =
            QpSettings { recovery, flags: self.of(stream).flags, class: self.class_of(stream) };
        own.differs_from(of_nic)
    }

    /// The settings of queue pairs of programs of a message stream in NICs with that recovery,
    /// which they keep: their two ends are made one by one.
    pub(super) fn settings_of_program(&self, stream: u32, of_nic: Recovery) -> Option<QpSettings> {
        let (flags, class) = (self.of(stream).flags, self.class_of(stream));
        QpSettings { recovery: of_nic, flags, class }.differs_from(of_nic)
    }

    /// The loss recovery of the queue pairs of a message stream; `None` if it is that of the NIC,
    /// as under the policy of the run.
    pub fn recovery_of(&self, stream: u32) -> Option<Recovery> {
        let index = self.index_of(stream);
        (index > 0).then(|| self.list[index].recovery)
    }

    /// The loss recoveries that queue pairs of a NIC with that recovery may have.
    pub(super) fn recoveries(&self, of_nic: Recovery) -> impl Iterator<Item = Recovery> {
        let own = self.list.iter().skip(1).map(|policy| policy.recovery);
        std::iter::once(of_nic).chain(own)
    }

    /// All of them; the first is that of the run.
    pub fn all(&self) -> &[Policy] {
        &self.list
    }

    /// Those that messages have.
    pub fn used(&self) -> impl Iterator<Item = &Policy> {
        self.list.iter().skip(usize::from(!self.first_is_used))
    }

    /// What switches need to know of all of them: the one policy that is not hashed, with its
    /// eligibility, or one of those that are.
    ///
    /// # Panics
    /// If switches would have to do different things, beside hashing.
    pub fn for_switches(&self) -> Scheme {
        let schemes = || self.used().map(|policy| &policy.scheme);
        let Some(other) = schemes().find(|scheme| !scheme.is_hashed()) else {
            return schemes().next().expect("a run has a policy").clone();
        };
        let mut rest = schemes().filter(|scheme| !scheme.is_hashed());
        assert!(rest.all(|it| it.has_switches_of(other)), "checked: switches have one policy");
        let eligibility = match schemes().any(Scheme::is_hashed) {
            true => Eligibility::Unflagged,
            false => Eligibility::All,
        };
        Scheme { eligibility, ..other.clone() }
    }
}

impl Policy {
    /// Flags of all its packets: `HASHED` or none.
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

    /// A run under `first`, with a job of ten streams for each of `jobs`, and `others` jobs.
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
    fn streams_have_the_policy_of_their_job_and_equal_policies_are_one() {
        let all = policies("ecmp", &["reps", "ecmp", "reps"], 1);
        assert_eq!(all.all().len(), 2);
        let names = [0, 9, 10, 29, 30].map(|stream| all.of(stream).scheme.name);
        assert_eq!(names, ["reps", "reps", "ecmp", "reps", "ecmp"]);
    }

    #[test]
    fn hashed_policies_need_no_flag_among_themselves() {
        let all = policies("ecmp", &["reps", "spray", "subflow-4"], 1);
        assert!(all.for_switches().is_hashed());
        assert!(all.all().iter().all(|policy| policy.flags == Flags::NONE));
        let own = all.settings(0, Recovery::GO_BACK_N).map(|it| it.recovery);
        assert_eq!(own, Some(Recovery::PER_PACKET));
        assert_eq!(all.settings(99, Recovery::GO_BACK_N), None);
    }

    #[test]
    fn beside_another_policy_of_switches_hashed_packets_are_flagged() {
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
    fn the_policy_of_the_run_does_not_count_if_every_job_has_its_own() {
        let all = policies("ofan", &["adaptive", "ecmp"], 0);
        assert_eq!(all.for_switches().name, "adaptive");
        assert_eq!(all.used().count(), 2);
    }
}
