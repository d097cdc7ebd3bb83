//! The runs of a request.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

use evenkeel_engine::fabric::Progress;
use evenkeel_study::report::{FlowPositions, FlowsCsv, Writer};
use evenkeel_study::{
    ComparisonRun, FinishedSession, Scratch, Session, SessionObservers, SessionOptions, Subject,
};

use crate::request::Asked;

/// The part of all work that is done, as the page shows it.
pub(crate) struct Share<'a> {
    ended: usize,
    all: usize,
    show: &'a mut dyn FnMut(f64, &str),
}

impl<'a> Share<'a> {
    /// Starts to count `all` runs. `show` gets the share from 0 to 1, and the name of a run.
    pub(crate) fn new(all: usize, show: &'a mut dyn FnMut(f64, &str)) -> Self {
        Self { ended: 0, all, show }
    }

    fn update(&mut self, progress: &Progress, label: &str) {
        let of_run = progress.delivered_bytes as f64 / progress.total_bytes.max(1) as f64;
        (self.show)((self.ended as f64 + of_run.min(1.0)) / self.all as f64, label);
    }
}

/// Simulates a run.
pub(crate) fn run(
    asked: &Asked,
    run: ComparisonRun,
    share: &mut Share<'_>,
) -> Result<FinishedSession, String> {
    simulate(asked, run, share, &mut Nowhere, None)
}

/// Simulates a run and returns the texts of its results folder too.
pub(crate) fn run_with_files(
    asked: &Asked,
    run: ComparisonRun,
    folder: &Path,
    share: &mut Share<'_>,
) -> Result<(FinishedSession, BTreeMap<String, String>), String> {
    let (mut tables, flows) = (Tables::default(), Buffer::default());
    let ended = simulate(asked, run, share, &mut tables, Some(&flows))?;
    let copy = |buffer: &Buffer| {
        let buffer = buffer.clone();
        move |to: &mut dyn Write| to.write_all(&buffer.0.borrow())
    };
    let streamed = copy(&flows);
    let streamed: Option<Writer<'_>> = (!flows.0.borrow().is_empty()).then_some(&streamed);
    let tables: Vec<_> = tables.0.iter().map(|(name, buffer)| (name, copy(buffer))).collect();
    let others = tables.iter().map(|(name, write)| (name.as_str(), write as Writer<'_>));
    let texts = ended.results_in_memory(folder, streamed, &others.collect::<Vec<_>>());
    let texts = texts.map_err(|error| error.to_string())?;
    Ok((ended, texts))
}

/// Simulates a run. If its messages are generated during the run, their rows go to `flows`.
fn simulate(
    asked: &Asked,
    run: ComparisonRun,
    share: &mut Share<'_>,
    scratch: &mut dyn Scratch,
    flows: Option<&Buffer>,
) -> Result<FinishedSession, String> {
    let scenario = asked.scenario(run)?;
    let label = format!("{}, seed {}", scenario.scheme.name, run.seed);
    let options = SessionOptions { threads: Some(1), ..SessionOptions::default() };
    let session = Session::new(Subject::Scenario(Arc::new(scenario)), options);
    let session = session.map_err(|error| error.to_string())?;
    let setup = session.setup().clone();
    let csv = flows
        .filter(|_| session.streams())
        .map(|to| FlowsCsv::begin(to.clone(), FlowPositions::of_setup(&setup, false)));
    let mut csv = csv.transpose().map_err(|error| error.to_string())?;
    let mut write = |flow: &_| {
        if let Some(csv) = &mut csv {
            csv.write(&setup.topology, flow).expect("writing to memory cannot fail");
        }
    };
    let ended = session.run(SessionObservers {
        scratch,
        flows: &mut write,
        progress: &mut |progress| share.update(progress, &label),
    });
    let ended = ended.map_err(|error| error.to_string())?;
    if flows.is_some() && ended.session.streams() {
        ended.outcome.flows.iter().for_each(write);
    }
    csv.map_or(Ok(()), FlowsCsv::end).map_err(|error| error.to_string())?;
    share.ended += 1;
    Ok(ended)
}

/// A file in memory.
#[derive(Clone, Default)]
struct Buffer(Rc<RefCell<Vec<u8>>>);

impl Write for Buffer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Keeps the tables of a run.
#[derive(Default)]
struct Tables(Vec<(String, Buffer)>);

impl Scratch for Tables {
    fn open(&mut self, name: &str) -> io::Result<Option<Box<dyn Write>>> {
        let buffer = Buffer::default();
        self.0.push((name.to_owned(), buffer.clone()));
        Ok(Some(Box::new(buffer)))
    }
}

/// Keeps nothing.
struct Nowhere;

impl Scratch for Nowhere {
    fn open(&mut self, _name: &str) -> io::Result<Option<Box<dyn Write>>> {
        Ok(None)
    }
}
