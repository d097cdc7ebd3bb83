//! From the text of a schedule to its lines.

use super::error::GoalFault;

/// The longest computation, in nanoseconds: 100,000 s, the longest span of a scenario.
const LONGEST_NS: u64 = 100_000_000_000_000;

/// A line that says something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Line<'a> {
    /// `num_ranks N`.
    Ranks(u64),
    /// `rank N {`.
    Open(u64),
    /// `}`.
    Close,
    /// An operation, perhaps with its label.
    Operation(Option<&'a str>, Operation),
    /// `after requires before`, or `irequires`.
    Requires { after: &'a str, before: &'a str, kind: Kind },
}

/// What is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// `requires`: the end of an operation.
    End,
    /// `irequires`: its begin.
    Begin,
}

/// What a rank does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operation {
    Calc { ns: u64, cpu: u32 },
    Send { bytes: u64, peer: u64, tag: u32, nic: u64 },
    Receive { peer: u64, tag: u32, nic: u64 },
}

impl Operation {
    pub fn nic(&self) -> u64 {
        match *self {
            Self::Calc { .. } => 0,
            Self::Send { nic, .. } | Self::Receive { nic, .. } => nic,
        }
    }
}

/// Goes through a text line by line.
#[derive(Debug)]
pub(super) struct Scanner<'a> {
    lines: std::str::Lines<'a>,
    line: usize,
    /// Where the comment begins that is open.
    comment: Option<usize>,
}

impl<'a> Scanner<'a> {
    pub fn new(text: &'a str) -> Self {
        Self { lines: text.lines(), line: 0, comment: None }
    }

    /// The last line that has been read, at least 1.
    pub fn last_line(&self) -> usize {
        self.line.max(1)
    }

    /// The next line that says something, with its number.
    pub fn next_line(&mut self) -> Result<Option<(usize, Line<'a>)>, (usize, GoalFault)> {
        while let Some(text) = self.lines.next() {
            self.line += 1;
            let mut words = Words { rest: text };
            let tokens = self.tokens(&mut words).map_err(|fault| (self.line, fault))?;
            if !tokens.is_empty() {
                let line = line(&tokens).map_err(|fault| (self.line, fault))?;
                return Ok(Some((self.line, line)));
            }
        }
        match self.comment {
            Some(line) => Err((line, GoalFault::Comment)),
            None => Ok(None),
        }
    }

    /// The words of a line outside of comments.
    fn tokens(&mut self, words: &mut Words<'a>) -> Result<Vec<&'a str>, GoalFault> {
        let mut tokens = Vec::new();
        loop {
            if self.comment.is_some() {
                let Some(end) = words.rest.find("*/") else { return Ok(tokens) };
                words.rest = &words.rest[end + 2..];
                self.comment = None;
            }
            words.rest = words.rest.trim_start();
            if words.rest.is_empty() || words.rest.starts_with("//") {
                return Ok(tokens);
            }
            if let Some(rest) = words.rest.strip_prefix("/*") {
                words.rest = rest;
                self.comment = Some(self.line);
                continue;
            }
            tokens.push(words.next_word());
        }
    }
}

/// What is left of a line.
#[derive(Debug)]
struct Words<'a> {
    rest: &'a str,
}

impl<'a> Words<'a> {
    /// A name, a number, or a single character; `10b` is a number and a name.
    fn next_word(&mut self) -> &'a str {
        let first = self.rest.chars().next().unwrap_or(' ');
        let end_of = |of: &dyn Fn(char) -> bool| {
            let end = self.rest.char_indices().skip(1).find(|&(_, c)| !of(c));
            end.map_or(self.rest.len(), |(place, _)| place)
        };
        let end = if first.is_ascii_alphabetic() {
            end_of(&|c| c.is_ascii_alphanumeric() || c == '_')
        } else if first.is_ascii_digit() || first == '-' {
            end_of(&|c| c.is_ascii_digit())
        } else {
            first.len_utf8()
        };
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word
    }
}

/// The tokens of a line, taken one by one.
struct Tokens<'t, 'a> {
    left: std::slice::Iter<'t, &'a str>,
}

impl<'a> Tokens<'_, 'a> {
    fn next(&mut self, expected: &'static str) -> Result<&'a str, GoalFault> {
        self.left.next().copied().ok_or(GoalFault::Ends { expected })
    }

    fn expect(&mut self, word: &'static str) -> Result<(), GoalFault> {
        let found = self.next(word)?;
        if found == word { Ok(()) } else { Err(unexpected(found, word)) }
    }

    fn number(&mut self, most: u64) -> Result<u64, GoalFault> {
        let found = self.next("a whole number")?;
        if found == "-1" {
            return Err(GoalFault::Any);
        }
        if !found.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(unexpected(found, "a whole number"));
        }
        let number = found.parse().ok().filter(|&number| number <= most);
        number.ok_or_else(|| GoalFault::TooLarge { number: found.to_owned(), most })
    }

    fn end(&mut self) -> Result<(), GoalFault> {
        self.left.next().map_or(Ok(()), |found| Err(unexpected(found, "the end of the line")))
    }
}

fn unexpected(found: &str, expected: &'static str) -> GoalFault {
    GoalFault::Unexpected { found: found.to_owned(), expected }
}

fn is_name(word: &str) -> bool {
    word.starts_with(|first: char| first.is_ascii_alphabetic())
}

fn line<'a>(tokens: &[&'a str]) -> Result<Line<'a>, GoalFault> {
    const WHAT: &str =
        "num_ranks, rank, '}', send, recv, calc, a label with ':', or a label and requires";
    let mut rest = Tokens { left: tokens.iter() };
    let first = rest.next(WHAT)?;
    let line = match (first, tokens.get(1).copied()) {
        ("num_ranks", _) => Line::Ranks(rest.number(u64::MAX)?),
        ("rank", _) => {
            let rank = rest.number(u64::MAX)?;
            rest.expect("{")?;
            Line::Open(rank)
        }
        ("}", _) => Line::Close,
        (label, Some(":")) if is_name(label) => {
            rest.expect(":")?;
            let what = rest.next("send, recv or calc")?;
            Line::Operation(Some(label), operation(what, &mut rest)?)
        }
        (after, Some(requires @ ("requires" | "irequires"))) if is_name(after) => {
            rest.next(WHAT)?;
            let before = rest.next("a label")?;
            let kind = if requires == "requires" { Kind::End } else { Kind::Begin };
            Line::Requires { after, before, kind }
        }
        ("send" | "recv" | "calc", _) => Line::Operation(None, operation(first, &mut rest)?),
        (found, _) => return Err(unexpected(found, WHAT)),
    };
    rest.end()?;
    Ok(line)
}

fn operation(what: &str, rest: &mut Tokens<'_, '_>) -> Result<Operation, GoalFault> {
    let way = match what {
        "send" => "to",
        "recv" => "from",
        "calc" => {
            let ns = rest.number(LONGEST_NS)?;
            let (_, _, cpu) = attributes(rest)?;
            return Ok(Operation::Calc { ns, cpu });
        }
        _ => return Err(unexpected(what, "send, recv or calc")),
    };
    let bytes = rest.number(u64::MAX)?;
    rest.expect("b")?;
    rest.expect(way)?;
    let peer = rest.number(u64::MAX)?;
    let (tag, nic, _) = attributes(rest)?;
    Ok(match way {
        "to" => Operation::Send { bytes, peer, tag, nic },
        _ => Operation::Receive { peer, tag, nic },
    })
}

/// `tag`, `nic` and `cpu`, in any order; each is 0 if it is not there.
fn attributes(rest: &mut Tokens<'_, '_>) -> Result<(u32, u64, u32), GoalFault> {
    let (mut tag, mut nic, mut cpu) = (0, 0, 0);
    while let Some(name) = rest.left.next() {
        match *name {
            "tag" => tag = rest.number(u32::MAX.into())? as u32,
            "nic" => nic = rest.number(u64::MAX)?,
            "cpu" => cpu = rest.number(u32::MAX.into())? as u32,
            other => return Err(unexpected(other, "tag, cpu, nic or the end of the line")),
        }
    }
    Ok((tag, nic, cpu))
}
