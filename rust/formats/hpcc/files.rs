//! Finds and reads the files of an experiment.

use std::path::{Path, PathBuf};

use super::HpccError;

/// An input file that an option or a key of the configuration names; the option overrides the key.
#[derive(Debug, Clone, Copy)]
pub(super) struct InputFile<'a> {
    pub(super) key: &'static str,
    /// The path that the configuration gives; `None` without the key.
    pub(super) in_config: Option<&'a str>,
    pub(super) option: &'static str,
    /// The path that the command line gives; `None` without the option.
    pub(super) in_option: Option<&'a Path>,
}

impl InputFile<'_> {
    /// Returns the path of the file for the configuration `config`, which lies in `folder`.
    ///
    /// # Errors
    /// Fails if neither names the file, or if the file does not exist.
    pub(super) fn find(&self, config: &str, folder: &Path) -> Result<PathBuf, HpccError> {
        let Self { key, in_config, option, in_option } = *self;
        match (in_option, in_config) {
            (Some(path), _) => from_option(option, path),
            (None, Some(written)) => from_key(&format!("{config}: {key}"), written, folder),
            (None, None) => Err(HpccError::MissingKey { file: config.to_owned(), key, option }),
        }
    }
}

/// Reads the file at `path` as text.
pub(super) fn text(path: &Path) -> Result<String, HpccError> {
    crate::text_file::read_text(path)
        .map_err(|source| HpccError::Unreadable { path: path.to_owned(), source })
}

/// Returns the path of the file that an option names, relative to the working directory.
pub(super) fn from_option(option: &str, path: &Path) -> Result<PathBuf, HpccError> {
    first(option, &path.display().to_string(), vec![path.to_owned()])
}

/// Returns the path of the file that a key of a configuration in `folder` names. The path is tried
/// relative to the working directory, then relative to the folder. Last, its file name is tried in
/// the folder: the family's configurations name `mix/topology.txt` and are shipped next to
/// `topology.txt`.
pub(super) fn from_key(key: &str, written: &str, folder: &Path) -> Result<PathBuf, HpccError> {
    let path = Path::new(written);
    let mut tried = vec![path.to_owned(), folder.join(path)];
    tried.extend(path.file_name().map(|name| folder.join(name)));
    tried.dedup();
    first(key, written, tried)
}

fn first(key: &str, path: &str, tried: Vec<PathBuf>) -> Result<PathBuf, HpccError> {
    let found = tried.iter().find(|path| path.is_file()).cloned();
    found.ok_or_else(|| HpccError::NotFound {
        source_key: key.to_owned(),
        path: path.to_owned(),
        tried,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_paths_are_tried_for_a_file() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("mix")).unwrap();
        std::fs::write(folder.path().join("topology.txt"), "").unwrap();
        let find = |written| from_key("FLOW_FILE", written, folder.path());
        assert_eq!(find("mix/topology.txt").unwrap(), folder.path().join("topology.txt"));
        std::fs::write(folder.path().join("mix/topology.txt"), "").unwrap();
        assert_eq!(find("mix/topology.txt").unwrap(), folder.path().join("mix/topology.txt"));
        let shown = folder.path().display();
        assert_eq!(
            find("mix/flow.txt").unwrap_err().to_string(),
            format!(
                "FLOW_FILE: file 'mix/flow.txt' does not exist; tried 'mix/flow.txt', \
                 '{shown}/mix/flow.txt', '{shown}/flow.txt'"
            )
        );
        // A folder is not a file.
        assert!(find("mix").is_err());
        let said = |path: &Path| from_option("--topology", path).unwrap_err().to_string();
        let expected = format!("--topology: '{shown}' is a folder; expected a file");
        assert_eq!(said(folder.path()), expected);
        let expected = format!("--topology: file '{shown}/none' does not exist");
        assert_eq!(said(&folder.path().join("none")), expected);
    }
}
