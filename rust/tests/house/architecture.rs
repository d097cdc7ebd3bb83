//! `docs/architecture.md` and its figure, as far as they are made from the sources.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::figure::Figure;
use super::imports::Imports;
use super::layers;
use super::project::SourceFile;

const BEGIN: &str = "<!-- Made from the sources by rust/tests/house.rs: -->\n";
const END: &str = "<!-- to here. -->\n";

/// Which module of the crate uses which.
pub(crate) fn uses(imports: &Imports) -> BTreeSet<(String, String)> {
    let mut uses = BTreeSet::new();
    for (user, files) in imports.graph() {
        let user = layers::layer_of(user);
        for used in files.into_iter().map(layers::layer_of).filter(|used| *used != user) {
            uses.insert((user.to_owned(), used.to_owned()));
        }
    }
    uses
}

/// The figure.
pub(crate) fn figure(imports: &Imports) -> String {
    Figure { levels: &layers::LEVELS, uses: &uses(imports) }.svg()
}

/// The page with its table made anew.
pub(crate) fn page(page: &SourceFile, imports: &Imports, sources: &[SourceFile]) -> String {
    let (before, rest) = page.text.split_once(BEGIN).expect("the page says where its table begins");
    let (_, after) = rest.split_once(END).expect("the page says where its table ends");
    format!("{before}{BEGIN}{}{END}{after}", table(&uses(imports), sources))
}

/// A row a module, from the top down: what it is, and what it uses.
fn table(uses: &BTreeSet<(String, String)>, sources: &[SourceFile]) -> String {
    let by_path: BTreeMap<&str, &SourceFile> =
        sources.iter().map(|file| (file.path.as_str(), file)).collect();
    let mut table = "| module | what it is | uses |\n|---|---|---|\n".to_owned();
    for module in layers::LEVELS.iter().rev().flat_map(|level| level.modules) {
        let paths = ["rust", "rust/engine"]
            .map(|folder| [".rs", "/mod.rs"].map(|end| format!("{folder}/{module}{end}")));
        let Some((path, file)) =
            paths.iter().flatten().find_map(|path| Some((path, by_path.get(path.as_str())?)))
        else {
            continue;
        };
        let used = |other: &&&str| uses.contains(&((*module).to_owned(), (**other).to_owned()));
        let used: Vec<&str> =
            layers::LEVELS.iter().flat_map(|it| it.modules).filter(used).copied().collect();
        let (summary, used) = (summary(&file.text), used.join(" "));
        writeln!(table, "| [`{module}`](../{path}) | {summary} | {used} |")
            .expect("a string takes all");
    }
    table
}

/// The first sentence of a file's documentation.
fn summary(text: &str) -> String {
    let lines = text.lines().map_while(|line| line.strip_prefix("//!"));
    let paragraph: Vec<&str> = lines.map(str::trim).take_while(|line| !line.is_empty()).collect();
    let paragraph = paragraph.join(" ");
    let end = paragraph.find(". ").map_or(paragraph.len(), |end| end + 1);
    paragraph[..end].replace("[`", "`").replace("`]", "`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_is_the_first_sentence() {
        assert_eq!(
            summary("//! What is [`Sent`] by\n//! hosts. More.\n//!\n"),
            "What is `Sent` by hosts."
        );
        assert_eq!(summary("//! Ids\n\nuse a;"), "Ids");
    }

    #[test]
    fn a_page_keeps_its_text_around_the_table() {
        let sources = [SourceFile::new("rust/ids.rs", "//! Names.\n")];
        let old = SourceFile::new("docs/a.md", &format!("# A\n{BEGIN}old\n{END}b\n"));
        let imports = Imports::of(&["rust/lib.rs"], &[SourceFile::new("rust/lib.rs", "")]);
        let new = page(&old, &imports, &sources);
        assert!(new.starts_with("# A\n") && new.ends_with(&format!("{END}b\n")), "{new}");
        assert!(new.contains("| [`ids`](../rust/ids.rs) | Names. |  |") && !new.contains("old"));
    }
}
