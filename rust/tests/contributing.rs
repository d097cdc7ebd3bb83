//! CONTRIBUTING.md shows complete extensions: new files, and lines added to other sources. This
//! test makes exactly these changes in a copy of the sources, compiles all of them in one build,
//! and runs their tests.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::extent;

const CONTRIBUTING: &str = include_str!("../../CONTRIBUTING.md");

/// The tests that each extension must pass, by its heading in the text.
const SHOWN: [(&str, &[&str]); 7] = [
    ("## A whole policy", &["balance::sender::in_turn::", "balance::preset"]),
    ("## A whole congestion control", &["nic::congestion::aimd::", "nic::congestion::control"]),
    ("## A whole loss recovery", &["nic::recovery::stop_and_wait::", "nic::recovery::entry"]),
    ("## A whole topology", &["topologies::star::", "topologies::tests"]),
    ("## A whole kind of workload", &["workloads::pairs::"]),
    ("## A whole key", &["tests::switch::switches_without_marks"]),
    ("## A whole command", &["hosts::", "tests::the_arguments"]),
];

/// File contents by path.
type Sources = BTreeMap<PathBuf, String>;

/// Makes the changes below a heading. A Rust block is the file named last in the text above it. A
/// `diff` block changes that file, or the file of the preceding block.
fn apply(heading: &str, sources: &mut Sources) {
    let heading = format!("\n{heading}\n");
    let (_, section) = CONTRIBUTING.split_once(&heading).expect("the section is there");
    let section = section.split("\n## ").next().unwrap_or_default();
    let mut file = PathBuf::new();
    for (index, part) in section.split("```").enumerate() {
        if index % 2 == 0 {
            let mut named = part.split('`').filter(|word| word.starts_with("rust/"));
            file = named.rfind(|word| word.ends_with(".rs")).map_or(file, PathBuf::from);
        } else if let Some(text) = part.strip_prefix("rust\n") {
            let old = sources.insert(file.clone(), text.to_owned());
            assert!(old.is_none(), "{} is in the project", file.display());
        } else if let Some(diff) = part.strip_prefix("diff\n") {
            let text = sources.get_mut(&file).unwrap_or_else(|| panic!("no {}", file.display()));
            *text = changed(text, diff).unwrap_or_else(|| panic!("{}:\n{diff}", file.display()));
        }
    }
}

/// Applies a diff to a text; `None` if its unchanged lines do not occur exactly once.
fn changed(text: &str, diff: &str) -> Option<String> {
    let lines = |left_out: char| -> String {
        let kept = diff.lines().filter(|line| !line.starts_with(left_out));
        kept.map(|line| format!("\n{}", line.get(1..).unwrap_or_default())).collect()
    };
    let (old, new) = (lines('+') + "\n", lines('-') + "\n");
    (text.matches(&old).count() == 1).then(|| text.replacen(&old, &new, 1))
}

/// Returns every file of the library.
fn files(root: &Path) -> Vec<PathBuf> {
    let mut found = ["Cargo.toml", "Cargo.lock", "build.rs"].map(PathBuf::from).to_vec();
    let mut folders = ["rust", "examples", "docs"].map(PathBuf::from).to_vec();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(root.join(&folder)).into_iter().flatten() {
            let entry = entry.expect("it can be read");
            let path = folder.join(entry.file_name());
            if path == Path::new("rust/fuzz") {
                continue;
            }
            if entry.path().is_dir() {
                folders.push(path);
            } else {
                found.push(path);
            }
        }
    }
    found
}

/// Returns the sources of the project with the changes of CONTRIBUTING.md.
fn extended(root: &Path) -> Sources {
    let is_source = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "rs");
    let read = |path: PathBuf| {
        let text = fs::read_to_string(root.join(&path)).expect("a source can be read");
        (path, text)
    };
    let mut sources = files(root).into_iter().filter(is_source).map(read).collect();
    SHOWN.iter().for_each(|(heading, _)| apply(heading, &mut sources));
    sources
}

/// Writes a file only if it has changed, so that unchanged files are not recompiled.
fn keep(path: &Path, text: &[u8]) {
    if fs::read(path).is_ok_and(|old| old == text) {
        return;
    }
    fs::create_dir_all(path.parent().expect("it lies in a folder")).expect("it can be made");
    fs::write(path, text).expect("the copy can be written");
}

/// Copies the project with the extensions of CONTRIBUTING.md.
fn copy(root: &Path, to: &Path) {
    let sources = extended(root);
    let others = files(root).into_iter().filter(|path| !sources.contains_key(path));
    let others: Vec<PathBuf> = others.collect();
    for path in &others {
        keep(&to.join(path), &fs::read(root.join(path)).expect("a file can be read"));
    }
    sources.iter().for_each(|(path, text)| keep(&to.join(path), text.as_bytes()));
    for old in files(to) {
        if !sources.contains_key(&old) && !others.contains(&old) {
            fs::remove_file(to.join(old)).expect("what is no source any more can be removed");
        }
    }
}

#[test]
fn the_diffs_of_contributing_apply_to_the_sources() {
    // The packaged crate lacks the sources of the crates it depends on.
    if cfg!(packaged) {
        return;
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let sources = extended(root);
    assert!(sources.contains_key(Path::new("rust/cli/hosts.rs")), "a file is new");
    let registry = &sources[Path::new("rust/scenario/topologies/mod.rs")];
    assert!(registry.contains("\npub(crate) mod star;\n"), "a line is new");
}

#[test]
fn the_extensions_of_contributing_compile_and_pass_their_tests() {
    // Left out by default: it compiles the library once more.
    if cfg!(packaged) || extent::is_left_out("contributing::the_extensions") {
        return;
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let to = Path::new(env!("CARGO_TARGET_TMPDIR")).join("contributing");
    copy(root, &to);
    let filters = SHOWN.iter().flat_map(|(_, tests)| *tests);
    let output = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["test", "--locked", "--offline", "--lib"])
        .args(["--package", "evenkeel-engine", "--package", "evenkeel-scenario"])
        .args(["--package", "evenkeel-cli", "--target-dir"])
        // A separate target folder: builds of the two would overwrite each other.
        .arg(to.join("target"))
        // Optimised for compile time, because only a few tests run.
        .args(["--config", "profile.dev.package.evenkeel-engine.opt-level=0"])
        .arg("--")
        .args(filters)
        .env("CARGO_INCREMENTAL", "0")
        .current_dir(&to)
        .output()
        .expect("cargo can be run");
    let out = String::from_utf8_lossy(&output.stdout);
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{out}\n{err}");
    assert!(!err.contains("warning"), "{err}");
    for (heading, tests) in SHOWN {
        for test in tests {
            let start = format!("test {test}");
            let mut lines = out.lines();
            let ran = lines.any(|line| line.starts_with(&start) && line.ends_with("ok"));
            assert!(ran, "{heading}: {test}:\n{out}");
        }
    }
}
