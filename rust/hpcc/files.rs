//! Where the files of an experiment are.

use std::path::{Path, PathBuf};

use super::HpccError;

/// The text of the file at `path`.
pub(super) fn text(path: &Path) -> Result<String, HpccError> {
    std::fs::read_to_string(path)
        .map_err(|source| HpccError::Unreadable { path: path.to_owned(), source })
}

/// The file that an option names: as given, from the working directory.
pub(super) fn given(what: &str, path: &Path) -> Result<PathBuf, HpccError> {
    first(what, &path.display().to_string(), vec![path.to_owned()])
}

/// The file that a configuration in `folder` names: as written (from the working directory),
/// then from the folder, then by its name alone in the folder, because the family's
/// configurations name `mix/topology.txt` and are shipped beside `topology.txt`.
pub(super) fn named(what: &str, written: &str, folder: &Path) -> Result<PathBuf, HpccError> {
    let path = Path::new(written);
    let mut tried = vec![path.to_owned(), folder.join(path)];
    tried.extend(path.file_name().map(|name| folder.join(name)));
    tried.dedup();
    first(what, written, tried)
}

fn first(what: &str, path: &str, tried: Vec<PathBuf>) -> Result<PathBuf, HpccError> {
    let found = tried.iter().find(|place| place.is_file()).cloned();
    found.ok_or_else(|| HpccError::NotFound { what: what.to_owned(), path: path.to_owned(), tried })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_looked_for_in_three_places() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("mix")).unwrap();
        std::fs::write(folder.path().join("topology.txt"), "").unwrap();
        let find = |written| named("FLOW_FILE", written, folder.path());
        assert_eq!(find("mix/topology.txt").unwrap(), folder.path().join("topology.txt"));
        std::fs::write(folder.path().join("mix/topology.txt"), "").unwrap();
        assert_eq!(find("mix/topology.txt").unwrap(), folder.path().join("mix/topology.txt"));
        let place = folder.path().display();
        assert_eq!(
            find("mix/flow.txt").unwrap_err().to_string(),
            format!(
                "FLOW_FILE 'mix/flow.txt' is not there; tried 'mix/flow.txt', \
                 '{place}/mix/flow.txt', '{place}/flow.txt'"
            )
        );
        // A folder is no file.
        assert!(find("mix").is_err());
    }
}
