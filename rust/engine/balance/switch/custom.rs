//! A caller's switch policy: calls of [`SwitchPolicy`] are forwarded through a trait object.
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

/// The policy of one switch, with the methods of [`SwitchPolicy`]. If weights differ, each port
/// appears among the candidates as often as its weight.
pub trait CustomSwitch: fmt::Debug + Send {
    /// See [`SwitchPolicy::choose`].
    fn choose(&mut self, now: Time, packet: &Packet, view: &mut dyn SwitchView) -> u32;
    /// See [`SwitchPolicy::detour`].
    fn detour(&mut self, view: &dyn DetourView) -> Option<u32>;
    /// See [`SwitchPolicy::handle_departure`].
    fn handle_departure(&mut self, now: Time, packet: &mut Packet, departure: &Departure);
    /// See [`SwitchPolicy::state_size`].
    fn state_size(&self) -> StateSize;
    /// Returns an independent policy in the same state.
    fn duplicate(&self) -> Box<dyn CustomSwitch>;
}

/// Creates the policy of each switch.
pub trait SwitchFactory: fmt::Debug + Send + Sync {
    /// Returns the policy of a new switch.
    fn switch(&self, switch: &SwitchContext) -> Box<dyn CustomSwitch>;
    /// See [`SwitchPolicy::tracks_departures`].
    fn tracks_departures(&self) -> bool;
}

/// The factory of a caller's policies.
#[derive(Debug, Clone, serde::Serialize)]
pub struct Config {
    /// Creates the policy of each switch.
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

#[cfg(test)]
mod tests {
    use super::super::{CandidateCount, hash};
    use super::*;
    use crate::balance::detour::test_view::Routes;
    use crate::balance::recorder::Recorder;
    use crate::ids::SwitchId;

    impl CustomSwitch for Recorder {
        fn choose(&mut self, now: Time, packet: &Packet, view: &mut dyn SwitchView) -> u32 {
            let candidates = view.candidates();
            self.note(format!("choose {now:?} {} of {candidates}", packet.label), 3)
        }
        fn detour(&mut self, view: &dyn DetourView) -> Option<u32> {
            self.note(format!("detour of {}", view.candidates()), Some(1))
        }
        fn handle_departure(&mut self, now: Time, packet: &mut Packet, departure: &Departure) {
            packet.label = 9;
            self.note(format!("handle_departure {now:?} {departure:?}"), ());
        }
        fn state_size(&self) -> StateSize {
            self.note("state_size".to_owned(), StateSize { entries: 2, bits: 11 })
        }
        fn duplicate(&self) -> Box<dyn CustomSwitch> {
            Box::new(self.clone())
        }
    }

    #[derive(Debug)]
    struct Factory(Recorder, bool);

    impl SwitchFactory for Factory {
        fn switch(&self, switch: &SwitchContext) -> Box<dyn CustomSwitch> {
            self.0.note(format!("switch {}", switch.id.0), ());
            self.0.duplicate()
        }
        fn tracks_departures(&self) -> bool {
            self.1
        }
    }

    #[test]
    fn every_call_is_passed_on_with_what_it_has_and_its_answer_is_passed_back() {
        let calls = Recorder::default();
        let config = Config { factory: Arc::new(Factory(calls.clone(), true)) };
        let mut policy = Custom::new(&config, &SwitchContext::for_test());
        let now = Time::from_ps(3);
        let mut packet = Packet { label: 5, ..Packet::default() };
        let (port, source_edge, destination_edge) = (4, SwitchId(1), SwitchId(2));
        let departure = Departure { port, source_edge, destination_edge };
        assert_eq!(policy.choose(now, &packet, &mut CandidateCount(6)), 3);
        let routes = Routes { minimal: (1, 0), via: vec![(2, 0), (2, 0)] };
        assert_eq!(policy.detour(&routes), Some(1));
        policy.handle_departure(now, &mut packet, &departure);
        assert_eq!(packet.label, 9);
        assert_eq!(policy.clone().state_size(), StateSize { entries: 2, bits: 11 });
        let expected = [
            "switch 0".to_owned(),
            format!("choose {now:?} 5 of 6"),
            "detour of 2".to_owned(),
            format!("handle_departure {now:?} {departure:?}"),
            "state_size".to_owned(),
        ];
        assert_eq!(calls.all(), expected);
    }

    #[test]
    fn departures_are_tracked_for_factories_that_request_it() {
        let config = |tracks| Config { factory: Arc::new(Factory(Recorder::default(), tracks)) };
        let (tracking, other) = (config(true), config(false));
        assert_eq!((tracking == tracking.clone(), tracking == other), (true, false));
        assert!(Custom::tracks_departures(&SwitchConfig::Custom(tracking)));
        assert!(!Custom::tracks_departures(&SwitchConfig::Custom(other)));
        assert!(!Custom::tracks_departures(&SwitchConfig::Hash(hash::Config {})));
    }

    #[test]
    fn a_policy_without_detours_takes_the_minimal_route() {
        let mut hash = hash::Hash::new(&hash::Config {}, &SwitchContext::for_test());
        assert_eq!(hash.detour(&Routes { minimal: (1, 9), via: vec![(2, 0)] }), None);
    }
}
