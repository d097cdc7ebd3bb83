//! The keys of `config.txt`, one per line: the name, the form of its value, and the setting.

use std::path::Path;

use super::line::{ConfigError, Line, flag, fraction, instant, kilobytes, microseconds, rate};
use super::settings::{HpccConfig, LB_MODES, LinkDown, WithLine};
use crate::hpcc::wire;
use crate::units::{Bytes, DecimalError, Fraction, Span, Time, decimal};

/// A key and the function that reads its line.
pub(super) struct Key {
    pub(super) name: &'static str,
    /// Stores the line's values and returns how many of them it used.
    pub(super) read: fn(&mut HpccConfig, &Line) -> Result<usize, ConfigError>,
}

/// Returns the key called `name`, if it has an effect here.
pub(super) fn find(name: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.name == name)
}

/// True for keys of the family that have no effect here. They are monitors, keys that no simulator
/// reads, and parameters of unsupported policies, whose `LB_MODE` is an error.
pub(super) fn is_irrelevant(name: &str) -> bool {
    IRRELEVANT.contains(&name)
}

/// Returns the key that an attribute of the family's classes sets; without `ns3::`.
pub(super) fn of_attribute(name: &str) -> Option<&'static str> {
    ATTRIBUTES.iter().find(|(attribute, _)| *attribute == name).map(|(_, key)| *key)
}

/// Keys of ns3-rdma, the parent of the family, that the family does not have.
pub(super) const OF_NS3_RDMA: &[&str] =
    &["APP_START_TIME", "APP_STOP_TIME", "FLOW_LEVEL_ECMP", "PACKET_LEVEL_ECMP", "TCP_FLOW_FILE"];

const FLAG: &str = "0 or 1";
const WHOLE: &str = "a whole number, for example CC_MODE 1";
const COUNT: &str = "a whole number from 1, for example 1";
const MICROSECONDS: &str = "microseconds, more than 0, for example 55";
const NANOSECONDS: &str = "a whole number of nanoseconds, for example 2000000000";
const SECONDS: &str = "seconds, for example 2.5";
const RATE: &str = "a bit rate, for example 40Mb/s";
const FRACTION: &str = "a fraction from 0 to 1 with at most 9 decimals, for example 0.2";
const TARGET: &str = "a fraction above 0 and up to 1 with at most 9 decimals, for example 0.95";
const BASE: &str = "a number from 1.0002 to 2 with at most 9 decimals, for example 1.05";
const PATH: &str = "the path of a file";
const MAP_KB: &str = "a count and as many pairs of bits per second and KB, for example \
                      1 100000000000 400";
const MAP_FRACTION: &str = "a count and as many pairs of bits per second and a probability, for \
                            example 1 100000000000 0.2";
const LINK_DOWN: &str = "time_us and two nodes, for example 1000 0 128, or 0 0 0 for never";
const PAYLOAD: &str = "a number of bytes from 1 to 65487, for example 1000";
const BUFFER: &str = "a whole number of MB from 1 to 2000, for example 32";

/// An entry of [`KEYS`] for a key with one value.
macro_rules! one {
    ($name:literal, $expected:expr, $parse:expr, $config:ident, $value:ident => $store:expr) => {
        Key {
            name: $name,
            read: |$config, line| {
                let $value = line.parsed($expected, $parse)?;
                $store;
                Ok(1)
            },
        }
    };
}

const KEYS: &[Key] = &[
    one!("TOPOLOGY_FILE", PATH, text, config, path => config.topology_file = Some(path)),
    one!("FLOW_FILE", PATH, text, config, path => config.flow_file = Some(path)),
    Key { name: "CC_MODE", read: cc_mode },
    Key { name: "LB_MODE", read: lb_mode },
    Key { name: "LB_POLICY", read: lb_policy },
    one!("ENABLE_QCN", FLAG, flag, config, on => config.ecn = on),
    Key { name: "KMIN_MAP", read: kmin },
    Key { name: "KMAX_MAP", read: kmax },
    Key { name: "PMAX_MAP", read: pmax },
    one!("BUFFER_SIZE", BUFFER, megabytes, config, size => config.buffer = size),
    one!("PACKET_PAYLOAD_SIZE", PAYLOAD, payload, config, size => config.payload = size),
    one!("L2_ACK_INTERVAL", COUNT, count, config, every => config.ack_interval = every),
    one!("L2_CHUNK_SIZE", "a number of bytes", bytes, config, size => config.chunk = size),
    one!("L2_BACK_TO_ZERO", FLAG, flag, config, on => config.back_to_zero = on),
    one!("ACK_HIGH_PRIO", FLAG, flag, config, on => config.ack_priority = Some(on)),
    one!("ALPHA_RESUME_INTERVAL", MICROSECONDS, microseconds, config, span => {
        config.rates.alpha_timer = span;
    }),
    one!("RATE_DECREASE_INTERVAL", MICROSECONDS, microseconds, config, span => {
        config.rates.decrease_timer = span;
    }),
    one!("RP_TIMER", MICROSECONDS, microseconds, config, span => {
        config.rates.increase_timer = span;
    }),
    one!("EWMA_GAIN", FRACTION, fraction, config, gain => config.rates.gain = gain),
    one!("FAST_RECOVERY_TIMES", "a whole number", whole, config, steps => {
        config.rates.fast_recovery_steps = steps;
    }),
    one!("RATE_AI", RATE, rate, config, rate => config.rates.additive_increase = rate),
    one!("RATE_HAI", RATE, rate, config, rate => config.rates.hyper_increase = rate),
    one!("MIN_RATE", RATE, rate, config, rate => config.rates.min_rate = rate),
    one!("DCTCP_RATE_AI", RATE, rate, config, rate => config.rates.dctcp_increase = rate),
    one!("CLAMP_TARGET_RATE", FLAG, flag, config, on => config.rates.clamp_target_rate = on),
    one!("HAS_WIN", FLAG, flag, config, on => config.window = on),
    one!("VAR_WIN", FLAG, flag, config, on => config.variable_window = on),
    one!("GLOBAL_T", FLAG, flag, config, on => config.global_round_trip = on),
    one!("U_TARGET", TARGET, target, config, part => config.telemetry.target_utilization = part),
    one!("MI_THRESH", "a whole number, for example 5", whole, config, stages => {
        config.telemetry.max_stage = stages;
    }),
    one!("FAST_REACT", FLAG, flag, config, on => config.telemetry.fast_react = on),
    one!("MULTI_RATE", FLAG, flag, config, on => config.telemetry.multiple_rates = on),
    one!("SAMPLE_FEEDBACK", FLAG, flag, config, on => config.telemetry.sample_feedback = on),
    one!("INT_MULTI", "a whole number from 1 to 65535, for example 4", multiple, config, times => {
        config.telemetry.int_multiple = times;
    }),
    one!("PINT_LOG_BASE", BASE, base, config, base => config.telemetry.pint_base = base),
    one!("PINT_PROB", TARGET, target, config, part => config.telemetry.pint_probability = part),
    one!("RATE_BOUND", FLAG, flag, config, on => config.rate_bound = on),
    one!("ENABLE_PFC", FLAG, flag, config, on => config.pfc = on),
    one!("ENABLE_IRN", FLAG, flag, config, on => config.irn = on),
    one!("ERROR_RATE_PER_LINK", "a probability from 0 to 1, for example 0.0001", error_rate,
        config, rate => config.error_rate = rate),
    Key { name: "LINK_DOWN", read: link_down },
    one!("FLOWGEN_START_TIME", SECONDS, instant, config, at => config.flowgen_start = Some(at)),
    one!("FLOWGEN_STOP_TIME", SECONDS, instant, config, at => config.flowgen_stop = Some(at)),
    one!("SIMULATOR_STOP_TIME", SECONDS, stop, config, at => config.stop = Some(at)),
    one!("QLEN_MON_START", NANOSECONDS, nanoseconds, config, at => config.queues_from = Some(at)),
    one!("QLEN_MON_END", NANOSECONDS, nanoseconds, config, at => config.queues_until = Some(at)),
    one!("ENABLE_TRACE", FLAG, flag, config, on => config.trace = on),
    one!("TRACE_FILE", PATH, text, config, path => config.trace_file = Some(path)),
    one!("PAUSE_TIME", "microseconds, for example 5", integer_part, config, us => {
        config.pause_time_us = us;
    }),
    one!("SW_MONITORING_INTERVAL", NANOSECONDS, interval, config, every => {
        config.monitor_every = every;
    }),
    one!("FCT_OUTPUT_FILE", PATH, file_name, config, name => config.outputs.fct = Some(name)),
    one!("PFC_OUTPUT_FILE", PATH, file_name, config, name => config.outputs.pfc = Some(name)),
    one!("QLEN_MON_FILE", PATH, file_name, config, name => config.outputs.queues = Some(name)),
    one!("TRACE_OUTPUT_FILE", PATH, file_name, config, name => config.outputs.trace = Some(name)),
    one!("UPLINK_MON_FILE", PATH, file_name, config, name => config.outputs.uplinks = Some(name)),
    one!("CONN_MON_FILE", PATH, file_name, config, name => {
        config.outputs.connections = Some(name);
    }),
    one!("CNP_OUTPUT_FILE", PATH, file_name, config, name => {
        config.outputs.notifications = Some(name);
    }),
    one!("RANDOM_SEED", "a whole number", whole_64, config, seed => config.seed = Some(seed)),
];

/// Attributes of the family's classes that stand for keys, because its script sets them from keys.
const ATTRIBUTES: &[(&str, &str)] = &[
    ("QbbNetDevice::PauseTime", "PAUSE_TIME"),
    ("QbbNetDevice::QcnEnabled", "ENABLE_QCN"),
    ("RdmaHw::AlphaResumInterval", "ALPHA_RESUME_INTERVAL"),
    ("RdmaHw::CcMode", "CC_MODE"),
    ("RdmaHw::ClampTargetRate", "CLAMP_TARGET_RATE"),
    ("RdmaHw::DctcpRateAI", "DCTCP_RATE_AI"),
    ("RdmaHw::EwmaGain", "EWMA_GAIN"),
    ("RdmaHw::FastReact", "FAST_REACT"),
    ("RdmaHw::FastRecoveryTimes", "FAST_RECOVERY_TIMES"),
    ("RdmaHw::L2AckInterval", "L2_ACK_INTERVAL"),
    ("RdmaHw::L2BackToZero", "L2_BACK_TO_ZERO"),
    ("RdmaHw::L2ChunkSize", "L2_CHUNK_SIZE"),
    ("RdmaHw::MiThresh", "MI_THRESH"),
    ("RdmaHw::MinRate", "MIN_RATE"),
    ("RdmaHw::Mtu", "PACKET_PAYLOAD_SIZE"),
    ("RdmaHw::MultiRate", "MULTI_RATE"),
    ("RdmaHw::RPTimer", "RP_TIMER"),
    ("RdmaHw::RateAI", "RATE_AI"),
    ("RdmaHw::RateBound", "RATE_BOUND"),
    ("RdmaHw::RateDecreaseInterval", "RATE_DECREASE_INTERVAL"),
    ("RdmaHw::RateHAI", "RATE_HAI"),
    ("RdmaHw::SampleFeedback", "SAMPLE_FEEDBACK"),
    ("RdmaHw::TargetUtil", "U_TARGET"),
    ("RdmaHw::VarWin", "VAR_WIN"),
    ("SwitchNode::AckHighPrio", "ACK_HIGH_PRIO"),
    ("SwitchNode::PfcEnabled", "ENABLE_PFC"),
];

/// Known keys without an effect here, from the scripts of HPCC, ConWeave and ASTRA-sim's network.
const IRRELEVANT: &[&str] = &[
    "CONWEAVE_DEFAULT_VOQ_WAITING_TIME",
    "CONWEAVE_EXTRA_VOQ_FLUSH_TIME",
    "CONWEAVE_PATH_PAUSE_TIME",
    "CONWEAVE_REPLY_TIMEOUT_EXTRA",
    "CONWEAVE_TX_EXPIRY_TIME",
    "DATA_RATE",
    "EST_ERROR_MON_FILE",
    "FLOW_INPUT_FILE",
    "LINK_DELAY",
    "LOAD",
    "NIC_TOTAL_PAUSE_TIME",
    "USE_DYNAMIC_PFC_THRESHOLD",
    "VOQ_MON_DETAIL_FILE",
    "VOQ_MON_FILE",
];

fn text(text: &str) -> Option<String> {
    Some(text.to_owned())
}

fn whole(text: &str) -> Option<u32> {
    text.parse().ok()
}

fn whole_64(text: &str) -> Option<u64> {
    text.parse().ok()
}

/// Parses a number with decimals; the family reads only the integer part. ConWeave's `run.py`
/// writes seconds (`2.0`) where its simulator reads nanoseconds.
fn integer_part(text: &str) -> Option<u64> {
    let (whole, rest) = text.split_once('.').unwrap_or((text, ""));
    whole_64(whole).filter(|_| rest.bytes().all(|byte| byte.is_ascii_digit()))
}

fn nanoseconds(text: &str) -> Option<Time> {
    integer_part(text)?.checked_mul(1_000).map(Time::from_ps)
}

fn interval(text: &str) -> Option<Span> {
    let ns = whole_64(text).filter(|&ns| ns > 0)?;
    ns.checked_mul(1_000).map(Span::from_ps)
}

/// Returns the file name of a path, which becomes a name in the results folder. File systems allow
/// 255 bytes.
fn file_name(text: &str) -> Option<String> {
    let name = Path::new(text).file_name()?.to_str()?;
    Some(name.to_owned()).filter(|name| name.len() <= 255)
}

/// Parses a fraction above 0.
fn target(text: &str) -> Option<Fraction> {
    fraction(text).filter(|part| part.numerator() > 0)
}

/// Parses a base of powers, in steps of 10^-9.
fn base(text: &str) -> Option<Fraction> {
    let billionths = decimal(text, 9).ok().and_then(|steps| u32::try_from(steps).ok())?;
    let valid = (1_000_200_000..=2_000_000_000).contains(&billionths);
    valid.then(|| Fraction::new(billionths, 1_000_000_000)).flatten()
}

fn multiple(text: &str) -> Option<u16> {
    text.parse().ok().filter(|&times| times > 0)
}

fn count(text: &str) -> Option<u32> {
    whole(text).filter(|&count| count > 0)
}

fn bytes(text: &str) -> Option<Bytes> {
    whole_64(text).map(Bytes::new)
}

/// Parses MB of 2^20 bytes: the family counts buffers so, although its thresholds are in KB of
/// 1000.
fn megabytes(text: &str) -> Option<Bytes> {
    // Queue lengths are 32-bit counters, so a buffer must stay below 4 GB.
    let megabytes = whole_64(text).filter(|count| (1..=2_000).contains(count))?;
    Some(Bytes::new(megabytes << 20))
}

fn payload(text: &str) -> Option<Bytes> {
    bytes(text).filter(|&size| size > Bytes::ZERO && size <= wire::PAYLOAD_MAX)
}

/// Parses a probability in steps of 10^-12. A finer one is rounded up to one step, which amounts to
/// less than one loss in any run.
fn error_rate(text: &str) -> Option<u64> {
    match decimal(text, 12) {
        Ok(rate) => Some(rate).filter(|&rate| rate <= 1_000_000_000_000),
        Err(DecimalError::TooFine) => Some(1),
        Err(_) => None,
    }
}

/// Parses a time. Beyond the range of [`Time`] it becomes the latest one; no run lasts that long.
fn stop(text: &str) -> Option<Time> {
    match decimal(text, 12) {
        Err(DecimalError::TooLarge) => Some(Time::NEVER),
        read => read.ok().map(Time::from_ps),
    }
}

fn cc_mode(config: &mut HpccConfig, line: &Line) -> Result<usize, ConfigError> {
    let value = line.parsed(WHOLE, whole)?;
    config.cc_mode = WithLine { line: line.number, value };
    Ok(1)
}

fn lb_mode(config: &mut HpccConfig, line: &Line) -> Result<usize, ConfigError> {
    let value = line.parsed(LB_MODES, whole)?;
    config.lb_mode = Some(WithLine { line: line.number, value });
    Ok(1)
}

fn lb_policy(config: &mut HpccConfig, line: &Line) -> Result<usize, ConfigError> {
    let value = line.parsed("the name of a policy, for example ecmp", text)?;
    config.lb_policy = Some(WithLine { line: line.number, value });
    Ok(1)
}

fn kmin(config: &mut HpccConfig, line: &Line) -> Result<usize, ConfigError> {
    config.thresholds.kmin = line.map(MAP_KB, kilobytes)?;
    Ok(1 + 2 * config.thresholds.kmin.len())
}

fn kmax(config: &mut HpccConfig, line: &Line) -> Result<usize, ConfigError> {
    config.thresholds.kmax = line.map(MAP_KB, kilobytes)?;
    Ok(1 + 2 * config.thresholds.kmax.len())
}

fn pmax(config: &mut HpccConfig, line: &Line) -> Result<usize, ConfigError> {
    config.thresholds.pmax = line.map(MAP_FRACTION, fraction)?;
    Ok(1 + 2 * config.thresholds.pmax.len())
}

fn link_down(config: &mut HpccConfig, line: &Line) -> Result<usize, ConfigError> {
    line.first(LINK_DOWN)?;
    let invalid = || line.invalid(&line.values.join(" "), LINK_DOWN);
    let [at, a, b] = *line.values.first_chunk().ok_or_else(invalid)?;
    let after = decimal(at, 6).map(Span::from_ps).map_err(|_| invalid())?;
    let ends = [whole(a).ok_or_else(invalid)?, whole(b).ok_or_else(invalid)?];
    let down = LinkDown { line: line.number, after, ends };
    config.link_down = Some(down).filter(|down| down.after > Span::ZERO);
    Ok(3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_key_is_listed_twice() {
        let mut names: Vec<&str> = KEYS.iter().map(|key| key.name).collect();
        names.extend(IRRELEVANT);
        names.extend(OF_NS3_RDMA);
        names.extend(ATTRIBUTES.iter().map(|(attribute, _)| attribute));
        assert!(ATTRIBUTES.iter().all(|(_, key)| find(key).is_some()));
        names.sort_unstable();
        let count = names.len();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
