//! The project's files, and how a fault in one is reported.

use std::fmt;
use std::fs;
use std::path::Path;

/// A text file; its path is relative to the project, with `/` between the parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SourceFile {
    pub(crate) path: String,
    pub(crate) text: String,
}

impl SourceFile {
    pub(crate) fn new(path: &str, text: &str) -> Self {
        Self { path: path.to_owned(), text: text.to_owned() }
    }

    /// A fault of this file.
    pub(crate) fn fault(&self, line: usize, what: impl Into<String>) -> Fault {
        Fault { path: self.path.clone(), line, what: what.into() }
    }
}

/// A broken rule: where, what, and what would be right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) path: String,
    /// From 1.
    pub(crate) line: usize,
    pub(crate) what: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.what)
    }
}

/// Where `Cargo.toml` is.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// One file, which must exist.
pub(crate) fn read(path: &str) -> SourceFile {
    let text = fs::read_to_string(root().join(path));
    SourceFile::new(path, &text.unwrap_or_else(|error| panic!("{path}: {error}")))
}

/// The text files under a folder whose names end as given, in order of their paths; none if there
/// is no such folder.
pub(crate) fn files(folder: &str, ending: &str) -> Vec<SourceFile> {
    let Ok(entries) = fs::read_dir(root().join(folder)) else { return Vec::new() };
    let mut found = Vec::new();
    for entry in entries {
        let entry = entry.expect("the folder can be read");
        let name = entry.file_name().into_string().expect("file names are UTF-8");
        let path = format!("{folder}/{name}");
        let is_package = path.starts_with("rust/fuzz/");
        if is_package && ["target", "artifacts"].contains(&name.as_str()) {
            // What these packages build, and what a fuzzer finds.
            continue;
        }
        if entry.file_type().expect("the entry can be read").is_dir() {
            found.extend(files(&path, ending));
        } else if path.ends_with(ending)
            && let Ok(text) = fs::read_to_string(entry.path())
        {
            found.push(SourceFile { path, text });
        }
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    found
}

/// All Rust files.
pub(crate) fn rust_sources() -> Vec<SourceFile> {
    let mut sources = files("rust", ".rs");
    sources.extend(files("examples", ".rs"));
    sources.push(read("build.rs"));
    sources
}

/// All C++ files.
pub(crate) fn cpp_sources() -> Vec<SourceFile> {
    ["cpp-bridge", "ns3-module", "rust/tests"]
        .iter()
        .flat_map(|folder| [".h", ".cc"].iter().flat_map(move |ending| files(folder, ending)))
        .collect()
}

/// All program text.
pub(crate) fn sources() -> Vec<SourceFile> {
    [rust_sources(), cpp_sources()].concat()
}

/// All text that is committed, but for the lock file and what builds and runs leave behind.
pub(crate) fn everything() -> Vec<SourceFile> {
    let folders =
        ["rust", "cpp-bridge", "ns3-module", "examples", "snapshots", "docs", ".ci", ".github"];
    let mut all: Vec<SourceFile> = folders.iter().flat_map(|folder| files(folder, "")).collect();
    for entry in fs::read_dir(root()).expect("the project can be read") {
        let entry = entry.expect("the project can be read");
        let path = entry.file_name().into_string().expect("file names are UTF-8");
        let skipped = ["Cargo.lock", ".git"].contains(&path.as_str());
        if !skipped && let Ok(text) = fs::read_to_string(entry.path()) {
            all.push(SourceFile { path, text });
        }
    }
    all
}
