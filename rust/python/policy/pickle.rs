//! Pickles of the arguments of policies: their fields as JSON.

use pyo3::PyClass;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize};

use super::context::SIGNALS;
use crate::json::json;

/// The function that restores an object, and its argument.
pub(super) type Reduced<'py> = (Bound<'py, PyAny>, (String,));

/// Returns the pickled form of an object, which its class restores by `_unpickle`.
pub(super) fn reduce<'py, T>(object: &Bound<'py, T>) -> PyResult<Reduced<'py>>
where
    T: PyClass + Serialize,
{
    let state = json(&*object.try_borrow()?);
    Ok((object.as_any().get_type().getattr("_unpickle")?, (state,)))
}

/// Restores an object.
pub(super) fn restore<T: DeserializeOwned>(state: &str) -> PyResult<T> {
    serde_json::from_str(state).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// Restores the name of a signal.
pub(super) fn signal<'de, D: Deserializer<'de>>(from: D) -> Result<&'static str, D::Error> {
    let name = String::deserialize(from)?;
    let known = SIGNALS.into_iter().find(|it| *it == name);
    known.ok_or_else(|| serde::de::Error::custom(format!("no signal has the name '{name}'")))
}
