//! Which file uses which, read from every path of the code, through re-exports.
//!
//! A `mod` line and a registry's line declare a module; they do not use it. Code of `#[cfg(test)]`
//! modules does not count: a test may use whatever it tests.

use std::collections::{BTreeMap, BTreeSet};

use super::lexer;
use super::project::{Fault, SourceFile};
use super::tree::Tree;

/// No circle of files has more.
const LARGEST_CIRCLE: usize = 20;

/// The files of the crate, and which uses which.
#[derive(Debug, Clone, Default)]
pub(crate) struct Imports {
    tree: Tree,
    files: BTreeMap<String, FileUses>,
}

/// What a file says about names of other files.
#[derive(Debug, Clone, Default)]
struct FileUses {
    /// Names that `use` brings into the file, public or not, with their whole paths.
    names: BTreeMap<String, Vec<String>>,
    /// Whole paths that the code uses.
    paths: BTreeSet<Vec<String>>,
}

impl Imports {
    /// Reads the crate below its roots.
    pub(crate) fn of(roots: &[&str], sources: &[SourceFile]) -> Self {
        let tree = Tree::of(roots, sources);
        let mut files = BTreeMap::new();
        for (module, path) in &tree.modules {
            let source = sources.iter().find(|file| file.path == *path).expect("it was read");
            let code = lexer::split(&source.text).code;
            files.insert(path.clone(), Reader::read(module, &tree, &code));
        }
        Self { tree, files }
    }

    /// The files that each file uses.
    pub(crate) fn graph(&self) -> Graph<'_> {
        let uses = |(path, file): (&'_ String, &FileUses)| {
            let used = file.paths.iter().filter_map(|used| self.file_of(used, 0));
            used.filter(|used| used != path).collect()
        };
        self.files.iter().map(|entry| (entry.0.as_str(), uses(entry))).collect()
    }

    /// The file that holds what a whole path names: that of its innermost module, or the one that
    /// this module has the name from.
    fn file_of(&self, path: &[String], depth: usize) -> Option<&str> {
        let modules = &self.tree.modules;
        let inner = (0..=path.len()).rev().find(|&end| modules.contains_key(&path[..end]))?;
        let file = modules[&path[..inner]].as_str();
        let Some(name) = path.get(inner) else { return Some(file) };
        match self.files.get(file).and_then(|uses| uses.names.get(name)) {
            // A name may be imported from where it is exported to: no further than that.
            Some(from) if depth < 8 => {
                let whole = [from, &path[inner + 1..]].concat();
                self.file_of(&whole, depth + 1).or(Some(file))
            }
            _ => Some(file),
        }
    }

    /// Faults of large circles of files. That a file uses what a module around it holds is no part
    /// of a circle: they are one concept.
    pub(crate) fn circles(&self) -> Vec<Fault> {
        let mut graph = self.graph();
        for (user, used) in &mut graph {
            used.retain(|used| !self.is_around(used, user));
        }
        let large = circles(&graph).into_iter().filter(|it| it.len() > LARGEST_CIRCLE);
        large.map(|circle| fault(&circle, &graph)).collect()
    }

    /// True if the module that `outer` holds is around that of `inner`.
    fn is_around(&self, outer: &str, inner: &str) -> bool {
        match (self.tree.module_of(outer), self.tree.module_of(inner)) {
            (Some(outer), Some(inner)) => inner.starts_with(outer),
            _ => false,
        }
    }
}

/// Files that use which.
type Graph<'a> = BTreeMap<&'a str, BTreeSet<&'a str>>;

fn fault(circle: &BTreeSet<&str>, graph: &Graph) -> Fault {
    let inside = |to: &&&str| circle.contains(**to);
    let ties = circle.iter().flat_map(|&from| {
        graph[from].iter().filter(inside).map(move |to| format!("  {from} -> {to}"))
    });
    let what = format!(
        "{} files use one another in a circle: let uses run one way\n{}",
        circle.len(),
        ties.collect::<Vec<_>>().join("\n")
    );
    let first = circle.iter().next().copied().unwrap_or_default();
    Fault { path: first.to_owned(), line: 1, what }
}

/// Groups of files that all reach each other.
fn circles<'a>(graph: &Graph<'a>) -> Vec<BTreeSet<&'a str>> {
    let reach: Graph = graph.keys().map(|&from| (from, reached(graph, from))).collect();
    let mut found: BTreeSet<BTreeSet<&str>> = BTreeSet::new();
    for (&from, there) in &reach {
        let back = there.iter().filter(|to| reach.get(*to).is_some_and(|it| it.contains(from)));
        let circle: BTreeSet<&str> = back.copied().collect();
        if circle.len() > 1 {
            found.insert(circle);
        }
    }
    found.into_iter().collect()
}

/// All files that a file uses, and those that they use.
fn reached<'a>(graph: &Graph<'a>, from: &str) -> BTreeSet<&'a str> {
    let mut seen = BTreeSet::new();
    let mut open: Vec<&str> = graph.get(from).into_iter().flatten().copied().collect();
    while let Some(file) = open.pop() {
        if seen.insert(file) {
            open.extend(graph.get(file).into_iter().flatten());
        }
    }
    seen
}

/// Reads one file, word by word.
struct Reader<'a> {
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
    fn read(module: &'a [String], tree: &'a Tree, code: &'a str) -> FileUses {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn imports(list: &[(&str, &str)]) -> Imports {
        let files: Vec<SourceFile> =
            list.iter().map(|(path, text)| SourceFile::new(path, text)).collect();
        Imports::of(&["rust/lib.rs"], &files)
    }

    #[test]
    fn paths_lead_through_exports_to_the_file_that_holds_a_name() {
        let imports = imports(&[
            ("rust/lib.rs", "pub mod a;\npub mod b;"),
            ("rust/a/mod.rs", "mod c;\nmod d;\npub use c::{C, self as e};\npub struct A;"),
            ("rust/a/c.rs", "use super::A;\npub struct C;"),
            (
                "rust/a/d.rs",
                "fn f() { super::c::g() }\n#[cfg(test)]\nmod tests { use crate::b::B; }",
            ),
            ("rust/b.rs", "use crate::a::{self, C};\nuse std::fmt;\nfn f(x: &a::A) { fmt::g() }"),
        ]);
        let graph = imports.graph();
        let of = |path: &str| graph[path].iter().copied().collect::<Vec<_>>();
        assert_eq!(of("rust/b.rs"), ["rust/a/c.rs", "rust/a/mod.rs"]);
        assert_eq!(of("rust/a/c.rs"), ["rust/a/mod.rs"]);
        assert_eq!(of("rust/a/d.rs"), ["rust/a/c.rs"]);
        assert!(of("rust/a/mod.rs").is_empty(), "an export is no use");
    }

    #[test]
    fn circles_of_three_are_faults_but_for_uses_of_the_module_around() {
        let files = |last: &'static str| {
            imports(&[
                ("rust/lib.rs", "mod a;"),
                ("rust/a/mod.rs", "mod b;\nmod c;\nmod d;\nuse b::B;"),
                ("rust/a/b.rs", "use super::{A, c::C};"),
                ("rust/a/c.rs", "use crate::a::d::D;"),
                ("rust/a/d.rs", last),
            ])
        };
        assert_eq!(files("use crate::a::A;").circles(), []);
        let imports = files("use super::b::B;");
        assert!(circles(&imports.graph()).iter().any(|circle| circle.len() >= 3));
    }
}
