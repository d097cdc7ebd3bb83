//! Chakra traces in a folder: one file for each rank, which appears complete or not at all.

use std::io::{self, BufWriter, Write};
use std::path::Path;

use tempfile::NamedTempFile;

use crate::workload::chakra::Traces;

/// Writes `folder/name.RANK.et` for every rank, and creates the folder if it does not exist.
///
/// # Errors
/// Those of the file system.
pub fn write(folder: &Path, name: &str, traces: &Traces<'_>) -> io::Result<()> {
    std::fs::create_dir_all(folder)?;
    for rank in 0..traces.ranks() {
        let mut file = BufWriter::new(unfinished(folder)?);
        traces.write(rank, &mut file)?;
        file.flush()?;
        let file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.persist(folder.join(format!("{name}.{rank}.et"))).map_err(|error| error.error)?;
    }
    Ok(())
}

/// A temporary file in the folder, with the permissions of any new file.
fn unfinished(folder: &Path) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".evenkeel-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // The user's umask applies.
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    builder.tempfile_in(folder)
}
