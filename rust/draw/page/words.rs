//! Words for sentences.

use crate::report::human;
use crate::study::metrics::Metric;

/// Joins words: `a`, `a and b`, `a, b and c`.
pub(super) fn joined(words: &[impl AsRef<str>]) -> String {
    let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
    match &words[..] {
        [] => String::new(),
        [only] => (*only).to_owned(),
        [others @ .., last] => format!("{} and {last}", others.join(", ")),
    }
}

/// Joins the names of `all` things: `both a and b`, `all of a, b and c`, or the names alone if
/// there are others.
pub(super) fn both(names: &[&str], all: usize) -> String {
    match names.len() == all {
        true if all == 2 => format!("both {}", joined(names)),
        true => format!("all of {}", joined(names)),
        false => joined(names),
    }
}

/// Returns the text with a capital letter at its start.
pub(super) fn capital(text: &str) -> String {
    let mut characters = text.chars();
    let first = characters.next().map(|it| it.to_uppercase().to_string()).unwrap_or_default();
    first + characters.as_str()
}

/// Formats a value of a metric.
pub(super) fn value(metric: &str, value: f64) -> String {
    Metric::find(metric).map_or_else(|| human::count(value), |it| (it.show)(value))
}

/// Returns the last part of a key.
pub(super) fn short(key: &str) -> &str {
    key.rsplit('.').next().unwrap_or(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_joined_as_in_a_sentence() {
        assert_eq!(joined(&["a"]), "a");
        assert_eq!(joined(&["a", "b", "c"]), "a, b and c");
        assert_eq!(both(&["a", "b"], 2), "both a and b");
        assert_eq!(both(&["a", "b"], 3), "a and b");
    }
}
