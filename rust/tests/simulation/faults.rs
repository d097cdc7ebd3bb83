//! Faults put in on purpose: patches of the sources, each of which the simulation tester must find.
//!
//! `EVENKEEL_FAULTS=all`, or a part of their names, applies each to a copy of the sources, builds
//! it and runs the tester; that takes some minutes for each. Without it the test says so, and that
//! the patches still apply is all that is tested.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// How long the tester may look for a fault.
const SECONDS: &str = "300";

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

fn git(folder: &Path, arguments: &[&str]) -> Option<Output> {
    Command::new("git").arg("-C").arg(folder).args(arguments).output().ok()
}

/// The files of the project, by their paths in it; `None` without a repository.
fn files() -> Option<Vec<String>> {
    let listed = git(sources(), &["ls-files", "-z"]).filter(|it| it.status.success())?;
    let all = String::from_utf8(listed.stdout).expect("file names are UTF-8");
    Some(all.split_terminator('\0').map(str::to_owned).collect())
}

/// Makes `to` a repository with the sources as they are, without history.
fn copy(files: &[String], to: &Path) {
    for file in files {
        let (from, to) = (sources().join(file), to.join(file));
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        // A file that is the same keeps its time, so that little is built again.
        let text = fs::read(&from).unwrap_or_default();
        if fs::read(&to).ok().as_ref() != Some(&text) {
            fs::write(&to, text).unwrap();
        }
    }
    git(to, &["init", "--quiet"]).expect("git is there: it listed the files");
}

#[test]
fn the_patches_of_faults_apply() {
    let Some(files) = files() else {
        eprintln!("skipped: the sources are no git repository, whose files could be listed");
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

#[test]
fn the_tester_finds_every_fault() {
    let Ok(wanted) = std::env::var("EVENKEEL_FAULTS") else {
        eprintln!("left out: EVENKEEL_FAULTS=all puts in each fault and looks for it");
        return;
    };
    let files = files().expect("a repository: the faults are put into a copy of its files");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("faults");
    let mut missed = Vec::new();
    for patch in patches() {
        let patch = patch.to_str().expect("paths of the project are UTF-8");
        if wanted != "all" && !patch.contains(&wanted) {
            continue;
        }
        copy(&files, &folder);
        assert!(git(&folder, &["apply", patch]).unwrap().status.success(), "{patch}");
        let tester = Command::new("cargo")
            .args(["test", "--test", "integration", "--", "simulation::random_scenarios"])
            .env("EVENKEEL_SIMULATION_SECONDS", SECONDS)
            .env("CARGO_TARGET_DIR", folder.join("target"))
            .current_dir(&folder)
            .output()
            .expect("cargo runs this test");
        let said = String::from_utf8_lossy(&tester.stdout);
        let found = said.lines().find(|line| line.contains(", seed ")).map(str::to_owned);
        let name = Path::new(patch).file_stem().unwrap().to_string_lossy().into_owned();
        eprintln!("{name}: {}", found.as_deref().unwrap_or("not found"));
        if found.is_none() || tester.status.success() {
            missed.push(name);
        }
    }
    assert!(missed.is_empty(), "not found: {missed:?}");
}
