//! `flows.csv`: a row for every flow of a run, in order of message and piece.

use std::io::{self, Write};

use super::FlowPositions;
use super::cells::{FLOW_COLUMNS, flow_columns, flow_row};
use crate::fabric::{FlowRecord, Outcome, Setup};
use crate::topology::Topology;

/// Writes the column names and a row for each flow. `summary.json` in the same folder identifies
/// the run. Times are nanoseconds with three decimals. The cell is empty for an event that did not
/// happen, for the job without `[[job]]`, and for the step of a message not known before the run.
/// With traffic classes, a last column `class` names the class of each flow.
///
/// # Errors
/// Fails if writing to `to` fails.
pub fn write_flows_csv(to: &mut dyn Write, setup: &Setup, outcome: &Outcome) -> io::Result<()> {
    let mut csv = FlowsCsv::begin(to, FlowPositions::of_setup(setup, true))?;
    outcome.flows.iter().try_for_each(|flow| csv.write(&setup.topology, flow))?;
    csv.end()
}

/// Writes `flows.csv` flow by flow, in the order of the calls.
pub struct FlowsCsv<W: Write> {
    csv: csv::Writer<W>,
    positions: FlowPositions,
}

impl<W: Write> FlowsCsv<W> {
    /// Writes the column names.
    ///
    /// # Errors
    /// Fails if writing to `to` fails.
    pub fn begin(to: W, positions: FlowPositions) -> io::Result<Self> {
        let mut csv = csv::Writer::from_writer(to);
        let columns = FLOW_COLUMNS.iter().take(flow_columns(&positions));
        csv.write_record(columns.map(|(name, _)| name))?;
        Ok(Self { csv, positions })
    }

    /// Writes the row of a flow.
    ///
    /// # Errors
    /// Fails if the writer fails.
    pub fn write(&mut self, topology: &Topology, flow: &FlowRecord) -> io::Result<()> {
        let row = flow_row(&self.positions, topology, flow);
        let cells = row.iter().take(flow_columns(&self.positions));
        self.csv.write_record(cells.map(|cell| cell.csv().into_owned()))?;
        Ok(())
    }

    /// Flushes the writer.
    ///
    /// # Errors
    /// Fails if the writer fails.
    pub fn end(mut self) -> io::Result<()> {
        self.csv.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    #[test]
    fn each_flow_has_a_row_with_empty_times_for_missing_events() {
        let positions = FlowPositions::of(&sample::workload());
        let mut csv = FlowsCsv::begin(Vec::new(), positions).unwrap();
        let topology = sample::topology();
        sample::stalled().flows.iter().for_each(|flow| csv.write(&topology, flow).unwrap());
        let text = csv.csv.into_inner().unwrap();
        let text = String::from_utf8(text).unwrap();
        sample::snapshot("flows-csv", &text);
    }
}
