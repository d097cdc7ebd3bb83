//! A copy of the project that holds all mutants at once.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, bail, ensure};
use serde::Deserialize;

use crate::find::{self, Kind, Site};

/// The layers whose mutants are made.
pub(crate) const FOLDERS: [&str; 5] = ["nic", "balance", "split", "rail", "fabric"];

/// A mutant; its number, from 1, is its place in [`Tree::mutants`].
pub(crate) struct Mutant {
    pub(crate) file: String,
    pub(crate) line: usize,
    pub(crate) function: String,
    pub(crate) what: String,
}

impl std::fmt::Display for Mutant {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}: {} in {}", self.file, self.line, self.what, self.function)
    }
}

impl Mutant {
    /// Its file, what it changes and where, which an edit elsewhere in the file leaves the same.
    pub(crate) fn without_line(&self) -> String {
        let Self { file, what, function, .. } = self;
        format!("{file}: {what} in {function}")
    }

    pub(crate) fn folder(&self) -> &str {
        let inside = self.file.trim_start_matches("rust/").trim_start_matches("engine/");
        inside.split('/').next().unwrap_or_default()
    }
}

struct Source {
    path: String,
    text: String,
    sites: Vec<Site>,
    /// The number of the first mutant of each site.
    first: Vec<usize>,
}

/// The name of a program with tests, and where it is.
type Program = (String, PathBuf);

pub(crate) struct Tree {
    /// The folder of the copy.
    pub(crate) root: PathBuf,
    pub(crate) mutants: Vec<Mutant>,
    /// Those that do not compile.
    pub(crate) invalid: BTreeSet<usize>,
    /// Functions that the compiler evaluates, and that have no mutants for that reason.
    pub(crate) constant: usize,
    sources: Vec<Source>,
    target: PathBuf,
}

impl Tree {
    /// Copies what git tracks of `project` and finds the mutants of the folders.
    pub(crate) fn copy(project: &Path, folder: &Path) -> anyhow::Result<Self> {
        let root = folder.join("tree");
        let tracked = Command::new("git").args(["ls-files", "-z"]).current_dir(project).output()?;
        ensure!(tracked.status.success(), "git ls-files fails: a clone of the project is needed");
        let mut tree = Self {
            root,
            mutants: vec![],
            invalid: BTreeSet::new(),
            constant: 0,
            sources: vec![],
            target: folder.join("target"),
        };
        if tree.root.exists() {
            std::fs::remove_dir_all(&tree.root)?;
        }
        let mut sources = vec![];
        for path in String::from_utf8(tracked.stdout)?.split_terminator('\0') {
            let to = tree.root.join(path);
            std::fs::create_dir_all(to.parent().context("a file is in a folder")?)?;
            if std::fs::copy(project.join(path), &to).is_ok() && is_mutated(path) {
                sources.push((path.to_owned(), std::fs::read_to_string(&to)?));
            }
        }
        let mut of_tests = BTreeSet::new();
        for (path, text) in &sources {
            let parent = path.strip_suffix("/mod.rs").or_else(|| path.strip_suffix(".rs"));
            for module in find::test_modules(text).with_context(|| path.clone())? {
                of_tests.insert(format!("{}/{module}.rs", parent.unwrap_or_default()));
            }
        }
        for (path, text) in sources.into_iter().filter(|(path, _)| !of_tests.contains(path)) {
            tree.find(&path, text)?;
        }
        tree.append("rust/engine/lib.rs", "/// Which mutant is on.\npub mod mutation;\n")?;
        tree.append("rust/lib.rs", "pub(crate) use evenkeel_engine::mutation;\n")?;
        let chosen = include_str!("chosen.rs").replace("pub(crate) fn on", "pub fn on");
        std::fs::write(tree.root.join("rust/engine/mutation.rs"), chosen)?;
        Ok(tree)
    }

    fn append(&self, path: &str, line: &str) -> anyhow::Result<()> {
        let path = self.root.join(path);
        let text = std::fs::read_to_string(&path)?;
        Ok(std::fs::write(path, format!("{text}\n{line}"))?)
    }

    fn find(&mut self, path: &str, text: String) -> anyhow::Result<()> {
        let (sites, constant) = find::sites(&text).with_context(|| path.to_owned())?;
        self.constant += constant;
        let mut first = vec![];
        for site in &sites {
            first.push(self.mutants.len() + 1);
            for change in &site.changes {
                self.mutants.push(Mutant {
                    file: path.to_owned(),
                    line: site.line,
                    function: site.function.clone(),
                    what: change.what.clone(),
                });
            }
        }
        // As many as the array in chosen.rs.
        ensure!(self.mutants.len() < 1 << 14, "there are too many mutants");
        self.sources.push(Source { path: path.to_owned(), text, sites, first });
        Ok(())
    }

    /// Writes the mutants into the sources and leaves out those with which they do not compile.
    pub(crate) fn settle(&mut self) -> anyhow::Result<()> {
        loop {
            let places = self.write()?;
            // With the modules that only tests have.
            let errors = self.cargo(&["check", "--workspace", "--lib", "--profile", "test"])?.0;
            if errors.is_empty() {
                return Ok(());
            }
            let before = self.invalid.len();
            for error in &errors {
                let spans = error.spans.iter().flat_map(|span| span.chain());
                let primary = spans.clone().filter(|span| span.is_primary);
                let of = |span: &Span| places.get(&span.file_name)?.at(span, &self.invalid);
                match primary.chain(spans).find_map(of) {
                    Some(mutants) => self.invalid.extend(mutants),
                    None => eprintln!("{}", error.rendered.as_deref().unwrap_or(&error.message)),
                }
            }
            let left_out = self.invalid.len() - before;
            eprintln!("{} errors: {left_out} mutants do not compile", errors.len());
            ensure!(left_out > 0, "these errors are of no mutant");
        }
    }

    /// Writes the sources with all mutants that compile.
    pub(crate) fn write(&self) -> anyhow::Result<BTreeMap<String, Places>> {
        let mut places = BTreeMap::new();
        for source in &self.sources {
            let text = source.with_mutants(&self.invalid);
            places.insert(source.path.clone(), Places::of(&text));
            std::fs::write(self.root.join(&source.path), text)?;
        }
        Ok(places)
    }

    /// Builds the tests; gives the names of the programs and where they are.
    pub(crate) fn build(&self) -> anyhow::Result<Vec<Program>> {
        let (errors, programs) =
            self.cargo(&["test", "--no-run", "--workspace", "--lib", "--test", "integration"])?;
        if let Some(error) = errors.first() {
            bail!("{}", error.rendered.as_deref().unwrap_or(&error.message));
        }
        Ok(programs)
    }

    fn cargo(&self, arguments: &[&str]) -> anyhow::Result<(Vec<Diagnostic>, Vec<Program>)> {
        let output = Command::new("cargo")
            .args(arguments)
            .args(["--locked", "--quiet", "--message-format=json"])
            .current_dir(&self.root)
            .env("CARGO_TARGET_DIR", &self.target)
            .env("RUSTFLAGS", "--cap-lints allow")
            .stderr(Stdio::inherit())
            .output()?;
        let mut errors = vec![];
        let mut programs = vec![];
        for line in String::from_utf8(output.stdout)?.lines() {
            match serde_json::from_str(line)? {
                Message { message: Some(it), .. }
                    if it.level == "error" && !it.spans.is_empty() =>
                {
                    errors.push(it);
                }
                Message {
                    executable: Some(path),
                    target: Some(target),
                    profile: Some(profile),
                    ..
                } if profile.test => {
                    programs.push((target.name, path));
                }
                _ => {}
            }
        }
        ensure!(
            output.status.success() || !errors.is_empty(),
            "cargo {} fails without an error of the compiler",
            arguments.join(" ")
        );
        Ok((errors, programs))
    }
}

/// Sources of the folders that are no tests.
fn is_mutated(path: &str) -> bool {
    let test = |part: &str| part == "tests" || part == "tests.rs";
    path.ends_with(".rs")
        && FOLDERS.iter().any(|folder| {
            ["rust", "rust/engine"].iter().any(|of| path.starts_with(&format!("{of}/{folder}/")))
        })
        && !path.split('/').any(test)
}

impl Source {
    /// The source with all mutants that compile.
    fn with_mutants(&self, invalid: &BTreeSet<usize>) -> String {
        // Texts to insert: position, order there (ends of inner sites first, then starts of outer
        // ones; sites are in the order of their starts, outer ones first), text.
        let mut inserts: Vec<(usize, (u8, isize), String)> = vec![];
        for (index, site) in self.sites.iter().enumerate() {
            let valid: Vec<(usize, &str)> = (self.first[index]..)
                .zip(&site.changes)
                .filter(|(number, _)| !invalid.contains(number))
                .map(|(number, change)| (number, change.text.as_str()))
                .collect();
            if valid.is_empty() {
                continue;
            }
            let (before, after) = around(site.kind, self.first[index], &valid);
            let order = index as isize;
            if site.range.is_empty() {
                inserts.push((site.range.start, (1, order), before + &after));
            } else {
                inserts.push((site.range.start, (1, order), before));
                inserts.push((site.range.end, (0, -order), after));
            }
        }
        inserts.sort_by_key(|(at, order, _)| (*at, *order));
        let mut text = String::new();
        let mut from = 0;
        for (at, _, insert) in inserts {
            text.push_str(&self.text[from..at]);
            text.push_str(&insert);
            from = at;
        }
        text.push_str(&self.text[from..]);
        text
    }
}

/// What stands before and behind a site: its mutants, each between two comments on lines of their
/// own, as the site is between two others.
fn around(kind: Kind, first: usize, mutants: &[(usize, &str)]) -> (String, String) {
    let mut before = format!("\n/*<{first}*/\n");
    for (number, text) in mutants {
        let on = format!("crate::mutation::on({number})");
        let mutant = match kind {
            Kind::Return => format!("if {on} {{ return {text}; }}"),
            Kind::Arm => format!("if !{on}"),
            Kind::Guard if *text == "true" => format!("{on} ||"),
            Kind::Guard => format!("!{on} &&"),
            Kind::Expression => format!("if {on} {{ {text} }} else"),
        };
        // The parenthesis around an expression opens before its first mutant.
        let open = if kind == Kind::Expression && *number == mutants[0].0 { "(" } else { "" };
        let _ = write!(before, "{open}\n/*[{number}*/\n{mutant}\n/*]{number}*/\n");
    }
    let (begin, end) = match kind {
        Kind::Return | Kind::Arm => ("", ""),
        Kind::Guard => ("(", "\n)"),
        Kind::Expression => ("{", "})"),
    };
    before.push_str(begin);
    (before, format!("{end}\n/*>{first}*/\n"))
}

/// The lines that mutants and sites take in a source with mutants.
pub(crate) struct Places {
    /// Lines, first number, whether they are those of a site.
    lines: Vec<(Range<usize>, usize, bool)>,
}

impl Places {
    fn of(text: &str) -> Self {
        let mut open = BTreeMap::new();
        let mut lines = vec![];
        for (line, text) in (1..).zip(text.lines()) {
            let Some(mark) = text.strip_prefix("/*").and_then(|it| it.strip_suffix("*/")) else {
                continue;
            };
            let Some((kind, number)) = mark.split_at_checked(1) else { continue };
            let Ok(number) = number.parse::<usize>() else { continue };
            match kind {
                "<" | "[" => {
                    open.insert((kind == "<", number), line);
                }
                _ => {
                    if let Some(from) = open.remove(&(kind == ">", number)) {
                        lines.push((from..line + 1, number, kind == ">"));
                    }
                }
            }
        }
        Self { lines }
    }

    /// The mutants that an error at these lines is of: one, or all of the innermost site.
    fn at(&self, span: &Span, invalid: &BTreeSet<usize>) -> Option<Vec<usize>> {
        let (lines, first, is_site) = self
            .lines
            .iter()
            .filter(|(lines, ..)| lines.contains(&span.line_start))
            .min_by_key(|(lines, ..)| lines.len())?;
        if !is_site {
            return Some(vec![*first]);
        }
        let inside = |of: &&(Range<usize>, usize, bool)| {
            !of.2 && lines.contains(&of.0.start) && (*first..first + 4).contains(&of.1)
        };
        let all = self.lines.iter().filter(inside).map(|it| it.1);
        Some(all.filter(|number| !invalid.contains(number)).collect())
    }
}

/// A line of cargo's output.
#[derive(Deserialize)]
struct Message {
    message: Option<Diagnostic>,
    executable: Option<PathBuf>,
    target: Option<Target>,
    profile: Option<Profile>,
}

#[derive(Deserialize)]
struct Target {
    name: String,
}

#[derive(Deserialize)]
struct Profile {
    test: bool,
}

#[derive(Deserialize)]
struct Diagnostic {
    level: String,
    message: String,
    rendered: Option<String>,
    spans: Vec<Span>,
}

#[derive(Deserialize)]
struct Span {
    file_name: String,
    line_start: usize,
    is_primary: bool,
    expansion: Option<Box<Expansion>>,
}

#[derive(Deserialize)]
struct Expansion {
    span: Span,
}

impl Span {
    /// This place, and those of the macros it comes from.
    fn chain(&self) -> impl Iterator<Item = &Span> + Clone {
        std::iter::successors(Some(self), |span| span.expansion.as_deref().map(|it| &it.span))
    }
}
