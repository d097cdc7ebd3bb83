//! The registry entry of a congestion control, for NICs, scenarios and listings.

use super::{CONTROLS, CongestionControl, CreditRules, NAMES, Scope, TelemetryRequest, nscc};
use crate::balance::Parameters;
use crate::balance::sender::Trimming;
use crate::nic::parameters::{Configuration, Configured, ParameterError, overridden, table};
use crate::units::Bytes;

/// The configuration of a congestion control.
pub trait ControlConfig: Configuration + Into<CongestionControl> {
    /// Named sets of parameters, the default first. Empty if the defaults of the configuration are
    /// the only set.
    const PRESETS: &'static [CongestionPreset<Self>] = &[];

    /// The preset of a scenario that names none, depending on whether its switches trim. `None` if
    /// there are no presets.
    fn default_preset(_trimming: Trimming) -> Option<&'static CongestionPreset<Self>> {
        Self::PRESETS.first()
    }

    /// True if it belongs to Ultra Ethernet. Unless a scenario sets them, its acknowledgements then
    /// follow the Ultra Ethernet simulator.
    const IS_ULTRA_ETHERNET: bool = false;

    /// The telemetry that switches write into data packets; `None` if it needs none. With
    /// telemetry, the path of a queue pair must not change.
    fn telemetry(&self) -> Option<TelemetryRequest> {
        None
    }

    /// The scope of one window of a queue pair.
    fn scope(&self) -> Scope {
        Scope::Qp
    }

    /// True if receivers acknowledge marked packets with congestion notification packets (CNPs).
    fn wants_cnp(&self) -> bool {
        false
    }

    /// Bytes that it adds to each data packet and to each control packet.
    fn overhead(&self) -> Bytes {
        Bytes::ZERO
    }

    /// The rules by which receivers grant credit; `None` if they grant none. With credit, data
    /// packets carry the sender's request in the field that otherwise holds the message length.
    fn credit(&self) -> Option<CreditRules> {
        None
    }
}

/// A named set of parameters.
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
    /// One-line description.
    pub summary: &'static str,
    /// Its source: title, year, section.
    pub source: &'static str,
    configure: fn(&Parameters, Trimming) -> Result<Configured<CongestionControl>, ParameterError>,
    defaults: fn(Trimming) -> Parameters,
    presets: fn() -> Vec<&'static str>,
}

impl Control {
    pub(super) const fn of<C: ControlConfig>() -> Self {
        let (name, summary, source) = (C::NAME, C::SUMMARY, C::SOURCE);
        let (defaults, presets) = (defaults::<C>, presets::<C>);
        Self { name, summary, source, configure: configure::<C>, defaults, presets }
    }

    /// Returns every key with its value in the default preset, which it names first.
    pub fn defaults(&self, trimming: Trimming) -> Parameters {
        (self.defaults)(trimming)
    }

    /// Returns the names of its presets, the default first; empty without presets.
    pub fn presets(&self) -> Vec<&'static str> {
        (self.presets)()
    }

    /// Configures the control with these parameters. Omitted keys have the values of the named
    /// preset. Without a name, the default preset for this `trimming` applies.
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
    // `preset` is not a field of the configuration: it is removed before the other keys are read.
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

fn defaults<C: ControlConfig>(trimming: Trimming) -> Parameters {
    let Some(preset) = C::default_preset(trimming) else { return table(&C::default()) };
    let mut parameters = Parameters::new();
    parameters.insert("preset".to_owned(), preset.name.into());
    parameters.extend(table(&(preset.config)()));
    parameters
}

fn presets<C: ControlConfig>() -> Vec<&'static str> {
    C::PRESETS.iter().map(|preset| preset.name).collect()
}

fn named_preset<C: ControlConfig>(
    name: String,
) -> Result<&'static CongestionPreset<C>, ParameterError> {
    let found = C::PRESETS.iter().find(|preset| preset.name == name);
    found.ok_or_else(|| ParameterError::UnknownPreset { name, known: presets::<C>() })
}

crate::nic::parameters::registered_name!(
    /// The name of a congestion control: `nscc` by default. The constants of `nscc` are multiples
    /// of link rate and base round-trip time, so they suit 25 Gbps as well as 800 Gbps.
    CongestionName,
    NAMES,
    nscc::Config::NAME
);

impl CongestionName {
    /// The name of the control with configuration `C`.
    pub const fn of<C: ControlConfig>() -> Self {
        Self(C::NAME)
    }

    /// The name as written in scenarios.
    pub const fn name(self) -> &'static str {
        self.0
    }

    /// The control of this name.
    pub fn control(self) -> &'static Control {
        find(self.0).expect("names come from the registry")
    }
}

/// Returns the control of this name, if there is one.
pub fn find(name: &str) -> Option<&'static Control> {
    CONTROLS.iter().find(|control| control.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nic::congestion::{CongestionController as _, PathFacts};
    use crate::units::Time;

    #[test]
    fn every_control_and_preset_passes_its_check_and_has_a_source() {
        for control in CONTROLS {
            assert!(!control.summary.is_empty() && !control.source.is_empty(), "{}", control.name);
            for trimming in [Trimming::Off, Trimming::On] {
                let configured = control.configure(&Parameters::new(), trimming).unwrap();
                assert_eq!(configured.value.name(), control.name);
                // The parameters that it reports reproduce the configuration.
                let again = control.configure(&configured.parameters, trimming);
                assert_eq!(again, Ok(configured));
            }
        }
    }

    #[test]
    fn parameters_reproduce_every_preset_with_each_key_at_each_presets_value() {
        for control in CONTROLS {
            let configure = |given: &Parameters| control.configure(given, Trimming::Off).unwrap();
            let of_preset = |name: &str| {
                let mut given = Parameters::new();
                given.insert("preset".to_owned(), name.into());
                given
            };
            let defaults = control.defaults(Trimming::Off);
            for preset in control.presets() {
                for (key, default) in defaults.iter().filter(|(key, _)| *key != "preset") {
                    let mut given = of_preset(preset);
                    given.insert(key.clone(), default.clone());
                    let configured = configure(&given);
                    assert_eq!(configure(&configured.parameters), configured, "{preset} {key}");
                }
            }
            let omitted = configure(&Parameters::new()).parameters;
            assert!(omitted.keys().all(|key| defaults.contains_key(key)), "{}", control.name);
            assert_eq!(configure(&defaults), configure(&Parameters::new()), "{}", control.name);
        }
    }

    #[test]
    fn a_preset_value_that_is_switched_off_stays_off() {
        let text = "preset = \"connectx-registers\"\nbyte_counter = \"0B\"\nsignal = \"flag\"\n\
                    slow_restart = false";
        let given = text.parse().expect("valid TOML");
        let configured = find("dcqcn-mlx").unwrap().configure(&given, Trimming::Off).unwrap();
        for key in ["byte_counter", "signal", "slow_restart"] {
            assert_eq!(configured.parameters[key], given[key]);
        }
    }

    #[test]
    fn trimming_switches_select_the_trimming_preset() {
        let preset = |trimming| {
            let configured = find("nscc").unwrap().configure(&Parameters::new(), trimming);
            configured.unwrap().parameters["preset"].as_str().unwrap().to_owned()
        };
        assert_eq!([Trimming::Off, Trimming::On].map(preset), ["no-trimming", "trimming"]);
    }

    /// Configures a control with `text`; returns the key of the error, if there is one.
    fn fault(control: &str, text: &str) -> Option<String> {
        let given = text.parse().expect("valid TOML");
        let configured = find(control).unwrap().configure(&given, Trimming::Off);
        match configured {
            Ok(_) => None,
            Err(ParameterError::Invalid(invalid)) => Some(invalid.key.to_owned()),
            Err(other) => panic!("{control}, {text}: {other}"),
        }
    }

    /// A value beyond the bounds, and two at them.
    type Bounds = [&'static str; 3];
    const AT_MOST_ONE: Bounds = ["3/2", "0/1", "1/1"];
    const POSITIVE: Bounds = ["0/1", "1/1000", "100/1"];
    const POSITIVE_AT_MOST_ONE: Bounds = ["0/1", "1/1000", "1/1"];
    const TIMER: Bounds = ["0us", "1ps", "100000s"];
    const RATE: Bounds = ["0bps", "1bps", "1Tbps"];
    const BYTES: Bounds = ["0B", "1B", "1GB"];

    /// The bounds of each parameter that has bounds.
    const CASES: &[(&str, &str, Bounds)] = &[
        ("line-rate", "share", POSITIVE_AT_MOST_ONE),
        ("dcqcn", "g", POSITIVE_AT_MOST_ONE),
        ("dcqcn", "initial_alpha", AT_MOST_ONE),
        ("dcqcn", "alpha_timer", TIMER),
        ("dcqcn", "rate_timer", TIMER),
        ("dcqcn", "byte_counter", BYTES),
        ("dcqcn", "min_rate", RATE),
        ("dcqcn-mlx", "g", POSITIVE_AT_MOST_ONE),
        ("dcqcn-mlx", "initial_alpha", AT_MOST_ONE),
        ("dcqcn-mlx", "alpha_timer", TIMER),
        ("dcqcn-mlx", "decrease_timer", TIMER),
        ("dcqcn-mlx", "increase_timer", TIMER),
        ("dcqcn-mlx", "min_rate", RATE),
        ("dcqcn-mlx", "rate_on_first_cnp", POSITIVE_AT_MOST_ONE),
        ("dctcp-rate", "g", POSITIVE_AT_MOST_ONE),
        ("dctcp-rate", "min_rate", RATE),
        ("dctcp-window", "start_window", POSITIVE),
        ("dctcp-window", "max_window", POSITIVE),
        ("dctcp-window", "cut", AT_MOST_ONE),
        ("mp-rdma", "start_window", POSITIVE),
        ("mp-rdma", "cut", AT_MOST_ONE),
        ("nscc", "target", POSITIVE),
        ("nscc", "gamma", AT_MOST_ONE),
        ("nscc", "max_cut", AT_MOST_ONE),
        ("nscc", "delay_gain", POSITIVE_AT_MOST_ONE),
        ("nscc", "start_window", POSITIVE),
        ("nscc", "max_window", POSITIVE),
        ("swift", "base_target", POSITIVE),
        ("swift", "beta", AT_MOST_ONE),
        ("swift", "max_cut", AT_MOST_ONE),
        ("swift", "start_window", POSITIVE),
        ("swift", "max_window", POSITIVE),
        ("swift", "longest_pause", TIMER),
        ("hpcc", "target_utilization", POSITIVE_AT_MOST_ONE),
        ("hpcc", "round_trip", POSITIVE),
        ("hpcc-pint", "probability", POSITIVE_AT_MOST_ONE),
        ("hpcc-pint", "base", ["10001/10000", "5001/5000", "2/1"]),
        ("timely", "gain", POSITIVE_AT_MOST_ONE),
        ("timely", "cut", POSITIVE_AT_MOST_ONE),
        ("timely", "min_rtt", TIMER),
        ("timely", "low", ["501us", "0us", "500us"]),
        ("timely", "min_rate", RATE),
        ("rccc", "max_window", POSITIVE),
        ("rccc", "grant", ["0B", "256B", "1073741824B"]),
        ("rccc", "pace", POSITIVE_AT_MOST_ONE),
        ("rccc", "oversubscription", ["99/100", "1/1", "8/1"]),
        ("rccc", "target_congestion", POSITIVE_AT_MOST_ONE),
        ("rccc", "gain", POSITIVE_AT_MOST_ONE),
        ("rccc", "decrease", POSITIVE_AT_MOST_ONE),
        ("rccc", "increase", POSITIVE_AT_MOST_ONE),
    ];

    #[test]
    fn parameters_are_accepted_at_their_bounds_and_rejected_beyond() {
        for &(control, key, [beyond, first, second]) in CASES {
            let fault = |value| fault(control, &format!("{key} = \"{value}\""));
            assert_eq!(fault(beyond).as_deref(), Some(key), "{control}: {key} = {beyond}");
            assert_eq!(fault(first), None, "{control}: {key} = {first}");
            assert_eq!(fault(second), None, "{control}: {key} = {second}");
        }
        for (control, text, key) in [
            ("line-rate", "share = \"3/2\"", "share"),
            ("hpcc", "min_rate = \"0bps\"", "min_rate"),
            ("hpcc", "round_trip = \"0us\"", "round_trip"),
            ("hpcc-pint", "base = \"5/2\"", "base"),
            ("timely", "high = \"0us\"", "high"),
            ("rccc", "grant = \"1000B\"", "grant"),
            ("rccc", "grant = \"1073742080B\"", "grant"),
            ("rccc", "nscc = true\noversubscription = \"2/1\"", "oversubscription"),
            ("dcqcn", "alpha_timer = \"100001s\"", "alpha_timer"),
        ] {
            assert_eq!(fault(control, text).as_deref(), Some(key), "{control}: {text}");
        }
        assert_eq!(fault("rccc", "nscc = true\noversubscription = \"1/1\""), None);
    }

    #[test]
    fn telemetry_has_the_documented_overhead() {
        let overhead = |name: &str, text: &str| {
            let given = text.parse().expect("valid TOML");
            let control = find(name).unwrap().configure(&given, Trimming::Off).unwrap().value;
            control.overhead().get()
        };
        assert_eq!((overhead("dcqcn", ""), overhead("timely", "")), (0, 8));
        assert_eq!(overhead("hpcc", ""), 42);
        // The largest power is that of 512 squared: 1254 for 1.01, 18 for 2, 62,392 for 1.0002.
        assert_eq!(overhead("hpcc-pint", ""), 2);
        assert_eq!(overhead("hpcc-pint", "base = \"2/1\""), 1);
        assert_eq!(overhead("hpcc-pint", "base = \"5001/5000\""), 2);
    }

    #[test]
    fn controls_have_the_parts_that_their_configuration_requests() {
        for control in CONTROLS {
            let nothing = Parameters::new();
            let config = control.configure(&nothing, Trimming::Off).unwrap().value;
            let mut it = config.build(&PathFacts::FOR_TEST);
            it.handle_sent(Time::ZERO, 1_000);
            let moves = it.telemetry().is_some_and(|part| part.next_start().is_some());
            assert_eq!(moves, config.telemetry().is_some(), "{}", control.name);
            assert_eq!(it.credit().is_some(), config.credit().is_some(), "{}", control.name);
        }
    }
}
