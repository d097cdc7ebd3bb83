//! Writes a workload as a flow file: host i is node i.

use std::fmt::Write;

use crate::ids::HostId;
use crate::normal_form::{NormalForm, NormalMessage, NotWritten};
use crate::units::Time;
use crate::workload::Workload;

/// Priority group and destination port of every flow, as in the family's own files.
const PRIORITY_AND_PORT: &str = "3 100";

/// Writes a workload on `hosts` hosts as a flow file with the columns of HPCC. Flows are in order
/// of their starts, as the simulators of the family require.
///
/// # Errors
/// Fails for everything that a flow file cannot express: no flows, dependencies, computation, flows
/// that share a queue pair, and flows of 2^32 bytes or more.
pub fn write(workload: &Workload, hosts: u32) -> Result<String, NotWritten> {
    let form = NormalForm::of(workload)?.by_start();
    if let Some(computation) = form.computations.first() {
        return Err(NotWritten::Computation(computation.host));
    }
    if let Some(message) = form.messages.iter().find(|message| !message.after.is_empty()) {
        return Err(NotWritten::Dependency(message.src));
    }
    if form.messages.is_empty() {
        return Err(NotWritten::NoMessages);
    }
    let mut text = format!("{}\n", form.messages.len());
    let mut streams = std::collections::BTreeSet::new();
    for &NormalMessage { src, dst, bytes, stream, start, .. } in &form.messages {
        if bytes.get() > u64::from(u32::MAX) {
            return Err(NotWritten::TooLong { host: src, bytes });
        }
        if !streams.insert((src, dst, stream)) {
            return Err(NotWritten::SharedStream(src, dst));
        }
        // Writing into a string cannot fail.
        let (src, dst, bytes, start) = (src.0, dst.0, bytes.get(), seconds(start));
        let _ = writeln!(text, "{src} {dst} {PRIORITY_AND_PORT} {bytes} {start}");
    }
    let host_of_node: Vec<_> = (0..hosts).map(|host| Some(HostId(host))).collect();
    // The written file is read back, so that a workload that the format distorts is an error.
    let read = super::read(&text, "flows").and_then(|file| file.workload(&host_of_node));
    let read = read.map_err(|_| NotWritten::RoundTripMismatch)?;
    match NormalForm::of(&read)? == form {
        true => Ok(text),
        false => Err(NotWritten::RoundTripMismatch),
    }
}

/// Formats a time in seconds, to the picosecond.
fn seconds(time: Time) -> String {
    let (whole, rest) = (time.as_ps() / 1_000_000_000_000, time.as_ps() % 1_000_000_000_000);
    let decimals = format!("{rest:012}");
    match decimals.trim_end_matches('0') {
        "" => format!("{whole}"),
        decimals => format!("{whole}.{decimals}"),
    }
}
