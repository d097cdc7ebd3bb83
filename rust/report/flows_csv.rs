//! `flows.csv`: a row for every flow of a run, in order of message and piece.

use std::io::{self, Write};

use super::Identity;
use crate::fabric::{FlowRecord, Outcome};
use crate::topology::Topology;
use crate::units::Time;

const COLUMNS: [&str; 10] = [
    "message",
    "piece",
    "src",
    "dst",
    "bytes",
    "source_port",
    "start_ns",
    "delivered_ns",
    "completed_ns",
    "fct_ns",
];

/// Writes a comment line that identifies the run, the names of the columns, and a row for each
/// flow. Times are nanoseconds with three decimals; the time of an event that did not happen is
/// empty.
///
/// # Errors
/// Those of writing to `to`.
pub fn write_flows_csv(
    to: &mut dyn Write,
    identity: &Identity,
    topology: &Topology,
    outcome: &Outcome,
) -> io::Result<()> {
    let mut csv = FlowsCsv::begin(to, identity)?;
    outcome.flows.iter().try_for_each(|flow| csv.write(topology, flow))?;
    csv.end()
}

/// Writes `flows.csv` flow by flow, in the order of the calls.
pub struct FlowsCsv<W: Write>(csv::Writer<W>);

impl<W: Write> FlowsCsv<W> {
    /// Writes the comment line and the names of the columns.
    ///
    /// # Errors
    /// Those of writing to `to`.
    pub fn begin(mut to: W, identity: &Identity) -> io::Result<Self> {
        writeln!(to, "{}", identity.header())?;
        let mut csv = csv::Writer::from_writer(to);
        csv.write_record(COLUMNS)?;
        Ok(Self(csv))
    }

    /// Writes the row of a flow.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write(&mut self, topology: &Topology, flow: &FlowRecord) -> io::Result<()> {
        let hosts = topology.host_names();
        self.0.write_record([
            flow.message.0.to_string(),
            flow.piece.to_string(),
            hosts[flow.src.index()].clone(),
            hosts[flow.dst.index()].clone(),
            flow.bytes.get().to_string(),
            flow.source_port.to_string(),
            nanoseconds(Some(flow.start.as_ps())),
            nanoseconds(instant(flow.delivered)),
            nanoseconds(instant(flow.completed)),
            nanoseconds(completion(flow)),
        ])?;
        Ok(())
    }

    /// Flushes the writer.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn end(mut self) -> io::Result<()> {
        self.0.flush()
    }
}

fn instant(time: Time) -> Option<u64> {
    (time != Time::NEVER).then(|| time.as_ps())
}

fn completion(flow: &FlowRecord) -> Option<u64> {
    (flow.completed != Time::NEVER).then(|| flow.completed.since(flow.start).as_ps())
}

/// Exact: no floating-point number is involved.
fn nanoseconds(ps: Option<u64>) -> String {
    ps.map_or_else(String::new, |ps| format!("{}.{:03}", ps / 1000, ps % 1000))
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    #[test]
    fn each_flow_has_a_row_with_empty_times_for_missing_events() {
        let mut text = Vec::new();
        let topology = sample::topology();
        write_flows_csv(&mut text, &sample::identity(), &topology, &sample::stalled()).unwrap();
        let text = String::from_utf8(text).unwrap();
        sample::snapshot("flows-csv", &text);
    }
}
