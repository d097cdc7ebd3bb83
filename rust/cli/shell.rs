//! `evenkeel completions` and `evenkeel man`: the command line for shells and `man`.

use std::path::PathBuf;

use anyhow::anyhow;
use clap::{Args, CommandFactory};
use clap_complete::Shell;

use super::{Cli, Status, output};

const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  evenkeel completions bash > ~/.local/share/bash-completion/completions/evenkeel
  evenkeel completions zsh > ~/.zfunc/_evenkeel        # a folder of $fpath
  evenkeel completions fish > ~/.config/fish/completions/evenkeel.fish
";

const MAN_EXAMPLES: &str = "\
Examples:
  evenkeel man ~/.local/share/man/man1
  man evenkeel-run
";

/// Print the completions for a shell
#[derive(Debug, Args)]
#[command(after_long_help = COMPLETIONS_EXAMPLES)]
pub(super) struct Completions {
    /// Shell to complete for
    shell: Shell,
}

/// Write manual pages, one per command
#[derive(Debug, Args)]
#[command(after_long_help = MAN_EXAMPLES)]
pub(super) struct Man {
    /// Folder for evenkeel.1, evenkeel-run.1 and so on; existing pages are replaced
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

/// Prints the completions.
pub(super) fn completions(arguments: &Completions) -> anyhow::Result<Status> {
    let mut text = Vec::new();
    clap_complete::generate(arguments.shell, &mut Cli::command(), "evenkeel", &mut text);
    output::print(&String::from_utf8(text)?)?;
    Ok(Status::Done)
}

/// Writes the pages.
pub(super) fn man(arguments: &Man) -> anyhow::Result<Status> {
    let folder = &arguments.folder;
    let failed = |reason| anyhow!("{}: cannot write manual pages: {reason}", folder.display());
    std::fs::create_dir_all(folder).map_err(failed)?;
    clap_mangen::generate_to(Cli::command(), folder).map_err(failed)?;
    output::print_text(&format!("{}: manual pages written\n", folder.display()))?;
    Ok(Status::Done)
}
