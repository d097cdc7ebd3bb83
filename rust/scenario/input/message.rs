//! Conversion of serde's messages to faults of a scenario.

use super::error::{Fault, nearest};

/// The fault for serde's message about a key.
pub(crate) fn fault_of(key: &str, message: &str) -> Fault {
    if let Some((unknown, known)) = unknown_name(message, "unknown field ") {
        if is_inside_date(&unknown) {
            return date(key);
        }
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
    let reason = match message {
        // What serde says of a name that is no text.
        "wanted string or table"
        | "wanted exactly 1 element, found 0 elements"
        | "invalid type: unit variant, expected string only" => {
            format!("expected a name in quotes; {} lists them", look_up(key))
        }
        other => match other.split_once(", expected struct ") {
            Some((found, _)) => {
                let found = found_for_people(&found.replace('`', ""));
                format!("{found}, expected {}", table_expected(key))
            }
            // It starts in the middle of its type's range.
            None if key == "switch.cbfc.overhead" => humanised(message).replace("-128", "-16"),
            None if key == "policy.name" => {
                format!("{}; `evenkeel list policies` lists them", humanised(message))
            }
            None => humanised(message),
        },
    };
    Fault::BadValue { key: key.to_owned(), reason }
}

/// What is expected where a key holds a table.
pub(crate) fn table_expected(key: &str) -> String {
    let name = key.rsplit('.').next().unwrap_or(key);
    format!("a table: {name} = {{ ... }}; {} has its keys", look_up(key))
}

/// A key as sections write it: `job.policy` of `job[0].policy`.
pub(crate) fn without_indices(key: &str) -> String {
    let mut name = key.to_owned();
    while let Some((start, end)) = name.find('[').zip(name.find(']')) {
        name.replace_range(start..=end, "");
    }
    name
}

/// What explains a key: a command, or the page where it is a parameter.
fn look_up(key: &str) -> String {
    if ["policy.", "parameters."].iter().any(|above| key.contains(above)) {
        return "docs/scenario.md".to_owned();
    }
    let name = without_indices(key);
    format!("`evenkeel explain {name}`")
}

/// To serde a date is a table with a key of such a name.
pub(crate) fn is_inside_date(key: &str) -> bool {
    key.starts_with("$__toml_private")
}

/// The fault of a date in place of a table.
pub(crate) fn date(key: &str) -> Fault {
    let reason = "invalid type: date, expected a table or a name".to_owned();
    Fault::BadValue { key: key.to_owned(), reason }
}

/// The fault of a key that its section does not have.
pub(crate) fn unknown_key(section: &str, key: &str, known: &[String]) -> Fault {
    if is_inside_date(key) {
        return date(section);
    }
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
pub(crate) fn unknown_name(message: &str, start: &str) -> Option<(String, Vec<String>)> {
    let rest = message.strip_prefix(start)?;
    let mut names = rest.split('`').skip(1).step_by(2).map(str::to_owned);
    Some((names.next()?, names.collect()))
}

/// What the parser of TOML says of the text at a fault; of a bare word, that it needs quotes.
pub(crate) fn syntax_reason(message: &str, text: &str) -> String {
    let refused = message.split_once(", expected ").map_or(message, |(refused, _)| refused);
    let is_word = match refused {
        "string values must be quoted" => true,
        // It took the first letter for that of `true`, `false`, `inf` or `nan`.
        "invalid boolean" | "invalid float" => text.starts_with(char::is_alphabetic),
        _ => false,
    };
    match text.trim() {
        "" if is_word => "a value is missing after the equals sign".to_owned(),
        word if is_word => format!("a text stands in quotes: {word:?}"),
        _ => message.replace('\n', ", "),
    }
}

/// serde's names of types, with what is expected.
fn humanised(message: &str) -> String {
    let message = message.trim().replace('`', "");
    let Some((found, expected)) = message.split_once(", expected ") else { return message };
    if let Some(number) = beyond_toml(found).filter(|_| expected == "any valid TOML value") {
        return out_of_range(number);
    }
    format!("{}, expected {}", found_for_people(found), expected_for_people(expected))
}

/// The number that no type of TOML's has room for.
fn beyond_toml(found: &str) -> Option<&str> {
    let number = found.strip_prefix("invalid type: integer ")?;
    number.strip_suffix(" as i128").or_else(|| number.strip_suffix(" as u128"))
}

/// What is wrong with a whole number that TOML has no room for.
pub(crate) fn out_of_range(number: &str) -> String {
    match number {
        "0x" | "0o" | "0b" => format!("{number} has no digits; expected for example {number}10"),
        _ if number.starts_with('-') => {
            format!("{number} is too small; the least whole number is {}", i64::MIN)
        }
        _ => format!("{number} is too large; the largest whole number is {}", i64::MAX),
    }
}

fn found_for_people(found: &str) -> String {
    match found.strip_prefix("invalid type: ") {
        // To serde a date is a map too.
        Some("map") => "invalid type: table or date".to_owned(),
        Some("sequence") => "invalid type: list".to_owned(),
        // A number that no type of TOML's has room for.
        Some(_) => found.trim_end_matches(" as i128").trim_end_matches(" as u128").to_owned(),
        None => found.to_owned(),
    }
}

fn expected_for_people(expected: &str) -> &str {
    match expected {
        "u64" => "a whole number from 0 to 9223372036854775807",
        "u32" => "a whole number from 0 to 4294967295",
        "u16" => "a whole number from 0 to 65535",
        "u8" => "a whole number from 0 to 255",
        "i8" => "a whole number from -128 to 127",
        "usize" => "a whole number from 0 on",
        "a nonzero u32" => "a whole number from 1 to 4294967295",
        "a nonzero u16" => "a whole number from 1 to 65535",
        "f64" => "a number",
        "a boolean" => "true or false",
        "a string" => "a text in quotes",
        "a map" => "a table",
        "a sequence" => "a list",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::humanised;

    #[test]
    fn serdes_words_for_types_are_words_for_people() {
        let said =
            |found: &str, expected: &str| humanised(&format!("{found}, expected {expected}"));
        let date = said("invalid type: map", "u8");
        assert_eq!(date, "invalid type: table or date, expected a whole number from 0 to 255");
        let zero = said("invalid value: integer `0`", "a nonzero u16");
        assert_eq!(zero, "invalid value: integer 0, expected a whole number from 1 to 65535");
        let large = said("invalid type: integer `9` as i128", "a map");
        assert_eq!(large, "invalid type: integer 9, expected a table");
        let list = said("invalid type: sequence", "a boolean");
        assert_eq!(list, "invalid type: list, expected true or false");
        assert_eq!(humanised("`400` has no unit"), "400 has no unit");
    }
}
