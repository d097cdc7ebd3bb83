//! Chakra traces in a folder: one file for each rank, which appears complete or not at all.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use super::{OutputError, OutputFile, OutputKind};
use crate::chakra::Traces;
use crate::scenario::last_rank;

/// Writes `folder/name.RANK.et` for every rank, and creates the folder if it does not exist.
///
/// # Errors
/// Those of the file system, and of what is no regular file where a trace would be.
pub fn write(folder: &Path, name: &str, traces: &Traces<'_>) -> Result<(), OutputError> {
    expect_no_more(folder, name, traces.ranks())?;
    for rank in 0..traces.ranks() {
        write_one(&of_rank(folder, name, rank), |to| traces.write(rank, to))?;
    }
    Ok(())
}

/// Refuses a folder with a trace of a rank that a workload of `ranks` ranks does not have: a reader
/// of the prefix would take it for a part of the same workload.
///
/// # Errors
/// There is one.
pub fn expect_no_more(folder: &Path, name: &str, ranks: u32) -> Result<(), OutputError> {
    let prefix = folder.join(name);
    match last_rank(&prefix).filter(|last| *last >= ranks) {
        Some(last) => {
            let path = format!("{}.{last}.et", prefix.display());
            Err(OutputError::MoreRanks { path, ranks })
        }
        None => Ok(()),
    }
}

/// Writes the trace of a rank, and creates its folder if that does not exist.
///
/// # Errors
/// As [`write()`].
pub fn write_one(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), OutputError> {
    let failed = |reason| OutputError::Failed { path: path.display().to_string(), reason };
    path.parent().map_or(Ok(()), std::fs::create_dir_all).map_err(failed)?;
    let file = OutputFile::begin(path, &OutputKind::UNMARKED)?;
    let mut to = BufWriter::new(file.handle().map_err(failed)?);
    write(&mut to).and_then(|()| to.flush()).map_err(failed)?;
    file.complete()
}

/// The file of the first rank: if it is read by a scenario, those of all ranks are.
pub fn first(folder: &Path, name: &str) -> PathBuf {
    of_rank(folder, name, 0)
}

fn of_rank(folder: &Path, name: &str, rank: u32) -> PathBuf {
    folder.join(format!("{name}.{rank}.et"))
}
