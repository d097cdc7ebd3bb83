//! `[workload] kind = "chakra"`: what real programs did, as their traces have it.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::collective::Algorithms;
use crate::scenario::file::ScenarioFile;
use crate::scenario::file::replay::StreamingName;
use crate::scenario::file::workload::{DependenciesName, WorkloadSection};
use crate::scenario::input::context::Context;
use crate::scenario::input::error::{Fault, ScenarioError};
use crate::scenario::resolve::job::AllSent;
use crate::scenario::resolve::workload::{Place, Sent, only, plain, unknown};
use crate::workload::chakra::{self, Dependencies, Options, Source, Streaming};

/// How the files of ranks end.
const ENDINGS: [&str; 2] = [".et", ".et.gz"];

/// The traces of a section.
enum Files {
    /// A file a rank: what stands before its number.
    OfRanks(String),
    /// One file, which every rank replays.
    One(PathBuf),
}

/// What a section says.
struct Found {
    files: Files,
    ranks: u32,
    options: Options,
    section: WorkloadSection,
}

/// Above so many bytes of all files, packed ones taken for as much more as [`PACKED`], traces are
/// read while the run goes on, where the section does not say: 1 GiB. \[inferred\]
const LARGE: u64 = 1 << 30;

/// How many times its length a packed file is taken for.
const PACKED: u64 = 8;

/// Reads the traces of a section.
pub(in crate::scenario) fn resolve(
    context: &Context<'_>,
    typed: &WorkloadSection,
    place: &Place<'_>,
) -> Result<Sent, ScenarioError> {
    let Found { files, ranks, options, section } = find(context, typed, place)?;
    if typed.streaming == Some(StreamingName::Yes) {
        let right = "traces are read while the run goes on where they are all that is sent, from \
                     the beginning, and rank i is host i: without [[job]], start and hosts";
        return Err(context.senseless_as(&place.key("streaming"), "true".into(), right.into()));
    }
    let read = chakra::read(&files, ranks, &options)
        .map_err(|error| context.fault(&place.key("file"), Fault::Chakra(error)))?;
    Ok(Sent { section, workload: read.workload, warnings: read.warnings })
}

/// Traces that are to be read while the run goes on, looked through; `None` if a file has none.
/// What is sent is their load, a message for each pair and stream.
pub(in crate::scenario) fn stream(
    context: &Context<'_>,
    file: &ScenarioFile,
    place: &Place<'_>,
) -> Result<Option<(AllSent, Arc<Streaming>)>, ScenarioError> {
    let is_all = |it: &&WorkloadSection| {
        it.kind == "chakra" && file.job.is_empty() && it.hosts.is_none() && it.start.is_none()
    };
    let Some(typed) = file.workload.as_ref().filter(is_all) else { return Ok(None) };
    let Found { files, ranks, options, mut section } = find(context, typed, place)?;
    let streams = match typed.streaming.unwrap_or_default() {
        StreamingName::Yes => true,
        StreamingName::No => false,
        StreamingName::Auto => files.size(ranks) >= LARGE,
    };
    if !streams {
        return Ok(None);
    }
    let window = typed.window.unwrap_or(chakra::WINDOW as u32);
    if window == 0 {
        let right = "a rank holds one node at least".to_owned();
        return Err(context.senseless(&place.key("window"), window, right));
    }
    section.streaming = Some(StreamingName::Yes);
    section.window = Some(window);
    let streaming = Streaming::open(Arc::new(files), ranks, options, window as usize)
        .map_err(|error| context.fault(&place.key("file"), Fault::Chakra(error)))?;
    let sent = AllSent {
        workload_section: Some(section),
        jobs: Vec::new(),
        workload: streaming.load().clone(),
        warnings: streaming.warnings(),
    };
    Ok(Some((sent, Arc::new(streaming))))
}

/// The files of a section, and what else it says.
fn find(
    context: &Context<'_>,
    typed: &WorkloadSection,
    place: &Place<'_>,
) -> Result<Found, ScenarioError> {
    const KEYS: [&str; 8] = [
        "file",
        "ranks",
        "algorithms",
        "dependencies",
        "compute",
        "dimensions",
        "streaming",
        "window",
    ];
    only(context, typed, place, &KEYS)?;
    let Some(path) = &typed.file else {
        let because = "traces come from files, prefix.0.et and so on".to_owned();
        return Err(context.missing(&place.key("file"), because, "file = \"prefix\""));
    };
    let hosts = place.count();
    let whole = context.folder.join(path);
    let (files, found) = match whole.is_file() {
        true => (Files::One(whole), hosts),
        false => {
            let found = last_rank(&whole).map_or(0, |last| last.saturating_add(1));
            (Files::OfRanks(whole.display().to_string()), found)
        }
    };
    if found == 0 {
        let path = format!("{}.0.et", context.folder.join(path).display());
        let reason = std::io::ErrorKind::NotFound.into();
        return Err(context.fault(&place.key("file"), Fault::Unreadable { path, reason }));
    }
    let ranks = typed.ranks.unwrap_or(found);
    if ranks == 0 || ranks > hosts {
        let right = format!("there are {hosts} hosts, and rank i is host i; it must be 1 to that");
        return Err(match typed.ranks {
            Some(_) => context.senseless(&place.key("ranks"), ranks, right),
            None => {
                let value = format!("{path} with its {ranks} ranks");
                context.senseless_as(&place.key("file"), value, right)
            }
        });
    }
    let dependencies = typed.dependencies.unwrap_or_default();
    let compute = typed.compute.unwrap_or_default();
    let options = Options {
        dependencies: match dependencies {
            DependenciesName::All => Dependencies::All,
            DependenciesName::Data => Dependencies::Data,
        },
        algorithms: algorithms(context, typed, place)?,
        compute: compute.into(),
        dimensions: dimensions(context, typed, (place, ranks))?,
    };
    let section = WorkloadSection {
        file: Some(path.clone()),
        ranks: Some(ranks),
        algorithms: typed.algorithms.clone(),
        dependencies: Some(dependencies),
        compute: Some(compute),
        dimensions: typed.dimensions.clone(),
        streaming: Some(StreamingName::No),
        ..plain(typed)
    };
    Ok(Found { files, ranks, options, section })
}

/// The dimensions of the logical topology, which hold every rank once.
fn dimensions(
    context: &Context<'_>,
    typed: &WorkloadSection,
    (place, ranks): (&Place<'_>, u32),
) -> Result<Vec<u32>, ScenarioError> {
    let Some(dimensions) = &typed.dimensions else { return Ok(Vec::new()) };
    let product = dimensions.iter().try_fold(1u32, |product, &size| product.checked_mul(size));
    if product == Some(ranks) {
        return Ok(dimensions.clone());
    }
    let sizes: Vec<String> = dimensions.iter().map(u32::to_string).collect();
    let right = format!("there are {ranks} ranks; the sizes must multiply to that");
    Err(context.senseless_as(&place.key("dimensions"), format!("[{}]", sizes.join(", ")), right))
}

/// The highest rank that a file beside the prefix is of.
fn last_rank(prefix: &Path) -> Option<u32> {
    let start = format!("{}.", prefix.file_name()?.to_str()?);
    let folder = prefix.parent().filter(|folder| *folder != Path::new(""));
    let entries = std::fs::read_dir(folder.unwrap_or(Path::new("."))).ok()?;
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let rank = |name: String| {
        let rest = name.strip_prefix(&start)?;
        ENDINGS.iter().find_map(|ending| rest.strip_suffix(ending)?.parse().ok())
    };
    names.filter_map(rank).max()
}

/// The algorithms that the section names, an operation each.
fn algorithms(
    context: &Context<'_>,
    typed: &WorkloadSection,
    place: &Place<'_>,
) -> Result<Algorithms, ScenarioError> {
    let mut algorithms = chakra::algorithms();
    let none = BTreeMap::new();
    for (operation, algorithm) in typed.algorithms.as_ref().unwrap_or(&none) {
        let key = place.key(&format!("algorithms.{operation}"));
        let known = algorithms.names(operation);
        if known.is_empty() {
            let known = algorithms.operations().collect::<Vec<_>>().join(", ");
            return Err(unknown(context, &key, ("operation", operation), known));
        }
        if !algorithms.choose(operation, algorithm) {
            return Err(unknown(context, &key, ("algorithm", algorithm), known.join(", ")));
        }
    }
    Ok(algorithms)
}

impl Files {
    /// Bytes of the files of so many ranks, about, unpacked.
    fn size(&self, ranks: u32) -> u64 {
        let size = |rank: u32| {
            let path = self.path(rank);
            let packed = path.extension().is_some_and(|ending| ending == "gz");
            let size = std::fs::metadata(path).map_or(0, |metadata| metadata.len());
            if packed { size.saturating_mul(PACKED) } else { size }
        };
        (0..ranks).map(size).fold(0, u64::saturating_add)
    }

    fn path(&self, rank: u32) -> PathBuf {
        match self {
            Self::One(path) => path.clone(),
            Self::OfRanks(prefix) => {
                let paths = ENDINGS.map(|ending| PathBuf::from(format!("{prefix}.{rank}{ending}")));
                let [plain, packed] = paths;
                if !plain.is_file() && packed.is_file() { packed } else { plain }
            }
        }
    }
}

impl Source for Files {
    fn name(&self, rank: u32) -> String {
        self.path(rank).display().to_string()
    }

    fn open(&self, rank: u32) -> std::io::Result<Box<dyn Read + '_>> {
        let path = self.path(rank);
        File::open(&path)?;
        Ok(Box::new(Reopened { path, at: 0 }))
    }
}

/// A file that is open only while something is read from it: a system lets nobody have as many
/// files open as there may be ranks.
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
