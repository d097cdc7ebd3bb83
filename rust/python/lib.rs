//! The Python module: the compiled part of the package `evenkeel` (`rust/python/evenkeel`).
//!
//! This layer converts arguments and results, runs the library on a separate thread (`supervise`),
//! and calls policies that are written in Python (`policy`). It computes nothing. Names, defaults
//! and user documentation are in the package.

mod commands;
mod comparison;
mod failure;
mod figures;
mod hpcc;
mod json;
mod policy;
mod rails;
mod run;
mod scenario;
mod supervise;
mod sweep;
mod table;

use pyo3::prelude::*;

/// The compiled part of the package.
#[pymodule]
fn _evenkeel(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("VERSION", evenkeel::report::VERSION)?;
    module.add_class::<scenario::Loaded>()?;
    module.add_class::<run::RunResult>()?;
    module.add_class::<rails::RailRun>()?;
    module.add_class::<table::Table>()?;
    module.add_class::<policy::Random>()?;
    module.add_class::<policy::QpContext>()?;
    module.add_class::<policy::PlaneMask>()?;
    module.add_class::<policy::Feedback>()?;
    module.add_class::<policy::SwitchContext>()?;
    module.add_class::<policy::SwitchView>()?;
    module.add_class::<policy::DetourView>()?;
    module.add_class::<policy::RouteLoad>()?;
    module.add_class::<policy::Packet>()?;
    module.add_class::<policy::Departure>()?;
    module.add_function(wrap_pyfunction!(scenario::toml_of_json, module)?)?;
    module.add_function(wrap_pyfunction!(scenario::json_of_toml, module)?)?;
    module.add_function(wrap_pyfunction!(scenario::catalogue, module)?)?;
    module.add_function(wrap_pyfunction!(scenario::output_schema, module)?)?;
    module.add_function(wrap_pyfunction!(commands::explain, module)?)?;
    module.add_function(wrap_pyfunction!(commands::listing, module)?)?;
    module.add_function(wrap_pyfunction!(commands::parameters, module)?)?;
    module.add_function(wrap_pyfunction!(commands::write_page, module)?)?;
    module.add_function(wrap_pyfunction!(commands::import_file, module)?)?;
    module.add_function(wrap_pyfunction!(comparison::compare, module)?)?;
    module.add_function(wrap_pyfunction!(comparison::write_comparison, module)?)?;
    module.add_function(wrap_pyfunction!(run::write_run, module)?)?;
    module.add_function(wrap_pyfunction!(run::table_of_csv, module)?)?;
    module.add_function(wrap_pyfunction!(figures::drawing, module)?)?;
    module.add_function(wrap_pyfunction!(sweep::points, module)?)?;
    module.add_function(wrap_pyfunction!(sweep::sweep, module)?)?;
    module.add_function(wrap_pyfunction!(hpcc::hpcc, module)?)?;
    module.add_function(wrap_pyfunction!(figures::figures, module)?)
}
