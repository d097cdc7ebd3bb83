//! `flows.csv`: a row for every flow of a run, in order of message and piece.

use std::io::{self, Write};

use super::FlowPlaces;
use crate::fabric::{FlowRecord, Outcome, Setup};
use crate::record::csv_text;
use crate::topology::Topology;
use crate::units::Time;

const COLUMNS: [&str; 12] = [
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
    "job",
    "step",
];

/// Writes the names of the columns and a row for each flow; which run they are of, `summary.json`
/// beside the file says. Times are nanoseconds with three decimals; the time of an event that did
/// not happen is empty, and so are the job without `[[job]]` and the step of a message that is not
/// known before the run. With traffic classes a last column, `class`, names that of each flow.
///
/// `completed_ns` counts from time zero, as htsim prints completions, and `fct_ns` from the flow's
/// own start, as the HPCC family does: of a flow that a trigger starts, from the trigger.
///
/// # Errors
/// Those of writing to `to`.
pub fn write_flows_csv(to: &mut dyn Write, setup: &Setup, outcome: &Outcome) -> io::Result<()> {
    let mut csv = FlowsCsv::begin(to, FlowPlaces::of_setup(setup, true))?;
    outcome.flows.iter().try_for_each(|flow| csv.write(&setup.topology, flow))?;
    csv.end()
}

/// Writes `flows.csv` flow by flow, in the order of the calls.
pub struct FlowsCsv<W: Write> {
    csv: csv::Writer<W>,
    places: FlowPlaces,
}

impl<W: Write> FlowsCsv<W> {
    /// Writes the names of the columns.
    ///
    /// # Errors
    /// Those of writing to `to`.
    pub fn begin(to: W, places: FlowPlaces) -> io::Result<Self> {
        let mut csv = csv::Writer::from_writer(to);
        let class = places.have_classes().then_some("class");
        csv.write_record(COLUMNS.into_iter().chain(class))?;
        Ok(Self { csv, places })
    }

    /// Writes the row of a flow.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write(&mut self, topology: &Topology, flow: &FlowRecord) -> io::Result<()> {
        let hosts = topology.host_names();
        let row = [
            flow.message.0.to_string(),
            flow.piece.to_string(),
            csv_text(&hosts[flow.src.index()]).into_owned(),
            csv_text(&hosts[flow.dst.index()]).into_owned(),
            flow.bytes.get().to_string(),
            flow.source_port.to_string(),
            nanoseconds(Some(flow.start.as_ps())),
            nanoseconds(instant(flow.delivered)),
            nanoseconds(instant(flow.completed)),
            nanoseconds(completion(flow)),
            csv_text(self.places.job(flow.message)).into_owned(),
            self.places.step(flow.message).map_or_else(String::new, |step| step.to_string()),
        ];
        let class = csv_text(self.places.class(flow.message)).into_owned();
        let class = self.places.have_classes().then_some(class);
        self.csv.write_record(row.into_iter().chain(class))?;
        Ok(())
    }

    /// Flushes the writer.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn end(mut self) -> io::Result<()> {
        self.csv.flush()
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
        let places = FlowPlaces::of(&sample::workload());
        let mut csv = FlowsCsv::begin(Vec::new(), places).unwrap();
        let topology = sample::topology();
        sample::stalled().flows.iter().for_each(|flow| csv.write(&topology, flow).unwrap());
        let text = csv.csv.into_inner().unwrap();
        let text = String::from_utf8(text).unwrap();
        sample::snapshot("flows-csv", &text);
    }
}
