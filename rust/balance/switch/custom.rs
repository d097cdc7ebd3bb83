//! A switch policy of a caller: what [`SwitchPolicy`] asks is passed on through a pointer.
//!
//! Source: that of the policy itself; this file only carries it. The Python module uses it for
//! policies that are written in Python.

use std::fmt;
use std::sync::Arc;

use super::{
    Departure, DetourView, StateSize, SwitchConfig, SwitchContext, SwitchPolicy, SwitchView,
};
use crate::packet::Packet;
use crate::units::Time;

/// The policy of one switch; its methods are those of [`SwitchPolicy`]. Where weights differ, each
/// port appears among the candidates as often as its weight.
pub trait CustomSwitch: fmt::Debug + Send {
    /// See [`SwitchPolicy::choose`].
    fn choose(&mut self, now: Time, packet: &Packet, view: &mut dyn SwitchView) -> u32;
    /// See [`SwitchPolicy::detour`].
    fn detour(&mut self, view: &dyn DetourView) -> Option<u32>;
    /// See [`SwitchPolicy::handle_departure`].
    fn handle_departure(&mut self, now: Time, packet: &mut Packet, departure: &Departure);
    /// See [`SwitchPolicy::state_size`].
    fn state_size(&self) -> StateSize;
    /// A policy of its own in the same state.
    fn duplicate(&self) -> Box<dyn CustomSwitch>;
}

/// Makes the policy of each switch.
pub trait SwitchFactory: fmt::Debug + Send + Sync {
    /// The policy of a new switch.
    fn switch(&self, switch: &SwitchContext) -> Box<dyn CustomSwitch>;
    /// See [`SwitchPolicy::tracks_departures`].
    fn tracks_departures(&self) -> bool;
}

/// Parameters.
#[derive(Debug, Clone, serde::Serialize)]
pub struct Config {
    /// What makes the policies.
    #[serde(skip)]
    pub factory: Arc<dyn SwitchFactory>,
}

impl PartialEq for Config {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.factory, &other.factory)
    }
}

/// The policy of one switch.
#[derive(Debug)]
pub struct Custom(Box<dyn CustomSwitch>);

impl Clone for Custom {
    fn clone(&self) -> Self {
        Self(self.0.duplicate())
    }
}

/// A caller's policy has no name in scenarios.
pub const PRESETS: &[super::Preset] = &[];

impl Custom {
    pub(super) fn new(config: &Config, switch: &SwitchContext) -> Self {
        Self(config.factory.switch(switch))
    }
}

impl SwitchPolicy for Custom {
    const USES_QUEUE_LENGTHS: bool = true;
    const TAKES_DETOURS: bool = true;

    fn tracks_departures(config: &SwitchConfig) -> bool {
        matches!(config, SwitchConfig::Custom(own) if own.factory.tracks_departures())
    }

    fn choose<V: SwitchView>(&mut self, now: Time, packet: &Packet, view: &mut V) -> u32 {
        self.0.choose(now, packet, view)
    }

    fn detour<V: DetourView>(&mut self, view: &V) -> Option<u32> {
        self.0.detour(view)
    }

    fn handle_departure(&mut self, now: Time, packet: &mut Packet, departure: &Departure) {
        self.0.handle_departure(now, packet, departure);
    }

    fn state_size(&self) -> StateSize {
        self.0.state_size()
    }
}
