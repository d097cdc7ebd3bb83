//! Scans the text of a schedule into statements, one per line.

use super::error::GoalFault;

/// The longest computation in nanoseconds: 100,000 s, the longest time span of a scenario.
const MAX_NS: u64 = 100_000_000_000_000;

/// The highest `nic`: the binary form of schedules has 8 bits for it.
const MAX_NIC: u64 = 255;

/// The statement of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Statement<'a> {
    /// `num_ranks N`: the number of ranks.
    Ranks(u64),
    /// `rank N {`: the start of a rank's operations.
    Open(u64),
    /// `}`: the end of a rank's operations.
    Close,
    /// An operation, optionally with its label.
    Operation(Option<&'a str>, GoalOperation),
    /// `after requires before`, or `irequires`.
    Requires { after: &'a str, before: &'a str, event: RequiredEvent },
}

/// The event of an operation that another one requires.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RequiredEvent {
    /// `requires`: the end of the operation.
    End,
    /// `irequires`: the start of the operation.
    Start,
}

/// An operation of a rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum GoalOperation {
    Calc {
        ns: u64,
        cpu: u32,
    },
    Send {
        bytes: u64,
        peer: u32,
        tag: u32,
        nic: u32,
    },
    /// A receive; `peer` is `None` for any source.
    Receive {
        bytes: u64,
        peer: Option<u32>,
        tag: u32,
        nic: u32,
    },
}

impl GoalOperation {
    pub(super) fn nic(&self) -> u32 {
        match *self {
            Self::Calc { .. } => 0,
            Self::Send { nic, .. } | Self::Receive { nic, .. } => nic,
        }
    }

    /// Returns the size of a send or a receive; 0 for a calculation.
    pub(super) fn bytes(&self) -> u64 {
        match *self {
            Self::Calc { .. } => 0,
            Self::Send { bytes, .. } | Self::Receive { bytes, .. } => bytes,
        }
    }
}

/// Scans a text line by line.
#[derive(Debug)]
pub(super) struct Scanner<'a> {
    lines: std::str::Lines<'a>,
    line: usize,
    /// The first line of the comment that is open, if one is.
    comment: Option<usize>,
}

impl<'a> Scanner<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { lines: text.lines(), line: 0, comment: None }
    }

    /// Returns the number of the last line read, at least 1.
    pub(super) fn last_line(&self) -> usize {
        self.line.max(1)
    }

    /// Returns the next statement with its line number (from 1); skips blank lines and comments.
    pub(super) fn next_line(
        &mut self,
    ) -> Result<Option<(usize, Statement<'a>)>, (usize, GoalFault)> {
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

    /// Returns the words of a line outside of comments.
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

/// The rest of a line.
#[derive(Debug)]
struct Words<'a> {
    rest: &'a str,
}

impl<'a> Words<'a> {
    /// Takes a name, a number or a single character. `10b` is a number and a name.
    fn next_word(&mut self) -> &'a str {
        let first = self.rest.chars().next().unwrap_or(' ');
        let end_of = |of: &dyn Fn(char) -> bool| {
            let end = self.rest.char_indices().skip(1).find(|&(_, c)| !of(c));
            end.map_or(self.rest.len(), |(offset, _)| offset)
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

/// The remaining tokens of a line.
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

    fn number(&mut self, max: u64) -> Result<u64, GoalFault> {
        let found = self.next("a whole number")?;
        if found == "-1" {
            return Err(GoalFault::Any);
        }
        if !found.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(unexpected(found, "a whole number"));
        }
        let number = found.parse().ok().filter(|&number| number <= max);
        number.ok_or_else(|| GoalFault::TooLarge { number: found.to_owned(), max })
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

fn line<'a>(tokens: &[&'a str]) -> Result<Statement<'a>, GoalFault> {
    const STATEMENT: &str =
        "num_ranks, rank, '}', send, recv, calc, a label with ':', or a label and requires";
    let mut rest = Tokens { left: tokens.iter() };
    let first = rest.next(STATEMENT)?;
    let line = match (first, tokens.get(1).copied()) {
        ("num_ranks", _) => Statement::Ranks(rest.number(u64::MAX)?),
        ("rank", _) => {
            let rank = rest.number(u64::MAX)?;
            rest.expect("{")?;
            Statement::Open(rank)
        }
        ("}", _) => Statement::Close,
        (label, Some(":")) if is_name(label) => {
            rest.expect(":")?;
            let word = rest.next("send, recv or calc")?;
            Statement::Operation(Some(label), operation(word, &mut rest)?)
        }
        (after, Some(requires @ ("requires" | "irequires"))) if is_name(after) => {
            rest.next(STATEMENT)?;
            let before = rest.next("a label")?;
            let event = match requires {
                "requires" => RequiredEvent::End,
                _ => RequiredEvent::Start,
            };
            Statement::Requires { after, before, event }
        }
        ("send" | "recv" | "calc", _) => Statement::Operation(None, operation(first, &mut rest)?),
        (found, _) => return Err(unexpected(found, STATEMENT)),
    };
    rest.end()?;
    Ok(line)
}

fn operation(word: &str, rest: &mut Tokens<'_, '_>) -> Result<GoalOperation, GoalFault> {
    let preposition = match word {
        "send" => "to",
        "recv" => "from",
        "calc" => {
            let ns = rest.number(MAX_NS)?;
            let Attributes { cpu, .. } = attributes(rest)?;
            return Ok(GoalOperation::Calc { ns, cpu });
        }
        _ => return Err(unexpected(word, "send, recv or calc")),
    };
    let bytes = rest.number(u64::MAX)?;
    rest.expect("b")?;
    rest.expect(preposition)?;
    if preposition == "from" && rest.left.as_slice().first() == Some(&"-1") {
        rest.next("a rank")?;
        let Attributes { tag, nic, .. } = attributes(rest)?;
        return Ok(GoalOperation::Receive { bytes, peer: None, tag, nic });
    }
    let peer = rest.number(u32::MAX.into())? as u32;
    let Attributes { tag, nic, .. } = attributes(rest)?;
    Ok(match preposition {
        "to" => GoalOperation::Send { bytes, peer, tag, nic },
        _ => GoalOperation::Receive { bytes, peer: Some(peer), tag, nic },
    })
}

/// The attributes of an operation; each is 0 by default.
#[derive(Default)]
struct Attributes {
    tag: u32,
    nic: u32,
    cpu: u32,
}

/// Parses the attributes at the end of a line, in any order.
fn attributes(rest: &mut Tokens<'_, '_>) -> Result<Attributes, GoalFault> {
    let (mut attributes, mut seen) = (Attributes::default(), Vec::new());
    while let Some(name) = rest.left.next() {
        if seen.contains(name) {
            return Err(unexpected(name, "each attribute once"));
        }
        seen.push(*name);
        match *name {
            "tag" => attributes.tag = rest.number(u32::MAX.into())? as u32,
            "nic" => attributes.nic = rest.number(MAX_NIC)? as u32,
            "cpu" => attributes.cpu = rest.number(u32::MAX.into())? as u32,
            other => return Err(unexpected(other, "tag, cpu, nic or the end of the line")),
        }
    }
    Ok(attributes)
}
