//! Tests of the scenario reader: valid scenarios and exact faults for given texts.

mod failures;
mod faults;
mod files;
mod hardware;
mod job_policies;
mod limits;
mod matrix_failures;
mod messages;
mod own_transport;
mod resolved;
mod switch;
mod transport;
mod types;
mod workloads;
#[path = "../../tests/support/wrong.rs"]
mod wrong;

use std::path::Path;

use super::{Overrides, Scenario, ScenarioError};

pub(super) fn parse(text: &str) -> Result<Scenario, ScenarioError> {
    Scenario::parse(text, "test", Path::new(""), &Overrides::default())
}

pub(super) fn snapshot(name: &str, text: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(concat!(env!("CARGO_MANIFEST_DIR"), "/../../snapshots"));
    settings.set_prepend_module_to_snapshot(false);
    settings.bind(|| insta::assert_snapshot!(name, text));
}
