//! Limits of memory and time, checked before a run is built.

use std::collections::BTreeMap;

use crate::endpoint::JobPolicy;
use crate::fabric::{FabricConfig, Failure, FailureKind};
use crate::file::{GeneralSection, SCHEMA_VERSION, ScenarioFile};
use crate::ids::LinkId;
use crate::input::context::Context;
use crate::input::error::{Fault, ScenarioError};
use crate::input::located::{Key, Located};
use crate::nic::NicConfig;
use crate::topology::Topology;
use crate::units::{BitRate, Bytes, Fraction, Span, Time};
use crate::workload::Workload;

/// Latest time limit: 4,000,000 s (46 days). Timers set at the very end still fit into 64 bits of
/// picoseconds.
const MAX_TIME_LIMIT: Span = Span::from_ms(4_000_000_000);

/// Fails for an unsupported version of the format.
pub(crate) fn version(context: &Context<'_>, version: &Located<u32>) -> Result<(), ScenarioError> {
    let expected = match **version {
        SCHEMA_VERSION => return Ok(()),
        0 => format!("versions start at 1; this evenkeel reads {SCHEMA_VERSION}"),
        later => format!(
            "this evenkeel reads version {SCHEMA_VERSION}; update to a release whose CHANGELOG.md \
             names schema_version {later}, or write the file for version \
             {SCHEMA_VERSION} (docs/scenario.md)"
        ),
    };
    Err(context.invalid(version, expected))
}

/// Fails for a seed that TOML cannot represent.
pub(crate) fn seed(context: &Context<'_>, seed: &Located<u64>) -> Result<u64, ScenarioError> {
    if i64::try_from(**seed).is_err() {
        let expected = format!("it must be at most {}, TOML's largest number", i64::MAX);
        return Err(context.invalid(seed, expected));
    }
    Ok(**seed)
}

/// Checks the keys above the sections. Returns the time limit.
pub(crate) fn general(
    context: &Context<'_>,
    section: &GeneralSection,
) -> Result<Time, ScenarioError> {
    seed(context, &section.seed)?;
    version(context, &section.schema_version)?;
    let limit = &section.time_limit;
    if **limit == Span::ZERO || **limit > MAX_TIME_LIMIT {
        let expected = format!("it must be more than 0s and at most {MAX_TIME_LIMIT}");
        return Err(context.invalid(limit, expected));
    }
    Ok(Time::ZERO + **limit)
}

/// A run whose limits are to be checked.
pub(crate) struct CandidateRun<'a> {
    pub file: &'a ScenarioFile,
    pub workload: &'a Workload,
    /// Longest message, if the workload only has aggregate sizes.
    pub longest: Option<Bytes>,
    pub topology: &'a Topology,
    pub nic: &'a NicConfig,
    pub job_policies: &'a [JobPolicy],
    pub fabric: &'a FabricConfig,
    pub time_limit: Time,
}

impl CandidateRun<'_> {
    /// Fails if the byte count overflows, or if the time might. All packets, sent one after the
    /// other over the slowest link, must finish before the latest time limit.
    pub(crate) fn check(&self, context: &Context<'_>) -> Result<(), ScenarioError> {
        let messages = &self.workload.messages;
        let last = messages.iter().map(|message| message.start).max().unwrap_or(Time::ZERO);
        let sections = self.file.workload.iter().chain(&self.file.job);
        let starts = sections.filter_map(|section| section.common.start.given());
        if let Some(start) =
            starts.into_iter().find(|it| Time::ZERO.saturating_add(**it) >= self.time_limit)
        {
            let expected = format!("it must be earlier than time_limit = {}", self.time_limit);
            return Err(context.invalid(&start, expected));
        }
        if last >= self.time_limit {
            let expected = format!("it must be later than the start of the last message, {last}");
            let limit = self.file.general.time_limit.with(self.time_limit);
            return Err(context.invalid(&limit, expected));
        }
        let wire = self.wire_bytes();
        let seconds = wire * 8 / u128::from(slowest(self.topology, &self.fabric.failures));
        let limit = u128::from(MAX_TIME_LIMIT.as_ps() / 1_000_000_000_000);
        if seconds > limit || wire > u128::from(u64::MAX) {
            let amount = format!("{wire} bytes in total, {seconds} s on the slowest link");
            return Err(self.too_large(context, amount, format!("{limit} s")));
        }
        let known = || messages.iter().map(|message| message.bytes).max().unwrap_or_default();
        let generated = self.workload.chains.as_ref().map(|chains| chains.longest());
        let longest = self.longest.or(generated).unwrap_or_else(known);
        let of_jobs = self.job_policies.iter().map(|job| job.recovery);
        for recovery in [self.nic.recovery].into_iter().chain(of_jobs) {
            let limit = recovery.longest_message().filter(|&limit| longest > limit);
            let Some(limit) = limit else { continue };
            let name = recovery.name();
            let amount = format!("with the loss recovery {name}, a message of {longest}");
            return Err(self.too_large(context, amount, limit.to_string()));
        }
        Ok(())
    }

    /// Returns the size of all messages on the wire, in bytes.
    fn wire_bytes(&self) -> u128 {
        let gap = self.fabric.gap;
        let overhead = u128::from((self.nic.header + self.nic.ack.bytes + gap + gap).get());
        let payload = u128::from(self.nic.payload.get());
        // Every packet has headers, an acknowledgement and a gap for each. An empty message has
        // one.
        let of_message = |bytes: u128| bytes + bytes.div_ceil(payload).max(1) * overhead;
        self.workload.messages.iter().map(|it| of_message(it.bytes.get().into())).sum()
    }

    /// Returns a fault at the key that most influences the bytes sent.
    fn too_large(&self, context: &Context<'_>, amount: String, limit: String) -> ScenarioError {
        let (key, value) = match &self.file.workload {
            None => (Key::ROOT.child("job"), format!("{} jobs", self.file.job.len())),
            Some(section) => {
                let largest = section.work.size().unwrap_or_else(|| section.kind.clone());
                let value = context.shown(&largest);
                (largest.key().clone(), value)
            }
        };
        context.fault(&key.clone(), Fault::TooLarge { key: key.to_string(), value, amount, limit })
    }
}

/// Returns the lowest rate of any link under its worst degradation, in bits per second.
fn slowest(topology: &Topology, failures: &[Failure]) -> u64 {
    let mut by_link: BTreeMap<LinkId, Vec<(Time, Time, Fraction)>> = BTreeMap::new();
    for failure in failures {
        if let FailureKind::Degrade { factor } = failure.kind {
            let of_link = by_link.entry(failure.link).or_default();
            of_link.push((failure.at, failure.until, factor));
        }
    }
    let degraded = by_link.into_iter().flat_map(|(link, mut factors)| {
        factors.sort_unstable_by_key(|&(at, ..)| at);
        let rate = topology.link(link).rate;
        let mut active: Vec<(Time, Fraction)> = Vec::new();
        let after = factors.into_iter().map(move |(at, until, factor)| {
            // Overlapping degradations multiply.
            active.retain(|&(until, _)| until > at);
            active.push((until, factor));
            active.iter().fold(rate, |rate, &(_, factor)| rate.scaled(factor))
        });
        after.collect::<Vec<BitRate>>()
    });
    let whole = topology.links().iter().map(|link| link.rate);
    whole.chain(degraded).min().unwrap_or_default().as_bps().max(1)
}
