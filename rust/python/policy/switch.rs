//! Switch policies that are written in Python.

use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;

use super::context::{
    Departure as PyDeparture, Packet as PyPacket, SwitchContext as PySwitchContext,
    SwitchView as PySwitchView,
};
use super::routes::DetourView as PyDetourView;
use super::{Object, Shared};
use evenkeel::balance::switch::custom::{CustomSwitch, SwitchFactory};
use evenkeel::balance::switch::{Departure, DetourView, StateSize, SwitchContext, SwitchView};
use evenkeel::packet::Packet;
use evenkeel::units::Time;

/// Creates the policy of each switch.
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
        self.0.defines("handle_departure")
    }
}

#[derive(Debug)]
struct Switch(Object);

impl CustomSwitch for Switch {
    fn choose(&mut self, now: Time, packet: &Packet, view: &mut dyn SwitchView) -> u32 {
        let now = now.as_ps();
        let (packet, view) = (PyPacket::of(packet), PySwitchView::of(view));
        let candidates = view.count();
        self.0.call((now, packet.clone(), view.clone()), "choose", |policy| {
            let given = (now, packet, view);
            let chosen: u32 =
                policy.call_method1(intern!(policy.py(), "choose"), given)?.extract()?;
            expect_candidate("choose", chosen, candidates)?;
            Ok(chosen)
        })
    }

    fn detour(&mut self, view: &dyn DetourView) -> Option<u32> {
        if !self.0.defines("detour") {
            return None;
        }
        let view = PyDetourView::of(view);
        let candidates = view.count();
        self.0.call(view.clone(), "detour", |policy| {
            let answer = policy.call_method1(intern!(policy.py(), "detour"), (view,))?;
            let chosen: Option<u32> = answer.extract()?;
            chosen.map_or(Ok(()), |it| expect_candidate("detour", it, candidates))?;
            Ok(chosen)
        })
    }

    fn handle_departure(&mut self, now: Time, packet: &mut Packet, departure: &Departure) {
        let now = now.as_ps();
        let (seen, departure) = (PyPacket::of(packet), PyDeparture::of(departure));
        let asked = (now, seen.clone(), departure.clone());
        let takes_detours = self.0.defines("detour");
        let written: Option<u16> = self.0.call(asked, "handle_departure", |policy| {
            let given = (now, seen, departure);
            let answer = policy.call_method1(intern!(policy.py(), "handle_departure"), given)?;
            let written: Option<u16> = answer.extract()?;
            if takes_detours && written.is_some() {
                let reason = "handle_departure() wrote to the field that says where a packet with \
                              a detour() goes first; expected None";
                return Err(PyValueError::new_err(reason));
            }
            Ok(written)
        });
        if let Some(written) = written {
            packet.route = written;
        }
    }

    fn state_size(&self) -> StateSize {
        let (entries, bits) = self.0.call((), "state_size", |policy| {
            policy.call_method0(intern!(policy.py(), "state_size"))?.extract::<(u64, u64)>()
        });
        StateSize { entries, bits }
    }

    fn duplicate(&self) -> Box<dyn CustomSwitch> {
        Box::new(Self(self.0.duplicate()))
    }
}

/// Fails if `chosen` is not the index of a candidate.
fn expect_candidate(method: &str, chosen: u32, candidates: u32) -> PyResult<()> {
    if chosen < candidates {
        return Ok(());
    }
    let reason = format!(
        "{method}() returned {chosen}; expected the index of one of {candidates} candidates, from 0"
    );
    Err(PyValueError::new_err(reason))
}
