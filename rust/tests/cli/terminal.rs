//! Progress bars on a terminal, which `script` (util-linux) provides.

use std::io::{Read, Write};
use std::process::{Command, Stdio};

use super::bench::Bench;

/// Columns of the terminal.
const COLUMNS: usize = 80;

/// A run of some seconds at least, with all builds.
const LONG: &str = r#"
[topology]
leaves = 8
spines = 8
hosts_per_leaf = 8
[workload]
kind = "all-to-all"
bytes = "640MB"
"#;

/// The screen of a terminal after some output.
#[derive(Default)]
struct Screen {
    rows: Vec<Vec<char>>,
    row: usize,
    column: usize,
    /// Number of lines that were too long.
    wraps: usize,
}

impl Screen {
    fn of(output: &str) -> Self {
        let mut screen = Self::default();
        let mut rest = output.chars();
        while let Some(character) = rest.next() {
            match character {
                '\r' => screen.column = 0,
                '\n' => screen.row += 1,
                '\u{1b}' => screen.escape(&mut rest),
                other => screen.put(other),
            }
        }
        screen
    }

    /// Applies a sequence such as `ESC [ 2 A`.
    fn escape(&mut self, rest: &mut impl Iterator<Item = char>) {
        assert_eq!(rest.next(), Some('['));
        let mut digits = String::new();
        let letter = loop {
            match rest.next().expect("a sequence has a letter") {
                digit if digit.is_ascii_digit() => digits.push(digit),
                letter => break letter,
            }
        };
        let count = digits.parse().unwrap_or(1);
        match letter {
            'A' => self.row = self.row.saturating_sub(count),
            'B' => self.row += count,
            'K' => self.rows.get_mut(self.row).into_iter().for_each(Vec::clear),
            other => panic!("unknown sequence {other}"),
        }
    }

    fn put(&mut self, character: char) {
        if self.column == COLUMNS {
            (self.row, self.column, self.wraps) = (self.row + 1, 0, self.wraps + 1);
        }
        let rows = self.rows.len().max(self.row + 1);
        self.rows.resize(rows, Vec::new());
        let row = &mut self.rows[self.row];
        row.resize(row.len().max(self.column + 1), ' ');
        row[self.column] = character;
        self.column += 1;
    }

    /// Returns the lines that are not blank.
    fn lines(&self) -> Vec<String> {
        let lines =
            self.rows.iter().map(|row| row.iter().collect::<String>().trim_end().to_owned());
        lines.filter(|line| !line.is_empty()).collect()
    }
}

/// Runs the program on a terminal, types Ctrl-C once `word` is on it, and returns the output.
fn interrupted(bench: &Bench, arguments: &str, word: &str) -> Option<String> {
    // A shell without job control starts background commands with SIGINT ignored.
    let program = format!("env --default-signal=INT {}", env!("CARGO_BIN_EXE_evenkeel"));
    let command = format!("stty cols {COLUMNS} rows 24; {program} {arguments}");
    let mut script = Command::new("script")
        .args(["-qfc", &command, "/dev/null"])
        .current_dir(bench.path("."))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let (mut keys, mut screen) = (script.stdin.take()?, script.stdout.take()?);
    let (mut output, mut bytes) = (Vec::new(), [0; 4096]);
    let mut is_typed = false;
    while let Ok(count @ 1..) = screen.read(&mut bytes) {
        output.extend_from_slice(&bytes[..count]);
        if !is_typed && String::from_utf8_lossy(&output).contains(word) {
            keys.write_all(b"\x03").expect("the terminal is open");
            is_typed = true;
        }
    }
    script.wait().expect("it ends");
    let output = String::from_utf8_lossy(&output).into_owned();
    assert!(is_typed, "{word} never appeared: {output}");
    Some(output)
}

#[test]
fn nothing_is_left_on_the_terminal_after_an_interrupt() {
    let bench = Bench::new();
    bench.write("long.toml", LONG);
    bench.write(
        "study.toml",
        "[scenario.topology]\nleaves = 8\nspines = 8\nhosts_per_leaf = 8\n[scenario.workload]\n\
         kind = \"all-to-all\"\nbytes = \"640MB\"\n[[run]]\nname = \"r\"\n[run.over]\n\
         policy = [\"ecmp\", \"spray\"]\n\
         \"transport.congestion_control\" = [\"nscc\", \"dcqcn\"]\n",
    );
    for (arguments, word, left) in [
        ("run long.toml", "hops/s", ""),
        ("sweep study.toml --out sweep", "hops/s", ""),
        ("compare long.toml --policies ecmp,spray", "hops/s", "error: interrupted: "),
    ] {
        let Some(output) = interrupted(&bench, arguments, word) else {
            eprintln!("{arguments}: skipped, script is missing");
            return;
        };
        let screen = Screen::of(&output);
        assert!(output.contains("^C"), "{output:?}");
        assert_eq!(screen.wraps, 0, "lines of at most {COLUMNS} columns: {output:?}");
        let lines = screen.lines();
        match left {
            "" => assert_eq!(lines, [""; 0], "{arguments}: {output:?}"),
            _ => assert!(lines.len() == 1 && lines[0].starts_with(left), "{lines:?}: {output:?}"),
        }
    }
}
