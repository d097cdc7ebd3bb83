//! The log of long searches for faults, `log.md`: with `EVENKEEL_SIMULATION_LOG=1` each search that
//! finds nothing adds a line.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike as _;

use super::checks::Tally;
use super::tester::Tried;

const LOG: &str = "rust/tests/simulation/log.md";

/// The columns of the log, behind which lines follow.
const HEAD: &str = "| sources | seeds from | seeds | seconds | completed | incomplete | refused | \
                    too large | records of packets |";

/// The CPU time of this process: less than the time that has passed where other programs run.
fn cpu_time() -> Duration {
    let usage = getrusage(UsageWho::RUSAGE_SELF).expect("a process may ask for its own usage");
    let times = [usage.user_time(), usage.system_time()];
    times.iter().map(|time| Duration::from_micros(time.num_microseconds().unsigned_abs())).sum()
}

/// The date and the name of the commit that is tested.
fn sources(project: &Path) -> String {
    let arguments = ["log", "-1", "--format=%cs %h"];
    let output = Command::new("git").arg("-C").arg(project).args(arguments).output();
    let output = output.expect("the log is written beside a repository");
    String::from_utf8(output.stdout).expect("a date and a name").trim().to_owned()
}

/// Adds a line for a search, if that is asked for.
pub(super) fn append(tried: &Tried, tally: &Tally) {
    if std::env::var_os("EVENKEEL_SIMULATION_LOG").is_none() {
        return;
    }
    let project = Path::new(env!("CARGO_MANIFEST_DIR"));
    let Tried { first, seeds, .. } = tried;
    let seconds = cpu_time().as_secs();
    let [completed, incomplete, refused, large, records] = tally.counts();
    let line = format!(
        "| {} | {first} | {seeds} | {seconds} | {completed} | {incomplete} | {refused} | {large} | \
         {records} |\n",
        sources(project)
    );
    let mut file = OpenOptions::new().append(true).open(project.join(LOG)).expect("the log opens");
    file.write_all(line.as_bytes()).expect("the log is writable");
}

/// The hours of the log, and the runs that ended in them, whether complete or not.
fn sums(log: &str) -> (f64, u64) {
    let lines = log.lines().skip_while(|line| *line != HEAD).skip(2);
    let rows = lines.filter(|line| line.starts_with('|')).map(|line| {
        let cell = |index| -> u64 {
            let text = line.split('|').nth(index).expect("rows have all columns").trim();
            text.parse().unwrap_or_else(|_| panic!("'{text}' in '{line}' is a number"))
        };
        (cell(4), cell(5) + cell(6))
    });
    let (seconds, runs) = rows.fold((0, 0), |sum, row| (sum.0 + row.0, sum.1 + row.1));
    (seconds as f64 / 3600.0, runs)
}

#[test]
fn the_page_on_trust_has_the_sums_of_the_log() {
    let (hours, runs) = sums(include_str!("log.md"));
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/trust.md");
    let said = format!("{hours:.1} hours of one core, {runs} runs");
    let text = std::fs::read_to_string(page).expect("the page is there");
    assert!(text.contains(&said), "docs/trust.md says \"{said}\"");
}
