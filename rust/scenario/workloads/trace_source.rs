//! Files of Chakra traces.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use crate::chakra::TraceSource;

/// Suffixes of the per-rank files.
const EXTENSIONS: [&str; 2] = [".et", ".et.gz"];

/// Assumed compression ratio of a file.
const COMPRESSION: u64 = 8;

/// Trace files of a section.
#[derive(Debug)]
pub(crate) enum Files {
    /// One file per rank: the prefix of the names.
    OfRanks(String),
    /// One file that every rank replays.
    One(PathBuf),
}

impl Files {
    /// Returns the files at a path: one file, or a prefix.
    pub(crate) fn at(path: PathBuf) -> Self {
        match path.is_file() {
            true => Self::One(path),
            false => Self::OfRanks(path.display().to_string()),
        }
    }

    /// Returns the name of a rank's file, without the folder and the suffix of a compressed one.
    pub(crate) fn uncompressed_name(&self, rank: u32) -> String {
        let path = self.path(rank);
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        name.strip_suffix(".gz").map_or(name.clone(), str::to_owned)
    }

    /// Returns the folder of the files.
    pub(crate) fn folder(&self) -> PathBuf {
        let path = self.path(0);
        let folder = path.parent().filter(|folder| *folder != Path::new(""));
        folder.unwrap_or(Path::new(".")).to_owned()
    }

    /// Returns the prefix of the per-rank file names, without the folder.
    pub(crate) fn prefix_name(&self) -> Option<String> {
        let Self::OfRanks(prefix) = self else { return None };
        Some(Path::new(prefix).file_name()?.to_string_lossy().into_owned())
    }

    /// Warns if a rank has both a plain and a compressed file. The plain one is read.
    pub(crate) fn duplicate_warning(&self, ranks: u32) -> Option<String> {
        let Self::OfRanks(prefix) = self else { return None };
        let has_both = |rank: &u32| {
            let paths =
                EXTENSIONS.map(|extension| PathBuf::from(format!("{prefix}.{rank}{extension}")));
            paths.iter().all(|path| path.is_file())
        };
        let rank = (0..ranks).find(has_both)?;
        let [plain, compressed] = EXTENSIONS;
        Some(format!(
            "{prefix}.{rank}{compressed} is not read: {prefix}.{rank}{plain} exists; remove one of \
             them"
        ))
    }

    /// Returns the approximate decompressed size of the files of `ranks` ranks.
    pub(crate) fn size(&self, ranks: u32) -> u64 {
        let size = |rank: u32| {
            let path = self.path(rank);
            let compressed = path.extension().is_some_and(|extension| extension == "gz");
            let size = std::fs::metadata(path).map_or(0, |metadata| metadata.len());
            if compressed { size.saturating_mul(COMPRESSION) } else { size }
        };
        (0..ranks).map(size).fold(0, u64::saturating_add)
    }

    fn path(&self, rank: u32) -> PathBuf {
        match self {
            Self::One(path) => path.clone(),
            Self::OfRanks(prefix) => {
                let paths = EXTENSIONS
                    .map(|extension| PathBuf::from(format!("{prefix}.{rank}{extension}")));
                let [plain, compressed] = paths;
                if !plain.is_file() && compressed.is_file() { compressed } else { plain }
            }
        }
    }
}

impl TraceSource for Files {
    fn name(&self, rank: u32) -> String {
        self.path(rank).display().to_string()
    }

    fn open(&self, rank: u32) -> std::io::Result<Box<dyn Read + '_>> {
        let path = self.path(rank);
        File::open(&path)?;
        Ok(Box::new(Reopened { path, at: 0 }))
    }
}

/// A file that is open only while it is read, because a process may have fewer open files than
/// ranks.
struct Reopened {
    path: PathBuf,
    at: u64,
}

impl Read for Reopened {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let mut file = File::open(&self.path)?;
        file.seek(SeekFrom::Start(self.at))?;
        let read = file.read(into)?;
        self.at += read as u64;
        Ok(read)
    }
}

/// Returns the highest rank that has a file with that prefix.
pub fn last_rank(prefix: &Path) -> Option<u32> {
    let start = format!("{}.", prefix.file_name()?.to_str()?);
    let folder = prefix.parent().filter(|folder| *folder != Path::new(""));
    let entries = std::fs::read_dir(folder.unwrap_or(Path::new("."))).ok()?;
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let rank = |name: String| {
        let rest = name.strip_prefix(&start)?;
        EXTENSIONS.iter().find_map(|extension| rest.strip_suffix(extension)?.parse().ok())
    };
    names.filter_map(rank).max()
}
