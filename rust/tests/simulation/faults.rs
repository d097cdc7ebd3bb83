//! Injected faults: patches of the sources. The simulation tester must find each of them.
//!
//! `EVENKEEL_FAULTS=all`, or a part of their names, applies each patch to a copy of the sources,
//! builds it and runs the tester, which takes some minutes per patch. `INSTA_UPDATE=always` also
//! writes the times to the table in `docs/reproduce/faults.txt`. Without `EVENKEEL_FAULTS`, the
//! test prints a note. It then checks only that the patches apply and that the table lists exactly
//! these faults.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use super::tester::FOUND;
use crate::page::{Table, replaced, section};

/// Maximum time in seconds that the tester searches for a fault.
const SECONDS: &str = "300";

const PAGE: &str = "docs/reproduce/faults.txt";

fn sources() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn patches() -> Vec<PathBuf> {
    let folder = sources().join("rust/tests/simulation/faults");
    let entries = fs::read_dir(folder).expect("the patches are beside the tester");
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|it| it == "patch"));
    paths.sort();
    paths
}

fn name_of(patch: &Path) -> String {
    patch.file_stem().expect("patches have names").to_string_lossy().into_owned()
}

fn git(folder: &Path, arguments: &[&str]) -> Option<Output> {
    Command::new("git").arg("-C").arg(folder).args(arguments).output().ok()
}

/// Returns the project's files by their relative paths; `None` without a repository.
fn files() -> Option<Vec<String>> {
    let listed = git(sources(), &["ls-files", "-z"]).filter(|it| it.status.success())?;
    let all = String::from_utf8(listed.stdout).expect("file names are UTF-8");
    Some(all.split_terminator('\0').map(str::to_owned).collect())
}

/// Makes `to` a repository with the current sources, without history.
fn copy(files: &[String], to: &Path) {
    for file in files {
        let (from, to) = (sources().join(file), to.join(file));
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        // An unchanged file keeps its modification time, so that little is rebuilt.
        let text = fs::read(&from).unwrap_or_default();
        if fs::read(&to).ok().as_ref() != Some(&text) {
            fs::write(&to, text).unwrap();
        }
    }
    git(to, &["init", "--quiet"]).expect("git is there: it listed the files");
}

#[test]
fn fault_patches_apply() {
    // For a packaged crate, git may find an enclosing repository that does not track its files.
    let Some(files) = files().filter(|files| !files.is_empty()) else {
        eprintln!("skipped: simulation::faults: the sources are no git repository");
        return;
    };
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("faults-apply");
    copy(&files, &folder);
    assert!(patches().len() >= 8, "{:?}", patches());
    for patch in patches() {
        let patch = patch.to_str().expect("paths of the project are UTF-8");
        let applied = git(&folder, &["apply", "--check", patch]).unwrap();
        let errors = String::from_utf8_lossy(&applied.stderr).into_owned();
        assert!(applied.status.success(), "{patch}: {errors}");
    }
}

/// Returns the day of the last commit of the sources.
fn day() -> String {
    let commit = git(sources(), &["log", "-1", "--format=%cs"]).expect("git is there");
    String::from_utf8_lossy(&commit.stdout).trim().to_owned()
}

fn page() -> String {
    fs::read_to_string(sources().join(PAGE)).unwrap_or_else(|error| panic!("{PAGE}: {error}"))
}

/// Returns the rows of the page's table by fault: the text after the name.
fn rows(page: &str) -> BTreeMap<String, String> {
    let table = section(page, "faults").unwrap_or_else(|it| panic!("{PAGE}: {it}"));
    let rows = table.lines().skip(2).map(|row| row.trim_matches('|').trim());
    let parts = rows.map(|row| row.split_once(" | ").expect("a row has a name"));
    parts.map(|(name, rest)| (name.to_owned(), rest.to_owned())).collect()
}

/// Writes rows into the page's table and leaves the others unchanged.
fn keep(found: BTreeMap<String, String>) {
    let page = page();
    let mut all = rows(&page);
    all.extend(found);
    let mut table = Table::new(&["fault", "found after", "sources of"]);
    for (name, rest) in all {
        table.row(format!("{name} | {rest}"));
    }
    let page = replaced(&page, "faults", &table).unwrap_or_else(|it| panic!("{PAGE}: {it}"));
    fs::write(sources().join(PAGE), page).expect("the page can be written");
}

#[test]
fn the_page_lists_exactly_these_faults() {
    let patches: BTreeSet<String> = patches().iter().map(|patch| name_of(patch)).collect();
    let found: BTreeSet<String> = rows(&page()).into_keys().collect();
    assert_eq!(found, patches, "{PAGE}, and the patches beside this test");
}

#[test]
fn the_tester_finds_every_fault() {
    let Ok(wanted) = std::env::var("EVENKEEL_FAULTS") else {
        eprintln!("left out: EVENKEEL_FAULTS=all puts in each fault and looks for it");
        return;
    };
    let files = files().expect("a repository: the faults are put into a copy of its files");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("faults");
    let (mut missed, mut rows, day) = (Vec::new(), BTreeMap::new(), day());
    for path in patches() {
        let patch = path.to_str().expect("paths of the project are UTF-8");
        if wanted != "all" && !patch.contains(&wanted) {
            continue;
        }
        copy(&files, &folder);
        assert!(git(&folder, &["apply", patch]).unwrap().status.success(), "{patch}");
        let tester = Command::new("cargo")
            .args(["test", "--locked", "--test", "integration"])
            // Optimised for compile time, because most faults are found in seconds.
            .args(["--config", "profile.dev.package.evenkeel.opt-level=0"])
            .args(["--", "simulation::random_scenarios"])
            .env("EVENKEEL_SIMULATION_SECONDS", SECONDS)
            .env("CARGO_TARGET_DIR", folder.join("target"))
            .current_dir(&folder)
            .output()
            .expect("cargo runs this test");
        let said = String::from_utf8_lossy(&tester.stdout);
        let found = said.lines().find_map(|line| line.strip_prefix(FOUND));
        let name = name_of(&path);
        eprintln!("{name}: {}", found.unwrap_or("not found"));
        match found.filter(|_| !tester.status.success()) {
            Some(found) => {
                rows.insert(name, format!("{found} | {day}"));
            }
            None => missed.push(name),
        }
    }
    if std::env::var("INSTA_UPDATE").is_ok_and(|value| value == "always") {
        keep(rows);
    }
    assert!(missed.is_empty(), "not found: {missed:?}");
}
