//! Recorded files, compared with the family's own reader and simulator, and with the counters of
//! the run.

use std::cell::RefCell;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::Path;
use std::rc::Rc;

use super::trace_format::RECORD_BYTES;
use super::{RecordedFile, Recorder};
use crate::fabric::{self, Outcome, PauseOrder, Rounding};
use crate::hpcc::{Experiment, Overrides};

/// A file in memory.
#[derive(Clone, Default)]
struct MemoryFile(Rc<RefCell<Vec<u8>>>);

impl Write for MemoryFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Runs the experiment with a recorder and returns the recorded files. Checks that the recorder
/// changed no result.
fn record(experiment: &Experiment) -> (Vec<(RecordedFile, Vec<u8>)>, Outcome) {
    let mut files = Vec::new();
    let mut open = |what| -> io::Result<Box<dyn Write>> {
        let file = MemoryFile::default();
        files.push((what, file.clone()));
        Ok(Box::new(file))
    };
    let mut recorder = Recorder::new(experiment, &mut open).unwrap();
    let observers = fabric::Observers { watch: Some(&mut recorder), progress: &mut |_| () };
    let world = fabric::World::new(&experiment.setup);
    let outcome = fabric::drive(world, &mut fabric::FixedWorkload, observers);
    recorder.finish(&outcome).unwrap();
    let alone = fabric::run(&experiment.setup, &mut |_| ());
    assert_eq!((&alone.flows, &alone.link_bytes), (&outcome.flows, &outcome.link_bytes));
    assert_eq!((&alone.pauses, alone.counters), (&outcome.pauses, outcome.counters));
    (files.into_iter().map(|(what, file)| (what, file.0.take())).collect(), outcome)
}

fn load(files: &[(&str, &str)]) -> Experiment {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    let overrides = Overrides { rounding: Rounding::TruncateNs, ..Overrides::default() };
    Experiment::load(&folder.path().join("config.txt"), &overrides).unwrap()
}

const STAR: &str = "4 1 3\n3\n0 3 100Gbps 1us 0\n1 3 100Gbps 1us 0\n2 3 100Gbps 1us 0\n";

/// A configuration that marks every packet with another packet behind it.
const MARK_ALL: &str = "TOPOLOGY_FILE topology.txt\nFLOW_FILE flow.txt\nTRACE_FILE trace.txt\n\
    HAS_WIN 0\nSIMULATOR_STOP_TIME 2.1\nKMAX_MAP 1 100000000000 0\nKMIN_MAP 1 100000000000 0\n\
    PMAX_MAP 1 100000000000 1\n";

fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte))
}

/// A record, by its fields.
#[derive(Debug, Clone, Copy)]
struct Fields {
    time: u64,
    node: u64,
    interface: u64,
    queue: u64,
    waiting: u64,
    size: u64,
    protocol: u64,
    event: u64,
    is_switch: u64,
}

/// Splits a trace into its header and its records.
fn read(trace: &[u8]) -> (&[u8], Vec<&[u8]>) {
    let header = 8 + 11 * number(&trace[..4]) as usize;
    let (header, records) = trace.split_at(header);
    assert_eq!(records.len() % RECORD_BYTES, 0);
    (header, records.chunks(RECORD_BYTES).collect())
}

fn fields(record: &[u8]) -> Fields {
    Fields {
        time: number(&record[..8]),
        node: number(&record[8..10]),
        interface: record[10].into(),
        queue: record[11].into(),
        waiting: number(&record[12..16]),
        size: number(&record[24..26]),
        protocol: record[26].into(),
        event: record[27].into(),
        is_switch: record[29].into(),
    }
}

/// Formats a data or acknowledgement record as HPCC's `trace_reader` prints it.
fn line(record: &[u8]) -> String {
    let Fields { time, node, interface, queue, waiting, size, event, .. } = fields(record);
    let event = ["Recv", "Enqu", "Dequ", "Drop"][event as usize];
    let [src, dst] = [16, 20].map(|at| number(&record[at..at + 4]));
    let short = |at: usize| number(&record[32 + at..34 + at]);
    let long = |at: usize| number(&record[32 + at..36 + at]);
    let mut line = format!(
        "{time} n:{node} {interface}:{queue} {waiting} {event} ecn:{:x} {src:08x} {dst:08x} {} {} ",
        record[28],
        short(0),
        short(2)
    );
    match record[26] {
        0x11 => write!(line, "U {} {} {} {size}({})", long(4), long(8), short(16), short(18)),
        0xfc => write!(line, "A 0x{:02X} {} {} {} {size}", short(4), short(6), long(8), long(16)),
        other => write!(line, "{other:x}"),
    }
    .unwrap();
    line
}

/// Two flows meet in a switch. The expected lines are the output of the family's own
/// `analysis/trace_reader` for this file.
#[test]
fn the_familys_reader_prints_the_expected_trace() {
    let experiment = load(&[
        ("topology.txt", STAR),
        ("flow.txt", "2\n0 2 3 100 1200 2.0\n1 2 3 100 1000 2.0\n"),
        ("trace.txt", "2\n2 3\nthe receiver and the switch\n"),
        ("config.txt", MARK_ALL),
    ]);
    assert_eq!(experiment.recorded(), [(RecordedFile::Trace, "mix.tr".to_owned())]);
    let (files, _) = record(&experiment);
    let [(RecordedFile::Trace, trace)] = &files[..] else { panic!("{files:?}") };
    let (header, records) = read(trace);
    let rate = 100_000_000_000u64.to_le_bytes();
    let mut expected = vec![6, 0, 0, 0];
    for [node, interface] in [[0, 1], [1, 1], [2, 1], [3, 1], [3, 2], [3, 3]] {
        expected.extend([node, 0, interface]);
        expected.extend(rate);
    }
    // 4 us of propagation and 80 ns per link, at 100 Gbps.
    expected.extend(52_000u32.to_le_bytes());
    assert_eq!(header, expected);
    let lines: Vec<String> = records.iter().map(|record| line(record)).collect();
    let expected = "\
2000001083 n:3 1:0 0 Recv ecn:0 0b000001 0b000201 10000 100 U 0 0 3 1048(1000)
2000001083 n:3 2:0 0 Recv ecn:0 0b000101 0b000201 10000 100 U 0 0 3 1048(1000)
2000001083 n:3 3:3 0 Enqu ecn:0 0b000001 0b000201 10000 100 U 0 0 3 1048(1000)
2000001083 n:3 3:3 0 Dequ ecn:0 0b000001 0b000201 10000 100 U 0 0 3 1048(1000)
2000001083 n:3 3:3 0 Enqu ecn:0 0b000101 0b000201 10000 100 U 0 0 3 1048(1000)
2000001102 n:3 1:0 0 Recv ecn:0 0b000001 0b000201 10000 100 U 1000 0 3 248(200)
2000001102 n:3 3:3 1048 Enqu ecn:0 0b000001 0b000201 10000 100 U 1000 0 3 248(200)
2000001166 n:3 3:3 248 Dequ ecn:3 0b000101 0b000201 10000 100 U 0 0 3 1048(1000)
2000001249 n:3 3:3 0 Dequ ecn:0 0b000001 0b000201 10000 100 U 1000 0 3 248(200)
2000002166 n:2 1:0 0 Recv ecn:0 0b000001 0b000201 10000 100 U 0 0 3 1048(1000)
2000002166 n:2 1:0 0 Enqu ecn:0 0b000201 0b000001 100 10000 A 0x00 3 1000 0 60
2000002166 n:2 1:0 0 Dequ ecn:0 0b000201 0b000001 100 10000 A 0x00 3 1000 0 60
2000002249 n:2 1:0 0 Recv ecn:3 0b000101 0b000201 10000 100 U 0 0 3 1048(1000)
2000002249 n:2 1:0 0 Enqu ecn:0 0b000201 0b000101 100 10000 A 0x01 3 1000 0 60
2000002249 n:2 1:0 0 Dequ ecn:0 0b000201 0b000101 100 10000 A 0x01 3 1000 0 60
2000002268 n:2 1:0 0 Recv ecn:0 0b000001 0b000201 10000 100 U 1000 0 3 248(200)
2000002268 n:2 1:0 0 Enqu ecn:0 0b000201 0b000001 100 10000 A 0x00 3 1200 0 60
2000002268 n:2 1:0 0 Dequ ecn:0 0b000201 0b000001 100 10000 A 0x00 3 1200 0 60
2000003170 n:3 3:0 0 Recv ecn:0 0b000201 0b000001 100 10000 A 0x00 3 1000 0 60
2000003170 n:3 1:3 0 Enqu ecn:0 0b000201 0b000001 100 10000 A 0x00 3 1000 0 60
2000003170 n:3 1:3 0 Dequ ecn:0 0b000201 0b000001 100 10000 A 0x00 3 1000 0 60
2000003253 n:3 3:0 0 Recv ecn:0 0b000201 0b000101 100 10000 A 0x01 3 1000 0 60
2000003253 n:3 2:3 0 Enqu ecn:0 0b000201 0b000101 100 10000 A 0x01 3 1000 0 60
2000003253 n:3 2:3 0 Dequ ecn:0 0b000201 0b000101 100 10000 A 0x01 3 1000 0 60
2000003272 n:3 3:0 0 Recv ecn:0 0b000201 0b000001 100 10000 A 0x00 3 1200 0 60
2000003272 n:3 1:3 0 Enqu ecn:0 0b000201 0b000001 100 10000 A 0x00 3 1200 0 60
2000003272 n:3 1:3 0 Dequ ecn:0 0b000201 0b000001 100 10000 A 0x00 3 1200 0 60";
    assert_eq!(lines.join("\n"), expected);
}

/// In a trace of all nodes, the length of each queue equals the bytes enqueued minus the bytes
/// dequeued. The numbers of pauses and of packets received, sent and lost equal the counters of the
/// run.
#[test]
fn a_trace_of_all_nodes_agrees_with_the_counters_of_the_run() {
    let flows = "2\n0 2 3 100 300000 2.0\n1 2 3 100 300000 2.0\n";
    for (more, bytes) in [
        // PFC with a small buffer.
        ("BUFFER_SIZE 1\n", "300000"),
        // Losses on links and in full buffers.
        ("BUFFER_SIZE 1\nENABLE_PFC 0\nERROR_RATE_PER_LINK 0.01\nMIN_RATE 100Gb/s\n", "3000000"),
        ("LB_POLICY subflow-4\nACK_HIGH_PRIO 1\n", "300000"),
    ] {
        let flows = flows.replace("300000", bytes);
        let config = format!("{MARK_ALL}{more}");
        let files = [
            ("topology.txt", STAR),
            ("flow.txt", &flows),
            ("trace.txt", "4 0 1 2 3"),
            ("config.txt", &config),
        ];
        let (files, outcome) = record(&load(&files));
        let (_, records) = read(&files[0].1);
        let records: Vec<Fields> = records.into_iter().map(fields).collect();
        assert!(records.windows(2).all(|pair| pair[0].time <= pair[1].time), "{more}");
        let mut queues = std::collections::BTreeMap::new();
        for record in records.iter().filter(|it| it.is_switch == 1) {
            let key = (record.node, record.interface, record.queue);
            let queue: &mut u64 = queues.entry(key).or_default();
            match record.event {
                1 => {
                    assert_eq!(*queue, record.waiting, "{record:?}, {more}");
                    *queue += record.size;
                }
                2 => {
                    *queue -= record.size;
                    assert_eq!(*queue, record.waiting, "{record:?}, {more}");
                }
                _ => {}
            }
        }
        let count = |event, protocols: std::ops::RangeInclusive<u64>, is_switch| {
            let is_it = |it: &&Fields| {
                it.event == event && protocols.contains(&it.protocol) && it.is_switch == is_switch
            };
            records.iter().filter(is_it).count() as u64
        };
        let counters = outcome.counters;
        assert_eq!(count(2, 0x11..=0x11, 0), counters.sent, "{more}");
        assert_eq!(count(0, 0x11..=0x11, 0), counters.delivered, "{more}");
        assert_eq!(count(2, 0xfc..=0xfd, 0), counters.control_sent, "{more}");
        assert_eq!(count(1, 0xfc..=0xfd, 0), counters.control_sent, "{more}");
        let dropped = count(3, 0x11..=0xfd, 0) + count(3, 0x11..=0xfd, 1);
        assert_eq!(dropped, counters.dropped + counters.control_dropped, "{more}");
        let pauses = outcome.pauses.iter().filter(|it| it.order == PauseOrder::Pause).count();
        assert!(count(2, 0xfe..=0xfe, 1) >= pauses as u64, "{more}");
        assert_eq!(count(0, 0xfe..=0xfe, 0), outcome.pauses.len() as u64, "{more}");
    }
}

/// Each sample counts once at each interface, even during long idle times.
#[test]
fn queues_are_sampled_at_every_period() {
    let config = format!(
        "{}QLEN_MON_START 1999900000\nQLEN_MON_END 2000300000\n",
        MARK_ALL.replace("TRACE_FILE trace.txt\n", "")
    );
    for pfc in ["ENABLE_PFC 1\n", "ENABLE_PFC 0\n"] {
        let experiment = load(&[
            ("topology.txt", STAR),
            ("flow.txt", "2\n0 2 3 100 500000 2.0\n1 2 3 100 500000 2.0002\n"),
            ("config.txt", &format!("{config}{pfc}")),
        ]);
        let (files, outcome) = record(&experiment);
        let [(RecordedFile::Queues, text)] = &files[..] else { panic!("{files:?}") };
        let text = String::from_utf8(text.clone()).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "time: 2000000000");
        // The first sample is 100 us before 2 s, the last one at 2 s.
        assert_eq!(lines[1..4], ["3 1 1001", "3 2 1001", "3 3 1001"]);
        let ended = outcome.ended.as_ps() / 1_000;
        assert_eq!(lines[4], format!("time: {ended}"));
        let samples = (ended - 1_999_900_000) / 100 + 1;
        for line in &lines[5..] {
            let counts = line.split(' ').skip(2).map(|count| count.parse::<u64>().unwrap());
            assert_eq!(counts.sum::<u64>(), samples, "{line}");
        }
        assert_eq!(lines.len(), 8);
    }
}

/// Any number of samples of empty queues takes no time. Here there are 300 million, none of them at
/// a multiple of 100 ms.
#[test]
fn idle_samples_are_counted_in_bulk() {
    let more = "QLEN_MON_START 50\nQLEN_MON_END 30000100000\n";
    let config = MARK_ALL.replace("TRACE_FILE trace.txt\n", "").replace("2.1", "31") + more;
    let experiment = load(&[
        ("topology.txt", STAR),
        ("flow.txt", "1\n0 2 3 100 5000 30.0\n"),
        ("config.txt", &config),
    ]);
    let (files, outcome) = record(&experiment);
    let text = String::from_utf8(files[0].1.clone()).unwrap();
    let ended = outcome.ended.as_ps() / 1_000;
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 4, "{text}");
    assert_eq!(lines[0], format!("time: {ended}"));
    for line in &lines[1..] {
        let counts = line.split(' ').skip(2).map(|count| count.parse::<u64>().unwrap());
        assert_eq!(counts.sum::<u64>(), (ended - 50) / 100 + 1, "{line}");
    }
}

#[test]
fn recorded_files_have_distinct_names() {
    let config = MARK_ALL.replace("TRACE_FILE", "TRACE_OUTPUT_FILE a/cnp.txt\nTRACE_FILE")
        + "LB_MODE 0\nUPLINK_MON_FILE b/cnp.txt\nCONN_MON_FILE mix.tr\n\
           CNP_OUTPUT_FILE c/cnp.txt\n";
    let experiment = load(&[
        ("topology.txt", STAR),
        ("flow.txt", "1\n0 2 3 5000 2.0\n"),
        ("trace.txt", "1 3"),
        ("config.txt", &config),
    ]);
    let names: Vec<String> = experiment.recorded().into_iter().map(|(_, name)| name).collect();
    assert_eq!(names, ["cnp.txt", "uplink.txt", "mix.tr", "2-cnp.txt"]);
    let all = experiment.file_names();
    assert!(names.iter().all(|name| all.contains(name)), "{all:?}");
    // Flows and samples start at 2 s by default.
    let (files, _) = record(&experiment);
    let connections = String::from_utf8(files[2].1.clone()).unwrap();
    assert!(connections.starts_with("2000000000,"), "{}", &connections[..80]);
}

/// Returns the lines of ConWeave's uplink and connection monitors in one of its cases, in which
/// nothing is marked.
fn conweave_s_monitors(folder: &Path, case: &str) -> [Vec<String>; 2] {
    let flows = Some(folder.join(format!("flow_{case}.txt")));
    let rounding = Rounding::TruncateNs;
    let overrides = Overrides { flows, rounding, ..Overrides::default() };
    let experiment = Experiment::load(&folder.join("config_perm.txt"), &overrides).unwrap();
    let names = experiment.recorded().into_iter().map(|(_, name)| name);
    let names: Vec<String> = names.collect();
    assert_eq!(names, ["out_uplink.txt", "out_conn.txt", "out_cnp.txt"]);
    let (files, _) = record(&experiment);
    let text = |(_, bytes): (RecordedFile, Vec<u8>)| String::from_utf8(bytes).unwrap();
    let [uplinks, connections, cnps]: [String; 3] =
        files.into_iter().map(text).collect::<Vec<_>>().try_into().unwrap();
    assert_eq!(cnps, "");
    [uplinks, connections].map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>())
}

/// ConWeave's simulator, built unchanged, wrote the expected values: one flow within a rack and one
/// across racks, equal byte by byte.
#[test]
fn conweave_monitors_write_the_same_as_its_simulator() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/hpcc/conweave");
    if !folder.is_dir() {
        eprintln!("skipped: the HPCC family's files are not at ../shared/data/hpcc");
        return;
    }
    let times = || (0..11u64).map(|sample| 2_000_000_000 + sample * 10_000);
    let connections_with = |open: &dyn Fn(u64) -> &'static str| -> Vec<String> {
        let line = |ns, host| {
            let open = if host == 0 { open((ns - 2_000_000_000) / 10_000) } else { "0,0" };
            format!("{ns},{host},{open}")
        };
        times()
            .flat_map(|ns| (0..128).map(move |host| (ns, host)))
            .map(|(ns, host)| line(ns, host))
            .collect()
    };
    // Within a rack no uplink carries data; there are eleven samples, the last at 100 us.
    let [uplinks, connections] = conweave_s_monitors(&folder, "onesame");
    let expected: Vec<String> = times()
        .flat_map(|ns| (128..136).flat_map(move |tor| (17..25).map(move |port| (ns, tor, port))))
        .map(|(ns, tor, port)| format!("{ns},{tor},{port},0"))
        .collect();
    assert_eq!(uplinks, expected);
    let open = |sample| if (1..=8).contains(&sample) { "1,1" } else { "0,0" };
    assert_eq!(connections, connections_with(&open));

    let [uplinks, connections] = conweave_s_monitors(&folder, "one");
    let open = |sample| match sample {
        1..=8 => "1,1",
        9 => "1,0",
        _ => "0,0",
    };
    assert_eq!(connections, connections_with(&open));
    // Data leaves switch 128 and acknowledgements leave switch 135, by port 22 as in the simulator.
    let bytes_of = |tor: &str| -> Vec<u64> {
        let columns = uplinks.iter().map(|line| line.split(',').collect::<Vec<_>>());
        let used = columns.filter(|it| it[1] == tor && it[3] != "0");
        used.map(|it| (it[2] == "22").then(|| it[3].parse().unwrap()).unwrap()).collect()
    };
    let data = [
        113_184, 238_944, 365_752, 491_512, 618_320, 744_080, 870_888, 996_648, 1_048_000,
        1_048_000,
    ];
    let answers = [3_420, 10_620, 17_880, 25_080, 32_340, 39_540, 46_800, 54_000, 60_000, 60_000];
    assert_eq!(bytes_of("128"), data);
    assert_eq!(bytes_of("135"), answers);
}

/// Each marked packet of two competing flows causes a notification.
#[test]
fn notifications_are_counted_at_their_receivers() {
    let config = MARK_ALL.replace("TRACE_FILE trace.txt\n", "")
        + "FLOWGEN_START_TIME 2.0\nFLOWGEN_STOP_TIME 2.001\nCNP_OUTPUT_FILE mix/7_out_cnp.txt\n\
           UPLINK_MON_FILE fct.txt\nFCT_OUTPUT_FILE mix/7_out_fct.txt\n";
    let experiment = load(&[
        ("topology.txt", STAR),
        ("flow.txt", "2\n0 2 3 1000000 2.0\n1 2 3 1000000 2.0\n"),
        ("config.txt", &config),
    ]);
    // A name that another result uses is not assigned.
    let names: Vec<String> = experiment.recorded().into_iter().map(|(_, name)| name).collect();
    assert_eq!(names, ["uplink.txt", "7_out_cnp.txt"]);
    let names: Vec<String> = experiment.tables().into_iter().map(|(_, name)| name).collect();
    assert_eq!(names, ["fct.txt", "pfc.txt", "7_out_fct.txt"]);
    let (files, outcome) = record(&experiment);
    let text = String::from_utf8(files[1].1.clone()).unwrap();
    let mut sum = 0;
    for line in text.lines() {
        let columns: Vec<u64> = line.split(' ').map(|it| it.parse().unwrap()).collect();
        let [ns, 2, by_ecn, 0, all] = columns[..] else { panic!("{line}") };
        assert_eq!((ns % 100_000, by_ecn), (2, all));
        sum += all;
    }
    let late = outcome.ended.as_ps() / 1_000 % 100_000;
    assert!(sum > 0 && sum <= outcome.counters.marked && late > 0, "{text}");
}
