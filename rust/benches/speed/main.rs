//! The speed of a run, compared with the yardstick: `cargo bench --bench speed [-- --rounds N]
//! [--large] [--threads]`. With `--threads`, one run on several threads instead ([`threads`]).
//!
//! Each measurement is a process of its own, evenkeel and the yardstick in turn, so that both see
//! the same machine; what is compared is the ratio pair by pair, and the median of the ratios is
//! what counts. Figures are packet-hops (a packet crossing a link) per CPU-second of one thread,
//! and the largest resident memory by host. The workload is fixed: a k-ary fat-tree at 400 Gbps
//! with links of 1 us, every host sends one message to the host half way round, 4 KiB packets,
//! seed 1. Lines name the policy and the transport.

mod threads;
mod yardstick;

use std::process::Command;
use std::sync::Arc;

use evenkeel::balance::{Parameters, build_scheme};
use evenkeel::fabric::{
    Buffer, Ecn, EcnPoint, FabricConfig, PfcConfig, Rounding, Setup, SwitchConfig, Verdict, run,
};
use evenkeel::ids::HostId;
use evenkeel::nic::congestion::{CongestionControl, dcqcn, dctcp_window, line_rate};
use evenkeel::nic::verbs::QpConfig;
use evenkeel::nic::{AckConfig, NicConfig, Recovery};
use evenkeel::topology::FatTree;
use evenkeel::units::{BitRate, Bytes, Fraction, Span, Time};
use evenkeel::workload::{Message, Workload};

/// What one process measured.
struct Figures {
    hops: f64,
    cpu_s: f64,
    bytes: f64,
}

impl Figures {
    fn rate(&self) -> f64 {
        self.hops / self.cpu_s
    }
}

/// A case: arity of the fat-tree and message size.
#[derive(Clone, Copy)]
struct Case {
    k: u32,
    mib: u64,
}

impl Case {
    const fn hosts(self) -> u32 {
        self.k * self.k * self.k / 4
    }
}

/// The NIC's congestion control, and the switches' flow control.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Transport {
    LineRate,
    Window,
    Dcqcn,
    /// DCQCN with go-back-N over priority flow control.
    Lossless,
}

impl Transport {
    const fn name(self) -> &'static str {
        match self {
            Self::LineRate => "line-rate",
            Self::Window => "dctcp-window",
            Self::Dcqcn => "dcqcn",
            Self::Lossless => "pfc, go-back-n",
        }
    }

    fn congestion(self) -> CongestionControl {
        match self {
            Self::LineRate => line_rate::Config::default().into(),
            Self::Window => dctcp_window::Config::default().into(),
            Self::Dcqcn | Self::Lossless => dcqcn::Config::default().into(),
        }
    }
}

/// The lines of each case: a policy and a transport.
const LINES: [(&str, Transport); 6] = [
    ("spray", Transport::LineRate),
    ("ecmp", Transport::LineRate),
    ("ethereal", Transport::LineRate),
    ("reps", Transport::Window),
    ("ethereal", Transport::Dcqcn),
    ("ecmp", Transport::Lossless),
];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|it| it != "--bench").collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    if let [which @ ("child" | "divided"), what, transport, k, mib, ref rest @ ..] = words[..] {
        let case = Case { k: k.parse().expect("a number"), mib: mib.parse().expect("a number") };
        let known = LINES.iter().find(|line| line.1.name() == transport);
        let line = (what, known.expect("a transport").1);
        return match which {
            "child" => child(line, case),
            _ => threads::child(line, case, rest[0].parse().expect("a number")),
        };
    }
    let after = |flag| words.iter().position(|it| *it == flag).and_then(|at| words.get(at + 1));
    let rounds = after("--rounds").and_then(|n| n.parse().ok()).unwrap_or(5);
    let mut cases = vec![Case { k: 8, mib: 8 }, Case { k: 16, mib: 8 }];
    if words.contains(&"--large") {
        cases.push(Case { k: 32, mib: 2 });
    }
    if words.contains(&"--threads") {
        return threads::table(&cases, rounds);
    }
    println!(
        "{:>6}  {:<10} {:<16} {:>12} {:>12} {:>10} {:>6}",
        "hosts", "policy", "transport", "hops/CPU-s", "yardstick", "bytes/host", "ratio"
    );
    for case in cases {
        for line in LINES {
            compare(line, case, rounds);
        }
    }
}

/// One line: a policy and the yardstick.
fn compare(line: (&str, Transport), case: Case, rounds: usize) {
    let mut pairs: Vec<(f64, f64, f64)> = Vec::new();
    for _ in 0..rounds {
        let ours = measure(line, case);
        let theirs = measure(("yardstick", Transport::LineRate), case);
        pairs.push((ours.rate() / theirs.rate(), ours.rate(), theirs.rate()));
        pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
    }
    let hosts = case.hosts();
    let bytes = measure(line, case).bytes;
    let (ratio, ours, theirs) = pairs[pairs.len() / 2];
    println!(
        "{hosts:>6}  {:<10} {:<16} {ours:>12.0} {theirs:>12.0} {:>10.0} {ratio:>6.2}",
        line.0,
        line.1.name(),
        bytes / f64::from(hosts)
    );
}

/// Runs one measurement in a process of its own.
fn measure((what, transport): (&str, Transport), case: Case) -> Figures {
    let program = std::env::current_exe().expect("this program's path");
    let output = Command::new(program)
        .args(["child", what, transport.name(), &case.k.to_string(), &case.mib.to_string()])
        .output()
        .expect("a process of its own");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout);
    let numbers: Vec<f64> = text.split_whitespace().filter_map(|it| it.parse().ok()).collect();
    let [hops, cpu_s, bytes] = numbers[..] else { panic!("not three numbers: {text}") };
    Figures { hops, cpu_s, bytes }
}

fn child((what, transport): (&str, Transport), case: Case) {
    let before = usage().0;
    let hops = match what {
        "yardstick" => yardstick::hops(case.k, case.mib << 20),
        policy => ours(policy, transport, case),
    };
    let (cpu, bytes) = usage();
    println!("{hops} {} {bytes}", cpu - before);
}

/// CPU seconds (user and system) and largest resident memory so far.
#[cfg(unix)]
fn usage() -> (f64, f64) {
    use nix::sys::resource::{UsageWho, getrusage};
    use nix::sys::time::TimeValLike;
    let usage = getrusage(UsageWho::RUSAGE_SELF).expect("every Unix has it");
    let us = usage.user_time().num_microseconds() + usage.system_time().num_microseconds();
    // Linux counts in KiB.
    (us as f64 / 1e6, usage.max_rss() as f64 * 1024.0)
}

#[cfg(not(unix))]
fn usage() -> (f64, f64) {
    panic!("the benchmark reads getrusage, which this platform does not have")
}

fn ours(policy: &str, transport: Transport, case: Case) -> u64 {
    let outcome = run(&setup(policy, transport, case), &mut |_| {});
    assert_eq!(outcome.verdict, Verdict::Completed);
    outcome.counters.packet_hops
}

fn setup(policy: &str, transport: Transport, case: Case) -> Setup {
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
        bytes: Bytes::new(case.mib << 20),
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
        nic: NicConfig {
            payload: Bytes::new(4096),
            header: Bytes::new(62),
            ack: AckConfig {
                bytes: Bytes::new(64),
                every: 1,
                priority: true,
                ..AckConfig::default()
            },
            congestion: transport.congestion(),
            recovery: scheme.recovery,
            retransmit_timeout: Span::from_ms(100),
            nack_interval: Span::from_us(500),
            cnp_interval: Span::from_us(50),
            queue_pairs: QpConfig::default(),
        },
        scheme,
        job_policies: Vec::new(),
        workload: Arc::new(Workload::independent(messages.collect())),
        seed: 1,
        time_limit: Time::ZERO + Span::from_ms(1_000),
        probes: Vec::new(),
    }
}

fn fabric(transport: Transport) -> FabricConfig {
    FabricConfig {
        switch: SwitchConfig {
            buffer: Buffer::Shared(Bytes::new(1 << 30)),
            ecn: Ecn::Step(Bytes::new(800_000)),
            ecn_point: EcnPoint::Enqueue,
            pfc: (transport == Transport::Lossless).then_some(PfcConfig::HPCC),
            trim: None,
        },
        ecn_by_rate: Vec::new(),
        gap: Bytes::new(20),
        forwarding_delay: Span::ZERO,
        rounding: Rounding::Exact,
        failures: Vec::new(),
    }
}
