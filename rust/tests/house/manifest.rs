//! Rules on `Cargo.toml`.

use super::project::{Fault, SourceFile};

/// Faults of dependencies without a reason: a comment on the line above or beside. A heading,
/// which ends with a colon, is no reason.
pub fn reasons(manifest: &SourceFile) -> Vec<Fault> {
    let mut faults = Vec::new();
    let mut in_dependencies = false;
    let mut open_brackets = 0;
    let mut above = "";
    for (index, line) in manifest.text.lines().map(str::trim).enumerate() {
        let reason = is_reason(above) || line.contains(" # ");
        let is_header = open_brackets == 0 && line.starts_with('[');
        let starts = if is_header {
            let section = line.split('#').next().unwrap_or_default().trim();
            let section = section.trim_start_matches('[').trim_end_matches(']');
            in_dependencies = section.ends_with("dependencies");
            // `[dependencies.name]` is a dependency itself.
            section.rsplit_once('.').is_some_and(|(table, _)| table.ends_with("dependencies"))
        } else {
            in_dependencies && open_brackets == 0 && line.contains('=') && !line.starts_with('#')
        };
        if starts && !reason {
            let what = "a dependency has its reason beside it: add a comment on the line above";
            faults.push(manifest.fault(index + 1, what));
        }
        if !line.starts_with('#') {
            open_brackets += line.matches('[').count();
            open_brackets -= line.matches(']').count().min(open_brackets);
        }
        above = line;
    }
    faults
}

fn is_reason(line: &str) -> bool {
    line.starts_with("# ") && !line.ends_with(':')
}

/// Faults of test and benchmark files that are no target, so that they are never run. Files in
/// folders below belong to the target that names them.
pub fn unlisted(manifest: &SourceFile, targets: &[SourceFile]) -> Vec<Fault> {
    let is_target = |path: &str| path.matches('/').count() == 2;
    targets
        .iter()
        .filter(|file| is_target(&file.path))
        .filter(|file| !manifest.text.contains(&format!("path = \"{}\"", file.path)))
        .map(|file| {
            let what =
                format!("never run: add a target with path = \"{}\" to Cargo.toml", file.path);
            file.fault(1, what)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(text: &str) -> Vec<usize> {
        let manifest = SourceFile::new("Cargo.toml", text);
        reasons(&manifest).iter().map(|fault| fault.line).collect()
    }

    #[test]
    fn dependencies_without_a_reason_are_faults() {
        let header = "[package]\nname = \"a\"\n[dependencies]\n";
        assert_eq!(faults(&format!("{header}serde = \"1\"\n")), [4]);
        assert_eq!(faults(&format!("{header}# Reads.\nserde = \"1\"\ntoml = \"1\"\n")), [6]);
        assert_eq!(faults(&format!("{header}# For the binary:\nclap = \"4\"\n")), [5]);
        assert_eq!(faults("[dev-dependencies]\ninsta = \"1\"\n"), [2]);
        assert_eq!(faults("[target.'cfg(unix)'.dependencies]\nnix = \"1\"\n"), [2]);
        assert_eq!(faults("[dependencies.serde]\nversion = \"1\"\n"), [1]);
    }

    #[test]
    fn reasons_above_and_beside_are_enough() {
        let lists = "# Reads.\nserde = { features = [\n  \"derive\",\n] }\ntoml = \"1\" # Reads.\n";
        assert!(faults(&format!("[dependencies]\n{lists}[lints.rust]\na = \"b\"\n")).is_empty());
    }

    #[test]
    fn tests_that_are_no_target_are_faults() {
        let manifest = SourceFile::new("Cargo.toml", "[[test]]\npath = \"rust/tests/a.rs\"\n");
        let files = ["rust/tests/a.rs", "rust/tests/b.rs", "rust/tests/a/part.rs"]
            .map(|path| SourceFile::new(path, ""));
        let faults = unlisted(&manifest, &files);
        assert_eq!(faults.len(), 1);
        assert_eq!(faults[0].path, "rust/tests/b.rs");
    }
}
