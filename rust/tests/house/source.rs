//! Rules for single files of source code.

use super::lexer;
use super::project::{Fault, SourceFile};

/// Finds unfinished code and ignored tests.
pub(crate) fn unfinished(file: &SourceFile) -> Vec<Fault> {
    let layers = lexer::split(&file.text);
    let mut faults = Vec::new();
    for (index, (code, comment)) in layers.code.lines().zip(layers.comments.lines()).enumerate() {
        let line = index + 1;
        for stub in ["todo!", "unimplemented!"] {
            if code.contains(stub) {
                faults.push(file.fault(line, format!("{stub}: implement it, or remove it")));
            }
        }
        for note in ["TODO", "FIXME", "XXX"] {
            if has_word(comment, note) {
                faults.push(file.fault(line, format!("{note}: do it, or open an issue")));
            }
        }
    }
    for (line, attribute) in attributes(&layers.code) {
        if attribute.starts_with("ignore") || attribute.contains(", ignore") {
            let what = "an ignored test: assert what is so today, with why it is wrong";
            faults.push(file.fault(line, what));
        }
    }
    faults
}

/// Finds lints that are disabled without a reason.
pub(crate) fn silenced(file: &SourceFile) -> Vec<Fault> {
    let code = lexer::split(&file.text).code;
    attributes(&code)
        .into_iter()
        .filter(|(_, attribute)| has_word(attribute, "allow") || has_word(attribute, "expect"))
        .filter(|(_, attribute)| !has_word(attribute, "reason"))
        .map(|(line, _)| {
            file.fault(line, "a lint is silenced: add `reason = \"…\"`, or fix the code")
        })
        .collect()
}

/// Finds loops over hash maps and sets, whose order differs from run to run. Clippy sees the types
/// and catches most of them; this function sees names and catches the other methods.
pub(crate) fn hash_iteration(file: &SourceFile) -> Vec<Fault> {
    const METHODS: [&str; 11] = [
        "iter",
        "iter_mut",
        "into_iter",
        "keys",
        "into_keys",
        "values",
        "values_mut",
        "into_values",
        "drain",
        "retain",
        "extract_if",
    ];
    let code = lexer::split(&file.text).code;
    let names = hash_names(&code);
    let mut faults = Vec::new();
    for (index, line) in code.lines().enumerate() {
        for name in &names {
            let called = METHODS.iter().any(|method| has_word(line, &format!("{name}.{method}(")));
            let looped = line.split_once(" in ").is_some_and(|(before, over)| {
                let over = over.trim_end_matches([' ', '{']).trim_start_matches(['&', ' ']);
                let over = over.trim_start_matches("mut ").trim_start_matches("self.");
                has_word(before, "for") && over == name
            });
            if called || looped {
                let what = format!(
                    "{name} is a hash map or set, whose order is not defined: use a BTreeMap, \
                     BTreeSet or Vec"
                );
                faults.push(file.fault(index + 1, what));
            }
        }
    }
    faults
}

/// Returns the names of hash maps and sets: `name: HashMap<…>` and `let name = HashMap::…`.
fn hash_names(code: &str) -> Vec<String> {
    let mut names = Vec::new();
    for kind in ["HashMap", "HashSet"] {
        for (offset, _) in code.match_indices(kind) {
            let from = code[..offset].rfind(['{', '}', ';', ',', '(']).map_or(0, |at| at + 1);
            let declaration = code[from..offset].replace("::", " ");
            let head = match declaration.split_once(':') {
                Some((head, _)) => head,
                None if has_word(&declaration, "let") => {
                    declaration.split('=').next().unwrap_or_default()
                }
                None => continue,
            };
            names.extend(head.split_whitespace().next_back().map(str::to_owned));
        }
    }
    names.sort();
    names.dedup();
    names
}

/// Finds C++ files that do not begin with the licence that linking with ns-3 requires.
pub(crate) fn licence(file: &SourceFile) -> Vec<Fault> {
    // Files that are built with ns-3 have its licence. The network of ASTRA-sim has ours.
    let is_mit = ["cpp-bridge/astra-sim/", "rust/bridge/tests/astra_sim/"]
        .iter()
        .any(|folder| file.path.starts_with(folder));
    let name = if is_mit { "MIT" } else { "GPL-2.0-only" };
    let line = format!("SPDX-License-Identifier: {name}");
    // Either a comment on a separate line, or ns-3's style: in the block at the top.
    let block = format!("/*\n * {line}\n");
    if file.text.starts_with(&format!("// {line}\n")) || file.text.starts_with(&block) {
        return Vec::new();
    }
    vec![file.fault(1, format!("the first line must be `// {line}`"))]
}

/// Finds paths that exist on one machine only: homes, and `root`, the folder of the project.
pub(crate) fn machine_paths(file: &SourceFile, root: &str) -> Vec<Fault> {
    // Split in halves, so that this file does not contain the paths itself.
    let homes = [concat!("/ho", "me/"), concat!("/ro", "ot/"), concat!("/Us", "ers/")];
    let mut faults = Vec::new();
    for (index, line) in file.text.lines().enumerate() {
        let home = homes.iter().find(|home| starts_path(line, home));
        let own = (root.len() > 1 && line.contains(root)).then_some(&root);
        for path in home.into_iter().chain(own) {
            let what =
                format!("{path} is specific to one machine: use a path relative to the project");
            faults.push(file.fault(index + 1, what));
        }
    }
    faults
}

/// True if `path` occurs in `line` where a path can begin.
fn starts_path(line: &str, path: &str) -> bool {
    line.match_indices(path).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        before.is_none_or(|c| !(c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | '}')))
    })
}

/// Returns line and contents of every attribute, `#[…]` and `#![…]`.
fn attributes(code: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for opening in ["#[", "#!["] {
        for (offset, _) in code.match_indices(opening) {
            let inside = &code[offset + opening.len()..];
            let mut nesting = 1;
            let end = inside.find(|character| {
                nesting += match character {
                    '[' => 1,
                    ']' => -1,
                    _ => 0,
                };
                nesting == 0
            });
            let text = &inside[..end.unwrap_or(inside.len())];
            found.push((lexer::line_of(code, offset), text.to_owned()));
        }
    }
    found.sort();
    found
}

/// True if `word` occurs in `text` and is not part of a longer word.
pub(crate) fn has_word(text: &str, word: &str) -> bool {
    let in_word = |character: char| character.is_alphanumeric() || character == '_';
    let open_end = word.ends_with(in_word);
    text.match_indices(word).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + word.len()..].chars().next();
        !(before.is_some_and(in_word) || open_end && after.is_some_and(in_word))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(check: impl Fn(&SourceFile) -> Vec<Fault>, text: &str) -> Vec<usize> {
        check(&SourceFile::new("rust/a.rs", text)).iter().map(|fault| fault.line).collect()
    }

    #[test]
    fn stubs_notes_and_ignored_tests_are_faults() {
        assert_eq!(lines(unfinished, "fn f() {\n    todo!(\"x\")\n}"), [2]);
        assert_eq!(lines(unfinished, "fn f() { unimplemented!() }"), [1]);
        assert_eq!(lines(unfinished, "\n// TODO: more\n"), [2]);
        assert_eq!(lines(unfinished, "#[test]\n#[ignore]\nfn f() {}"), [2]);
        assert_eq!(lines(unfinished, "#[ignore = \"slow\"]\nfn f() {}"), [1]);
        assert_eq!(lines(unfinished, "#[cfg_attr(windows, ignore)]\nfn f() {}"), [1]);
        assert!(lines(unfinished, "// ignore\nlet x = \"todo! TODO #[ignore]\";").is_empty());
    }

    #[test]
    fn silenced_lints_need_a_reason() {
        assert_eq!(lines(silenced, "\n#[allow(dead_code)]\nfn f() {}"), [2]);
        assert_eq!(lines(silenced, "#![expect(\n    missing_docs\n)]"), [1]);
        assert_eq!(lines(silenced, "#[cfg_attr(test, allow(dead_code))]\nfn f() {}"), [1]);
        assert_eq!(lines(silenced, "#[allow(dead_code)] // reason = \"none\""), [1]);
        assert!(lines(silenced, "#[allow(dead_code, reason = \"a\")]\nfn f() {}").is_empty());
        assert!(lines(silenced, "#[derive(Debug)]\nfn f() { a[0].expect(\"b\") }").is_empty());
    }

    #[test]
    fn loops_over_hash_maps_are_faults() {
        let field = "struct A {\n    seen: std::collections::HashSet<u32>,\n}\n";
        assert_eq!(lines(hash_iteration, &format!("{field}self.seen.drain();")), [4]);
        assert_eq!(lines(hash_iteration, &format!("{field}for x in &self.seen {{")), [4]);
        let local = "let mut by_id = HashMap::new();\n";
        assert_eq!(lines(hash_iteration, &format!("{local}f(by_id.values())")), [2]);
        assert_eq!(lines(hash_iteration, &format!("{local}for (a, b) in by_id {{")), [2]);
        assert!(lines(hash_iteration, &format!("{local}by_id.get(&3);")).is_empty());
        assert!(lines(hash_iteration, "use std::collections::HashMap;\nv.iter();").is_empty());
        assert!(lines(hash_iteration, "let a: BTreeMap<u8, u8> = b;\na.iter();").is_empty());
    }

    #[test]
    fn cpp_files_without_their_licence_are_faults() {
        assert_eq!(lines(licence, "#include <a>\n"), [1]);
        assert_eq!(lines(licence, "// SPDX-License-Identifier: GPL-2.0-or-later\n"), [1]);
        assert!(lines(licence, "// SPDX-License-Identifier: GPL-2.0-only\n").is_empty());
    }

    #[test]
    fn machine_specific_paths_are_faults() {
        let check = |file: &SourceFile| machine_paths(file, "/srv/x");
        let home = concat!("\"/ho", "me/me/a\"");
        assert_eq!(lines(check, &format!("a\n{home}\n")), [2]);
        assert_eq!(lines(check, "see /srv/x/README.md"), [1]);
        assert!(
            lines(check, concat!("rust/ro", "ot/a and ../shared/data and /usr/include")).is_empty()
        );
    }
}
