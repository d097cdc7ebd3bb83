//! Switch policies of Python.

use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;

use super::context::{
    Departure as PyDeparture, Packet as PyPacket, SwitchContext as PySwitchContext,
    SwitchView as PySwitchView,
};
use super::{Object, Shared};
use crate::balance::switch::custom::{CustomSwitch, SwitchFactory};
use crate::balance::switch::{Departure, StateSize, SwitchContext, SwitchView};
use crate::packet::Packet;
use crate::units::Time;

/// Makes the policy of each switch.
#[derive(Debug)]
pub(super) struct Factory(pub(super) Arc<Shared>);

impl SwitchFactory for Factory {
    fn switch(&self, switch: &SwitchContext) -> Box<dyn CustomSwitch> {
        let context = PySwitchContext::of(switch);
        Box::new(Switch(Object::new(&self.0, switch.id.to_string(), |py| {
            Ok(Bound::new(py, context)?.into_any())
        })))
    }

    fn tracks_departures(&self) -> bool {
        self.0.tracks_departures
    }
}

#[derive(Debug)]
struct Switch(Object);

impl CustomSwitch for Switch {
    fn choose(&mut self, now: Time, packet: &Packet, view: &mut dyn SwitchView) -> u32 {
        let now = now.as_ps();
        let (packet, view) = (PyPacket::of(packet), PySwitchView::of(view));
        let candidates = view.count();
        self.0.ask((now, packet.clone(), view.clone()), "choose", |policy| {
            let given = (now, packet, view);
            let chosen: u32 =
                policy.call_method1(intern!(policy.py(), "choose"), given)?.extract()?;
            if chosen >= candidates {
                let reason = format!(
                    "choose() returned {chosen}; expected the index of one of {candidates} \
                     candidates, from 0"
                );
                return Err(PyValueError::new_err(reason));
            }
            Ok(chosen)
        })
    }

    fn handle_departure(&mut self, now: Time, packet: &Packet, departure: &Departure) {
        let now = now.as_ps();
        let (packet, departure) = (PyPacket::of(packet), PyDeparture::of(departure));
        let asked = (now, packet.clone(), departure.clone());
        self.0.ask(asked, "handle_departure", |policy| {
            let given = (now, packet, departure);
            policy.call_method1(intern!(policy.py(), "handle_departure"), given).map(drop)
        });
    }

    fn state_size(&self) -> StateSize {
        let (entries, bits) = self.0.ask((), "state_size", |policy| {
            policy.call_method0(intern!(policy.py(), "state_size"))?.extract::<(u64, u64)>()
        });
        StateSize { entries, bits }
    }

    fn duplicate(&self) -> Box<dyn CustomSwitch> {
        Box::new(Self(self.0.duplicate()))
    }
}
