//! Conversion of serde's messages to faults of a scenario.

use super::error::{Fault, nearest};

/// The fault for serde's message about a key.
pub(in crate::scenario) fn fault_of(key: &str, message: &str) -> Fault {
    if let Some((unknown, known)) = unknown_name(message, "unknown field ") {
        let section = key.rsplit_once('.').map_or("", |(section, _)| section);
        return unknown_key(section, &unknown, &known);
    }
    if let Some((unknown, known)) = unknown_name(message, "unknown variant ") {
        return Fault::UnknownName {
            key: key.to_owned(),
            what: "value",
            nearest: nearest(&unknown, known.iter().map(String::as_str)),
            name: unknown,
            known: known.join(", "),
        };
    }
    Fault::BadValue { key: key.to_owned(), reason: humanised(message) }
}

/// The fault of a key that its section does not have.
pub(in crate::scenario) fn unknown_key(section: &str, key: &str, known: &[String]) -> Fault {
    let section = if section.is_empty() { "a scenario".into() } else { format!("[{section}]") };
    Fault::UnknownKey {
        section,
        key: key.to_owned(),
        nearest: nearest(key, known.iter().map(String::as_str)),
        known: known.join(", "),
    }
}

/// The unknown name and the known ones, where `message` is serde's about an unknown name: it
/// gives them in backquotes, the unknown one first.
pub(in crate::scenario) fn unknown_name(
    message: &str,
    start: &str,
) -> Option<(String, Vec<String>)> {
    let rest = message.strip_prefix(start)?;
    let mut names = rest.split('`').skip(1).step_by(2).map(str::to_owned);
    Some((names.next()?, names.collect()))
}

/// serde's names of types, with what is expected.
fn humanised(message: &str) -> String {
    let message = message.trim().replace('`', "");
    for (word, words) in [
        ("u64", "a whole number from 0 to 9223372036854775807"),
        ("u32", "a whole number from 0 to 4294967295"),
        ("u8", "a whole number from 0 to 255"),
        ("a boolean", "true or false"),
        ("a string", "a text in quotes"),
    ] {
        if let Some(start) = message.strip_suffix(&format!("expected {word}")) {
            return format!("{start}expected {words}");
        }
    }
    message
}
