//! Every preset there is, collected from the files of policies and splitters.

use std::borrow::Cow;

use super::{Origin, Parameters, Preset, Scheme, SchemeError, Weights, sender, switch};
use crate::split;

/// All presets: by sender policy, then switch policy, then splitter.
pub fn presets() -> impl Iterator<Item = &'static Preset> {
    sender::PRESETS.iter().chain(switch::PRESETS).chain(split::PRESETS).copied().flatten()
}

/// The preset of that name.
///
/// # Errors
/// `SchemeError::Unknown` names those that exist.
pub fn find(name: &str) -> Result<&'static Preset, SchemeError> {
    presets().find(|preset| preset.name == name).ok_or_else(|| SchemeError::Unknown {
        name: name.to_owned(),
        known: presets().map(|preset| preset.name).collect::<Vec<_>>().join(", "),
    })
}

/// What every preset takes beside its own parameters.
pub const SHARED_PARAMETERS: [&str; 1] = ["weights"];

/// The scheme of that name with these parameters: those of the preset itself, and `weights`
/// ([`Weights`]), which every preset takes.
///
/// # Errors
/// An unknown name, an unknown parameter, or a value that the parameter cannot take.
pub fn preset(name: &str, parameters: &Parameters) -> Result<Scheme, SchemeError> {
    let preset = find(name)?;
    let mut own = parameters.clone();
    let Some(weights) = own.remove("weights") else { return (preset.build)(&own) };
    let weights = weights.try_into::<Weights>().map_err(|error| SchemeError::Parameter {
        name: preset.name,
        reason: error.message().to_owned(),
    })?;
    Ok(Scheme { weights, ..(preset.build)(&own)? })
}

/// What tables for people call a policy: its name, and whether it is a reconstruction.
pub fn shown(name: &str) -> Cow<'_, str> {
    match preset(name, &Parameters::new()) {
        Ok(Scheme { origin: Origin::Reconstructed, .. }) => {
            format!("{name} (reconstructed)").into()
        }
        _ => name.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_each_builds_with_its_defaults() {
        let mut names: Vec<&str> = presets().map(|preset| preset.name).collect();
        for name in &names {
            assert_eq!(preset(name, &Parameters::new()).unwrap().name, *name);
        }
        names.sort_unstable();
        let count = names.len();
        names.dedup();
        assert_eq!(names.len(), count, "two presets of one name");
    }

    #[test]
    fn an_unknown_name_is_told_which_exist() {
        let error = preset("sprey", &Parameters::new()).unwrap_err().to_string();
        assert!(error.starts_with("no policy is called 'sprey'; there are ecmp, "), "{error}");
    }

    #[test]
    fn tables_say_what_is_reconstructed() {
        assert_eq!(shown("prime"), "prime (reconstructed)");
        assert_eq!(shown("reps"), "reps");
        assert_eq!(shown("of a later version"), "of a later version");
    }

    #[test]
    fn every_preset_takes_weights_and_says_which_it_has() {
        let read = |text: &str| text.parse::<Parameters>().unwrap();
        for own in presets() {
            for (text, weights) in [("equal", Weights::Equal), ("capacity", Weights::Capacity)] {
                let scheme = preset(own.name, &read(&format!("weights = \"{text}\""))).unwrap();
                assert_eq!(scheme.weights, weights, "{}", own.name);
                assert_eq!(scheme.parameters()["weights"].as_str(), Some(text));
            }
        }
        let of = |name| preset(name, &Parameters::new()).unwrap();
        assert_eq!(of("wcmp"), Scheme { name: "wcmp", weights: Weights::Capacity, ..of("ecmp") });
        let error = preset("ecmp", &read("weights = \"some\"")).unwrap_err().to_string();
        assert!(
            error.contains("unknown variant `some`, expected `equal` or `capacity`"),
            "{error}"
        );
    }

    #[test]
    fn an_unknown_parameter_is_refused() {
        let parameters: Parameters = "batch_timmer = \"1us\"".parse().unwrap();
        let error = preset("ethereal", &parameters).unwrap_err().to_string();
        assert!(error.contains("policy 'ethereal'") && error.contains("batch_timmer"), "{error}");
    }
}
