//! Mutation testing of the library's core: which small changes of the source no test notices.
//!
//! ```sh
//! cargo run --release --manifest-path rust/mutants/Cargo.toml -- --budget 20
//! ```
//!
//! All mutants are compiled into one copy of the project, under the target folder; an environment
//! variable chooses one. Each test runs once alone, to learn which mutants it reaches. For each
//! mutant those tests run that reach it, the shortest first, until one fails.

/// Compiled into the mutated crate; here to be checked alone.
#[cfg(test)]
mod chosen;
mod find;
mod missed;
mod reasons;
mod report;
mod run;
mod tree;
mod values;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use anyhow::Context as _;
use clap::Parser;
use serde::{Deserialize, Serialize};

use missed::Missed;
use reasons::Reasons;
use run::{Outcome, Test};
use tree::{Mutant, Tree};

/// Tests the tests: which small changes of the library's core does none of them notice?
#[derive(Parser)]
struct Options {
    /// Only mutants of files whose path has this text, such as rust/engine/nic/
    #[arg(long, default_value = "")]
    only: String,
    /// Every Nth mutant alone
    #[arg(long, default_value_t = 1)]
    every: usize,
    /// The most seconds of tests for each mutant
    #[arg(long, default_value_t = 20.0)]
    budget: f64,
    /// The most seconds of a test with all mutants off; longer ones are left out
    #[arg(long, default_value_t = 60)]
    longest: u64,
    /// Tests at a time
    #[arg(long, default_value_t = std::thread::available_parallelism().map_or(1, usize::from))]
    jobs: usize,
    /// Compile, list the mutants, and run nothing
    #[arg(long)]
    list: bool,
    /// Try those again that were missed by an earlier run
    #[arg(long)]
    again: bool,
    /// Only those that rust/mutants/missed.txt lists; --write then leaves the table as it is
    #[arg(long)]
    missed: bool,
    /// Build again after a change of tests; what tests reach is kept for tests known by name
    #[arg(long)]
    rebuild: bool,
    /// Learn anew what tests with this text in their names reach
    #[arg(long)]
    relearn: Option<String>,
    /// Write the table of docs/trust.md and rust/mutants/missed.txt
    #[arg(long)]
    write: bool,
}

/// What is known from one call to the next.
#[derive(Default, Serialize, Deserialize)]
struct Known {
    programs: BTreeMap<String, PathBuf>,
    tests: Vec<Test>,
    outcomes: BTreeMap<usize, Outcome>,
    invalid: BTreeSet<usize>,
    /// All mutants as text: numbers of other sources mean other mutants.
    mutants: Vec<String>,
}

impl Known {
    fn read(path: &Path, mutants: &[String]) -> Self {
        let bytes = std::fs::read(path).ok();
        let known: Self =
            bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default();
        if known.mutants == mutants { known } else { known.of_other_sources(mutants) }
    }

    /// What is still known once sources have changed: what was caught of the mutants that are the
    /// same text on the same line. The others are tried, and each test runs again to learn what it
    /// reaches.
    fn of_other_sources(self, mutants: &[String]) -> Self {
        let mut numbers: BTreeMap<(&str, usize), usize> = BTreeMap::new();
        for (number, key) in (1..).zip(numbered(mutants)) {
            numbers.insert(key, number);
        }
        let mut outcomes = BTreeMap::new();
        for (number, key) in (1..).zip(numbered(&self.mutants)) {
            if let Some(outcome @ (Outcome::Caught | Outcome::Stuck)) = self.outcomes.get(&number)
                && let Some(&now) = numbers.get(&key)
            {
                outcomes.insert(now, *outcome);
            }
        }
        Self { outcomes, ..Self::default() }
    }

    fn save(&self, path: &Path) -> anyhow::Result<()> {
        let begun = path.with_extension("new");
        std::fs::write(&begun, serde_json::to_vec(self)?)?;
        std::fs::rename(begun, path)?;
        Ok(())
    }
}

/// Each mutant with the count of those before it that are the same text: on one line there may be
/// several.
fn numbered(mutants: &[String]) -> impl Iterator<Item = (&str, usize)> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    mutants.iter().map(move |it| {
        let count = counts.entry(it).or_default();
        *count += 1;
        (it.as_str(), *count)
    })
}

fn main() -> anyhow::Result<()> {
    let options = Options::parse();
    anyhow::ensure!(options.every > 0 && options.jobs > 0, "--every and --jobs are 1 or more");
    let project = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize()?;
    let folder = std::env::var_os("CARGO_TARGET_DIR")
        .map_or_else(|| project.join("target"), PathBuf::from)
        .join("mutants");
    std::fs::create_dir_all(&folder)?;
    let folder = folder.canonicalize()?;
    let state = folder.join("known.json");

    let mut tree = Tree::copy(&project, &folder)?;
    let mutants: Vec<String> =
        tree.mutants.iter().map(|it| format!("{}:{} {}", it.file, it.line, it.what)).collect();
    let mut known = Known::read(&state, &mutants);
    tree.invalid.clone_from(&known.invalid);
    if known.programs.is_empty() || options.rebuild {
        tree.settle()?;
        known.invalid.clone_from(&tree.invalid);
        known.mutants = mutants;
        known.save(&state)?;
        known.programs = tree.build()?.into_iter().collect();
        known.save(&state)?;
    } else {
        tree.write()?;
    }
    eprintln!(
        "{} mutants, of which {} do not compile; {} functions that the compiler evaluates have \
         none",
        tree.mutants.len(),
        tree.invalid.len(),
        tree.constant
    );
    if options.list {
        list(&tree);
        return Ok(());
    }
    learn(&tree, &mut known, &options).context("what tests reach")?;
    known.save(&state)?;
    let reasons = Reasons::read(&project)?;
    if options.missed {
        try_missed(&tree, &mut known, &options, &state, &Missed::read(&project)?)?;
        if options.write {
            missed::write(&project, &tree, &known.outcomes, &reasons)?;
        }
        return Ok(());
    }
    let chosen = chosen(&tree, &known, &options, |_| true);
    try_all(&tree, &mut known, &chosen, &options, &state)?;
    known.save(&state)?;
    // Others that an earlier run has tried are no even part of all.
    known.outcomes.retain(|number, _| number.is_multiple_of(options.every));
    let table = report::table(&tree, &known.outcomes, &reasons);
    println!("{table}");
    if options.write {
        report::write(&project, &table)?;
        missed::write(&project, &tree, &known.outcomes, &reasons)?;
    }
    Ok(())
}

/// Prints the mutants that compile.
fn list(tree: &Tree) {
    let numbered = (1..).zip(&tree.mutants).filter(|(number, _)| !tree.invalid.contains(number));
    for (number, mutant) in numbered {
        println!("{number} {mutant}");
    }
}

/// Tries those of the list of missed ones, and leaves no others in `known`.
fn try_missed(
    tree: &Tree,
    known: &mut Known,
    options: &Options,
    state: &Path,
    listed: &Missed,
) -> anyhow::Result<()> {
    for gone in listed.gone(&tree.mutants) {
        eprintln!("no longer there: {gone}");
    }
    let chosen = chosen(tree, known, options, |mutant| listed.has(mutant));
    try_all(tree, known, &chosen, options, state)?;
    known.save(state)?;
    known.outcomes.retain(|number, _| listed.has(&tree.mutants[number - 1]));
    let missed = known.outcomes.values().filter(|outcome| outcome.is_missed()).count();
    println!("{} of {} are caught now", known.outcomes.len() - missed, known.outcomes.len());
    Ok(())
}

/// The numbers of the mutants that the options choose, of those that `has` names.
fn chosen(
    tree: &Tree,
    known: &Known,
    options: &Options,
    has: impl Fn(&Mutant) -> bool,
) -> Vec<usize> {
    let is_chosen = |&number: &usize| {
        let mutant = &tree.mutants[number - 1];
        let is_new = match known.outcomes.get(&number) {
            None => true,
            Some(Outcome::Missed | Outcome::Unreached) => options.again,
            Some(Outcome::Caught | Outcome::Stuck) => false,
        };
        number.is_multiple_of(options.every)
            && !tree.invalid.contains(&number)
            && mutant.file.contains(&options.only)
            && is_new
            && has(mutant)
    };
    (1..=tree.mutants.len()).filter(is_chosen).collect()
}

/// Tries mutants, and keeps what is found every hundred of them.
fn try_all(
    tree: &Tree,
    known: &mut Known,
    chosen: &[usize],
    options: &Options,
    state: &Path,
) -> anyhow::Result<()> {
    let (programs, tests) = (known.programs.clone(), known.tests.clone());
    let shared = Mutex::new((known, 0_usize));
    run::each(options.jobs, chosen.len(), |_, index| {
        let number = chosen[index];
        let outcome = run::judge(&programs, &tree.root, &tests, number, options.budget)?;
        let mut shared = shared.lock().expect("no worker panics");
        shared.0.outcomes.insert(number, outcome);
        shared.1 += 1;
        if matches!(outcome, Outcome::Missed | Outcome::Unreached) {
            println!("{outcome:?} {number} {}", tree.mutants[number - 1]);
        }
        if shared.1.is_multiple_of(100) {
            eprintln!("{} of {}", shared.1, chosen.len());
            shared.0.save(state)?;
        }
        Ok(())
    })
}

/// Runs each test that is not known once, to learn what it reaches.
fn learn(tree: &Tree, known: &mut Known, options: &Options) -> anyhow::Result<()> {
    let mut all = vec![];
    for (program, path) in &known.programs {
        for name in run::names(path)? {
            all.push((program.clone(), name));
        }
    }
    let exists: BTreeSet<&(String, String)> = all.iter().collect();
    known.tests.retain(|test| {
        exists.contains(&(test.program.clone(), test.name.clone()))
            && !options.relearn.as_ref().is_some_and(|text| test.name.contains(text.as_str()))
    });
    let learnt: BTreeSet<(String, String)> =
        known.tests.iter().map(|test| (test.program.clone(), test.name.clone())).collect();
    let new: Vec<(String, String)> =
        all.into_iter().filter(|test| !learnt.contains(test)).collect();
    if !new.is_empty() {
        eprintln!("{} tests run once", new.len());
        let (programs, root) = (&known.programs, &tree.root);
        let tests = run::record(programs, root, &new, options.jobs, options.longest)?;
        known.tests.extend(tests);
        known.tests.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_caught_is_known_of_the_same_text_after_a_change() {
        let text = |all: &[&str]| all.iter().map(|&it| it.to_owned()).collect::<Vec<_>>();
        let mutants = text(&["a.rs:1 x", "a.rs:2 y", "a.rs:2 y", "b.rs:1 x", "b.rs:3 z"]);
        let outcomes = [
            (1, Outcome::Caught),
            (2, Outcome::Missed),
            (3, Outcome::Stuck),
            (4, Outcome::Caught),
            (5, Outcome::Caught),
        ];
        let known = Known { mutants, outcomes: outcomes.into(), ..Known::default() };
        let now = text(&["a.rs:0 new", "a.rs:1 x", "a.rs:2 y", "a.rs:2 y", "b.rs:3 z"]);
        let known = known.of_other_sources(&now);
        let kept = [(2, Outcome::Caught), (4, Outcome::Stuck), (5, Outcome::Caught)];
        assert_eq!(known.outcomes, kept.into());
        assert!(known.tests.is_empty() && known.programs.is_empty());
    }
}
