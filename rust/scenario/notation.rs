//! Types of values, read from the notation that people see.

/// Type of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notation {
    /// Name of the type.
    pub kind: &'static str,
    /// Base unit of a quantity, which is written as text with its unit; empty for other types.
    pub unit: &'static str,
    /// Names that the value may be. A type other than `name` accepts them, too.
    pub choices: Vec<String>,
    /// Least and greatest whole number, as far as they are known.
    pub range: (Option<i64>, Option<i64>),
}

/// Types, each with its base unit and the words of a notation that name it.
const TYPES: [(&str, &str, &[&str]); 11] = [
    ("list", "", &["list", "array"]),
    ("integer", "", &["whole number"]),
    ("fraction", "", &["fraction"]),
    ("size", "B", &["size", "MB\"", "KB\"", "64B\""]),
    ("time", "s", &["time", "ns\"", "us\"", "ms\""]),
    ("rate", "bit/s", &["rate", "bps\""]),
    ("operations", "operations/s", &["operations a second"]),
    ("number", "", &["a number"]),
    ("boolean", "", &["true"]),
    ("string", "", &["text", "quoted string", "name "]),
    ("table", "", &["table"]),
];

impl Notation {
    /// Reads a notation, such as `` time, such as `"500ns"`, or `"never"` ``, or what an error says
    /// is expected, such as `a whole number from 0 to 255`. The first type that it names counts.
    pub fn of(text: &str) -> Self {
        let (words, choices) = separated(text);
        let place = |it: &[&str]| it.iter().filter_map(|word| words.find(word)).min();
        let first =
            TYPES.iter().filter_map(|(kind, unit, it)| Some((place(it)?, kind, unit))).min();
        let (kind, unit) = first.map_or(("name", ""), |(_, kind, unit)| (*kind, *unit));
        let range = if kind == "integer" { range(text) } else { (None, None) };
        Self { kind, unit, choices, range }
    }
}

/// Separates a notation from the quoted names in it that are no examples.
fn separated(text: &str) -> (String, Vec<String>) {
    let (mut words, mut choices) = (String::new(), Vec::new());
    for pair in text.split('"').collect::<Vec<_>>().chunks(2) {
        words.push_str(pair[0]);
        let is_example = ["such as", "example", "fraction"].iter().any(|it| pair[0].contains(it));
        match pair.get(1) {
            Some(example) if is_example => words.push_str(&format!("{example}\"")),
            Some(name) => choices.push((*name).to_owned()),
            None => {}
        }
    }
    (words, choices)
}

/// Returns the least and the greatest whole number that a notation names; the least is 0 by
/// default.
fn range(text: &str) -> (Option<i64>, Option<i64>) {
    let number = |word: &str| text.split_once(word)?.1.split(' ').next()?.parse().ok();
    (Some(number(" from ").unwrap_or(0)), number(" to "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notations_name_their_type_unit_choices_and_range() {
        for (text, kind, unit, names) in [
            ("time, such as `\"500ns\"`, or `\"never\"`", "time", "s", &["never"][..]),
            ("a string with its unit, for example \"64MB\"", "size", "B", &[]),
            ("`\"a\"`, `\"b\"`, or a size such as `\"75KB\"`", "size", "B", &["a", "b"]),
            ("`true`, `false` or `\"auto\"`", "boolean", "", &["auto"]),
            ("`\"down\"`, `\"loss\"`", "name", "", &["down", "loss"]),
            ("one of \"down\", \"loss\"", "name", "", &["down", "loss"]),
            ("a fraction, for example \"1/5\" or 0.2", "fraction", "", &[]),
            ("for example \"500ns\", or \"turn\", or \"each\"", "time", "s", &["turn", "each"]),
            ("for example \"64MB\", or a fraction of it: \"1/2\"", "size", "B", &[]),
            ("`\"leaf-spine\"`, `\"dctcp-rate\"`", "name", "", &["leaf-spine", "dctcp-rate"]),
        ] {
            let read = Notation::of(text);
            assert_eq!((read.kind, read.unit), (kind, unit), "{text}");
            assert_eq!(read.choices, names, "{text}");
        }
        assert_eq!(Notation::of("whole number").range, (Some(0), None));
        assert_eq!(Notation::of("a whole number from 1 to 65535").range, (Some(1), Some(65535)));
        assert_eq!(Notation::of("a whole number from -128 to 127").range, (Some(-128), Some(127)));
    }
}
