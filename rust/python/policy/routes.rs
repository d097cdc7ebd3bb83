//! Non-minimal routes, as a policy in Python sees them.

use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use serde::{Deserialize, Serialize};

use super::pickle::{Reduced, reduce, restore};
use evenkeel::balance::switch;

/// A route as the first switch of a packet sees it: `balance::switch::RouteLoad`.
#[pyclass(frozen, get_all, module = "evenkeel")]
#[derive(Debug, Clone, Copy, Hash, Serialize, Deserialize)]
pub(crate) struct RouteLoad {
    links: u32,
    queue_bytes: u64,
    /// Product of `links` and `queue_bytes`.
    cost: u64,
}

#[pymethods]
impl RouteLoad {
    #[staticmethod]
    fn _unpickle(state: &str) -> PyResult<Self> {
        restore(state)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Reduced<'py>> {
        reduce(slf)
    }
}

impl RouteLoad {
    fn of(route: switch::RouteLoad) -> Self {
        let switch::RouteLoad { links, queue_bytes } = route;
        Self { links, queue_bytes, cost: route.cost() }
    }
}

/// The routes of a packet at the switch of its sender: `balance::switch::DetourView`.
#[pyclass(frozen, module = "evenkeel")]
#[derive(Debug, Clone, Hash, Serialize, Deserialize)]
pub(crate) struct DetourView {
    #[pyo3(get)]
    minimal: RouteLoad,
    by: Vec<RouteLoad>,
}

impl DetourView {
    pub(super) fn of(view: &dyn switch::DetourView) -> Self {
        let by = (0..view.candidates()).map(|candidate| RouteLoad::of(view.via(candidate)));
        Self { minimal: RouteLoad::of(view.minimal()), by: by.collect() }
    }

    /// Returns the number of candidates.
    pub(super) fn count(&self) -> u32 {
        self.by.len() as u32
    }
}

#[pymethods]
impl DetourView {
    #[staticmethod]
    fn _unpickle(state: &str) -> PyResult<Self> {
        restore(state)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Reduced<'py>> {
        reduce(slf)
    }

    /// Number of switches through which the packet may be detoured.
    #[getter]
    fn candidates(&self) -> u32 {
        self.count()
    }

    /// Returns the route through a candidate.
    fn by(&self, candidate: usize) -> PyResult<RouteLoad> {
        self.by.get(candidate).copied().ok_or_else(|| {
            let count = self.by.len();
            PyIndexError::new_err(format!(
                "candidate {candidate} is out of range; there are {count}, from 0"
            ))
        })
    }
}
