//! The paths of one file: what it imports, and what its code names.

use std::collections::{BTreeMap, BTreeSet};

use super::lexer;
use super::tree::Tree;

/// What a file says about names of other files.
#[derive(Debug, Clone, Default)]
pub(super) struct FileUses {
    /// Names that `use` brings into the file, public or not, with their whole paths.
    pub(super) names: BTreeMap<String, Vec<String>>,
    /// Whole paths that the code uses.
    pub(super) paths: BTreeSet<Vec<String>>,
}

/// Reads one file, word by word.
pub(super) struct Reader<'a> {
    words: Vec<&'a str>,
    tree: &'a Tree,
    /// The module that the file holds.
    module: &'a [String],
    /// For each open brace the module that it opens, if it does.
    open: Vec<Option<&'a str>>,
    found: FileUses,
    /// Whole paths of public `use` lines by the names that they export. They are uses only if the
    /// file's own code names them.
    exported: BTreeMap<String, Vec<String>>,
    /// Words outside of `use` lines.
    plain: BTreeSet<&'a str>,
}

impl<'a> Reader<'a> {
    pub(super) fn read(module: &'a [String], tree: &'a Tree, code: &'a str) -> FileUses {
        let mut reader = Self {
            words: lexer::words(code).into_iter().map(|(_, word)| word).collect(),
            tree,
            module,
            open: Vec::new(),
            found: FileUses::default(),
            exported: BTreeMap::new(),
            plain: BTreeSet::new(),
        };
        // Names first: a path may begin with one that a later line imports.
        reader.walk(Self::take_names);
        reader.walk(Self::take_paths);
        let Self { mut found, exported, plain, .. } = reader;
        let own = exported.into_iter().filter(|(name, _)| plain.contains(name.as_str()));
        found.paths.extend(own.map(|(_, path)| path));
        found
    }

    /// Goes through all code but that of test modules; `visit` gets each word's index and says how
    /// many words it took.
    fn walk(&mut self, visit: fn(&mut Self, usize) -> usize) {
        let mut at = 0;
        while at < self.words.len() {
            at = match self.words[at] {
                "{" => {
                    let is_module = at >= 2 && self.words[at - 2] == "mod";
                    self.open.push(is_module.then(|| self.words[at - 1]));
                    at + 1
                }
                "}" => {
                    self.open.pop();
                    at + 1
                }
                "#" if self.words[at..].starts_with(&TEST) => self.after_item(at + TEST.len()),
                "registry" if self.words.get(at + 1) == Some(&"!") => self.after_item(at),
                _ => at + visit(self, at).max(1),
            };
        }
        self.open.clear();
    }

    /// Where the item that begins at `at` has ended: after its braces, or its semicolon.
    fn after_item(&self, mut at: usize) -> usize {
        let mut depth = 0;
        while at < self.words.len() {
            match self.words[at] {
                "{" => depth += 1,
                "}" => depth -= 1,
                _ => {}
            }
            at += 1;
            if depth == 0 && matches!(self.words[at - 1], "}" | ";") {
                break;
            }
        }
        at
    }

    fn take_names(&mut self, at: usize) -> usize {
        if self.words[at] != "use" {
            return 1;
        }
        let is_public = at > 0 && matches!(self.words[at - 1], "pub" | ")");
        let (leaves, end) = self.leaves(at + 1, &[]);
        for (name, path) in leaves {
            let Some(path) = self.whole(&path) else { continue };
            // Modules alone are no use of their files: paths that go on from them are.
            let is_module = self.tree.modules.contains_key(&path);
            if is_public {
                self.exported.insert(name.clone(), path.clone());
            } else if !is_module || name == "*" {
                self.found.paths.insert(path.clone());
            }
            // Only names of the file's own module can be had from it by others.
            if name != "*" && !self.open.iter().any(Option::is_some) {
                self.found.names.insert(name, path);
            }
        }
        end - at
    }

    fn take_paths(&mut self, at: usize) -> usize {
        let word = self.words[at];
        if word == "use" {
            return self.leaves(at + 1, &[]).1 - at;
        }
        self.plain.insert(word);
        let begins =
            self.words.get(at + 1) == Some(&"::") && (at == 0 || self.words[at - 1] != "::");
        if !begins {
            return 1;
        }
        let (leaves, end) = self.leaves(at, &[]);
        for (_, path) in leaves {
            if let Some(path) = self.whole(&path) {
                self.found.paths.insert(path);
            }
        }
        self.plain.extend(self.words[at..end].iter());
        end - at
    }

    /// The names and paths of a tree like `a::{b, c::d as e}` that begins at `at`, and where it has
    /// ended.
    fn leaves(&self, mut at: usize, before: &[&'a str]) -> (Vec<(String, Vec<&'a str>)>, usize) {
        let mut path = before.to_vec();
        loop {
            match self.words.get(at).copied().unwrap_or(";") {
                "{" => {
                    let mut all = Vec::new();
                    at += 1;
                    while !matches!(self.words.get(at), None | Some(&"}")) {
                        let (leaves, end) = self.leaves(at, &path);
                        all.extend(leaves);
                        at = end + usize::from(self.words.get(end) == Some(&","));
                    }
                    return (all, at + 1);
                }
                "::" => at += 1,
                "as" => {
                    let name = self.words.get(at + 1).copied().unwrap_or_default();
                    return (vec![(name.to_owned(), path)], at + 2);
                }
                word if word == "*" || is_name(word) => {
                    path.push(word);
                    at += 1;
                    // Behind a name a path goes on with `::` only.
                    if !matches!(self.words.get(at), Some(&"::") | Some(&"as")) {
                        break;
                    }
                }
                _ => break,
            }
        }
        let name = match path.last() {
            Some(&"self") => path.iter().rev().nth(1).copied(),
            last => last.copied(),
        };
        (vec![(name.unwrap_or_default().to_owned(), path)], at)
    }

    /// A path from the crate's root; nothing for paths into other crates and the standard library.
    fn whole(&self, path: &[&str]) -> Option<Vec<String>> {
        let inline = self.open.iter().flatten().map(|name| (*name).to_owned());
        let mut here: Vec<String> = self.module.iter().cloned().chain(inline).collect();
        let path: Vec<&str> = path.iter().copied().filter(|word| *word != "*").collect();
        let mut rest = &path[..];
        match *rest.first()? {
            "crate" | "evenkeel" => {
                here.clear();
                rest = &rest[1..];
            }
            "self" => rest = &rest[1..],
            "super" => {
                while rest.first() == Some(&"super") {
                    here.pop();
                    rest = &rest[1..];
                }
            }
            first => {
                if let Some(known) = self.found.names.get(first) {
                    here.clone_from(known);
                    rest = &rest[1..];
                } else {
                    here.push(first.to_owned());
                    if !self.tree.modules.contains_key(&here) {
                        return None;
                    }
                    rest = &rest[1..];
                }
            }
        }
        here.extend(rest.iter().filter(|word| **word != "self").map(|word| (*word).to_owned()));
        Some(here)
    }
}

/// What begins a test's module.
const TEST: [&str; 7] = ["#", "[", "cfg", "(", "test", ")", "]"];

fn is_name(word: &str) -> bool {
    word.starts_with(|c: char| c.is_alphabetic() || c == '_')
}
