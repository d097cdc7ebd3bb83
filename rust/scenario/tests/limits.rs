//! Extreme values of every key: zero, the largest, and the wrong type.

use super::parse;
use crate::extent;

/// For any value of a key, a scenario is either valid or an error. It neither panics nor allocates
/// much memory before the error.
#[test]
fn no_extreme_value_panics() {
    let numbers = ["0", "1", "4294967295", "9223372036854775807", "-1", "1.5", "true", "[]", "{}"];
    let texts = ["", "0", "0B", "1B", "18446744TB", "0s", "1ps", "18446744s", "never", "1bps"];
    let rates = ["18446744Tbps", "4294967295/1", "1/4294967295", "0/1", "1/0", "x\u{e9}\\n"];
    let texts = texts.iter().chain(&rates).map(|text| format!("\"{text}\""));
    let values: Vec<String> = numbers.iter().map(|text| (*text).to_owned()).chain(texts).collect();
    for kind in [
        "kind = \"leaf-spine\"\nleaves = 2\nspines = 2\nhosts_per_leaf = 2",
        "kind = \"fat-tree\"\nk = 4",
    ] {
        let base = format!(
            "[topology]\n{kind}\n[[failure]]\nprobability = \"1/2\"\n[switch]\n\
             ecn = {{ kmin = \"1KB\" }}\npfc = true\ntrim = true\n\
             [transport]\ncongestion_control = \"dcqcn-mlx\"\n\
             [workload]\nkind = \"incast\"\nfan_in = 2\n"
        );
        let resolved = parse(&base).unwrap().render();
        let lines: Vec<&str> = resolved.lines().collect();
        let is_key = |index: &usize| lines[*index].contains(" = ");
        let pairs = (0..lines.len())
            .filter(is_key)
            .flat_map(|index| (0..values.len()).map(move |value| (index, value)));
        // Each key gets a quarter of the values, and each value a quarter of the keys.
        let few = |&(index, value): &(usize, usize)| (index + value) % 4 == 0;
        for (index, value) in extent::cases("scenario::limits", pairs.collect(), few) {
            let (key, _) = lines[index].split_once(" = ").expect("it is a key");
            let changed = format!("{key} = {}", values[value]);
            let mut lines = lines.clone();
            lines[index] = &changed;
            if let Err(error) = parse(&lines.join("\n")) {
                assert!(error.to_string().starts_with("test.toml:"), "{error}");
            }
        }
    }
}
