//! The settings that a configuration holds, with the defaults of the family or of this project.

use crate::units::{BitRate, Bytes, Fraction, Span, Time};

/// Policies that both `LB_MODE` and this project have.
pub(in crate::hpcc) const LB_MODES: &str = "0 (ECMP), 2 (DRILL), 3 (CONGA) or 6 (LetFlow)";

/// A configuration. Fields that the file does not set have their default.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HpccConfig {
    /// The name of the file in error messages.
    pub file: String,
    /// `TOPOLOGY_FILE`: the path of the topology file, as written.
    pub topology_file: Option<String>,
    /// `FLOW_FILE`: the path of the flow file, as written.
    pub flow_file: Option<String>,
    /// `CC_MODE`: 1 DCQCN (ConnectX form), 3 HPCC, 7 TIMELY, 8 DCTCP, 10 HPCC-PINT. Default 1.
    pub cc_mode: WithLine<u32>,
    /// `LB_MODE` of ConWeave: 0 ECMP, 2 DRILL, 3 CONGA, 6 LetFlow, 9 ConWeave.
    pub lb_mode: Option<WithLine<u32>>,
    /// `LB_POLICY`, this project's own key: the name of a policy.
    pub lb_policy: Option<WithLine<String>>,
    /// `ENABLE_QCN`: whether switches mark packets. Default yes.
    pub ecn: bool,
    /// `KMIN_MAP`, `KMAX_MAP`, `PMAX_MAP`: marking thresholds by the bit rate of the port.
    pub thresholds: Thresholds,
    /// `BUFFER_SIZE`: packet memory of a switch; the file's MB are 2^20 bytes. Default 16 MB.
    pub buffer: Bytes,
    /// `PACKET_PAYLOAD_SIZE`, bytes. Default 1000.
    pub payload: Bytes,
    /// `L2_ACK_INTERVAL`: packets per acknowledgement. Default 1.
    pub ack_interval: u32,
    /// `L2_CHUNK_SIZE`, bytes: an acknowledgement is due at each multiple. Default 4000.
    pub chunk: Bytes,
    /// `L2_BACK_TO_ZERO`: whether a loss restarts from the start of the chunk. Default no.
    pub back_to_zero: bool,
    /// `ACK_HIGH_PRIO`: whether switches send acknowledgements before data. The default is that of
    /// the simulator that the file is written for: yes for ConWeave, no for HPCC.
    pub ack_priority: Option<bool>,
    /// Parameters of rate control.
    pub rates: RateKeys,
    /// Parameters of HPCC and of HPCC-PINT.
    pub telemetry: TelemetryKeys,
    /// `HAS_WIN`: whether a window of a bandwidth-delay product applies in addition to the rate.
    /// Default yes.
    pub window: bool,
    /// `VAR_WIN`: whether the window shrinks with the rate. Default no.
    pub variable_window: bool,
    /// `GLOBAL_T`: whether all pairs of hosts use the window and the round-trip time of the longest
    /// path, instead of their own. Default yes.
    pub global_round_trip: bool,
    /// `RATE_BOUND`: whether the rate limits sending. Default yes.
    pub rate_bound: bool,
    /// `ENABLE_PFC`: whether switches use priority flow control. Default yes.
    pub pfc: bool,
    /// `ENABLE_IRN`: selective repeat. Default no.
    pub irn: bool,
    /// `ERROR_RATE_PER_LINK`: the probability that a link loses a packet, in 10^-12. Default 0.
    pub error_rate: u64,
    /// `LINK_DOWN time_us a b`; `None` for a time of 0, which means never.
    pub link_down: Option<LinkDown>,
    /// `FLOWGEN_START_TIME` of ConWeave, in seconds: the origin of `LINK_DOWN`, and the first
    /// sample.
    pub flowgen_start: Option<Time>,
    /// `FLOWGEN_STOP_TIME` of ConWeave, in seconds: the last sample. Without `SIMULATOR_STOP_TIME`,
    /// the run ends 10 s later.
    pub flowgen_stop: Option<Time>,
    /// `SIMULATOR_STOP_TIME`. A time that exceeds 64 bits of picoseconds becomes the latest one.
    pub stop: Option<Time>,
    /// `QLEN_MON_START`: the first sample of the queues for the family's `qlen.txt`.
    pub queues_from: Option<Time>,
    /// `QLEN_MON_END`: the last sample of the queues.
    pub queues_until: Option<Time>,
    /// `RANDOM_SEED` of ConWeave: the seed of every random draw.
    pub seed: Option<u64>,
    /// `ENABLE_TRACE`: whether packet events are traced. Default yes.
    pub trace: bool,
    /// `TRACE_FILE`, as written: the file that lists the traced nodes.
    pub trace_file: Option<String>,
    /// `PAUSE_TIME`: the duration that pause frames carry, in whole microseconds. In ConWeave a
    /// pause expires after that time without another frame; in HPCC it lasts until the resume.
    /// Default 5.
    pub pause_time_us: u64,
    /// `SW_MONITORING_INTERVAL` of ConWeave: the period of the uplink and connection monitors.
    /// Default 10 us.
    pub monitor_every: Span,
    /// The names of the files that the experiment writes.
    pub outputs: OutputFiles,
    /// Warnings about unknown keys, repeated keys and surplus values, one sentence each.
    pub warnings: Vec<String>,
}

/// The names that a configuration gives to the files that its experiment writes. Only the file
/// name of each path is kept, because all results are written into one folder.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OutputFiles {
    /// `FCT_OUTPUT_FILE`: completed flows and their times.
    pub fct: Option<String>,
    /// `PFC_OUTPUT_FILE`: pauses and resumes of priority flow control.
    pub pfc: Option<String>,
    /// `QLEN_MON_FILE`: lengths of switch queues.
    pub queues: Option<String>,
    /// `TRACE_OUTPUT_FILE`: packet events at the traced nodes.
    pub trace: Option<String>,
    /// `UPLINK_MON_FILE` of ConWeave: bytes that switches with hosts send upwards.
    pub uplinks: Option<String>,
    /// `CONN_MON_FILE` of ConWeave: connections of each host.
    pub connections: Option<String>,
    /// `CNP_OUTPUT_FILE` of ConWeave: congestion notifications of each host.
    pub notifications: Option<String>,
}

/// A value and the line that holds it, for errors that are found later.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WithLine<T> {
    /// The line, counted from 1.
    pub line: usize,
    /// The value, as parsed from that line.
    pub value: T,
}

/// Marking thresholds by the bit rate of the port.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Thresholds {
    /// The queue length at which marking starts; the file's KB are 1000 bytes
    /// (`SwitchMmu::ConfigEcn`).
    pub kmin: Vec<(BitRate, Bytes)>,
    /// The queue length above which every packet is marked.
    pub kmax: Vec<(BitRate, Bytes)>,
    /// The marking probability just below `kmax`.
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
    /// `EWMA_GAIN`: the weight of the newest sample in the mean of marks. Default 1/256.
    pub gain: Fraction,
    /// `FAST_RECOVERY_TIMES`: rises of DCQCN's fast recovery. Default 1.
    pub fast_recovery_steps: u32,
    /// `RATE_AI`. Default 50 Mbps.
    pub additive_increase: BitRate,
    /// `RATE_HAI`. Default 100 Mbps.
    pub hyper_increase: BitRate,
    /// `MIN_RATE`. Default 100 Mbps.
    pub min_rate: BitRate,
    /// `DCTCP_RATE_AI`. Default 1 Gbps.
    pub dctcp_increase: BitRate,
    /// `CLAMP_TARGET_RATE`: whether each cut also lowers the target rate. Default no.
    pub clamp_target_rate: bool,
}

/// Parameters of HPCC and of HPCC-PINT; the defaults are those of HPCC's `third.cc`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TelemetryKeys {
    /// `U_TARGET`: the utilization that rates aim at. Default 0.95.
    pub target_utilization: Fraction,
    /// `MI_THRESH`: round trips of additive increase alone. Default 5.
    pub max_stage: u32,
    /// `FAST_REACT`: whether every acknowledgement changes the rate. Default yes.
    pub fast_react: bool,
    /// `MULTI_RATE`: whether each hop has a separate rate. Default yes.
    pub multiple_rates: bool,
    /// `SAMPLE_FEEDBACK`: whether fast reactions ignore hops without a queue. Default no.
    pub sample_feedback: bool,
    /// `INT_MULTI`: factor by which the units of telemetry are larger. Default 1.
    pub int_multiple: u16,
    /// `PINT_LOG_BASE`. Default 1.05.
    pub pint_base: Fraction,
    /// `PINT_PROB`: the fraction of acknowledgements that senders use. Default 1.
    pub pint_probability: Fraction,
}

impl Default for TelemetryKeys {
    fn default() -> Self {
        Self {
            target_utilization: Fraction::new(19, 20).expect("not zero"),
            max_stage: 5,
            fast_react: true,
            multiple_rates: true,
            sample_feedback: false,
            int_multiple: 1,
            pint_base: Fraction::new(21, 20).expect("not zero"),
            pint_probability: Fraction::ONE,
        }
    }
}

/// `LINK_DOWN time_us a b`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LinkDown {
    /// The line, counted from 1.
    pub line: usize,
    /// The time of the failure, counted from the earliest start of flows: from 2 s in HPCC, from
    /// `FLOWGEN_START_TIME` in ConWeave.
    pub after: Span,
    /// The nodes at the two ends of the link.
    pub ends: [u32; 2],
}

/// The simulator that a configuration is written for, where they differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// HPCC and the descendants that keep its format.
    Hpcc,
    /// ConWeave: the file has `LB_MODE` or `FLOWGEN_START_TIME`.
    ConWeave,
}

impl HpccConfig {
    /// Creates a configuration in which every field has its default.
    pub(super) fn new(file: &str) -> Self {
        Self {
            file: file.to_owned(),
            topology_file: None,
            flow_file: None,
            cc_mode: WithLine { line: 0, value: 1 },
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
            telemetry: TelemetryKeys::default(),
            window: true,
            variable_window: false,
            global_round_trip: true,
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
            outputs: OutputFiles::default(),
            warnings: Vec::new(),
        }
    }

    /// Returns the simulator that the file is written for.
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
