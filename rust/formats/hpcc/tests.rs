//! Experiments from the family's real files, if they are available, and from generated files.

use std::path::{Path, PathBuf};

use super::{Experiment, HpccError, Overrides};
use crate::fabric::{self, Ecn, FlowRecord, Outcome, Rounding, Verdict};
use crate::ids::{HostId, LinkId, MessageId, SwitchId};
use crate::nic::congestion::CongestionControl;
use crate::topology::Node;
use crate::units::{Bytes, Span, Time};

/// Returns the folder of real files; without one, prints which test is skipped.
fn real_files(test: &str) -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/hpcc");
    if folder.is_dir() {
        return Some(folder);
    }
    eprintln!("skipped: {test}: the HPCC family's files are not at ../shared/data/hpcc");
    None
}

fn conweave(folder: &Path, flows: &str, rounding: Rounding) -> Experiment {
    let folder = folder.join("conweave");
    let flows = Some(folder.join(flows));
    let overrides = Overrides { flows, rounding, ..Overrides::default() };
    Experiment::load(&folder.join("config_perm.txt"), &overrides).unwrap()
}

fn run(experiment: &Experiment) -> Outcome {
    let outcome = fabric::run(&experiment.setup, &mut |_| ());
    assert_eq!(outcome.verdict, Verdict::Completed);
    outcome
}

/// Returns the column `fct_ns` of the table, a value for each completed flow.
fn fct_ns(table: &str) -> Vec<u64> {
    table.lines().map(|line| line.split(' ').nth(6).unwrap().parse().unwrap()).collect()
}

#[test]
fn every_real_experiment_loads() {
    let Some(folder) = real_files("every_real_experiment_loads") else { return };
    for (config, topology, flows, hosts) in [
        ("hpcc/config.txt", None, None, 65),
        ("conweave/config_perm.txt", None, None, 128),
        ("conweave/config_perm.txt", Some("conweave/fat_k8_100G_OS2.txt"), None, 256),
        ("powertcp/config-burst.txt", None, Some("powertcp/flow-burstExp-10.txt"), 256),
    ] {
        let path = |name: Option<&str>| name.map(|name| folder.join(name));
        let overrides =
            Overrides { topology: path(topology), flows: path(flows), ..Overrides::default() };
        let experiment = Experiment::load(&folder.join(config), &overrides)
            .unwrap_or_else(|error| panic!("{config}: {error}"));
        assert_eq!(experiment.setup.topology.host_count(), hosts, "{config}");
        assert_eq!(experiment.flows.flows.len(), experiment.setup.workload.messages.len());
        let unknown = experiment.warnings.iter().find(|warning| warning.contains("unknown key"));
        assert_eq!(unknown, None, "{config}");
    }
}

#[test]
fn an_unknown_congestion_control_is_an_error_that_lists_those_there_are() {
    let name = "an_unknown_congestion_control_is_an_error_that_lists_those_there_are";
    let Some(folder) = real_files(name) else { return };
    let overrides = Overrides {
        topology: Some(folder.join("astra/128_nodes_16_switch_topology.txt")),
        flows: Some(folder.join("conweave/flow_perm.txt")),
        ..Overrides::default()
    };
    let error = Experiment::load(&folder.join("astra/config.txt"), &overrides).unwrap_err();
    let error = error.to_string();
    assert!(error.contains("config.txt:15: CC_MODE 12 is unknown; expected 1 (DCQCN)"), "{error}");
}

#[test]
fn differences_from_the_simulator_are_warnings() {
    let Some(folder) = real_files("differences_from_the_simulator_are_warnings") else { return };
    let hpcc = Experiment::load(&folder.join("hpcc/config.txt"), &Overrides::default()).unwrap();
    let warns = |start: &str| hpcc.warnings.iter().any(|warning| warning.starts_with(start));
    assert!(!warns("CC_MODE") && !warns("HAS_WIN") && !warns("ENABLE_PFC"), "{:?}", hpcc.warnings);
    let plain = conweave(&folder, "flow_one.txt", Rounding::Exact);
    assert_eq!(plain.warnings, Vec::<String>::new());
}

#[test]
fn the_ring_and_the_missing_file_are_clear_errors() {
    let Some(folder) = real_files("the_ring_and_the_missing_file_are_clear_errors") else { return };
    let config = folder.join("astra/config.txt");
    let ring = Overrides {
        topology: Some(folder.join("astra/8nodes_ring_topology.txt")),
        flows: Some(folder.join("conweave/flow_one.txt")),
        ..Overrides::default()
    };
    let error = Experiment::load(&config, &ring).unwrap_err().to_string();
    assert!(error.contains("hosts do not forward"), "{error}");
    let error = Experiment::load(&config, &Overrides::default()).unwrap_err();
    let HpccError::NotFound { tried, .. } = &error else { panic!("{error}") };
    assert_eq!(tried.len(), 3);
    assert!(error.to_string().contains("astra/8_nodes_1_switch_topology.txt'"), "{error}");
}

/// Returns an outcome in which each flow completes at the time in the reference.
fn replayed(experiment: &Experiment, reference: &str) -> Outcome {
    let mut outcome = empty_outcome();
    for line in reference.lines() {
        let columns: Vec<u64> = line.split_whitespace().map(|c| c.parse().unwrap()).collect();
        let flow = experiment
            .flows
            .flows
            .iter()
            .position(|flow| [u64::from(flow.src), u64::from(flow.dst)] == columns[..2])
            .unwrap();
        let completed = Time::from_ps((columns[5] + columns[6]) * 1_000 + 999);
        outcome.flows.push(record(flow, completed));
    }
    outcome
}

fn record(message: usize, completed: Time) -> FlowRecord {
    FlowRecord {
        message: MessageId(u32::try_from(message).unwrap()),
        piece: 0,
        src: HostId(0),
        dst: HostId(1),
        bytes: Bytes::ZERO,
        start: Time::ZERO,
        delivered: completed,
        completed,
        source_port: 0,
    }
}

fn empty_outcome() -> Outcome {
    Outcome {
        verdict: Verdict::Completed,
        ended: Time::ZERO,
        discarded: None,
        messages: 0,
        message_fct: Vec::new(),
        cct: None,
        flows: Vec::new(),
        counters: fabric::Counters::default(),
        qps: fabric::QpCounts::default(),
        qp_accounts: Vec::new(),
        scale_up: None,
        queue_bytes_max: Bytes::ZERO,
        queue_bytes_mean: 0.0,
        link_bytes_max: Bytes::ZERO,
        link_bytes: Vec::new(),
        switch_states: Vec::new(),
        probes: Vec::new(),
        queue_bytes_max_by_port: Vec::new(),
        sender_bits_per_qp_max: 0,
        in_flight: 0,
        pauses: Vec::new(),
        marked_by_port: Vec::new(),
        deadlock: Vec::new(),
        dropped_by_class: Vec::new(),
        delay_ends: Vec::new(),
    }
}

/// Every column except `fct_ns` is computed. The reference provides `fct_ns`, with a fraction of a
/// nanosecond that must be truncated.
#[test]
fn fct_tables_equal_those_of_the_simulator() {
    let Some(folder) = real_files("fct_tables_equal_those_of_the_simulator") else { return };
    for case in ["one", "onesame", "inc2", "inc8", "perm"] {
        let experiment = conweave(&folder, &format!("flow_{case}.txt"), Rounding::Exact);
        let reference = folder.join(format!("conweave/reference_fct_{case}.txt"));
        let reference = std::fs::read_to_string(reference).unwrap();
        let outcome = replayed(&experiment, &reference);
        assert_eq!(experiment.fct_table(&outcome), reference, "{case}");
    }
}

/// A flow on an idle path is exact arithmetic. With transmission times truncated as in the
/// simulator, its times are equal to the nanosecond; otherwise they are the exact times.
#[test]
fn one_flow_takes_as_long_as_in_the_simulator() {
    let Some(folder) = real_files("one_flow_takes_as_long_as_in_the_simulator") else { return };
    for (case, truncated_ns, exact_ns) in [("onesame", 87_091, 87_933), ("one", 91_265, 92_110)] {
        let flows = format!("flow_{case}.txt");
        let times = |rounding| {
            let experiment = conweave(&folder, &flows, rounding);
            fct_ns(&experiment.fct_table(&run(&experiment)))
        };
        assert_eq!(times(Rounding::TruncateNs), [truncated_ns], "{case}, truncated");
        assert_eq!(times(Rounding::Exact), [exact_ns], "{case}, exact");
    }
}

/// For every seed, the simulator's hash assigns two of the eight flows to each of four spines,
/// nodes 136, 138, 141 and 142.
#[test]
fn flows_take_the_spines_that_they_take_in_the_simulator() {
    let test = "flows_take_the_spines_that_they_take_in_the_simulator";
    let Some(folder) = real_files(test) else { return };
    for seed in [1, 2] {
        let mut experiment = conweave(&folder, "flow_inc8.txt", Rounding::TruncateNs);
        experiment.setup.seed = seed;
        let outcome = run(&experiment);
        assert_eq!(flows_by_spine(&experiment, &outcome), [2, 0, 2, 0, 0, 2, 2, 0], "{seed}");
    }
}

/// Counts the flows of 1 MB that each spine sends to the last leaf (switch 7 of 0 to 7).
fn flows_by_spine(experiment: &Experiment, outcome: &Outcome) -> Vec<u64> {
    let topology = &experiment.setup.topology;
    let leaf = Node::Switch(SwitchId(7));
    let ports = (8..16).flat_map(|spine| topology.ports_of(SwitchId(spine)));
    let down = ports.filter(|port| topology.link(port.link()).ends.contains(&leaf));
    down.map(|port| outcome.link_bytes[port.index()].get() / 1_048_000).collect()
}

/// The files of an experiment with two hosts and a switch, in a temporary folder.
struct Files(tempfile::TempDir);

impl Files {
    fn new(config: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text);
        write("config.txt", config).unwrap();
        write("t.txt", "3 1 2\n2\n0 2 100Gbps 1us 0\n1 2 100Gbps 1us 0\n").unwrap();
        write("f.txt", "2\n0 1 3 100 5000 2\n1 0 3 100 1000 2.000001\n").unwrap();
        Self(folder)
    }

    fn load(&self, overrides: &Overrides) -> Result<Experiment, HpccError> {
        Experiment::load(&self.0.path().join("config.txt"), overrides)
    }

    /// Returns the error message without the folder.
    fn error(&self) -> String {
        let error = self.load(&Overrides::default()).unwrap_err().to_string();
        error.replace(&format!("{}/", self.0.path().display()), "")
    }
}

const PLAIN: &str = "TOPOLOGY_FILE mix/t.txt\nFLOW_FILE f.txt\nENABLE_PFC 0\nHAS_WIN 0\n\
                     KMIN_MAP 1 100000000000 100\nKMAX_MAP 1 100000000000 400\n\
                     PMAX_MAP 1 100000000000 0.2\n";

#[test]
fn a_configuration_becomes_a_setup() {
    let files = Files::new(&format!("{PLAIN}LINK_DOWN 7 2 1\nCC_MODE 8\n"));
    let experiment = files.load(&Overrides { seed: Some(9), ..Overrides::default() }).unwrap();
    let setup = &experiment.setup;
    assert_eq!(experiment.warnings, Vec::<String>::new());
    assert_eq!((setup.seed, setup.scheme.name), (9, "ecmp-murmur"));
    assert_eq!(setup.time_limit, Time::from_ps(3_010_000_000_000));
    assert!(matches!(setup.nic.congestion, CongestionControl::DctcpRate(_)));
    assert!(!setup.nic.ack.priority, "HPCC's default");
    assert_eq!(setup.nic.nack_interval, Span::from_us(500));
    let (kmin, kmax) = (Bytes::new(100_000), Bytes::new(400_000));
    let [(_, Ecn::Ramp { kmin: low, kmax: high, .. })] = setup.fabric.ecn_by_rate[..] else {
        panic!("{:?}", setup.fabric.ecn_by_rate)
    };
    assert_eq!((low, high), (kmin, kmax));
    let [failure] = setup.fabric.failures[..] else { panic!("{:?}", setup.fabric.failures) };
    assert_eq!((failure.link, failure.at), (LinkId(1), Time::from_ps(2_000_007_000_000)));
}

#[test]
fn pfc_and_error_rates_become_settings_of_the_fabric() {
    use crate::fabric::{FailureKind, Headroom, PfcConfig};
    let pfc = |lines: &str| {
        let files = Files::new(&PLAIN.replace("ENABLE_PFC 0\n", lines));
        files.load(&Overrides::default()).unwrap().setup.fabric.switch.pfc
    };
    assert_eq!(pfc("ENABLE_PFC 0\n"), None);
    assert_eq!(pfc(""), Some(PfcConfig::HPCC));
    let conweave = pfc("LB_MODE 0\n").unwrap();
    assert_eq!(conweave.headroom, Headroom::ConWeave { packet: Bytes::new(1_048) });
    assert_eq!(conweave.alpha.as_f64(), 1.0 / 16.0);
    assert_eq!(conweave.pause_time, Some(Span::from_us(5)));
    assert_eq!(pfc("LB_MODE 0\nPAUSE_TIME 7\n").unwrap().pause_time, Some(Span::from_us(7)));
    let files = Files::new(&format!("{PLAIN}ERROR_RATE_PER_LINK 0.001\n"));
    let topology = "3 1 2\n2\n0 2 100Gbps 1us 0\n1 2 100Gbps 1us 0.25\n";
    std::fs::write(files.0.path().join("t.txt"), topology).unwrap();
    let experiment = files.load(&Overrides::default()).unwrap();
    assert_eq!(experiment.warnings, Vec::<String>::new());
    let rates: Vec<f64> = experiment
        .setup
        .fabric
        .failures
        .iter()
        .map(|failure| {
            let FailureKind::Loss { rate } = failure.kind else { panic!("{failure:?}") };
            rate.as_f64()
        })
        .collect();
    assert_eq!(rates, [0.001, 0.25]);
}

#[test]
fn conweave_configurations_use_conweaves_constants() {
    let files = Files::new(&format!("{PLAIN}LB_MODE 0\nFLOWGEN_START_TIME 1\nLINK_DOWN 1 0 2\n"));
    let setup = files.load(&Overrides::default()).unwrap().setup;
    assert!(setup.nic.ack.priority);
    assert_eq!(setup.nic.nack_interval, Span::from_us(4));
    // ConWeave does not count the first 1,049 bytes of a queue.
    let [(_, Ecn::Ramp { kmin, kmax, .. })] = setup.fabric.ecn_by_rate[..] else {
        panic!("{:?}", setup.fabric.ecn_by_rate)
    };
    assert_eq!((kmin, kmax), (Bytes::new(101_049), Bytes::new(401_049)));
    assert_eq!(setup.fabric.failures[0].at, Time::from_ps(1_000_001_000_000));
    assert_eq!(setup.time_limit, Time::from_ps(12_500_000_000_000));
}

#[test]
fn the_option_overrides_the_policy_of_the_configuration() {
    let files = Files::new(&format!("{PLAIN}LB_MODE 9\nLB_POLICY spray\n"));
    assert_eq!(files.load(&Overrides::default()).unwrap().setup.scheme.name, "spray");
    let lb = Some("ethereal".to_owned());
    let setup = files.load(&Overrides { lb, ..Overrides::default() }).unwrap().setup;
    assert_eq!((setup.scheme.name, setup.nic.recovery), ("ethereal", setup.scheme.recovery));
    let lb = Some("sprey".to_owned());
    let error = files.load(&Overrides { lb, ..Overrides::default() }).unwrap_err().to_string();
    assert!(
        error.starts_with("--lb: unknown policy 'sprey'; known policies are spray, "),
        "{error}"
    );
}

#[test]
fn each_error_names_file_line_value_and_what_is_expected() {
    for (config, expected) in [
        (
            format!("{PLAIN}LB_MODE 9\n"),
            "config.txt:8: LB_MODE 9 (ConWeave) is not supported; expected 0 (ECMP), 2 (DRILL), 3 \
             (CONGA) or 6 (LetFlow), or a policy given with --lb POLICY or a line 'LB_POLICY \
             POLICY': ecmp, ",
        ),
        (
            format!("{PLAIN}LB_MODE 77\n"),
            "config.txt:8: LB_MODE 77 is not supported; expected 0 (ECMP), 2 (DRILL), 3 (CONGA) or",
        ),
        (
            format!("{PLAIN}LB_MODE -1\n"),
            "config.txt:8: LB_MODE: invalid value '-1'; expected 0 (ECMP), 2 (DRILL), 3 (CONGA) or",
        ),
        (
            format!("{PLAIN}LB_POLICY sprey\n"),
            "config.txt:8: LB_POLICY: unknown policy 'sprey'; known policies are ",
        ),
        (
            "TOPOLOGY_FILE t.txt\n".to_owned(),
            "config.txt: FLOW_FILE is missing; add a line 'FLOW_FILE PATH', or use --flows PATH",
        ),
        (
            "TOPOLOGY_FILE t.txt\nFLOW_FILE f.txt\nKMIN_MAP 1 100000000000 100\n".to_owned(),
            "config.txt: KMAX_MAP has no value for 100Gbps, the rate of link host0-switch2; add \
             the pair '100000000000 VALUE', or disable marking with ENABLE_QCN 0",
        ),
        (
            format!("{PLAIN}KMIN_MAP 1 100000000000 500\n"),
            "config.txt: for 100Gbps, KMIN_MAP is 500000 bytes and KMAX_MAP 400000; expected",
        ),
        (
            format!("{PLAIN}LINK_DOWN 5 0 1\n"),
            "config.txt:8: LINK_DOWN: no link joins nodes 0 and 1; expected the two ends of a link \
             of t.txt",
        ),
        (format!("{PLAIN}LINK_DOWN 18446744073709 0 2\n"), "config.txt:8: LINK_DOWN: the time is"),
        (
            "TOPOLOGY_FILE f.txt\nFLOW_FILE f.txt\n".to_owned(),
            "f.txt:1: '2' has 1 values; expected a first line",
        ),
        (
            "TOPOLOGY_FILE t.txt\nFLOW_FILE t.txt\n".to_owned(),
            "t.txt:1: '3 1 2' is not the number of flows",
        ),
        (
            "TOPOLOGY_FILE u.txt\n".to_owned(),
            "config.txt: TOPOLOGY_FILE: file 'u.txt' does not exist; ",
        ),
    ] {
        let said = Files::new(&config).error();
        assert!(said.starts_with(expected), "{said}");
    }
}

/// A split flow completes with its last piece, and a flow that has not completed has no line. Flows
/// that complete at the same instant are in the order of the flow file.
#[test]
fn lines_are_in_order_of_completion() {
    let files = Files::new(PLAIN);
    let experiment = files.load(&Overrides::default()).unwrap();
    let at = |ns: u64| Time::from_ps(2_000_000_000_000 + ns * 1_000 + 500);
    let mut outcome = empty_outcome();
    outcome.flows = vec![record(0, at(9_000)), record(0, at(7_000)), record(1, at(8_000))];
    // 2 x 2 us, 80 ns per link, and 5 x 1,048 or 1 x 1,048 bytes at 100 Gbps.
    let second = "0b000101 0b000001 10000 100 1000 2000001000 7000 4243\n";
    let first = "0b000001 0b000101 10000 100 5000 2000000000 9000 4579\n";
    assert_eq!(experiment.fct_table(&outcome), format!("{second}{first}"));
    outcome.flows[2].completed = at(9_000);
    let second = second.replace("7000", "8000");
    assert_eq!(experiment.fct_table(&outcome), format!("{first}{second}"));
    outcome.flows[1].completed = Time::NEVER;
    assert_eq!(experiment.fct_table(&outcome), second);
}

#[test]
fn a_generated_experiment_runs() {
    let files = Files::new(PLAIN);
    let rounding = Rounding::Exact;
    let experiment = files.load(&Overrides { rounding, ..Overrides::default() }).unwrap();
    let table = experiment.fct_table(&run(&experiment));
    assert_eq!(table.lines().count(), 2);
    assert!(table.lines().all(|line| line.split(' ').count() == 8), "{table}");
}

#[test]
fn conweave_modes_are_policies_and_unwritten_files_are_warnings() {
    for (mode, policy) in [(2, "drill-by-destination"), (3, "conga"), (6, "letflow")] {
        let files = Files::new(&format!("{PLAIN}LB_MODE {mode}\n"));
        let experiment = files.load(&Overrides::default()).unwrap();
        assert_eq!(experiment.setup.scheme.name, policy);
        let warning = format!("LB_MODE {mode}: policy '{policy}' is used; ");
        let warns = experiment.warnings.iter().any(|it| it.starts_with(&warning));
        assert_eq!(warns, mode != 2, "{:?}", experiment.warnings);
        let other = Overrides { lb: Some("ecmp".to_owned()), ..Overrides::default() };
        assert_eq!(files.load(&other).unwrap().warnings, Vec::<String>::new());
    }
    for (keys, warning) in [
        ("QLEN_MON_FILE q\n", "QLEN_MON_FILE is not written: it needs QLEN_MON_START and"),
        (
            "QLEN_MON_FILE q\nQLEN_MON_START 9\nQLEN_MON_END 3\n",
            "QLEN_MON_FILE is not written: QLEN_MON_START is not before QLEN_MON_END",
        ),
        ("UPLINK_MON_FILE u\n", "UPLINK_MON_FILE is not written: it is a key of ConWeave"),
    ] {
        let files = Files::new(&format!("{PLAIN}{keys}"));
        let warnings = files.load(&Overrides::default()).unwrap().warnings;
        assert!(warnings.len() == 1 && warnings[0].starts_with(warning), "{keys}: {warnings:?}");
    }
}
