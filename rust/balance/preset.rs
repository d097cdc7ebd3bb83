//! Every preset there is, collected from the files of policies and splitters.

use std::borrow::Cow;

use super::{Origin, Parameters, Preset, Scheme, SchemeError, sender, switch};
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

/// The scheme of that name with these parameters.
///
/// # Errors
/// An unknown name, an unknown parameter, or a value that the parameter cannot take.
pub fn preset(name: &str, parameters: &Parameters) -> Result<Scheme, SchemeError> {
    (find(name)?.build)(parameters)
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
    fn an_unknown_parameter_is_refused() {
        let parameters: Parameters = "batch_timmer = \"1us\"".parse().unwrap();
        let error = preset("ethereal", &parameters).unwrap_err().to_string();
        assert!(error.contains("policy 'ethereal'") && error.contains("batch_timmer"), "{error}");
    }
}
