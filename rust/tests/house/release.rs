//! The address and the version of the project, in the files of a release.

use super::project::{Fault, SourceFile};

/// Finds addresses of a project `evenkeel` on GitHub that are not `address`.
pub(crate) fn addresses(file: &SourceFile, address: &str) -> Vec<Fault> {
    let is_other = |url: &str| {
        let mut parts = url.split('/').skip(3);
        let name = parts.nth(1).unwrap_or_default().trim_end_matches(".git");
        name == "evenkeel" && !url.starts_with(&format!("{address}/")) && url != address
    };
    let others = (1..).zip(file.text.lines()).filter(|(_, line)| {
        let urls = line.match_indices("https://github.com/").map(|(at, _)| &line[at..]);
        urls.filter_map(|rest| rest.split([' ', '"', '\'', '`', ')', '>', '<']).next())
            .any(|url| is_other(url.trim_end_matches(['.', ',', ';'])))
    });
    let what = || format!("`repository` of Cargo.toml is {address}");
    others.map(|(line, _)| file.fault(line, what())).collect()
}

/// Returns a fault if a file lacks a text that it shares with the manifest.
pub(crate) fn lacks(file: &SourceFile, expected: &str) -> Option<Fault> {
    (!file.text.contains(expected)).then(|| file.fault(1, format!("it must say {expected}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_address_of_the_project_is_a_fault() {
        // This file does not contain the addresses itself.
        let written = |text: &str| text.replace("HOST", "https://github.com");
        let faults = |text: &str| {
            let file = SourceFile::new("README.md", &written(text));
            addresses(&file, &written("HOST/a/evenkeel")).len()
        };
        assert_eq!(
            faults("HOST/a/evenkeel, [b](HOST/a/evenkeel/releases), <HOST/a/evenkeel>.\n"),
            0
        );
        assert_eq!(faults("HOST/b/other/evenkeel\n"), 0);
        assert_eq!(faults("url: \"HOST/b/evenkeel\"\n"), 1);
        assert_eq!(faults("[c](HOST/b/evenkeel/issues)\n"), 1);
        assert_eq!(faults("git clone HOST/b/evenkeel.git\n"), 1);
    }

    #[test]
    fn a_missing_text_is_a_fault() {
        let file = SourceFile::new("CITATION.cff", "version: 0.1.0\n");
        assert_eq!(lacks(&file, "version: 0.1.0\n"), None);
        assert!(lacks(&file, "version: 0.2.0\n").is_some());
    }
}
