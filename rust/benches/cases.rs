//! Benchmark cases: a k-ary fat-tree at 400 Gbps with 1 us links. Every host sends one message to
//! the host half-way round, with 4 KiB packets and seed 1.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use evenkeel::balance::{Parameters, build_scheme};
use evenkeel::fabric::{Buffer, Ecn, FabricConfig, PfcConfig, Setup, SwitchConfig};
use evenkeel::ids::HostId;
use evenkeel::nic::congestion::{CongestionControl, dcqcn, dctcp_window, line_rate};
use evenkeel::nic::{AckConfig, NicConfig, Recovery};
use evenkeel::topology::FatTree;
use evenkeel::units::{BitRate, Bytes, Fraction, Span, Time};
use evenkeel::workload::{Message, Workload};

/// Arity of the fat-tree and message size.
#[derive(Clone, Copy)]
pub(crate) struct Case {
    pub(crate) k: u32,
    pub(crate) kib: u64,
}

/// The NIC's congestion control, and the switches' flow control.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Transport {
    LineRate,
    Window,
    Dcqcn,
    /// DCQCN with go-back-N over priority flow control.
    Lossless,
}

impl Transport {
    pub(crate) fn congestion(self) -> CongestionControl {
        match self {
            Self::LineRate => line_rate::Config::default().into(),
            Self::Window => dctcp_window::Config::default().into(),
            Self::Dcqcn | Self::Lossless => dcqcn::Config::default().into(),
        }
    }
}

/// Formatted as in the tables of `docs/speed.md`.
impl fmt::Display for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::LineRate => "line rate",
            Self::Window => "`dctcp-window`",
            Self::Dcqcn => "`dcqcn`",
            Self::Lossless => "`dcqcn`, go-back-N, PFC",
        })
    }
}

/// A policy and a transport.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Line {
    pub(crate) policy: &'static str,
    pub(crate) transport: Transport,
}

impl Line {
    const fn new(policy: &'static str, transport: Transport) -> Self {
        Self { policy, transport }
    }

    /// Returns the setup of a case under this line.
    pub(crate) fn setup(self, case: Case) -> Setup {
        setup(self.policy, self.transport, case)
    }
}

/// Formatted as two cells of the tables of `docs/speed.md`.
impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` | {}", self.policy, self.transport)
    }
}

/// The lines of each case.
pub(crate) const LINES: [Line; 6] = [
    Line::new("spray", Transport::LineRate),
    Line::new("ecmp", Transport::LineRate),
    Line::new("ethereal", Transport::LineRate),
    Line::new("reps", Transport::Window),
    Line::new("ethereal", Transport::Dcqcn),
    Line::new("ecmp", Transport::Lossless),
];

pub(crate) fn setup(policy: &str, transport: Transport, case: Case) -> Setup {
    let tree = FatTree {
        k: case.k,
        tiers: 3,
        oversubscription: Fraction::ONE,
        host_rate: BitRate::from_gbps(400),
        fabric_rate: BitRate::from_gbps(400),
        delay: Span::from_us(1),
        parallel_links: 1,
    };
    let topology = tree.build().expect("a fat-tree");
    let hosts = topology.host_count();
    let messages = (0..hosts).map(|host| Message {
        src: HostId(host),
        dst: HostId((host + hosts / 2) % hosts),
        bytes: Bytes::new(case.kib << 10),
        stream: host,
        start: Time::ZERO,
    });
    let mut scheme = build_scheme(policy, &Parameters::new()).expect("a policy");
    if transport == Transport::Lossless {
        scheme.recovery = Recovery::GO_BACK_N;
    }
    Setup {
        topology: Arc::new(topology),
        fabric: fabric(transport),
        nic: nic(transport, scheme.recovery),
        scheme,
        own_nics: BTreeMap::new(),
        job_policies: Vec::new(),
        job_classes: Vec::new(),
        workload: Arc::new(Workload::independent(messages.collect())),
        seed: 1,
        time_limit: Time::ZERO + Span::from_ms(1_000),
        probes: Vec::new(),
    }
}

pub(crate) fn nic(transport: Transport, recovery: Recovery) -> NicConfig {
    NicConfig {
        ack: AckConfig { bytes: Bytes::new(64), every: 1, priority: true, ..AckConfig::default() },
        congestion: transport.congestion(),
        recovery,
        retransmit_timeout: Span::from_ms(100),
        ..NicConfig::default()
    }
}

pub(crate) fn fabric(transport: Transport) -> FabricConfig {
    FabricConfig {
        switch: SwitchConfig {
            ecn: Ecn::Step(Bytes::new(800_000)),
            pfc: (transport == Transport::Lossless).then_some(PfcConfig::HPCC),
            ..SwitchConfig::plain(Buffer::Shared(Bytes::new(1 << 30)))
        },
        gap: Bytes::new(20),
        ..FabricConfig::plain(Buffer::Shared(Bytes::new(1 << 30)))
    }
}
