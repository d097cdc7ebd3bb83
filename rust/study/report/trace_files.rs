//! Chakra traces in a folder: one file for each rank, which appears complete or not at all.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use super::{OutputError, OutputFile, OutputKind};
use crate::chakra::Traces;
use crate::scenario::last_rank;

/// Writes `folder/name.RANK.et` for every rank, and creates the folder if it does not exist.
///
/// # Errors
/// Fails if a file system operation fails, or if a trace's name is taken by something other than a
/// regular file.
pub fn write(folder: &Path, name: &str, traces: &Traces<'_>) -> Result<(), OutputError> {
    reject_other_ranks(folder, name, traces.ranks())?;
    for rank in 0..traces.ranks() {
        write_one(&of_rank(folder, name, rank), |to| traces.write(rank, to))?;
    }
    Ok(())
}

/// Rejects a folder that has a trace of rank `ranks` or above. A reader of the prefix would take it
/// as part of the same workload.
///
/// # Errors
/// Fails if there is such a trace.
pub fn reject_other_ranks(folder: &Path, name: &str, ranks: u32) -> Result<(), OutputError> {
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
/// Fails in the same cases as [`write()`].
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

/// Returns the file of the first rank. A scenario that reads it reads those of all ranks.
pub fn first(folder: &Path, name: &str) -> PathBuf {
    of_rank(folder, name, 0)
}

fn of_rank(folder: &Path, name: &str, rank: u32) -> PathBuf {
    folder.join(format!("{name}.{rank}.et"))
}
