//! `--help` of the program and of its commands.

use super::bench::Bench;

const COMMANDS: [&str; 21] = [
    "run",
    "compare",
    "sweep",
    "merge",
    "reproduce",
    "plot",
    "report",
    "hpcc",
    "check",
    "bound",
    "qps",
    "list",
    "trace",
    "import",
    "export",
    "twin",
    "init",
    "explain",
    "schema",
    "completions",
    "man",
];

#[test]
fn help_names_every_command_with_examples_and_exit_status() {
    let help = Bench::new().evenkeel(&["--help"]);
    assert_eq!((help.status, help.err.as_str()), (0, ""));
    for command in COMMANDS {
        assert!(help.out.contains(&format!("\n  {command} ")), "{command}: {}", help.out);
    }
    assert!(help.out.contains("Examples:") && help.out.contains("Exit status: 0 success; 1"));
}

#[test]
fn every_command_has_help_with_examples() {
    for command in COMMANDS {
        let help = Bench::new().evenkeel(&[command, "--help"]);
        assert_eq!((help.status, help.err.as_str()), (0, ""), "{command}");
        let examples = help.out.contains(&format!("\n  evenkeel {command} "));
        assert!(examples, "{command}: {}", help.out);
        let widest = help.out.lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(80), "{command}: {}", help.out);
    }
}

#[test]
fn unknown_commands_and_options_are_usage_errors() {
    let bench = Bench::new();
    for arguments in
        [&["frobnicate", "study.toml"][..], &[], &["run"], &["run", "--frob", "a.toml"]]
    {
        let left = bench.evenkeel(arguments);
        assert_eq!((left.status, left.out.as_str()), (2, ""), "{arguments:?}: {left:?}");
    }
}
