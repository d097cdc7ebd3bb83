//! Objects as JSON.

/// Formats an object as JSON, as the command line prints it.
pub(super) fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).expect("a summary is a JSON object")
}
