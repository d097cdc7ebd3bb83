//! Splits Rust text into code, comments and strings, as far as the rules need it.

/// Three copies of a Rust text, each with only code, comments or literals. Everything else is
/// blanked, so that lines and columns are unchanged.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Layers {
    /// Only the code; string literals are reduced to their quotes.
    pub(crate) code: String,
    /// Only the comments.
    pub(crate) comments: String,
    /// Only the contents of string literals.
    pub(crate) literals: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Code,
    Comment,
    Literal,
}

/// Splits `text`.
pub(crate) fn split(text: &str) -> Layers {
    let characters: Vec<char> = text.chars().collect();
    let mut layers = Layers::default();
    let mut at = 0;
    while at < characters.len() {
        let (kind, length) = token(&characters, at);
        // A literal that is never closed ends with the text.
        let end = (at + length).min(characters.len());
        for &character in &characters[at..end] {
            layers.push(kind, character);
        }
        at = end;
    }
    layers
}

impl Layers {
    fn push(&mut self, kind: Kind, character: char) {
        let fill = if character == '\n' { '\n' } else { ' ' };
        let pick = |wanted| if kind == wanted { character } else { fill };
        self.code.push(pick(Kind::Code));
        self.comments.push(pick(Kind::Comment));
        self.literals.push(pick(Kind::Literal));
    }
}

/// Returns the kind of the token that starts at `at`, and its length in characters.
fn token(characters: &[char], at: usize) -> (Kind, usize) {
    let rest = &characters[at..];
    match rest {
        ['/', '/', ..] => (Kind::Comment, until(rest, |tail| tail[0] == '\n')),
        ['/', '*', ..] => (Kind::Comment, block_comment(rest)),
        ['"', ..] => (Kind::Literal, string(rest)),
        ['r', '"' | '#', ..] if !is_word(characters, at) => match raw_string(rest) {
            Some(length) => (Kind::Literal, length),
            None => (Kind::Code, 1),
        },
        ['\'', '\\', _, tail @ ..] => (Kind::Literal, 4 + until(tail, |tail| tail[0] == '\'')),
        ['\'', _, '\'', ..] => (Kind::Literal, 3),
        _ => (Kind::Code, 1),
    }
}

/// True if the character before `at` is part of the same word, as in `for"`.
fn is_word(characters: &[char], at: usize) -> bool {
    at > 0 && is_of_word(characters[at - 1])
}

/// Counts the characters before the first tail that `ends` accepts; all if none does.
fn until(rest: &[char], ends: impl Fn(&[char]) -> bool) -> usize {
    (0..rest.len()).find(|&index| ends(&rest[index..])).unwrap_or(rest.len())
}

fn block_comment(rest: &[char]) -> usize {
    let mut depth = 0;
    let mut at = 0;
    while at < rest.len() {
        match rest[at..] {
            ['/', '*', ..] => (depth, at) = (depth + 1, at + 2),
            ['*', '/', ..] => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            break;
        }
    }
    at
}

fn string(rest: &[char]) -> usize {
    let mut at = 1;
    while at < rest.len() && rest[at] != '"' {
        at += if rest[at] == '\\' { 2 } else { 1 };
    }
    at + 1
}

/// Returns the length of `r"…"` or `r#"…"#`; `None` for a raw identifier.
fn raw_string(rest: &[char]) -> Option<usize> {
    let hashes = rest[1..].iter().take_while(|&&character| character == '#').count();
    if rest.get(1 + hashes) != Some(&'"') {
        return None;
    }
    let closes = |tail: &[char]| {
        tail[0] == '"' && tail.len() > hashes && tail[1..=hashes].iter().all(|&c| c == '#')
    };
    let body = 2 + hashes;
    Some(body + until(&rest[body..], closes) + 1 + hashes)
}

/// Returns the words and signs of code with their offsets: identifiers, `::`, and every other
/// character that is not a blank.
pub(crate) fn words(code: &str) -> Vec<(usize, &str)> {
    let mut words = Vec::new();
    let mut at = 0;
    while let Some(first) = code[at..].chars().next() {
        let rest = &code[at..];
        let length = if is_of_word(first) {
            rest.find(|c| !is_of_word(c)).unwrap_or(rest.len())
        } else if rest.starts_with("::") {
            2
        } else {
            first.len_utf8()
        };
        if !first.is_whitespace() {
            words.push((at, &rest[..length]));
        }
        at += length;
    }
    words
}

fn is_of_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

/// Returns the line, from 1, of a byte offset.
pub(crate) fn line_of(text: &str, offset: usize) -> usize {
    1 + text[..offset].matches('\n').count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_literals_are_not_code() {
        let layers = split("let a = \"b // c\"; // d \"e\"\n/* f /* g */ h */ i(r#\"j\"k\"#, 'l')");
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(words(&layers.code), "let a = ; i( , )");
        assert_eq!(words(&layers.comments), "// d \"e\" /* f /* g */ h */");
        assert_eq!(words(&layers.literals), "\"b // c\" r#\"j\"k\"# 'l'");
    }

    #[test]
    fn quotes_that_open_no_literal_are_code() {
        let text = "fn f<'a>(x: &'a str) { g('\"', '\\'', '\\u{1f}', r#type) } // h";
        let layers = split(text);
        assert!(layers.code.contains("fn f<'a>(x: &'a str) { g("), "{}", layers.code);
        assert!(layers.code.contains("r#type) }"), "{}", layers.code);
        assert_eq!(layers.comments.trim(), "// h");
    }

    #[test]
    fn lines_keep_their_numbers() {
        let text = "a\n/* b\nc */\nd \"e\\\n f\"\ng";
        let layers = split(text);
        let at = layers.code.find('g').expect("g is code");
        assert_eq!(line_of(&layers.code, at), 6);
    }

    #[test]
    fn unterminated_literals_end_with_the_file() {
        for text in ["\"a", "/* a", "r#\"a", "'\\n", "// a", "\"\\"] {
            assert_eq!(split(text).code.trim(), "", "{text}");
        }
    }
}
