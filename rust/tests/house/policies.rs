//! Rules for the headers of policies and examples.

use super::project::{Fault, SourceFile};

/// Finds a policy's file that does not name the source of the policy. `mod.rs` holds the registry,
/// and files in a subfolder belong to the file of that name.
pub(crate) fn source_named(file: &SourceFile) -> Vec<Fault> {
    let folders =
        ["rust/engine/balance/sender/", "rust/engine/balance/switch/", "rust/engine/split/"];
    let name = folders.iter().find_map(|folder| file.path.strip_prefix(folder));
    let is_policy = name.is_some_and(|name| name != "mod.rs" && !name.contains('/'));
    let mut doc = file.text.lines().take_while(|line| line.starts_with("//!"));
    if !is_policy || doc.any(|line| line.starts_with("//! Source: ")) {
        return Vec::new();
    }
    let what = "a policy must name its source: add a line `//! Source: title (year), section` to \
                the file's doc";
    vec![file.fault(1, what)]
}

/// Finds an example that does not begin with its claim.
pub(crate) fn claim(file: &SourceFile) -> Vec<Fault> {
    const FEWEST_WORDS: usize = 4;
    let first = file.text.lines().next().unwrap_or_default();
    let words = first.strip_prefix("# ").map_or(0, |claim| claim.split_whitespace().count());
    if words >= FEWEST_WORDS {
        return Vec::new();
    }
    vec![file.fault(1, "the first line must be a comment with the claim that the example shows")]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_policy_without_a_source_is_a_fault() {
        let at = |path: &str, text: &str| source_named(&SourceFile::new(path, text)).len();
        assert_eq!(
            at("rust/engine/split/k_way.rs", "//! k pieces.\n\n//! Source: A (2020), 3.\n"),
            1
        );
        assert_eq!(at("rust/engine/balance/sender/reps.rs", "// Source: B\n"), 1);
        assert_eq!(
            at("rust/engine/split/k_way.rs", "//! k pieces.\n//!\n//! Source: A (2020), 3.\n"),
            0
        );
        assert_eq!(at("rust/engine/split/mod.rs", "//! Splitters.\n"), 0);
        assert_eq!(at("rust/engine/split/ethereal/tests.rs", "//! Tests.\n"), 0);
    }

    #[test]
    fn an_example_without_a_claim_is_a_fault() {
        let faults = |text: &str| claim(&SourceFile::new("examples/a.toml", text)).len();
        assert_eq!(faults(""), 1);
        assert_eq!(faults("schema_version = 1\n# A claim comes too late.\n"), 1);
        assert_eq!(faults("# example\n"), 1);
        assert_eq!(faults("# Spraying beats hashing on all-to-all.\nseed = 1\n"), 0);
    }
}
