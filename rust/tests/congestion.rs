//! Congestion controls: the trajectory of each in isolation, and its effect on a bottleneck in the
//! fabric.

mod bottleneck;
mod telemetry;
mod trajectory;

use evenkeel::balance::Parameters;
use evenkeel::balance::sender::Trimming;
use evenkeel::nic::congestion::{self, CongestionControl};

/// Returns a control by its name and preset as in a scenario; empty selects the default.
fn control(name: &str, preset: &str) -> CongestionControl {
    let mut parameters = Parameters::new();
    if !preset.is_empty() {
        parameters.insert("preset".to_owned(), preset.into());
    }
    let control = congestion::find(name).unwrap_or_else(|| panic!("no control is called {name}"));
    let configured = control.configure(&parameters, Trimming::Off);
    configured.unwrap_or_else(|error| panic!("{name}: {error}")).value
}
