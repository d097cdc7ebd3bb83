//! Reads a configuration line by line.

use super::keys;
use super::line::{ConfigError, Line};
use super::settings::HpccConfig;

/// Reads a configuration; `file` is its name in error messages.
///
/// # Errors
/// Fails with the first value that is missing or invalid: its line, its key and what is expected.
pub fn read(text: &str, file: &str) -> Result<HpccConfig, ConfigError> {
    if let Some(policy) = policy_of_workload(text) {
        return Err(ConfigError::Workload { file: file.to_owned(), policy: policy.to_owned() });
    }
    let mut config = HpccConfig::new(file);
    let mut seen: Vec<(&str, usize)> = Vec::new();
    for line in Line::all(text, file) {
        if keys::is_irrelevant(line.key) {
            continue;
        }
        let line = line.without_attribute()?;
        let number = line.number;
        if keys::OF_NS3_RDMA.contains(&line.key) {
            let (file, key) = (file.to_owned(), line.key.to_owned());
            return Err(ConfigError::Parent { file, line: number, key });
        }
        let Some(key) = keys::find(line.key) else {
            let warning =
                format!("{file}:{number}: unknown key '{}'; the line is ignored", line.key);
            config.warnings.push(warning);
            continue;
        };
        if let Some((_, first)) = seen.iter().find(|(name, _)| *name == key.name) {
            config.warnings.push(format!(
                "{file}:{number}: {} is repeated (first in line {first}); the last value is used",
                key.name
            ));
        }
        seen.push((key.name, number));
        let used = (key.read)(&mut config, &line)?;
        if let Some(surplus) = line.values.get(used) {
            config
                .warnings
                .push(format!("{file}:{number}: {}: extra value '{surplus}' is ignored", key.name));
        }
    }
    Ok(config)
}

/// Returns the first word if the text is a workload of ASTRA-sim 1.0. In those, the second line has
/// only the number of layers.
fn policy_of_workload(text: &str) -> Option<&str> {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let policy = lines.next()?.split_whitespace().next()?;
    let is_known = keys::find(policy).is_some() || keys::is_irrelevant(policy);
    let is_count = lines.next()?.parse::<u64>().is_ok();
    (!is_known && is_count && policy.starts_with(char::is_alphabetic)).then_some(policy)
}

#[cfg(test)]
mod tests {
    use super::super::{Family, HpccConfig};
    use super::*;
    use crate::units::{BitRate, Bytes, Span, Time};

    const SAMPLE: &str = "\
PACKET_PAYLOAD_SIZE 1000 {packet size (bytes)}

TOPOLOGY_FILE mix/topology.txt # which network
FLOW_FILE mix/flow.txt
FCT_OUTPUT_FILE mix/fct.txt
SIMULATOR_STOP_TIME 4.00
CC_MODE 8
RP_TIMER 900
EWMA_GAIN 0.0625
RATE_AI 50Mb/s
MIN_RATE 1000000000
LINK_DOWN 12.5 3 0
KMIN_MAP 2 25000000000 100 100000000000 400
PMAX_MAP 1 100000000000 0.20
BUFFER_SIZE 32
ACK_HIGH_PRIO 1
LB_POLICY ethereal
";

    #[test]
    fn every_value_is_read_in_the_unit_of_its_key() {
        let config = read(SAMPLE, "config.txt").unwrap();
        assert_eq!(config.warnings, Vec::<String>::new());
        assert_eq!(config.topology_file.as_deref(), Some("mix/topology.txt"));
        assert_eq!((config.cc_mode.value, config.ack_priority), (8, Some(true)));
        assert_eq!(config.stop, Some(Time::from_ps(4_000_000_000_000)));
        assert_eq!(config.rates.increase_timer, Span::from_us(900));
        assert_eq!(config.rates.gain.as_f64(), 1.0 / 16.0);
        assert_eq!(config.rates.additive_increase, BitRate::from_bps(50_000_000));
        assert_eq!(config.rates.min_rate, BitRate::from_gbps(1));
        assert_eq!(config.buffer, Bytes::new(32 * 1_048_576));
        let link_down = config.link_down.unwrap();
        assert_eq!((link_down.after, link_down.ends), (Span::from_ns(12_500), [3, 0]));
        assert_eq!(
            config.thresholds.kmin,
            [
                (BitRate::from_gbps(25), Bytes::new(100_000)),
                (BitRate::from_gbps(100), Bytes::new(400_000))
            ]
        );
        assert_eq!(config.thresholds.pmax[0].1.as_f64(), 0.2);
        assert_eq!(config.lb_policy.as_ref().map(|policy| policy.line), Some(17));
        assert_eq!(config.family(), Family::Hpcc);
    }

    #[test]
    fn an_empty_file_gives_defaults() {
        assert_eq!(read("\n# nothing\n", "c").unwrap(), HpccConfig::new("c"));
    }

    #[test]
    fn ignored_lines_and_values_give_warnings() {
        let text = "CC_MOD 1 2 3\nCC_MODE 1 3\nCC_MODE 8\nLINK_DOWN 0 0 0\nFLOWGEN_START_TIME 2.0";
        let config = read(text, "c").unwrap();
        assert_eq!(
            config.warnings,
            [
                "c:1: unknown key 'CC_MOD'; the line is ignored",
                "c:2: CC_MODE: extra value '3' is ignored",
                "c:3: CC_MODE is repeated (first in line 2); the last value is used",
            ]
        );
        assert_eq!((config.cc_mode.value, config.link_down), (8, None));
        assert_eq!(config.family(), Family::ConWeave);
    }

    #[test]
    fn a_stop_time_out_of_range_becomes_the_latest_time() {
        let config = read("SIMULATOR_STOP_TIME 40000000000000.00", "c").unwrap();
        assert_eq!(config.stop, Some(Time::NEVER));
    }

    #[test]
    fn each_error_names_file_line_key_value_and_what_is_expected() {
        for (text, expected) in [
            (
                "\nCC_MODE",
                "c:2: CC_MODE has no value; expected a whole number, for example CC_MODE 1",
            ),
            (
                "CC_MODE x",
                "c:1: CC_MODE: invalid value 'x'; expected a whole number, for example CC_MODE 1",
            ),
            ("CC_MODE -1", "c:1: CC_MODE: invalid value '-1'"),
            (
                "BUFFER_SIZE 17592186044416",
                "c:1: BUFFER_SIZE: invalid value '17592186044416'; expected",
            ),
            (
                "BUFFER_SIZE 2001",
                "c:1: BUFFER_SIZE: invalid value '2001'; expected a whole number of MB",
            ),
            (
                "BUFFER_SIZE 0",
                "c:1: BUFFER_SIZE: invalid value '0'; expected a whole number of MB from 1",
            ),
            (
                "PACKET_PAYLOAD_SIZE 0",
                "c:1: PACKET_PAYLOAD_SIZE: invalid value '0'; expected a number of",
            ),
            ("PACKET_PAYLOAD_SIZE 65488", "c:1: PACKET_PAYLOAD_SIZE: invalid value '65488'"),
            (
                "L2_ACK_INTERVAL 0",
                "c:1: L2_ACK_INTERVAL: invalid value '0'; expected a whole number from",
            ),
            ("ENABLE_QCN yes", "c:1: ENABLE_QCN: invalid value 'yes'; expected 0 or 1"),
            ("RATE_AI 50Mq/s", "c:1: RATE_AI: invalid value '50Mq/s'; expected a bit rate"),
            ("RP_TIMER -1", "c:1: RP_TIMER: invalid value '-1'; expected microseconds"),
            ("RP_TIMER 0", "c:1: RP_TIMER: invalid value '0'; expected microseconds"),
            ("EWMA_GAIN 2", "c:1: EWMA_GAIN: invalid value '2'; expected a fraction"),
            ("KMIN_MAP", "c:1: KMIN_MAP has no value; expected a count and as many pairs"),
            (
                "KMIN_MAP 2 100 400",
                "c:1: KMIN_MAP: invalid value '2 100 400'; expected a count and as",
            ),
            (
                "KMIN_MAP 1 100Gbps 400",
                "c:1: KMIN_MAP: invalid value '100Gbps'; expected a count and as",
            ),
            ("KMAX_MAP 99999999999999 1 1", "c:1: KMAX_MAP: invalid value '99999999999999 1 1'"),
            ("PMAX_MAP 1 100 1.5", "c:1: PMAX_MAP: invalid value '1.5'"),
            (
                "LINK_DOWN 5 1",
                "c:1: LINK_DOWN: invalid value '5 1'; expected time_us and two nodes",
            ),
            ("ERROR_RATE_PER_LINK 1.1", "c:1: ERROR_RATE_PER_LINK: invalid value '1.1'"),
        ] {
            let said = read(text, "c").unwrap_err().to_string();
            assert!(said.starts_with(expected), "{text:?}: {said}");
        }
    }
}
