//! The keys of `config.txt`: a line each.

use std::path::Path;

use super::line::{ConfigError, Entry, instant, kilobytes, microseconds, part, rate, switch};
use super::settings::{HpccConfig, LinkDown, Numbered};
use crate::hpcc::wire;
use crate::units::{Bytes, DecimalError, Span, Time, decimal};

/// A key and how its line is read; reading says how many values it used.
pub(super) struct Key {
    pub name: &'static str,
    pub read: fn(&mut HpccConfig, &Entry) -> Result<usize, ConfigError>,
}

/// The key of that name, if it matters here.
pub(super) fn find(name: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.name == name)
}

/// True for keys of the family that change nothing here: files that it writes, monitors, and
/// parameters of controls that are not held (their `CC_MODE` or `LB_MODE` is told of instead).
pub(super) fn is_irrelevant(name: &str) -> bool {
    IRRELEVANT.contains(&name)
}

const FLAG: &str = "write 0 or 1";
const WHOLE: &str = "write a whole number, for example CC_MODE 1";
const COUNT: &str = "write a whole number from 1, for example 1";
const MICROSECONDS: &str = "write microseconds, more than 0, for example 55";
const NANOSECONDS: &str = "write a whole number of nanoseconds, for example 2000000000";
const SECONDS: &str = "write seconds, for example 2.5";
const RATE: &str = "write a bit rate, for example 40Mb/s";
const PART: &str = "write a fraction from 0 to 1 with at most 9 decimals, for example 0.2";
const PATH: &str = "write the path of a file";
const MAP_KB: &str = "write a count and as many pairs of bits per second and KB, for example \
                      1 100000000000 400";
const MAP_PART: &str = "write a count and as many pairs of bits per second and a probability, for \
                        example 1 100000000000 0.2";
const LINK_DOWN: &str = "write time_us and two nodes, for example 1000 0 128, or 0 0 0 for never";
const BUFFER: &str = "write a whole number of MB from 1 to 2000, for example 32";

/// A line of [`KEYS`] for a key with one value.
macro_rules! one {
    ($name:literal, $right:expr, $parse:expr, $config:ident, $value:ident => $store:expr) => {
        Key {
            name: $name,
            read: |$config, entry| {
                let $value = entry.parsed($right, $parse)?;
                $store;
                Ok(1)
            },
        }
    };
}

const KEYS: &[Key] = &[
    one!("TOPOLOGY_FILE", PATH, text, config, path => config.topology_file = Some(path)),
    one!("FLOW_FILE", PATH, text, config, path => config.flow_file = Some(path)),
    one!("CC_MODE", WHOLE, whole, config, mode => config.cc_mode = mode),
    Key { name: "LB_MODE", read: lb_mode },
    Key { name: "LB_POLICY", read: lb_policy },
    one!("ENABLE_QCN", FLAG, switch, config, on => config.ecn = on),
    Key { name: "KMIN_MAP", read: kmin },
    Key { name: "KMAX_MAP", read: kmax },
    Key { name: "PMAX_MAP", read: pmax },
    one!("BUFFER_SIZE", BUFFER, megabytes, config, size => config.buffer = size),
    one!("PACKET_PAYLOAD_SIZE", wire::PAYLOAD_RIGHT, payload, config, size => config.payload = size),
    one!("L2_ACK_INTERVAL", COUNT, count, config, every => config.ack_interval = every),
    one!("L2_CHUNK_SIZE", "write a number of bytes", bytes, config, size => config.chunk = size),
    one!("L2_BACK_TO_ZERO", FLAG, switch, config, on => config.back_to_zero = on),
    one!("ACK_HIGH_PRIO", FLAG, switch, config, on => config.ack_priority = Some(on)),
    one!("ALPHA_RESUME_INTERVAL", MICROSECONDS, microseconds, config, span => {
        config.rates.alpha_timer = span;
    }),
    one!("RATE_DECREASE_INTERVAL", MICROSECONDS, microseconds, config, span => {
        config.rates.decrease_timer = span;
    }),
    one!("RP_TIMER", MICROSECONDS, microseconds, config, span => {
        config.rates.increase_timer = span;
    }),
    one!("EWMA_GAIN", PART, part, config, gain => config.rates.gain = gain),
    one!("FAST_RECOVERY_TIMES", "write a whole number", whole, config, steps => {
        config.rates.fast_recovery_steps = steps;
    }),
    one!("RATE_AI", RATE, rate, config, rate => config.rates.additive_increase = rate),
    one!("RATE_HAI", RATE, rate, config, rate => config.rates.hyper_increase = rate),
    one!("MIN_RATE", RATE, rate, config, rate => config.rates.min_rate = rate),
    one!("DCTCP_RATE_AI", RATE, rate, config, rate => config.rates.dctcp_increase = rate),
    one!("CLAMP_TARGET_RATE", FLAG, switch, config, on => config.rates.clamp_target_rate = on),
    one!("HAS_WIN", FLAG, switch, config, on => config.window = on),
    one!("RATE_BOUND", FLAG, switch, config, on => config.rate_bound = on),
    one!("ENABLE_PFC", FLAG, switch, config, on => config.pfc = on),
    one!("ENABLE_IRN", FLAG, switch, config, on => config.irn = on),
    one!("ERROR_RATE_PER_LINK", "write a probability from 0 to 1, for example 0.0001", error_rate,
        config, rate => config.error_rate = rate),
    Key { name: "LINK_DOWN", read: link_down },
    one!("FLOWGEN_START_TIME", SECONDS, instant, config, at => config.flowgen_start = Some(at)),
    one!("FLOWGEN_STOP_TIME", SECONDS, instant, config, at => config.flowgen_stop = Some(at)),
    one!("SIMULATOR_STOP_TIME", SECONDS, stop, config, at => config.stop = Some(at)),
    one!("QLEN_MON_START", NANOSECONDS, nanoseconds, config, at => config.queues_from = Some(at)),
    one!("QLEN_MON_END", NANOSECONDS, nanoseconds, config, at => config.queues_until = Some(at)),
    one!("ENABLE_TRACE", FLAG, switch, config, on => config.trace = on),
    one!("TRACE_FILE", PATH, text, config, path => config.trace_file = Some(path)),
    one!("PAUSE_TIME", "write microseconds, for example 5", whole_part, config, us => {
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
    one!("RANDOM_SEED", "write a whole number", whole_64, config, seed => config.seed = Some(seed)),
];

/// From the scripts of HPCC, ConWeave and ASTRA-sim's network.
const IRRELEVANT: &[&str] = &[
    "CONWEAVE_DEFAULT_VOQ_WAITING_TIME",
    "CONWEAVE_EXTRA_VOQ_FLUSH_TIME",
    "CONWEAVE_PATH_PAUSE_TIME",
    "CONWEAVE_REPLY_TIMEOUT_EXTRA",
    "CONWEAVE_TX_EXPIRY_TIME",
    "DATA_RATE",
    "EST_ERROR_MON_FILE",
    "FAST_REACT",
    "FLOW_INPUT_FILE",
    "GLOBAL_T",
    "INT_MULTI",
    "LINK_DELAY",
    "LOAD",
    "MI_THRESH",
    "MULTI_RATE",
    "NIC_TOTAL_PAUSE_TIME",
    "PINT_LOG_BASE",
    "PINT_PROB",
    "SAMPLE_FEEDBACK",
    "USE_DYNAMIC_PFC_THRESHOLD",
    "U_TARGET",
    "VAR_WIN",
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

/// A number of which the family reads the whole part alone: ConWeave's `run.py` writes seconds
/// (`2.0`) where its simulator reads nanoseconds.
fn whole_part(text: &str) -> Option<u64> {
    let (whole, rest) = text.split_once('.').unwrap_or((text, ""));
    whole_64(whole).filter(|_| rest.bytes().all(|byte| byte.is_ascii_digit()))
}

fn nanoseconds(text: &str) -> Option<Time> {
    whole_part(text)?.checked_mul(1_000).map(Time::from_ps)
}

fn interval(text: &str) -> Option<Span> {
    let ns = whole_64(text).filter(|&ns| ns > 0)?;
    ns.checked_mul(1_000).map(Span::from_ps)
}

/// The file name of a path; it becomes a name in the folder of results, and file systems take 255
/// bytes.
fn file_name(text: &str) -> Option<String> {
    let name = Path::new(text).file_name()?.to_str()?;
    Some(name.to_owned()).filter(|name| name.len() <= 255)
}

fn count(text: &str) -> Option<u32> {
    whole(text).filter(|&count| count > 0)
}

fn bytes(text: &str) -> Option<Bytes> {
    whole_64(text).map(Bytes::new)
}

/// The family counts MB of 2^20 bytes here, though KB of 1000 for thresholds.
fn megabytes(text: &str) -> Option<Bytes> {
    // Lengths of queues are counted in 32 bits.
    let megabytes = whole_64(text).filter(|count| (1..=2_000).contains(count))?;
    Some(Bytes::new(megabytes << 20))
}

fn payload(text: &str) -> Option<Bytes> {
    bytes(text).filter(|&size| size > Bytes::ZERO && size <= wire::PAYLOAD_MAX)
}

/// A probability in steps of 10^-12; what is finer is less than one loss in any run.
fn error_rate(text: &str) -> Option<u64> {
    match decimal(text, 12) {
        Ok(rate) => Some(rate).filter(|&rate| rate <= 1_000_000_000_000),
        Err(DecimalError::TooFine) => Some(1),
        Err(_) => None,
    }
}

/// A configuration may ask for more time than can be held; no run gets there.
fn stop(text: &str) -> Option<Time> {
    match decimal(text, 12) {
        Err(DecimalError::TooLarge) => Some(Time::NEVER),
        read => read.ok().map(Time::from_ps),
    }
}

fn lb_mode(config: &mut HpccConfig, entry: &Entry) -> Result<usize, ConfigError> {
    let value = entry.parsed("write 0 for ECMP", whole)?;
    config.lb_mode = Some(Numbered { line: entry.line, value });
    Ok(1)
}

fn lb_policy(config: &mut HpccConfig, entry: &Entry) -> Result<usize, ConfigError> {
    let value = entry.parsed("write the name of a policy, for example ecmp", text)?;
    config.lb_policy = Some(Numbered { line: entry.line, value });
    Ok(1)
}

fn kmin(config: &mut HpccConfig, entry: &Entry) -> Result<usize, ConfigError> {
    config.thresholds.kmin = entry.map(MAP_KB, kilobytes)?;
    Ok(1 + 2 * config.thresholds.kmin.len())
}

fn kmax(config: &mut HpccConfig, entry: &Entry) -> Result<usize, ConfigError> {
    config.thresholds.kmax = entry.map(MAP_KB, kilobytes)?;
    Ok(1 + 2 * config.thresholds.kmax.len())
}

fn pmax(config: &mut HpccConfig, entry: &Entry) -> Result<usize, ConfigError> {
    config.thresholds.pmax = entry.map(MAP_PART, part)?;
    Ok(1 + 2 * config.thresholds.pmax.len())
}

fn link_down(config: &mut HpccConfig, entry: &Entry) -> Result<usize, ConfigError> {
    entry.first(LINK_DOWN)?;
    let fault = || entry.wrong(&entry.values.join(" "), LINK_DOWN);
    let [at, a, b] = *entry.values.first_chunk().ok_or_else(fault)?;
    let after = decimal(at, 6).map(Span::from_ps).map_err(|_| fault())?;
    let ends = [whole(a).ok_or_else(fault)?, whole(b).ok_or_else(fault)?];
    let down = LinkDown { line: entry.line, after, ends };
    config.link_down = Some(down).filter(|down| down.after > Span::ZERO);
    Ok(3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_key_is_named_twice() {
        let mut names: Vec<&str> = KEYS.iter().map(|key| key.name).collect();
        names.extend(IRRELEVANT);
        names.sort_unstable();
        let count = names.len();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
