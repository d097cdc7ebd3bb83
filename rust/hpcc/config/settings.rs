//! `config.txt`: what an experiment of the HPCC family is set to.
//!
//! A line is a key and its values; lines may stand in any order, the last of a repeated key
//! counts, and what follows a `#` or a `{` (as in the family's own documented sample) is a
//! comment. Units depend on the key and are those of the field here. Keys that this project has
//! no use for (output files, monitors, parameters of controls that are not held) are known by
//! name and skipped; a key that is not known is skipped with a warning.

use super::keys;
use super::line::{ConfigError, Entry};
use crate::units::{BitRate, Bytes, Fraction, Span, Time};

/// A configuration, with the family's or this project's defaults where the file says nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HpccConfig {
    /// What the file is called in errors.
    pub file: String,
    /// `TOPOLOGY_FILE`, as written.
    pub topology_file: Option<String>,
    /// `FLOW_FILE`, as written.
    pub flow_file: Option<String>,
    /// `CC_MODE`: 1 DCQCN (ConnectX form), 3 HPCC, 7 TIMELY, 8 DCTCP, 10 HPCC-PINT. Default 1.
    pub cc_mode: u32,
    /// `LB_MODE` of ConWeave: 0 ECMP, 2 DRILL, 3 CONGA, 6 LetFlow, 9 ConWeave.
    pub lb_mode: Option<Numbered<u32>>,
    /// `LB_POLICY`, this project's own key: the name of a policy.
    pub lb_policy: Option<Numbered<String>>,
    /// `ENABLE_QCN`: whether switches mark. Default yes.
    pub ecn: bool,
    /// `KMIN_MAP`, `KMAX_MAP`, `PMAX_MAP`: thresholds by the bit rate of the port.
    pub thresholds: Thresholds,
    /// `BUFFER_SIZE`: packet memory of a switch; the file's MB are 2^20 bytes. Default 16 MB.
    pub buffer: Bytes,
    /// `PACKET_PAYLOAD_SIZE`, bytes. Default 1000.
    pub payload: Bytes,
    /// `L2_ACK_INTERVAL`: packets an acknowledgement. Default 1.
    pub ack_interval: u32,
    /// `L2_CHUNK_SIZE`, bytes: an acknowledgement at each multiple. Default 4000.
    pub chunk: Bytes,
    /// `L2_BACK_TO_ZERO`: whether a loss restarts from the chunk's border. Default no.
    pub back_to_zero: bool,
    /// `ACK_HIGH_PRIO`: whether acknowledgements go before data in switches. By default as the
    /// simulator of that form does it: ConWeave's yes, HPCC's no.
    pub ack_priority: Option<bool>,
    /// Parameters of rate control.
    pub rates: RateKeys,
    /// `HAS_WIN`: a window of a bandwidth-delay product beside the rate. Default yes.
    pub window: bool,
    /// `RATE_BOUND`: whether the rate limits sending. Default yes.
    pub rate_bound: bool,
    /// `ENABLE_PFC`. Default yes.
    pub pfc: bool,
    /// `ENABLE_IRN`: selective repeat. Default no.
    pub irn: bool,
    /// `ERROR_RATE_PER_LINK`: the probability that a link loses a packet, in 10^-12. Default 0.
    pub error_rate: u64,
    /// `LINK_DOWN time_us a b`; `None` for a time of 0, which means never.
    pub link_down: Option<LinkDown>,
    /// `FLOWGEN_START_TIME` of ConWeave.
    pub flowgen_start: Option<Time>,
    /// `FLOWGEN_STOP_TIME` of ConWeave.
    pub flowgen_stop: Option<Time>,
    /// `SIMULATOR_STOP_TIME`; a time that 64 bits of picoseconds do not hold is the last one
    /// that they do.
    pub stop: Option<Time>,
    /// `QLEN_MON_START`: from when on queues are looked at, for the family's `qlen.txt`.
    pub queues_from: Option<Time>,
    /// `QLEN_MON_END`: until when.
    pub queues_until: Option<Time>,
    /// `RANDOM_SEED` of ConWeave.
    pub seed: Option<u64>,
    /// `ENABLE_TRACE`: whether what happens to packets is written down. Default yes.
    pub trace: bool,
    /// `TRACE_FILE`, as written: which nodes' packets.
    pub trace_file: Option<String>,
    /// `PAUSE_TIME`: what pause frames say in the trace, whole microseconds; nothing else comes
    /// of it, because a pause lasts until it is taken back. Default 5.
    pub pause_time_us: u64,
    /// `SW_MONITORING_INTERVAL` of ConWeave: how often uplinks and connections are looked at.
    /// Default 10 us.
    pub monitor_every: Span,
    /// What the files are called that it writes.
    pub outputs: Outputs,
    /// Unknown keys, repeated keys, spare values.
    pub warnings: Vec<String>,
}

/// Files that an experiment writes, by the names that its configuration gives; of each path the
/// file name alone, because results are all written into one folder.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Outputs {
    /// `FCT_OUTPUT_FILE`.
    pub fct: Option<String>,
    /// `PFC_OUTPUT_FILE`.
    pub pfc: Option<String>,
    /// `QLEN_MON_FILE`.
    pub queues: Option<String>,
    /// `TRACE_OUTPUT_FILE`.
    pub trace: Option<String>,
    /// `UPLINK_MON_FILE` of ConWeave.
    pub uplinks: Option<String>,
    /// `CONN_MON_FILE` of ConWeave.
    pub connections: Option<String>,
    /// `CNP_OUTPUT_FILE` of ConWeave.
    pub notifications: Option<String>,
}

/// A value and the line that it is from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Numbered<T> {
    /// The line, counted from 1.
    pub line: usize,
    /// The value.
    pub value: T,
}

/// Marking thresholds by the bit rate of the port.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Thresholds {
    /// Where marking starts; the file's KB are 1000 bytes (`SwitchMmu::ConfigEcn`).
    pub kmin: Vec<(BitRate, Bytes)>,
    /// Above this, every packet is marked.
    pub kmax: Vec<(BitRate, Bytes)>,
    /// The probability just below `kmax`.
    pub pmax: Vec<(BitRate, Fraction)>,
}

/// Parameters of rate control; the defaults are those of the family's sample for 100 Gbps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RateKeys {
    /// `ALPHA_RESUME_INTERVAL`, microseconds. Default 1.
    pub alpha_timer: Span,
    /// `RATE_DECREASE_INTERVAL`, microseconds. Default 4.
    pub decrease_timer: Span,
    /// `RP_TIMER`, microseconds. Default 300.
    pub increase_timer: Span,
    /// `EWMA_GAIN`. Default 1/256.
    pub gain: Fraction,
    /// `FAST_RECOVERY_TIMES`. Default 1.
    pub fast_recovery_steps: u32,
    /// `RATE_AI`. Default 50 Mbps.
    pub additive_increase: BitRate,
    /// `RATE_HAI`. Default 100 Mbps.
    pub hyper_increase: BitRate,
    /// `MIN_RATE`. Default 100 Mbps.
    pub min_rate: BitRate,
    /// `DCTCP_RATE_AI`. Default 1 Gbps.
    pub dctcp_increase: BitRate,
    /// `CLAMP_TARGET_RATE`. Default no.
    pub clamp_target_rate: bool,
}

/// `LINK_DOWN time_us a b`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LinkDown {
    /// The line, counted from 1.
    pub line: usize,
    /// How long after flows may start: after 2 s in HPCC, after `FLOWGEN_START_TIME` in ConWeave.
    pub after: Span,
    /// The nodes at its ends.
    pub ends: [u32; 2],
}

/// Whose simulator a configuration is written for, where they differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// HPCC and the descendants that keep its form.
    Hpcc,
    /// ConWeave: it has `LB_MODE` or `FLOWGEN_START_TIME`.
    ConWeave,
}

/// Reads a configuration; `file` is what errors call it.
///
/// # Errors
/// The first value that is missing or cannot be, with its line, its key and what would be right.
pub fn read(text: &str, file: &str) -> Result<HpccConfig, ConfigError> {
    let mut config = HpccConfig::new(file);
    let mut seen: Vec<(&str, usize)> = Vec::new();
    for entry in Entry::all(text, file) {
        if keys::is_irrelevant(entry.key) {
            continue;
        }
        let Some(key) = keys::find(entry.key) else {
            config.warnings.push(format!(
                "{file}:{}: '{}' is no key that evenkeel knows; the line is skipped",
                entry.line, entry.key
            ));
            continue;
        };
        if let Some((_, line)) = seen.iter().find(|(name, _)| *name == key.name) {
            config.warnings.push(format!(
                "{file}:{}: {} is also in line {line}; the last one counts",
                entry.line, key.name
            ));
        }
        seen.push((key.name, entry.line));
        let used = (key.read)(&mut config, &entry)?;
        if let Some(spare) = entry.values.get(used) {
            config.warnings.push(format!(
                "{file}:{}: '{spare}' behind the value of {} is skipped",
                entry.line, key.name
            ));
        }
    }
    Ok(config)
}

impl HpccConfig {
    /// A configuration of nothing but defaults.
    fn new(file: &str) -> Self {
        Self {
            file: file.to_owned(),
            topology_file: None,
            flow_file: None,
            cc_mode: 1,
            lb_mode: None,
            lb_policy: None,
            ecn: true,
            thresholds: Thresholds::default(),
            buffer: Bytes::new(16 << 20),
            payload: Bytes::new(1_000),
            ack_interval: 1,
            chunk: Bytes::new(4_000),
            back_to_zero: false,
            ack_priority: None,
            rates: RateKeys::default(),
            window: true,
            rate_bound: true,
            pfc: true,
            irn: false,
            error_rate: 0,
            link_down: None,
            flowgen_start: None,
            flowgen_stop: None,
            stop: None,
            queues_from: None,
            queues_until: None,
            seed: None,
            trace: true,
            trace_file: None,
            pause_time_us: 5,
            monitor_every: Span::from_us(10),
            outputs: Outputs::default(),
            warnings: Vec::new(),
        }
    }

    /// Whose simulator it is written for.
    pub fn family(&self) -> Family {
        if self.lb_mode.is_some() || self.flowgen_start.is_some() {
            Family::ConWeave
        } else {
            Family::Hpcc
        }
    }
}

impl Default for RateKeys {
    fn default() -> Self {
        Self {
            alpha_timer: Span::from_us(1),
            decrease_timer: Span::from_us(4),
            increase_timer: Span::from_us(300),
            gain: Fraction::new(1, 256).expect("not zero"),
            fast_recovery_steps: 1,
            additive_increase: BitRate::from_bps(50_000_000),
            hyper_increase: BitRate::from_bps(100_000_000),
            min_rate: BitRate::from_bps(100_000_000),
            dctcp_increase: BitRate::from_gbps(1),
            clamp_target_rate: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn every_value_has_its_unit() {
        let config = read(SAMPLE, "config.txt").unwrap();
        assert_eq!(config.warnings, Vec::<String>::new());
        assert_eq!(config.topology_file.as_deref(), Some("mix/topology.txt"));
        assert_eq!((config.cc_mode, config.ack_priority), (8, Some(true)));
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
    fn an_empty_file_is_all_defaults() {
        assert_eq!(read("\n# nothing\n", "c").unwrap(), HpccConfig::new("c"));
    }

    #[test]
    fn what_is_skipped_is_named() {
        let text = "CC_MOD 1 2 3\nCC_MODE 1 3\nCC_MODE 8\nLINK_DOWN 0 0 0\nFLOWGEN_START_TIME 2.0";
        let config = read(text, "c").unwrap();
        assert_eq!(
            config.warnings,
            [
                "c:1: 'CC_MOD' is no key that evenkeel knows; the line is skipped",
                "c:2: '3' behind the value of CC_MODE is skipped",
                "c:3: CC_MODE is also in line 2; the last one counts",
            ]
        );
        assert_eq!((config.cc_mode, config.link_down), (8, None));
        assert_eq!(config.family(), Family::ConWeave);
    }

    #[test]
    fn a_stop_beyond_all_time_is_the_last_instant() {
        let config = read("SIMULATOR_STOP_TIME 40000000000000.00", "c").unwrap();
        assert_eq!(config.stop, Some(Time::NEVER));
    }

    #[test]
    fn each_fault_names_file_line_key_value_and_what_would_be_right() {
        for (text, expected) in [
            ("\nCC_MODE", "c:2: CC_MODE has no value; write a whole number, for example CC_MODE 1"),
            (
                "CC_MODE x",
                "c:1: CC_MODE: 'x' is wrong; write a whole number, for example CC_MODE 1",
            ),
            ("CC_MODE -1", "c:1: CC_MODE: '-1' is wrong"),
            ("BUFFER_SIZE 17592186044416", "c:1: BUFFER_SIZE: '17592186044416' is wrong; write"),
            ("BUFFER_SIZE 2001", "c:1: BUFFER_SIZE: '2001' is wrong; write a whole number of MB"),
            ("BUFFER_SIZE 0", "c:1: BUFFER_SIZE: '0' is wrong; write a whole number of MB from 1"),
            ("PACKET_PAYLOAD_SIZE 0", "c:1: PACKET_PAYLOAD_SIZE: '0' is wrong; write a number of"),
            ("PACKET_PAYLOAD_SIZE 65488", "c:1: PACKET_PAYLOAD_SIZE: '65488' is wrong"),
            ("L2_ACK_INTERVAL 0", "c:1: L2_ACK_INTERVAL: '0' is wrong; write a whole number from"),
            ("ENABLE_QCN yes", "c:1: ENABLE_QCN: 'yes' is wrong; write 0 or 1"),
            ("RATE_AI 50Mq/s", "c:1: RATE_AI: '50Mq/s' is wrong; write a bit rate"),
            ("RP_TIMER -1", "c:1: RP_TIMER: '-1' is wrong; write microseconds"),
            ("RP_TIMER 0", "c:1: RP_TIMER: '0' is wrong; write microseconds"),
            ("EWMA_GAIN 2", "c:1: EWMA_GAIN: '2' is wrong; write a fraction"),
            ("KMIN_MAP", "c:1: KMIN_MAP has no value; write a count and as many pairs"),
            ("KMIN_MAP 2 100 400", "c:1: KMIN_MAP: '2 100 400' is wrong; write a count and as"),
            ("KMIN_MAP 1 100Gbps 400", "c:1: KMIN_MAP: '100Gbps' is wrong; write a count and as"),
            ("KMAX_MAP 99999999999999 1 1", "c:1: KMAX_MAP: '99999999999999 1 1' is wrong"),
            ("PMAX_MAP 1 100 1.5", "c:1: PMAX_MAP: '1.5' is wrong"),
            ("LINK_DOWN 5 1", "c:1: LINK_DOWN: '5 1' is wrong; write time_us and two nodes"),
            ("ERROR_RATE_PER_LINK 1.1", "c:1: ERROR_RATE_PER_LINK: '1.1' is wrong"),
        ] {
            let said = read(text, "c").unwrap_err().to_string();
            assert!(said.starts_with(expected), "{text:?}: {said}");
        }
    }
}
