//! The commands of the pages in `docs/` and of `llms.txt` succeed, in the order of each page.
//!
//! A block of commands after a comment `<!-- long ... -->` is not run: it takes long, or it needs
//! something to be installed. A block after `<!-- file: NAME -->` is a file for later commands.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::bench::Bench;

const PROJECT: &str = env!("CARGO_MANIFEST_DIR");

/// A block of a page that the test uses.
enum Block<'a> {
    Commands(Vec<&'a str>),
    File { name: &'a str, lines: Vec<&'a str> },
}

/// Returns the blocks of a page that the test uses.
fn blocks(page: &str) -> Vec<Block<'_>> {
    let mut blocks = Vec::new();
    let mut before = "";
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        if line.starts_with("```") {
            let body: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
            let name = before.strip_prefix("<!-- file: ").and_then(|it| it.strip_suffix(" -->"));
            if let Some(name) = name {
                blocks.push(Block::File { name, lines: body });
            } else if line == "```sh" && !before.starts_with("<!-- long") {
                blocks.push(Block::Commands(body));
            }
        }
        before = line;
    }
    blocks
}

/// Runs a line of a page by the shell, with the program first in `PATH`.
fn run(bench: &Bench, line: &str) -> Result<(), String> {
    let program = Path::new(env!("CARGO_BIN_EXE_evenkeel"));
    let folder = program.parent().expect("it is in a folder").display();
    let path = format!("{folder}:{}", std::env::var("PATH").unwrap_or_default());
    let mut shell = Command::new("sh");
    shell.args(["-c", line]).current_dir(bench.path("")).env("PATH", path);
    // The test itself may be a task of a cluster.
    shell.env_remove("SLURM_ARRAY_TASK_ID").env_remove("JOB_COMPLETION_INDEX");
    let output = shell.output().expect("the shell starts");
    let error = || format!("{line}: {}", String::from_utf8_lossy(&output.stderr));
    output.status.success().then_some(()).ok_or_else(error)
}

#[test]
fn the_commands_of_every_page_succeed() {
    let mut faults = Vec::new();
    let mut count = 0;
    let entries = fs::read_dir(Path::new(PROJECT).join("docs")).expect("docs/ is there");
    let mut pages: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    pages.retain(|page| page.extension().is_some_and(|ending| ending == "md"));
    pages.push(Path::new(PROJECT).join("llms.txt"));
    pages.sort();
    for page in pages {
        let bench = Bench::new();
        for folder in ["examples", "ns3-module"] {
            let from = Path::new(PROJECT).join(folder);
            std::os::unix::fs::symlink(from, bench.path(folder)).expect("a link can be made");
        }
        fs::create_dir(bench.path("docs")).expect("a folder can be made");
        let text = fs::read_to_string(&page).expect("a page can be read");
        for block in blocks(&text) {
            match block {
                Block::File { name, lines } => bench.write(name, &(lines.join("\n") + "\n")),
                Block::Commands(lines) => {
                    count += lines.len();
                    let failed = lines.iter().filter_map(|line| run(&bench, line).err());
                    faults.extend(failed.map(|fault| format!("{}: {fault}", page.display())));
                }
            }
        }
    }
    assert!(count > 60, "{count} commands");
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
