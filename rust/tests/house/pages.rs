//! The pages of `docs/`: links, length, opening, commands, and the list of the book.

use super::project::{Fault, SourceFile};

/// The most words of a page that is not generated.
const WORDS: usize = 1_200;
/// The mark before commands that no test runs: they take long, or need something to be installed.
const LONG: &str = "<!-- long";

/// The lines of a page outside of fenced blocks, with their numbers.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut is_fenced = false;
    (1..).zip(text.lines()).filter(move |(_, line)| {
        let is_fence = line.trim_start().starts_with("```");
        is_fenced ^= is_fence;
        !is_fenced && !is_fence
    })
}

/// Returns the anchor of a heading, as GitHub and mdBook make it.
fn anchor(heading: &str) -> String {
    let kept = heading.trim().chars().filter(|it| it.is_alphanumeric() || " -_".contains(*it));
    kept.collect::<String>().to_lowercase().replace(' ', "-")
}

/// Returns the path of a link, relative to the project; without it, the page itself is meant.
fn resolved(page: &str, path: &str) -> String {
    if path.is_empty() {
        return page.to_owned();
    }
    let mut parts: Vec<&str> = page.split('/').collect();
    parts.pop();
    for part in path.split('/') {
        match part {
            ".." => {
                parts.pop();
            }
            "." => {}
            _ => parts.push(part),
        }
    }
    parts.join("/")
}

/// Faults of links that lead nowhere, or from the book to a file outside of it. `read` returns the
/// text of a file of the project.
pub(crate) fn links(page: &SourceFile, read: impl Fn(&str) -> Option<String>) -> Vec<Fault> {
    let mut faults = Vec::new();
    for (number, line) in prose(&page.text) {
        let targets = line.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        for target in targets.filter(|it| !it.starts_with("http")) {
            let (path, heading) = target.split_once('#').unwrap_or((target, ""));
            let path = resolved(&page.path, path);
            let Some(text) = read(&path) else {
                faults.push(page.fault(number, format!("{target}: there is no {path}")));
                continue;
            };
            if page.path.starts_with("docs/") && !path.starts_with("docs/") {
                let what = format!("{target}: outside of the book: write `{path}` without a link");
                faults.push(page.fault(number, what));
            }
            let headings = || prose(&text).filter_map(|(_, line)| line.strip_prefix('#'));
            let has = |line: &str| anchor(line.trim_start_matches('#')) == heading;
            if !heading.is_empty() && !headings().any(has) {
                faults.push(page.fault(number, format!("{target}: {path} has no such heading")));
            }
        }
    }
    faults
}

/// True if a test writes the page.
fn is_generated(page: &SourceFile) -> bool {
    page.text.contains("\n---\n\nGenerated from the ")
}

/// Returns the words of a page, without the tables that tests write between markers.
fn words(page: &SourceFile) -> usize {
    let parts = page.text.split("<!-- end: ");
    let written = parts.filter_map(|part| part.split("<!-- begin: ").next());
    let words = written.flat_map(str::split_whitespace);
    words.filter(|word| word.chars().any(char::is_alphanumeric)).count()
}

/// Faults of a page that is too long, or that does not open with its readers and a command.
pub(crate) fn shape(page: &SourceFile) -> Vec<Fault> {
    let mut faults = Vec::new();
    if !is_generated(page) && words(page) > WORDS {
        faults.push(page.fault(1, format!("{} words, at most {WORDS}", words(page))));
    }
    let opening = page.text.split("\n## ").next().unwrap_or_default();
    let mut paragraphs = opening.split("\n\n");
    if !paragraphs.next().is_some_and(|title| title.starts_with("# ")) {
        faults.push(page.fault(1, "a page begins with its title"));
    }
    if !paragraphs.next().is_some_and(|readers| readers.starts_with("For ")) {
        faults.push(page.fault(3, "after the title: who the page is for (\"For ...\")"));
    }
    if !opening.contains("\n```sh\n") {
        faults.push(page.fault(3, "no command before the first section"));
    }
    faults
}

/// Faults of blocks of commands that the test of commands cannot run and that have no mark.
pub(crate) fn commands(page: &SourceFile) -> Vec<Fault> {
    let mut faults = Vec::new();
    let (mut before, mut is_run) = ("", false);
    for (number, line) in (1..).zip(page.text.lines()) {
        if line.starts_with("```") {
            is_run = line == "```sh" && !before.starts_with(LONG);
        } else if is_run && !line.starts_with("evenkeel ") {
            let what = format!("no test runs this: write {LONG}: REASON --> before the block");
            faults.push(page.fault(number, what));
        }
        before = line;
    }
    faults
}

/// Faults of pages that the list of the book lacks.
pub(crate) fn unlisted(summary: &SourceFile, pages: &[SourceFile]) -> Vec<Fault> {
    let is_listed = |page: &&SourceFile| {
        let name = page.path.trim_start_matches("docs/");
        summary.text.contains(&format!("]({name})"))
    };
    let missing = pages.iter().filter(|page| !is_listed(page));
    missing.map(|page| page.fault(1, format!("{} must list it", summary.path))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "# A\n\nFor users.\n\n```sh\nevenkeel run a.toml\n```\n\n## B `c`, d\n";

    fn page(text: &str) -> SourceFile {
        SourceFile::new("docs/page.md", text)
    }

    #[test]
    fn links_lead_to_files_and_headings_of_the_book() {
        let read = |path: &str| match path {
            "docs/page.md" | "README.md" => Some(PAGE.to_owned()),
            _ => None,
        };
        let of = |link: &str| links(&page(&format!("[x]({link})\n")), read).len();
        assert_eq!(["page.md", "#b-c-d", "page.md#a", "https://a.b"].map(of), [0; 4]);
        assert_eq!(["other.md", "#e", "../README.md"].map(of), [1; 3]);
        assert!(links(&page("```text\n[x](y.md)\n```\n"), read).is_empty());
    }

    #[test]
    fn a_page_opens_with_its_readers_and_a_command_and_is_short() {
        assert!(shape(&page(PAGE)).is_empty());
        assert_eq!(shape(&page("# A\n\nText.\n\n## B\n")).len(), 2);
        let long = format!("{PAGE}{}", "word ".repeat(1_200));
        assert_eq!(shape(&page(&long)).len(), 1);
        let table = format!("{PAGE}<!-- begin: t -->\n{}<!-- end: t -->\n", "word ".repeat(1_200));
        assert!(shape(&page(&table)).is_empty());
    }

    #[test]
    fn commands_run_or_have_a_mark() {
        assert!(commands(&page(PAGE)).is_empty());
        assert_eq!(commands(&page("```sh\ncargo test\n```\n"))[0].line, 2);
        assert!(commands(&page("<!-- long: compiles -->\n```sh\ncargo test\n```\n")).is_empty());
    }

    #[test]
    fn the_book_lists_each_page() {
        let summary = SourceFile::new("docs/SUMMARY.md", "- [A](page.md)\n");
        assert!(unlisted(&summary, &[page(PAGE)]).is_empty());
        assert_eq!(unlisted(&summary, &[SourceFile::new("docs/b.md", "")]).len(), 1);
    }
}
