//! Checks the list of unit tests that run under Miri.

use super::project::{Fault, SourceFile};

/// Finds names that no test has, because it was renamed or moved to another layer.
pub(crate) fn unknown(list: &SourceFile, sources: &[SourceFile]) -> Vec<Fault> {
    let names = (1..).zip(list.text.lines()).filter(|(_, line)| !line.starts_with('#'));
    let unknown = names.filter(|(_, name)| !sources.iter().any(|file| has_test(file, name)));
    unknown.map(|(line, name)| list.fault(line, format!("there is no test '{name}'"))).collect()
}

fn has_test(file: &SourceFile, name: &str) -> bool {
    let layer = name.split("::").next().unwrap_or_default();
    let test = name.rsplit("::").next().unwrap_or_default();
    let is_in = |end: &str| file.path.contains(&format!("/{layer}{end}"));
    (is_in("/") || is_in(".rs")) && file.text.contains(&format!("fn {test}()"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_that_is_not_in_its_layer_is_a_fault() {
        let sources = [
            SourceFile::new("rust/nic/ack.rs", "fn it_acknowledges() {}"),
            SourceFile::new("rust/prefetch.rs", "fn it_fetches() {}"),
        ];
        let lines = |names: &str| {
            let faults = unknown(&SourceFile::new("tests.txt", names), &sources);
            faults.iter().map(|fault| fault.line).collect::<Vec<_>>()
        };
        let known = "# NICs\nnic::ack::tests::it_acknowledges\nprefetch::tests::it_fetches\n";
        assert_eq!(lines(known), [] as [usize; 0]);
        assert_eq!(lines("nic::tests::it_acknow\n# Rails\nrail::tests::it_fetches\n"), [1, 3]);
    }
}
