//! The engine in a web page: `evenkeel run`, `compare` and `report` without files.
//!
//! The page (`page/`) calls the functions of this file in a worker. Requests and answers are JSON.
//! The results are those of the program: only their wall time and memory differ.

mod examples;
mod report;
mod request;
mod runs;
#[cfg(test)]
mod tests;

use serde::Serialize;
use wasm_bindgen::prelude::*;

use evenkeel_study::Listing;
use evenkeel_study::report::VERSION;
use examples::{EXAMPLES, Example};
use request::{Plan, Request};
use runs::Share;

#[wasm_bindgen]
extern "C" {
    /// Shows the progress of all runs. The worker defines it.
    #[wasm_bindgen(js_name = showProgress)]
    fn show_progress(done: f64, label: &str);
}

/// Names that the page offers.
#[derive(Serialize)]
struct About {
    version: &'static str,
    examples: &'static [Example],
    /// Names and descriptions.
    policies: Vec<[&'static str; 2]>,
}

/// Turns panics into JavaScript errors. Call it before any other function.
#[wasm_bindgen(start)]
pub fn start() {
    std::panic::set_hook(Box::new(|panic| {
        wasm_bindgen::throw_str(&format!("an internal error (a bug in evenkeel): {panic}"))
    }));
}

/// Returns the version, the examples and the policies as JSON.
///
/// # Errors
/// Fails if they cannot be written as JSON.
#[wasm_bindgen]
pub fn about() -> Result<String, String> {
    let policies = Listing::find("policies").map(|it| it.rows()).unwrap_or_default();
    let policies = policies.iter().map(|&[name, summary, _]| [name, summary]).collect();
    json(&About { version: VERSION, examples: &EXAMPLES, policies })
}

/// Checks a request and describes its runs as JSON: a [`Plan`].
///
/// # Errors
/// Fails if the scenario or a policy is invalid, or if the run needs files or too much memory.
#[wasm_bindgen]
pub fn check(request: &str) -> Result<String, String> {
    let request = Request::read(request)?;
    json(&Plan::of(&request, &request.comparison()?))
}

/// Runs the first policy of a request with its first seed. Returns the JSON that
/// `evenkeel run --json` prints.
///
/// # Errors
/// As [`check`].
#[wasm_bindgen]
pub fn run_json(request: &str) -> Result<String, String> {
    let asked = Request::read(request)?.comparison()?;
    let mut silent = |_: f64, _: &str| {};
    let ended = runs::run(&asked, asked.runs()[0], &mut Share::new(1, &mut silent))?;
    json(&ended.finished.summary)
}

/// Simulates all runs of a request and returns the report as JSON: a [`report::Report`].
///
/// # Errors
/// As [`check`].
#[wasm_bindgen]
pub fn simulate(request: &str) -> Result<String, String> {
    let request = Request::read(request)?;
    json(&report::report(&request, &mut |done, label| show_progress(done, label))?)
}

fn json(value: &impl Serialize) -> Result<String, String> {
    serde_json::to_string(value).map_err(|error| error.to_string())
}
