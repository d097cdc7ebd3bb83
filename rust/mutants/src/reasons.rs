//! Why some mutants change nothing that a result shows: what `reasons.txt` says of them.

use std::path::Path;

use anyhow::Context as _;

use crate::tree::Mutant;

/// Reasons, each with the mutants that it is true of.
pub(crate) struct Reasons(Vec<(String, Vec<String>)>);

impl Reasons {
    /// Reads `reasons.txt`: a line with a reason, and below it the mutants as the list of those
    /// missed has them, without the numbers of lines, each behind two spaces; `*` in it stands
    /// for anything. Lines with `#` are comments.
    pub(crate) fn read(project: &Path) -> anyhow::Result<Self> {
        let path = project.join("rust/mutants/reasons.txt");
        let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        Self::parse(&text)
    }

    fn parse(text: &str) -> anyhow::Result<Self> {
        let mut all: Vec<(String, Vec<String>)> = Vec::new();
        let lines = text.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty());
        for line in lines {
            match (line.strip_prefix("  "), all.last_mut()) {
                (None, _) => all.push((line.to_owned(), Vec::new())),
                (Some(mutant), Some((_, mutants))) => mutants.push(mutant.trim().to_owned()),
                (Some(_), None) => anyhow::bail!("reasons.txt: '{line}' stands below no reason"),
            }
        }
        Ok(Self(all))
    }

    /// Why a mutant changes nothing, if that is known.
    pub(crate) fn of(&self, mutant: &Mutant) -> Option<&str> {
        let text = mutant.without_line();
        let is = |known: &String| match known.split_once('*') {
            Some((begin, end)) => {
                let rest = text.strip_prefix(begin);
                rest.is_some_and(|rest| rest.ends_with(end))
            }
            None => text == *known,
        };
        let found = self.0.iter().find(|(_, mutants)| mutants.iter().any(is));
        found.map(|(reason, _)| reason.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_true_of_the_mutants_below_it() {
        let text = "# comment\nNo bit is shared.\n  a.rs: replace | with ^ in A::b\n\n\
                    Faster alone.\n  c.rs: * in A::b\n";
        let reasons = Reasons::parse(text).unwrap();
        let mutant = |file: &str, what: &str| {
            let (file, what, function) = (file.to_owned(), what.to_owned(), "A::b".to_owned());
            reasons.of(&Mutant { file, line: 7, function, what }).map(str::to_owned)
        };
        assert_eq!(mutant("a.rs", "replace | with ^").as_deref(), Some("No bit is shared."));
        assert_eq!(mutant("a.rs", "replace | with &"), None);
        assert_eq!(mutant("c.rs", "delete !").as_deref(), Some("Faster alone."));
        assert_eq!(mutant("d.rs", "delete !"), None);
        assert!(Reasons::parse("  a.rs: it stands below nothing").is_err());
    }
}
