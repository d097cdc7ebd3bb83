//! Chakra traces in a folder: a file a rank, each of which appears whole or not at all.

use std::io::{self, BufWriter, Write};
use std::path::Path;

use tempfile::NamedTempFile;

use crate::workload::chakra::Traces;

/// Writes `folder/name.RANK.et` for every rank; makes the folder if it is not there.
///
/// # Errors
/// Those of the system.
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

/// A file of another name until it is whole; as open to others as any new file.
fn unfinished(folder: &Path) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".evenkeel-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // Less what the user's mask takes away.
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    builder.tempfile_in(folder)
}
