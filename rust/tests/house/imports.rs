//! Imports between files, read from every path of the code, through re-exports.
//!
//! A `mod` line and a registry's line declare a module; they do not use it. Code of `#[cfg(test)]`
//! modules does not count: a test may use whatever it tests.

use std::collections::{BTreeMap, BTreeSet};

use super::lexer;
use super::paths::{FileUses, Reader};
use super::project::{Fault, SourceFile};
use super::tree::Tree;

/// The largest allowed cycle.
const LARGEST_CIRCLE: usize = 2;

/// Concepts of several files that use one another, and why.
const CONCEPTS: [(&str, &[&str]); 3] = [
    (
        "a topology keeps the routes over all its links, which are computed from it",
        &[
            "rust/engine/topology/graph.rs",
            "rust/engine/topology/intact_routes.rs",
            "rust/engine/topology/routes.rs",
            "rust/engine/topology/routes/joined.rs",
            "rust/engine/topology/routes/search.rs",
        ],
    ),
    (
        "a scheme is made of policies, and a policy's file names the presets that are made of it",
        &[
            "rust/engine/balance/scheme.rs",
            "rust/engine/balance/sender/mod.rs",
            "rust/engine/balance/sender/any_plane.rs",
            "rust/engine/balance/sender/ecmp.rs",
            "rust/engine/balance/switch/mod.rs",
            "rust/engine/balance/switch/hash.rs",
            "rust/engine/split/mod.rs",
            "rust/engine/split/whole.rs",
        ],
    ),
    (
        "the contract with C++ is one module: records of both sides, and the types that C++ holds",
        &[
            "rust/bridge/world/caught.rs",
            "rust/bridge/world/classes.rs",
            "rust/bridge/world/contract.rs",
            "rust/bridge/world/convert.rs",
            "rust/bridge/world/core.rs",
            "rust/bridge/world/experiment.rs",
            "rust/bridge/world/graph.rs",
            "rust/bridge/world/recording.rs",
            "rust/bridge/world/verbs.rs",
        ],
    ),
];

/// The files of the crate, and which uses which.
#[derive(Debug, Clone, Default)]
pub(crate) struct Imports {
    tree: Tree,
    files: BTreeMap<String, FileUses>,
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
            // Names are followed through at most eight re-exports.
            Some(from) if depth < 8 => {
                let whole = [from, &path[inner + 1..]].concat();
                self.file_of(&whole, depth + 1).or(Some(file))
            }
            _ => Some(file),
        }
    }

    /// Faults of circles of more than two files, but for those of one concept. That a file uses
    /// what a module around it holds is no part of a circle: they are one concept.
    pub(crate) fn circles(&self) -> Vec<Fault> {
        let mut graph = self.graph();
        for (user, used) in &mut graph {
            used.retain(|used| !self.is_around(used, user));
        }
        let large =
            circles(&graph).into_iter().filter(|it| it.len() > LARGEST_CIRCLE && !is_concept(it));
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

fn is_concept(circle: &BTreeSet<&str>) -> bool {
    CONCEPTS.iter().any(|(_, files)| circle.iter().all(|file| files.contains(file)))
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

#[cfg(test)]
mod tests {
    use super::*;

    fn imports(list: &[(&str, &str)]) -> Imports {
        let files: Vec<SourceFile> =
            list.iter().map(|(path, text)| SourceFile::new(path, text)).collect();
        Imports::of(&["rust/lib.rs"], &files)
    }

    #[test]
    fn paths_are_resolved_through_exports() {
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
    fn cycles_of_three_are_faults_except_for_uses_of_the_parent_module() {
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
        let faults = files("use super::b::B;").circles();
        assert!(faults[0].what.starts_with("3 files") && faults.len() == 1, "{faults:?}");
    }
}
