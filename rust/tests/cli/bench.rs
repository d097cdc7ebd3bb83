//! A folder for each test, in which the program runs.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use tempfile::TempDir;

/// Eight hosts, each sending to all others.
pub(super) const SMALL: &str = r#"
[topology]
leaves = 2
spines = 2
hosts_per_leaf = 4

[transport]
congestion_control = "line-rate"

[policy]
name = "ecmp"

[workload]
kind = "all-to-all"
bytes = "256KB"
"#;

/// Exit status and output of a command.
#[derive(Debug)]
pub(super) struct CommandOutput {
    pub(super) status: i32,
    pub(super) out: String,
    pub(super) err: String,
}

impl CommandOutput {
    /// Parses the standard output, which must be a single line, as JSON.
    pub(super) fn json(&self) -> serde_json::Value {
        assert_eq!(self.out.matches('\n').count(), 1, "{self:?}");
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// Asserts that the input was rejected: no standard output, and an error with these words.
    pub(super) fn expect_invalid(&self, words: &[&str]) {
        assert_eq!((self.status, self.out.as_str()), (2, ""), "{self:?}");
        assert!(self.err.starts_with("error: "), "{self:?}");
        for word in words {
            assert!(self.err.contains(word), "'{word}' is not in {}", self.err);
        }
    }
}

/// A temporary folder, removed after the test.
pub(super) struct Bench {
    folder: TempDir,
}

impl Bench {
    pub(super) fn new() -> Self {
        Self { folder: tempfile::tempdir().expect("a folder can be made") }
    }

    /// Creates a folder with the results of a study of many groups, labels and claims in `studies`.
    /// All tests that read them share one simulation.
    pub(super) fn with_studies() -> Self {
        static FILES: OnceLock<Vec<(String, String)>> = OnceLock::new();
        let files = FILES.get_or_init(|| {
            let bench = Self::new();
            let left = bench.evenkeel(&["reproduce", "reps-failures", "--out", "studies"]);
            assert_eq!(left.status, 0, "{}", left.err);
            let text = |name: &String| bench.read(&format!("studies/{name}"));
            bench.names("studies").into_iter().map(|name| (name.clone(), text(&name))).collect()
        });
        let bench = Self::new();
        fs::create_dir(bench.path("studies")).expect("a folder can be made");
        for (name, text) in files {
            bench.write(&format!("studies/{name}"), text);
        }
        bench
    }

    /// Creates a folder with `small.toml`.
    pub(super) fn with_small() -> Self {
        let bench = Self::new();
        bench.write("small.toml", SMALL);
        bench
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(super) fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).expect("the file can be written");
    }

    pub(super) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Returns the names in a folder, sorted.
    pub(super) fn names(&self, folder: &str) -> Vec<String> {
        let entries = fs::read_dir(self.path(folder)).expect("the folder is there");
        let name = |entry: fs::DirEntry| entry.file_name().into_string().expect("it is UTF-8");
        let mut names: Vec<String> = entries.map(|entry| name(entry.unwrap())).collect();
        names.sort();
        names
    }

    /// Returns a command that runs the program in this folder, without a terminal.
    pub(super) fn command(&self, arguments: &[&str]) -> Command {
        self.here(Command::new(env!("CARGO_BIN_EXE_evenkeel")), arguments)
    }

    /// Like [`Self::command`], with signal handling set by an option of `env` (coreutils). Scripts
    /// start background jobs, perhaps these tests, with SIGINT ignored; `--default-signal=INT`
    /// undoes that.
    #[cfg(target_os = "linux")]
    pub(super) fn command_with(&self, signals: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new("env");
        command.args([signals, env!("CARGO_BIN_EXE_evenkeel")]);
        self.here(command, arguments)
    }

    fn here(&self, mut command: Command, arguments: &[&str]) -> Command {
        command.args(arguments).current_dir(self.folder.path()).stdin(Stdio::null());
        // The tests themselves may run as a task of a cluster.
        command.env_remove("SLURM_ARRAY_TASK_ID").env_remove("JOB_COMPLETION_INDEX");
        command
    }

    pub(super) fn evenkeel(&self, arguments: &[&str]) -> CommandOutput {
        Self::left(self.command(arguments))
    }

    /// Returns a command that runs the program with an address space of `kb` kB.
    #[cfg(target_os = "linux")]
    pub(super) fn evenkeel_within(&self, kb: u64, arguments: &[&str]) -> CommandOutput {
        let mut command = Command::new("sh");
        let script = "ulimit -v \"$0\" && exec \"$@\"";
        command.args(["-c", script, &kb.to_string(), env!("CARGO_BIN_EXE_evenkeel")]);
        Self::left(self.here(command, arguments))
    }

    fn left(mut command: Command) -> CommandOutput {
        let output = command.output().expect("the program starts");
        CommandOutput {
            status: output.status.code().expect("it ends by itself"),
            out: String::from_utf8(output.stdout).expect("it is UTF-8"),
            err: String::from_utf8(output.stderr).expect("it is UTF-8"),
        }
    }
}
