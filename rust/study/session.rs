//! A single run with all its observers, and the files that keep its results.
//!
//! The command line and Python both open a [`Session`]. They differ in where data is kept until the
//! results are written ([`Scratch`]), and in how they present messages.

mod results;

use std::io::{self, BufWriter, Write};
use std::path::PathBuf;
use std::sync::Arc;

use super::run::{Finished, Run, RunObservers, identity, run};
use super::session_error::SessionError;
use super::{default_threads, lower_bound, short_time_limit};
use crate::fabric::{Cut, FlowRecord, Outcome, Partitioning, Progress, Setup, Watch};
use crate::fluid::Fidelity;
use crate::hpcc::{Experiment, RecordedFile, Recorder};
use crate::invariants::{Invariants, Report};
use crate::record::Recorders;
use crate::report::{Identity, OutputFile, OutputKind};
use crate::scenario::Scenario;
use crate::timeline::{self, CombinedWatch, INTERVAL, Timeline};
use crate::units::Span;

/// Input of a session.
#[derive(Debug, Clone)]
pub enum Subject {
    /// A scenario of one network.
    Scenario(Arc<Scenario>),
    /// An experiment of the HPCC family.
    Experiment(Arc<Experiment>),
}

/// Options of a session.
#[derive(Debug, Clone, Default)]
pub struct SessionOptions {
    /// Number of threads; [`default_threads`] if `None`. Results do not depend on it.
    pub threads: Option<u16>,
    /// File of a timeline for Perfetto.
    pub trace: Option<PathBuf>,
    /// Checks the run against independent accounting of every packet.
    pub check: bool,
}

/// Storage for data that is written during a run.
pub trait Scratch {
    /// Opens a writer for the later file `name`; `None` if no results are kept.
    ///
    /// # Errors
    /// Fails if the data cannot be stored.
    fn open(&mut self, name: &str) -> io::Result<Option<Box<dyn Write>>>;
}

/// Callbacks of a session during its run.
pub struct SessionObservers<'a> {
    /// Storage of recorded tables.
    pub scratch: &'a mut dyn Scratch,
    /// Called with each flow when it completes, if messages are read or generated during the run.
    pub flows: &'a mut dyn FnMut(&FlowRecord),
    /// Called periodically with the progress of the run.
    pub progress: &'a mut dyn FnMut(&Progress),
}

/// A run that is ready to start.
///
/// # Examples
/// ```
/// use std::io::{self, Write};
/// use std::{path::Path, sync::Arc};
///
/// use evenkeel_scenario::{Overrides, Scenario};
/// use evenkeel_study::{Scratch, Session, SessionObservers, SessionOptions, Subject};
///
/// /// Keeps no results.
/// struct Nowhere;
///
/// impl Scratch for Nowhere {
///     fn open(&mut self, _name: &str) -> io::Result<Option<Box<dyn Write>>> {
///         Ok(None)
///     }
/// }
///
/// let text = "[topology]
/// kind = 'leaf-spine'
/// leaves = 2
/// spines = 2
/// hosts_per_leaf = 2
/// [workload]
/// kind = 'permutation'
/// bytes = '1MB'";
/// let scenario = Scenario::parse(text, "small", Path::new("."), &Overrides::default())?;
/// let options = SessionOptions { check: true, ..SessionOptions::default() };
/// let session = Session::new(Subject::Scenario(Arc::new(scenario)), options)?;
/// let ended = session.run(SessionObservers {
///     scratch: &mut Nowhere,
///     flows: &mut |_| {},
///     progress: &mut |_| {},
/// })?;
/// assert_eq!(ended.finished.summary.messages_completed, 4);
/// assert_eq!(ended.check.expect("it was requested").count, 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Session {
    subject: Subject,
    identity: Identity,
    setup: Setup,
    bound: Span,
    options: SessionOptions,
}

/// A run that has ended, whether or not it completed.
#[derive(Debug)]
pub struct FinishedSession {
    /// Session of the run.
    pub session: Session,
    /// Numbers of the run.
    pub finished: Finished,
    /// Everything that the run computed.
    pub outcome: Outcome,
    /// Findings of [`SessionOptions::check`].
    pub check: Option<Report>,
}

/// Timeline file of a run, which appears when it is complete.
struct TraceFile {
    timeline: Timeline,
    file: OutputFile,
}

const TIMELINE: OutputKind = OutputKind { name: "a timeline", is_own: timeline::is_timeline };

impl Subject {
    fn scenario(&self) -> Option<&Scenario> {
        match self {
            Self::Scenario(scenario) => Some(scenario),
            Self::Experiment(_) => None,
        }
    }

    /// Returns the warnings about its files, which precede those of the run.
    pub fn warnings(&self) -> &[String] {
        match self {
            Self::Scenario(scenario) => &scenario.warnings,
            Self::Experiment(experiment) => &experiment.warnings,
        }
    }

    /// Returns the names of files that its results folder may have in addition to those of every
    /// run.
    pub fn file_names(&self) -> Vec<String> {
        match self {
            Self::Scenario(_) => Vec::new(),
            Self::Experiment(experiment) => experiment.file_names(),
        }
    }

    fn open(&self) -> (Identity, Setup) {
        match self {
            Self::Scenario(scenario) => (identity(scenario), scenario.setup()),
            Self::Experiment(experiment) => {
                let setup = experiment.setup.clone();
                let policy = setup.scheme.name.to_owned();
                let scenario = experiment.name.clone();
                (Identity { scenario, policy, seed: setup.seed }, setup)
            }
        }
    }
}

impl Session {
    /// Prepares a run.
    ///
    /// # Errors
    /// Fails if an option does not apply: fluid runs have no packets to trace or check, and a
    /// timeline keeps all messages.
    pub fn new(subject: Subject, options: SessionOptions) -> Result<Self, SessionError> {
        let (is_fluid, streams) = subject
            .scenario()
            .map_or((false, false), |it| (it.fidelity == Fidelity::Fluid, it.streams()));
        let inapplicable = |option, reason| Err(SessionError::Option { option, reason });
        if options.check && is_fluid {
            return inapplicable(
                "check",
                "it checks packets, but fidelity = \"fluid\" has none; omit one of them",
            );
        }
        if options.trace.is_some() && is_fluid {
            return inapplicable(
                "trace",
                "a fluid run has no packets or queues; use fidelity = \"packet\"",
            );
        }
        if options.trace.is_some() && streams {
            return inapplicable(
                "trace",
                "messages that are read or generated during the run are not kept; use streaming \
                 = false",
            );
        }
        let (identity, setup) = subject.open();
        let bound = lower_bound(&setup).time;
        Ok(Self { subject, identity, setup, bound, options })
    }

    /// Returns the identity of its results.
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// Returns everything that determines its results.
    pub fn setup(&self) -> &Setup {
        &self.setup
    }

    /// Returns the lower bound of its completion time.
    pub fn bound(&self) -> Span {
        self.bound
    }

    /// Returns the input.
    pub fn subject(&self) -> &Subject {
        &self.subject
    }

    /// Returns the warnings that are known before the run starts.
    pub fn early_warnings(&self) -> Option<String> {
        short_time_limit(&self.setup, self.bound)
    }

    /// Returns why a run that was given several threads uses one; `None` if it uses several.
    pub fn single_thread_reason(&self) -> Option<String> {
        let requested = self.options.threads.filter(|requested| *requested > 1)?;
        let scenario = self.subject.scenario();
        let is = |property: fn(&Scenario) -> bool| scenario.is_some_and(property);
        let reason = match () {
            () if self.options.check => "--check observes it",
            () if is(|it| it.fidelity == Fidelity::Fluid) => "fidelity = \"fluid\"",
            () if is(|it| it.traces.is_some()) => "workload.streaming reads traces during it",
            () if is(Scenario::streams) => "workload.streaming generates messages during it",
            () if is(|it| !it.recordings.is_empty()) => "[record] observes it",
            () if self.options.trace.is_some() => "--trace observes it",
            () => {
                let partitioning = Partitioning::new(&self.setup, requested, Cut::default());
                return partitioning.err().map(|reason| reason.to_string());
            }
        };
        Some(reason.to_owned())
    }

    /// Returns true if messages are read or generated during the run. Flows are then passed to
    /// [`SessionObservers::flows`].
    pub fn streams(&self) -> bool {
        let Some(scenario) = self.subject.scenario() else { return false };
        scenario.traces.is_some() || scenario.fidelity == Fidelity::Packet && scenario.streams()
    }

    /// Returns the key of its time limit.
    pub fn time_limit_key(&self) -> &'static str {
        match &self.subject {
            Subject::Scenario(_) => "time_limit",
            Subject::Experiment(experiment) => experiment.time_limit_key(),
        }
    }

    /// Runs to the end.
    ///
    /// # Errors
    /// Fails if a trace of the scenario is invalid, or if a recorded table or the timeline cannot
    /// be written.
    pub fn run(self, observers: SessionObservers<'_>) -> Result<FinishedSession, SessionError> {
        let SessionObservers { scratch, flows, progress } = observers;
        let mut recorders = self.recorders(scratch).map_err(SessionError::Record)?;
        let mut recorder = self.recorder(scratch).map_err(SessionError::Record)?;
        let mut trace = self.begin_trace()?;
        let mut check = self.options.check.then(|| Invariants::new(&self.setup));
        let mut watches = recorders.watches();
        watches.extend(recorder.as_mut().map(|it| it as &mut dyn Watch));
        watches.extend(trace.as_mut().map(|it| &mut it.timeline as &mut dyn Watch));
        watches.extend(check.as_mut().map(|it| it as &mut dyn Watch));
        let mut several;
        let watch = match watches.len() {
            // A single watch needs no dispatcher.
            0 | 1 => watches.pop(),
            _ => {
                several = CombinedWatch::new(&self.setup.topology, watches);
                Some(&mut several as &mut dyn Watch)
            }
        };
        let (mut finished, outcome) = self.simulate(RunObservers { watch, flows, progress })?;
        if let Some(trace) = trace {
            self.end_trace(trace, &outcome)?;
        }
        // Warnings about the input come before those of the run.
        finished.summary.warnings.splice(0..0, self.subject.warnings().iter().cloned());
        let profiles = recorders.finish(&outcome.pauses).map_err(SessionError::Record)?;
        finished.summary.record = profiles;
        if let Some(recorder) = recorder {
            recorder.finish(&outcome).map_err(SessionError::Record)?;
        }
        let check = check.map(|check| check.finish(&outcome, Some(self.bound)));
        Ok(FinishedSession { session: self, finished, outcome, check })
    }

    fn simulate(&self, observers: RunObservers<'_>) -> Result<(Finished, Outcome), SessionError> {
        let scenario = self.subject.scenario();
        let a_run = Run {
            identity: &self.identity,
            setup: &self.setup,
            bound: self.bound,
            fidelity: scenario.map_or(Fidelity::Packet, |scenario| scenario.fidelity),
            threads: self.options.threads.unwrap_or_else(|| default_threads(&self.setup)),
            traces: scenario.and_then(|scenario| scenario.traces.as_deref()),
        };
        run(&a_run, observers).map_err(|error| {
            let scenario = scenario.expect("an experiment reads no traces during a run");
            SessionError::Scenario(scenario.trace_fault(error))
        })
    }

    /// Creates the recorders of `[record]`. The summary needs them even if no table is kept.
    fn recorders(&self, scratch: &mut dyn Scratch) -> io::Result<Recorders> {
        let recordings = self.subject.scenario().map_or(&[][..], |it| &it.recordings);
        Recorders::new(recordings, &self.setup.topology, &mut |recording, table| {
            let to = scratch.open(&table.file(recording.name.as_deref()))?;
            Ok(to.unwrap_or_else(|| Box::new(io::sink())))
        })
    }

    /// Creates the recorder of an experiment, if it records files and they are kept.
    fn recorder(&self, scratch: &mut dyn Scratch) -> io::Result<Option<Recorder>> {
        let Subject::Experiment(experiment) = &self.subject else { return Ok(None) };
        let mut files: Vec<(RecordedFile, Box<dyn Write>)> = Vec::new();
        for (file, name) in experiment.recorded() {
            files.extend(scratch.open(&name)?.map(|to| (file, to)));
        }
        if files.is_empty() {
            return Ok(None);
        }
        let mut open = |file| -> io::Result<Box<dyn Write>> {
            let at = files.iter().position(|(it, _)| *it == file);
            Ok(files.swap_remove(at.ok_or(io::ErrorKind::NotFound)?).1)
        };
        Recorder::new(experiment, &mut open).map(Some)
    }

    /// Starts the timeline. It samples at the shortest interval of `[record]`, if there is one.
    fn begin_trace(&self) -> Result<Option<TraceFile>, SessionError> {
        let Some(path) = &self.options.trace else { return Ok(None) };
        let file = OutputFile::begin(path, &TIMELINE).map_err(SessionError::TraceFile)?;
        let to = file.handle().map_err(|reason| self.trace_error(reason))?;
        let recordings = self.subject.scenario().map_or(&[][..], |it| &it.recordings);
        let every = recordings.iter().map(|recording| recording.every).min();
        let to = Box::new(BufWriter::new(to));
        let timeline = Timeline::new(&self.setup, every.unwrap_or(INTERVAL), to);
        Ok(Some(TraceFile { timeline, file }))
    }

    fn end_trace(&self, trace: TraceFile, outcome: &Outcome) -> Result<(), SessionError> {
        let written = trace.timeline.finish(&self.setup, outcome);
        written.map_err(|reason| self.trace_error(reason))?;
        trace.file.complete().map_err(SessionError::TraceFile)
    }

    fn trace_error(&self, reason: io::Error) -> SessionError {
        SessionError::Trace { path: self.options.trace.clone().unwrap_or_default(), reason }
    }
}

impl FinishedSession {
    /// Returns why the run did not complete; `None` if it completed.
    pub fn incomplete(&self) -> Option<String> {
        self.finished.incomplete(self.session.time_limit_key())
    }
}
