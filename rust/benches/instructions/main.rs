//! Counts instructions per packet-hop with callgrind and compares them with the committed figures:
//! `cargo bench --bench instructions [-- --write]`. Needs valgrind and `gungraun-runner`.
//!
//! A count more than 3 % above its figure in `instructions.toml` is an error. With a different
//! compiler it is only a warning, because counts depend on the compiler. `--write` replaces the
//! figures and the table of `docs/speed.md` with the new counts.
//!
//! The program is called by cargo, by itself (with `--home`, to count), and by the runner (with
//! `--gungraun-run`, once per line).

#[path = "../cases.rs"]
mod cases;
mod counts;
mod figures;
#[path = "../page.rs"]
mod page;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use cases::{Case, LINES};
use evenkeel::fabric::run;
use figures::{Figure, Figures, Finding};

/// 128 hosts. Messages are long enough to make the start of a run negligible.
const CASE: Case = Case { k: 8, kib: 512 };
const FIGURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/rust/benches/instructions.toml");
const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/speed.md");
const HEADING: &str = "# Instructions per packet-hop, as callgrind counts them: a permutation on \
                       128 hosts.\n# Written by";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|it| it != "--bench").collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["--gungraun-run" | "--home", ..] => {
            counts::run();
            ExitCode::SUCCESS
        }
        [] => check(),
        ["--write"] => write(),
        _ => panic!("unknown arguments {arguments:?}: the only one is --write"),
    }
}

fn check() -> ExitCode {
    let text = std::fs::read_to_string(FIGURES).expect("the committed figures can be read");
    let committed: Figures = toml::from_str(&text).expect("the committed figures are valid");
    let (finding, text) = committed.compare(&count());
    print!("{text}");
    match finding {
        Finding::Failed => ExitCode::FAILURE,
        Finding::Passed | Finding::Warned => ExitCode::SUCCESS,
    }
}

fn write() -> ExitCode {
    let counted = count();
    let text = toml::to_string(&counted).expect("two kinds of values");
    let text = format!("{HEADING} `{}`.\n{text}", figures::RENEW);
    let table = counted.table();
    let page = std::fs::read_to_string(PAGE).expect("docs/speed.md can be read");
    let page = page::replaced(&page, "instructions", &table).expect("docs/speed.md has markers");
    std::fs::write(FIGURES, text).expect("the figures can be written");
    std::fs::write(PAGE, page).expect("docs/speed.md can be written");
    print!("{}", table.text());
    ExitCode::SUCCESS
}

/// Counts the instructions of all lines.
fn count() -> Figures {
    let home = tempfile::tempdir().expect("a folder for what callgrind writes");
    let program = std::env::current_exe().expect("this program's path");
    let status = Command::new(program)
        .arg("--home")
        .arg(home.path())
        .arg("--bench")
        .status()
        .expect("a process of its own");
    assert!(
        status.success(),
        "callgrind did not run: `apt-get install valgrind` and `cargo install gungraun-runner` (of \
         the version of `gungraun` in Cargo.lock) install what it needs"
    );
    let line = (0..).zip(LINES).map(|(index, line)| {
        let hops = run(&line.setup(CASE), &mut |_| {}).counters.packet_hops;
        let instructions = instructions(home.path(), index) as f64 / hops as f64;
        // Rounded to 0.1: more precision only adds noise to the committed file.
        let instructions = (instructions * 10.0).round() / 10.0;
        Figure { name: line.to_string(), instructions }
    });
    Figures { compiler: compiler(), line: line.collect() }
}

/// Returns the instructions of the line with this index, from callgrind's summary.
fn instructions(home: &Path, index: usize) -> u64 {
    let file = format!("callgrind.hops.line_{index}.out");
    let path = find(home, &file).unwrap_or_else(|| panic!("the runner left no {file}"));
    let text = std::fs::read_to_string(path).expect("it was just written");
    let sum = text.lines().find_map(|line| line.strip_prefix("summary: "));
    // Instructions are the first of the counted events.
    let sum = sum.and_then(|it| it.split(' ').next()).and_then(|it| it.parse().ok());
    sum.unwrap_or_else(|| panic!("{file} has no line \"summary: INSTRUCTIONS\""))
}

/// Returns the file called `name` in `folder` or below.
fn find(folder: &Path, name: &str) -> Option<PathBuf> {
    let paths = std::fs::read_dir(folder).ok()?.filter_map(Result::ok).map(|entry| entry.path());
    let found = |path: PathBuf| match path.is_dir() {
        true => find(&path, name),
        false => path.ends_with(name).then_some(path),
    };
    paths.into_iter().find_map(found)
}

/// Returns the compiler's version and target.
fn compiler() -> String {
    let output = Command::new("rustc").arg("-vV").output().expect("rustc can be called");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let target = text.lines().find_map(|line| line.strip_prefix("host: "));
    format!("{}, {}", text.lines().next().unwrap_or_default(), target.unwrap_or_default())
}
