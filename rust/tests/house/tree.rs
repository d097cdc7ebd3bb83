//! The module tree, read from `mod` lines: maps each module to its file.

use std::collections::BTreeMap;

use super::lexer;
use super::project::{Fault, SourceFile};

/// A `mod name;` line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Declaration {
    /// The enclosing modules in the same file.
    pub(crate) inline: Vec<String>,
    pub(crate) name: String,
    /// The path in `#[path = "…"]`.
    pub(crate) path: Option<String>,
}

/// The files of a crate by the path of the module that they hold, from the crate's root, whose path
/// is empty.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tree {
    pub(crate) modules: BTreeMap<Vec<String>, String>,
}

impl Tree {
    /// Reads the trees below all crate roots.
    pub(crate) fn of(roots: &[&str], files: &[SourceFile]) -> Self {
        let by_path: BTreeMap<&str, &SourceFile> =
            files.iter().map(|file| (file.path.as_str(), file)).collect();
        let mut tree = Self::default();
        for root in roots {
            let Some(file) = by_path.get(root) else { continue };
            tree.modules.insert(Vec::new(), file.path.clone());
            tree.descend(file, &[], folder_of(&file.path), &by_path);
        }
        tree
    }

    fn descend(
        &mut self,
        file: &SourceFile,
        module: &[String],
        folder: &str,
        files: &BTreeMap<&str, &SourceFile>,
    ) {
        for declared in declarations(&file.text) {
            let place = [&[folder.to_owned()][..], &declared.inline].concat().join("/");
            let candidates = match &declared.path {
                Some(path) => vec![normal(&format!("{}/{path}", folder_of(&file.path)))],
                None => ["", "/mod"].map(|end| format!("{place}/{}{end}.rs", declared.name)).into(),
            };
            let found = candidates.iter().find_map(|path| files.get(path.as_str()));
            let Some(child) = found else { continue };
            let inside = [module, &declared.inline, std::slice::from_ref(&declared.name)].concat();
            self.modules.insert(inside.clone(), child.path.clone());
            let below = match child.path.strip_suffix("/mod.rs") {
                Some(folder) => folder.to_owned(),
                None => child.path.trim_end_matches(".rs").to_owned(),
            };
            self.descend(child, &inside, &below, files);
        }
    }
}

/// Finds files that no crate root reaches, so that nothing in them is compiled or tested.
pub(crate) fn orphans(roots: &[String], files: &[SourceFile]) -> Vec<Fault> {
    let mut reached: Vec<String> = Vec::new();
    for root in roots {
        reached.extend(Tree::of(&[root], files).modules.into_values());
    }
    files
        .iter()
        .filter(|file| !reached.contains(&file.path))
        .map(|file| {
            file.fault(1, "nothing compiles this file: declare it with `mod` in its parent module")
        })
        .collect()
}

/// Returns the `mod` lines of a file.
pub(crate) fn declarations(text: &str) -> Vec<Declaration> {
    let layers = lexer::split(text);
    let words = lexer::words(&layers.code);
    let mut found = Vec::new();
    // For each open brace, the name of its module if it belongs to one.
    let mut open: Vec<Option<String>> = Vec::new();
    let word = |index: usize| words.get(index).map_or("", |(_, word)| *word);
    for (index, &(offset, text)) in words.iter().enumerate() {
        let inline = || open.iter().flatten().cloned().collect::<Vec<_>>();
        match text {
            "{" => {
                let is_module = index >= 2 && word(index - 2) == "mod";
                open.push(is_module.then(|| word(index - 1).to_owned()));
            }
            "}" => {
                open.pop();
            }
            "mod" if word(index + 2) == ";" => found.push(Declaration {
                inline: inline(),
                name: word(index + 1).to_owned(),
                path: path_attribute(&layers, offset),
            }),
            _ => {}
        }
    }
    found
}

/// Returns the path in `#[path = "…"]` on the line before that of `offset`.
fn path_attribute(layers: &lexer::Layers, offset: usize) -> Option<String> {
    let line = lexer::line_of(&layers.code, offset).checked_sub(2)?;
    let is_path = layers.code.lines().nth(line)?.trim_start().starts_with("#[path");
    let literal = layers.literals.lines().nth(line)?;
    is_path.then(|| literal.trim().trim_matches('"').to_owned())
}

fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// Resolves `..` in a path.
fn normal(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        if part == ".." {
            parts.pop();
        } else {
            parts.push(part);
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(list: &[(&str, &str)]) -> Vec<SourceFile> {
        list.iter().map(|(path, text)| SourceFile::new(path, text)).collect()
    }

    #[test]
    fn files_are_reached_by_modules_and_paths() {
        let files = files(&[
            ("rust/lib.rs", "pub mod nic;\n// mod packet;\nmod a { mod b; }"),
            ("rust/nic/mod.rs", "mod qp;\nmod hash;\nmod ring;\n"),
            ("rust/nic/qp.rs", "#[cfg(test)]\nmod tests;\nfn f() { x::y() }"),
            ("rust/nic/qp/tests.rs", ""),
            ("rust/nic/hash.rs", "// mod x;\n"),
            ("rust/nic/ring.rs", ""),
            ("rust/a/b.rs", ""),
            ("rust/tests/cli.rs", "#[path = \"../bodies/all.rs\"]\nmod bodies;"),
            ("rust/bodies/all.rs", ""),
            ("rust/packet.rs", ""),
            ("rust/nic/q.rs", ""),
        ]);
        let roots = ["rust/lib.rs", "rust/tests/cli.rs"].map(str::to_owned);
        let paths: Vec<String> = orphans(&roots, &files).into_iter().map(|it| it.path).collect();
        assert_eq!(paths, ["rust/packet.rs", "rust/nic/q.rs"]);
    }
}
