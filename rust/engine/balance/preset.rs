//! The list of all presets, collected from the policy and splitter modules.

use std::borrow::Cow;

use super::{Origin, Parameters, Preset, Scheme, SchemeError, Weights, sender, switch};
use crate::split;
use crate::values;

/// Iterates over all presets: first those of sender policies, then switch policies, then splitters.
pub fn presets() -> impl Iterator<Item = &'static Preset> {
    sender::PRESETS.iter().chain(switch::PRESETS).chain(split::PRESETS).copied().flatten()
}

/// Returns all presets, those whose names are most similar to `name` first, regardless of case.
pub fn presets_like(name: &str) -> Vec<&'static Preset> {
    let name = name.to_ascii_lowercase();
    let similarity = |known: &Preset| strsim::normalized_damerau_levenshtein(&name, known.name);
    let mut known: Vec<&Preset> = presets().collect();
    known.sort_by(|a, b| similarity(b).total_cmp(&similarity(a)));
    known
}

/// Finds the preset called `name`.
///
/// # Errors
/// [`SchemeError::Unknown`], which lists all names, the most similar first.
pub fn find_preset(name: &str) -> Result<&'static Preset, SchemeError> {
    presets().find(|preset| preset.name == name).ok_or_else(|| {
        let known: Vec<&str> = presets_like(name).iter().map(|preset| preset.name).collect();
        SchemeError::Unknown { name: name.to_owned(), known: known.join(", ") }
    })
}

/// The parameters that every preset accepts in addition to its own.
pub const SHARED_PARAMETERS: [&str; 1] = ["weights"];

/// Builds the scheme of preset `name`. `parameters` may hold the preset's own keys and `weights`
/// ([`Weights`]), which every preset accepts.
///
/// # Errors
/// An unknown name, an unknown parameter or an invalid value.
pub fn build_scheme(name: &str, parameters: &Parameters) -> Result<Scheme, SchemeError> {
    let preset = find_preset(name)?;
    let mut own = parameters.clone();
    // Removed first: the preset's own parser rejects keys that it does not know.
    let Some(weights) = own.remove("weights") else { return (preset.build)(&own) };
    let weights: Weights = values::read(weights).map_err(|error| SchemeError::Malformed {
        name: preset.name,
        error: error.below("weights"),
    })?;
    Ok(Scheme { weights, ..(preset.build)(&own)? })
}

/// Returns the policy's name for human-readable tables, marked if the policy is a reconstruction.
pub fn display_name(name: &str) -> Cow<'_, str> {
    match build_scheme(name, &Parameters::new()) {
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
            assert_eq!(build_scheme(name, &Parameters::new()).unwrap().name, *name);
        }
        names.sort_unstable();
        let count = names.len();
        names.dedup();
        assert_eq!(names.len(), count, "two presets of one name");
    }

    #[test]
    fn the_error_for_an_unknown_name_lists_all_names_the_nearest_first() {
        let error = build_scheme("sprey", &Parameters::new()).unwrap_err().to_string();
        assert!(
            error.starts_with("unknown policy 'sprey'; known policies are spray, ")
                && error.contains(" ecmp, "),
            "{error}"
        );
        let error = build_scheme("ECMP", &Parameters::new()).unwrap_err().to_string();
        assert!(error.starts_with("unknown policy 'ECMP'; known policies are ecmp, "), "{error}");
    }

    #[test]
    fn display_names_mark_reconstructions() {
        for name in ["prime", "mrc", "plane-jsq"] {
            assert_eq!(display_name(name), format!("{name} (reconstructed)"));
        }
        assert_eq!(display_name("reps"), "reps");
        assert_eq!(display_name("of a later version"), "of a later version");
    }

    #[test]
    fn every_preset_accepts_weights_and_reports_them_as_a_parameter() {
        let read = |text: &str| text.parse::<Parameters>().unwrap();
        for own in presets() {
            for (text, weights) in [("equal", Weights::Equal), ("capacity", Weights::Capacity)] {
                let scheme =
                    build_scheme(own.name, &read(&format!("weights = \"{text}\""))).unwrap();
                assert_eq!(scheme.weights, weights, "{}", own.name);
                assert_eq!(scheme.parameters()["weights"].as_str(), Some(text));
            }
        }
        let of = |name| build_scheme(name, &Parameters::new()).unwrap();
        assert_eq!(of("wcmp"), Scheme { name: "wcmp", weights: Weights::Capacity, ..of("ecmp") });
        let error = build_scheme("ecmp", &read("weights = \"some\"")).unwrap_err().to_string();
        let expected = "weights: unknown name 'some'; expected one of equal, capacity";
        assert!(error.contains(expected), "{error}");
    }

    #[test]
    fn an_unknown_parameter_is_rejected() {
        let parameters: Parameters = "batch_timmer = \"1us\"".parse().unwrap();
        let error = build_scheme("ethereal", &parameters).unwrap_err().to_string();
        assert!(error.contains("policy 'ethereal'") && error.contains("batch_timmer"), "{error}");
    }
}
