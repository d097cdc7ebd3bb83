//! Checks the files that the READMEs' commands leave in a checkout.

use super::project::{Fault, SourceFile};

/// Options whose argument is a folder that a command creates.
const MADE: [&str; 2] = ["-B", "--out"];

/// Finds commands on a page that create a folder which git would show as untracked.
pub(crate) fn untracked(page: &SourceFile, ignored: &SourceFile) -> Vec<Fault> {
    let mut faults = Vec::new();
    for (index, line) in page.text.lines().enumerate() {
        let words: Vec<&str> = line.split([' ', '`']).filter(|word| !word.is_empty()).collect();
        for pair in words.windows(2).filter(|pair| MADE.contains(&pair[0]) && is_inside(pair[1])) {
            let folder = pair[1].split('/').next().unwrap_or_default();
            if !ignored.text.lines().any(|line| line == format!("/{folder}")) {
                let what = format!("/{folder} must be in {}, or be another folder", ignored.path);
                faults.push(page.fault(index + 1, what));
            }
        }
    }
    faults
}

/// True if an argument is a folder in the checkout: neither elsewhere nor a placeholder.
fn is_inside(path: &str) -> bool {
    path.starts_with(|c: char| c.is_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_git_would_show_is_a_fault() {
        let file = |path: &str, text: &str| SourceFile::new(path, text);
        let ignored = file(".gitignore", "/build\n/results\n");
        let page = |text| untracked(&file("README.md", text), &ignored);
        assert!(page("cmake -S ns3-module -B build\n").is_empty());
        assert!(page("`evenkeel run a.toml --out results/a`\n").is_empty());
        assert!(page("`sweep STUDY.toml --out DIR`, --out /tmp/x --out \"$folder\"\n").is_empty());
        assert_eq!(page("\ncmake -B cmake-build\n")[0].line, 2);
        assert_eq!(page("| `evenkeel run a.toml --out mine` |\n").len(), 1);
    }
}
