//! Runs with a recorder: closed forms of an idle path, and agreement with the results of the run.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;
use std::rc::Rc;

use evenkeel::fabric::{self, FixedWorkload, Observers, Outcome, World, drive};
use evenkeel::record::{Profile, RecordedTable, Recorder};
use evenkeel::scenario::{Overrides, Scenario};

/// A writer whose output can be read afterwards.
#[derive(Clone, Default)]
struct Shared(Rc<RefCell<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A recorded run: tables by name with rows of texts, profile, and outcome.
struct Recorded {
    tables: BTreeMap<&'static str, Vec<Vec<String>>>,
    profile: Profile,
    outcome: Outcome,
}

fn record(text: &str) -> Recorded {
    let scenario = Scenario::parse(text, "r", Path::new(""), &Overrides::default());
    let scenario = scenario.unwrap_or_else(|error| panic!("{error}"));
    let recording = scenario.recordings[0].clone();
    let mut files: Vec<(RecordedTable, Shared)> = Vec::new();
    let mut open = |table| -> io::Result<Box<dyn Write>> {
        let file = Shared::default();
        files.push((table, file.clone()));
        Ok(Box::new(file))
    };
    let mut recorder = Recorder::new(&recording, &scenario.topology, &mut open).unwrap();
    let observers = Observers { watch: Some(&mut recorder), progress: &mut |_| {} };
    let outcome = drive(World::new(&scenario.setup()), &mut FixedWorkload, observers);
    let profile = recorder.finish(&outcome.pauses).unwrap();
    let rows = |file: &Shared| {
        let text = String::from_utf8(file.0.borrow().clone()).unwrap();
        text.lines().map(|line| line.split(',').map(str::to_owned).collect()).collect()
    };
    let tables = files.iter().map(|(table, file)| (table.name(), rows(file))).collect();
    Recorded { tables, profile, outcome }
}

/// Two leaves of two hosts and two spines at 400 Gbps; one message of 1 MB.
const ONE_MESSAGE: &str = "
    topology = { leaves = 2, spines = 2, hosts_per_leaf = 2, gap = '0B' }
    transport = { congestion_control = 'line-rate', payload = '952B', header = '48B' }
    job = [{ kind = 'incast', fan_in = 1, hosts = '0,2', bytes = '952000B' }]
";

fn column(rows: &[Vec<String>], name: &str) -> usize {
    rows[0].iter().position(|it| it == name).unwrap()
}

fn sum(rows: &[Vec<String>], name: &str) -> u64 {
    let index = column(rows, name);
    rows[1..].iter().map(|row| row[index].parse::<u64>().unwrap()).sum()
}

#[test]
fn a_message_on_an_idle_path_uses_its_link_fully() {
    let every = "record = { every = '1us', ports = 'host0-leaf0' }";
    let recorded = record(&format!("policy = {{ name = 'ecmp' }}\n{ONE_MESSAGE}\n{every}"));
    let rows = &recorded.tables["ports"];
    let uplink: Vec<_> = rows[1..].iter().filter(|row| row[1] == "host0").collect();
    // 1,000 packets of 1,000 B at 400 Gbps: 20 us, 50 packets in each microsecond.
    let [carried, used] = ["carried_bytes", "utilisation"].map(|name| column(rows, name));
    assert_eq!(uplink[0][0], "1000");
    assert!(uplink[1..19].iter().all(|row| row[carried] == "50000" && row[used] == "1.0000"));
    let total: u64 = uplink.iter().map(|row| row[carried].parse::<u64>().unwrap()).sum();
    assert_eq!(total, 1_000_000);
    // One row after the last packet, and none for the following silence.
    assert_eq!(uplink.last().unwrap()[carried], "0");
    assert!(uplink.len() <= 23, "{uplink:?}");
}

#[test]
fn a_pinned_flow_has_one_path_and_a_sprayed_one_changes_it() {
    let run = |policy: &str| {
        let every = "record = { every = '5us', ports = 'none', queue_pairs = 'none' }";
        record(&format!("policy = {{ name = '{policy}' }}\n{ONE_MESSAGE}\n{every}"))
    };
    let pinned = run("ecmp");
    let rows = &pinned.tables["paths"];
    assert_eq!((sum(rows, "packets"), sum(rows, "bytes")), (1_000, 1_000_000));
    assert_eq!((sum(rows, "path_changes"), sum(rows, "entropy_changes")), (0, 0));
    assert!(rows[1..].iter().all(|row| row[column(rows, "paths")] == "1"));
    let sprayed = run("spray");
    let rows = &sprayed.tables["paths"];
    // Two equally likely paths: half of 999 transitions, plus or minus 5 standard deviations.
    let changes = sum(rows, "path_changes");
    assert!((420..580).contains(&changes), "{changes}");
    assert!(rows[1..].iter().all(|row| row[column(rows, "paths")] == "2"), "{rows:?}");
    let counted: u64 = sprayed.profile.windows().iter().map(|it| it.path_changes).sum();
    assert_eq!(counted, changes);
    // Hosts without packets have no rows, and neither have acknowledgements.
    assert!(rows[1..].iter().all(|row| row[1] == "host0" && row[2] == "host2"));
}

#[test]
fn the_recorded_window_is_that_of_the_congestion_control() {
    let text = ONE_MESSAGE.replace("'line-rate'", "'dctcp-window'");
    let every = "record = { every = '1us', ports = 'none', paths = 'none', queue_pairs = '0..2' }";
    let recorded = record(&format!("policy = {{ name = 'ecmp' }}\n{text}\n{every}"));
    let rows = &recorded.tables["queue_pairs"];
    assert_eq!(recorded.tables.len(), 1);
    let [flight, window] = ["in_flight_packets", "window_bytes"].map(|name| column(rows, name));
    assert!(rows.len() > 15, "{rows:?}");
    for row in &rows[1..] {
        let (flight, window): (u64, u64) =
            (row[flight].parse().unwrap(), row[window].parse().unwrap());
        assert!(flight > 0 && flight * 1_000 <= window, "{row:?}");
        assert_eq!(row.last().unwrap(), "", "a control by window has no rate");
    }
}

/// Sampling settles ports early, which must not change the results.
#[test]
fn recording_changes_no_result() {
    let text = "
        topology = { leaves = 4, spines = 2, hosts_per_leaf = 4 }
        workload = { kind = 'permutation', bytes = '256KB' }
        policy = { name = 'reps' }
        failure = [{ link = 'leaf0-spine0', at = '3us', until = '20us' }]
    ";
    let recorded = record(&format!("{text}\nrecord = {{ every = '700ns' }}"));
    let plain = Scenario::parse(text, "r", Path::new(""), &Overrides::default()).unwrap();
    let plain = fabric::run(&plain.setup(), &mut |_| {});
    let counters = |outcome: &Outcome| fabric::Counters { events: 0, ..outcome.counters };
    assert_eq!(counters(&recorded.outcome), counters(&plain));
    assert_eq!(recorded.outcome.flows, plain.flows);
    assert_eq!(recorded.outcome.link_bytes, plain.link_bytes);
    assert_eq!(recorded.outcome.queue_bytes_max_by_port, plain.queue_bytes_max_by_port);
    let rows = &recorded.tables["paths"];
    assert_eq!(sum(rows, "packets"), plain.counters.sent);
    let most = recorded.profile.windows().iter().map(|it| it.queue_bytes_max).max().unwrap();
    let largest = plain.queue_bytes_max_by_port.iter().max().unwrap().get();
    assert!(most > 0 && most <= largest, "{most} of {largest}");
}

/// The claim of `examples/recording.toml`.
#[test]
fn reps_leaves_a_down_link_and_returns_after_recovery() {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/recording.toml");
    let recorded = record(&std::fs::read_to_string(example).unwrap());
    let rows = &recorded.tables["ports"];
    let used = |us: std::ops::RangeInclusive<u64>| -> f64 {
        let port = rows[1..].iter().filter(|row| row[1..3] == ["leaf0", "spine0"]);
        let ns = |row: &Vec<String>| row[0].parse::<u64>().unwrap() / 1_000;
        let within = port.filter(|row| us.contains(&ns(row)));
        let used: Vec<f64> = within.map(|row| row[5].parse().unwrap()).collect();
        used.iter().sum::<f64>() / used.len() as f64
    };
    // Down from 30 to 80 us; acknowledgements take a round trip to report it.
    let [before, down, after] = [used(10..=30), used(40..=80), used(135..=170)];
    assert!(before > 0.95 && down < 0.35 && after > 0.9, "{before} {down} {after}");
    let rows = &recorded.tables["paths"];
    assert!(sum(rows, "path_changes") > 1_000);
}

/// Three senders, a receiver, and a buffer small enough for frequent pauses.
const PAUSED: &str = "
    topology = { leaves = 2, spines = 2, hosts_per_leaf = 4 }
    transport = { congestion_control = 'line-rate' }
    policy = { name = 'ecmp' }
    switch = { buffer = '2MB', pfc = true }
    job = [{ kind = 'incast', fan_in = 4, hosts = '0,4..8', bytes = '2MB' }]
";

/// Groups the pauses of a table by port.
fn by_port(rows: &[Vec<String>]) -> BTreeMap<&[String], Vec<&Vec<String>>> {
    let mut ports: BTreeMap<&[String], Vec<&Vec<String>>> = BTreeMap::new();
    rows[1..].iter().for_each(|row| ports.entry(&row[1..3]).or_default().push(row));
    ports
}

#[test]
fn recorded_pause_time_spans_each_pause_to_its_resume() {
    let of = |on: &str| {
        record(&format!(
            "{PAUSED}\nrecord = {{ on = '{on}', every = '3us', queue_pairs = 'none' }}"
        ))
    };
    let (intervals, changes) = (of("interval"), of("change"));
    let (rows, each) = (&intervals.tables["pauses"], &changes.tables["pause_changes"]);
    let begun = intervals.outcome.counters.pfc_pauses;
    assert!(begun > 10, "{begun} pauses");
    // Every pause that took effect counts, whether or not another is in flight at the end.
    let is_pause = |row: &&Vec<String>| row[3] == "1";
    assert_eq!(sum(rows, "pauses"), each[1..].iter().filter(is_pause).count() as u64);
    let total = |rows: &[Vec<String>]| -> f64 {
        rows[1..].iter().map(|row| row[4].parse::<f64>().unwrap()).sum()
    };
    let mut paused = 0.0;
    for changes in by_port(each).values() {
        for pair in changes.chunks(2) {
            let [pause, resume] = pair else { continue };
            assert_eq!([&pause[3], &resume[3]], ["1", "0"]);
            paused += resume[0].parse::<f64>().unwrap() - pause[0].parse::<f64>().unwrap();
        }
    }
    assert!((total(rows) - paused).abs() < 1e-3 * paused, "{} and {paused}", total(rows));
    // No port is paused for longer than the interval, and shares are relative to it.
    for row in &rows[1..] {
        let [ns, share] = [4, 5].map(|column| row[column].parse::<f64>().unwrap());
        assert!((0.0..=3_000.0).contains(&ns) && (share - ns / 3_000.0).abs() < 1e-4, "{row:?}");
    }
    let profile: u64 = intervals.profile.windows().iter().map(|it| it.pauses).sum();
    assert_eq!(profile, sum(rows, "pauses"));
    assert_eq!(changes.profile, intervals.profile);
}

/// Asserts that each queue's length at the end of each interval is that of its last change before.
/// Returns the number of nonzero lengths.
fn assert_changes_lead_to_lengths(intervals: &Recorded, changes: &Recorded) -> usize {
    let each = by_port(&changes.tables["queue_changes"]);
    let mut compared = 0;
    for (port, rows) in by_port(&intervals.tables["ports"]) {
        for row in rows {
            let at = row[0].parse::<f64>().unwrap();
            let before = |change: &&&Vec<String>| change[0].parse::<f64>().unwrap() < at;
            let last = each.get(port).and_then(|all| all.iter().rfind(before));
            assert_eq!(row[3], last.map_or("0", |change| change[3].as_str()), "{row:?}");
            compared += usize::from(row[3] != "0");
        }
    }
    compared
}

#[test]
fn queue_changes_reproduce_interval_queue_lengths() {
    let text = PAUSED.replace("switch = { buffer = '2MB', pfc = true }", "");
    let of = |on: &str| record(&format!("{text}\nrecord = {{ on = '{on}', every = '900ns' }}"));
    let (intervals, changes) = (of("interval"), of("change"));
    let compared = assert_changes_lead_to_lengths(&intervals, &changes);
    assert!(compared > 20, "{compared} lengths");
    // No row repeats the previous one.
    let each = by_port(&changes.tables["queue_changes"]);
    let repeats = |rows: &Vec<&Vec<String>>| rows.windows(2).any(|pair| pair[0][3] == pair[1][3]);
    assert!(!each.values().any(repeats));
    // The profile is that of the intervals, and the first packet of a flow has a row.
    assert_eq!(changes.profile, intervals.profile);
    let first = changes.tables["path_changes"].len() - 1;
    assert_eq!(first, 4, "four flows, each on one path");
}

#[test]
fn queue_pair_rows_are_written_only_when_values_change() {
    let of = |on: &str| {
        let text = ONE_MESSAGE.replace("'line-rate'", "'dctcp-window'");
        let every = format!("record = {{ on = '{on}', every = '20ns', paths = 'none' }}");
        record(&format!("policy = {{ name = 'ecmp' }}\n{text}\n{every}"))
    };
    let (intervals, changes) = (of("interval"), of("change"));
    let rows = &changes.tables["queue_pairs"][1..];
    assert!(rows.windows(2).all(|pair| pair[0][4..] != pair[1][4..]));
    // They are the rows of the intervals, without repetitions.
    let mut all = intervals.tables["queue_pairs"][1..].to_vec();
    let before = all.len();
    all.dedup_by(|later, earlier| later[4..] == earlier[4..]);
    assert_eq!(rows, all);
    assert!(rows.len() < before, "{before} rows");
}

#[test]
fn path_changes_match_the_interval_counts() {
    let of = |on: &str| {
        let every = format!("record = {{ on = '{on}', every = '5us', queue_pairs = 'none' }}");
        record(&format!("policy = {{ name = 'spray' }}\n{ONE_MESSAGE}\n{every}"))
    };
    let rows = &of("change").tables["path_changes"];
    let counted = sum(&of("interval").tables["paths"], "path_changes");
    let paths: Vec<&String> = rows[1..].iter().map(|row| &row[5]).collect();
    let changes = paths.windows(2).filter(|pair| pair[0] != pair[1]).count();
    assert_eq!(changes as u64, counted);
}

/// Two incasts of two classes, for which host links are paused.
const CLASSES: &str = "
    topology = { leaves = 2, spines = 1, hosts_per_leaf = 4 }
    switch = { buffer = '2MB', pfc = true }
    transport = { congestion_control = 'line-rate' }
    policy = { name = 'ecmp' }
    class = [{ name = 'a', scheduling = 'strict' }, { name = 'b, c', weight = 2 }]
    job = [
        { kind = 'incast', fan_in = 3, hosts = '0..4', bytes = '500KB', class = 'a' },
        { kind = 'incast', fan_in = 4, hosts = '4,5,1,2,3', bytes = '500KB', class = 'b, c' },
    ]
";

#[test]
fn pauses_are_recorded_per_class_and_queues_over_all_classes() {
    let of = |on: &str| record(&format!("{CLASSES}\nrecord = {{ on = '{on}', every = '900ns' }}"));
    let (intervals, changes) = (of("interval"), of("change"));
    let rows = &changes.tables["pause_changes"];
    assert_eq!(rows[0], ["time_ns", "from", "to", "paused", "class"]);
    assert_eq!(intervals.tables["pauses"][0].last().unwrap(), "class");
    assert_eq!(rows.len() - 1, changes.outcome.pauses.len());
    let mut paused: BTreeMap<Vec<String>, bool> = BTreeMap::new();
    for row in &rows[1..] {
        let of_class = [&row[1..3], &row[4..]].concat();
        let before = paused.insert(of_class, row[3] == "1").unwrap_or(false);
        assert_ne!(before, row[3] == "1", "{row:?}");
    }
    let of_class = |name: &str| paused.keys().filter(|key| key[2] == name).count();
    // The name with a comma is quoted, and this test reads it as two fields.
    assert!(of_class("a") > 0 && of_class("\"b") > 0, "{paused:?}");
    assert!(assert_changes_lead_to_lengths(&intervals, &changes) > 20);
}

/// The claim of `examples/pauses.toml`.
#[test]
fn incast_pauses_reach_every_sender() {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/pauses.toml");
    let recorded = record(&std::fs::read_to_string(example).unwrap());
    let cct = recorded.outcome.cct.unwrap().as_ns_f64();
    let mut hosts = [0; 2];
    for (port, rows) in by_port(&recorded.tables["pauses"]) {
        if port[0].starts_with("host") {
            let paused: f64 = rows.iter().map(|row| row[4].parse::<f64>().unwrap()).sum();
            let of_receiver = port[1] == "leaf3";
            let expected = if of_receiver { 0.15..0.25 } else { 0.5..0.9 };
            assert!(expected.contains(&(paused / cct)), "{port:?}: {}", paused / cct);
            hosts[usize::from(of_receiver)] += 1;
        }
    }
    assert_eq!(hosts, [2, 1]);
}
