//! What no machine can hold and no clock can count, refused before it is built or run.

use crate::fabric::FabricConfig;
use crate::nic::recovery::erasure::LONGEST_MESSAGE;
use crate::nic::{NicConfig, Recovery};
use crate::scenario::file::sections::FailureSection;
use crate::scenario::file::{SCHEMA_VERSION, ScenarioFile};
use crate::scenario::input::context::Context;
use crate::scenario::input::error::{Fault, ScenarioError};
use crate::topology::Topology;
use crate::units::{BitRate, Bytes, Span, Time};
use crate::workload::Workload;

/// The latest time limit: 4,000,000 s (46 days); timers set at the very end still fit into 64
/// bits of picoseconds.
const LATEST_END: Span = Span::from_ms(4_000_000_000);

/// A seed that TOML can write.
pub(in crate::scenario) fn seed(context: &Context<'_>, seed: u64) -> Result<u64, ScenarioError> {
    if i64::try_from(seed).is_err() {
        let right = format!("it must be at most {}, TOML's largest number", i64::MAX);
        return Err(context.senseless("seed", seed, right));
    }
    Ok(seed)
}

/// Checks the keys above the sections; returns the time limit.
pub(in crate::scenario) fn general(
    context: &Context<'_>,
    file: &ScenarioFile,
) -> Result<Time, ScenarioError> {
    if file.schema_version != SCHEMA_VERSION {
        let available = SCHEMA_VERSION.to_string();
        return Err(context.unavailable("schema_version", file.schema_version, available));
    }
    if file.time_limit == Span::ZERO || file.time_limit > LATEST_END {
        let right = format!("it must be more than 0s and at most {LATEST_END}");
        return Err(context.senseless("time_limit", file.time_limit, right));
    }
    Ok(Time::ZERO + file.time_limit)
}

/// The rate of the slowest link, in bits per second, as if every degradation hit it: whatever
/// links another seed draws, none is slower.
fn slowest(topology: &Topology, failures: &[FailureSection]) -> u64 {
    let slowest = topology.links().iter().map(|link| link.rate).min().unwrap_or_default();
    let factors = failures.iter().filter_map(|failure| failure.factor);
    factors.fold(slowest, BitRate::scaled).as_bps().max(1)
}

/// Refuses a run whose bytes cannot be counted, or whose clock would run out: everything that is
/// sent, one packet after the other over the slowest link, must end before the latest time limit.
/// `longest` is its longest message, where the workload holds no messages but their sums.
pub(in crate::scenario) fn whole_run(
    context: &Context<'_>,
    (file, workload): (&ScenarioFile, &Workload),
    (longest, topology): (Option<Bytes>, &Topology),
    (nic, fabric, time_limit): (&NicConfig, &FabricConfig, Time),
) -> Result<(), ScenarioError> {
    let overhead = nic.header + nic.ack.bytes + fabric.gap + fabric.gap;
    let mut wire = 0u128;
    for message in &workload.messages {
        let packets = u128::from(message.bytes.get()).div_ceil(u128::from(nic.payload.get()));
        wire += u128::from(message.bytes.get()) + packets.max(1) * u128::from(overhead.get());
    }
    let slowest = slowest(topology, &file.failure);
    let seconds = wire * 8 / u128::from(slowest);
    let limit = u128::from(LATEST_END.as_ps() / 1_000_000_000_000);
    let last = workload.messages.iter().map(|message| message.start).max().unwrap_or(Time::ZERO);
    if last >= time_limit {
        let right = format!("it must be later than the start of the last message, {last}");
        return Err(context.senseless("time_limit", time_limit, right));
    }
    let coded = nic.recovery == Recovery::Erasure;
    let known = || workload.messages.iter().map(|message| message.bytes).max().unwrap_or_default();
    let longest = longest.unwrap_or_else(known);
    let (amount, limit) = if seconds > limit || wire > u128::from(u64::MAX) {
        (format!("{wire} bytes in all, {seconds} s on the slowest link"), format!("{limit} s"))
    } else if coded && longest > LONGEST_MESSAGE {
        (format!("with an erasure code, a message of {longest}"), LONGEST_MESSAGE.to_string())
    } else {
        return Ok(());
    };
    let (key, value) = match &file.workload {
        None => ("job", format!("{} jobs", file.job.len())),
        Some(section) => match (&section.file, section.bytes) {
            (Some(file), _) => ("workload.file", file.clone()),
            (None, Some(bytes)) => ("workload.bytes", context.shown("workload.bytes", bytes)),
            (None, None) => ("workload.kind", section.kind.clone()),
        },
    };
    let fault = Fault::TooLarge { key: key.to_owned(), value, amount, limit };
    Err(context.fault(key, fault))
}
