//! `[workload] kind = "chakra"`: what real programs did, as their traces have it.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::context::Context;
use super::error::{Fault, ScenarioError};
use super::file::{DependenciesName, WorkloadSection};
use super::workload::{Place, Sent, only, plain, unknown};
use crate::workload::chakra::{self, Algorithms, Dependencies, Options, Source};

/// How the files of ranks end.
const ENDINGS: [&str; 2] = [".et", ".et.gz"];

/// The traces of a section.
enum Files {
    /// A file a rank: what stands before its number.
    OfRanks(String),
    /// One file, which every rank replays.
    One(PathBuf),
}

/// Reads the traces of a section.
pub(super) fn resolve(
    context: &Context<'_>,
    typed: &WorkloadSection,
    place: &Place<'_>,
) -> Result<Sent, ScenarioError> {
    only(context, typed, place, &["file", "ranks", "algorithms", "dependencies"])?;
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
    let algorithms = algorithms(context, typed, place)?;
    let dependencies = typed.dependencies.unwrap_or_default();
    let which = match dependencies {
        DependenciesName::All => Dependencies::All,
        DependenciesName::Data => Dependencies::Data,
    };
    let options = Options { dependencies: which, algorithms, ..Options::default() };
    let read = chakra::read(&files, ranks, &options)
        .map_err(|error| context.fault(&place.key("file"), Fault::Chakra(error)))?;
    let section = WorkloadSection {
        file: Some(path.clone()),
        ranks: Some(ranks),
        algorithms: typed.algorithms.clone(),
        dependencies: Some(dependencies),
        ..plain(typed)
    };
    Ok(Sent { section, workload: read.workload, warnings: read.warnings })
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
    let mut algorithms = Algorithms::default();
    let none = BTreeMap::new();
    for (operation, algorithm) in typed.algorithms.as_ref().unwrap_or(&none) {
        let key = place.key(&format!("algorithms.{operation}"));
        let known = Algorithms::names(operation);
        if known.is_empty() {
            let known = Algorithms::operations().collect::<Vec<_>>().join(", ");
            return Err(unknown(context, &key, ("operation", operation), known));
        }
        if !algorithms.choose(operation, algorithm) {
            return Err(unknown(context, &key, ("algorithm", algorithm), known.join(", ")));
        }
    }
    Ok(algorithms)
}

impl Files {
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
        Ok(Box::new(File::open(self.path(rank))?))
    }
}
