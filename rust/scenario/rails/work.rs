//! `[workload]` and `[handler]` of hosts with several rails.

use super::file::{HandlerSection, RailWorkloadSection, Sizes};
use crate::input::context::{AtLeast, Context};
use crate::input::error::ScenarioError;
use crate::input::located::Located;
use crate::input::section::Section as _;
use crate::multirail::ELEMENT;
use crate::rail::handler::{self, ConfigError};
use crate::units::Bytes;

/// Most bytes of all ranks' vectors per operation, because every packet is simulated.
const MAX_BYTES: u64 = 8 << 30;
/// Most operations of a run.
const MAX_OPERATIONS: u32 = 1_000_000;

/// Returns the vector length of each operation among `hosts` hosts.
pub(super) fn operations(
    context: &Context<'_>,
    section: &RailWorkloadSection,
    hosts: u32,
) -> Result<Vec<Bytes>, ScenarioError> {
    let kind = &section.kind;
    if **kind != "all-reduce" {
        return Err(context.unsupported(kind.key(), kind, "all-reduce"));
    }
    let count = &section.operations;
    if !(1..=MAX_OPERATIONS).contains(&**count) {
        return Err(context.invalid(count, format!("it must be from 1 to {MAX_OPERATIONS}")));
    }
    let bytes = &section.bytes;
    let sizes: Vec<Located<Bytes>> = match &**bytes {
        Sizes::One(size) => vec![bytes.with(*size)],
        Sizes::Several(sizes) => {
            let item = |(index, size): (usize, &Bytes)| Located::of(*size, bytes.key().item(index));
            sizes.iter().enumerate().map(item).collect()
        }
    };
    for size in &sizes {
        let most = MAX_BYTES / u64::from(hosts);
        if **size == Bytes::ZERO || !size.get().is_multiple_of(ELEMENT.get()) {
            let expected = format!("it must be a multiple of {ELEMENT}, the length of an element");
            return Err(context.invalid(size, expected));
        }
        if size.get() > most {
            let expected = format!("with {hosts} hosts it is at most {most}B");
            return Err(context.invalid(size, expected));
        }
    }
    if sizes.is_empty() {
        return Err(context.invalid_as(bytes.key(), "[]", "it must have a size"));
    }
    let sizes = sizes.iter().map(|size| **size).cycle();
    Ok(sizes.take(**count as usize).collect())
}

/// Returns the fault of a handler that cannot be built.
fn fault_of(context: &Context<'_>, section: &HandlerSection, error: ConfigError) -> ScenarioError {
    let named = |name| section.key_named(name).expect("parameters are keys of the section");
    match error {
        ConfigError::Zero { name, default } => {
            let key = named(name);
            let text = context.as_written(&key).unwrap_or_else(|| "0".to_owned());
            let expected = format!("it must be above zero, for example {default}");
            context.invalid_as(&key, text, expected)
        }
        ConfigError::Rank { .. } | ConfigError::Rails { .. } => {
            unreachable!("the parameters are checked, not the ranks and rails")
        }
    }
}

/// Resolves the exception handler of a section. Timers must not be zero. Chunks must be whole
/// elements and not too many.
pub(super) fn handler(
    context: &Context<'_>,
    section: &HandlerSection,
) -> Result<handler::Config, ScenarioError> {
    let config = handler::Config {
        chunk: *section.chunk,
        heartbeat: *section.heartbeat,
        misses: *section.misses,
        grace: *section.grace,
        stall_factor: *section.stall_factor,
        stall_least: *section.stall_least,
        confirm: *section.confirm,
        retry: *section.retry,
        probe: *section.probe,
        good_probes: *section.good_probes,
    };
    config.check().map_err(|error| fault_of(context, section, error))?;
    let least = Bytes::new(4_096);
    if config.chunk < least || !config.chunk.get().is_multiple_of(ELEMENT.get()) {
        let expected = format!("it must be at least {least} and a multiple of {ELEMENT}");
        return Err(context.invalid(&section.chunk, expected));
    }
    for span in [
        &section.heartbeat,
        &section.grace,
        &section.stall_least,
        &section.confirm,
        &section.retry,
        &section.probe,
    ] {
        context.span(span, AtLeast::Zero)?;
    }
    Ok(config)
}
