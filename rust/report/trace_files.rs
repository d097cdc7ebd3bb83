//! Chakra traces in a folder: one file for each rank, which appears complete or not at all.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use super::{OutputError, OutputFile, OutputKind};
use crate::workload::chakra::Traces;

/// Writes `folder/name.RANK.et` for every rank, and creates the folder if it does not exist.
///
/// # Errors
/// Those of the file system, and of what is no regular file where a trace would be.
pub fn write(folder: &Path, name: &str, traces: &Traces<'_>) -> Result<(), OutputError> {
    std::fs::create_dir_all(folder)
        .map_err(|reason| OutputError::Failed { path: folder.display().to_string(), reason })?;
    for rank in 0..traces.ranks() {
        let path = of_rank(folder, name, rank);
        let file = OutputFile::begin(&path, &OutputKind::UNMARKED)?;
        let write = || -> io::Result<()> {
            let mut to = BufWriter::new(file.handle()?);
            traces.write(rank, &mut to)?;
            to.flush()
        };
        let failed = |reason| OutputError::Failed { path: path.display().to_string(), reason };
        write().map_err(failed)?;
        file.complete()?;
    }
    Ok(())
}

/// The file of the first rank: if it is read by a scenario, those of all ranks are.
pub fn first(folder: &Path, name: &str) -> PathBuf {
    of_rank(folder, name, 0)
}

fn of_rank(folder: &Path, name: &str, rank: u32) -> PathBuf {
    folder.join(format!("{name}.{rank}.et"))
}
