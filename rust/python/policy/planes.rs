//! Sets of planes, as a policy in Python sees them.

use pyo3::prelude::*;
use pyo3::types::{PyIterator, PyTuple, PyType};

use evenkeel::packet;

/// A set of planes: `packet::PlaneMask`.
#[pyclass(frozen, eq, hash, module = "evenkeel")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct PlaneMask {
    #[pyo3(get)]
    bits: u32,
}

impl PlaneMask {
    pub(super) const fn of(mask: packet::PlaneMask) -> Self {
        Self { bits: mask.bits() }
    }

    const fn mask(self) -> packet::PlaneMask {
        packet::PlaneMask::from_bits(self.bits)
    }
}

#[pymethods]
impl PlaneMask {
    /// Creates the set with bit `p` for plane `p`.
    #[new]
    fn new(bits: u32) -> Self {
        Self { bits }
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> (Bound<'py, PyType>, (u32,)) {
        (slf.get_type(), (slf.get().bits,))
    }

    /// Returns the plane with that index, in ascending order.
    fn nth(&self, index: u32) -> Option<u32> {
        self.mask().nth(index)
    }

    /// Returns the first plane from `plane` on, wrapping around.
    fn next_from(&self, plane: u32) -> Option<u32> {
        // Beyond the last plane, the search wraps around to plane 0.
        let from = if plane < packet::PlaneMask::MAX { plane } else { 0 };
        self.mask().next_from(from)
    }

    fn __contains__(&self, plane: u32) -> bool {
        plane < packet::PlaneMask::MAX && self.mask().has(plane)
    }

    fn __len__(&self) -> usize {
        self.mask().count() as usize
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        let planes: Vec<u32> = self.mask().planes().collect();
        PyTuple::new(py, planes)?.try_iter()
    }

    fn __repr__(&self) -> String {
        format!("PlaneMask({:#b})", self.bits)
    }

    fn __deepcopy__(&self, _memo: Bound<'_, PyAny>) -> Self {
        *self
    }
}
