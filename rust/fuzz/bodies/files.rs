//! Readers of files: any text is a value or an error, never a panic.

use std::path::Path;

use evenkeel::hpcc;
use evenkeel::scenario::{Overrides, Scenario};
use evenkeel::topology;
use evenkeel::workload::hpcc_flows;

/// More hosts or switches are sound, and too slow to build over and over.
const LARGEST_NUMBER: usize = 4;

/// A topology file of the HPCC family.
pub fn topology_hpcc(data: &[u8]) {
    let Some(text) = text(data) else { return };
    match topology::hpcc::read(text, "topology.txt") {
        Ok(read) => assert_eq!(read.node_of_host.len(), read.topology.host_count() as usize),
        Err(error) => expect_message(&error.to_string()),
    }
}

/// A flow file of the HPCC family, on hosts of which every third is none.
pub fn flows_hpcc(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let hosts: Vec<_> =
        (0..9u32).map(|node| (node % 3 != 2).then_some(evenkeel::ids::HostId(node))).collect();
    match hpcc_flows::read(text, "flows.txt") {
        Ok(read) => match read.workload(&hosts) {
            Ok(workload) => assert_eq!(workload.messages.len(), read.flows.len()),
            Err(error) => expect_message(&error.to_string()),
        },
        Err(error) => expect_message(&error.to_string()),
    }
}

/// A configuration of the HPCC family.
pub fn config_hpcc(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    match hpcc::config::read(text, "config.txt") {
        Ok(config) => {
            config.family();
        }
        Err(error) => expect_message(&error.to_string()),
    }
}

/// A scenario, from its text to what a run is given.
pub fn scenario(data: &[u8]) {
    let Some(text) = text(data) else { return };
    // Files of this machine are not what is looked at.
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

/// Text without long numbers.
fn text(data: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(data).ok()?;
    let mut digits = text.split(|c: char| !c.is_ascii_digit());
    digits.all(|number| number.len() < LARGEST_NUMBER).then_some(text)
}

/// An error says something.
fn expect_message(message: &str) {
    assert!(message.len() > 10, "an error that says only '{message}'");
}
