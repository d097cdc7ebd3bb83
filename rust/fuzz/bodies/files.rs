//! File readers: any text yields a value or an error, never a panic.

use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use evenkeel::chakra::{self, Options, Streaming, TraceSource, Traces};
use evenkeel::connection_matrix::StartUnit;
use evenkeel::infragraph::Defaults;
use evenkeel::normal_form::NotWritten;
use evenkeel::scenario::{Overrides, RailScenario, Scenario, Setting};
use evenkeel::study::reproduce::{Scale, Study};
use evenkeel::study::{Shard, Sweep};
use evenkeel::units::{BitRate, Span};
use evenkeel::workload::Workload;
use evenkeel::{connection_matrix, goal, hpcc, infragraph, simccl};

/// Inputs with numbers of this many digits are skipped. Thousands of hosts or switches are valid
/// but too slow to build for each input.
const SKIPPED_DIGITS: usize = 4;

/// Reads a topology file of the HPCC family.
pub fn topology_hpcc(data: &[u8]) {
    let Some(text) = text(data) else { return };
    match hpcc::topology::read(text, "topology.txt") {
        Ok(read) => assert_eq!(read.node_of_host.len(), read.topology.host_count() as usize),
        Err(error) => expect_message(&error.to_string()),
    }
}

/// Reads an InfraGraph description.
pub fn infragraph(data: &[u8]) {
    let Some(text) = text(data) else { return };
    let (rate, delay) = (Some(BitRate::from_gbps(100)), Some(Span::from_us(1)));
    match infragraph::read(text, "fabric.yaml", Defaults { rate, delay }) {
        Ok(read) => {
            let hosts = read.topology.host_count();
            assert!(hosts > 0);
            if let Ok(text) = infragraph::write(&read.topology) {
                let again = infragraph::read(&text, "again", Defaults::default());
                assert_eq!(again.expect("it is valid").topology.host_count(), hosts);
            }
        }
        Err(error) => expect_message(&error.to_string()),
    }
}

/// Reads a flow file of the HPCC family, with a topology in which every third node is a switch.
pub fn flows_hpcc(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let hosts: Vec<_> =
        (0..9u32).map(|node| (node % 3 != 2).then_some(evenkeel::ids::HostId(node))).collect();
    match hpcc::flows::read(text, "flows.txt") {
        Ok(read) => match read.workload(&hosts) {
            Ok(workload) => assert_eq!(workload.messages.len(), read.flows.len()),
            Err(error) => expect_message(&error.to_string()),
        },
        Err(error) => expect_message(&error.to_string()),
    }
}

/// Reads a configuration of the HPCC family.
pub fn config_hpcc(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    match hpcc::config::read(text, "config.txt") {
        Ok(config) => {
            config.family();
        }
        Err(error) => expect_message(&error.to_string()),
    }
}

/// Processes a scenario, from its text to the setup of a run.
pub fn scenario(data: &[u8]) {
    let Some(text) = text(data) else { return };
    // Skipped: scenarios that read other files depend on the machine.
    if text.contains("/") && text.contains("file") || text.contains("path") {
        return;
    }
    match Scenario::parse(text, "fuzz", Path::new("no-such-folder"), &Overrides::default()) {
        Ok(scenario) => {
            scenario.explain();
            scenario.setup();
        }
        Err(error) => expect_message(&error.to_string()),
    }
}

/// Reads a scenario of hosts with several rails.
pub fn rails(data: &[u8]) {
    let Some(text) = text(data) else { return };
    let path = Path::new("no-such-folder/rails.toml");
    match RailScenario::parse(text.to_owned(), path, &Overrides::default()) {
        // The rendered text must parse to the same scenario.
        Ok(scenario) => {
            let written = scenario.render();
            let again = RailScenario::parse(written.clone(), path, &Overrides::default());
            assert_eq!(again.expect("it is valid").render(), written);
        }
        Err(error) => expect_message(&error.to_string()),
    }
}

/// Sets keys, one per line, as on the command line, in a small scenario.
pub fn settings(data: &[u8]) {
    // Fewer digits: combinations of large numbers are more frequent here and slow to build.
    let Some(text) = text_of_digits(data, SKIPPED_DIGITS - 1) else { return };
    if text.contains("file") || text.contains("path") {
        return;
    }
    let mut settings = Vec::new();
    for line in text.lines() {
        match line.parse::<Setting>() {
            Ok(setting) => settings.push(setting),
            Err(message) => return expect_message(&message),
        }
    }
    let overrides = Overrides { settings, ..Overrides::default() };
    let small = "[topology]\nleaves = 2\nspines = 2\nhosts_per_leaf = 2\n";
    match Scenario::parse(small, "fuzz", Path::new("no-such-folder"), &overrides) {
        Ok(scenario) => {
            scenario.explain();
            scenario.setup();
        }
        Err(error) => expect_message(&error.to_string()),
    }
}

/// Reads a study, and the same text as a sweep.
pub fn study(data: &[u8]) {
    let Some(text) = text(data) else { return };
    let path = Path::new("no-such-folder/study.toml");
    let whole = Study::parse(text, path, Scale::Paper).is_ok();
    for scale in [Scale::Quick, Scale::Paper] {
        if let Err(error) = Study::parse(text, path, scale) {
            expect_message(&error.to_string());
        }
    }
    match Sweep::parse(text.to_owned(), path) {
        Ok(sweep) => {
            assert!(whole, "a sweep is a study");
            let all = sweep.rows(Shard::ALL);
            let shards = ["1/3", "2/3", "3/3"].map(|it| it.parse::<Shard>().expect("a shard"));
            assert_eq!(shards.iter().map(|&shard| sweep.rows(shard)).sum::<usize>(), all);
        }
        Err(error) => expect_message(&error.to_string()),
    }
}

/// Reads two traces. The input holds the length of the first in two bytes, then both traces.
pub fn chakra(data: &[u8]) {
    let [low, high, rest @ ..] = data else { return };
    let length = usize::from(u16::from_le_bytes([*low, *high])).min(rest.len());
    let (first, second) = rest.split_at(length);
    let files = MemoryFiles([first.to_vec(), second.to_vec()]);
    let whole = read_traces(&files, 2);
    replay(&files, whole.as_ref());
    let Some(workload) = whole else { return };
    // Writing and rereading a workload must give the same bytes.
    let traces = Traces::of(&workload).expect("a trace's dependencies are within its rank");
    let mut files = MemoryFiles([Vec::new(), Vec::new()]);
    for rank in 0..traces.ranks() {
        traces.write(rank, &mut files.0[rank as usize]).expect("memory can be written");
    }
    let again = read_traces(&files, traces.ranks()).expect("written traces can be read");
    assert_eq!(again.total_bytes(), workload.total_bytes());
}

/// Replays traces while reading them, delivering each message immediately. Valid traces complete
/// with any window; others end with an error.
fn replay(files: &MemoryFiles, whole: Option<&Workload>) {
    let mut bytes = Vec::new();
    for window in [1, 3, 1_000] {
        let options = Options::default();
        let streaming = match Streaming::open(Arc::new(files.clone()), 2, options, window) {
            Ok(streaming) => streaming,
            Err(error) => {
                expect_message(&error.to_string());
                assert!(whole.is_none(), "valid as a whole, but: {error}");
                return;
            }
        };
        let mut player = streaming.player();
        let mut sent = 0u128;
        while let Some(now) = player.next_time() {
            player.handle_time(now);
            while let Some((origin, message)) = player.poll_send() {
                sent += u128::from(message.bytes.get());
                player.handle_delivered(now, origin);
                player.handle_complete(now, origin);
            }
        }
        match player.fault() {
            Some(error) => {
                expect_message(&error.to_string());
                // Dependencies may be further ahead than a small window.
                assert!(whole.is_none() || window < 1_000, "valid as a whole, but: {error}");
            }
            None => {
                assert!(player.is_done(), "neither complete nor failed");
                bytes.push(sent);
                assert_eq!(sent, u128::from(streaming.load().total_bytes().get()));
            }
        }
    }
    let expected = whole.map(|workload| u128::from(workload.total_bytes().get()));
    if let Some(expected) = expected {
        assert!(bytes.iter().all(|&sent| sent == expected), "{bytes:?}, but as a whole {expected}");
    }
}

/// Traces in memory.
#[derive(Clone)]
struct MemoryFiles([Vec<u8>; 2]);

impl TraceSource for MemoryFiles {
    fn name(&self, rank: u32) -> String {
        format!("t.{rank}.et")
    }

    fn open(&self, rank: u32) -> std::io::Result<Box<dyn Read + '_>> {
        Ok(Box::new(self.0[rank as usize].as_slice()))
    }
}

fn read_traces(files: &MemoryFiles, ranks: u32) -> Option<Workload> {
    match chakra::read(files, ranks, &Options::default()) {
        Ok(read) => Some(read.workload),
        Err(error) => {
            expect_message(&error.to_string());
            None
        }
    }
}

/// Reads a GOAL schedule.
pub fn goal(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    match goal::read(text, "schedule.goal", goal::Options::default()) {
        Ok(schedule) => {
            expect_hosts(&schedule.workload, schedule.hosts);
            expect_written(&schedule.workload, schedule.hosts);
        }
        Err(error) => expect_message(&error.to_string()),
    }
}

/// Reads a connection matrix of htsim.
pub fn connection_matrix(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    match connection_matrix::read(text, "flows.cm", StartUnit::default()) {
        Ok(matrix) => {
            expect_hosts(&matrix.workload, matrix.nodes);
            // A matrix may declare up to 2^24 nodes.
            if matrix.nodes < 1_000 {
                expect_written(&matrix.workload, matrix.nodes);
            }
        }
        Err(error) => expect_message(&error.to_string()),
    }
}

/// Reads a flow file of SimCCL.
pub fn simccl(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    for choice in [simccl::Choice::Only, simccl::Choice::InTurn] {
        match simccl::read(text, "flows.csv", choice) {
            Ok(flows) => expect_hosts(&flows.workload, flows.ranks),
            Err(error) => expect_message(&error.to_string()),
        }
    }
}

/// Checks that writing and rereading a workload gives the same workload.
fn expect_written(workload: &Workload, hosts: u32) {
    let written = [
        goal::write(workload, hosts).err(),
        connection_matrix::write(workload, hosts).err(),
        hpcc::flows::write(workload, hosts).err(),
    ];
    for refused in written.into_iter().flatten() {
        assert_ne!(refused, NotWritten::RoundTripMismatch);
        expect_message(&refused.to_string());
    }
}

fn expect_hosts(workload: &Workload, hosts: u32) {
    let ends = workload.messages.iter().flat_map(|message| [message.src, message.dst]);
    let all = ends.chain(workload.delays.iter().map(|delay| delay.host));
    assert!(all.max().is_none_or(|last| last.0 < hosts), "an unknown host");
}

/// Returns the input as text; `None` if it is not UTF-8 or has a number of [`SKIPPED_DIGITS`] or
/// more digits.
fn text(data: &[u8]) -> Option<&str> {
    text_of_digits(data, SKIPPED_DIGITS)
}

/// Returns the input as text if all numbers have fewer than `skipped` digits.
fn text_of_digits(data: &[u8], skipped: usize) -> Option<&str> {
    let text = std::str::from_utf8(data).ok()?;
    let mut digits = text.split(|c: char| !c.is_ascii_digit());
    digits.all(|number| number.len() < skipped).then_some(text)
}

/// Checks that an error has a message.
fn expect_message(message: &str) {
    assert!(message.len() > 10, "an error with only '{message}'");
}
