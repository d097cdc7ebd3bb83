//! Keys that have no effect under the file's policy, transport, workload or failures, each with
//! what it needs.

use crate::balance::{Scheme, Weights};
use crate::endpoint::JobPolicy;
use crate::file::ScenarioFile;
use crate::file::failure::{FailureName, FailureSection};
use crate::fluid::Fidelity;
use crate::input::context::Context;
use crate::input::located::Key;
use crate::input::requirement::Requirement;
use crate::nic::{NicConfig, Recovery};
use crate::units::Span;
use crate::workload::Workload;

/// Values that decide whether keys have an effect.
pub(crate) struct Facts<'a> {
    /// The file as resolved.
    pub file: &'a ScenarioFile,
    pub nic: &'a NicConfig,
    pub scheme: &'a Scheme,
    pub jobs: &'a [JobPolicy],
    /// Messages, if they are known before the run.
    pub workload: Option<&'a Workload>,
}

/// Keys without an effect.
pub(crate) struct UnusedKeys {
    /// A warning for each such key that the file sets.
    pub warnings: Vec<String>,
    /// Paths of the keys that the warnings name.
    pub ignored: Vec<String>,
    /// Paths of such keys that it does not set; a resolved scenario omits them.
    pub omitted: Vec<String>,
}

/// Returns the keys without an effect.
pub(crate) fn of(context: &Context<'_>, facts: &Facts<'_>) -> UnusedKeys {
    let warnings = warnings(context, facts);
    let is_fluid = *facts.file.general.fidelity == Fidelity::Fluid;
    let unmet = facts
        .requirements()
        .filter(|requirement| !requirement.is_met)
        .map(|requirement| requirement.key);
    let of_packets = facts.packets().into_iter().filter(|_| is_fluid);
    let (given, absent): (Vec<&Key>, Vec<&Key>) =
        unmet.chain(of_packets).partition(|key| context.is_given(key));
    UnusedKeys { warnings, ignored: paths(&given), omitted: paths(&absent) }
}

fn paths(keys: &[&Key]) -> Vec<String> {
    keys.iter().map(|key| key.path().to_owned()).collect()
}

fn warnings(context: &Context<'_>, facts: &Facts<'_>) -> Vec<String> {
    let is_given = |key: &&Key| context.is_given(key);
    let is_fluid = *facts.file.general.fidelity == Fidelity::Fluid;
    let of_packets: Vec<&Key> = facts.packets().into_iter().filter(is_given).collect();
    let fluid = of_packets.split_first().filter(|_| is_fluid).map(|(first, others)| {
        let others: Vec<String> = others.iter().map(|key| format!(", {}", key.path())).collect();
        let keys = format!("{}{}", first.path(), others.concat());
        context.warning(first, &format!("no effect in a fluid run, which has no packets: {keys}"))
    });
    let without = facts
        .requirements()
        .filter(|requirement| !requirement.is_met && context.is_given(requirement.key));
    // The warning about fluid runs already names these keys.
    let without =
        without.filter(|requirement| !(is_fluid && of_packets.contains(&requirement.key)));
    let warning = |requirement: Requirement<'_>| {
        context.warning(
            requirement.key,
            &format!("it has no effect here; it needs {}", requirement.words),
        )
    };
    fluid.into_iter().chain(without.map(warning)).collect()
}

impl<'a> Facts<'a> {
    fn requirements(&self) -> impl Iterator<Item = Requirement<'a>> {
        let transport = self.transport().into_iter().chain(self.hardware());
        transport.chain(self.failures()).chain(self.workloads())
    }

    /// Returns the keys that affect individual packets.
    fn packets(&self) -> Vec<&'a Key> {
        let (transport, switch) = (&self.file.transport, &self.file.switch);
        let mut keys = vec![
            transport.ack_marked.key(),
            transport.ack_range.key(),
            transport.ack_span.key(),
            transport.ack_first.key(),
            transport.ack_resent.key(),
            transport.ack_entropies.key(),
            transport.ack_priority.key(),
            transport.nack_signal.key(),
            transport.nack_interval.key(),
            transport.cnp_interval.key(),
            switch.ecn_at_hosts.key(),
            switch.slow_ports.key(),
            switch.ties.key(),
        ];
        let ecn = &switch.ecn;
        keys.extend([ecn.step.key(), ecn.kmin.key(), ecn.kmax.key(), ecn.pmax.key(), ecn.at.key()]);
        keys
    }

    fn transport(&self) -> Vec<Requirement<'a>> {
        let section = &self.file.transport;
        let recoveries = || self.jobs.iter().map(|job| job.recovery).chain([self.nic.recovery]);
        let repeats = recoveries().any(|it| matches!(it, Recovery::GoBackN(_) | Recovery::Rod(_)));
        let has_cnps = self.nic.wants_cnp();
        let coalesces = self.nic.ack.every > 1;
        let answers = |it| {
            !matches!(
                it,
                Recovery::PerPacket(_)
                    | Recovery::Erasure(_)
                    | Recovery::Mrc(_)
                    | Recovery::Rudi(_)
            )
        };
        let coalescing = "several packets for an acknowledgement (ack_every above 1)";
        vec![
            Requirement {
                key: section.nack_interval.key(),
                is_met: repeats,
                words: "the recovery go-back-n or rod, whose receivers repeat NACKs",
            },
            Requirement {
                key: section.cnp_interval.key(),
                is_met: has_cnps,
                words: "the congestion control dcqcn or dcqcn-mlx with signal = \"cnp\", whose \
                        receivers send CNPs",
            },
            Requirement {
                key: section.nack_signal.key(),
                is_met: recoveries().any(answers),
                words: "the recovery go-back-n, sack or rod, whose receivers send NACKs for gaps",
            },
            Requirement { key: section.ack_marked.key(), is_met: coalesces, words: coalescing },
            Requirement { key: section.ack_first.key(), is_met: coalesces, words: coalescing },
            Requirement { key: section.ack_resent.key(), is_met: coalesces, words: coalescing },
            Requirement { key: section.ack_span.key(), is_met: coalesces, words: coalescing },
        ]
    }

    fn hardware(&self) -> Vec<Requirement<'a>> {
        let section = &self.file.transport;
        let recoveries = || self.jobs.iter().map(|job| job.recovery).chain([self.nic.recovery]);
        let in_order = recoveries().any(|it| matches!(it, Recovery::GoBackN(_) | Recovery::Rod(_)));
        let reads_cnps = self.nic.congestion.wants_cnp();
        let mut keys = vec![
            Requirement {
                key: section.cnp_on_nack.key(),
                is_met: in_order && reads_cnps,
                words: "the recovery go-back-n or rod, and a congestion control that reads CNPs: \
                        dcqcn, or dcqcn-mlx with signal = \"cnp\"",
            },
            Requirement {
                key: section.cnp_on_discard.key(),
                is_met: section.receive.is_some() && reads_cnps,
                words: "receive, and a congestion control that reads CNPs: dcqcn, or dcqcn-mlx \
                        with signal = \"cnp\"",
            },
            Requirement {
                key: section.cnp_limiter.key(),
                is_met: self.nic.wants_cnp(),
                words: "CNPs: the congestion control dcqcn, or dcqcn-mlx with signal = \"cnp\", or \
                        cnp_on_nack or cnp_on_discard",
            },
        ];
        if let Some(receive) = &*section.receive {
            let is_met = *receive.stall > Span::ZERO;
            let of_stall = [receive.stall_above.key(), receive.stall_after.key()];
            let words = "receive.stall, whose start it decides";
            keys.extend(of_stall.map(|key| Requirement { key, is_met, words }));
        }
        keys
    }

    fn failures(&self) -> Vec<Requirement<'a>> {
        let schemes = || self.jobs.iter().map(|job| &job.scheme).chain([self.scheme]);
        let weighs = schemes().any(|scheme| scheme.weights == Weights::Capacity);
        let failures = &self.file.failure;
        let is_fluid = *self.file.general.fidelity == Fidelity::Fluid;
        let degrades = failures.iter().any(|it| *it.kind == FailureName::Degrade);
        let slow_ports = Requirement {
            key: self.file.switch.slow_ports.key(),
            is_met: degrades,
            words: "a [[failure]] with kind = \"degrade\"",
        };
        let of_one = |failure: &'a FailureSection| {
            let is_outage = matches!(*failure.kind, FailureName::Down | FailureName::Flap);
            // In a fluid run, policies that look at load weight their ports.
            let is_weighed = *failure.kind == FailureName::Degrade && (weighs || is_fluid);
            let detection = Requirement {
                key: failure.detection.key(),
                is_met: is_outage,
                words: "a link that is down: switches keep using slow and lossy links",
            };
            let convergence = Requirement {
                key: failure.convergence.key(),
                is_met: is_outage || is_weighed,
                words: "a link that is down, or one that is slow and a policy with weights = \
                        \"capacity\": routing does not change otherwise",
            };
            [detection, convergence]
        };
        failures.iter().flat_map(of_one).chain([slow_ports]).collect()
    }

    fn workloads(&self) -> Vec<Requirement<'a>> {
        let is_ordered = self.workload.is_none_or(|workload| {
            workload.chains.is_some() || workload.waits_for.iter().any(|&count| count > 0)
        });
        let sections = self.file.workload.iter().chain(&self.file.job);
        sections.flat_map(|section| section.work.requirements(is_ordered)).collect()
    }
}
