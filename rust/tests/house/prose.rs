//! Forms of sentences that readers have to decode, in comments, doc comments and pages.

use super::project::{Fault, SourceFile};

/// At most this many of 1,000 lines may have such a form. Five well-read projects have 1.7.
pub(crate) const MAX_PER_1000: usize = 4;

/// Words that begin a noun phrase without its noun, unless the sentence is a question.
const OPENINGS: [&str; 4] = ["What", "Of", "Where", "Which"];

/// Phrases for which the language of the field has a plain word.
const PHRASES: [&str; 19] = [
    "in place of",
    "of which",
    "beside",
    "so many",
    "so much",
    "has a say",
    "have a say",
    "had a say",
    "is none",
    "are none",
    "has none",
    "have none",
    "aloud",
    "for ever",
    "somebody",
    "whoever",
    "nobody",
    "such as no",
    "for one",
];

/// Returns the lines of prose of a file, with their numbers.
pub(crate) fn lines(file: &SourceFile) -> Vec<(usize, &str)> {
    let numbered = file.text.lines().enumerate().map(|(index, line)| (index + 1, line.trim()));
    if file.path.ends_with(".md") {
        let mut is_code = false;
        let is_prose = |(_, line): &(usize, &str)| {
            let is_fence = line.starts_with("```");
            is_code ^= is_fence;
            !is_fence && !is_code && !line.is_empty()
        };
        let marks: &[char] = &['-', '*', '#', '|', '>', ' '];
        return numbered
            .filter(is_prose)
            .map(|(number, line)| (number, line.trim_start_matches(marks)))
            .collect();
    }
    numbered.filter_map(|(number, line)| Some((number, comment(line)?))).collect()
}

/// Returns the text of a line that is a comment, and is not empty.
fn comment(line: &str) -> Option<&str> {
    let text = match line.chars().next()? {
        '#' => line.strip_prefix('#').filter(|rest| !rest.starts_with(['!', '[']))?,
        '/' if line.starts_with("//") => line[2..].trim_start_matches(['/', '!']),
        '/' | '*' => line.trim_start_matches('/').strip_prefix('*')?.trim_start_matches('*'),
        _ => return None,
    };
    Some(text.trim_start()).filter(|text| !text.is_empty())
}

/// Finds the forms in a file.
pub(crate) fn hits(file: &SourceFile) -> Vec<Fault> {
    let form = |(number, line)| Some(file.fault(number, format!("{:?}: {line}", find(line)?)));
    lines(file).into_iter().filter_map(form).collect()
}

/// Returns the first such form of a line.
fn find(line: &str) -> Option<&'static str> {
    let ends = [". ", "! ", "? ", ": "];
    let later = ends.iter().flat_map(|end| line.match_indices(end).map(|(at, end)| at + end.len()));
    for sentence in std::iter::once(0).chain(later).map(|start| &line[start..]) {
        let is_question =
            sentence.find(['.', '?']).is_some_and(|at| sentence[at..].starts_with('?'));
        let opening = OPENINGS.into_iter().find(|word| begins(sentence, word));
        if let Some(word) = opening.filter(|_| !is_question) {
            return Some(word);
        }
        if let Some(rest) =
            sentence.strip_prefix("The same").filter(|_| begins(sentence, "The same"))
            && !["seed", "scenario", "bytes"].iter().any(|noun| begins(rest.trim_start(), noun))
        {
            return Some("The same");
        }
    }
    let apart = (contains(line, "apart") && !line.contains("apart from")).then_some("apart");
    apart.or_else(|| PHRASES.into_iter().find(|phrase| contains(line, phrase)))
}

fn begins(text: &str, word: &str) -> bool {
    text.strip_prefix(word).is_some_and(|rest| !rest.starts_with(is_of_word))
}

/// True if a line contains a phrase as whole words.
fn contains(line: &str, phrase: &str) -> bool {
    line.match_indices(phrase).any(|(at, _)| {
        !line[..at].ends_with(is_of_word) && !line[at + phrase.len()..].starts_with(is_of_word)
    })
}

fn is_of_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> Vec<usize> {
        hits(&SourceFile::new(path, text)).iter().map(|fault| fault.line).collect()
    }

    #[test]
    fn forms_that_have_to_be_decoded_are_found() {
        let text = "/// What the port sends.\n/// Returns it. The same with two, beside it.\n\
                    // Nobody waits, and nobody is told.\n//! Sent, but for one packet.\n";
        assert_eq!(found("a.rs", text), [1, 2, 3, 4]);
        assert_eq!(found("a.md", "- Where it is full.\n\n```\nWhat it prints\n```\n"), [1]);
        assert_eq!(found("a.h", "/**\n * Which of them sends.\n */\n"), [2]);
        assert_eq!(found("a.toml", "[a]\n# Rates, of which one is full.\n"), [2]);
    }

    #[test]
    fn plain_sentences_and_code_are_not() {
        let text = "/// What is a rail? A network.\nlet beside = 3; // of which\n\
                    /// Whether it is besides. The same seed gives it.\n#[derive(What)]\n";
        assert!(found("a.rs", text).is_empty());
        assert!(found("a.md", "What costs most? Read on, apart from this.\n").is_empty());
    }
}
