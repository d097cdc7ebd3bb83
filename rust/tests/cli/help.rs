//! `--help` of the program and of its commands.

use super::bench::Bench;

/// Returns the commands listed in the program's help.
pub(super) fn commands() -> Vec<String> {
    let help = Bench::new().evenkeel(&["--help"]);
    assert_eq!((help.status, help.err.as_str()), (0, ""));
    assert!(help.out.contains("Examples:") && help.out.contains("Exit status: 0 success; 1"));
    let (_, list) = help.out.split_once("\nCommands:\n").expect("commands are listed");
    let names = list.lines().take_while(|line| !line.is_empty());
    // A long description continues on lines with more indentation.
    let names = names.filter_map(|line| line.strip_prefix("  ")?.split_once(' '));
    let names = names.map(|(name, _)| name.to_owned()).filter(|name| !name.is_empty());
    names.filter(|name| name != "help").collect()
}

#[test]
fn every_command_has_help_with_examples() {
    let commands = commands();
    assert!(commands.len() > 20, "{commands:?}");
    for command in &commands {
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
