//! Policies that are written in Python: a class with the methods of the Rust trait, called packet
//! by packet. They are slow, and meant for trying an idea.

mod context;
mod ledger;
mod pickle;
mod planes;
mod routes;
mod sender;
mod switch;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::prelude::*;
use pyo3::types::PyAnyMethods;

use super::failure::Failure;
use super::supervise::Control;
use evenkeel::balance::sender::{SenderConfig, custom as custom_sender};
use evenkeel::balance::switch::{SwitchConfig, custom as custom_switch};
use evenkeel::scenario::Scenario;

pub(super) use context::{
    Departure, Feedback, Packet, QpContext, Random, SwitchContext, SwitchView,
};
pub(super) use ledger::Ledger;
pub(super) use planes::PlaneMask;
pub(super) use routes::{DetourView, RouteLoad};

/// Maximum number of switches that can be detours in a fabric, because a packet's header names one.
const MAX_DETOURS: usize = (u16::MAX >> 2) as usize;

/// A policy that is written in Python.
#[derive(Debug, FromPyObject)]
pub(super) struct CustomPolicy {
    /// `sender` or `switch`.
    #[pyo3(item)]
    kind: String,
    /// Name of its class.
    #[pyo3(item)]
    name: String,
    /// Callable that creates a policy from its context.
    #[pyo3(item)]
    factory: Py<PyAny>,
    /// Methods that the class defines; others have the trait's default behaviour.
    #[pyo3(item)]
    methods: BTreeSet<String>,
}

/// The state that the policies of one run share: how to create them, and how to stop the run.
#[derive(Debug)]
struct Shared {
    factory: Py<PyAny>,
    methods: BTreeSet<String>,
    control: Arc<Control>,
    ledger: Arc<Ledger>,
}

impl CustomPolicy {
    /// Returns the scenario with this policy instead of its own sender or switch policy.
    pub(super) fn apply_to(
        self,
        scenario: &Scenario,
        control: &Arc<Control>,
        ledger: &Arc<Ledger>,
    ) -> Result<Scenario, Failure> {
        let direct = scenario.topology.direct().filter(|_| self.methods.contains("detour"));
        if let Some(direct) = direct
            && direct.groups.len() > MAX_DETOURS
        {
            let (name, count) = (&self.name, direct.groups.len());
            let reason = format!(
                "policy = {name}: detour() supports at most {MAX_DETOURS} switches, but the fabric \
                 has {count}"
            );
            return Err(Failure::Argument(reason));
        }
        let mut scenario = scenario.clone();
        scenario.scheme.name = interned(&self.name);
        let shared = Arc::new(Shared {
            factory: self.factory,
            methods: self.methods,
            control: Arc::clone(control),
            ledger: Arc::clone(ledger),
        });
        if self.kind == "sender" {
            let factory = Arc::new(sender::Factory(shared));
            scenario.scheme.sender = SenderConfig::Custom(custom_sender::Config { factory });
        } else {
            let factory = Arc::new(switch::Factory(shared));
            scenario.scheme.switch = SwitchConfig::Custom(custom_switch::Config { factory });
        }
        Ok(scenario)
    }
}

impl Shared {
    fn defines(&self, method: &str) -> bool {
        self.methods.contains(method)
    }
}

/// Returns the name with a static lifetime, which the names of schemes need.
pub(super) fn interned(name: &str) -> &'static str {
    static NAMES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = names.get(name) {
        return known;
    }
    // Leaked once per name: the number of policy classes in a process is small.
    let name: &'static str = Box::leak(name.to_owned().into_boxed_str());
    names.insert(name);
    name
}

/// A policy object of Python, and the queue pair or switch that it belongs to.
#[derive(Debug)]
struct Object {
    policy: Py<PyAny>,
    shared: Arc<Shared>,
    /// The policy's queue pair or switch, for messages.
    owner: String,
}

impl Object {
    /// Creates the policy of a queue pair or a switch from its context.
    fn new(
        shared: &Arc<Shared>,
        owner: String,
        context: impl for<'py> FnOnce(Python<'py>) -> PyResult<Bound<'py, PyAny>>,
    ) -> Self {
        shared.control.check();
        let made =
            Python::attach(|py| Ok(shared.factory.bind(py).call1((context(py)?,))?.unbind()));
        let policy = made.unwrap_or_else(|error| shared.control.fail(error));
        Self { policy, shared: Arc::clone(shared), owner }
    }

    /// True if the class of the policy defines the method.
    fn defines(&self, method: &str) -> bool {
        self.shared.defines(method)
    }

    /// Copies the policy with its state (`copy.deepcopy`).
    fn duplicate(&self) -> Self {
        let copied = Python::attach(|py| {
            let copy = py.import("copy")?.getattr("deepcopy")?;
            Ok(copy.call1((&self.policy,))?.unbind())
        });
        let policy = copied.unwrap_or_else(|error| self.shared.control.fail(error));
        Self { policy, shared: Arc::clone(&self.shared), owner: self.owner.clone() }
    }

    /// Calls the policy; `asked` is the hash input for the arguments. If the call or its return
    /// value differs from the first run, the policy is not deterministic.
    fn call<T: std::hash::Hash + std::fmt::Debug>(
        &self,
        asked: impl std::hash::Hash,
        method: &'static str,
        call: impl for<'py> FnOnce(&Bound<'py, PyAny>) -> PyResult<T>,
    ) -> T {
        self.shared.control.check();
        let answer = Python::attach(|py| call(self.policy.bind(py)));
        let answer = answer.unwrap_or_else(|error| self.shared.control.fail(error));
        let noted = self.shared.ledger.record((&self.owner, method, asked, &answer));
        if noted.is_err() {
            let call = self.shared.ledger.calls();
            let reason = format!(
                "the policy is not deterministic: call {call}, {method}() of {}, returned \
                 {answer:?}, but something else in the first run; draw random numbers from the \
                 context's random(), and keep no state between runs",
                self.owner
            );
            let error = Python::attach(|py| determinism_error(py, &reason));
            self.shared.control.fail(error);
        }
        answer
    }
}

fn determinism_error(py: Python<'_>, reason: &str) -> PyErr {
    let class = py.import("evenkeel._errors").and_then(|it| it.getattr("DeterminismError"));
    let error = class.and_then(|class| class.call1((reason,)));
    error.map_or_else(|error| error, PyErr::from_value)
}
