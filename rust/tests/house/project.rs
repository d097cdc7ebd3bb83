//! The project's files, and reports of faults in them.

use std::fmt;
use std::fs;
use std::path::Path;

/// A text file; its path is relative to the project, with `/` as the separator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SourceFile {
    pub(crate) path: String,
    pub(crate) text: String,
}

impl SourceFile {
    pub(crate) fn new(path: &str, text: &str) -> Self {
        Self { path: path.to_owned(), text: text.to_owned() }
    }

    /// Returns a fault of this file.
    pub(crate) fn fault(&self, line: usize, what: impl Into<String>) -> Fault {
        Fault { path: self.path.clone(), line, what: what.into() }
    }
}

/// A violated rule: the position, the problem, and what would be right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) path: String,
    /// The line, from 1.
    pub(crate) line: usize,
    pub(crate) what: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.what)
    }
}

/// Returns the folder of `Cargo.toml`.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Reads a file, which must exist.
pub(crate) fn read(path: &str) -> SourceFile {
    let text = fs::read_to_string(root().join(path));
    SourceFile::new(path, &text.unwrap_or_else(|error| panic!("{path}: {error}")))
}

/// Returns the text files under a folder whose names have the given ending, sorted by path; none if
/// the folder does not exist.
pub(crate) fn files(folder: &str, ending: &str) -> Vec<SourceFile> {
    let Ok(entries) = fs::read_dir(root().join(folder)) else { return Vec::new() };
    let mut found = Vec::new();
    for entry in entries {
        let entry = entry.expect("the folder can be read");
        let name = entry.file_name().into_string().expect("file names are UTF-8");
        let path = format!("{folder}/{name}");
        let is_package = path.starts_with("rust/fuzz/");
        if is_package && ["target", "artifacts"].contains(&name.as_str()) {
            // Build outputs of these packages, and findings of a fuzzer.
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

/// Returns all Rust files.
pub(crate) fn rust_sources() -> Vec<SourceFile> {
    let mut sources = files("rust", ".rs");
    sources.extend(files("examples", ".rs"));
    sources.push(read("build.rs"));
    sources
}

/// Returns all C++ files.
pub(crate) fn cpp_sources() -> Vec<SourceFile> {
    ["cpp-bridge", "ns3-module", "rust/bridge"]
        .iter()
        .flat_map(|folder| [".h", ".cc"].iter().flat_map(move |ending| files(folder, ending)))
        .collect()
}

/// Returns all source code.
pub(crate) fn sources() -> Vec<SourceFile> {
    [rust_sources(), cpp_sources()].concat()
}

/// Returns all committed text except the lock file and the outputs of builds and runs.
pub(crate) fn everything() -> Vec<SourceFile> {
    let folders = [
        "rust",
        "cpp-bridge",
        "ns3-module",
        "examples",
        "snapshots",
        "docs",
        "packaging",
        ".ci",
        ".github",
    ];
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
