//! The results of a run: a results folder and a summary line.

use std::fs::File;
use std::io::{self, BufWriter, Seek, Write};
use std::path::Path;
use std::sync::Arc;

use evenkeel_engine::fabric::{FlowRecord, Outcome, Setup};
use evenkeel_engine::units::Span;
use evenkeel_formats::connection_matrix::Connections;
use evenkeel_scenario::Scenario;
use evenkeel_study::report::{
    self, FlowPositions, FlowsCsv, Folder, FolderError, Identity, MATRIX, Stopwatch, Summary,
    TransportSummary, Writer, human,
};

use super::error::NetworkError;
use super::posted::Posted;

/// Opens the results folder at `path`; `None` if the path is empty.
pub(super) fn folder(path: &str) -> Result<Option<Folder>, FolderError> {
    match path {
        "" => Ok(None),
        path => Folder::open(Path::new(path)).map(Some),
    }
}

/// The results of a run. Flows are written during the run.
pub(super) struct Results<'a> {
    scenario: &'a Scenario,
    setup: &'a Setup,
    identity: Identity,
    stopwatch: Stopwatch,
    kept: Option<Kept>,
}

/// Results for a folder.
struct Kept {
    folder: Folder,
    file: File,
    csv: FlowsCsv<BufWriter<File>>,
    /// The first write error; after it nothing more is written, but the run continues.
    written: io::Result<()>,
}

impl<'a> Results<'a> {
    pub(super) fn begin(
        scenario: &'a Scenario,
        setup: &'a Setup,
        path: &str,
    ) -> Result<Self, NetworkError> {
        let identity = Identity {
            scenario: scenario.name.clone(),
            policy: scenario.scheme.name.to_owned(),
            seed: scenario.seed,
        };
        let kept = match folder(path)? {
            None => None,
            Some(folder) => {
                let file = folder.scratch()?;
                let to = BufWriter::new(file.try_clone()?);
                let csv = FlowsCsv::begin(to, FlowPositions::of_setup(setup, false))?;
                Some(Kept { folder, file, csv, written: Ok(()) })
            }
        };
        Ok(Self { scenario, setup, identity, stopwatch: Stopwatch::start(), kept })
    }

    pub(super) fn write(&mut self, flow: &FlowRecord) {
        if let Some(Kept { csv, written: written @ Ok(()), .. }) = &mut self.kept {
            *written = csv.write(&self.scenario.topology, flow);
        }
    }

    /// Begins the record of the run's messages.
    pub(super) fn posted(&self) -> Result<Posted, FolderError> {
        let file = self.kept.as_ref().map(|kept| kept.folder.scratch()).transpose()?;
        Ok(Posted::begin(self.setup.topology.host_count(), file))
    }

    /// Writes the folder. Returns the summary line, and remarks on causes that are easily missed.
    pub(super) fn end(
        mut self,
        outcome: &Outcome,
        posted: Posted,
    ) -> Result<(String, Vec<String>), NetworkError> {
        // Completed flows were written during the run; these did not complete.
        outcome.flows.iter().for_each(|flow| self.write(flow));
        let Self { scenario, setup, identity, stopwatch, kept } = self;
        let topology = &scenario.topology;
        // There is no lower bound on the duration, because ranks decide at run time what they send.
        let summary = Summary::new(&identity, topology, outcome, Span::ZERO, stopwatch.stop());
        let transport = TransportSummary::of(setup);
        let sent = Setup { workload: Arc::new(posted.load()), ..setup.clone() };
        let remarks = report::remarks_on_load(&sent, outcome);
        let warnings = [&scenario.warnings[..], &remarks].concat();
        let summary = summary.with_transport(transport, warnings);
        if let Some(Kept { folder, file, csv, written }) = kept {
            written?;
            csv.end()?;
            let flows: Writer<'_> = &|to| {
                let mut file: &File = &file;
                file.rewind()?;
                io::copy(&mut file, to).map(drop)
            };
            let links: Writer<'_> = &|to| report::write_links_csv(to, topology, outcome);
            let messages = posted.messages();
            let header = Connections::header(topology.host_count(), messages);
            let lines = posted.end()?;
            let matrix: Writer<'_> = &|to| {
                to.write_all(header.as_bytes())?;
                let Some(mut lines) = lines.as_ref() else { return Ok(()) };
                lines.rewind()?;
                io::copy(&mut lines, to).map(drop)
            };
            let toml = resolved(&identity, scenario, folder.path(), messages > 0);
            let toml: Writer<'_> = &|to: &mut dyn Write| to.write_all(toml.as_bytes());
            let mut files = vec![("flows.csv", flows), ("links.csv", links)];
            files.push(("scenario.toml", toml));
            files.extend((messages > 0).then_some((MATRIX, matrix)));
            report::write_run_results(&folder, &files, &summary)?;
        }
        Ok((line(&summary, outcome), remarks))
    }
}

fn resolved(identity: &Identity, scenario: &Scenario, folder: &Path, has_sent: bool) -> String {
    let text = scenario.render_in(folder);
    let workload = if has_sent {
        format!(
            "\n# Messages that the ranks sent, with their times. Each pair of hosts is a\n\
             # connection with a separate hash, so hashed packets may take other paths.\n\
             [workload]\n\
             kind = \"connection-matrix\"\nfile = \"{MATRIX}\"\nstart_unit = \"ps\"\n"
        )
    } else {
        "\n# The ranks sent nothing: there is no workload.\n".to_owned()
    };
    let header = identity.header();
    format!("{header}\n# Resolved; paths are relative to this file.\n\n{text}{workload}")
}

fn line(summary: &Summary, outcome: &Outcome) -> String {
    let count = &outcome.counters;
    let counts = [
        format!("{} data packets", human::count(count.sent as f64)),
        format!("{} dropped", count.dropped),
        format!("{} trimmed", count.trimmed),
        format!("{} retransmitted", count.retransmitted),
    ];
    let bytes = outcome.discarded.as_ref().map_or(0, |it| it.bytes.get());
    format!(
        "policy {}, seed {}: {} of {} in all; {}; longest queue {}; {}",
        summary.policy,
        summary.seed,
        human::plural(outcome.messages, "message"),
        human::bytes(bytes as f64),
        counts.join(", "),
        human::bytes(outcome.queue_bytes_max.get() as f64),
        human::seconds(summary.wall_s),
    )
}
