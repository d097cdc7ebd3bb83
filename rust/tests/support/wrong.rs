//! Values of every type of TOML, for each key of scenarios and of studies.

/// Whole numbers that exceed TOML's integers and every other type of number.
pub(crate) const HUGE: [&str; 3] =
    ["99999999999999999999", "-99999999999999999999", "9999999999999999999999999999999999999999"];

/// Values of every type, without numbers that exceed it.
pub(crate) const VALUES: [&str; 14] = [
    "true",
    "-3",
    "3",
    "0.5",
    "\"\"",
    "\"some text\"",
    "1979-05-27",
    "[]",
    "[3]",
    "[[]]",
    "[\"some text\"]",
    "{}",
    "{ other = 1 }",
    "[{ other = 1 }]",
];

/// Returns all of these values.
pub(crate) fn values() -> impl Iterator<Item = &'static str> {
    VALUES.into_iter().chain(HUGE)
}

/// Internal words of the program, and of the libraries that it reads files with.
const INSIDE: [&str; 19] = [
    "struct ",
    "wanted",
    "entity",
    "Section",
    "enum ",
    "variant",
    "deserialize",
    "a map",
    "__toml",
    "any valid",
    "i128",
    "u128",
    "u64",
    "u32",
    "usize",
    "f64",
    "a sequence",
    ": sequence",
    "overflow",
];

/// Returns an internal word of the program that a message contains.
pub(crate) fn word_of_the_program(said: &str) -> Option<&'static str> {
    INSIDE.into_iter().find(|word| said.contains(word))
}
