//! Networks, and runs of ranks on them.

use std::fmt;
use std::path::Path;
use std::pin::Pin;

use evenkeel_engine::fabric::{Setup, Verdict};
use evenkeel_engine::ids::HostId;
use evenkeel_engine::ranks::{self, Ending, Ranks, Request, Ticket, Transfer};
use evenkeel_engine::units::{Span, Time};
use evenkeel_scenario::{Overrides, Scenario};
use evenkeel_study::report::human;

use super::contract::{self, NetworkOptions, RankHandlers, RequestKind};
use super::error::NetworkError;
use super::posted::Posted;
use super::results::{self, Results};
use crate::panic_guard::{Failure, catch_panic};

/// The network of a scenario.
pub(super) struct Network {
    scenario: Scenario,
    setup: Setup,
    results_folder: String,
}

impl fmt::Debug for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the network of {}", self.scenario.path.display())
    }
}

pub(super) fn open_network(options: &NetworkOptions) -> Result<Box<Network>, NetworkError> {
    let NetworkOptions { scenario, policy, seed, results_folder } = options;
    let number = || seed.parse().map_err(|_| NetworkError::Seed(seed.clone()));
    let overrides = Overrides {
        policy: Some(policy.clone()).filter(|name| !name.is_empty()),
        seed: if seed.is_empty() { None } else { Some(number()?) },
        ..Overrides::default()
    };
    let mut scenario = Scenario::load_without_messages(Path::new(scenario), &overrides)?;
    scenario.expect_packets()?;
    if !scenario.recordings.is_empty() {
        let file = scenario.path.display();
        let unused = "[record] is ignored; use evenkeel run to record";
        scenario.warnings.push(format!("{file}: {unused}"));
    }
    // A run may take hours, so report an unusable folder before it starts.
    results::folder(results_folder)?;
    let (setup, results_folder) = (scenario.setup(), results_folder.clone());
    Ok(Box::new(Network { scenario, setup, results_folder }))
}

/// Calls [`open_network`] for C++, with panics as errors.
pub(super) fn try_open_network(
    options: &NetworkOptions,
) -> Result<Box<Network>, Failure<NetworkError>> {
    catch_panic(|| open_network(options))
}

impl Network {
    pub(super) fn hosts(&self) -> u32 {
        self.setup.topology.host_count()
    }

    pub(super) fn host_rate(&self) -> f64 {
        let topology = &self.setup.topology;
        let rate = topology.link(topology.host_port(HostId(0)).link()).rate;
        rate.as_bps() as f64 / 8e9
    }

    pub(super) fn warnings(&self) -> Vec<String> {
        self.scenario.warnings.clone()
    }

    pub(super) fn run(
        &self,
        handlers: Pin<&mut RankHandlers>,
        ranks: u32,
    ) -> Result<contract::Ending, NetworkError> {
        if ranks > self.hosts() {
            let (hosts, scenario) = (self.hosts(), self.scenario.path.display().to_string());
            return Err(NetworkError::TooManyRanks { ranks, hosts, scenario });
        }
        let mut results = Results::begin(&self.scenario, &self.setup, &self.results_folder)?;
        let mut posted = results.posted()?;
        let program = Program { handlers, requests: Vec::new(), posted: &mut posted };
        let mut write = |flow: &_| results.write(flow);
        let (outcome, ending) = ranks::run(&self.setup, program, ranks, &mut write);
        let (verdict, ended) = (outcome.verdict, outcome.ended);
        let (summary, remarks) = results.end(&outcome, posted)?;
        let mut report = self.report(ending, verdict, ended);
        report.warnings.extend(remarks);
        Ok(contract::Ending { summary, ..report })
    }

    /// Calls [`Network::run`] for C++, with panics as errors.
    pub(super) fn try_run(
        &self,
        handlers: Pin<&mut RankHandlers>,
        ranks: u32,
    ) -> Result<contract::Ending, Failure<NetworkError>> {
        catch_panic(|| self.run(handlers, ranks))
    }

    fn report(&self, ending: Ending, verdict: Verdict, ended: Time) -> contract::Ending {
        let name = &self.scenario.name;
        let at = human::span(ended.since(Time::ZERO));
        if let Some(fault) = &ending.fault {
            let error = format!("{name}: at {at} of simulated time, {fault}");
            return contract::Ending { status: 2, error, ..contract::Ending::default() };
        }
        let warnings = match ending.unfinished.len() {
            0 => ending.warnings(),
            _ => Vec::new(),
        };
        let (status, error) = match ending.unfinished.len() {
            0 => (0, String::new()),
            waiting => {
                let reason = match verdict {
                    Verdict::TimeLimit => "the scenario's time limit (time_limit) is reached",
                    _ => "no pending event can unblock them",
                };
                let waiting = human::plural(waiting as u64, "rank");
                (1, format!("{name}: {waiting} did not finish; at {at}, {reason}:\n{ending}"))
            }
        };
        contract::Ending { status, error, warnings, ..contract::Ending::default() }
    }
}

/// The C++ handlers as [`Ranks`].
struct Program<'a> {
    handlers: Pin<&'a mut RankHandlers>,
    requests: Vec<contract::Request>,
    posted: &'a mut Posted,
}

impl Program<'_> {
    fn take(&mut self, now: Time, requests: &mut Vec<Request>) {
        for request in self.requests.drain(..).map(request_of) {
            self.posted.take(now, &request);
            requests.push(request);
        }
    }
}

impl Ranks for Program<'_> {
    fn start(&mut self, requests: &mut Vec<Request>) -> Result<(), String> {
        let called = self.handlers.as_mut().start(&mut self.requests);
        self.take(Time::ZERO, requests);
        called.map_err(|exception| exception.what().to_owned())
    }

    fn call(
        &mut self,
        now: Time,
        ticket: Ticket,
        requests: &mut Vec<Request>,
    ) -> Result<(), String> {
        let handlers = self.handlers.as_mut();
        let called = handlers.call(now.as_ps(), ticket.0, &mut self.requests);
        self.take(now, requests);
        called.map_err(|exception| exception.what().to_owned())
    }

    fn idle(&mut self, requests: &mut Vec<Request>) -> Result<(), String> {
        let called = self.handlers.as_mut().idle(&mut self.requests);
        requests.extend(self.requests.drain(..).map(request_of));
        called.map_err(|exception| exception.what().to_owned())
    }
}

/// Converts a request from C++.
///
/// # Panics
/// If its kind is unknown, which the generated header rules out.
fn request_of(request: contract::Request) -> Request {
    let contract::Request { kind, rank, peer, tag, amount, ticket } = request;
    let ticket = Ticket(ticket);
    let transfer = Transfer { rank, peer, tag, bytes: amount, ticket };
    match kind {
        RequestKind::Send => Request::Send(transfer),
        RequestKind::Receive => Request::Receive(transfer),
        RequestKind::Schedule => {
            let delay = Span::from_ps(amount.saturating_mul(1_000));
            Request::Schedule { delay, ticket }
        }
        RequestKind::Finish => Request::Finish { rank },
        RequestKind { repr } => panic!("there is no request of kind {repr}"),
    }
}
