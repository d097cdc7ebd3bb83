//! What no machine can hold and no clock can count, refused before it is built or run.

use super::context::Context;
use super::error::{Fault, ScenarioError};
use super::file::{SCHEMA_VERSION, ScenarioFile};
use crate::fabric::FabricConfig;
use crate::nic::NicConfig;
use crate::topology::Topology;
use crate::units::{Bytes, Span, Time};
use crate::workload::Workload;

/// The latest time limit: 4,000,000 s (46 days); timers set at the very end still fit into 64
/// bits of picoseconds.
const LATEST_END: Span = Span::from_ms(4_000_000_000);

/// Memory that a workload may need by this estimate: 64 GiB.
const MOST_MEMORY: u128 = 64 << 30;

/// What a message costs: its record here, and its flow, queue pair and result in a run.
const BYTES_A_MESSAGE: u128 = 256;

/// The most messages that a workload may have, by that estimate.
pub(super) const MOST_MESSAGES: u128 = MOST_MEMORY / BYTES_A_MESSAGE;

/// A seed that TOML can write.
pub(super) fn seed(context: &Context<'_>, seed: u64) -> Result<u64, ScenarioError> {
    if i64::try_from(seed).is_err() {
        let right = format!("it must be at most {}, TOML's largest number", i64::MAX);
        return Err(context.senseless("seed", seed, right));
    }
    Ok(seed)
}

/// Checks the keys above the sections; returns the time limit.
pub(super) fn general(context: &Context<'_>, file: &ScenarioFile) -> Result<Time, ScenarioError> {
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

/// Refuses `messages` that no machine can hold; `key` is what makes them so many.
pub(super) fn messages(
    context: &Context<'_>,
    key: &str,
    value: &str,
    messages: u128,
) -> Result<(), ScenarioError> {
    if messages <= MOST_MESSAGES {
        return Ok(());
    }
    let gib = (messages * BYTES_A_MESSAGE) >> 30;
    let fault = Fault::TooLarge {
        key: key.to_owned(),
        value: value.to_owned(),
        amount: format!("{messages} messages, about {gib} GiB"),
        limit: format!("{MOST_MESSAGES} messages, about {} GiB", MOST_MEMORY >> 30),
    };
    Err(context.fault(key, fault))
}

/// Refuses a run whose bytes cannot be counted, or whose clock would run out: everything that is
/// sent, one packet after the other over the slowest link, must take less than half of what 64
/// bits of picoseconds hold.
pub(super) fn whole_run(
    context: &Context<'_>,
    workload: &Workload,
    topology: &Topology,
    (nic, fabric): (&NicConfig, &FabricConfig),
) -> Result<(), ScenarioError> {
    let overhead = nic.header + nic.ack.bytes + fabric.gap + fabric.gap;
    let mut wire = 0u128;
    for message in &workload.messages {
        let packets = u128::from(message.bytes.get()).div_ceil(u128::from(nic.payload.get()));
        wire += u128::from(message.bytes.get()) + packets.max(1) * u128::from(overhead.get());
    }
    let slowest = topology.links().iter().map(|link| link.rate.as_bps()).min().unwrap_or(1).max(1);
    let seconds = wire * 8 / u128::from(slowest);
    let limit = u128::from(LATEST_END.as_ps() / 1_000_000_000_000);
    if seconds <= limit && wire <= u128::from(u64::MAX) {
        return Ok(());
    }
    let key = "workload.bytes";
    let value = context.source.value_text(key).unwrap_or("its default").to_owned();
    let fault = Fault::TooLarge {
        key: key.to_owned(),
        value,
        amount: format!("{wire} bytes in all, {seconds} s on the slowest link"),
        limit: format!("{limit} s"),
    };
    Err(context.fault(key, fault))
}

/// Refuses `count` messages of `bytes` whose sum does not fit into 64 bits.
pub(super) fn total(context: &Context<'_>, bytes: Bytes, count: u128) -> Result<(), ScenarioError> {
    let total = u128::from(bytes.get()) * count;
    if total <= u128::from(u64::MAX) {
        return Ok(());
    }
    let key = "workload.bytes";
    let fault = Fault::TooLarge {
        key: key.to_owned(),
        value: bytes.to_string(),
        amount: format!("{total} bytes in all"),
        limit: format!("{} bytes", u64::MAX),
    };
    Err(context.fault(key, fault))
}
