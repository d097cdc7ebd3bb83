//! Import of a file of messages or of a fabric.

use std::path::{Path, PathBuf};

use toml::Value;

use super::{Draft, Import, ImportError, Source};
use crate::connection_matrix::StartUnit;
use crate::simccl::Choice;
use crate::text_file::read_text;
use crate::{connection_matrix, goal, hpcc, simccl};

/// Maximum number of hosts per leaf of the default fabric.
const HOSTS_PER_LEAF: u32 = 16;

/// Writes the sections for a file.
pub(super) fn draft(import: &Import<'_>) -> Result<Draft, ImportError> {
    let mut draft = Draft::default();
    let file = import.file.display();
    draft.comments.push(format!("Imported from {file} by `evenkeel import`."));
    if import.source == Source::Infragraph {
        let keys = [("kind", "file".into()), ("path", import.path(import.file))];
        draft.add("topology", keys);
        draft.section("topology")?.insert("format".to_owned(), "infragraph".into());
        draft.add("workload", [("kind", "all-to-all".into()), ("bytes", "1MB".into())]);
        draft.comments.push("The file has no messages: [workload] is an example.".to_owned());
        if !import.sets("workload") {
            let note = format!("{file} has no messages: [workload] is an example; change it");
            draft.notes.push(note);
        }
        return Ok(draft);
    }
    let (kind, path, hosts) = messages(import)?;
    match import.topology {
        Some(topology) => {
            draft.add("topology", [("kind", "file".into()), ("path", import.path(topology))]);
            if is_infragraph(topology) {
                draft.section("topology")?.insert("format".to_owned(), "infragraph".into());
            }
        }
        None => {
            let [leaves, hosts_per_leaf] = leaf_spine(&mut draft, hosts);
            draft.comments.push(format!(
                "The file has no fabric: [topology] is an example with a port for each of its \
                 {hosts} hosts."
            ));
            if !import.sets("topology") {
                draft.notes.push(format!(
                    "{file} has no fabric: [topology] is an example, with {leaves} leaves of \
                     {hosts_per_leaf} hosts for its {hosts}; results depend on it: change it, or \
                     use --topology FILE"
                ));
            }
        }
    }
    draft.add("workload", [("kind", kind.into()), ("file", import.path(&path))]);
    Ok(draft)
}

fn is_infragraph(file: &Path) -> bool {
    let ending = file.extension().and_then(|ending| ending.to_str());
    ending.is_some_and(|ending| ["yaml", "yml", "json", "infragraph"].contains(&ending))
}

/// Adds a leaf-spine fabric in which every leaf has as many spines as hosts. It has two leaves at
/// least: below one leaf, there is a single path and all policies are the same. Returns the numbers
/// of leaves and of hosts per leaf.
pub(super) fn leaf_spine(draft: &mut Draft, hosts: u32) -> [u32; 2] {
    let hosts_per_leaf = hosts.div_ceil(2).clamp(1, HOSTS_PER_LEAF);
    let leaves = hosts.div_ceil(hosts_per_leaf).max(2);
    let number = |number: u32| Value::Integer(number.into());
    let keys = [
        ("kind", "leaf-spine".into()),
        ("leaves", number(leaves)),
        ("spines", number(hosts_per_leaf)),
        ("hosts_per_leaf", number(hosts_per_leaf)),
    ];
    draft.add("topology", keys);
    [leaves, hosts_per_leaf]
}

/// Returns the workload kind of a file, the path for the scenario, and the number of hosts.
fn messages(import: &Import<'_>) -> Result<(&'static str, PathBuf, u32), ImportError> {
    let name = import.file.display().to_string();
    let text = || {
        let unreadable = |reason| ImportError::Unreadable { file: name.clone(), reason };
        read_text(import.file).map_err(unreadable)
    };
    let path = import.file.to_owned();
    Ok(match import.source {
        Source::Hpcc => {
            let flows = hpcc::flows::read(&text()?, &name)?;
            let nodes = flows.flows.iter().map(|flow| flow.src.max(flow.dst));
            ("flows", path, nodes.max().unwrap_or(0).saturating_add(1))
        }
        Source::Htsim => {
            let matrix = connection_matrix::read(&text()?, &name, StartUnit::default())?;
            ("connection-matrix", path, matrix.nodes)
        }
        Source::Goal => {
            ("goal", path, goal::read(&text()?, &name, goal::Options::default())?.hosts)
        }
        Source::Simccl => {
            // The hosts are the same for every collective of the file.
            ("simccl", path, simccl::read(&text()?, &name, Choice::InTurn)?.ranks)
        }
        Source::Chakra | Source::Infragraph => {
            let (prefix, ranks) = traces(import.file).ok_or(ImportError::NoTraces(name))?;
            ("chakra", prefix, ranks)
        }
    })
}

/// Returns the prefix and the number of traces, given the prefix or any one of their files.
fn traces(file: &Path) -> Option<(PathBuf, u32)> {
    let name = file.file_name()?.to_str()?;
    let folder = file.parent().unwrap_or(Path::new(""));
    let prefix = rank_of(name).map_or(name, |(prefix, _)| prefix);
    let list = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let entries = std::fs::read_dir(list).ok()?;
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let ranks = names.filter_map(|name| {
        let (found, rank) = rank_of(&name)?;
        (found == prefix).then_some(rank)
    });
    Some((folder.join(prefix), ranks.max()?.saturating_add(1)))
}

/// Splits `NAME.RANK.et` or `NAME.RANK.et.gz` into the prefix and the rank.
fn rank_of(name: &str) -> Option<(&str, u32)> {
    let stem = name.strip_suffix(".gz").unwrap_or(name).strip_suffix(".et")?;
    let (prefix, rank) = stem.rsplit_once('.')?;
    Some((prefix, rank.parse().ok()?))
}
