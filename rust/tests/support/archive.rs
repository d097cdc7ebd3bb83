//! The static library, for C++ programs that tests compile.

use std::path::PathBuf;
use std::{env, fs};

/// The static library that cargo built beside this test: the newest that has a symbol, for builds
/// with other features lie in the same folder.
pub(crate) fn newest_archive(symbol: &str) -> PathBuf {
    let test = env::current_exe().unwrap();
    let folder = test.parent().unwrap();
    let has_symbol = |path: &PathBuf| {
        let bytes = fs::read(path).unwrap();
        bytes.windows(symbol.len()).any(|bytes| bytes == symbol.as_bytes())
    };
    let mut archives: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            name.starts_with("libevenkeel") && name.ends_with(".a") && has_symbol(path)
        })
        .map(|path| (fs::metadata(&path).unwrap().modified().unwrap(), path))
        .collect();
    archives.sort();
    archives.pop().unwrap_or_else(|| panic!("no static library in {}", folder.display())).1
}
