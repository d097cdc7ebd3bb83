//! Runs the tests: which mutants each one reaches, and which mutants they catch.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, SystemTime};

use anyhow::Context as _;
use serde::{Deserialize, Serialize};

/// A test, and what it reaches.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Test {
    /// Which program it is in.
    pub(crate) program: String,
    pub(crate) name: String,
    /// Seconds alone, with all mutants off.
    pub(crate) seconds: f64,
    pub(crate) reached: BTreeSet<usize>,
}

/// What became of a mutant.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) enum Outcome {
    /// A test failed.
    Caught,
    /// A test took too long or too much memory.
    Stuck,
    /// All tests in the time passed.
    Missed,
    /// No test reaches it.
    Unreached,
}

impl Outcome {
    pub(crate) fn is_missed(self) -> bool {
        matches!(self, Self::Missed | Self::Unreached)
    }
}

/// The most memory that a test may have, in KiB: a mutant that allocates without end stops there.
const MEMORY_KIB: u64 = 6 << 20;

/// How a program with tests ended.
enum End {
    Passed,
    Failed,
    TimedOut,
}

/// Names of all tests of a program, but those that `ignore` names.
pub(crate) fn names(program: &Path) -> anyhow::Result<Vec<String>> {
    let output = Command::new(program).args(["--list", "--format", "terse"]).output()?;
    let text = String::from_utf8(output.stdout)?;
    Ok(text.lines().filter_map(|line| line.strip_suffix(": test")).map(str::to_owned).collect())
}

/// `seconds` are of CPU time, which other programs on the machine do not take.
fn command(program: &Path, root: &Path, mutant: &str, seconds: u64) -> Command {
    let mut command = Command::new("sh");
    let limits = format!("ulimit -v {MEMORY_KIB}; ulimit -t {seconds}; exec \"$0\" \"$@\"");
    command
        .args(["-c", &limits])
        .arg(program)
        .current_dir(root)
        .env("EVENKEEL_MUTANT", mutant)
        // Properties in short: they are many, and one failing case is enough.
        .env("EVENKEEL_CASES", "100")
        .env("INSTA_UPDATE", "no")
        .env("INSTA_FORCE_PASS", "0")
        .stdin(Stdio::null())
        .stderr(Stdio::null());
    command
}

/// Runs tests one after another, until one fails or the seconds of CPU time that `command` has are
/// over; a test that waits without end has twice as long.
fn run(mut command: Command, seconds: u64) -> anyhow::Result<End> {
    use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
    let limit = Duration::from_secs(2 * seconds);
    // Programs that a test started end with it.
    let mut child = command.process_group(0).stdout(Stdio::piped()).spawn()?;
    let mut output = BufReader::new(child.stdout.take().context("it is piped")?);
    let (failed, seen) = mpsc::channel();
    let reader = std::thread::spawn(move || {
        let mut line = vec![];
        while output.read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
            if line.ends_with(b"... FAILED\n") {
                failed.send(()).ok();
                break;
            }
            line.clear();
        }
        drop(failed);
        std::io::copy(&mut output.by_ref(), &mut std::io::sink()).ok();
    });
    let end = match seen.recv_timeout(limit) {
        Ok(()) => End::Failed,
        Err(RecvTimeoutError::Timeout) => End::TimedOut,
        // The end of the output: the status says how it went, an abort among it.
        Err(RecvTimeoutError::Disconnected) => {
            let status = child.wait()?;
            match status.signal() {
                // The limit of CPU time: SIGXCPU, or SIGKILL where both limits are the same.
                Some(9 | 24) => End::TimedOut,
                _ if status.success() => End::Passed,
                _ => End::Failed,
            }
        }
    };
    stop(&mut child);
    reader.join().ok();
    Ok(end)
}

fn stop(child: &mut Child) {
    let group = format!("-{}", child.id());
    Command::new("kill").args(["-KILL", "--", &group]).stderr(Stdio::null()).status().ok();
    child.wait().ok();
}

/// What each test reaches, `jobs` at a time. A test that fails with all mutants off, or takes
/// longer than `longest`, is left out.
pub(crate) fn record(
    programs: &BTreeMap<String, PathBuf>,
    root: &Path,
    tests: &[(String, String)],
    jobs: usize,
    longest: u64,
) -> anyhow::Result<Vec<Test>> {
    let found = Mutex::new(vec![]);
    each(jobs, tests.len(), |worker, index| {
        let (program, name) = &tests[index];
        let file = root.join(format!("../reached-{worker}"));
        std::fs::remove_file(&file).ok();
        let mut command = command(&programs[program], root, "record", longest);
        command
            .args(["--exact", name, "--test-threads", "1"])
            .env("EVENKEEL_MUTANTS_REACHED", &file);
        let start = SystemTime::now();
        let end = run(command, longest)?;
        let seconds = start.elapsed().unwrap_or_default().as_secs_f64();
        let text = match end {
            End::Passed => std::fs::read_to_string(&file).unwrap_or_default(),
            End::Failed => {
                eprintln!("left out, since it fails without a mutant: {name}");
                String::new()
            }
            End::TimedOut => {
                eprintln!("left out, since it takes too long: {name}");
                String::new()
            }
        };
        // What is left out reaches nothing, and is not tried again before it is asked for.
        let reached = text.lines().filter_map(|line| line.parse().ok()).collect();
        let test = Test { program: program.clone(), name: name.clone(), seconds, reached };
        let mut found = found.lock().expect("no worker panics");
        found.push(test);
        if found.len().is_multiple_of(200) {
            eprintln!("{} of {}", found.len(), tests.len());
        }
        Ok(())
    })?;
    let mut found = found.into_inner().expect("no worker panics");
    found.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
    Ok(found)
}

/// Whether the tests catch a mutant: those that reach it, the shortest first, as many as `budget`
/// allows.
pub(crate) fn judge(
    programs: &BTreeMap<String, PathBuf>,
    root: &Path,
    tests: &[Test],
    mutant: usize,
    budget: f64,
) -> anyhow::Result<Outcome> {
    let mut reaching = tests.iter().filter(|test| test.reached.contains(&mutant)).peekable();
    if reaching.peek().is_none() {
        return Ok(Outcome::Unreached);
    }
    let mut left = budget;
    // Batches of more and more seconds: most mutants are caught in the first.
    let mut batch_seconds = 0.5;
    while reaching.peek().is_some() && left > 0.0 {
        let mut batch: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        let mut seconds = 0.0;
        while let Some(test) = reaching.next_if(|test| {
            seconds == 0.0 || seconds + test.seconds <= f64::min(batch_seconds, left)
        }) {
            seconds += test.seconds;
            batch.entry(&test.program).or_default().push(&test.name);
        }
        for (program, names) in batch {
            let limit = (10.0 + 8.0 * seconds).ceil() as u64;
            let mut command = command(&programs[program], root, &mutant.to_string(), limit);
            command.args(["--test-threads", "1", "--exact"]).args(names);
            match run(command, limit)? {
                End::Passed => {}
                End::Failed => return Ok(Outcome::Caught),
                End::TimedOut => return Ok(Outcome::Stuck),
            }
        }
        left -= seconds;
        batch_seconds *= 3.0;
    }
    Ok(Outcome::Missed)
}

/// Calls `work` with the number of a worker and each index once.
pub(crate) fn each(
    jobs: usize,
    count: usize,
    work: impl Fn(usize, usize) -> anyhow::Result<()> + Sync,
) -> anyhow::Result<()> {
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        let (next, work) = (&next, &work);
        let workers: Vec<_> = (0..jobs)
            .map(|worker| {
                scope.spawn(move || {
                    loop {
                        let index = next.fetch_add(1, Ordering::Relaxed);
                        if index >= count {
                            return Ok(());
                        }
                        work(worker, index)?;
                    }
                })
            })
            .collect();
        workers.into_iter().try_for_each(|it| it.join().expect("no worker panics"))
    })
}
