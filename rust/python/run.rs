//! A run of a scenario, and its results.

use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::prelude::*;

use super::failure::{Failure, results};
use super::json::json;
use super::supervise::Control;
use super::table::{Column, Table};
use evenkeel::fabric::{FlowRecord, Outcome, Setup, Watch};
use evenkeel::ids::{LinkId, PortId};
use evenkeel::record::Recorders;
use evenkeel::report::{self, FlowPlaces, FlowsCsv, Folder, Identity, Summary, Writer};
use evenkeel::scenario::Scenario;
use evenkeel::study::{self, Finished, Run, RunObservers};
use evenkeel::timeline::Watches;
use evenkeel::units::Time;

/// The results of a run.
#[pyclass(frozen, name = "Run", module = "evenkeel._evenkeel")]
#[derive(Debug)]
pub(super) struct RunResult {
    pub(super) identity: Identity,
    pub(super) setup: Setup,
    pub(super) finished: Finished,
    pub(super) outcome: Outcome,
    /// The flows of traces, which the outcome does not keep.
    pub(super) streamed: Vec<FlowRecord>,
    /// Where it is from; nothing of an experiment of the HPCC family.
    pub(super) scenario: Option<Box<Scenario>>,
    /// The key of the time limit.
    pub(super) limit: &'static str,
    /// Further files, of which the tables of `[record]` are tables here too.
    pub(super) files: Vec<(String, Vec<u8>)>,
    /// What the folder of an experiment of the HPCC family may hold beside the usual.
    pub(super) other_names: Vec<String>,
}

/// Simulates a scenario.
pub(super) fn scenario(
    scenario: &Scenario,
    threads: Option<u16>,
    control: &Control,
) -> Result<RunResult, Failure> {
    let identity = study::identity(scenario);
    let setup = scenario.setup();
    let mut recordings = Recordings::begin(scenario)?;
    let mut watches = recordings.recorders.watches();
    let mut several;
    let watch = match watches.len() {
        0 | 1 => watches.pop(),
        _ => {
            several = Watches::new(&scenario.topology, watches);
            Some(&mut several as &mut dyn Watch)
        }
    };
    let threads = threads.unwrap_or_else(|| study::default_threads(&setup));
    let run = Run {
        identity: &identity,
        setup: &setup,
        bound: study::lower_bound(&setup).time,
        fidelity: scenario.fidelity,
        threads,
        traces: scenario.traces.as_deref(),
    };
    let label = format!("{}, seed {}", identity.policy, identity.seed);
    let mut streamed = Vec::new();
    let observers = RunObservers {
        watch,
        flows: &mut |flow| streamed.push(*flow),
        progress: &mut |progress| control.report(&label, progress),
    };
    let result = study::run(&run, observers);
    let (mut finished, outcome) = result.map_err(|fault| scenario.trace_fault(fault))?;
    finished.summary.warnings.splice(0..0, scenario.warnings.iter().cloned());
    let mut files = Vec::new();
    finished.summary.record = recordings.recorders.finish(&outcome.pauses).map_err(results)?;
    files.extend(recordings.files.into_iter().map(|(name, text)| (name, text.take())));
    if setup.fabric.switch.pfc.is_some() {
        let mut pauses = Vec::new();
        let number = report::hosts_then_switches(&setup.topology);
        report::write_pfc_txt(&mut pauses, &setup.topology, &outcome, &number).map_err(results)?;
        files.push(("pfc.txt".to_owned(), pauses));
    }
    let (scenario, limit) = (Some(Box::new(scenario.clone())), "time_limit");
    let other_names = Vec::new();
    Ok(RunResult {
        identity,
        setup,
        finished,
        outcome,
        streamed,
        scenario,
        limit,
        files,
        other_names,
    })
}

/// The tables of `[record]`, which grow in memory during the run.
struct Recordings {
    recorders: Recorders,
    files: Vec<(String, Text)>,
}

/// A text in memory that its writer and its reader share.
#[derive(Debug, Clone, Default)]
pub(super) struct Text(Arc<Mutex<Vec<u8>>>);

impl Text {
    pub(super) fn take(&self) -> Vec<u8> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Write for Text {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Recordings {
    fn begin(scenario: &Scenario) -> Result<Self, Failure> {
        let mut files = Vec::new();
        let recordings = &scenario.recordings;
        let recorders = Recorders::new(recordings, &scenario.topology, &mut |recording, table| {
            let text = Text::default();
            files.push((table.file(recording.name.as_deref()), text.clone()));
            Ok(Box::new(io::BufWriter::new(text)) as Box<dyn Write>)
        });
        Ok(Self { recorders: recorders.map_err(results)?, files })
    }
}

#[pymethods]
impl RunResult {
    /// The object that `evenkeel run --json` prints.
    fn json(&self) -> String {
        json(&self.finished.summary)
    }

    /// The table that `evenkeel run` prints.
    fn text(&self) -> String {
        report::run_table(&self.finished.summary)
    }

    /// The scenario with every default.
    #[getter]
    fn scenario_toml(&self) -> Option<String> {
        self.scenario.as_ref().map(|scenario| scenario.render())
    }

    /// Why the run did not complete; None if it did.
    #[getter]
    fn incomplete(&self) -> Option<String> {
        self.finished.incomplete(self.limit)
    }

    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.finished.summary.warnings.clone()
    }

    /// The names of the tables.
    fn tables(&self) -> Vec<String> {
        let recorded = self.files.iter().filter_map(|(name, _)| name.strip_suffix(".csv"));
        ["flows", "links"].into_iter().chain(recorded).map(str::to_owned).collect()
    }

    /// A table by its name.
    fn table(&self, py: Python<'_>, name: &str) -> PyResult<Table> {
        let table = py.detach(|| match name {
            "flows" => Ok(self.flows()),
            "links" => Ok(self.links()),
            _ => {
                let file = format!("{name}.csv");
                let found = self.files.iter().find(|(it, _)| *it == file);
                let (_, text) = found.ok_or_else(|| self.no_table(name))?;
                Table::of_csv(text).map_err(results)
            }
        });
        table.map_err(|failure| failure.raise(py))
    }

    /// Writes the results folder of `evenkeel run --out`.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        py.detach(|| self.keep(path)).map_err(|failure| failure.raise(py))
    }
}

impl RunResult {
    fn no_table(&self, name: &str) -> Failure {
        let recorded = match name {
            "ports" | "queue_pairs" | "paths" => "; [record] in the scenario adds it",
            _ => "",
        };
        let tables = self.tables().join(", ");
        Failure::Argument(format!("the run has no table '{name}'{recorded}; it has {tables}"))
    }

    fn all_flows(&self) -> impl Iterator<Item = &FlowRecord> {
        self.streamed.iter().chain(&self.outcome.flows)
    }

    /// The jobs and steps of flows; unknown of those that were read or generated during the run.
    fn places(&self) -> FlowPlaces {
        FlowPlaces::of_setup(&self.setup, self.streamed.is_empty())
    }

    fn flows(&self) -> Table {
        let hosts = self.setup.topology.host_names();
        let places = self.places();
        let mut whole = [(); 5].map(|()| Column::whole());
        let mut names = [(); 4].map(|()| Column::text());
        let mut times = [(); 4].map(|()| Column::number());
        for flow in self.all_flows() {
            let numbers = [
                Some(u64::from(flow.message.0)),
                Some(u64::from(flow.piece)),
                Some(flow.bytes.get()),
                Some(u64::from(flow.source_port)),
                places.step(flow.message).map(u64::from),
            ];
            whole.iter_mut().zip(numbers).for_each(|(column, it)| column.push_whole(it));
            let texts = [
                hosts[flow.src.index()].as_str(),
                hosts[flow.dst.index()].as_str(),
                places.job(flow.message),
                places.class(flow.message),
            ];
            names.iter_mut().zip(texts).for_each(|(it, text)| it.push_text(text));
            let since = |at: Time| Time::from_ps(at.as_ps() - flow.start.as_ps());
            let completed = happened(flow.completed);
            let of_flow =
                [Some(flow.start), happened(flow.delivered), completed, completed.map(since)];
            times.iter_mut().zip(of_flow).for_each(|(column, at)| column.push_time(at));
        }
        let [message, piece, bytes, source_port, step] = whole;
        let [src, dst, job, class] = names;
        let [start, delivered, completed, fct] = times;
        let mut columns = vec![
            ("message", message),
            ("piece", piece),
            ("src", src),
            ("dst", dst),
            ("bytes", bytes),
            ("source_port", source_port),
            ("start_ns", start),
            ("delivered_ns", delivered),
            ("completed_ns", completed),
            ("fct_ns", fct),
            ("job", job),
            ("step", step),
        ];
        columns.extend(places.have_classes().then_some(("class", class)));
        Table::new(columns)
    }

    fn links(&self) -> Table {
        let (topology, outcome) = (&self.setup.topology, &self.outcome);
        let mut names = [(); 3].map(|()| Column::text());
        let mut numbers = [(); 4].map(|()| Column::whole());
        for link in 0..topology.links().len() as u32 {
            for port in [PortId(2 * link), PortId(2 * link + 1)] {
                let (from, onto) = topology.ends_of(port);
                let link = LinkId(link);
                let [name, of_from, of_to] = &mut names;
                name.push_text(topology.link_name(link));
                of_from.push_text(topology.node_name(from));
                of_to.push_text(topology.node_name(onto));
                let carried = outcome.link_bytes.get(port.index()).map_or(0, |it| it.get());
                let waited = outcome.queue_bytes_max_by_port.get(port.index());
                let all = [
                    Some(carried),
                    Some(topology.link(link).rate.as_bps()),
                    waited.map(|it| it.get()),
                    outcome.marked_by_port.get(port.index()).copied(),
                ];
                numbers.iter_mut().zip(all).for_each(|(column, it)| column.push_whole(it));
            }
        }
        let ([link, from, to], [bytes, rate, waited, marked]) = (names, numbers);
        Table::new(vec![
            ("link", link),
            ("from", from),
            ("to", to),
            ("bytes", bytes),
            ("rate_bps", rate),
            ("queue_bytes_max", waited),
            ("marked", marked),
        ])
    }

    pub(super) fn keep(&self, path: PathBuf) -> Result<(), Failure> {
        let folder = Folder::open_for(&path, &self.other_names).map_err(results)?;
        let Self { identity, setup, outcome, .. } = self;
        let flows: Writer<'_> = &|to| {
            let mut csv = FlowsCsv::begin(to, self.places())?;
            self.all_flows().try_for_each(|flow| csv.write(&setup.topology, flow))?;
            csv.end()
        };
        let links: Writer<'_> = &|to| report::write_links_csv(to, &setup.topology, outcome);
        let resolved = |scenario: &Scenario| report::resolved(identity, scenario, &path);
        let resolved = self.scenario.as_deref().map(resolved);
        let contents = resolved.iter().map(|text| ("scenario.toml", text.as_bytes()));
        let contents: Vec<(&str, &[u8])> = contents
            .chain(self.files.iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice())))
            .collect();
        let writers: Vec<_> =
            contents.iter().map(|(_, bytes)| |to: &mut dyn Write| to.write_all(bytes)).collect();
        let mut files: Vec<(&str, Writer<'_>)> = vec![("flows.csv", flows), ("links.csv", links)];
        files
            .extend(contents.iter().zip(&writers).map(|((name, _), it)| (*name, it as Writer<'_>)));
        let resolved = self.scenario.as_deref().map(Scenario::as_table);
        let summary = Summary { resolved, ..self.finished.summary.clone() };
        report::keep_run(&folder, &files, &summary).map_err(results)
    }
}

fn happened(at: Time) -> Option<Time> {
    (at != Time::NEVER).then_some(at)
}
