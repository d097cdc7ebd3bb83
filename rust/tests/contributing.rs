//! CONTRIBUTING.md shows a whole policy, a whole congestion control and a whole loss recovery, each
//! as one file and one line. This test puts exactly that text into a copy of the sources, compiles
//! all three in one build, and runs their tests.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::extent;

const CONTRIBUTING: &str = include_str!("../../CONTRIBUTING.md");

/// An extension that the text shows in full: its file and its registry line, in this order, are the
/// first two blocks of Rust after its heading.
struct Shown {
    heading: &'static str,
    /// The folder of its file, whose `mod.rs` has the registry.
    folder: &'static str,
    /// The module of that folder.
    module: &'static str,
    /// Tests of all entries of the registry.
    registry_tests: &'static str,
}

const SHOWN: [Shown; 3] = [
    Shown {
        heading: "## A whole policy",
        folder: "rust/engine/balance/sender",
        module: "balance::sender",
        registry_tests: "balance::preset",
    },
    Shown {
        heading: "## A whole congestion control",
        folder: "rust/engine/nic/congestion",
        module: "nic::congestion",
        registry_tests: "nic::congestion::control",
    },
    Shown {
        heading: "## A whole loss recovery",
        folder: "rust/engine/nic/recovery",
        module: "nic::recovery",
        registry_tests: "nic::recovery::entry",
    },
];

impl Shown {
    /// Its source, and its line of the registry.
    fn blocks(&self) -> [&'static str; 2] {
        let heading = format!("\n{}\n", self.heading);
        let (_, mut rest) = CONTRIBUTING.split_once(&heading).expect("it has a section");
        [(); 2].map(|()| {
            let (_, block) = rest.split_once("```rust\n").expect("a block of Rust follows");
            let (block, after) = block.split_once("```").expect("the block ends");
            rest = after;
            block
        })
    }

    /// The name of its file, with which its line begins.
    fn name(&self) -> &'static str {
        let [_, line] = self.blocks();
        line.trim().split("::").next().expect("a module comes first")
    }

    fn file(&self) -> PathBuf {
        PathBuf::from(format!("{}/{}.rs", self.folder, self.name()))
    }

    /// The module that has its registry, with its lines added.
    fn registered(&self, registry: &str) -> String {
        let registry =
            registry.replacen("\npub mod ", &format!("\npub mod {};\npub mod ", self.name()), 1);
        let start = registry.find("\nregistry! {\n").expect("it has one");
        let (before, after) = registry.split_at(start + 1);
        let (lines, after) = after.split_once("}\n").expect("it ends");
        let [_, line] = self.blocks();
        format!("{before}{lines}{line}}}\n{after}")
    }
}

/// Every file of the library.
fn sources(root: &Path) -> Vec<PathBuf> {
    let mut found = ["Cargo.toml", "Cargo.lock", "build.rs"].map(PathBuf::from).to_vec();
    let mut folders = ["rust", "examples"].map(PathBuf::from).to_vec();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(root.join(&folder)).expect("the folder can be read") {
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

/// Writes a file if it has changed, so that unchanged files are not compiled again.
fn keep(path: &Path, text: &[u8]) {
    if fs::read(path).is_ok_and(|old| old == text) {
        return;
    }
    fs::create_dir_all(path.parent().expect("it lies in a folder")).expect("it can be made");
    fs::write(path, text).expect("the copy can be written");
}

/// A copy of the sources with the extensions of CONTRIBUTING.md.
fn copy(root: &Path, to: &Path) {
    let mut kept = BTreeSet::new();
    for shown in &SHOWN {
        let file = shown.file();
        assert!(!root.join(&file).exists(), "{} is in the project", file.display());
        let [source, _] = shown.blocks();
        keep(&to.join(&file), source.as_bytes());
        kept.insert(to.join(&file));
    }
    for source in sources(root) {
        let mut text = fs::read(root.join(&source)).expect("a source can be read");
        let registry = |shown: &&Shown| Path::new(shown.folder).join("mod.rs") == source;
        if let Some(shown) = SHOWN.iter().find(registry) {
            let registry = String::from_utf8(text).expect("sources are UTF-8");
            text = shown.registered(&registry).into_bytes();
        }
        keep(&to.join(&source), &text);
        kept.insert(to.join(&source));
    }
    for old in sources(to).into_iter().map(|path| to.join(path)) {
        if !kept.contains(&old) {
            fs::remove_file(&old).expect("what is no source any more can be removed");
        }
    }
}

#[test]
fn the_extensions_of_contributing_compile_and_pass_their_tests() {
    // It compiles the library once more.
    if extent::is_left_out("contributing::the_extensions") {
        return;
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let to = Path::new(env!("CARGO_TARGET_TMPDIR")).join("contributing");
    copy(root, &to);
    let own = |shown: &Shown| format!("{}::{}::", shown.module, shown.name());
    let filters = SHOWN.iter().flat_map(|shown| [own(shown), shown.registry_tests.to_owned()]);
    // The program lies in `debug` of the target folder, where its dependencies are built already.
    let program = Path::new(env!("CARGO_BIN_EXE_evenkeel"));
    let target = program.ancestors().nth(2).expect("it lies two folders below");
    let output = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["test", "--locked", "--offline", "--package", "evenkeel-engine", "--lib"])
        .arg("--target-dir")
        .arg(target)
        // Optimised for compile time, because only a few tests are run.
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
    let ran = |start: &str| {
        let start = format!("test {start}");
        out.lines().any(|line| line.starts_with(&start) && line.ends_with("ok"))
    };
    for shown in &SHOWN {
        assert!(ran(&own(shown)) && ran(shown.registry_tests), "{}:\n{out}", shown.heading);
    }
}
