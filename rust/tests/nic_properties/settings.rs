//! The settings of both NICs of a case, selected by names as in scenarios.

use std::path::Path;

use evenkeel::balance::Parameters;
use evenkeel::balance::sender::{SenderConfig, Trimming};
use evenkeel::nic::congestion::{Control, Scope, nscc};
use evenkeel::nic::{ControlPaths, Delivery, NicConfig, PortFacts, congestion};
use evenkeel::scenario::{Overrides, Scenario, ScenarioError};
use evenkeel::units::{BitRate, Bytes, Span};

/// Payload of a full packet; small, so that messages of many packets are cheap.
pub(crate) const PAYLOAD: u64 = 1_000;

/// Header bytes of a packet.
pub(crate) const HEADER: u64 = 62;

/// Retransmission timeout. Scripted delays are both shorter and longer.
pub(crate) const TIMEOUT: Span = Span::from_us(200);

/// One-way delay of the pipe without disturbances.
pub(crate) const DELAY: Span = Span::from_us(2);

/// The lowest rate. Rate-based controls do not go below it with their default parameters.
/// Window-based controls send at least one packet per round trip, which the script can extend only
/// down to this rate.
const FLOOR: BitRate = BitRate::from_bps(100_000_000);

/// The lowest rate of each of at most three queue pairs that share a window.
const SHARED_FLOOR: BitRate = BitRate::from_bps(FLOOR.as_bps() / 3);

/// Swift's lowest rate: at least one packet in 1 ms, the default of its `longest_pause`.
const SWIFT_FLOOR: BitRate = BitRate::from_bps((PAYLOAD + HEADER) * 8 * 1_000);

/// The port of both NICs.
pub(crate) const PORT: PortFacts =
    PortFacts { line_rate: BitRate::from_gbps(100), base_rtt: Span::from_us(5) };

/// A pair of recovery and congestion control, ready to build NICs from.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    pub(crate) recovery: &'static str,
    pub(crate) delivery: Delivery,
    /// Lowest rate of a queue pair.
    pub(crate) floor: BitRate,
    pub(crate) nic: NicConfig,
    pub(crate) sender: SenderConfig,
    /// How control packets select a plane.
    pub(crate) answers: ControlPaths,
}

impl Settings {
    fn of(scenario: Scenario, recovery: &'static str, floor: BitRate) -> Self {
        let (scheme, nic) = (scenario.scheme, scenario.nic);
        let delivery = nic.delivery();
        Self {
            recovery,
            delivery,
            floor,
            nic,
            sender: scheme.sender,
            answers: scheme.control_paths,
        }
    }
}

/// True if a recovery and a control can be combined. With an erasure code, or with delivery of
/// messages as they become complete, packets have no room for the sender's credit request.
pub(crate) fn are_possible(recovery: &str, control: &Control) -> bool {
    !["erasure", "rudi"].contains(&recovery) || control.name != "rccc"
}

/// Returns the settings for two names of a scenario; fails for an unknown name.
pub(crate) fn settings(
    recovery: &'static str,
    control: &str,
) -> Result<Settings, Box<ScenarioError>> {
    delivering(recovery, control, "auto")
}

/// Returns the settings with an order of delivery.
pub(crate) fn delivering(
    recovery: &'static str,
    control: &str,
    delivery: &str,
) -> Result<Settings, Box<ScenarioError>> {
    let configured = congestion::find(control)
        .map(|control| control.configure(&Parameters::new(), Trimming::Off).expect("defaults"));
    let congestion = configured.map(|it| it.value);
    // A control that compares samples of one path needs a single path.
    let has_one_path = congestion.as_ref().is_some_and(|it| it.telemetry().is_some());
    let policy = if recovery == "go-back-n" || has_one_path { "ecmp" } else { "spray" };
    // The control's own bytes are part of the headers.
    let header = HEADER - congestion.map_or(0, |it| it.overhead().get());
    let text = format!(
        "[topology]\nleaves = 2\nspines = 1\nhosts_per_leaf = 1\n\
         [transport]\npayload = \"{PAYLOAD}B\"\nheader = \"{header}B\"\n\
         congestion_control = \"{control}\"\nrecovery = \"{recovery}\"\n\
         delivery = \"{delivery}\"\nretransmit_timeout = \"{TIMEOUT}\"\n\
         [policy]\nname = \"{policy}\"\n\
         [workload]\nkind = \"shift\"\nshift = 1\nbytes = \"1KB\"\n"
    );
    let scenario = Scenario::parse(&text, "properties", Path::new(""), &Overrides::default())?;
    let floor = match control {
        "line-rate" => PORT.line_rate,
        "swift" => SWIFT_FLOOR,
        _ => FLOOR,
    };
    Ok(Settings::of(scenario, recovery, floor))
}

/// Settings of NICs with several ports.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OfPlanes {
    /// Lines of `[policy]`.
    pub(crate) policy: &'static str,
    pub(crate) recovery: &'static str,
    pub(crate) control: &'static str,
    /// Line with the parameters of the control.
    pub(crate) parameters: &'static str,
}

impl OfPlanes {
    pub(crate) fn settings(self) -> Result<Settings, Box<ScenarioError>> {
        let Self { policy, recovery, control, parameters } = self;
        let text = format!(
            "[topology]\nkind = \"multi-plane\"\nplanes = 4\nleaves = 2\nspines = 1\n\
             hosts_per_leaf = 1\n\
             [transport]\npayload = \"{PAYLOAD}B\"\nheader = \"{HEADER}B\"\n\
             congestion_control = \"{control}\"\n{parameters}\nrecovery = \"{recovery}\"\n\
             retransmit_timeout = \"{TIMEOUT}\"\n\
             [policy]\n{policy}\n\
             [workload]\nkind = \"shift\"\nshift = 1\nbytes = \"1KB\"\n"
        );
        let scenario = Scenario::parse(&text, "properties", Path::new(""), &Overrides::default())?;
        let is_shared = scenario.nic.congestion.scope().is_per_destination();
        Ok(Settings::of(scenario, recovery, if is_shared { SHARED_FLOOR } else { FLOOR }))
    }
}

/// Returns the settings for a recovery where all queue pairs share a window.
pub(crate) fn sharing(recovery: &'static str) -> Result<Settings, Box<ScenarioError>> {
    let mut settings = settings(recovery, "nscc")?;
    let shared = nscc::Config { scope: Scope::Destination, ..nscc::Config::default() };
    settings.nic.congestion = shared.into();
    settings.floor = SHARED_FLOOR;
    Ok(settings)
}

/// Returns settings where messages are WRITEs with immediate data, at most `most` of them in
/// flight.
pub(crate) fn limited(
    recovery: &'static str,
    control: &str,
    most: u32,
) -> Result<Settings, Box<ScenarioError>> {
    let mut settings = delivering(recovery, control, "auto")?;
    settings.nic.queue_pairs.immediate_messages = Some(most);
    Ok(settings)
}

/// Returns the number of packets of a message of `bytes`.
pub(crate) fn packets(bytes: u64) -> u64 {
    Bytes::new(bytes).get().div_ceil(PAYLOAD).max(1)
}
