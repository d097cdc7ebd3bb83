//! Rules on `Cargo.toml`.

use super::project::{Fault, SourceFile};

/// Finds dependencies without a reason, which is a comment on the same line or the line above. A
/// heading, which ends with a colon, does not count as a reason.
pub(crate) fn reasons(manifest: &SourceFile) -> Vec<Fault> {
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
            // `[dependencies.name]` is itself a dependency.
            section.rsplit_once('.').is_some_and(|(table, _)| table.ends_with("dependencies"))
        } else {
            in_dependencies && open_brackets == 0 && line.contains('=') && !line.starts_with('#')
        };
        if starts && !reason {
            let what = "a dependency needs a reason: add a comment on the line above";
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

/// Returns the crate roots that a manifest names, relative to the project's folder.
pub(crate) fn roots(manifest: &SourceFile) -> Vec<String> {
    let folder = manifest.path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut roots = Vec::new();
    let mut in_target = false;
    for line in manifest.text.lines().map(str::trim) {
        if line.starts_with('[') {
            const TARGETS: [&str; 5] = ["lib", "bin", "test", "example", "bench"];
            in_target = TARGETS.contains(&line.trim_matches(['[', ']']));
        }
        if let Some(path) = line.strip_prefix("path = ").filter(|_| in_target) {
            let path = path.trim_matches('"');
            let slash = if folder.is_empty() { "" } else { "/" };
            roots.push(format!("{folder}{slash}{path}"));
        }
    }
    roots
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
    fn reasons_above_and_on_the_same_line_are_sufficient() {
        let lists = "# Reads.\nserde = { features = [\n  \"derive\",\n] }\ntoml = \"1\" # Reads.\n";
        assert!(faults(&format!("[dependencies]\n{lists}[lints.rust]\na = \"b\"\n")).is_empty());
    }

    #[test]
    fn target_paths_are_roots_but_dependency_paths_are_not() {
        let text = "[lib]\npath = \"a.rs\"\n[[bin]]\nname = \"b\"\npath = \"c/d.rs\"\n\
                    [dependencies.e]\npath = \"../..\"\n";
        let roots = |path: &str| roots(&SourceFile::new(path, text));
        assert_eq!(roots("Cargo.toml"), ["a.rs", "c/d.rs"]);
        assert_eq!(roots("rust/fuzz/Cargo.toml"), ["rust/fuzz/a.rs", "rust/fuzz/c/d.rs"]);
    }
}
