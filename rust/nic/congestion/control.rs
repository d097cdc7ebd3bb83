//! What a NIC, a scenario and a list of controls need to know of a control.

use super::{CONTROLS, CongestionControl, CreditRules, NAMES, Scope, TelemetryRequest, dcqcn};
use crate::balance::Parameters;
use crate::balance::sender::Trimming;
use crate::nic::parameters::{Configuration, Configured, ParameterError, overridden};
use crate::units::Bytes;

/// The configuration of a congestion control.
pub trait ControlConfig: Configuration + Into<CongestionControl> {
    /// Named sets of parameters; the first one is the default. Empty where the defaults of the
    /// configuration are the only set.
    const PRESETS: &'static [CongestionPreset<Self>] = &[];

    /// The preset of a scenario that names none, given what its switches do; `None` if there are
    /// no presets.
    fn default_preset(_trimming: Trimming) -> Option<&'static CongestionPreset<Self>> {
        Self::PRESETS.first()
    }

    /// Whether it is of Ultra Ethernet: acknowledgements of a scenario then are as in its simulator
    /// where the scenario does not say otherwise.
    const OF_ULTRA_ETHERNET: bool = false;

    /// What it asks switches to write into data packets, if anything. The path of a queue pair must
    /// then stay the same.
    fn telemetry(&self) -> Option<TelemetryRequest> {
        None
    }

    /// What one window of a queue pair limits.
    fn scope(&self) -> Scope {
        Scope::Qp
    }

    /// Bytes that it adds to each data packet and to each answer.
    fn overhead(&self) -> Bytes {
        Bytes::ZERO
    }

    /// What receivers grant credit by, if they do. Data packets then carry what their senders ask
    /// for, in the field that has the length of the message in other runs.
    fn credit(&self) -> Option<CreditRules> {
        None
    }
}

/// A set of parameters.
#[derive(Debug, Clone, Copy)]
pub struct CongestionPreset<C> {
    /// The name that scenarios use: `[transport] parameters = { preset = "paper" }`.
    pub name: &'static str,
    /// Its parameters; explicit keys override them.
    pub config: fn() -> C,
}

/// A congestion control that can be chosen by name.
#[derive(Debug, Clone, Copy)]
pub struct Control {
    /// The name that scenarios use.
    pub name: &'static str,
    /// What it does, in one line.
    pub summary: &'static str,
    /// Where it is from: title, year, section.
    pub source: &'static str,
    configure: fn(&Parameters, Trimming) -> Result<Configured<CongestionControl>, ParameterError>,
}

impl Control {
    pub(super) const fn of<C: ControlConfig>() -> Self {
        let (name, summary, source) = (C::NAME, C::SUMMARY, C::SOURCE);
        Self { name, summary, source, configure: configure::<C> }
    }

    /// The control with these parameters; those left out have the values of the preset that they
    /// name, or of the default preset where switches do this with packets they have no room for.
    ///
    /// # Errors
    /// An unknown key or preset, or a value of the wrong type or out of range.
    pub fn configure(
        &self,
        given: &Parameters,
        trimming: Trimming,
    ) -> Result<Configured<CongestionControl>, ParameterError> {
        (self.configure)(given, trimming)
    }
}

fn configure<C: ControlConfig>(
    given: &Parameters,
    trimming: Trimming,
) -> Result<Configured<CongestionControl>, ParameterError> {
    let Some(default) = C::default_preset(trimming) else {
        return Ok(overridden(&C::default(), given, &[])?.map(C::into));
    };
    let mut given = given.clone();
    let preset = match given.remove("preset") {
        None => default,
        Some(toml::Value::String(name)) => named_preset(name)?,
        Some(value) => {
            let (value, example) = (value.to_string(), default.name);
            return Err(ParameterError::PresetType { value, example });
        }
    };
    let configured = overridden(&(preset.config)(), &given, &["preset"])?;
    let mut parameters = Parameters::new();
    parameters.insert("preset".to_owned(), preset.name.into());
    parameters.extend(configured.parameters);
    Ok(Configured { value: configured.value.into(), parameters })
}

fn named_preset<C: ControlConfig>(
    name: String,
) -> Result<&'static CongestionPreset<C>, ParameterError> {
    let found = C::PRESETS.iter().find(|preset| preset.name == name);
    let known = || C::PRESETS.iter().map(|preset| preset.name).collect();
    found.ok_or_else(|| ParameterError::UnknownPreset { name, known: known() })
}

crate::nic::parameters::registered_name!(
    /// The name of a congestion control: `dcqcn` by default.
    CongestionName,
    NAMES,
    dcqcn::Config::NAME
);

impl CongestionName {
    /// The name of the control with that configuration.
    pub const fn of<C: ControlConfig>() -> Self {
        Self(C::NAME)
    }

    /// As scenarios write it.
    pub const fn name(self) -> &'static str {
        self.0
    }

    /// The control of this name.
    pub fn control(self) -> &'static Control {
        find(self.0).expect("a name is made only from those of controls")
    }
}

/// The control of this name, if there is one.
pub fn find(name: &str) -> Option<&'static Control> {
    CONTROLS.iter().find(|control| control.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_control_and_preset_passes_its_own_check_and_says_where_it_is_from() {
        for control in CONTROLS {
            assert!(!control.summary.is_empty() && !control.source.is_empty(), "{}", control.name);
            for trimming in [Trimming::Off, Trimming::On] {
                let configured = control.configure(&Parameters::new(), trimming).unwrap();
                assert_eq!(configured.value.name(), control.name);
                // What it shows of itself configures the same again.
                let again = control.configure(&configured.parameters, trimming);
                assert_eq!(again, Ok(configured));
            }
        }
    }

    #[test]
    fn switches_that_trim_choose_the_preset_that_is_made_for_them() {
        let preset = |trimming| {
            let configured = find("nscc").unwrap().configure(&Parameters::new(), trimming);
            configured.unwrap().parameters["preset"].as_str().unwrap().to_owned()
        };
        assert_eq!([Trimming::Off, Trimming::On].map(preset), ["no-trimming", "trimming"]);
    }
}
