//! The unit of time must not matter: doubling rates and halving delays halves all times.

use evenkeel::fabric::Setup;
use evenkeel::units::{BitRate, Span};
use toml::Value;

use super::draft::Draft;
use super::outcome::{ComparableOutcome, equal};
use super::relation::{Case, CheckResult, Failure, Relation, defined, require, resolved, seen};
use super::statistics::require_alike;

pub(super) const RELATIONS: &[Relation] = &[
    Relation {
        name: "double-speed",
        says: "Doubling rates and halving delays and timers halves all times, over seeds.",
        fault: "the cables of the faster fabric keep their length",
        check: double_speed,
    },
    Relation {
        name: "double-speed-lone-message",
        says: "Doubling rates and halving delays and timers halves the time of a message exactly.",
        fault: "the cables of the faster fabric keep their length",
        check: double_speed_alone,
    },
    Relation {
        name: "twice-the-bytes",
        says: "Twice the bytes take at least twice the payload's time.",
        fault: "the messages keep their length",
        check: twice_the_bytes,
    },
    Relation {
        name: "later-start",
        says: "A workload that starts later takes the same time.",
        fault: "the messages are a byte longer",
        check: later_start,
    },
];

/// Doubles rates and halves times in a resolved scenario.
pub(super) fn faster(value: &mut Value, is_faulty: bool) {
    match value {
        Value::String(text) => {
            if let Ok(span) = text.parse::<Span>() {
                *text = format!("{}ps", span.as_ps() / 2);
            } else if let Ok(rate) = text.parse::<BitRate>() {
                *text = format!("{}bps", rate.as_bps() * 2);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| faster(item, is_faulty)),
        Value::Table(table) => {
            for (key, item) in table.iter_mut() {
                if !(is_faulty && key == "delay") {
                    faster(item, is_faulty);
                }
            }
        }
        _ => {}
    }
}

/// Removes random delays: halving their maximum does not halve each draw.
fn without_jitter(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(without_jitter),
        Value::Table(table) => {
            table.iter_mut().filter(|(key, _)| *key == "start_jitter").for_each(|(_, jitter)| {
                *jitter = Value::String("0s".to_owned());
            });
        }
        _ => {}
    }
}

/// Returns a scenario with explicit defaults and without random delays. Each packet takes an even
/// number of picoseconds, so that half its time is whole.
pub(super) fn explicit(case: &Case, most: u64) -> Result<Draft, Failure> {
    let mut draft = case.draft.clone();
    // Link-level retry takes a fraction of a byte per packet from the wire, so times are rounded.
    draft.short(most).calm().remove("topology.llr");
    // MRC's timer counts in units of 4.096 us, as specified.
    require(!draft.text().contains("\"mrc\""))?;
    for key in ["topology.host_rate", "topology.fabric_rate"] {
        if draft.name(key) == "3Gbps" {
            draft.set(key, "5Gbps");
        }
    }
    if draft.get("topology.scale_up").is_some() {
        draft.remove("topology.scale_up");
    }
    for failure in draft.0.get_mut("failure").and_then(Value::as_array_mut).into_iter().flatten() {
        let failure = failure.as_table_mut().expect("failures are tables");
        if failure.contains_key("factor") {
            failure.insert("factor".to_owned(), Value::String("1/4".to_owned()));
        }
    }
    let mut explicit = Draft::new(&resolved(&draft)?.render());
    explicit.0.iter_mut().for_each(|(_, value)| without_jitter(value));
    Ok(explicit)
}

fn run(draft: &Draft, seed: u64) -> Result<ComparableOutcome, Failure> {
    let mut draft = draft.clone();
    draft.set("seed", i64::try_from(seed).expect("seeds of tests are small"));
    Ok(seen(&defined(draft.scenario())?.setup()))
}

fn double_speed(case: &Case) -> CheckResult {
    let draft = explicit(case, 20_000)?;
    let mut fast = draft.clone();
    fast.0.iter_mut().for_each(|(key, value)| {
        if key != "topology" || !case.is_faulty {
            faster(value, case.is_faulty);
        }
    });
    let fast_run = |seed| Ok(run(&fast, seed)?.slower(2));
    if equal(&run(&draft, 1)?, &fast_run(1)?).is_ok() {
        return Ok(());
    }
    // Rounding and reordered ties may cause differences, but not on average.
    require_alike(&|seed| run(&draft, seed), &fast_run)
}

fn double_speed_alone(case: &Case) -> CheckResult {
    let mut draft = case.draft.clone();
    draft.leaf_spine().one_workload().remove("failure");
    draft.replace("workload", "kind = 'shift'\nbytes = '40000B'\nhosts = '0..2'");
    draft.set("transport.congestion_control", "line-rate").remove("transport.parameters");
    // Random tie-breaking depends on the time, which this relation scales.
    draft.set("switch.ties", "port");
    let draft = explicit(&Case { draft, is_faulty: false }, 40_000)?;
    let mut fast = draft.clone();
    fast.0.iter_mut().for_each(|(_, value)| faster(value, case.is_faulty));
    equal(&run(&draft, 1)?, &run(&fast, 1)?.slower(2))
}

/// Returns the time that the busiest sender needs for its payload.
fn payload_time(setup: &Setup) -> Span {
    let hosts = setup.topology.host_count() as usize;
    let mut sent = vec![0; hosts];
    for message in &setup.workload.messages {
        let by = setup.topology.sender_over_fabric(message.src, message.dst);
        if let Some(host) = by {
            sent[host.index()] += message.bytes.get();
        }
    }
    let hosts = (0..hosts as u32).map(evenkeel::ids::HostId);
    let times = hosts.map(|host| {
        let rate = setup.topology.host_rate(host);
        rate.time_for(evenkeel::units::Bytes::new(sent[host.index()]))
    });
    times.max().unwrap_or(Span::ZERO)
}

fn twice_the_bytes(case: &Case) -> CheckResult {
    let mut draft = case.draft.clone();
    draft.short(30_000).remove("failure");
    let scenario = resolved(&draft)?;
    require(scenario.workload.chains.is_none())?;
    let mut completed = 0;
    for seed in 1..=5 {
        let setup = defined(scenario.with_seed(seed).ok())?.setup();
        let mut long = setup.clone();
        let mut workload = (*setup.workload).clone();
        if !case.is_faulty {
            workload.messages.iter_mut().for_each(|it| it.bytes = it.bytes + it.bytes);
        }
        long.workload = workload.into();
        let least = payload_time(&setup);
        let Some(cct) = evenkeel::fabric::run(&long, &mut |_| {}).cct else { continue };
        completed += 1;
        if cct < least + least {
            let reason = format!("twice the bytes take {cct}, of a payload of {least}");
            return Err(Failure::Broken(reason));
        }
    }
    require(completed > 2)
}

fn later_start(case: &Case) -> CheckResult {
    let mut draft = case.draft.clone();
    draft.remove("failure").one_workload().calm();
    let scenario = resolved(&draft)?;
    require(scenario.workload.waits_for.is_empty() && scenario.workload.chains.is_none())?;
    let of_seed = |seed: u64| Ok(defined(scenario.with_seed(seed).ok())?.setup());
    let later = |seed: u64| {
        let mut setup: Setup = of_seed(seed)?;
        let mut workload = (*setup.workload).clone();
        for message in &mut workload.messages {
            message.start = message.start.saturating_add(Span::from_us(10));
            if case.is_faulty {
                message.bytes = message.bytes + message.bytes;
            }
        }
        setup.workload = workload.into();
        setup.time_limit = setup.time_limit.saturating_add(Span::from_us(10));
        Ok(seen(&setup))
    };
    let base = |seed: u64| Ok(seen(&of_seed(seed)?));
    // Some policies and switches look at queues at fixed times.
    require_alike(&base, &later)
}
