//! `docs/commands.md`: the reference of the commands, generated from their help.
//!
//! `INSTA_UPDATE=always cargo test --test integration commands_page` writes it again.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;

use super::bench::Bench;
use super::help::commands;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/commands.md");

const INTRODUCTION: &str = "# Commands

For users of the command line. This command prints the full help of one command, with examples:

```sh
evenkeel run --help
```

Results go to standard output; progress, warnings and errors go to standard error. With `--json`
standard output has one object and nothing else. A scenario `-` is read from standard input.

| exit status | meaning |
|---|---|
| 0 | success |
| 1 | a run did not complete (it stalled or reached the time limit of its scenario), or a \
condition of `--assert` or `--strict` does not hold |
| 2 | invalid input, or results could not be written |
";

const END: &str = "\n---\n\nGenerated from the program's help; `INSTA_UPDATE=always \
                   cargo test --test integration commands_page` rewrites this page.\n";

/// An argument or an option, and its meaning.
type Entry = (String, String);

/// Returns the entries of a block of the help, `Arguments` or `Options`.
fn entries(help: &str, block: &str) -> Vec<Entry> {
    let Some((_, block)) = help.split_once(&format!("\n{block}:\n")) else { return Vec::new() };
    let mut entries: Vec<Entry> = Vec::new();
    for line in block.lines().take_while(|line| !line.is_empty()) {
        let text = line.trim_start();
        if line.len() - text.len() <= 6 {
            let (name, meaning) = text.split_once("  ").unwrap_or((text, ""));
            entries.push((name.to_owned(), meaning.trim().to_owned()));
        } else if let Some((_, meaning)) = entries.last_mut() {
            // A long meaning continues in lines that are indented further.
            meaning.push(' ');
            meaning.push_str(text);
        }
    }
    entries.retain(|(name, _)| !name.starts_with("-h,"));
    entries
}

/// Appends a table of entries.
fn table<'a>(page: &mut String, entries: impl Iterator<Item = &'a Entry>) {
    page.push_str("\n| argument | meaning |\n|---|---|\n");
    for (name, meaning) in entries {
        // Markdown must not read these as a column, an element or emphasis.
        let name = name.replace('|', "\\|");
        let meaning = meaning.trim().replace('<', "\\<").replace('*', "\\*");
        writeln!(page, "| `{name}` | {meaning} |").expect("a String takes any length");
    }
}

fn generated() -> String {
    let bench = Bench::new();
    let help = |command: &String| bench.evenkeel(&[command.as_str(), "-h"]).out;
    let helps: Vec<(String, String)> =
        commands().into_iter().map(|it| (it.clone(), help(&it))).collect();
    let options = helps.iter().flat_map(|(_, help)| entries(help, "Options"));
    let mut uses: BTreeMap<Entry, usize> = BTreeMap::new();
    options.for_each(|option| *uses.entry(option).or_default() += 1);
    let is_common = |entry: &Entry| uses.get(entry).is_some_and(|uses| *uses >= 3);
    let mut page = INTRODUCTION.to_owned();
    page.push_str("\nOptions of three or more commands:\n");
    table(&mut page, uses.keys().filter(|option| is_common(option)));
    for (command, help) in &helps {
        let (about, rest) = help.split_once("\n\nUsage: ").expect("the help has a usage");
        let usage = rest.split("\n\n").next().unwrap_or_default();
        let about = about.replace('\n', " ");
        write!(page, "\n## `evenkeel {command}`\n\n{about}.\n\n```text\n{usage}\n```\n")
            .expect("a String takes any length");
        let mut rows = entries(help, "Arguments");
        rows.extend(entries(help, "Options").into_iter().filter(|option| !is_common(option)));
        if !rows.is_empty() {
            table(&mut page, rows.iter());
        }
    }
    page + END
}

#[test]
fn the_page_of_commands_is_what_their_help_says() {
    let page = generated();
    if std::env::var("INSTA_UPDATE").is_ok_and(|update| update == "always") {
        fs::write(PAGE, &page).expect("docs/ is writable");
    }
    let committed = fs::read_to_string(PAGE).unwrap_or_default();
    assert!(committed == page, "docs/commands.md is not what INSTA_UPDATE=always generates");
}
